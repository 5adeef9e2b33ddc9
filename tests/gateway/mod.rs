//! The way in.

mod api;
mod decide;
mod doors;
mod forged;
mod framing;
mod life;
mod origins;
mod process;
mod route;
mod slow;
mod streams;
mod wire;
