//! What is wrong, collected: every problem at once.
//!
//! Owns the form of a complaint: where, what was written, what is the matter with it, what it would cause and
//! what to do. Decides nothing. Nothing that could be a secret may come in here: see [`Written`].

use std::cell::RefCell;
use std::fmt;

/// Something that must be changed before a node runs with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    said: String,
    means: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:\n  {}.", self.said, self.means)
    }
}

/// Something that works, and probably not as it was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(Problem);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Every problem there is. At least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// How many.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    /// A problem a paragraph of two lines, without a line end after the last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// A value and how it was written.
#[derive(Clone, Debug)]
pub(super) struct Written<T> {
    /// What it means.
    pub value: T,
    /// Where it stands: `rooms.sale.rate`, `--rate`, `ANTEROOM_RATE`.
    pub key: String,
    /// What stands there: `"5/s"`; for secrets only that there is something.
    pub text: String,
}

/// What stands for a value that nobody may see.
pub(super) const VEIL: &str = "…";

/// As it may be shown: what has an @ in it may have a password before that.
pub(super) fn quoted(value: &str) -> String {
    match value.contains('@') {
        true => VEIL.to_owned(),
        false => format!("{value:?}"),
    }
}

impl<T> Written<T> {
    /// `rooms.sale.rate = "5/s"`, `--rate "5/s"`.
    pub(super) fn said(&self) -> String {
        said(&self.key, &self.text)
    }

    /// `rate = "5/s"`: for the second one named in a sentence.
    pub(super) fn briefly(&self) -> String {
        let key = self.key.rsplit('.').next().unwrap_or(&self.key);
        said(key, &self.text)
    }

    /// Another value from the same words.
    pub(super) fn map<U>(self, make: impl FnOnce(T) -> U) -> Written<U> {
        Written { value: make(self.value), key: self.key, text: self.text }
    }
}

/// A key with its value, as one writes it there.
pub(super) fn said(key: &str, text: &str) -> String {
    match key {
        option if option.starts_with("--") => format!("{option} {text}"),
        variable if is_outside(variable) => format!("{variable}={text}"),
        key => format!("{key} = {text}"),
    }
}

/// Whether a sentence begins with an option or a variable instead of a key of the file.
fn is_outside(said: &str) -> bool {
    said.starts_with("--") || said.starts_with("ANTEROOM_")
}

/// Where problems are put as they are found. Shared by all who read, so that one pass finds them all.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The file, as the user named it.
    place: Option<String>,
    problems: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Warning>>,
}

impl Report {
    /// About a file, or about options and variables alone.
    pub(super) fn new(place: Option<String>) -> Report {
        Report { place, ..Report::default() }
    }

    /// "`said`: `means`." `said` begins with the key; `means` is what it would cause and what to do.
    pub(super) fn problem(&self, said: impl AsRef<str>, means: impl Into<String>) {
        let problem = self.placed(said.as_ref(), means.into());
        self.problems.borrow_mut().push(problem);
    }

    /// The same about something that is no obstacle.
    pub(super) fn warn(&self, said: impl AsRef<str>, means: impl Into<String>) {
        let problem = self.placed(said.as_ref(), means.into());
        self.warnings.borrow_mut().push(Warning(problem));
    }

    /// A place in the file, for what can't even be read: line and column, from 1.
    pub(super) fn unreadable(&self, line: usize, column: usize, said: &str, means: &str) {
        let place = self.place.as_deref().unwrap_or_default();
        let said = format!("{place}:{line}:{column}: {said}");
        self.problems.borrow_mut().push(Problem { said, means: means.to_owned() });
    }

    /// What was found: problems, or else only warnings.
    pub(super) fn verdict<T>(self, good: Option<T>) -> Result<(T, Vec<Warning>), Problems> {
        let problems = self.problems.into_inner();
        match good {
            Some(good) if problems.is_empty() => Ok((good, self.warnings.into_inner())),
            _ => Err(Problems(problems)),
        }
    }

    fn placed(&self, said: &str, means: String) -> Problem {
        let said = match &self.place {
            Some(place) if !is_outside(said) => format!("{place}: {said}"),
            _ => said.to_owned(),
        };
        Problem { said, means }
    }
}
