//! Hosts, paths, addresses and names, as far as one text tells. Pure.
//!
//! Owns what each of them may look like. An error is what is the matter, and what to write instead.

use std::net::{IpAddr, Ipv6Addr};

use ipnet::IpNet;

use crate::gateway::path::Readings;

/// What is the matter with a text, and what to do about it.
pub(super) struct Wrong(pub(super) String, pub(super) String);

fn wrong<T>(what: &str, means: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong(what.to_owned(), means.into()))
}

/// The address in the rest of a URL, without a path and without a password.
fn bare_address(rest: &str) -> &str {
    let address = rest.split('/').next().unwrap_or_default();
    address.rsplit('@').next().unwrap_or_default()
}

/// A host without wildcard, in lower case.
pub(super) fn host(text: &str) -> Result<String, Wrong> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if bare.parse::<Ipv6Addr>().is_ok() {
        return Ok(bare.to_ascii_lowercase()); // as the router compares it: without brackets
    }
    if let Some((_, rest)) = text.split_once("://") {
        let host = bare_address(rest).split(':').next().unwrap_or_default();
        return wrong("is not a host", format!("it is a URL. Write \"{host}\""));
    }
    if text.contains('/') {
        let host = text.split('/').next().unwrap_or_default();
        return wrong("is not a host", format!("paths go into `paths`. Write \"{host}\""));
    }
    if let Some((host, _)) = text.split_once(':') {
        let means = format!("a room guards a host on every port. Write \"{host}\"");
        return wrong("is not a host", means);
    }
    if text.contains('*') {
        return wrong(
            "is not a host",
            "a wildcard stands for whole names at the start: *.example.com",
        );
    }
    if !text.is_ascii() {
        return wrong(
            "is not a host",
            "browsers send such names in their ASCII form, xn--…: write that",
        );
    }
    let label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        (1..=63).contains(&label.len()) && label.bytes().all(plain)
    };
    match text.len() <= 253 && text.split('.').all(label) {
        true => Ok(text.to_ascii_lowercase()),
        false => {
            wrong("is not a host", "write a name such as shop.example.com, without a final dot")
        }
    }
}

/// `shop.example.com` or `*.example.com`, in lower case.
pub(super) fn host_pattern(text: &str) -> Result<String, Wrong> {
    match text.strip_prefix("*.") {
        Some(rest) => host(rest).map(|host| format!("*.{host}")),
        None if text == "*" => wrong("is every host", "leave `hosts` out, and it guards any host"),
        None => host(text),
    }
}

/// `/checkout` or `/drop/*`, as the router compares it.
pub(super) fn path(text: &str) -> Result<String, Wrong> {
    if !text.starts_with('/') {
        let rest = if text == "*" { text } else { text.trim_start_matches('*') };
        let means = format!("it would fit nothing. Write \"/{rest}\"");
        return wrong("does not begin with /", means);
    }
    if text.contains(['?', '#']) {
        let means =
            "it would fit nothing: a room looks at the path alone. Leave out what follows ? or #";
        return wrong("is more than a path", means);
    }
    if let Some(bad) = text.bytes().find(|byte| !byte.is_ascii_graphic()) {
        let escaped: String = text
            .bytes()
            .map(|byte| match byte.is_ascii_graphic() {
                true => char::from(byte).to_string(),
                false => format!("%{byte:02X}"),
            })
            .collect();
        let kind = if bad == b' ' { "a space" } else { "such characters" };
        let means = format!("browsers send {kind} escaped. Write \"{escaped}\"");
        return wrong("is not as a request has it", means);
    }
    let stem = text.strip_suffix("/*").unwrap_or(text);
    if stem.contains('*') {
        let means = "it would fit nothing. Write /drop/* for everything below /drop, and name other paths one by one";
        return wrong("has a * that is not a last part of its own", means);
    }
    let readings = Readings::of(text);
    let plain = readings.plain();
    if plain != text {
        return wrong(
            "is not in its shortest form",
            format!("it would fit nothing. Write \"{plain}\""),
        );
    }
    if !readings.is_certain() {
        let means = "origins differ in how they read it, so nobody could be sure. Name a plainer one above it";
        return wrong("can be read in several ways", means);
    }
    Ok(text.to_owned())
}

/// A network, or one address.
pub(super) fn network(text: &str) -> Result<IpNet, Wrong> {
    if let Ok(net) = text.parse::<IpNet>() {
        return Ok(net.trunc());
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(address.into());
    }
    let means = "write an address, 192.0.2.7, or a network, 192.0.2.0/24 or 2001:db8::/32";
    wrong("is neither an address nor a network", means)
}

/// A header's name, in lower case.
pub(super) fn header_name(text: &str) -> Result<String, Wrong> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if text.is_empty() || !text.bytes().all(token) {
        return wrong("is not a header's name", "write one such as x-user-id");
    }
    let name = text.to_ascii_lowercase();
    match name.starts_with("x-anteroom-") {
        true => wrong(
            "is one of our own headers",
            "what clients send under these names is removed first, so it would never be seen. Use another name",
        ),
        false => Ok(name),
    }
}

/// `127.0.0.1:3000`, `[::1]:3000`, `shop.internal:443`.
pub(super) fn server(text: &str) -> Result<String, Wrong> {
    if let Some((scheme, rest)) = text.split_once("://") {
        let address = bare_address(rest);
        let (port, more) = if scheme == "https" { (443, " and tls = true") } else { (80, "") };
        let port = if address.contains(':') { String::new() } else { format!(":{port}") };
        return wrong("is not an address", format!("it is a URL. Write \"{address}{port}\"{more}"));
    }
    let how = "write the host and the port: 127.0.0.1:3000 or shop.internal:443";
    let Some((name, port)) = text.rsplit_once(':') else { return wrong("has no port", how) };
    if name.contains(':') && !name.starts_with('[') {
        return wrong("is not an address", "write an IPv6 address in brackets: [2001:db8::1]:3000");
    }
    let port = port.parse::<u16>().ok().filter(|port| *port > 0);
    match (host(name), port) {
        (Ok(_), Some(_)) => Ok(text.to_owned()),
        _ => wrong("is not an address", how),
    }
}
