//! A drawn opening: everybody comes before it, to different nodes, and enters in the order that was drawn and can be checked.

use std::time::Duration;

use anteroom::line::{Draw, Drawn, Draws, Permutation};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Origin, Visitor, eventually};

/// Of those who come before.
const PEOPLE: usize = 10;

/// A room that opens in so long, with a draw.
fn room(opens_in: Duration) -> String {
    let opens_ms = anteroom::clock::now_ms() + opens_in.as_millis() as u64;
    let opens = anteroom::clock::moment(opens_ms);
    format!(
        "rate = \"2/s\"\nburst = 1\npoll_max = \"1s\"\nheartbeat_timeout = \"60s\"\n\
         schedule = [{{ opens = \"{opens}\", prequeue = \"1h\", draw = true }}]"
    )
}

fn bytes(hex: &str) -> [u8; 32] {
    std::array::from_fn(|nth| u8::from_str_radix(&hex[2 * nth..2 * nth + 2], 16).expect("hex"))
}

fn told(visitor: &mut Visitor) -> Value {
    visitor.fetch("/.anteroom/v1/draw").json()
}

/// Lets in whoever's turn has come, until so many are in; adds them in the order in which that was seen.
fn enter(people: &mut [(u64, Visitor)], entered: &mut Vec<u64>, until: usize) {
    eventually("they enter", || {
        let mut fresh = Vec::new();
        for (number, visitor) in people.iter_mut() {
            if entered.contains(number) || fresh.contains(number) {
                continue;
            }
            let status = visitor.status();
            if status.status == 200 && status.json()["status"] == "admitted" {
                assert!(visitor.open("/").is_from_origin(), "{number} is admitted");
                fresh.push(*number);
            }
        }
        assert!(fresh.len() <= 2, "two a second, and all are asked more often: {fresh:?}");
        entered.extend(fresh);
        (entered.len() >= until).then_some(())
    });
}

/// Three nodes, one of which dies at the opening, and a Redis that forgets everything after it.
#[test]
fn everybody_enters_as_drawn_whatever_breaks() {
    let _alone = super::alone();
    let origin = Origin::start();
    let mut redis = RedisServer::start();
    let room = room(Duration::from_secs(12));
    let config =
        || Config::new(&[origin.address().to_string()]).room("sale", &room).store_at(&redis.url());
    let mut nodes: Vec<Gateway> = (0..3).map(|_| Gateway::start(config())).collect();
    let mut people: Vec<(u64, Visitor)> = Vec::new();
    for nth in 0..PEOPLE {
        let mut visitor = Visitor::new(&nodes[nth % 3]);
        let page = eventually("a place before the opening", || {
            let page = visitor.open("/");
            (page.state().as_deref() == Some("waiting")).then_some(page)
        });
        assert_eq!(page.status, 503, "nobody is let in, though nobody is inside");
        let status = visitor.status().json();
        assert_eq!((&status["phase"], &status["draw"]), (&"prequeue".into(), &true.into()));
        let you = eventually("known everywhere", || {
            told(&mut visitor).get("you").filter(|you| !you.is_null()).cloned()
        });
        assert!(you["place"].is_null(), "nobody has been drawn");
        people.push((you["number"].as_u64().expect("a number"), visitor));
    }
    let arrival: Vec<u64> = people.iter().map(|(number, _)| *number).collect();
    assert!(arrival.is_sorted(), "{arrival:?}");
    let promise = eventually("a promise", || {
        let told = told(&mut people[0].1);
        assert_eq!(told["draws"], serde_json::json!([]), "nothing was drawn, and no seed is shown");
        told["commitment"]["hash"].as_str().map(str::to_owned)
    });

    // One node dies; its visitors go to another one.
    drop(nodes.remove(0));
    people.iter_mut().step_by(3).for_each(|(_, visitor)| visitor.moves_to(&nodes[0]));
    let draw = eventually("the draw", || {
        people.iter_mut().for_each(|(_, visitor)| _ = visitor.status());
        told(&mut people[1].1)["draws"].get(0).cloned()
    });
    assert_eq!(draw["commitment"].as_str(), Some(&*promise));
    let seed = bytes(draw["seed"].as_str().expect("a seed"));
    let hash: String = Sha256::digest(seed).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, promise, "the seed is the promised one");
    let (after, upto) = (draw["after"].as_u64().unwrap(), draw["upto"].as_u64().unwrap());
    let order = Permutation::new(seed, upto - after);
    let place = |number: u64| order.place(number - after - 1);
    for (number, visitor) in &mut people {
        let said = eventually("every node knows", || told(visitor)["you"]["place"].as_u64());
        assert_eq!(said, place(*number) + 1);
    }
    let mut drawn = arrival.clone();
    drawn.sort_by_key(|number| place(*number));

    let mut entered = Vec::new();
    enter(&mut people, &mut entered, PEOPLE / 2);
    redis.restart_empty();
    enter(&mut people, &mut entered, PEOPLE);
    assert_eq!(entered.len(), PEOPLE);
    let out_of_order = entered.iter().zip(&drawn).filter(|(one, other)| one != other).count();
    // Two whose turns came between two looks at the same round are seen in the order of the round.
    assert!(out_of_order <= 2, "entered {entered:?}, drawn {drawn:?}");
}

