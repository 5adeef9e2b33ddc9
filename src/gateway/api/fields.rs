//! The body of a call: a JSON object's fields, by name.
//!
//! Owns the rules about what may stand in them. A field twice is refused: which of the two counts would depend on who
//! reads it. Fields nobody knows are somebody else's business.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::error::bad;
use crate::gateway::answer::Response;
use crate::token::MAX_ID;

/// What was sent.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, Value)>);

impl Fields {
    /// Reads a body. None at all is an object without fields: everything may come by header or cookie.
    ///
    /// # Errors
    /// 400 `invalid_json`.
    pub(super) fn read(body: &[u8]) -> Result<Fields, Response> {
        let body = body.trim_ascii();
        if body.is_empty() {
            return Ok(Fields::default());
        }
        let fields: Fields = serde_json::from_slice(body)
            .map_err(|_| bad("invalid_json", "the body is not a JSON object"))?;
        let mut names: Vec<&str> = fields.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err(bad("invalid_json", "the body has a field twice")),
            false => Ok(fields),
        }
    }

    /// A field's value; `null` is none.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let named = self.0.iter().find(|(other, _)| other == name);
        named.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    /// A text.
    ///
    /// # Errors
    /// 400 with `code` if it is something else.
    pub(super) fn text(&self, name: &str, code: &'static str) -> Result<Option<&str>, Response> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(bad(code, &format!("{name} must be a string"))),
        }
    }

    /// Whether something is wanted; if nothing is said, it is not.
    ///
    /// # Errors
    /// 400 with `code` if it is something else.
    pub(super) fn flag(&self, name: &str, code: &'static str) -> Result<bool, Response> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(bad(code, &format!("{name} must be true or false"))),
        }
    }
}

/// An id as it goes into tickets and logs: not longer than they take, and in one line. Empty is none.
///
/// # Errors
/// 400 with `code`.
pub(super) fn id<'v>(
    name: &str,
    value: Option<&'v str>,
    code: &'static str,
) -> Result<Option<&'v str>, Response> {
    match value {
        None | Some("") => Ok(None),
        Some(id) if id.len() > MAX_ID => {
            Err(bad(code, &format!("{name} is longer than {MAX_ID} bytes")))
        }
        Some(id) if id.chars().any(char::is_control) => {
            Err(bad(code, &format!("{name} contains control characters")))
        }
        Some(id) => Ok(Some(id)),
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem<T>(result: Result<T, Response>) -> String {
        let response = result.err().expect("a problem");
        assert_eq!(response.status, 400);
        String::from_utf8(response.body.into_owned()).unwrap()
    }

    #[test]
    fn a_body_is_an_object_or_nothing() {
        assert!(Fields::read(b" \n").unwrap().get("a").is_none());
        let fields = Fields::read(br#"{"a":"x","n":7,"z":null,"deep":{"a":1}}"#).unwrap();
        assert_eq!(fields.text("a", "invalid_a").unwrap(), Some("x"));
        assert_eq!(fields.text("z", "invalid_z").unwrap(), None);
        assert!(problem(fields.text("n", "invalid_n")).contains("n must be a string"));
        assert!(!fields.flag("z", "invalid_z").unwrap());
        assert!(problem(fields.flag("a", "invalid_a")).contains("a must be true or false"));
        for bad in [&b"[]"[..], b"7", b"{", b"{\"a\":1}x", b"\xff", b"{\"a\":1,\"a\":1}"] {
            assert!(problem(Fields::read(bad)).contains("invalid_json"));
        }
        let nested = "[".repeat(10_000);
        assert!(
            problem(Fields::read(format!("{{\"a\":{nested}").as_bytes())).contains("invalid_json")
        );
    }

    #[test]
    fn ids() {
        assert_eq!(id("device_id", Some(""), "x").unwrap(), None);
        assert_eq!(id("device_id", Some("é"), "x").unwrap(), Some("é"));
        assert!(problem(id("device_id", Some("a\nb"), "x")).contains("control"));
        assert!(problem(id("device_id", Some(&"a".repeat(129)), "x")).contains("128"));
    }
}
