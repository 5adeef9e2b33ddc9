//! An operator's own document, made into a waiting page.
//!
//! Owns the reading of `data-anteroom` and `data-anteroom-show` in somebody else's HTML. The document stays
//! as it is, byte by byte; only these are put in: values into marked elements whose content is plain text,
//! the client and the refresh for those without scripts before `</head>`, attributes and a form at `<body>`,
//! the words before `</body>`. An attribute put in stands first in its tag, and of two of one name HTML
//! takes the first, so nothing has to be removed.

use std::fmt::Write as _;
use std::ops::Range;

use super::hole::{Hole, without_marks};
use super::language::Language;
use super::tags::{Tag, tags};
use super::template::{Room, STATES, WATCHDOG, json, visibility};
use super::words::Words;

/// What `data-anteroom` may say.
const NAMES: [&str; 17] = [
    "position",
    "waiting",
    "eta",
    "label",
    "class",
    "message",
    "progress",
    "status",
    "updated",
    "window",
    "again",
    "reason",
    "reason-title",
    "announce",
    "leave",
    "rejoin",
    "go",
];

/// The client's own form: leaving and joining again work without scripts too.
const FORM: &str = "anteroom";

#[derive(Debug)]
pub(super) struct Own {
    html: String,
    tags: Vec<Tag>,
}

impl Own {
    pub(super) fn new(html: &str) -> Own {
        let html = without_marks(html);
        Own { tags: tags(&html), html }
    }

    /// The language it says it is in.
    pub(super) fn language(&self) -> Option<Language> {
        let html = self.tags.iter().find(|tag| tag.opens("html"))?;
        Language::tagged(html.value(&self.html, "lang")?.as_bytes())
    }

    /// Whether everything finds its place.
    pub(super) fn is_usable(&self) -> bool {
        self.head_end().is_some() && self.body().is_some() && self.body_end().is_some()
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let parts = [
            ("</head>", self.head_end().is_some()),
            ("<body>", self.body().is_some()),
            ("</body>", self.body_end().is_some()),
        ];
        for (part, _) in parts.iter().filter(|(_, found)| !found) {
            problems.push(format!("the own page has no {part}: it must be a whole document"));
        }
        for tag in self.tags.iter().filter(|tag| !tag.closes) {
            let name = &tag.name;
            for source in tag.sources(&self.html) {
                problems.push(format!(
                    "the own page loads {source:?} in <{name}>: pages load nothing from elsewhere, put it into the page or on this site"
                ));
            }
            if let Some(handler) = tag.handler() {
                problems.push(format!(
                    "the own page has {handler}= in <{name}>: it would not run, use a <script> in the page"
                ));
            }
            let known = |name: &str, words: &[&str], attribute: &str| {
                let value = tag.value(&self.html, attribute)?;
                let unknown = !words.contains(&value.as_ref());
                unknown.then(|| {
                    format!(
                        "the own page has {attribute}={value:?} in <{name}>: it must be one of {}",
                        words.join(", ")
                    )
                })
            };
            problems.extend(known(name, &NAMES, "data-anteroom"));
            problems.extend(known(name, &STATES, "data-anteroom-show"));
        }
        problems
    }

    /// The texts of its inline blocks of an element: what a policy must name.
    pub(super) fn inline(&self, name: &str) -> impl Iterator<Item = &str> {
        let pairs = self.tags.windows(2);
        let inline = pairs.filter(move |pair| pair[0].opens(name) && pair[1].ends(name));
        inline
            .filter(|pair| pair[0].value(&self.html, "src").is_none())
            .map(|pair| &self.html[pair[0].at.end..pair[1].at.start])
    }

