//! Tenants: each has its rooms, and knows of nobody else's.

use serde_json::{Value, json};

use super::join_at;
use crate::support::{Gateway, Operator, Origin};

const ACME: &str = "a-key-of-the-tests-that-is-acmes-alone";
const OTHER: &str = "a-key-of-the-tests-that-is-somebody-elses";

fn start(origin: &Origin) -> Gateway {
    let room = |host: &str| format!("mode = \"hold\"\nhosts = [\"{host}.example\"]");
    Gateway::before(origin)
        .room("sale", &room("plain"))
        .room("acme/sale", &room("acme"))
        .room("acme/drop", &room("drop"))
        .room("other/sale", &room("other"))
        .admin_key(&format!(
            "name = \"acme\", key = \"{ACME}\", role = \"admin\", tenant = \"acme\""
        ))
        .admin_key(&format!(
            "name = \"other\", key = \"{OTHER}\", role = \"admin\", tenant = \"other\""
        ))
        .start()
}

fn names(answer: &Value) -> Vec<&str> {
    let rooms = answer["rooms"].as_array().expect("a list");
    rooms.iter().map(|room| room["event_id"].as_str().expect("a name")).collect()
}

#[test]
fn a_tenant_sees_its_own_rooms_and_no_others() {
    let origin = Origin::start();
    let gateway = start(&origin);
    let [acme, other] = [ACME, OTHER].map(|key| Operator::with_key(&gateway, key));
    let root = Operator::new(&gateway);
    assert_eq!(names(&acme.see("/v1/rooms")), ["acme/drop", "acme/sale"]);
    assert_eq!(names(&other.see("/v1/rooms")), ["other/sale"]);
    assert_eq!(names(&root.see("/v1/rooms")), ["sale"], "of nobody in particular");
    assert_eq!(names(&root.clone().at("other").see("/v1/rooms")), ["other/sale"]);
    assert_eq!(names(&root.clone().at("nobody").see("/v1/rooms")), [] as [&str; 0]);
    let all = ["acme/drop", "acme/sale", "other/sale", "sale"];
    assert_eq!(names(&root.clone().at("*").see("/v1/rooms")), all);
    let room = acme.see("/v1/rooms/sale");
    assert_eq!((&room["id"], &room["tenant_id"]), (&json!("sale"), &json!("acme")));
    assert_eq!(room["event_id"], "acme/sale");
    for (operator, name) in [(&acme, "acme/drop acme/sale"), (&other, "other/sale")] {
        let nodes = operator.see("/v1/nodes");
        assert_eq!(names(&nodes["nodes"][0]).join(" "), name, "{nodes:#}");
    }
}

#[test]
fn anothers_room_is_as_one_that_is_not_there() {
    let origin = Origin::start();
    let gateway = start(&origin);
    let other = Operator::with_key(&gateway, OTHER);
    let nothing = other.get("/v1/rooms/no-such-room");
    assert_eq!(nothing.status, 404);
    for id in ["drop", "acme%2Fsale", "acme%2Fdrop", "..%2Facme%2Fsale"] {
        for path in ["", "/line", "/visitors/1", "/events", "/history", "/inside", "/health"] {
            let answer = other.get(&format!("/v1/rooms/{id}{path}"));
            assert_eq!((answer.status, answer.text()), (404, nothing.text()), "{id}{path}");
        }
        for verb in ["pause", "reset", "drain", "repair"] {
            let answer = other.post(&format!("/v1/rooms/{id}/{verb}"), &json!({}));
            assert_eq!((answer.status, answer.text()), (404, nothing.text()), "{id} {verb}");
        }
        let answer = other.post(&format!("/v1/rooms/{id}/release"), &json!({ "count": 1 }));
        assert_eq!((answer.status, answer.text()), (404, nothing.text()));
    }
    for event_id in ["drop", "acme/sale"] {
        let body = json!({ "event_id": event_id, "paused": true });
        let answer = other.post("/v1/admin/pause", &body);
        assert_eq!((answer.status, answer.text()), (404, nothing.text()));
    }
}

#[test]
fn a_tenants_key_names_no_other_tenant() {
    let origin = Origin::start();
    let gateway = start(&origin);
    let acme = Operator::with_key(&gateway, ACME);
    assert_eq!(acme.clone().at("acme").get("/v1/rooms").status, 200);
    for tenant in ["other", "*", "", "nobody"] {
        let answer = acme.clone().at(tenant).get("/v1/rooms");
        assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"), "{tenant}");
    }
    let root = Operator::new(&gateway);
    for tenant in ["", "a/b", "a b"] {
        assert_eq!(root.clone().at(tenant).get("/v1/rooms").status, 400, "{tenant}");
    }
    assert_eq!(root.at("*").get("/v1/rooms/sale").status, 400, "whose?");
    let reload = acme.post("/v1/reload", &json!({}));
    assert_eq!(reload.status, 403, "the configuration is everybody's");
}

#[test]
fn a_verb_acts_on_the_tenants_own_room_alone() {
    let origin = Origin::start();
    let gateway = start(&origin);
    for (host, room) in [("plain", "sale"), ("acme", "acme/sale"), ("other", "other/sale")] {
        join_at(&gateway, &format!("{host}.example"), room, 2);
    }
    let acme = Operator::with_key(&gateway, ACME);
    let released = acme.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    assert_eq!((&released["event_id"], &released["remaining"]), (&json!("acme/sale"), &json!(1)));
    let body = json!({ "event_id": "sale", "paused": true });
    assert_eq!(acme.does("/v1/admin/pause", &body)["queue_length"], 1);
    let root = Operator::new(&gateway);
    for operator in [root.clone(), root.at("other")] {
        let room = operator.see("/v1/rooms/sale");
        assert_eq!((&room["waiting"], &room["paused"]), (&json!(2), &json!(false)), "{room:#}");
    }
    let said = &gateway.events("admin.release", 1)[0];
    assert_eq!((&said["event_id"], &said["tenant_id"]), (&json!("acme/sale"), &json!("acme")));
}

#[test]
fn a_tenants_figures_are_its_own_and_need_its_key() {
    let origin = Origin::start();
    let gateway = start(&origin);
    assert_eq!(
        Operator::nobody(&gateway).get("/metrics").status,
        401,
        "with tenants, not for everybody"
    );
    let told = Operator::with_key(&gateway, ACME).get("/metrics").text();
    assert!(told.contains("event_id=\"acme/sale\",tenant_id=\"acme\""), "{told}");
    assert!(!told.contains("other") && !told.contains("event_id=\"sale\""), "{told}");
    assert!(!told.contains("anteroom_connections"), "the node is nobody's: {told}");
    let told = Operator::new(&gateway).get("/metrics").text();
    for room in ["event_id=\"sale\"", "acme/drop", "other/sale", "anteroom_connections"] {
        assert!(told.contains(room), "{room}: {told}");
    }
    let told = Operator::new(&gateway).at("other").get("/metrics").text();
    assert!(told.contains("other/sale") && !told.contains("acme"), "{told}");
}
