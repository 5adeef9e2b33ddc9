//! The same proxy with all that the gateway has and is no logic of its own: allocator, buffers, a keepalive pool for
//! all connections, timeouts. `tuned LISTEN ORIGIN`.

mod server;

use std::time::Duration;

use pingora::listeners::{L4BufferSettings, ListenerConfig};
use pingora::server::configuration::ServerConf;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let conf = ServerConf { upstream_keepalive_pool_size: 2_048, ..ServerConf::default() };
    // What a response consists of goes out in one write; requests are small.
    let buffers = L4BufferSettings::new(4 * 1_024, 16 * 1_024);
    server::run(
        conf,
        |address| ListenerConfig::tcp(address).l4_buffer(buffers),
        |options| {
            options.connection_timeout = Some(Duration::from_secs(5));
            options.total_connection_timeout = Some(Duration::from_secs(10));
            options.read_timeout = Some(Duration::from_secs(60));
            options.write_timeout = Some(Duration::from_secs(60));
            options.idle_timeout = Some(Duration::from_secs(60));
        },
    );
}
