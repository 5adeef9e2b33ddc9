//! What a request is after, as far as its headers say.
//!
//! Owns the difference between a person opening a page and everything else a browser or a script sends.
//! Only a person opening a page takes a number: a picture, a prefetch or a call by a script must
//! never put anybody into a line they do not see.

/// What a request is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// A person opens a page in a window of its own.
    Page,
    /// A person sends a form: it can't be sent later for them.
    Form,
    /// A page inside another one, whose address nobody sees.
    Frame,
    /// Anything else.
    Part,
}

impl Intent {
    /// Reads method and headers; `header` finds one by its lower-case name. Browsers that do not say what
    /// they are after (old ones, and all over plain HTTP from elsewhere than localhost) are judged by what
    /// they accept.
    pub fn of<'a>(method: &str, header: impl Fn(&'static str) -> Option<&'a [u8]>) -> Intent {
        let mentions = |name: &'static str, word: &str| {
            let value = header(name).unwrap_or_default();
            value.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
        };
        let mode = header("sec-fetch-mode").map(<[u8]>::trim_ascii);
        let navigates = mode.is_none_or(|mode| mode.eq_ignore_ascii_case(b"navigate"));
        if !navigates || !mentions("accept", "text/html") {
            return Intent::Part;
        }
        let ahead_of_time = ["sec-purpose", "purpose", "x-moz", "x-purpose"];
        let guessing = ahead_of_time.iter().any(|name| {
            header(name).is_some() && (mentions(name, "prefetch") || mentions(name, "preview"))
        });
        if guessing {
            return Intent::Part;
        }
        let dest = header("sec-fetch-dest").map(<[u8]>::trim_ascii);
        let among = |names: &[&str]| {
            dest.is_some_and(|dest| {
                names.iter().any(|one| dest.eq_ignore_ascii_case(one.as_bytes()))
            })
        };
        match method {
            "GET" if dest.is_none() || among(&["document"]) => Intent::Page,
            "POST" if dest.is_none() || among(&["document"]) => Intent::Form,
            _ if among(&["iframe", "frame", "embed", "object", "fencedframe"]) => Intent::Frame,
            _ => Intent::Part,
        }
    }
}
