//! Proves Poseidon2 permutations with our types, and verifies the proof with Plonky3's own:
//!
//! ```sh
//! cargo run --release -p lanework-plonky3 --example plonky3_prove -- 12
//! ```
//!
//! The number is the logarithm of how many permutations. `docs/plonky3.md` explains the types.

use std::error::Error;
use std::time::Instant;

use lanework_plonky3::{
    LaneworkCompression, LaneworkDft, LaneworkMmcs, LaneworkPoseidon2, LaneworkSponge,
};
use p3_challenger::DuplexChallenger;
use p3_commit::ExtensionMmcs;
use p3_dft::Radix2DitParallel;
use p3_field::Field;
use p3_field::extension::BinomialExtensionField;
use p3_fri::{FriParameters, TwoAdicFriPcs};
use p3_koala_bear::{
    GenericPoseidon2LinearLayersKoalaBear, KOALABEAR_POSEIDON2_HALF_FULL_ROUNDS,
    KOALABEAR_POSEIDON2_PARTIAL_ROUNDS_16, KOALABEAR_S_BOX_DEGREE, KoalaBear, Poseidon2KoalaBear,
    default_koalabear_poseidon2_16, default_koalabear_poseidon2_24,
};
use p3_merkle_tree::MerkleTreeMmcs;
use p3_poseidon2_air::{RoundConstants, VectorizedPoseidon2Air};
use p3_symmetric::{PaddingFreeSponge, TruncatedPermutation};
use p3_uni_stark::{Proof, StarkConfig, prove, verify};
use rand::SeedableRng;
use rand::rngs::SmallRng;

type Val = KoalaBear;
type Challenge = BinomialExtensionField<Val, 4>;

/// The prover's types.
mod ours {
    use super::{
        Challenge, DuplexChallenger, ExtensionMmcs, LaneworkCompression, LaneworkDft, LaneworkMmcs,
        LaneworkPoseidon2, LaneworkSponge, StarkConfig, TwoAdicFriPcs, Val,
    };

    pub(super) type Perm16 = LaneworkPoseidon2<16>;
    pub(super) type Perm24 = LaneworkPoseidon2<24>;
    pub(super) type Hash = LaneworkSponge<24, 16>;
    pub(super) type Compress = LaneworkCompression;
    pub(super) type ValMmcs = LaneworkMmcs<24, 16>;
    pub(super) type Dft = LaneworkDft;
    pub(super) type ChallengeMmcs = ExtensionMmcs<Val, Challenge, ValMmcs>;
    pub(super) type Pcs = TwoAdicFriPcs<Val, Dft, ValMmcs, ChallengeMmcs>;
    pub(super) type Config = StarkConfig<Pcs, Challenge, DuplexChallenger<Val, Perm16, 16, 8>>;
}

/// The verifier's.
mod stock {
    use super::{
        Challenge, DuplexChallenger, ExtensionMmcs, Field, MerkleTreeMmcs, PaddingFreeSponge,
        Poseidon2KoalaBear, Radix2DitParallel, StarkConfig, TruncatedPermutation, TwoAdicFriPcs,
        Val,
    };

    pub(super) type Perm16 = Poseidon2KoalaBear<16>;
    pub(super) type Perm24 = Poseidon2KoalaBear<24>;
    pub(super) type Hash = PaddingFreeSponge<Perm24, 24, 16, 8>;
    pub(super) type Compress = TruncatedPermutation<Perm16, 2, 8, 16>;
    type Packing = <Val as Field>::Packing;
    pub(super) type ValMmcs = MerkleTreeMmcs<Packing, Packing, Hash, Compress, 2, 8>;
    pub(super) type Dft = Radix2DitParallel<Val>;
    pub(super) type ChallengeMmcs = ExtensionMmcs<Val, Challenge, ValMmcs>;
    pub(super) type Pcs = TwoAdicFriPcs<Val, Dft, ValMmcs, ChallengeMmcs>;
    pub(super) type Config = StarkConfig<Pcs, Challenge, DuplexChallenger<Val, Perm16, 16, 8>>;
}

/// A configuration with the types of a module: the same lines for both.
macro_rules! config {
    ($types:ident, $perm16:expr, $perm24:expr) => {{
        let (perm16, perm24): ($types::Perm16, $types::Perm24) = ($perm16, $perm24);
        let hash = $types::Hash::new(perm24);
        let compress = $types::Compress::new(perm16.clone());
        let val_mmcs = $types::ValMmcs::new(hash, compress, 0);
        let challenge_mmcs = $types::ChallengeMmcs::new(val_mmcs.clone());
        let fri = FriParameters::new_benchmark(challenge_mmcs);
        let pcs = $types::Pcs::new($types::Dft::default(), val_mmcs, fri);
        $types::Config::new(pcs, DuplexChallenger::new(perm16))
    }};
}

type Air = VectorizedPoseidon2Air<
    Val,
    GenericPoseidon2LinearLayersKoalaBear,
    16,
    KOALABEAR_S_BOX_DEGREE,
    0,
    KOALABEAR_POSEIDON2_HALF_FULL_ROUNDS,
    KOALABEAR_POSEIDON2_PARTIAL_ROUNDS_16,
    8,
>;

fn main() -> Result<(), Box<dyn Error>> {
    let log_permutations = match std::env::args().nth(1) {
        Some(number) => number.parse()?,
        None => 12_u32,
    };
    let air = Air::new(RoundConstants::from_rng(&mut SmallRng::seed_from_u64(1)));
    let prover = config!(
        ours,
        LaneworkPoseidon2::<16>::default(),
        LaneworkPoseidon2::<24>::default()
    );
    let verifier = config!(
        stock,
        default_koalabear_poseidon2_16(),
        default_koalabear_poseidon2_24()
    );

    println!(
        "kernel of the trees: {}",
        LaneworkPoseidon2::<24>::default().kernel()
    );
    let trace = air.generate_vectorized_trace_rows(1 << log_permutations, 1);
    let start = Instant::now();
    let proof = prove(&prover, &air, trace, &[]).map_err(|error| format!("{error:?}"))?;
    println!(
        "2^{log_permutations} permutations proven in {:?}",
        start.elapsed()
    );

    let bytes = postcard::to_allocvec(&proof)?;
    let read: Proof<stock::Config> = postcard::from_bytes(&bytes)?;
    verify(&verifier, &air, &read, &[]).map_err(|error| format!("{error:?}"))?;
    println!(
        "{} bytes, which the verifier with Plonky3's own types accepts",
        bytes.len()
    );
    Ok(())
}
