//! Benchmark engine: whole proofs of Plonky3 0.8.0, with its own types and with ours in their place.
//!
//! Words are `air=poseidon2|keccak`, `log_permutations=N`, `types=stock|lanework`, `threads=T` and `verify=yes`. It
//! prints `ready` and proves once for every line it reads, as other engines do. A sample has the whole time and
//! that of the phases: `lde`, `trees` (of all commitments, those of FRI included), `quotient` (constraints), `open`
//! (the rest of the opening, `grind` included) and the digest of the proof's bytes, which is the same for both types.

mod timed;

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use lanework_plonky3::{
    LaneworkCompression, LaneworkDft, LaneworkMmcs, LaneworkPoseidon2, LaneworkSponge,
};
use p3_challenger::DuplexChallenger;
use p3_commit::ExtensionMmcs;
use p3_dft::Radix2DitParallel;
use p3_field::extension::BinomialExtensionField;
use p3_field::{Field, PackedValue};
use p3_fri::{FriParameters, TwoAdicFriPcs};
use p3_keccak_air::KeccakAir;
use p3_koala_bear::{
    GenericPoseidon2LinearLayersKoalaBear, KOALABEAR_POSEIDON2_HALF_FULL_ROUNDS,
    KOALABEAR_POSEIDON2_PARTIAL_ROUNDS_16, KOALABEAR_S_BOX_DEGREE, KoalaBear, Poseidon2KoalaBear,
    default_koalabear_poseidon2_16, default_koalabear_poseidon2_24,
};
use p3_matrix::dense::RowMajorMatrix;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_poseidon2_air::{RoundConstants, VectorizedPoseidon2Air};
use p3_symmetric::{PaddingFreeSponge, TruncatedPermutation};
use p3_uni_stark::{StarkConfig, prove, verify};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use timed::{Clock, ROWS, TRANSFORMS, TREES, TimedDft, TimedMmcs};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What can go wrong, in a thread of the pool too.
type Failure = Box<dyn Error + Send + Sync>;

type Challenge = BinomialExtensionField<KoalaBear, 4>;
type Pcs<D, M> = TwoAdicFriPcs<
    KoalaBear,
    TimedDft<D>,
    TimedMmcs<M>,
    ExtensionMmcs<KoalaBear, Challenge, TimedMmcs<M>>,
>;
/// The configuration of a prover.
type Config<D, M, P> = StarkConfig<Pcs<D, M>, Challenge, DuplexChallenger<KoalaBear, P, 16, 8>>;

type Packing = <KoalaBear as Field>::Packing;
type StockHash = PaddingFreeSponge<Poseidon2KoalaBear<24>, 24, 16, 8>;
type StockCompress = TruncatedPermutation<Poseidon2KoalaBear<16>, 2, 8, 16>;
type StockMmcs = MerkleTreeMmcs<Packing, Packing, StockHash, StockCompress, 2, 8>;

type Poseidon2Air = VectorizedPoseidon2Air<
    KoalaBear,
    GenericPoseidon2LinearLayersKoalaBear,
    16,
    KOALABEAR_S_BOX_DEGREE,
    0,
    KOALABEAR_POSEIDON2_HALF_FULL_ROUNDS,
    KOALABEAR_POSEIDON2_PARTIAL_ROUNDS_16,
    8,
>;

/// A prover of commitments of one of the two kinds.
macro_rules! config {
    ($permutation:expr, $dft:expr, $mmcs:expr) => {{
        let mmcs = TimedMmcs($mmcs);
        let parameters = FriParameters::new_benchmark(ExtensionMmcs::new(mmcs.clone()));
        let pcs = Pcs::new(TimedDft($dft), mmcs, parameters);
        Config::new(pcs, DuplexChallenger::new($permutation))
    }};
}

/// Proves with `config` what the job asks for.
macro_rules! with_config {
    ($config:expr, $job:expr) => {{
        let permutations = 1 << $job.log_permutations;
        match $job.air.as_str() {
            "poseidon2" => {
                let constants = RoundConstants::from_rng(&mut SmallRng::seed_from_u64(1));
                let air = Poseidon2Air::new(constants);
                let trace = || air.generate_vectorized_trace_rows(permutations, 1);
                serve!($config, &air, trace(), $job)
            }
            "keccak" => {
                let trace = || KeccakAir {}.generate_random_trace_rows(permutations, 1);
                serve!($config, &KeccakAir {}, trace(), $job)
            }
            other => Err(format!("unknown air: {other}").into()),
        }
    }};
}

