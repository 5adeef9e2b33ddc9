//! Every test of the product in one binary; one module a promise to a user.

mod cli;
mod gateway;
mod line;
mod line_model;
mod model;
mod room;
mod store;
mod token;
