//! A request on its way to the origin: what is added to it, what is taken away, and what comes back.
//!
//! Owns the headers between the gateway, the origin and the visitor. Never decides whether somebody may pass.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderValue;
use http::header::{self, HeaderMap, HeaderName, InvalidHeaderValue};
use http::request::Parts;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::{ErrorType, OrErr as _};
use tokio::time::timeout;

use super::answer::{Response, put_number};
use super::api;
use super::chronicle;
use super::cookie::without_ours;
use super::decide::AFTERGLOW_MS;
use super::entrance::{Entrance, Identity};
use super::head::{Client, Head};
use super::intent::Intent;
use super::live::Live;
use super::origin::Origin;
use super::show::{self, Form, Reader};
use crate::line::{Claimed, Done, Ending, Terms};
use crate::metrics::{Failed, Outcome};
use crate::page::Page;
use crate::room::{Busy, Proof, Sitting};
use crate::stats::UnderWay;
use crate::token::Pass;

static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
static FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
static ROOM: HeaderName = HeaderName::from_static("x-anteroom-room");
static VISITOR: HeaderName = HeaderName::from_static("x-anteroom-visitor");
static NUMBER: HeaderName = HeaderName::from_static("x-anteroom-number");
static CLASS: HeaderName = HeaderName::from_static("x-anteroom-class");
static EXPIRES: HeaderName = HeaderName::from_static("x-anteroom-expires");
static PASS: HeaderName = HeaderName::from_static("x-anteroom-pass");
static SLOT: HeaderName = HeaderName::from_static("x-anteroom-slot");
static USER: HeaderName = HeaderName::from_static("x-anteroom-user");
static CLAIMED_USER: HeaderName = HeaderName::from_static("x-anteroom-claimed-user");
static COMMAND: HeaderName = HeaderName::from_static("x-anteroom-command");
static KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
static PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// What only a trusted proxy may say of a visitor, beside all that begins with `x-forwarded-`: whence they come, and what they asked for.
const PROXYS: [&str; 11] = [
    "forwarded",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "fastly-client-ip",
    "x-original-url",
    "x-original-uri",
    "x-override-url",
    "x-rewrite-url",
];

/// A request that may pass.
pub struct Forward {
    /// To whom.
    pub origin: Arc<Origin>,
    /// From whom.
    pub client: Client,
    /// With what right; `None` where none is needed.
    pub admission: Option<Admission>,
    /// Past a room that does not apply to whoever asks.
    pub outside: Option<Outside>,
    /// Let by for its method alone.
    pub by_method: bool,
    /// What the origin answered on the [short way](super::lane), and how many bytes of it went on. 0: nothing yet.
    pub answered: (u16, u64),
}

/// A question to the origin.
pub struct Asked {
    began: Instant,
    /// Where a room follows the answers.
    under_way: Option<UnderWay>,
}

impl Forward {
    /// The origin is asked from now on.
    pub fn ask(&self) -> Asked {
        let under_way = |admission: &Admission| UnderWay::new(&admission.entrance.stats);
        Asked { began: Instant::now(), under_way: self.admission.as_ref().map(under_way) }
    }

    /// The origin answered: told to whoever counts, and to the room's history.
    pub fn origin_answered(&self, status: u16, asked: Asked) {
        let took = asked.began.elapsed();
        if let Some(under_way) = asked.under_way {
            under_way.answered();
        }
        self.origin.meter.answered(status, took);
        if let Some(admission) = &self.admission {
            admission.entrance.stats.origin_answered(status, took);
        }
    }

    /// The origin did not answer.
    pub fn origin_failed(&self, why: Failed) {
        self.origin.meter.failed(why);
        if let Some(admission) = &self.admission {
            admission.entrance.stats.origin_failed();
        }
    }
}

/// Past a room that applies to a part of its visitors only.
pub struct Outside {
    entrance: Arc<Entrance>,
    token: String,
    /// The visitor has not got it yet.
    hand_out: bool,
}

