//! `anteroom invite`: made without a node, good at every node with the same keys.

use serde_json::{Value, json};

use super::{anteroom, file, run};
use crate::support::{Config, Gateway, Origin, Request, forge};

const CLASSES: &str =
    "mode = \"hold\"\nclasses = { presale = { skip = 1.0, rank = 2 }, partner = { skip = 0.5 } }";

/// Two rooms with the same classes.
fn config(server: &str) -> Config {
    let room = |host: &str| format!("hosts = [\"{host}.example.com\"]\n{CLASSES}");
    Config::new(&[server.to_owned()]).room("sale", &room("sale")).room("other", &room("other"))
}

/// How it ended and what it said, for a configuration.
fn invite(config: &Config, arguments: &[&str]) -> (i32, String, String) {
    let file = file(&config.text());
    let path = file.path().to_str().expect("UTF-8");
    run(&mut anteroom(&[&["invite", "--config", path], arguments].concat()))
}

/// What is made, without the end of the line.
fn made(config: &Config, room: &str, more: &[&str]) -> String {
    let arguments = [&["--room", room, "--class", "presale"], more].concat();
    let (code, out, err) = invite(config, &arguments);
    assert_eq!(code, 0, "{err}");
    let id = err.trim_end().strip_prefix("invite ").expect("its id, for whoever revokes it");
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{err}");
    assert_eq!(out.lines().count(), 1, "whoever pipes it wants it alone: {out}");
    out.trim_end().to_owned()
}

#[test]
fn a_link_with_an_address_and_a_token_without() {
    let config = config("127.0.0.1:9");
    let token = made(&config, "sale", &[]);
    let (header, claims) = forge::read(&token);
    assert_eq!(header["typ"], "anteroom-invite");
    let told = |name: &str| claims[name].clone();
    assert_eq!((told("event_id"), told("class")), (json!("sale"), json!("presale")));
    assert_eq!(told("uses"), 1, "once");
    let seconds = told("exp").as_u64().expect("an end") - super::now();
    assert!((604_790..=604_800).contains(&seconds), "a week: {seconds}");

    let link = made(&config, "sale", &["--url", "https://shop.example.com/drop?size=9#top"]);
    let token = link.strip_prefix("https://shop.example.com/drop?size=9&anteroom_invite=");
    let token = token.and_then(|rest| rest.strip_suffix("#top")).expect("the token in its place");
    let (_, other) = forge::read(token);
    assert_ne!(other["id"], told("id"), "no two are the same");
    let options = ["--uses", "0", "--expires", "30d", "--user", "acme"];
    let (_, claims) = forge::read(&made(&config, "sale", &options));
    assert_eq!((&claims["uses"], &claims["user_id"]), (&json!(0), &json!("acme")));
}

#[test]
fn what_cannot_be_made_ends_with_64_and_says_why() {
    let config = config("127.0.0.1:9");
    let refused = |config: &Config, arguments: &[&str], words: &[&str]| {
        let (code, out, err) = invite(config, arguments);
        assert_eq!((code, out.as_str()), (64, ""), "{arguments:?}: {err}");
        words.iter().for_each(|word| assert!(err.contains(word), "{word} in {err}"));
    };
    refused(&config, &["--room", "sole", "--class", "presale"], &["no room", "\"sole\""]);
    let nobody = ["--room", "sale", "--class", "nobody"];
    refused(&config, &nobody, &["no class", "\"nobody\"", "presale", "partner"]);
    let asked = ["--room", "sale", "--class", "presale", "--expires"];
    for wrong in ["31d", "0s", "soon"] {
        refused(&config, &[&asked[..], &[wrong]].concat(), &["--expires", wrong]);
    }
    refused(&config, &[&asked[..], &["31d"]].concat(), &["at most 30d"]);
    let keyless = config.clone().without_keys();
    refused(&keyless, &asked[..4], &["[keys]", "/v1/rooms/ROOM/invites"]);
}

#[test]
fn it_works_at_a_gateway_with_the_same_keys_and_in_its_own_room_only() {
    let origin = Origin::start();
    let config = config(&origin.address().to_string());
    let gateway = Gateway::start(config.clone());
    let join = |room: &str, device: &str, token: Option<&str>| -> Value {
        let mut body = json!({ "event_id": room, "device_id": device });
        if let Some(token) = token {
            body["invite"] = json!(token);
        }
        let mut request = Request::call("/.anteroom/v1/queue/join", &body);
        request.host = format!("{room}.example.com");
        gateway.connect().ask(&request).json()
    };
    for room in ["sale", "other"] {
        assert_eq!(join(room, "first", None)["position"], 1);
    }
    let token = made(&config, "sale", &[]);
    let told = join("other", "guest", Some(&token));
    assert_eq!((&told["class"], &told["position"]), (&json!("general"), &json!(2)), "{told}");
    assert_eq!(told["class_reason"], "invite_invalid", "{told}");
    let told = join("sale", "guest", Some(&token));
    assert_eq!((&told["class"], &told["position"]), (&json!("presale"), &json!(1)), "{told}");
    assert!(told["class_reason"].is_null(), "{told}");
    let told = join("sale", "another", Some(&token));
    assert_eq!(told["class_reason"], "invite_spent", "{told}");
}
