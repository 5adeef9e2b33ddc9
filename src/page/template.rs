//! The documents as askama writes them, holes and all.
//!
//! Owns the join of look, words and templates. Runs once a document, never for a request.

use askama::Template;

use super::hole::{Hole, without_marks};
use super::language::Language;
use super::words::{Notice, Words};
use super::{Look, Page, Unnamed, colour, script};

/// Which document a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Place,
    Over,
    Closed,
    Full,
    Busy,
    Lost,
    Arrived,
    Down,
    Slow,
    Frame,
    Cookies,
    NotSent,
    Name,
    NameTaken,
    NameUnfit,
    Draw,
}

impl Kind {
    pub(super) const COUNT: usize = Kind::Draw as usize + 1;

    pub(super) fn of(page: &Page<'_>) -> Kind {
        match page {
            Page::Waiting { .. } | Page::Admitted { .. } => Kind::Place,
            Page::Over { .. } => Kind::Over,
            Page::Closed { .. } => Kind::Closed,
            Page::Full { .. } => Kind::Full,
            Page::Busy { .. } => Kind::Busy,
            Page::StoreLost { .. } => Kind::Lost,
            Page::Arrived { .. } => Kind::Arrived,
            Page::OriginDown { .. } => Kind::Down,
            Page::OriginSlow { .. } => Kind::Slow,
            Page::Frame { .. } => Kind::Frame,
            Page::CookiesOff { .. } => Kind::Cookies,
            Page::NotSent { .. } => Kind::NotSent,
            Page::Name { problem: None, .. } => Kind::Name,
            Page::Name { problem: Some(Unnamed::Taken), .. } => Kind::NameTaken,
            Page::Name { problem: Some(Unnamed::Unfit), .. } => Kind::NameUnfit,
            Page::Draw => Kind::Draw,
        }
    }
}

/// A room as its documents show it.
#[derive(Debug)]
pub(super) struct Room {
    pub name: String,
    pub brand: Option<String>,
    pub message: Option<String>,
    pub logo: Option<String>,
    /// Visitors have names.
    pub roster: bool,
    /// The whole style sheet.
    pub style: String,
    /// A dot in the room's colour: a browser asks nobody for an icon that is in the page.
    pub icon: String,
}

/// Reloads a page whose client did not load: in a crowd any one request may fail, and a page that
/// never asks again loses its visitor's place.
pub(super) const WATCHDOG: &str = "setTimeout(function(){self.anteroom||location.replace(location.origin+location.pathname+location.search)},3e4)";

/// A quiet blue.
const ACCENT: colour::Colour = [0x2f, 0x5b, 0xd7];

/// What the style sheet's cards are painted with, light and dark.
const LIGHT: colour::Colour = [255; 3];
const DARK: colour::Colour = [0x17, 0x1a, 0x21];

/// The words of `data-anteroom-state`: each shows what is marked with it.
pub(super) const STATES: [&str; 11] = [
    "joining",
    "waiting",
    "admitted",
    "expired",
    "error",
    "paused",
    "unsent",
    "reconnecting",
    "live",
    "draw",
    "classed",
];

impl Room {
    pub(super) fn new(name: &str, look: &Look) -> Room {
        let text = |text: &Option<String>| {
            text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(without_marks)
        };
        let accent = look.accent.as_deref().and_then(colour::parse).unwrap_or(ACCENT);
        let icon = format!(
            "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='3' fill='%23{}'/></svg>",
            &colour::hex(accent)[1..]
        );
        Room {
            name: name.to_owned(),
            brand: text(&look.title),
            message: text(&look.message),
            logo: look.good_logo().map(without_marks),
            roster: look.roster,
            style: style(accent, look.roster),
            icon,
        }
    }

    /// Where the client is.
    pub(super) fn script(&self) -> String {
        format!("/.anteroom/client.js?v={}", script::client().version)
    }

    /// Where its draw can be checked.
    fn draw(&self) -> String {
        format!("/.anteroom/draw?event_id={}", self.name)
    }
}

fn style(accent: colour::Colour, roster: bool) -> String {
    let tones = |ground| {
        let tone = colour::readable(accent, ground);
        format!("--a:{};--on:{}", colour::hex(tone), colour::hex(colour::text_on(tone)))
    };
    let (light, dark) = (tones(LIGHT), tones(DARK));
    let mut sheet = squeezed(include_str!("../../templates/page.css"));
    if roster {
        sheet += &squeezed(include_str!("../../templates/roster.css"));
    }
    format!(
        ":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}{}{sheet}",
        visibility()
    )
}

/// What the page of the draw has beside it.
pub(super) fn draw_style() -> String {
    squeezed(include_str!("../../templates/draw.css"))
}

