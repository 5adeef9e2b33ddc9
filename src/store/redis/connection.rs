//! One connection to one server, from the socket to the first question.
//!
//! Owns how a connection begins (no-delay, TLS, password, database, a look at the server) and that every
//! question on it has a deadline. Never opens another one, and never asks anything twice.
//!
//! The redis crate's `MultiplexedConnection` runs over a socket of ours. Of what it would do itself: its
//! sockets delay small writes, its TLS is described in [`super::tls`], and whatever goes wrong with its
//! AUTH is a wrong password to it, a full or loading server, too.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, Pipeline, RedisConnectionInfo, ServerError, Value, cmd};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::address::{Access, Server};
use super::info::{Part, judge};
use super::tls::Tls;
use super::trouble::Trouble;

/// How long an answer may take. An exchange takes at most 20 ms of Redis; the rest is for a network, or for a
/// disk that Redis waits for. Given up after a second and sent again, a batch still comes within the 2 s that
/// a room's clock may move at once: one lost answer costs nobody a place, and the room no time.
pub const DEADLINE: Duration = Duration::from_secs(1);

/// Where a connection goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Server(Server),
    Socket(PathBuf),
}

/// An open connection, for as many questions at once as there are.
pub(super) struct Connection {
    wire: MultiplexedConnection,
    life: Arc<Life>,
    /// With whom.
    pub(super) place: Place,
    /// What goes on for as long as it is open.
    companion: Option<Task>,
}

/// Whether a connection is any good.
pub(super) struct Life {
    /// Moves the bytes. It ends when the other end hangs up, and with the runtime it was opened in.
    driver: Task,
    /// Nobody asks here any more; the driver hears of that a little later.
    given_up: AtomicBool,
}

impl Life {
    /// Whether it can still be asked.
    pub(super) fn goes_on(&self) -> bool {
        !self.driver.0.is_finished() && !self.given_up.load(Ordering::Relaxed)
    }

    /// Ends it, for everybody who waits on it, too: they would wait in vain.
    pub(super) fn end(&self) {
        self.given_up.store(true, Ordering::Relaxed);
        self.driver.0.abort();
    }
}

/// Why a question was not answered.
#[derive(Debug)]
pub(super) enum Fault {
    /// It was answered, with an error.
    Said(ServerError),
    /// It was not, and nobody knows what was done.
    Lost(Trouble),
}

impl Fault {
    pub(super) fn trouble(&self) -> Trouble {
        match self {
            Fault::Said(error) => Trouble::said(error),
            Fault::Lost(trouble) => trouble.clone(),
        }
    }
}

/// Goes on until it is dropped.
pub(super) struct Task(JoinHandle<()>);

impl Task {
    pub(super) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Task {
        Task(tokio::spawn(future))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// A connection without a word said on it.
    pub(super) async fn dial(place: &Place, tls: Option<&Tls>) -> Result<Connection, Trouble> {
        let away = |error: io::Error| Trouble::Away(error.to_string());
        let place = place.clone();
        match &place {
            Place::Socket(path) => {
                let stream = in_time(UnixStream::connect(path)).await?.map_err(away)?;
                Connection::over(stream, place).await
            }
            Place::Server(Server { host, port }) => {
                let stream = TcpStream::connect((host.as_str(), *port));
                let stream = in_time(stream).await?.map_err(away)?;
                // An exchange is one small write that waits for its answer.
                stream.set_nodelay(true).map_err(away)?;
                match tls {
                    Some(tls) => Connection::over(tls.wrap(host, stream).await?, place).await,
                    None => Connection::over(stream, place).await,
                }
            }
        }
    }

    async fn over<S>(stream: S, place: Place) -> Result<Connection, Trouble>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // Deadlines are ours. The crate says nothing of its own accord.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let silent = RedisConnectionInfo::default().set_skip_set_lib_name();
        let made = MultiplexedConnection::new_with_config(&silent, stream, config).await;
        let (wire, driver) = made.map_err(|error| Trouble::Away(error.to_string()))?;
        let life = Life { driver: Task::spawn(driver), given_up: AtomicBool::new(false) };
        Ok(Connection { wire, life: Arc::new(life), place, companion: None })
    }

