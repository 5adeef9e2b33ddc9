//! `anteroom demo`: a site, a waiting room before it and a crowd, on this machine, in one process.
//!
//! Owns nothing of the product: the gateway is the real one, started as any other, and the crowd comes over HTTP like
//! everybody else. So what a person sees here is what their visitors would.

mod crowd;
mod site;

use std::io::{self, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::interval;

use crate::app::{Failure, Node};
use crate::config::{Plan, StoreSettings};
use crate::line::{Found, Question};
use crate::store::redis::Address;
use crate::store::{self, HOUSE, Store as _, StoreError};
use crowd::{Crowd, Tally};

/// Visitors a second. With the default crowd a newcomer waits about a minute.
pub const RATE: u64 = 5;
/// How long a simulated visitor stays inside before joining the line again.
const VISIT: Duration = Duration::from_secs(8);
/// Between two lines about how it goes.
const NEWS: Duration = Duration::from_secs(5);

/// What the demo is started with.
pub struct Settings {
    /// How many simulated visitors.
    pub visitors: usize,
    /// Where to listen.
    pub listen: SocketAddr,
    /// For operators.
    pub key: String,
    /// Makes the plan of a gateway before the site at this address.
    pub plan: Box<dyn FnOnce(SocketAddr) -> Plan + Send>,
}

/// Runs until it is interrupted or told to end, and leaves nothing behind.
///
/// # Errors
/// What keeps the gateway from starting.
pub async fn run(settings: Settings) -> Result<(), Failure> {
    let Settings { visitors, listen, key, plan } = settings;
    let site = TcpListener::bind(("127.0.0.1", 0)).await.map_err(Failure::Runtime)?;
    let mut plan = plan(site.local_addr().map_err(Failure::Runtime)?);
    let kept = plan.store.clone();
    let mut rooms: Vec<String> =
        plan.gateway.rooms.iter().map(|room| room.guard.room.clone()).collect();
    // The house is everybody's: only one that this demo founds is its own to take away.
    if is_new(&kept, HOUSE).await {
        rooms.push(HOUSE.to_owned());
    }
    // From here on: whoever ends it before it has begun leaves nothing behind, either.
    let listen_for = |kind| signal(kind).map_err(Failure::Runtime);
    let mut interrupted = listen_for(SignalKind::interrupt())?;
    let mut ended = listen_for(SignalKind::terminate())?;
    tokio::spawn(site::serve(site));
    let sockets = match crate::app::sockets(&plan, Vec::new()) {
        // Somebody else may have the port: a demo takes another.
        Err(Failure::AdminListen { .. }) => {
            plan.admin.listen = Some("127.0.0.1:0".to_owned());
            crate::app::sockets(&plan, Vec::new())?
        }
        sockets => sockets?,
    };
    let address = |at: usize| sockets.get(at).and_then(|(_, socket)| socket.local_addr().ok());
    let (address, admin) = (address(0).unwrap_or(listen), address(1));
    let node = Node::start(plan, &sockets, Vec::new()).await?;
    let tally = Arc::new(Tally::default());
    let crowd = Crowd { gateway: address, stay: VISIT, tally: tally.clone() };
    crowd.gather(visitors);
    announce(address, visitors);
    if let Some(admin) = admin {
        announce_operators(admin, &key);
    }
    let mut news = interval(NEWS);
    news.tick().await;
    loop {
        tokio::select! {
            _ = interrupted.recv() => break,
            _ = ended.recv() => break,
            _ = news.tick() => report(&tally),
        }
    }
    node.close();
    node.let_go().await;
    println!("\nThe demo is over. {}", clear(&kept, &rooms).await);
    Ok(())
}

/// Takes the rooms out of a Redis, which goes on after us; says what is left. A file goes with its folder.
async fn clear(kept: &StoreSettings, rooms: &[String]) -> String {
    match forget(kept, rooms).await {
        Ok(()) => "Nothing is left behind.".to_owned(),
        Err(error) => {
            let keys: Vec<String> =
                rooms.iter().map(|room| format!("anteroom:{{{room}}}:*")).collect();
            format!("In Redis there may still be {}: {error}", keys.join(", "))
        }
    }
}

/// Whether nobody has ever spoken of a room in a Redis.
async fn is_new(kept: &StoreSettings, room: &str) -> bool {
    let Ok(Some(redis)) = opened(kept) else { return false };
    matches!(redis.find(room, Question::Nodes).await, Ok(Found::Nodes(nodes)) if nodes.is_empty())
}

/// The Redis that lines are kept in, if it is one.
fn opened(kept: &StoreSettings) -> Result<Option<store::Redis>, StoreError> {
    let scheme = kept.url.split_once(':').map_or("", |(scheme, _)| scheme);
    if !Address::is_scheme(scheme) {
        return Ok(None);
    }
    store::Redis::new(Address::parse(&kept.url)?.with(kept.access.clone())?).map(Some)
}

async fn forget(kept: &StoreSettings, rooms: &[String]) -> Result<(), StoreError> {
    let Some(redis) = opened(kept)? else { return Ok(()) };
    for room in rooms {
        redis.forget(room).await?;
    }
    Ok(())
}

fn announce(address: SocketAddr, visitors: usize) {
    let wait = (visitors as u64).saturating_sub(VISIT.as_secs() * RATE) / RATE;
    println!(
        "\n  Anteroom is running.\n\n    http://{address}/   open this in a browser: you wait about {wait} seconds, then you are in\n\n  \
         {visitors} simulated visitors are in line before you, and {RATE} a second are let in.\n  \
         Open it in a second browser, close the tab and come back, leave the line: it is the real thing.\n  \
         Ctrl-C ends it.\n"
    );
}

fn announce_operators(admin: SocketAddr, key: &str) {
    println!(
        "  Operators are answered at http://{admin}/ with the key {key}\n\n    \
         ANTEROOM_ADMIN_KEY={key} anteroom room --admin http://{admin} watch\n"
    );
}

/// On a terminal the line is written over the last one.
fn report(tally: &Tally) {
    let (waiting, inside, entered) = tally.read();
    let line = format!("  in line {waiting}, inside {inside}, let in so far {entered}");
    let mut out = io::stdout().lock();
    // Nobody may be left to read it.
    let _ = match out.is_terminal() {
        true => write!(out, "\r{line}        "),
        false => writeln!(out, "{line}"),
    };
    let _ = out.flush();
}
