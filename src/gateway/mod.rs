//! The way in: which room guards a request, and what becomes of it.
//!
//! Owns the decision about a request, not the bytes of it.
//!
//! - [`path`]: every way an origin might read a path. Pure.
//! - [`route`]: which host, which room, which rule lets by. Pure.

pub mod path;
pub mod route;
