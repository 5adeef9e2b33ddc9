//! Keys: which ones sign, which ones verify, and which tokens they can't be used for.

use anteroom::token::{Invite, KeyError, PassKeys, SignError, Token};

use super::*;

const OLD: &str = "the secret before the present one ..";

fn room(signing: &[(&str, &str)]) -> RoomKeys {
    let keys = signing.iter().map(|(id, secret)| key(id, secret)).collect();
    KeyRing::new(keys, vec![]).expect("good keys").room("sale").expect("a good room")
}

#[test]
fn what_was_signed_is_read_back() {
    let token = sale().sign_pass(&pass()).expect("within limits");
    assert_eq!(judge_pass(&sale(), &token, NOW_MS), Ok(pass()));
    let token = sale().sign_ticket(&ticket()).expect("within limits");
    assert_eq!(judge_ticket(&sale(), &token), Ok(ticket()));
}

#[test]
fn the_first_key_signs_and_all_verify() {
    let before = room(&[("k1", OLD)]);
    let during = room(&[("k2", SECRET), ("k1", OLD)]);
    let after = room(&[("k2", SECRET)]);
    let old = before.sign_pass(&pass()).expect("within limits");
    let new = during.sign_pass(&pass()).expect("within limits");
    assert_eq!(judge_pass(&during, &old, NOW_MS), Ok(pass()));
    assert_eq!(judge_pass(&during, &new, NOW_MS), Ok(pass()));
    assert_eq!(judge_pass(&after, &new, NOW_MS), Ok(pass()));
    assert_eq!(judge_pass(&after, &old, NOW_MS), Err(TokenError::UnknownKey));
    assert_eq!(judge_pass(&before, &new, NOW_MS), Err(TokenError::UnknownKey));

    let old = before.sign_ticket(&ticket()).expect("within limits");
    assert_eq!(judge_ticket(&during, &old), Ok(ticket()));
    assert_eq!(judge_ticket(&after, &old), Err(TokenError::UnknownKey));
}

#[test]
fn another_secret_under_the_same_id_is_refused() {
    let token = room(&[("k1", OLD)]).sign_pass(&pass()).expect("within limits");
    assert_eq!(judge_pass(&sale(), &token, NOW_MS), Err(TokenError::Signature));
    let token = room(&[("k1", OLD)]).sign_ticket(&ticket()).expect("within limits");
    assert_eq!(judge_ticket(&sale(), &token), Err(TokenError::Signature));
}

#[test]
fn another_room_is_refused() {
    let other = ring().room("sale2").expect("a good room");
    let token = other.sign_pass(&pass()).expect("within limits");
    assert_eq!(judge_pass(&sale(), &token, NOW_MS), Err(TokenError::Signature));
    let token = other.sign_ticket(&ticket()).expect("within limits");
    assert_eq!(judge_ticket(&sale(), &token), Err(TokenError::Signature));

    // A shared secret signs for every room: there the claim alone tells them apart.
    let other = shared_ring().room("sale2").expect("a good room");
    let token = other.sign_pass(&pass()).expect("within limits");
    let keys = shared_ring().room("sale").expect("a good room");
    assert_eq!(judge_pass(&keys, &token, NOW_MS), Err(TokenError::OtherRoom));
}

