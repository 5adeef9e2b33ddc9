//! Open questions: where the line differs from the words of its spec, or from what is right for a
//! visitor. `true`: the judges do as the line does, so that the rest can be judged; `false`: they
//! insist, and the random runs show the shortest way to the difference.

/// A session that went idle and is then completed stands as Completed, but is not counted.
pub const COMPLETED_AFTER_IDLE_UNCOUNTED: bool = true;
/// Without `session_idle`, a session cut short by `session_first` can't be resumed.
pub const NO_RESUME_WITHOUT_IDLE: bool = true;
/// Being called counts as having been heard of.
pub const CALL_COUNTS_AS_HEARD: bool = true;
/// A changed heartbeat timeout counts those at the head as silent for as long as they were.
pub const HEARTBEAT_CHANGE_FORGETS_THE_HEAD: bool = true;
/// Claims of visitors already inside count as entries, of which an exchange has 1,000.
pub const EVERY_CLAIM_INSIDE_IS_AN_ENTRY: bool = true;
/// A line that knows a session as Idle keeps that, though a node reports it completed or revoked.
pub const IDLE_OUTLASTS_A_REPORT: bool = true;
/// The end of settling counts those at the head as silent for as long as they were.
pub const SETTLING_FORGETS_THE_HEAD: bool = true;
/// Seats that a node counted in an epoch which another one then voids are missing all the same.
pub const SEATS_OF_A_VOID_EPOCH_ARE_MISSING: bool = true;
/// An `issued` too high to be believed is ignored, but the `released` and `lapsed` beside it are not:
/// everybody waiting is past their turn.
pub const NONSENSE_RELEASES_EVERYBODY: bool = true;
/// Whoever was passed over would come back at the place `released`, behind those at the head; a view
/// counts nobody ahead of them.
pub const NOBODY_AHEAD_OF_THE_PASSED_OVER: bool = true;
/// A view that absorbs the first answer of a line without memory forgets what that answer asks for;
/// nodes here remember it themselves.
pub const VIEW_FORGETS_WHEN_ASKED: bool = true;
