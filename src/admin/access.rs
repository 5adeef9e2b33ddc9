//! Who asks, what they may do, and whose rooms they see.
//!
//! Owns keys, roles and tenants. A key is compared as a hash, in constant time and with every key there is, so the time
//! an answer takes tells nothing. Whoever is wrong too often waits, even if they are right then.

use std::fmt;
use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest as _, Sha256};

use super::refusal::Refusal;
use super::settings::{Hash, Key, Role, Settings};
use super::{Admin, parts, session};
use crate::clock;
use crate::limit::{Allowance, Crowded, Limiter};
use crate::name;
use crate::token::Seal;

/// Wrong keys from one address: enough for a typing mistake in every script of a team.
const ATTEMPTS: Allowance = Allowance { max: 10, per_ms: 60_000 };

/// The tenant's header.
const TENANT: &str = "x-tenant-id";

/// Where a request came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

impl Peer {
    pub(super) fn of(extensions: &Extensions) -> IpAddr {
        Peer::or_unknown(extensions.get::<Peer>().copied())
    }

    pub(super) fn or_unknown(peer: Option<Peer>) -> IpAddr {
        peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.0)
    }
}

/// The keys in force.
pub(super) struct Access {
    pub(super) keys: Vec<Key>,
    pub(super) metrics_public: bool,
    /// What sessions are sealed with.
    pub(super) seal: Seal,
}

impl Access {
    pub(super) fn new(settings: &Settings, seal: Seal) -> Access {
        let Settings { keys, metrics_public, .. } = settings;
        Access { keys: keys.clone(), metrics_public: *metrics_public, seal }
    }

    pub(super) fn find(&self, sent: &[u8]) -> Option<&Key> {
        let hash = Hash::of(sent);
        let mut found = None;
        for key in &self.keys {
            if key.hash.matches(&hash) {
                found = Some(key);
            }
        }
        found
    }
}

/// Wrong keys, counted by address.
pub(super) struct Attempts {
    limit: Limiter,
    salt: [u8; 16],
}

impl Attempts {
    pub(super) fn new() -> Result<Attempts, getrandom::Error> {
        let mut salt = [0; 16];
        getrandom::fill(&mut salt)?;
        Ok(Attempts { limit: Limiter::new(Some(ATTEMPTS), Crowded::Together), salt })
    }

    /// IPv4 whole, of IPv6 the network that one customer has.
    fn key(&self, address: IpAddr) -> [u8; 16] {
        let mut hash = Sha256::new_with_prefix(self.salt);
        match address.to_canonical() {
            IpAddr::V4(address) => hash.update(address.octets()),
            IpAddr::V6(address) => hash.update(&address.octets()[..8]),
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hash.finalize()[..16]);
        key
    }

    /// # Errors
    /// 429: too many were wrong.
    pub(super) fn check(&self, address: IpAddr) -> Result<(), Refusal> {
        self.limit.check(self.key(address), clock::now_ms()).map_err(too_many)
    }

    /// One more was wrong.
    pub(super) fn failed(&self, address: IpAddr) -> Refusal {
        match self.limit.take(self.key(address), clock::now_ms()) {
            Ok(_) => Refusal::unknown(),
            Err(retry_ms) => too_many(retry_ms),
        }
    }
}

fn too_many(retry_ms: u64) -> Refusal {
    let message = "too many wrong keys came from this address: wait before the next";
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
        .after(retry_ms.div_ceil(1_000))
}

/// Whose rooms a request is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    /// One tenant's; empty: those of nobody in particular.
    Of(String),
    /// Everybody's.
    All,
}

impl Scope {
    /// The whole name of a room. `None`: there can be no such room.
    ///
    /// # Errors
    /// 400: it could be anybody's.
    pub(super) fn name(&self, id: &str) -> Result<Option<String>, Refusal> {
        match self {
            Scope::All => {
                Err(Refusal::bad("X-Tenant-ID: * is for lists: name one tenant, or leave it out"))
            }
            _ if id.contains('/') => Ok(None),
            Scope::Of(tenant) if tenant.is_empty() => Ok(Some(id.to_owned())),
            Scope::Of(tenant) => Ok(Some(format!("{tenant}/{id}"))),
        }
    }

