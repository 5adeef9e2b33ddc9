//! A site without a file: `anteroom serve --origin http://127.0.0.1:3000 --rate 5/s`.
//!
//! Owns what those few options mean: one room over the whole site, everything else as by default. They become the
//! same [`File`] a user would have written and pass the same checks.

use super::environment::Environment;
use super::file::{File, Origin, Room};
use super::report::{Problems, Report, Warning, Written, quoted};
use super::{Plan, check};
use crate::units as text;

/// The options as they were given. What is missing comes from `ANTEROOM_ORIGIN`, `_RATE`, `_MAX_ACTIVE`, `_LISTEN`.
#[derive(Clone, Debug, Default)]
pub struct Quick {
    /// `http://127.0.0.1:3000`.
    pub origin: Option<String>,
    /// `5/s`.
    pub rate: Option<String>,
    /// How many may be inside at once.
    pub max_active: Option<String>,
    /// `0.0.0.0:8080`.
    pub listen: Option<String>,
}

/// The room's name, and so its `event_id`; the origin's, too.
const NAME: &str = "site";

/// A plan from options alone.
///
/// # Errors
/// Every problem there is.
pub fn quick(options: Quick, environment: &Environment) -> Result<(Plan, Vec<Warning>), Problems> {
    let report = Report::new(None);
    let given = |option: &str, value: Option<String>, variable: &'static str| match value {
        Some(value) => {
            let text = quoted(&value);
            Some(Written { value, key: option.to_owned(), text })
        }
        None => environment.written(variable),
    };
    let origin = given("--origin", options.origin, "ANTEROOM_ORIGIN");
    let rate = given("--rate", options.rate, "ANTEROOM_RATE");
    let max_active = given("--max-active", options.max_active, "ANTEROOM_MAX_ACTIVE");
    let listen = given("--listen", options.listen, "ANTEROOM_LISTEN");

    let mut room = Room { name: NAME.to_owned(), path: "the room".to_owned(), ..Room::default() };
    if rate.is_none() && max_active.is_none() {
        let means = "nobody would ever wait. Give one of them or both, such as --rate 5/s";
        report.problem("--rate and --max-active are both missing", means);
    }
    if let Some(rate) = rate {
        match text::rate(&rate.value) {
            Ok(value) => room.rate = Some(rate.map(|_| value)),
            Err(means) => report.problem(format!("{} is not a rate", rate.said()), means),
        }
    }
    if let Some(seats) = max_active {
        match seats.value.parse::<u64>() {
            Ok(value) => room.max_active = Some(seats.map(|_| value)),
            Err(_) => {
                let means = "write how many may be inside at once";
                report.problem(format!("{} is not a whole number", seats.said()), means);
            }
        }
    }
    let mut file = File { listen: listen.map(|address| vec![address]), ..File::default() };
    match origin {
        None => report.problem(
            "--origin is missing",
            "there is nothing to stand in front of. Give the site's address, such as \
             --origin http://127.0.0.1:3000, or a file with -c",
        ),
        Some(url) => file.origins.extend(origin_of(url, &report)),
    }
    room.origin = file.origins.first().and_then(|origin| {
        let servers = origin.servers.as_ref()?;
        Some(servers.first()?.clone().map(|_| NAME.to_owned()))
    });
    if room.origin.is_none() {
        room.spoiled.insert("origin");
    }
    file.rooms.push(room);
    environment.overrule(&mut file, &report);
    let plan = check::check(file, None, environment, &report);
    report.verdict(Some(plan))
}

/// `http://127.0.0.1:3000`, `https://shop.internal`, or an address alone, which is plain HTTP.
fn origin_of(url: Written<String>, report: &Report) -> Option<Origin> {
    let (tls, rest) = match url.value.split_once("://") {
        None => (false, url.value.as_str()),
        Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
            "http" => (false, rest),
            "https" => (true, rest),
            _ => {
                let means = "write http://HOST:PORT or https://HOST:PORT";
                report.problem(format!("{} is no site we can speak to", url.said()), means);
                return None;
            }
        },
    };
    let address = rest.strip_suffix('/').unwrap_or(rest);
    if address.contains(['/', '?', '#', '@']) {
        let means =
            "a visitor's path is handed on as it is. Leave out everything after the host and port";
        report.problem(format!("{} is more than an address", url.said()), means);
        return None;
    }
    let ends_in_port = match address.rsplit_once(':') {
        Some((host, _)) => !host.contains(':') || host.ends_with(']'),
        None => false,
    };
    let address = match ends_in_port {
        true => address.to_owned(),
        false => format!("{address}:{}", if tls { 443 } else { 80 }),
    };
    let tls = Written { value: tls, key: url.key.clone(), text: url.text.clone() };
    let path = "the origin".to_owned();
    let servers = Some(vec![url.map(|_| address)]);
    Some(Origin { name: NAME.to_owned(), path, servers, tls: Some(tls), ..Origin::default() })
}
