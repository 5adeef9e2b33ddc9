//! The way in.

mod route;
