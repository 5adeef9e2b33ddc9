//! What happened to everybody, and whether it may have.
//!
//! Owns the promises to visitors of a line on many nodes, judged from outside alone: what was asked when, what was answered
//! when. Knows nothing of nodes, stores or rules.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Somebody of the crowd.
pub type Person = usize;

/// A visitor's number in the line: epoch and number.
pub type Number = (u64, u64);

/// What happened to a visitor.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A number was given with the answer to what was asked at `asked`.
    Given { number: Number, asked: Instant },
    /// Told to wait, by the answer to what was asked at `asked`.
    Waiting { number: Number, asked: Instant },
    /// Told that it is their turn.
    Called { number: Number },
    /// Inside.
    Entered { number: Number },
    /// About to give the seat back.
    Leaving { number: Number },
    /// Got a place without a number: the line could not be reached.
    Provisional,
    /// Told that the line can't be reached for now.
    Away,
    /// Nobody answered at all: a node that is gone.
    Unanswered,
    /// Inside, and turned away.
    TurnedAway { status: u16 },
    /// The place was gone, though they kept asking.
    Lost { why: String },
    /// In again on a ticket that was used up.
    Again { number: Number },
    /// Came in by two nodes at once on one ticket. Of each: whom the site saw, and what is unique about the pass.
    Both { number: Number, seen: [(u64, Option<String>); 2] },
    /// Done.
    Home,
}

/// All that happened, in the order it was noticed.
#[derive(Default)]
pub struct History(Mutex<Vec<(Instant, Person, Event)>>);

/// What a run is held to.
#[derive(Clone, Debug)]
pub struct Terms {
    /// People in all.
    pub people: usize,
    /// Seats.
    pub max_active: usize,
    /// How old what a node says may be: somebody may be told to wait for so long after a later one was called.
    pub spread: Duration,
    /// Whose node was cut off for longer than the line waits for anybody: others go first, and then they do. See
    /// [`History::back_at_the_head`].
    pub cut_off: Range<Person>,
    /// What the store forgot, if it did.
    pub forgotten: Option<Forgotten>,
    /// Of two who came while no numbers were given, the one who came so much earlier has the lower one. See `gateway::loss`: twice
    /// what nodes are apart in finding the store again, because the outage is played at least twice as fast.
    pub arrivals: Duration,
}

/// A store forgot whom it had called. Whoever of them was not inside yet goes to the head of the line, and waits there for a seat: behind
/// nobody who is called from then on.
#[derive(Clone, Copy, Debug)]
pub struct Forgotten {
    /// When it did.
    pub at: Instant,
    /// The last it had called.
    pub upto: u64,
}

impl History {
    /// Notes something, now.
    pub fn note(&self, person: Person, event: Event) {
        self.events().push((Instant::now(), person, event));
    }

    fn events(&self) -> std::sync::MutexGuard<'_, Vec<(Instant, Person, Event)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many events there are of a kind.
    pub fn count(&self, is: impl Fn(&Event) -> bool) -> usize {
        self.events().iter().filter(|(_, _, event)| is(event)).count()
    }

    /// When something happened, and to whom.
    pub fn when(&self, is: impl Fn(&Event) -> bool) -> Vec<(Instant, Person)> {
        let events = self.events();
        let found = events.iter().filter(|(_, _, event)| is(event));
        found.map(|(at, person, _)| (*at, *person)).collect()
    }

    /// For how long nobody came in, at worst, from a moment on.
    pub fn longest_pause(&self, from: Instant) -> Duration {
        let entries = self.when(|event| matches!(event, Event::Entered { .. }));
        let after = entries.iter().map(|(at, _)| *at).filter(|at| *at > from);
        let (_, longest) =
            after.fold((from, Duration::ZERO), |(last, longest), at| (at, longest.max(at - last)));
        longest
    }

