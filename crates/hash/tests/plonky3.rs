//! The published implementation as an outside oracle: `p3-*` 0.8.0.

use lanework_field::KoalaBear;
use lanework_hash::{
    Cell, Compression, Digest, PaddingFreeSponge, Poseidon2, RoundConstants, RowHasher,
    TruncatedPermutation,
};
use p3_field::{PrimeCharacteristicRing, PrimeField32};
use p3_koala_bear::{default_koalabear_poseidon2_16, default_koalabear_poseidon2_24};
use p3_symmetric::{CryptographicHasher, Permutation, PseudoCompressionFunction};

type Theirs = p3_koala_bear::KoalaBear;

fn theirs(element: KoalaBear) -> Theirs {
    Theirs::from_u32(element.to_canonical())
}

fn ours(element: Theirs) -> KoalaBear {
    KoalaBear::new(element.as_canonical_u32())
}

const SEED: u64 = 0x0123_4567_89ab_cdef;

/// A linear congruential generator: its upper half is random enough to compare two functions.
struct Source(u64);

impl Source {
    fn word(&mut self) -> KoalaBear {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        KoalaBear::from_u64(self.0 >> 32)
    }

    fn array<const LEN: usize>(&mut self) -> [KoalaBear; LEN] {
        std::array::from_fn(|_| self.word())
    }
}

fn check_permutation<const WIDTH: usize>(
    permutation: &Poseidon2<WIDTH>,
    oracle: &impl Permutation<[Theirs; WIDTH]>,
) {
    let mut source = Source(SEED);
    let mut states: Vec<[KoalaBear; WIDTH]> = (0..100).map(|_| source.array()).collect();
    let expected: Vec<_> = states
        .iter()
        .map(|state| oracle.permute(state.map(theirs)).map(ours))
        .collect();
    let mut first = states[0];
    permutation.permute(&mut first);
    assert_eq!(first, expected[0], "{permutation:?}");
    permutation.permute_many(&mut states);
    assert_eq!(states, expected, "{permutation:?}, seed {SEED:#x}");
}

fn check_sponge(hasher: &impl RowHasher, oracle: &impl CryptographicHasher<Theirs, [Theirs; 8]>) {
    let mut source = Source(SEED);
    for column_count in [0, 1, 7, 8, 9, 16, 17, 31, 40, 100] {
        let columns: Vec<Vec<_>> = (0..column_count)
            .map(|_| (0..45).map(|_| source.word()).collect())
            .collect();
        let cells: Vec<_> = columns.iter().map(|column| Cell::Column(column)).collect();
        let mut digests = [Digest::ZERO; 45];
        hasher.hash_rows(&cells, 0..45, &mut digests);
        for (row, digest) in digests.iter().enumerate() {
            let expected = oracle.hash_iter(columns.iter().map(|column| theirs(column[row])));
            assert_eq!(
                digest.0,
                expected.map(ours),
                "{column_count} columns, seed {SEED:#x}"
            );
        }
    }
}

#[test]
fn permutations_sponges_and_compressions_equal_plonky3() {
    let oracle_16 = default_koalabear_poseidon2_16();
    let oracle_24 = default_koalabear_poseidon2_24();
    for choice in Poseidon2::<16>::available() {
        let ours_16 = Poseidon2::<16>::new(&RoundConstants::<16>::plonky3_default(), choice);
        let ours_24 = Poseidon2::<24>::new(&RoundConstants::<24>::plonky3_default(), choice);
        check_permutation(&ours_16, &oracle_16);
        check_permutation(&ours_24, &oracle_24);

        let oracle = p3_symmetric::PaddingFreeSponge::<_, 16, 8, 8>::new(oracle_16.clone());
        check_sponge(&PaddingFreeSponge::<16, 8>::new(ours_16.clone()), &oracle);
        let oracle = p3_symmetric::PaddingFreeSponge::<_, 24, 16, 8>::new(oracle_24.clone());
        check_sponge(&PaddingFreeSponge::<24, 16>::new(ours_24), &oracle);

        let oracle = p3_symmetric::TruncatedPermutation::<_, 2, 8, 16>::new(oracle_16.clone());
        let compression = TruncatedPermutation::new(ours_16);
        let mut source = Source(SEED);
        let children: Vec<_> = (0..90).map(|_| Digest(source.array())).collect();
        let mut parents = [Digest::ZERO; 45];
        compression.compress_pairs(&children, &mut parents);
        for (pair, parent) in children.chunks(2).zip(parents) {
            let expected = oracle.compress([pair[0].0.map(theirs), pair[1].0.map(theirs)]);
            assert_eq!(parent.0, expected.map(ours), "{choice}, seed {SEED:#x}");
            assert_eq!(compression.compress(&pair[0], &pair[1]), parent, "{choice}");
        }
    }
}
