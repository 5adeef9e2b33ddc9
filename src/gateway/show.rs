//! What a visitor who is not let in gets to see, in the form they asked for.
//!
//! Owns the step from a state of affairs to an answer: page, JSON or a few words, with status and headers. Decides
//! nothing, and never asks the line.

use super::answer::Response;
use super::api;
use super::entrance::Entrance;
use super::head::{Client, Head};
use super::intent::Intent;
use crate::line::{Phase, Reason, View};
use crate::metrics::Outcome;
use crate::page::{Language, Mark, Page, Pages, Person, Place, Roster, Unnamed};
use crate::room::Proof;

/// The longest address that is written into a page. Beyond it a page leads to the front page: browsers and
/// servers cut such addresses anyway.
const MAX_ADDRESS: usize = 2_048;

/// Seconds after which to try again where nothing else says when.
const SOON: u64 = 5;

/// Who reads an answer, and how.
#[derive(Clone, Debug)]
pub struct Reader {
    /// What they are after.
    pub intent: Intent,
    /// What they can read.
    pub form: Form,
    /// Their language.
    pub language: Language,
    /// Whether they take it compressed.
    pub gzip: bool,
    /// Path and query of the request.
    pub to: String,
    /// Who they are.
    pub client: Client,
}

/// What can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A page.
    Html,
    /// By a program.
    Json,
    /// By anything else.
    Plain,
}

impl Reader {
    /// Reads a request's headers.
    pub fn of(head: &impl Head, intent: Intent, client: Client) -> Reader {
        let form = match intent {
            Intent::Page | Intent::Form | Intent::Frame => Form::Html,
            Intent::Part if head.lists("accept", "application/json") => Form::Json,
            Intent::Part => Form::Plain,
        };
        let target = head.target();
        let html = form == Form::Html;
        Reader {
            intent,
            form,
            language: Language::of(head.get("accept-language").filter(|_| html)),
            gzip: html && head.lists("accept-encoding", "gzip"),
            to: if target.len() > MAX_ADDRESS { "/" } else { target }.to_owned(),
            client,
        }
    }
}

/// Seconds after which a page asks first that was opened before an opening.
const FIRST: u64 = 2;

/// Whoever holds a ticket, and what it says.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    /// Of which number.
    pub proof: Proof,
    /// When it was given.
    pub joined_ms: u64,
    /// The class; empty: the general one.
    pub class: &'a str,
}

/// A state of affairs that is about nobody's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The turn is over.
    Over(Reason),
    /// Nobody new is taken.
    Closed,
    /// The line is full.
    Full,
    /// Too often, or too many at once: again after so many milliseconds.
    Busy(u64),
    /// Too often, by one and the same.
    Limited(u64),
    /// The store does not answer.
    StoreLost,
    /// Nor are numbers given, but an arrival is recorded: again after so many milliseconds.
    Arrived(u64),
    /// In a frame.
    Frame,
    /// A form.
    NotSent,
    /// Cookies are not kept.
    CookiesOff,
    /// Neither a person nor with a right.
    Refused,
    /// A name is needed first.
    Name(Option<Unnamed>),
}

impl Entrance {
    /// Where a visitor stands: in the line, or free to come in.
    pub fn show_place(
        &self,
        reader: &Reader,
        view: &View,
        holder: Holder<'_>,
        fresh: bool,
    ) -> Response {
        // A frame would not show it: whose place it is must be seen in the address.
        if reader.intent == Intent::Frame {
            return self.show(reader, Notice::Frame);
        }
        self.count(Outcome::Waiting);
        let status = refusing(self.settings.queued_status);
        let answer = match reader.form {
            Form::Html => {
                let page = self.place_page(reader, view, holder, fresh, false);
                return page.about(Outcome::Waiting);
            }
            Form::Json => Response::json(status, api::place(self, view, holder)),
            Form::Plain => Response::plain(status, "There is a line. It is not your turn yet.\n"),
        };
        let number = holder.proof.number;
        let (position, now_ms) = (view.position(number), self.room.now_ms());
        let pause = self.pause(view, number, position, now_ms);
        answer.retry_after(pause.as_secs().max(1)).about(Outcome::Waiting)
    }

