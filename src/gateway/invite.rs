//! Invites on their way in: from a link into a cookie, and from the cookie to the line. And the other proof of a class, a
//! trusted proxy's header.
//!
//! Owns what a proof is, how an arrival carries it, and the name of the parameter. A link becomes a redirect to the same address
//! without it, so that no origin, log or Referer ever has it. It is used only when the browser comes back with the cookie:
//! programs that look at links before people do keep none, and use nothing up. Whether it is still good, only the line says.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;

use super::answer::Response;
use super::api::parameter;
use super::arrival::nonce;
use super::entrance::{Entrance, Held, Identity};
use super::front::local;
use super::head::{Client, Head};
use super::intent::Intent;
use crate::line::{Classed, Invite, Key, Keyed, NotClassed, View};
use crate::token::{self, Provisional, Scratch};

/// `https://shop.example.com/drop?anteroom_invite=TOKEN`.
pub const PARAMETER: &str = "anteroom_invite";

/// A class that somebody has proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// By its name.
    pub class: String,
    /// What the line counts, if that is how.
    pub invite: Option<Invite>,
    /// Whom the invite was made for.
    pub user_id: Option<String>,
    /// The browser that the link was opened in: it joins once, however often it asks.
    pub once: Option<Key>,
}

impl Proven {
    /// What the line is told.
    pub fn told(&self, keyed: Option<Keyed>) -> Keyed {
        let keyed = keyed.unwrap_or_default();
        let once = keyed.once.or(self.once);
        Keyed { once, class: Some(self.class.clone()), invite: self.invite, ..keyed }
    }

    /// By an invite whose signature is good.
    fn by(invite: token::Invite<'_>) -> Proven {
        Proven {
            class: invite.class.into_owned(),
            invite: Some(Invite {
                id: invite.id,
                uses: invite.uses,
                until_ms: invite.expires_at * 1_000,
            }),
            user_id: invite.user_id.map(Cow::into_owned),
            once: None,
        }
    }

    /// Without one: who may say so said it.
    pub fn said(class: &str) -> Proven {
        Proven { class: class.to_owned(), invite: None, user_id: None, once: None }
    }

    /// What an arrival says that was proven when it was recorded.
    pub fn on_arrival(arrival: &Provisional<'_>) -> Option<Proven> {
        match &arrival.invite {
            Some(invite) => Some(Proven::by(invite.clone())),
            None => arrival.class.as_deref().map(Proven::said),
        }
    }

    /// The same, to be written into one.
    pub fn put<'p>(&'p self, arrival: Provisional<'p>) -> Provisional<'p> {
        let Proven { class, invite, user_id, .. } = self;
        let class = Cow::Borrowed(&**class);
        match invite {
            None => Provisional { class: Some(class), ..arrival },
            Some(Invite { id, uses, until_ms }) => {
                let (id, uses, expires_at) = (*id, *uses, until_ms / 1_000);
                let user_id = user_id.as_deref().map(Cow::Borrowed);
                let invite = token::Invite { id, class, uses, expires_at, user_id };
                Provisional { invite: Some(invite), ..arrival }
            }
        }
    }
}

/// Whether somebody got the class they asked for.
pub fn is_granted(classed: Option<Classed>) -> bool {
    matches!(classed, Some(Classed::Placed { .. } | Classed::Ordinary))
}

/// Why somebody did not get a class, in a word.
pub fn word(why: NotClassed) -> &'static str {
    match why {
        NotClassed::Unknown => "unknown_class",
        NotClassed::Crowded => "crowded",
        NotClassed::Spent => "invite_spent",
        NotClassed::Revoked => "invite_revoked",
        NotClassed::Expired => "invite_expired",
    }
}

/// An address without the parameter, if it has it.
fn without(target: &str) -> Option<String> {
    let (path, query) = target.split_once('?')?;
    let is_ours = |pair: &&str| pair.split('=').next() == Some(PARAMETER);
    if !query.split('&').any(|pair| is_ours(&pair)) {
        return None;
    }
    let rest: Vec<&str> = query.split('&').filter(|pair| !is_ours(pair)).collect();
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    Some(local(format!("{path}{query}")).unwrap_or_else(|| "/".to_owned()))
}

