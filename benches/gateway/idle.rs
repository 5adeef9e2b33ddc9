//! What a connection costs on which nothing is said, after one request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::sleep;

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::Extent;
use super::client::{Ask, Client, connect};
use super::ours::Certificate;
use super::process::Process;

/// What is kept, in KiB a connection.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// While they are open.
    pub open: f64,
    /// After they were closed, all at once.
    pub after: f64,
    /// After some visitors more, so that every thread has work again: an allocator gives back what a thread freed when that thread calls it.
    pub later: f64,
}

/// Opens connections, sends a request on each, and looks. Plain, or with TLS by this certificate.
pub fn measure(
    process: &Process,
    address: SocketAddr,
    extent: &Extent,
    request: &str,
    tls: Option<&Certificate>,
) -> Idle {
    let (count, settled) = (extent.idle, extent.settled);
    let config = tls.map(trusting);
    // What a server allocates once and for all is no connection's.
    drop(open(address, count.min(100), request, config.as_ref()));
    sleep(settled);
    let before = process.resident();
    let each = |now: u64| (now as f64 - before as f64) / count as f64;
    let connections = open(address, count, request, config.as_ref());
    sleep(settled);
    let open = each(process.resident());
    drop(connections);
    sleep(2 * settled);
    let after = each(process.resident());
    for _ in 0..count.min(1_000) {
        connected(address, config.as_ref()).ask(request).expect("an answer");
    }
    sleep(settled);
    Idle { open, after, later: each(process.resident()) }
}

/// Connections, held.
fn open(
    address: SocketAddr,
    count: usize,
    request: &str,
    config: Option<&Arc<ClientConfig>>,
) -> Vec<Box<dyn Ask>> {
    let one = |_| {
        let mut client = connected(address, config);
        assert_eq!(client.ask(request).expect("an answer").status, 200);
        client
    };
    (0..count).map(one).collect()
}

fn connected(address: SocketAddr, config: Option<&Arc<ClientConfig>>) -> Box<dyn Ask> {
    let stream = connect(address).expect("a connection");
    let Some(config) = config else { return Box::new(Client::on(stream)) };
    let name = ServerName::try_from("localhost").expect("a name");
    let tls = ClientConnection::new(config.clone(), name).expect("a session");
    Box::new(Client::on(StreamOwned::new(tls, stream)))
}

fn trusting(certificate: &Certificate) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let cert = CertificateDer::from_pem_file(&certificate.cert).expect("a certificate");
    roots.add(cert).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().expect("versions");
    Arc::new(config.with_root_certificates(roots).with_no_client_auth())
}
