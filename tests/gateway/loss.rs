//! Without a store: what becomes of whom, row by row; and the order in which those join who came meanwhile.

use std::time::Duration;

use anteroom::gateway::decide::{Answer, Carried, Decision, Facts, decide};
use anteroom::gateway::intent::Intent;
use anteroom::gateway::loss::{Contact, EARLY_MS, Lost, Replay, pause};
use anteroom::gateway::settings::{Loss, OnLoss};
use anteroom::line::*;
use anteroom::room::Proof;
use proptest::prelude::*;

use super::decide::{INTENTS, pass, proof, some_room, ticket};
use crate::line::{Room, START_MS, seats};

const STANCES: [OnLoss; 3] = [OnLoss::Hold, OnLoss::Open, OnLoss::Closed];

fn arrival(arrived_ms: u64) -> Carried {
    Carried::Provisional { arrived_ms, nonce: [7; 16] }
}

fn lost(view: &View, now_ms: u64, stance: OnLoss, intent: Intent, carried: Carried) -> Decision {
    let contact = Contact::Lost(Lost { stance, began_ms: now_ms - 60_000 });
    decide(&Facts { intent, carried, now_ms, contact }, view)
}

#[test]
fn a_good_pass_is_good_whatever_the_stance() {
    let mut room = Room::new(seats(2));
    room.join(1);
    let good = pass(&room, 1, START_MS, START_MS + 300_000);
    for stance in STANCES {
        for intent in INTENTS {
            let forward = Decision::Forward { proof: proof(&room, 1), renew: false };
            assert_eq!(lost(&room.view, room.wall_ms, stance, intent, good), forward);
        }
    }
}

/// A node that has never heard from the store knows neither epoch nor numbers: the signature is enough.
#[test]
fn a_node_that_has_heard_nothing_lets_passes_in_and_keeps_places() {
    let view = View::expecting(seats(2));
    let now_ms = START_MS;
    let of = |issued_ms, expires_ms| {
        let proof = Proof { epoch: 1_800_000_000, number: 7 };
        (proof, Carried::Pass { proof, issued_ms, first: false, expires_ms })
    };
    for stance in STANCES {
        for intent in INTENTS {
            let (proof, fresh) = of(now_ms - 1_000, now_ms + 299_000);
            let decided = lost(&view, now_ms, stance, intent, fresh);
            assert_eq!(decided, Decision::Forward { proof, renew: false });
            let (proof, aged) = of(now_ms - 200_000, now_ms + 100_000);
            let decided = lost(&view, now_ms, stance, intent, aged);
            assert_eq!(decided, Decision::Forward { proof, renew: true }, "within its idle time");
        }
    }
    let place = Proof { epoch: 1_800_000_000, number: 7 };
    let place = Carried::Ticket { proof: place, joined_ms: START_MS };
    let kept = Decision::Answer(Answer::Lost(place.proof()));
    assert_eq!(lost(&view, now_ms, OnLoss::Hold, Intent::Page, place), kept);
}

#[test]
fn a_pass_that_ran_out_since_goes_on_and_one_that_ran_out_before_waits() {
    let mut room = Room::new(seats(2));
    room.join(1);
    let now_ms = room.wall_ms;
    for stance in STANCES {
        for intent in INTENTS {
            let since = pass(&room, 1, now_ms - 300_000, now_ms - 59_000);
            let decided = lost(&room.view, now_ms, stance, intent, since);
            assert_eq!(decided, Decision::Resume(proof(&room, 1)));
        }
        let before = pass(&room, 1, now_ms - 300_000, now_ms - 61_000);
        let decided = lost(&room.view, now_ms, stance, Intent::Page, before);
        let expected = match stance {
            OnLoss::Open => Decision::Open,
            _ => Decision::Answer(Answer::Lost(None)),
        };
        assert_eq!(decided, expected, "the line says whether there is a seat for them");
    }
}

#[test]
fn whoever_was_thrown_out_stays_out() {
    let mut room = Room::new(seats(1));
    room.join(3);
    let good = pass(&room, 1, START_MS, START_MS + 300_000);
    room.end(1, Ending::Revoked);
    for stance in [OnLoss::Hold, OnLoss::Closed] {
        let over = Decision::Answer(Answer::Over(Reason::Ended(Ending::Revoked)));
        assert_eq!(lost(&room.view, room.wall_ms, stance, Intent::Page, good), over);
        let ran_out = pass(&room, 1, START_MS, room.wall_ms - 1_000);
        assert_eq!(lost(&room.view, room.wall_ms, stance, Intent::Page, ran_out), over);
    }
}

