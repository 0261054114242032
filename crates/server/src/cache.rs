//! Work that was found before, in a file that survives a crash.
//!
//! What is read from the file is never trusted: the value of a work is computed anew and held against
//! the threshold that is asked for.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use lanework_nano::{Root, validate};
use redb::{
    Database, Durability, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
};
use tracing::error;

/// The works by root: the nonce, and the number under which the root is in [`ORDER`].
const WORKS: TableDefinition<'_, Root, (u64, u64)> = TableDefinition::new("works");
/// The roots in the order in which their work was found, so that the oldest can be forgotten.
const ORDER: TableDefinition<'_, u64, Root> = TableDefinition::new("order");

/// Works that wait to be written; beyond it they are not remembered.
const BACKLOG: usize = 1024;

/// A file of found works.
#[derive(Debug)]
pub struct Cache {
    database: Arc<Database>,
    works: Option<SyncSender<(Root, u64)>>,
    writer: Option<JoinHandle<()>>,
}

/// Why a cache cannot be used.
pub type Error = redb::Error;

impl Cache {
    /// Opens the file at `path`, which is made if it is not there, for at most `capacity` works.
    ///
    /// # Errors
    /// If it is no such file or a damaged one, or another process has it open.
    pub fn open(path: &Path, capacity: u64) -> Result<Self, Error> {
        let database = Arc::new(opened(path)?);
        let (works, receiver) = sync_channel(BACKLOG);
        let writer = Arc::clone(&database);
        let thread = thread::Builder::new().name("cache".to_owned());
        let writer = thread
            .spawn(move || write(&writer, capacity, &receiver))
            .map_err(redb::Error::Io)?;
        Ok(Self {
            database,
            works: Some(works),
            writer: Some(writer),
        })
    }

    /// Work for `root` with a value of at least `threshold`, and that value.
    pub fn get(&self, root: &Root, threshold: u64) -> Option<(u64, u64)> {
        let nonce = self.nonce(root).unwrap_or_else(|error| {
            error!("cannot read the cache: {error}");
            None
        })?;
        let value = validate(root, nonce);
        (value >= threshold).then_some((nonce, value))
    }

    fn nonce(&self, root: &Root) -> Result<Option<u64>, Error> {
        let works = self.database.begin_read()?.open_table(WORKS)?;
        let found = works.get(root)?.map(|entry| entry.value().0);
        Ok(found)
    }

    /// Remembers work, a little later. Work of a lower value than what is there is not kept.
    pub fn put(&self, root: &Root, nonce: u64) {
        if let Some(works) = &self.works {
            // When works are found faster than the disk takes them, they are not worth keeping.
            let _ = works.try_send((*root, nonce));
        }
    }
}

/// The database at `path` with its tables. The store takes some damage for mistakes of its own and panics,
/// which is no reason for a server not to say what is wrong.
fn opened(path: &Path) -> Result<Database, Error> {
    let open = || {
        let database = Database::create(path)?;
        let transaction = database.begin_write()?;
        transaction.open_table(WORKS)?;
        transaction.open_table(ORDER)?;
        transaction.commit()?;
        Ok(database)
    };
    std::panic::catch_unwind(open)
        .unwrap_or_else(|_| Err(Error::Corrupted("its pages make no sense".to_owned())))
}

impl Drop for Cache {
    /// Waits until everything is written.
    fn drop(&mut self) {
        self.works = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write(database: &Database, capacity: u64, works: &Receiver<(Root, u64)>) {
    while let Ok(first) = works.recv() {
        // Whatever has come in the meantime goes into the same transaction.
        let batch = std::iter::once(first).chain(works.try_iter()).take(BACKLOG);
        if let Err(error) = store(database, capacity, batch) {
            error!("cannot write to the cache: {error}");
        }
    }
}

fn store(
    database: &Database,
    capacity: u64,
    batch: impl Iterator<Item = (Root, u64)>,
) -> Result<(), Error> {
    let mut transaction = database.begin_write()?;
    transaction
        .set_durability(Durability::Immediate)
        .map_err(|error| redb::Error::Io(std::io::Error::other(error)))?;
    {
        let mut works = transaction.open_table(WORKS)?;
        let mut order = transaction.open_table(ORDER)?;
        let mut next = order.last()?.map_or(0, |(number, _)| number.value() + 1);
        for (root, nonce) in batch {
            let known = works.get(root)?.map(|entry| entry.value());
            if let Some((known, number)) = known {
                if validate(&root, known) >= validate(&root, nonce) {
                    continue;
                }
                order.remove(number)?;
            }
            works.insert(root, (nonce, next))?;
            order.insert(next, root)?;
            next += 1;
        }
        while works.len()? > capacity {
            let Some((_, root)) = order
                .pop_first()?
                .map(|(number, root)| (number.value(), root.value()))
            else {
                break;
            };
            works.remove(root)?;
        }
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(path: &Path, capacity: u64, works: &[(Root, u64)]) -> Cache {
        let cache = Cache::open(path, capacity).unwrap();
        for (root, nonce) in works {
            cache.put(root, *nonce);
        }
        drop(cache);
        Cache::open(path, capacity).unwrap()
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("works");
        drop(settled(&path, 10, &[([1; 32], 2)]));
        let sound = std::fs::read(&path).unwrap();
        for kept in [0, 1, 64, 320, 512, 4096] {
            let mut damaged = sound.clone();
            damaged[kept.max(1)..].fill(0);
            std::fs::write(&path, &damaged).unwrap();
            assert!(Cache::open(&path, 10).is_err(), "{kept} bytes kept");
        }
    }

    #[test]
    fn works_are_kept_and_held_against_the_threshold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("works.redb");
        let root = [0; 32];
        let value = validate(&root, 7);
        assert_eq!(value, 0xffa4d350e089b45e);
        let cache = settled(&path, 10, &[(root, 7)]);
        assert_eq!(cache.get(&root, value), Some((7, value)));
        assert_eq!(cache.get(&root, 0), Some((7, value)));
        assert_eq!(cache.get(&root, value + 1), None);
        assert_eq!(cache.get(&[1; 32], 0), None);
        assert!(Cache::open(&path, 10).is_err());
    }

    #[test]
    fn the_better_work_stays() {
        let folder = tempfile::tempdir().unwrap();
        let root = [0; 32];
        let best = 0x5fc6;
        for order in [[7, 0x1147, best], [best, 0x1147, 7], [0x1147, best, 7]] {
            let path = folder.path().join(format!("{order:?}"));
            let cache = settled(&path, 10, &order.map(|nonce| (root, nonce)));
            assert_eq!(cache.get(&root, 0).unwrap().0, best);
        }
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let works: Vec<_> = (0..20u8).map(|root| ([root; 32], 1)).collect();
        let cache = settled(&folder.path().join("works.redb"), 5, &works);
        for root in 0..20 {
            assert_eq!(cache.get(&[root; 32], 0).is_some(), root >= 15, "{root}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "no database".repeat(1000)).unwrap();
        assert!(Cache::open(&path, 5).is_err());
    }
}
