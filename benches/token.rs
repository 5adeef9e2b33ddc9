//! What verifying and signing cost, beside the HMAC that no implementation can do without.
//!
//! `cargo bench --bench token` prints the table; without `--bench`, as `cargo test --bench token` runs
//! it, a small size goes through the same code so that it can't rot. The cases take turns in short
//! rounds, so a noisy neighbour hits all of them alike. Two figures come out of the rounds: the median,
//! and the fastest fiftieth, which is the cost while nobody else uses the core. (They differ: SHA
//! instructions hardly notice a neighbour on the same core, everything else does.) Allocations are counted
//! in a sweep of their own. Each case goes through 256 tokens of different visitors, so that branches
//! aren't learnt by heart.

use std::hint::black_box;
use std::time::Instant;

use anteroom::token::{Key, KeyRing, Pass, RoomKeys, Scratch, Secret, Ticket};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

const NOW: u64 = 1_800_000_000;
const TOKENS: u64 = 256;

/// One row: a name, and what it does to the token of a visitor.
type Case<'a> = (&'static str, Box<dyn FnMut(usize) + 'a>);

fn main() {
    let full = std::env::args().any(|arg| arg == "--bench");
    let (rounds, sweeps) = if full { (2_000, 2) } else { (3, 1) };

    let secret = || Secret::new("a secret for measuring, known to all").expect("long enough");
    let key = Key::new("k1", secret()).expect("a good id");
    let ring = KeyRing::new(vec![key], vec![]).expect("one key");
    let keys = ring.room("summer-sale").expect("a good name");
    let pass_key = ring.pass_key("summer-sale").expect("a good name");

    let claims: Vec<Pass<'static>> = (0..TOKENS).map(|i| pass(&keys, i)).collect();
    let sign = |pass| keys.sign_pass(pass).expect("within limits");
    let passes: Vec<String> = claims.iter().map(sign).collect();
    let foreign: Vec<String> = passes.iter().map(|token| rewrite(token, &pass_key)).collect();
    let forged: Vec<String> = passes.iter().map(|token| forge(token)).collect();
    let tickets: Vec<String> = (0..TOKENS).map(|i| ticket(&keys, i)).collect();
    let inputs: Vec<&[u8]> = passes.iter().map(|token| signing_input(token)).collect();

    let mac = Hmac::<Sha256>::new_from_slice(pass_key.as_bytes()).expect("any length");
    let now_ms = NOW * 1000;
    let [mut a, mut b, mut c, mut d] = [const { Scratch::new() }; 4];
    let mut cases: Vec<Case<'_>> = vec![
        (
            "HMAC-SHA256 alone, key prepared",
            Box::new(|i| {
                black_box(mac.clone().chain_update(black_box(inputs[i])).finalize());
            }),
        ),
        (
            "verify a pass",
            Box::new(|i| {
                let token = black_box(passes[i].as_bytes());
                black_box(keys.verify_pass(token, now_ms, &mut a).expect("a good pass"));
            }),
        ),
        (
            "verify a pass, fresh scratch",
            Box::new(|i| {
                let token = black_box(passes[i].as_bytes());
                let mut scratch = Scratch::new();
                black_box(keys.verify_pass(token, now_ms, &mut scratch).expect("a good pass"));
            }),
        ),
        (
            "verify a pass written by another library",
            Box::new(|i| {
                let token = black_box(foreign[i].as_bytes());
                black_box(keys.verify_pass(token, now_ms, &mut b).expect("a good pass"));
            }),
        ),
        (
            "refuse a forged pass",
            Box::new(|i| {
                let token = black_box(forged[i].as_bytes());
                black_box(keys.verify_pass(token, now_ms, &mut c).expect_err("a forged pass"));
            }),
        ),
        (
            "verify a ticket",
            Box::new(|i| {
                let token = black_box(tickets[i].as_bytes());
                black_box(keys.verify_ticket(token, &mut d).expect("a good ticket"));
            }),
        ),
        (
            "sign a pass",
            Box::new(|i| {
                black_box(keys.sign_pass(black_box(&claims[i])).expect("within limits"));
            }),
        ),
    ];
    let allocations = allocations(&mut cases);
    assert_eq!(&allocations[..3], [0.0; 3], "verifying a pass of ours needs no heap");
    let times = measure(&mut cases, rounds, sweeps);
    if full {
        println!("a pass of {} bytes, {} of them signed\n", passes[0].len(), inputs[0].len());
        print(&cases, &times, &allocations);
    }
}

