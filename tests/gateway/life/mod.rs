//! The life of a visit, over real sockets: arrive, wait, come in where one wanted to be, go.

mod addresses;
mod apps;
mod bound;
mod bypass;
mod caches;
mod commands;
mod entering;
mod headers;
mod hosts;
mod intents;
mod invited;
mod leaving;
mod modes;
mod ours;
mod places;
mod sessions;
mod traced;
mod unstopped;
