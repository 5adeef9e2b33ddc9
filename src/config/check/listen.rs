//! Where the node listens, and how it runs: addresses, certificates, threads, the upgrade.

use std::fs::File as Disk;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;

use super::pattern::{self, Wrong};
use super::{Check, secret};
use crate::config::file::File;
use crate::config::report::Written;
use crate::gateway::settings::{Certificate, Tls};
use crate::gateway::tls;

/// Every interface, on the port that needs no privilege.
const DEFAULT_LISTEN: &str = "0.0.0.0:8080";

/// Half a minute: what orchestrators give a process before they kill it. Pingora's own would be five.
const DEFAULT_GRACE: Duration = Duration::from_secs(30);

/// A socket's path in the system's structure, its final zero left out.
const MAX_SOCKET_PATH: usize = 107;

/// Addresses of ours, and how they were written.
pub(super) type Taken = Vec<(SocketAddr, String)>;

impl Check<'_> {
    /// Plain and TLS addresses. Without either, the default; with TLS alone, nothing plain.
    pub(super) fn addresses(&self, file: &File, taken: &mut Taken) -> (Vec<String>, Vec<Tls>) {
        let mut listen = Vec::new();
        for address in file.listen.iter().flatten() {
            listen.extend(self.address(address, taken));
        }
        if file.listen.is_none() && file.tls.is_empty() && !file.spoils(&["listen", "tls"]) {
            listen.push(DEFAULT_LISTEN.to_owned());
        }
        let mut tls: Vec<Tls> = Vec::new();
        for written in &file.tls {
            for (key, there) in [
                ("listen", written.listen.is_some()),
                ("cert", written.cert.is_some()),
                ("key", written.key.is_some()),
            ] {
                if !there && !written.spoiled.contains(key) {
                    let means = "an address with TLS needs all of listen, cert and key";
                    self.report.problem(format!("{}.{key} is missing", written.path), means);
                }
            }
            let certificate = self.certificate(written.cert.as_ref(), written.key.as_ref());
            let Some(address) = &written.listen else { continue };
            // Several of one address are one listener with several certificates.
            match tls.iter_mut().find(|known| known.listen == address.value) {
                Some(known) => known.certificates.extend(certificate),
                None => {
                    let certificates = certificate.into_iter().collect();
                    let listen = self.address(address, taken);
                    tls.extend(listen.map(|listen| Tls { listen, certificates }));
                }
            }
        }
        if file.listen.as_ref().is_some_and(Vec::is_empty)
            && file.tls.is_empty()
            && !file.spoils(&["tls"])
        {
            let means = "nobody could reach the node. Write an address, or [[tls]]";
            self.report.problem("listen = [] leaves no address", means);
        }
        (listen, tls)
    }

    /// An address of ours that nobody else in the file has.
    pub(super) fn address(&self, written: &Written<String>, taken: &mut Taken) -> Option<String> {
        let Ok(address) = written.value.parse::<SocketAddr>() else {
            let port = written.value.trim_start_matches([':', '*']);
            let means = match port.parse::<u16>() {
                Ok(port) => format!(
                    "say on which interface: \"0.0.0.0:{port}\" for all, \"127.0.0.1:{port}\" for this machine only"
                ),
                Err(_) => {
                    "write an IP address and a port: 0.0.0.0:8080, 127.0.0.1:8080 or [::]:8080"
                        .to_owned()
                }
            };
            self.report
                .problem(format!("{} is not an address to listen on", written.said()), means);
            return None;
        };
        if let Some((_, other)) = taken.iter().find(|(other, _)| collide(address, *other)) {
            let said = format!("{} collides with {other}", written.said());
            let means = "the node could not start, because an address can be taken once. Remove one of them, or \
                         change its port";
            self.report.problem(said, means);
        }
        taken.push((address, written.said()));
        Some(written.value.clone())
    }

    /// A certificate and its key, both there and fit for each other.
    fn certificate(
        &self,
        cert: Option<&Written<PathBuf>>,
        key: Option<&Written<PathBuf>>,
    ) -> Option<Certificate> {
        let readable = |written: &Written<PathBuf>| {
            let path = self.resolve(&written.value);
            match Disk::open(&path) {
                Ok(_) => Some(path),
                Err(error) => {
                    let means = format!(
                        "{}: {error}. Paths count from the directory of this file",
                        path.display()
                    );
                    self.report.problem(format!("{} can't be read", written.said()), means);
                    None
                }
            }
        };
        let chain = cert.and_then(readable);
        let secret = key.and_then(readable);
        let ((cert, chain), (key, secret)) = (cert.zip(chain)?, key.zip(secret)?);
        let certificate = Certificate { cert: chain, key: secret };
        if let Err(error) = tls::read(&certificate) {
            let said = format!("{} and {} can't be used", cert.said(), key.briefly());
            self.report.problem(said, error);
            return None;
        }
        if secret::is_open_to_others(&certificate.key) {
            let means = "every user of this machine can read the private key. chmod o-rwx it";
            self.report.warn(format!("{} is open to others", key.said()), means);
        }
        Some(certificate)
    }

    pub(super) fn threads(&self, file: &File) -> Option<usize> {
        let why = "a node needs one to work with; leave it out for one a core";
        let threads = file.threads.as_ref()?;
        let threads = self.within(threads, 1, 1_024, crate::units::grouped, why)?;
        usize::try_from(threads).ok()
    }

    pub(super) fn grace(&self, file: &File) -> Duration {
        let why = "whoever stops the node waits that long for the slowest request";
        self.duration(file.grace.as_ref(), DEFAULT_GRACE, (0, 3_600_000), why)
    }

    pub(super) fn upgrade_socket(&self, file: &File) -> Option<PathBuf> {
        let written = file.upgrade_socket.as_ref()?;
        let path = self.resolve(&written.value);
        if path.as_os_str().len() > MAX_SOCKET_PATH {
            let means = format!(
                "a socket's path has at most {MAX_SOCKET_PATH} bytes. Choose a shorter one"
            );
            self.report.problem(format!("{} is too long", written.said()), means);
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if !parent.unwrap_or(Path::new(".")).is_dir() {
            let means =
                "the next process could not take over from this one. Make its directory first";
            self.report.problem(format!("{} has no directory to be in", written.said()), means);
        }
        Some(path)
    }

    pub(super) fn trusted_proxies(&self, file: &File) -> Vec<IpNet> {
        let mut networks = Vec::new();
        for written in &file.trusted_proxies {
            match pattern::network(&written.value) {
                Ok(network) => {
                    if network.prefix_len() == 0 {
                        let means = "any client could claim any address and any user. Name your proxies' networks only";
                        self.report.warn(format!("{} trusts everybody", written.said()), means);
                    }
                    networks.push(network);
                }
                Err(Wrong(what, means)) => {
                    self.report.problem(format!("{} {what}", written.said()), means);
                }
            }
        }
        networks
    }

    pub(super) fn api_hosts(&self, file: &File) -> Vec<String> {
        let mut hosts = Vec::new();
        for written in &file.api_hosts {
            match pattern::host(&written.value) {
                Ok(host) => hosts.push(host),
                Err(Wrong(what, means)) => {
                    self.report.problem(format!("{} {what}", written.said()), means);
                }
            }
        }
        hosts
    }
}

/// Whether the system would refuse the second of two: `0.0.0.0` is every IPv4 address, `[::]` every address of both
/// kinds. Port 0 is another one each time.
fn collide(one: SocketAddr, other: SocketAddr) -> bool {
    let covers = |wide: IpAddr, narrow: IpAddr| match wide {
        _ if wide == narrow => true,
        IpAddr::V4(ip) => ip.is_unspecified() && narrow.is_ipv4(),
        IpAddr::V6(ip) => ip.is_unspecified(),
    };
    let same_port = one.port() == other.port() && one.port() != 0;
    same_port && (covers(one.ip(), other.ip()) || covers(other.ip(), one.ip()))
}
