//! What may be a room's name.
//!
//! A name goes unchanged into signed JSON, header values, URLs, cookies' hashes, metric labels and the
//! stores' keys (between braces), so it has none of the characters that mean something in any of them.

/// The longest name, its tenant included.
pub const MAX_ROOM: usize = 128;

/// The rule, for error messages.
pub const ROOM_RULE: &str = "a room's name has 1 to 128 of A-Z a-z 0-9 . _ -, and one / after its tenant's name if it has one";

/// Whether a room may be called so: `sale`, or `tenant/sale`.
pub fn is_room(name: &str) -> bool {
    let part = |part: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        !part.is_empty() && part.bytes().all(plain)
    };
    let named = match name.split_once('/') {
        Some((tenant, room)) => part(tenant) && part(room),
        None => part(name),
    };
    named && name.len() <= MAX_ROOM
}

/// A refused name as it may be shown in an error: not longer than a good one.
pub(crate) fn shortened(name: &str) -> String {
    name.chars().take(MAX_ROOM).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rooms_name() {
        for good in ["sale", "S-2026.v1_a", "tenant/sale", &"a".repeat(MAX_ROOM)] {
            assert!(is_room(good), "{good}");
        }
        for bad in [
            "",
            "/",
            "a/",
            "/a",
            "a/b/c",
            "a b",
            "a:b",
            "{a}",
            "é",
            "a\n",
            &"a".repeat(MAX_ROOM + 1),
        ] {
            assert!(!is_room(bad), "{bad}");
        }
    }
}
