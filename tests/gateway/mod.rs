//! The way in.

mod decide;
mod route;
