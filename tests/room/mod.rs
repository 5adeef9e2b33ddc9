//! A node and its room: what requests are told, and what it costs the store.

mod loss;
mod marks;
mod spread;
mod vigil;

use std::num::NonZeroU64;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use anteroom::line::*;
use anteroom::room::{Busy, Proof, Room, Sitting};
use anteroom::store::{BoxFuture, Memory, Store, StoreError};
use tokio::time::timeout;

/// A store that notes what it is asked, and can lose an answer after having done what was asked.
struct Noting {
    line: Mutex<Line>,
    wall_ms: AtomicU64,
    run: AtomicU64,
    lose: AtomicU64,
    slow_ms: AtomicU64,
    asked: Mutex<Vec<Batch>>,
}

impl Noting {
    fn new(line: Line) -> Arc<Noting> {
        Arc::new(Noting {
            line: Mutex::new(line),
            wall_ms: AtomicU64::new(START_MS),
            run: AtomicU64::new(1),
            lose: AtomicU64::new(0),
            slow_ms: AtomicU64::new(0),
            asked: Mutex::default(),
        })
    }

    fn founded() -> Arc<Noting> {
        Noting::new(Line::founded(Moment { wall_ms: START_MS, run: 1 }))
    }

    fn asked(&self) -> Vec<Batch> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

impl Store for Noting {
    fn exchange<'a>(
        &'a self,
        _: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move {
            let run = self.run.load(Ordering::SeqCst);
            let wall_ms = self.wall_ms.fetch_add(500, Ordering::SeqCst);
            let reply =
                self.line.lock().expect("not poisoned").apply(&batch, Moment { wall_ms, run });
            self.asked.lock().expect("not poisoned").push(batch);
            tokio::time::sleep(Duration::from_millis(self.slow_ms.load(Ordering::SeqCst))).await;
            if self.lose.load(Ordering::SeqCst) > 0 {
                self.lose.fetch_sub(1, Ordering::SeqCst);
                return Err(StoreError::Failed { why: "the answer was lost".into() });
            }
            Ok(reply?)
        })
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        let _ = room;
        Box::pin(async move { Ok(self.line.lock().expect("not poisoned").find(question)) })
    }
}

const START_MS: u64 = 1_800_000_000_000;

fn offer(settings: Settings) -> Offer {
    Offer { version: 1, settings }
}

fn hold() -> Offer {
    offer(Settings { mode: Mode::Hold, ..Settings::default() })
}

/// Runs `work` with a room that talks to `store`.
fn with<S: Store + 'static, T>(
    store: Arc<S>,
    offer: Offer,
    work: impl AsyncFnOnce(Arc<Room>) -> T,
) -> T {
    // Time stands still while anything can be done, and jumps when nothing can: no test waits for it.
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let room = Arc::new(Room::new("sale", 7, offer));
        let driven = room.clone();
        let driver = tokio::spawn(async move { driven.drive(&*store).await });
        let done = timeout(Duration::from_secs(20), work(room)).await.expect("within the deadline");
        driver.abort();
        done
    })
}

