//! One thing breaks at a time, under load, and what people saw of it. Each test shows that it did break.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anteroom::clock;

use super::crowd::{Balancer, Party};
use super::history::{Event, Forgotten};
use super::{Fleet, Store, state};
use crate::support::redis::{Cluster, RedisServer, Relay, Sentinels, Setup};
use crate::support::{eventually, within};

const PEOPLE: usize = 2_000;
const SEATS: usize = 300;
const ARRIVAL: Duration = Duration::from_secs(3);
/// Into the thick of it: some are inside, most are in line.
const ENOUGH: usize = 300;
/// Of the people so many come later, while something is broken.
const LATER: usize = 500;

/// A seat that a line without a memory can't place stays taken for a session.
const SHORT: &str = "session_idle = \"10s\"\nsession_first = \"10s\"";

/// Three nodes on one server.
fn three(redis: &RedisServer) -> Vec<String> {
    vec![redis.url(); 3]
}

/// Most come at once, and some go on coming.
fn gather(fleet: &mut Fleet) {
    fleet.gather(PEOPLE - LATER, ARRIVAL);
    fleet.gather(LATER, 3 * ARRIVAL);
}

/// Visitors saw a line, and nothing else.
#[test]
fn nothing_breaks() {
    let redis = RedisServer::start();
    let mut fleet = Fleet::start(&three(&redis), SEATS, "");
    fleet.watch_seats(&redis);
    fleet.gather(PEOPLE, ARRIVAL);
    let saw = fleet.judge("nothing breaks", Store::Answers);
    saw.was_never_lost();
    saw.was_steady();
    assert_eq!((saw.given, saw.entered, saw.unanswered), (PEOPLE, PEOPLE, 0));
    assert!(saw.both > 50, "one in ten came in by two nodes: {saw}");
    assert!(saw.waits > PEOPLE, "most had to wait: {saw}");
}

/// Visitors saw some requests fail, and were answered by another node; the next poll said the same as before.
#[test]
fn nodes_are_killed_and_come_back() {
    let redis = RedisServer::start();
    let mut fleet = Fleet::start(&three(&redis), SEATS, "");
    fleet.watch_seats(&redis);
    fleet.gather(PEOPLE, ARRIVAL);
    let mut killed = Vec::new();
    for index in 0..3 {
        fleet.await_entries(ENOUGH * (index + 1));
        killed.push(fleet.nodes[index].pid());
        fleet.nodes[index].crash_and_restart();
        fleet.refresh();
    }
    assert!(fleet.nodes.iter().zip(&killed).all(|(node, before)| node.pid() != *before));
    let saw = fleet.judge("nodes are killed", Store::Answers);
    saw.was_never_lost();
    assert!(saw.unanswered > 0, "nobody noticed: {saw}");
}

/// Visitors inside saw nothing; those in line were told that it can't be reached and that their place is kept; those who came got a
/// place by their arrival afterwards.
#[test]
fn redis_is_killed_and_restarts_from_its_file() {
    restarts_from_its_file(RedisServer::setup().aof(), Duration::ZERO);
}

/// The same with a file that is on the disk once a second, as sizing.md has it. What was given in the last moments may be lost then; the
/// nodes know of it, and visitors saw the same.
#[test]
fn redis_is_killed_and_restarts_from_a_file_written_every_second() {
    // A second, and one more that a slow disk may hold up a write for.
    restarts_from_its_file(RedisServer::setup().aof_every_second(), Duration::from_secs(2));
}

/// What Redis knew for so long when it was killed is in its file.
fn restarts_from_its_file(setup: Setup, known_for: Duration) {
    let mut redis = setup.start();
    let mut fleet = Fleet::start(&three(&redis), SEATS, "");
    fleet.watch_seats(&redis);
    gather(&mut fleet);
    fleet.await_entries(ENOUGH);
    let (run, issued) = (redis.info("run_id"), state(&redis, "issued"));
    std::thread::sleep(known_for);
    redis.kill();
    std::thread::sleep(Duration::from_secs(5));
    redis.restart();
    assert_ne!(redis.info("run_id"), run);
    assert!(state(&redis, "issued") >= issued, "it has its file");
    let saw = fleet.judge("Redis restarts from its file", Store::IsLost);
    saw.was_lost();
    assert_eq!(saw.unanswered, 0, "{saw}");
}

