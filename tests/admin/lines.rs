//! Who is next, and where one of them stands.

use serde_json::{Value, json};

use super::{becomes, held, join, poll};
use crate::support::operator::VIEWER;
use crate::support::{Operator, Origin};

fn numbers(line: &Value) -> Vec<(u64, u64)> {
    let visitors = line["visitors"].as_array().expect("a list").iter();
    let field = |visitor: &Value, field: &str| visitor[field].as_u64().expect("a number");
    visitors.map(|one| (field(one, "position"), field(one, "number"))).collect()
}

#[test]
fn the_line_is_read_in_its_order_part_by_part() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let viewer = Operator::with_key(&gateway, VIEWER);
    join(&gateway, "sale", 25);
    becomes(&viewer, "sale", |room| room["waiting"] == 25);
    let first = viewer.see("/v1/rooms/sale/line?limit=10");
    assert_eq!(numbers(&first), (1..=10).map(|n| (n, n)).collect::<Vec<_>>());
    assert_eq!((&first["waiting"], &first["next"]), (&json!(25), &json!(11)));
    let last = viewer.see("/v1/rooms/sale/line?from=21&limit=10");
    assert_eq!(numbers(&last), (21..=25).map(|n| (n, n)).collect::<Vec<_>>());
    assert_eq!(last["next"], json!(null));
    assert_eq!(numbers(&viewer.see("/v1/rooms/sale/line?from=26")), []);
    assert_eq!(numbers(&viewer.see("/v1/rooms/sale/line")).len(), 25);
    let one = &first["visitors"][0];
    assert_eq!((&one["label"], &one["status"]), (&json!("B-000001"), &json!("waiting")));
    assert_eq!(one["eta"], json!(null), "nobody is released");
}

#[test]
fn a_visitor_is_found_by_any_of_their_names() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let admin = Operator::new(&gateway);
    let tickets = join(&gateway, "sale", 3);
    let reference = poll(&gateway, &tickets[1])["queue_ref"].as_str().expect("a name").to_owned();
    for name in ["2", "B-000002", "b-2", &reference, &reference.to_uppercase().replace("Q_", "q_")]
    {
        let found = admin.see(&format!("/v1/rooms/sale/visitors/{name}"));
        assert_eq!((&found["number"], &found["position"]), (&json!(2), &json!(2)), "{name}");
        assert_eq!((&found["label"], &found["status"]), (&json!("B-000002"), &json!("waiting")));
        assert_eq!(found["queue_ref"], reference);
    }
    for name in ["4", "0", "A-000002", "B-", "q_0", "ann", "2%2F1", "18446744073709551616"] {
        let answer = admin.get(&format!("/v1/rooms/sale/visitors/{name}"));
        assert_eq!((answer.status, answer.code().as_str()), (404, "unknown_visitor"), "{name}");
    }
}

#[test]
fn a_visitors_way_can_be_followed() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let admin = Operator::new(&gateway);
    let tickets = join(&gateway, "sale", 2);
    let status = |number: u64| admin.see(&format!("/v1/rooms/sale/visitors/{number}"));
    admin.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    assert_eq!((&status(1)["status"], &status(1)["position"]), (&json!("admitted"), &json!(null)));
    assert_eq!((&status(2)["status"], &status(2)["position"]), (&json!("waiting"), &json!(1)));
    let token = poll(&gateway, &tickets[0])["token"].as_str().expect("a pass").to_owned();
    let body = json!({ "token": token, "event_id": "sale" });
    let complete = crate::support::Request::call("/.anteroom/v1/admission/complete", &body);
    assert_eq!(gateway.connect().ask(&complete).status, 200);
    crate::support::eventually("it is told", || (status(1)["status"] == "completed").then_some(()));
}
