//! Being there: whoever keeps polling keeps their place, whoever is gone is skipped, whoever comes
//! back in time has lost as little as possible.

use super::*;

/// A minute's timeout, half-minute periods.
fn minute() -> Settings {
    Settings { heartbeat_timeout_ms: 60_000, ..hold() }
}

#[test]
fn the_silent_are_skipped_after_one_to_one_and_a_half_timeouts() {
    let mut room = Room::new(minute());
    room.join(3);
    room.pass(59_000, &[1, 3]);
    assert_eq!(room.standing(2), Standing::Waiting);
    room.pass(31_500, &[1, 3]);
    assert_eq!(room.standing(2), Standing::Away);
    assert_eq!(room.view.position(3), Some(2), "nobody is behind a closed tab");
    assert_eq!(room.idle().waiting, 2);
    room.command(Command::Release(2));
    assert_eq!(room.standing(3), Standing::Admitted, "skipped without costing a turn");
}

#[test]
fn back_before_the_turn_is_back_in_place() {
    let mut room = Room::new(minute());
    room.join(3);
    room.pass(120_000, &[1, 3]);
    room.with(|batch| batch.marks = vec![2]);
    assert_eq!(room.standing(2), Standing::Waiting);
    room.command(Command::Release(2));
    assert_eq!(room.standing(2), Standing::Admitted);
    assert_eq!(room.standing(3), Standing::Waiting);
}

#[test]
fn passed_over_and_back_in_time_goes_to_the_head_once() {
    let mut room = Room::new(minute());
    room.join(5);
    room.pass(120_000, &[1, 3, 4, 5]);
    room.command(Command::Release(2));
    assert_eq!(room.standing(2), Standing::Away, "1 and 3 were called");
    assert_eq!(room.with(|batch| batch.returns = vec![2]).returns, [Claimed::Waiting]);
    assert_eq!(room.standing(2), Standing::Waiting);
    room.pass(1_000, &[4, 5]);
    assert_eq!((room.view.position(2), room.view.position(4)), (Some(1), Some(2)));
    room.command(Command::Release(1));
    assert_eq!(room.standing(2), Standing::Admitted);
    room.pass(121_000, &[4, 5]);
    assert!(matches!(room.standing(2), Standing::Expired(_)), "not a second time");
    assert!(matches!(room.claim(2), Claimed::Over(_)));
}

#[test]
fn a_late_returner_who_strays_again_keeps_the_place_until_it_lapses() {
    let mut room = Room::new(minute());
    room.join(4);
    room.pass(120_000, &[1, 3, 4]);
    room.command(Command::Release(2));
    assert_eq!(room.claim(2), Claimed::Waiting);
    room.pass(91_000, &[4]);
    assert_eq!(room.standing(2), Standing::Away);
    room.with(|batch| batch.present = vec![2]);
    assert_eq!(room.standing(2), Standing::Waiting, "and back again");
}

#[test]
fn after_the_claim_window_it_is_over() {
    let mut room = Room::new(minute());
    room.join(3);
    room.command(Command::Release(1));
    let polls = [1, 2, 3];
    room.pass(120_000, &polls);
    assert_eq!(room.standing(1), Standing::Admitted);
    room.pass(1_500, &polls);
    assert_eq!(room.standing(1), Standing::Expired(Reason::Passed));
    assert_eq!(room.claim(1), Claimed::Over(Reason::Passed));
    assert_eq!(room.idle().no_shows, 1);
}

#[test]
fn on_absence_remove_gives_the_place_up() {
    let mut room = Room::new(Settings { on_absence: OnAbsence::Remove, ..minute() });
    room.join(2);
    room.pass(120_000, &[2]);
    assert_eq!(room.standing(1), Standing::Expired(Reason::Used));
    assert_eq!(room.claim(1), Claimed::Over(Reason::Used));
}

#[test]
fn leaving_frees_the_place_and_is_done_once() {
    let mut room = Room::new(hold());
    room.join(3);
    assert_eq!(room.leave(2), Done::Freed);
    assert_eq!(room.leave(2), Done::Already);
    assert_eq!(room.leave(0), Done::Unknown);
    assert_eq!(room.leave(4), Done::Unknown);
    assert_eq!(room.end(99, Ending::Revoked), Done::Unknown);
    assert_eq!(room.claim(99), Claimed::Unknown);
    room.with(|batch| batch.marks = vec![0, 2, 99]);
    assert_eq!(room.standing(2), Standing::Expired(Reason::Used));
    assert_eq!(room.idle().waiting, 2);
    assert_eq!(room.view.position(3), Some(3), "as of the last sweep");
    assert_eq!(room.pass(75_000, &[1, 3]).waiting, 2);
    assert_eq!(room.view.position(3), Some(3), "an exchange that sweeps tells of it in the next");
    room.idle();
    assert_eq!(room.view.position(3), Some(2));
}

#[test]
fn an_outage_and_a_clock_that_jumps_cost_nobody_a_place() {
    let mut room = Room::new(minute());
    room.join(3);
    room.wall_ms += 3_600_000;
    room.idle();
    room.wall_ms -= 7_200_000;
    room.idle();
    room.wall_ms += 86_400_000;
    assert_eq!(room.idle().waiting, 3);
    assert!(room.line.counts().clock_ms <= START_MS + 4_000);
}

