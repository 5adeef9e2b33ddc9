//! TLS to a Redis: rustls with ring, as everywhere in this program.
//!
//! Owns whose certificates are believed: those of this machine, or of one file alone. Never believes just
//! anybody's. The redis crate's own TLS would add a second copy of what finds the machine's certificates,
//! and can't be told of a file without reading it into its client.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::DEADLINE;
use super::address::Address;
use super::trouble::Trouble;
use crate::store::StoreError;

/// How long that may take: two round trips. A Redis without TLS takes it for the beginning of a command, and waits
/// for the rest.
const AGREEING: Duration = DEADLINE.saturating_mul(2);

/// What makes a connection secret.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// Believes those in `ca_file`, or else those this machine believes.
    pub(super) fn new(address: &Address) -> Result<Tls, StoreError> {
        let nobody = |why: String| StoreError::from(Trouble::Untrusted(why).of(address));
        let roots = match &address.access.ca_file {
            Some(path) => roots_in(path)?,
            None => machine_roots().ok_or_else(|| nobody("this machine trusts none".to_owned()))?,
        };
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| nobody(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }

    /// Agrees on it with the other end, which must prove to be `host`.
    pub(super) async fn wrap(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Trouble> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Trouble::Untrusted("its host can't be on any".to_owned()))?;
        match timeout(AGREEING, self.0.connect(name, stream)).await {
            Ok(agreed) => agreed.map_err(|error| failed(&error)),
            Err(_) => {
                Err(Trouble::Away("nobody answers in TLS; perhaps none is spoken there".to_owned()))
            }
        }
    }
}

/// Whether a file names somebody to believe.
///
/// # Errors
/// It can't be read, or there are no certificates in it.
pub fn certificates_in(path: &Path) -> Result<(), StoreError> {
    roots_in(path).map(drop)
}

fn roots_in(path: &Path) -> Result<RootCertStore, StoreError> {
    let unusable = |why| StoreError::Unusable { path: path.to_owned(), why };
    let text = std::fs::read(path).map_err(|error| StoreError::io(path, "read it", error))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|_| unusable(NOT_PEM))?;
        roots.add(certificate).map_err(|_| unusable(NOT_PEM))?;
    }
    match roots.is_empty() {
        true => Err(unusable(NOT_PEM)),
        false => Ok(roots),
    }
}

const NOT_PEM: &str =
    "not a list of certificates in PEM: name the file of who signs those of Redis";

fn machine_roots() -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    // Some machines keep a few that nobody can read any more.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().unwrap_or_default());
    (!roots.is_empty()).then_some(roots)
}

fn failed(error: &io::Error) -> Trouble {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            Trouble::Untrusted("nobody we know signed it".to_owned())
        }
        Some(rustls::Error::InvalidCertificate(why)) => Trouble::Untrusted(why.to_string()),
        Some(rustls::Error::InvalidMessage(_)) => {
            Trouble::Misnamed("does not speak TLS: write redis:// for one without, or its TLS port")
        }
        _ => Trouble::Away(format!("TLS: {error}")),
    }
}
