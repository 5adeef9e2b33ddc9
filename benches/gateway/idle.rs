//! What a connection costs on which nothing is said, after one request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::sleep;

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tokio::runtime::Runtime;

use super::Extent;
use super::client::{Ask, Client, connect};
use super::ours::Certificate;
use super::process::Process;
use super::second::{self, Second};

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

/// How somebody connects.
pub enum Way {
    /// Without TLS.
    Plain,
    /// With it, by HTTP/1.1.
    Secure(Arc<ClientConfig>),
    /// With it, by HTTP/2.
    Second(Arc<ClientConfig>, Arc<Runtime>),
}

impl Way {
    /// HTTP/1.1 with TLS by this certificate.
    pub fn secure(certificate: &Certificate) -> Way {
        Way::Secure(Arc::new(trusting(certificate)))
    }

    /// HTTP/2.
    pub fn second(certificate: &Certificate) -> Way {
        let mut config = trusting(certificate);
        config.alpn_protocols = vec![b"h2".to_vec()];
        Way::Second(Arc::new(config), second::runtime())
    }

    fn connected(&self, address: SocketAddr) -> Box<dyn Ask> {
        let stream = || connect(address).expect("a connection");
        match self {
            Way::Plain => Box::new(Client::on(stream())),
            Way::Secure(config) => {
                let name = ServerName::try_from("localhost").expect("a name");
                let tls = ClientConnection::new(config.clone(), name).expect("a session");
                Box::new(Client::on(StreamOwned::new(tls, stream())))
            }
            Way::Second(config, runtime) => {
                Box::new(Second::open(runtime, address, config).expect("a connection"))
            }
        }
    }
}

/// Opens connections, sends a request on each, and looks.
pub fn measure(
    process: &Process,
    address: SocketAddr,
    extent: &Extent,
    request: &str,
    way: &Way,
) -> Idle {
    let (count, settled) = (extent.idle, extent.settled);
    // What a server allocates once and for all is no connection's.
    drop(open(address, count.min(100), request, way));
    sleep(settled);
    let before = process.resident();
    let each = |now: u64| (now as f64 - before as f64) / count as f64;
    let connections = open(address, count, request, way);
    sleep(settled);
    let open = each(process.resident());
    drop(connections);
    sleep(2 * settled);
    let after = each(process.resident());
    for _ in 0..count.min(1_000) {
        way.connected(address).ask(request).expect("an answer");
    }
    sleep(settled);
    Idle { open, after, later: each(process.resident()) }
}

/// Connections, held.
fn open(address: SocketAddr, count: usize, request: &str, way: &Way) -> Vec<Box<dyn Ask>> {
    let one = |_| {
        let mut client = way.connected(address);
        assert_eq!(client.ask(request).expect("an answer").status, 200);
        client
    };
    (0..count).map(one).collect()
}

fn trusting(certificate: &Certificate) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    let cert = CertificateDer::from_pem_file(&certificate.cert).expect("a certificate");
    roots.add(cert).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().expect("versions");
    config.with_root_certificates(roots).with_no_client_auth()
}
