//! Anteroom: a virtual waiting room.
//!
//! In reading order:
//! - [`mod@line`]: who waits, whose turn it is, who is inside. Pure.
//! - [`store`]: where a line is kept: in memory, or in a file.
//! - [`room`]: a node's view of a line, and its conversation with the store.
//! - [`token`]: tickets and passes, signed. Pure.
//! - [`gateway`]: the way in: two doors, one decision, the visitor API, the proxy.
//! - [`limit`]: how often one and the same may do something on this node.
//! - [`page`]: what visitors see while they are not inside, and the client. Pure.
//! - [`admin`]: the operators' port: rooms as they are, and the verbs to steer them.
//! - [`webhook`]: letters to whoever wants to be told.
//! - [`metrics`], [`stats`]: what is measured, and what a node remembers of a room's past.
//! - [`config`]: from what a user wrote to everyone's settings, or to every problem at once.
//! - [`app`]: the wiring of a node, its start, reload and end; [`handover`]: one process taking over from another.
//! - [`demo`]: a site and a crowd around the real gateway; [`simulate`]: a crowd before the real line, on a virtual clock. Pure.
//! - [`name`], [`clock`], [`units`], [`log`]: what may be a room's name; the wall clock; durations and rates as people write them; how
//!   the log looks.
//! - [`cli`]: what the command line does.

pub mod admin;
pub mod app;
pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod gateway;
pub mod handover;
pub mod limit;
pub mod line;
pub mod log;
pub mod metrics;
pub mod name;
pub mod page;
pub mod room;
pub mod simulate;
pub mod stats;
pub mod store;
pub mod token;
pub mod units;
pub mod webhook;
