//! A store that is away: nobody waits for it, nothing is lost or done twice, and the room is back by itself.

use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::support::shaky::{Manner, Shaky};

const LOST: [Manner; 3] = [Manner::Refusing, Manner::Hanging, Manner::Mumbling];

fn shaky() -> Arc<Shaky<Noting>> {
    Shaky::around(Noting::founded())
}

/// Waits until the room has given its store up.
async fn lost(room: &Room) {
    until(|| room.is_away()).await;
}

/// Lets the store answer again, and waits until the room has noticed.
async fn found(store: &Shaky<Noting>, room: &Room) {
    store.is(Manner::Well);
    until(|| !room.is_away()).await;
}

fn standing(store: &Shaky<Noting>, number: Number) -> Standing {
    store.inner().line.lock().expect("not poisoned").standing(number)
}

fn counts(store: &Shaky<Noting>) -> Counts {
    store.inner().line.lock().expect("not poisoned").counts()
}

#[test]
fn after_three_failures_questions_are_answered_at_once() {
    for manner in LOST {
        let store = shaky();
        with(store.clone(), hold(), async |room| {
            assert_eq!(number(room.join(None).await), 1);
            store.is(manner);
            let began = Instant::now();
            assert_eq!(room.join(None).await, Err(Busy::Away), "{manner:?}");
            assert!(began.elapsed() < Duration::from_secs(5), "{manner:?}: {:?}", began.elapsed());
            let one = proof(&room, 1);
            let began = Instant::now();
            for _ in 0..100 {
                assert_eq!(room.join(None).await, Err(Busy::Away));
                assert_eq!(room.claim(one).await, Err(Busy::Away));
                assert_eq!(room.leave(one).await, Err(Busy::Away));
                assert_eq!(room.command(Command::Pause).await, Err(Busy::Away));
            }
            assert_eq!(began.elapsed(), Duration::ZERO, "{manner:?}");
            assert_eq!(room.view().position(1), Some(1), "the last that was known");
        });
    }
}

#[test]
fn two_failures_are_none() {
    let store = shaky();
    with(store.clone(), hold(), async |room| {
        assert_eq!(number(room.join(None).await), 1);
        store.is(Manner::Refusing);
        let before = store.asked();
        let asked = {
            let room = room.clone();
            tokio::spawn(async move { room.join(None).await })
        };
        until(|| store.asked() == before + 2).await;
        store.is(Manner::Well);
        assert_eq!(number(asked.await.expect("no panic")), 2);
        assert!(room.outage().is_none());
    });
}

#[test]
fn the_room_is_back_by_itself_and_soon() {
    for manner in LOST {
        let store = shaky();
        with(store.clone(), hold(), async |room| {
            room.join(None).await.expect("an answer");
            store.is(manner);
            lost(&room).await;
            let before = store.asked();
            tokio::time::sleep(Duration::from_secs(10)).await;
            let tries = store.asked() - before;
            assert!((3..=12).contains(&tries), "{manner:?}: {tries} tries in ten seconds");
            let began = Instant::now();
            found(&store, &room).await;
            assert!(began.elapsed() < Duration::from_secs(3), "{manner:?}: {:?}", began.elapsed());
            let outage = room.outage().expect("remembered for a while");
            assert!(!outage.is_present());
            assert!(outage.lasted() >= Duration::from_secs(10), "{:?}", outage.lasted());
            room.join(None).await.expect("an answer");
        });
    }
}

