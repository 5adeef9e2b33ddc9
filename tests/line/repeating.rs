//! A batch applied twice is applied once, and an answer that was lost can be had again.

use super::*;

#[test]
fn the_same_sequence_gives_the_same_answers_and_no_second_number() {
    let mut room = Room::new(seats(1));
    let mut batch = room.batch();
    batch.joins = vec![Join::Plain(3)];
    batch.commands = vec![Command::Release(1).into()];
    let first = room.send(batch.clone());
    room.wall_ms += 5_000;
    let again = room.send(batch);
    assert_eq!((first.taken, again.taken), (Taken::Applied, Taken::Repeated));
    assert_eq!((first.joins, first.commands), (again.joins, again.commands));
    assert_eq!(again.counts.issued, 3);
}

#[test]
fn an_answer_repeated_after_a_reset_says_of_which_epoch_it_is() {
    let mut room = Room::new(hold());
    let batch = Batch { joins: vec![Join::Plain(1)], ..room.batch() };
    let before = room.send(batch.clone()).counts.epoch;
    room.send(Batch { node: 8, commands: vec![Command::Reset.into()], ..batch.clone() });
    let again = room.send(batch);
    assert!(again.counts.epoch > before);
    assert!(matches!(again.joins[0], Joined::Given { epoch, first: 1, .. } if epoch == before));
}

#[test]
fn an_older_sequence_does_nothing() {
    let mut room = Room::new(hold());
    let old = Batch { joins: vec![Join::Plain(3)], ..room.batch() };
    room.idle();
    room.idle();
    let reply = room.send(old);
    assert_eq!((reply.taken, reply.counts.issued), (Taken::Superseded, 0));
    assert!(reply.joins.is_empty());
}

#[test]
fn time_goes_on_in_a_repeated_batch() {
    let mut room = Room::new(rate(1));
    room.join(10);
    let batch = room.batch();
    room.send(batch.clone());
    room.wall_ms += 1_000;
    assert_eq!(room.send(batch).counts.released, 2);
}

#[test]
fn nodes_are_told_apart() {
    let mut room = Room::new(hold());
    let batch = Batch { joins: vec![Join::Plain(1)], ..room.batch() };
    let other = Batch { node: 8, ..batch.clone() };
    room.send(batch);
    assert_eq!(room.send(other).counts.issued, 2);
}

#[test]
fn a_line_without_settings_asks_for_them() {
    let moment = Moment { wall_ms: START_MS, run: 1 };
    let mut line = Line::founded(moment);
    let batch = Batch { node: 1, sequence: 1, joins: vec![Join::Plain(1)], ..Batch::default() };
    let reply = line.apply(&batch, moment).expect("within bounds");
    assert_eq!((reply.taken, reply.joins.len()), (Taken::Unconfigured, 0));
    let offer = Some(Offer { version: 0, settings: Settings::default() });
    let reply = line.apply(&Batch { sequence: 2, offer, ..batch }, moment).expect("within bounds");
    assert_eq!((reply.taken, reply.joins.len()), (Taken::Applied, 1));
}
