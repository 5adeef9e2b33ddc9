//! Paths where no store can be: each gets its own sentence, and nothing there is changed.

use std::path::Path;

use anteroom::store::StoreError;
use redb::{Database, TableDefinition};

use super::{Hand, embedded};

fn refused(path: &Path) -> StoreError {
    match embedded(path, &Hand::new()) {
        Err(error) => {
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
            error
        }
        Ok(_) => panic!("{} was opened", path.display()),
    }
}

#[test]
fn a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let error = refused(dir.path());
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    assert!(error.to_string().contains("name a file in it"));
}

#[test]
fn a_missing_directory() {
    let dir = tempfile::tempdir().unwrap();
    let error = refused(&dir.path().join("no/store"));
    assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("its directory does not exist"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_device_and_a_dangling_link() {
    let error = refused(Path::new("/dev/null"));
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(dir.path().join("nowhere"), &link).unwrap();
    assert!(matches!(refused(&link), StoreError::Io { .. }));
}

#[cfg(unix)]
#[test]
fn a_place_that_may_not_be_written() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (inner, file) = (dir.path().join("inner"), dir.path().join("file"));
    fs::create_dir(&inner).unwrap();
    fs::set_permissions(&inner, Permissions::from_mode(0o555)).unwrap();
    drop(embedded(&file, &Hand::new()).unwrap());
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    if fs::write(inner.join("probe"), "").is_ok() {
        return; // an administrator may write anywhere
    }
    for path in [inner.join("store"), file] {
        let error = refused(&path);
        assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
        assert!(error.to_string().to_lowercase().contains("permission"), "{error}");
    }
}

#[test]
fn files_that_are_something_else() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("text");
    std::fs::write(&text, "Dear diary, ".repeat(1_000)).unwrap();
    let other = dir.path().join("other");
    let db = Database::create(&other).unwrap();
    let write = db.begin_write().unwrap();
    write.open_table(TableDefinition::<u64, u64>::new("theirs")).unwrap();
    write.commit().unwrap();
    drop(db);
    for path in [&text, &other] {
        let before = std::fs::metadata(path).unwrap().len();
        let error = refused(path);
        assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
        assert!(error.to_string().contains("name another path"), "{error}");
        assert_eq!(std::fs::metadata(path).unwrap().len(), before);
    }
    let empty = dir.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    let error = refused(&empty);
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert_eq!(std::fs::metadata(&empty).unwrap().len(), 0, "left as it is");
}