/// The right to be inside, as a request uses it.
pub struct Admission {
    /// The room.
    pub entrance: Arc<Entrance>,
    /// Whose.
    pub proof: Proof,
    /// The pass.
    pub token: String,
    /// The visitor has not got it yet.
    pub hand_out: bool,
    /// The seat is to last longer.
    pub renew: bool,
    /// When the visitor entered.
    pub admitted_ms: u64,
    expires_at: u64,
    identity: Identity,
    slot: Option<String>,
    /// By the word of a trusted proxy.
    user: Option<String>,
    /// By an app, which has its pass in a header.
    app: bool,
}

impl Admission {
    /// By a pass that came with the request.
    pub fn carried(
        entrance: &Arc<Entrance>,
        (proof, identity): (Proof, Identity),
        pass: &Pass<'_>,
        token: &[u8],
        renew: bool,
    ) -> Admission {
        Admission {
            entrance: entrance.clone(),
            proof,
            // A good token is base64.
            token: std::str::from_utf8(token).unwrap_or_default().to_owned(),
            hand_out: false,
            renew,
            admitted_ms: pass.admitted_at * 1_000,
            expires_at: pass.expires_at,
            identity,
            slot: pass.slot.as_deref().map(str::to_owned),
            user: None,
            app: false,
        }
    }

    /// By a turn that was taken with this very request.
    pub fn entered(
        entrance: &Arc<Entrance>,
        proof: Proof,
        terms: &Terms,
        identity: Identity,
    ) -> Admission {
        Admission {
            entrance: entrance.clone(),
            proof,
            token: entrance.pass(proof, terms, &identity),
            hand_out: true,
            renew: false,
            admitted_ms: terms.admitted_ms,
            expires_at: terms.expires_ms / 1_000,
            identity,
            slot: entrance.slot_name(terms.slot),
            user: None,
            app: false,
        }
    }

    /// Who uses it, and how it came.
    #[must_use]
    pub fn by(mut self, user: Option<String>, app: bool) -> Admission {
        (self.user, self.app) = (user, app);
        self
    }

    /// What the pass says about its seat.
    pub fn sitting(&self) -> Sitting {
        let slot = self.entrance.slot_of(self.slot.as_deref());
        Sitting { admitted_ms: self.admitted_ms, slot }
    }

    /// On these terms from now on, if the line says so.
    pub fn renewed(&mut self, claimed: Claimed) {
        if let Claimed::Inside(terms) = claimed {
            self.slot = self.entrance.slot_name(terms.slot);
            self.token = self.entrance.pass(self.proof, &terms, &self.identity);
            self.expires_at = terms.expires_ms / 1_000;
            self.hand_out = true;
            chronicle::renewed(&self.entrance, self.proof, &self.token, self.expires_at);
        }
    }

    /// Tells that somebody entered with it.
    pub(super) fn tell(&self, began: Instant) {
        let pass = (self.token.as_str(), self.expires_at);
        let Admission { entrance, proof, identity, .. } = self;
        chronicle::granted(entrance, *proof, identity, pass, began.elapsed());
    }

    /// What the visitor keeps: the pass.
    pub fn keep(&self, secure: bool) -> (&'static str, String) {
        match self.app {
            true => ("X-Admission-Pass", self.token.clone()),
            false => ("Set-Cookie", self.entrance.jar.keep(&self.token, secure)),
        }
    }
}

impl Forward {
    /// Where no right is needed.
    pub fn open(origin: Arc<Origin>, client: Client) -> Forward {
        Forward {
            origin,
            client,
            admission: None,
            outside: None,
            by_method: false,
            answered: (0, 0),
        }
    }

    /// Past a room that does not apply to whoever asks.
    pub fn outside(entrance: &Arc<Entrance>, origin: Arc<Origin>, client: Client) -> Forward {
        entrance.count(Outcome::Open);
        let outside = Outside { entrance: entrance.clone(), token: String::new(), hand_out: false };
        Forward { outside: Some(outside), ..Forward::open(origin, client) }
    }

