//! Opening the database: private, checked, migrated; a damaged one is put aside.

use super::{Store, StoreError, schema};
use crate::state_dir::{StateDir, open_private};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// An opened store.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// Where a damaged database was put, if there was one; `store` is then a fresh one.
    pub put_aside: Option<PathBuf>,
}

/// Databases up to this size are checked whole when opened (about 0.1 s); larger ones show damage when it is met.
const CHECK_LIMIT: u64 = 32 << 20;

/// Opens the store of `state`, making it if absent.
pub fn open(state: &StateDir) -> Result<Opened, StoreError> {
    let path = state.database();
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::Io { path, source }
    };
    // Two processes must not migrate, or put aside what the other has just made, at the same time.
    let guard = open_private(&state.store_lock()).map_err(io(&state.store_lock()))?;
    guard.lock().map_err(io(&state.store_lock()))?;
    match connect(&path) {
        Ok(db) => Ok(Opened { store: Store(Mutex::new(db)), put_aside: None }),
        Err(e) if e.is_corruption() => {
            let aside = put_aside(&path).map_err(io(&path))?;
            tracing::warn!("{} is damaged and was put aside as {}", path.display(), aside.display());
            Ok(Opened { store: Store(Mutex::new(connect(&path)?)), put_aside: Some(aside) })
        }
        Err(e) => Err(e),
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    // SQLite gives its side files the mode of the database.
    let size = open_private(path)
        .and_then(|f| f.metadata())
        .map_err(|source| StoreError::Io { path: path.into(), source })?
        .len();
    let mut db = Connection::open_with_flags(path, OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
    db.busy_timeout(Duration::from_secs(5))?;
    db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update(None, "wal_autocheckpoint", 0)?;
    db.pragma_update(None, "foreign_keys", true)?;
    if size <= CHECK_LIMIT {
        let verdict: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if verdict != "ok" {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            return Err(rusqlite::Error::SqliteFailure(code, Some(verdict)).into());
        }
    }
    schema::migrate(&mut db, path)?;
    Ok(db)
}

/// Renames the database and its side files to `results.db.corrupt-<time>...`, so that nothing is lost.
fn put_aside(path: &Path) -> std::io::Result<PathBuf> {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let named = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let mut aside = named(&format!(".corrupt-{time}"));
    let mut n = 1;
    while aside.exists() {
        n += 1;
        aside = named(&format!(".corrupt-{time}.{n}"));
    }
    std::fs::rename(path, &aside)?;
    for side in ["-wal", "-shm"] {
        let mut to = aside.clone().into_os_string();
        to.push(side);
        match std::fs::rename(named(side), to) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    Ok(aside)
}
