//! TLS with a certificate made for the test, and checked: no client here trusts just anybody.

use std::fs::Permissions;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, ServerConfig,
    SignatureScheme, StreamOwned,
};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

use super::PATIENCE;
use super::client::{Connection, HOST};

/// Names the certificate is good for.
const NAMES: [&str; 5] = [HOST, "*.example", "*.shop.example", "localhost", "127.0.0.1"];

/// Writes `cert.pem` and `key.pem`.
pub fn write_pair(directory: &Path) {
    write_pair_for(directory, &NAMES);
}

/// The same, good for other names.
pub fn write_pair_for(directory: &Path, names: &[&str]) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
    std::fs::write(directory.join("cert.pem"), made.cert.pem()).expect("a file");
    let key = directory.join("key.pem");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
    std::fs::set_permissions(key, Permissions::from_mode(0o600)).expect("a file of ours");
}

/// The certificate in a directory.
pub fn certificate(directory: &Path) -> Vec<u8> {
    let found = CertificateDer::from_pem_file(directory.join("cert.pem"));
    found.expect("a certificate").as_ref().to_vec()
}

/// What a client of that certificate needs, to speak one protocol.
pub fn client(certificate: &[u8], protocol: &[u8]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.to_vec().into()).expect("a certificate");
    let provider = Arc::new(ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = config.expect("versions").with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    Arc::new(config)
}

/// A server with a certificate, before one without; gone when it is dropped.
pub struct Front {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Front {
    /// With the certificate in a directory.
    pub fn before(address: SocketAddr, directory: &Path) -> Front {
        let key = PrivateKeyDer::from_pem_file(directory.join("key.pem")).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().expect("versions");
        let chain = vec![certificate(directory).into()];
        let config = config.with_no_client_auth().with_single_cert(chain, key).expect("a pair");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let front = listener.local_addr().expect("an address");
        runtime.spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let mut near = acceptor.accept(near).await.ok()?;
                    let mut far = tokio::net::TcpStream::connect(address).await.ok()?;
                    tokio::io::copy_bidirectional(&mut near, &mut far).await.ok()
                });
            }
        });
        Front { address: front, _runtime: runtime }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A connection that speaks HTTP/1.1.
#[track_caller]
pub fn connect(address: SocketAddr, host: &str, certificate: &[u8]) -> Connection {
    connect_for(b"http/1.1", address, host, certificate)
}

/// The certificate that whoever asks for a host is shown, good or not.
#[track_caller]
pub fn shown(address: SocketAddr, host: &str) -> Vec<u8> {
    let mut tcp = TcpStream::connect_timeout(&address, PATIENCE).expect("a connection");
    tcp.set_read_timeout(Some(PATIENCE)).expect("a deadline");
    let name = ServerName::try_from(host.to_owned()).expect("a name");
    let seen = Arc::new(Seen::default());
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .dangerous()
        .with_custom_certificate_verifier(seen.clone())
        .with_no_client_auth();
    let mut session = ClientConnection::new(Arc::new(config), name).expect("a session");
    let _ = session.complete_io(&mut tcp);
    let certificate = seen.0.lock().expect("no panic").take();
    certificate.expect("a certificate is shown")
}

/// Notes a certificate, and trusts none.
#[derive(Debug, Default)]
struct Seen(Mutex<Option<Vec<u8>>>);

impl ServerCertVerifier for Seen {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        *self.0.lock().expect("no panic") = Some(certificate.to_vec());
        Err(rustls::Error::General("seen".to_owned()))
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        unasked()
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        unasked()
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// Nobody who trusts no certificate gets as far as a signature.
fn unasked() -> Result<HandshakeSignatureValid, rustls::Error> {
    Err(rustls::Error::General("not asked".to_owned()))
}

/// A connection on which another protocol was agreed on.
#[track_caller]
pub fn connect_for(
    protocol: &[u8],
    address: SocketAddr,
    host: &str,
    certificate: &[u8],
) -> Connection {
    let tcp = TcpStream::connect_timeout(&address, PATIENCE).expect("a connection");
    tcp.set_read_timeout(Some(PATIENCE)).expect("a deadline");
    let name = ServerName::try_from(host.to_owned()).expect("a name");
    let session = ClientConnection::new(client(certificate, protocol), name).expect("a session");
    let same = tcp.try_clone().expect("a file more");
    Connection::over(StreamOwned::new(session, tcp), same)
}
