//! Limits that hold for all nodes together: several gateways on one line.

use super::*;

/// Runs `work` with so many nodes that share a room, and know of each other.
fn houses<T>(nodes: u128, sale: &settings::Room, work: impl AsyncFnOnce(&[House]) -> T) -> T {
    losing_house(Vec::new(), Loss::default(), async |clock: &House| {
        let houses: Vec<House> = (1..=nodes)
            .map(|node| House {
                live: live(node, vec![sale.clone()], Loss::default()),
                wall_ms: clock.wall_ms.clone(),
                store: clock.store.clone(),
            })
            .collect();
        let drivers = houses.iter().map(|house| {
            let (room, store) = (house.entrance("sale").room.clone(), house.store.clone());
            tokio::spawn(async move { room.drive(&*store as &dyn Store).await })
        });
        let drivers: Vec<_> = drivers.collect();
        for house in houses.iter().chain(&houses) {
            house.release(0).await;
        }
        let count = |house: &House| house.entrance("sale").room.view().counts().nodes;
        assert!(houses.iter().all(|house| u128::from(count(house)) == nodes));
        let done = work(&houses).await;
        drivers.iter().for_each(tokio::task::JoinHandle::abort);
        done
    })
}

/// A room where one address may join twenty times a minute.
fn limited() -> settings::Room {
    let mut sale = room("sale");
    sale.line.join_limits = vec![limit(Subject::Address, 20)];
    sale
}

/// Whether somebody from an address who opens a page gets a number.
async fn opens(house: &House, address: &str) -> bool {
    let entrance = house.entrance("sale");
    let Ok(keyed) = entrance.newcomer(address.parse().unwrap(), None) else { return false };
    let joined = entrance.room.join(keyed).await.expect("an answer");
    matches!(joined, anteroom::line::Joined::Given { .. })
}

/// Whether an app on another device of that address does.
async fn calls(house: &House, address: &str, device: usize) -> bool {
    let body = format!(r#"{{"event_id":"sale","device_id":"d{device}"}}"#);
    let told = house.ask_from(client(address), &post("queue/join"), body.as_bytes()).await;
    assert!(matches!(told.status, 200 | 429), "{}", told.body);
    told.status == 200
}

#[test]
fn an_address_gets_the_limit_from_one_node_and_half_as_much_again_from_many() {
    for nodes in [1, 2, 3, 5, 10, 40] {
        let (pages, apps) = houses(nodes, &limited(), async |houses| {
            let (mut pages, mut apps) = (0, 0);
            for nth in 0..25 {
                for (index, house) in houses.iter().enumerate() {
                    pages += u64::from(opens(house, "192.0.2.1").await);
                    apps += u64::from(calls(house, "192.0.2.2", nth * 100 + index).await);
                }
            }
            (pages, apps)
        });
        let most = if nodes == 1 { 20 } else { 30 };
        assert!((20..=most).contains(&pages), "{nodes} nodes gave an address {pages} numbers");
        assert!((20..=most).contains(&apps), "{nodes} nodes gave an address's apps {apps} numbers");
    }
}

/// All at one node of many, as behind a balancer that keeps an address where it is.
#[test]
fn an_address_that_stays_at_one_node_gets_the_limit() {
    let given = houses(5, &limited(), async |houses| {
        let mut given = 0;
        for _ in 0..40 {
            given += u64::from(opens(&houses[3], "192.0.2.1").await);
        }
        given
    });
    assert_eq!(given, 20);
}

#[test]
fn of_several_limits_on_addresses_every_one_holds() {
    let mut sale = limited();
    let hour = JoinLimit { subject: Subject::Address, max: 45, per_ms: 3_600_000 };
    sale.line.join_limits.push(hour);
    let given = houses(2, &sale, async |houses| {
        let mut given = 0;
        for _ in 0..10 {
            for nth in 0..16 {
                given += u64::from(opens(&houses[nth % 2], "192.0.2.1").await);
            }
            houses[0].later(60).await;
            houses[1].release(0).await;
        }
        given
    });
    assert!((45..=45 + 22).contains(&given), "{given} in ten minutes");
}
