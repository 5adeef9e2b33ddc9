//! A real Chromium, by WebDriver: plain HTTP and JSON, and Chromium's own commands (CDP) for the rest.
//!
//! Owns the processes: a driver, a browser and a profile for one test, on a free port, gone with it. What is on a page
//! is [`super::sight`]'s, what the browser pretends [`super::manner`]'s, what it noticed [`super::noticed`]'s.

use std::io::ErrorKind::NotFound;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client::{Connection, Missing, Request, Response};
use crate::support::log::Log;
use crate::support::{Gateway, PATIENCE};

/// How long a command may take: starting a browser on a machine that builds beside it takes a while.
const PATIENT: Duration = Duration::from_secs(60);

/// No crash reports, no updates, no first-run pages, nobody called. A test's certificate is signed by nobody.
const FLAGS: [&str; 15] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-crash-reporter",
    "--disable-breakpad",
    "--ignore-certificate-errors",
    "--window-size=1280,900",
];

/// How a person has set up a browser.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The languages they read, as the browser lists them.
    pub languages: &'static str,
    /// Whether pages may run scripts.
    pub scripts: bool,
    /// Whether sites may keep cookies.
    pub cookies: bool,
    /// Whether they may keep the same ones inside pages of other sites.
    pub tracking: bool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { languages: "en-US,en", scripts: true, cookies: true, tracking: true }
    }
}

/// A browser with a window; gone when it is dropped.
pub struct Browser {
    setup: Setup,
    session: Session,
    profile: TempDir,
}

/// One run of it.
struct Session {
    driver: Child,
    log: Log,
    address: SocketAddr,
    wire: Mutex<Option<Connection>>,
    /// `/session/…`.
    path: String,
    chromium: Option<Pid>,
    ended: bool,
}

