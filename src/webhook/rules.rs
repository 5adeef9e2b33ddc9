//! Where letters may go, and what they are signed with. Pure.
//!
//! Owns the judgement of an address: an operator with a key of the admin port must not be able to have the node post into a
//! network that only the node reaches.

use std::collections::BTreeSet;
use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use http::Uri;
use sha2::Sha256;

/// What a file says about webhooks.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Hosts, in lower case.
    pub allow: BTreeSet<String>,
    /// `http://` will do, too.
    pub plain: bool,
    /// Signs; `None`: letters are not signed.
    pub secret: Option<Secret>,
}

/// What letters are signed with. Never shown.
#[derive(Clone)]
pub struct Secret(pub Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A place that letters may go to.
#[derive(Clone, Debug)]
pub struct Target {
    /// The whole address.
    pub url: String,
    /// Where that is, for the log: the rest may be somebody's secret.
    pub host: String,
    /// See [`Rules::secret`].
    pub secret: Option<Secret>,
}

impl Rules {
    /// A place, if letters may go there.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub fn check(&self, url: &str) -> Result<Target, String> {
        let uri: Uri = url
            .parse()
            .map_err(|_| "is no address such as https://backend.example.com/hook".to_owned())?;
        let host = uri.host().unwrap_or_default().to_ascii_lowercase();
        if host.is_empty()
            || uri.authority().is_some_and(|authority| authority.as_str().contains('@'))
        {
            return Err("is no address such as https://backend.example.com/hook".to_owned());
        }
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if self.plain => {}
            _ => return Err("is not https. [webhooks] plain = true lets http be used".to_owned()),
        }
        if !self.allow.contains(&host) {
            return Err(format!(
                "{host} is not allowed: add it to allow in [webhooks] of the configuration"
            ));
        }
        Ok(Target { url: url.to_owned(), host, secret: self.secret.clone() })
    }
}

impl Secret {
    /// `t=1700000000,v1=…`: HMAC-SHA256 of the time, a dot and the body, in hex. The time keeps a copy from being sent again later.
    pub fn sign(&self, at_seconds: u64, body: &str) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(format!("{at_seconds}.").as_bytes());
        mac.update(body.as_bytes());
        let sign: String =
            mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("t={at_seconds},v1={sign}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(plain: bool) -> Rules {
        Rules { allow: ["hooks.example.com".to_owned()].into(), plain, secret: None }
    }

    #[test]
    fn letters_go_to_named_hosts_over_https() {
        let told = |plain, url: &str| rules(plain).check(url).map(|target| target.host);
        assert_eq!(
            told(false, "https://hooks.example.com/a?b=c").as_deref(),
            Ok("hooks.example.com")
        );
        assert_eq!(
            told(false, "https://HOOKS.example.com:8443/").as_deref(),
            Ok("hooks.example.com")
        );
        for refused in [
            "http://hooks.example.com/",
            "https://hooks.example.com.evil.example/",
            "https://hooks.example.com@127.0.0.1/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "//hooks.example.com/",
            "ftp://hooks.example.com/",
            "hooks.example.com",
            "https://",
            "",
        ] {
            assert!(told(false, refused).is_err(), "{refused}");
        }
        assert!(told(true, "http://hooks.example.com/").is_ok());
        assert!(told(true, "http://127.0.0.1/").is_err());
    }

    #[test]
    fn a_signature_is_of_the_time_and_the_body() {
        let secret = Secret(b"whsec-0123456789abcdef0123456789".to_vec());
        let one = secret.sign(1_700_000_000, "{}");
        assert!(one.starts_with("t=1700000000,v1=") && one.len() == 16 + 64, "{one}");
        assert_ne!(one, secret.sign(1_700_000_001, "{}"));
        assert_ne!(one[16..], secret.sign(1_700_000_000, "{ }")[16..]);
        assert!(!format!("{secret:?}").contains("whsec"));
    }
}
