//! One value of the file: what kind it is, how it was written, and the sentence if it is of the wrong kind.
//!
//! Owns the kinds of values; knows no key and no rule. A value behind a veil is never quoted: it may be a secret,
//! or one in the wrong place.

use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::reader::{Level, Reader};
use super::report::{Report, VEIL, said};
use crate::line::Rate;
use crate::units as text;

/// A longer value says less than its key.
const MAX_SHOWN: usize = 60;

/// A value in its place.
#[derive(Clone)]
pub(super) struct Node<'a> {
    pub(super) source: &'a str,
    pub(super) report: &'a Report,
    /// Whether it may be a secret.
    pub(super) veiled: bool,
    /// Its key, whole: `rooms.sale.rate`, `listen[0]`.
    pub(super) path: String,
    pub(super) value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Node<'a> {
    /// As it was written, if it is short and no secret.
    pub(super) fn shown(&self) -> String {
        let written = self.source.get(self.value.span()).unwrap_or_default();
        let long = written.chars().nth(MAX_SHOWN).is_some();
        let password = written.contains("://") && written.contains('@');
        match self.veiled || long || password || written.chars().any(char::is_control) {
            true => VEIL.to_owned(),
            false => written.to_owned(),
        }
    }

    /// Reports it, and has no value.
    pub(super) fn refuse<T>(&self, what: &str, means: impl Into<String>) -> Option<T> {
        self.report.problem(format!("{} {what}", said(&self.path, &self.shown())), means);
        None
    }

    /// What was wanted, refused.
    fn wrong<T>(&self, wanted: &str, means: impl Into<String>) -> Option<T> {
        let found = match self.value.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.refuse(&format!("is {found} where {wanted} is needed"), means)
    }

    /// Text.
    pub(super) fn text(&self) -> Option<&'a str> {
        match self.value.get_ref() {
            DeValue::String(text) => Some(text),
            DeValue::Array(_) | DeValue::Table(_) => self.wrong("text", "write one text in quotes"),
            _ => self.wrong("text", "write it in quotes"),
        }
    }

    /// Text, if it is text: no complaint if it is not.
    pub(super) fn as_text(&self) -> Option<&'a str> {
        match self.value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// `true` or `false`, if it is: no complaint if it is not.
    pub(super) fn as_flag(&self) -> Option<bool> {
        match self.value.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            _ => None,
        }
    }

    /// A path, from the directory of the file.
    pub(super) fn path(&self) -> Option<PathBuf> {
        match self.text()? {
            "" => {
                self.refuse("is empty", "write the path of a file, from the directory of this one")
            }
            path => Some(PathBuf::from(path)),
        }
    }

    /// `true` or `false`.
    pub(super) fn flag(&self) -> Option<bool> {
        self.as_flag()
            .or_else(|| self.wrong("true or false", "write one of the two, without quotes"))
    }

    /// A whole number, 0 or more.
    pub(super) fn count(&self) -> Option<u64> {
        match self.value.get_ref() {
            DeValue::Integer(number) => match whole(number) {
                Some(number) => Some(number),
                None => self.refuse("is out of range", "write a whole number, 0 or more"),
            },
            DeValue::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.wrong("a whole number", "write it without quotes")
            }
            _ => self.wrong("a whole number", "write one, 0 or more, without quotes"),
        }
    }

    /// A duration, in milliseconds.
    pub(super) fn duration(&self) -> Option<u64> {
        if let DeValue::Integer(number) = self.value.get_ref() {
            let means =
                format!("it has no unit. Write \"{}s\" if seconds are meant", number.as_str());
            return self.refuse("is not a duration", means);
        }
        self.parsed("is not a duration", text::duration)
    }

    /// A moment with its zone, in unix milliseconds: text, or a date and time of TOML's own.
    pub(super) fn moment(&self) -> Option<u64> {
        let what = "is no moment";
        match self.value.get_ref() {
            DeValue::Datetime(moment) => match text::moment(&moment.to_string()) {
                Ok(ms) => Some(ms),
                Err(means) => self.refuse(what, means),
            },
            _ => self.parsed(what, text::moment),
        }
    }

    /// A rate; a bare 0 is one, too.
    pub(super) fn rate(&self) -> Option<Rate> {
        match self.value.get_ref() {
            DeValue::Integer(number) if whole(number) == Some(0) => text::rate("0").ok(),
            DeValue::Integer(number) => {
                let number = number.as_str();
                let means = format!("it has no time. Write \"{number}/s\" if per second is meant");
                self.refuse("is not a rate", means)
            }
            DeValue::Float(number) => {
                let number = number.as_str();
                let means = format!("it has no time. Write \"{number}/s\" if per second is meant");
                self.refuse("is not a rate", means)
            }
            _ => self.parsed("is not a rate", text::rate),
        }
    }

    /// A limit, or `"none"`.
    pub(super) fn allowance(&self) -> Option<Option<(u64, u64)>> {
        match self.value.get_ref() {
            DeValue::String(text) if text == "none" => Some(None),
            DeValue::Integer(number) => {
                let number = number.as_str();
                let means = format!("it has no time. Write \"{number}/m\" if per minute is meant");
                self.refuse("is not a limit", means)
            }
            _ => self.parsed("is not a limit", text::allowance).map(Some),
        }
    }

    /// A share of all, from 0 to 1: `"off"`, `"all"` or a percentage; `false` and `true` are the first two.
    pub(super) fn share(&self) -> Option<f64> {
        let what = "is not a share of the requests";
        match self.value.get_ref() {
            DeValue::Boolean(all) => Some(f64::from(u8::from(*all))),
            DeValue::Integer(number) => self.refuse(what, text::no_percent(number.as_str())),
            DeValue::Float(number) => self.refuse(what, text::no_percent(number.as_str())),
            _ => self.parsed(what, text::share),
        }
    }

    /// A part of a whole in thousandths: a number from 0 to 1 with at most three digits after the point.
    pub(super) fn thousandths(&self) -> Option<u64> {
        let text = match self.value.get_ref() {
            DeValue::Integer(number) => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => "",
        };
        match text::decimal(text) {
            Some((number, scale)) if number <= scale && 1_000 % scale == 0 => {
                Some(number * (1_000 / scale))
            }
            _ => self.refuse(
                "is not a part of a whole",
                "write a number from 0 to 1, with at most three digits after the point",
            ),
        }
    }

    /// A size in bytes.
    pub(super) fn bytes(&self) -> Option<u64> {
        match self.value.get_ref() {
            DeValue::Integer(_) => self.count(),
            _ => self.parsed("is not a size", text::bytes),
        }
    }

    fn parsed<T>(&self, what: &str, parse: fn(&str) -> Result<T, String>) -> Option<T> {
        // What is no text is none of its forms either, and the sentence tells them.
        match parse(self.as_text().unwrap_or_default()) {
            Ok(value) => Some(value),
            Err(means) => self.refuse(what, means),
        }
    }

    /// A list.
    pub(super) fn list(&self) -> Option<Vec<Node<'a>>> {
        let DeValue::Array(array) = self.value.get_ref() else {
            return self.wrong("a list", format!("write [{}]", self.shown()));
        };
        let element = |(index, value): (usize, &'a Spanned<DeValue<'a>>)| {
            let path = format!("{}[{index}]", self.path);
            Node { path, value, ..self.clone() }
        };
        Some(array.iter().enumerate().map(element).collect())
    }

    /// A list; or a single one, which stands for a list of one.
    pub(super) fn one_or_many(&self) -> Option<Vec<Node<'a>>> {
        match self.value.get_ref() {
            DeValue::Array(_) => self.list(),
            _ => Some(vec![self.clone()]),
        }
    }

    /// A table.
    pub(super) fn table(&self, level: &'static Level) -> Option<Reader<'a>> {
        let table = self.bare_table(level)?;
        Some(Reader::new(self.source, self.report, self.path.clone(), table, level))
    }

    /// A table whose keys are nobody's business here.
    pub(super) fn bare_table(&self, level: &Level) -> Option<&'a DeTable<'a>> {
        match self.value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => self.wrong("a table", format!("write {{ {} = … }}", level.keys[0])),
        }
    }
}

/// A number that is not negative and not beyond reason.
fn whole(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}
