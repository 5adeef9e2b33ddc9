//! A node's side of a room: its view of the line, and the conversation that keeps it current.
//!
//! Owns what is waiting to be said and who waits for an answer. Decides nothing about visitors: it says
//! what happened, in [batches](crate::line::Batch), and hands out what the line made of it. Knows nothing of HTTP,
//! tickets or the kind of store.
//!
//! ```text
//!   requests ─► Desk: newcomers, claims, marks, …   ┐ one exchange at a time;
//!   requests ◄─ answers, by oneshot                 ├ what arrives meanwhile rides in the next
//!   requests ◄─ View, read without a lock           ┘
//! ```
//! A quiet node adds no waiting: the first thing said starts an exchange at once. A busy one batches by
//! itself: while an exchange is under way everything else gathers. A batch is sent until it is
//! answered, the same one under the same sequence, so that nothing is done twice.
//!
//! A store that fails three times in a row is *away*. Questions are then answered at once ([`Busy::Away`]) and the node
//! goes on by what it knows: passes in force are renewed here and the line is told afterwards, whoever polls is noted and
//! vouched for if they were passed over meanwhile, until the line has placed them. The driver goes on trying, and the room is back by itself.

mod alone;
mod crowd;
mod desk;
mod drive;
mod lots;
mod marks;
mod memo;
mod news;
mod outage;
mod post;
mod said;
mod vigil;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::{Notify, broadcast, oneshot};
use tokio::time::Instant;

use crowd::Share;
pub use crowd::{Crowd, NEAR};
pub use desk::Busy;
use desk::Desk;
pub(crate) use drive::{BEAT, IDLE, rest, work};
pub use drive::{SPREAD, SPREAD_LOSING};
pub use lots::Lots;
pub(crate) use marks::Marks;
pub use marks::PART;
pub use news::News;
pub use outage::Outage;
use post::Post;
pub use vigil::Vigil;
use vigil::Vigils;

use crate::clock;
use crate::line::{
    Claimed, Commanded, Done, End, Ending, Joined, Keyed, Number, Offer, Order, Renewal, Standing,
    View,
};

/// A room on this node. Cheap to share; everything it is asked between two exchanges it answers itself.
pub struct Room {
    name: String,
    node: u128,
    view: ArcSwap<View>,
    desk: Mutex<Desk>,
    /// The present outage, or the last while it matters.
    outage: ArcSwapOption<Outage>,
    /// Something was said.
    said: Notify,
    /// The store's clock minus ours, in milliseconds.
    ahead_ms: AtomicI64,
    /// Of those who wait on this node.
    share: Share,
    made: Instant,
    /// When the store last answered: milliseconds since this was made, and one. 0: never.
    heard: AtomicU64,
    /// Letters on their way out.
    post: Post,
    /// What changes, for whoever listens.
    news: broadcast::Sender<Arc<News>>,
    /// Whoever stays with somebody inside.
    vigils: Vigils,
    /// Makes the seeds of draws.
    lots: ArcSwapOption<Arc<dyn Lots>>,
}

/// What a ticket or pass says about whose it is. Only ever made from a verified signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The room's generation.
    pub epoch: u64,
    /// The visitor's number in it.
    pub number: Number,
}

/// What a pass says about its seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sitting {
    /// When its visitor entered.
    pub admitted_ms: u64,
    /// In which slot, counted from 1; 0: none.
    pub slot: u64,
}

impl Sitting {
    fn renewal(self, number: Number) -> Renewal {
        let Sitting { admitted_ms, slot } = self;
        Renewal { number, admitted_ms, slot, extend: false }
    }
}

/// A newcomer's outcome: [`Joined`] of one.
pub type Newcomer = Result<Joined, Busy>;

impl Room {
    /// A room whose line has not been heard of yet. [`Room::drive`] makes it live.
    pub fn new(name: impl Into<String>, node: u128, offer: Offer) -> Room {
        Room {
            name: name.into(),
            node,
            view: ArcSwap::from_pointee(View::expecting(offer.settings.clone())),
            desk: Mutex::new(Desk::new(offer)),
            outage: ArcSwapOption::empty(),
            said: Notify::new(),
            ahead_ms: AtomicI64::new(0),
            share: Share::default(),
            made: Instant::now(),
            heard: AtomicU64::new(0),
            post: Post::default(),
            news: broadcast::channel(news::KEPT).0,
            vigils: Vigils::default(),
            lots: ArcSwapOption::empty(),
        }
    }

    /// One of several rooms, whose crowds share what the node can answer.
    #[must_use]
    pub fn among(self, crowd: &Arc<Crowd>) -> Room {
        Room { share: Share::of(crowd), ..self }
    }

    /// Those who wait in this room, and in all it is among.
    pub fn crowd(&self) -> &Crowd {
        &self.share.crowd
    }

    /// The room's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line as this node last heard of it.
    pub fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// The store's time, as far as its last answer says: a pass expires by one clock for all nodes.
    pub fn now_ms(&self) -> u64 {
        clock::now_ms().saturating_add_signed(self.ahead_ms.load(Ordering::Relaxed))
    }

    /// A newcomer wants a number, and to come in if there is room.
    pub async fn join(&self, keyed: Option<Keyed>) -> Newcomer {
        self.join_as(keyed, None).await
    }

    /// The same; `tag` is what a letter is to say about them if they enter, as JSON.
    pub async fn join_as(&self, keyed: Option<Keyed>, tag: Option<String>) -> Newcomer {
        let asked = (keyed.clone(), tag.clone());
        let joined = self.ask(|desk, answer| desk.join(asked, answer)).await?;
        self.drawn_again(joined, keyed, tag).await
    }

