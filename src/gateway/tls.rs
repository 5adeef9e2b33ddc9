//! Certificates: read, checked, and read again when the operator says so.
//!
//! Owns what a TLS listener needs. rustls with ring: no package beside the compiler is needed to build it, memory is
//! safe, and pingora's other choices want OpenSSL's headers or a C++ toolchain.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use pingora::listeners::tls::Acceptor;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert, ServerConfig};
use rustls::sign::CertifiedKey;

/// A certificate that can be exchanged while it is in use.
#[derive(Debug)]
pub struct Certificate(ArcSwap<CertifiedKey>);

impl Certificate {
    /// Reads chain and key.
    ///
    /// # Errors
    /// What is wrong with them, and with which.
    pub fn read(cert: &Path, key: &Path) -> Result<Certificate, String> {
        read(cert, key).map(|found| Certificate(ArcSwap::from_pointee(found)))
    }

    /// Another one from now on. Connections that are open stay as they are.
    pub fn replace(&self, with: Certificate) {
        self.0.store(with.0.load_full());
    }

    /// What shakes hands with it.
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

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

/// Whether chain and key can be used.
///
/// # Errors
/// What is wrong with them, and with which.
pub fn check(cert: &Path, key: &Path) -> Result<(), String> {
    read(cert, key).map(|_| ())
}

fn read(cert: &Path, key: &Path) -> Result<CertifiedKey, String> {
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