/// Two events that come again every minute: what is open is their second time, and the second draw of the room on every node.
#[test]
fn a_room_is_drawn_again_at_its_next_opening() {
    let _alone = super::alone();
    let began_ms = anteroom::clock::now_ms();
    let at = |ms: u64| anteroom::clock::moment(began_ms - 60_000 + ms);
    let event = |opens: u64, closes: u64, prequeue: &str| {
        let (opens, closes) = (at(opens), at(closes));
        format!(
            "{{ opens = \"{opens}\", closes = \"{closes}\", prequeue = \"{prequeue}\", draw = true, every = \"60s\" }}"
        )
    };
    let events = [event(9_000, 16_000, "20s"), event(24_000, 31_000, "8s")].join(", ");
    let (redis, _origin, nodes) = super::three(&format!(
        "rate = \"2/s\"\nburst = 1\npoll_max = \"1s\"\nheartbeat_timeout = \"60s\"\nticket_max = \"8m\"\n\
         schedule = [{events}]"
    ));
    let come = |nth: usize| {
        let mut visitor = Visitor::new(&nodes[nth % 3]);
        eventually("a place before the opening", || {
            (visitor.open("/").state().as_deref() == Some("waiting")).then_some(())
        });
        let status = visitor.status().json();
        assert_eq!(
            (&status["phase"], &status["draw"]),
            (&"prequeue".into(), &true.into()),
            "{nth}"
        );
        let you = eventually("a number", || told(&mut visitor)["you"]["number"].as_u64());
        (you, visitor)
    };
    let mut kept: Vec<Value> = Vec::new();
    for round in 0..2 {
        let mut people: Vec<(u64, Visitor)> = (0..6).map(come).collect();
        assert!(people.iter().map(|(number, _)| number).is_sorted());
        let opens_at = at(60_000 + [9_000, 24_000][round]);
        let promise = eventually("a promise", || {
            let told = told(&mut people[0].1);
            let promise = &told["commitment"];
            (promise["opens_at"] == *opens_at).then(|| promise["hash"].clone())
        });
        let turns = super::state(&redis, "turns");
        assert_eq!(turns, 6 * round as u64, "before the opening");
        let draw = eventually("the draw", || told(&mut people[0].1)["draws"].get(round).cloned());
        assert_eq!((&draw["commitment"], &draw["opens_at"]), (&promise, &Value::from(&*opens_at)));
        kept.push(draw.clone());
        let (after, upto) = (draw["after"].as_u64().unwrap(), draw["upto"].as_u64().unwrap());
        assert_eq!((after + 1, upto), (people[0].0, people[5].0), "those who came for it");
        let order = Permutation::new(bytes(draw["seed"].as_str().expect("a seed")), upto - after);
        let place = |number: u64| order.place(number - after - 1) + 1;
        for (number, visitor) in &mut people {
            let said = eventually("every node knows", || {
                let told = told(visitor);
                assert!(
                    kept.iter().zip(told["draws"].as_array()?).all(|(one, other)| one == other)
                );
                told["you"]["place"].as_u64()
            });
            assert_eq!(said, place(*number));
        }
        let mut entered = Vec::new();
        enter(&mut people, &mut entered, 6);
        let mut drawn: Vec<u64> = people.iter().map(|(number, _)| *number).collect();
        drawn.sort_by_key(|number| place(*number));
        let out_of_order = entered.iter().zip(&drawn).filter(|(one, other)| one != other).count();
        assert!(out_of_order <= 2, "entered {entered:?}, drawn {drawn:?}");
        eventually("the end", || (told(&mut people[0].1)["phase"] != "open").then_some(()));
    }
    assert_ne!(kept[0]["seed"], kept[1]["seed"]);
    for node in &nodes {
        let refused = super::join(node, "sale", "late", &serde_json::json!({}));
        assert_eq!((refused.status, refused.code()), (503, "queue_disabled".into()), "{refused:?}");
        assert_eq!(refused.json()["opens_at"], *at(129_000), "the first event, a third time");
    }
}

