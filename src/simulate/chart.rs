//! A run as a picture: an SVG that stands by itself, light or dark as its reader is.
//!
//! Owns the drawing. Three panels over the same time: who waited; what rate was set and what was reached; what people were told and how
//! long it was. Numbers are those of the report.

use std::fmt::Write as _;

use super::report::{Point, Report};
use crate::units;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const PANEL: f64 = 168.0;
const GAP: f64 = 72.0;
const TOP: f64 = 176.0;
const HEIGHT: f64 = TOP + 3.0 * PANEL + 2.0 * GAP + 56.0;
/// Dots of estimates: more would hide each other.
const DOTS: f64 = 260.0;

const STYLE: &str = "\
.page{fill:#fbfbfa}.ink{fill:#1d2433}.soft{fill:#667085}.grid{stroke:#e4e7ec}.base{stroke:#98a2b3}\
.w{stroke:#3355d9}.wf{fill:#3355d9;fill-opacity:.14}.i{stroke:#0d8f7a}.e{stroke:#0d8f7a}.s{stroke:#1d2433}\
.t{stroke:#c98a1b}.dot{fill:#3355d9;fill-opacity:.9}.band{stroke:#3355d9;stroke-opacity:.22;stroke-width:2}.r{stroke:#d0447b}\
.k1{fill:#3355d9}.k2{fill:#0d8f7a}.k3{fill:#c98a1b}.k4{fill:#d0447b}.k5{fill:#1d2433}\
.card{fill:#fff;stroke:#e4e7ec}\
@media(prefers-color-scheme:dark){.page{fill:#12151c}.ink{fill:#eef1f6}.soft{fill:#98a2b3}.grid{stroke:#262c38}.base{stroke:#566074}\
.w{stroke:#8ea5ff}.wf{fill:#8ea5ff;fill-opacity:.16}.i,.e{stroke:#4fd1b8}.s{stroke:#eef1f6}.t{stroke:#f0b95a}\
.dot{fill:#8ea5ff;fill-opacity:.9}.band{stroke:#8ea5ff;stroke-opacity:.26;stroke-width:2}.r{stroke:#f47fae}\
.k1{fill:#8ea5ff}.k2{fill:#4fd1b8}.k3{fill:#f0b95a}.k4{fill:#f47fae}.k5{fill:#eef1f6}.card{fill:#1a1f29;stroke:#262c38}}\
text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}.h{font-size:20px;font-weight:650}\
.p{font-size:13px;font-weight:600}.n{font-size:19px;font-weight:650}.end{text-anchor:end}.mid{text-anchor:middle}\
path,line,polyline{fill:none}.line{stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}.dash{stroke-dasharray:5 4}";

/// An SVG of a run.
pub fn chart(report: &Report) -> String {
    let mut drawing = Drawing { out: String::with_capacity(200_000), span: span(report) };
    drawing.begin(report);
    drawing.crowd(report, TOP);
    drawing.rates(report, TOP + PANEL + GAP);
    drawing.estimates(report, TOP + 2.0 * (PANEL + GAP));
    drawing.out.push_str("</svg>\n");
    drawing.out
}

/// Seconds from one side to the other.
fn span(report: &Report) -> f64 {
    // What comes after the last entry is silence.
    let all = report.series.len() as f64 * report.step_seconds;
    all.min(report.virtual_seconds * 1.02 + report.step_seconds).max(1.0)
}

struct Drawing {
    out: String,
    span: f64,
}

/// A panel's frame: where it is, and what its height stands for.
#[derive(Clone, Copy)]
struct Frame {
    top: f64,
    most: f64,
}

impl Frame {
    fn y(self, value: f64) -> f64 {
        self.top + PANEL - PANEL * (value / self.most).clamp(0.0, 1.0)
    }
}

