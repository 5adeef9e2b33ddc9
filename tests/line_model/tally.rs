//! What runs did: a rule that no run reaches is judged by nobody.

use std::collections::BTreeMap;
use std::fmt;

use anteroom::line::{Batch, Command, Joined, Reply, Taken};

/// How often what happened.
#[derive(Default, Clone)]
pub(super) struct Tally(BTreeMap<String, u64>);

impl Tally {
    pub(super) fn add(&mut self, what: impl Into<String>, count: u64) {
        *self.0.entry(what.into()).or_default() += count;
    }

    pub(super) fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }

    pub(super) fn join(&mut self, other: Tally) {
        other.0.into_iter().for_each(|(what, count)| self.add(what, count));
    }

    /// What came of an exchange.
    pub(super) fn count(&mut self, batch: &Batch, reply: &Reply) {
        let tally = self;
        tally.add("exchanges", 1);
        let name =
            |debug: String| debug.split(['(', '{', ' ']).next().unwrap_or_default().to_owned();
        tally.add(name(format!("{:?}", reply.taken)), 1);
        for claimed in &reply.claims {
            tally.add(format!("claim {}", name(format!("{claimed:?}"))), 1);
        }
        for claimed in &reply.renewals {
            tally.add(format!("renewal {}", name(format!("{claimed:?}"))), 1);
        }
        for claimed in reply.returns.iter().chain(&reply.vouched) {
            tally.add(format!("return {}", name(format!("{claimed:?}"))), 1);
        }
        for done in reply.leaves.iter().chain(&reply.ends) {
            tally.add(format!("leave or end {done:?}"), 1);
        }
        for done in &reply.spends {
            tally.add(format!("spend {done:?}"), 1);
        }
        for joined in &reply.joins {
            let what = match joined {
                Joined::Refused(refusal) => format!("join {}", name(format!("{refusal:?}"))),
                other => format!("join {}", name(format!("{other:?}"))),
            };
            tally.add(what, 1);
        }
        if let Some(offered) = &reply.offered {
            tally.add(format!("offer {}", name(format!("{offered:?}"))), 1);
        }
        if batch.commands.contains(&Command::Reset.into()) && reply.taken == Taken::Applied {
            tally.add("resets", 1);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(what, count)| writeln!(to, "  {what}: {count}"))
    }
}