#[test]
fn places_stay_and_nobody_is_told_that_their_turn_is_over() {
    // 1 has left, 2 is admitted, 3 waits; 4 is of another node.
    let room = some_room();
    for stance in [OnLoss::Hold, OnLoss::Closed] {
        for number in 2..=4 {
            for intent in INTENTS {
                let decided = lost(&room.view, room.wall_ms, stance, intent, ticket(&room, number));
                let kept = Decision::Answer(Answer::Lost(Some(proof(&room, number))));
                assert_eq!(decided, kept, "{stance:?} {number} {intent:?}");
            }
        }
    }
    let mut room = Room::new(Settings { claim_window_ms: 5_000, ..crate::line::hold() });
    room.join(3);
    room.command(Command::Release(1));
    room.pass(10_000, &[2, 3]);
    let decided = lost(&room.view, room.wall_ms, OnLoss::Hold, Intent::Page, ticket(&room, 1));
    let kept = Decision::Answer(Answer::Lost(Some(proof(&room, 1))));
    assert_eq!(decided, kept, "passed over, as far as this node knows");
}

#[test]
fn newcomers_by_stance() {
    let room = some_room();
    let now_ms = room.wall_ms;
    for carried in [Carried::Nothing, arrival(now_ms - 10_000)] {
        let page = |stance| lost(&room.view, now_ms, stance, Intent::Page, carried);
        assert_eq!(page(OnLoss::Hold), Decision::Arrive { wait_ms: None });
        assert_eq!(page(OnLoss::Closed), Decision::Answer(Answer::Lost(None)));
        let other = |intent| lost(&room.view, now_ms, OnLoss::Hold, intent, carried);
        assert_eq!(other(Intent::Part), Decision::Answer(Answer::Refused), "never a ticket");
        assert_eq!(other(Intent::Form), Decision::Answer(Answer::NotSent));
        assert_eq!(other(Intent::Frame), Decision::Answer(Answer::Frame));
    }
}

#[test]
fn open_is_open_for_all_and_everything() {
    let room = some_room();
    let now_ms = room.wall_ms;
    let of_old = Carried::Ticket { proof: Proof { epoch: 1, number: 3 }, joined_ms: START_MS };
    let carried = [Carried::Nothing, of_old, arrival(now_ms), ticket(&room, 2), ticket(&room, 3)];
    for carried in carried {
        for intent in INTENTS {
            assert_eq!(lost(&room.view, now_ms, OnLoss::Open, intent, carried), Decision::Open);
        }
    }
}

#[test]
fn held_until_it_has_lasted_long_enough() {
    let minutes = |count: u64| Duration::from_secs(60 * count);
    let loss = Loss { on_loss: OnLoss::Hold, open_after: Some(minutes(5)) };
    assert_eq!(loss.stance(minutes(4)), OnLoss::Hold);
    assert_eq!(loss.stance(minutes(5)), OnLoss::Open);
    for on_loss in STANCES {
        assert_eq!(Loss { on_loss, open_after: None }.stance(minutes(999)), on_loss);
    }
}

#[test]
fn few_ask_soon_and_many_as_often_as_they_can_be_answered() {
    let seconds = Duration::from_secs;
    assert_eq!(pause(0, 5_000, seconds(30)), seconds(5));
    assert_eq!(pause(60_000, 5_000, seconds(30)), seconds(12));
    assert_eq!(pause(10_000_000, 5_000, seconds(30)), seconds(30));
    assert_eq!(pause(0, 5_000, seconds(2)), seconds(2), "never more seldom than a page may ask");
    assert_eq!(pause(10_000_000, 5_000, seconds(300)), seconds(30));
}

fn replay(span_ms: u64, elapsed_ms: u64) -> Replay {
    let pauses = (Duration::from_secs(5), Duration::from_secs(30));
    Replay::new(START_MS, span_ms, elapsed_ms, pauses)
}

#[test]
fn the_store_is_back_and_those_who_came_meanwhile_are_first() {
    // Five minutes, played in thirty seconds.
    let at = |elapsed_ms| replay(300_000, elapsed_ms);
    assert_eq!(at(0).wait_ms(START_MS), 5_000, "everybody asks once before anybody joins");
    assert_eq!(at(0).wait_ms(START_MS + 150_000), 20_000);
    assert_eq!(at(0).wait_ms(START_MS + 300_000), 35_000);
    assert_eq!(at(10_000).wait_ms(START_MS + 150_000), 10_000);
    assert_eq!(at(20_000).wait_ms(START_MS + 150_000), 0);
    assert_eq!(
        at(20_000).wait_ms(START_MS - 9_000),
        0,
        "of an earlier outage, or by another clock"
    );
    assert_eq!(at(10_000).wait_ms(START_MS + 310_000), 26_000, "who comes now is behind them all");
    assert_eq!(at(10_000).wait_ms(u64::MAX), 26_000, "and nobody is further behind");
    assert!(!at(38_000).is_over() && at(39_000).is_over());
    // A short one is played half as long as it took.
    assert_eq!(replay(3_000, 0).wait_ms(START_MS + 3_000), 6_500);
    assert!(replay(3_000, 13_000).is_over());
    assert!(replay(0, 5_000).is_over());
}

