//! The operators' connections: a loop of our own over our sockets, with hyper behind it.
//!
//! Owns sockets before there is a request, and what a client may cost: connections, a head, a body, time. The sockets are
//! ours so that they are handed over to the next process like those of visitors; one that has only just connected when this
//! process ends has its request answered by this one.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::access::Peer;
use super::{Admin, router};

/// Operators, their scripts, and Prometheus. Beyond it somebody has a loop without an end.
const CONNECTIONS: usize = 256;
/// Bytes of a request's head, and of its body.
pub(super) const MAX_BYTES: usize = 64 * 1024;
/// For a whole head, and between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// After an accept that failed because files have run out.
const BREATH: Duration = Duration::from_millis(50);
/// At the end of a process, a connection without a request yet is waited for this long: less than what a new process
/// waits for the old one's answers.
const FAREWELL: Duration = Duration::from_secs(1);
/// What a connection above the bound is told.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// What takes operators' connections in.
#[derive(Clone)]
pub struct Port {
    router: Router,
    places: Arc<Semaphore>,
    shutdown: watch::Receiver<bool>,
}

/// How many connections there may be at once.
pub fn bound() -> usize {
    CONNECTIONS
}

impl Port {
    /// The whole port.
    pub fn new(admin: &Arc<Admin>, places: Arc<Semaphore>) -> Port {
        let router = router::whole(admin.clone());
        Port { router, places, shutdown: admin.node.shutdown.clone() }
    }

    /// `/metrics` and `/health` alone.
    pub fn for_metrics(admin: &Arc<Admin>, places: Arc<Semaphore>) -> Port {
        let router = router::metrics(admin.clone());
        Port { router, places, shutdown: admin.node.shutdown.clone() }
    }

    /// Takes connections in until it is told to stop.
    pub async fn welcome(self, listener: TcpListener) {
        let mut shutdown = self.shutdown.clone();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = shutdown.wait_for(|stopping| *stopping) => return,
            };
            match accepted {
                Ok((tcp, peer)) => self.take(tcp, peer),
                Err(_) => sleep(BREATH).await,
            }
        }
    }

    fn take(&self, tcp: TcpStream, peer: SocketAddr) {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            let _ = tcp.try_write(TOO_MANY);
            return;
        };
        let _ = tcp.set_nodelay(true);
        let port = self.clone();
        tokio::spawn(async move {
            port.attend(tcp, peer).await;
            drop(place);
        });
    }

    /// Serves a connection to its end.
    async fn attend(self, tcp: TcpStream, peer: SocketAddr) {
        let Port { router, mut shutdown, .. } = self;
        let begun = Arc::new(Begun::default());
        let service = TowerToHyperService::new(router);
        let service = service_fn({
            let begun = begun.clone();
            move |mut request: hyper::Request<Incoming>| {
                begun.note();
                request.extensions_mut().insert(Peer(peer.ip()));
                service.call(request)
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(MAX_BYTES)
            .serve_connection(TokioIo::new(tcp), service);
        let mut connection = pin!(connection);
        let stopping = async {
            let _ = shutdown.wait_for(|stopping| *stopping).await;
            // Whoever has only just come has a request on the way.
            let _ = timeout(FAREWELL, begun.wait()).await;
        };
        tokio::select! {
            // Whoever breaks off is nobody's error.
            _ = connection.as_mut() => return,
            () = stopping => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}

/// Whether a connection has had a request.
#[derive(Default)]
struct Begun {
    begun: AtomicBool,
    noted: Notify,
}

impl Begun {
    fn note(&self) {
        self.begun.store(true, Ordering::Release);
        self.noted.notify_one();
    }

    async fn wait(&self) {
        while !self.begun.load(Ordering::Acquire) {
            self.noted.notified().await;
        }
    }
}
