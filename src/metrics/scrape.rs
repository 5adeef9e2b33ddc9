//! From counters and figures to the text that Prometheus reads.
//!
//! Owns the exposition. What is read at this moment is put into a registry that lives as long as the answer, so a room
//! that is gone leaves nothing behind.

use prometheus::proto::MetricFamily;
use prometheus::{GaugeVec, IntCounterVec, Registry, TextEncoder};

use super::{Metrics, Name, names, options, tenant_of};
use crate::line::Adapted;

/// What a room's view says now.
#[derive(Clone, Debug, Default)]
pub struct RoomFigures {
    /// Its whole name.
    pub room: String,
    /// Waiting.
    pub waiting: u64,
    /// Of these, visitors of a class.
    pub class_waiting: u64,
    /// Inside.
    pub inside: u64,
    /// Called, not inside yet.
    pub admitted: u64,
    /// Seats, if they are limited.
    pub max_active: Option<u64>,
    /// Turns a second by the settings, if they are limited.
    pub rate_set: Option<f64>,
    /// Turns a second over the last minute.
    pub rate_reached: f64,
    /// Joins a second over the last minute.
    pub joins_per_second: f64,
    /// Abandoned an hour.
    pub abandoned_per_hour: f64,
    /// Expired an hour.
    pub expired_per_hour: f64,
    /// Numbers given.
    pub joins: u64,
    /// Turns given.
    pub releases: u64,
    /// Entered.
    pub entered: u64,
    /// Completed.
    pub completed: u64,
    /// Ended otherwise.
    pub expired: u64,
    /// Called, but did not come.
    pub no_shows: u64,
    /// Fell silent.
    pub dropped: u64,
    /// Whether nobody is released.
    pub paused: bool,
    /// What the schedule says, one of `PHASES`.
    pub phase: &'static str,
    /// Unix seconds of the next opening, by the schedule.
    pub opens: Option<f64>,
    /// Whether the store answers.
    pub store_up: bool,
    /// Seconds since the last exchange.
    pub view_age: Option<f64>,
    /// Bytes of the line in a store.
    pub store_bytes: u64,
    /// The rate in force, where it follows the origin.
    pub adapted: Option<Adapted>,
}

/// What the node knows of itself.
#[derive(Clone, Debug, Default)]
pub struct NodeFigures {
    /// Open now.
    pub connections: u64,
    /// Allowed.
    pub connections_max: u64,
    /// Of events, open now.
    pub streams: u64,
    /// In seconds: while the store answers, and while it is being lost.
    pub order_spread: [f64; 2],
    /// Unix seconds.
    pub started: f64,
    /// Of the program.
    pub version: &'static str,
}

/// What a schedule may say.
pub const PHASES: [&str; 3] = ["open", "prequeue", "closed"];

/// What is read of a room.
type Read<T> = fn(&RoomFigures) -> T;

impl Metrics {
    /// Everything, as text; for a `tenant` only what is about its own rooms.
    pub fn expose(
        &self,
        node: &NodeFigures,
        rooms: &[RoomFigures],
        tenant: Option<&str>,
    ) -> String {
        let now = Registry::new();
        self.put_rooms(&now, rooms);
        self.put_node(&now, node);
        let mut families = self.registry.gather();
        families.extend(now.gather());
        if let Some(tenant) = tenant {
            families.iter_mut().for_each(|family| keep_only(family, tenant));
        }
        families.retain(|family| !family.get_metric().is_empty());
        families.sort_by(|one, other| one.name().cmp(other.name()));
        TextEncoder::new().encode_to_string(&families).unwrap_or_default()
    }

    fn put_rooms(&self, registry: &Registry, rooms: &[RoomFigures]) {
        let gauges: [(&Name, Read<Option<f64>>); 19] = [
            (&names::QUEUE_LENGTH, |room| Some(room.waiting as f64)),
            (&names::CLASS_LENGTH, |room| Some(room.class_waiting as f64)),
            (&names::OPENS_TIME, |room| room.opens),
            (&names::CONCURRENT, |room| Some(room.inside as f64)),
            (&names::PENDING, |room| Some(room.admitted as f64)),
            (&names::CAPACITY, |room| room.max_active.map(|seats| seats as f64)),
            (&names::RELEASE_RATE_SET, |room| room.rate_set),
            (&names::RELEASE_RATE, |room| Some(room.rate_reached)),
            (&names::JOIN_RATE, |room| Some(room.joins_per_second)),
            (&names::ABANDON_RATE, |room| Some(room.abandoned_per_hour)),
            (&names::EXPIRY_RATE, |room| Some(room.expired_per_hour)),
            (&names::PAUSED, |room| Some(f64::from(u8::from(room.paused)))),
            (&names::STORE_UP, |room| Some(f64::from(u8::from(room.store_up)))),
            (&names::VIEW_AGE, |room| room.view_age),
            (&names::STORE_BYTES, |room| Some(room.store_bytes as f64)),
            (&names::ADAPTIVE_RATE, |room| Some(room.adapted?.rate as f64 / 1_000.0)),
            (&names::ADAPTIVE_P95, |room| Some(room.adapted?.p95_ms as f64 / 1_000.0)),
            (&names::ADAPTIVE_SLOW, |room| Some(room.adapted?.slow as f64 / 1_000.0)),
            (&names::ADAPTIVE_ERRORS, |room| Some(room.adapted?.errors as f64 / 1_000.0)),
        ];
        for (name, value) in gauges {
            let told = rooms.iter().filter_map(|room| Some((room, value(room)?)));
            self.gauge(registry, name, |vec| {
                for (room, value) in told {
                    vec.with_label_values(&[&room.room, tenant_of(&room.room)]).set(value);
                }
            });
        }
        self.gauge(registry, &names::PHASE, |vec| {
            for (room, phase) in rooms.iter().flat_map(|room| PHASES.map(|phase| (room, phase))) {
                let labels = [room.room.as_str(), tenant_of(&room.room), phase];
                vec.with_label_values(&labels).set(f64::from(u8::from(room.phase == phase)));
            }
        });
        let counters: [(&Name, Read<u64>); 7] = [
            (&names::ADMISSIONS, |room| room.entered),
            (&names::JOINS, |room| room.joins),
            (&names::RELEASES, |room| room.releases),
            (&names::COMPLETIONS, |room| room.completed),
            (&names::EXPIRIES, |room| room.expired),
            (&names::NO_SHOWS, |room| room.no_shows),
            (&names::DROPPED, |room| room.dropped),
        ];
        for (name, value) in counters {
            let vec = IntCounterVec::new(options(&self.prefix, name), name.labels);
            let Ok(vec) = vec else { continue };
            for room in rooms {
                let labels = [room.room.as_str(), tenant_of(&room.room)];
                vec.with_label_values(&labels).inc_by(value(room));
            }
            let _ = registry.register(Box::new(vec));
        }
    }