    /// Those of a few whom others have gone past: who entered by `back` has a higher number, and they are still outside. Each must
    /// then be called before anybody who was behind them all along, but for those who were called before that and
    /// hear of it within `spread`.
    ///
    /// # Panics
    /// If nobody was passed over, if nobody is left to go behind them, or if they did not go first.
    #[track_caller]
    pub fn back_at_the_head(&self, few: &Range<Person>, back: Instant, spread: Duration) -> usize {
        let events = self.events();
        let mut numbers: BTreeMap<Person, Number> = BTreeMap::new();
        let mut called: BTreeMap<Person, Instant> = BTreeMap::new();
        let mut entered: BTreeMap<Person, Instant> = BTreeMap::new();
        for (at, person, event) in events.iter() {
            match event {
                Event::Given { number, .. } => drop(numbers.insert(*person, *number)),
                // Of the few the last time, of the others the first one.
                Event::Called { .. } if few.contains(person) => drop(called.insert(*person, *at)),
                Event::Called { .. } => drop(called.entry(*person).or_insert(*at)),
                Event::Entered { .. } => drop(entered.insert(*person, *at)),
                _ => {}
            }
        }
        let frontier = entered.iter().filter(|(_, at)| **at < back);
        let frontier = frontier.filter_map(|(person, _)| numbers.get(person)).max();
        let outside = |person: &Person| entered.get(person).is_none_or(|at| *at > back);
        let passed: Vec<Person> = few
            .clone()
            .filter(|person| outside(person) && numbers.get(person) < frontier)
            .collect();
        assert!(!passed.is_empty(), "nobody was passed over: the cut was too short");
        let last = passed.iter().filter_map(|person| called.get(person).or(entered.get(person)));
        let last = *last.max().expect("they were called");
        let behind = called.iter().filter(|(person, _)| !few.contains(person));
        let behind: Vec<Instant> =
            behind.map(|(_, at)| *at).filter(|at| *at > back + spread).collect();
        assert!(behind.len() >= passed.len(), "nobody is left to go behind them");
        let before = behind.iter().filter(|at| **at < last).count();
        assert_eq!(before, 0, "of {} passed over, the last came after others", passed.len());
        passed.len()
    }

    /// # Panics
    /// With every promise that was broken, and who was there.
    #[track_caller]
    pub fn judge(&self, terms: &Terms) -> Summary {
        let events = self.events();
        let mut broken = Vec::new();
        numbers_are_given_once(&events, &mut broken);
        numbers_follow_time(&events, &mut broken);
        arrivals_are_kept(&events, terms, &mut broken);
        turns_follow_numbers(&events, terms, &mut broken);
        seats_are_kept(&events, terms.max_active, &mut broken);
        nobody_is_lost(&events, terms, &mut broken);
        let summary = Summary::of(&events, terms);
        assert!(broken.is_empty(), "{} broken:\n{}\n{summary}", broken.len(), some(&broken));
        summary
    }
}

type Noted = (Instant, Person, Event);

fn some(broken: &[String]) -> String {
    broken.iter().take(10).map(|line| format!("  {line}\n")).collect()
}

fn numbers_are_given_once(events: &[Noted], broken: &mut Vec<String>) {
    let mut owners: BTreeMap<Number, Person> = BTreeMap::new();
    for (_, person, event) in events {
        if let Event::Given { number, .. } = event
            && let Some(other) = owners.insert(*number, *person)
            && other != *person
        {
            broken.push(format!("{number:?} was given to {other} and to {person}"));
        }
    }
}

/// Whoever asks after somebody has got their number gets a higher one.
fn numbers_follow_time(events: &[Noted], broken: &mut Vec<String>) {
    let mut given: Vec<(Instant, Instant, Number)> = events
        .iter()
        .filter_map(|(at, _, event)| match event {
            Event::Given { number, asked } => Some((*asked, *at, *number)),
            _ => None,
        })
        .collect();
    given.sort_by_key(|(asked, _, _)| *asked);
    let mut answered = given.clone();
    answered.sort_by_key(|(_, at, _)| *at);
    let (mut next, mut highest) = (answered.iter().peekable(), None);
    for (asked, _, number) in given {
        while let Some((_, _, before)) = next.next_if(|(_, at, _)| *at < asked) {
            highest = highest.max(Some(*before));
        }
        if highest > Some(number) {
            broken.push(format!("{number:?} was given after {highest:?}"));
        }
    }
}

/// Whoever came while no numbers were given gets one by when they came, whichever node they came to.
fn arrivals_are_kept(events: &[Noted], terms: &Terms, broken: &mut Vec<String>) {
    if let Some(Outrun { apart, number, behind }) = outrun(events)
        && apart > terms.arrivals
    {
        broken.push(format!("{number:?} came {apart:?} before {behind:?} and is behind them"));
    }
}

/// Somebody with a higher number than somebody who came later.
struct Outrun {
    /// How much later.
    apart: Duration,
    number: Number,
    behind: Number,
}

