//! The least a pingora proxy can be: every request to one origin, nothing looked at, nothing added.

use std::net::SocketAddr;

use async_trait::async_trait;
use pingora::Result;
use pingora::listeners::ListenerConfig;
use pingora::proxy::{ProxyHttp, Session, http_proxy_service};
use pingora::server::Server;
use pingora::server::configuration::ServerConf;
use pingora::upstreams::peer::{HttpPeer, PeerOptions};

struct Through(HttpPeer);

#[async_trait]
impl ProxyHttp for Through {
    type CTX = ();

    fn new_ctx(&self) {}

    async fn upstream_peer(&self, _: &mut Session, _: &mut ()) -> Result<Box<HttpPeer>> {
        Ok(Box::new(self.0.clone()))
    }
}

/// Serves until it is killed. Without arguments, as `cargo test` might run it, nothing is done.
pub fn run(
    conf: ServerConf,
    listener: impl Fn(String) -> ListenerConfig,
    options: impl Fn(&mut PeerOptions),
) {
    let mut arguments = std::env::args().skip(1);
    let (Some(listen), Some(origin)) = (arguments.next(), arguments.next()) else {
        println!("a server for benches/gateway: LISTEN ORIGIN");
        return;
    };
    let origin: SocketAddr = origin.parse().expect("an address and a port");
    let mut origin = HttpPeer::new(origin, false, String::new());
    options(&mut origin.options);
    let mut server = Server::new_with_opt_and_conf(None, conf);
    server.bootstrap();
    let mut service = http_proxy_service(&server.configuration, Through(origin));
    service.add_listener(listener(listen));
    server.add_service(service);
    server.run_forever();
}
