//! What of a request's head the API reads, and how: parameters, the bearer, whose page sent it.
//!
//! Owns the reading. Decides nothing about visitors.

use std::borrow::Cow;

use super::error::{bad, error};
use crate::gateway::answer::Response;
use crate::gateway::head::{Client, Head};
use crate::gateway::live::Live;

/// An owned head: what a call needs after its body was read. Of the headers only those the API ever looks at.
#[derive(Clone, Debug, Default)]
pub struct Request {
    method: String,
    target: String,
    host: String,
    headers: Vec<(Cow<'static, str>, Vec<u8>)>,
}

/// Every header that anything below `api` asks for; rooms add the one by which a trusted proxy names users, and the one
/// that passes are bound to.
const READ: [&str; 12] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "authorization",
    "content-type",
    "cookie",
    "idempotency-key",
    "origin",
    "sec-fetch-site",
    "x-admission-pass",
    "x-device-id",
    "x-user-id",
];

impl Request {
    /// A copy of what is needed.
    pub fn of(live: &Live, head: &impl Head) -> Request {
        let users = live.entrances.values().flat_map(|room| {
            let settings = &room.settings;
            [settings.user_header.as_deref(), settings.class_header.as_deref()]
                .into_iter()
                .flatten()
        });
        let mut users: Vec<String> = users.map(str::to_ascii_lowercase).collect();
        users.retain(|name| !READ.contains(&name.as_str()));
        users.sort_unstable();
        users.dedup();
        let binds = live.entrances.values().any(|room| room.settings.bind.agent);
        let agent = binds.then_some(Cow::Borrowed("user-agent"));
        let names = READ.map(Cow::Borrowed).into_iter().chain(users.into_iter().map(Cow::Owned));
        let names = names.chain(agent);
        let mut headers = Vec::new();
        for name in names {
            headers.extend(head.all(&name).map(|value| (name.clone(), value.to_vec())));
        }
        Request {
            method: head.method().to_owned(),
            target: head.target().to_owned(),
            host: head.host().to_owned(),
            headers,
        }
    }
}

impl Head for Request {
    fn method(&self) -> &str {
        &self.method
    }
    fn target(&self) -> &str {
        &self.target
    }
    fn host(&self) -> &str {
        &self.host
    }
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let named = self.headers.iter().filter(move |(other, _)| other == name);
        named.map(|(_, value)| value.as_slice())
    }
}

/// The first value of a name in a query or in a form, decoded.
pub fn parameter(pairs: &str, name: &str) -> Option<String> {
    value(pairs, name).map(Cow::into_owned)
}

/// The same, without a copy where nothing is encoded.
pub(super) fn value<'q>(pairs: &'q str, name: &str) -> Option<Cow<'q, str>> {
    pairs.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then(|| decoded(value))
    })
}

/// Percent signs that begin no code stay as they are; what is no text is written as such.
fn decoded(value: &str) -> Cow<'_, str> {
    if !value.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(value);
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match tail {
            [high, low, ..] if *first == b'%' => digit(high).zip(digit(low)),
            _ => None,
        };
        match code {
            Some((high, low)) => bytes.push(high << 4 | low),
            None => bytes.push(if *first == b'+' { b' ' } else { *first }),
        }
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    match String::from_utf8(bytes) {
        Ok(text) => Cow::Owned(text),
        Err(bytes) => Cow::Owned(String::from_utf8_lossy(bytes.as_bytes()).into_owned()),
    }
}

/// What `Authorization` brings: `Bearer TOKEN`, or the token alone. Other schemes are the site's own business.
pub(super) fn bearer(head: &impl Head) -> Option<&[u8]> {
    let value = head.get("authorization")?.trim_ascii();
    let token = match value.split_first_chunk::<7>() {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => token.trim_ascii(),
        _ => value,
    };
    let is_one = !token.is_empty() && !token.contains(&b' ');
    (is_one && !token.eq_ignore_ascii_case(b"bearer")).then_some(token)
}

/// Whether a request that acts by cookie was made by a page of this very site: a cookie comes along whoever asks.
///
/// # Errors
/// 403.
pub fn from_our_page(head: &impl Head, client: &Client) -> Result<(), Response> {
    let site = head.get("sec-fetch-site").map(<[u8]>::trim_ascii);
    let ours = match site {
        Some(b"same-origin") => true,
        // Typed by a person, or a browser that does not say: then it says its origin, on every POST.
        None | Some(b"none") => {
            head.text("origin").is_some_and(|origin| is_ours(origin, head, client))
        }
        Some(_) => false,
    };
    match ours {
        true => Ok(()),
        false => Err(error(403, "cross_site", "by cookie only this site's own pages may do this")),
    }
}

