//! The rounds: who is asked for what, in turn, and how the answers compare.

use std::net::SocketAddr;
use std::path::Path;

use super::client::{Ask as _, Client};
use super::load::{Amount, Requests, Sample, run};
use super::ours::Node;
use super::peers::{self, Server};
use super::requests;
use super::table::{Spread, Table};
use super::{Extent, is_wanted};

/// One server asked for one thing.
struct Case<'a> {
    what: What,
    name: String,
    server: &'a Server,
    /// What it is sent in a round.
    requests: Box<dyn Fn(usize) -> Requests + 'a>,
    samples: Vec<Sample>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Admitted,
    Form,
    Page,
    Status,
    Join,
}

impl What {
    /// Its name on the command line.
    fn name(self) -> &'static str {
        match self {
            What::Admitted => "admitted",
            What::Form => "form",
            What::Page => "page",
            What::Status => "status",
            What::Join => "join",
        }
    }
}

impl Case<'_> {
    fn micros(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.micros).collect()
    }

    fn rates(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.rate).collect()
    }
}

const NGINX: &str = "nginx";
const NGINX_READ: &str = "nginx, without sendfile";
const TUNED: &str = "bare pingora, tuned";

/// Does all rounds, and prints what came of them.
pub fn measure(
    folder: &Path,
    extent: &Extent,
    site: SocketAddr,
    nodes: &[Node; 2],
    joined: &Node,
) -> Vec<String> {
    let visitors = extent.visitors;
    let tickets = nodes.each_ref().map(|node| {
        let all = (0..visitors).map(|nth| node.ticket(nth, visitors, false));
        all.collect::<Vec<String>>()
    });
    let pages =
        tickets.each_ref().map(|all| all.iter().map(|one| requests::page(Some(one))).collect());
    let polls = tickets.each_ref().map(|all| all.iter().map(|one| requests::poll(one)).collect());
    let pages: [Vec<String>; 2] = pages;
    let polls: [Vec<String>; 2] = polls;
    let shown = answered(&nodes[0], &pages[0][0]);
    let told = answered(&nodes[0], &polls[0][0]);

    let files = [(NGINX, true), (NGINX_READ, false)]
        .map(|(name, sendfile)| (name, peers::nginx_files(folder, &shown, &told, sendfile)));
    let proxies = [
        (NGINX, peers::nginx_proxy(folder, site)),
        ("HAProxy", peers::haproxy(folder, site)),
        (TUNED, peers::pingora("tuned", site)),
        ("bare pingora, as it comes", peers::pingora("bare", site)),
    ];
    // Made anew for each round: of an older one the renewal would be due.
    let asked = |make: fn(&str) -> String| {
        let all = (0..visitors).map(|nth| make(&nodes[0].pass(nth)));
        Requests::Same(all.collect())
    };
    let admitted = |_| asked(|pass| requests::page(Some(pass)));
    let sent = |_| asked(requests::form);
    let mut cases = Vec::new();
    let mut case = |what, name: &str, server, requests| {
        cases.push(Case { what, name: name.to_owned(), server, requests, samples: Vec::new() });
    };
    let proxies = proxies.iter().filter_map(|(name, proxy)| Some((*name, proxy.as_ref()?)));
    for (name, proxy) in std::iter::once(("anteroom", &nodes[0].server)).chain(proxies) {
        case(What::Admitted, name, proxy, Box::new(admitted) as Box<_>);
        case(What::Form, name, proxy, Box::new(sent));
    }
    for (node, (pages, polls)) in nodes.iter().zip(pages.iter().zip(&polls)) {
        let name = named(node);
        case(What::Page, &name, &node.server, Box::new(|_| Requests::Same(pages.clone())));
        case(What::Status, &name, &node.server, Box::new(|_| Requests::Same(polls.clone())));
    }
    for (name, files) in &files {
        if let Some(files) = files {
            case(What::Page, name, files, Box::new(|_| Requests::Same(pages[0].clone())));
            case(What::Status, name, files, Box::new(|_| Requests::Same(polls[0].clone())));
        }
    }
    case(
        What::Join,
        "anteroom, by opening a page",
        &joined.server,
        Box::new(|_| Requests::Same(vec![requests::page(None)])),
    );
    case(
        What::Join,
        "anteroom, by an app",
        &joined.server,
        Box::new(|round| {
            let (before, after) = requests::join();
            Requests::Numbered(before, round * 10_000_000, after)
        }),
    );

    cases.retain(|case| is_wanted(case.what.name()));
    if cases.is_empty() {
        return Vec::new();
    }
    if let Amount::Seconds(_) = extent.amount {
        for case in &cases {
            run(
                &case.server.process,
                case.server.address,
                &(case.requests)(0),
                Amount::Seconds(1),
                folder,
            );
        }
    }
    for round in 0..extent.rounds {
        for nth in 0..cases.len() {
            let at = (nth + 3 * round) % cases.len();
            let case = &mut cases[at];
            let requests = (case.requests)(round + 1);
            let Server { process, address } = case.server;
            case.samples.push(run(process, *address, &requests, extent.amount, folder));
        }
    }
    println!("a page of {} bytes, a status of {}\n", shown.len(), told.len());
    match extent.amount {
        Amount::Requests(_) => {
            println!("{} servers and requests went well\n", cases.len());
            Vec::new()
        }
        Amount::Seconds(_) => {
            println!("{}", table(&cases));
            figures(&cases, nodes)
        }
    }
}