/// Three of nine have a class, and two of those are let in by hand before the opening; one comes in, one does not yet. Neither is drawn, on no
/// node: the third of the class is before everybody else, and they are drawn to the places behind.
#[test]
fn a_class_is_drawn_by_itself_and_who_is_further_than_waiting_is_not() {
    let _alone = super::alone();
    let room = room(Duration::from_secs(12));
    let (_redis, _origin, nodes) =
        super::three(&format!("{room}\nclasses = {{ presale = {{ skip = 1.0 }} }}"));
    let mut people: Vec<(u64, Visitor)> = Vec::new();
    for nth in 0..9 {
        let mut visitor = Visitor::new(&nodes[(nth + nth / 3) % 3]);
        if nth % 3 == 1 {
            let (_, token) = super::classes::invite("presale", nth as u8);
            assert_eq!(visitor.open(&format!("/?anteroom_invite={token}")).status, 303);
        }
        eventually("a place before the opening", || {
            (visitor.open("/").state().as_deref() == Some("waiting")).then_some(())
        });
        let number = eventually("a number", || told(&mut visitor)["you"]["number"].as_u64());
        people.push((number, visitor));
    }
    let of_class: Vec<u64> = [1, 4, 7].map(|nth| people[nth].0).to_vec();
    let body = serde_json::json!({ "count": 2 });
    let released = Operator::new(&nodes[0]).does("/v1/rooms/sale/release", &body);
    let called: Vec<u64> =
        (0..2).filter_map(|nth| released["called"][nth]["number"].as_u64()).collect();
    assert_eq!(called, of_class[..2], "{released}");
    let (_, mut late) = people.remove(4);
    let (_, mut inside) = people.remove(1);
    inside.await_turn();
    assert!(inside.open("/").is_from_origin());
    late.await_turn();

    let made = eventually("the draw", || {
        people.iter_mut().for_each(|(_, visitor)| _ = visitor.status());
        told(&mut people[0].1)["draws"].get(0).cloned()
    });
    let number = |key: &str| made[key].as_u64().expect("a number");
    let (after, upto) = (number("after"), number("upto"));
    let (kept, head) = (&made["kept"], &made["head"]);
    assert_eq!((kept, head), (&called.clone().into(), &serde_json::json!([[of_class[2], 1]])));
    let seed = bytes(made["seed"].as_str().expect("a seed"));
    let (kid, head) = (String::new(), vec![(of_class[2], upto + 1)]);
    let (version, opens_ms, hash, kept) = (1, 1, None, called);
    let draw = Draw { version, opens_ms, after, upto, seed, kid, hash, kept, head };
    assert!(draw.is_sound());
    let drawn = Drawn::new(Draws { made: vec![draw], ..Draws::default() });
    let place = |number: u64| drawn.place(number).map(|(_, place)| place);
    for (number, visitor) in &mut people {
        let said = eventually("every node knows", || told(visitor)["you"]["place"].as_u64());
        assert_eq!(Some(said), place(*number), "{number}");
    }
    for visitor in [&mut inside, &mut late] {
        assert!(told(visitor)["you"]["place"].is_null());
        assert!(
            visitor.open("/").is_from_origin(),
            "whoever was in stays, whose turn it was has it"
        );
    }
    let mut order: Vec<u64> = people.iter().map(|(number, _)| *number).collect();
    order.sort_by_key(|number| place(*number));
    assert_eq!(order[0], of_class[2]);
    let mut entered = Vec::new();
    enter(&mut people, &mut entered, 7);
    let out_of_order = entered.iter().zip(&order).filter(|(one, other)| one != other).count();
    assert!(out_of_order <= 2, "entered {entered:?}, drawn {order:?}");
}