#[test]
fn only_who_would_join_is_put_in_order() {
    let room = some_room();
    let contact = Contact::Regained(Replay::new(
        room.wall_ms - 60_000,
        50_000,
        10_000,
        (Duration::from_secs(5), Duration::from_secs(30)),
    ));
    let decided = |intent, carried| {
        decide(&Facts { intent, carried, now_ms: room.wall_ms, contact }, &room.view)
    };
    assert_eq!(decided(Intent::Page, arrival(room.wall_ms - 55_000)), Decision::Join);
    let early = decided(Intent::Page, arrival(room.wall_ms - 35_000));
    assert_eq!(early, Decision::Arrive { wait_ms: Some(7_500) });
    let now = decided(Intent::Page, Carried::Nothing);
    assert_eq!(now, Decision::Arrive { wait_ms: Some(25_000) });
    let waiting = decided(Intent::Page, ticket(&room, 3));
    assert_eq!(waiting, Decision::Answer(Answer::Waiting(proof(&room, 3))));
    assert_eq!(decided(Intent::Page, ticket(&room, 2)), Decision::Claim(proof(&room, 2)));
    assert_eq!(decided(Intent::Part, Carried::Nothing), Decision::Answer(Answer::Refused));
}

/// Somebody who comes at a time and asks as they are told: when they join. `late_ms`: how late they are each time.
fn joins_at(span_ms: u64, came_ms: u64, first_poll_ms: u64, late_ms: u64) -> u64 {
    let mut asks_ms = first_poll_ms.max(came_ms.saturating_sub(span_ms));
    loop {
        let wait_ms = replay(span_ms, asks_ms).wait_ms(START_MS + came_ms);
        if wait_ms <= EARLY_MS {
            return asks_ms + wait_ms;
        }
        // As the answer says it: in whole seconds, rounded down.
        asks_ms += wait_ms / 1_000 * 1_000 + late_ms;
    }
}

proptest! {
    /// The bound of [`Replay`]: further apart than span / length times what they are late, they join in order.
    #[test]
    fn arrival_order_is_kept(
        span_ms in 1_000u64..3_600_000,
        came in prop::collection::vec((0u64..4_000_000, 0u64..5_000, 0u64..300), 2..40),
    ) {
        let length_ms = 30_000.min(span_ms / 2).max(1);
        let over_ms = 2 * (5_000 + length_ms);
        let mut joined: Vec<(u64, u64)> = came
            .iter()
            .map(|(came_ms, poll_ms, late_ms)| {
                // In the outage, or before the replay is over.
                let came_ms = came_ms % (span_ms + over_ms);
                (came_ms, joins_at(span_ms, came_ms, *poll_ms, *late_ms))
            })
            .collect();
        joined.sort_unstable();
        for (index, (came_ms, join_ms)) in joined.iter().enumerate() {
            prop_assert!(*join_ms <= over_ms.max(came_ms.saturating_sub(span_ms)) + 300, "{joined:?}");
            for (later_ms, later_join_ms) in &joined[index + 1..] {
                let apart_ms = (later_ms - came_ms) * length_ms / span_ms;
                prop_assert!(
                    join_ms <= later_join_ms || apart_ms <= 300 + 1,
                    "{came_ms} joined at {join_ms}, {later_ms} at {later_join_ms}, of {span_ms}"
                );
            }
        }
    }

    /// Nobody's moment moves while they wait for it, and nobody waits for ever.
    #[test]
    fn a_moment_is_kept(span_ms in 0u64..100_000_000, came_ms in 0u64..100_000_000, step_ms in 0u64..60_000) {
        let came_ms = came_ms.min(span_ms);
        let first = replay(span_ms, 0).wait_ms(START_MS + came_ms);
        let then = replay(span_ms, step_ms).wait_ms(START_MS + came_ms);
        prop_assert_eq!(then, first.saturating_sub(step_ms));
        prop_assert!(first <= 35_000);
    }
}
