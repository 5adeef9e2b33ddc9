//! `anteroom verify`: what a token says, in words.

use std::fmt::{self, Write as _};
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;

use super::{Done, Failure, SIGNING_KEY, no_key, ring, secret};
use crate::clock;
use crate::token::{
    Invite, Key, KeyError, Kind, MAX_TOKEN, Pass, PassKeys, Provisional, Scratch, Secret, Ticket,
    TokenError, Unproven,
};

const PASS_SECRET: &str = "ANTEROOM_TOKEN_SECRET";

/// Say what a ticket or pass says, and whether it is good: exit code 0 or 1
#[derive(Args)]
#[command(
    after_help = "A key file holds one line of text of at least 32 bytes, and that text is the key.\nOptions may also be given as ANTEROOM_ROOM, ANTEROOM_KEY_FILE, ANTEROOM_PASS_KEY_FILE."
)]
pub(super) struct Verify {
    /// The token; - reads it from standard input
    token: String,
    /// Room it must be for; by default the one it names
    #[arg(long, env = "ANTEROOM_ROOM", hide_env = true)]
    room: Option<String>,
    /// File with the signing key, else ANTEROOM_SIGNING_KEY
    #[arg(long, value_name = "FILE", env = "ANTEROOM_KEY_FILE", hide_env = true)]
    key_file: Option<PathBuf>,
    /// File with a room's or the shared pass key, else ANTEROOM_TOKEN_SECRET
    #[arg(long, value_name = "FILE", env = "ANTEROOM_PASS_KEY_FILE", hide_env = true)]
    pass_key_file: Option<PathBuf>,
}

impl Verify {
    pub(super) fn run(self) -> Done {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let signing = secret(self.key_file.as_deref(), SIGNING_KEY)?;
        // A signing key that was named outranks a pass secret that happens to be around.
        let pass = match (&self.pass_key_file, &self.key_file) {
            (None, Some(_)) => None,
            (file, _) => secret(file.as_deref(), PASS_SECRET)?,
        };
        let token = match self.token.as_str() {
            "-" => read_token().map_err(Failure::Input)?,
            token => token.to_owned(),
        };
        let verdict = judge(token.trim(), self.room.as_deref(), signing, pass, now)?;
        let code = match verdict.problem {
            None => ExitCode::SUCCESS,
            Some(_) => ExitCode::FAILURE,
        };
        Ok((verdict.to_string(), code))
    }
}

/// What there is to say about a token.
#[derive(Default)]
struct Verdict {
    problem: Option<TokenError>,
    /// "a pass for room sale"; empty if not even that can be read.
    subject: String,
    /// What follows the subject: how long it is good, or for how long it hasn't been.
    remark: String,
    /// Name and value of what it says; only signed ones get here.
    facts: Vec<(&'static str, String)>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, remark, .. } = self;
        match &self.problem {
            None => writeln!(f, "good: {subject}{remark}")?,
            Some(_) if !remark.is_empty() => writeln!(f, "not good: {subject}{remark}")?,
            Some(problem) => writeln!(f, "not good: {problem}")?,
        }
        if self.facts.is_empty() && !subject.is_empty() {
            writeln!(f, "It says it is {subject}, which proves nothing.")?;
        }
        for (name, value) in &self.facts {
            writeln!(f, "  {name:<10} {value}")?;
        }
        Ok(())
    }
}

/// Judges a token with the keys at hand. They have no ids here: whichever the token names is tried.
fn judge(
    token: &str,
    room: Option<&str>,
    signing: Option<Secret>,
    pass: Option<Secret>,
    now: Duration,
) -> Result<Verdict, Failure> {
    let said = match Unproven::read(token.as_bytes()) {
        Ok(said) => said,
        Err(problem) => {
            return Ok(Verdict { problem: Some(problem), ..Verdict::default() });
        }
    };
    let what = match said.kind {
        Kind::Ticket => "ticket",
        Kind::Pass => "pass",
        Kind::Provisional => "provisional ticket",
        Kind::Invite => "invite",
    };
    let mut verdict = Verdict {
        subject: format!("{} {what} for room {}", article(said.kind), shown(&said.room)),
        ..Verdict::default()
    };
    let scratch = &mut Scratch::new();
    let token = token.as_bytes();
    // A name that nobody could have configured in the token itself is the token's fault.
    let (room, fault) = match room {
        Some(room) => (room, None),
        None => (said.room.as_str(), Some(TokenError::OtherRoom)),
    };
    let blame = |error: KeyError| match (error, fault) {
        (KeyError::Id, _) => Ok(TokenError::UnknownKey),
        (KeyError::Room(_), Some(fault)) => Ok(fault),
        (error, _) => Err(Failure::Room(error)),
    };
    let checked = match (said.kind, pass, signing) {
        (Kind::Ticket, _, Some(secret)) => {
            let keys = ring(&said.key_id, secret).and_then(|ring| ring.room(room));
            keys.map(|keys| keys.verify_ticket(token, scratch).map(|t| verdict.ticket(&t, now)))
        }
        (Kind::Provisional, _, Some(secret)) => {
            let keys = ring(&said.key_id, secret).and_then(|ring| ring.room(room));
            keys.map(|keys| {
                keys.verify_provisional(token, scratch).map(|p| verdict.provisional(&p, now))
            })
        }
        (Kind::Invite, _, Some(secret)) => {
            let keys = ring(&said.key_id, secret).and_then(|ring| ring.room(room));
            keys.map(|keys| keys.verify_invite(token, 0, scratch).map(|i| verdict.invite(&i, now)))
        }
        (Kind::Pass, None, Some(secret)) => {
            let keys = ring(&said.key_id, secret).and_then(|ring| ring.room(room));
            // Expiry is judged below: what an expired pass says is still worth showing.
            keys.map(|keys| keys.verify_pass(token, 0, scratch).map(|p| verdict.pass(&p, now)))
        }
        (Kind::Pass, Some(secret), _) => {
            let keys = Key::new(&said.key_id, secret).and_then(|key| PassKeys::new(room, &[key]));
            keys.map(|keys| keys.verify_pass(token, 0, scratch).map(|p| verdict.pass(&p, now)))
        }
        (Kind::Ticket | Kind::Provisional | Kind::Invite, _, None) => {
            return Err(no_key("a ticket: the signing key", "--key-file", SIGNING_KEY));
        }
        (Kind::Pass, None, None) => {
            return Err(no_key("a key", "--key-file or --pass-key-file", SIGNING_KEY));
        }
    };
    match checked {
        Ok(Ok(())) => verdict.facts.push(("key id", said.key_id)),
        Ok(Err(problem)) => verdict.problem = Some(problem),
        Err(error) => verdict.problem = Some(blame(error)?),
    }
    Ok(verdict)
}