#[test]
fn numbers_given_behind_closed_doors_are_left_again_and_none_is_given_twice() {
    for manner in LOST {
        let store = shaky();
        with(store.clone(), hold(), async |room| {
            assert_eq!(number(room.join(None).await), 1);
            store.is(manner);
            let device = Keyed { once: Some([1; 16]), device: Some([1; 16]), ..Keyed::default() };
            let crowd: Vec<_> = [None, Some(device.clone()), None]
                .into_iter()
                .map(|keyed| {
                    let room = room.clone();
                    tokio::spawn(async move { room.join(keyed).await })
                })
                .collect();
            for one in crowd {
                assert_eq!(one.await.expect("no panic"), Err(Busy::Away));
            }
            found(&store, &room).await;
            // Two whom nobody told; the device comes back and finds its number.
            let given = match room.join(Some(device)).await {
                Ok(Joined::Already { number, .. } | Joined::Given { first: number, .. }) => number,
                other => panic!("{manner:?}: {other:?}"),
            };
            until(|| counts(&store).waiting == 2).await;
            assert_eq!(standing(&store, given), Standing::Waiting);
            let next = number(room.join(None).await);
            assert_eq!(next, counts(&store).issued, "{manner:?}");
            let joins = store.inner().asked();
            let mut sequences: Vec<_> = joins.iter().map(|batch| batch.sequence).collect();
            sequences.dedup();
            assert!(sequences.is_sorted(), "{manner:?}: one batch after the other");
        });
    }
}

#[test]
fn a_start_without_a_store_is_no_different() {
    for manner in LOST {
        let store = shaky();
        store.is(manner);
        with(store.clone(), hold(), async |room| {
            assert_eq!(room.join(None).await, Err(Busy::Away), "{manner:?}");
            assert!(room.view().settings().is_some(), "those of its own file");
            found(&store, &room).await;
            room.join(None).await.expect("an answer");
        });
    }
}

/// A room with seats, one visitor inside and one in the line.
fn seats(max_active: u64) -> Settings {
    Settings {
        max_active: Some(max_active),
        session_idle_ms: Some(60_000),
        session_max_ms: Some(600_000),
        session_first_ms: 60_000,
        ..Settings::default()
    }
}

async fn enter(room: &Room) -> (Proof, Terms) {
    match room.join(None).await {
        Ok(Joined::Given { epoch, first, terms: Some(terms), .. }) => {
            (Proof { epoch, number: first }, terms)
        }
        other => panic!("not inside: {other:?}"),
    }
}

#[test]
fn a_pass_in_force_is_renewed_without_the_line_and_the_line_hears_of_it() {
    let store = shaky();
    with(store.clone(), offer(seats(1)), async |room| {
        let (proof, terms) = enter(&room).await;
        store.is(Manner::Hanging);
        // One question that the store never answers, and one that is not even asked.
        for _ in 0..2 {
            let before_ms = room.now_ms();
            let Ok(Claimed::Inside(renewed)) = room.renew(proof, since(terms.admitted_ms)).await
            else {
                panic!("a pass must not end because the store is away");
            };
            assert_eq!(renewed.admitted_ms, terms.admitted_ms);
            assert!(renewed.expires_ms >= before_ms + 60_000);
        }
        let long_ago = room.now_ms() - 570_000;
        let Ok(Claimed::Inside(capped)) = room.renew(proof, since(long_ago)).await else {
            panic!("not capped yet");
        };
        assert_eq!(capped.expires_ms, long_ago + 600_000, "never beyond session_max");
        let over = Ok(Claimed::Over(Reason::Ended(Ending::Capped)));
        assert_eq!(room.renew(proof, since(long_ago - 30_001)).await, over);
        let before = store.inner().asked().len();
        found(&store, &room).await;
        let said = || store.inner().asked().split_off(before).into_iter();
        until(|| said().flat_map(|batch| batch.renewals).any(|one| one.number == 1)).await;
        assert_eq!(standing(&store, 1), Standing::Active);
    });
}

#[test]
fn an_end_is_said_afterwards() {
    let store = shaky();
    with(store.clone(), offer(seats(2)), async |room| {
        let (first, _) = enter(&room).await;
        let (second, _) = enter(&room).await;
        store.is(Manner::Refusing);
        assert_eq!(room.end(first, Ending::Completed).await, Err(Busy::Away), "while it is lost");
        assert_eq!(room.end(second, Ending::Revoked).await, Err(Busy::Away), "and afterwards");
        found(&store, &room).await;
        until(|| standing(&store, 1) == Standing::Completed).await;
        until(|| standing(&store, 2) == Standing::Expired(Reason::Ended(Ending::Revoked))).await;
    });
}

