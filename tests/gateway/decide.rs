//! In, in line, or neither: the picture of a request's life, row by row.

use anteroom::gateway::decide::{Answer, Carried, Decision, Facts, decide};
use anteroom::gateway::intent::Intent;
use anteroom::gateway::loss::Contact;
use anteroom::line::*;
use anteroom::room::Proof;

use crate::line::{Room, START_MS, hold, seats};

pub const INTENTS: [Intent; 4] = [Intent::Page, Intent::Form, Intent::Frame, Intent::Part];

pub fn proof(room: &Room, number: Number) -> Proof {
    Proof { epoch: room.view.counts().epoch, number }
}

pub fn ticket(room: &Room, number: Number) -> Carried {
    Carried::Ticket { proof: proof(room, number), joined_ms: START_MS }
}

pub fn pass(room: &Room, number: Number, issued_ms: u64, expires_ms: u64) -> Carried {
    Carried::Pass { proof: proof(room, number), issued_ms, first: false, expires_ms }
}

fn decided(room: &Room, intent: Intent, carried: Carried) -> Decision {
    let contact = Contact::Kept;
    decide(&Facts { intent, carried, now_ms: room.wall_ms, contact }, &room.view)
}

/// A room with one who left (1), one admitted (2), one waiting (3).
pub fn some_room() -> Room {
    let mut room = Room::new(hold());
    room.join(3);
    room.leave(1);
    room.command(Command::Release(1));
    room.pass(80_000, &[2, 3]);
    room
}

#[test]
fn with_nothing_only_a_page_takes_a_number() {
    let room = some_room();
    let decisions = INTENTS.map(|intent| decided(&room, intent, Carried::Nothing));
    let answers = [Answer::NotSent, Answer::Frame, Answer::Refused].map(Decision::Answer);
    assert_eq!(decisions[0], Decision::Join);
    assert_eq!(decisions[1..], answers);
}

#[test]
fn a_ticket_waits_until_its_turn_and_then_claims_with_the_next_page() {
    let room = some_room();
    for intent in INTENTS {
        let waiting = Decision::Answer(Answer::Waiting(proof(&room, 3)));
        assert_eq!(decided(&room, intent, ticket(&room, 3)), waiting);
    }
    assert_eq!(decided(&room, Intent::Page, ticket(&room, 2)), Decision::Claim(proof(&room, 2)));
    let admitted = Decision::Answer(Answer::Admitted(proof(&room, 2)));
    assert_eq!(decided(&room, Intent::Part, ticket(&room, 2)), admitted);
}

#[test]
fn a_turn_that_is_over_joins_again_if_nobody_waits() {
    let mut room = Room::new(Settings { claim_window_ms: 5_000, ..hold() });
    room.join(3);
    room.command(Command::Release(1));
    room.pass(10_000, &[2, 3]);
    let passed = Decision::Answer(Answer::Over(Reason::Passed));
    assert_eq!(decided(&room, Intent::Page, ticket(&room, 1)), passed);
    assert_eq!(decided(&room, Intent::Part, ticket(&room, 1)), Decision::Answer(Answer::Refused));
    room.leave(2);
    room.leave(3);
    assert_eq!(decided(&room, Intent::Page, ticket(&room, 1)), Decision::Join);
}

#[test]
fn who_used_their_turn_may_be_inside_without_knowing() {
    let room = some_room();
    assert_eq!(decided(&room, Intent::Page, ticket(&room, 1)), Decision::Claim(proof(&room, 1)));
    assert_eq!(decided(&room, Intent::Part, ticket(&room, 1)), Decision::Answer(Answer::Refused));
}

#[test]
fn passed_over_and_back_claims_whatever_it_asks_for() {
    let mut room = Room::new(Settings { heartbeat_timeout_ms: 60_000, ..hold() });
    room.join(3);
    room.pass(120_000, &[2, 3]);
    room.command(Command::Release(1));
    for intent in INTENTS {
        assert_eq!(decided(&room, intent, ticket(&room, 1)), Decision::Claim(proof(&room, 1)));
    }
}