    /// With the pass that says so, which came along.
    #[must_use]
    pub fn carrying(mut self, token: &[u8]) -> Forward {
        if let Some(outside) = &mut self.outside {
            // A good token is base64.
            outside.token = std::str::from_utf8(token).unwrap_or_default().to_owned();
        }
        self
    }

    /// With a new one, of this lot. Only a page brings it to the visitor: whatever else they fetch may be in a cache of
    /// everybody's.
    #[must_use]
    pub fn handing_out(mut self, lot: u64, hand_out: bool) -> Forward {
        if let Some(outside) = &mut self.outside {
            outside.token = outside.entrance.pass_outside(lot, &Identity::default()).0;
            outside.hand_out = hand_out;
        }
        self
    }

    /// Whether the visitor gets something of ours with the answer.
    pub fn hands_out(&self) -> bool {
        self.admission.as_ref().is_some_and(|admission| admission.hand_out)
            || self.outside.as_ref().is_some_and(|outside| outside.hand_out)
    }

    /// By an admission.
    pub fn admitted(origin: Arc<Origin>, client: Client, admission: Admission) -> Forward {
        let entrance = &admission.entrance;
        entrance.count(Outcome::Admitted);
        // Where a seat is left soon after its last connection, every request says that somebody is still there.
        if !admission.hand_out && entrance.slot_grace(&entrance.room.view()).is_some() {
            entrance.room.touch(admission.proof, admission.sitting());
        }
        Forward { admission: Some(admission), ..Forward::open(origin, client) }
    }

    /// Takes away from a request what its visitor has no business to say to an origin. Names are in lower case from here
    /// on, as those of HTTP/2 are anyway: keeping each as it was written takes a second table, which every try at a
    /// server would copy.
    pub fn strip(&self, request: &mut RequestHeader) {
        with_headers(request, |headers| self.strip_headers(headers));
    }

    fn strip_headers(&self, headers: &mut HeaderMap) {
        let doomed = headers.keys().filter(|name| self.withholds(name.as_str()));
        let doomed: Vec<_> = doomed.cloned().collect();
        for name in doomed {
            headers.remove(&name);
        }
        strip_cookies(headers);
    }

    /// Whether the origin is not told of a header, by its name in lower case: only we may say it, or only a trusted proxy
    /// may, or it would make of a request another one than was judged.
    pub(super) fn withholds(&self, name: &str) -> bool {
        // Hardly any name begins so: one look at the first letters spares the rest.
        if !matches!(name.as_bytes(), [b'x' | b'f', ..] | [b'c', b'f', ..] | [b't', b'r', ..]) {
            return false;
        }
        let ours = |name: &str| name.starts_with("x-anteroom-") || name == "x-admission-pass";
        let proxys = |name: &str| PROXYS.contains(&name) || name.starts_with("x-forwarded-");
        let another_method = |name: &str| {
            let names = ["x-http-method-override", "x-http-method", "x-method-override"];
            self.by_method && names.contains(&name)
        };
        // Many an origin takes `x_a` for `x-a`, and some take `x.a` for it.
        let odd = |c: char| !c.is_ascii_alphanumeric() && c != '-';
        match name.contains(odd) {
            true => {
                let name = name.replace(odd, "-");
                ours(&name) || proxys(&name) || another_method(&name)
            }
            false => ours(name) || (!self.client.vouched && proxys(name)) || another_method(name),
        }
    }

    /// Adds what the origin is to know. Last of all, so that nothing a visitor says about their connection can take
    /// it away again.
    ///
    /// # Errors
    /// A value that no header can have.
    pub fn dress(&self, request: &mut RequestHeader) -> pingora::Result<()> {
        let dressed = with_headers(request, |headers| self.dress_headers(headers));
        dressed.or_err(ErrorType::InvalidHTTPHeader, "a header for the origin")
    }

