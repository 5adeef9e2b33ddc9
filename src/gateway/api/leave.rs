//! `queue/leave` and `admission/complete`: a place or a seat is given back.
//!
//! Owns the answers, among them the page after "leave the line" without JavaScript. Both may be asked twice: what is given
//! back already stays given back.

use super::asker::{Asker, find};
use super::error::{bad, error, gone, unknown_ticket};
use super::fields::Fields;
use super::json::Json;
use super::request::{Request, Written, from_our_page, value, written};
use super::status::{by_body, called_by};
use super::{Response, turn};
use crate::gateway::chronicle;
use crate::gateway::decide::Carried;
use crate::gateway::entrance::Entrance;
use crate::gateway::front::local;
use crate::gateway::head::{Client, Head as _};
use crate::gateway::intent::Intent;
use crate::gateway::live::Live;
use crate::gateway::show::{self, Notice, Reader};
use crate::line::{Done, Ending, Reason};
use crate::page::Page;

/// Gives up a place, or the seat of whoever is inside.
pub(super) async fn leave(
    live: &Live,
    request: &Request,
    client: &Client,
    body: &[u8],
) -> Result<Response, Response> {
    if written(request)? == Written::Form {
        return leave_by_form(live, request, client, body).await;
    }
    let fields = Fields::read(body)?;
    let caller = called_by(live, request, client, &fields, "queue_id")?;
    if let Carried::Provisional { .. } = caller.carried {
        // There was no place yet: what was wanted is so.
        let mut json = Json::new();
        put_ended(&mut json, caller.entrance, "expired", Some("left"));
        let answer = Response::json(200, json.end());
        return Ok(forgotten(answer, caller.entrance, caller.named, client));
    }
    let asker = caller.asker()?;
    asker.count()?;
    give_up(&asker).await?;
    let answer = Response::json(200, ended_body(&asker, "expired", Some("left")));
    Ok(forgotten(answer, asker.entrance, asker.named, client))
}

/// A page's form: by cookie, and answered with a page.
async fn leave_by_form(
    live: &Live,
    request: &Request,
    client: &Client,
    body: &[u8],
) -> Result<Response, Response> {
    from_our_page(request, client)?;
    let form =
        std::str::from_utf8(body).map_err(|_| bad("invalid_form", "the form is not UTF-8"))?;
    let event_id = value(form, "event_id").filter(|event_id| !event_id.is_empty());
    let entrance = match event_id.as_deref() {
        Some(event_id) => super::asker::room(live, request, event_id)?,
        None => super::asker::only_room(live, request)?,
    };
    let to = value(form, "to").and_then(|to| local(to.into_owned()));
    let left = match find(live, request, client, event_id.as_deref(), None) {
        Ok(asker) => match asker.count() {
            Ok(()) => give_up(&asker).await,
            Err(refusal) => Err(refusal),
        },
        Err(refusal) => Err(refusal),
    };
    let reads_html = request.lists("accept", "text/html");
    let forget = match &left {
        Ok(()) => entrance.forget(client),
        Err(_) => entrance.jar.forget(client.secure),
    };
    match left {
        // Without a place there is none to give up: what was wanted is so.
        Ok(()) | Err(Response { status: 400 | 404, .. }) if reads_html => {
            let page = Page::Over {
                reason: Reason::Ended(Ending::Left),
                to: to.as_deref().unwrap_or("/"),
            };
            let reader = reader(request, client, to.as_deref());
            Ok(show::html(&entrance.pages(), &reader, 200, &page).with("Set-Cookie", forget))
        }
        Err(refusal) if reads_html && refusal.status == 503 => {
            Ok(entrance.show(&reader(request, client, to.as_deref()), Notice::StoreLost))
        }
        Err(refusal) => Err(refusal),
        Ok(()) => {
            let mut json = Json::new();
            put_ended(&mut json, entrance, "expired", Some("left"));
            Ok(Response::json(200, json.end()).with("Set-Cookie", forget))
        }
    }
}

/// Who reads the page after a form; it leads back to where they were.
fn reader(request: &Request, client: &Client, to: Option<&str>) -> Reader {
    let mut reader = Reader::of(request, Intent::Form, *client);
    reader.to = to.unwrap_or("/").to_owned();
    reader
}

async fn give_up(asker: &Asker<'_>) -> Result<(), Response> {
    let Asker { entrance, proof, carried, .. } = *asker;
    let done = match carried {
        Carried::Pass { .. } => {
            turn::asked(entrance, entrance.room.end(proof, Ending::Left)).await?
        }
        _ => turn::asked(entrance, entrance.room.leave(proof)).await?,
    };
    match done {
        Done::Unknown | Done::Stale => Err(unknown_ticket(entrance)),
        Done::Already => Ok(()),
        Done::Freed => {
            chronicle::changed(entrance, proof, || asker.identity().device_id, "expired", "left");
            Ok(())
        }
    }
}

/// A visit is over, by the word of whoever holds its pass: the visitor's app, or the origin.
pub(super) async fn complete(
    live: &Live,
    request: &Request,
    client: &Client,
    body: &[u8],
) -> Result<Response, Response> {
    if written(request)? == Written::Form {
        return Err(error(415, "unsupported_media_type", "send application/json"));
    }
    let fields = Fields::read(body)?;
    let asker = by_body(live, request, client, &fields, "token")?;
    let Asker { entrance, proof, .. } = asker;
    let Carried::Pass { .. } = asker.carried else {
        return Err(bad(
            "not_a_pass",
            "this is a ticket: only a visit that has begun can be completed",
        ));
    };
    asker.count()?;
    match turn::asked(entrance, entrance.room.end(proof, Ending::Completed)).await? {
        Done::Unknown | Done::Stale => return Err(unknown_ticket(entrance)),
        Done::Freed => {
            let device_id = || asker.identity().device_id;
            chronicle::changed(entrance, proof, device_id, "completed", "completed");
        }
        Done::Already => match entrance.room.view().ending(proof.number) {
            None | Some(Ending::Completed) => {}
            Some(why) => return Err(gone(entrance, proof, Reason::Ended(why))),
        },
    }
    Ok(Response::json(200, ended_body(&asker, "completed", None)))
}

fn ended_body(asker: &Asker<'_>, status: &str, reason: Option<&str>) -> Vec<u8> {
    let mut json = Json::new();
    let name = asker.entrance.keys.reference_text(asker.proof.epoch, asker.proof.number);
    json.token("queue_ref", &name);
    put_ended(&mut json, asker.entrance, status, reason);
    json.end()
}

fn put_ended(json: &mut Json, entrance: &Entrance, status: &str, reason: Option<&str>) {
    json.text("event_id", entrance.room.name());
    json.text("status", status);
    if let Some(reason) = reason {
        json.text("reason", reason);
    }
    json.moment("server_time", entrance.room.now_ms());
}

/// A browser that left brings its cookie no more.
fn forgotten(answer: Response, entrance: &Entrance, named: bool, client: &Client) -> Response {
    match named {
        true => answer,
        false => answer.with("Set-Cookie", entrance.forget(client)),
    }
}
