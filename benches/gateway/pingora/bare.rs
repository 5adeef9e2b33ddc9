//! A bare pingora proxy as it comes: what the gateway's bench measures us against. `bare LISTEN ORIGIN`.

mod server;

use pingora::listeners::ListenerConfig;
use pingora::server::configuration::ServerConf;

fn main() {
    server::run(ServerConf::default(), ListenerConfig::tcp, |_| {});
}
