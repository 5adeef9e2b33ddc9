//! The line: who waits, whose turn it is, who is inside. Pure; the heart of the product.
//!
//! Owns the state of one room and every rule about it. Never does IO, reads no clock, draws no
//! random number, knows nothing of tickets, HTTP or stores: a [`Batch`] and a [`Moment`] come in,
//! a [`Reply`] goes out, and the same inputs give the same outputs, always. So one state machine
//! drives the embedded store, its recovery after a crash, the simulator and the model tests, and
//! is the measure for the one in Lua.
//!
//! # Where a number stands
//!
//! A visitor is a [`Number`]. The line keeps nothing about an ordinary waiting visitor but bits:
//!
//! ```text
//!            base      lapsed          released                       issued
//!              │  over   │   admitted     │   waiting, or away           │
//!   live    ...0000000000│0100011000000000│1111101111111110111111111111111│
//!   used    ...1110111101│1011100111011110│0000010000000000000000000000000│
//!   seen x3 ...          │                │  who was heard of, by period  │
//! ```
//! A number is judged in this order, and the first that holds decides ([`Line::standing`]):
//!
//! | where it is found | standing |
//! |---|---|
//! | 0, or above `issued` | Unknown |
//! | in `inside` | Active |
//! | in `ended` | Completed if so ended, else Expired(Ended(why)) |
//! | in `called` | Admitted |
//! | in `express` or `classes` | Waiting |
//! | in `strayed` or `classes_away` | Away |
//! | below `base` | Expired(Passed) |
//! | `used` | Expired(Used) |
//! | at or below `lapsed` | Expired(Passed) |
//! | `live` | Admitted if at or below `released`, else Waiting |
//! | else | Away |
//!
//! The head of the line are visitors with a place of their own, kept one by one: in `express` those who
//! were passed over while away and came back in time (late returners), in `classes` those of a class. `strayed` and
//! `classes_away` are those of them that fell silent, `called` those whose turn has come, `present` says when each of
//! `express`, `classes` and `called` was last heard of.
//!
//! # Classes
//!
//! A class is a fraction of the line that a newcomer skips, and a rank from 0 to 9. Whoever joins with one takes a number like
//! anybody, but the number is `used` at once and never live: they stand in `classes`, at
//! place = number − skip · (number − `released`), the product rounded down. Numbers and the frontier only rise, so within a
//! class it is first come, first served. Place and rank stay what they were when somebody joined, whatever is set later. A class that skips
//! nothing and has no rank is a name: its visitors stand in the ordinary line. Where the head holds 10,000, a class join is an
//! ordinary one, and counted (`class_overflow`). While a pre-queue runs at whose end there is a draw it holds 2,500: each of them gets a place
//! at the draw, and the exchange that draws must not last.
//!
//! The order of turns: late returners, by place and number: their turn had come before. Then class visitors and the
//! ordinary line; among class visitors by place, at an equal place the higher rank first, then by number. A class visitor goes
//! before an ordinary one whose place is not below theirs. With `class_order` strict class visitors go by rank first, then
//! place and number, and those with a rank above 0 before the whole ordinary line.
//!
//! `class_share` bounds what classes get of the turns by pace for which both a class visitor and an ordinary one wait; turns by
//! hand and in the modes bypass and shadow it does not bound. Each such turn saves the share in thousandths; a class visitor who is next by the order
//! gets the turn if a thousand are saved, and a thousand are taken off; else the ordinary one gets it, and at most 999
//! stay saved. So classes get at most their share of any stretch of such turns and one turn more, and nobody waits for
//! the other side where it is empty.
//!
//! An *invite* proves a class, so many times (0: any number) and until a moment of the wall clock, at most 31 days away. The line counts
//! uses by the invite's id when a join with it gets its class; one that is over, revoked or used up is no proof: the join is
//! an ordinary one and says why. A key that has its number already uses nothing up. What is known of an invite is kept for 31
//! days at least, of 100,000 at most. A reset gives uses back, for it takes the places; a revocation stays.
//!
//! # The exchange, in order
//!
//! 1. **Check.** A batch out of bounds is refused; nothing is touched.
//! 2. **Clock.** The room's clock moves by min(max(wall − last wall, 0), 2 s), so an outage or a jump
//!    costs nobody a place. It starts at the wall clock. All times below are on it unless said.
//! 3. **Memory.** If the store's run is another than last time, the line *settles* (below) for 2 s from now.
//! 4. **Known.** What the node has seen and the line has not heals it (below). While settling, the
//!    exchange ends here: offer and report are taken, the rest is not.
//! 5. **Repeated?** A batch whose sequence is not above the node's last is not applied again: the
//!    same one is answered from memory, an older one not at all. One that was not taken (`Settling`,
//!    `Unconfigured`) is not remembered, and comes again under the same sequence. What follows and is not about the
//!    batch's items happens all the same. Nodes silent for an hour are forgotten at a sweep.
//! 6. **Offer.** Taken if in range and not below the version in force. What is in force is the file's settings with what operators have
//!    set instead, and a boost's pace over both. A file that says something else than the one before is an entry of the book. What a change does: the bucket
//!    keeps its whole turns, cut to the new depth, and `owed` and `ahead` their whole turns; a line that had no pace
//!    starts full; the interval of another batch pace starts now; a changed heartbeat timeout counts
//!    everybody live, and at the head, as just seen. A line without settings ends the exchange here (`Unconfigured`).
//!    Then **the minute**: when another one of the wall clock has begun, the one that ran is remembered with the counters as the last exchange
//!    left them and what nodes counted in it. What operators set for a time that is over is no longer set.
//! 7. **Ring.** When a period (half the heartbeat timeout) is over, the oldest of the three `seen`
//!    bitmaps is cleared and becomes the current one; the exchange then also sweeps (10).
//! 8. **Marks.** Of places at or above `base` and not above `issued`: set seen; set live if the place
//!    is above `released` and not used. `present`: of express, classes and called; a strayed one is back in
//!    express, at its old place, and so is one of a class.
//! 9. **Leaves, ends, spends, renewals, returns, vouched, claims, hang-ups**, in this order, each list in its own:
//!    - *leave*: from `inside`: ended as Left. From called or the head's other lists: gone. From the bitmaps:
//!      used. A turn that was admitted and is not taken is owed.
//!    - *end*: from `inside`: ended with its reason. In `ended` as Idle: the reason is replaced, now, so
//!      that nobody resumes (`Already`). Of somebody in the line Revoked and Left take the place, and a turn
//!      that had come is owed. Otherwise there was a session and the line has lost it: one less is
//!      missing (unless a seat was held for them as admitted). All of them are in `ended` then. Requeued is as Revoked, and of
//!      whoever was inside or in the line a number at the end is given at once, however many wait (in mode drain or closed: none);
//!      their name goes along. A join with the key that [`requeued`] makes of the old number finds the new one.
//!    - *spend*: in `spent` from now on; if it is there already, `Already`. Nothing else is asked: the pass was
//!      verified, and the line may have lost its seat. Nothing else changes, either: who is inside stays there.
//!    - *renewal*: inside: the seat lasts until now + idle, at most entered + max, never shorter than
//!      before; at max or beyond it the session ends as Capped. An `extend` is worth two idle times. Idle within the last `session_idle`: as a
//!      claim. Else ended: over. Else the line has lost the seat: it is taken back (used, entered when
//!      the pass says), one less is missing (unless a seat was held for them as admitted).
//!    - *claim*: inside: its terms, renewed only if the pass has run out. Ended as Idle less than
//!      `session_idle` (else `session_max`) ago, below its cap, with a seat free: resumed, as by a
//!      renewal. Called, or live and at or below
//!      `released`: enters. Express: waits; strayed: back in express. Above `released`: a mark. Passed over
//!      above `lapsed`: to the head, once (used; express at place `released`), unless 10,000 are
//!      there already: then nothing changes, and the answer says so (`Away`). They came in time: their node vouches for them from then on,
//!      until there is room. Else over.
//!    - *hang-up*: of somebody inside, in a room with slots: the seat is left in `slot_grace`, unless a renewal or claim of theirs
//!      comes before.
//!    - *return*: a claim that does not enter; *vouched*: a return for which `lapsed` does not count,
//!      down to `base`. A head that is full takes nobody by it, either.
//! 10. **Duties**, each gated by the clock, done by whichever exchange comes first. What each does one by one it does as far
//!     as its *steps* go: all duties of an exchange share 250, and each of the seven that take any leaves 30 to every one after it
//!     (`budget` has the table). If one took all it might, or turns by pace were left for want of steps, the reply says so
//!     (`backlog`), and the node asks again soon. So it does after a sweep: to a node whose bits were the line's until then
//!     the exchange that sweeps does not tell the new ones, the next one does. Whoever is further behind (back after an outage, of another run, or of the
//!     epoch before) is told at once: by old bits they would judge who was passed over.
//!    - *(1)* those of `present` silent for one and a half heartbeat timeouts: a called one is a no-show
//!      (owed); one in express or classes strays (with `on_absence = remove`: is gone).
//!    - after a ring turn, the *sweep*: live places above `lapsed` that none of the three bitmaps has seen
//!      lose live, and are used with `on_absence = remove`. Admitted ones are no-shows, and owed. The line notes which node's
//!      exchange it was (`swept_by`), and counts the nodes heard of in the last minute (`nodes`; who comes later is added).
//!      Otherwise, when the bitmaps are over 64 KiB (524,288 places above `base`) and a quarter of that is at or
//!      below `lapsed`, `base` moves there, rounded down to a multiple of 32,768.
//!    - *lapse*: what was released in a second whose end is a claim window ago is over: `lapsed` moves
//!      there, the live ones are no-shows, and owed. Likewise *(2)* called ones, a claim window after
//!      their call. *(3)* Those strayed at or below `lapsed` are gone; then, in the same steps, those of a class who are away below it: somebody behind them had their turn, and it is over.
//!    - *(4)* `ended` forgets endings older than twice [`Settings::session_ms`], oldest first;
//!      one whose pass is still good by the wall clock is kept for as long again.
//!      Then, in the same steps, `spent` forgets those that are as old, in the order of (time, number); one that is inside or in
//!      `ended` is kept for as long again.
//!    - *(5)* seats whose time is over, in the order of (time, number): ended as Capped if max is
//!      reached, else Idle. If the pass is still good by the wall clock (it ran back), the seat is kept
//!      for as long. Then, in the same steps, seats whose visitors hung up, in that order, are ended as Left.
//!    - the *rate*, where it follows the origin: the window that is over is judged (`adaptive` has the law). The rate in force lies between
//!      the floor and the rate that was set, or is 0 after a collapse; the bucket is no deeper than a second of it, rounded up. Fractions of a credit
//!      are kept in millionths. A boost, a batch pace and a rate of 0 go before it.
//!    - *refill*: the bucket gains what the clock's advance is worth; a batch's, when its interval is over, starts anew with a batch.
//!      On top comes what is owed, and what is *late* and not paid *ahead* yet, at most half as much again; what is paid for owed turns first
//!      is owed no more, the rest is ahead. Late is whoever is live above `lapsed` and was released in a second whose end is half a claim
//!      window ago. First of all what is owed and what is ahead are set off against each other; where then more is ahead than is owed
//!      and late (they came after all), the difference is taken off, at most half.
//!      What is owed is forgiven, what is late counts as ahead, and credit is cut to the depth, when an exchange ends with the bucket full
//!      (a batch's: when an interval ends with turns left). `missing` is forgotten one session after the settling.
//! 11. **Orders**, then the **schedule**, then **joins** in order. The schedule (below) is read by the wall clock: what begins and
//!     ends by it is noted here, and the draw is made here. An order under a key that came within a day (two at most) is answered as then, and not
//!     carried out; another order under it is a conflict. A release by hand names the first 1,000 whom it called. A revocation is an
//!     *end* as Revoked of a number of the batch's epoch, and likewise to complete and to requeue; an extension is a renewal with `extend` of
//!     whoever is inside. To set is to put names and values, each for good or for a time, or to take
//!     them back; what was before is told in the book. A repair takes whoever is used out of live, and counts anew. An order with a note is an
//!     entry of the book, which holds 1,000. One whose key has a number that is not over: refused if too
//!     many by its subjects, else that number (seen then, and if passed over a late return); `proven`, if its
//!     user, or that it has none, is the first join's (the user is in the ticket, which must be the same byte for
//!     byte) and besides it has the first join's idempotency key or address, or no device. Any other: refused
//!     in mode drain or closed, or while the schedule says closed; if the line is full, waiting ≥ max_waiting + what may be released now; if its name is taken; if too
//!     many by its subjects (only then is it counted); else a number, live and seen. The join that gave a device its
//!     number is counted where it is remembered: in the window it was in, a limit on devices counts at least one, whenever the
//!     limit was set. So a reset, with which devices are forgotten, forgets first joins, too.
//! 12. **Release**: the least of what pace and seats allow (in the modes bypass and shadow: everybody; before an opening and while closed by schedule: nobody), in the order of turns (above),
//!     in the steps *(6)* that commands have left. `released` only ever moves to a live place. In bypass nobody pays for a turn. In
//!     shadow limits refuse no join, and a *shadow* of the line is reckoned, from the first exchange in this mode (which begins it with whoever is inside,
//!     and counts no time) to the last: of its seats the same share becomes free as of the real ones since the exchange before (in thousandths, rounded
//!     down, the rest kept); as many get a turn as the bucket pays for (none while paused) and its seats allow; who comes waits behind those who wait, and is refused
//!     beyond max_waiting + those turns. A minute remembers who came, was delayed or refused, had a turn, waits, the most of these, and their waiting.
//! 13. **Entry** of this batch's claims that still waited and now are released, or for whom there was no room at the head, then of its joins, as many as steps *(7)*
//!     are left. A join without a key of its own (`once`) enters on `session_first`: a page was opened, and whether anybody
//!     keeps the cookie is not known yet. An app, and a browser that came back with its arrival, have the full session.
//! 14. **Letters**, if anybody wants to be told (`webhooks`): of every entry with its tag, of every release with the first 100 called, of
//!     a pause and its end, of a room that lets people in again after hold or closed, of a line that became empty. Those that a batch reports
//!     as sent are gone; as many as it wants (50 at most) are handed out, those first that have been due longest, and are its own for a minute. Beyond 10,000 those
//!     that have been due longest are thrown away: a letter is due from when it was written, and again when nothing was heard of it for that minute.
//!
//! # Slots and names
//!
//! In a room with `slots` there are as many seats, each with a name, and max_active may only make them fewer. Whoever sits down, or sits
//! and is renewed, has the slot they had (as the pass of a seat that was lost says) if it is free or theirs, else the lowest that is free. While seats
//! are missing no slot is given but to those who bring one, and no turn: whose names are theirs is not known. Of a run of newcomers one
//! enters at once, because all have one answer; the others claim.
//!
//! In a room with `roster` a join may bring a name, which is refused if somebody who is Waiting, Away, Admitted or Active has it, however
//! written. Names of all others but of those who are Idle go at a sweep; theirs, too, before newcomers with whose names there might be more than 2,500. Nodes are told of all of them, who of them is inside and in
//! which slot, at most twice a second, and bring names back to a line that settles: first come, first named.
//!
//! # Schedules and the draw
//!
//! A room may have events, each with an opening, a time before it in which numbers are given, perhaps a draw at the opening, an
//! end, and a time after which it comes again. Open if any is on; else before the opening of the first to open, if its time
//! before has begun; else closed ([`Settings::phase`]). It counts in the modes `auto` and `hold`, but to a room on hold people come and wait while the
//! schedule says closed; every other mode is an operator's word. Before an
//! opening nobody is released by pace, by hand as ever. While closed nobody new, nobody released, as in mode `closed`.
//!
//! *Before an opening with a draw* the line notes the last number given when that time began, `after`. That stays as it is until those who
//! came since are drawn, or the room opens without a draw, whatever the schedule says meanwhile: an opening that is put off, or taken away, takes
//! nobody out of the next draw. A node says what the seed's hash will be, the first one's word for an opening is kept
//! ([`Commitment`]). When an event with a draw is on (the one that was expected, else the last to open), those drawn are all above `after`, or above
//! `released` if that is higher, up to `issued` (`upto`). If they are two or more, the draw is made in the first exchange that brings its seed; until then it is
//! still before the opening. So an opening that is brought forward has its draw then, at once if its time is past, and then without a promise.
//! An opening is drawn once. If the room opens by an event without a draw, or because there are no events any more, nobody is drawn: they
//! are a line in the order of arrival. To a room on hold no opening comes but one with a draw.
//!
//! *The draw*: everybody's place is a new number. Of the range live is cleared and used set; as many numbers above `upto` are given (but for
//! [`Draw::kept`], below), live and seen: everybody is presumed here, and the sweeps correct it. Which of the new numbers is whose is a permutation that nodes
//! compute ([`Permutation`], [`Drawn`]); the line keeps the seed and never does. If nobody waits or is admitted from before (`after`,
//! `released` and `lapsed` are one), `released` and `lapsed` move to `upto`; else to where a line reaches back from `issued`, if they
//! are below. Whoever of the range was called or is inside keeps number and turn ([`Draw::kept`]), and no number is given for them.
//!
//! *The head at a draw*: whoever of the range is in express, strayed, classes or classes_away keeps their number, and one of the new
//! numbers is their place ([`Draw::head`]): used and never live, so that nobody shares it. The permutation is of the others: it says to which of
//! the new numbers that are left each is drawn, both counted without what is left out. So it is no use to those at the head to have come early, either:
//!
//! ```text
//!   a = 1 + the seed's first four bytes mod 2147483562; b = 1 + its next four mod 2147483398
//!   x: a = 40014 · a mod 2147483563; b = 40692 · b mod 2147483399; (a − b − 1) mod 2147483562
//!   of the K at the head, by number: for i = K − 1 … 1: swap the i-th, from 0, and the (x mod (i + 1))-th
//!   of m others, M = max(m, K), s = x mod M: the j-th came in = ⌊(j · M + s) / K⌋-th; t = in − ⌊skip · in / 1000⌋
//!   in the order of (t, higher rank, j) the i-th has place upto + 1 + i + min(t, m)
//! ```
//! Their skip, in thousandths, is that of the class with their rank that would have put them nearest to where they stand, of two as near the one that skips
//! more. Of a late returner, and where no class has the rank, it is the part of what is between `released` and their number that they did skip, rounded
//! down; and a late returner's rank is the highest.
//!
//! A batch says which draw it knows of. If it is not the last, its numbers are stale, though of this epoch, and come again. A join
//! whose key has a number that was drawn is that number, Waiting as far as the line can tell; if the node knows better it says
//! so (`over`), is not counted again, and gets a new number. A reset ends draws of numbers that are void. The last 16 draws are kept.
//!
//! # Loss
//!
//! Whoever verified a signature knows a number was given. So [`Known`] is proof: a higher epoch, issued,
//! released or lapsed than the line's is taken over in every exchange, unless `issued` is too high to be
//! believed (10 M above the line's, or 10 billion while settling). Outside settling a higher `issued` means numbers were lost: everybody up to it is
//! presumed here, and numbering goes on a gap above it, so that no number is given twice.
//!
//! *Settling* lasts 2 s, and while a node says that more of its report follows for a second after it, 10 s at most: nothing is given, released or ended; each node's report is merged: `used`
//! and `live` are united (used wins), and so are express, classes, called and ended; of what operators have set, and of what was drawn, the latest copy counts;
//! numbers that were drawn are used, and so are the places above `lapsed` of those at the head, who stand there. Then everybody above
//! `released` who is not used is presumed here, all are counted as just seen, claim windows start anew,
//! numbering goes on above the gap and the bucket starts empty; only a room of which nobody knows even an epoch
//! opens as new. `missing` is the most seats a node counted as taken beyond what the line counts inside and
//! admitted: they stay taken for one session or until renewed. Nobody brings back what was spent: a pass that was
//! spent in the part that is lost can be spent once more, and so can an invite; one that was revoked in it is to be revoked again.
//! Somebody of a class of whom no node knows stands in the ordinary line, at their number. Nor the book, the past and letters: a store that keeps its memory has them.

