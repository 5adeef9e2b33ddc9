//! The addresses a node listens on, and what becomes of whoever connects.
//!
//! Owns sockets before there is a request: the bound on how many there are, TLS, which protocol is spoken. A loop
//! of our own and not pingora's: that one has no bound, sleeps a second when files run out, keeps 8.8 KB a
//! connection for its accepting, and closes its listeners only with the whole server.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use pingora::listeners::tls::Acceptor;
use pingora::protocols::{ALPN, Stream};
use pingora::proxy::HttpProxy;
use pingora::server::ShutdownWatch;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::connection::Connection;
use super::gate::Gate;
use super::guests::{Guest, Guests};
use super::head::Peer;
use super::http2;
use super::live::Live;
use super::proxy::Proxy;
use crate::log::Seldom;

/// Connections that may wait to be accepted: a flash crowd comes faster than it is welcomed. The system cuts it to
/// its own bound (net.core.somaxconn, 4,096 on Linux).
const BACKLOG: i32 = 16_384;
/// After an accept that failed for want of something of ours, files as a rule: soon enough for whoever waits, and no busy
/// loop.
const BREATH: Duration = Duration::from_millis(50);
/// A handshake that takes longer is none.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// What a connection above the bound is told.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Binds an address.
///
/// # Errors
/// The system's.
pub fn bind(address: SocketAddr) -> io::Result<StdListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A restart must not wait for the connections of the process before.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// One among all, and one of an address; given back when it is dropped.
type Place = (OwnedSemaphorePermit, Guest);

/// What takes connections in.
#[derive(Clone)]
pub struct Porter {
    /// HTTP/1.
    pub gate: Arc<Gate>,
    /// HTTP/2.
    pub proxy: Arc<HttpProxy<Proxy>>,
    /// What is in force.
    pub live: Arc<ArcSwap<Live>>,
    /// As many as may be there at once.
    pub places: Arc<Semaphore>,
    /// Who is.
    pub guests: Arc<Guests>,
    /// When to stop.
    pub shutdown: ShutdownWatch,
}

impl Porter {
    /// Takes connections in until it is told to stop.
    pub async fn welcome(mut self, listener: TcpListener, tls: Option<Arc<Acceptor>>) {
        loop {
            let mut shutdown = self.shutdown.clone();
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = shutdown.wait_for(|stopping| *stopping) => return,
            };
            match accepted {
                Ok((tcp, peer)) => self.take(tcp, peer, tls.as_ref()),
                // The visitor was gone before we came: nobody's fault.
                Err(error) if is_gone(&error) => {}
                Err(error) => {
                    tell_exhausted(&error);
                    sleep(BREATH).await;
                }
            }
        }
    }

    fn take(&mut self, tcp: TcpStream, peer: SocketAddr, tls: Option<&Arc<Acceptor>>) {
        let place = self.place(peer.ip());
        let Some(place) = place else {
            // Over TLS there is no way to say it before a handshake, which is what there is no room for.
            if tls.is_none() {
                let _ = tcp.try_write(TOO_MANY);
            }
            return;
        };
        // What is written is written whole; waiting for more would only add to the delay.
        let _ = tcp.set_nodelay(true);
        let address = peer.ip();
        let porter = self.clone();
        match tls {
            None => {
                let stream: Stream = Box::new(Connection::new(tcp));
                let attending = porter.gate.attend(stream, Peer { address, secure: false });
                tokio::spawn(async move {
                    attending.await;
                    drop(place);
                });
            }
            Some(acceptor) => {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let connection = Connection::new(tcp).known_as(peer);
                    if let Some(stream) = Box::pin(shake(&acceptor, connection)).await {
                        porter.attend_secure(stream, address).await;
                    }
                    drop(place);
                });
            }
        }
    }

    /// A place for a connection, if there is one left and its address may have it. A proxy brings many people's.
    fn place(&self, address: IpAddr) -> Option<Place> {
        let live = self.live.load();
        let most = match live.trusts(address) {
            true => usize::MAX,
            false => live.bounds.connections_per_address,
        };
        let guest = self.guests.admit(address, most)?;
        let place = self.places.clone().try_acquire_owned().ok()?;
        Some((place, guest))
    }

    async fn attend_secure(self, stream: Stream, address: IpAddr) {
        match stream.selected_alpn_proto() {
            Some(ALPN::H2) => http2::attend(&self.proxy, &self.live, stream, self.shutdown).await,
            _ => self.gate.attend(stream, Peer { address, secure: true }).await,
        }
    }
}

async fn shake(acceptor: &Acceptor, connection: Connection) -> Option<Stream> {
    let shaken = timeout(HANDSHAKE, acceptor.tls_handshake(connection)).await.ok()?.ok()?;
    Some(Box::new(shaken))
}

/// Whoever connected has hung up meanwhile. Anything else may last.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

/// What keeps a node from accepting keeps it from it on every address, many times a second.
fn tell_exhausted(error: &io::Error) {
    static EXHAUSTED: Seldom = Seldom::new();
    let Some(count) = EXHAUSTED.happened() else { return };
    // No more files for this process, or for the system.
    let files = matches!(error.raw_os_error(), Some(23 | 24));
    let why =
        if files { "raise the limit of open files" } else { "the system is short of something" };
    tracing::warn!(event = "node.exhausted", %error, count, "no connection can be accepted: {why}");
}
