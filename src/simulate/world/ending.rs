//! What became of everybody, when it is over.

use super::{State, World};
use crate::simulate::fairness;
use crate::simulate::report::{
    Cost, Entries, Estimates, Fairness, People, Quantiles, Report, SCHEMA,
};
use crate::simulate::tally::Tally;

impl World<'_> {
    pub(super) fn report(mut self) -> Report {
        let count = |wanted: State| self.state.iter().filter(|state| **state == wanted).count();
        let is = |wanted: State| {
            let visitors = (0..).zip(&self.state).filter(move |(_, state)| **state == wanted);
            visitors.map(|(visitor, _)| visitor)
        };
        let bots =
            |wanted| is(wanted).filter(|visitor| self.traits.is_bot(*visitor)).count() as u64;
        let gone_bots = bots(State::GaveUp);
        let waits = is(State::Entered)
            .filter(|visitor| !self.traits.is_bot(*visitor))
            .map(|visitor: u32| visitor as usize)
            .map(|index| f64::from(self.until_ms[index] - self.arrived_ms[index]) / 1_000.0);
        let wait_seconds = Quantiles::of(waits.collect());
        let counts = self.line.counts();
        let undecided = [State::Coming, State::Waiting, State::Called, State::Roused];
        let people = People {
            visitors: self.plan.crowd.visitors.into(),
            entered: count(State::Entered) as u64 - self.bots_inside,
            gave_up: count(State::GaveUp) as u64 - gone_bots,
            no_shows: count(State::NoShow) as u64,
            bots: gone_bots + self.bots_inside,
            bots_inside: self.bots_inside,
            passed_over: count(State::Passed) as u64,
            turned_away: count(State::TurnedAway) as u64,
            still_waiting: undecided.into_iter().map(count).sum::<usize>() as u64,
            lost: count(State::Lost) as u64,
            counted_no_shows: counts.no_shows,
            counted_dropped: counts.dropped,
            peak_waiting: self.tally.peak_waiting,
            peak_inside: self.tally.peak_inside,
        };
        let Tally { contested_ms, contested_entries, set_turns, .. } = self.tally;
        let contested = contested_ms as f64 / 1_000.0;
        let rate_reached = contested_entries as f64 / contested.max(1.0);
        let rate_set = self.plan.settings.pace.is_some().then(|| set_turns / contested.max(1.0));
        let entries = Entries {
            rate_set,
            rate_reached,
            reached_of_set: rate_set.filter(|set| *set > 0.0).map(|set| rate_reached / set),
            contested_seconds: contested,
            turns: counts.turns,
        };
        let state = &self.state;
        self.called.retain(|visitor| state[*visitor as usize] == State::Entered);
        let compared = self.entered.len() as u64;
        let turn_inversions = fairness::inversions(&mut self.called);
        let entry_inversions = fairness::inversions(&mut self.entered);
        let fairness = Fairness {
            compared,
            turn_inversions,
            turn_tau: fairness::tau(turn_inversions, self.called.len() as u64),
            entry_inversions,
            entry_tau: fairness::tau(entry_inversions, compared),
        };
        let seconds = (f64::from(self.now_ms) / 1_000.0).max(1.0);
        let mut tally = self.tally;
        let cost = Cost {
            calls: tally.calls,
            calls_failed: tally.failed,
            calls_per_second: tally.calls as f64 / seconds,
            calls_per_second_and_node: tally.calls as f64 / seconds / f64::from(self.plan.nodes),
            calls_per_second_peak: tally.calls_peak,
            store_busy: tally.busy_us as f64 / 1e6 / seconds,
            marks: tally.marks,
            store_bytes_peak: tally.store_bytes_peak,
            bitmap_bytes_peak: tally.bitmap_bytes_peak,
            bytes_said_per_second: tally.said_bytes as f64 / seconds,
            bytes_heard_per_second: tally.heard_bytes as f64 / seconds,
        };
        let eta_at_joining = Estimates::of(&tally.at_joining);
        let eta_while_waiting = Estimates::of(&tally.while_waiting);
        let all = [&tally.at_joining[..], &tally.while_waiting].concat();
        let eta = Estimates::of(&all);
        let eta_overtaken = tally.overtaken;
        let samples = std::mem::take(&mut tally.samples);
        let (step_ms, series) = tally.steps();
        Report {
            schema: SCHEMA,
            plan: self.plan.clone(),
            virtual_seconds: f64::from(self.last_entry_ms) / 1_000.0,
            people,
            wait_seconds,
            entries,
            fairness,
            eta,
            eta_at_joining,
            eta_while_waiting,
            eta_overtaken,
            cost,
            step_seconds: f64::from(step_ms) / 1_000.0,
            series,
            samples,
        }
    }
}