/// Nanoseconds an operation.
struct Time {
    median: f64,
    quiet: f64,
}

fn measure(cases: &mut [Case<'_>], rounds: usize, sweeps: usize) -> Vec<Time> {
    let mut samples = vec![Vec::with_capacity(rounds); cases.len()];
    for _ in 0..rounds {
        for ((_, case), samples) in cases.iter_mut().zip(&mut samples) {
            let start = Instant::now();
            for _ in 0..sweeps {
                (0..TOKENS as usize).for_each(&mut *case);
            }
            let operations = (sweeps * TOKENS as usize) as f64;
            samples.push(start.elapsed().as_nanos() as f64 / operations);
        }
    }
    let time = |mut samples: Vec<f64>| {
        samples.sort_by(f64::total_cmp);
        Time { median: samples[rounds / 2], quiet: samples[rounds / 50] }
    };
    samples.into_iter().map(time).collect()
}

/// Allocations an operation.
fn allocations(cases: &mut [Case<'_>]) -> Vec<f64> {
    let count = |(_, case): &mut Case<'_>| {
        // Once before counting: the base64 tables and the like are made at the first use.
        case(0);
        let region = Region::new(ALLOCATOR);
        (0..TOKENS as usize).for_each(&mut *case);
        let change = region.change();
        (change.allocations + change.reallocations) as f64 / TOKENS as f64
    };
    cases.iter_mut().map(count).collect()
}

fn print(cases: &[Case<'_>], times: &[Time], allocations: &[f64]) {
    let head = ["median ns", "x HMAC", "quiet ns", "x HMAC", "a second", "allocations"];
    let [a, b, c, d, e, f] = head;
    println!("{:<40} {a:>10} {b:>7} {c:>9} {d:>7} {e:>10} {f:>12}", "");
    let hmac = &times[0];
    for (((name, _), time), allocations) in cases.iter().zip(times).zip(allocations) {
        let Time { median, quiet } = time;
        let (a, b, e) = (median / hmac.median, quiet / hmac.quiet, 1e9 / median);
        println!(
            "{name:<40} {median:>10.0} {a:>7.2} {quiet:>9.0} {b:>7.2} {e:>10.0} {allocations:>12.0}"
        );
    }
}

/// A pass as apps get it: a device, a class, numbers of real length.
fn pass(keys: &RoomKeys, i: u64) -> Pass<'static> {
    let num = 1_000_000 + i * 7919;
    Pass {
        device_id: Some(device(i).into()),
        user_id: None,
        user_proven: false,
        class: "general".into(),
        slot: None,
        num,
        epoch: 1,
        issued_at: NOW - i,
        admitted_at: NOW - 2 * i,
        expires_at: NOW + 300 + i,
        nonce: keys.nonce(1, num).into(),
        bind: None,
    }
}

fn ticket(keys: &RoomKeys, i: u64) -> String {
    let num = 1_000_000 + i * 7919;
    let ticket = Ticket {
        num,
        epoch: 1,
        class: "general".into(),
        joined_at: NOW - i,
        visitor: keys.visitor(1, num).into(),
        device_id: Some(device(i).into()),
        user_id: None,
        user_proven: false,
    };
    keys.sign_ticket(&ticket).expect("within limits")
}

fn device(i: u64) -> String {
    uuid::Uuid::from_u64_pair(i.wrapping_mul(0x9e37_79b9_7f4a_7c15), !i).to_string()
}

fn signing_input(token: &str) -> &[u8] {
    token.rsplit_once('.').expect("three segments").0.as_bytes()
}

/// The same claims as a library elsewhere would write them: sorted, spaced, another header.
fn rewrite(token: &str, key: &str) -> String {
    let claims = token.split('.').nth(1).expect("three segments");
    let claims = B64.decode(claims).expect("base64url");
    let claims: serde_json::Value = serde_json::from_slice(&claims).expect("JSON");
    let claims = serde_json::to_string_pretty(&claims).expect("JSON");
    let header = r#"{"typ":"anteroom-pass","kid":"k1","alg":"HS256"}"#;
    let input = format!("{}.{}", B64.encode(header), B64.encode(claims));
    let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("any length");
    let signature = mac.chain_update(&input).finalize().into_bytes();
    format!("{input}.{}", B64.encode(signature))
}

/// Another first character of the signature.
fn forge(token: &str) -> String {
    let (input, signature) = token.rsplit_once('.').expect("three segments");
    let first = if signature.starts_with('A') { 'B' } else { 'A' };
    format!("{input}.{first}{}", &signature[1..])
}
