//! Malformed shapes, one by one, each with the reason it is refused for.

use std::borrow::Cow;

use super::*;

fn judge(token: &str) -> Result<Pass<'static>, TokenError> {
    judge_pass(&sale(), token, NOW_MS)
}

fn judge_claims(claims: &str) -> Result<Pass<'static>, TokenError> {
    judge(&forge(PASS_HEADER, claims.as_bytes(), &pass_key()))
}

const NOT_A_PASS: Result<Pass<'static>, TokenError> =
    Err(TokenError::Claims("are not those of a pass"));

#[test]
fn our_own_form_borrows_and_copies_nothing() {
    let token = sale().sign_pass(&pass()).expect("within limits");
    let mut scratch = Scratch::new();
    let keys = sale();
    let pass = keys.verify_pass(token.as_bytes(), NOW_MS, &mut scratch).expect("a good pass");
    assert!(matches!(pass.class, Cow::Borrowed(_)));
    assert!(matches!(pass.nonce, Cow::Borrowed(_)));
    assert!(matches!(pass.device_id, Some(Cow::Borrowed(_))));
}

#[test]
fn a_scratch_serves_one_token_after_another() {
    let keys = sale();
    let mut scratch = Scratch::new();
    let long = Pass { user_id: Some("x".repeat(128).into()), ..pass() };
    for pass in [long.clone(), pass(), long] {
        let token = keys.sign_pass(&pass).expect("within limits");
        assert_eq!(keys.verify_pass(token.as_bytes(), NOW_MS, &mut scratch), Ok(pass));
    }
}

#[test]
fn a_token_is_three_segments_of_base64url() {
    let good = sale().sign_pass(&pass()).expect("within limits");
    let parts: Vec<&str> = good.split('.').collect();
    let [header, claims, signature] = parts[..] else { panic!("three segments") };
    let malformed = [
        String::new(),
        ".".into(),
        "..".into(),
        "...".into(),
        header.into(),
        format!("{header}."),
        format!("{header}.."),
        format!("{header}.{claims}"),
        format!("{header}.{claims}."),
        format!("{header}..{signature}"),
        format!(".{claims}.{signature}"),
        format!("{header}.{claims}.{signature}."),
        format!("{header}.{claims}.{signature}="),
        format!("{header}.{claims}={signature}"),
        format!("{header}.{claims}==.{signature}"),
        format!("{header}.{claims}.{signature}.{signature}"),
        format!(" {good}"),
        format!("{good} "),
        format!("{good}\n"),
        format!("{header}.{claims}.{}", &signature[1..]),
        format!("{header}.{claims}.A{signature}"),
        format!("{header}.{claims}\u{e9}.{signature}"),
        format!("{header}.+{claims}.{signature}"),
        format!("{header}./{claims}.{signature}"),
    ];
    for token in malformed {
        assert_eq!(judge(&token), Err(TokenError::Malformed), "{token:?}");
        assert!(judge_ticket(&sale(), &token).is_err(), "{token:?}");
    }
}

/// 43 characters hold 258 bits: of the four last characters that decode alike only one is canonical.
#[test]
fn stray_bits_are_refused() {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let good = sale().sign_pass(&pass()).expect("within limits");
    let (start, last) = good.split_at(good.len() - 1);
    let value = ALPHABET.iter().position(|&b| b == last.as_bytes()[0]).expect("base64url");
    for stray in 1..4 {
        let token = format!("{start}{}", char::from(ALPHABET[value | stray]));
        assert_eq!(judge(&token), Err(TokenError::Malformed));
    }
}

