//! Somebody with a browser: its headers, and its cookies.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::{Value, json};

use super::client::{Connection, HOST, Request, Response};
use super::gateway::Gateway;
use super::{eventually, tls};

/// A visitor. Every request has a connection of its own.
#[derive(Clone, Debug)]
pub struct Visitor {
    address: SocketAddr,
    secure: Option<Vec<u8>>,
    host: String,
    /// Sent with every request, such as `X-Forwarded-For`.
    headers: Vec<(String, String)>,
    cookies: BTreeMap<String, String>,
}

impl Visitor {
    /// Somebody new, over plain HTTP.
    pub fn new(gateway: &Gateway) -> Visitor {
        Visitor::of(gateway.addr())
    }

    /// Somebody new at an address.
    pub fn of(address: SocketAddr) -> Visitor {
        Visitor {
            address,
            secure: None,
            host: HOST.to_owned(),
            headers: Vec::new(),
            cookies: BTreeMap::new(),
        }
    }

    /// Somebody new, over TLS.
    pub fn secure(gateway: &Gateway) -> Visitor {
        let certificate = tls::certificate(gateway.directory());
        Visitor { address: gateway.tls_addr(), secure: Some(certificate), ..Visitor::new(gateway) }
    }

    /// Who asks for another host.
    #[must_use]
    pub fn at(mut self, host: &str) -> Visitor {
        host.clone_into(&mut self.host);
        self
    }

    /// Who sends another header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Visitor {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Takes the cookies of somebody else.
    pub fn learn_cookies(&mut self, from: &Visitor) {
        self.cookies.clone_from(&from.cookies);
    }

    /// The same one at another process, as after a restart.
    pub fn moves_to(&mut self, gateway: &Gateway) {
        self.address = match self.secure {
            Some(_) => gateway.tls_addr(),
            None => gateway.addr(),
        };
    }

    /// The cookies, as they are sent.
    pub fn cookie(&self) -> Option<String> {
        let pairs: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// The one cookie of the gateway's: its name and what is in it.
    pub fn token(&self) -> Option<(String, String)> {
        let ours = |(name, _): &(&String, &String)| name.contains("anteroom-");
        let found = self.cookies.iter().find(ours);
        found.map(|(name, value)| (name.clone(), value.clone()))
    }

    /// What is in the gateway's cookies: one of each room.
    pub fn tokens(&self) -> Vec<String> {
        let ours = self.cookies.iter().filter(|(name, _)| name.contains("anteroom-"));
        ours.map(|(_, value)| value.clone()).collect()
    }

    /// Keeps a cookie.
    pub fn keep(&mut self, name: &str, value: &str) {
        self.cookies.insert(name.to_owned(), value.to_owned());
    }

    /// Forgets all cookies.
    pub fn forget(&mut self) {
        self.cookies.clear();
    }

    /// A connection as this visitor makes it.
    pub fn connect(&self) -> Connection {
        match &self.secure {
            None => Connection::open(self.address),
            Some(certificate) => tls::connect(self.address, &self.host, certificate),
        }
    }

    /// A request with what this visitor always sends.
    pub fn dress(&self, mut request: Request) -> Request {
        request.host.clone_from(&self.host);
        request.headers.extend(self.headers.iter().cloned());
        match self.cookie() {
            Some(cookie) => request.with("Cookie", &cookie),
            None => request,
        }
    }

    /// Sends a request and keeps the cookies of its response.
    #[track_caller]
    pub fn send(&mut self, request: Request) -> Response {
        let response = self.connect().ask(&self.dress(request));
        self.learn(&response);
        response
    }

    /// Keeps the cookies of a response.
    pub fn learn(&mut self, response: &Response) {
        for line in response.all("set-cookie") {
            let Some((name, rest)) = line.split_once('=') else { continue };
            let value = rest.split(';').next().unwrap_or_default();
            match line.contains("Max-Age=0") || value.is_empty() {
                true => self.cookies.remove(name),
                false => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
    }

    /// Opens a page.
    #[track_caller]
    pub fn open(&mut self, target: &str) -> Response {
        self.send(Request::get(target).by_browser())
    }

    /// What a script of a page asks for.
    #[track_caller]
    pub fn fetch(&mut self, target: &str) -> Response {
        self.send(Request::get(target).with("Accept", "*/*").with("Sec-Fetch-Mode", "cors"))
    }

    /// Sends a form.
    #[track_caller]
    pub fn submit(&mut self, target: &str, form: &str) -> Response {
        let kind = "application/x-www-form-urlencoded";
        let request = Request::post(target, form).with("Content-Type", kind).by_browser();
        self.send(request.with("Sec-Fetch-Site", "same-origin"))
    }

    /// A call of the API by a script of a page.
    #[track_caller]
    pub fn call(&mut self, name: &str, body: &Value) -> Response {
        let request = Request::call(&format!("/.anteroom/v1/{name}"), body);
        self.send(request.with("Sec-Fetch-Site", "same-origin"))
    }

    /// Where this visitor stands.
    #[track_caller]
    pub fn status(&mut self) -> Response {
        self.send(Request::get("/.anteroom/v1/queue/status").with("Sec-Fetch-Site", "same-origin"))
    }

    /// The position, as long as this visitor waits.
    #[track_caller]
    pub fn position(&mut self) -> u64 {
        self.status().json()["position"].as_u64().expect("a position")
    }

    /// Waits for the turn, as the page does: by polls.
    #[track_caller]
    pub fn await_turn(&mut self) {
        eventually("the turn comes", || {
            let status = self.status();
            (status.json()["status"] == "admitted").then_some(())
        });
    }

    /// Gives the seat back, by the origin's word.
    #[track_caller]
    pub fn complete(&mut self) {
        let response = self.open("/command?c=complete");
        assert!(response.is_from_origin(), "not inside: {response:?}");
    }

    /// Leaves the line, or gives the seat back.
    #[track_caller]
    pub fn leave(&mut self) -> Response {
        self.call("queue/leave", &json!({}))
    }
}
