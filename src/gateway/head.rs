//! A request's head, whichever door it came through.
//!
//! Owns what the rest of the gateway may know of a request's first part. Reads no bytes: the
//! [gate](super::gate) parses HTTP/1 itself, pingora HTTP/2, and both show it as a [`Head`].

use std::net::IpAddr;

use ipnet::IpNet;

/// What is asked for, and by whom it says.
pub trait Head {
    /// `GET`.
    fn method(&self) -> &str;
    /// Path and query as they came.
    fn target(&self) -> &str;
    /// `Host` or `:authority`, as it came.
    fn host(&self) -> &str;
    /// The values of a header by its lower-case name, in the order of their lines.
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]>;

    /// The first value of a header.
    fn get<'a>(&'a self, name: &'a str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// The first value of a header, if it is text.
    fn text<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// The target without its query.
    fn path(&self) -> &str {
        let target = self.target();
        let end = memchr::memchr2(b'?', b'#', target.as_bytes());
        end.map_or(target, |end| &target[..end])
    }

    /// The query, if there is one.
    fn query(&self) -> Option<&str> {
        self.target().split_once('?').map(|(_, query)| query)
    }

    /// Whether a comma-separated header lists a word, whatever its case and parameters, unless weighed `q=0`.
    fn lists(&self, name: &str, word: &str) -> bool {
        self.all(name).flat_map(|line| line.split(|byte| *byte == b',')).any(|item| {
            let mut parts = item.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let named = parts.next().is_some_and(|one| one.eq_ignore_ascii_case(word.as_bytes()));
            let refused = |part: &[u8]| {
                let weight = part.strip_prefix(b"q=").and_then(|q| std::str::from_utf8(q).ok());
                weight.and_then(|q| q.parse::<f32>().ok()) == Some(0.0)
            };
            named && !parts.any(refused)
        })
    }
}

/// Who is at the other end of a connection, and how it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The other end's address.
    pub address: IpAddr,
    /// Over TLS.
    pub secure: bool,
}

/// Who is asking, behind all proxies that are to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The visitor's address.
    pub address: IpAddr,
    /// The other end of the connection: the visitor, or the last proxy before us.
    pub peer: IpAddr,
    /// Whether the visitor's own connection is encrypted, which decides what cookies may be called.
    pub secure: bool,
    /// Whether the connection is a trusted proxy's: its word about users counts.
    pub vouched: bool,
}

impl Client {
    /// Reads the way back: the rightmost address that is not a trusted proxy's is the client's. Whatever stands
    /// left of it was written by somebody who may lie.
    pub fn behind(peer: Peer, head: &impl Head, trusted: &[IpNet]) -> Client {
        let trusts = |address: IpAddr| is_among(trusted, address);
        let peer_address = plain(peer.address);
        if trusted.is_empty() || !trusts(peer_address) {
            return Client {
                address: peer_address,
                peer: peer_address,
                secure: peer.secure,
                vouched: false,
            };
        }
        let mut address = peer_address;
        let lines: Vec<&[u8]> = head.all("x-forwarded-for").collect();
        'hops: for line in lines.iter().rev() {
            for hop in line.rsplit(|byte| *byte == b',') {
                match hop_address(hop) {
                    Some(hop) => address = hop,
                    // What can't be read can't be followed any further.
                    None => break 'hops,
                }
                if !trusts(address) {
                    break 'hops;
                }
            }
        }
        let proto = head.all("x-forwarded-proto").last();
        let last = proto.and_then(|line| line.rsplit(|byte| *byte == b',').next());
        let secure = match last {
            Some(proto) => proto.trim_ascii().eq_ignore_ascii_case(b"https"),
            None => peer.secure,
        };
        Client { address, peer: peer_address, secure, vouched: true }
    }
}

/// Whether an address is in any of these networks.
pub fn is_among(networks: &[IpNet], address: IpAddr) -> bool {
    networks.iter().any(|net| net.contains(&plain(address)))
}

/// IPv4 dressed as IPv6 is IPv4: rules about addresses are written in one form.
fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`.
fn hop_address(hop: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(hop).ok()?.trim();
    let bare = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None if text.matches(':').count() == 1 => text.split_once(':')?.0,
        None => text,
    };
    bare.parse().ok().map(plain)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A head of headers alone.
    pub(crate) struct Lines<'a>(pub(crate) &'a [(&'a str, &'a str)]);

    impl Head for Lines<'_> {
        fn method(&self) -> &str {
            "GET"
        }
        fn target(&self) -> &str {
            "/"
        }
        fn host(&self) -> &str {
            "shop.example"
        }
        fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
            let named = self.0.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name));
            named.map(|(_, value)| value.as_bytes())
        }
    }

    fn client(peer: &str, trusted: &str, lines: &[(&str, &str)]) -> Client {
        let peer = Peer { address: peer.parse().unwrap(), secure: false };
        let trusted: Vec<IpNet> = trusted.split_whitespace().map(|n| n.parse().unwrap()).collect();
        Client::behind(peer, &Lines(lines), &trusted)
    }

    #[test]
    fn a_stranger_is_believed_nothing() {
        let lines = [("x-forwarded-for", "198.51.100.9"), ("x-forwarded-proto", "https")];
        let it = client("203.0.113.5", "10.0.0.0/8", &lines);
        assert_eq!(it.address.to_string(), "203.0.113.5");
        assert!(!it.secure && !it.vouched);
    }

    #[test]
    fn the_rightmost_stranger_is_the_client() {
        let lines = [
            ("x-forwarded-for", "192.0.2.66, 198.51.100.9:5000"),
            ("X-Forwarded-For", "10.1.1.1"),
            ("x-forwarded-proto", "http, https"),
        ];
        let it = client("10.0.0.7", "10.0.0.0/8", &lines);
        assert_eq!(it.address.to_string(), "198.51.100.9");
        assert!(it.secure && it.vouched);
    }

    #[test]
    fn what_cannot_be_read_ends_the_way() {
        let lines = [("x-forwarded-for", "198.51.100.9, unknown, 10.1.1.1")];
        assert_eq!(client("10.0.0.7", "10.0.0.0/8", &lines).address.to_string(), "10.1.1.1");
        assert_eq!(client("10.0.0.7", "10.0.0.0/8", &[]).address.to_string(), "10.0.0.7");
        let mapped = [("x-forwarded-for", "[2001:db8::1]:80")];
        assert_eq!(
            client("::ffff:10.0.0.7", "10.0.0.0/8", &mapped).address.to_string(),
            "2001:db8::1"
        );
    }

    #[test]
    fn a_word_in_a_list() {
        let head = Lines(&[("accept-encoding", "br;q=1, GZIP ;q=0.5"), ("accept", "x;q=0")]);
        assert!(head.lists("accept-encoding", "gzip") && head.lists("accept-encoding", "br"));
        assert!(!head.lists("accept", "x") && !head.lists("accept-encoding", "deflate"));
    }
}
