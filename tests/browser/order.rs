//! Two people, two browsers: who came first is first.

use super::Crowd;
use super::driver::Browser;
use crate::support::{Gateway, Origin};

#[test]
fn two_browsers_get_in_in_the_order_they_came() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 0);
    let (ann, bob) = (Browser::start(), Browser::start());
    ann.visit(&gateway, "/ann");
    assert_eq!(ann.waits(), 1);
    bob.visit(&gateway, "/bob");
    assert_eq!(bob.waits(), 2);
    crowd.ends();
    ann.gets_in();
    bob.until("bob is next", || bob.position() == Some(1));
    assert!(!bob.is_inside(), "one seat is one seat");
    // The site ends the visit, and the seat is free.
    ann.visit(&gateway, "/command?c=complete");
    bob.gets_in();
    assert_eq!(bob.path(), "/bob");
    let came = |path: &str| origin.seen().iter().position(|seen| seen.path() == path);
    assert!(came("/ann") < came("/bob"));
}
