//! The client, `templates/client.js`: the one script of the pages, but for that of the draw, `templates/draw.js`.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use super::gzip;

/// A script in the forms it is served in.
#[derive(Debug)]
pub struct Script {
    /// As text.
    pub plain: &'static [u8],
    /// As a gzip stream.
    pub gzip: &'static [u8],
    /// Names the content: changes with every byte of it.
    pub version: &'static str,
}

/// The client.
pub fn client() -> &'static Script {
    static CLIENT: LazyLock<Script> = LazyLock::new(|| {
        let text = squeezed(include_str!("../../templates/client.js"));
        Script::new(format!("// Anteroom's client; docs/clients.md\n{text}"))
    });
    &CLIENT
}

/// What checks a draw. Comments and all: it is there to be read.
pub fn draw() -> &'static Script {
    static DRAW: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("../../templates/draw.js").to_owned()));
    &DRAW
}

impl Script {
    /// Kept for as long as the process runs.
    fn new(text: String) -> Script {
        let plain: &'static [u8] = text.into_bytes().leak();
        let digest = Sha256::digest(plain);
        let version: String = digest[..5].iter().map(|byte| format!("{byte:02x}")).collect();
        Script { plain, gzip: gzip::whole(plain).leak(), version: version.leak() }
    }
}

/// Without the lines that are comments and without indentation: a fifth less on the wire, which every
/// visitor pays for. Line by line, so that a browser's console still names lines one can find. No text in
/// it goes over a line's end (a test holds it to that).
fn squeezed(source: &str) -> String {
    let lines = source.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut text = String::new();
    for line in lines.filter(|line| !line.starts_with("//")) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_text_goes_over_the_end_of_a_line() {
        for line in include_str!("../../templates/client.js").lines() {
            assert_eq!(line.matches('`').count() % 2, 0, "{line}");
            assert!(!line.contains("/*") || line.contains("*/"), "{line}");
        }
    }
}