/// A provisional ticket says when somebody came, and is neither a place nor an admission.
#[test]
fn a_provisional_ticket_is_neither_a_ticket_nor_a_pass() {
    for ring in [ring(), shared_ring()] {
        let keys = ring.room("sale").expect("a good room");
        let token = keys.sign_provisional(&provisional()).expect("within limits");
        assert_eq!(judge_pass(&keys, &token, NOW_MS), Err(TokenError::Type));
        assert_eq!(judge_ticket(&keys, &token), Err(TokenError::Type));
        let mut scratch = Scratch::new();
        let read = keys.read(token.as_bytes(), &mut scratch);
        assert_eq!(read, Ok(Token::Provisional(provisional())));
        let clocked = Provisional { clock_of: Some(u128::MAX >> 8), ..provisional() };
        let clocked_token = keys.sign_provisional(&clocked).expect("within limits");
        let mut scratch = Scratch::new();
        let read = keys.read(clocked_token.as_bytes(), &mut scratch);
        assert_eq!(read, Ok(Token::Provisional(clocked)), "by a node's own clock");
        let other = ring.room("sale2").expect("a good room");
        let mut scratch = Scratch::new();
        let read = other.verify_provisional(token.as_bytes(), &mut scratch);
        assert_eq!(read, Err(TokenError::Signature));
        for foreign in [keys.sign_ticket(&ticket()), keys.sign_pass(&pass())] {
            let foreign = foreign.expect("within limits");
            let mut scratch = Scratch::new();
            let read = keys.verify_provisional(foreign.as_bytes(), &mut scratch);
            assert_eq!(read, Err(TokenError::Type));
        }
    }
}

/// What was proven on arrival comes back with it.
#[test]
fn a_provisional_ticket_carries_what_was_proven() {
    let keys = sale();
    let invite = Invite {
        id: [9; 16],
        class: "presale".into(),
        uses: 3,
        expires_at: EXPIRES,
        user_id: Some("acme".into()),
    };
    let by_invite = Provisional { invite: Some(invite), ..provisional() };
    let by_word = Provisional { class: Some("vip".into()), ..provisional() };
    for proven in [by_invite, by_word] {
        let token = keys.sign_provisional(&proven).expect("within limits");
        let mut scratch = Scratch::new();
        assert_eq!(keys.verify_provisional(token.as_bytes(), &mut scratch), Ok(proven));
    }
}

