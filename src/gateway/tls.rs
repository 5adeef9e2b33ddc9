//! Certificates: read, checked, and read again when the operator says so.
//!
//! Owns what a TLS listener needs. rustls with ring: no package beside the compiler is needed to build it, memory is
//! safe, and pingora's other choices want OpenSSL's headers or a C++ toolchain.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use pingora::listeners::tls::Acceptor;
use rustls::client::verify_server_name;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert, ServerConfig};
use rustls::sign::CertifiedKey;

use super::settings::Certificate;

/// The certificates of an address. They can be exchanged while they are in use.
#[derive(Debug)]
pub struct Certificates(ArcSwap<Vec<Arc<CertifiedKey>>>);

impl Certificates {
    /// Reads them all, one at least.
    ///
    /// # Errors
    /// What is wrong with the first that can't be used.
    pub fn read(from: &[Certificate]) -> Result<Certificates, String> {
        let read: Result<Vec<_>, String> = from.iter().map(|one| read(one).map(Arc::new)).collect();
        read.map(|found| Certificates(ArcSwap::from_pointee(found)))
    }

    /// Others from now on. Connections that are open stay as they are.
    pub fn replace(&self, with: Certificates) {
        self.0.store(with.0.load_full());
    }

    /// What shakes hands with them.
    ///
    /// # Errors
    /// What hinders it.
    pub fn acceptor(self: &Arc<Self>) -> Result<Acceptor, String> {
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // A visitor who comes back need not pay for the whole handshake again.
        config.ticketer = ring::Ticketer::new().map_err(|error| error.to_string())?;
        Ok(Acceptor::from_server_config(Arc::new(config)))
    }
}

impl ResolvesServerCert for Certificates {
    /// The first that is good for the name that is asked for; the first of all for whoever asks for none, or for one that none is
    /// good for: the browser tells its visitor better than an aborted handshake what is wrong.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let all = self.0.load();
        let name = hello.server_name().filter(|_| all.len() > 1);
        let name = name.and_then(|name| ServerName::try_from(name).ok());
        let fitting = name.and_then(|name| all.iter().find(|one| is_for(one, &name)));
        fitting.or(all.first()).cloned()
    }
}

/// Whether it is good for a name.
fn is_for(certificate: &CertifiedKey, name: &ServerName<'_>) -> bool {
    let parsed = certificate.end_entity_cert().and_then(ParsedCertificate::try_from);
    parsed.is_ok_and(|parsed| verify_server_name(&parsed, name).is_ok())
}

/// Chain and key, if they can be used.
///
/// # Errors
/// What is wrong with them, and with which.
pub fn read(Certificate { cert, key }: &Certificate) -> Result<CertifiedKey, String> {
    let named =
        |path: &Path, problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
    let chain = CertificateDer::pem_file_iter(cert).map_err(|error| named(cert, &error))?;
    let chain: Result<Vec<_>, _> = chain.collect();
    let chain = chain.map_err(|error| named(cert, &error))?;
    if chain.is_empty() {
        return Err(named(cert, &"has no certificate in it (PEM)"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| named(key, &error))?;
    CertifiedKey::from_der(chain, secret, &ring::default_provider())
        .map_err(|error| named(key, &error))
}
