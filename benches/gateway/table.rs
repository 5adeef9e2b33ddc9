//! Medians, spreads and ratios, as a table for people and for the README.

use std::fmt;

/// The middle of several measurements, and how far they lie apart.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// Half are below.
    pub median: f64,
    low: f64,
    high: f64,
}

impl Spread {
    /// Of at least one.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Spread { median: sorted[sorted.len() / 2], low: sorted[0], high: sorted[sorted.len() - 1] }
    }

    /// Of one over the other, round by round: what disturbs a round disturbs both.
    pub fn ratio(one: &[f64], other: &[f64]) -> Spread {
        Spread::of(one.iter().zip(other).map(|(one, other)| one / other))
    }
}

impl fmt::Display for Spread {
    /// `25.1 (24.8–26.0)`, with the precision asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(1);
        let Spread { median, low, high } = self;
        write!(f, "{median:.places$} ({low:.places$}–{high:.places$})")
    }
}

/// A markdown table.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With a head.
    pub fn new<const N: usize>(head: [&str; N]) -> Table {
        let rule = std::iter::once("---").chain(std::iter::repeat("---:")).take(N);
        let rows = vec![head.map(str::to_owned).to_vec(), rule.map(str::to_owned).collect()];
        Table { rows }
    }

    /// With another row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.iter().try_for_each(|row| writeln!(f, "| {} |", row.join(" | ")))
    }
}