    /// Whether a room is of it.
    pub(super) fn covers(&self, room: &str) -> bool {
        match self {
            Scope::All => true,
            Scope::Of(tenant) => parts(room).0 == tenant,
        }
    }
}

/// Whoever asks.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The key's name.
    pub(super) name: Arc<str>,
    pub(super) role: Role,
    /// The key's.
    pub(super) tenant: Option<String>,
    pub(super) scope: Scope,
    /// `Idempotency-Key`: the same order again is not carried out again.
    pub(super) again: Option<String>,
}

/// Bytes of an `Idempotency-Key`.
const MAX_AGAIN: usize = 200;

/// The key of an order that may come again.
///
/// # Errors
/// 400: it can't be one.
fn again(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let mut given = headers.get_all("idempotency-key").iter();
    match (given.next(), given.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => match key.to_str().map(str::trim) {
            Ok(key) if (1..=MAX_AGAIN).contains(&key.len()) => Ok(Some(key.to_owned())),
            _ => Err(Refusal::bad(format!("Idempotency-Key is text of 1 to {MAX_AGAIN} bytes"))),
        },
        (Some(_), Some(_)) => Err(Refusal::bad("Idempotency-Key is there twice")),
    }
}

impl Caller {
    /// The same, for one of several orders that a single call is.
    pub(super) fn of(&self, part: &str) -> Caller {
        let again = self.again.as_ref().map(|again| format!("{again} {part}"));
        Caller { again, ..self.clone() }
    }

    /// The holder of a key, who names a tenant or not.
    ///
    /// # Errors
    /// 400: no tenant could be called so. 403: it is not theirs.
    pub(super) fn new(key: &Key, headers: &HeaderMap) -> Result<Caller, Refusal> {
        let mut named = headers.get_all(TENANT).iter();
        let scope = match (named.next(), named.next(), &key.tenant) {
            (_, Some(_), _) => return Err(Refusal::bad("X-Tenant-ID is there twice")),
            (None, None, None) => Scope::Of(String::new()),
            (None, None, Some(own)) => Scope::Of(own.clone()),
            (Some(named), None, own) => match (named.to_str().unwrap_or_default(), own) {
                ("*", None) => Scope::All,
                (named, Some(own)) if named == own => Scope::Of(own.clone()),
                (_, Some(_)) => {
                    return Err(Refusal::forbidden("this key is another tenant's"));
                }
                (named, None) if name::is_room(named) && !named.contains('/') => {
                    Scope::Of(named.to_owned())
                }
                (_, None) => return Err(Refusal::bad("X-Tenant-ID is no tenant's name")),
            },
        };
        let name = Arc::from(key.name.as_str());
        let again = again(headers)?;
        Ok(Caller { name, role: key.role, tenant: key.tenant.clone(), scope, again })
    }
}

/// Lets in who may be. Everything but `/health` needs a key, and `/metrics` unless they are for everybody.
pub(super) async fn admit(
    State(admin): State<Arc<Admin>>,
    mut request: Request,
    next: Next,
) -> Response {
    let access = admin.access.load_full();
    let open = match request.uri().path() {
        "/health" => return next.run(request).await,
        "/metrics" => access.metrics_public,
        _ => false,
    };
    match caller(&admin, &access, &request) {
        Ok(Some(caller)) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Ok(None) if open => next.run(request).await,
        Ok(None) => Refusal::unknown().into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// Who asks, by a key or by the session of a browser; `None`: somebody without either.
fn caller(admin: &Admin, access: &Access, request: &Request) -> Result<Option<Caller>, Refusal> {
    let Some(sent) = request.headers().get(header::AUTHORIZATION) else {
        let Some(key) = session::holder(access, request.headers()) else { return Ok(None) };
        session::may_act(request.method(), request.headers())?;
        return Caller::new(key, request.headers()).map(Some);
    };
    let address = Peer::of(request.extensions());
    admin.attempts.check(address).inspect_err(|_| {
        admin.node.metrics.limited("admin");
        super::log::limited(address);
    })?;
    let sent = sent.as_bytes();
    let (scheme, key) = sent.split_at_checked("bearer ".len()).unwrap_or((sent, b""));
    let found = access.find(key.trim_ascii()).filter(|_| scheme.eq_ignore_ascii_case(b"bearer "));
    match found {
        Some(key) => Caller::new(key, request.headers()).map(Some),
        None => {
            super::log::refused(address);
            Err(admin.attempts.failed(address))
        }
    }
}

/// What a call needs.
pub(super) trait Needs: Send + Sync + 'static {
    const ROLE: Role;
}

/// To look.
pub(super) struct Look;
/// To act on a room.
pub(super) struct Act;
/// To do what ends something.
pub(super) struct Rule;

impl Needs for Look {
    const ROLE: Role = Role::Viewer;
}
impl Needs for Act {
    const ROLE: Role = Role::Operator;
}
impl Needs for Rule {
    const ROLE: Role = Role::Admin;
}

/// Whoever asks, and may.
pub(super) struct By<N> {
    pub(super) caller: Caller,
    needs: PhantomData<N>,
}

impl<N> fmt::Debug for By<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.caller.fmt(f)
    }
}

