//! The way to a Redis: whatever happens on it, a script is run once or the caller is told, in time, what is the
//! matter; and it is found again by itself.

mod access;
mod address;
mod broken;
mod cluster;
mod link;
mod sentinel;
mod tls;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anteroom::store::StoreError;
use anteroom::store::redis::{Access, Address, DEADLINE, Link, Password, Script, Trouble};
use redis::Value;
use tokio::runtime::Runtime;

use crate::support::PATIENCE;
use crate::support::redis::RedisServer;

/// Longer than any call may take: the wait for a connection and the answers to EVALSHA and EVAL have a deadline each;
/// the rest is for a busy machine.
const IN_TIME: Duration = DEADLINE.saturating_mul(5);

/// Counts how often it ran.
const COUNT: &str = "#!lua\nreturn redis.call('INCR', KEYS[1])";

/// Somebody who asks.
struct Caller {
    runtime: Runtime,
    link: Arc<Link>,
    count: Script,
}

impl Caller {
    #[track_caller]
    fn new(url: &str) -> Caller {
        Caller::with(url, Access::default())
    }

    #[track_caller]
    fn with(url: &str, access: Access) -> Caller {
        let address = Address::parse(url).and_then(|address| address.with(access));
        let link = Link::new(address.expect("a good url")).expect("a link");
        Caller { runtime: runtime(), link: Arc::new(link), count: Script::new(COUNT) }
    }

    /// Runs a script.
    fn eval(&self, script: &Script, keys: &[&str], args: &[&[u8]]) -> Result<Value, StoreError> {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let args: Vec<Vec<u8>> = args.iter().map(|arg| arg.to_vec()).collect();
        let began = Instant::now();
        let answer = self.runtime.block_on(self.link.eval(script, &keys, &args));
        assert!(began.elapsed() < IN_TIME, "{:?}: {answer:?}", began.elapsed());
        answer
    }

    /// Counts a key up, once.
    fn count(&self, key: &str) -> Result<i64, StoreError> {
        match self.eval(&self.count, &[key], &[])? {
            Value::Int(count) => Ok(count),
            other => panic!("no number: {other:?}"),
        }
    }

    fn check(&self) -> Result<(), StoreError> {
        self.runtime.block_on(self.link.check())
    }

    /// What is the matter, once it is that.
    #[track_caller]
    fn trouble(&self, is_it: impl Fn(&Trouble) -> bool) -> String {
        let mut last = String::new();
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            match self.count("n") {
                Err(StoreError::Redis { address, trouble }) if is_it(&trouble) => {
                    return format!("{address}: {trouble}");
                }
                other => last = format!("{other:?}"),
            }
        }
        panic!("it never was that; at last it was {last}");
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// The trouble in an error.
#[track_caller]
fn trouble<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> Trouble {
    match answer {
        Err(StoreError::Redis { trouble, .. }) => trouble,
        other => panic!("no trouble: {other:?}"),
    }
}

fn opened_by(username: Option<&str>, password: &str) -> Access {
    let password = Some(Password(password.to_owned()));
    Access { username: username.map(str::to_owned), password, ca_file: None }
}

/// Believes the certificate of a server that speaks TLS.
fn trusting(server: &RedisServer) -> Access {
    Access { ca_file: Some(server.directory().join("cert.pem")), ..Access::default() }
}