    fn dress_headers(&self, headers: &mut HeaderMap) -> Result<(), InvalidHeaderValue> {
        let mut dressed = Ok(());
        self.tell(|name, value| {
            let value = match value {
                Value::Text(text) => HeaderValue::from_bytes(text),
                Value::Number(number) => Ok(number.into()),
            };
            match value {
                // A trusted proxy's list gets longer by the proxy; a stranger's was never there.
                Ok(value) if *name == FORWARDED_FOR => _ = headers.append(name, value),
                Ok(value) => _ = headers.insert(name, value),
                Err(bad) => dressed = Err(bad),
            }
        });
        dressed
    }

    /// What the origin is to know, each under its name.
    pub(super) fn tell(&self, mut put: impl FnMut(&'static HeaderName, Value<'_>)) {
        put(&FORWARDED_FOR, Value::Text(&written(self.client.peer)));
        let proto = if self.client.secure { "https" } else { "http" };
        put(&FORWARDED_PROTO, Value::Text(proto.as_bytes()));
        if let Some(Outside { entrance, token, .. }) = &self.outside {
            put(&ROOM, Value::Text(entrance.room.name().as_bytes()));
            put(&PASS, Value::Text(token.as_bytes()));
        }
        let Some(admission) = &self.admission else { return };
        let Admission { entrance, proof, identity, slot, user, .. } = admission;
        let visitor = entrance.keys.visitor(proof.epoch, proof.number);
        put(&ROOM, Value::Text(entrance.room.name().as_bytes()));
        put(&VISITOR, Value::Text(visitor.as_bytes()));
        put(&NUMBER, Value::Number(proof.number));
        put(&CLASS, Value::Text(identity.class_name().as_bytes()));
        put(&EXPIRES, Value::Number(admission.expires_at));
        put(&PASS, Value::Text(admission.token.as_bytes()));
        // Whoever proxies knows who asks now; an invite, for whom it was made.
        let (proven, claimed) = match identity.user_proven {
            true => (&identity.user_id, &None),
            false => (&None, &identity.user_id),
        };
        let user = if user.is_some() { user } else { proven };
        for (name, value) in [(&SLOT, slot), (&USER, user), (&CLAIMED_USER, claimed)] {
            if let Some(value) = value {
                put(name, Value::Text(value.as_bytes()));
            }
        }
    }

    /// The response as the visitor gets it. What the origin commanded has been done by now.
    ///
    /// # Errors
    /// A value that no header can have.
    pub fn undress(
        &self,
        response: &mut ResponseHeader,
        command: Option<Order>,
    ) -> pingora::Result<()> {
        unsay(response);
        let secure = self.client.secure;
        if let Some(outside) = self.outside.as_ref().filter(|outside| outside.hand_out) {
            if !is_shared(response) {
                make_private(response)?;
                response.append_header(
                    "Set-Cookie",
                    outside.entrance.jar.keep(&outside.token, secure),
                )?;
            }
            return Ok(());
        }
        let Some(admission) = &self.admission else { return Ok(()) };
        let (name, value) = match command {
            // An app has no cookie to forget: what it holds is void.
            // By what they hold they find their new number.
            Some(Order::Requeue) => return Ok(()),
            Some(Order::Revoke) if admission.app => return Ok(()),
            Some(Order::Revoke) => ("Set-Cookie", admission.entrance.forget(&self.client)),
            // Whoever must get their pass gets it; a mere renewal waits for a response that no cache keeps.
            _ if admission.hand_out && !(admission.renew && is_shared(response)) => {
                admission.keep(secure)
            }
            _ => return Ok(()),
        };
        make_private(response)?;
        response.append_header(name, value)?;
        Ok(())
    }
}

/// What an origin says to us alone goes on to nobody: its order, how long it keeps the connection, and what `Connection` names as being for
/// the next end only. Where the body ends is said in other words than these, and but once; and an upgrade is for the visitor.
pub(super) fn unsay(response: &mut ResponseHeader) {
    for name in [&COMMAND, &KEEP_ALIVE, &PROXY_CONNECTION] {
        response.remove_header(name);
    }
    // Lengths that differ came no further than here (RFC 9112, 6.3).
    let mut lengths = response.headers.get_all(header::CONTENT_LENGTH).iter();
    if let (Some(length), Some(_)) = (lengths.next().cloned(), lengths.next()) {
        let _ = response.insert_header(header::CONTENT_LENGTH, length);
    }
    let lines = response.headers.get_all(header::CONNECTION).iter();
    let named = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    let named: Vec<_> = named.filter_map(|name| names_another(name.trim_ascii())).collect();
    for name in named {
        response.remove_header(&name);
    }
}