impl Verdict {
    fn ticket(&mut self, ticket: &Ticket<'_>, now: Duration) {
        let age = now.as_secs().saturating_sub(ticket.joined_at);
        self.remark = format!(", {} old", span(age));
        self.facts = vec![
            ("number", ticket.num.to_string()),
            ("epoch", ticket.epoch.to_string()),
            ("class", shown(&ticket.class)),
            ("joined", time(ticket.joined_at)),
            ("visitor", shown(&ticket.visitor)),
        ];
        self.ids(ticket.device_id.as_deref(), ticket.user_id.as_deref(), ticket.user_proven);
    }

    fn provisional(&mut self, provisional: &Provisional<'_>, now: Duration) {
        let arrived_at = provisional.arrived_ms / 1_000;
        self.remark = format!(", {} old", span(now.as_secs().saturating_sub(arrived_at)));
        self.facts = vec![("arrived", time(arrived_at))];
        self.ids(provisional.device_id.as_deref(), provisional.user_id.as_deref(), false);
    }

    fn invite(&mut self, invite: &Invite<'_>, now: Duration) {
        let now = now.as_secs();
        if invite.expires_at > now {
            self.remark = format!(", for another {}", span(invite.expires_at - now));
        } else {
            self.remark = format!(" that expired {} ago", span(now - invite.expires_at));
            self.problem = Some(TokenError::Expired { at: invite.expires_at });
        }
        let uses = if invite.uses == 0 { "any".to_owned() } else { invite.uses.to_string() };
        self.facts = vec![
            ("invite", invite.name()),
            ("class", shown(&invite.class)),
            ("uses", uses),
            ("expires", time(invite.expires_at)),
        ];
        self.ids(None, invite.user_id.as_deref(), true);
    }

    fn pass(&mut self, pass: &Pass<'_>, now: Duration) {
        let now = now.as_secs();
        if pass.expires_at > now {
            self.remark = format!(", for another {}", span(pass.expires_at - now));
        } else {
            self.remark = format!(" that expired {} ago", span(now - pass.expires_at));
            self.problem = Some(TokenError::Expired { at: pass.expires_at });
        }
        self.facts = vec![
            ("number", pass.num.to_string()),
            ("epoch", pass.epoch.to_string()),
            ("class", shown(&pass.class)),
            ("issued", time(pass.issued_at)),
            ("admitted", time(pass.admitted_at)),
            ("expires", time(pass.expires_at)),
            ("nonce", shown(&pass.nonce)),
        ];
        self.facts.extend(pass.slot.as_deref().map(|slot| ("slot", shown(slot))));
        self.facts.extend(pass.bind.as_deref().map(|bind| ("bound by", shown(bind))));
        self.ids(pass.device_id.as_deref(), pass.user_id.as_deref(), pass.user_proven);
    }

    fn ids(&mut self, device: Option<&str>, user: Option<&str>, proven: bool) {
        self.facts.extend(device.map(|id| ("device", shown(id))));
        let by = if proven { ", by an invite" } else { "" };
        self.facts.extend(user.map(|id| ("user", shown(id) + by)));
    }
}

/// A token from standard input, with room for white space around it. More than that is no token.
fn read_token() -> io::Result<String> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(2 * MAX_TOKEN as u64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Text from a token, safe for a terminal: control characters come out as escapes.
fn shown(text: &str) -> String {
    text.escape_debug().to_string()
}

/// A span of seconds in its two largest units: "4m 12s".
fn span(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    let units = [(days, 'd'), (hours, 'h'), (minutes, 'm'), (rest, 's')];
    let first = units.iter().position(|(n, _)| *n > 0).unwrap_or(3);
    let mut text = String::new();
    for (n, unit) in units.iter().skip(first).take(2) {
        let _ = write!(text, "{}{n}{unit}", if text.is_empty() { "" } else { " " });
    }
    text
}

/// A unix second as people write it.
fn time(seconds: u64) -> String {
    let mut text = Vec::new();
    clock::put_second(&mut text, seconds);
    let text = String::from_utf8_lossy(&text).replace('T', " ");
    format!("{} UTC", text.trim_end_matches('Z'))
}

fn article(kind: Kind) -> &'static str {
    if kind == Kind::Invite { "an" } else { "a" }
}
