//! The quick reader is judged by `serde_json`'s: it may give up, never read something else.

use super::{Pass, Ticket, opening};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const ROOM: &str = "sale";

fn pass() -> impl Strategy<Value = Pass<'static>> {
    let ids = (option::of(".{0,20}"), option::of(".{0,20}"), option::of("[ -~]{0,9}"));
    let names = (".{0,9}", "[A-Za-z0-9_-]{22}", option::of("[A-Za-z0-9_-]{22}"));
    let numbers = (0..=super::MAX_NUMBER, 0_u64..3, [0_u64..4_000_000_000, 0..99, 0..99]);
    (ids, names, numbers).prop_map(|(ids, names, (num, epoch, times))| Pass {
        device_id: ids.0.map(Into::into),
        user_id: ids.1.map(Into::into),
        user_proven: num % 2 == 1,
        class: names.0.into(),
        slot: ids.2.map(Into::into),
        num,
        epoch,
        issued_at: times[0],
        admitted_at: times[1],
        expires_at: times[0] + times[2],
        nonce: names.1.into(),
        bind: names.2.map(Into::into),
    })
}

fn ticket(pass: Pass<'static>) -> Ticket<'static> {
    Ticket {
        num: pass.num,
        epoch: pass.epoch,
        class: pass.class,
        joined_at: pass.issued_at,
        visitor: pass.nonce,
        device_id: pass.device_id,
        user_id: pass.user_id,
        user_proven: pass.user_proven,
    }
}

/// Bytes changed, put in or taken out, most of them such as mean something in JSON.
fn mutate(json: &mut Vec<u8>, edits: Vec<(prop::sample::Index, u8, u8)>) {
    for (at, byte, kind) in edits {
        let at = at.index(json.len());
        match kind {
            0 => json[at] = byte,
            1 => json.insert(at, byte),
            _ => drop(json.remove(at)),
        }
    }
}

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    let byte = prop_oneof![
        prop::sample::select(b"\"\\{},:0129-.eE \n\0\x1f\x7f\xc3\xff".to_vec()),
        any::<u8>()
    ];
    vec((any::<prop::sample::Index>(), byte, 0_u8..3), 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_pass_is_read_the_same_by_both(pass in pass(), edits in edits()) {
        let mut json = pass.write(ROOM).expect("within limits");
        let escaped = json.contains(&b'\\');
        let quick = Pass::read_canonical(&json, &opening(ROOM));
        prop_assert_eq!(quick.is_none(), escaped);
        prop_assert_eq!(Pass::read_any(&json, ROOM), Ok(pass));
        mutate(&mut json, edits);
        if let Some(quick) = Pass::read_canonical(&json, &opening(ROOM)) {
            prop_assert_eq!(Pass::read_any(&json, ROOM), Ok(quick));
        }
    }

    #[test]
    fn a_ticket_is_read_the_same_by_both(ticket in pass().prop_map(ticket), edits in edits()) {
        let mut json = ticket.write(ROOM).expect("within limits");
        let escaped = json.contains(&b'\\');
        let quick = Ticket::read_canonical(&json, &opening(ROOM));
        prop_assert_eq!(quick.is_none(), escaped);
        prop_assert_eq!(Ticket::read_any(&json, ROOM), Ok(ticket));
        mutate(&mut json, edits);
        if let Some(quick) = Ticket::read_canonical(&json, &opening(ROOM)) {
            prop_assert_eq!(Ticket::read_any(&json, ROOM), Ok(quick));
        }
    }
}
