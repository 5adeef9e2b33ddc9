//! Making a store's file, and reading one that may be anything.
//!
//! Owns the way from a path to a file that is proven whole, or to the sentence about what it is instead.
//! Changes nothing in a file it refuses.
//!
//! A new file is made beside its path, as `PATH.new`, and moved there when it is complete: what has the
//! name is a store, and a crash in between leaves only scrap, which the next one overwrites. Two
//! processes that make the same one meet at the lock on `PATH.new`; whoever gets it looks once more
//! whether the store has come into being meanwhile.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use redb::{
    Builder, Database, DatabaseError, ReadTransaction, ReadableDatabase, ReadableTable,
    StorageError, TableError,
};

use super::backend::Wary;
use super::file::{FIELDS, File, Identity, JOURNAL, Kept, LAYOUT, RULES, SNAPSHOTS, base};
use super::journal::Head;
use super::{Opening, Secret, StoreError};

/// redb's page cache. The lines are in our memory and the file is only appended to, so a few thousand
/// pages are plenty; the default would be a gigabyte.
const CACHE_BYTES: usize = 16 << 20;

/// What a file holds.
pub(super) struct Contents {
    /// Rooms and their lines, encoded.
    pub(super) snapshots: Vec<(String, Vec<u8>)>,
    /// What happened since, in order.
    pub(super) entries: Vec<Vec<u8>>,
    /// The rules that wrote the snapshots; those of the entries are ours, or there are none.
    pub(super) rules: u32,
}

/// Opens the file, or makes it where there is none.
pub(super) fn open(path: &Path, opening: &Opening) -> Result<(File, Contents), StoreError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => match create(path, opening)? {
            Some(made) => Ok(made),
            None => open_existing(path),
        },
        Err(error) => Err(StoreError::io(path, "look at it", error)),
        Ok(_) => open_existing(path),
    }
}

fn open_existing(path: &Path) -> Result<(File, Contents), StoreError> {
    let found = fs::metadata(path).map_err(|error| StoreError::io(path, "look at it", error))?;
    // Asked before opening, which would wait for ever at a pipe.
    if !found.is_file() {
        let why = match found.is_dir() {
            true => "a directory: name a file in it",
            false => "not a regular file: name one, or a path where one can be made",
        };
        let path = path.to_owned();
        return Err(StoreError::Unusable { path, why });
    }
    if found.len() == 0 {
        return Err(StoreError::damaged(path, "it is empty"));
    }
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file = file.map_err(|error| StoreError::io(path, "open it for writing", error))?;
    let db = Wary::new(file).and_then(database);
    let db = db.map_err(|error| refused(path, error))?;
    verified(path, db)
}

/// A new store; `None` if somebody else made it first.
fn create(path: &Path, opening: &Opening) -> Result<Option<(File, Contents)>, StoreError> {
    let mut scrap = path.as_os_str().to_owned();
    scrap.push(".new");
    let scrap = PathBuf::from(scrap);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600); // it holds a signing secret
    let file = options.open(&scrap).map_err(|error| {
        let doing = match error.kind() {
            ErrorKind::NotFound => "make it, because its directory does not exist",
            _ => "make it",
        };
        StoreError::io(path, doing, error)
    })?;
    let db = Wary::scrapping(file).and_then(database);
    let db = db.map_err(|error| refused(path, error))?;
    if fs::symlink_metadata(path).is_ok() {
        drop(db);
        let _ = fs::remove_file(&scrap); // ours, or gone already
        return Ok(None);
    }
    let identity = Identity { run: opening.run.get(), secret: opening.secret };
    let mut file = File {
        db,
        path: path.to_owned(),
        identity,
        head: Head { next: 0, digest: [0; 32] },
        kept: BTreeMap::new(),
    };
    file.found().map_err(|error| failed(path, error))?;
    fs::rename(&scrap, path)
        .and_then(|()| sync_directory(path))
        .map_err(|error| StoreError::io(path, "move it into place", error))?;
    let contents = Contents { snapshots: Vec::new(), entries: Vec::new(), rules: RULES };
    Ok(Some((file, contents)))
}

/// A name is durable when its directory is.
fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if !cfg!(unix) {
        return Ok(());
    }
    match fs::File::open(parent.unwrap_or(Path::new(".")))?.sync_all() {
        // Some network file systems have nothing to sync there.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result,
    }
}

fn database(file: Wary) -> Result<Database, DatabaseError> {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder.create_with_backend(file)
}

