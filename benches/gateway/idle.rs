//! What a connection costs on which nothing is said, after one request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::sleep;

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::Extent;
use super::client::{Client, connect};
use super::ours::Certificate;
use super::process::Process;

/// What is kept, in KiB a connection.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// While they are open.
    pub open: f64,
    /// After they were closed.
    pub after: f64,
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
    Idle { open, after: each(process.resident()) }
}

/// Connections, held.
fn open(
    address: SocketAddr,
    count: usize,
    request: &str,
    config: Option<&Arc<ClientConfig>>,
) -> Vec<Box<dyn std::any::Any>> {
    let one = |_| {
        let stream = connect(address).expect("a connection");
        let (status, held): (u16, Box<dyn std::any::Any>) = match config {
            None => {
                let mut client = Client::on(stream);
                (client.ask(request).expect("an answer").status, Box::new(client))
            }
            Some(config) => {
                let name = ServerName::try_from("localhost").expect("a name");
                let tls = ClientConnection::new(config.clone(), name).expect("a session");
                let mut client = Client::on(StreamOwned::new(tls, stream));
                (client.ask(request).expect("an answer").status, Box::new(client))
            }
        };
        assert_eq!(status, 200);
        held
    };
    (0..count).map(one).collect()
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
