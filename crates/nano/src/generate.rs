//! The search on several threads.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::{BATCH, Kernel, Precomputed, Root};

/// Work that was found, and checked by the scalar definition.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Work {
    /// The work itself.
    pub nonce: u64,
    /// Its value, at least the threshold that was asked for.
    pub difficulty: u64,
}

/// Finds work for `root` with a value of at least `threshold`, on `threads` threads.
///
/// It takes [`expected_hashes`](crate::expected_hashes) hashes on average, and does not return before
/// it has found work: [`generate_with`] can be stopped.
pub fn generate(root: &Root, threshold: u64, threads: NonZeroUsize) -> Work {
    let never = AtomicBool::new(false);
    loop {
        if let Some(work) = generate_with(Kernel::best(), root, threshold, threads, &never) {
            return work;
        }
    }
}

/// The same with a kernel of the caller's choice, until `cancel` is set: then it returns `None`, within
/// the time of one [`BATCH`] per thread.
pub fn generate_with(
    kernel: Kernel,
    root: &Root,
    threshold: u64,
    threads: NonZeroUsize,
    cancel: &AtomicBool,
) -> Option<Work> {
    generate_counted(kernel, root, threshold, threads, cancel, &AtomicU64::new(0))
}

/// The same, adding to `hashes` what has been tried, batch by batch, for a display of progress.
pub fn generate_counted(
    kernel: Kernel,
    root: &Root,
    threshold: u64,
    threads: NonZeroUsize,
    cancel: &AtomicBool,
    hashes: &AtomicU64,
) -> Option<Work> {
    let precomputed = Precomputed::new(root);
    let found = OnceLock::new();
    let worker = || {
        let mut start = random_start();
        while !cancel.load(Ordering::Relaxed) && found.get().is_none() {
            if let Some(work) = kernel.find(&precomputed, start, BATCH, threshold) {
                hashes.fetch_add(
                    work.nonce.wrapping_sub(start).wrapping_add(1),
                    Ordering::Relaxed,
                );
                // Another thread may have been first; its work is as good.
                let _ = found.set(work);
                return;
            }
            hashes.fetch_add(BATCH, Ordering::Relaxed);
            start = start.wrapping_add(BATCH);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.get() {
            // Where the system grants no more threads, the search goes on with those there are.
            if thread::Builder::new()
                .name("nano work".into())
                .spawn_scoped(scope, worker)
                .is_err()
            {
                break;
            }
        }
        worker();
    });
    found.into_inner()
}

/// A random nonce, so that threads, and machines that search for the same root, do not overlap: the
/// hash of nothing under keys that the standard library draws from the system.
pub(crate) fn random_start() -> u64 {
    RandomState::new().build_hasher().finish()
}