/// Its key is another one than the ticket's: the type in the header alone decides nothing.
#[test]
fn no_other_key_makes_provisional_tickets() {
    let claims = r#"{"event_id":"sale","arrived_ms":1,"nonce":"AAECAwQFBgcICQoLDA0ODw"}"#;
    let header = r#"{"alg":"HS256","typ":"anteroom-provisional","kid":"k1"}"#;
    let derived =
        |purpose: &str| B64.encode(hmac(SECRET.as_bytes(), format!("{purpose}\0sale").as_bytes()));
    let judged = |claims: &str, key: &str| {
        let token = forge(header, claims.as_bytes(), key);
        let mut scratch = Scratch::new();
        sale().verify_provisional(token.as_bytes(), &mut scratch).map(|read| read.arrived_ms)
    };
    assert_eq!(judged(claims, &derived("provisional")), Ok(1));
    for key in [SECRET.to_owned(), pass_key(), derived("ticket")] {
        assert_eq!(judged(claims, &key), Err(TokenError::Signature));
    }
    let key = derived("provisional");
    for spoilt in [
        claims.replace("AAECAwQFBgcICQoLDA0ODw", "AAEC"),
        claims.replace("AAECAwQFBgcICQoLDA0ODw", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"),
        claims.replace(":1,", ":9007199254740992,"),
        claims.replace(":1,", ":-1,"),
        claims.replace(":1,", ":1,\"clock_of\":\"noon\","),
        claims.replace(":1,", ":1,\"clock_of\":\"\","),
        claims.replace(":1,", &format!(":1,\"clock_of\":\"{}\",", "f".repeat(33))),
        claims.replace('}', r#","invite":{"class":"c","id":"AAEC","uses":1,"exp":2}}"#),
        claims.replace("\"sale\"", "\"sale2\""),
        ticket_claims().to_string(),
    ] {
        assert!(judged(&spoilt, &key).is_err(), "{spoilt}");
    }
}

#[test]
fn a_ticket_is_never_a_pass_nor_a_pass_a_ticket() {
    for ring in [ring(), shared_ring()] {
        let keys = ring.room("sale").expect("a good room");
        let ticket = keys.sign_ticket(&ticket()).expect("within limits");
        let pass = keys.sign_pass(&pass()).expect("within limits");
        assert_eq!(judge_pass(&keys, &ticket, NOW_MS), Err(TokenError::Type));
        assert_eq!(judge_ticket(&keys, &pass), Err(TokenError::Type));
    }
}

/// Even if the type is changed by somebody who has the pass key: the ticket's key is another one.
#[test]
fn a_pass_key_makes_no_tickets() {
    for key in [pass_key(), PASS_SECRET.to_owned()] {
        let claims = ticket_claims().to_string();
        let token = forge(TICKET_HEADER, claims.as_bytes(), &key);
        for ring in [ring(), shared_ring()] {
            let keys = ring.room("sale").expect("a good room");
            assert_eq!(judge_ticket(&keys, &token), Err(TokenError::Signature));
        }
    }
}

/// The type guards even where the keys don't: a pass secret that is the room's very ticket key.
#[test]
fn with_one_key_for_both_the_type_tells_them_apart() {
    let ticket_key = B64.encode(hmac(SECRET.as_bytes(), b"ticket\0sale"));
    let ring = KeyRing::new(vec![key("k1", SECRET)], vec![key("p1", &ticket_key)]);
    let keys = ring.expect("good keys").room("sale").expect("a good room");
    let token = keys.sign_ticket(&ticket()).expect("within limits");
    assert_eq!(judge_pass(&keys, &token, NOW_MS), Err(TokenError::Type));
    let header = PASS_HEADER.replace("k1", "p1");
    let token = forge(&header, ticket_claims().to_string().as_bytes(), &ticket_key);
    let refused = Err(TokenError::Claims("are not those of a pass"));
    assert_eq!(judge_pass(&keys, &token, NOW_MS), refused);
}

#[test]
fn a_shared_secret_signs_passes_as_it_is_and_derived_ones_stay_good() {
    let keys = shared_ring().room("sale").expect("a good room");
    let token = keys.sign_pass(&pass()).expect("within limits");
    let (input, signature) = token.rsplit_once('.').expect("three segments");
    assert_eq!(signature, B64.encode(hmac(PASS_SECRET.as_bytes(), input.as_bytes())));
    assert_eq!(judge_pass(&keys, &token, NOW_MS), Ok(pass()));

    let before = sale().sign_pass(&pass()).expect("within limits");
    assert_eq!(judge_pass(&keys, &before, NOW_MS), Ok(pass()));
    // The other way round the operator took the key away.
    assert_eq!(judge_pass(&sale(), &token, NOW_MS), Err(TokenError::UnknownKey));
}

#[test]
fn an_origin_verifies_with_its_pass_key_alone() {
    let token = sale().sign_pass(&pass()).expect("within limits");
    let keys = PassKeys::new("sale", &[key("k1", &pass_key())]).expect("good keys");
    let mut scratch = Scratch::new();
    assert_eq!(keys.verify_pass(token.as_bytes(), NOW_MS, &mut scratch), Ok(pass()));
    let keys = PassKeys::new("sale", &[key("k1", SECRET)]).expect("good keys");
    let refused = keys.verify_pass(token.as_bytes(), NOW_MS, &mut scratch);
    assert_eq!(refused, Err(TokenError::Signature));
    assert_eq!(PassKeys::new("sale", &[]).err(), Some(KeyError::NoKey));
}

#[test]
fn a_pass_is_good_until_the_second_it_expires() {
    let token = sale().sign_pass(&pass()).expect("within limits");
    let at = |now_ms| judge_pass(&sale(), &token, now_ms).map(|_| ());
    assert_eq!(at(EXPIRES * 1000 - 1), Ok(()));
    assert_eq!(at(EXPIRES * 1000), Err(TokenError::Expired { at: EXPIRES }));
    assert_eq!(at(u64::MAX), Err(TokenError::Expired { at: EXPIRES }));
}

#[test]
fn ids_of_visitors_and_nonces_differ_by_everything_they_are_made_of() {
    let rooms = [sale(), ring().room("sal").expect("a good room"), room(&[("k1", OLD)])];
    let numbers = [(1, 7), (7, 1), (0, 17), (17, 0)];
    let mut seen = std::collections::HashSet::new();
    for keys in &rooms {
        for (epoch, num) in numbers {
            for id in [keys.nonce(epoch, num), keys.visitor(epoch, num)] {
                assert_eq!(id.len(), 22);
                assert!(seen.insert(id), "two of them are the same");
            }
        }
    }
    assert_eq!(sale().nonce(1, 7), sale().nonce(1, 7));
}

#[test]
fn bad_keys_are_refused_with_a_reason() {
    assert_eq!(Secret::new("short").err(), Some(KeyError::Short(5)));
    assert_eq!(Secret::new(&"x".repeat(31)).err(), Some(KeyError::Short(31)));
    assert!(Secret::new(&format!("\n {}\r\n", "x".repeat(32))).is_ok());
    assert_eq!(Secret::new(&format!("{SECRET}\n{SECRET}")).err(), Some(KeyError::NotText));
    let id = |id: &str| Key::new(id, Secret::new(SECRET).expect("a good secret")).err();
    for odd in ["", "k 1", "k\"1", "ключ", "k.1", &"k".repeat(33)] {
        assert_eq!(id(odd), Some(KeyError::Id), "{odd:?}");
    }
    assert_eq!(id(&"k".repeat(32)), None);

    let ring = |signing, pass| KeyRing::new(signing, pass).map(|_| ()).err();
    assert_eq!(ring(vec![], vec![]), Some(KeyError::NoKey));
    let twice = Some(KeyError::Duplicate("k1".into()));
    assert_eq!(ring(vec![key("k1", SECRET), key("k1", OLD)], vec![]), twice);
    assert_eq!(ring(vec![key("k1", SECRET)], vec![key("k1", PASS_SECRET)]), twice);
    let shared = Some(KeyError::Shared("p1".into()));
    assert_eq!(ring(vec![key("k1", SECRET)], vec![key("p1", SECRET)]), shared);

    for odd in ["", "a b", "a{b}", "a\"b", "a\0b", "é", &"x".repeat(129)] {
        let error = super::ring().room(odd).err();
        assert!(matches!(error, Some(KeyError::Room(_))), "{odd:?}: {error:?}");
        assert!(super::ring().pass_key(odd).is_err());
    }
    assert!(super::ring().room("tenant/evt_123.v1-a").is_ok());
}

#[test]
fn no_debug_output_shows_a_secret() {
    let ring = KeyRing::new(vec![key("k1", SECRET)], vec![key("p1", PASS_SECRET)]);
    let ring = ring.expect("good keys");
    let keys = ring.room("sale").expect("a good room");
    let shown = format!("{ring:?} {ring:#?} {keys:?} {keys:#?}");
    for part in ["secret of the tests", "pass secret", &pass_key()] {
        assert!(!shown.contains(part), "{shown}");
    }
    // Nor as a list of bytes.
    assert!(!shown.contains("115, 101, 99, 114, 101, 116"), "{shown}");
}

#[test]
fn fields_over_their_limit_are_not_signed() {
    let sign = |pass: &Pass<'_>| sale().sign_pass(pass).map(|token| token.len());
    let long = |n| Some("x".repeat(n).into());
    assert!(sign(&Pass { device_id: long(128), user_id: long(128), ..pass() }).is_ok());
    let refused = sign(&Pass { device_id: long(129), ..pass() });
    assert_eq!(refused, Err(SignError::LongId("device_id")));
    let refused = sign(&Pass { user_id: long(129), ..pass() });
    assert_eq!(refused, Err(SignError::LongId("user_id")));
    let refused = sign(&Pass { slot: long(65), ..pass() });
    assert_eq!(refused, Err(SignError::LongName("slot")));
    let refused = sign(&Pass { bind: long(65), ..pass() });
    assert_eq!(refused, Err(SignError::LongName("bind")));
    let refused = sign(&Pass { num: 1 << 53, ..pass() });
    assert_eq!(refused, Err(SignError::LargeNumber("num")));
    let refused = sign(&Pass { expires_at: u64::MAX, ..pass() });
    assert_eq!(refused, Err(SignError::LargeNumber("expires_at")));
    let refused = sale().sign_ticket(&Ticket { class: "x".repeat(65).into(), ..ticket() });
    assert_eq!(refused, Err(SignError::LongName("class")));
    let refused = sale().sign_ticket(&Ticket { joined_at: 1 << 53, ..ticket() });
    assert_eq!(refused, Err(SignError::LargeNumber("joined_at")));

    // Each control character takes six bytes: with two ids full of them it is the token that is too long.
    let control = Some("\u{1}".repeat(128).into());
    let pass = Pass { device_id: control.clone(), user_id: control, ..pass() };
    assert_eq!(sign(&pass), Err(SignError::LongToken));
}

#[test]
fn the_longest_fields_fit_even_if_all_are_quotes() {
    let quotes = |n: usize| std::borrow::Cow::from("\"".repeat(n));
    let longest = (1 << 53) - 1;
    let pass = Pass {
        device_id: Some(quotes(128)),
        user_id: Some(quotes(128)),
        user_proven: true,
        class: quotes(64),
        slot: Some(quotes(64)),
        num: longest,
        epoch: longest,
        issued_at: longest,
        admitted_at: longest,
        expires_at: longest,
        nonce: quotes(64),
        bind: Some("b".repeat(22).into()),
    };
    let keys = KeyRing::new(vec![key(&"k".repeat(32), SECRET)], vec![]).expect("good keys");
    let keys = keys.room(&"r".repeat(128)).expect("a good room");
    let token = keys.sign_pass(&pass).expect("it fits");
    assert_eq!(judge_pass(&keys, &token, NOW_MS), Ok(pass));
}

#[test]
fn what_a_pass_is_bound_to_is_unlike_everything_else_and_outlives_a_change_of_keys() {
    let one = key("k1", SECRET);
    let keys = KeyRing::new(vec![one.clone()], vec![]).expect("good keys");
    let keys = |room: &str| keys.room(room).expect("a good room");
    let lists: [&[Option<&[u8]>]; 10] = [
        &[None, None],
        &[Some(b""), None],
        &[None, Some(b"")],
        &[Some(b"ab"), None],
        &[None, Some(b"ab")],
        &[Some(b"a"), Some(b"b")],
        &[Some(b"ab"), Some(b"")],
        &[Some(b""), Some(b"ab")],
        &[Some(b"a\0\0\0\0\0\0\0\x01"), Some(b"")],
        &[Some(b"AB"), None],
    ];
    let hashes: Vec<String> = lists.iter().map(|list| keys("sale").bind(list)).collect();
    for (n, hash) in hashes.iter().enumerate() {
        assert_eq!(hash.len(), 22);
        for (m, list) in lists.iter().enumerate() {
            assert_eq!(keys("sale").is_bound(hash, list), n == m, "{n} {m}");
        }
        assert!(!keys("other").is_bound(hash, lists[n]), "another room's");
    }
    for none in ["", "a", &hashes[0][..21], &format!("{}A", hashes[0]), &"=".repeat(22)] {
        assert!(!keys("sale").is_bound(none, lists[0]), "{none:?}");
    }
    // A new key signs; what the old one bound stays bound, until the old one goes.
    let two = key("k2", "another signing secret, at least 32 bytes");
    let ring = |keys: Vec<Key>| KeyRing::new(keys, vec![]).and_then(|ring| ring.room("sale"));
    let both = ring(vec![two.clone(), one]).expect("good keys");
    let alone = ring(vec![two]).expect("good keys");
    assert_ne!(both.bind(lists[5]), hashes[5]);
    assert!(both.is_bound(&hashes[5], lists[5]) && !both.is_bound(&hashes[5], lists[6]));
    assert!(!alone.is_bound(&hashes[5], lists[5]));
}
