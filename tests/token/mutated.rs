//! No token can be changed into another good one, whatever is done to its bytes.

use std::borrow::Cow;

use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// Ids of any characters, quotes, controls and all planes of Unicode among them.
fn id() -> impl Strategy<Value = Option<Cow<'static, str>>> {
    let quoted =
        prop::collection::vec(prop::sample::select(vec!['"', '\\', '\n', '\0', 'é', 'x']), 0..20);
    option::of(prop_oneof![
        prop::collection::vec(any::<char>(), 0..20).prop_map(String::from_iter),
        quoted.prop_map(String::from_iter),
        "[ -~]{0,60}",
    ])
    .prop_map(|id| id.map(Cow::from))
}

fn any_pass() -> impl Strategy<Value = Pass<'static>> {
    (id(), id(), id(), 0_u64..1 << 53, 0_u64..9).prop_map(
        |(device_id, user_id, slot, num, epoch)| Pass {
            device_id,
            user_id,
            user_proven: num % 2 == 1,
            bind: slot.clone().filter(|bind| bind.len() <= 64),
            slot: slot.filter(|slot| slot.len() <= 64),
            num,
            epoch,
            ..pass()
        },
    )
}

fn any_ticket() -> impl Strategy<Value = Ticket<'static>> {
    (id(), id(), 0_u64..1 << 53).prop_map(|(device_id, user_id, num)| Ticket {
        device_id,
        user_id,
        user_proven: num % 2 == 1,
        num,
        ..ticket()
    })
}

/// What can be done to the bytes of a token.
#[derive(Debug, Clone)]
enum Change {
    Replace(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Truncate(Index),
    CutFront(Index),
    Append(Vec<u8>),
    Swap(Index, Index),
    Repeat,
}

fn change() -> impl Strategy<Value = Change> {
    // Half of the bytes belong to tokens, so that not everything is refused for its character.
    let byte = || prop_oneof![prop::sample::select(b"ABab01-_.=".to_vec()), any::<u8>()];
    prop_oneof![
        4 => (any::<Index>(), byte()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        2 => (any::<Index>(), byte()).prop_map(|(at, byte)| Change::Insert(at, byte)),
        1 => any::<Index>().prop_map(Change::Remove),
        1 => any::<Index>().prop_map(Change::Truncate),
        1 => any::<Index>().prop_map(Change::CutFront),
        1 => prop::collection::vec(byte(), 1..9).prop_map(Change::Append),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Change::Swap(a, b)),
        1 => Just(Change::Repeat),
    ]
}

fn apply(token: &str, change: Change) -> Vec<u8> {
    let mut bytes = token.as_bytes().to_vec();
    let n = bytes.len();
    match change {
        Change::Replace(at, byte) => bytes[at.index(n)] = byte,
        Change::Insert(at, byte) => bytes.insert(at.index(n), byte),
        Change::Remove(at) => drop(bytes.remove(at.index(n))),
        Change::Truncate(at) => bytes.truncate(at.index(n)),
        Change::CutFront(at) => drop(bytes.drain(..at.index(n))),
        Change::Append(more) => bytes.extend(more),
        Change::Swap(a, b) => {
            let mut parts: Vec<_> = token.split('.').collect();
            parts.swap(a.index(3), b.index(3));
            bytes = parts.join(".").into_bytes();
        }
        Change::Repeat => bytes = format!("{token}.{token}").into_bytes(),
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_ids_come_back_as_they_were(pass in any_pass(), ticket in any_ticket()) {
        let keys = sale();
        let token = keys.sign_pass(&pass).expect("within limits");
        prop_assert_eq!(&token, &keys.sign_pass(&pass).expect("within limits"));
        prop_assert_eq!(judge_pass(&keys, &token, NOW_MS), Ok(pass));
        let token = keys.sign_ticket(&ticket).expect("within limits");
        prop_assert_eq!(judge_ticket(&keys, &token), Ok(ticket));
    }

    #[test]
    fn a_changed_token_is_refused(pass in any_pass(), ticket in any_ticket(), change in change()) {
        let keys = sale();
        let mut scratch = Scratch::new();
        let token = keys.sign_pass(&pass).expect("within limits");
        let changed = apply(&token, change.clone());
        if changed != token.as_bytes() {
            prop_assert!(keys.verify_pass(&changed, NOW_MS, &mut scratch).is_err());
        }
        let token = keys.sign_ticket(&ticket).expect("within limits");
        let changed = apply(&token, change);
        if changed != token.as_bytes() {
            prop_assert!(keys.verify_ticket(&changed, &mut scratch).is_err());
        }
    }

    #[test]
    fn parts_of_good_tokens_make_no_further_one(a in any_pass(), b in any_pass(), t in any_ticket()) {
        let keys = sale();
        let tokens = [
            keys.sign_pass(&a).expect("within limits"),
            keys.sign_pass(&b).expect("within limits"),
            keys.sign_ticket(&t).expect("within limits"),
        ];
        let parts: Vec<Vec<&str>> = tokens.iter().map(|token| token.split('.').collect()).collect();
        for (i, j, k) in (0..27).map(|n| (n / 9, n / 3 % 3, n % 3)) {
            let mixed = [parts[i][0], parts[j][1], parts[k][2]].join(".");
            let good = tokens[..2].contains(&mixed);
            prop_assert_eq!(judge_pass(&keys, &mixed, NOW_MS).is_ok(), good);
            prop_assert_eq!(judge_ticket(&keys, &mixed).is_ok(), tokens[2] == mixed);
        }
    }

    #[test]
    fn bytes_from_nowhere_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut scratch = Scratch::new();
        prop_assert!(sale().verify_pass(&bytes, NOW_MS, &mut scratch).is_err());
        prop_assert!(sale().verify_ticket(&bytes, &mut scratch).is_err());
    }

    /// A holder of the key can sign anything; nothing of it may do worse than be refused.
    #[test]
    fn signed_nonsense_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), json in ".{0,99}") {
        for claims in [bytes, json.into_bytes()] {
            let token = forge(PASS_HEADER, &claims, &pass_key());
            let refused = judge_pass(&sale(), &token, NOW_MS);
            let expected = if claims.is_empty() { TokenError::Malformed } else { TokenError::Claims("are not those of a pass") };
            prop_assert_eq!(refused, Err(expected));
        }
    }
}

/// Every byte of a token, replaced by every other byte: not a sample but all of them.
#[test]
fn every_single_byte_counts() {
    let keys = sale();
    let mut scratch = Scratch::new();
    let token = keys.sign_pass(&pass()).expect("within limits");
    for at in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        for byte in 0..=255 {
            changed[at] = byte;
            let verified = keys.verify_pass(&changed, NOW_MS, &mut scratch);
            assert_eq!(verified.is_ok(), byte == token.as_bytes()[at], "byte {at} as {byte}");
        }
    }
}
