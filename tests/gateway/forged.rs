//! What is forged, foreign, old or cut off is nothing; and it hides nothing that is good.

use crate::support::forge::{self, keys, keys_of, pass_like, ticket_like};
use crate::support::{Config, Gateway, Origin, Request, Visitor};

/// Ann is inside the room, which is full; Bob waits. Whoever gets by now has a pass that counts.
struct Full {
    origin: Origin,
    gateway: Gateway,
    name: String,
    pass: String,
    ticket: String,
}

impl Full {
    fn new() -> Full {
        let origin = Origin::start();
        let config = Config::new(&[origin.address().to_string()])
            .room("sale", "paths = [\"/sale/*\"]\nmax_active = 1")
            .room("other", "paths = [\"/other/*\"]");
        let gateway = Gateway::start(config);
        let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
        assert!(ann.open("/sale/").is_from_origin());
        assert_eq!(bob.open("/sale/").state().as_deref(), Some("waiting"));
        let (name, pass) = ann.token().expect("a pass");
        let ticket = bob.token().expect("a ticket").1;
        origin.forget();
        Full { origin, gateway, name, pass, ticket }
    }

    /// Whether a `Cookie` line lets in, as a page and as a part.
    fn lets_in(&self, cookie: &str) -> bool {
        let part = Request::get("/sale/part").with("Cookie", cookie);
        let page = Request::get("/sale/page").by_browser().with("Cookie", cookie);
        let mut connection = self.gateway.connect();
        let (part, page) = (connection.ask(&part), connection.ask(&page));
        assert_eq!(part.is_from_origin(), page.is_from_origin(), "{part:?}{page:?}");
        part.is_from_origin()
    }

    #[track_caller]
    fn refuses(&self, what: &str, token: &str) {
        assert!(!self.lets_in(&format!("{}={token}", self.name)), "{what}: {token}");
        let header = Request::get("/sale/part").with("X-Admission-Pass", token);
        assert!(!self.gateway.connect().ask(&header).is_from_origin(), "{what} in a header");
        assert!(self.origin.seen().is_empty(), "{what}");
    }
}

#[test]
fn a_good_pass_is_good() {
    let full = Full::new();
    assert!(full.lets_in(&format!("{}={}", full.name, full.pass)));
    let same = pass_like(&full.pass, &keys("sale"), |_| {});
    assert!(full.lets_in(&format!("{}={same}", full.name)), "the tests know how to make one");
}

#[test]
fn what_is_no_pass_of_this_room_lets_nobody_in() {
    let full = Full::new();
    let Full { pass, ticket, .. } = &full;
    let hour = 3_600;
    let now = forge::expires(pass);
    let cases = [
        ("empty", String::new()),
        ("a word", "yes".to_owned()),
        ("three parts", "a.b.c".to_owned()),
        ("dots", ".".repeat(100)),
        ("long", "a".repeat(8_000)),
        ("not base64", format!("{}!", &pass[..pass.len() - 1])),
        (
            "another secret",
            pass_like(pass, &keys_of("another secret, of at least 32 bytes", "sale"), |_| {}),
        ),
        ("of another room", pass_like(pass, &keys("other"), |_| {})),
        ("of a room's prefix", pass_like(pass, &keys("sal"), |_| {})),
        ("long over", pass_like(pass, &keys("sale"), |pass| pass.expires_at = now - hour)),
        ("of an older epoch", pass_like(pass, &keys("sale"), |pass| pass.epoch -= 1)),
        ("a ticket", ticket.clone()),
        ("a ticket as the pass it is not", with_header_of(ticket, pass)),
        ("a pass's claims, a ticket's signature", format!("{}.{}", head_of(pass), tail_of(ticket))),
        ("unsigned", unsigned(pass, "none")),
        ("unsigned, loudly", unsigned(pass, "NONE")),
        ("a signature of nothing", format!("{}.", head_of(pass))),
        ("padding", format!("{pass}=")),
        ("twice", format!("{pass}.{pass}")),
        ("quoted", format!("\"{pass}\"")),
    ];
    for (what, token) in cases {
        full.refuses(what, &token);
    }
}

#[test]
fn no_part_of_a_pass_is_enough_and_no_bit_of_it_may_change() {
    let full = Full::new();
    let length = full.pass.len();
    for end in (0..length).step_by(length / 40) {
        full.refuses("cut off", &full.pass[..end]);
    }
    full.refuses("cut off", &full.pass[..length - 1]);
    for at in (0..length).step_by(length / 60) {
        let mut bytes = full.pass.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        full.refuses("changed", &String::from_utf8(bytes).expect("ASCII"));
    }
}

