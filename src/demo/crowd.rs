//! Simulated visitors: each joins the line over HTTP, waits as a page does, comes in, stays a while, and joins again.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// They arrive one after the other, so that the first of them are not all next at once.
const ARRIVAL: Duration = Duration::from_millis(3);
/// A gateway on the same machine answers sooner.
const PATIENCE: Duration = Duration::from_secs(20);

/// How it goes.
#[derive(Debug, Default)]
pub(super) struct Tally {
    waiting: AtomicI64,
    inside: AtomicI64,
    entered: AtomicU64,
}

impl Tally {
    /// Waiting, inside, entered in all.
    pub(super) fn read(&self) -> (i64, i64, u64) {
        let count = |counter: &AtomicI64| counter.load(Ordering::Relaxed).max(0);
        (count(&self.waiting), count(&self.inside), self.entered.load(Ordering::Relaxed))
    }
}

/// Everybody.
#[derive(Clone)]
pub(super) struct Crowd {
    pub(super) gateway: SocketAddr,
    pub(super) stay: Duration,
    pub(super) tally: Arc<Tally>,
}

impl Crowd {
    /// Lets them come; they go on until the process ends.
    pub(super) fn gather(&self, visitors: usize) {
        for index in 0..visitors {
            let crowd = self.clone();
            tokio::spawn(async move {
                sleep(ARRIVAL * u32::try_from(index).unwrap_or(0)).await;
                loop {
                    // A visit that fails is tried again, as people do.
                    if crowd.visit(address(index)).await.is_err() {
                        sleep(Duration::from_secs(1)).await;
                    }
                }
            });
        }
    }

    /// From the front door to the way out.
    async fn visit(&self, address: Ipv4Addr) -> io::Result<()> {
        let mut cookie = None;
        let mut counted = Counted::nowhere(&self.tally);
        loop {
            let page = self.get("/", "text/html", address, &mut cookie).await?;
            if page.status == 200 {
                counted.move_to(&self.tally.inside);
                self.tally.entered.fetch_add(1, Ordering::Relaxed);
                sleep(self.stay).await;
                return self.leave(address, cookie).await;
            }
            counted.move_to(&self.tally.waiting);
            self.wait(address, &mut cookie).await?;
        }
    }

    /// Polls as the page does, until the turn has come or is over.
    async fn wait(&self, address: Ipv4Addr, cookie: &mut Option<String>) -> io::Result<()> {
        loop {
            let path = "/.anteroom/v1/queue/status";
            let status = self.get(path, "application/json", address, cookie).await?;
            let body: serde_json::Value = serde_json::from_slice(&status.body).unwrap_or_default();
            if body["status"] != "waiting" {
                return Ok(());
            }
            let pause = body["next_poll_seconds"].as_u64().unwrap_or(5).clamp(1, 30);
            sleep(Duration::from_secs(pause)).await;
        }
    }

    /// Gives the seat to somebody else.
    async fn leave(&self, address: Ipv4Addr, cookie: Option<String>) -> io::Result<()> {
        let host = self.gateway;
        let cookie = cookie.unwrap_or_default();
        let request = format!(
            "POST /.anteroom/v1/queue/leave HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-For: {address}\r\n\
             Sec-Fetch-Site: same-origin\r\nCookie: {cookie}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        timeout(PATIENCE, send(host, &request)).await.map_err(io::Error::other)?.map(|_| ())
    }

    async fn get(
        &self,
        path: &str,
        accept: &str,
        address: Ipv4Addr,
        cookie: &mut Option<String>,
    ) -> io::Result<Answer> {
        let host = self.gateway;
        let kept = cookie.as_deref().map(|kept| format!("Cookie: {kept}\r\n")).unwrap_or_default();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-For: {address}\r\nAccept: {accept}\r\n{kept}\
             Connection: close\r\n\r\n"
        );
        let answer = timeout(PATIENCE, send(host, &request)).await.map_err(io::Error::other)??;
        if let Some(set) = &answer.cookie {
            *cookie = Some(set.clone());
        }
        Ok(answer)
    }
}

/// An address of its own for each: limits by address are as real as everything else.
fn address(index: usize) -> Ipv4Addr {
    let [.., a, b] = u32::try_from(index).unwrap_or(0).to_be_bytes();
    Ipv4Addr::new(10, 77, a, b)
}

/// Where a visitor is counted; nowhere any more once they are gone.
struct Counted<'t> {
    at: Option<&'t AtomicI64>,
}

impl<'t> Counted<'t> {
    fn nowhere(_: &'t Tally) -> Counted<'t> {
        Counted { at: None }
    }

    fn move_to(&mut self, counter: &'t AtomicI64) {
        self.leave();
        counter.fetch_add(1, Ordering::Relaxed);
        self.at = Some(counter);
    }

    fn leave(&mut self) {
        if let Some(counter) = self.at.take() {
            counter.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

struct Answer {
    status: u16,
    /// `name=value`, as it is sent back.
    cookie: Option<String>,
    body: Vec<u8>,
}

/// One request on a connection of its own, as a phone on the road would.
async fn send(host: SocketAddr, request: &str) -> io::Result<Answer> {
    let mut tcp = TcpStream::connect(host).await?;
    tcp.write_all(request.as_bytes()).await?;
    let mut bytes = Vec::new();
    tcp.read_to_end(&mut bytes).await?;
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(&bytes).map_err(io::Error::other)?;
    let httparse::Status::Complete(head) = parsed else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let set = response.headers.iter().find(|line| line.name.eq_ignore_ascii_case("set-cookie"));
    let cookie = set.and_then(|line| std::str::from_utf8(line.value).ok());
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).map(str::to_owned);
    let status = response.code.unwrap_or(0);
    Ok(Answer { status, cookie, body: bytes[head..].to_vec() })
}
