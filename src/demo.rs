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
use tokio::time::interval;

use crate::app::{Failure, Node};
use crate::config::Plan;
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
    /// Makes the plan of a gateway before the site at this address.
    pub plan: Box<dyn FnOnce(SocketAddr) -> Plan + Send>,
}

/// Runs until it is interrupted.
///
/// # Errors
/// What keeps the gateway from starting.
pub async fn run(settings: Settings) -> Result<(), Failure> {
    let Settings { visitors, listen, plan } = settings;
    let site = TcpListener::bind(("127.0.0.1", 0)).await.map_err(Failure::Runtime)?;
    let plan = plan(site.local_addr().map_err(Failure::Runtime)?);
    tokio::spawn(site::serve(site));
    let sockets = crate::app::sockets(&plan.gateway, Vec::new())?;
    let address = sockets.first().and_then(|(_, socket)| socket.local_addr().ok());
    let address = address.unwrap_or(listen);
    let node = Node::start(plan, &sockets, Vec::new()).await?;
    let tally = Arc::new(Tally::default());
    let crowd = Crowd { gateway: address, stay: VISIT, tally: tally.clone() };
    crowd.gather(visitors);
    announce(address, visitors);
    let mut news = interval(NEWS);
    news.tick().await;
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => break,
            _ = news.tick() => report(&tally),
        }
    }
    println!("\nThe demo is over. Nothing is left behind.");
    node.close();
    node.let_go().await;
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
