//! axe-core, the accessibility checker, run inside the page. `make tools` brings it.

use serde_json::{Value, json};

use super::driver::Browser;
use crate::support::tools::tool;

impl Browser {
    /// What axe-core finds wrong with the page as it is now, best practices included.
    #[track_caller]
    pub fn barriers(&self) -> Vec<String> {
        let loaded = self.script("return typeof axe === 'object'");
        if loaded != Value::Bool(true) {
            // Not by an element of the page: its policy would rightly refuse.
            self.script(&source());
        }
        let script = "const done = arguments[0];
            axe.run(document, { resultTypes: ['violations'] }).then(found => done(found.violations), e => done([{ id: String(e), nodes: [] }]))";
        let found =
            self.command("POST", "/execute/async", &json!({ "script": script, "args": [] }));
        let found = found.as_array().into_iter().flatten();
        found.map(said).collect()
    }
}

fn said(violation: &Value) -> String {
    let nodes = violation["nodes"].as_array().into_iter().flatten();
    let nodes: Vec<String> =
        nodes.map(|node| format!("\n    {} {}", node["html"], node["failureSummary"])).collect();
    format!("{}: {}{}", violation["id"], violation["help"], nodes.concat())
}

fn source() -> String {
    std::fs::read_to_string(tool("node_modules/axe-core/axe.min.js")).expect("readable")
}
