//! What a poll costs: it is most of what a node does in a flash crowd.

use super::*;
use std::time::Instant;

/// Prints what answering a poll costs, ticket, view and JSON included. By hand:
/// `cargo test --release --test main gateway::api::cost -- --ignored --nocapture`.
#[test]
#[ignore = "prints a figure"]
fn a_poll() {
    let mut sale = room("sale");
    let allowance = anteroom::limit::Allowance { max: u64::MAX >> 20, per_ms: 60_000 };
    sale.limits.requests_per_ticket = Some(allowance);
    sale.line.max_waiting = None;
    house(vec![sale], async |house| {
        let entrance = house.entrance("sale");
        let crowd = (0..100_000).map(|_| {
            let room = entrance.room.clone();
            tokio::spawn(async move { room.join(None).await })
        });
        for one in crowd.collect::<Vec<_>>() {
            one.await.expect("no panic").expect("a number");
        }
        let epoch = entrance.room.view().counts().epoch;
        let heads: Vec<Asked> = (1..=10_000)
            .map(|number| {
                let device = format!("{:036}", number);
                let identity = Identity { device_id: Some(device), ..Identity::default() };
                let ticket =
                    entrance.ticket(Proof { epoch, number: number * 7 }, START_MS, &identity);
                match number % 2 {
                    0 => get(&format!("queue/status?queue_id={ticket}")),
                    _ => get("queue/status")
                        .with("cookie", format!("{}={ticket}", entrance.jar.name(true))),
                }
            })
            .collect();
        let client = client("192.0.2.1");
        let mut best = f64::MAX;
        for _ in 0..20 {
            let began = Instant::now();
            for head in &heads {
                let endpoint = api::endpoint(&house.live, head).expect("a call");
                let answer =
                    api::answer_now(&house.live, head, &client, endpoint).expect("an answer");
                assert_eq!(answer.status, 200);
            }
            best = best.min(began.elapsed().as_secs_f64() / heads.len() as f64);
        }
        println!("a poll, answered: {:.2} µs", best * 1e6);
    });
}
