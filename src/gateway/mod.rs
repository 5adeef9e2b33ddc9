//! The way in: which room guards a request, and what becomes of it.
//!
//! Owns the decision about a request, not the bytes of it.
//!
//! - [`path`]: every way an origin might read a path. Pure.
//! - [`route`]: which host, which room, which rule lets by. Pure.
//! - [`intent`]: a person opening a page, or something else. Pure.
//! - [`mod@decide`]: in, in line, or neither. Pure.

pub mod answer;
pub mod api;
pub mod chaperone;
pub mod connection;
pub mod cookie;
pub mod decide;
pub mod entrance;
pub mod fence;
pub mod forward;
pub mod front;
pub mod gate;
pub mod head;
pub mod http1;
pub mod http2;
pub mod intent;
pub mod listen;
pub mod live;
pub mod origin;
pub mod pace;
pub mod path;
pub mod proxy;
pub mod route;
pub mod settings;
pub mod show;
pub mod tls;
