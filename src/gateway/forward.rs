//! A request on its way to the origin: what is added to it, what is taken away, and what comes back.
//!
//! Owns the headers between the gateway, the origin and the visitor. Never decides whether somebody may pass.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderValue;
use pingora::http::{RequestHeader, ResponseHeader};

use super::answer::put_number;
use super::cookie::without_ours;
use super::decide::AFTERGLOW_MS;
use super::entrance::{Entrance, Identity};
use super::head::Client;
use super::origin::Origin;
use crate::line::{Claimed, Ending, Terms};
use crate::room::Proof;
use crate::token::Pass;

/// A request that may pass.
pub struct Forward {
    /// To whom.
    pub origin: Arc<Origin>,
    /// From whom.
    pub client: Client,
    /// With what right; `None` where none is needed.
    pub admission: Option<Admission>,
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
            slot: None,
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

    /// On these terms from now on, if the line says so.
    pub fn renewed(&mut self, claimed: Claimed) {
        if let Claimed::Inside(terms) = claimed {
            self.token = self.entrance.pass(self.proof, &terms, &self.identity);
            self.expires_at = terms.expires_ms / 1_000;
            self.hand_out = true;
        }
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
        Forward { origin, client, admission: None }
    }

    /// By an admission.
    pub fn admitted(origin: Arc<Origin>, client: Client, admission: Admission) -> Forward {
        Forward { origin, client, admission: Some(admission) }
    }

    /// The request as the origin gets it.
    ///
    /// # Errors
    /// A value that no header can have.
    pub fn dress(&self, request: &mut RequestHeader) -> pingora::Result<()> {
        strip(request, self.client.vouched);
        // A trusted proxy's list gets longer by the proxy; a stranger's was never there.
        request.append_header("X-Forwarded-For", written(self.client.peer))?;
        let proto = if self.client.secure { "https" } else { "http" };
        request.insert_header("X-Forwarded-Proto", HeaderValue::from_static(proto))?;
        let Some(admission) = &self.admission else { return Ok(()) };
        let Admission { entrance, proof, identity, slot, .. } = admission;
        request.insert_header("X-Anteroom-Room", entrance.room.name())?;
        let visitor = entrance.keys.visitor(proof.epoch, proof.number);
        request.insert_header("X-Anteroom-Visitor", visitor)?;
        request.insert_header("X-Anteroom-Number", proof.number)?;
        request.insert_header("X-Anteroom-Class", identity.class_name())?;
        request.insert_header("X-Anteroom-Expires", admission.expires_at)?;
        request.insert_header("X-Anteroom-Pass", admission.token.as_str())?;
        for (name, value) in [
            ("X-Anteroom-Slot", slot),
            ("X-Anteroom-User", &admission.user),
            ("X-Anteroom-Claimed-User", &identity.user_id),
        ] {
            if let Some(value) = value {
                request.insert_header(name, value.as_str())?;
            }
        }
        Ok(())
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
        if response.headers.contains_key("x-anteroom-command") {
            response.remove_header("X-Anteroom-Command");
        }
        let Some(admission) = &self.admission else { return Ok(()) };
        let secure = self.client.secure;
        let (name, value) = match command {
            Some(Order::Requeue | Order::Revoke) => {
                ("Set-Cookie", admission.entrance.jar.forget(secure))
            }
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

/// What an origin may say about a visit, in `X-Anteroom-Command`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Done: the seat is free at once.
    Complete,
    /// Another idle time.
    Extend,
    /// Out.
    Revoke,
    /// To the end of the line.
    Requeue,
}

impl Order {
    /// What a response orders.
    pub fn of(response: &ResponseHeader) -> Option<Order> {
        match response.headers.get("x-anteroom-command")?.as_bytes().trim_ascii() {
            b"complete" => Some(Order::Complete),
            b"extend" => Some(Order::Extend),
            b"revoke" => Some(Order::Revoke),
            b"requeue" => Some(Order::Requeue),
            other => {
                let command = String::from_utf8_lossy(other);
                tracing::warn!(%command, "the origin sent an X-Anteroom-Command nobody knows");
                None
            }
        }
    }
}

impl Admission {
    /// Does what the origin ordered.
    pub async fn obey(&mut self, order: Order) {
        let entrance = self.entrance.clone();
        let (room, proof) = (&entrance.room, self.proof);
        let ended = match order {
            Order::Extend => {
                if let Ok(claimed) = room.renew(proof, self.admitted_ms).await {
                    self.renewed(claimed);
                }
                return;
            }
            Order::Complete => room.end(proof, Ending::Completed).await,
            Order::Revoke => room.end(proof, Ending::Revoked).await,
            Order::Requeue => room.end(proof, Ending::Left).await,
        };
        if ended.is_ok() && order == Order::Complete {
            let now_ms = room.now_ms();
            let terms = Terms {
                admitted_ms: self.admitted_ms,
                issued_ms: now_ms,
                expires_ms: now_ms + AFTERGLOW_MS,
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

/// Takes away what only we may say, and what only a trusted proxy may.
fn strip(request: &mut RequestHeader, vouched: bool) {
    let ours = |name: &str| name.starts_with("x-anteroom-") || name == "x-admission-pass";
    let about_client =
        |name: &str| matches!(name, "forwarded" | "x-real-ip") || name.starts_with("x-forwarded-");
    // Many an origin takes `x_a` for `x-a`.
    let is_doomed = |name: &str| match name.contains('_') {
        true => {
            let name = name.replace('_', "-");
            ours(&name) || about_client(&name)
        }
        false => ours(name) || (!vouched && about_client(name)),
    };
    // Hardly any name begins so: one look at the first letter spares the rest.
    let suspect = |name: &str| matches!(name.as_bytes().first(), Some(b'x' | b'f'));
    let names = request.headers.keys().filter(|name| suspect(name.as_str()));
    let doomed: Vec<_> = names.filter(|name| is_doomed(name.as_str())).cloned().collect();
    for name in doomed {
        request.remove_header(&name);
    }
    strip_cookies(request);
}

/// Our cookies go, and HTTP/2's several lines become HTTP/1's one (RFC 9113, 8.2.3).
fn strip_cookies(request: &mut RequestHeader) {
    let mut lines = request.headers.get_all("cookie").iter();
    match (lines.next(), lines.next()) {
        (None, _) => return,
        (Some(only), None) if without_ours(only.as_bytes()).is_none() => return,
        _ => {}
    }
    let lines = request.headers.get_all("cookie").iter().map(|line| line.as_bytes());
    let rest = lines.map(|line| without_ours(line).unwrap_or_else(|| line.to_vec()));
    let rest: Vec<Vec<u8>> = rest.filter(|line| !line.is_empty()).collect();
    request.remove_header("cookie");
    if !rest.is_empty() {
        // Made of what came as a header.
        let _ = request.insert_header("Cookie", rest.join(&b"; "[..]));
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