/// The file says another time while people wait for the first: later, so that nobody new is taken meanwhile, and then sooner. Whoever came for any
/// of them is in the draw, and what was promised for the last time counts.
#[test]
fn whoever_waits_for_an_opening_that_is_moved_goes_along() {
    let _alone = super::alone();
    let event = |opens_in: u64, prequeue: &str| {
        let opens = anteroom::clock::moment(anteroom::clock::now_ms() + 1_000 * opens_in);
        let text = format!("{{ opens = \"{opens}\", prequeue = \"{prequeue}\", draw = true }}");
        (opens, text)
    };
    let (_, first) = event(3_600, "2h");
    let (_redis, _origin, nodes) = super::three(&format!(
        "rate = \"2/s\"\nburst = 1\npoll_max = \"1s\"\nheartbeat_timeout = \"60s\"\nschedule = [{first}]"
    ));
    let move_to = |text: &str| {
        for node in &nodes {
            assert!(node.reload(&node.config().text().replace(&first, text)));
        }
    };
    let come = |nth: usize| {
        let mut visitor = Visitor::new(&nodes[nth % 3]);
        eventually("a place before the opening", || {
            (visitor.open("/").state().as_deref() == Some("waiting")).then_some(())
        });
        let you = eventually("a number", || told(&mut visitor)["you"]["number"].as_u64());
        (you, visitor)
    };
    let mut people: Vec<(u64, Visitor)> = (0..6).map(come).collect();

    let (later, text) = event(7_200, "1h");
    move_to(&text);
    for (nth, node) in nodes.iter().enumerate() {
        let refused = eventually("nobody new", || {
            let refused = super::join(node, "sale", &format!("late-{nth}"), &serde_json::json!({}));
            (refused.code() == "queue_disabled").then_some(refused)
        });
        assert_eq!(refused.json()["opens_at"], *later);
    }
    eventually("another promise", || {
        (told(&mut people[0].1)["commitment"]["opens_at"] == *later).then_some(())
    });
    for (number, visitor) in &mut people {
        assert_eq!(visitor.status().json()["status"], "waiting", "{number} keeps their place");
        assert_eq!(told(visitor)["you"]["drawn_later"], true);
    }

    let (sooner, text) = event(12, "1h");
    move_to(&text);
    people.extend((6..10).map(come));
    let promise = eventually("the last promise", || {
        let told = told(&mut people[0].1);
        assert_eq!(told["draws"], serde_json::json!([]));
        (told["commitment"]["opens_at"] == *sooner).then(|| told["commitment"]["hash"].clone())
    });
    let draw = eventually("the draw", || {
        people.iter_mut().for_each(|(_, visitor)| _ = visitor.status());
        told(&mut people[0].1)["draws"].get(0).cloned()
    });
    assert_eq!((&draw["opens_at"], &draw["commitment"]), (&Value::from(&*sooner), &promise));
    let (after, upto) = (draw["after"].as_u64().unwrap(), draw["upto"].as_u64().unwrap());
    assert!(after < people[0].0 && people[9].0 <= upto, "all of them: {draw}");
    let order = Permutation::new(bytes(draw["seed"].as_str().expect("a seed")), upto - after);
    for (number, visitor) in &mut people {
        let said = eventually("every node knows", || told(visitor)["you"]["place"].as_u64());
        assert_eq!(said, order.place(*number - after - 1) + 1);
    }
}

/// One node with a file: killed after the draw, it goes on where it was.
#[test]
fn a_node_by_itself_keeps_the_draw() {
    let origin = Origin::start();
    let config =
        Config::new(&[origin.address().to_string()]).room("sale", &room(Duration::from_secs(4)));
    let mut node = Gateway::start(config.embedded());
    let mut people: Vec<(u64, Visitor)> = Vec::new();
    for _ in 0..PEOPLE {
        let mut visitor = Visitor::new(&node);
        assert_eq!(visitor.open("/").state().as_deref(), Some("waiting"));
        let number = told(&mut visitor)["you"]["number"].as_u64().expect("a number");
        people.push((number, visitor));
    }
    let draw = eventually("the draw", || told(&mut people[0].1)["draws"].get(0).cloned());
    assert!(node.stop().success());
    node.restart();
    people.iter_mut().for_each(|(_, visitor)| visitor.moves_to(&node));
    let again = eventually("the draw again", || told(&mut people[0].1)["draws"].get(0).cloned());
    assert_eq!(draw, again);
    let mut entered = Vec::new();
    enter(&mut people, &mut entered, PEOPLE);
}
