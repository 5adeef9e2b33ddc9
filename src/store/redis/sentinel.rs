//! Which server is the master: asked of all Sentinels each time a connection is opened, and of one every second
//! for as long as it lasts.
//!
//! Owns the look-up. Believes no Sentinel alone: one that was cut off goes on naming the master of before.
//! What most of them name is tried first, of two that as many name the one whose failover was later (its *epoch* is
//! higher), and whatever was named must say itself that it is a master.
//!
//! They are asked at once, and so is everybody they name: in the moment of a failover some are always dead,
//! and waiting for them one after the other would take the time that a failover takes.
//!
//! A master that was replaced while it lived is not told so for about ten seconds, and takes writes until then
//! that nobody will ever see. So the Sentinels are asked on; the redis crate asks them when it connects, and
//! never again.

use std::sync::Arc;
use std::time::Duration;

use redis::{Pipeline, Value};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::address::Server;
use super::connection::{Connection, Life, Place};
use super::dialler::Dialler;
use super::info::Part;
use super::trouble::{Failure, Trouble};

/// How long Sentinels are waited for once one has answered: others may know of a newer master.
const COMPARING: Duration = Duration::from_millis(300);

/// Between two questions to Sentinels while we are connected. They tell each other of a failover within 2 s.
const WATCHING: Duration = Duration::from_secs(1);

/// A connection to whoever is the master now, given up when it no longer is.
pub(super) async fn open(
    dialler: &Arc<Dialler>,
    sentinels: &[Server],
    master: &str,
) -> Result<Connection, Failure> {
    let named = look_up(dialler, sentinels, master).await?;
    let mut opening = JoinSet::new();
    let count = named.len();
    for (rank, named) in named.into_iter().enumerate() {
        let (dialler, place) = (dialler.clone(), Place::Server(named.server));
        opening.spawn(async move { (rank, dialler.open(&place, Part::Master).await) });
    }
    let opened = best(opening, count).await.unwrap_or_else(|| Err(nobody(dialler, master)))?;
    let (dialler, sentinels) = (dialler.clone(), sentinels.to_vec());
    let (master, place) = (master.to_owned(), opened.place.clone());
    Ok(opened.accompanied(|life| async move {
        watch(&dialler, &sentinels, &master, &place, &life).await;
    }))
}

/// Asks one Sentinel after the other, and all of them if one names somebody else. Only for one that has more to be said for it is
/// ours left: both say that they are masters.
async fn watch(
    dialler: &Arc<Dialler>,
    sentinels: &[Server],
    master: &str,
    place: &Place,
    life: &Life,
) {
    for sentinel in sentinels.iter().cycle() {
        sleep(WATCHING).await;
        let other = |server: &Server| !matches!(place, Place::Server(ours) if ours == server);
        let asked = ask(dialler, sentinel, master).await;
        if !matches!(asked, Ok(Some((server, _))) if other(&server)) {
            continue;
        }
        let named = look_up(dialler, sentinels, master).await.unwrap_or_default();
        let ours = named.iter().find(|named| !other(&named.server)).map(Named::weight);
        if let Some(first) = named.first().filter(|first| Some(first.weight()) > ours) {
            tracing::info!(event = "store.moved", from = %place, to = %first.server, "the Sentinels name another master");
            return life.end();
        }
    }
}

/// The success of the lowest rank, known as soon as all below it have failed; or else the failure of the
/// lowest.
async fn best(
    mut opening: JoinSet<(usize, Result<Connection, Failure>)>,
    count: usize,
) -> Option<Result<Connection, Failure>> {
    let mut outcomes: Vec<Option<Result<Connection, Failure>>> = Vec::new();
    outcomes.resize_with(count, || None);
    while let Some(Ok((rank, outcome))) = opening.join_next().await {
        outcomes[rank] = Some(outcome);
        let decided = outcomes.iter().position(|outcome| !matches!(outcome, Some(Err(_))));
        match decided {
            Some(rank) if outcomes[rank].is_some() => return outcomes.swap_remove(rank),
            Some(_) => {}
            None => return outcomes.swap_remove(0),
        }
    }
    None
}

/// Who is named as the master.
struct Named {
    server: Server,
    /// By how many.
    votes: usize,
    /// The latest failover that made it the master, as any of them says.
    epoch: u64,
}

impl Named {
    /// What is to be said for it.
    fn weight(&self) -> (usize, u64) {
        (self.votes, self.epoch)
    }
}