    fn put_node(&self, registry: &Registry, node: &NodeFigures) {
        let none: [&str; 0] = [];
        for (name, value) in [
            (&names::CONNECTIONS, node.connections as f64),
            (&names::CONNECTIONS_MAX, node.connections_max as f64),
            (&names::STREAMS, node.streams as f64),
            (&names::ORDER_SPREAD, node.order_spread[0]),
            (&names::ORDER_SPREAD_LOSING, node.order_spread[1]),
            (&names::START_TIME, node.started),
        ] {
            self.gauge(registry, name, |vec| vec.with_label_values(&none).set(value));
        }
        self.gauge(registry, &names::BUILD_INFO, |vec| {
            vec.with_label_values(&[node.version]).set(1.0);
        });
    }

    fn gauge(&self, registry: &Registry, name: &Name, set: impl FnOnce(&GaugeVec)) {
        // The names of the table are good, and each is there once.
        if let Ok(vec) = GaugeVec::new(options(&self.prefix, name), name.labels) {
            set(&vec);
            let _ = registry.register(Box::new(vec));
        }
    }
}

/// Leaves what is labelled with this tenant.
fn keep_only(family: &mut MetricFamily, tenant: &str) {
    let kept: Vec<_> = family
        .get_metric()
        .iter()
        .filter(|metric| {
            let own = |label: &prometheus::proto::LabelPair| {
                label.name() == "tenant_id" && label.value() == tenant
            };
            metric.get_label().iter().any(own)
        })
        .cloned()
        .collect();
    family.set_metric(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{ALL, Kind, Outcome, Settings};

    fn figures(room: &str) -> RoomFigures {
        RoomFigures {
            room: room.to_owned(),
            waiting: 7,
            max_active: Some(9),
            rate_set: Some(0.5),
            view_age: Some(0.1),
            opens: Some(1.0),
            adapted: Some(Adapted::default()),
            ..RoomFigures::default()
        }
    }

    fn full() -> Metrics {
        let metrics = Metrics::default();
        metrics.endpoint("/v1/queue/join").count(200);
        let _ = metrics.origin("shop");
        let _ = metrics.store("redis");
        for room in ["sale", "acme/sale", "other/sale"] {
            metrics.room(room).count(Outcome::Waiting);
        }
        metrics
    }

    /// What is in the table is exposed, as it is described there, and nothing else is.
    #[test]
    fn the_table_is_what_is_told() {
        let text = full().expose(&NodeFigures::default(), &[figures("sale")], None);
        for Name { name, help, kind, labels } in ALL {
            let kind = match kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
            };
            assert!(text.contains(&format!("# TYPE anteroom_{name} {kind}\n")), "{name}\n{text}");
            assert!(text.contains(&format!("# HELP anteroom_{name} {help}\n")), "{name}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
            assert!(labels.len() < 4, "{name}");
        }
        assert_eq!(text.matches("# TYPE").count(), ALL.len(), "{text}");
    }

    #[test]
    fn a_tenant_reads_of_its_own_rooms_only() {
        let metrics = full();
        let rooms = ["sale", "acme/sale", "other/sale"].map(figures);
        let text = metrics.expose(&NodeFigures::default(), &rooms, Some("acme"));
        assert!(
            text.contains("anteroom_queue_length{event_id=\"acme/sale\",tenant_id=\"acme\"} 7")
        );
        assert!(text.contains("outcome=\"waiting\""));
        assert!(!text.contains("other") && !text.contains("event_id=\"sale\""), "{text}");
        assert!(!text.contains("api_requests") && !text.contains("origin"), "{text}");
    }

    #[test]
    fn what_is_gone_is_no_longer_told_of() {
        let metrics = full();
        metrics.retain(|room| room == "sale", |_| false);
        let text = metrics.expose(&NodeFigures::default(), &[figures("sale")], None);
        assert!(text.contains("event_id=\"sale\""));
        assert!(!text.contains("acme") && !text.contains("shop"), "{text}");
    }

    #[test]
    fn another_prefix_is_before_every_name() {
        let metrics = Metrics::new(&Settings { prefix: String::new() });
        let text = metrics.expose(&NodeFigures::default(), &[figures("sale")], None);
        assert!(text.contains("\nqueue_length{"), "{text}");
        assert!(!text.contains("anteroom"), "{text}");
    }
}