/// Proves everything in the file, and reads it.
fn verified(path: &Path, db: Database) -> Result<(File, Contents), StoreError> {
    let damaged = |what: &str| StoreError::damaged(path, what);
    let read = db.begin_read().map_err(|error| failed(path, error.into()))?;
    let fields = fields(path, &read)?;
    let number = |name: &str| {
        let bytes = fields.get(name).and_then(|bytes| bytes.as_slice().try_into().ok());
        bytes.map(u32::from_le_bytes)
    };
    let layout = number("layout").ok_or_else(|| StoreError::foreign(path, "it has no layout"))?;
    if layout > LAYOUT {
        return Err(newer(path, "layout", layout, LAYOUT));
    }
    let rules = number("rules").ok_or_else(|| damaged("the version of its rules is missing"))?;
    let head = |name: &str| fields.get(name).and_then(|bytes| Head::from_bytes(bytes));
    let run = fields.get("run").and_then(|bytes| bytes.as_slice().try_into().ok());
    let secret = fields.get("secret").and_then(|bytes| bytes.as_slice().try_into().ok());
    let (Some(run), Some(secret), Some(stands), Some(ends)) =
        (run.map(u64::from_le_bytes), secret, head("base"), head("head"))
    else {
        return Err(damaged("one of its fields is missing"));
    };
    let secret = Secret(secret);
    let identity = Identity { run, secret };

    let (mut snapshots, mut kept) = (Vec::new(), BTreeMap::new());
    let table = read.open_table(SNAPSHOTS).map_err(|error| misses(path, error))?;
    for item in table.iter().map_err(|error| failed(path, error.into()))? {
        let (room, line) = item.map_err(|error| failed(path, error.into()))?;
        kept.insert(room.value().to_owned(), Kept::of(line.value()));
        snapshots.push((room.value().to_owned(), line.value().to_owned()));
    }
    if base(layout, rules, &identity, stands.next, &kept) != stands {
        return Err(damaged("its snapshots are not those that were written"));
    }

    let (mut entries, mut at) = (Vec::new(), stands);
    let table = read.open_table(JOURNAL).map_err(|error| misses(path, error))?;
    for item in table.iter().map_err(|error| failed(path, error.into()))? {
        let (index, entry) = item.map_err(|error| failed(path, error.into()))?;
        if index.value() != at.next {
            return Err(damaged("an entry of its journal is missing"));
        }
        at = at.after(entry.value());
        entries.push(entry.value().to_owned());
    }
    if at != ends {
        return Err(damaged("its journal is not the one that was written"));
    }
    drop(table);
    drop(read);

    let path = path.to_owned();
    match (rules > RULES, rules != RULES && !entries.is_empty()) {
        (true, _) => return Err(newer(&path, "rules", rules, RULES)),
        (_, true) => {
            let (found, known) = (rules, RULES);
            return Err(StoreError::OtherRules { path, found, known });
        }
        _ => {}
    }
    let file = File { db, path, identity, head: ends, kept };
    let contents = Contents { snapshots, entries, rules };
    Ok((file, contents))
}

fn fields(path: &Path, read: &ReadTransaction) -> Result<BTreeMap<String, Vec<u8>>, StoreError> {
    let mut fields = BTreeMap::new();
    let table = read.open_table(FIELDS).map_err(|error| misses(path, error))?;
    for item in table.iter().map_err(|error| failed(path, error.into()))? {
        let (name, value) = item.map_err(|error| failed(path, error.into()))?;
        fields.insert(name.value().to_owned(), value.value().to_owned());
    }
    Ok(fields)
}

fn newer(path: &Path, what: &'static str, found: u32, known: u32) -> StoreError {
    let path = path.to_owned();
    StoreError::Newer { path, what, found, known }
}

/// A sound database without our tables is somebody else's.
fn misses(path: &Path, error: TableError) -> StoreError {
    match error {
        TableError::Storage(error) => failed(path, error.into()),
        error => StoreError::foreign(path, error.to_string()),
    }
}

/// What redb says about a file it does not open.
fn refused(path: &Path, error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => StoreError::InUse { path: path.to_owned() },
        // So it reports a file that does not begin like one of its own.
        DatabaseError::Storage(StorageError::Io(error))
            if error.kind() == ErrorKind::InvalidData =>
        {
            StoreError::foreign(path, error.to_string())
        }
        error => failed(path, error.into()),
    }
}

/// What redb says about a file it can't read or write.
fn failed(path: &Path, error: redb::Error) -> StoreError {
    match error {
        redb::Error::Io(error) if error.kind() != ErrorKind::UnexpectedEof => {
            StoreError::io(path, "read or write it", error)
        }
        error => StoreError::damaged(path, error.to_string()),
    }
}