/// Waits until something holds.
async fn until(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn number(joined: Result<Joined, Busy>) -> Number {
    match joined {
        Ok(Joined::Given { first, count: 1, .. }) => first,
        other => panic!("no number: {other:?}"),
    }
}

fn proof(room: &Room, number: Number) -> Proof {
    Proof { epoch: room.view().counts().epoch, number }
}

#[test]
fn a_newcomer_is_answered_and_the_view_knows_them() {
    let clock = Arc::new(|| START_MS);
    let store = Arc::new(Memory::new(clock, NonZeroU64::MIN));
    with(store, offer(Settings { max_active: Some(1), ..Settings::default() }), async |room| {
        let Ok(Joined::Given { first: 1, entered: 1, terms: Some(_), .. }) = room.join(None).await
        else {
            panic!("straight in");
        };
        assert_eq!(number(room.join(None).await), 2);
        assert_eq!(room.view().position(2), Some(1));
        assert_eq!(room.claim(proof(&room, 2)).await, Ok(Claimed::Waiting));
        assert_eq!(room.end(proof(&room, 1), Ending::Completed).await, Ok(Done::Freed));
        assert!(matches!(room.claim(proof(&room, 2)).await, Ok(Claimed::Inside(_))));
        assert_eq!(room.leave(proof(&room, 2)).await, Ok(Done::Freed));
        assert_eq!(room.command(Command::Pause).await, Ok(Commanded::Done));
        assert!(room.view().counts().paused);
    });
}

#[test]
fn a_spend_whose_answer_got_lost_is_told_as_it_was() {
    let store = Noting::founded();
    let losing = store.clone();
    with(store, offer(Settings::default()), async |room| {
        let first = number(room.join(None).await);
        losing.lose.store(1, Ordering::SeqCst);
        assert_eq!(room.spend(proof(&room, first)).await, Ok(Done::Freed));
        assert_eq!(room.spend(proof(&room, first)).await, Ok(Done::Already));
        let before = Proof { epoch: 1, number: first };
        assert_eq!(room.spend(before).await, Ok(Done::Stale));
    });
}

#[test]
fn what_arrives_meanwhile_rides_in_one_batch_and_in_order() {
    let store = Noting::founded();
    let asked = store.clone();
    with(store, hold(), async |room| {
        room.join(None).await.expect("an answer");
        let before = asked.asked().len();
        let device = Keyed { once: Some([1; 16]), device: Some([1; 16]), ..Keyed::default() };
        let crowd = (0..500).map(|nth| {
            let (room, keyed) = (room.clone(), (nth == 250).then(|| device.clone()));
            tokio::spawn(async move { room.join(keyed).await })
        });
        let crowd: Vec<_> = crowd.collect();
        let mut numbers = Vec::new();
        for one in crowd {
            numbers.push(number(one.await.expect("no panic")));
        }
        assert_eq!(numbers, (2..=501).collect::<Vec<_>>(), "first come, first numbered");
        let batches = asked.asked().split_off(before);
        let joins: Vec<_> = batches.iter().filter(|batch| !batch.joins.is_empty()).collect();
        assert_eq!(joins.len(), 1, "five hundred newcomers, one exchange");
        assert_eq!(joins[0].joins, [Join::Plain(250), Join::Keyed(device), Join::Plain(249)]);
    });
}

#[test]
fn a_lost_answer_is_asked_for_again_and_gives_no_second_number() {
    let store = Noting::founded();
    let (asked, lose) = (store.clone(), store.clone());
    with(store, hold(), async |room| {
        assert_eq!(number(room.join(None).await), 1);
        lose.lose.store(2, Ordering::SeqCst);
        assert_eq!(number(room.join(None).await), 2);
        assert_eq!(number(room.join(None).await), 3);
        let batches = asked.asked();
        let second = batches.iter().find(|batch| batch.sequence > 1 && !batch.joins.is_empty());
        let sequence = second.expect("the second join's").sequence;
        let same = batches.iter().filter(|batch| batch.sequence == sequence).count();
        assert_eq!(same, 3, "the same batch under the same sequence");
    });
}

#[test]
fn a_poll_is_said_once_a_period() {
    let store = Noting::founded();
    let asked = store.clone();
    with(store, hold(), async |room| {
        for _ in 0..3 {
            room.join(None).await.expect("an answer");
        }
        let before = asked.asked().len();
        for _ in 0..100 {
            room.seen(proof(&room, 1));
            room.seen(proof(&room, 3));
        }
        room.join(None).await.expect("an answer");
        let marks: Vec<_> =
            asked.asked().split_off(before).into_iter().flat_map(|batch| batch.marks).collect();
        assert_eq!(marks, [1, 3]);
    });
}

/// However often others make a node speak.
#[test]
fn polls_are_said_together_twice_a_second() {
    let store = Noting::founded();
    let asked = store.clone();
    with(store, hold(), async |room| {
        for _ in 0..3 {
            room.join(None).await.expect("an answer");
        }
        let heard =
            || -> Vec<_> { asked.asked().into_iter().flat_map(|batch| batch.marks).collect() };
        room.seen(proof(&room, 1));
        room.join(None).await.expect("an answer");
        assert_eq!(heard(), [1], "nothing was said for a while: with the next exchange");
        let said = tokio::time::Instant::now();
        for number in [2, 3] {
            room.seen(proof(&room, number));
            room.join(None).await.expect("an answer");
            assert_eq!(heard(), [1], "they wait for each other, though the node speaks");
        }
        until(|| heard().len() > 1).await;
        let waited = said.elapsed();
        assert_eq!(heard(), [1, 2, 3], "nobody else made it speak");
        assert!(waited >= Duration::from_millis(450), "{waited:?}");
        assert!(waited <= Duration::from_millis(550), "{waited:?}");
    });
}

#[test]
fn whoever_is_gone_before_they_are_told_keeps_no_place() {
    let store = Noting::founded();
    let line = store.clone();
    with(store, hold(), async |room| {
        room.join(None).await.expect("an answer");
        let ask = || {
            let room = room.clone();
            tokio::spawn(async move { room.join(None).await })
        };
        line.slow_ms.store(50, Ordering::SeqCst);
        let before = line.asked().len();
        let told_too_late = ask();
        until(|| line.asked()[before..].iter().any(|batch| !batch.joins.is_empty())).await;
        told_too_late.abort();
        let never_asked = ask();
        tokio::task::yield_now().await;
        never_asked.abort();
        let standing = |number| line.line.lock().expect("not poisoned").standing(number);
        until(|| standing(2) == Standing::Expired(Reason::Used)).await;
        line.slow_ms.store(0, Ordering::SeqCst);
        assert_eq!(
            number(room.join(None).await),
            3,
            "whoever went before being asked about has none"
        );
    });
}

#[test]
fn a_device_that_asks_again_keeps_the_number_its_first_request_did_not_wait_for() {
    let store = Noting::founded();
    let line = store.clone();
    with(store, hold(), async |room| {
        room.join(None).await.expect("an answer");
        let device = Keyed { once: Some([1; 16]), device: Some([1; 16]), ..Keyed::default() };
        let ask = |keyed: Keyed| {
            let room = room.clone();
            tokio::spawn(async move { room.join(Some(keyed)).await })
        };
        let (first, second) = (ask(device.clone()), ask(device));
        tokio::task::yield_now().await;
        first.abort(); // A reload: the browser gives up one request and sends another.
        let number = match second.await.expect("no panic") {
            Ok(Joined::Given { first: number, .. } | Joined::Already { number, .. }) => number,
            other => panic!("{other:?}"),
        };
        for _ in 0..3 {
            room.join(None).await.expect("an answer");
        }
        let standing = line.line.lock().expect("not poisoned").standing(number);
        assert_eq!(standing, Standing::Waiting);
    });
}

#[test]
fn more_than_a_batch_carries_goes_on_without_a_pause() {
    let store = Noting::founded();
    let asked = store.clone();
    with(store, hold(), async |room| {
        room.join(None).await.expect("an answer");
        let began = tokio::time::Instant::now();
        let crowd: Vec<_> = (0..3_000_u64)
            .map(|nth| {
                let once = Some(u128::from(nth).to_le_bytes());
                let (room, keyed) = (room.clone(), Keyed { once, ..Keyed::default() });
                tokio::spawn(async move { room.join(Some(keyed)).await })
            })
            .collect();
        for one in crowd {
            number(one.await.expect("no panic"));
        }
        let batches = asked.asked().iter().filter(|batch| !batch.joins.is_empty()).count();
        assert!(batches <= 1 + 3_000 / 125 + 1, "{batches}: half of a batch is for newcomers");
        assert!(
            began.elapsed() < Duration::from_millis(250),
            "no beat of half a second in between, in {:?}",
            began.elapsed()
        );
    });
}

/// A thousand seats end at the same moment, which are six exchanges and more, because endings grow old meanwhile.
#[test]
fn what_an_exchange_left_undone_is_asked_for_again_after_a_pause() {
    let now = Moment { wall_ms: START_MS, run: 1 };
    let mut line = Line::founded(now);
    let settings = Settings {
        session_idle_ms: Some(1_000),
        session_max_ms: None,
        session_first_ms: 1_000,
        ..Settings::default()
    };
    let mut sequence = 0;
    let mut say = |batch: Batch| {
        sequence += 1;
        let epoch = line.counts().epoch;
        line.apply(&Batch { node: 1, sequence, epoch, ..batch }, now).expect("a good batch")
    };
    say(Batch { offer: Some(offer(settings.clone())), ..Batch::default() });
    say(Batch { joins: vec![Join::Plain(1_000)], ..Batch::default() });
    for some in (250..=1_000).collect::<Vec<Number>>().chunks(MAX_ITEMS) {
        say(Batch { claims: some.to_vec(), ..Batch::default() });
    }
    assert_eq!(line.counts().inside, 1_000);
    with(Noting::new(line), offer(settings), async |room| {
        until(|| room.view().counts().inside == 1_000).await;
        until(|| room.view().counts().inside < 1_000).await;
        let began = tokio::time::Instant::now();
        until(|| room.view().counts().inside == 0).await;
        assert!(
            began.elapsed() < Duration::from_millis(500),
            "not one beat: {:?}",
            began.elapsed()
        );
    });
}

#[test]
fn at_the_bound_newcomers_are_told_at_once() {
    let room = Room::new("sale", 7, hold());
    // Nobody drives: the store is away.
    let mut context = Context::from_waker(Waker::noop());
    let mut crowd: Vec<_> = (0..100_000).map(|_| Box::pin(room.join(None))).collect();
    assert!(crowd.iter_mut().all(|one| one.as_mut().poll(&mut context).is_pending()));
    let late = pin!(room.join(None));
    assert_eq!(late.poll(&mut context), Poll::Ready(Err(Busy::Full)));
    crowd.truncate(99_999);
    let late = pin!(room.join(None));
    assert_eq!(late.poll(&mut context), Poll::Pending, "whoever has gone makes room");
}

/// Everything else has its bound, too, and each its own: a crowd that claims keeps nobody from leaving.
#[test]
fn at_every_other_bound_askers_are_told_at_once() {
    type Asking<'a> = std::pin::Pin<Box<dyn Future<Output = Option<Busy>> + 'a>>;
    let room = Room::new("sale", 7, hold());
    let asking: [fn(&Room) -> Asking<'_>; 5] = [
        |room| Box::pin(async { room.claim(Proof { epoch: 1, number: 1 }).await.err() }),
        |room| {
            Box::pin(async {
                room.renew(Proof { epoch: 1, number: 1 }, Sitting::default()).await.err()
            })
        },
        |room| Box::pin(async { room.leave(Proof { epoch: 1, number: 1 }).await.err() }),
        |room| {
            let proof = Proof { epoch: 1, number: 1 };
            Box::pin(async move { room.end(proof, Ending::Completed).await.err() })
        },
        |room| Box::pin(async { room.command(Command::Pause).await.err() }),
    ];
    let mut context = Context::from_waker(Waker::noop());
    for (which, ask) in asking.into_iter().enumerate() {
        let mut crowd: Vec<_> = (0..10_000).map(|_| ask(&room)).collect();
        let waits = |one: &mut Asking<'_>| one.as_mut().poll(&mut context).is_pending();
        assert!(crowd.iter_mut().all(waits), "{which}");
        assert_eq!(
            ask(&room).as_mut().poll(&mut context),
            Poll::Ready(Some(Busy::Full)),
            "{which}"
        );
    }
}

#[test]
fn a_line_that_lost_its_memory_is_told_everything() {
    let store = Noting::founded();
    let line = store.clone();
    with(store, hold(), async |room| {
        for expected in 1..=3 {
            assert_eq!(number(room.join(None).await), expected);
        }
        *line.line.lock().expect("not poisoned") = Line::default();
        line.run.store(2, Ordering::SeqCst);
        let next = number(room.join(None).await);
        assert_eq!(next, 100_004, "above the gap");
        let view = room.view();
        assert_eq!((view.position(1), view.position(3)), (Some(1), Some(3)));
        assert!(line.asked().iter().any(|batch| batch.known.report.is_some()));
    });
}

#[test]
fn a_signature_from_the_future_is_proof_and_one_from_the_past_is_stale() {
    let store = Noting::founded();
    with(store, hold(), async |room| {
        room.join(None).await.expect("an answer");
        let Proof { epoch, .. } = proof(&room, 1);
        let old = Proof { epoch: epoch - 1, number: 1 };
        assert_eq!(room.claim(old).await, Ok(Claimed::Stale));
        assert_eq!(room.leave(old).await, Ok(Done::Stale));
        let higher = Proof { epoch, number: 9 };
        assert_eq!(room.claim(higher).await, Ok(Claimed::Waiting), "a ticket the line had lost");
        let later = Proof { epoch: epoch + 5, number: 2 };
        assert_eq!(room.claim(later).await, Ok(Claimed::Waiting));
        assert_eq!(room.view().counts().epoch, epoch + 5);
        assert_eq!(room.claim(higher).await, Ok(Claimed::Stale));
    });
}

#[test]
fn settings_offered_later_are_in_force_with_the_next_exchange() {
    let store = Noting::founded();
    with(store, hold(), async |room| {
        assert_eq!(number(room.join(None).await), 1);
        room.offer(offer(Settings { mode: Mode::Closed, ..Settings::default() }));
        until(|| room.view().settings().is_some_and(|settings| settings.mode == Mode::Closed))
            .await;
        assert_eq!(room.join(None).await, Ok(Joined::Refused(Refusal::Closed)));
    });
}

#[test]
fn releases_that_would_name_more_than_an_exchange_does_ride_in_the_next() {
    let store = Noting::founded();
    with(store.clone(), hold(), async |room| {
        room.join(None).await.expect("an answer");
        let release = |_| {
            let room = room.clone();
            tokio::spawn(async move { room.command(Command::Release(400)).await })
        };
        let orders: Vec<_> = (0..9).map(release).collect();
        for order in orders {
            let done = order.await.expect("no panic").expect("an answer");
            assert!(matches!(done, Commanded::Released { .. }), "{done:?}");
        }
        let batches = store.asked();
        assert!(batches.iter().all(|batch| batch.check().is_ok()));
        let most = batches.iter().map(|batch| batch.commands.len()).max();
        assert_eq!(most, Some(2), "three might name 1,200");
    });
}
