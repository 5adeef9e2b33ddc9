//! How a room's pages look: files read in, so that a page needs nothing but itself.

use std::fs::File as Disk;
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Check;
use crate::config::file;
use crate::config::report::Written;
use crate::gateway::route::{Asked, Guard, Routes, Way};
use crate::page::Look;
use crate::units as text;

/// It rides in every waiting page: all the first view needs is to stay small, and base64 adds a third.
const MAX_LOGO: u64 = 24 * 1024;

/// Beyond it nothing is read; what is too large below it, the page says itself.
const MAX_READ: u64 = 1024 * 1024;

/// Endings of pictures that browsers show everywhere, and their types.
const PICTURES: [(&str, &str); 6] = [
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("webp", "image/webp"),
    ("gif", "image/gif"),
];

impl Check<'_> {
    pub(super) fn look(&self, room: &file::Room, guard: &Guard, framed: bool) -> Look {
        let page = &room.page;
        let value = |written: &Option<Written<String>>| written.as_ref().map(|w| w.value.clone());
        let look = Look {
            title: value(&page.title),
            message: value(&page.message),
            logo: page.logo.as_ref().and_then(|logo| self.logo(logo, guard)),
            accent: value(&page.accent),
            own: page.file.as_ref().and_then(|file| self.own_page(file)),
            framed,
            roster: false,
        };
        for problem in look.problems() {
            let (what, means) = problem.split_once(": ").unwrap_or((&problem, "change it"));
            let said = match (&page.file, what.starts_with("accent") || what.starts_with("logo")) {
                (Some(file), false) => format!("{}: {what}", file.said()),
                _ => format!("{}.{what}", page.path),
            };
            self.report.problem(said, means);
        }
        look
    }

    /// A picture of our own is put into the page; a path on the site stays one.
    fn logo(&self, written: &Written<String>, guard: &Guard) -> Option<String> {
        let logo = written.value.trim();
        let elsewhere = logo.contains("://") || logo.starts_with("//");
        if elsewhere || logo.starts_with("data:") {
            return Some(logo.to_owned()); // the page judges it
        }
        let path = self.resolve(Path::new(logo));
        if logo.starts_with('/') && !path.is_file() {
            if waits(logo, guard) {
                let means = "it would wait in line like any other request, and the page would have no picture. Add \
                             it to bypass, or name a file to be put into the page";
                self.report.warn(format!("{} is inside the room", written.said()), means);
            }
            return Some(logo.to_owned());
        }
        let refuse = |means: String| {
            self.report.problem(format!("{} can't be shown", written.said()), means);
            None
        };
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let Some((_, kind)) = PICTURES.iter().find(|(name, _)| ending.eq_ignore_ascii_case(name))
        else {
            return refuse(
                "it is no picture by its name. Use .png, .svg, .jpg, .webp or .gif".to_owned(),
            );
        };
        let bytes = match read(&path, MAX_LOGO + 1) {
            Ok(bytes) => bytes,
            Err(error) => {
                return refuse(format!(
                    "{}: {error}. Paths count from the directory of this file",
                    path.display()
                ));
            }
        };
        if bytes.len() as u64 > MAX_LOGO {
            let means = format!(
                "it is larger than {}, and every waiting page carries it. Make it smaller, or let the \
                                 site serve it: /logo.png",
                text::size(MAX_LOGO)
            );
            return refuse(means);
        }
        Some(format!("data:{kind};base64,{}", STANDARD.encode(bytes)))
    }

    fn own_page(&self, written: &Written<std::path::PathBuf>) -> Option<String> {
        let path = self.resolve(&written.value);
        let problem = match read(&path, MAX_READ).map(String::from_utf8) {
            Ok(Ok(text)) => return Some(text),
            Ok(Err(_)) => format!("{} is not UTF-8. Save it as that", path.display()),
            Err(error) => {
                format!("{}: {error}. Paths count from the directory of this file", path.display())
            }
        };
        self.report.problem(format!("{} can't be read", written.said()), problem);
        None
    }
}

fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Disk::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a plain request for a path would be held by the room itself.
fn waits(path: &str, guard: &Guard) -> bool {
    let everywhere = Guard { hosts: None, ..guard.clone() };
    let routes = Routes::new(vec![everywhere], &[]);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let (method, address) = ("GET", IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let asked = Asked { host: "site", path, method, address, header: &|_, _| false };
    matches!(routes.way(&asked), Way::Guarded { .. })
}
