//! Our types against those they stand in for: element by element, then proof by proof.

mod dft;
mod hashes;
mod proofs;
mod trees;

use lanework_arch::{Choice, Feature};
use lanework_plonky3::{LaneworkCompression, LaneworkMmcs, LaneworkPoseidon2, LaneworkSponge};
use lanework_testkit::cases::Rng;
use lanework_testkit::isas;
use p3_field::Field;
use p3_koala_bear::{
    KoalaBear, Poseidon2KoalaBear, default_koalabear_poseidon2_16, default_koalabear_poseidon2_24,
};
use p3_matrix::dense::RowMajorMatrix;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{PaddingFreeSponge, TruncatedPermutation};

type Packing = <KoalaBear as Field>::Packing;
type StockHash = PaddingFreeSponge<Poseidon2KoalaBear<24>, 24, 16, 8>;
type StockCompress = TruncatedPermutation<Poseidon2KoalaBear<16>, 2, 8, 16>;
type StockMmcs = MerkleTreeMmcs<Packing, Packing, StockHash, StockCompress, 2, 8>;

/// Every bundle of this CPU, and those that lower one by a feature; reported.
fn choices(suite: &str) -> Vec<Choice> {
    let mut choices = Choice::available();
    let lowered = choices.iter().filter(|choice| choice.has(Feature::Ifma));
    let lowered: Vec<_> = lowered
        .map(|choice| choice.without(Feature::Ifma))
        .collect();
    choices.extend(lowered);
    let names: Vec<_> = choices.iter().map(ToString::to_string).collect();
    isas::report(suite, &names);
    choices
}

/// Elements with 0, 1 and p - 1 among them.
fn elements(rng: &mut Rng, len: usize) -> Vec<KoalaBear> {
    const P: u32 = 0x7f00_0001;
    let words = rng.words_below(P, len);
    words.into_iter().map(KoalaBear::new).collect()
}

fn matrix(rng: &mut Rng, height: usize, width: usize) -> RowMajorMatrix<KoalaBear> {
    RowMajorMatrix::new(elements(rng, height * width), width)
}

fn hash(choice: Choice) -> LaneworkSponge<24, 16> {
    LaneworkSponge::new(LaneworkPoseidon2::<24>::default().with_choice(choice))
}

fn compress(choice: Choice) -> LaneworkCompression {
    LaneworkCompression::new(LaneworkPoseidon2::<16>::default().with_choice(choice))
}

fn mmcs(choice: Choice, cap_height: usize) -> LaneworkMmcs<24, 16> {
    LaneworkMmcs::new(hash(choice), compress(choice), cap_height)
}

fn stock_hash() -> StockHash {
    StockHash::new(default_koalabear_poseidon2_24())
}

fn stock_compress() -> StockCompress {
    StockCompress::new(default_koalabear_poseidon2_16())
}

fn stock_mmcs(cap_height: usize) -> StockMmcs {
    StockMmcs::new(stock_hash(), stock_compress(), cap_height)
}

/// Runs `work` in a pool of `threads`.
fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("a pool").install(work)
}