/// Serves samples of proofs of the rows that `trace` makes.
macro_rules! serve {
    ($config:expr, $air:expr, $trace:expr, $job:expr) => {{
        let (config, air) = ($config, $air);
        let samples = || {
            let trace: RowMajorMatrix<KoalaBear> = $trace;
            let start = Instant::now();
            let proof = prove(&config, air, trace, &[]).map_err(|error| format!("{error:?}"))?;
            let total = start.elapsed();
            if $job.check {
                verify(&config, air, &proof, &[]).map_err(|error| format!("{error:?}"))?;
            }
            Ok((total, postcard::to_allocvec(&proof)?))
        };
        serve(&$job, samples)
    }};
}

fn main() -> Result<(), Failure> {
    let job = Job::parse(std::env::args().skip(1))?;
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Phases))?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(job.threads)
        .build()?;
    pool.install(|| match job.types.as_str() {
        "stock" => {
            let permutation = default_koalabear_poseidon2_16();
            let hash = StockHash::new(default_koalabear_poseidon2_24());
            let mmcs = StockMmcs::new(hash, StockCompress::new(permutation.clone()), 0);
            let dft = Radix2DitParallel::default();
            with_config!(config!(permutation, dft, mmcs), job)
        }
        "lanework" => {
            let permutation = LaneworkPoseidon2::<16>::default();
            let hash = LaneworkSponge::new(LaneworkPoseidon2::<24>::default());
            let compress = LaneworkCompression::new(permutation.clone());
            let mmcs = LaneworkMmcs::<24, 16>::new(hash, compress, 0);
            with_config!(config!(permutation, LaneworkDft::default(), mmcs), job)
        }
        other => Err(format!("unknown types: {other}").into()),
    })
}

/// What the words of the command line ask for.
struct Job {
    air: String,
    log_permutations: u32,
    types: String,
    threads: usize,
    check: bool,
}

impl Job {
    fn parse(words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut job = Self {
            air: "poseidon2".to_owned(),
            log_permutations: 10,
            types: "lanework".to_owned(),
            threads: 1,
            check: false,
        };
        for word in words {
            match word.split_once('=') {
                Some(("air", value)) => value.clone_into(&mut job.air),
                Some(("log_permutations", value)) => job.log_permutations = value.parse()?,
                Some(("types", value)) => value.clone_into(&mut job.types),
                Some(("threads", value)) => job.threads = value.parse()?,
                Some(("verify", value)) => job.check = value == "yes",
                _ => return Err(format!("unknown word: {word}").into()),
            }
        }
        Ok(job)
    }
}

/// Prints `ready`, then one sample for every line of standard input.
fn serve(
    job: &Job,
    samples: impl Fn() -> Result<(Duration, Vec<u8>), Failure>,
) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let packing = <Packing as PackedValue>::WIDTH;
    writeln!(
        out,
        "ready engine=stark version=0.8.0 types={} packing={packing}",
        job.types
    )?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        line?;
        for clock in [&TRANSFORMS, &TREES, &ROWS, &QUOTIENT, &OPEN] {
            clock.take();
        }
        let (total, proof) = samples()?;
        writeln!(
            out,
            "sample total_ns={} lde_ns={} trees_ns={} quotient_ns={} open_ns={} proof_bytes={} proof={:016x}",
            total.as_nanos(),
            TRANSFORMS.read().as_nanos(),
            TREES.read().as_nanos(),
            QUOTIENT.read().as_nanos(),
            OPEN.read().as_nanos(),
            proof.len(),
            digest(&proof),
        )?;
        out.flush()?;
    }
    Ok(())
}

/// FNV-1a: enough to tell whether two honest provers differ.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |state, &byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Constraint evaluation.
static QUOTIENT: Clock = Clock::new();
/// The opening without the trees that it commits to.
static OPEN: Clock = Clock::new();

/// Adds up the spans that Plonky3 reports.
struct Phases;

/// When a span began, and what the trees had taken until then.
struct Begin(Instant, Duration);

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Phases {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: Context<'_, S>) -> bool {
        clock(metadata.name()).is_some()
    }

    fn on_enter(&self, id: &tracing::span::Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let begin = Begin(Instant::now(), TREES.read());
            span.extensions_mut().insert(begin);
        }
    }

    fn on_exit(&self, id: &tracing::span::Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let (Some(clock), Some(Begin(start, trees))) =
            (clock(span.name()), span.extensions_mut().remove::<Begin>())
        {
            let in_trees = TREES.read().saturating_sub(trees);
            clock.add(start.elapsed().saturating_sub(in_trees));
        }
    }
}

fn clock(span: &str) -> Option<&'static Clock> {
    match span {
        "quotient_values" => Some(&QUOTIENT),
        "open" => Some(&OPEN),
        _ => None,
    }
}