/// Visitors saw a line that did not move for two to four seconds; the nodes and the tickets brought it back. Whoever had just been
/// called and was not inside yet waited once more, at the head, until a seat was free: theirs count as taken, by whom nobody
/// knows, for a session.
#[test]
fn redis_restarts_empty() {
    let mut redis = RedisServer::start();
    let mut fleet = Fleet::start(&three(&redis), SEATS, SHORT);
    fleet.watch_seats(&redis);
    gather(&mut fleet);
    fleet.await_entries(ENOUGH);
    let called = state(&redis, "released") + SEATS as u64;
    let lost = Instant::now();
    redis.restart_empty();
    fleet.await_entries(2 * ENOUGH);
    let pause = fleet.crowd.history.longest_pause(lost);
    println!("nobody came in for {pause:?}");
    assert!(pause > Duration::from_millis(1_500), "it did not settle: {pause:?}");
    assert!(pause < Duration::from_millis(4_500), "{pause:?}");
    // Numbers that may have been lost are not given again: so it was empty.
    let issued = state(&redis, "issued");
    assert!(issued >= 100_000, "no gap below {issued}");
    let saw = fleet.judge_with("Redis restarts empty", Store::IsLost, |terms| {
        terms.forgotten = Some(Forgotten { at: lost, upto: called });
    });
    assert_eq!(saw.unanswered, 0, "{saw}");
}

/// Visitors in line were told for twelve seconds, which is twice what makes somebody absent, that it can't be reached. Nobody who
/// asked on was taken out: the room's clock stood still.
#[test]
fn redis_is_away_for_longer_than_the_heartbeat_timeout() {
    const AWAY: Duration = Duration::from_secs(12);
    /// So few that the line outlasts the heartbeat timeout afterwards, too: whoever was not heard of again would be noticed.
    const SEATS: usize = 100;
    let redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    let room = "heartbeat_timeout = \"6s\"\npoll_max = \"2s\"\nclaim_window = \"6s\"\non_absence = \"remove\"";
    let mut fleet = Fleet::start(&vec![relay.url(); 3], SEATS, room);
    fleet.watch_seats(&redis);
    gather(&mut fleet);
    fleet.await_entries(ENOUGH);
    let (run, clock_ms) = (redis.info("run_id"), state(&redis, "clock_ms"));
    let began = Instant::now();
    relay.stop();
    std::thread::sleep(AWAY);
    let stood_ms = began.elapsed().as_millis() as u64 - (state(&redis, "clock_ms") - clock_ms);
    assert!(stood_ms > 11_000, "nobody spoke to it: {stood_ms} ms");
    relay.go();
    let saw = fleet.judge("Redis is away for 12 s", Store::IsLost);
    saw.was_lost();
    assert_eq!(redis.info("run_id"), run, "it was never down, and presumed nothing");
    assert_eq!(state(&redis, "dropped"), 0, "nobody was absent");
}

/// Visitors saw what they see when Redis restarts, for as long as the Sentinels took. Whoever got a number that the replica never heard
/// of kept it; whoever had just been called waited once more, at the head. Seats are judged by who was inside: in Redis more count as
/// taken for a while, since whoever came and went in what was lost is presumed to come until the claim window is over.
#[test]
fn a_replica_that_lags_takes_over() {
    let mut sentinels = Sentinels::start(1);
    let mut fleet = Fleet::start(&vec![sentinels.url(); 3], SEATS, SHORT);
    gather(&mut fleet);
    fleet.await_entries(ENOUGH);
    sentinels.stop_following();
    let [master, replica] = [&sentinels.servers[0], &sentinels.servers[1]];
    let lag = || state(master, "issued").saturating_sub(state(replica, "issued"));
    let lag = eventually("a replica that lags", || Some(lag()).filter(|lag| *lag >= 100));
    println!("the last {lag} numbers are lost");
    let called = state(master, "released") + SEATS as u64;
    let lost = Instant::now();
    sentinels.lose_the_master();
    assert_eq!(sentinels.servers[1].info("role"), "master");
    let saw = fleet.judge_with("a lagging replica takes over", Store::IsLost, |terms| {
        terms.forgotten = Some(Forgotten { at: lost, upto: called });
    });
    saw.was_lost();
    assert_eq!(saw.unanswered, 0, "{saw}");
}

