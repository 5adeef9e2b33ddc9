//! What visitors see while they are not inside: the waiting page and its siblings, and the script that
//! keeps them current.
//!
//! Owns the documents, their words in every language, and the client. Pure: no IO, no clock; a page and a
//! language come in, bytes go out. Never decides who waits, and never trusts a text it is given: what came
//! with a request is written as an address or as text, never as markup.
//!
//! In a flash crowd the waiting page is most of what a node does. So a document is made once a language
//! (askama, then split at its holes and compressed piece by piece, see `document`), and rendering only
//! copies the pieces and writes the numbers between them. Documents are made when they are first asked for:
//! most rooms meet few languages, and making one costs about a millisecond.

mod address;
mod colour;
mod document;
mod gzip;
mod hole;
mod language;
mod look;
mod number;
mod own;
mod policy;
mod script;
mod tags;
mod template;
mod words;

use std::sync::OnceLock;

pub use self::language::Language;
pub use self::look::Look;
pub use self::script::{Script, client, draw};
pub(crate) use number::shown;

use self::document::Document;
use self::hole::Values;
use self::own::Own;
use self::policy::Policies;
use self::template::{Kind, Room};
use crate::line::{Ending, Eta, Reason};

/// A page, with what is to be written into it. `to` is the path and query of the request, as it came.
#[derive(Clone, Copy, Debug)]
pub enum Page<'a> {
    /// In the line.
    Waiting {
        /// Where.
        place: &'a Place<'a>,
        /// Served together with the cookie: whether the browser keeps it is not known yet.
        fresh: bool,
        /// The request was a form: it was not sent.
        unsent: bool,
    },
    /// It is their turn: goes in by itself.
    Admitted {
        /// Where they were.
        place: &'a Place<'a>,
        /// For how long the turn is kept.
        window_seconds: Option<u64>,
        /// The request was a form: it was not sent.
        unsent: bool,
    },
    /// The turn went by, or the session is over: why, and one click to join again.
    Over {
        /// Why.
        reason: Reason,
        /// Where joining again leads.
        to: &'a str,
    },
    /// The room is closed.
    Closed {
        /// When numbers are given again, if the schedule says.
        again_seconds: Option<u64>,
        /// And when it opens.
        opens_seconds: Option<u64>,
        /// The address.
        to: &'a str,
    },
    /// The line is full.
    Full {
        /// The address.
        to: &'a str,
    },
    /// Over a limit, or the node is at its bound: no number yet; tries again by itself.
    Busy {
        /// After so long.
        retry_seconds: u64,
        /// The address.
        to: &'a str,
    },
    /// The store can't be reached.
    StoreLost {
        /// Tries again after so long.
        retry_seconds: u64,
        /// The address.
        to: &'a str,
    },
    /// The store can't be reached, and the arrival is recorded: their place comes by it. Loads again by itself.
    Arrived {
        /// After exactly so long: it may be their moment.
        retry_seconds: u64,
        /// The address.
        to: &'a str,
    },
    /// The origin can't be reached (502).
    OriginDown {
        /// The address.
        to: &'a str,
    },
    /// The origin does not answer in time (504).
    OriginSlow {
        /// The address.
        to: &'a str,
    },
    /// Inside another site's page: a link opens the whole window.
    Frame {
        /// The address.
        to: &'a str,
    },
    /// The browser does not keep the cookie, so it can't keep a place.
    CookiesOff {
        /// The address.
        to: &'a str,
    },
    /// A form without a place in the line: not sent.
    NotSent {
        /// The address.
        to: &'a str,
    },
    /// Nobody has a place here without a name: asks for one.
    Name {
        /// What was wrong with the last one.
        problem: Option<Unnamed>,
        /// The address.
        to: &'a str,
    },
    /// What was promised about a draw and what came of it; its script checks it.
    Draw,
}

/// Why a name is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnamed {
    /// Somebody has it.
    Taken,
    /// It is none.
    Unfit,
}

/// Who is there, by name, as the page shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    /// Inside, in the order of slots.
    pub players: Vec<Person>,
    /// In line, in order.
    pub waiting: Vec<Person>,
}