/// What WebDriver refused to do, and why.
#[derive(Debug)]
pub struct Refused(#[allow(dead_code, reason = "a failure shows it")] pub String);

impl Browser {
    /// One as it comes.
    pub fn start() -> Browser {
        Browser::set_up(Setup::default())
    }

    /// One that somebody has set up.
    pub fn set_up(setup: Setup) -> Browser {
        let profile = tempfile::tempdir().expect("a temporary directory");
        let session = Session::start(&setup, &profile);
        Browser { setup, session, profile }
    }

    /// Quits, and starts again with the same profile.
    pub fn restart(&mut self) {
        self.session.quit();
        self.session = Session::start(&self.setup, &self.profile);
    }

    /// A command of WebDriver's.
    ///
    /// # Errors
    /// What the driver refused.
    pub fn try_command(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refused> {
        self.session.command(method, &format!("{}{path}", self.session.path), body)
    }

    /// A command of WebDriver's that works.
    #[track_caller]
    pub fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        match self.try_command(method, path, body) {
            Ok(value) => value,
            Err(refused) => panic!("{method} {path}: {refused:?}"),
        }
    }

    /// A command of Chromium's own.
    #[track_caller]
    pub fn cdp(&self, command: &str, params: Value) -> Value {
        self.command("POST", "/goog/cdp/execute", &json!({ "cmd": command, "params": params }))
    }

    /// Runs a script in the page, whether or not its own may run, and brings back what it returns.
    #[track_caller]
    pub fn script(&self, script: &str) -> Value {
        match self.try_script(script) {
            Ok(value) => value,
            Err(refused) => panic!("{script}: {refused:?}"),
        }
    }

    /// Runs a script, if the page stays for so long.
    ///
    /// # Errors
    /// The page was just being replaced, or the script failed.
    pub fn try_script(&self, script: &str) -> Result<Value, Refused> {
        self.try_command("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Opens an address and waits until it is loaded.
    #[track_caller]
    pub fn open(&self, url: &str) {
        self.command("POST", "/url", &json!({ "url": url }));
    }

    /// Opens a path at the gateway.
    #[track_caller]
    pub fn visit(&self, gateway: &Gateway, path: &str) {
        self.open(&format!("http://{}{path}", gateway.addr()));
    }

    /// Opens a path at the gateway, over TLS.
    #[track_caller]
    pub fn visit_secure(&self, gateway: &Gateway, path: &str) {
        self.open(&secure_url(gateway, path));
    }

    /// Opens another tab and goes on there.
    #[track_caller]
    pub fn open_tab(&self) -> String {
        let tab = self.command("POST", "/window/new", &json!({ "type": "tab" }));
        let tab = tab["handle"].as_str().expect("a name of the tab").to_owned();
        self.switch_to(&tab);
        tab
    }

    /// The tab one is in.
    #[track_caller]
    pub fn tab(&self) -> String {
        let tab = self.command("GET", "/window", &Value::Null);
        tab.as_str().expect("a name of the tab").to_owned()
    }

    /// Goes on in another tab.
    #[track_caller]
    pub fn switch_to(&self, tab: &str) {
        self.command("POST", "/window", &json!({ "handle": tab }));
    }

    /// Closes the tab one is in, and goes on in another.
    #[track_caller]
    pub fn close_tab(&self) {
        let left = self.command("DELETE", "/window", &Value::Null);
        let next = left[0].as_str().expect("another tab").to_owned();
        self.switch_to(&next);
    }
}

/// A chromedriver that listens, what it says, and where. It takes a free port for IPv6 and then the same one for IPv4, which somebody else may have:
/// then another one does.
fn started(profile: &TempDir) -> (Child, Log, u16) {
    const TRIES: usize = 5;
    for nth in 1.. {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        // Chromium writes beside its profile too, below these.
        command.env("HOME", profile.path()).env("TMPDIR", profile.path());
        let mut driver =
            command.spawn().expect("chromedriver starts: run make tools if it is missing");
        let log = Log::default();
        log.listen(driver.stdout.take().expect("a pipe"));
        log.listen(driver.stderr.take().expect("a pipe"));
        if let Some(port) = log.wait_for(PATIENCE, |lines| lines.iter().find_map(|line| port(line)))
        {
            return (driver, log, port);
        }
        let _ = kill_process_group(Pid::from_child(&driver), Signal::KILL);
        let _ = driver.wait();
        let taken = log.contains("port not available");
        assert!(taken && nth < TRIES, "chromedriver does not listen:\n{}", log.text());
    }
    unreachable!("it listens, or this has panicked")
}

impl Session {
    fn start(setup: &Setup, profile: &TempDir) -> Session {
        let (driver, log, port) = started(profile);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let wire = Mutex::default();
        let mut session = Session {
            driver,
            log,
            address,
            wire,
            path: String::new(),
            chromium: None,
            ended: false,
        };
        match session.command("POST", "/session", &capabilities(setup, profile)) {
            Ok(made) => {
                session.path =
                    format!("/session/{}", made["sessionId"].as_str().unwrap_or_default());
                let process = made["capabilities"]["goog:processID"].as_i64();
                session.chromium = process.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
            }
            Err(refused) => panic!("Chromium does not start: {refused:?}\n{}", session.log.text()),
        }
        session
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refused> {
        let mut request = Request::new(method, path).host(&self.address.to_string());
        if method == "POST" {
            request.body = Some(body.to_string().into_bytes());
            request = request.with("Content-Type", "application/json");
        }
        let response = match self.ask(&request) {
            Ok(response) => response,
            Err(missing) => panic!("{method} {path}: the driver says nothing: {missing:?}"),
        };
        let mut answer = response.json();
        match response.status {
            200 => Ok(answer["value"].take()),
            _ => Err(Refused(answer["value"]["message"].as_str().unwrap_or_default().to_owned())),
        }
    }

    /// On one connection, as long as it lasts.
    fn ask(&self, request: &Request) -> Result<Response, Missing> {
        let mut wire = self.wire.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection =
            wire.take().unwrap_or_else(|| Connection::open(self.address).patient(PATIENT));
        if connection.try_send(&request.bytes()).is_err() {
            connection = Connection::open(self.address).patient(PATIENT);
            connection.send(&request.bytes());
        }
        let response = connection.try_read(false)?;
        *wire = Some(connection);
        Ok(response)
    }

    /// Ends the browser and its driver, the polite way first: cookies are to be on disk.
    fn quit(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let request = Request::new("DELETE", &self.path).host(&self.address.to_string());
        let polite = matches!(self.driver.try_wait(), Ok(None))
            && self.ask(&request).is_ok_and(|answer| answer.status == 200);
        if let Some(chromium) = self.chromium.filter(|_| !polite) {
            let _ = kill_process(chromium, Signal::KILL);
        }
        let _ = kill_process_group(Pid::from_child(&self.driver), Signal::KILL);
        let _ = self.driver.wait();
    }
}

impl Drop for Browser {
    /// The last of its processes may still write something while the profile is being removed.
    fn drop(&mut self) {
        self.session.quit();
        let until = Instant::now() + PATIENCE;
        while std::fs::remove_dir_all(self.profile.path()).is_err_and(|e| e.kind() != NotFound)
            && Instant::now() < until
        {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.quit();
    }
}

/// The address of a path at the gateway, over TLS, by a name that its certificate has.
pub fn secure_url(gateway: &Gateway, path: &str) -> String {
    format!("https://localhost:{}{path}", gateway.tls_addr().port())
}

fn port(line: &str) -> Option<u16> {
    line.split_once("started successfully on port ")?.1.trim_end_matches('.').trim().parse().ok()
}

/// What is asked of a new session.
fn capabilities(setup: &Setup, profile: &TempDir) -> Value {
    let allowed = |allowed: bool| if allowed { 1 } else { 2 };
    let mut flags: Vec<String> = FLAGS.iter().map(|&flag| flag.to_owned()).collect();
    flags.push(format!("--user-data-dir={}", profile.path().join("profile").display()));
    json!({ "capabilities": { "alwaysMatch": {
        "browserName": "chrome",
        "unhandledPromptBehavior": "ignore",
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        "goog:chromeOptions": {
            "args": flags,
            "prefs": {
                "intl.accept_languages": setup.languages,
                "profile.default_content_setting_values.javascript": allowed(setup.scripts),
                "profile.default_content_setting_values.cookies": allowed(setup.cookies),
                "profile.block_third_party_cookies": !setup.tracking,
                "profile.cookie_controls_mode": if setup.tracking { 0 } else { 1 },
            },
        },
    } } })
}
