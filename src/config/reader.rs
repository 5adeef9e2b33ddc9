//! A table of the file, read key by key with its problems collected.
//!
//! Owns the way from a table to values that remember how they were written; knows no key and no rule itself. A value
//! of the wrong kind is reported and left out, never guessed at and never the end of the reading.

use std::cell::RefCell;
use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nearest::nearest;
use super::node::Node;
use super::report::{Report, Written};

/// The keys a table may have.
#[derive(Debug)]
pub(super) struct Level {
    /// `[rooms.NAME]`, for sentences.
    pub(super) name: &'static str,
    /// All of them.
    pub(super) keys: &'static [&'static str],
    /// Those of features that are described and not there yet.
    pub(super) later: &'static [&'static str],
    /// Whether its values may be secrets, except for the keys in `open`.
    pub(super) veiled: bool,
    /// Keys of a veiled table that hold none.
    pub(super) open: &'static [&'static str],
}

impl Level {
    fn veils(&self, key: &str) -> bool {
        self.veiled && !self.open.contains(&key)
    }
}

/// A longer list of keys is not read.
const MAX_LISTED: usize = 10;

/// A table.
pub(super) struct Reader<'a> {
    source: &'a str,
    report: &'a Report,
    level: &'static Level,
    path: String,
    table: &'a DeTable<'a>,
    /// Keys with a value that was refused. Rules about several keys leave these alone.
    spoiled: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Reader<'a> {
    /// The whole file.
    pub(super) fn top(
        source: &'a str,
        report: &'a Report,
        table: &'a DeTable<'a>,
        level: &'static Level,
    ) -> Reader<'a> {
        Reader::new(source, report, String::new(), table, level)
    }

    /// The table at `path`. What it should not have is reported at once.
    pub(super) fn new(
        source: &'a str,
        report: &'a Report,
        path: String,
        table: &'a DeTable<'a>,
        level: &'static Level,
    ) -> Reader<'a> {
        let reader = Reader { source, report, level, path, table, spoiled: RefCell::default() };
        for (key, _) in in_order(table).filter(|(key, _)| !level.keys.contains(key)) {
            reader.refuse(key);
        }
        reader
    }

    /// Neither ignored nor guessed: a limit that is spelt wrong is a limit that isn't there. The value is not
    /// shown, as nobody knows whether it is a secret.
    fn refuse(&self, key: &str) {
        let path = join(&self.path, key);
        let Level { name, keys, later, .. } = self.level;
        if later.contains(&key) {
            let means = "it would have no effect. Remove it until you run a version that has it";
            return self.report.problem(format!("{path} is not available in this version"), means);
        }
        let cause = "it would have no effect";
        let means = if let Some(meant) = nearest(key, keys.iter().chain(*later).copied()) {
            // Its value is known to be somewhere: that it isn't there is no problem of its own.
            self.spoiled.borrow_mut().insert(meant);
            format!("{cause}. The nearest known one is {meant}")
        } else if let Some(place) = super::file::home_of(key) {
            format!("{cause}. It belongs into {place}")
        } else if keys.len() <= MAX_LISTED {
            format!("{cause}. {name} has {}", keys.join(", "))
        } else {
            format!("{cause}. conf/anteroom.toml tells of every key of {name}")
        };
        self.report.problem(format!("{path} is no known key"), means);
    }

    /// Where it stands: `rooms.sale`.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The value of a key.
    pub(super) fn value(&self, key: &'static str) -> Option<Node<'a>> {
        debug_assert!(self.level.keys.contains(&key), "{key} is not listed in {:?}", self.level);
        let value = self.table.get(key)?;
        let Reader { source, report, .. } = *self;
        let veiled = self.level.veils(key);
        Some(Node { source, report, veiled, path: join(&self.path, key), value })
    }

    /// The value of a key, if `read` takes it; a refused one spoils the key.
    pub(super) fn read<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Node<'a>) -> Option<T>,
    ) -> Option<Written<T>> {
        let node = self.value(key)?;
        match read(&node) {
            Some(value) => Some(Written { value, text: node.shown(), key: node.path }),
            None => {
                self.spoiled.borrow_mut().insert(key);
                None
            }
        }
    }

    /// Keys whose values were refused.
    pub(super) fn into_spoiled(self) -> BTreeSet<&'static str> {
        self.spoiled.into_inner()
    }

    /// Text.
    pub(super) fn text(&self, key: &'static str) -> Option<Written<String>> {
        self.read(key, |node| node.text().map(str::to_owned))
    }

    /// A whole number, 0 or more.
    pub(super) fn count(&self, key: &'static str) -> Option<Written<u64>> {
        self.read(key, Node::count)
    }

    /// A duration, in milliseconds.
    pub(super) fn duration(&self, key: &'static str) -> Option<Written<u64>> {
        self.read(key, Node::duration)
    }

    /// What `read` takes, or `"none"`.
    pub(super) fn or_none<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Node<'a>) -> Option<T>,
    ) -> Option<Written<Option<T>>> {
        self.read(key, |node| match node.as_text() {
            Some("none") => Some(None),
            _ => read(node).map(Some),
        })
    }

    /// One of several words; some of them of versions to come.
    pub(super) fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&'static str, T)],
        later: &[&str],
    ) -> Option<Written<T>> {
        self.read(key, |node| one_of(node, words, later))
    }

    /// A list of words.
    pub(super) fn words<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Vec<Written<T>> {
        self.list(key, |node| one_of(node, words, &[])).unwrap_or_default()
    }

    /// A list, each element read by `read`; those refused are left out and spoil the key.
    pub(super) fn list<T>(
        &self,
        key: &'static str,
        read: impl Fn(&Node<'a>) -> Option<T>,
    ) -> Option<Vec<Written<T>>> {
        let nodes = self.read(key, Node::list)?.value;
        Some(self.each(key, nodes, read))
    }

    /// A list, or a single one of its kind.
    pub(super) fn one_or_many<T>(
        &self,
        key: &'static str,
        read: impl Fn(&Node<'a>) -> Option<T>,
    ) -> Option<Vec<Written<T>>> {
        let nodes = self.read(key, Node::one_or_many)?.value;
        Some(self.each(key, nodes, read))
    }

    fn each<T>(
        &self,
        key: &'static str,
        nodes: Vec<Node<'a>>,
        read: impl Fn(&Node<'a>) -> Option<T>,
    ) -> Vec<Written<T>> {
        let mut all = Vec::with_capacity(nodes.len());
        for node in nodes {
            match read(&node) {
                Some(value) => all.push(Written { value, text: node.shown(), key: node.path }),
                None => drop(self.spoiled.borrow_mut().insert(key)),
            }
        }
        all
    }

    /// A list of texts.
    pub(super) fn texts(&self, key: &'static str) -> Option<Vec<Written<String>>> {
        self.list(key, |node| node.text().map(str::to_owned))
    }

    /// A table in this one.
    pub(super) fn table(&self, key: &'static str, level: &'static Level) -> Option<Reader<'a>> {
        self.read(key, |node| node.table(level)).map(|written| written.value)
    }

    /// Tables in a list: `[[tls]]`, or `[{ … }, { … }]`.
    pub(super) fn tables(&self, key: &'static str, level: &'static Level) -> Vec<Reader<'a>> {
        let veiled = level.veiled;
        let tables = self.list(key, |node| Node { veiled, ..node.clone() }.table(level));
        tables.unwrap_or_default().into_iter().map(|table| table.value).collect()
    }

    /// Tables by name, `[rooms.sale]`, in the order they were written in.
    pub(super) fn named(
        &self,
        key: &'static str,
        level: &'static Level,
    ) -> Vec<(String, Reader<'a>)> {
        let tables = self.read(key, |node| {
            let mut all = Vec::new();
            for (name, value) in in_order(node.bare_table(level)?) {
                let node = Node { path: join(&node.path, name), value, ..node.clone() };
                match node.table(level) {
                    Some(reader) => all.push((name.to_owned(), reader)),
                    None => drop(self.spoiled.borrow_mut().insert(key)),
                }
            }
            Some(all)
        });
        tables.map(|tables| tables.value).unwrap_or_default()
    }
}

fn one_of<T: Copy>(node: &Node<'_>, words: &[(&'static str, T)], later: &[&str]) -> Option<T> {
    let text = node.text()?;
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Some(*value);
    }
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    if later.contains(&text) {
        let means = format!("there are {}", names.join(", "));
        return node.refuse("is not available in this version", means);
    }
    let means = match nearest(text, names.iter().copied()) {
        Some(meant) => format!("the nearest one is \"{meant}\". There are {}", names.join(", ")),
        None => format!("write one of {}", names.join(", ")),
    };
    node.refuse("is none of its words", means)
}

/// Entries as they were written, one after the other.
fn in_order<'a>(
    table: &'a DeTable<'a>,
) -> impl Iterator<Item = (&'a str, &'a Spanned<DeValue<'a>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter().map(|(key, value)| (key.get_ref().as_ref(), value))
}

/// `rooms.sale.rate`; names that need it in quotes.
fn join(path: &str, key: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let plain = !key.is_empty() && key.bytes().all(bare);
    let key = if plain { key.to_owned() } else { format!("{key:?}") };
    match path {
        "" => key,
        path => format!("{path}.{key}"),
    }
}