    fn place_page(
        &self,
        reader: &Reader,
        view: &View,
        Holder { proof, joined_ms, class }: Holder<'_>,
        fresh: bool,
        last_known: bool,
    ) -> Response {
        let now_ms = self.room.now_ms();
        let before = matches!(view.phase(now_ms), Phase::Prequeue(_));
        let (position, stopped) = (view.position(proof.number), view.is_paused());
        // Before an opening nobody is let in, and the page counts down: that is no pause. Between two it is one.
        let paused = stopped && !before;
        let opens_seconds = api::phase(view, now_ms)
            .1
            .map(|(opens_ms, _)| opens_ms.saturating_sub(now_ms).div_ceil(1_000).max(1));
        let pause = self.pause(view, proof.number, position, now_ms).as_secs().max(1);
        let roster = self.has_roster().then(|| self.shown_roster(view));
        // The first poll says what there is no place for here; from then on the page asks as rarely as any, and at the opening.
        let pause = match (before, opens_seconds) {
            (true, _) => pause.min(FIRST),
            (false, Some(left)) => pause.min(left.max(FIRST)),
            (false, None) => pause,
        };
        let place = Place {
            label: &self.label(proof.number),
            class,
            position: position.unwrap_or(0),
            // Who left is counted out at once, and out of the positions with the next sweep.
            waiting: view.waiting().max(position.unwrap_or(0)),
            eta: position.and_then(|position| view.eta(position)),
            paused,
            opens_seconds,
            last_known,
            waited_seconds: now_ms.saturating_sub(joined_ms) / 1_000,
            next_poll_seconds: pause,
            draw: has_draw(view, now_ms),
            is_drawn_later: matches!(view.phase(now_ms), Phase::Prequeue(next) if next.draw),
            return_to: &reader.to,
            roster: roster.as_ref(),
        };
        let unsent = reader.intent == Intent::Form;
        let window = view.window_left_ms(proof.number).map(|ms| ms / 1_000);
        let page = match position {
            Some(_) => Page::Waiting { place: &place, fresh, unsent },
            None => Page::Admitted { place: &place, window_seconds: window, unsent },
        };
        html(&self.pages(), reader, self.settings.queued_status, &page).retry_after(pause)
    }

    /// Where a visitor stood when the line was last heard of.
    pub fn show_last_place(&self, reader: &Reader, view: &View, holder: Holder<'_>) -> Response {
        match reader.form {
            // Where they stood in another generation means nothing, and whether it is their turn only the line says.
            Form::Html if self.last_position(view, holder.proof).is_none() => {
                self.show(reader, Notice::StoreLost)
            }
            Form::Html if reader.intent == Intent::Frame => self.show(reader, Notice::Frame),
            Form::Html => {
                self.count(Outcome::Waiting);
                let page = self.place_page(reader, view, holder, false, true);
                page.about(Outcome::Waiting)
            }
            Form::Json => {
                self.count(Outcome::Waiting);
                let place = api::last_place(self, view, holder);
                place.about(Outcome::Waiting)
            }
            Form::Plain => self.show(reader, Notice::StoreLost),
        }
    }

    /// Who is there, by name.
    fn shown_roster(&self, view: &View) -> Roster {
        let everybody = api::Everybody::of(view);
        let person = |mark, number, name: &str, away| {
            let (name, label) = (name.to_owned(), self.label(number));
            Person { mark, name, label, away }
        };
        let players = everybody.players.iter().map(|(slot, number, name)| {
            let slot = self.slot_name(*slot).unwrap_or_else(|| "✓".to_owned());
            person(Mark::Slot(slot), *number, name, false)
        });
        let waiting = everybody.waiting.iter().map(|(position, number, name, away)| {
            let mark = if *position == 0 { Mark::Turn } else { Mark::Position(*position) };
            person(mark, *number, name, *away)
        });
        Roster { players: players.collect(), waiting: waiting.collect() }
    }

