//! What does not depend on the machine: bytes an answer, calls of the system a request.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::Extent;
use super::client::{Ask as _, Client};
use super::load::{Amount, Requests, run};
use super::ours::Node;
use super::process::{Process, is_installed};
use super::requests;
use super::table::Table;

/// A table of them.
pub fn table(folder: &Path, extent: &Extent, node: &Node) -> Table {
    let mut table = Table::new(["", "bytes on the wire", "system calls"]);
    let ticket = node.ticket(1, 2, false);
    let page = requests::page(Some(&ticket));
    let poll = requests::poll(&ticket);
    let through = requests::page(Some(&node.pass(1)));
    for (name, request) in
        [("waiting page", page), ("status poll", poll), ("admitted, to the origin", through)]
    {
        let client = Client::open(node.server.address);
        let answer = client.and_then(|mut client| client.ask(&request)).expect("an answer");
        let calls = calls(folder, extent, node, &request);
        table.row([name.to_owned(), answer.length().to_string(), calls]);
    }
    table
}

/// System calls a request, the most frequent first.
fn calls(folder: &Path, extent: &Extent, node: &Node, request: &str) -> String {
    let (Amount::Seconds(_), true) = (extent.amount, is_installed("strace")) else {
        return "not counted".to_owned();
    };
    let path = folder.join("calls");
    let id = node.server.process.id().to_string();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-c", "-qq", "-U", "calls,name", "-S", "calls", "-p", &id, "-o"]).arg(&path);
    strace.stderr(Stdio::null());
    let strace = Process::start(strace);
    sleep(Duration::from_millis(500));
    let requests = Requests::Same(vec![request.to_owned()]);
    let sample =
        run(&node.server.process, node.server.address, &requests, Amount::Seconds(1), folder);
    // Told to stop, it writes what it has counted.
    let _ = Command::new("kill").args(["-INT", &strace.id().to_string()]).status();
    sleep(Duration::from_millis(500));
    let text = fs::read_to_string(&path).unwrap_or_default();
    let counted = text.lines().filter_map(|line| {
        let (count, name) = line.trim().split_once(char::is_whitespace)?;
        Some((count.parse::<f64>().ok()? / sample.rate, name.trim()))
    });
    let shown = counted.filter(|(each, name)| *each >= 0.02 && *name != "total");
    shown.map(|(each, name)| format!("{name} {each:.2}")).collect::<Vec<_>>().join(", ")
}