fn named(node: &Node) -> String {
    format!("anteroom, {} waiting", node.waiting())
}

/// The body a node answers with.
fn answered(node: &Node, request: &str) -> Vec<u8> {
    let client = Client::open(node.server.address);
    let answer = client.and_then(|mut client| client.ask(request)).expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.head);
    answer.body
}

fn find<'c>(cases: &'c [Case<'_>], what: What, name: &str) -> Option<&'c Case<'c>> {
    cases.iter().find(|case| case.what == what && case.name == name)
}

fn table(cases: &[Case<'_>]) -> Table {
    let mut table = Table::new([
        "",
        "CPU a request, µs",
        "x nginx",
        "x bare pingora, tuned",
        "requests a second",
    ]);
    for (what, title) in [
        (What::Admitted, "admitted, to the origin: "),
        (What::Form, "admitted, with a form: "),
        (What::Page, "waiting page: "),
        (What::Status, "status poll: "),
        (What::Join, "join: "),
    ] {
        for case in cases.iter().filter(|case| case.what == what) {
            let over = |other: &str| match find(cases, what, other) {
                Some(other) => format!("{:.2}", Spread::ratio(&case.micros(), &other.micros())),
                None => String::new(),
            };
            let own = match (what, case.name.as_str()) {
                (What::Admitted | What::Form, NGINX) => "nginx proxy_pass",
                (What::Page | What::Status, NGINX) => "nginx, a file of that size",
                (What::Page | What::Status, NGINX_READ) => "nginx, the same without sendfile",
                (_, name) => name,
            };
            table.row([
                format!("{title}{own}"),
                format!("{:.1}", Spread::of(case.micros())),
                over(NGINX),
                over(TUNED),
                format!("{:.0}", Spread::of(case.rates())),
            ]);
        }
    }
    table
}

/// The figures the gateway is held to: those that were missed.
fn figures(cases: &[Case<'_>], nodes: &[Node; 2]) -> Vec<String> {
    let ratio = |what, one: &str, other: &str| {
        let both = find(cases, what, one).zip(find(cases, what, other));
        both.map(|(one, other)| Spread::ratio(&one.micros(), &other.micros()))
    };
    let [small, large] = nodes.each_ref().map(named);
    let bounds = [
        ("admitted, x bare pingora tuned", What::Admitted, "anteroom", TUNED, 1.05),
        ("admitted, x nginx proxy_pass", What::Admitted, "anteroom", NGINX, 1.7),
        ("with a form, x bare pingora tuned", What::Form, "anteroom", TUNED, 1.05),
        ("with a form, x nginx proxy_pass", What::Form, "anteroom", NGINX, 1.7),
        ("waiting page, x nginx", What::Page, &small, NGINX, 0.95),
        ("status poll, x nginx", What::Status, &small, NGINX, 0.85),
        ("waiting page, 1 M x 100 k", What::Page, &large, &small, 1.05),
        ("status poll, 1 M x 100 k", What::Status, &large, &small, 1.05),
    ];
    let mut missed = Vec::new();
    for (figure, what, one, other, bound) in bounds {
        let Some(ratio) = ratio(what, one, other) else { continue };
        println!("{figure}: {ratio:.2} (at most {bound})");
        // As it is shown: a hundredth is less than what two runs differ by.
        if (ratio.median * 100.0).round() / 100.0 > bound {
            missed.push(format!("{figure}: {:.2} instead of {bound}", ratio.median));
        }
    }
    // Files this small are quicker read than sent; nothing was promised about that.
    for (figure, what) in [("waiting page", What::Page), ("status poll", What::Status)] {
        if let Some(ratio) = ratio(what, &small, NGINX_READ) {
            println!("{figure}, x nginx without sendfile: {ratio:.2}");
        }
    }
    println!();
    missed
}
