//! Benchmark engine: Lanework's commitment, and its additive encoding.
//!
//! `task=open` opens what it committed to as well. Options: `isa=CHOICE` as on the command line (`avx2`, `avx512,-ifma`, …), `pages=huge|normal`.
//! `engine-lanework micro` times the bare permutations instead.

mod binary;
mod open;

use std::error::Error;
use std::hint::black_box;
use std::num::NonZero;
use std::time::{Duration, Instant};

use bench_protocol::{Format, Job, Sample, column, serve};
use lanework::arch::Choice;
use lanework::arch::memory::Pages;
use lanework::field::KoalaBear;
use lanework::fri::{self, Committer, Params, Sponge, Table};
use lanework::hash::{
    Cell, Digest, MerkleDamgard, PaddingFreeSponge, Poseidon2, RoundConstants, RowHasher,
};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "micro") {
        for choice in Poseidon2::<16>::available() {
            let permutation =
                Poseidon2::<16>::new(&RoundConstants::<16>::plonky3_default(), choice);
            let kernel = permutation.kernel();
            micro(
                16,
                8,
                kernel,
                "plonky3",
                &PaddingFreeSponge::<16, 8>::new(permutation),
            );
            let permutation = Poseidon2::<16>::new(&RoundConstants::<16>::gnark(), choice);
            micro(16, 8, kernel, "gnark", &MerkleDamgard::new(permutation));
        }
        for choice in Poseidon2::<24>::available() {
            let permutation =
                Poseidon2::<24>::new(&RoundConstants::<24>::plonky3_default(), choice);
            let kernel = permutation.kernel();
            micro(
                24,
                16,
                kernel,
                "plonky3",
                &PaddingFreeSponge::<24, 16>::new(permutation),
            );
        }
        return Ok(());
    }
    let job = Job::parse(words)?;
    let choice = match job.option("isa") {
        Some(text) => text.parse()?,
        None => Choice::best(),
    };
    if job.option("task") == Some("open") {
        return open::run(&job, choice);
    }
    let format = match job.format {
        Format::Binary => return binary::run(&job, choice),
        Format::Lineth => fri::Format::Lineth,
        Format::Plonky3Sponge16 => fri::Format::Plonky3 {
            sponge: Sponge::Width16,
        },
        Format::Plonky3Sponge24 => fri::Format::Plonky3 {
            sponge: Sponge::Width24,
        },
    };
    let mut params = Params::builder(format)
        .log_inv_rate(job.log_inv_rate)
        .choice(choice)
        .threads(NonZero::new(job.threads));
    match job.option("pages") {
        Some("huge") => params = params.pages(Pages::Huge),
        Some("normal") => params = params.pages(Pages::Normal),
        Some(other) => return Err(format!("unknown pages: {other}").into()),
        None => {}
    }
    // The pool is made here, the transform in the first sample: the cold sample pays for it, the warm ones do not.
    let committer = Committer::new(params.build()?)?;
    let columns: Vec<Vec<KoalaBear>> = (0..job.columns)
        .map(|index| column(&job, index).map(KoalaBear::new).collect())
        .collect();
    serve(&facts(&job, choice), || {
        let table = Table::borrowed(columns.iter().map(Vec::as_slice).collect())?;
        let start = Instant::now();
        let (commitment, data, report) = committer.commit(vec![table])?;
        let total = start.elapsed();
        committer.recycle(data);
        let root = commitment.root().ok_or("a cap of one digest has a root")?;
        Ok(Sample {
            total,
            encode: report.encode,
            hash: report.hash,
            root: root.to_canonical(),
        })
    })
}

/// What the engine says of itself.
fn facts(job: &Job, choice: Choice) -> String {
    format!(
        "engine=lanework version={} isa={choice} threads={} allocator={}",
        env!("CARGO_PKG_VERSION"),
        job.threads,
        if cfg!(feature = "mimalloc") {
            "mimalloc"
        } else {
            "system"
        },
    )
}

/// Prints the time of one permutation inside the hash of many rows, the least of many short loops.
fn micro(width: usize, rate: usize, kernel: &str, title: &str, hasher: &impl RowHasher) {
    const ROWS: usize = 1 << 10;
    const COLUMNS: usize = 256;
    let columns: Vec<Vec<KoalaBear>> = (0..COLUMNS as u32)
        .map(|index| {
            (0..ROWS as u32)
                .map(|row| KoalaBear::new(index << 20 | row))
                .collect()
        })
        .collect();
    let cells: Vec<Cell<'_>> = columns.iter().map(|column| Cell::Column(column)).collect();
    let mut digests = vec![Digest::default(); ROWS];
    let mut least = Duration::MAX;
    for _ in 0..60 {
        let start = Instant::now();
        hasher.hash_rows(black_box(&cells), 0..ROWS, &mut digests);
        least = least.min(start.elapsed());
    }
    black_box(&digests);
    let permutations = f64::from(u32::try_from(ROWS * COLUMNS / rate).expect("a small count"));
    println!(
        "micro width={width} constants={title} kernel={kernel} ns_per_permutation={:.2}",
        least.as_secs_f64() * 1e9 / permutations
    );
}
