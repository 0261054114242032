//! Whole provers with our types: the bytes of the stock prover's proofs, which the stock verifier takes.

use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_plonky3::{LaneworkDft, LaneworkMmcs, LaneworkPoseidon2};
use p3_air::{Air, AirBuilder, BaseAir, WindowAccess};
use p3_batch_stark::{ProverData, StarkInstance, prove_batch, verify_batch};
use p3_blake3_air::Blake3Air;
use p3_challenger::DuplexChallenger;
use p3_commit::ExtensionMmcs;
use p3_dft::Radix2DitParallel;
use p3_field::PrimeCharacteristicRing;
use p3_field::extension::BinomialExtensionField;
use p3_fri::{FriParameters, TwoAdicFriPcs};
use p3_keccak_air::KeccakAir;
use p3_koala_bear::{
    GenericPoseidon2LinearLayersKoalaBear, KOALABEAR_POSEIDON2_HALF_FULL_ROUNDS,
    KOALABEAR_POSEIDON2_PARTIAL_ROUNDS_16, KOALABEAR_S_BOX_DEGREE, KoalaBear, Poseidon2KoalaBear,
    default_koalabear_poseidon2_16,
};
use p3_matrix::dense::RowMajorMatrix;
use p3_poseidon2_air::{RoundConstants, VectorizedPoseidon2Air};
use p3_uni_stark::{Proof, StarkConfig, prove, verify};
use rand::SeedableRng;
use rand::rngs::SmallRng;

use crate::{StockMmcs, choices, in_pool, mmcs, stock_mmcs};

type Challenge = BinomialExtensionField<KoalaBear, 4>;
type Challenger<P> = DuplexChallenger<KoalaBear, P, 16, 8>;
type ChallengeMmcs<M> = ExtensionMmcs<KoalaBear, Challenge, M>;
type Config<D, M, P> =
    StarkConfig<TwoAdicFriPcs<KoalaBear, D, M, ChallengeMmcs<M>>, Challenge, Challenger<P>>;
type StockConfig = Config<Radix2DitParallel<KoalaBear>, StockMmcs, Poseidon2KoalaBear<16>>;
type OurConfig = Config<LaneworkDft, LaneworkMmcs<24, 16>, LaneworkPoseidon2<16>>;

fn parameters<M>(mmcs: M, max_log_arity: usize) -> FriParameters<M> {
    FriParameters {
        log_blowup: 1,
        log_final_poly_len: 0,
        max_log_arity,
        num_queries: 20,
        batch_proof_of_work_bits: 1,
        commit_proof_of_work_bits: 1,
        query_proof_of_work_bits: 8,
        mmcs,
    }
}

fn stock(cap_height: usize) -> StockConfig {
    let mmcs = stock_mmcs(cap_height);
    let fri = parameters(ChallengeMmcs::new(mmcs.clone()), 1 + cap_height);
    let pcs = TwoAdicFriPcs::new(Radix2DitParallel::default(), mmcs, fri);
    StockConfig::new(pcs, Challenger::new(default_koalabear_poseidon2_16()))
}

fn ours(choice: Choice, cap_height: usize) -> OurConfig {
    let mmcs = mmcs(choice, cap_height);
    let fri = parameters(ChallengeMmcs::new(mmcs.clone()), 1 + cap_height);
    let dft = LaneworkDft::with_choice(choice, Caches::detect());
    let permutation = LaneworkPoseidon2::<16>::default().with_choice(choice);
    OurConfig::new(
        TwoAdicFriPcs::new(dft, mmcs, fri),
        Challenger::new(permutation),
    )
}

/// Proves with both, compares the bytes, and has the stock verifier read ours.
macro_rules! assert_same_proof {
    ($air:expr, $trace:expr, $public:expr) => {{
        let trace: RowMajorMatrix<KoalaBear> = $trace;
        let public: &[KoalaBear] = $public;
        for cap_height in [0, 2] {
            let stock = stock(cap_height);
            let expected = prove(&stock, &$air, trace.clone(), public).expect("a proof");
            let expected = postcard::to_allocvec(&expected).expect("bytes");
            for choice in choices("plonky3-proofs") {
                let config = ours(choice, cap_height);
                let proof = in_pool(2, || prove(&config, &$air, trace.clone(), public));
                let bytes = postcard::to_allocvec(&proof.expect("a proof")).expect("bytes");
                assert!(bytes == expected, "cap {cap_height}, {choice}");
                let read: Proof<StockConfig> = postcard::from_bytes(&bytes).expect("a proof");
                verify(&stock, &$air, &read, public).expect("an honest proof");
                // And ours reads the stock one, but not a changed one.
                let read: Proof<OurConfig> = postcard::from_bytes(&expected).expect("a proof");
                verify(&config, &$air, &read, public).expect("an honest proof");
                let mut changed = bytes;
                let last = changed.len() / 2;
                changed[last] ^= 1;
                let read = postcard::from_bytes::<Proof<OurConfig>>(&changed);
                let taken = read.is_ok_and(|proof| verify(&config, &$air, &proof, public).is_ok());
                assert!(!taken, "a changed proof");
            }
        }
    }};
}