/// The worst of them, from the first who came while no numbers were given on.
fn outrun(events: &[Noted]) -> Option<Outrun> {
    let mut came: BTreeMap<Person, Instant> = BTreeMap::new();
    let mut given: Vec<(Instant, Number)> = Vec::new();
    let first = events.iter().find(|(_, _, event)| *event == Event::Provisional)?.0;
    for (at, person, event) in events {
        match event {
            Event::Provisional => drop(came.entry(*person).or_insert(*at)),
            Event::Given { number, asked } => {
                given.push((came.get(person).copied().unwrap_or(*asked), *number));
            }
            _ => {}
        }
    }
    given.retain(|(came, _)| *came >= first);
    given.sort();
    // When the highest number so far became a higher one.
    let mut highest: Vec<(Instant, Number)> = Vec::new();
    let mut worst: Option<Outrun> = None;
    for (came, number) in given {
        if let Some((before, higher)) =
            highest.get(highest.partition_point(|(_, one)| *one < number))
        {
            let apart = came - *before;
            if worst.as_ref().is_none_or(|worst| apart > worst.apart) {
                worst = Some(Outrun { apart, number: *higher, behind: number });
            }
        }
        if highest.last().is_none_or(|(_, last)| number > *last) {
            highest.push((came, number));
        }
    }
    worst
}

/// Nobody is told to wait long after somebody behind them was called.
fn turns_follow_numbers(events: &[Noted], terms: &Terms, broken: &mut Vec<String>) {
    for Overtaken { late, number, behind } in overtaken(events, terms) {
        if late > terms.spread {
            broken
                .push(format!("{number:?} was told to wait {late:?} after {behind:?} was called"));
        }
    }
}

/// Somebody who was told to wait after somebody behind them had been called.
struct Overtaken {
    /// How long after the first of those.
    late: Duration,
    number: Number,
    behind: Number,
}

fn overtaken(events: &[Noted], terms: &Terms) -> Vec<Overtaken> {
    let called = calls(events, None);
    // A call is heard of by as much later.
    let again = terms.forgotten.map(|lost| (lost, calls(events, Some(lost.at + terms.spread))));
    let mut overtaken = Vec::new();
    for (at, person, event) in events {
        let Event::Waiting { number, asked } = event else { continue };
        let called = match &again {
            Some((lost, again)) if *at >= lost.at && number.1 <= lost.upto => again,
            _ => &called,
        };
        if !terms.cut_off.contains(person)
            && let Some((at, behind)) =
                called.get(called.partition_point(|(_, highest)| highest <= number))
            && asked > at
        {
            overtaken.push(Overtaken { late: *asked - *at, number: *number, behind: *behind });
        }
    }
    overtaken
}

/// When the highest number called so far, from a moment on, became a higher one.
fn calls(events: &[Noted], from: Option<Instant>) -> Vec<(Instant, Number)> {
    let mut called: Vec<(Instant, Number)> = Vec::new();
    for (at, _, event) in events.iter().filter(|(at, _, _)| Some(*at) >= from) {
        if let Event::Called { number } | Event::Entered { number } = event
            && called.last().is_none_or(|(_, highest)| number > highest)
        {
            called.push((*at, *number));
        }
    }
    called
}

fn seats_are_kept(events: &[Noted], max_active: usize, broken: &mut Vec<String>) {
    let mut inside = 0_usize;
    for (_, person, event) in events {
        match event {
            Event::Entered { .. } => inside += 1,
            Event::Leaving { .. } => inside -= 1,
            _ => {}
        }
        if inside > max_active {
            broken.push(format!("{inside} are inside with {person}"));
        }
    }
}

fn nobody_is_lost(events: &[Noted], terms: &Terms, broken: &mut Vec<String>) {
    let unreachable = unreachable(events, terms.spread);
    let mut leaving: BTreeMap<Person, Instant> = BTreeMap::new();
    let mut home = 0;
    for (at, person, event) in events {
        match event {
            Event::Lost { why } => broken.push(format!("{person} lost their place: {why}")),
            Event::Leaving { .. } => drop(leaving.insert(*person, *at)),
            Event::Again { number } => {
                let left = leaving.get(person).is_some_and(|left| unreachable.contains(left));
                if !left {
                    broken.push(format!("{person} came in twice on {number:?}"));
                }
            }
            Event::Both { number, seen: [one, other] } if one != other || one.0 != number.1 => {
                broken.push(format!("{person} came in as {one:?} and as {other:?} on {number:?}"));
            }
            Event::TurnedAway { status } => {
                broken.push(format!("{person} was inside, and was told {status}"));
            }
            Event::Home => home += 1,
            _ => {}
        }
    }
    if home != terms.people {
        broken.push(format!("{home} of {} came home", terms.people));
    }
}

