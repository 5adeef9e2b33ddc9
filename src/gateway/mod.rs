//! The way in: which room guards a request, what becomes of it, and how it gets there.
//!
//! Owns HTTP between visitors and origins. Whose turn it is only the line says. In reading order:
//!
//! - [`route`], [`path`]: which host, which room, which rule lets by. [`intent`]: a person opening a page, or something
//!   else. [`mod@decide`]: in, in line, or neither. [`loss`]: the same without a store. [`pace`]: when to ask again. All pure.
//! - [`front`]: the desk that both doors ask; [`asking`]: what it asks the line; [`show`]: what is answered; [`entrance`]: a
//!   room as visitors meet it; [`arrival`]: whoever comes while no numbers are given; [`live`]: what is in force;
//!   [`settings`]: what an operator may set; [`api`]: the visitor API.
//! - [`chronicle`]: what happens to visitors, for the log; [`scribe`]: what the line does by itself, likewise; [`access`]: requests.
//! - [`gate`]: the HTTP/1 door; [`http1`]: a head without any doubt; [`http2`]: the other door.
//! - [`proxy`]: what may pass; [`lane`]: the short way for plain requests; [`forward`]: headers to and from the origin;
//!   [`origin`]: its servers; [`chaperone`]: whoever stays long; [`fence`]: what belongs to the next request; [`patient`]: the
//!   way of a WebSocket to its origin.
//! - [`listen`], [`guests`], [`tls`], [`connection`], [`alarm`]: sockets. [`head`], [`answer`], [`cookie`]: what goes over them.

pub mod access;
pub mod alarm;
pub mod answer;
pub mod api;
pub mod arrival;
pub mod asking;
pub mod chaperone;
pub mod chronicle;
pub mod connection;
pub mod cookie;
pub mod decide;
pub mod entrance;
pub mod fence;
pub mod forward;
pub mod front;
pub mod gate;
pub mod guests;
pub mod head;
pub mod http1;
pub mod http2;
pub mod intent;
pub mod invite;
pub mod lane;
pub mod listen;
pub mod live;
pub mod loss;
pub mod naming;
pub mod origin;
pub mod pace;
pub mod path;
pub mod patient;
pub mod proxy;
pub mod rollout;
pub mod route;
pub mod scribe;
pub mod settings;
pub mod show;
pub mod tls;
