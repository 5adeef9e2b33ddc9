//! What a browser noticed that no person sees: complaints on its console, and whom it called.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::driver::Browser;

impl Browser {
    /// New lines of one of the driver's logs.
    #[track_caller]
    fn log_of(&self, kind: &str) -> Vec<Value> {
        let lines = self.command("POST", "/se/log", &json!({ "type": kind }));
        lines.as_array().cloned().unwrap_or_default()
    }

    /// What went wrong on its pages since the last look: errors of scripts, broken policies, anything deprecated. That a
    /// document came with the status of a waiting room is no complaint.
    #[track_caller]
    pub fn complaints(&self) -> Vec<String> {
        let lines = self.log_of("browser");
        let said = lines.iter().filter(|line| line["source"] != "network");
        said.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Every address it asked the network for since the last look.
    #[track_caller]
    pub fn asked_for(&self) -> Vec<String> {
        let lines = self.log_of("performance");
        let messages = lines
            .iter()
            .filter_map(|line| serde_json::from_str::<Value>(line["message"].as_str()?).ok());
        let requests = messages.map(|mut message| message["message"].take());
        let requests = requests.filter(|event| event["method"] == "Network.requestWillBeSent");
        let urls = requests
            .filter_map(|event| event["params"]["request"]["url"].as_str().map(str::to_owned));
        urls.filter(|url| url.starts_with("http") || url.starts_with("ws")).collect()
    }

    /// # Panics
    /// If anything went wrong since the last look, or anybody else was called.
    #[track_caller]
    pub fn is_quiet(&self, only: SocketAddr) {
        let complaints = self.complaints();
        assert!(complaints.is_empty(), "the console says: {complaints:#?}");
        let here = format!("http://{only}/");
        let elsewhere: Vec<_> =
            self.asked_for().into_iter().filter(|url| !url.starts_with(&here)).collect();
        assert!(elsewhere.is_empty(), "other hosts were asked: {elsewhere:#?}");
    }
}