    /// Somebody wants in. A pass that ended by idleness is tried again the same way.
    pub async fn claim(&self, proof: Proof) -> Result<Claimed, Busy> {
        self.claim_as(proof, None).await
    }

    /// The same; `tag` as for [`Room::join_as`].
    pub async fn claim_as(&self, proof: Proof, tag: Option<String>) -> Result<Claimed, Busy> {
        let claim = (proof.number, tag);
        self.ask_about(proof, Claimed::Stale, |desk, answer| desk.claim(claim, answer)).await
    }

    /// A pass in force was used, and its seat is to last longer.
    pub async fn renew(&self, proof: Proof, sitting: Sitting) -> Result<Claimed, Busy> {
        self.renew_by(proof, sitting, sitting.renewal(proof.number)).await
    }

    /// The same, for one idle time more.
    pub async fn extend(&self, proof: Proof, sitting: Sitting) -> Result<Claimed, Busy> {
        let renewal = Renewal { extend: true, ..sitting.renewal(proof.number) };
        self.renew_by(proof, sitting, renewal).await
    }

    async fn renew_by(
        &self,
        proof: Proof,
        sitting: Sitting,
        renewal: Renewal,
    ) -> Result<Claimed, Busy> {
        let asked =
            self.ask_about(proof, Claimed::Stale, |desk, answer| desk.renew(renewal, answer));
        match asked.await {
            Err(Busy::Away) => Ok(self.renew_alone(proof, sitting)),
            told => told,
        }
    }

    /// Somebody inside was heard of, in a room where every sign of life counts. Said soon; nobody waits for what comes of it.
    pub fn touch(&self, proof: Proof, sitting: Sitting) {
        if self.known(proof) {
            self.desk().touch(sitting.renewal(proof.number));
            self.said.notify_one();
        }
    }

    /// Somebody's last connection on this node has closed.
    pub fn hang_up(&self, proof: Proof) {
        if self.known(proof) {
            self.desk().hang_up(proof.number);
            self.said.notify_one();
        }
    }

    /// Somebody gives up their place.
    pub async fn leave(&self, proof: Proof) -> Result<Done, Busy> {
        self.ask_about(proof, Done::Stale, |desk, answer| desk.leave(proof.number, answer)).await
    }

    /// A session ends: by the word of the origin, of an operator, or of a visitor who is inside. While the store is
    /// away the line hears of it afterwards, though there is no answer.
    pub async fn end(&self, proof: Proof, why: Ending) -> Result<Done, Busy> {
        let end = End { number: proof.number, why };
        self.ask_about(proof, Done::Stale, |desk, answer| desk.end(end, answer)).await
    }

    /// A pass that is good once is used up, by whoever verified it. Once asked, it may be spent though nobody hears of
    /// it; while the store is away it is not.
    pub async fn spend(&self, proof: Proof) -> Result<Done, Busy> {
        self.ask_about(proof, Done::Stale, |desk, answer| desk.spend(proof.number, answer)).await
    }

    /// An operator's verb.
    pub async fn command(&self, order: impl Into<Order>) -> Result<Commanded, Busy> {
        let order = order.into();
        self.ask(|desk, answer| desk.command(order, answer)).await
    }

    /// What this node says about itself, in every exchange from now on.
    pub fn introduce(&self, about: String) {
        self.desk().introduce(about);
    }

    /// What this node counted, for the line's history: see [`FIGURES`](crate::line::FIGURES).
    /// `soon`: the line waits for them.
    pub fn count(&self, figures: &[u64], soon: bool) {
        self.desk().count(figures, soon);
    }

    /// Other settings, with the next exchange.
    pub fn offer(&self, offer: Offer) {
        self.desk().offer(offer);
        self.said.notify_one();
    }

    /// A waiting visitor was heard of. Costs a bit; said to the line once a period.
    pub fn seen(&self, proof: Proof) {
        if !self.known(proof) {
            return;
        }
        let view = self.view.load();
        let number = view.number(proof.number);
        let passed = number <= view.counts().released && view.standing(number) == Standing::Away;
        let urgent = self.desk().seen(number, view.is_express(number), passed);
        if urgent {
            self.said.notify_one();
        }
    }

    /// Whether the proof is of the present epoch. What it proves beyond what this node has heard of is
    /// remembered, and the line learns of it first.
    fn known(&self, proof: Proof) -> bool {
        let (epoch, issued) = {
            let view = self.view.load();
            (view.counts().epoch, view.counts().issued)
        };
        let mut desk = self.desk();
        if (proof.epoch, proof.number) > (epoch, issued) {
            desk.prove(proof);
        }
        desk.enter_epoch(proof.epoch)
    }

    /// A question about a number: stale if it is of an epoch that is over.
    async fn ask_about<A>(
        &self,
        proof: Proof,
        stale: A,
        say: impl FnOnce(&mut Desk, oneshot::Sender<A>) -> Result<(), Busy>,
    ) -> Result<A, Busy> {
        match self.known(proof) {
            true => self.ask(say).await,
            false => Ok(stale),
        }
    }

    async fn ask<A>(
        &self,
        say: impl FnOnce(&mut Desk, oneshot::Sender<A>) -> Result<(), Busy>,
    ) -> Result<A, Busy> {
        let (answer, told) = oneshot::channel();
        say(&mut self.desk(), answer)?;
        self.said.notify_one();
        told.await.map_err(|_| if self.is_away() { Busy::Away } else { Busy::Dropped })
    }

    /// Nobody speaks for this room any more: whoever waits for an answer, or asks for one, gets none.
    pub fn close(&self) {
        self.share.set(0, 0);
        self.desk().close();
    }

    /// Nothing can panic while it is held, so a poisoned desk is as good as any.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
