//! The address of a request, written into a page.
//!
//! Owns the one rule about it: it came with the request, so anything may be in it, and it leaves here as a
//! path on this site. `//elsewhere` and its disguises would lead to another one.

/// As the value of an attribute, or of a part of one: nothing in it ends the attribute or the site.
pub(super) fn write(to: &str, out: &mut Vec<u8>) {
    // Nearly every address is fit to be written as it is.
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'/'..=b'9' | b'A'..=b'Z' | b'-' | b'.' | b'_' | b'?' | b'=');
    if to.starts_with('/') && !to.starts_with("//") && to.bytes().all(plain) {
        return out.extend_from_slice(to.as_bytes());
    }
    each(to, |byte| match byte {
        b'&' => out.extend_from_slice(b"&amp;"),
        b'"' | b'\'' | b'<' | b'>' | b'\\' | ..=b' ' | 0x7f.. => escaped(byte, out),
        _ => out.push(byte),
    });
}

/// As the value of a parameter in a query.
pub(super) fn write_parameter(to: &str, out: &mut Vec<u8>) {
    each(to, |byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
            out.push(byte)
        }
        _ => escaped(byte, out),
    });
}

/// A browser drops tabs and line ends from an address, and takes a backslash for a slash; then two slashes
/// at the start would name a host. `/.` before them names the same path and can't.
fn each(to: &str, mut write: impl FnMut(u8)) {
    let Some(rest) = to.strip_prefix('/') else { return write(b'/') };
    write(b'/');
    let next = rest.bytes().find(|byte| !byte.is_ascii_whitespace() && !byte.is_ascii_control());
    if matches!(next, Some(b'/' | b'\\')) {
        write(b'.');
        write(b'/');
    }
    rest.bytes().for_each(write);
}

fn escaped(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(to: &str) -> String {
        let mut out = Vec::new();
        write(to, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn an_address_stays_on_this_site_and_in_its_attribute() {
        assert_eq!(written("/drop/1?a=1&b=%20"), "/drop/1?a=1&amp;b=%20");
        assert_eq!(written("//evil.example/"), "/.//evil.example/");
        assert_eq!(written("/\\evil.example/"), "/./%5Cevil.example/");
        assert_eq!(written("/\t/evil.example"), "/./%09/evil.example");
        assert_eq!(written("http://evil.example/"), "/");
        assert_eq!(written("javascript:alert(1)"), "/");
        assert_eq!(written(""), "/");
        assert_eq!(written("/\"><script>'é"), "/%22%3E%3Cscript%3E%27%C3%A9");
    }

    #[test]
    fn a_parameter_is_one_value() {
        let mut out = Vec::new();
        write_parameter("//a?b=c&d;e#f", &mut out);
        assert_eq!(out, b"/.//a%3Fb%3Dc%26d%3Be%23f");
    }
}
