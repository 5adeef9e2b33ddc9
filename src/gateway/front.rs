//! The front desk: what becomes of a request, from its head alone. Both doors ask here.
//!
//! Owns the order of the questions: ours or the site's? which room? what does the visitor bring? Then
//! [`decide`](mod@super::decide) decides, and what it decides is carried out here as far as that needs no connection.
//! Never reads or writes one.

use std::sync::Arc;

use tokio::time::timeout;

use super::answer::Response;
use super::api;
use super::asking::{Asking, PATIENCE, Question, let_through, unstopped};
use super::chronicle::{self, Whose};
use super::decide::{Answer, Carried, Decision, Facts, decide};
use super::entrance::{Entrance, Held};
use super::forward::{Admission, Forward};
use super::head::{Client, Head, Peer};
use super::intent::Intent;
use super::invite::Proven;
use super::live::Live;
use super::loss::EARLY_MS;
use super::origin::Origin;
use super::path::Readings;
use super::rollout;
use super::route::Way;
use super::show::{Holder, Notice, Reader};
use crate::line::{Claimed, Ending, Reason};
use crate::page;
use crate::room::{Proof, Sitting};
use crate::token::Scratch;

/// Everything of ours is below this.
const OURS: &str = "/.anteroom";

/// The call that is no call of the API: [`rejoin`].
pub const REJOIN: &str = "rejoin";

/// The form of a room whose visitors have names: [`join_by_name`](super::naming::join_by_name).
pub const JOIN: &str = "join by name";

/// What becomes of a request.
pub enum Verdict {
    /// This.
    Answer(Response),
    /// To the origin.
    Forward(Box<Forward>),
    /// The line is to be asked first.
    Ask(Box<Asking>),
    /// A call of the API that needs its body, or the line: [`api::call`] of this endpoint.
    Call(String, Client),
    /// A stream of events: [`api::events`].
    Events(Client),
}

impl Live {
    /// What becomes of a request.
    pub fn receive(&self, head: &impl Head, peer: Peer) -> Verdict {
        let client = self.client(head, peer);
        let path = head.path();
        if path == "/.anteroom/health" {
            return Verdict::Answer(api::health());
        }
        if let Some(endpoint) = api::endpoint(self, head) {
            return self.api(head, client, endpoint);
        }
        if Readings::of(path).all().any(is_ours) {
            return self.own(head, client, path);
        }
        match self.way(head, path, &client) {
            Way::Misdirected => Verdict::Answer(Response::plain(421, "No such site here.\n")),
            Way::Unclear => {
                Verdict::Answer(Response::plain(400, "This path could mean different pages.\n"))
            }
            Way::Open { origin } => self.open(origin, client, false),
            Way::Bypassed { origin, by_method, .. } => self.open(origin, client, by_method),
            Way::Guarded { room, origin } => {
                match (self.entrances.get(room), self.origins.get(origin)) {
                    (Some(entrance), Some(origin)) => guarded(head, client, entrance, origin),
                    _ => Verdict::Answer(Response::plain(502, "No such origin.\n")),
                }
            }
        }
    }

    /// To an origin without a pass.
    fn open(&self, origin: &str, client: Client, by_method: bool) -> Verdict {
        let Some(origin) = self.origins.get(origin) else {
            return Verdict::Answer(Response::plain(502, "No such origin.\n"));
        };
        let forward = Forward::open(origin.clone(), client);
        Verdict::Forward(Box::new(Forward { by_method, ..forward }))
    }

    fn api(&self, head: &impl Head, client: Client, endpoint: &str) -> Verdict {
        if endpoint == "queue/events" && head.method() == "GET" {
            return Verdict::Events(client);
        }
        match api::answer_now(self, head, &client, endpoint) {
            Some(answer) => Verdict::Answer(answer),
            None => Verdict::Call(endpoint.to_owned(), client),
        }
    }