/// Whoever is named, those with most to be said for them first.
async fn look_up(
    dialler: &Arc<Dialler>,
    sentinels: &[Server],
    master: &str,
) -> Result<Vec<Named>, Failure> {
    let mut asking = JoinSet::new();
    for sentinel in sentinels {
        let (dialler, sentinel) = (dialler.clone(), sentinel.clone());
        let master = master.to_owned();
        asking.spawn(async move { ask(&dialler, &sentinel, &master).await });
    }
    let (mut all, mut failure): (Vec<Named>, Option<Failure>) = (Vec::new(), None);
    let (mut ignorant, mut until) = (false, None);
    loop {
        let next = match until {
            None => asking.join_next().await,
            Some(until) => timeout_at(until, asking.join_next()).await.unwrap_or(None),
        };
        let Some(answer) = next else { break };
        match answer {
            Ok(Ok(Some((server, epoch)))) => {
                until = until.or_else(|| Some(Instant::now() + COMPARING));
                match all.iter_mut().find(|named| named.server == server) {
                    Some(named) => {
                        (named.votes, named.epoch) = (named.votes + 1, named.epoch.max(epoch));
                    }
                    None => all.push(Named { server, votes: 1, epoch }),
                }
            }
            Ok(Ok(None)) => ignorant = true,
            Ok(Err(found)) => failure = failure.or(Some(found)),
            Err(_) => {}
        }
    }
    all.sort_by_key(|named| std::cmp::Reverse(named.weight()));
    match (all.is_empty(), ignorant, failure) {
        (false, _, _) => Ok(all),
        (true, false, Some(failure)) => Err(failure),
        _ => Err(nobody(dialler, master)),
    }
}

fn nobody(dialler: &Dialler, master: &str) -> Failure {
    Trouble::UnknownMaster(master.to_owned()).of(&dialler.address)
}

/// Whom one Sentinel names, and by which failover; 0 if it does not tell. One that wants a password is shown that of Redis.
async fn ask(
    dialler: &Dialler,
    sentinel: &Server,
    master: &str,
) -> Result<Option<(Server, u64)>, Failure> {
    let connection = dialler.dial(&Place::Server(sentinel.clone())).await?;
    let mut questions = Pipeline::new();
    questions.cmd("SENTINEL").arg("GET-MASTER-ADDR-BY-NAME").arg(master);
    questions.cmd("SENTINEL").arg("MASTER").arg(master);
    let mut answers = connection.ask_all(&questions).await;
    if matches!(answers.as_deref(), Ok([Value::ServerError(error), ..]) if error.code() == "NOAUTH")
    {
        let unlocked = connection.unlock(&dialler.address.access).await;
        unlocked.map_err(|trouble| trouble.of(sentinel))?;
        answers = connection.ask_all(&questions).await;
    }
    let garbled = || Trouble::Garbled("it is no Sentinel's".to_owned()).of(sentinel);
    let answers = answers.map_err(|fault| fault.trouble().of(sentinel))?;
    match &answers[..] {
        [Value::Nil, ..] => Ok(None),
        [Value::Array(parts), about, ..] => {
            let server = named(parts).ok_or_else(garbled)?;
            Ok(Some((server, epoch(about))))
        }
        [Value::ServerError(error), ..] if error.code() == "ERR" => {
            Err(Trouble::Misnamed(NO_SENTINEL).of(sentinel))
        }
        [Value::ServerError(error), ..] => Err(Trouble::said(error).of(sentinel)),
        _ => Err(garbled()),
    }
}

const NO_SENTINEL: &str =
    "is no Sentinel: write redis://HOST:6379 for a Redis without any, or the port of a Sentinel";

fn named(parts: &[Value]) -> Option<Server> {
    let [Value::BulkString(host), Value::BulkString(port)] = parts else { return None };
    let host = std::str::from_utf8(host).ok()?.to_owned();
    let port = std::str::from_utf8(port).ok()?.parse().ok()?;
    Some(Server { host, port })
}

/// `…, "config-epoch", "3", …`
fn epoch(about: &Value) -> u64 {
    let Value::Array(fields) = about else { return 0 };
    let text = |value: &Value| match value {
        Value::BulkString(text) => std::str::from_utf8(text).ok().map(str::to_owned),
        _ => None,
    };
    let mut pairs =
        fields.chunks_exact(2).filter_map(|pair| Some((text(&pair[0])?, text(&pair[1])?)));
    let found = pairs.find(|(field, _)| field == "config-epoch");
    found.and_then(|(_, epoch)| epoch.parse().ok()).unwrap_or(0)
}