/// When some node could not reach the line, as far as people noticed. It tells the line afterwards who is done, and until then the
/// seat is theirs on all others.
fn unreachable(events: &[Noted], spread: Duration) -> Range<Instant> {
    let told = events.iter().filter_map(|(at, _, event)| {
        matches!(event, Event::Away | Event::Provisional).then_some(*at)
    });
    match (told.clone().min(), told.max()) {
        (Some(first), Some(last)) => first - spread..last + spread,
        _ => events[0].0..events[0].0,
    }
}

/// What people saw.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    pub given: usize,
    pub waits: usize,
    pub entered: usize,
    /// Places without a number.
    pub provisional: usize,
    /// Told that the line can't be reached.
    pub away: usize,
    pub unanswered: usize,
    /// Came in by two nodes at once.
    pub both: usize,
    /// By how much somebody came earlier than somebody with a lower number, at worst, once no numbers were given.
    pub outrun: Duration,
    /// The longest after somebody behind them was called that anybody was told to wait.
    pub latest: Duration,
    /// The soonest that anybody was given a number.
    pub soonest: Duration,
}

impl Summary {
    fn of(events: &[Noted], terms: &Terms) -> Summary {
        let count = |is: fn(&Event) -> bool| events.iter().filter(|(_, _, one)| is(one)).count();
        let soonest = events.iter().filter_map(|(at, _, event)| match event {
            Event::Given { asked, .. } => Some(*at - *asked),
            _ => None,
        });
        let overtaken = overtaken(events, terms);
        let latest = overtaken.iter().map(|one| one.late).max();
        Summary {
            given: count(|event| matches!(event, Event::Given { .. })),
            waits: count(|event| matches!(event, Event::Waiting { .. })),
            entered: count(|event| matches!(event, Event::Entered { .. })),
            provisional: count(|event| matches!(event, Event::Provisional)),
            away: count(|event| matches!(event, Event::Away)),
            unanswered: count(|event| matches!(event, Event::Unanswered)),
            both: count(|event| matches!(event, Event::Both { .. })),
            outrun: outrun(events).map_or(Duration::ZERO, |outrun| outrun.apart),
            latest: latest.unwrap_or_default(),
            soonest: soonest.min().unwrap_or_default(),
        }
    }

    /// People noticed that the line could not be reached: those in it were told so, and those who came got a place without a number.
    #[track_caller]
    pub fn was_lost(&self) {
        assert!(self.waits > 0 && self.away > 0, "nobody in line was told: {self}");
        assert!(self.provisional > 0, "nobody who came was told: {self}");
    }

    /// Nodes that hear from their store all the time tell of one line: nobody was told to wait for longer than this after somebody
    /// behind them was called. Half a second is what a beat makes; the rest is what a busy machine may be late.
    #[track_caller]
    pub fn was_steady(&self) {
        assert!(self.latest < Duration::from_millis(1_500), "{self}");
    }

    /// Nobody noticed anything of the kind.
    #[track_caller]
    pub fn was_never_lost(&self) {
        assert_eq!((self.away, self.provisional), (0, 0), "{self}");
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} numbers given, {} times told to wait, {} entered, {} times a place without a number, {} times the line \
             away, {} times no answer, {} in by two nodes at once; {:?} after somebody behind them was called somebody was told \
             to wait, at worst; who came {:?} earlier is behind, at worst",
            self.given,
            self.waits,
            self.entered,
            self.provisional,
            self.away,
            self.unanswered,
            self.both,
            self.latest,
            self.outrun
        )
    }
}

#[cfg(test)]
mod tests {
    //! A judge that finds nothing is no judge.

    use super::*;

    fn judged(events: &[(u64, Person, Event)]) -> Result<(), String> {
        judged_of(events, None)
    }