/// Of a batch that was on its way when the store was lost, and that the line does not take: numbers are others since.
#[test]
fn an_end_that_was_on_its_way_into_a_draw_is_said_afterwards() {
    let opens_ms = START_MS + 60_000;
    let event =
        Event { opens_ms, prequeue_ms: 60_000, draw: true, closes_ms: None, every_ms: None };
    let pace = Some(Pace::Rate { rate: Rate { count: 0, per_ms: 1_000 }, burst: 1 });
    let settings = Settings { schedule: vec![event], pace, ..Settings::default() };
    let store = shaky();
    with(store.clone(), offer(settings), async |room| {
        for _ in 0..5 {
            room.join(None).await.expect("an answer");
        }
        store.is(Manner::Refusing);
        let revoked = proof(&room, 3);
        assert_eq!(room.end(revoked, Ending::Revoked).await, Err(Busy::Away), "while it is lost");
        let lot = Lot { opens_ms, kid: "k".to_owned(), hash: [1; 32], seed: Some([7; 32]) };
        store.inner().wall_ms.store(opens_ms, Ordering::SeqCst);
        let mut line = store.inner().line.lock().expect("not poisoned").clone();
        let epoch = line.counts().epoch;
        let batch = Batch { node: 99, sequence: 1, epoch, lot: Some(lot), ..Batch::default() };
        let moment = Moment { wall_ms: opens_ms, run: 1 };
        assert_eq!(line.apply(&batch, moment).expect("a good batch").counts.draw, 1);
        *store.inner().line.lock().expect("not poisoned") = line;
        found(&store, &room).await;
        until(|| counts(&store).waiting == 4).await;
        let number = room.view().number(3);
        let revoked = Standing::Expired(Reason::Ended(Ending::Revoked));
        assert_eq!(standing(&store, number), revoked);
    });
}

/// A line that has no settings, and to which none are good enough.
struct Unset {
    asked: AtomicU64,
}

impl Store for Unset {
    fn exchange<'a>(
        &'a self,
        _: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let offered = batch.offer.map(|_| Offered::Older(9));
        let taken = Taken::Unconfigured;
        Box::pin(async move { Ok(Reply { run: 1, taken, offered, ..Reply::default() }) })
    }

    fn find<'a>(
        &'a self,
        _: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        Box::pin(async move { Ok(question.nothing()) })
    }
}

#[test]
fn a_line_that_refuses_every_offer_is_asked_no_more_often_than_a_quiet_one() {
    let store = Arc::new(Unset { asked: AtomicU64::new(0) });
    with(store.clone(), hold(), async |_| {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let asked = store.asked.load(Ordering::SeqCst);
        assert!((10..=25).contains(&asked), "{asked} times in ten seconds");
    });
}

/// The others go on while this node is cut off: they let in `count`, and time passes until it lapses.
fn others_let_in(store: &Shaky<Noting>, count: u64, here: &[Number]) {
    let mut line = store.inner().line.lock().expect("not poisoned");
    let epoch = line.counts().epoch;
    for sequence in 1..=200 {
        let wall_ms = store.inner().wall_ms.fetch_add(2_000, Ordering::SeqCst);
        let commands = if sequence == 150 { vec![Command::Release(count).into()] } else { vec![] };
        let marks = here.to_vec();
        let batch = Batch { node: 99, sequence, epoch, commands, marks, ..Batch::default() };
        line.apply(&batch, Moment { wall_ms, run: 1 }).expect("a good batch");
    }
}