    /// What of ours is not the API.
    fn own(&self, head: &impl Head, client: Client, path: &str) -> Verdict {
        match (head.method(), path) {
            ("GET" | "HEAD", "/.anteroom/client.js") => {
                Verdict::Answer(script(head, page::client()))
            }
            ("GET" | "HEAD", "/.anteroom/draw.js") => Verdict::Answer(script(head, page::draw())),
            ("GET" | "HEAD", "/.anteroom/draw") => {
                let page = api::draw_page(self, head, &client);
                Verdict::Answer(page.unwrap_or_else(|refusal| refusal))
            }
            ("GET" | "HEAD", "/.anteroom/roster.js") => Verdict::Answer(roster_script()),
            ("GET" | "HEAD", "/.anteroom/continue") => {
                let to = api::parameter(head.query().unwrap_or_default(), "to").and_then(local);
                Verdict::Answer(self.resume(head, client, to.unwrap_or_else(|| "/".to_owned())))
            }
            ("POST", "/.anteroom/rejoin") => Verdict::Call(REJOIN.to_owned(), client),
            ("POST", "/.anteroom/join") => Verdict::Call(JOIN.to_owned(), client),
            _ => Verdict::Answer(Response::plain(404, "Not found.\n")),
        }
    }

    /// Back to the page that was asked for, if the browser kept the cookie that came with it.
    fn resume(&self, head: &impl Head, client: Client, to: String) -> Response {
        let path = to.split('?').next().unwrap_or_default();
        let Some(entrance) = self.guarding(head, path) else {
            return Response::see_other(to);
        };
        match entrance.held(head, &client, &mut Scratch::new()).0 {
            Held::Nothing => {
                let mut reader = Reader::of(head, Intent::Page, client);
                reader.to = to;
                entrance.show(&reader, Notice::CookiesOff)
            }
            _ => Response::see_other(to),
        }
    }
}

/// Joining again, by the button of a page that says that a turn is over: the old cookie goes, and the page that was
/// asked for is asked for once more. Whoever still has a place keeps it, whoever sends them here.
pub async fn rejoin(live: &Live, head: &impl Head, client: &Client, body: &[u8]) -> Response {
    let form = std::str::from_utf8(body).unwrap_or_default();
    let to = api::parameter(form, "to").and_then(local).unwrap_or_else(|| "/".to_owned());
    let path = to.split('?').next().unwrap_or_default().to_owned();
    let answer = Response::see_other(to);
    let Some(entrance) = live.guarding(head, &path) else { return answer };
    let now_ms = entrance.room.now_ms();
    let carried = entrance.held(head, client, &mut Scratch::new()).0.carried();
    if entrance.limit(carried, client, now_ms).is_err() {
        return answer;
    }
    let facts = Facts { intent: Intent::Page, carried, now_ms, contact: entrance.contact() };
    let over = match decide(&facts, &entrance.room.view()) {
        Decision::Answer(Answer::Over(_)) | Decision::Join | Decision::Arrive { .. } => {
            carried.proof().is_some()
        }
        Decision::Claim(proof) => matches!(
            timeout(PATIENCE, entrance.room.claim(proof)).await,
            Ok(Ok(Claimed::Over(_) | Claimed::Unknown | Claimed::Stale))
        ),
        _ => false,
    };
    match over {
        true => answer.with("Set-Cookie", entrance.forget(client)),
        false => answer,
    }
}