/// Visitors saw the same, for as long as the cluster took to notice: its nodes ask each other, and two seconds of silence count.
#[test]
fn a_master_in_a_cluster_is_killed() {
    let mut cluster = Cluster::start();
    let (_, home) = cluster.home("anteroom:{sale}:state");
    let replica = cluster.add_replica(home);
    let mut fleet = Fleet::start(&vec![cluster.url(); 3], SEATS, SHORT);
    gather(&mut fleet);
    fleet.await_entries(ENOUGH);
    let called = state(&cluster.nodes[home], "released") + SEATS as u64;
    let lost = Instant::now();
    cluster.nodes[home].kill();
    let saw = fleet.judge_with("a master in a cluster is killed", Store::IsLost, |terms| {
        // The replica may lack the last moments.
        terms.forgotten = Some(Forgotten { at: lost, upto: called });
    });
    saw.was_lost();
    assert_eq!(cluster.nodes[replica].info("role"), "master");
    assert_eq!(saw.unanswered, 0, "{saw}");
}

/// Visitors saw a slower line, as exact as ever: every number took 300 ms longer.
#[test]
fn redis_is_far_away() {
    let redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    let mut fleet = Fleet::start(&vec![relay.url(); 3], SEATS, "");
    fleet.watch_seats(&redis);
    relay.delay(Duration::from_millis(150));
    fleet.gather(PEOPLE, ARRIVAL);
    let saw = fleet.judge("300 ms to Redis and back", Store::Answers);
    saw.was_never_lost();
    assert!(saw.soonest >= Duration::from_millis(300), "{:?}", saw.soonest);
    assert_eq!(saw.unanswered, 0, "{saw}");
}

/// Visitors saw what they see when Redis is down, though nothing was refused: silence is given up at its deadline, and a new
/// connection is tried.
#[test]
fn the_way_to_redis_swallows_everything() {
    let redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    let mut fleet = Fleet::start(&vec![relay.url(); 3], SEATS, "");
    fleet.watch_seats(&redis);
    gather(&mut fleet);
    fleet.await_entries(ENOUGH);
    let connections = relay.connections();
    relay.stop();
    std::thread::sleep(Duration::from_secs(5));
    relay.go();
    let saw = fleet.judge("a black hole for 5 s", Store::IsLost);
    saw.was_lost();
    assert!(relay.connections() >= connections + 3, "each node gave its connection up");
    assert_eq!(saw.unanswered, 0, "{saw}");
}

