//! What a client may cost: time, memory, connections, bytes.

mod bounds;
mod crowd;
mod deadlines;
mod readers;
mod second;