    /// The document with holes.
    pub(super) fn filled(&self, room: &Room, words: &Words) -> String {
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (index, tag) in self.tags.iter().enumerate().filter(|(_, tag)| !tag.closes) {
            let after_name = tag.after_name()..tag.after_name();
            let Some(value) = tag.value(&self.html, "data-anteroom") else { continue };
            match (value.as_ref(), tag.name.as_str()) {
                ("progress", "progress" | "meter") => {
                    edits.push((after_name, format!(" max=\"1000\" value=\"{}\"", Hole::Progress)));
                }
                ("leave", "button") => edits.push((after_name, format!(" form=\"{FORM}\""))),
                ("rejoin", "button") => edits.push((
                    after_name,
                    format!(" form=\"{FORM}\" formaction=\"/.anteroom/rejoin\""),
                )),
                (value, name) => {
                    let next = self.tags.get(index + 1).filter(|next| next.ends(name));
                    if let (Some(text), Some(next)) = (fill(value, room), next) {
                        edits.push((tag.at.end..next.at.start, text));
                    }
                }
            }
        }
        let (Some(head), Some(body), Some(end)) = (self.head_end(), self.body(), self.body_end())
        else {
            return self.html.clone();
        };
        edits.push((head..head, self.head(room)));
        let after_name = body.after_name();
        let name = escaped(&room.name);
        let attributes = format!(" data-anteroom-room=\"{name}\"{}", Hole::Body);
        edits.push((after_name..after_name, attributes));
        let form = format!(
            "<form id=\"{FORM}\" hidden method=\"post\" action=\"/.anteroom/v1/queue/leave\"><input type=\"hidden\" name=\"event_id\" value=\"{name}\"><input type=\"hidden\" name=\"to\" value=\"{}\"></form>",
            Hole::To
        );
        edits.push((body.at.end..body.at.end, form));
        let words = json(&words.json());
        let words =
            format!("<script type=\"application/json\" id=\"anteroom-words\">{words}</script>");
        edits.push((end..end, words));
        edits.sort_by_key(|(at, _)| (at.start, at.end));
        apply(&self.html, &edits)
    }

    /// What goes before `</head>`. A document that loads the client itself does not get it twice.
    fn head(&self, room: &Room) -> String {
        let mut head = format!("<style>{}</style>", visibility());
        let loads = |tag: &Tag| {
            let source = tag.value(&self.html, "src");
            tag.opens("script") && source.is_some_and(|src| src.starts_with("/.anteroom/client.js"))
        };
        if !self.tags.iter().any(loads) {
            let script = room.script();
            let _ = write!(head, "<script type=\"module\" src=\"{script}\"></script>");
        }
        let icon = |tag: &Tag| tag.value(&self.html, "rel").is_some_and(|rel| rel.contains("icon"));
        if !self.tags.iter().any(icon) {
            let _ = write!(head, "<link rel=\"icon\" href=\"{}\">", room.icon);
        }
        let _ = write!(
            head,
            "<script>{WATCHDOG}</script><noscript><meta http-equiv=\"refresh\" content=\"{}\"></noscript>",
            Hole::Refresh
        );
        head
    }

    fn head_end(&self) -> Option<usize> {
        self.tags.iter().find(|tag| tag.ends("head")).map(|tag| tag.at.start)
    }

    fn body(&self) -> Option<&Tag> {
        self.tags.iter().find(|tag| tag.opens("body"))
    }

    fn body_end(&self) -> Option<usize> {
        self.tags.iter().rev().find(|tag| tag.ends("body")).map(|tag| tag.at.start)
    }
}

/// What the server writes into an element of that name; the rest is the client's.
fn fill(name: &str, room: &Room) -> Option<String> {
    let hole = match name {
        "position" => Hole::Position,
        "waiting" => Hole::Waiting,
        "eta" => Hole::Eta,
        "label" => Hole::Label,
        "class" => Hole::Class,
        "status" => Hole::Status,
        "message" => return room.message.as_deref().map(escaped),
        _ => return None,
    };
    Some(hole.to_string())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Edits in the order of the text; none reaches into another, for tags do not.
fn apply(html: &str, edits: &[(Range<usize>, String)]) -> String {
    let (mut text, mut done) = (String::with_capacity(html.len() + 4_096), 0);
    for (at, replacement) in edits {
        text.push_str(&html[done.min(at.start)..at.start]);
        text.push_str(replacement);
        done = at.end;
    }
    text.push_str(&html[done..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page;

    /// The names in `marker("name"` of the client, whatever quotes.
    fn named<'t>(text: &'t str, marker: &'t str) -> impl Iterator<Item = &'t str> {
        text.split(marker).skip(1).filter_map(|rest| rest.split(['\'', '"']).next())
    }

    #[test]
    fn an_own_page_may_use_every_name_that_the_client_knows() {
        let script = std::str::from_utf8(page::client().plain).expect("text");
        let marked = named(script, "[data-anteroom=\"").filter(|name| !name.starts_with('$'));
        let found = marked.chain(named(script, "write('")).chain(named(script, "elements('"));
        let mut found: Vec<&str> = found.collect();
        found.sort_unstable();
        found.dedup();
        let mut names = NAMES;
        names.sort_unstable();
        assert_eq!(found, names);
    }
}
