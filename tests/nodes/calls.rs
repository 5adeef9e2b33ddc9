//! What visitors cost Redis: a poll and an admitted request nothing, a crowd of newcomers no more calls than there is time for.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::alone;
use crate::support::redis::RedisServer;
use crate::support::{Config, Connection, Gateway, Origin, Request, Visitor};

/// Whether a status is the one that was expected.
type Expected = fn(u16) -> bool;

/// What one node and room may ask of Redis in a second, whoever comes.
const MOST: u64 = 250;
/// How long is measured.
const SPAN: Duration = Duration::from_secs(4);

/// Exchanges so far.
fn exchanges(redis: &RedisServer) -> u64 {
    redis.calls("evalsha") + redis.calls("eval")
}

/// How many exchanges there are while all this is asked, each over a connection of its own, again and again; and how often each was
/// answered.
fn during(
    redis: &RedisServer,
    address: SocketAddr,
    asked: &[(Request, Expected)],
) -> (u64, Vec<u64>) {
    let answers: Vec<AtomicU64> = asked.iter().map(|_| AtomicU64::new(0)).collect();
    let over = AtomicBool::new(false);
    let before = exchanges(redis);
    std::thread::scope(|scope| {
        for ((request, is_good), count) in asked.iter().zip(&answers) {
            let over = &over;
            scope.spawn(move || {
                let mut connection = Connection::open(address);
                while !over.load(Ordering::Relaxed) {
                    let answer = connection.ask(request);
                    assert!(is_good(answer.status), "{answer:?}");
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(SPAN);
        over.store(true, Ordering::Relaxed);
    });
    (exchanges(redis) - before, answers.into_iter().map(AtomicU64::into_inner).collect())
}

fn start(redis: &RedisServer, origin: &Origin) -> Gateway {
    let config = Config::new(&[origin.address().to_string()]);
    let room = "max_active = 1\nmax_waiting = \"none\"";
    Gateway::start(config.room("sale", room).store_at(&redis.url()))
}

#[test]
fn polls_and_admitted_requests_cost_redis_nothing() {
    let _alone = alone();
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let node = start(&redis, &origin);
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&node));
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    // With its second use a first pass is renewed, once.
    assert!(ann.open("/").is_from_origin());

    let (quiet, _) = during(&redis, node.addr(), &[]);
    assert!(quiet > 0, "the line is kept current");
    let poll = Request::get("/.anteroom/v1/queue/status").with("Sec-Fetch-Site", "same-origin");
    let (poll, page) = (bob.dress(poll), ann.dress(Request::get("/").by_browser()));
    let good: fn(u16) -> bool = |status| status == 200;
    let busy = [(poll.clone(), good), (poll, good), (page.clone(), good), (page, good)];
    let (loaded, answers) = during(&redis, node.addr(), &busy);
    let (polls, pages) = (answers[0] + answers[1], answers[2] + answers[3]);
    println!(
        "{quiet} exchanges in {SPAN:?} without, {loaded} with {polls} polls and {pages} admitted requests"
    );
    assert!(polls > 1_000 && pages > 1_000, "{polls} polls, {pages} pages");
    // A beat may fall into one span more than into the other, and a mark may be said early.
    assert!(loaded <= quiet + 3, "{loaded} exchanges, and {quiet} without anybody asking");
}

#[test]
fn a_crowd_of_newcomers_is_heard_in_no_more_calls_than_may_be() {
    let _alone = alone();
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let node = start(&redis, &origin);
    let mut ann = Visitor::new(&node);
    assert!(ann.open("/").is_from_origin());
    let newcomer: (Request, fn(u16) -> bool) =
        (Request::get("/").by_browser(), |status| matches!(status, 200 | 503));
    let issued = super::state(&redis, "issued");
    let began = Instant::now();
    let (calls, answers) = during(&redis, node.addr(), &vec![newcomer; 16]);
    let (joins, seconds) = (answers.iter().sum::<u64>(), began.elapsed().as_secs_f64());
    println!("{joins} joins in {seconds:.1} s by {calls} exchanges");
    assert!(joins > 1_000, "{joins} joins");
    assert_eq!(super::state(&redis, "issued") - issued, joins, "each is a number of its own");
    assert!(calls < joins, "they share exchanges");
    assert!(calls as f64 <= MOST as f64 * seconds, "{calls} exchanges in {seconds:.1} s");
}