#[test]
fn whoever_was_seen_by_a_node_cut_off_alone_goes_to_the_head() {
    let settings = Settings { mode: Mode::Hold, claim_window_ms: 10_000, ..Settings::default() };
    let store = shaky();
    with(store.clone(), offer(settings), async |room| {
        for _ in 0..6 {
            room.join(None).await.expect("an answer");
        }
        store.is(Manner::Refusing);
        lost(&room).await;
        room.seen(proof(&room, 1));
        room.seen(proof(&room, 2));
        room.seen(proof(&room, 5));
        // 1 to 4 were not heard of by anybody but this node; 5 and 6 were released by the others and have gone in vain.
        others_let_in(&store, 1, &[6]);
        assert_eq!(counts(&store).released, 6);
        for number in [1, 2, 3, 5] {
            assert_eq!(standing(&store, number), Standing::Expired(Reason::Passed));
        }
        found(&store, &room).await;
        for number in [1, 2, 5] {
            assert_eq!(standing(&store, number), Standing::Waiting, "{number} kept polling");
            assert_eq!(
                room.view().standing(number),
                Standing::Waiting,
                "and is not told otherwise"
            );
        }
        assert_eq!(standing(&store, 3), Standing::Expired(Reason::Passed), "nobody saw 3");
        assert_eq!(room.view().position(1), Some(1));
        let vouched: Vec<_> =
            store.inner().asked().into_iter().flat_map(|batch| batch.vouched).collect();
        assert_eq!(vouched, [1, 2, 5], "once each");
    });
}

#[test]
fn a_crowd_that_was_passed_over_is_vouched_for_batch_by_batch() {
    let settings = Settings { mode: Mode::Hold, claim_window_ms: 10_000, ..Settings::default() };
    let store = shaky();
    with(store.clone(), offer(settings), async |room| {
        let crowd: Vec<_> = (0..2_501)
            .map(|_| {
                let room = room.clone();
                tokio::spawn(async move { room.join(None).await })
            })
            .collect();
        for one in crowd {
            number(one.await.expect("no panic"));
        }
        store.is(Manner::Refusing);
        lost(&room).await;
        (1..=2_500).for_each(|number| room.seen(proof(&room, number)));
        others_let_in(&store, 1, &[2_501]);
        assert_eq!(counts(&store).waiting, 0);
        found(&store, &room).await;
        assert_eq!(counts(&store).waiting, 2_500);
        let batches = store.inner().asked();
        assert!(batches.iter().all(|batch| batch.check().is_ok()));
        let vouching = batches.iter().filter(|batch| !batch.vouched.is_empty()).count();
        assert_eq!(vouching, 2_500_usize.div_ceil(MAX_ITEMS));
    });
}

/// The first exchange after an outage sweeps. By bits of before it, those who were passed over would look as if their turn had come.
#[test]
fn whoever_is_vouched_for_is_so_by_what_the_line_says_now() {
    let settings =
        Settings { mode: Mode::Hold, heartbeat_timeout_ms: 60_000, ..Settings::default() };
    let store = shaky();
    with(store.clone(), offer(settings), async |room| {
        for _ in 0..6 {
            room.join(None).await.expect("an answer");
        }
        store.is(Manner::Refusing);
        lost(&room).await;
        [1, 2, 5].into_iter().for_each(|number| room.seen(proof(&room, number)));
        let mut sequence = 0;
        let mut others = |commands: Vec<Order>, until: &dyn Fn(&Counts) -> bool| {
            let mut line = store.inner().line.lock().expect("not poisoned");
            let mut commands = Some(commands);
            while !until(&line.counts()) {
                sequence += 1;
                let (epoch, marks) = (line.counts().epoch, vec![6]);
                let commands = commands.take().unwrap_or_default();
                let batch =
                    Batch { node: 99, sequence, epoch, marks, commands, ..Batch::default() };
                let wall_ms = store.inner().wall_ms.fetch_add(500, Ordering::SeqCst);
                line.apply(&batch, Moment { wall_ms, run: 1 }).expect("a good batch");
            }
        };
        others(Vec::new(), &|counts| counts.waiting == 1);
        let swept_ms = counts(&store).swept_ms;
        others(vec![Command::Release(1).into()], &|counts| counts.swept_ms > swept_ms);
        // A period lasts thirty seconds: the next exchange begins another.
        others(Vec::new(), &|counts| counts.clock_ms == counts.swept_ms + 29_500);
        assert_eq!((counts(&store).released, counts(&store).lapsed), (6, 0));
        found(&store, &room).await;
        for number in [1, 2, 5] {
            assert_eq!(standing(&store, number), Standing::Waiting, "{number} kept polling");
        }
    });
}