#[test]
fn a_planted_cookie_hides_no_good_one() {
    let full = Full::new();
    let Full { name, pass, ticket, .. } = &full;
    let (sale, day) = (keys("sale"), 86_400);
    let planted = [
        String::new(),
        "x".to_owned(),
        "a.b.c".to_owned(),
        pass_like(pass, &keys("other"), |_| {}),
        // What once was good, as a browser sends it that still has it from before `cookie_domain` was changed.
        pass_like(pass, &sale, |pass| {
            (pass.issued_at, pass.expires_at) = (pass.issued_at - day, pass.expires_at - day)
        }),
        pass_like(pass, &sale, |pass| {
            (pass.epoch, pass.issued_at) = (pass.epoch - 1, pass.issued_at + 1)
        }),
        ticket_like(ticket, &sale, |ticket| ticket.joined_at -= 60),
        ticket_like(ticket, &sale, |ticket| {
            (ticket.epoch, ticket.joined_at) = (ticket.epoch - 1, ticket.joined_at + 60)
        }),
    ];
    for planted in &planted {
        assert!(full.lets_in(&format!("{name}={planted}; {name}={pass}")), "before: {planted}");
        assert!(full.lets_in(&format!("{name}={pass}; {name}={planted}")), "after: {planted}");
        let split = Request::get("/sale/part")
            .with("Cookie", &format!("{name}={planted}"))
            .with("Cookie", &format!("{name}={pass}"));
        assert!(full.gateway.connect().ask(&split).is_from_origin(), "another line: {planted}");
        let apps = Request::get("/sale/part")
            .with("X-Admission-Pass", planted)
            .with("Cookie", &format!("{name}={pass}"));
        assert!(full.gateway.connect().ask(&apps).is_from_origin(), "in a header: {planted}");
    }
    full.origin.forget();
    // Names that only look alike are other names.
    for other in [format!("{name}x"), format!("x{name}"), name.to_uppercase()] {
        assert!(!full.lets_in(&format!("{other}={pass}")), "{other}");
    }
}

#[test]
fn a_ticket_of_another_room_key_or_time_is_no_place() {
    let full = Full::new();
    let Full { ticket, pass, .. } = &full;
    let day = 86_400;
    let cases = [
        (
            "another secret",
            ticket_like(ticket, &keys_of("another secret, of at least 32 bytes", "sale"), |_| {}),
        ),
        ("of another room", ticket_like(ticket, &keys("other"), |_| {})),
        ("of an older epoch", ticket_like(ticket, &keys("sale"), |ticket| ticket.epoch -= 1)),
        ("too old", ticket_like(ticket, &keys("sale"), |ticket| ticket.joined_at -= 2 * day)),
        ("cut off", ticket[..ticket.len() - 1].to_owned()),
        ("a pass's header on it", with_header_of(pass, ticket)),
    ];
    for (what, token) in cases {
        let target = format!("/.anteroom/v1/queue/status?event_id=sale&queue_id={token}");
        let answer = full.gateway.connect().ask(&Request::get(&target));
        assert_eq!((answer.status, answer.code().as_str()), (404, "unknown_ticket"), "{what}");
        let mut eve = Visitor::new(&full.gateway);
        eve.keep(&full.name, &token);
        let page = eve.open("/sale/");
        assert_eq!(page.state().as_deref(), Some("waiting"), "{what}: {page:?}");
        let given = eve.token().expect("a ticket").1;
        assert_ne!(given, token, "{what}: a new number");
        assert!(forge::number(&given) > forge::number(ticket), "{what}: at the end");
    }
}

#[test]
fn nothing_hostile_in_a_cookie_line_stops_a_request() {
    let full = Full::new();
    let Full { name, pass, .. } = &full;
    let many = format!("{name}=x; ").repeat(50);
    for cookie in ["", ";", "=", ";;;=;", "a", "  ;  ", many.as_str(), "\u{e9}=1", "a=\"b;c\""] {
        let request = Request::get("/sale/part").with("Cookie", cookie);
        let answer = full.gateway.connect().ask(&request);
        assert_eq!(answer.status, 503, "{cookie}: {answer:?}");
    }
    assert!(full.lets_in(&format!(";; a ; =; {name}={pass}  ;")), "and what is good is found");
}

/// Header and claims.
fn head_of(token: &str) -> &str {
    token.rsplit_once('.').expect("three parts").0
}

/// The signature.
fn tail_of(token: &str) -> &str {
    token.rsplit_once('.').expect("three parts").1
}

/// `token` with the header of `other`.
fn with_header_of(token: &str, other: &str) -> String {
    let (_, rest) = token.split_once('.').expect("three parts");
    let (header, _) = other.split_once('.').expect("three parts");
    format!("{header}.{rest}")
}

/// `token` under an algorithm that signs nothing.
fn unsigned(token: &str, algorithm: &str) -> String {
    use base64::Engine as _;
    let (_, rest) = head_of(token).split_once('.').expect("two parts");
    let header = format!("{{\"alg\":\"{algorithm}\",\"typ\":\"anteroom-pass\",\"kid\":\"k1\"}}");
    let header = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(header);
    format!("{header}.{rest}.")
}
