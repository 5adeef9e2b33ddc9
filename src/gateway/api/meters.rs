//! What is counted about calls: how many, with which answer, and how long they take.
//!
//! A poll that is answered from memory takes about as long as looking at a clock twice, and there are thousands of them
//! a second: each is counted, and one in 64 is timed.

use std::cell::Cell;
use std::time::Instant;

use super::Endpoint;
use crate::metrics::{self, Metrics};

/// Of the polls answered from memory one in so many is timed.
const SAMPLED: u32 = 64;

/// What counts calls of the visitor API.
#[derive(Debug)]
pub struct Meters {
    join: metrics::Endpoint,
    status: metrics::Endpoint,
    heartbeat: metrics::Endpoint,
    events: metrics::Endpoint,
    leave: metrics::Endpoint,
    verify: metrics::Endpoint,
    complete: metrics::Endpoint,
    roster: metrics::Endpoint,
    draw: metrics::Endpoint,
}

impl Meters {
    /// Those of a node.
    pub fn new(metrics: &Metrics) -> Meters {
        let endpoint = |name: &str| metrics.endpoint(&format!("/v1/{name}"));
        Meters {
            join: endpoint("queue/join"),
            status: endpoint("queue/status"),
            heartbeat: endpoint("queue/heartbeat"),
            events: endpoint("queue/events"),
            leave: endpoint("queue/leave"),
            verify: endpoint("admission/verify"),
            complete: endpoint("admission/complete"),
            roster: endpoint("queue/roster"),
            draw: endpoint("draw"),
        }
    }

    fn of(&self, call: Endpoint) -> &metrics::Endpoint {
        match call {
            Endpoint::Join { .. } => &self.join,
            Endpoint::Status => &self.status,
            Endpoint::Heartbeat => &self.heartbeat,
            Endpoint::Events => &self.events,
            Endpoint::Leave => &self.leave,
            Endpoint::Verify => &self.verify,
            Endpoint::Complete => &self.complete,
            Endpoint::Roster => &self.roster,
            Endpoint::Draw => &self.draw,
        }
    }

    /// A poll begins; it is timed if it is its turn.
    pub(super) fn begin_poll(&self) -> Option<Instant> {
        thread_local! {
            static POLLS: Cell<u32> = const { Cell::new(0) };
        }
        let nth = POLLS.replace(POLLS.get().wrapping_add(1));
        nth.is_multiple_of(SAMPLED).then(Instant::now)
    }

    /// A call was answered with this, and began then.
    pub(super) fn answered(&self, call: Endpoint, status: u16, began: Option<Instant>) {
        let endpoint = self.of(call);
        endpoint.count(status);
        if let Some(began) = began {
            endpoint.took(began.elapsed());
        }
    }
}

impl Default for Meters {
    /// Those that nobody reads.
    fn default() -> Meters {
        Meters::new(&Metrics::default())
    }
}
