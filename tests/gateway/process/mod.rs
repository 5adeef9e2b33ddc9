//! The process: stopping, reloading, handing over, crashing. Nobody loses a request or a place by it.

mod crashing;
mod reloading;
mod stopping;
mod upgrading;
