//! The line can't be reached: what apps are told, and how an arrival becomes a place.

use super::*;
use anteroom::gateway::asking::Outcome;
use anteroom::gateway::front::Verdict;
use anteroom::gateway::head::Peer;
use anteroom::gateway::origin::Origin;
use anteroom::gateway::settings::OnLoss;
use anteroom::line::{Class, Command, Done, Ending, Number};
use anteroom::room::Busy;
use anteroom::token::{Invite, Scratch};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::forge::{kind, read};
use crate::support::shaky::Manner;

impl House {
    async fn lose(&self) {
        self.store.is(Manner::Refusing);
        while !self.entrance("sale").room.is_away() {
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn find(&self) {
        self.store.is(Manner::Well);
        while self.entrance("sale").room.is_away() {
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn arrive(&self, device: &str) -> Told {
        let body = json!({ "event_id": "sale", "device_id": device }).to_string();
        let told = self.ask(&post("queue/join"), &body).await;
        told.is(503, "store_unavailable");
        assert_eq!(told.text("status"), "provisional");
        told
    }

    /// Polls as told until there is a place: when that was, and the answer.
    async fn until_placed(&self, arrival: &str) -> (Duration, Told) {
        let began = Instant::now();
        loop {
            let told = self.status(arrival).await;
            if told.status == 200 {
                return (began.elapsed(), told);
            }
            told.is(503, "store_unavailable");
            sleep(Duration::from_secs(told.retry_after())).await;
        }
    }
}

fn number_of(ticket: &str) -> Number {
    read(ticket).1["num"].as_u64().expect("a number")
}

fn losing(on_loss: OnLoss) -> Loss {
    Loss { on_loss, open_after: None }
}

#[test]
fn a_join_has_its_arrival_recorded() {
    house(vec![room("sale")], async |house| {
        house.lose().await;
        let told = house.arrive("d1").await;
        let arrival = told.text("queue_id");
        assert_eq!(kind(arrival), "anteroom-provisional");
        assert!(told.body.get("position").is_none() && told.body.get("open").is_none());
        assert_eq!(told.body["next_poll_seconds"], told.retry_after());
        assert!((1..=5).contains(&told.retry_after()));
        for again in [house.status(arrival).await, house.heartbeat(arrival).await] {
            again.is(503, "store_unavailable");
            assert_eq!((again.text("status"), again.text("queue_id")), ("provisional", arrival));
        }
        let by_bearer = post("queue/join").with("authorization", format!("Bearer {arrival}"));
        let body = r#"{"event_id":"sale","device_id":"d1"}"#;
        let again = house.ask(&by_bearer, body).await;
        assert_eq!(again.text("queue_id"), arrival, "a repeated join keeps its arrival");
        let events = get(&format!("queue/events?queue_id={arrival}"));
        let streams = api::Streams::new();
        let refused = api::events(&house.live, &streams, &events, &client("192.0.2.1"));
        assert_eq!(refused.err().expect("no stream").status, 404);
        let leave = json!({ "queue_id": arrival }).to_string();
        assert_eq!(house.ask(&post("queue/leave"), &leave).await.text("reason"), "left");
        let verify = json!({ "event_id": "sale", "token": arrival }).to_string();
        let verified = house.ask(&post("admission/verify"), &verify).await;
        assert_eq!(verified.text("reason"), "not_a_pass");
    });
}

#[test]
fn arrivals_become_places_in_their_order_whoever_asks_first() {
    house(vec![room("sale")], async |house| {
        let before = house.join("sale", "early").await;
        house.lose().await;
        let mut arrivals = Vec::new();
        for nth in 0..10 {
            arrivals.push(house.arrive(&format!("d{nth}")).await.text("queue_id").to_owned());
            sleep(Duration::from_secs(6)).await;
        }
        house.find().await;
        // Somebody who comes only now is behind them.
        arrivals.push(house.arrive("late").await.text("queue_id").to_owned());
        let began = Instant::now();
        let placed = arrivals.iter().rev().map(|arrival| house.until_placed(arrival));
        let mut placed = all(placed).await;
        placed.reverse();
        let numbers: Vec<Number> =
            placed.iter().map(|(_, told)| number_of(told.text("queue_id"))).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert!(numbers[0] > number_of(before.text("queue_id")));
        assert!(began.elapsed() < Duration::from_secs(70), "{:?}", began.elapsed());
        let (first, last) = (placed[0].0, placed[9].0);
        assert!(first >= Duration::from_secs(4) && last - first >= Duration::from_secs(20));
        // The answer may have been lost: shown again, an arrival is the same place.
        let told = house.status(&arrivals[3]).await;
        assert_eq!(number_of(told.text("queue_id")), numbers[3]);
        assert_eq!(house.status(told.text("queue_id")).await.text("status"), "waiting");
        // And when all that is over a join is a join.
        sleep(Duration::from_secs(60)).await;
        house.join("sale", "after").await;
    });
}

/// Waits for all of them at once.
async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().filter(|(_, done)| done.is_none()) {
            if let std::task::Poll::Ready(output) = future.as_mut().poll(context) {
                *done = Some(output);
            }
        }
        match futures.iter().all(|(_, done)| done.is_some()) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    futures.into_iter().filter_map(|(_, done)| done).collect()
}

#[test]
fn one_device_is_one_place_however_often_it_came() {
    house(vec![room("sale")], async |house| {
        house.lose().await;
        let body = r#"{"event_id":"sale","device_id":"d1"}"#;
        let keyed = post("queue/join").with("idempotency-key", "mine");
        let first = house.ask(&keyed, body).await.text("queue_id").to_owned();
        sleep(Duration::from_secs(2)).await;
        let second = house.ask(&keyed, body).await.text("queue_id").to_owned();
        let stranger = house.arrive("d1").await.text("queue_id").to_owned();
        let alone = post("queue/join").with("idempotency-key", "another");
        let alone = house.ask(&alone, r#"{"event_id":"sale"}"#).await.text("queue_id").to_owned();
        house.find().await;
        let (_, told) = house.until_placed(&first).await;
        let ticket = told.text("queue_id").to_owned();
        let (_, again) = house.until_placed(&second).await;
        assert_eq!(again.text("queue_id"), ticket, "the same Idempotency-Key");
        house.status(&stranger).await.is(409, "already_in_queue");
        assert!(house.status(&stranger).await.body.get("queue_id").is_none(), "names it only");
        sleep(Duration::from_secs(60)).await;
        let joined = house.ask(&keyed, body).await;
        assert_eq!(joined.text("queue_id"), ticket, "and a join in peace finds it, too");
        let (_, told) = house.until_placed(&alone).await;
        let keyed = post("queue/join").with("idempotency-key", "another");
        let joined = house.ask(&keyed, r#"{"event_id":"sale"}"#).await;
        assert_eq!(joined.text("queue_id"), told.text("queue_id"));
    });
}

#[test]
fn an_arrival_is_its_users() {
    house(vec![room("sale")], async |house| {
        house.lose().await;
        let keyed = post("queue/join").with("idempotency-key", "mine");
        let body = r#"{"event_id":"sale","device_id":"d1","user_id":"u1"}"#;
        let arrival = house.ask(&keyed, body).await.text("queue_id").to_owned();
        house.find().await;
        let (_, told) = house.until_placed(&arrival).await;
        sleep(Duration::from_secs(60)).await;
        let joined = house.ask(&keyed, body).await;
        assert_eq!(joined.text("queue_id"), told.text("queue_id"), "byte for byte");
        let other = r#"{"event_id":"sale","device_id":"d1","user_id":"u2"}"#;
        let other = house.ask(&keyed, other).await;
        other.is(409, "already_in_queue");
        assert!(other.body.get("queue_id").is_none());
    });
}

#[test]
fn an_arrival_that_finds_room_is_let_in() {
    house(vec![open("sale", Some(5))], async |house| {
        house.lose().await;
        let arrival = house.arrive("d1").await.text("queue_id").to_owned();
        house.find().await;
        let (_, told) = house.until_placed(&arrival).await;
        assert_eq!(told.text("status"), "admitted");
        assert_eq!(kind(told.text("token")), "anteroom-pass");
        let again = house.status(&arrival).await;
        assert_eq!(again.text("token"), told.text("token"), "a lost answer costs nothing");
    });
}

#[test]
fn an_arrival_by_cookie_becomes_a_ticket_by_cookie() {
    house(vec![room("sale")], async |house| {
        house.lose().await;
        let entrance = house.entrance("sale");
        let arrival = entrance.arrive([1; 16], &Identity::default(), None);
        let cookie = format!("{}={arrival}", entrance.jar.name(true));
        let poll = get("queue/status").with("cookie", cookie);
        let told = house.ask(&poll, "").await;
        told.is(503, "store_unavailable");
        assert!(told.body.get("queue_id").is_none(), "a page's scripts have no business with it");
        house.find().await;
        sleep(Duration::from_secs(60)).await;
        let told = house.ask(&poll, "").await;
        assert_eq!((told.status, told.text("status")), (200, "waiting"));
        let kept = told.response.header("set-cookie").expect("a ticket");
        let ticket = kept.split(['=', ';']).nth(1).expect("a value");
        assert_eq!(kind(ticket), "anteroom-ticket");
        assert!(told.body.get("queue_id").is_none());
    });
}

#[test]
fn places_stay_where_they_were() {
    house(vec![room("sale")], async |house| {
        let first = house.join("sale", "d1").await;
        let second = house.join("sale", "d2").await;
        house.release(1).await;
        house.lose().await;
        for told in [
            house.status(second.text("queue_id")).await,
            house.heartbeat(second.text("queue_id")).await,
        ] {
            told.is(503, "store_unavailable");
            assert_eq!((told.text("status"), &told.body["position"]), ("waiting", &json!(1)));
            assert_eq!(told.text("queue_id"), second.text("queue_id"));
            assert!(told.retry_after() > 0);
        }
        let body = r#"{"event_id":"sale","device_id":"d2"}"#;
        let bearer = format!("Bearer {}", second.text("queue_id"));
        let again = house.ask(&post("queue/join").with("authorization", bearer), body).await;
        again.is(503, "store_unavailable");
        assert_eq!(again.text("queue_id"), second.text("queue_id"), "the place, and no arrival");
        let called = house.status(first.text("queue_id")).await;
        called.is(503, "store_unavailable");
        assert!(called.body.get("token").is_none(), "only the line lets in");
        let leave = json!({ "queue_id": second.text("queue_id") }).to_string();
        house.ask(&post("queue/leave"), &leave).await.is(503, "store_unavailable");
        house.find().await;
        assert_eq!(house.status(first.text("queue_id")).await.text("status"), "admitted");
        assert_eq!(house.status(second.text("queue_id")).await.text("status"), "waiting");
    });
}

#[test]
fn passes_are_judged_by_their_signature_and_by_what_is_known() {
    losing_house(vec![room("sale")], losing(OnLoss::Hold), async |house| {
        // Started without a store: nothing is known.
        house.lose().await;
        let entrance = house.entrance("sale");
        let now_ms = entrance.room.now_ms();
        let terms = anteroom::line::Terms {
            admitted_ms: now_ms - 10_000,
            issued_ms: now_ms - 10_000,
            expires_ms: now_ms + 60_000,
            slot: 0,
        };
        let pass =
            |epoch, number| entrance.pass(Proof { epoch, number }, &terms, &Identity::default());
        let verify = async |token: &str| {
            let body = json!({ "event_id": "sale", "token": token }).to_string();
            house.ask(&post("admission/verify"), &body).await
        };
        assert_eq!(verify(&pass(START_MS / 1_000, 7)).await.body["valid"], true);
        assert_eq!(house.status(&pass(START_MS / 1_000, 7)).await.text("status"), "active");
        let proof = Proof { epoch: START_MS / 1_000, number: 7 };
        let ticket = entrance.ticket(proof, now_ms, &Identity::default());
        let told = house.status(&ticket).await;
        told.is(503, "store_unavailable");
        assert!(told.body.get("position").is_none(), "nobody knows it");
        house.arrive("d1").await;
    });
    house(vec![room("sale")], async |house| {
        let entrance = house.entrance("sale");
        let (cookie, inside) = house.pass_cookie("sale").await;
        assert_eq!(entrance.room.end(inside, Ending::Revoked).await, Ok(Done::Freed));
        house.release(0).await;
        house.lose().await;
        let (_, pass) = cookie.split_once('=').expect("a cookie");
        let body = json!({ "event_id": "sale", "token": pass }).to_string();
        let told = house.ask(&post("admission/verify"), &body).await;
        assert_eq!(told.text("reason"), "revoked", "what is known holds");
    });
}

#[test]
fn no_pass_is_spent_while_nobody_can_say_whether_it_was() {
    let sale = settings::Room { single_use: true, ..room("sale") };
    house(vec![sale], async |house| {
        let (cookie, _) = house.pass_cookie("sale").await;
        let (_, pass) = cookie.split_once('=').expect("a cookie");
        let body = json!({ "event_id": "sale", "token": pass, "consume": true }).to_string();
        let consume = async || house.ask(&post("admission/verify"), &body).await;
        house.lose().await;
        for _ in 0..2 {
            let told = consume().await;
            told.is(503, "store_unavailable");
            assert!(told.retry_after() > 0 && told.body.get("valid").is_none());
        }
        house.find().await;
        assert_eq!(consume().await.body["consumed"], true, "it was not");
        consume().await.is(410, "gone");
    });
}

#[test]
fn closed_takes_nobody_and_open_says_so() {
    losing_house(vec![room("sale")], losing(OnLoss::Closed), async |house| {
        let place = house.join("sale", "d0").await;
        house.lose().await;
        let body = r#"{"event_id":"sale","device_id":"d1"}"#;
        let told = house.ask(&post("queue/join"), body).await;
        told.is(503, "store_unavailable");
        assert!(told.body.get("queue_id").is_none() && told.body.get("status").is_none());
        assert!(told.retry_after() > 0);
        assert_eq!(house.status(place.text("queue_id")).await.body["position"], 1);
    });
    losing_house(vec![room("sale")], losing(OnLoss::Open), async |house| {
        let place = house.join("sale", "d0").await;
        let (cookie, _) = house.cookie("sale").await;
        house.lose().await;
        let told = house.arrive("d1").await;
        assert_eq!(told.body["open"], true, "requests to the site need no pass meanwhile");
        let told = house.status(place.text("queue_id")).await;
        told.is(503, "store_unavailable");
        assert_eq!(told.body["open"], true);
        let told = house.ask(&get("queue/status").with("cookie", cookie), "").await;
        assert_eq!((told.status, told.text("status")), (200, "admitted"), "the page goes in");
    });
}

#[test]
fn joins_are_counted_here_while_the_line_can_not() {
    let mut sale = room("sale");
    sale.line.join_limits =
        vec![limit(Subject::Address, 6), limit(Subject::Device, 2), limit(Subject::User, 3)];
    house(vec![sale], async |house| {
        house.lose().await;
        let join = async |address: &str, device: &str, user: &str| {
            let body =
                json!({ "event_id": "sale", "device_id": device, "user_id": user }).to_string();
            house.ask_from(client(address), &post("queue/join"), body.as_bytes()).await
        };
        for _ in 0..2 {
            join("192.0.2.1", "d1", "u1").await.is(503, "store_unavailable");
        }
        let told = join("192.0.2.2", "d1", "u2").await;
        told.is(429, "rate_limited");
        assert!(told.retry_after() > 0);
        join("192.0.2.3", "d2", "u1").await.is(503, "store_unavailable");
        join("192.0.2.4", "d3", "u1").await.is(429, "rate_limited");
        for nth in 0..4 {
            let told = join("192.0.2.1", &format!("d1{nth}"), &format!("u1{nth}")).await;
            told.is(503, "store_unavailable");
        }
        join("192.0.2.1", "d19", "u19").await.is(429, "rate_limited");
    });
}

#[test]
fn a_crowd_behind_one_address_asks_by_its_arrivals() {
    let mut sale = room("sale");
    let few = Some(anteroom::limit::Allowance { max: 4, per_ms: 60_000 });
    sale.limits.requests_per_address = few;
    sale.limits.requests_per_ticket = few;
    house(vec![sale], async |house| {
        house.lose().await;
        let mut arrivals = Vec::new();
        for nth in 0..4 {
            arrivals.push(house.arrive(&format!("d{nth}")).await.text("queue_id").to_owned());
        }
        for _ in 0..4 {
            for arrival in &arrivals {
                house.status(arrival).await.is(503, "store_unavailable");
            }
        }
        house.status(&arrivals[0]).await.is(429, "rate_limited");
    });
}

/// What an app proves while the line can't be reached is worth what it is when its moment comes, and it is told of what is not.
#[test]
fn an_arrival_has_the_class_that_it_came_with() {
    let mut sale = room("sale");
    let class = |name: &str| Class { name: name.to_owned(), skip: 1_000, rank: 2 };
    sale.line.classes = vec![class("presale"), class("fan")];
    sale.open_classes = vec!["fan".to_owned()];
    house(vec![sale], async |house| {
        let entrance = house.entrance("sale");
        let invite = |id: u8, user: Option<&'static str>| {
            let invite = Invite {
                id: [id; 16],
                class: "presale".into(),
                uses: 1,
                expires_at: START_MS / 1_000 + 3_600,
                user_id: user.map(Into::into),
            };
            entrance.keys.sign_invite(&invite).expect("a token")
        };
        house.join("sale", "d0").await;
        let [good, revoked] = [invite(1, Some("acme")), invite(2, Some("acme"))];
        house.command(Command::RevokeInvite([2; 16])).await;
        house.lose().await;
        let arrive = async |more: serde_json::Value| {
            let mut body = json!({ "event_id": "sale", "user_id": "usr_1" });
            body.as_object_mut().expect("one").extend(more.as_object().cloned().expect("one"));
            let told = house.ask(&post("queue/join"), &body.to_string()).await;
            told.is(503, "store_unavailable");
            told
        };
        let told = [
            arrive(json!({ "device_id": "d1", "invite": good })).await,
            arrive(json!({ "device_id": "d2", "invite": revoked })).await,
            arrive(json!({ "device_id": "d3", "priority_bucket": "fan" })).await,
            arrive(json!({ "device_id": "d4", "priority_bucket": "presale" })).await,
        ];
        let reasons = told.each_ref().map(|told| told.body["class_reason"].as_str());
        assert_eq!(reasons, [None, None, None, Some("not_proven")]);
        house.find().await;
        let mut placed = Vec::new();
        for told in &told {
            placed.push(house.until_placed(told.text("queue_id")).await.1);
        }
        let classes: Vec<&str> = placed.iter().map(|told| told.text("class")).collect();
        assert_eq!(classes, ["presale", "general", "fan", "general"]);
        let reasons: Vec<_> =
            placed.iter().map(|told| told.body["class_reason"].as_str()).collect();
        assert_eq!(reasons, [None, Some("invite_revoked"), None, None]);
        assert_eq!(house.status(placed[0].text("queue_id")).await.body["position"], 1);
        // The user of an invite that was good, and of no other.
        let users = [0, 1].map(|nth: usize| {
            let (_, claims) = read(placed[nth].text("queue_id"));
            (claims["user_id"].clone(), claims["user_proven"] == true)
        });
        assert_eq!(users, [(json!("acme"), true), (json!("usr_1"), false)]);
        // Shown again, it is the same place and nothing is used up.
        let again = house.status(told[0].text("queue_id")).await;
        assert_eq!(again.text("queue_id"), placed[0].text("queue_id"));
    });
}

/// Beside ids as long as they may be, an invite for somebody with an odd name does not fit. The arrival counts without it.
#[test]
fn an_arrival_that_would_be_too_long_goes_without_its_proof() {
    house(vec![room("sale")], async |house| {
        let entrance = house.entrance("sale");
        let long = |text: &str| Some(text.repeat(128));
        let identity =
            Identity { device_id: long("\""), user_id: long("\""), ..Identity::default() };
        let invite = Invite {
            id: [1; 16],
            class: "presale".into(),
            uses: 1,
            expires_at: START_MS / 1_000 + 3_600,
            user_id: long("\u{1}").map(Into::into),
        };
        let token = entrance.keys.sign_invite(&invite).expect("it fits alone");
        let proven = entrance.invite(&token).expect("a good one");
        let arrival = entrance.arrive([1; 16], &identity, Some(&proven));
        let mut scratch = Scratch::new();
        let held = entrance.read(arrival.as_bytes(), &mut scratch);
        assert_eq!((held.identity(), held.proven()), (identity, None));
    });
}

#[test]
fn an_arrival_is_not_good_for_ever_and_nobody_makes_one() {
    house(vec![room("sale")], async |house| {
        let entrance = house.entrance("sale");
        let arrival = |arrived_ms| {
            let provisional = anteroom::token::Provisional {
                arrived_ms,
                clock_of: None,
                nonce: [1; 16],
                device_id: None,
                user_id: None,
                class: None,
                invite: None,
            };
            entrance.keys.sign_provisional(&provisional).expect("a token")
        };
        let now_ms = entrance.room.now_ms();
        assert_eq!(house.status(&arrival(now_ms - 1_000)).await.text("status"), "waiting");
        let old = house.status(&arrival(now_ms - 86_401_000)).await;
        old.is(404, "unknown_ticket");
        let forged = arrival(now_ms).replace("eyJ", "eyK");
        assert_eq!(house.status(&forged).await.status, 404);
    });
}

#[test]
fn a_stream_goes_on_and_tells_of_the_turn_afterwards() {
    house(vec![room("sale")], async |house| {
        let place = house.join("sale", "d1").await;
        let events = get(&format!("queue/events?queue_id={}", place.text("queue_id")));
        let streams = api::Streams::new();
        let opened = api::events(&house.live, &streams, &events, &client("192.0.2.1"));
        let mut stream = opened.unwrap_or_else(|refusal| panic!("{refusal:?}"));
        assert!(stream.next().await.is_some());
        house.lose().await;
        let quiet = stream.next().await.expect("it is not over");
        assert_eq!(quiet, b": here\n\n");
        house.find().await;
        house.release(1).await;
        let told = String::from_utf8(stream.next().await.expect("an event")).expect("text");
        assert!(told.contains("\"status\":\"admitted\""), "{told}");
    });
}

/// Back-pressure: at its bound a node says so, and when to try again.
#[test]
fn at_the_bound_an_app_is_told_to_try_again() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let mut house = undriven(vec![room("sale")]);
        let room = house.entrance("sale").room.clone();
        let mut crowd: Vec<_> = (0..100_000).map(|_| Box::pin(room.join(None))).collect();
        std::future::poll_fn(|context| {
            assert!(crowd.iter_mut().all(|one| one.as_mut().poll(context).is_pending()));
            std::task::Poll::Ready(())
        })
        .await;
        assert_eq!(room.join(None).await, Err(Busy::Full));
        let body = r#"{"event_id":"sale","device_id":"d1"}"#;
        let told = house.ask(&post("queue/join"), body).await;
        told.is(503, "busy");
        assert_eq!(told.retry_after(), 2);
        // And so is a browser, with a page that tries again by itself.
        let servers = vec!["127.0.0.1:9".to_owned()];
        let origin = settings::Origin { servers, ..settings::Origin::default() };
        let origin = Origin::new("shop", origin).await.expect("an origin");
        house.live.origins.insert("shop".to_owned(), Arc::new(origin));
        let page = Asked::new("GET", "").with("accept", "text/html");
        let page = Asked { target: "/".into(), ..page };
        let peer = Peer { address: "192.0.2.1".parse().expect("an address"), secure: true };
        let Verdict::Ask(asking) = house.live.receive(&page, peer) else { panic!("no question") };
        let Outcome::Answer(answer) = asking.outcome().await else { panic!("let in") };
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("2")));
        let text = String::from_utf8_lossy(&answer.body);
        assert!(text.contains("Joining the line"), "{text}");
        assert_eq!(answer.header("set-cookie"), None);
    });
}
