//! Every test of the product in one binary; one module a promise to a user.

mod browser;
mod cli;
mod config;
mod gateway;
mod line;
mod line_model;
mod model;
mod page;
mod room;
mod store;
mod support;
mod token;