/// The head of the line holds ten thousand. Whoever else was passed over is placed as soon as there is room, and is told meanwhile that they
/// wait; nobody is asked about again and again for nothing.
#[test]
fn a_crowd_larger_than_the_head_is_vouched_for_until_there_is_room() {
    const CROWD: u64 = 12_500;
    const HEAD: u64 = 10_000;
    let settings = Settings { mode: Mode::Hold, claim_window_ms: 10_000, ..Settings::default() };
    let store = shaky();
    with(store.clone(), offer(settings), async |room| {
        let crowd: Vec<_> = (0..=CROWD)
            .map(|_| {
                let room = room.clone();
                tokio::spawn(async move { room.join(None).await })
            })
            .collect();
        for one in crowd {
            number(one.await.expect("no panic"));
        }
        store.is(Manner::Refusing);
        lost(&room).await;
        (1..=CROWD).for_each(|number| room.seen(proof(&room, number)));
        others_let_in(&store, 1, &[CROWD + 1]);
        assert_eq!((counts(&store).waiting, counts(&store).lapsed), (0, CROWD + 1));
        let all_wait = || {
            let view = room.view();
            (1..=CROWD).all(|number| view.standing(number) == Standing::Waiting)
        };
        found(&store, &room).await;
        assert_eq!(counts(&store).waiting, HEAD);
        assert!(all_wait(), "nobody is told that their turn is over");
        assert!(room.view().position(CROWD) >= Some(HEAD), "{:?}", room.view().position(CROWD));
        let asked = || store.inner().asked().iter().map(|batch| batch.vouched.len()).sum::<usize>();
        let before = asked();
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(all_wait());
        let again = asked() - before;
        assert!((4..=7).contains(&(again / MAX_ITEMS)), "{again} in three seconds");
        // Some of them go, by another node; the others come up.
        let mut line = store.inner().line.lock().expect("not poisoned").clone();
        let epoch = line.counts().epoch;
        for (nth, some) in (1..=CROWD - HEAD).collect::<Vec<_>>().chunks(MAX_ITEMS).enumerate() {
            let (sequence, leaves) = (1_000 + nth as u64, some.to_vec());
            let batch = Batch { node: 99, sequence, epoch, leaves, ..Batch::default() };
            let wall_ms = store.inner().wall_ms.load(Ordering::SeqCst);
            line.apply(&batch, Moment { wall_ms, run: 1 }).expect("a good batch");
        }
        *store.inner().line.lock().expect("not poisoned") = line;
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(counts(&store).waiting, HEAD, "everybody else");
        assert_eq!(room.view().standing(CROWD), Standing::Waiting);
        assert_eq!(standing(&store, CROWD), Standing::Waiting);
        let before = asked();
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(asked(), before, "and nobody is asked about any more");
    });
}

#[test]
fn a_store_that_lost_its_memory_is_back_once_it_has_settled() {
    let store = shaky();
    with(store.clone(), hold(), async |room| {
        for _ in 0..3 {
            room.join(None).await.expect("an answer");
        }
        store.is(Manner::Hanging);
        lost(&room).await;
        *store.inner().line.lock().expect("not poisoned") = Line::default();
        store.inner().run.store(2, Ordering::SeqCst);
        found(&store, &room).await;
        assert_eq!(room.view().position(3), Some(3));
        assert!(number(room.join(None).await) > 100_000, "above the gap");
    });
}

