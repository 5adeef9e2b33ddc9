//! SIGKILL: what was promised is kept by the file.

use crate::support::forge::number;
use crate::support::{Gateway, Origin, Visitor};

#[test]
fn a_kill_costs_nobody_a_place_or_a_seat() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1").embedded();
    let mut gateway = plan.start();
    let [mut ann, mut bob, mut cid] = [(); 3].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    // The very moment after a number was given.
    let label = cid.open("/").shown("label");
    gateway.crash_and_restart();
    for visitor in [&mut ann, &mut bob, &mut cid] {
        visitor.moves_to(&gateway);
    }
    assert!(ann.open("/").is_from_origin(), "a pass in force stays good");
    let page = cid.open("/");
    assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
    assert_eq!(page.shown("label"), label);
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    assert!(bob.position() < cid.position());
    let mut dan = Visitor::new(&gateway);
    assert_eq!(dan.open("/").state().as_deref(), Some("waiting"));
    let of = |visitor: &Visitor| number(&visitor.token().expect("a ticket").1);
    assert!(of(&dan) > of(&cid), "no number is given twice");
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
    bob.complete();
    cid.await_turn();
    assert!(cid.open("/").is_from_origin());
}

#[test]
fn again_and_again() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1").embedded();
    let mut gateway = plan.start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let mut line: Vec<Visitor> = Vec::new();
    for _ in 0..4 {
        let mut visitor = Visitor::new(&gateway);
        assert_eq!(visitor.open("/").state().as_deref(), Some("waiting"));
        line.push(visitor);
        gateway.crash_and_restart();
        ann.moves_to(&gateway);
        line.iter_mut().for_each(|visitor| visitor.moves_to(&gateway));
    }
    let numbers: Vec<u64> =
        line.iter().map(|visitor| number(&visitor.token().expect("a ticket").1)).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    assert!(ann.open("/").is_from_origin());
    ann.complete();
    for visitor in &mut line {
        visitor.await_turn();
        assert!(visitor.open("/").is_from_origin());
        visitor.complete();
    }
}

#[test]
fn without_keys_of_its_own_the_file_keeps_one() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1").embedded();
    let mut gateway = plan.with(crate::support::Config::without_keys).start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    gateway.crash_and_restart();
    ann.moves_to(&gateway);
    assert!(ann.fetch("/part").is_from_origin(), "signed by the same key");
}