/// What is marked with a state is there only in that state.
pub(super) fn visibility() -> String {
    let rule = |state: &str| {
        format!("body:not([data-anteroom-state~={state}]) [data-anteroom-show={state}]")
    };
    format!("{}{{display:none!important}}", STATES.map(rule).join(","))
}

/// Without comments, indentation and line ends: the sheet is sent to everybody.
fn squeezed(sheet: &str) -> String {
    let mut text = String::new();
    let mut rest = sheet;
    while let Some((before, comment)) = rest.split_once("/*") {
        text.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let mut text = text.lines().map(str::trim).collect::<String>();
    for mark in [";", ",", "{", "}"] {
        text = text.replace(&format!("{mark} "), mark).replace(&format!(" {mark}"), mark);
    }
    text.replace(": ", ":")
}

/// The document of a kind in a language.
pub(super) fn render(kind: Kind, room: &Room, language: Language) -> String {
    let w = language.words();
    let frame = Frame { room, w, script: room.script() };
    let quiet = |notice: Notice| SiblingPage::new(&frame, notice);
    let again = |notice| SiblingPage { again: true, ..quiet(notice) };
    let leading = |notice, link| SiblingPage { link, ..quiet(notice) };
    let rendered = match kind {
        Kind::Place => {
            let draw = room.draw();
            PlacePage { frame: &frame, again: true, draw, words: json(&w.json()) }.render()
        }
        Kind::Over => OverPage { frame: &frame, again: false }.render(),
        Kind::Closed => SiblingPage { opens: true, ..again(w.closed) }.render(),
        Kind::Full => again(w.full).render(),
        Kind::Busy => SiblingPage { busy: true, ..again(w.busy) }.render(),
        Kind::Lost => again(w.lost).render(),
        Kind::Arrived => SiblingPage { busy: true, ..again(w.arrived) }.render(),
        Kind::Down => again(w.down).render(),
        Kind::Slow => again(w.slow).render(),
        Kind::Frame => SiblingPage { top: true, ..leading(w.frame, w.frame_open) }.render(),
        Kind::Cookies => leading(w.cookies, w.try_now).render(),
        Kind::NotSent => leading(w.not_sent, w.not_sent_go).render(),
        Kind::Name => NamePage { frame: &frame, again: false, problem: "" }.render(),
        Kind::NameTaken => NamePage { frame: &frame, again: false, problem: w.name_taken }.render(),
        Kind::NameUnfit => NamePage { frame: &frame, again: false, problem: w.name_unfit }.render(),
        Kind::Draw => {
            let script = format!("/.anteroom/draw.js?v={}", script::draw().version);
            DrawPage { frame: &frame, again: false, style: draw_style(), script }.render()
        }
    };
    let text = rendered.expect("templates write into memory only");
    text.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// JSON that stands inside a script element: no `<` can end it.
pub(super) fn json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// What all documents have in common.
struct Frame<'a> {
    room: &'a Room,
    w: &'static Words,
    script: String,
}

#[derive(Template)]
#[template(path = "place.html")]
struct PlacePage<'a> {
    frame: &'a Frame<'a>,
    again: bool,
    /// Where the draw can be checked.
    draw: String,
    words: String,
}

#[derive(Template)]
#[template(path = "draw.html")]
struct DrawPage<'a> {
    frame: &'a Frame<'a>,
    again: bool,
    style: String,
    script: String,
}

#[derive(Template)]
#[template(path = "name.html")]
struct NamePage<'a> {
    frame: &'a Frame<'a>,
    again: bool,
    /// What was wrong with the name before; empty: nothing yet.
    problem: &'static str,
}

#[derive(Template)]
#[template(path = "over.html")]
struct OverPage<'a> {
    frame: &'a Frame<'a>,
    again: bool,
}

#[derive(Template)]
#[template(path = "sibling.html")]
struct SiblingPage<'a> {
    frame: &'a Frame<'a>,
    title: &'static str,
    text: &'static str,
    /// Loads again by itself.
    again: bool,
    /// Counts down to an opening, if there is one.
    opens: bool,
    /// Something is under way.
    busy: bool,
    /// What the button says.
    link: &'static str,
    /// It opens the whole window.
    top: bool,
    words: String,
}

impl<'a> SiblingPage<'a> {
    fn new(frame: &'a Frame<'a>, notice: Notice) -> SiblingPage<'a> {
        SiblingPage {
            frame,
            title: notice.title,
            text: notice.text,
            again: false,
            opens: false,
            busy: false,
            link: frame.w.try_now,
            top: false,
            words: json(&frame.w.json_again()),
        }
    }
}
