//! The way in.

mod api;
mod away;
mod decide;
mod doors;
mod forged;
mod framing;
mod lane;
mod life;
mod loss;
mod origins;
mod process;
mod route;
mod slow;
mod streams;
mod wire;