impl Entrance {
    /// What a link with an invite becomes: the same address without it. A page keeps it in a cookie, if it is good.
    pub fn open_link(&self, head: &impl Head, client: &Client, intent: Intent) -> Option<Response> {
        let to = without(head.target())?;
        let mut answer = match head.method() {
            "GET" | "HEAD" => Response::see_other(to),
            _ => Response::new(307, "text/plain; charset=utf-8", &b""[..]).with("Location", to),
        };
        let token = parameter(head.query().unwrap_or_default(), PARAMETER).unwrap_or_default();
        let good = self.invite(&token).is_some();
        if intent == Intent::Page
            && good
            && let Some(nonce) = nonce()
        {
            let value = format!("{}.{token}", B64.encode(nonce));
            answer = answer.with("Set-Cookie", self.jar.keep_invite(&value, client.secure));
        }
        Some(answer.with("Referrer-Policy", "no-referrer"))
    }

    /// What an invite proves, if it is one of this room's and its time is not over.
    pub fn invite(&self, token: &str) -> Option<Proven> {
        let mut scratch = Scratch::new();
        let now_ms = self.room.now_ms();
        self.keys.verify_invite(token.as_bytes(), now_ms, &mut scratch).ok().map(Proven::by)
    }

    /// The class that a request proves: by an invite that its browser keeps, by what its arrival says, or by the word of a
    /// trusted proxy.
    pub fn proven(&self, head: &impl Head, client: &Client, held: &Held<'_>) -> Option<Proven> {
        let kept = self.jar.invites(head, client.secure).find_map(|value| {
            let (nonce, token) = std::str::from_utf8(value).ok()?.split_once('.')?;
            let nonce: Key = B64.decode(nonce).ok()?.try_into().ok()?;
            let proven = self.invite(token)?;
            // Under the room's key: what a browser keeps is not what the line knows.
            let once = Some(self.subject("invited", &B64.encode(nonce)));
            Some(Proven { once, ..proven })
        });
        kept.or_else(|| held.proven()).or_else(|| self.vouched(head, client))
    }

    /// The class by the word of a trusted proxy.
    pub fn vouched(&self, head: &impl Head, client: &Client) -> Option<Proven> {
        let name = self.settings.class_header.as_deref().filter(|_| client.vouched)?;
        let name = name.to_ascii_lowercase();
        let class = head.text(&name)?.trim();
        let view = self.room.view();
        let known = view.settings()?.classes.iter().any(|one| one.name == class);
        known.then(|| Proven::said(class))
    }

    /// Who somebody is whom the line has given a number before, of this class: with what they prove if that is how they got
    /// it. An invite that was good for nothing then proves nothing now.
    pub fn known(&self, plain: Identity, proven: Option<&Proven>, class: Option<u32>) -> Identity {
        let class = self.class_at(class);
        match proven.filter(|proven| proven.class == class) {
            Some(proven) => plain.proven(proven),
            None => Identity { class, ..plain },
        }
    }

    /// The name of a class by its index in the settings in force; of none, empty.
    pub fn class_at(&self, index: Option<u32>) -> String {
        let (view, index) = (self.room.view(), index.and_then(|index| usize::try_from(index).ok()));
        let class = index.and_then(|index| view.settings()?.classes.get(index).cloned());
        class.map_or_else(String::new, |class| class.name)
    }

    /// Whether somebody who waits as nobody in particular would come sooner with a class.
    pub fn is_better(&self, view: &View, class: &str, position: Option<u64>) -> bool {
        let class =
            view.settings().and_then(|rules| rules.classes.iter().find(|one| one.name == class));
        match (class, position) {
            (Some(class), Some(position)) => view.position_with(class) < position,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_goes_and_nothing_else_does() {
        let gone = |target: &str| without(target);
        assert_eq!(gone("/a?anteroom_invite=x.y.z").as_deref(), Some("/a"));
        assert_eq!(gone("/a?b=1&anteroom_invite=x&c=%20").as_deref(), Some("/a?b=1&c=%20"));
        assert_eq!(gone("/a?anteroom_invite").as_deref(), Some("/a"));
        assert_eq!(gone("/a?anteroom_invites=x"), None);
        assert_eq!(gone("/a"), None);
        assert_eq!(gone("//evil.example/?anteroom_invite=x").as_deref(), Some("/"));
    }
}
