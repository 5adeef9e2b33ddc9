//! `anteroom room export`: a room as JSON lines, one thing a line. Passes are told by hashes: nobody enters with an export.

use serde_json::{Value, json};

use super::call::Port;
use crate::cli::Failure;

/// What one call brings.
const PAGE: u64 = 1_000;

/// The room at `path`.
///
/// # Errors
/// The node can't be reached, or says no.
pub(super) fn run(port: &Port, path: &str) -> Result<String, Failure> {
    let mut lines = String::new();
    let mut put = |kind: &str, value: &Value| {
        let mut line = json!({ "kind": kind });
        if let (Some(line), Some(fields)) = (line.as_object_mut(), value.as_object()) {
            line.extend(fields.clone());
        }
        lines.push_str(&line.to_string());
        lines.push('\n');
    };
    let room = port.get(path)?;
    for (name, set) in room["overrides"].as_object().into_iter().flatten() {
        let mut set = set.clone();
        set["name"] = name.as_str().into();
        put("override", &set);
    }
    put("room", &room);
    let mut from = 1;
    loop {
        let page = port.get(&format!("{path}/line?from={from}&limit={PAGE}"))?;
        let visitors = page["visitors"].as_array().map(Vec::as_slice).unwrap_or_default();
        visitors.iter().for_each(|visitor| put("waiting", visitor));
        if (visitors.len() as u64) < PAGE {
            break;
        }
        from += PAGE;
    }
    let mut skip = 0;
    loop {
        let page = port.get(&format!("{path}/inside?skip={skip}&limit={PAGE}"))?;
        let passes = page["passes"].as_array().map(Vec::as_slice).unwrap_or_default();
        passes.iter().for_each(|pass| put("pass", pass));
        if (passes.len() as u64) < PAGE {
            break;
        }
        skip += PAGE;
    }
    Ok(lines)
}