/// Whether a path is ours, and no site's.
pub(super) fn is_ours(path: &str) -> bool {
    path.strip_prefix(OURS).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// An address on this very host: anything else would let a link of ours lead elsewhere.
pub(super) fn local(to: String) -> Option<String> {
    let plain = to.bytes().all(|byte| byte > b' ' && byte != 0x7f && byte != b'\\');
    (plain && to.starts_with('/') && !to.starts_with("//") && !is_ours(&to)).then_some(to)
}

/// A script: the same for everybody, and for good under its version.
fn script(head: &impl Head, script: &'static page::Script) -> Response {
    let version = head.query().and_then(|query| query.strip_prefix("v="));
    let lifetime = match version == Some(script.version) {
        true => "public, max-age=31536000, immutable",
        false => "public, max-age=300",
    };
    let gzip = head.lists("accept-encoding", "gzip");
    let mut answer = Response::new(
        200,
        "text/javascript; charset=utf-8",
        if gzip { script.gzip } else { script.plain },
    );
    for (name, value) in &mut answer.headers {
        match *name {
            "Cache-Control" => *value = lifetime.into(),
            "Vary" => *value = "Accept-Encoding".into(),
            _ => {}
        }
    }
    if gzip { answer.with("Content-Encoding", "gzip") } else { answer }
}

/// The script that keeps a list of names current.
fn roster_script() -> Response {
    let script = include_str!("../../templates/roster.js");
    let mut answer = Response::new(200, "text/javascript; charset=utf-8", script.as_bytes());
    for (name, value) in &mut answer.headers {
        if *name == "Cache-Control" {
            *value = "public, max-age=300".into();
        }
    }
    answer
}

/// A request to a room.
fn guarded(
    head: &impl Head,
    client: Client,
    entrance: &Arc<Entrance>,
    origin: &Arc<Origin>,
) -> Verdict {
    let intent = match Intent::of(head.method(), |name| head.get(name)) {
        // A room that keeps its cookie in frames is at home there.
        Intent::Frame if entrance.is_framed(&client) => Intent::Page,
        intent => intent,
    };
    if let Some(answer) = entrance.open_link(head, &client, intent) {
        return Verdict::Answer(answer);
    }
    let now_ms = entrance.room.now_ms();
    let mut scratch = Scratch::new();
    let (held, token) = entrance.held(head, &client, &mut scratch);
    let carried = held.carried();
    let view = entrance.room.view();
    let contact = entrance.contact();
    let agent = || head.get("user-agent").unwrap_or_default();
    let draw = || entrance.lot(client.address, agent());
    if let Some(found) = rollout::outside(carried, now_ms, entrance.rollout(&view), draw) {
        let forward = Forward::outside(entrance, origin.clone(), client);
        return Verdict::Forward(Box::new(match (found.known, token) {
            (true, Some(token)) => forward.carrying(token),
            _ => forward.handing_out(found.lot, intent == Intent::Page),
        }));
    }
    let decision = decide(&Facts { intent, carried, now_ms, contact }, &view);
    if let Decision::Forward { proof, renew } = decision
        && let (Held::Pass(pass), Some(token)) = (&held, token)
    {
        let identity = match renew {
            true => entrance.bound(held.identity(), entrance.agent(head)),
            false => held.identity(),
        };
        let whose = (proof, identity);
        let admission = Admission::carried(entrance, whose, pass, token, renew);
        let app = head.get("x-admission-pass").is_some();
        let admission = admission.by(user(head, &client, entrance), app);
        return Verdict::Forward(Box::new(Forward::admitted(origin.clone(), client, admission)));
    }
    if decision == Decision::Open {
        if entrance.stops_nobody() {
            return Verdict::Forward(unstopped(entrance, origin, client));
        }
        return Verdict::Forward(let_through(entrance, origin, client));
    }
    let reader = Reader::of(head, intent, client);
    let allowed = match decision {
        Decision::Claim(proof) => entrance.limit_claims(proof, now_ms),
        _ => entrance.limit(carried, &client, now_ms),
    };
    if let Err(retry_ms) = allowed {
        if entrance.stops_nobody() {
            return Verdict::Forward(unstopped(entrance, origin, client));
        }
        let (limit, whose) = match (carried, carried.proof()) {
            (_, Some(proof)) => ("requests_per_ticket", Whose::Place(proof)),
            (Carried::Provisional { nonce, .. }, _) => {
                ("requests_per_ticket", Whose::Arrival(nonce))
            }
            _ => ("requests_per_address", Whose::Address(client.address)),
        };
        chronicle::limited(entrance, limit, whose);
        return Verdict::Answer(entrance.show(&reader, Notice::Limited(retry_ms)));
    }
    let joined_ms = match carried {
        Carried::Ticket { joined_ms, .. } => joined_ms,
        _ => now_ms,
    };
    let identity = held.identity();
    let holder = |proof| Holder { proof, joined_ms, class: &identity.class };
    let proven = (intent == Intent::Page).then(|| entrance.proven(head, &client, &held)).flatten();
    // Whoever waits as nobody in particular may come sooner with an invite; whoever would not, keeps place and invite. So
    // does who has a name: it is theirs as long as the place is.
    let is_ahead = |proof: Proof| {
        let invited = proven.as_ref().filter(|proven| proven.once.is_some());
        let general = identity.class.is_empty() && !entrance.has_roster();
        let better =
            |proven: &Proven| entrance.is_better(&view, &proven.class, view.position(proof.number));
        general && invited.is_some_and(better)
    };
    let question = match decision {
        Decision::Answer(Answer::Waiting(proof)) if is_ahead(proof) => Question::Ahead(proof),
        Decision::Claim(proof) => Question::Claim(proof),
        Decision::Requeue(proof) => Question::Requeue(proof),
        Decision::Join => match carried {
            Carried::Provisional { nonce, .. } => Question::JoinAt(nonce, 0),
            _ => Question::Join,
        },
        Decision::Arrive { wait_ms } => match (carried, wait_ms) {
            (Carried::Provisional { nonce, .. }, Some(wait_ms @ ..=EARLY_MS)) => {
                Question::JoinAt(nonce, wait_ms)
            }
            (Carried::Provisional { nonce, .. }, wait_ms) => {
                let wait_ms = entrance.arrival_wait_ms(nonce, wait_ms);
                let answer = entrance.show(&reader, Notice::Arrived(wait_ms));
                return Verdict::Answer(match token.and_then(|token| entrance.date_again(token)) {
                    Some(ticket) => {
                        answer.with("Set-Cookie", entrance.jar.keep(&ticket, client.secure))
                    }
                    None => answer,
                });
            }
            _ => {
                let user = user(head, &client, entrance);
                return Verdict::Answer(entrance.record(
                    &reader,
                    user.as_deref(),
                    proven.as_ref(),
                    wait_ms,
                ));
            }
        },
        Decision::Resume(proof) => {
            let Held::Pass(pass) = &held else {
                return Verdict::Answer(entrance.show(&reader, Notice::StoreLost));
            };
            let slot = entrance.slot_of(pass.slot.as_deref());
            let sitting = Sitting { admitted_ms: pass.admitted_at * 1_000, slot };
            let Claimed::Inside(terms) = entrance.room.renew_alone(proof, sitting) else {
                let over = Notice::Over(Reason::Ended(Ending::Capped));
                return Verdict::Answer(entrance.show(&reader, over));
            };
            let identity = entrance.bound(held.identity(), entrance.agent(head));
            let admission = Admission::entered(entrance, proof, &terms, identity);
            let app = head.get("x-admission-pass").is_some();
            let admission = admission.by(user(head, &client, entrance), app);
            let forward = Forward::admitted(origin.clone(), client, admission);
            return Verdict::Forward(Box::new(forward));
        }
        Decision::Answer(answer) => {
            return Verdict::Answer(match answer {
                Answer::Waiting(proof) | Answer::Admitted(proof) => {
                    entrance.room.seen(proof);
                    chronicle::heard(entrance, &view, proof);
                    entrance.show_place(&reader, &view, holder(proof), false)
                }
                Answer::Over(reason) => entrance.show(&reader, Notice::Over(reason)),
                Answer::Frame => entrance.show(&reader, Notice::Frame),
                Answer::NotSent => entrance.show(&reader, Notice::NotSent),
                Answer::Refused => entrance.show(&reader, Notice::Refused),
                Answer::Lost(None) => entrance.show(&reader, Notice::StoreLost),
                Answer::Lost(Some(proof)) => {
                    entrance.room.seen(proof);
                    chronicle::heard(entrance, &view, proof);
                    entrance.show_last_place(&reader, &view, holder(proof))
                }
            });
        }
        // A pass decides to forward only where there is one; who is let through without is on the way.
        Decision::Forward { .. } | Decision::Open => {
            return Verdict::Answer(entrance.show(&reader, Notice::Refused));
        }
    };
    Verdict::Ask(Box::new(Asking {
        entrance: entrance.clone(),
        origin: origin.clone(),
        question,
        reader,
        identity,
        agent: entrance.agent(head).map(<[u8]>::to_vec),
        joined_ms,
        user: user(head, &client, entrance),
        app: head.get("x-admission-pass").is_some(),
        proven,
    }))
}

/// The user, by the word of a trusted proxy.
pub(super) fn user(head: &impl Head, client: &Client, entrance: &Entrance) -> Option<String> {
    let name = entrance.settings.user_header.as_deref().filter(|_| client.vouched)?;
    head.text(&name.to_ascii_lowercase()).map(str::to_owned)
}
