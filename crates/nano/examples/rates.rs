//! How fast every kernel of this machine is, next to the generic `blake2` crate, in interleaved runs.
//!
//! ```sh
//! cargo run --release -p lanework-nano --example rates -- [THREADS [ROUNDS]]
//! ```

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use blake2::digest::consts::U8;
use blake2::{Blake2b, Digest};
use lanework_nano::{Kernel, Root, hash_rate_benchmark};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let threads = arguments
        .next()
        .map_or(Ok(NonZeroUsize::MIN), |text| text.parse())?;
    let rounds = arguments.next().map_or(Ok(20), |text| text.parse())?;

    let kernels = Kernel::available();
    let mut rates = vec![Vec::new(); kernels.len()];
    let mut cycles = vec![Vec::new(); kernels.len()];
    let mut generic = Vec::new();
    for _ in 0..rounds {
        for (i, &kernel) in kernels.iter().enumerate() {
            let rate = hash_rate_benchmark(kernel, threads, Duration::from_millis(100));
            rates[i].push(rate.hashes_per_second);
            cycles[i].extend(rate.cycles_per_hash);
        }
        generic.push(generic_rate(Duration::from_millis(50)));
    }
    println!("kernel     threads  MH/s best  MH/s median  cycles/hash best  median");
    for ((kernel, mut rates), mut cycles) in kernels.into_iter().zip(rates).zip(cycles) {
        rates.sort_by(f64::total_cmp);
        cycles.sort_by(f64::total_cmp);
        println!(
            "{:10} {threads:7}  {:9.2}  {:11.2}  {:16.1}  {:6.1}",
            kernel.name(),
            rates.last().unwrap_or(&0.0) / 1e6,
            rates[rates.len() / 2] / 1e6,
            cycles.first().unwrap_or(&0.0),
            cycles.get(cycles.len() / 2).unwrap_or(&0.0),
        );
    }
    generic.sort_by(f64::total_cmp);
    println!(
        "{:10} {:7}  {:9.2}  {:11.2}",
        "(blake2)",
        1,
        generic.last().unwrap_or(&0.0) / 1e6,
        generic[generic.len() / 2] / 1e6
    );
    Ok(())
}

/// Hashes per second of one thread with the generic implementation.
fn generic_rate(duration: Duration) -> f64 {
    let root: Root = [7; 32];
    let start = Instant::now();
    let mut hashes = 0u32;
    while start.elapsed() < duration {
        for _ in 0..1000 {
            let digest = Blake2b::<U8>::new()
                .chain_update(u64::from(hashes).to_le_bytes())
                .chain_update(root)
                .finalize();
            std::hint::black_box(digest);
            hashes += 1;
        }
    }
    f64::from(hashes) / start.elapsed().as_secs_f64()
}