    /// Anything else.
    pub fn show(&self, reader: &Reader, notice: Notice) -> Response {
        let outcome = match notice {
            Notice::Limited(_) => Outcome::Limited,
            Notice::StoreLost | Notice::Arrived(_) => Outcome::Lost,
            _ => Outcome::Refused,
        };
        self.count(outcome);
        let queued = self.settings.queued_status;
        let to = reader.to.as_str();
        let wait = |ms: u64| ms.div_ceil(1_000).max(1);
        let (status, code, said, page, retry) = match notice {
            Notice::Over(reason) => {
                (queued, "gone", "Your turn is over.", Page::Over { reason, to }, None)
            }
            Notice::Closed => {
                let (view, now_ms) = (self.room.view(), self.room.now_ms());
                let again_seconds = api::closed_seconds(&view, now_ms);
                let left = |(opens_ms, _): (u64, bool)| wait(opens_ms.saturating_sub(now_ms));
                let opens_seconds = api::phase(&view, now_ms).1.map(left);
                let retry = again_seconds.unwrap_or(6 * SOON);
                let page = Page::Closed { again_seconds, opens_seconds, to };
                (queued, "queue_disabled", "Closed.", page, Some(retry))
            }
            Notice::Full => {
                (queued, "queue_full", "The line is full.", Page::Full { to }, Some(6 * SOON))
            }
            Notice::Busy(ms) | Notice::Limited(ms) => {
                let retry_seconds = wait(ms);
                let limited = matches!(notice, Notice::Limited(_));
                let (status, code) = if limited { (429, "rate_limited") } else { (503, "busy") };
                let page = Page::Busy { retry_seconds, to };
                (status, code, "Too many requests at once.", page, Some(retry_seconds))
            }
            Notice::StoreLost => {
                let page = Page::StoreLost { retry_seconds: SOON, to };
                (503, "store_unavailable", "The line can't be reached.", page, Some(SOON))
            }
            Notice::Arrived(ms) => {
                // Rounded down: whoever comes a little early is kept until their moment.
                let retry_seconds = (ms / 1_000).max(1);
                let page = Page::Arrived { retry_seconds, to };
                let said = "The line can't be reached. Your arrival is recorded.";
                (503, "store_unavailable", said, page, Some(retry_seconds))
            }
            Notice::Frame => {
                (queued, "frame", "Open this page in a window.", Page::Frame { to }, None)
            }
            Notice::NotSent => {
                (queued, "not_sent", "Not sent: there is a line.", Page::NotSent { to }, None)
            }
            Notice::CookiesOff => {
                (queued, "cookies_off", "Cookies are off.", Page::CookiesOff { to }, None)
            }
            Notice::Name(problem) => {
                let page = Page::Name { problem, to };
                (queued, "name_required", "Everybody has a name here.", page, None)
            }
            // Nobody looks at the page of a picture or a call.
            Notice::Refused => {
                (queued, "waiting_room", "There is a line.", Page::NotSent { to }, Some(2 * SOON))
            }
        };
        let answer = match reader.form {
            Form::Html => html(&self.pages(), reader, status, &page),
            Form::Json if notice == Notice::Closed => api::queue_disabled(self),
            Form::Json => api::error(refusing(status), code, said),
            Form::Plain => Response::plain(refusing(status), said),
        };
        answer.retry_after(retry.unwrap_or(SOON)).about(outcome)
    }
}

/// Whether there is a draw to check: one to come, or one that was made.
fn has_draw(view: &View, now_ms: u64) -> bool {
    let told = view.drawn().told();
    let announced = matches!(view.phase(now_ms), Phase::Prequeue(next) if next.draw);
    announced || told.commitment.is_some() || !told.made.is_empty()
}

/// A page, compressed if that is read.
pub fn html(pages: &Pages, reader: &Reader, status: u16, page: &Page<'_>) -> Response {
    let mut body = Vec::new();
    pages.render(page, reader.language, reader.gzip, &mut body);
    let mut answer = Response::new(status, "text/html; charset=utf-8", body)
        .with("Content-Security-Policy", pages.policy(page).to_owned())
        .with("Content-Language", reader.language.code())
        .with("Referrer-Policy", "same-origin");
    if let Some((_, vary)) = answer.headers.iter_mut().find(|(name, _)| *name == "Vary") {
        *vary = "Cookie, Accept-Language, Accept-Encoding".into();
    }
    if reader.gzip {
        answer = answer.with("Content-Encoding", "gzip");
    }
    answer
}

/// A program must not take a waiting room's answer for what it asked for.
fn refusing(status: u16) -> u16 {
    if status < 400 { 503 } else { status }
}
