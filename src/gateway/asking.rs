//! A question to the line, and what is made of its answer: for both doors.
//!
//! Owns the patience with a line that does not answer, and what is done without one. Never decides who is asked about; that is
//! [`decide`](super::decide)'s.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use super::answer::Response;
use super::api;
use super::chronicle::{self, Whose};
use super::entrance::{Entrance, Identity};
use super::forward::{Admission, Forward};
use super::head::Client;
use super::intent::Intent;
use super::invite::{Proven, is_granted};
use super::loss::Contact;
use super::origin::Origin;
use super::settings::OnLoss;
use super::show::{Holder, Notice, Reader};
use crate::line::{Claimed, Ending, Joined, Key, Keyed, Reason, Refusal, Subject, Terms};
use crate::metrics::Outcome as Counted;
use crate::page::Unnamed;
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
    /// The class that a newcomer has proven.
    pub(super) proven: Option<Proven>,
}

/// What is asked.
pub(super) enum Question {
    /// For a number.
    Join,
    /// By a time of arrival, not before so many milliseconds are over.
    JoinAt(Key, u64),
    /// For a place of the class that was proven, by somebody who gives up this one for it. Whatever else is answered, they keep it.
    Ahead(Proof),
    /// To be let in.
    Claim(Proof),
    /// For the number at the end of the line that somebody has instead of this one.
    Requeue(Proof),
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
        let outcome = match timeout(PATIENCE, self.ask()).await {
            Ok(outcome) => outcome,
            Err(_) => self.alone(),
        };
        match outcome {
            Outcome::Answer(_) if self.entrance.stops_nobody() => {
                Outcome::Forward(unstopped(&self.entrance, &self.origin, self.reader.client))
            }
            outcome => outcome,
        }
    }

    async fn ask(&self) -> Outcome {
        let began = Instant::now();
        match self.question {
            Question::Claim(proof) => self.claim(proof, began).await,
            _ => self.join(began).await,
        }
    }

    /// What is done without an answer of the line.
    fn alone(&self) -> Outcome {
        let entrance = &self.entrance;
        match (entrance.stance(), &self.question) {
            (_, Question::Ahead(before)) => self.keep(*before),
            (OnLoss::Open, _) => {
                Outcome::Forward(let_through(entrance, &self.origin, self.reader.client))
            }
            (OnLoss::Hold, Question::JoinAt(nonce, _)) => {
                self.notice(Notice::Arrived(entrance.arrival_wait_ms(*nonce, None)))
            }
            (OnLoss::Hold, Question::Requeue(_)) => self.notice(Notice::StoreLost),
            (OnLoss::Hold, Question::Join) => {
                Outcome::Answer(entrance.record_counted(&self.reader, self.proven.as_ref(), None))
            }
            (_, Question::Claim(proof)) => {
                let view = entrance.room.view();
                Outcome::Answer(entrance.show_last_place(&self.reader, &view, self.holder(*proof)))
            }
            (OnLoss::Closed, _) => self.notice(Notice::StoreLost),
        }
    }

    async fn join(&self, began: Instant) -> Outcome {
        let entrance = &self.entrance;
        // A time of arrival has no name; whoever is sent to the end of the line has theirs.
        if entrance.has_roster() && !matches!(self.question, Question::Requeue(_)) {
            return self.notice(Notice::Name(None));
        }
        let address = self.reader.client.address;
        let (mut keyed, mut identity) = match self.question {
            Question::JoinAt(nonce, _) => {
                (Some(entrance.arrived(nonce, &self.identity)), self.identity.clone())
            }
            Question::Requeue(proof) => (
                Some(Keyed::requeued(self.entrance.room.view().number(proof.number))),
                self.own_identity(),
            ),
            // The address was counted when it got the place that is given up.
            Question::Ahead(_) => {
                let user = self.user.as_deref().map(|user| entrance.subject("user", user));
                (Some(Keyed { user, ..Keyed::default() }), self.own_identity())
            }
            // Whoever joins anew is somebody new: what an old ticket said of them is over.
            _ => match entrance.newcomer(address, self.user.as_deref()) {
                Ok(keyed) => (keyed, Identity::default()),
                Err(retry_ms) => {
                    chronicle::limited(entrance, "join_per_address", Whose::Address(address));
                    return self.notice(Notice::Limited(retry_ms));
                }
            },
        };
        let plain = Identity { class: String::new(), ..identity.clone() };
        if let Some(proven) = &self.proven {
            keyed = Some(proven.told(keyed));
            identity = identity.proven(proven);
        }
        let tag = entrance.tag(&entrance.bound(identity.clone(), self.agent.as_deref()));
        match entrance.room.join_as(keyed, tag).await {
            Ok(Joined::Given { epoch, first, joined_ms, terms, class, .. }) => {
                let proof = Proof { epoch, number: first };
                if !is_granted(class) {
                    identity = plain;
                    chronicle::not_classed(entrance, proof, class);
                }
                if let Question::Ahead(before) = self.question {
                    if identity.class.is_empty() && terms.is_none() {
                        // The class was not to be had, and never will be by this invite: the new number is left again.
                        let _ = entrance.room.leave(proof).await;
                        return self.without_invite(self.keep(before));
                    }
                    // A place that is not left is one that nobody comes to claim.
                    let _ = entrance.room.leave(before).await;
                }
                let place = || entrance.room.view().position(first).unwrap_or(1);
                let position = || if terms.is_some() { 0 } else { place() };
                let user_id = self.user.as_deref().or(identity.user_id.as_deref());
                let who = (identity.device_id.as_deref(), user_id);
                chronicle::created(entrance, proof, who, position, began.elapsed(), None);
                match terms {
                    Some(terms) => {
                        entrance.came(proof, &terms);
                        let pass = self.admission(proof, &terms, identity);
                        pass.tell(began);
                        self.enter(pass)
                    }
                    None => self.wait(proof, joined_ms, &identity),
                }
            }
            // Who shows an arrival twice, because the first answer was lost: they have a number already.
            Ok(Joined::Already { epoch, number, joined_ms, proven: true, class, .. }) => {
                let proof = Proof { epoch, number };
                let identity = entrance.known(plain, self.proven.as_ref(), class);
                if let Question::Ahead(before) = self.question {
                    // Another tab was first, and leaves a number that is of no class.
                    if identity.class.is_empty() {
                        return self.keep(before);
                    }
                    let _ = entrance.room.leave(before).await;
                }
                let device_id = identity.device_id.as_deref();
                chronicle::reused(entrance, proof, device_id, began.elapsed());
                self.wait(proof, joined_ms, &identity)
            }
            // The place of a device is not shown to whoever only names it.
            Ok(Joined::Already { .. }) => self.refused(Notice::Refused),
            Ok(Joined::Refused(Refusal::Full)) => self.refused(Notice::Full),
            Ok(Joined::Refused(Refusal::Closed)) => self.refused(Notice::Closed),
            Ok(Joined::Refused(Refusal::NameTaken)) => {
                self.refused(Notice::Name(Some(Unnamed::Taken)))
            }
            Ok(Joined::Refused(Refusal::Limited { retry_ms, subject })) => {
                let whose = match (subject, &self.user) {
                    (Subject::User, Some(user)) => Whose::Named(user),
                    _ => Whose::Address(address),
                };
                chronicle::limited(entrance, api::join_limit(subject), whose);
                self.refused(Notice::Limited(retry_ms))
            }
            Err(Busy::Away) => self.alone(),
            Err(busy) => self.refused(busy.into()),
        }
    }

    async fn claim(&self, proof: Proof, began: Instant) -> Outcome {
        let entrance = &self.entrance;
        let identity = entrance.bound(self.identity.clone(), self.agent.as_deref());
        let asked_ms = entrance.room.now_ms();
        match entrance.room.claim_as(proof, entrance.tag(&identity)).await {
            Ok(Claimed::Inside(terms)) => {
                let now_ms = entrance.room.now_ms();
                entrance.stats.entered(proof, self.joined_ms, &terms, now_ms);
                let pass = self.admission(proof, &terms, self.identity.clone());
                if chronicle::is_entry(&terms, asked_ms) {
                    pass.tell(began);
                }
                self.enter(pass)
            }
            Ok(Claimed::Waiting | Claimed::Admitted | Claimed::Away) => {
                let view = entrance.room.view();
                let holder = self.holder(proof);
                Outcome::Answer(entrance.show_place(&self.reader, &view, holder, false))
            }
            Ok(Claimed::Over(Reason::Ended(Ending::Requeued))) => {
                let question = Question::Requeue(proof);
                let again = Asking { question, ..self.again() };
                Box::pin(again.join(began)).await
            }
            Ok(Claimed::Over(reason)) => {
                match self.reader.intent == Intent::Page && entrance.room.view().waiting() == 0 {
                    true => self.join(began).await,
                    false => self.over(Notice::Over(reason)),
                }
            }
            // Not of this line, after all.
            Ok(Claimed::Unknown | Claimed::Stale) => match self.reader.intent {
                Intent::Page => self.join(began).await,
                _ => self.over(Notice::Refused),
            },
            Err(Busy::Away) => self.alone(),
            Err(busy) => self.notice(busy.into()),
        }
    }

    /// What they hold, as they showed it.
    fn holder(&self, proof: Proof) -> Holder<'_> {
        Holder { proof, joined_ms: self.joined_ms, class: &self.identity.class }
    }

    /// Who they are, but for what their pass is bound to: a ticket is not.
    fn own_identity(&self) -> Identity {
        Identity { bind: None, ..self.identity.clone() }
    }

    /// The same visitor, to ask something else.
    fn again(&self) -> Asking {
        Asking {
            entrance: self.entrance.clone(),
            origin: self.origin.clone(),
            question: Question::Join,
            reader: self.reader.clone(),
            identity: self.identity.clone(),
            agent: self.agent.clone(),
            joined_ms: self.joined_ms,
            user: self.user.clone(),
            app: self.app,
            proven: None,
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

    /// What a newcomer gets who is given no number. Whoever has one keeps it.
    fn refused(&self, notice: Notice) -> Outcome {
        match self.question {
            Question::Ahead(before) => self.keep(before),
            _ => self.notice(notice),
        }
    }

    fn notice(&self, notice: Notice) -> Outcome {
        Outcome::Answer(self.entrance.show(&self.reader, notice))
    }

    fn wait(&self, proof: Proof, joined_ms: u64, identity: &Identity) -> Outcome {
        let entrance = &self.entrance;
        let ticket = entrance.ticket(proof, joined_ms, identity);
        let cookie = entrance.jar.keep(&ticket, self.reader.client.secure);
        let view = entrance.room.view();
        let holder = Holder { proof, joined_ms, class: &identity.class };
        let answer = entrance.show_place(&self.reader, &view, holder, true);
        let outcome = Outcome::Answer(answer.with("Set-Cookie", cookie));
        match self.proven.as_ref().is_some_and(|proven| proven.once.is_some()) {
            true => self.without_invite(outcome),
            false => outcome,
        }
    }

    /// The place that somebody has, as if they had asked for no other: this is a sign of life, too.
    fn keep(&self, before: Proof) -> Outcome {
        let entrance = &self.entrance;
        let (view, holder) = (entrance.room.view(), self.holder(before));
        entrance.room.seen(before);
        chronicle::heard(entrance, &view, before);
        Outcome::Answer(match entrance.contact() {
            Contact::Lost(_) => entrance.show_last_place(&self.reader, &view, holder),
            _ => entrance.show_place(&self.reader, &view, holder, false),
        })
    }

    /// The same, and the browser forgets its invite.
    fn without_invite(&self, outcome: Outcome) -> Outcome {
        let forget = self.entrance.jar.forget_invite(self.reader.client.secure);
        match outcome {
            Outcome::Answer(answer) => Outcome::Answer(answer.with("Set-Cookie", forget)),
            outcome @ Outcome::Forward(_) => outcome,
        }
    }

    fn admission(&self, proof: Proof, terms: &Terms, identity: Identity) -> Admission {
        let identity = self.entrance.bound(identity, self.agent.as_deref());
        let admission = Admission::entered(&self.entrance, proof, terms, identity);
        admission.by(self.user.clone(), self.app)
    }

    fn enter(&self, admission: Admission) -> Outcome {
        let (origin, client) = (self.origin.clone(), self.reader.client);
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

/// To the origin without a pass, past a room that stops nobody.
pub(super) fn unstopped(entrance: &Entrance, origin: &Arc<Origin>, client: Client) -> Box<Forward> {
    entrance.count(Counted::Open);
    Box::new(Forward::open(origin.clone(), client))
}

/// To the origin without a pass: the store is away, and that is how it was wanted.
pub(super) fn let_through(
    entrance: &Entrance,
    origin: &Arc<Origin>,
    client: Client,
) -> Box<Forward> {
    chronicle::let_through(entrance);
    unstopped(entrance, origin, client)
}
