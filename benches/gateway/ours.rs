//! The gateway itself: `anteroom serve` on an embedded store with a line in it, and visitors with a place there.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anteroom::gateway::cookie::Jar;
use anteroom::gateway::settings::Cookies;
use anteroom::line::{Batch, Join, Mode, Offer, Settings};
use anteroom::store::{self, Embedded, Opening, Store as _};
use anteroom::token::{Key, KeyRing, Pass, RoomKeys, Secret, Ticket};

use super::peers::Server;
use super::process::{Core, Process, command, free_address, ours, write};

const ROOM: &str = "sale";
const SECRET: &str = "a secret for measuring, known to all";
/// The first numbers are called while we measure.
const BEHIND: u64 = 50_000;

/// A node with so many waiting.
pub struct Node {
    /// Its process.
    pub server: Server,
    /// With TLS, if it was asked for.
    pub secure: Option<SocketAddr>,
    keys: RoomKeys,
    jar: Jar,
    waiting: u64,
    epoch: u64,
}

/// A certificate and its key, as files.
pub struct Certificate {
    /// PEM.
    pub cert: PathBuf,
    /// PEM.
    pub key: PathBuf,
}

impl Certificate {
    /// A new one, for this machine.
    pub fn make(folder: &Path) -> Certificate {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let made = made.expect("a certificate");
        let key = write(folder, "key.pem", &made.signing_key.serialize_pem());
        Certificate { cert: write(folder, "cert.pem", &made.cert.pem()), key }
    }
}

impl Node {
    /// Starts one before `origin`.
    pub fn start(
        folder: &Path,
        name: &str,
        origin: SocketAddr,
        waiting: u32,
        tls: Option<&Certificate>,
    ) -> Node {
        let path = folder.join(format!("{name}.db"));
        let epoch = fill(&path, waiting);
        let (address, secure) = (free_address(), tls.map(|_| free_address()));
        let mut text = settings(address, origin, &path);
        if let (Some(Certificate { cert, key }), Some(secure)) = (tls, secure) {
            let tls = format!("[[tls]]\nlisten = \"{secure}\"\ncert = {cert:?}\nkey = {key:?}\n");
            text.push_str(&tls);
        }
        let file = write(folder, &format!("{name}.toml"), &text);
        let program = ours("anteroom").expect("a build: make bench-gateway makes one");
        let mut anteroom = command(Core::Measured, &program.display().to_string());
        anteroom.arg("serve").arg("-c").arg(file);
        let process = Process::serve(anteroom, address);
        let key = Key::new("k1", Secret::new(SECRET).expect("long enough")).expect("a good id");
        let ring = KeyRing::new(vec![key], vec![]).expect("one key");
        Node {
            server: Server { process, address },
            secure,
            keys: ring.room(ROOM).expect("a good name"),
            jar: Jar::new(ROOM, Cookies::Lax, None),
            waiting: u64::from(waiting),
            epoch,
        }
    }

    /// How many wait.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The cookie of the nth of `count` waiting visitors, who are spread over the whole line.
    pub fn ticket(&self, nth: u64, count: u64, secure: bool) -> String {
        let from = BEHIND.min(self.waiting / 2);
        let num = from + (self.waiting - from) * nth / count + 1;
        let ticket = Ticket {
            num,
            epoch: self.epoch,
            class: "general".into(),
            joined_at: now_ms() / 1_000 - 60,
            visitor: self.keys.visitor(self.epoch, num).into(),
            device_id: None,
            user_id: None,
            user_proven: false,
        };
        let token = self.keys.sign_ticket(&ticket).expect("within limits");
        format!("{}={token}", self.jar.name(secure))
    }

    /// The cookie of the nth visitor inside, whose pass was made just now: it need not be renewed yet.
    pub fn pass(&self, nth: u64) -> String {
        let now = now_ms() / 1_000;
        let pass = Pass {
            device_id: None,
            user_id: None,
            user_proven: false,
            class: "general".into(),
            slot: None,
            num: nth + 1,
            epoch: self.epoch,
            issued_at: now,
            admitted_at: now,
            expires_at: now + 300,
            nonce: self.keys.nonce(self.epoch, nth + 1).into(),
            bind: None,
        };
        let token = self.keys.sign_pass(&pass).expect("within limits");
        format!("{}={token}", self.jar.name(false))
    }
}

/// As users have it, but for: one thread, pages answered 200 so that a refusal is seen, visitors who are silent
/// stay, and limits that one address with thousands of visitors does not reach. They are counted all the same.
fn settings(listen: SocketAddr, origin: SocketAddr, store: &Path) -> String {
    format!(
        "listen = [\"{listen}\"]
threads = 1
admin.listen = \"none\"
store.url = \"embedded:{store}\"
keys.signing = [{{ id = \"k1\", secret = \"{SECRET}\" }}]
origins.site.servers = [\"{origin}\"]

[rooms.{ROOM}]
origin = \"site\"
rate = \"1/s\"
max_waiting = \"none\"
heartbeat_timeout = \"24h\"
queued_status = 200

[rooms.{ROOM}.limits]
join_per_address = \"1000000/s\"
join_per_device = \"none\"
join_per_user = \"none\"
requests_per_address = \"1000000/s\"
requests_per_ticket = \"1000000/s\"

",
        store = store.display()
    )
}

/// A line of so many; its epoch.
fn fill(path: &Path, waiting: u32) -> u64 {
    let opening =
        Opening { clock: Arc::new(now_ms), run: NonZeroU64::MIN, secret: store::Secret([7; 32]) };
    let store = Embedded::open(path, opening).expect("a new store");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut sequence = 0;
    let mut send = |batch: Batch| {
        sequence += 1;
        let batch = Batch { node: 1, sequence, ..batch };
        runtime.block_on(store.exchange(ROOM, batch)).expect("an answer")
    };
    let settings = Settings {
        mode: Mode::Hold,
        max_waiting: None,
        heartbeat_timeout_ms: 86_400_000,
        ..Settings::default()
    };
    let offer = Some(Offer { version: 0, settings });
    let epoch = send(Batch { offer, ..Batch::default() }).counts.epoch;
    for start in (0..waiting).step_by(1_000_000) {
        let joins = vec![Join::Plain((waiting - start).min(1_000_000))];
        send(Batch { epoch, joins, ..Batch::default() });
    }
    store.close().expect("a clean stop");
    epoch
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
