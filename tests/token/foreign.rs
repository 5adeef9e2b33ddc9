//! Other libraries and we take the same tokens for good: PyJWT and npm's jose, the real ones.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::*;
use crate::support::tools::tool;

/// A library elsewhere: a program that does a list of jobs with it.
struct Library {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<PathBuf>,
}

fn libraries() -> [Library; 2] {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/token");
    tool("node_modules/jose");
    [
        Library {
            name: "PyJWT",
            program: tool("venv/bin/python"),
            arguments: vec![tests.join("foreign.py")],
        },
        Library {
            name: "jose",
            program: "node".into(),
            arguments: vec![tests.join("foreign.mjs"), tool("")],
        },
    ]
}

impl Library {
    fn run(&self, jobs: &[Value]) -> Vec<Value> {
        let Self { name, program, arguments } = self;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}: run make tools", program.display()));
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(Value::from(jobs).to_string().as_bytes()).expect("a reader");
        drop(stdin);
        let output = child.wait_with_output().expect("an end");
        assert!(
            output.status.success(),
            "{name} failed: run make tools if it says that a package is missing"
        );
        serde_json::from_slice(&output.stdout).expect("a list of results")
    }

    /// The tokens of claims under headers, all signed with one key.
    fn sign(&self, key: &str, wanted: &[(Value, Value)]) -> Vec<String> {
        let job = |(header, claims): &(Value, Value)| json!({"do": "sign", "header": header, "claims": claims, "key": key});
        let results = self.run(&wanted.iter().map(job).collect::<Vec<_>>());
        results.iter().map(|result| result["token"].as_str().expect("a token").to_owned()).collect()
    }
}

fn verify(token: &str, key: &str) -> Value {
    json!({"do": "verify", "token": token, "key": key})
}

#[test]
fn passes_made_here_are_good_there() {
    let full = Pass {
        user_id: Some("Zoë \"𝄞\" \\ \n".into()),
        slot: Some("X".into()),
        num: (1 << 53) - 1,
        ..pass()
    };
    let shared = shared_ring().room("sale").expect("a good room");
    let expired = Pass { expires_at: 1_700_000_000, ..pass() };
    let sign = |keys: &RoomKeys, pass| keys.sign_pass(pass).expect("within limits");
    let jobs = [
        verify(&sign(&sale(), &pass()), &pass_key()),
        verify(&sign(&sale(), &full), &pass_key()),
        verify(&sign(&shared, &pass()), PASS_SECRET),
        verify(&sign(&sale(), &expired), &pass_key()),
        verify(&sign(&sale(), &pass()), PASS_SECRET),
        verify(&sign(&sale(), &pass()), SECRET),
        verify(&sign(&sale(), &pass()), &ring().pass_key("sale2").expect("a good room")),
        verify(&sale().sign_ticket(&ticket()).expect("within limits"), &pass_key()),
    ];
    let header = |kid| json!({"alg": "HS256", "typ": "anteroom-pass", "kid": kid});
    let full_claims = with(pass_claims(), "user_id", json!("Zoë \"𝄞\" \\ \n"));
    let full_claims = with(with(full_claims, "slot", json!("X")), "num", json!((1_u64 << 53) - 1));
    let refused = json!({"refused": "signature"});
    let expected = [
        json!({"header": header("k1"), "claims": pass_claims()}),
        json!({"header": header("k1"), "claims": full_claims}),
        json!({"header": header("p1"), "claims": pass_claims()}),
        json!({"refused": "expired"}),
        refused.clone(),
        refused.clone(),
        refused.clone(),
        refused,
    ];
    for library in libraries() {
        assert_eq!(library.run(&jobs), expected, "{}", library.name);
    }
}

#[test]
fn passes_made_there_are_judged_rightly_here() {
    let header = |alg: &str, typ: &str, kid: &str| json!({"alg": alg, "typ": typ, "kid": kid});
    let good = || header("HS256", "anteroom-pass", "k1");
    let claims = pass_claims;
    let odd = "Zoë \"𝄞\" \\ \n";
    let user = Pass { user_id: Some(odd.into()), ..pass() };
    let late =
        with(with(claims(), "exp", json!(1_700_000_000)), "expires_at", json!(1_700_000_000));
    let cases = [
        (good(), claims(), Ok(pass())),
        (good(), with(claims(), "user_id", json!(odd)), Ok(user)),
        (good(), with(claims(), "iss", json!("https://shop.example.com")), Ok(pass())),
        (header("HS256", "JWT", "k1"), claims(), Err(TokenError::Type)),
        (header("HS256", "anteroom-ticket", "k1"), claims(), Err(TokenError::Type)),
        (header("HS512", "anteroom-pass", "k1"), claims(), Err(TokenError::Algorithm)),
        (header("HS256", "anteroom-pass", "k9"), claims(), Err(TokenError::UnknownKey)),
        (json!({"alg": "HS256", "typ": "anteroom-pass"}), claims(), Err(TokenError::UnknownKey)),
        (header("none", "anteroom-pass", "k1"), claims(), Err(TokenError::Algorithm)),
        (good(), late, Err(TokenError::Expired { at: 1_700_000_000 })),
        (good(), with(claims(), "event_id", json!("sale2")), Err(TokenError::OtherRoom)),
        (
            good(),
            with(claims(), "exp", Value::Null),
            Err(TokenError::Claims("are not those of a pass")),
        ),
        (good(), ticket_claims(), Err(TokenError::Claims("are not those of a pass"))),
    ];
    for library in libraries() {
        let wanted: Vec<_> =
            cases.iter().map(|(header, claims, _)| (header.clone(), claims.clone())).collect();
        let tokens = library.sign(&pass_key(), &wanted);
        for ((header, claims, expected), token) in cases.iter().zip(&tokens) {
            let judged = judge_pass(&sale(), token, NOW_MS);
            assert_eq!(&judged, expected, "{} with {header} {claims}", library.name);
        }
        let wrong = library.sign("another secret, also long enough", &wanted[..1]);
        assert_eq!(
            judge_pass(&sale(), &wrong[0], NOW_MS),
            Err(TokenError::Signature),
            "{}",
            library.name
        );
    }
}

#[test]
fn tickets_made_there_are_judged_rightly_here() {
    let key = B64.encode(hmac(SECRET.as_bytes(), b"ticket\0sale"));
    let header = json!({"alg": "HS256", "typ": "anteroom-ticket", "kid": "k1"});
    let other = with(ticket_claims(), "event_id", json!("sale2"));
    for library in libraries() {
        let wanted = [(header.clone(), ticket_claims()), (header.clone(), other.clone())];
        let tokens = library.sign(&key, &wanted);
        assert_eq!(judge_ticket(&sale(), &tokens[0]), Ok(ticket()), "{}", library.name);
        assert_eq!(
            judge_ticket(&sale(), &tokens[1]),
            Err(TokenError::OtherRoom),
            "{}",
            library.name
        );
        // The same ticket under the pass key, as an origin could sign it.
        let tokens = library.sign(&pass_key(), &wanted);
        assert_eq!(
            judge_ticket(&sale(), &tokens[0]),
            Err(TokenError::Signature),
            "{}",
            library.name
        );
    }
}
