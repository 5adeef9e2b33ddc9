//! `GET draw`: what was promised about a draw, and what came of it, for anybody to check.
//!
//! Owns what is told of draws, and of a schedule, and the page on which people check it. Nothing of it is a secret: a seed is here only once the line has it, which is
//! after the opening.

use serde_json::{Value, json};

use super::asker::{count_address, find, named, only_room, room};
use super::json::Json;
use super::request::value;
use crate::clock;
use crate::gateway::answer::Response;
use crate::gateway::entrance::Entrance;
use crate::gateway::head::{Client, Head};
use crate::gateway::intent::Intent;
use crate::gateway::live::Live;
use crate::gateway::show::{Reader, html};
use crate::line::{ALGORITHM, Draw, Phase, Seed, View};
use crate::page::Page;

pub(super) fn hex(bytes: &Seed) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The word for a phase, when it opens and whether there is a draw then, and when it closes.
pub fn phase(view: &View, now_ms: u64) -> (&'static str, Option<(u64, bool)>, Option<u64>) {
    match view.phase(now_ms) {
        Phase::Open { closes_ms } => ("open", None, closes_ms),
        Phase::Prequeue(next) => ("prequeue", Some((next.opens_ms, next.draw)), None),
        Phase::Closed(next) => ("closed", next.map(|next| (next.opens_ms, next.draw)), None),
    }
}

/// What the schedule says, into an answer.
pub(super) fn put_phase(json: &mut Json, entrance: &Entrance, view: &View, now_ms: u64) {
    let (word, opens, closes_ms) = phase(view, now_ms);
    json.text("phase", word);
    match opens {
        Some((opens_ms, draw)) => {
            json.moment("opens_at", opens_ms);
            json.flag("draw", draw);
            // Whoever waits for the opening asks within so long after it, and not all at once.
            json.number("opens_spread_seconds", entrance.opening_spread(view));
        }
        None => json.null("opens_at"),
    }
    match closes_ms {
        Some(closes_ms) => json.moment("closes_at", closes_ms),
        None => json.null("closes_at"),
    }
}

fn told(draw: &Draw) -> Value {
    json!({
        "opens_at": clock::moment(draw.opens_ms),
        "after": draw.after,
        "upto": draw.upto,
        "count": draw.count(),
        "kid": draw.kid,
        "commitment": draw.hash.as_ref().map(hex),
        "seed": hex(&draw.seed),
        // Who was not drawn, and who has a place of their own: number and place.
        "kept": draw.kept,
        "head": draw.head.iter().map(|(number, place)| [*number, place - draw.upto]).collect::<Vec<_>>(),
    })
}

/// The room that is asked about.
fn asked<'l>(
    live: &'l Live,
    head: &impl Head,
    client: &Client,
    event_id: Option<&str>,
) -> Result<&'l Entrance, Response> {
    let entrance = match event_id {
        Some(event_id) => room(live, head, event_id)?,
        None => only_room(live, head)?,
    };
    count_address(entrance, client.address)?;
    Ok(entrance)
}

/// The same for people: a page that asks `GET draw`, and checks what it says. To others it is the call.
///
/// # Errors
/// As of the call.
pub fn draw_page(live: &Live, head: &impl Head, client: &Client) -> Result<Response, Response> {
    if !head.lists("accept", "text/html") {
        return draw(live, head, client);
    }
    let event_id = head.query().and_then(|query| value(query, "event_id"));
    let entrance = asked(live, head, client, event_id.as_deref())?;
    let reader = Reader::of(head, Intent::Page, *client);
    Ok(html(&entrance.pages(), &reader, 200, &Page::Draw))
}

/// Answers it.
pub(super) fn draw(live: &Live, head: &impl Head, client: &Client) -> Result<Response, Response> {
    let event_id = head.query().and_then(|query| value(query, "event_id"));
    let entrance = asked(live, head, client, event_id.as_deref())?;
    let (view, now_ms) = (entrance.room.view(), entrance.room.now_ms());
    let (word, opens, closes_ms) = phase(&view, now_ms);
    let drawn = view.drawn();
    let mut answer = json!({
        "event_id": entrance.room.name(),
        "algorithm": ALGORITHM,
        "phase": word,
        "opens_at": opens.map(|(opens_ms, _)| clock::moment(opens_ms)),
        "closes_at": closes_ms.map(clock::moment),
        "commitment": drawn.told().commitment.as_ref().map(|promise| json!({
            "opens_at": clock::moment(promise.opens_ms),
            "kid": promise.kid,
            "hash": hex(&promise.hash),
        })),
        "draws": drawn.told().made.iter().map(told).collect::<Vec<_>>(),
        "server_time": clock::moment(now_ms),
    });
    // Whoever shows a ticket is told what came of it, too.
    if let Ok(asker) = find(live, head, client, event_id.as_deref(), named(head))
        && asker.proof.epoch == view.counts().epoch
    {
        let number = asker.proof.number;
        answer["you"] = match drawn.place(number) {
            Some((draw, place)) => {
                json!({ "number": number, "opens_at": clock::moment(draw.opens_ms), "place": place })
            }
            None => {
                let drawn_later = view.is_drawn_later(number, now_ms);
                json!({ "number": number, "opens_at": null, "place": null, "drawn_later": drawn_later })
            }
        };
    }
    Ok(Response::json(200, answer.to_string().into_bytes()))
}
