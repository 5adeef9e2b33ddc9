//! Anteroom: a virtual waiting room.
//!
//! In reading order:
//! - [`mod@line`]: who waits, whose turn it is, who is inside. Pure.
//! - [`store`]: where a line is kept: in memory, or in a file.
//! - [`room`]: a node's view of a line, and its conversation with the store.
//! - [`token`]: tickets and passes, signed. Pure.
//! - [`gateway`]: which room guards a request. Pure so far.
//! - [`name`]: what may be a room's name.
//! - [`cli`]: what the command line does.

pub mod cli;
pub mod gateway;
pub mod line;
pub mod name;
pub mod room;
pub mod store;
pub mod token;