impl Drawing {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (seconds / self.span).clamp(0.0, 1.0)
    }

    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(self.out, r#"<text x="{x:.1}" y="{y:.1}" class="{class}">{text}</text>"#);
    }

    fn rule(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.out,
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" class="{class}"/>"#
        );
    }

    fn begin(&mut self, report: &Report) {
        let crowd = &report.plan.crowd;
        let visitors = units::grouped(crowd.visitors.into());
        let _ = writeln!(
            self.out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{visitors} simulated visitors before a line"><style>{STYLE}</style><rect class="page" width="100%" height="100%"/>"#
        );
        self.text(24.0, 38.0, "ink h", &format!("{visitors} visitors"));
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let about = format!(
            "{} do not come, {} bots, {} phones that sleep · {} nodes · seed {}",
            percent(crowd.no_shows),
            percent(crowd.bots),
            percent(crowd.sleepers),
            report.plan.nodes,
            report.plan.seed
        );
        self.text(24.0, 58.0, "soft", &about);
        let reached = match report.entries.reached_of_set {
            Some(of) => format!("{:.1} %", of * 100.0),
            None => format!("{:.1}/s", report.entries.rate_reached),
        };
        let eta = &report.eta;
        let cards = [
            ("entered", units::grouped(report.people.entered)),
            ("waited, half of them", time(report.wait_seconds.p50)),
            ("of the rate reached", reached),
            ("median error of estimates", format!("{:.1} %", eta.median_error * 100.0)),
            ("ranges that were right", format!("{:.1} %", eta.ranges_right * 100.0)),
        ];
        let width = (WIDTH - 48.0 - 4.0 * 12.0) / cards.len() as f64;
        for (nth, (name, value)) in cards.into_iter().enumerate() {
            let x = 24.0 + nth as f64 * (width + 12.0);
            let _ = writeln!(
                self.out,
                r#"<rect class="card" x="{x:.1}" y="72" width="{width:.1}" height="48" rx="8"/>"#
            );
            self.text(x + 12.0, 93.0, "ink n", &value);
            self.text(x + 12.0, 111.0, "soft", name);
        }
    }

    /// Grid, ticks and a title with its keys.
    fn frame(&mut self, top: f64, most: f64, title: &str, keys: &[(&str, &str)]) -> Frame {
        let step = nice(most / 4.0);
        let frame = Frame { top, most: (most / step).ceil().max(1.0) * step };
        let mut tick = 0.0;
        while tick <= frame.most + step / 2.0 {
            let y = frame.y(tick);
            let class = if tick == 0.0 { "base" } else { "grid" };
            self.rule((LEFT, y), (WIDTH - RIGHT, y), class);
            self.text(LEFT - 10.0, y + 4.0, "soft end", &short(tick));
            tick += step;
        }
        self.text(LEFT, top - 16.0, "ink p", title);
        let mut x = WIDTH - RIGHT;
        for (class, key) in keys.iter().rev() {
            x -= key.chars().count() as f64 * 6.3;
            self.text(x, top - 16.0, "soft", key);
            let _ = writeln!(
                self.out,
                r#"<circle class="{class}" cx="{:.1}" cy="{:.1}" r="4"/>"#,
                x - 10.0,
                top - 20.0
            );
            x -= 34.0;
        }
        let step = nice_time(self.span / 7.0);
        let mut at = 0.0;
        while at <= self.span {
            let x = self.x(at);
            self.rule((x, top + PANEL), (x, top + PANEL + 4.0), "base");
            self.text(x, top + PANEL + 20.0, "soft mid", &time(at));
            at += step;
        }
        frame
    }

    fn line(&mut self, points: &[(f64, f64)], class: &str) {
        self.out.push_str(r#"<polyline points=""#);
        for (x, y) in points {
            let _ = write!(self.out, "{x:.1},{y:.1} ");
        }
        let _ = writeln!(self.out, r#"" class="line {class}"/>"#);
    }

    /// Steps that are within the picture.
    fn count(&self, report: &Report) -> usize {
        (self.span / report.step_seconds).ceil() as usize
    }

    /// A figure of every step.
    fn steps(&self, report: &Report, frame: Frame, of: impl Fn(&Point) -> f64) -> Vec<(f64, f64)> {
        let middle = |nth: usize| self.x((nth as f64 + 0.5) * report.step_seconds);
        let points = report.series.iter().take(self.count(report)).enumerate();
        points.map(|(nth, point)| (middle(nth), frame.y(of(point)))).collect()
    }

    fn crowd(&mut self, report: &Report, top: f64) {
        let most = |of: fn(&Point) -> u64| report.series.iter().map(of).max().unwrap_or(0) as f64;
        let top_value = most(|point| point.waiting).max(most(|point| point.inside)).max(1.0);
        let keys = [("k1", "waiting"), ("k2", "inside")];
        let frame = self.frame(top, top_value, "People", &keys);
        let waiting = self.steps(report, frame, |point| point.waiting as f64);
        if let (Some(first), Some(last)) = (waiting.first(), waiting.last()) {
            let base = frame.y(0.0);
            let _ = write!(self.out, r#"<polygon class="wf" points="{:.1},{base:.1} "#, first.0);
            for (x, y) in &waiting {
                let _ = write!(self.out, "{x:.1},{y:.1} ");
            }
            let _ = writeln!(self.out, r#"{:.1},{base:.1}"/>"#, last.0);
        }
        self.line(&waiting, "w");
        let inside = self.steps(report, frame, |point| point.inside as f64);
        self.line(&inside, "i");
    }

    fn rates(&mut self, report: &Report, top: f64) {
        // A single step is too short to be a rate.
        let smooth = (report.series.len() / 120).max(1);
        let per_second = |of: fn(&Point) -> u64| -> Vec<f64> {
            let steps: Vec<u64> = report.series.iter().map(of).collect();
            let mean = |at: usize| {
                let around = &steps[at.saturating_sub(smooth)..(at + smooth + 1).min(steps.len())];
                around.iter().sum::<u64>() as f64 / around.len() as f64 / report.step_seconds
            };
            (0..steps.len()).map(mean).collect()
        };
        let (entries, turns) = (per_second(|point| point.entries), per_second(|point| point.turns));
        let set = report.series.iter().map(|point| point.rate).fold(0.0, f64::max);
        let most = entries.iter().chain(&turns).copied().fold(set, f64::max).max(1e-3);
        let mut keys = vec![("k3", "turns given"), ("k2", "entries")];
        if set > 0.0 {
            keys.push(("k5", "rate set"));
        }
        let frame = self.frame(top, most, "A second", &keys);
        let at = |drawing: &Drawing, values: &[f64]| -> Vec<(f64, f64)> {
            let middle = |nth: usize| drawing.x((nth as f64 + 0.5) * report.step_seconds);
            let values = values.iter().take(drawing.count(report));
            values.enumerate().map(|(nth, value)| (middle(nth), frame.y(*value))).collect()
        };
        let line = at(self, &turns);
        self.line(&line, "t");
        let line = at(self, &entries);
        self.line(&line, "e");
        if set > 0.0 {
            let line = self.steps(report, frame, |point| point.rate);
            self.line(&line, "s dash");
        }
    }

    fn estimates(&mut self, report: &Report, top: f64) {
        let samples = &report.samples;
        let mut sorted: Vec<_> = samples.iter().collect();
        sorted.sort_by(|one, other| one.joined.total_cmp(&other.joined));
        // Evenly in time, so that a rush does not hide the rest.
        let (mut shown, mut next) = (Vec::new(), 0.0);
        for sample in sorted {
            if sample.joined >= next {
                next = sample.joined + self.span / DOTS;
                shown.push(sample);
            }
        }
        let highest = shown.iter().map(|sample| sample.was.max(sample.told)).fold(60.0, f64::max);
        let unit = if highest >= 7_200.0 { (3_600.0, "hours") } else { (60.0, "minutes") };
        let keys = [("k1", "told, with its range"), ("k4", "it was")];
        let title = format!("Wait of those who joined then, {}", unit.1);
        let frame = self.frame(top, highest / unit.0, &title, &keys);
        for sample in &shown {
            let x = self.x(sample.joined);
            let (low, high) = (frame.y(sample.low / unit.0), frame.y(sample.high / unit.0));
            self.rule((x, low), (x, high), "band");
        }
        for sample in &shown {
            let (x, y) = (self.x(sample.joined), frame.y(sample.told / unit.0));
            let _ = writeln!(self.out, r#"<circle class="dot" cx="{x:.1}" cy="{y:.1}" r="2"/>"#);
        }
        let was: Vec<_> = shown
            .iter()
            .map(|sample| (self.x(sample.joined), frame.y(sample.was / unit.0)))
            .collect();
        self.line(&was, "r");
    }
}

/// 1, 2 or 5 times a power of ten, not below.
fn nice(value: f64) -> f64 {
    let power = 10_f64.powf(value.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|step| *step >= value).unwrap_or(value)
}

/// A step of time that people count in, not below.
fn nice_time(seconds: f64) -> f64 {
    let steps = [
        1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0,
        14_400.0, 21_600.0, 43_200.0, 86_400.0,
    ];
    let day = 86_400.0;
    steps.into_iter().find(|step| *step >= seconds).unwrap_or((seconds / day).ceil() * day)
}

/// 1.5 h, 12 min, 30 s.
fn time(seconds: f64) -> String {
    let trim =
        |value: f64| format!("{value:.1}").trim_end_matches('0').trim_end_matches('.').to_owned();
    match seconds {
        0.0 => "0".to_owned(),
        short if short < 120.0 => format!("{} s", trim(short)),
        minutes if minutes < 5_400.0 => format!("{} min", trim(minutes / 60.0)),
        hours => format!("{} h", trim(hours / 3_600.0)),
    }
}

/// 12k, 3.5M.
fn short(value: f64) -> String {
    let (scaled, unit) = match value {
        small if small < 1e4 => (small, ""),
        thousands if thousands < 1e6 => (thousands / 1e3, "k"),
        millions => (millions / 1e6, "M"),
    };
    let text = format!("{scaled:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!([0.3, 1.0, 13.0, 600.0].map(nice), [0.5, 1.0, 20.0, 1_000.0]);
        assert_eq!([7.0, 61.0, 4_000.0].map(nice_time), [10.0, 120.0, 7_200.0]);
        assert_eq!(
            ["0", "90 s", "12 min", "1.5 h"],
            [0.0, 90.0, 720.0, 5_400.0].map(time).each_ref().map(String::as_str)
        );
        assert_eq!(
            ["950", "12k", "3.5M"],
            [950.0, 12_000.0, 3.5e6].map(short).each_ref().map(String::as_str)
        );
    }
}
