//! Who skips what: classes as the line has them.

use super::Check;
use crate::config::file;
use crate::gateway::entrance::GENERAL;
use crate::line::Class;

impl Check<'_> {
    /// The classes of a room. A name is written into tickets, headers and metrics.
    pub(super) fn classes(&self, room: &file::Room) -> Vec<Class> {
        let mut classes = Vec::new();
        for written in &room.classes {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            let name = &written.name;
            if !(1..=MAX_NAME).contains(&name.len()) || !name.bytes().all(plain) {
                let means = "tickets, headers and links carry it. Write 1 to 32 of A-Z a-z 0-9 _ -";
                self.report.problem(format!("{} can't be a class's name", written.path), means);
            }
            let skip = written.skip.as_ref().map_or(0, |skip| skip.value);
            let rank = written.rank.as_ref().map_or(0, |rank| rank.value);
            if name == GENERAL && (skip, rank) != (0, 0) {
                let means = "it is the class of whoever has none: they skip nothing and go before nobody. Give the class another name";
                self.report.problem(format!("{} skips or ranks", written.path), means);
            }
            classes.push(Class { name: name.clone(), skip, rank });
        }
        let share = room.class_share.as_ref().filter(|_| classes.is_empty());
        let order = room.class_order.as_ref().filter(|_| classes.is_empty());
        let unused = share.map(|share| share.said()).or(order.map(|order| order.said()));
        if let Some(said) = unused {
            let means = "the room has no classes. Add them, or remove it";
            self.report.warn(format!("{said} has no effect"), means);
        }
        classes
    }
}

/// People read it in a link, programs in a header.
const MAX_NAME: usize = 32;