/// Two columns, of which each row is the sum of the one before.
#[derive(Clone)]
struct Fibonacci;

impl<F> BaseAir<F> for Fibonacci {
    fn width(&self) -> usize {
        2
    }

    fn num_public_values(&self) -> usize {
        3
    }
}

impl<AB: AirBuilder> Air<AB> for Fibonacci {
    fn eval(&self, builder: &mut AB) {
        let main = builder.main();
        let public = builder.public_values();
        let [first, second, last] = [public[0], public[1], public[2]];
        let (row, next) = (main.current_slice(), main.next_slice());
        let mut at_first = builder.when_first_row();
        at_first.assert_eq(row[0], first);
        at_first.assert_eq(row[1], second);
        let mut between = builder.when_transition();
        between.assert_eq(row[1], next[0]);
        between.assert_eq(row[0] + row[1], next[1]);
        builder.when_last_row().assert_eq(row[1], last);
    }
}

/// The rows, and the public values.
fn fibonacci(log_height: u32) -> (RowMajorMatrix<KoalaBear>, Vec<KoalaBear>) {
    let (mut a, mut b) = (KoalaBear::ZERO, KoalaBear::ONE);
    let mut cells = Vec::new();
    for _ in 0..1 << log_height {
        cells.extend([a, b]);
        (a, b) = (b, a + b);
    }
    (
        RowMajorMatrix::new(cells, 2),
        vec![KoalaBear::ZERO, KoalaBear::ONE, a],
    )
}

#[test]
fn fibonacci_proofs_are_the_stock_ones() {
    for log_height in [3, 10] {
        let (trace, public) = fibonacci(log_height);
        assert_same_proof!(Fibonacci, trace, &public);
    }
}

#[test]
fn keccak_proofs_are_the_stock_ones() {
    let air = KeccakAir {};
    assert_same_proof!(air, air.generate_random_trace_rows(3, 1), &[]);
}

#[test]
fn blake3_proofs_are_the_stock_ones() {
    let air = Blake3Air {};
    assert_same_proof!(air, air.generate_random_trace_rows(32, 1), &[]);
}

#[test]
fn poseidon2_proofs_are_the_stock_ones() {
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
    let constants = RoundConstants::from_rng(&mut SmallRng::seed_from_u64(1));
    let air = Poseidon2Air::new(constants);
    assert_same_proof!(air, air.generate_vectorized_trace_rows(1 << 9, 1), &[]);
}

#[test]
fn proofs_of_several_tables_are_the_stock_ones() {
    let tables: Vec<_> = [9, 4, 7, 9].into_iter().map(fibonacci).collect();
    macro_rules! proof_bytes {
        ($config:expr) => {{
            let config = &$config;
            let instances: Vec<_> = tables
                .iter()
                .map(|(trace, public)| StarkInstance {
                    air: &Fibonacci,
                    trace,
                    public_values: public.clone(),
                })
                .collect();
            let data = ProverData::from_instances(config, &instances).expect("shapes");
            let proof = prove_batch(config, &instances, &data).expect("a proof");
            (postcard::to_allocvec(&proof).expect("bytes"), data)
        }};
    }
    let stock = stock(0);
    let (expected, data) = proof_bytes!(stock);
    let public: Vec<_> = tables.iter().map(|(_, public)| public.clone()).collect();
    for choice in choices("plonky3-proofs") {
        let (bytes, _) = proof_bytes!(ours(choice, 0));
        assert!(bytes == expected, "{choice}");
        let proof = postcard::from_bytes(&bytes).expect("a proof");
        let airs = vec![Fibonacci; tables.len()];
        verify_batch(&stock, &airs, &proof, &public, &data.common).expect("an honest proof");
    }
}
