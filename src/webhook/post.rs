//! One try at delivering a letter: a POST with deadlines, no redirects, no proxy.

use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use super::Target;
use crate::clock;

/// For a whole try: a receiver that takes longer has time to answer first and work afterwards.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Posts.
#[derive(Default)]
pub(super) struct Poster {
    agent: OnceLock<Agent>,
}

impl Poster {
    /// One try.
    ///
    /// # Errors
    /// No 2xx came back in time; why.
    pub(super) async fn post(
        &self,
        target: &Target,
        id: &str,
        body: Arc<str>,
    ) -> Result<(), String> {
        let agent = self.agent.get_or_init(agent).clone();
        let mut request = agent
            .post(&target.url)
            .header("Content-Type", "application/json")
            .header("X-Anteroom-Event-Id", id);
        if let Some(secret) = &target.secret {
            let signature = secret.sign(clock::now_ms() / 1_000, &body);
            request = request.header("X-Anteroom-Signature", signature);
        }
        // The client is a blocking one: on a thread of its own, never on one that serves visitors.
        let sent = tokio::task::spawn_blocking(move || request.send(&*body));
        match sent.await {
            Ok(Ok(response)) if response.status().is_success() => Ok(()),
            Ok(Ok(response)) => Err(format!("answered {}", response.status().as_u16())),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the node is stopping".to_owned()),
        }
    }
}

fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .max_redirects(0)
        .timeout_global(Some(PATIENCE))
        .user_agent(concat!("anteroom/", env!("CARGO_PKG_VERSION")))
        .tls_config(trusted_by_this_machine())
        .build()
        .new_agent()
}

/// Certificates that this machine trusts.
pub fn trusted_by_this_machine() -> TlsConfig {
    let native = rustls_native_certs::load_native_certs().unwrap_or_default();
    let trusted: Vec<Certificate<'static>> =
        native.iter().map(|one| Certificate::from_der(one).to_owned()).collect();
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&trusted))
        .build()
}