/// A store that takes a moment, by the time of the test.
struct Timed {
    line: Mutex<Line>,
    began: Instant,
    run: AtomicU64,
}

impl Timed {
    fn moment(&self) -> Moment {
        let passed = self.began.elapsed().as_millis() as u64;
        Moment { wall_ms: START_MS + passed, run: self.run.load(Ordering::SeqCst) }
    }

    fn line(&self) -> std::sync::MutexGuard<'_, Line> {
        self.line.lock().expect("not poisoned")
    }

    /// Somebody else says this.
    fn tell(&self, sequence: u64, batch: Batch) -> Reply {
        let mut line = self.line();
        let epoch = line.counts().epoch;
        let batch = Batch { node: 99, sequence, epoch, ..batch };
        line.apply(&batch, self.moment()).expect("a good batch")
    }

    /// Its memory is another one.
    fn restart(&self, line: Line) {
        *self.line() = line;
        self.run.fetch_add(1, Ordering::SeqCst);
    }
}

impl Store for Timed {
    fn exchange<'a>(
        &'a self,
        _: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let reply = self.line().apply(&batch, self.moment());
            Ok(reply?)
        })
    }

    fn find<'a>(
        &'a self,
        _: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        Box::pin(async move { Ok(self.line().find(question)) })
    }
}

/// Runs `work` with as many nodes as a large site has, and what they talk to.
fn with_many(settings: Settings, work: impl AsyncFnOnce(&Timed, &[Arc<Room>])) {
    const NODES: u128 = 12;
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let line = Mutex::new(Line::founded(Moment { wall_ms: START_MS, run: 1 }));
        let store = Arc::new(Timed { line, began: Instant::now(), run: AtomicU64::new(1) });
        // As good as any: ids of nodes are random.
        let id = |nth: u128| 1 + nth * 7;
        let offer = || offer(settings.clone());
        let rooms: Vec<_> =
            (0..NODES).map(|nth| Arc::new(Room::new("sale", id(nth), offer()))).collect();
        for room in &rooms {
            let (room, store) = (room.clone(), store.clone());
            tokio::spawn(async move { room.drive(&*store).await });
        }
        soon(|| rooms.iter().all(|room| room.view().settings().is_some())).await;
        soon(|| store.line().counts().nodes == NODES as u64).await;
        work(&store, &rooms).await;
    });
}

/// Waits, for a while, until something holds that takes long to look at.
async fn soon(what: impl Fn() -> bool) {
    for _ in 0..40 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("not within twenty seconds");
}

#[test]
fn a_full_head_keeps_its_places_when_a_store_that_many_nodes_share_starts_empty() {
    const HEAD: u64 = 10_000;
    let class = Class { name: "guests".to_owned(), skip: 500, rank: 1 };
    let settings = Settings { mode: Mode::Hold, classes: vec![class], ..Settings::default() };
    with_many(settings, async |store, rooms| {
        let guest = || Keyed { class: Some("guests".to_owned()), ..Keyed::default() };
        for sequence in 1..=HEAD / MAX_ITEMS as u64 {
            let joins = (0..MAX_ITEMS).map(|_| Join::Keyed(guest())).collect();
            store.tell(sequence, Batch { joins, ..Batch::default() });
        }
        assert_eq!(store.line().counts().classed, HEAD);
        let classed = |room: &Arc<Room>| room.view().report().classes;
        tokio::time::sleep(Duration::from_secs(5)).await;
        for room in rooms {
            assert_eq!(classed(room).len() as u64, HEAD, "its nodes know the head");
        }
        let before = classed(&rooms[0]);
        store.restart(Line::default());
        soon(|| store.line().counts().issued > 100_000).await;
        assert_eq!(store.line().counts().classed, HEAD, "of them");
        tokio::time::sleep(Duration::from_secs(5)).await;
        for room in rooms {
            assert!(room.view().counts().issued > 100_000, "above the gap");
            assert!(classed(room) == before, "each has their place");
        }
    });
}