mod adaptive;
mod aging;
mod batch;
pub(crate) mod bits;
mod budget;
mod check;
mod claim;
mod class;
mod draw;
mod endings;
mod estimate;
mod express;
mod find;
mod heal;
mod history;
mod join;
mod letters;
mod orders;
mod packed;
mod redraw;
mod release;
mod roster;
mod schedule;
mod scores;
mod session;
mod settings;
mod shadow;
mod shuffle;
mod slots;
mod spend;
mod state;
mod sweep;
mod view;

pub use adaptive::{Adapted, Why};
pub use batch::*;
pub use budget::MAX_STEPS;
pub use check::Broken;
pub use class::InviteFound;
pub use draw::{Commitment, DRAWS_KEPT, Draw, Draws, Lot, Prequeue, Seed};
pub use estimate::Eta;
pub use find::{Found, Heard, MAX_FOUND, Question};
pub use history::{
    ANSWERS, Buckets, ERRORS, FAST, FIGURES, GHOSTS, LATENCIES, MINUTES, Minute, NO_RATE, ORIGIN,
    SLOW, WAITS,
};
pub use join::requeued;
pub use orders::{Entry, Override, Overrides};
pub use roster::{NAME_MAX, is_name};
pub use schedule::{Event, MAX_EVENTS, Opening, Phase};
pub use settings::*;
pub use shadow::Shadowed;
pub use shuffle::{ALGORITHM, Permutation};
pub use state::Line;
pub use sweep::PLACES_MAX;
pub use view::{BitsUpdate, Drawn, ExpressUpdate, InForce, Named, RosterUpdate, Update, View};

pub(crate) use batch::EXACT;
pub(crate) use heal::ISSUED_MAX;
pub(crate) use roster::folded;
pub(crate) use session::MS_MAX;
