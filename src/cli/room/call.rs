//! Calls of the operators' port: one after the other, with a key, and what their failure means.

use std::path::Path;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use ureq::typestate::WithBody;
use ureq::{Agent, Body, RequestBuilder, http};

use crate::cli::{Failure, no_key};
use crate::webhook::trusted_by_this_machine;

const KEY: &str = "ANTEROOM_ADMIN_KEY";

/// A reload looks names up; everything else takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(35);

/// What stands for itself in a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The operators' port of a node.
pub(super) struct Port {
    agent: Agent,
    url: String,
    key: String,
    tenant: Option<String>,
}

/// A part of a path.
pub(super) fn escaped(part: &str) -> String {
    utf8_percent_encode(part, PLAIN).to_string()
}

impl Port {
    /// # Errors
    /// No key, or an address that is none.
    pub(super) fn new(
        url: &str,
        key_file: Option<&Path>,
        tenant: Option<String>,
    ) -> Result<Port, Failure> {
        let secure = url.starts_with("https://");
        if !secure && !url.starts_with("http://") {
            return Err(Failure::Usage(
                "--admin is an address such as http://127.0.0.1:9090".to_owned(),
            ));
        }
        let key = match key_file {
            Some(path) => {
                let problem = |problem| Failure::File { path: path.to_owned(), problem };
                std::fs::read_to_string(path).map_err(problem)?
            }
            None => std::env::var(KEY)
                .ok()
                .filter(|key| !key.trim().is_empty())
                .ok_or_else(|| no_key("a key of the operators' port", "--key-file", KEY))?,
        };
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A key goes to whom it is meant for, and nowhere else.
            .proxy(None)
            .max_redirects(0)
            .timeout_global(Some(PATIENCE))
            .user_agent(concat!("anteroom/", env!("CARGO_PKG_VERSION")));
        if secure {
            config = config.tls_config(trusted_by_this_machine());
        }
        let agent = config.build().new_agent();
        let url = url.trim_end_matches('/').to_owned();
        Ok(Port { agent, url, key: key.trim().to_owned(), tenant })
    }

    /// # Errors
    /// The node can't be reached, or says no.
    pub(super) fn get(&self, path: &str) -> Result<Value, Failure> {
        let request = self.signed(self.agent.get(format!("{}{path}", self.url)));
        self.read(request.call())
    }

    /// The same, of what is no JSON.
    ///
    /// # Errors
    /// The node can't be reached, or says no.
    pub(super) fn text(&self, path: &str) -> Result<String, Failure> {
        let request = self.signed(self.agent.get(format!("{}{path}", self.url)));
        match request.call() {
            Ok(mut response) if response.status().is_success() => {
                let text = response.body_mut().read_to_string();
                text.map_err(|error| Failure::Admin(format!("{}: {error}", self.url)))
            }
            refused => self.read(refused).map(|answer| answer.to_string()),
        }
    }

    /// # Errors
    /// The node can't be reached, or says no.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(self.agent.post(format!("{}{path}", self.url)), body)
    }

    /// # Errors
    /// The node can't be reached, or says no.
    pub(super) fn patch(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(self.agent.patch(format!("{}{path}", self.url)), body)
    }

    /// An order, under a key of its own: whatever repeats it on the way, it is carried out once.
    fn send(&self, request: RequestBuilder<WithBody>, body: &Value) -> Result<Value, Failure> {
        let mut key = [0; 16];
        let request = match getrandom::fill(&mut key) {
            Ok(()) => {
                let key = uuid::Builder::from_random_bytes(key).into_uuid();
                request.header("Idempotency-Key", key.to_string())
            }
            Err(_) => request,
        };
        let request = self.signed(request).header("Content-Type", "application/json");
        self.read(request.send(body.to_string()))
    }

    fn signed<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        let request = request.header("Authorization", format!("Bearer {}", self.key));
        match &self.tenant {
            Some(tenant) => request.header("X-Tenant-ID", tenant),
            None => request,
        }
    }

    fn read(&self, answered: Result<http::Response<Body>, ureq::Error>) -> Result<Value, Failure> {
        let unreachable = |problem: String| Failure::Admin(format!("{}: {problem}", self.url));
        let mut response = answered.map_err(|error| unreachable(error.to_string()))?;
        let status = response.status().as_u16();
        let text = response.body_mut().read_to_string();
        let text = text.map_err(|error| unreachable(error.to_string()))?;
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        if (200..300).contains(&status) && !body.is_null() {
            return Ok(body);
        }
        let Some(message) = body["error"]["message"].as_str() else {
            return Err(unreachable(format!("no operators' port answers there ({status})")));
        };
        let problems = body["error"]["problems"].as_array().into_iter().flatten();
        let problems = problems.filter_map(Value::as_str).map(|problem| format!("\n{problem}"));
        let said = format!("{message}{}", problems.collect::<String>());
        Err(match status {
            // Trying again is no use.
            400..=428 => Failure::Usage(said),
            _ => Failure::Admin(said),
        })
    }
}
