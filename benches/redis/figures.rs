//! What was promised, what was measured, and whether the one is the other.

use std::fmt;

use super::table::Table;

/// Every figure in the order in which it was taken.
pub struct Figures {
    judged: bool,
    table: Table,
    missed: usize,
}

impl Figures {
    /// None yet. A small run says nothing about bounds: it is not `judged`.
    pub fn new(judged: bool) -> Figures {
        Figures { judged, table: Table::new(["figure", "measured", "bound", ""]), missed: 0 }
    }

    /// Something that is to be at most so much.
    pub fn at_most(&mut self, name: impl Into<String>, measured: Measured, bound: f64) {
        let held = measured.value <= bound;
        self.judge(name.into(), &measured, format!("≤ {}", measured.quantity(bound)), held);
    }

    /// Something that is to be at least so much.
    pub fn at_least(&mut self, name: impl Into<String>, measured: Measured, bound: f64) {
        let held = measured.value >= bound;
        self.judge(name.into(), &measured, format!("≥ {}", measured.quantity(bound)), held);
    }

    fn judge(&mut self, name: String, measured: &Measured, bound: String, held: bool) {
        self.missed += usize::from(!held);
        let verdict = match (self.judged, held) {
            (false, _) => "",
            (true, true) => "held",
            (true, false) => "**missed**",
        };
        self.table.row([name, measured.to_string(), bound, verdict.to_owned()]);
    }

    /// Whether any bound was missed, in a run that is judged.
    pub fn is_missed(&self) -> bool {
        self.judged && self.missed > 0
    }

    /// Something that is told, and has no bound.
    pub fn told(&mut self, name: impl Into<String>, measured: Measured) {
        self.table.row([name.into(), measured.to_string(), String::new(), String::new()]);
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.table)?;
        match self.judged {
            true => writeln!(f, "\n{} missed", self.missed),
            false => writeln!(f, "\na small run: nothing is judged"),
        }
    }
}

/// A quantity, and what else there is to know about it.
pub struct Measured {
    value: f64,
    places: usize,
    unit: &'static str,
    note: String,
}

impl Measured {
    /// So many of these, to so many places after the point.
    pub fn new(value: f64, places: usize, unit: &'static str) -> Measured {
        Measured { value, places, unit, note: String::new() }
    }

    /// The longest of several script calls, in microseconds as Redis counts; their median beside it.
    pub fn longest(taken: &[f64]) -> Measured {
        let longest = taken.iter().copied().fold(0.0, f64::max);
        let note = format!("median {:.1} of {}", median(taken) / 1e3, taken.len());
        Measured::new(longest / 1e3, 1, "ms").noting(note)
    }

    /// With a remark.
    pub fn noting(self, note: impl Into<String>) -> Measured {
        Measured { note: note.into(), ..self }
    }

    fn quantity(&self, value: f64) -> String {
        format!("{value:.*} {}", self.places, self.unit).trim_end().to_owned()
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.quantity(self.value))?;
        if !self.note.is_empty() {
            write!(f, " ({})", self.note)?;
        }
        Ok(())
    }
}

/// Half are below; of none, nothing.
pub fn median(values: &[f64]) -> f64 {
    share(values, 50)
}

/// So many of a hundred are below; of none, nothing.
pub fn share(values: &[f64], part: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((sorted.len() * part / 100).min(last)).copied().unwrap_or_default()
}
