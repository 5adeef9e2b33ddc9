//! The holes of a document and what is written into each.
//!
//! Owns what differs between two visitors who see the same page. A hole is marked in a template by a
//! character that Unicode promises never to give a meaning, so no text can contain one by accident; texts
//! from outside are stripped of them ([`without_marks`]).

use std::fmt;

use super::number::{write_clock, write_eta, write_number, write_plain};
use super::words::Words;
use super::{Mark, Page, Person, Place, address, reason_code};
use crate::line::Reason;

/// The first of 32 characters that are none.
const FIRST_MARK: u32 = 0xfdd0;

macro_rules! holes {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// A hole.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Hole { $($(#[$doc])* $name),* }
        impl Hole {
            const ALL: &[Hole] = &[$(Hole::$name),*];
        }
    };
}

holes! {
    /// The attributes of the body that the client reads: state, pace.
    Body,
    /// What a background tab shows first.
    Title,
    /// The refresh for those without scripts.
    Refresh,
    /// The address, in an attribute.
    To,
    /// The position.
    Position,
    /// How many wait.
    Waiting,
    /// The estimate.
    Eta,
    /// The ticket's label.
    Label,
    /// The class, where it is one.
    Class,
    /// In thousandths.
    Progress,
    /// What the state is called.
    Status,
    /// What is over.
    ReasonTitle,
    /// And why.
    ReasonText,
    /// Who is inside, by name.
    Players,
    /// Who waits, by name.
    Line,
}

impl Hole {
    pub(super) fn of(mark: char) -> Option<Hole> {
        let index = u32::from(mark).checked_sub(FIRST_MARK)?;
        Hole::ALL.get(index as usize).copied()
    }
}

/// The mark, as the templates write it.
impl fmt::Display for Hole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = char::from_u32(FIRST_MARK + *self as u32).expect("32 of them are characters");
        write!(f, "{mark}")
    }
}

impl askama::FastWritable for Hole {
    fn write_into(
        &self,
        dest: &mut dyn fmt::Write,
        _values: &dyn askama::Values,
    ) -> askama::Result<()> {
        Ok(write!(dest, "{self}")?)
    }
}

/// A text from outside, in which nothing is taken for a hole.
pub(super) fn without_marks(text: &str) -> String {
    let mark = |c: char| (FIRST_MARK..FIRST_MARK + 32).contains(&u32::from(c));
    text.replace(mark, "\u{fffd}")
}

/// What is written into the holes of one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'a> {
    state: State,
    place: Option<&'a Place<'a>>,
    to: &'a str,
    /// When the page asks, or loads, again.
    seconds: u64,
    window_seconds: Option<u64>,
    /// Until a room opens, by its schedule.
    opens_seconds: Option<u64>,
    reason: Reason,
    fresh: bool,
    unsent: bool,
}

/// The state, by the client's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Joining,
    Provisional,
    Waiting,
    Admitted,
    Expired,
    Error,
}

/// How long a page waits before it loads again, where the gateway names no time: what is closed or full
/// stays so for a while, an origin may be back any moment. The client spreads these by half of themselves.
const CLOSED_SECONDS: u64 = 60;
const FULL_SECONDS: u64 = 30;
const ORIGIN_SECONDS: u64 = 15;

