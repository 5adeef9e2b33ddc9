//! The way in: which room guards a request, and what becomes of it.
//!
//! Owns the decision about a request, not the bytes of it.
//!
//! - [`path`]: every way an origin might read a path. Pure.
//! - [`route`]: which host, which room, which rule lets by. Pure.
//! - [`intent`]: a person opening a page, or something else. Pure.
//! - [`mod@decide`]: in, in line, or neither. Pure.

pub mod decide;
pub mod intent;
pub mod path;
pub mod route;
