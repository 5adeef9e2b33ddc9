//! What people live through in front of a waiting room, in a real browser before a real gateway: nothing here is a mock.
//!
//! Chromium and its driver come with `make tools`. Every test has its own browser, profile, gateway and site.

mod driver;
mod manner;
mod noticed;
mod sight;

mod axe;
mod gallery;
mod relay;

mod access;
mod brand;
mod cookies;
mod dashboard;
mod drawn;
mod forms;
mod frames;
mod invited;
mod languages;
mod leaving;
mod losing;
mod network;
mod opening;
mod order;
mod own;
mod pictures;
mod plain;
mod returning;
mod roster;
mod secure;
mod siblings;
mod states;
mod waiting;
mod waking;

use std::collections::VecDeque;

use crate::support::{Gateway, Visitor};

/// People in front of a room with one seat, who do as they are told.
struct Crowd {
    /// Who is inside: whoever comes now waits until this one is done.
    inside: Visitor,
    /// Who waits, in order.
    line: VecDeque<Visitor>,
}

impl Crowd {
    /// One inside, and so many in line.
    fn before(gateway: &Gateway, waiting: usize) -> Crowd {
        let mut inside = Visitor::new(gateway);
        // Twice: who does not come back once loses the seat soon.
        for _ in 0..2 {
            let page = inside.open("/");
            assert!(page.is_from_origin(), "no seat: {page:?}");
        }
        Crowd { inside, line: join(gateway, waiting).into() }
    }

    /// The next one in line takes the seat.
    fn moves(&mut self) {
        let mut next = self.line.pop_front().expect("somebody in line");
        self.inside.complete();
        next.await_turn();
        let page = next.open("/");
        assert!(page.is_from_origin(), "no seat: {page:?}");
        self.inside = next;
    }

    /// The seat is free.
    fn ends(&mut self) {
        self.inside.complete();
    }
}

/// So many people come; where there is room they are in.
fn come(gateway: &Gateway, count: usize) {
    for _ in 0..count {
        Visitor::new(gateway).open("/");
    }
}

/// So many people join the line.
fn join(gateway: &Gateway, count: usize) -> Vec<Visitor> {
    let mut line: Vec<Visitor> = (0..count).map(|_| Visitor::new(gateway)).collect();
    for visitor in &mut line {
        let page = visitor.open("/");
        assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
    }
    line
}
