//! Every test of the product in one binary; one module a promise to a user.

mod admin;
mod browser;
mod cli;
mod config;
mod gateway;
mod image;
mod line;
mod line_model;
mod logs;
mod model;
mod nodes;
mod page;
mod redis;
mod room;
mod simulate;
mod store;
mod support;
mod token;
