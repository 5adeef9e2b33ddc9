//! The one cookie of a room: a ticket while its visitor waits, a pass afterwards.
//!
//! Owns its name and attributes. Knows nothing of what is in it. Over TLS it has a prefix that browsers guard
//! (`__Host-`, or `__Secure-` where several hosts share a line), and then only that name is read, so that nobody
//! who controls a neighbouring host or an unencrypted page can put another one in its place.

use cookie::{Cookie, SameSite, time::Duration};
use sha2::{Digest as _, Sha256};

use super::head::Head;
use super::settings::Cookies;

/// Longer than any line, and than any ticket is good.
const DAYS: i64 = 7;

/// An invite has a cookie of its own, called like the room's and this.
const INVITE: &str = "-invite";
/// Long enough to come back with it, or to try again after a moment without a network.
const INVITE_MINUTES: i64 = 10;

/// Cookies of one name that are looked at: a browser sends one, whoever sends more is up to something.
const MAX_SAME: usize = 4;

/// How a room's cookie is called and set.
#[derive(Debug, Clone)]
pub struct Jar {
    /// Over TLS.
    guarded: String,
    plain: String,
    domain: Option<String>,
    cookies: Cookies,
}

impl Jar {
    /// For a room.
    pub fn new(room: &str, cookies: Cookies, domain: Option<&str>) -> Jar {
        let hash = Sha256::digest(room.as_bytes());
        let plain: String =
            "anteroom-".chars().chain(hash[..4].iter().flat_map(|byte| hex(*byte))).collect();
        let prefix = if domain.is_some() { "__Secure-" } else { "__Host-" };
        Jar {
            guarded: format!("{prefix}{plain}"),
            plain,
            domain: domain.map(str::to_owned),
            cookies,
        }
    }

    /// Its name.
    pub fn name(&self, secure: bool) -> &str {
        if secure { &self.guarded } else { &self.plain }
    }

    /// What a request brought under its name.
    pub fn values<'a>(
        &'a self,
        head: &'a impl Head,
        secure: bool,
    ) -> impl Iterator<Item = &'a [u8]> {
        let name = self.name(secure).as_bytes();
        head.all("cookie")
            .flat_map(pairs)
            .filter_map(move |pair| {
                pair.strip_prefix(name)?.strip_prefix(b"=").map(<[u8]>::trim_ascii)
            })
            .take(MAX_SAME)
    }

    /// What a request brought as an invite.
    pub fn invites<'a>(
        &'a self,
        head: &'a impl Head,
        secure: bool,
    ) -> impl Iterator<Item = &'a [u8]> {
        let name = self.name(secure).as_bytes();
        head.all("cookie")
            .flat_map(pairs)
            .filter_map(move |pair| {
                let rest = pair.strip_prefix(name)?.strip_prefix(INVITE.as_bytes())?;
                rest.strip_prefix(b"=").map(<[u8]>::trim_ascii)
            })
            .take(MAX_SAME)
    }

    /// The header that keeps an invite until its browser comes back with it.
    pub fn keep_invite(&self, value: &str, secure: bool) -> String {
        let name = format!("{}{INVITE}", self.name(secure));
        self.made(&name, value, secure, Duration::minutes(INVITE_MINUTES))
    }

    /// The header that forgets it.
    pub fn forget_invite(&self, secure: bool) -> String {
        let name = format!("{}{INVITE}", self.name(secure));
        self.made(&name, "", secure, Duration::ZERO)
    }

    /// The header that keeps `value`.
    pub fn keep(&self, value: &str, secure: bool) -> String {
        self.cookie(value, secure, Duration::days(DAYS))
    }

    /// The header that forgets it.
    pub fn forget(&self, secure: bool) -> String {
        self.cookie("", secure, Duration::ZERO)
    }

    fn cookie(&self, value: &str, secure: bool, age: Duration) -> String {
        self.made(self.name(secure), value, secure, age)
    }

    fn made(&self, name: &str, value: &str, secure: bool, age: Duration) -> String {
        let partitioned = self.cookies == Cookies::Partitioned && secure;
        let mut cookie = Cookie::build((name, value))
            .path("/")
            .http_only(true)
            .secure(secure)
            .max_age(age)
            .same_site(if partitioned { SameSite::None } else { SameSite::Lax });
        if partitioned {
            cookie = cookie.partitioned(true);
        }
        if let Some(domain) = &self.domain {
            cookie = cookie.domain(domain.as_str());
        }
        cookie.build().to_string()
    }
}

fn hex(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0'))
}

/// The pairs of a `Cookie` header.
fn pairs(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr::memchr_iter(b';', line).chain([line.len()]);
    let mut start = 0;
    ends.map(move |end| line[std::mem::replace(&mut start, end + 1)..end].trim_ascii())
}

/// A `Cookie` header without ours, of any room: an origin must not see what would let it in elsewhere.
/// `None`: there are none of ours in it.
pub fn without_ours(line: &[u8]) -> Option<Vec<u8>> {
    let ours = |pair: &[u8]| {
        let name = pair.strip_prefix(b"__Host-").or(pair.strip_prefix(b"__Secure-"));
        name.unwrap_or(pair).starts_with(b"anteroom-")
    };
    pairs(line).any(ours).then(|| {
        let rest: Vec<&[u8]> = pairs(line).filter(|pair| !ours(pair)).collect();
        rest.join(&b"; "[..])
    })
}

#[cfg(test)]
mod tests {
    use super::super::head::tests::Lines;
    use super::*;

    #[test]
    fn a_cookie_says_who_may_have_it() {
        let jar = Jar::new("sale", Cookies::Lax, None);
        assert_eq!(jar.name(false), "anteroom-1f7101fe");
        let kept = jar.keep("abc", true);
        assert_eq!(
            kept,
            "__Host-anteroom-1f7101fe=abc; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=604800"
        );
        assert!(jar.forget(false).contains("Max-Age=0") && !jar.forget(false).contains("Secure"));
        let shared = Jar::new("sale", Cookies::Partitioned, Some("example.com"));
        let kept = shared.keep("abc", true);
        assert!(kept.starts_with("__Secure-anteroom-1f7101fe=abc;"), "{kept}");
        for part in ["SameSite=None", "Partitioned", "Domain=example.com", "HttpOnly"] {
            assert!(kept.contains(part), "{kept}");
        }
    }

    #[test]
    fn over_tls_only_the_guarded_name_is_read() {
        let jar = Jar::new("sale", Cookies::Lax, None);
        let head = Lines(&[
            ("cookie", "anteroom-1f7101fe=planted; a=b"),
            ("cookie", "x=y;  __Host-anteroom-1f7101fe=real "),
        ]);
        assert_eq!(jar.values(&head, true).collect::<Vec<_>>(), [b"real"]);
        assert_eq!(jar.values(&head, false).collect::<Vec<_>>(), [b"planted"]);
    }

    #[test]
    fn origins_do_not_see_ours() {
        let shown =
            |line: &str| without_ours(line.as_bytes()).map(|l| String::from_utf8(l).unwrap());
        assert_eq!(shown("a=b; c=d"), None);
        assert_eq!(shown("a=b; __Host-anteroom-00ff=x;c=d").as_deref(), Some("a=b; c=d"));
        assert_eq!(shown("anteroom-00ff=x").as_deref(), Some(""));
    }
}
