//! Which server is the master: asked of all Sentinels each time a connection is opened, and of one every second
//! for as long as it lasts.
//!
//! Owns the look-up. Believes no Sentinel alone: one that was cut off goes on naming the master of before.
//! What most of them name is tried first, and whatever was named must say itself that it is a master.
//!
//! They are asked at once, and so is everybody they name: in the moment of a failover some are always dead,
//! and waiting for them one after the other would take the time that a failover takes.
//!
//! A master that was replaced while it lived is not told so for about ten seconds, and takes writes until then
//! that nobody will ever see. So the Sentinels are asked on; the redis crate asks them when it connects, and
//! never again.

use std::sync::Arc;
use std::time::Duration;

use redis::{Value, cmd};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::address::Server;
use super::connection::{Connection, Fault, Life, Place};
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
    for (rank, server) in named.into_iter().enumerate() {
        let (dialler, place) = (dialler.clone(), Place::Server(server));
        opening.spawn(async move { (rank, dialler.open(&place, Part::Master).await) });
    }
    let opened = best(opening, count).await.unwrap_or_else(|| Err(nobody(dialler, master)))?;
    let (dialler, sentinels) = (dialler.clone(), sentinels.to_vec());
    let (master, place) = (master.to_owned(), opened.place.clone());
    Ok(opened.accompanied(|life| async move {
        watch(&dialler, &sentinels, &master, &place, &life).await;
    }))
}

/// Asks one Sentinel after the other, and all of them if one names somebody else.
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
        if !matches!(ask(dialler, sentinel, master).await, Ok(Some(server)) if other(&server)) {
            continue;
        }
        let named = look_up(dialler, sentinels, master).await.unwrap_or_default();
        if let Some(server) = named.first().filter(|server| other(server)) {
            tracing::info!(event = "store.moved", from = %place, to = %server, "the Sentinels name another master");
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

/// Whoever is named, those named most often first.
async fn look_up(
    dialler: &Arc<Dialler>,
    sentinels: &[Server],
    master: &str,
) -> Result<Vec<Server>, Failure> {
    let mut asking = JoinSet::new();
    for sentinel in sentinels {
        let (dialler, sentinel) = (dialler.clone(), sentinel.clone());
        let master = master.to_owned();
        asking.spawn(async move { ask(&dialler, &sentinel, &master).await });
    }
    let (mut votes, mut failure): (Vec<(Server, usize)>, Option<Failure>) = (Vec::new(), None);
    let (mut ignorant, mut until) = (false, None);
    loop {
        let next = match until {
            None => asking.join_next().await,
            Some(until) => timeout_at(until, asking.join_next()).await.unwrap_or(None),
        };
        let Some(answer) = next else { break };
        match answer {
            Ok(Ok(Some(server))) => {
                until = until.or_else(|| Some(Instant::now() + COMPARING));
                match votes.iter_mut().find(|(other, _)| *other == server) {
                    Some((_, count)) => *count += 1,
                    None => votes.push((server, 1)),
                }
            }
            Ok(Ok(None)) => ignorant = true,
            Ok(Err(found)) => failure = failure.or(Some(found)),
            Err(_) => {}
        }
    }
    votes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match (votes.is_empty(), ignorant, failure) {
        (false, _, _) => Ok(votes.into_iter().map(|(server, _)| server).collect()),
        (true, false, Some(failure)) => Err(failure),
        _ => Err(nobody(dialler, master)),
    }
}

fn nobody(dialler: &Dialler, master: &str) -> Failure {
    Trouble::UnknownMaster(master.to_owned()).of(&dialler.address)
}

/// Whom one Sentinel names. One that wants a password is shown that of Redis.
async fn ask(
    dialler: &Dialler,
    sentinel: &Server,
    master: &str,
) -> Result<Option<Server>, Failure> {
    let connection = dialler.dial(&Place::Server(sentinel.clone())).await?;
    let mut question = cmd("SENTINEL");
    question.arg("GET-MASTER-ADDR-BY-NAME").arg(master);
    let mut answer = connection.ask(&question).await;
    if matches!(&answer, Err(Fault::Said(error)) if error.code() == "NOAUTH") {
        let unlocked = connection.unlock(&dialler.address.access).await;
        unlocked.map_err(|trouble| trouble.of(sentinel))?;
        answer = connection.ask(&question).await;
    }
    let garbled = || Trouble::Garbled("it is no Sentinel's".to_owned()).of(sentinel);
    match answer {
        Ok(Value::Nil) => Ok(None),
        Ok(Value::Array(parts)) => named(&parts).map(Some).ok_or_else(garbled),
        Ok(_) => Err(garbled()),
        Err(Fault::Said(error)) if error.code() == "ERR" => {
            Err(Trouble::Misnamed(NO_SENTINEL).of(sentinel))
        }
        Err(fault) => Err(fault.trouble().of(sentinel)),
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
