//! Every text of the pages, in every language: one table a language, one file a table.
//!
//! Owns the words and how a language writes numbers and counts things. A table is a struct without
//! defaults, so a language that lacks a text does not compile. `{}` in a text is where a value goes.

mod ar;
mod cs;
mod de;
mod en;
mod es;
mod fr;
mod he;
mod it;
mod ja;
mod ko;
mod nl;
mod pl;
mod pt;
mod ru;
mod sv;
mod tr;
mod uk;
mod zh;
mod zh_hant;

use serde_json::{Map, Value, json};

/// The languages. The first is for readers of none of them.
pub(super) static ALL: [&Words; 19] = [
    &en::WORDS,
    &de::WORDS,
    &fr::WORDS,
    &es::WORDS,
    &it::WORDS,
    &pt::WORDS,
    &nl::WORDS,
    &sv::WORDS,
    &pl::WORDS,
    &cs::WORDS,
    &uk::WORDS,
    &ru::WORDS,
    &tr::WORDS,
    &ar::WORDS,
    &he::WORDS,
    &ja::WORDS,
    &ko::WORDS,
    &zh::WORDS,
    &zh_hant::WORDS,
];

/// A language.
#[derive(Debug)]
pub(super) struct Words {
    /// Its tag, as in the `lang` attribute.
    pub code: &'static str,
    /// The client counts and tells the time for this tag: the language, and its digits where there is a choice.
    pub numbers: &'static str,
    /// Written from right to left.
    pub rtl: bool,
    /// What stands between groups of three digits.
    pub group: &'static str,
    /// How many digits the first group must have at least for a number to be grouped: 2 leaves 1523 as it is.
    pub group_from: usize,
    /// What stands between the ends of a range.
    pub range: &'static str,
    /// How it counts.
    pub plural: Plural,
    /// N seconds, minutes, hours, in the case that `again` asks for. Where `about` would rather have another, that shows
    /// in 1 and 21 alone, to which no estimate in minutes is rounded.
    pub seconds: Forms,
    pub minutes: Forms,
    pub hours: Forms,
    /// An estimate: "about {4–6 minutes}".
    pub about: &'static str,
    /// An estimate below a minute.
    pub soon: &'static str,

    /// What the whole is called where the operator gives no name.
    pub room: &'static str,
    pub waiting_title: &'static str,
    /// Captions of position, estimate, people in the line, ticket, class.
    pub position: &'static str,
    pub wait: &'static str,
    pub people: &'static str,
    pub ticket: &'static str,
    pub class: &'static str,
    /// What to do: nothing.
    pub keep: &'static str,
    pub paused: &'static str,
    /// Instead of an estimate.
    pub paused_short: &'static str,
    pub unsent: &'static str,
    pub leave: &'static str,
    /// The question before.
    pub leave_sure: &'static str,
    pub connected: &'static str,
    /// With the time of day.
    pub updated: &'static str,
    pub reconnecting: &'static str,
    /// What is shown meanwhile.
    pub last_known: &'static str,

    pub admitted_title: &'static str,
    pub admitted_text: &'static str,
    /// With what is left of the claim window, as "1:45".
    pub admitted_window: &'static str,
    pub admitted_go: &'static str,

    /// Why it is over.
    pub passed: Notice,
    pub used: Notice,
    pub completed: Notice,
    pub left: Notice,
    pub revoked: Notice,
    pub idle: Notice,
    pub capped: Notice,
    pub unknown: Notice,
    pub rejoin: &'static str,

    pub closed: Notice,
    pub full: Notice,
    pub busy: Notice,
    pub lost: Notice,
    pub arrived: Notice,
    pub down: Notice,
    pub slow: Notice,
    pub frame: Notice,
    pub frame_open: &'static str,
    pub cookies: Notice,
    pub not_sent: Notice,
    pub not_sent_go: &'static str,
    pub error: Notice,
    /// With a number of seconds, minutes or hours.
    pub again: &'static str,
    pub try_now: &'static str,
    /// Where visitors have names.
    pub name_title: &'static str,
    pub name_text: &'static str,
    pub name_label: &'static str,
    pub name_join: &'static str,
    pub name_taken: &'static str,
    pub name_unfit: &'static str,
    /// Above those who are.
    pub inside: &'static str,
    /// With what is left until a scheduled opening, as "1:02:03".
    pub opens: &'static str,
    /// The page of the draw: what it is about, what leads to it, what was published, and what came of checking it.
    pub draw_title: &'static str,
    pub draw_text: &'static str,
    pub draw_link: &'static str,
    pub draw_promise: &'static str,
    pub draw_seed: &'static str,
    pub draw_place: &'static str,
    pub draw_check: &'static str,
    pub draw_soon: &'static str,
    pub draw_good: &'static str,
    pub draw_other_seed: &'static str,
    pub draw_other_place: &'static str,
    pub draw_unpromised: &'static str,
    pub draw_outside: &'static str,
}

/// A heading and what it means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    pub title: &'static str,
    pub text: &'static str,
}

