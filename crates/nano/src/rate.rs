//! How fast the kernels are here.

use std::num::NonZeroUsize;
use std::thread;
use std::time::{Duration, Instant};

use crate::generate::random_start;
use crate::{Kernel, Precomputed, Root, clock};

/// How fast a kernel searches.
#[derive(Copy, Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HashRate {
    /// The threads that searched.
    pub threads: NonZeroUsize,
    /// The hashes of all threads together.
    pub hashes: u64,
    /// Hashes per second of all threads together.
    pub hashes_per_second: f64,
    /// Cycles of the core for each hash of a thread, or `None` where the core's clock cannot be told.
    ///
    /// It is the lower quartile of many short measurements, so that interruptions do not count.
    pub cycles_per_hash: Option<f64>,
}

/// The nonces of one measurement.
const SLICE: u64 = 16_384;

/// The nonces of one measurement when there is little time.
const TUNING_SLICE: u64 = 512;

/// Searches for `duration` on `threads` threads, for what is practically not there, and tells how fast
/// that was.
///
/// # Panics
/// If the system does not start the threads.
pub fn hash_rate_benchmark(kernel: Kernel, threads: NonZeroUsize, duration: Duration) -> HashRate {
    let precomputed = Precomputed::new(&random_root());
    let runs = thread::scope(|scope| {
        let measure = || Run::measure(kernel, &precomputed, duration);
        let others: Vec<_> = (1..threads.get()).map(|_| scope.spawn(measure)).collect();
        let mut runs = vec![measure()];
        runs.extend(others.into_iter().filter_map(|thread| thread.join().ok()));
        runs
    });
    let mut cycles: Vec<_> = runs
        .iter()
        .flat_map(|run| &run.cycles_per_hash)
        .copied()
        .collect();
    cycles.sort_unstable_by(f64::total_cmp);
    HashRate {
        threads,
        hashes: runs.iter().map(|run| run.hashes).sum(),
        hashes_per_second: runs.iter().map(Run::hashes_per_second).sum(),
        cycles_per_hash: cycles.get(cycles.len() / 4).copied(),
    }
}

/// The kernel that is fastest on this machine, found by running each for its share of `budget`.
///
/// Which instructions a CPU has does not tell: some lower their clock for the widest vectors.
pub fn autotune(budget: Duration) -> Kernel {
    let kernels = Kernel::available();
    let share = budget / kernels.len() as u32;
    let precomputed = Precomputed::new(&random_root());
    let time_of_slice = |kernel: Kernel| {
        let start = Instant::now();
        let mut times = Vec::new();
        while times.is_empty() || start.elapsed() < share {
            times.push(time(kernel, &precomputed, random_start(), TUNING_SLICE));
        }
        times.sort_unstable();
        times[times.len() / 4]
    };
    let timed = kernels
        .iter()
        .map(|&kernel| (time_of_slice(kernel), kernel));
    match timed.min_by_key(|&(time, _)| time) {
        Some((_, kernel)) => kernel,
        None => Kernel::scalar(),
    }
}

/// What one thread found out.
struct Run {
    hashes: u64,
    /// The time of the search alone.
    busy: Duration,
    cycles_per_hash: Vec<f64>,
}

impl Run {
    fn measure(kernel: Kernel, precomputed: &Precomputed, duration: Duration) -> Self {
        let mut run = Self {
            hashes: 0,
            busy: Duration::ZERO,
            cycles_per_hash: Vec::new(),
        };
        let start = Instant::now();
        let mut nonce = random_start();
        while run.hashes == 0 || start.elapsed() < duration {
            let elapsed = time(kernel, precomputed, nonce, SLICE);
            if let Some(chain) = clock::chain() {
                run.cycles_per_hash
                    .push(clock::cycles(elapsed, chain) / float(SLICE));
            }
            run.hashes += SLICE;
            run.busy += elapsed;
            nonce = nonce.wrapping_add(SLICE);
        }
        run
    }

    fn hashes_per_second(&self) -> f64 {
        float(self.hashes) / self.busy.as_secs_f64()
    }
}

fn time(kernel: Kernel, precomputed: &Precomputed, start: u64, count: u64) -> Duration {
    let begin = Instant::now();
    std::hint::black_box(kernel.search(precomputed, start, count, u64::MAX));
    begin.elapsed()
}

#[expect(clippy::cast_precision_loss, reason = "rates have fewer digits")]
fn float(count: u64) -> f64 {
    count as f64
}

fn random_root() -> Root {
    let mut root = [0; 32];
    let (words, _) = root.as_chunks_mut::<8>();
    for word in words {
        *word = random_start().to_le_bytes();
    }
    root
}