#[test]
fn whoever_has_gone_since_a_copy_was_made_has_no_seat_in_it() {
    const INSIDE: u64 = 20_000;
    const GONE: u64 = 18_000;
    const SINCE: u64 = 2_000;
    let settings =
        Settings { mode: Mode::Hold, max_active: Some(2 * INSIDE), ..Settings::default() };
    with_many(settings, async |store, rooms| {
        let mut sequence = 0;
        let mut tell = |batch: Batch| {
            sequence += 1;
            store.tell(sequence, batch);
        };
        tell(Batch { joins: vec![Join::Plain(INSIDE as u32)], ..Batch::default() });
        tell(Batch { commands: vec![Command::Release(INSIDE).into()], ..Batch::default() });
        let numbers: Vec<Number> = (1..=INSIDE).collect();
        for claims in numbers.chunks(MAX_ITEMS) {
            tell(Batch { claims: claims.to_vec(), ..Batch::default() });
        }
        let ended = |room: &Arc<Room>, count: u64| room.view().report().ended.len() as u64 == count;
        let mut gone = 0;
        let mut copy = None;
        for count in [GONE - SINCE, GONE] {
            for some in numbers[gone as usize..count as usize].chunks(MAX_ITEMS) {
                let end = |number: &Number| End { number: *number, why: Ending::Completed };
                tell(Batch { ends: some.iter().map(end).collect(), ..Batch::default() });
            }
            gone = count;
            soon(|| rooms.iter().all(|room| ended(room, count))).await;
            copy.get_or_insert_with(|| store.line().clone());
        }
        let issued = store.line().counts().issued;
        store.restart(copy.expect("one was made"));
        soon(|| store.line().counts().issued > issued).await;
        let line = store.line();
        let lost = (1..=GONE).filter(|number| line.standing(*number) != Standing::Completed);
        assert_eq!(lost.count(), 0, "of those who are gone");
        let counts = line.counts();
        assert_eq!((counts.inside, counts.missing), (INSIDE - GONE, 0), "seats are as they were");
    });
}

#[test]
fn a_room_that_is_closed_stays_closed() {
    let store = shaky();
    with(store.clone(), hold(), async |room| {
        room.join(None).await.expect("an answer");
        room.close();
        store.is(Manner::Refusing);
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(room.join(None).await, Err(Busy::Dropped));
        store.is(Manner::Well);
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(room.join(None).await, Err(Busy::Dropped));
    });
}

/// What is written into the log while `work` runs.
fn logged(work: impl FnOnce()) -> Vec<serde_json::Value> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    #[derive(Clone)]
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let writer = Lines(lines.clone());
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_max_level(tracing::Level::INFO)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    let lines = lines.lock().expect("not poisoned");
    let text = std::str::from_utf8(&lines).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn the_log_has_one_line_when_the_store_is_lost_and_one_when_it_is_back() {
    let lines = logged(|| {
        let store = shaky();
        with(store.clone(), hold(), async |room| {
            room.join(None).await.expect("an answer");
            store.is(Manner::Refusing);
            lost(&room).await;
            tokio::time::sleep(Duration::from_secs(10)).await;
            found(&store, &room).await;
            room.join(None).await.expect("an answer");
        });
    });
    let [lost, back] = &lines[..] else { panic!("{lines:#?}") };
    assert_eq!((&lost["level"], &lost["event"]), (&"ERROR".into(), &"store.lost".into()));
    assert_eq!((&lost["event_id"], &back["event_id"]), (&"sale".into(), &"sale".into()));
    assert!(lost["error"].as_str().is_some_and(|error| error.contains("the test says so")));
    assert_eq!((&back["level"], &back["event"]), (&"INFO".into(), &"store.back".into()));
    assert!(back["duration_ms"].as_u64().is_some_and(|ms| (10_000..13_000).contains(&ms)));
}

fn since(admitted_ms: u64) -> Sitting {
    Sitting { admitted_ms, slot: 0 }
}
