//! Writes JSON into one buffer, field by field.
//!
//! Owns escaping. Not a serializer: an answer to a poll is a dozen known fields, and writing them as they come costs
//! one allocation. Names of fields are ours and need no escaping; every text does, wherever it came from.

use crate::clock;
use crate::gateway::answer::put_number;

/// An object that is being written.
pub(super) struct Json(Vec<u8>);

/// A status with a ticket in it has some 850 bytes.
const USUAL: usize = 1_024;

impl Json {
    /// Nothing in it yet.
    pub(super) fn new() -> Json {
        let mut out = Vec::with_capacity(USUAL);
        out.push(b'{');
        Json(out)
    }

    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        let out = &mut self.0;
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        out
    }

    /// A text.
    pub(super) fn text(&mut self, name: &str, value: &str) {
        put_text(self.name(name), value);
    }

    /// A text or `null`.
    pub(super) fn maybe(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.text(name, value),
            None => self.null(name),
        }
    }

    /// A text that is one of ours: a token, a label. What is no such text after all is left out rather than written.
    pub(super) fn token(&mut self, name: &str, value: &[u8]) {
        if let Ok(value) = std::str::from_utf8(value) {
            self.text(name, value);
        }
    }

    /// A whole number.
    pub(super) fn number(&mut self, name: &str, value: u64) {
        put_number(self.name(name), value);
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, name: &str, value: bool) {
        let word: &[u8] = if value { b"true" } else { b"false" };
        self.name(name).extend_from_slice(word);
    }

    /// `null`.
    pub(super) fn null(&mut self, name: &str) {
        self.name(name).extend_from_slice(b"null");
    }

    /// A time to the millisecond.
    pub(super) fn moment(&mut self, name: &str, unix_ms: u64) {
        let out = self.name(name);
        out.push(b'"');
        clock::put_moment(out, unix_ms);
        out.push(b'"');
    }

    /// A time to the second, as tickets and passes have it.
    pub(super) fn second(&mut self, name: &str, unix_seconds: u64) {
        let out = self.name(name);
        out.push(b'"');
        clock::put_second(out, unix_seconds);
        out.push(b'"');
    }

    /// An object within; what follows is of it until [`Json::close`].
    pub(super) fn open(&mut self, name: &str) {
        self.name(name).push(b'{');
    }

    /// Ends an object within.
    pub(super) fn close(&mut self) {
        self.0.push(b'}');
    }

    /// A list within; what follows are its items until [`Json::end_array`].
    pub(super) fn array(&mut self, name: &str) {
        self.name(name).push(b'[');
    }

    /// Another object of a list, until [`Json::close`].
    pub(super) fn item(&mut self) {
        self.next_item().push(b'{');
    }

    /// A text of a list.
    pub(super) fn item_text(&mut self, value: &str) {
        put_text(self.next_item(), value);
    }

    fn next_item(&mut self) -> &mut Vec<u8> {
        if self.0.last() != Some(&b'[') {
            self.0.push(b',');
        }
        &mut self.0
    }

    /// Ends a list within.
    pub(super) fn end_array(&mut self) {
        self.0.push(b']');
    }

    /// `A-000123`, without making a text of it first.
    pub(super) fn label(&mut self, name: &str, prefix: &str, number: u64) {
        let out = self.name(name);
        put_text(out, prefix);
        out.pop();
        out.push(b'-');
        clock::put_padded(out, number, 6);
        out.push(b'"');
    }

    /// The whole.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

/// A text in quotes. Nearly every text has nothing special in it, which is seen without a branch a byte: a ticket has
/// hundreds of them.
fn put_text(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let special = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < b' ';
    out.push(b'"');
    let mut rest = text.as_bytes();
    if !rest.iter().fold(false, |any, byte| any | special(byte)) {
        out.extend_from_slice(rest);
        out.push(b'"');
        return;
    }
    while let Some(at) = rest.iter().position(special) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            byte => {
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&digits);
            }
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn read(json: Json) -> Value {
        serde_json::from_slice(&json.end()).expect("JSON")
    }

    #[test]
    fn every_kind_of_field() {
        let mut json = Json::new();
        json.text("a", "x\"y\\z\n\u{1}é");
        json.maybe("b", None);
        json.open("c");
        json.number("low", 7);
        json.flag("sure", false);
        json.close();
        json.open("d");
        json.close();
        json.label("e", "A\"", 123);
        json.token("f", &[0xff]);
        json.moment("g", 1_705_314_225_042);
        json.second("h", 1_705_314_225);
        json.array("i");
        json.item();
        json.text("n", "[");
        json.close();
        json.item();
        json.close();
        json.end_array();
        json.array("j");
        json.item_text("[");
        json.item_text("\"");
        json.end_array();
        json.array("k");
        json.end_array();
        let expected = json!({
            "a": "x\"y\\z\n\u{1}é", "b": null, "c": {"low": 7, "sure": false}, "d": {}, "e": "A\"-000123",
            "g": "2024-01-15T10:23:45.042Z", "h": "2024-01-15T10:23:45Z",
            "i": [{"n": "["}, {}], "j": ["[", "\""], "k": [],
        });
        assert_eq!(read(json), expected);
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_it_was(text in any::<String>()) {
            let mut json = Json::new();
            json.text("text", &text);
            prop_assert_eq!(&read(json)["text"], &Value::String(text));
        }
    }
}