impl<'a> Values<'a> {
    pub(super) fn of(page: &Page<'a>) -> Values<'a> {
        let none = Values {
            state: State::Error,
            place: None,
            to: "/",
            seconds: 0,
            window_seconds: None,
            opens_seconds: None,
            reason: Reason::Passed,
            fresh: false,
            unsent: false,
        };
        let again = |to, seconds| Values { to, seconds, ..none };
        match *page {
            Page::Waiting { place, fresh, unsent } => Values {
                state: State::Waiting,
                place: Some(place),
                to: place.return_to,
                seconds: place.next_poll_seconds.max(1),
                opens_seconds: place.opens_seconds,
                fresh,
                unsent,
                ..none
            },
            Page::Admitted { place, window_seconds, unsent } => Values {
                state: State::Admitted,
                place: Some(place),
                to: place.return_to,
                // Long enough to read that a form was not sent.
                seconds: if unsent { 5 } else { 1 },
                window_seconds,
                unsent,
                ..none
            },
            Page::Over { reason, to } => Values { state: State::Expired, reason, to, ..none },
            Page::Busy { retry_seconds, to } => {
                Values { state: State::Joining, ..again(to, retry_seconds.max(1)) }
            }
            Page::StoreLost { retry_seconds, to } => again(to, retry_seconds.max(1)),
            Page::Arrived { retry_seconds, to } => {
                Values { state: State::Provisional, ..again(to, retry_seconds.max(1)) }
            }
            // Often enough to notice an opening that nobody planned, and never long after one that was.
            Page::Closed { again_seconds, opens_seconds, to } => {
                let seconds = again_seconds.unwrap_or(CLOSED_SECONDS).clamp(1, CLOSED_SECONDS);
                Values { opens_seconds, ..again(to, seconds) }
            }
            Page::Full { to } => again(to, FULL_SECONDS),
            Page::OriginDown { to } | Page::OriginSlow { to } => again(to, ORIGIN_SECONDS),
            Page::Frame { to }
            | Page::CookiesOff { to }
            | Page::NotSent { to }
            | Page::Name { to, .. } => again(to, 0),
            Page::Draw => none,
        }
    }

    pub(super) fn write(&self, hole: Hole, words: &Words, out: &mut Vec<u8>) {
        let text = |out: &mut Vec<u8>, text: &str| write_text(text, out);
        match (hole, self.place) {
            (Hole::Body, _) => self.write_body(out),
            (Hole::Title, Some(place)) if self.state == State::Waiting => {
                out.push(b'#');
                write_position(place, words, out);
            }
            (Hole::Title | Hole::Status, _) => text(out, self.status(words)),
            (Hole::Refresh, _) => {
                write_plain(self.seconds, out);
                out.extend_from_slice(b";url=");
                match self.fresh {
                    true => {
                        out.extend_from_slice(b"/.anteroom/continue?to=");
                        address::write_parameter(self.to, out);
                    }
                    false => address::write(self.to, out),
                }
            }
            (Hole::To, _) => address::write(self.to, out),
            (Hole::Position, Some(place)) => write_position(place, words, out),
            (Hole::Waiting, Some(place)) => write_number(place.waiting, words, out),
            (Hole::Eta, Some(place)) => match (place.opens_seconds, place.eta) {
                (Some(left), _) => write_opens(left, words, out),
                (None, Some(eta)) => write_eta(eta.low, eta.high, words, out),
                (None, None) if place.paused => text(out, words.paused_short),
                (None, None) => text(out, UNKNOWN),
            },
            (Hole::Label, Some(place)) => text(out, place.label),
            (Hole::Class, Some(place)) => text(out, place.class),
            (Hole::Progress, Some(place)) => write_plain(progress(place), out),
            (Hole::ReasonTitle, _) => text(out, words.reason(reason_code(self.reason)).title),
            (Hole::ReasonText, _) => text(out, words.reason(reason_code(self.reason)).text),
            (Hole::Players, Some(place)) => {
                let people = place.roster.map_or(&[][..], |roster| &roster.players);
                people.iter().for_each(|person| write_person(person, place.label, out));
            }
            (Hole::Line, Some(place)) => {
                let people = place.roster.map_or(&[][..], |roster| &roster.waiting);
                people.iter().for_each(|person| write_person(person, place.label, out));
            }
            (_, None) => {}
        }
    }

    fn status(&self, words: &Words) -> &'static str {
        match self.state {
            State::Waiting => words.waiting_title,
            State::Admitted => words.admitted_title,
            State::Joining => words.busy.title,
            State::Provisional => words.arrived.title,
            State::Expired => words.reason(reason_code(self.reason)).title,
            State::Error => words.error.title,
        }
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b" data-anteroom-state=\"");
        out.extend_from_slice(match self.state {
            State::Joining => &b"joining"[..],
            State::Provisional => b"provisional",
            State::Waiting => b"waiting",
            State::Admitted => b"admitted",
            State::Expired => b"expired",
            State::Error => b"error",
        });
        let paused = self.place.is_some_and(|place| place.paused);
        let draw = self.place.is_some_and(|place| place.draw);
        let classed = self.place.is_some_and(|place| !place.class.is_empty());
        let last_known = self.place.is_some_and(|place| place.last_known);
        for (on, word) in [
            (paused, " paused"),
            (last_known, " reconnecting"),
            (self.fresh, " fresh"),
            (self.unsent, " unsent"),
            (draw, " draw"),
            (classed, " classed"),
        ] {
            if on {
                out.extend_from_slice(word.as_bytes());
            }
        }
        out.push(b'"');
        let (window, opens) = (self.window_seconds, self.opens_seconds);
        for (name, seconds) in [("poll", Some(self.seconds)), ("window", window), ("opens", opens)]
        {
            let seconds = seconds.unwrap_or(0);
            if seconds > 0 {
                out.extend_from_slice(b" data-anteroom-");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"=\"");
                write_plain(seconds, out);
                out.push(b'"');
            }
        }
    }
}

/// What nobody knows.
const UNKNOWN: &str = "–";

/// Before a draw nobody has a place.
fn write_position(place: &Place<'_>, words: &Words, out: &mut Vec<u8>) {
    match place.is_drawn_later {
        true => write_text(UNKNOWN, out),
        false => write_number(place.position, words, out),
    }
}

/// What is left until an opening.
fn write_opens(left: u64, words: &Words, out: &mut Vec<u8>) {
    let (before, after) = words.opens.split_once("{}").unwrap_or((words.opens, ""));
    write_text(before, out);
    write_clock(left, out);
    write_text(after, out);
}

/// A line of the roster, as the client writes it.
fn write_person(person: &Person, own: &str, out: &mut Vec<u8>) {
    let class = match () {
        () if person.label == own => &b"<li class=me><b>"[..],
        () if person.away => b"<li class=away><b>",
        () => b"<li><b>",
    };
    out.extend_from_slice(class);
    match &person.mark {
        Mark::Slot(slot) => write_text(slot, out),
        Mark::Position(position) => write_plain(*position, out),
        Mark::Turn => write_text("✓", out),
    }
    out.extend_from_slice(b"</b>");
    write_text(&person.name, out);
    out.extend_from_slice(b"</li>");
}

/// By time, in thousandths: what was waited of what it takes in all.
fn progress(place: &Place<'_>) -> u64 {
    let Some(eta) = place.eta else { return 0 };
    let waited = place.waited_seconds;
    let whole = u128::from(waited) + u128::from(eta.seconds);
    (1_000 * u128::from(waited) / whole.max(1)) as u64
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            _ => out.push(byte),
        }
    }
}
