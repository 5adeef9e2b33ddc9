//! What goes through untouched, and for how long: WebSockets, long responses, large bodies.

mod bodies;
mod sockets;