/// The header that a word in `Connection` takes with it.
pub(super) fn names_another(word: &[u8]) -> Option<HeaderName> {
    let kept = ["close", "keep-alive", "upgrade", "content-length", "transfer-encoding"];
    let is_kept = kept.iter().any(|kept| word.eq_ignore_ascii_case(kept.as_bytes()));
    if is_kept { None } else { HeaderName::from_bytes(word).ok() }
}

impl Forward {
    /// The page of an origin that fails. Whoever entered with this request gets their pass all the same.
    pub fn explain(&self, live: &Live, head: &impl Head, status: u16) -> Response {
        let intent = Intent::of(head.method(), |name| head.get(name));
        let reader = Reader::of(head, intent, self.client);
        let admission = self.admission.as_ref();
        let own = admission.map(|admission| admission.entrance.pages());
        let pages = own.as_deref().unwrap_or(&live.pages);
        let to = reader.to.as_str();
        let (page, said) = match status {
            504 => (Page::OriginSlow { to }, "The site takes too long to answer.\n"),
            _ => (Page::OriginDown { to }, "The site can't be reached.\n"),
        };
        let answer = match (status, reader.form) {
            (502..=504, Form::Html) => show::html(pages, &reader, status, &page),
            (502..=504, Form::Json) => api::error(status, "origin_unavailable", said),
            (502..=504, Form::Plain) => Response::plain(status, said),
            (413, _) => Response::plain(413, TOO_LARGE),
            _ => Response::plain(status, "This request could not be served.\n"),
        };
        match admission.filter(|admission| admission.hand_out) {
            Some(admission) => {
                let (name, value) = admission.keep(self.client.secure);
                answer.with(name, value)
            }
            None => answer,
        }
    }
}

/// What a body is told that is over its bound.
pub(super) const TOO_LARGE: &str = "This request has too long a body.\n";

/// The headers of a request, to be changed without regard to how their names are written.
fn with_headers<T>(request: &mut RequestHeader, change: impl FnOnce(&mut HeaderMap) -> T) -> T {
    let empty = http::Request::new(()).into_parts().0;
    let mut parts = Parts::from(std::mem::replace(request, empty.into()));
    let done = change(&mut parts.headers);
    *request = parts.into();
    done
}

/// What an origin may say about a visit, in `X-Anteroom-Command`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Done: the seat is free at once.
    Complete,
    /// One idle time more.
    Extend,
    /// Out.
    Revoke,
    /// To the end of the line.
    Requeue,
}

impl Order {
    /// What a response orders.
    pub fn of(response: &ResponseHeader) -> Option<Order> {
        match response.headers.get(&COMMAND)?.as_bytes().trim_ascii() {
            b"complete" => Some(Order::Complete),
            b"extend" => Some(Order::Extend),
            b"revoke" => Some(Order::Revoke),
            b"requeue" => Some(Order::Requeue),
            other => {
                let command = String::from_utf8_lossy(other);
                tracing::warn!(event = "origin.command", %command, "the origin sent an X-Anteroom-Command nobody knows");
                None
            }
        }
    }
}

/// How long a response waits for what its origin ordered.
const ORDER: Duration = Duration::from_secs(2);

impl Admission {
    /// Does what the origin ordered; a line that takes too long keeps no response.
    pub async fn obey_in_time(&mut self, order: Order) {
        let _ = timeout(ORDER, self.obey(order)).await;
    }

