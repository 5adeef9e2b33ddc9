//! A question to the line, and what is made of its answer: for both doors.
//!
//! Owns the patience with a line that does not answer, and what is done without one. Never decides who is asked about; that is
//! [`decide`](super::decide)'s.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::answer::Response;
use super::api;
use super::entrance::{Entrance, Identity};
use super::forward::{Admission, Forward};
use super::head::Client;
use super::intent::Intent;
use super::origin::Origin;
use super::settings::OnLoss;
use super::show::{Notice, Reader};
use crate::clock;
use crate::line::{Claimed, Joined, Key, Refusal, Terms};
use crate::metrics::Outcome as Counted;
use crate::room::{Busy, Proof};

/// How long the line may take to answer before the visitor is told that it can't be reached: longer than any
/// exchange, shorter than patience.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A question to the line, and all that is needed to make something of its answer.
pub struct Asking {
    pub(super) entrance: Arc<Entrance>,
    pub(super) origin: Arc<Origin>,
    pub(super) question: Question,
    pub(super) reader: Reader,
    pub(super) identity: Identity,
    /// See [`Entrance::agent`].
    pub(super) agent: Option<Vec<u8>>,
    /// When the ticket was given that is claimed with.
    pub(super) joined_ms: u64,
    pub(super) user: Option<String>,
    /// By an app, which gets its pass in a header.
    pub(super) app: bool,
}

/// What is asked.
pub(super) enum Question {
    /// For a number.
    Join,
    /// By a time of arrival, not before so many milliseconds are over.
    JoinAt(Key, u64),
    /// To be let in.
    Claim(Proof),
}

/// What became of a question.
pub enum Outcome {
    /// This.
    Answer(Response),
    /// To the origin.
    Forward(Box<Forward>),
}

impl Asking {
    /// Asks the line, and makes of its answer what the visitor gets.
    pub async fn outcome(self) -> Outcome {
        if let Question::JoinAt(_, wait_ms @ 1..) = self.question {
            sleep(Duration::from_millis(wait_ms)).await;
        }
        match timeout(PATIENCE, self.ask()).await {
            Ok(outcome) => outcome,
            Err(_) => self.alone(),
        }
    }

    async fn ask(&self) -> Outcome {
        match self.question {
            Question::Join | Question::JoinAt(..) => self.join().await,
            Question::Claim(proof) => self.claim(proof).await,
        }
    }

    /// What is done without an answer of the line.
    fn alone(&self) -> Outcome {
        let entrance = &self.entrance;
        match (entrance.stance(), &self.question) {
            (OnLoss::Open, _) => {
                Outcome::Forward(let_through(entrance, &self.origin, self.reader.client))
            }
            (OnLoss::Hold, Question::JoinAt(nonce, _)) => {
                self.notice(Notice::Arrived(entrance.arrival_wait_ms(*nonce, None)))
            }
            (OnLoss::Hold, Question::Join) => {
                Outcome::Answer(entrance.record_counted(&self.reader, None))
            }
            (_, Question::Claim(proof)) => {
                let view = entrance.room.view();
                let place = entrance.show_last_place(&self.reader, &view, *proof, self.joined_ms);
                Outcome::Answer(place)
            }
            (OnLoss::Closed, _) => self.notice(Notice::StoreLost),
        }
    }

    async fn join(&self) -> Outcome {
        let entrance = &self.entrance;
        let address = self.reader.client.address;
        let (keyed, identity) = match self.question {
            Question::JoinAt(nonce, _) => {
                (Some(entrance.arrived(nonce, &self.identity)), self.identity.clone())
            }
            // Whoever joins anew is somebody new: what an old ticket said of them is over.
            _ => match entrance.newcomer(address, self.user.as_deref()) {
                Ok(keyed) => (keyed, Identity::default()),
                Err(retry_ms) => {
                    entrance.stats.meters.limited("join_per_address");
                    return self.notice(Notice::Limited(retry_ms));
                }
            },
        };
        match entrance.room.join(keyed).await {
            Ok(Joined::Given { epoch, first, joined_ms, terms, .. }) => {
                let proof = Proof { epoch, number: first };
                match terms {
                    Some(terms) => {
                        entrance.came(proof, &terms);
                        self.enter(proof, &terms, identity)
                    }
                    None => self.wait(proof, joined_ms, &identity),
                }
            }
            // Who shows an arrival twice, because the first answer was lost: they have a number already.
            Ok(Joined::Already { epoch, number, joined_ms, proven: true, .. }) => {
                self.wait(Proof { epoch, number }, joined_ms, &identity)
            }
            // The place of a device is not shown to whoever only names it.
            Ok(Joined::Already { .. }) => self.notice(Notice::Refused),
            Ok(Joined::Refused(Refusal::Full)) => self.notice(Notice::Full),
            Ok(Joined::Refused(Refusal::Closed)) => self.notice(Notice::Closed),
            Ok(Joined::Refused(Refusal::Limited { retry_ms, subject })) => {
                entrance.stats.meters.limited(api::join_limit(subject));
                self.notice(Notice::Limited(retry_ms))
            }
            Err(Busy::Away) => self.alone(),
            Err(busy) => self.notice(busy.into()),
        }
    }