/// How a language counts whole numbers (CLDR's categories).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plural {
    /// No difference.
    None,
    /// 1, and the rest.
    One,
    /// 0 and 1, and the rest.
    ZeroOne,
    /// 1; 2 to 4; the rest.
    Czech,
    /// 1; ends in 2 to 4 but not 12 to 14; the rest.
    Polish,
    /// Ends in 1 but not 11; in 2 to 4 but not 12 to 14; the rest.
    EastSlavic,
    /// 1, 2, and the rest.
    Hebrew,
    /// 1; 2; ends in 03 to 10; in 11 to 99; the rest.
    Arabic,
}

/// A text for each category; where a language has no such category, empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forms {
    pub one: &'static str,
    pub two: &'static str,
    pub few: &'static str,
    pub many: &'static str,
    pub other: &'static str,
}

impl Forms {
    const fn same(other: &'static str) -> Forms {
        Forms { one: "", two: "", few: "", many: "", other }
    }

    const fn one(one: &'static str, other: &'static str) -> Forms {
        Forms { one, ..Forms::same(other) }
    }

    const fn slavic(one: &'static str, few: &'static str, many: &'static str) -> Forms {
        Forms { one, few, many, ..Forms::same(few) }
    }

    /// The form for a number, or for a range that ends with it.
    pub(super) fn of(&self, plural: Plural, number: u64, range: bool) -> &'static str {
        let (ten, hundred) = (number % 10, number % 100);
        let few = (2..=4).contains(&ten) && !(12..=14).contains(&hundred);
        let form = match (plural, number) {
            (Plural::None, _) => self.other,
            (Plural::ZeroOne, 0) => self.one,
            (Plural::EastSlavic, _) if ten == 1 && hundred != 11 => self.one,
            (Plural::EastSlavic, _) => {
                if few {
                    self.few
                } else {
                    self.many
                }
            }
            (_, 1) => self.one,
            (Plural::Czech, 2..=4) => self.few,
            (Plural::Polish, _) => {
                if few {
                    self.few
                } else {
                    self.many
                }
            }
            // A dual says "two" by itself: no form for "1 to 2".
            (Plural::Hebrew | Plural::Arabic, 2) if !range => self.two,
            (Plural::Arabic, 2) => self.other,
            (Plural::Arabic, _) if (3..=10).contains(&hundred) => self.few,
            (Plural::Arabic, _) if hundred >= 11 => self.many,
            _ => self.other,
        };
        if form.is_empty() { self.other } else { form }
    }

    fn json(&self) -> Value {
        let forms = [
            ("one", self.one),
            ("two", self.two),
            ("few", self.few),
            ("many", self.many),
            ("other", self.other),
        ];
        let given = forms.into_iter().filter(|(_, form)| !form.is_empty());
        Value::Object(given.map(|(name, form)| (name.into(), form.into())).collect::<Map<_, _>>())
    }
}

impl Words {
    /// The words for a reason, by its code; the client meets some that the line does not know.
    pub(super) fn reason(&self, code: &str) -> &Notice {
        let reasons = self.reasons();
        reasons
            .into_iter()
            .find(|(name, _)| *name == code)
            .map_or(&self.unknown, |(_, notice)| notice)
    }

    fn reasons(&self) -> [(&'static str, &Notice); 8] {
        [
            ("passed", &self.passed),
            ("used", &self.used),
            ("completed", &self.completed),
            ("left", &self.left),
            ("revoked", &self.revoked),
            ("idle", &self.idle),
            ("capped", &self.capped),
            ("unknown", &self.unknown),
        ]
    }

    /// What the client needs of it on a page that only loads again.
    pub(super) fn json_again(&self) -> Value {
        json!({
            "numbers": self.numbers,
            "group": self.group,
            "groupFrom": self.group_from,
            "s": self.seconds.json(),
            "m": self.minutes.json(),
            "h": self.hours.json(),
            "again": self.again,
            "opens": self.opens,
        })
    }

    /// What the client needs of it.
    pub(super) fn json(&self) -> Value {
        let reasons = self
            .reasons()
            .map(|(code, notice)| (code.to_owned(), json!([notice.title, notice.text])));
        json!({
            "numbers": self.numbers,
            "group": self.group,
            "groupFrom": self.group_from,
            "range": self.range,
            "s": self.seconds.json(),
            "m": self.minutes.json(),
            "h": self.hours.json(),
            "about": self.about,
            "soon": self.soon,
            "pausedShort": self.paused_short,
            "opens": self.opens,
            "position": self.position,
            "wait": self.wait,
            "waiting": self.waiting_title,
            "admitted": self.admitted_title,
            "reconnecting": self.reconnecting,
            "error": self.error.title,
            "updated": self.updated,
            "window": self.admitted_window,
            "again": self.again,
            "leaveSure": self.leave_sure,
            "reasons": Value::Object(Map::from_iter(reasons)),
        })
    }
}

#[cfg(test)]
mod tests;