impl<N: Needs, S: Send + Sync> FromRequestParts<S> for By<N> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<By<N>, Refusal> {
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(Refusal::unknown)?;
        if caller.role < N::ROLE {
            let message = format!(
                "this needs the role {}, and the key has the role {}",
                N::ROLE.name(),
                caller.role.name()
            );
            return Err(Refusal::forbidden(message));
        }
        Ok(By { caller, needs: PhantomData })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(tenant: Option<&str>) -> Key {
        let tenant = tenant.map(str::to_owned);
        Key { name: "ops".to_owned(), hash: Hash::of(b"key"), role: Role::Operator, tenant }
    }

    fn scope(own: Option<&str>, named: &[&str]) -> Option<Scope> {
        let mut headers = HeaderMap::new();
        for named in named {
            headers.append(TENANT, named.parse().expect("a header's value"));
        }
        Caller::new(&key(own), &headers).ok().map(|caller| caller.scope)
    }

    #[test]
    fn a_tenant_is_named_by_key_or_header_and_never_anothers() {
        let of = |tenant: &str| Some(Scope::Of(tenant.to_owned()));
        assert_eq!(scope(None, &[]), of(""));
        assert_eq!(scope(None, &["acme"]), of("acme"));
        assert_eq!(scope(None, &["*"]), Some(Scope::All));
        assert_eq!(scope(Some("acme"), &[]), of("acme"));
        assert_eq!(scope(Some("acme"), &["acme"]), of("acme"));
        for refused in ["other", "*", "", "acme/sale", "ACME"] {
            assert_eq!(scope(Some("acme"), &[refused]), None, "{refused}");
        }
        for refused in ["", "a/b", "a b", "**"] {
            assert_eq!(scope(None, &[refused]), None, "{refused}");
        }
        assert_eq!(scope(None, &["acme", "acme"]), None);
    }

    #[test]
    fn no_spelling_of_an_id_leads_to_another_tenant() {
        let acme = Scope::Of("acme".to_owned());
        assert_eq!(acme.name("sale").ok().flatten().as_deref(), Some("acme/sale"));
        assert_eq!(acme.name("../other/sale").ok(), Some(None));
        assert_eq!(Scope::Of(String::new()).name("acme/sale").ok(), Some(None));
        assert!(Scope::All.name("sale").is_err());
        assert!(acme.covers("acme/sale") && !acme.covers("sale") && !acme.covers("other/sale"));
        assert!(!Scope::Of(String::new()).covers("acme/sale"));
    }

    #[test]
    fn addresses_of_one_customer_are_one() {
        let attempts = Attempts::new().expect("randomness");
        let key = |text: &str| attempts.key(text.parse().expect("an address"));
        assert_eq!(key("2001:db8::1"), key("2001:db8::ffff"));
        assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
        assert_eq!(key("192.0.2.1"), key("::ffff:192.0.2.1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
    }

    #[test]
    fn who_is_wrong_too_often_waits_and_nobody_else() {
        let attempts = Attempts::new().expect("randomness");
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().expect("an address"));
        for _ in 0..ATTEMPTS.max {
            assert!(attempts.check(one).is_ok());
            let _ = attempts.failed(one);
        }
        assert!(attempts.check(one).is_err());
        assert!(attempts.check(other).is_ok());
    }
}
