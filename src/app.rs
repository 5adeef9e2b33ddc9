//! The wiring: from a plan to a running node, and to its end. The only module that knows everyone.
//!
//! Owns the process: signals, reloads, handing over, the order in which things start and stop. Contains no rule about
//! visitors.

mod house;
mod memory;
mod node;
mod signals;
mod timed;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

pub use node::{Failure, Node, sockets};
use signals::{Signal, Signals};

use crate::config::Plan;
use crate::handover::{Heir, Named, Predecessor};

/// Where plans come from: asked again for every reload. What is wrong with one is told problem by problem.
pub type Source = Box<dyn Fn() -> Result<Plan, Vec<String>> + Send>;

/// How long those who ask the line may take to get their answer once a new process waits for the store.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Runs a node until it is told to stop. `upgrade`: takes over from the process that listens at the plan's
/// `upgrade_socket`.
///
/// # Errors
/// What kept it from starting.
pub fn serve(plan: Plan, upgrade: bool, source: Source) -> Result<ExitCode, Failure> {
    memory::keep_pages_small();
    let told = crate::log::start(&plan.log);
    let threads = plan.gateway.threads;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().thread_name("anteroom");
    if let Some(threads) = threads {
        runtime.worker_threads(threads);
    }
    let runtime = runtime.build().map_err(Failure::Runtime)?;
    let ran = runtime.block_on(run(plan, upgrade, source));
    // Whatever is still under way has had its time.
    runtime.shutdown_background();
    drop(told);
    ran.map(|()| ExitCode::SUCCESS)
}

async fn run(plan: Plan, upgrade: bool, source: Source) -> Result<(), Failure> {
    let mut signals = Signals::new().map_err(Failure::Runtime)?;
    let socket = plan.gateway.upgrade_socket.clone();
    let grace = plan.gateway.grace;
    let (predecessor, inherited) = match (&socket, upgrade) {
        (Some(path), true) => match Predecessor::ask(path).await.map_err(Failure::Handover)? {
            Some((predecessor, sockets)) => (Some(predecessor), sockets),
            None => {
                tracing::warn!(event = "node.alone", socket = %path.display(), "nobody to take over from: starting anew");
                (None, Vec::new())
            }
        },
        (None, true) => return Err(Failure::NoSocket),
        _ => (None, Vec::new()),
    };
    let sockets = node::sockets(&plan, inherited)?;
    let certificates = node::certificates(&plan.gateway)?;
    if let Some(predecessor) = predecessor {
        node::rehearse(&plan).await?;
        predecessor.relieve().await.map_err(Failure::Handover)?;
    }
    let node = Node::start(plan, &sockets, certificates).await?;
    let heir = match &socket {
        Some(path) => Some(Heir::expect(path).map_err(Failure::Handover)?),
        None => None,
    };
    let mut reloads = node.reloads();
    loop {
        tokio::select! {
            signal = signals.next() => match signal {
                Signal::Reload => _ = reload(&node, &source).await,
                Signal::Stop => break,
            },
            Some(answer) = reloads.recv() => {
                // Whoever asked may be gone.
                let _ = answer.send(reload(&node, &source).await);
            }
            waiting = heir_of(heir.as_ref(), &sockets) => {
                tracing::info!(event = "node.handover", "a new process takes over");
                node.close();
                node.idle(LAST_ANSWERS).await;
                // Where nodes share a store this one goes on with whoever it still serves.
                if node.is_alone() {
                    node.let_go().await;
                }
                drop(waiting);
                break;
            }
        }
    }
    node.close();
    drop(sockets);
    tokio::select! {
        () = node.idle(grace) => {}
        // Told twice: at once.
        Signal::Stop = signals.next() => {}
    }
    node.let_go().await;
    tracing::info!(event = "node.stopped", "stopped");
    Ok(())
}

/// Never, where nobody is expected.
async fn heir_of(heir: Option<&Heir>, sockets: &[Named]) -> crate::handover::Waiting {
    match heir {
        Some(heir) => heir.next(sockets).await,
        None => std::future::pending().await,
    }
}

async fn reload(node: &Arc<Node>, source: &Source) -> Result<(), Vec<String>> {
    let reloaded = match source() {
        Ok(plan) => node.reload(plan).await.map_err(|failure| vec![failure.to_string()]),
        Err(problems) => Err(problems),
    };
    match &reloaded {
        Ok(()) => tracing::info!(event = "config.reloaded", "the new configuration is in force"),
        Err(problems) => tracing::error!(
            event = "config.refused",
            problems = problems.join("\n"),
            "the new configuration is refused, the old one goes on"
        ),
    }
    reloaded
}