/// Visitors of that node were told that the line can't be reached, for so long that the others, who saw it move on as ever, went past
/// them. Back in contact they came first.
#[test]
fn one_node_is_cut_off_alone() {
    const SEATS: usize = 50;
    const CUT: Duration = Duration::from_secs(14);
    let redis = RedisServer::start();
    let mut relay = Relay::to(redis.addr());
    let stores = [redis.url(), redis.url(), relay.url()];
    let room = "heartbeat_timeout = \"6s\"\npoll_max = \"2s\"\nclaim_window = \"6s\"";
    let mut fleet = Fleet::start(&stores, SEATS, room);
    fleet.watch_seats(&redis);
    // Everybody comes to the first two nodes, but for a few in the middle.
    fleet.crowd.balancer.set(vec![fleet.nodes[0].addr(), fleet.nodes[1].addr()]);
    let bound = Arc::new(Balancer::default());
    bound.set(vec![fleet.nodes[2].addr()]);
    let given = |event: &Event| matches!(event, Event::Given { .. });
    fleet.gather(200, Duration::from_millis(200));
    fleet.await_events("the first of them", 200, given);
    let half_a_second = Duration::from_millis(500);
    let party = Party { balancer: bound, ..fleet.crowd.party(40, half_a_second) };
    let few = fleet.gather_party(&party);
    fleet.gather(900, 2 * half_a_second);
    within(Duration::from_secs(20), "a number for each of the few", || {
        let with_number = fleet.crowd.history.when(given);
        (with_number.iter().filter(|(_, who)| few.contains(who)).count() == few.len()).then_some(())
    });
    relay.cut();
    std::thread::sleep(CUT);
    let back = Instant::now();
    relay.mend();
    let history = fleet.crowd.history.clone();
    let spread = fleet.bound(Store::Answers);
    let saw = fleet.judge_with("one node is cut off for 14 s", Store::IsLost, |terms| {
        terms.cut_off = few.clone();
    });
    let passed = history.back_at_the_head(&few, back, spread);
    println!("{passed} of {} were passed over, and came first afterwards", few.len());
    assert!(saw.away > 0, "{saw}");
    let told_away = history.when(|event| matches!(event, Event::Away));
    assert!(told_away.iter().all(|(_, who)| few.contains(who)), "the others noticed nothing");
    assert_eq!((saw.provisional, saw.unanswered), (0, 0), "{saw}");
}

/// Visitors saw nothing: the script is sent again with the first exchange that misses it.
#[test]
fn the_script_cache_is_flushed() {
    let redis = RedisServer::start();
    let mut fleet = Fleet::start(&three(&redis), SEATS, "");
    fleet.watch_seats(&redis);
    fleet.gather(PEOPLE, ARRIVAL);
    for part in 1..=4 {
        fleet.await_entries(ENOUGH * part);
        let before = (redis.errors("NOSCRIPT"), redis.calls("eval"));
        redis.ask::<String>(&["SCRIPT", "FLUSH"]);
        eventually("a script that is missed, and sent again", || {
            let now = (redis.errors("NOSCRIPT"), redis.calls("eval"));
            (now.0 > before.0 && now.1 > before.1).then_some(())
        });
    }
    let saw = fleet.judge("the script cache is flushed", Store::Answers);
    saw.was_never_lost();
    saw.was_steady();
    assert_eq!(saw.unanswered, 0, "{saw}");
}

/// Visitors saw nothing: passes expire by the store's clock, on every node alike.
#[test]
fn the_nodes_clocks_are_wrong() {
    let redis = RedisServer::start();
    let Some(library) = crate::support::faketime() else {
        panic!("libfaketime is not installed: make tools does that");
    };
    let clocks: [(&str, i64); 5] =
        [("+0", 0), ("+20s", 20), ("-20s", -20), ("+600s", 600), ("-600s", -600)];
    let mut fleet = Fleet::with(
        &vec![redis.url(); clocks.len()],
        SEATS,
        "session_idle = \"20s\"",
        |index, config| {
            let own = [
                ("LD_PRELOAD", library.as_str()),
                ("FAKETIME", clocks[index].0),
                ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ];
            config.environment(&own)
        },
    );
    fleet.watch_seats(&redis);
    for (node, (_, off_s)) in fleet.nodes.iter().zip(clocks) {
        let started = &node.events("node.started", 1)[0]["timestamp"];
        let now_ms = clock::now_ms();
        let started = started.as_str().expect("a timestamp");
        // So much ago at most, by a clock that is off by so much: times compare as their letters do.
        let [earliest, latest] = [-15, 0]
            .map(|ago_s| clock::moment(now_ms.saturating_add_signed((off_s + ago_s) * 1_000)));
        assert!(
            (earliest.as_str()..=latest.as_str()).contains(&started),
            "{started} is not off by {off_s} s"
        );
    }
    fleet.gather(PEOPLE, ARRIVAL);
    let saw = fleet.judge("clocks 20 s and 10 min ahead and behind", Store::Answers);
    saw.was_never_lost();
    saw.was_steady();
    assert_eq!(saw.unanswered, 0, "{saw}");
}