/// Somebody with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// What stands before it.
    pub mark: Mark,
    /// As they wrote it.
    pub name: String,
    /// By which they know themselves.
    pub label: String,
    /// Not heard of for a while.
    pub away: bool,
}

/// What stands before a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The seat.
    Slot(String),
    /// The place in line.
    Position(u64),
    /// It is their turn.
    Turn,
}

/// A visitor's place as the page shows it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// What people call it: "A-000123".
    pub label: &'a str,
    /// The class by its name; empty: the general one.
    pub class: &'a str,
    /// One is the next.
    pub position: u64,
    /// How many wait in all.
    pub waiting: u64,
    /// When the turn will come. None while nobody can know.
    pub eta: Option<Eta>,
    /// Nobody is let in for the moment.
    pub paused: bool,
    /// Until the next opening, where a schedule says when nobody is let in.
    pub opens_seconds: Option<u64>,
    /// The line can't be reached: this is where they stood when it could.
    pub last_known: bool,
    /// For how long they have waited.
    pub waited_seconds: u64,
    /// When the page is to ask again.
    pub next_poll_seconds: u64,
    /// There is a draw to come, or there was one.
    pub draw: bool,
    /// It is to come, and nobody has a place before.
    pub is_drawn_later: bool,
    /// Path and query of the request, as it came.
    pub return_to: &'a str,
    /// Who else is there, where visitors have names.
    pub roster: Option<&'a Roster>,
}

/// Everything prepared for one room; shared by threads.
#[derive(Debug)]
pub struct Pages {
    room: Room,
    documents: Box<[OnceLock<Document>]>,
    own: Option<OwnPage>,
    policies: Policies,
}

/// The operator's document: in the language it says it is in, else in the reader's.
#[derive(Debug)]
struct OwnPage {
    html: Own,
    language: Option<Language>,
    documents: Box<[OnceLock<Document>]>,
}

impl Pages {
    /// Prepares a room's pages. What is wrong with the look ([`Look::problems`]) is left out.
    pub fn new(room: &str, look: &Look) -> Pages {
        let cells = |count: usize| (0..count).map(|_| OnceLock::new()).collect();
        let room = Room::new(room, look);
        let own = look.own.as_deref().map(Own::new).filter(Own::is_usable).map(|html| {
            let language = html.language();
            OwnPage { html, language, documents: cells(Language::COUNT) }
        });
        let policies = Policies::new(&room, look, own.as_ref().map(|own| &own.html));
        Pages { room, documents: cells(Language::COUNT * Kind::COUNT), own, policies }
    }

    /// Appends the body: plain, or as a gzip stream.
    pub fn render(&self, page: &Page<'_>, language: Language, gzip: bool, out: &mut Vec<u8>) {
        let (kind, values) = (Kind::of(page), Values::of(page));
        let (document, language) = match (&self.own, kind) {
            (Some(own), Kind::Place) => {
                let language = own.language.unwrap_or(language);
                let make = || Document::new(&own.html.filled(&self.room, language.words()));
                (own.documents[language.index()].get_or_init(make), language)
            }
            _ => {
                let cell = &self.documents[kind as usize * Language::COUNT + language.index()];
                let make = || Document::new(&template::render(kind, &self.room, language));
                (cell.get_or_init(make), language)
            }
        };
        document.render(&values, language.words(), gzip, out);
    }

    /// The Content-Security-Policy of a page.
    pub fn policy(&self, page: &Page<'_>) -> &str {
        self.policies.of(Kind::of(page))
    }
}

/// What the wire calls a reason: `"reason"` of a 410, and what the client has words for.
pub fn reason_code(reason: Reason) -> &'static str {
    match reason {
        Reason::Passed => "passed",
        Reason::Used => "used",
        Reason::Ended(Ending::Completed) => "completed",
        Reason::Ended(Ending::Left) => "left",
        Reason::Ended(Ending::Revoked) => "revoked",
        Reason::Ended(Ending::Idle) => "idle",
        Reason::Ended(Ending::Capped) => "capped",
        Reason::Ended(Ending::Requeued) => "requeued",
    }
}
