//! Work that was found before, in a file.

use lanework_nano::Root;

/// The store.
#[derive(Debug)]
pub struct Cache;

impl Cache {
    /// Work for `root` with a value of at least `threshold`, and that value.
    pub fn get(&self, _root: &Root, _threshold: u64) -> Option<(u64, u64)> {
        None
    }

    /// Remembers work.
    pub fn put(&self, _root: &Root, _nonce: u64, _value: u64) {}
}