#[test]
fn a_ticket_of_the_past_is_nothing_and_one_of_the_future_is_asked_about() {
    let room = some_room();
    let Proof { epoch, .. } = proof(&room, 3);
    let of =
        |epoch, number| Carried::Ticket { proof: Proof { epoch, number }, joined_ms: START_MS };
    assert_eq!(decided(&room, Intent::Page, of(epoch - 1, 3)), Decision::Join);
    let later = Proof { epoch: epoch + 1, number: 1 };
    assert_eq!(decided(&room, Intent::Part, of(epoch + 1, 1)), Decision::Claim(later));
    let above = Proof { epoch, number: 99 };
    assert_eq!(decided(&room, Intent::Page, of(epoch, 99)), Decision::Claim(above));
    let aged = Carried::Ticket { proof: proof(&room, 3), joined_ms: START_MS - 86_400_000 };
    assert_eq!(decided(&room, Intent::Page, aged), Decision::Join, "over ticket_max");
}

#[test]
fn a_pass_forwards_everything_and_is_renewed_now_and_then() {
    let mut room = Room::new(seats(2));
    room.join(1);
    let good = pass(&room, 1, START_MS, START_MS + 300_000);
    let forward = |renew| Decision::Forward { proof: proof(&room, 1), renew };
    for intent in INTENTS {
        assert_eq!(decided(&room, intent, good), forward(false));
    }
    let forward = Decision::Forward { proof: proof(&room, 1), renew: true };
    room.wall_ms += 37_500;
    assert_eq!(decided(&room, Intent::Part, good), forward, "an eighth of the idle time");
}

#[test]
fn a_pass_that_ran_out_tries_to_resume_with_any_method() {
    let mut room = Room::new(seats(2));
    room.join(1);
    let first = pass(&room, 1, START_MS, START_MS + 30_000);
    room.pass(31_000, &[]);
    for intent in INTENTS {
        assert_eq!(decided(&room, intent, first), Decision::Claim(proof(&room, 1)));
    }
    room.pass(300_000, &[]);
    assert_eq!(decided(&room, Intent::Page, first), Decision::Join, "too late, and nobody waits");
    assert_eq!(decided(&room, Intent::Form, first), Decision::Answer(Answer::NotSent));
}

#[test]
fn an_ended_session_does_not_go_on_though_its_pass_is_good() {
    for why in [Ending::Completed, Ending::Left, Ending::Revoked] {
        let mut room = Room::new(seats(1));
        room.join(3);
        let good = pass(&room, 1, START_MS, START_MS + 300_000);
        room.end(1, why);
        let over = Decision::Answer(Answer::Over(Reason::Ended(why)));
        assert_eq!(decided(&room, Intent::Page, good), over);
        assert_eq!(decided(&room, Intent::Part, good), Decision::Answer(Answer::Refused));
    }
}

#[test]
fn a_reset_voids_passes_too() {
    let mut room = Room::new(seats(1));
    room.join(1);
    let good = pass(&room, 1, START_MS, START_MS + 300_000);
    room.command(Command::Reset);
    assert_eq!(decided(&room, Intent::Page, good), Decision::Join);
}

/// Headers as browsers send them, and what they are after.
#[test]
fn what_a_request_is_after() {
    let html = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    let navigate = ("sec-fetch-mode", "navigate");
    let document = ("sec-fetch-dest", "document");
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], Intent);
    let rows: [Row; 14] = [
        ("GET", &[html, navigate, document], Intent::Page),
        ("GET", &[html], Intent::Page),
        ("POST", &[html, navigate, document], Intent::Form),
        ("POST", &[html], Intent::Form),
        ("PUT", &[html], Intent::Part),
        ("HEAD", &[html], Intent::Part),
        ("GET", &[], Intent::Part),
        ("GET", &[("accept", "application/json")], Intent::Part),
        ("GET", &[("accept", "*/*"), ("sec-fetch-mode", "cors")], Intent::Part),
        ("GET", &[html, ("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")], Intent::Part),
        ("GET", &[html, navigate, ("sec-fetch-dest", "iframe")], Intent::Frame),
        ("GET", &[html, navigate, document, ("sec-purpose", "prefetch;prerender")], Intent::Part),
        ("GET", &[html, ("purpose", "prefetch")], Intent::Part),
        ("GET", &[html, ("x-moz", "prefetch")], Intent::Part),
    ];
    for (method, headers, expected) in rows {
        let header = |name: &str| {
            let found = headers.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| value.as_bytes())
        };
        assert_eq!(Intent::of(method, header), expected, "{method} {headers:?}");
    }
}