    /// Says who we are and looks at who is there, in one round trip.
    pub(super) async fn greet(
        &self,
        access: &Access,
        database: u32,
        part: Part,
    ) -> Result<(), Trouble> {
        let mut words = Pipeline::new();
        if let Some(password) = &access.password {
            words.add_command(auth(access.username.as_deref(), &password.0));
        }
        let opened = words.len();
        if database != 0 {
            words.cmd("SELECT").arg(database);
        }
        let conditions = words.len();
        // For whoever reads CLIENT LIST; where it is forbidden, we go without a name.
        words.cmd("CLIENT").arg("SETNAME").arg("anteroom");
        let looking = words.len();
        look_around(&mut words, part);
        let answers = self.ask_all(&words).await.map_err(|fault| fault.trouble())?;
        for (index, answer) in answers.iter().take(conditions).enumerate() {
            match answer {
                // Whatever it has against a password, it may quote it.
                Value::ServerError(error) if index < opened => return Err(locked(error)),
                Value::ServerError(error) => return Err(Trouble::said(error)),
                _ => {}
            }
        }
        seen(answers.get(looking..).unwrap_or_default(), part)
    }

    /// Looks at who is there once more.
    pub(super) async fn look(&self, part: Part) -> Result<(), Trouble> {
        let mut words = Pipeline::new();
        look_around(&mut words, part);
        let answers = self.ask_all(&words).await.map_err(|fault| fault.trouble())?;
        seen(&answers, part)
    }

    /// Shows a password.
    pub(super) async fn unlock(&self, access: &Access) -> Result<(), Trouble> {
        let Some(password) = &access.password else { return Ok(()) };
        match self.ask(&auth(access.username.as_deref(), &password.0)).await {
            Ok(_) => Ok(()),
            Err(Fault::Said(error)) => Err(locked(&error)),
            Err(Fault::Lost(trouble)) => Err(trouble),
        }
    }

    /// Asks one thing.
    pub(super) async fn ask(&self, question: &Cmd) -> Result<Value, Fault> {
        let mut wire = self.wire.clone();
        match self.answered(wire.send_packed_command(question)).await? {
            Value::ServerError(error) => Err(Fault::Said(error)),
            answer => Ok(answer),
        }
    }

    /// Asks several things with nothing in between; errors are among the answers.
    pub(super) async fn ask_all(&self, questions: &Pipeline) -> Result<Vec<Value>, Fault> {
        let mut wire = self.wire.clone();
        self.answered(wire.send_packed_commands(questions, 0, questions.len())).await
    }

    /// What has no answer by the deadline never gets one here: whatever swallowed it may swallow the next
    /// one, too.
    async fn answered<T>(
        &self,
        answer: impl Future<Output = redis::RedisResult<T>>,
    ) -> Result<T, Fault> {
        let trouble = match in_time(answer).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) if error.kind() == redis::ErrorKind::Parse => {
                Trouble::Garbled("it is not RESP".to_owned())
            }
            Ok(Err(_)) => Trouble::Away("the connection was closed".to_owned()),
            Err(silent) => silent,
        };
        self.give_up();
        Err(Fault::Lost(trouble))
    }

    /// Whether it can still be asked.
    pub(super) fn is_open(&self) -> bool {
        self.life.goes_on()
    }

    /// Ends it: see [`Life::end`].
    pub(super) fn give_up(&self) {
        self.life.end();
    }

    /// Lets something go on beside it that may end it.
    pub(super) fn accompanied<F>(mut self, companion: impl FnOnce(Arc<Life>) -> F) -> Connection
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.companion = Some(Task::spawn(companion(self.life.clone())));
        self
    }
}

/// What something comes to, if it does by the deadline.
async fn in_time<T>(something: impl Future<Output = T>) -> Result<T, Trouble> {
    timeout(DEADLINE, something).await.map_err(|_| Trouble::Silent)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Server(server) => server.fmt(f),
            Place::Socket(path) => path.display().fmt(f),
        }
    }
}

fn auth(username: Option<&str>, password: &str) -> Cmd {
    let mut auth = cmd("AUTH");
    if let Some(username) = username {
        auth.arg(username);
    }
    auth.arg(password);
    auth
}

/// What an AUTH was answered, without what it may quote.
fn locked(error: &ServerError) -> Trouble {
    match Trouble::said(error) {
        Trouble::Locked(why) if error.code() != "ERR" => Trouble::Locked(why),
        passing if passing.is_passing() => passing,
        _ => Trouble::Locked(format!("AUTH was answered {}", error.code())),
    }
}

fn look_around(words: &mut Pipeline, part: Part) {
    words.cmd("INFO");
    if part == Part::Node {
        words.cmd("CLUSTER").arg("INFO");
    }
}

/// What was to be seen, judged.
fn seen(answers: &[Value], part: Part) -> Result<(), Trouble> {
    let mut all = String::new();
    for answer in answers {
        match answer {
            Value::BulkString(info) => all.push_str(&String::from_utf8_lossy(info)),
            // So it says that it is none.
            Value::ServerError(error) if error.code() == "ERR" => {}
            Value::ServerError(error) => return Err(Trouble::said(error)),
            _ => return Err(Trouble::Garbled("INFO is no text".to_owned())),
        }
    }
    judge(&all, part)
}
