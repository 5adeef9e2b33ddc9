//! What a browser may do with a page: its Content-Security-Policy.
//!
//! Owns the rule that pages load nothing from elsewhere and run nothing but what we, or the operator,
//! wrote into them: inline blocks are named by their hash.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::look::Look;
use super::own::Own;
use super::template::{Kind, Room, WATCHDOG, draw_style, visibility};

#[derive(Debug)]
pub(super) struct Policies {
    ours: String,
    /// The page that is shown inside another one, and says so.
    framed: String,
    /// The page with a sheet of its own.
    draw: String,
    own: Option<String>,
}

impl Policies {
    pub(super) fn new(room: &Room, look: &Look, own: Option<&Own>) -> Policies {
        let ancestors = if look.framed { "*" } else { "'none'" };
        let images = match &room.logo {
            Some(logo) if logo.starts_with('/') => "'self' data:",
            _ => "data:",
        };
        let style = hash(&room.style);
        let more = format!("{style} {}", hash(&draw_style()));
        let watchdog = hash(WATCHDOG);
        let ours = |style: &str, ancestors: &str| {
            policy(
                &format!("style-src {style}; script-src 'self' {watchdog}; img-src {images}"),
                ancestors,
            )
        };
        let own = own.map(|own| {
            let hashes = |name: &str| own.inline(name).map(hash).collect::<Vec<_>>().join(" ");
            let sources = format!(
                "style-src 'self' {} {}; style-src-attr 'unsafe-inline'; script-src 'self' {watchdog} {}; img-src 'self' data:; font-src 'self' data:; media-src 'self' data:",
                hash(&visibility()),
                hashes("style"),
                hashes("script"),
            );
            policy(&sources, ancestors)
        });
        let draw = ours(&more, ancestors);
        Policies { ours: ours(&style, ancestors), framed: ours(&style, "*"), draw, own }
    }

    pub(super) fn of(&self, kind: Kind) -> &str {
        match (kind, &self.own) {
            (Kind::Place, Some(own)) => own,
            (Kind::Frame, _) => &self.framed,
            (Kind::Draw, _) => &self.draw,
            _ => &self.ours,
        }
    }
}

fn policy(sources: &str, ancestors: &str) -> String {
    format!(
        "default-src 'none'; {sources}; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors {ancestors}"
    )
}

/// A browser hashes the text as it reads it: with line ends made one.
fn hash(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}
