//! `[bounds]`: what a client may cost.

use super::Check;
use crate::config::file;
use crate::config::report::Written;
use crate::gateway::http1::MAX_LINES;
use crate::gateway::settings::Bounds;
use crate::units as text;

const MINUTE: u64 = 60_000;

impl Check<'_> {
    pub(super) fn bounds(&self, written: &file::Bounds) -> Bounds {
        let usual = Bounds::default();
        let number = |written: &Option<Written<u64>>, default: usize, low, high, show, why| {
            let value = written.as_ref().and_then(|w| self.within(w, low, high, show, why));
            value.map_or(default, |value| usize::try_from(value).unwrap_or(default))
        };
        let body_bytes = match &written.body_bytes {
            None => usual.body_bytes,
            Some(Written { value: None, .. }) => None,
            Some(Written { value: Some(0), key, .. }) => {
                let means = "no form could be sent. Write \"none\" for any size";
                self.report.problem(format!("{key} = 0 lets no body through"), means);
                usual.body_bytes
            }
            Some(Written { value, .. }) => *value,
        };
        let connections = number(
            &written.connections,
            usual.connections,
            1,
            10_000_000,
            text::grouped,
            "a node without connections serves nobody, and more than that no system has",
        );
        Bounds {
            connections,
            streams: number(
                &written.streams,
                connections.div_ceil(2),
                1,
                10_000_000,
                text::grouped,
                "an app's stream could not be opened without one, and more than that no system has",
            ),
            connections_per_address: number(
                &written.connections_per_address,
                usual.connections_per_address,
                1,
                10_000_000,
                text::grouped,
                "nobody could connect without one, and more than that no system has",
            ),
            header_timeout: self.duration(
                written.header_timeout.as_ref(),
                usual.header_timeout,
                (100, 10 * MINUTE),
                "a slow phone needs a moment for its request, and a slow attacker takes whatever it gets",
            ),
            idle_timeout: self.duration(
                written.idle_timeout.as_ref(),
                usual.idle_timeout,
                (1_000, 60 * MINUTE),
                "a browser asks again within seconds, and an idle connection costs memory",
            ),
            header_bytes: number(
                &written.header_bytes,
                usual.header_bytes,
                8 * 1024,
                1024 * 1024,
                text::size,
                "cookies alone often take 4 KiB, and every connection may take this much memory",
            ),
            header_lines: number(
                &written.header_lines,
                usual.header_lines,
                20,
                MAX_LINES as u64,
                text::grouped,
                "a browser sends about 20 lines, and for more than 128 the gate has no place",
            ),
            body_bytes,
            body_timeout: self.duration(
                written.body_timeout.as_ref(),
                usual.body_timeout,
                (1_000, 60 * MINUTE),
                "a phone in a tunnel is silent for seconds, and a slow reader holds a connection",
            ),
            polls_per_second: number(
                &written.polls_per_second,
                usual.polls_per_second as usize,
                1,
                10_000_000,
                text::grouped,
                "waiting pages ask within this budget, and without one they could not ask at all",
            ) as u32,
        }
    }
}