/// A page of another site must not use up what its visitors may do here.
///
/// # Errors
/// 403.
pub(super) fn not_from_elsewhere(head: &impl Head) -> Result<(), Response> {
    match head.get("sec-fetch-site").map(<[u8]>::trim_ascii) {
        Some(b"cross-site") => {
            Err(error(403, "cross_site", "pages of other sites may not join for their visitors"))
        }
        _ => Ok(()),
    }
}

fn is_ours(origin: &str, head: &impl Head, client: &Client) -> bool {
    let scheme = if client.secure { "https://" } else { "http://" };
    let host = origin.trim().strip_prefix(scheme);
    host.is_some_and(|host| !host.is_empty() && host.eq_ignore_ascii_case(head.host()))
}

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// JSON, or nothing is said about it.
    Json,
    /// As forms are.
    Form,
}

/// What a request says about its body.
///
/// # Errors
/// 415 for anything that is neither JSON nor a form. So a page elsewhere can't send a "simple" request whose body
/// happens to be JSON.
pub(super) fn written(head: &impl Head) -> Result<Written, Response> {
    let Some(value) = head.get("content-type") else { return Ok(Written::Json) };
    let kind = value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    match kind {
        _ if kind.eq_ignore_ascii_case(b"application/json") => Ok(Written::Json),
        _ if kind.eq_ignore_ascii_case(b"application/x-www-form-urlencoded") => Ok(Written::Form),
        _ => Err(unsupported()),
    }
}

/// JSON alone will do.
pub(super) fn must_be_json(head: &impl Head) -> Result<(), Response> {
    match written(head)? {
        Written::Json => Ok(()),
        Written::Form => Err(unsupported()),
    }
}

fn unsupported() -> Response {
    error(415, "unsupported_media_type", "send application/json")
}

/// A header's value as text.
///
/// # Errors
/// 400 with `code` if it is none.
pub(super) fn header<'h>(
    head: &'h impl Head,
    name: &'h str,
    code: &'static str,
) -> Result<Option<&'h str>, Response> {
    match head.get(name) {
        None => Ok(None),
        Some(value) => match std::str::from_utf8(value.trim_ascii()) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(bad(code, &format!("the header {name} is not UTF-8"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::head::tests::Lines;
    use super::*;

    fn client(secure: bool) -> Client {
        {
            let address = [192, 0, 2, 1].into();
            Client { address, peer: address, secure, vouched: false }
        }
    }

    #[test]
    fn parameters_are_decoded_and_the_first_counts() {
        let query = "a=1&event_id=t%2Fsale+x&a=2&bad=%zz%4&empty=&flag";
        assert_eq!(parameter(query, "event_id").as_deref(), Some("t/sale x"));
        assert_eq!(parameter(query, "a").as_deref(), Some("1"));
        assert_eq!(parameter(query, "bad").as_deref(), Some("%zz%4"));
        assert_eq!(parameter(query, "empty").as_deref(), Some(""));
        assert_eq!(parameter(query, "flag").as_deref(), Some(""));
        assert_eq!(parameter(query, "vent_id"), None);
        assert_eq!(parameter("a=%ff%00", "a").as_deref(), Some("\u{fffd}\0"));
        assert!(matches!(value("a=plain", "a"), Some(Cow::Borrowed("plain"))));
    }

    #[test]
    fn a_bearer() {
        let of = |value: &str| {
            let lines = [("authorization", value)];
            bearer(&Lines(&lines)).map(|token| String::from_utf8(token.to_vec()).unwrap())
        };
        assert_eq!(of("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(of("bearer  abc ").as_deref(), Some("abc"));
        assert_eq!(of("abc").as_deref(), Some("abc"));
        for none in ["Basic abc", "Bearer ", "", "Bearer a b"] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn only_our_own_pages_act_by_cookie() {
        let ours =
            |lines: &[(&str, &str)], secure| from_our_page(&Lines(lines), &client(secure)).is_ok();
        assert!(ours(&[("sec-fetch-site", "same-origin")], true));
        assert!(ours(&[("origin", "https://shop.example")], true));
        assert!(ours(&[("origin", "http://SHOP.example"), ("sec-fetch-site", "none")], false));
        for lines in [
            &[][..],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "cross-site"), ("origin", "https://shop.example")],
            &[("sec-fetch-site", "same-site"), ("origin", "https://shop.example")],
            &[("origin", "http://shop.example")],
            &[("origin", "https://shop.example.evil")],
            &[("origin", "https://")],
            &[("origin", "null")],
        ] {
            assert!(!ours(lines, true), "{lines:?}");
        }
    }

    #[test]
    fn what_a_body_is() {
        let of = |value: &str| written(&Lines(&[("content-type", value)])).ok();
        assert_eq!(written(&Lines(&[])).ok(), Some(Written::Json));
        assert_eq!(of("Application/JSON; charset=utf-8"), Some(Written::Json));
        assert_eq!(of("application/x-www-form-urlencoded"), Some(Written::Form));
        for other in ["text/plain", "multipart/form-data", "", "application/jsonp"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
