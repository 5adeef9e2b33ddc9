//! Anteroom: a virtual waiting room.
//!
//! In reading order:
//! - [`token`]: tickets and passes, signed. Pure.
//! - [`name`]: what may be a room's name.
//! - [`cli`]: what the command line does.

pub mod cli;
pub mod name;
pub mod token;