    async fn claim(&self, proof: Proof) -> Outcome {
        let entrance = &self.entrance;
        match entrance.room.claim(proof).await {
            Ok(Claimed::Inside(terms)) => {
                let now_ms = entrance.room.now_ms();
                entrance.stats.entered(proof, self.joined_ms, &terms, now_ms);
                self.enter(proof, &terms, self.identity.clone())
            }
            Ok(Claimed::Waiting | Claimed::Admitted) => {
                let view = entrance.room.view();
                let answer = entrance.show_place(&self.reader, &view, proof, self.joined_ms, false);
                Outcome::Answer(answer)
            }
            Ok(Claimed::Over(reason)) => {
                match self.reader.intent == Intent::Page && entrance.room.view().waiting() == 0 {
                    true => self.join().await,
                    false => self.over(Notice::Over(reason)),
                }
            }
            // Not of this line, after all.
            Ok(Claimed::Unknown | Claimed::Stale) => match self.reader.intent {
                Intent::Page => self.join().await,
                _ => self.over(Notice::Refused),
            },
            Err(Busy::Away) => self.alone(),
            Err(busy) => self.notice(busy.into()),
        }
    }

    /// What somebody without a place gets who is after something else than a page.
    fn over(&self, of_a_page: Notice) -> Outcome {
        self.notice(match self.reader.intent {
            Intent::Page => of_a_page,
            Intent::Form => Notice::NotSent,
            Intent::Frame => Notice::Frame,
            Intent::Part => Notice::Refused,
        })
    }

    fn notice(&self, notice: Notice) -> Outcome {
        Outcome::Answer(self.entrance.show(&self.reader, notice))
    }

    fn wait(&self, proof: Proof, joined_ms: u64, identity: &Identity) -> Outcome {
        let entrance = &self.entrance;
        let ticket = entrance.ticket(proof, joined_ms, identity);
        let cookie = entrance.jar.keep(&ticket, self.reader.client.secure);
        let view = entrance.room.view();
        let answer = entrance.show_place(&self.reader, &view, proof, joined_ms, true);
        Outcome::Answer(answer.with("Set-Cookie", cookie))
    }

    fn enter(&self, proof: Proof, terms: &Terms, identity: Identity) -> Outcome {
        let (origin, client) = (self.origin.clone(), self.reader.client);
        let identity = self.entrance.bound(identity, self.agent.as_deref());
        let admission = Admission::entered(&self.entrance, proof, terms, identity);
        let admission = admission.by(self.user.clone(), self.app);
        Outcome::Forward(Box::new(Forward::admitted(origin, client, admission)))
    }
}

impl From<Busy> for Notice {
    fn from(busy: Busy) -> Notice {
        match busy {
            Busy::Full => Notice::Busy(2_000),
            Busy::Dropped | Busy::Away => Notice::StoreLost,
        }
    }
}

/// Between two lines about requests that are let through for want of a store.
const SELDOM_MS: u64 = 1_000;

/// To the origin without a pass. Nobody counts them, so the log tells how many there were since the last line.
pub(super) fn let_through(
    entrance: &Entrance,
    origin: &Arc<Origin>,
    client: Client,
) -> Box<Forward> {
    entrance.count(Counted::Open);
    static LAST_MS: AtomicU64 = AtomicU64::new(0);
    static LET_THROUGH: AtomicU64 = AtomicU64::new(0);
    let order = Ordering::Relaxed;
    LET_THROUGH.fetch_add(1, order);
    let (now_ms, last_ms) = (clock::now_ms(), LAST_MS.load(order));
    let due = now_ms.abs_diff(last_ms) >= SELDOM_MS;
    if due && LAST_MS.compare_exchange(last_ms, now_ms, order, order).is_ok() {
        tracing::warn!(
            event = "admission.open",
            event_id = entrance.room.name(),
            count = LET_THROUGH.swap(0, order),
            "let through without a pass: the store is away, and on_loss is open"
        );
    }
    Box::new(Forward::open(origin.clone(), client))
}
