//! Benchmark engine: Plonky3's own LDE and Merkle commitment, as its two-adic PCS performs them.
//!
//! `task=open` opens what it committed to as well. Options: `dft=dit-parallel|small-batch|recursive`; with `format=binary`, `field=poly|tower`. `pool=COUNT`
//! makes so many threads instead of the job's. `engine-plonky3 micro` times the bare permutations instead.

mod binary;
mod open;

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bench_protocol::{Format, Job, Sample, column, serve};
use p3_commit::Mmcs;
use p3_dft::{Radix2DFTSmallBatch, Radix2DitParallel, TwoAdicSubgroupDft};
use p3_field::{Field, PackedValue, PrimeCharacteristicRing, PrimeField32};
use p3_koala_bear::{
    KoalaBear, Poseidon2KoalaBear, default_koalabear_poseidon2_16, default_koalabear_poseidon2_24,
};
use p3_matrix::Matrix;
use p3_matrix::bitrev::BitReversibleMatrix;
use p3_matrix::dense::RowMajorMatrix;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_monty_31::dft::RecursiveDft;
use p3_symmetric::{CryptographicPermutation, PaddingFreeSponge, TruncatedPermutation};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Packed = <KoalaBear as Field>::Packing;
type Perm16 = Poseidon2KoalaBear<16>;
type Perm24 = Poseidon2KoalaBear<24>;
type Compress = TruncatedPermutation<Perm16, 2, 8, 16>;
type Tree<H> = MerkleTreeMmcs<Packed, Packed, H, Compress, 2, 8>;
type Sponge16 = PaddingFreeSponge<Perm16, 16, 8, 8>;
type Sponge24 = PaddingFreeSponge<Perm24, 24, 16, 8>;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "micro") {
        micro(16, &default_koalabear_poseidon2_16());
        micro(24, &default_koalabear_poseidon2_24());
        return Ok(());
    }
    let job = Job::parse(words)?;
    let threads = match job.option("pool") {
        Some(count) => count.parse()?,
        None => job.threads,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    if job.option("task") == Some("open") {
        return open::run(&job, &pool);
    }
    if job.format == Format::Binary {
        return binary::run(&job, &pool);
    }
    match job.option("dft").unwrap_or("dit-parallel") {
        "dit-parallel" => with_dft::<Radix2DitParallel<KoalaBear>>(&job, &pool),
        "small-batch" => with_dft::<Radix2DFTSmallBatch<KoalaBear>>(&job, &pool),
        "recursive" => with_dft::<RecursiveDft<KoalaBear>>(&job, &pool),
        other => Err(format!("unknown dft: {other}").into()),
    }
}

fn with_dft<D: TwoAdicSubgroupDft<KoalaBear> + Sync>(
    job: &Job,
    pool: &rayon::ThreadPool,
) -> Result<(), Box<dyn Error>> {
    let compress = Compress::new(default_koalabear_poseidon2_16());
    match job.format {
        Format::Plonky3Sponge16 => {
            let sponge = Sponge16::new(default_koalabear_poseidon2_16());
            run::<D, _>(job, pool, &Tree::new(sponge, compress, 0))
        }
        Format::Plonky3Sponge24 => {
            let sponge = Sponge24::new(default_koalabear_poseidon2_24());
            run::<D, _>(job, pool, &Tree::new(sponge, compress, 0))
        }
        Format::Lineth | Format::Binary => Err("plonky3 has no such tree".into()),
    }
}

fn run<D, M>(job: &Job, pool: &rayon::ThreadPool, tree: &M) -> Result<(), Box<dyn Error>>
where
    D: TwoAdicSubgroupDft<KoalaBear> + Sync,
    M: Mmcs<KoalaBear, Commitment = p3_symmetric::MerkleCap<KoalaBear, [KoalaBear; 8]>> + Sync,
    M::ProverData<RowMajorMatrix<KoalaBear>>: Send,
{
    let table = row_major(job);
    // Twiddles are made in the first sample and kept: the cold sample pays for them, the warm ones do not.
    let dft = D::default();
    let mut values = with_room(&table, job.log_inv_rate);
    let facts = facts(job, &format!("packing={}", Packed::WIDTH));
    serve(&facts, || {
        // The commitment consumes its input. The next copy is made outside the timed part, with room for the whole
        // codeword, so that Plonky3's in-place extension never moves it.
        let input = RowMajorMatrix::new(std::mem::take(&mut values), job.columns);
        let (sample, data) = pool.install(|| {
            let start = Instant::now();
            let codeword = dft
                .coset_lde_batch(input, job.log_inv_rate as usize, KoalaBear::GENERATOR)
                .bit_reverse_rows()
                .to_row_major_matrix();
            let encoded = Instant::now();
            let (commitment, data) = tree.commit(vec![codeword]);
            let done = Instant::now();
            let sample = Sample {
                total: done - start,
                encode: encoded - start,
                hash: done - encoded,
                root: commitment.roots()[0].map(|limb| limb.as_canonical_u32()),
            };
            (sample, data)
        });
        drop(data);
        values = with_room(&table, job.log_inv_rate);
        Ok(sample)
    })?;
    Ok(())
}

/// What the engine says of itself.
fn facts(job: &Job, vectors: &str) -> String {
    format!(
        "engine=plonky3 version=0.9.0-rc.2 {vectors} threads={} allocator={}",
        job.threads,
        if cfg!(feature = "mimalloc") {
            "mimalloc"
        } else {
            "system"
        },
    )
}

fn row_major(job: &Job) -> Vec<KoalaBear> {
    let mut table = KoalaBear::zero_vec(job.rows() * job.columns);
    for index in 0..job.columns {
        for (row, cell) in column(job, index).enumerate() {
            table[row * job.columns + index] = KoalaBear::new(cell);
        }
    }
    table
}

fn with_room(table: &[KoalaBear], log_inv_rate: u32) -> Vec<KoalaBear> {
    let mut values = Vec::with_capacity(table.len() << log_inv_rate);
    values.extend_from_slice(table);
    values
}

/// Prints the time of one permutation when a full vector of them runs, the least of many short loops.
fn micro<const WIDTH: usize>(
    width: usize,
    permutation: &impl CryptographicPermutation<[Packed; WIDTH]>,
) {
    const STATES: usize = 16;
    const ROUNDS: usize = 64;
    let mut states = [[Packed::from(KoalaBear::new(width as u32)); WIDTH]; STATES];
    let mut least = Duration::MAX;
    for _ in 0..400 {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            for state in black_box(&mut states) {
                permutation.permute_mut(state);
            }
        }
        least = least.min(start.elapsed());
    }
    black_box(&states);
    let permutations =
        f64::from(u32::try_from(STATES * ROUNDS * Packed::WIDTH).expect("a small count"));
    println!(
        "micro width={width} packing={} ns_per_permutation={:.2}",
        Packed::WIDTH,
        least.as_secs_f64() * 1e9 / permutations
    );
}
