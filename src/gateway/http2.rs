//! The HTTP/2 door: a connection, and the requests on it, each judged and served by the [proxy](super::proxy).
//!
//! Owns deadlines and bounds of a connection, which pingora's own loop lacks: a client that shakes hands and then says
//! nothing holds a place for as long as it likes. Decides nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use pingora::apps::HttpServerApp as _;
use pingora::protocols::http::ServerSession;
use pingora::protocols::http::v2::server::{
    H2Accept, H2Options, HttpSession, default_h2_options, handshake,
};
use pingora::protocols::{Digest, Stream};
use pingora::proxy::HttpProxy;
use pingora::server::ShutdownWatch;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::chaperone::Watch;
use super::live::Live;
use super::proxy::{Proxy, WATCH};
use super::settings::Bounds;

/// Requests a connection may get wrong before it is closed.
const MAX_REJECTED: usize = 32;

/// Serves a connection to its end.
pub async fn attend(
    proxy: &Arc<HttpProxy<Proxy>>,
    live: &ArcSwap<Live>,
    stream: Stream,
    mut shutdown: ShutdownWatch,
) {
    let bounds = live.load().bounds;
    let digest = Arc::new(Digest {
        ssl_digest: stream.get_ssl_digest(),
        timing_digest: stream.get_timing_digest(),
        proxy_digest: stream.get_proxy_digest(),
        socket_digest: stream.get_socket_digest(),
    });
    let shaken = timeout(bounds.header_timeout, handshake(stream, Some(options(&bounds)))).await;
    let Ok(Ok(mut connection)) = shaken else { return };
    let active = Arc::new(Active::default());
    let (mut rejected, mut stopping) = (0, false);
    loop {
        let accepted = tokio::select! {
            biased;
            _ = shutdown.wait_for(|stop| *stop), if !stopping => {
                stopping = true;
                connection.graceful_shutdown();
                continue;
            }
            accepted = HttpSession::from_h2_conn(&mut connection, digest.clone()) => accepted,
            () = active.idle(bounds.idle_timeout) => return,
        };
        match accepted {
            Ok(Some(H2Accept::Session(session))) => serve(proxy, session, &active, &shutdown),
            Ok(Some(H2Accept::Rejected)) if rejected < MAX_REJECTED => rejected += 1,
            // Closed by either side, or beyond repair.
            _ => return,
        }
    }
}

/// pingora's bounds, and ours.
fn options(bounds: &Bounds) -> H2Options {
    let mut options = default_h2_options();
    options.max_header_list_size(u32::try_from(bounds.header_bytes).unwrap_or(u32::MAX));
    options
}

/// One request, until it is served or its visitor's time is over.
fn serve(
    proxy: &Arc<HttpProxy<Proxy>>,
    session: HttpSession,
    active: &Arc<Active>,
    shutdown: &ShutdownWatch,
) {
    let (proxy, shutdown) = (proxy.clone(), shutdown.clone());
    let busy = active.begin();
    tokio::spawn(async move {
        let _busy = busy;
        let watch = Arc::new(Watch::default());
        let session = ServerSession::new_http2(session);
        let served = WATCH.scope(watch.clone(), proxy.process_new_http(session, &shutdown));
        tokio::select! {
            biased;
            _ = served => {}
            () = watch.over() => {}
        }
    });
}

/// How many requests are under way on a connection.
#[derive(Default)]
struct Active {
    count: AtomicUsize,
    ended: Notify,
}

/// One of them, until it is dropped.
struct Busy(Arc<Active>);

impl Active {
    fn begin(self: &Arc<Active>) -> Busy {
        self.count.fetch_add(1, Ordering::Relaxed);
        Busy(self.clone())
    }

    /// Until nothing has been under way for this long.
    async fn idle(&self, patience: Duration) {
        while self.count.load(Ordering::Relaxed) > 0 {
            self.ended.notified().await;
        }
        sleep(patience).await;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.ended.notify_one();
        }
    }
}
