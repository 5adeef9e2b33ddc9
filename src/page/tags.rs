//! The tags of an HTML text: where each is and what its attributes say.
//!
//! Owns a small tolerant scanner: quotes, comments, and elements whose content is not markup. It never
//! fails; what is no tag is text. It does not build a tree, and nobody here needs one.

use std::borrow::Cow;
use std::ops::Range;

/// A start or end tag.
#[derive(Debug)]
pub(super) struct Tag {
    /// From `<` to behind `>`.
    pub at: Range<usize>,
    /// In lower case.
    pub name: String,
    /// An end tag.
    pub closes: bool,
    /// Name (in lower case) and where the value is.
    attributes: Vec<(String, Range<usize>)>,
}

impl Tag {
    pub(super) fn opens(&self, name: &str) -> bool {
        !self.closes && self.name == name
    }

    pub(super) fn ends(&self, name: &str) -> bool {
        self.closes && self.name == name
    }

    /// Where an attribute can be put in: right behind the name.
    pub(super) fn after_name(&self) -> usize {
        self.at.start + 1 + usize::from(self.closes) + self.name.len()
    }

    /// An attribute's value; character references are left as they are but for the commonest.
    pub(super) fn value<'h>(&self, html: &'h str, name: &str) -> Option<Cow<'h, str>> {
        let (_, at) = self.attributes.iter().find(|(known, _)| known == name)?;
        let value = html[at.clone()].trim();
        Some(match value.contains('&') {
            true => value.replace("&amp;", "&").into(),
            false => value.into(),
        })
    }

    /// Addresses on other sites that a browser would load by itself.
    pub(super) fn sources<'h>(&self, html: &'h str) -> Vec<Cow<'h, str>> {
        let names: &[&str] = match self.name.as_str() {
            "link" => &["href"],
            "script" | "img" | "iframe" | "source" | "video" | "audio" | "embed" | "input"
            | "track" => &["src", "poster"],
            "object" => &["data"],
            _ => &[],
        };
        let outside = |source: &Cow<'_, str>| {
            let source = source.to_ascii_lowercase();
            source.starts_with("//") || source.starts_with("http:") || source.starts_with("https:")
        };
        // A link that only tells search engines something loads nothing.
        if self
            .value(html, "rel")
            .is_some_and(|rel| matches!(rel.as_ref(), "canonical" | "alternate"))
        {
            return Vec::new();
        }
        names.iter().filter_map(|name| self.value(html, name)).filter(outside).collect()
    }

    /// An inline event handler.
    pub(super) fn handler(&self) -> Option<&str> {
        let handler = |name: &str| name.len() > 4 && name.starts_with("on");
        self.attributes.iter().map(|(name, _)| name.as_str()).find(|name| handler(name))
    }
}

/// Elements whose content is text up to their own end tag, whatever it looks like.
const RAW: [&str; 6] = ["script", "style", "textarea", "title", "noscript", "xmp"];

/// Every tag, in order.
pub(super) fn tags(html: &str) -> Vec<Tag> {
    let (mut tags, mut at) = (Vec::new(), 0);
    while let Some(open) = html[at..].find('<').map(|found| at + found) {
        if let Some(comment) = html[open..].strip_prefix("<!--") {
            at = comment.find("-->").map_or(html.len(), |end| open + 4 + end + 3);
            continue;
        }
        let Some(tag) = tag(html, open) else {
            at = open + 1;
            continue;
        };
        at = tag.at.end;
        if !tag.closes && RAW.contains(&tag.name.as_str()) {
            at = raw_end(html, at, &tag.name);
        }
        tags.push(tag);
    }
    tags
}

/// Where the end tag of a raw element begins.
fn raw_end(html: &str, from: usize, name: &str) -> usize {
    let bytes = html.as_bytes();
    let ends = |at: usize| {
        let rest = &bytes[at..];
        let (Some(start), Some(word)) = (rest.get(..2), rest.get(2..2 + name.len())) else {
            return false;
        };
        start == b"</" && word.eq_ignore_ascii_case(name.as_bytes())
    };
    (from..bytes.len()).find(|at| bytes[*at] == b'<' && ends(*at)).unwrap_or(bytes.len())
}

fn tag(html: &str, open: usize) -> Option<Tag> {
    let bytes = html.as_bytes();
    let mut at = open + 1;
    let closes = bytes.get(at) == Some(&b'/');
    at += usize::from(closes);
    if !bytes.get(at)?.is_ascii_alphabetic() {
        return None;
    }
    let name_end =
        skip(bytes, at, |byte| !byte.is_ascii_whitespace() && byte != b'>' && byte != b'/');
    let name = html[at..name_end].to_ascii_lowercase();
    let mut attributes = Vec::new();
    at = name_end;
    loop {
        at = skip(bytes, at, |byte| byte.is_ascii_whitespace() || byte == b'/');
        if *bytes.get(at)? == b'>' {
            return Some(Tag { at: open..at + 1, name, closes, attributes });
        }
        let start = at;
        at = skip(bytes, at + 1, |byte| !byte.is_ascii_whitespace() && !b"=>/".contains(&byte));
        let attribute = html[start..at].to_ascii_lowercase();
        let equals = skip(bytes, at, |byte| byte.is_ascii_whitespace());
        let mut value = at..at;
        if bytes.get(equals) == Some(&b'=') {
            let first = skip(bytes, equals + 1, |byte| byte.is_ascii_whitespace());
            match *bytes.get(first)? {
                quote @ (b'"' | b'\'') => {
                    let end = skip(bytes, first + 1, |byte| byte != quote);
                    value = first + 1..end;
                    at = end + 1;
                }
                _ => {
                    at = skip(bytes, first, |byte| !byte.is_ascii_whitespace() && byte != b'>');
                    value = first..at;
                }
            }
        }
        attributes.push((attribute, value));
    }
}

/// The first place from `at` on where it no longer holds.
fn skip(bytes: &[u8], at: usize, holds: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(|byte| !holds(*byte)).map_or(bytes.len(), |found| at + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found() {
        let html = "<!doctype html><!-- <b> --><P class='a > b' data-X = y hidden>1 < 2</P ><br/><script>if (a<b) '</b>'</SCRIPT><i";
        let found: Vec<(String, bool)> =
            tags(html).iter().map(|tag| (tag.name.clone(), tag.closes)).collect();
        let names = [("p", false), ("p", true), ("br", false), ("script", false), ("script", true)];
        assert_eq!(found, names.map(|(name, closes)| (name.to_owned(), closes)));
        let p = &tags(html)[0];
        assert_eq!(p.value(html, "class").as_deref(), Some("a > b"));
        assert_eq!(p.value(html, "data-x").as_deref(), Some("y"));
        assert_eq!(p.value(html, "hidden").as_deref(), Some(""));
        assert_eq!(&html[p.after_name()..p.after_name() + 6], " class");
    }

    #[test]
    fn junk_is_text() {
        for junk in
            ["<", "<<<", "</", "<a", "<a b", "<a b=", "<a b='", "<a b=\"x", "<!--", "< a>", "<é>"]
        {
            assert!(tags(junk).is_empty(), "{junk}");
        }
        assert_eq!(tags("<p é='ü'>").len(), 1);
        assert_eq!(tags("<script>never ends").len(), 1);
    }
}
