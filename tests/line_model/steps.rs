//! What a run is made of: steps that say what happens without knowing the state they meet.
//!
//! A step names visitors by where they are found when it runs ("the second last number this node
//! gave"), so any subset of a run is a run, and a failing one can be made short.

use anteroom::line::{
    Adaptive, Class, ClassOrder, Command, Ending, Event, JoinLimit, Mode, OnAbsence, Pace, Settings,
};

/// A seed's room, and what happens in it.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) room: Room,
    pub(super) steps: Vec<Step>,
}

/// What is fixed during a run.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) nodes: usize,
    /// Known to be new; otherwise the line settles first.
    pub(super) founded: bool,
    pub(super) wall_ms: u64,
    pub(super) settings: Settings,
    /// Nodes read what their visitors' tickets prove.
    pub(super) tickets_prove: bool,
    pub(super) faithful: Faithful,
}

/// Visitors who poll, and how late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Faithful {
    Nobody,
    /// Once a period.
    Eager,
    /// Just before the heartbeat timeout is over.
    Lazy,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A node tells what happened.
    Exchange { node: usize, after_ms: i64, items: Vec<Item>, fate: Fate },
    /// A node sends its last batch again, or one from before it.
    Again { node: usize, after_ms: i64, back: usize, heard: bool },
    /// Nothing happens, again and again.
    Idle { node: usize, after_ms: i64, times: u32 },
    /// A node starts anew, with an empty view.
    Restart { node: usize },
    /// The store writes the line down.
    Save,
    /// The store comes back with what it wrote down then, or with nothing; if `all` speak, every
    /// node is heard while the line settles.
    Lose { back: Option<usize>, all: bool },
    /// A node asks for the whole view and reads positions from it.
    Look { node: usize, after_ms: i64 },
    /// A batch that must be refused.
    Bad { node: usize, how: Bad },
}

/// What becomes of a batch on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Answered,
    AnswerLost,
    NeverSent,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Bad {
    NoSequence,
    NoRun,
    Items,
    Bulk,
}

#[derive(Clone, Debug)]
pub(super) enum Item {
    Join(u32),
    JoinKey(JoinKey),
    Mark {
        who: Who,
        count: u64,
    },
    MarkMine,
    Present {
        who: Who,
        count: u64,
    },
    Leave {
        who: Who,
        count: u64,
    },
    End {
        who: Who,
        why: Ending,
    },
    Spend {
        who: Who,
        count: u64,
    },
    Renew {
        who: Who,
        ago_ms: u64,
        slot: u64,
        extend: bool,
    },
    HangUp {
        who: Who,
        count: u64,
    },
    /// Whoever was sent to the end of the line comes for their number.
    SentBack {
        who: Who,
    },
    Return {
        who: Who,
        count: u64,
    },
    Vouch {
        who: Who,
        count: u64,
    },
    Claim {
        who: Who,
        count: u64,
    },
    Command(Command),
    /// An operator's order, signed, that may come again under a key.
    Order {
        what: Ordered,
        once: Option<(u8, u8)>,
    },
    /// What is said beside everything else: counts, letters, tags, the node about itself.
    Post(Post),
    Offer {
        change: Change,
        version: i64,
    },
    /// The whole batch is of an epoch before.
    OldEpoch,
    /// The node claims to know of numbers that can't be.
    Nonsense,
}

/// What is ordered.
#[derive(Clone, Debug)]
pub(super) enum Ordered {
    Plain(Command),
    Revoke(Who),
    Complete(Who),
    Extend(Who),
    Requeue(Who),
    /// Settings by their names, for a time or until they are taken back; `None` takes one back.
    Set(Vec<(&'static str, Option<String>, u64)>),
}

/// What no judge but Redis looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Post {
    pub(super) wants: u32,
    pub(super) sent: u64,
    pub(super) tagged: u32,
    pub(super) figures: bool,
    pub(super) about: Option<u8>,
}

/// A join that may be known or come too often; every part is drawn from a few.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinKey {
    pub(super) once: Option<u8>,
    pub(super) by_device: bool,
    pub(super) idempotency: Option<u8>,
    pub(super) proof: Option<u8>,
    pub(super) address: Option<u8>,
    pub(super) user: Option<u8>,
    pub(super) name: Option<u8>,
    /// Which of four, of which the last is never in the settings; and with which invite, used how often and good for how long.
    pub(super) class: Option<u8>,
    pub(super) invite: Option<(u8, u32, i64)>,
    /// The number it has is said to be over.
    pub(super) over: bool,
}

/// A visitor, by where they are found; `count` of them go down from there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Who {
    /// The so many last number this node gave.
    Mine(u64),
    /// The so many last number anybody gave.
    Anyones(u64),
    /// The so many last visitor this node let in.
    Entered(u64),
    /// The so many last visitor who came back to this node.
    Returned(u64),
    /// From `released`, by the node's view.
    Frontier(i64),
    /// From `lapsed`, likewise.
    Lapsed(i64),
    /// So many thousandths of `issued`.
    Share(u64),
    /// So many above `issued`.
    Beyond(u64),
}

/// One setting, changed in the file that nodes offer.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Nothing,
    Mode(Mode),
    Pace(Option<Pace>),
    MaxActive(Option<u64>),
    MaxWaiting(Option<u64>),
    ClaimWindow(u64),
    Session(Option<u64>, Option<u64>),
    SessionFirst(u64),
    Heartbeat(u64),
    OnAbsence(OnAbsence),
    Limits(Vec<JoinLimit>),
    Webhooks(bool),
    Slots(usize, u64),
    Roster(bool),
    Classes(Vec<Class>),
    ClassOrder(ClassOrder),
    ClassShare(u64),
    Adaptive(Option<Adaptive>),
    Schedule(Vec<Event>),
}

impl Change {
    pub(super) fn make(&self, settings: &mut Settings) {
        match self.clone() {
            Change::Nothing => {}
            Change::Mode(mode) => settings.mode = mode,
            Change::Pace(pace) => settings.pace = pace,
            Change::MaxActive(seats) => settings.max_active = seats,
            Change::MaxWaiting(most) => settings.max_waiting = most,
            Change::ClaimWindow(ms) => settings.claim_window_ms = ms,
            Change::Session(idle, max) => {
                (settings.session_idle_ms, settings.session_max_ms) = (idle, max)
            }
            Change::SessionFirst(ms) => settings.session_first_ms = ms,
            Change::Heartbeat(ms) => settings.heartbeat_timeout_ms = ms,
            Change::OnAbsence(what) => settings.on_absence = what,
            Change::Limits(limits) => settings.join_limits = limits,
            Change::Webhooks(wanted) => settings.webhooks = wanted,
            Change::Slots(count, grace_ms) => {
                settings.slots = (0..count).map(|nth| format!("S{nth}")).collect();
                settings.slot_grace_ms = grace_ms;
            }
            Change::Roster(shown) => {
                settings.roster = shown;
                if shown {
                    settings.max_waiting = Some(settings.max_waiting.unwrap_or(100).min(100));
                    settings.max_active = Some(settings.max_active.unwrap_or(30).min(30));
                }
            }
            Change::Classes(classes) => settings.classes = classes,
            Change::ClassOrder(order) => settings.class_order = order,
            Change::ClassShare(share) => settings.class_share = share,
            Change::Adaptive(how) => settings.adaptive = how,
            Change::Schedule(events) => settings.schedule = events,
        }
    }
}