#[test]
fn size_is_looked_at_first() {
    let claims = pass_claims().to_string();
    let sized = |length: usize| {
        // White space inside the object is legal JSON and makes the claims as long as wanted.
        let fill = length - (B64.encode(PASS_HEADER).len() + 2 + 43);
        let spaces = " ".repeat(fill / 4 * 3 + fill % 4 * 3 / 4 - claims.len());
        let claims = claims.replacen('{', &format!("{{{spaces}"), 1);
        forge(PASS_HEADER, claims.as_bytes(), &pass_key())
    };
    // A base64 text never has a length of 4n + 1, so not every length can be reached.
    let longest =
        (2045..=2048).map(sized).filter(|token| token.len() <= 2048).max_by_key(String::len);
    let longest = longest.expect("some length fits");
    assert_eq!(longest.len(), 2048);
    assert_eq!(judge(&longest), Ok(pass()));
    assert_eq!(judge(&format!("{longest}A")), Err(TokenError::TooLong));
    assert_eq!(judge(&sized(2051)), Err(TokenError::TooLong));
    assert_eq!(judge(&"A".repeat(1_000_000)), Err(TokenError::TooLong));
}

#[test]
fn headers() {
    let algorithm = Err(TokenError::Algorithm);
    let typ = Err(TokenError::Type);
    let unknown = Err(TokenError::UnknownKey);
    let malformed = Err(TokenError::Malformed);
    let cases = [
        (r#"{"kid":"k1","alg":"HS256","typ":"anteroom-pass"}"#, Ok(pass())),
        (r#" { "alg" : "HS256", "typ" : "anteroom-pass", "kid" : "k1" } "#, Ok(pass())),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1","x":[{}]}"#, Ok(pass())),
        (r#"{"alg":"HS\u0032\u00356","typ":"anteroom-pass","kid":"k1"}"#, Ok(pass())),
        (r#"{"alg":"none","typ":"anteroom-pass","kid":"k1"}"#, algorithm.clone()),
        (r#"{"alg":"None","typ":"anteroom-pass","kid":"k1"}"#, algorithm.clone()),
        (r#"{"alg":"HS384","typ":"anteroom-pass","kid":"k1"}"#, algorithm.clone()),
        (r#"{"alg":"HS512","typ":"anteroom-pass","kid":"k1"}"#, algorithm.clone()),
        (r#"{"alg":"RS256","typ":"anteroom-pass","kid":"k1"}"#, algorithm.clone()),
        (r#"{"alg":"hs256","typ":"anteroom-pass","kid":"k1"}"#, algorithm.clone()),
        (r#"{"alg":"","typ":"anteroom-pass","kid":"k1"}"#, algorithm.clone()),
        (r#"{"typ":"anteroom-pass","kid":"k1"}"#, algorithm.clone()),
        (r#"{"alg":null,"typ":"anteroom-pass","kid":"k1"}"#, algorithm),
        (r#"{"alg":"HS256","typ":"JWT","kid":"k1"}"#, typ.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-ticket","kid":"k1"}"#, typ.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass2","kid":"k1"}"#, typ.clone()),
        (r#"{"alg":"HS256","typ":"ANTEROOM-PASS","kid":"k1"}"#, typ.clone()),
        (r#"{"alg":"HS256","kid":"k1"}"#, typ),
        (r#"{"alg":"HS256","typ":"anteroom-pass"}"#, unknown.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k2"}"#, unknown.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":""}"#, unknown.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":null}"#, unknown),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":1}"#, malformed.clone()),
        (r#"{"alg":["HS256"],"typ":"anteroom-pass","kid":"k1"}"#, malformed.clone()),
        (r#"{"alg":{"HS256":1},"typ":"anteroom-pass","kid":"k1"}"#, malformed.clone()),
        (r#"{"alg":"HS256","alg":"HS256","typ":"anteroom-pass","kid":"k1"}"#, malformed.clone()),
        (r#"{"alg":"none","typ":"anteroom-pass","kid":"k1","alg":"HS256"}"#, malformed.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1","kid":"k1"}"#, malformed.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1","\u006bid":"k1"}"#, malformed.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1","crit":["exp"]}"#, malformed.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1","crit":[]}"#, malformed.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1","crit":null}"#, malformed.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1"}{}"#, malformed.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1""#, malformed.clone()),
        (r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1",}"#, malformed.clone()),
        (r#"["HS256","anteroom-pass","k1",null]"#, malformed.clone()),
        (r#""HS256""#, malformed.clone()),
        ("null", malformed.clone()),
        ("{", malformed.clone()),
        (" ", malformed.clone()),
        ("\u{feff}{}", malformed),
    ];
    for (header, expected) in cases {
        assert_eq!(judge(&forge_pass(header, &pass_claims())), expected, "{header}");
    }
}

/// A token may carry a key or say where one is: neither is looked at.
#[test]
fn a_key_inside_a_token_is_not_used() {
    let own = "a key that the visitor made up, long enough";
    let jwk = B64.encode(own);
    let header = json!({"alg": "HS256", "typ": "anteroom-pass", "kid": "k1", "jwk": {"kty": "oct", "k": jwk}});
    let token = forge(&header.to_string(), pass_claims().to_string().as_bytes(), own);
    assert_eq!(judge(&token), Err(TokenError::Signature));
}

#[test]
fn claims_in_another_form_say_the_same() {
    let claims = pass_claims();
    let pretty = serde_json::to_string_pretty(&claims).expect("JSON");
    let reversed: Vec<String> = claims
        .as_object()
        .expect("an object")
        .iter()
        .rev()
        .map(|(k, v)| format!("{k:?}:{v}"))
        .collect();
    let escaped = claims.to_string().replace("general", "\\u0067eneral");
    let more = with(with(claims.clone(), "iss", json!("shop")), "aud", json!([{"a": [1.5, null]}]));
    let null = with(claims, "user_id", json!("x")).to_string().replace("\"x\"", "null");
    for form in [pretty, format!("{{{}}}", reversed.join(",")), escaped, more.to_string(), null] {
        assert_eq!(judge_claims(&form), Ok(pass()), "{form}");
    }
}

#[test]
fn claims_that_are_no_pass() {
    let claims = pass_claims();
    for field in [
        "event_id",
        "class",
        "num",
        "epoch",
        "issued_at",
        "admitted_at",
        "expires_at",
        "nonce",
        "exp",
    ] {
        let without = with(claims.clone(), field, Value::Null).to_string();
        assert_eq!(judge_claims(&without), NOT_A_PASS, "without {field}");
        let text = claims.to_string();
        let twice = text.replacen('{', &format!("{{{field:?}:{},", claims[field]), 1);
        assert_eq!(judge_claims(&twice), NOT_A_PASS, "{field} twice");
    }
    let odd =
        [json!(7.0), json!(-7), json!("7"), json!(true), json!([7]), json!({"n": 7}), json!(1e30)];
    for field in ["num", "epoch", "issued_at", "admitted_at", "expires_at", "exp"] {
        for value in &odd {
            let claims = with(claims.clone(), field, value.clone()).to_string();
            assert_eq!(judge_claims(&claims), NOT_A_PASS, "{claims}");
        }
    }
    for field in ["event_id", "device_id", "user_id", "class", "slot", "nonce"] {
        for value in [json!(7), json!(["sale"]), json!({}), json!(false)] {
            let claims = with(claims.clone(), field, value).to_string();
            assert_eq!(judge_claims(&claims), NOT_A_PASS, "{claims}");
        }
    }
    let array: Vec<&Value> = claims.as_object().expect("an object").values().collect();
    let text = claims.to_string();
    let spoilt = [
        serde_json::to_string(&array).expect("JSON"),
        format!("[{text}]"),
        format!("{{\"pass\":{text}}}"),
        format!("{text}{text}"),
        format!("{text} x"),
        text.replace("\"num\":7", "\"num\":07"),
        text.replace("\"num\":7", "\"num\":+7"),
        text.replace("\"num\":7", "\"num\":7e0"),
        text.replace("\"num\":7", "\"num\":99999999999999999999999"),
        text.replace("general", "gene\nral"),
        text.replace("general", "gene\\ud800ral"),
        text.replace('"', "'"),
        "[".repeat(1000),
        "{\"a\":".repeat(250),
        "null".into(),
        "7".into(),
    ];
    for claims in spoilt {
        assert_eq!(judge_claims(&claims), NOT_A_PASS, "{claims}");
    }
    let not_utf8 = text.replace("general", "gen?ral").into_bytes();
    let not_utf8: Vec<u8> =
        not_utf8.into_iter().map(|b| if b == b'?' { 0xff } else { b }).collect();
    assert_eq!(judge(&forge(PASS_HEADER, &not_utf8, &pass_key())), NOT_A_PASS);
}

#[test]
fn claims_that_contradict() {
    let judged = |field, value| judge_claims(&with(pass_claims(), field, value).to_string());
    let differs = Err(TokenError::Claims("have an exp that isn't expires_at"));
    assert_eq!(judged("exp", json!(EXPIRES + 1)), differs);
    assert_eq!(judged("expires_at", json!(EXPIRES + 1)), differs);
    assert_eq!(judged("event_id", json!("sale2")), Err(TokenError::OtherRoom));
    assert_eq!(judged("event_id", json!("")), Err(TokenError::OtherRoom));
    assert_eq!(judged("event_id", json!("SALE")), Err(TokenError::OtherRoom));
    let large = Err(TokenError::Claims("have a number beyond 2^53 - 1"));
    assert_eq!(judged("num", json!(1_u64 << 53)), large);
    assert_eq!(judged("num", json!(u64::MAX)), large);
    assert!(judged("num", json!((1_u64 << 53) - 1)).is_ok());
    // Spelt in our own order too, where the quick reader sees it first.
    let token = sale().sign_pass(&pass()).expect("within limits");
    let claims = B64.decode(token.split('.').nth(1).expect("three segments")).expect("base64url");
    let claims = String::from_utf8(claims).expect("UTF-8");
    let later = claims.replace(&format!("\"exp\":{EXPIRES}"), &format!("\"exp\":{}", EXPIRES + 1));
    assert_ne!(claims, later);
    assert_eq!(judge_claims(&later), differs);
}

#[test]
fn claims_of_tickets() {
    let key = B64.encode(hmac(SECRET.as_bytes(), b"ticket\0sale"));
    let judged = |claims: Value| {
        judge_ticket(&sale(), &forge(TICKET_HEADER, claims.to_string().as_bytes(), &key))
    };
    assert_eq!(judged(ticket_claims()), Ok(ticket()));
    let change = |field, value| judged(with(ticket_claims(), field, value));
    let sub = Err(TokenError::Claims("have a sub that isn't num"));
    assert_eq!(change("sub", json!("8")), sub);
    assert_eq!(change("sub", json!("07")), sub);
    assert_eq!(change("num", json!(8)), sub);
    let none = Err(TokenError::Claims("are not those of a ticket"));
    for field in ["event_id", "num", "sub", "epoch", "class", "joined_at", "visitor"] {
        assert_eq!(change(field, Value::Null), none, "without {field}");
    }
    assert_eq!(change("sub", json!(7)), none);
    assert_eq!(change("joined_at", json!(-1)), none);
    assert_eq!(change("event_id", json!("sale2")), Err(TokenError::OtherRoom));
    assert_eq!(
        change("epoch", json!(u64::MAX)),
        Err(TokenError::Claims("have a number beyond 2^53 - 1"))
    );
}

/// Errors reach logs and answers: whatever a token contains, they say the same.
#[test]
fn errors_have_no_bytes_of_the_token() {
    let marker = "MARKER";
    for header in [
        json!({"alg": marker}),
        json!({"alg": "HS256", "typ": marker}),
        json!({"alg": "HS256", "typ": "anteroom-pass", "kid": marker}),
    ] {
        let error = judge(&forge_pass(&header.to_string(), &pass_claims())).expect_err("refused");
        assert!(!format!("{error} {error:?}").contains(marker));
    }
    for field in ["event_id", "num", "exp"] {
        let error = judge_claims(&with(pass_claims(), field, json!(marker)).to_string())
            .expect_err("refused");
        assert!(!format!("{error} {error:?}").contains(marker));
    }
}