    /// Does what the origin ordered.
    pub async fn obey(&mut self, order: Order) {
        let entrance = self.entrance.clone();
        let (room, proof) = (&entrance.room, self.proof);
        let (why, status, reason) = match order {
            Order::Extend => {
                if let Ok(claimed) = room.extend(proof, self.sitting()).await {
                    self.renewed(claimed);
                }
                return;
            }
            Order::Complete => (Ending::Completed, "completed", "completed"),
            Order::Revoke => (Ending::Revoked, "expired", "revoked"),
            Order::Requeue => (Ending::Requeued, "expired", "requeued"),
        };
        let ended = room.end(proof, why).await;
        if matches!(ended, Ok(Done::Freed) | Err(Busy::Away)) {
            let device_id = || self.identity.device_id.clone();
            chronicle::changed(&entrance, proof, device_id, status, reason);
        }
        // While the store is away the line hears of it afterwards.
        let ended = matches!(ended, Ok(_) | Err(Busy::Away));
        if ended && order == Order::Complete {
            let now_ms = room.now_ms();
            let terms = Terms {
                admitted_ms: self.admitted_ms,
                issued_ms: now_ms,
                expires_ms: now_ms + AFTERGLOW_MS,
                slot: 0,
            };
            (self.hand_out, self.renew) = (true, false);
            self.token = entrance.pass(proof, &terms, &self.identity);
        }
    }
}

/// An address as text; what nearly all have, without the formatter's detours.
fn written(address: IpAddr) -> Vec<u8> {
    let IpAddr::V4(address) = address else { return address.to_string().into_bytes() };
    let mut text = Vec::with_capacity(15);
    for octet in address.octets() {
        if !text.is_empty() {
            text.push(b'.');
        }
        put_number(&mut text, u64::from(octet));
    }
    text
}

/// A value for an origin.
pub(super) enum Value<'a> {
    /// As it is.
    Text(&'a [u8]),
    /// In digits.
    Number(u64),
}

/// Our cookies go, and HTTP/2's several lines become HTTP/1's one (RFC 9113, 8.2.3).
fn strip_cookies(headers: &mut HeaderMap) {
    let mut lines = headers.get_all(header::COOKIE).iter();
    let rest = match (lines.next(), lines.next()) {
        (None, _) => return,
        (Some(only), None) => match without_ours(only.as_bytes()) {
            Some(rest) => rest,
            None => return,
        },
        _ => {
            let rest = headers.get_all(header::COOKIE).iter().map(|line| {
                without_ours(line.as_bytes()).unwrap_or_else(|| line.as_bytes().to_vec())
            });
            rest.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(&b"; "[..])
        }
    };
    // Made of what came as a header, so it can be one.
    match HeaderValue::try_from(rest) {
        Ok(rest) if !rest.is_empty() => _ = headers.insert(header::COOKIE, rest),
        _ => _ = headers.remove(header::COOKIE),
    }
}

/// Whether a cache may give this response to others.
fn is_shared(response: &ResponseHeader) -> bool {
    let mut lines = response.headers.get_all("cache-control").iter();
    let says = |line: &[u8], word: &[u8]| {
        line.to_ascii_lowercase().windows(word.len()).any(|part| part == word)
    };
    response.status.as_u16() == 304
        || lines.any(|line| says(line.as_bytes(), b"public") || says(line.as_bytes(), b"s-maxage"))
}

/// With a visitor's cookie in it a response is that visitor's alone.
fn make_private(response: &mut ResponseHeader) -> pingora::Result<()> {
    for name in ["surrogate-control", "cdn-cache-control", "cloudflare-cdn-cache-control"] {
        response.remove_header(name);
    }
    let lines = response.headers.get_all("cache-control");
    let kept: Vec<String> = (lines.iter())
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(|part| part.trim().to_owned())
        .filter(|part| {
            let name = part.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
            !matches!(name.as_str(), "public" | "s-maxage" | "private" | "" | "immutable")
        })
        .collect();
    let mut value = String::from("private");
    for part in kept {
        value.push_str(", ");
        value.push_str(&part);
    }
    response.insert_header("Cache-Control", value)
}
