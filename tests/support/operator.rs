//! Somebody at the operators' port, with a key or without.

use std::net::SocketAddr;

use serde_json::Value;

use super::client::{Connection, Request, Response};
use super::gateway::Gateway;

/// The keys in every configuration of the tests, by role. Known to all, and long enough.
pub const VIEWER: &str = "a-key-of-the-tests-that-may-only-look";
pub const OPERATOR: &str = "a-key-of-the-tests-that-may-act-on-rooms";
pub const ADMIN: &str = "a-key-of-the-tests-that-may-do-everything";

/// An operator. Every request has a connection of its own.
#[derive(Clone, Debug)]
pub struct Operator {
    pub address: SocketAddr,
    key: Option<String>,
    tenant: Option<String>,
}

impl Operator {
    /// Who may do everything.
    pub fn new(gateway: &Gateway) -> Operator {
        Operator::of(gateway.admin_addr(), Some(ADMIN))
    }

    /// Who has this key.
    pub fn with_key(gateway: &Gateway, key: &str) -> Operator {
        Operator::of(gateway.admin_addr(), Some(key))
    }

    /// Who has none.
    pub fn nobody(gateway: &Gateway) -> Operator {
        Operator::of(gateway.admin_addr(), None)
    }

    /// At an address.
    pub fn of(address: SocketAddr, key: Option<&str>) -> Operator {
        Operator { address, key: key.map(str::to_owned), tenant: None }
    }

    /// Who names a tenant.
    #[must_use]
    pub fn at(mut self, tenant: &str) -> Operator {
        self.tenant = Some(tenant.to_owned());
        self
    }

    /// A request with what this operator always sends.
    pub fn dress(&self, mut request: Request) -> Request {
        if let Some(key) = &self.key {
            request = request.with("Authorization", &format!("Bearer {key}"));
        }
        match &self.tenant {
            Some(tenant) => request.with("X-Tenant-ID", tenant),
            None => request,
        }
    }

    /// Sends a request.
    #[track_caller]
    pub fn send(&self, request: Request) -> Response {
        Connection::open(self.address).ask(&self.dress(request))
    }

    /// Looks.
    #[track_caller]
    pub fn get(&self, path: &str) -> Response {
        self.send(Request::get(path))
    }

    /// Acts.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.send(Request::call(path, body))
    }

    /// What is there, as JSON; it must be.
    #[track_caller]
    pub fn see(&self, path: &str) -> Value {
        let response = self.get(path);
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    }

    /// What came of it, as JSON; it must have worked.
    #[track_caller]
    pub fn does(&self, path: &str, body: &Value) -> Value {
        let response = self.post(path, body);
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    }
}