#[test]
fn a_changed_timeout_counts_everybody_as_just_seen() {
    let mut room = Room::new(Settings { heartbeat_timeout_ms: 3_600_000, ..hold() });
    room.join(3);
    room.pass(600_000, &[]);
    room.offer(minute());
    room.pass(30_000, &[]);
    assert_eq!(room.idle().waiting, 3, "swept once, seen in the period before");
    room.pass(60_500, &[]);
    assert_eq!(room.idle().waiting, 0);
}

#[test]
fn a_shorter_timeout_costs_nobody_at_the_head_their_turn() {
    let mut room = Room::new(Settings { heartbeat_timeout_ms: 60_000, ..hold() });
    room.join(3);
    room.pass(120_000, &[2, 3]);
    room.command(Command::Release(1));
    assert_eq!(room.claim(1), Claimed::Waiting);
    room.command(Command::Release(1));
    room.pass(40_000, &[2, 3]);
    room.offer(Settings { heartbeat_timeout_ms: 10_000, ..hold() });
    room.idle();
    assert_eq!(room.standing(1), Standing::Admitted);
}

#[test]
fn the_dead_part_of_the_bitmaps_is_given_back() {
    let open = Settings { max_waiting: None, claim_window_ms: 1_000, ..Settings::default() };
    let mut room =
        Room::new(Settings { heartbeat_timeout_ms: 5_000, max_active: Some(1), ..open.clone() });
    room.join(1_000_000);
    let odd: Vec<_> = (1..=1_000_000).step_by(2).collect();
    (0..4).for_each(|_| _ = room.pass(2_500, &odd[..1]));
    room.with(|batch| batch.marks = odd);
    let full = room.line.bitmap_bytes();
    room.offer(open);
    room.pass(4_000, &[]);
    let counts = room.idle();
    assert_eq!((counts.lapsed, counts.waiting), (999_999, 0));
    assert!(room.line.bitmap_bytes() < full / 10, "{} of {full}", room.line.bitmap_bytes());
    assert_eq!(room.standing(500), Standing::Expired(Reason::Passed));
    let Joined::Given { first: 1_000_001, .. } = room.join(1) else { panic!("numbers go on") };
}

/// Above `lapsed` a claim and a return are told the same: see `line_model::script`.
#[test]
fn whoever_is_vouched_for_before_a_full_head_is_to_be_vouched_for_again() {
    const HEAD: u64 = 10_000;
    let mut room = Room::new(minute());
    room.join(HEAD as u32 + 3);
    let (one, other, behind) = (HEAD + 1, HEAD + 2, HEAD + 3);
    room.pass(120_000, &[behind]);
    room.command(Command::Release(1));
    room.pass(121_000, &[]);
    assert_eq!(room.standing(one), Standing::Expired(Reason::Passed));
    let vouch = |room: &mut Room, who: &[Number]| -> Vec<Claimed> {
        let mut told = room.with(|batch| batch.vouched = who.to_vec()).vouched;
        told.dedup();
        told
    };
    for some in (1..=HEAD).collect::<Vec<_>>().chunks(MAX_ITEMS) {
        assert_eq!(vouch(&mut room, some), [Claimed::Waiting]);
    }
    assert_eq!(vouch(&mut room, &[one, other]), [Claimed::Away]);
    assert_eq!(room.claim(one), Claimed::Over(Reason::Passed), "not by their own word");
    assert_eq!(room.leave(1), Done::Freed);
    assert_eq!(vouch(&mut room, &[other]), [Claimed::Waiting]);
    assert_eq!(room.standing(other), Standing::Waiting);
    assert_eq!(vouch(&mut room, &[one]), [Claimed::Away]);
}

/// A node whose bits were the line's until the sweep hears of it in the next exchange; any other at once.
#[test]
fn only_who_was_up_to_date_hears_of_a_sweep_in_the_next_exchange() {
    let mut room = Room::new(minute());
    room.join(3);
    let joined = room.view.have();
    room.pass(31_000, &[1, 3]);
    room.pass(28_500, &[1, 3]);
    let have = room.view.have();
    assert_ne!(have.bits, joined.bits, "swept once");
    room.wall_ms += 500;
    let sweep = |have: Have, commands: Vec<Order>| {
        let batch = Batch { have, commands, ..room.batch() };
        let (mut line, mut view) = (room.line.clone(), room.view.clone());
        let reply = line.apply(&batch, room.moment()).expect("a batch within bounds");
        assert_eq!(reply.counts.swept_ms, reply.counts.clock_ms, "it sweeps");
        view.absorb(&reply);
        (reply.update.bits.is_some(), view)
    };
    let (told, view) = sweep(have, Vec::new());
    assert!(!told && !view.is_current(), "the next exchange tells");
    let others = [
        ("a node that was away", joined, Vec::new()),
        ("a new one", Have::default(), Vec::new()),
        ("one of another run", Have { run: 9, ..have }, Vec::new()),
        ("after a reset", have, vec![Command::Reset.into()]),
    ];
    for (whom, have, commands) in others {
        let (told, view) = sweep(have, commands);
        assert!(told && view.is_current(), "{whom}");
    }
    room.idle();
    assert!(!room.view.is_current());
    room.idle();
    assert!(room.view.is_current());
}