    /// `forgotten`: when the store forgot, and up to which number.
    fn judged_of(
        events: &[(u64, Person, Event)],
        forgotten: Option<(u64, u64)>,
    ) -> Result<(), String> {
        let began = Instant::now();
        let history = History::default();
        let at = |ms: u64| began + Duration::from_millis(ms);
        let forgotten = forgotten.map(|(ms, upto)| Forgotten { at: at(ms), upto });
        *history.events() =
            events.iter().map(|(ms, who, what)| (at(*ms), *who, what.clone())).collect();
        let terms = Terms {
            people: 0,
            max_active: 1,
            spread: Duration::from_millis(100),
            cut_off: 7..8,
            forgotten,
            arrivals: Duration::from_millis(100),
        };
        let judged =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| history.judge(&terms)));
        judged
            .map(drop)
            .map_err(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default())
    }

    #[test]
    fn flaws_are_found() {
        let asked = Instant::now();
        let given = |number| Event::Given { number: (1, number), asked };
        let found =
            judged(&[(1, 0, given(1)), (2, 1, given(1))]).expect_err("one number, two people");
        assert!(found.contains("was given to 0 and to 1"), "{found}");

        let later = asked + Duration::from_secs(1);
        let after = |number| Event::Given { number: (1, number), asked: later };
        let found =
            judged(&[(1, 0, given(2)), (1_500, 1, after(1))]).expect_err("a lower one later");
        assert!(found.contains("was given after"), "{found}");

        let came = |ms, person| (ms, person, Event::Provisional);
        let long_after = [came(1, 0), came(200, 1), (2_000, 1, after(1)), (2_001, 0, after(2))];
        let found = judged(&long_after).expect_err("by when they came");
        assert!(found.contains("came 199ms before (1, 1) and is behind"), "{found}");
        let soon_after = [came(1, 0), came(50, 1), (2_000, 1, after(1)), (2_001, 0, after(2))];
        assert_eq!(judged(&soon_after), Ok(()), "nodes are so far apart");
        let in_order = [came(1, 0), came(200, 1), (2_000, 0, after(1)), (2_001, 1, after(2))];
        assert_eq!(judged(&in_order), Ok(()));
        let overtaken = [came(1, 0), (1_200, 1, after(1)), (2_001, 0, after(2))];
        let found = judged(&overtaken).expect_err("a newcomer went past");
        assert!(found.contains("and is behind them"), "{found}");

        let called = |number| Event::Called { number: (1, number) };
        // A judgement that finds something takes its time: each begins anew.
        let later = || Instant::now() + Duration::from_secs(1);
        let waits = |number| Event::Waiting { number: (1, number), asked: later() };
        let found = judged(&[(1, 1, called(2)), (1_500, 0, waits(1))]).expect_err("overtaken");
        assert!(found.contains("was told to wait"), "{found}");
        assert_eq!(
            judged(&[(950, 1, called(2)), (1_500, 0, waits(1))]),
            Ok(()),
            "within the spread"
        );
        assert_eq!(judged(&[(1, 1, called(2)), (1_500, 7, waits(1))]), Ok(()), "cut off");
        let overtaken = |ms| [(ms, 1, called(2)), (1_500, 0, waits(1))];
        assert_eq!(judged_of(&overtaken(1), Some((500, 1))), Ok(()), "their turn was forgotten");
        assert!(judged_of(&overtaken(1), Some((500, 0))).is_err(), "they had none");
        assert!(judged_of(&overtaken(1), Some((1_501, 1))).is_err(), "not yet");
        let found = judged_of(&overtaken(700), Some((500, 1)));
        assert!(found.is_err(), "and called after them again");

        let entered = |number| Event::Entered { number: (1, number) };
        let found = judged(&[(1, 0, entered(1)), (2, 1, entered(2))]).expect_err("a seat too many");
        assert!(found.contains("2 are inside"), "{found}");

        let lost = Event::Lost { why: "gone".to_owned() };
        let found = judged(&[(1, 0, lost)]).expect_err("lost");
        assert!(found.contains("0 lost their place: gone"), "{found}");
        let found = judged(&[(1, 0, Event::Again { number: (1, 1) })]).expect_err("in twice");
        assert!(found.contains("0 came in twice on (1, 1)"), "{found}");
        let leaving = |ms| (ms, 0, Event::Leaving { number: (1, 1) });
        let again = |ms| (ms, 0, Event::Again { number: (1, 1) });
        let entered = (1, 0, entered(1));
        let away = [entered.clone(), (1_000, 1, Event::Away), leaving(1_050), again(1_200)];
        assert_eq!(judged(&away), Ok(()), "the line could not be told");
        let later = [entered, (1_000, 1, Event::Away), leaving(1_150), again(1_200)];
        let found = judged(&later).expect_err("it could be told again");
        assert!(found.contains("0 came in twice"), "{found}");
        let pass = |number, nonce: &str| (number, Some(nonce.to_owned()));
        let both = |seen| [(1, 0, Event::Both { number: (1, 4), seen })];
        assert_eq!(judged(&both([pass(4, "a"), pass(4, "a")])), Ok(()), "one seat");
        for seen in [
            [pass(4, "a"), pass(4, "b")],
            [pass(4, "a"), pass(5, "a")],
            [pass(5, "a"), pass(5, "a")],
        ] {
            let found = judged(&both(seen)).expect_err("two seats, or another's");
            assert!(found.contains("0 came in as"), "{found}");
        }
        let found = judged(&[(1, 0, Event::TurnedAway { status: 503 })]).expect_err("turned away");
        assert!(found.contains("was told 503"), "{found}");
    }
}
