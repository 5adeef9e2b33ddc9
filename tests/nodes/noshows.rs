//! Three in ten never come when it is their turn. Three nodes, one Redis: as many come in as the rate says.

use std::time::Duration;

use anteroom::line::{Counts, Joined, Number, Pace, Rate, Settings, Standing};
use anteroom::room::Proof;

use super::scenes::{Node, runtime};
use crate::support::redis::RedisServer;

const PER_SECOND: u64 = 50;
/// Short, and several of them pass before anything is counted, and while it is.
const WINDOW_MS: u64 = 2_000;
const SETTLED_MS: u64 = 3 * WINDOW_MS;
const COUNTED_MS: u64 = 12_000;
/// For all of it, and more are waiting at its end.
const PEOPLE: u64 = 2_100;

/// Whoever is in front of a node.
struct Crowd {
    node: Node,
    waiting: Vec<Proof>,
}

impl Crowd {
    /// So many come at once.
    async fn gather(redis: &RedisServer, id: u128, settings: &Settings, people: u64) -> Crowd {
        let node = Node::start(redis, id, settings.clone()).await;
        let joins = (0..people).map(|_| {
            let room = node.room.clone();
            tokio::spawn(async move { room.join(None).await })
        });
        let mut waiting = Vec::new();
        for join in joins.collect::<Vec<_>>() {
            match join.await.expect("no panic") {
                Ok(Joined::Given { epoch, first: number, entered: 0, .. }) => {
                    waiting.push(Proof { epoch, number });
                }
                Ok(Joined::Given { .. }) => {}
                other => panic!("no number: {other:?}"),
            }
        }
        Crowd { node, waiting }
    }

    /// Whoever's turn it is claims it, but those who never do.
    async fn look(&mut self) {
        let view = self.node.room.view();
        let is_called = |proof: &Proof| view.standing(proof.number) == Standing::Admitted;
        let called = self.waiting.extract_if(.., |proof| is_called(proof));
        let claims = called.filter(|proof| comes(proof.number)).map(|proof| {
            let room = self.node.room.clone();
            tokio::spawn(async move { room.claim(proof).await })
        });
        for claim in claims.collect::<Vec<_>>() {
            // On a machine that stood still it may be too late: then there is one more who did not come.
            claim.await.expect("no panic").expect("an answer");
        }
    }
}

/// Seven of ten, mixed.
fn comes(number: Number) -> bool {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & 0xffff < 0xffff * 7 / 10
}

#[test]
fn as_many_come_in_as_the_rate_says() {
    let _alone = super::alone();
    let redis = RedisServer::start();
    let settings = Settings {
        pace: Some(Pace::Rate { rate: Rate { count: PER_SECOND, per_ms: 1_000 }, burst: 5 }),
        max_waiting: None,
        claim_window_ms: WINDOW_MS,
        heartbeat_timeout_ms: 600_000,
        ..Settings::default()
    };
    runtime().block_on(async {
        let mut crowds = Vec::new();
        for id in 1..=3 {
            crowds.push(Crowd::gather(&redis, id, &settings, PEOPLE / 3).await);
        }
        let began = crowds[0].node.counts();
        let (mut first, mut last): (Option<Counts>, Counts) = (None, began);
        while last.clock_ms < began.clock_ms + SETTLED_MS + COUNTED_MS {
            for crowd in &mut crowds {
                crowd.look().await;
            }
            last = crowds[0].node.counts();
            if first.is_none() && last.clock_ms >= began.clock_ms + SETTLED_MS {
                first = Some(last);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let first = first.expect("a beginning");
        assert!(last.waiting > 0, "somebody waited all the time");
        // By the line's own clock, read with the figures: no matter how slow this machine is.
        let per_second = |before: u64, after: u64| {
            (after - before) as f64 * 1_000.0 / (last.clock_ms - first.clock_ms) as f64
        };
        let entered = per_second(first.entered, last.entered);
        let turns = per_second(first.turns, last.turns);
        let missed = per_second(first.no_shows, last.no_shows);
        println!("{turns:.1} turns a second, {missed:.1} of them for nothing, {entered:.1} came");
        let share = missed / turns;
        assert!((0.25..0.35).contains(&share), "three in ten do not come: {share:.3}");
        let reached = entered / PER_SECOND as f64;
        assert!((reached - 1.0).abs() <= 0.05, "{reached:.3} of the rate that is set");
    });
}
