//! Order of proof: generators of the constants, published vectors on the scalar definition, every
//! back end against the scalar definition.

use lanework_arch::Choice;
use lanework_field::KoalaBear;
use lanework_testkit::cases::{Rng, edge_words, lengths};
use lanework_testkit::isas;
use lanework_testkit::vectors::{self, Vector, koalabear};
use sha3::Digest as _;

use super::table::{Absorb, Feed};
use super::{Poseidon2, RoundConstants, portable, scalar};
use crate::{
    Cell, Compression, Digest, Error, MerkleDamgard, PaddingFreeSponge, Part, RowHasher,
    TruncatedPermutation,
};

const P: u32 = lanework_field::koala::spec::P;

// ---- constants from their generators

/// The Grain LFSR of the Poseidon paper, as Plonky3 uses it for its default tables.
struct Grain {
    state: std::collections::VecDeque<bool>,
}

impl Grain {
    fn new(width: u32, full_rounds: u32, partial_rounds: u32) -> Self {
        let mut state = std::collections::VecDeque::new();
        for (value, bits) in [
            (1, 2),
            (0, 4),
            (31, 12),
            (width, 12),
            (full_rounds, 10),
            (partial_rounds, 10),
        ] {
            state.extend((0..bits).rev().map(|bit| value >> bit & 1 == 1));
        }
        state.extend([true; 30]);
        let mut grain = Self { state };
        for _ in 0..160 {
            grain.step();
        }
        grain
    }

    fn step(&mut self) -> bool {
        let bit = [62, 51, 38, 23, 13, 0]
            .into_iter()
            .fold(false, |bit, i| bit ^ self.state[i]);
        self.state.pop_front();
        self.state.push_back(bit);
        bit
    }

    fn bit(&mut self) -> bool {
        loop {
            let (keep, bit) = (self.step(), self.step());
            if keep {
                return bit;
            }
        }
    }

    fn word(&mut self) -> KoalaBear {
        loop {
            let word = (0..31).fold(0, |word, _| word << 1 | u32::from(self.bit()));
            if let Ok(word) = KoalaBear::from_canonical(word) {
                return word;
            }
        }
    }
}

fn draw_rows<const WIDTH: usize>(
    count: usize,
    mut word: impl FnMut() -> KoalaBear,
) -> Vec<[KoalaBear; WIDTH]> {
    (0..count)
        .map(|_| std::array::from_fn(|_| word()))
        .collect()
}

fn grain_constants<const WIDTH: usize>(partial_rounds: u32) -> RoundConstants<WIDTH> {
    let mut grain = Grain::new(WIDTH as u32, 8, partial_rounds);
    let initial = draw_rows(4, || grain.word());
    let internal = (0..partial_rounds).map(|_| grain.word()).collect();
    let terminal = draw_rows(4, || grain.word());
    RoundConstants::new(initial, internal, terminal).expect("equal halves")
}

#[test]
fn plonky3_tables_come_from_the_grain_generator() {
    assert_eq!(RoundConstants::<16>::plonky3_default(), grain_constants(20));
    assert_eq!(RoundConstants::<24>::plonky3_default(), grain_constants(23));
}

fn keccak(data: &[u8]) -> [u8; 32] {
    sha3::Keccak256::digest(data).into()
}

fn gnark_constants<const WIDTH: usize>() -> RoundConstants<WIDTH> {
    let mut r = keccak(format!("Poseidon2-koalabear[t={WIDTH},rF=6,rP=21,d=3]").as_bytes());
    let mut word = || {
        r = keccak(&r);
        let residue = r.iter().fold(0, |residue, &byte| {
            (residue << 8 | u64::from(byte)) % u64::from(P)
        });
        KoalaBear::from_u64(residue)
    };
    let initial = draw_rows(3, &mut word);
    let internal = (0..21).map(|_| word()).collect();
    let terminal = draw_rows(3, &mut word);
    RoundConstants::new(initial, internal, terminal).expect("equal halves")
}

#[test]
fn gnark_tables_come_from_keccak() {
    assert_eq!(RoundConstants::<16>::gnark(), gnark_constants());
    assert_eq!(RoundConstants::<24>::gnark(), gnark_constants());
    for vector in koalabear().with_prefix("gnark_seed_digest_") {
        let seed: String = vector.input("ascii");
        let expected: String = vector.output("r0_hex");
        let bytes = (0..32).map(|i| u8::from_str_radix(&expected[2 * i..2 * i + 2], 16));
        assert!(bytes.eq(keccak(seed.as_bytes()).map(Ok)), "{seed}");
    }
}

/// Plonky3's sampler: the drawn word is the Montgomery word.
fn sample(mut next: impl FnMut() -> u64) -> KoalaBear {
    loop {
        if let Ok(word) = KoalaBear::from_montgomery_word((next() >> 33) as u32) {
            return word;
        }
    }
}

/// `Poseidon2::new_from_rng_128` over any generator of 64-bit words.
fn sampled_constants<const WIDTH: usize>(
    partial_rounds: usize,
    mut next: impl FnMut() -> u64,
) -> RoundConstants<WIDTH> {
    let mut word = || sample(&mut next);
    let initial = draw_rows(4, &mut word);
    let terminal = draw_rows(4, &mut word);
    let internal = (0..partial_rounds).map(|_| word()).collect();
    RoundConstants::new(initial, internal, terminal).expect("equal halves")
}

/// Xoroshiro128+ seeded with 1: the constants of Plonky3's own tests.
fn xoroshiro_constants<const WIDTH: usize>(partial_rounds: usize) -> RoundConstants<WIDTH> {
    // `SplitMix64` fills the state from the seed.
    let mut seed = Rng::new(1);
    let (mut a, mut b) = (seed.next_u64(), seed.next_u64());
    sampled_constants(partial_rounds, || {
        let output = a.wrapping_add(b);
        b ^= a;
        a = a.rotate_left(24) ^ b ^ b << 16;
        b = b.rotate_left(37);
        output
    })
}

/// Xoshiro256++ seeded with 1: the constants of Plonky3's examples and benchmarks.
fn xoshiro_constants() -> RoundConstants<16> {
    let mut seed = Rng::new(1);
    let mut s: [u64; 4] = std::array::from_fn(|_| seed.next_u64());
    sampled_constants(20, || {
        let output = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        output
    })
}

#[test]
fn benchmark_tables_come_from_the_seeded_generator() {
    let constants = xoshiro_constants();
    let vector = koalabear().get("smallrng_seed1_w16");
    assert_eq!(
        constants.initial[0][..4],
        output(vector, "initial_first_four")
    );
    assert_eq!(
        constants.terminal[0][..2],
        output(vector, "terminal_first_two")
    );
    assert_eq!(
        constants.internal[..2],
        output(vector, "internal_first_two")
    );
}

/// The published tables, which the vectors' names refer to.
#[test]
fn tables_equal_the_published_ones() {
    check_table(
        "plonky3_default_w16",
        &RoundConstants::<16>::plonky3_default(),
    );
    check_table(
        "plonky3_default_w24",
        &RoundConstants::<24>::plonky3_default(),
    );
    check_table("gnark_w16", &RoundConstants::<16>::gnark());
    check_table("gnark_w24", &RoundConstants::<24>::gnark());
    check_table(
        "plonky3_xoroshiro128plus_seed1_w16",
        &xoroshiro_constants::<16>(20),
    );
    check_table(
        "plonky3_xoroshiro128plus_seed1_w24",
        &xoroshiro_constants::<24>(23),
    );
    assert_eq!(
        scalar::diagonal::<16>()[..],
        elements(&vectors::diagonal("diag_w16"))
    );
    assert_eq!(
        scalar::diagonal::<24>()[..],
        elements(&vectors::diagonal("diag_w24"))
    );
}

fn check_table<const WIDTH: usize>(name: &str, table: &RoundConstants<WIDTH>) {
    let published = vectors::permutation_constants(name);
    assert_eq!(
        (table.full_rounds(), table.partial_rounds()),
        (published.rf, published.rp)
    );
    let rows = |rows: &[Vec<u32>]| -> Vec<_> { rows.iter().map(|row| array(row)).collect() };
    assert_eq!(table.initial, rows(&published.initial), "{name}");
    assert_eq!(table.internal, elements(&published.internal), "{name}");
    assert_eq!(table.terminal, rows(&published.terminal), "{name}");
}

#[test]
fn unusable_tables_are_errors() {
    let row = [KoalaBear::ONE; 16];
    assert_eq!(
        RoundConstants::<16>::new(vec![row; 4], vec![], vec![row; 3]),
        Err(Error::UnequalHalves {
            initial: 4,
            terminal: 3
        })
    );
    assert_eq!(
        RoundConstants::<16>::new(vec![], vec![], vec![]),
        Err(Error::NoFullRound)
    );
}

// ---- vectors

fn elements(words: &[u32]) -> Vec<KoalaBear> {
    words.iter().map(|&word| KoalaBear::new(word)).collect()
}

fn array<const LEN: usize>(words: &[u32]) -> [KoalaBear; LEN] {
    elements(words)
        .try_into()
        .expect("the length of the vector")
}

fn digest(words: [u32; 8]) -> Digest {
    Digest(array(&words))
}

fn input(vector: &Vector, key: &str) -> Vec<KoalaBear> {
    elements(&vector.input::<Vec<u32>>(key))
}

fn output(vector: &Vector, key: &str) -> Vec<KoalaBear> {
    elements(&vector.output::<Vec<u32>>(key))
}

/// The choices to test, announced once per process.
fn backends() -> Vec<Choice> {
    static ANNOUNCE: std::sync::Once = std::sync::Once::new();
    let choices = Poseidon2::<16>::available();
    ANNOUNCE.call_once(|| {
        let names: Vec<_> = choices.iter().map(Choice::to_string).collect();
        isas::report("hash", &names);
    });
    choices
}

/// Width 32 is not built.
#[test]
fn permutations_equal_the_vectors() {
    let mut counts = [0; 2];
    for vector in koalabear().with_prefix("perm_") {
        let set: String = vector.input("constants");
        let published = vectors::permutation_constants(&set);
        let (state, expected): (Vec<u32>, Vec<u32>) =
            (vector.input("state"), vector.output("state"));
        match state.len() {
            16 => check_vector::<16>(&published, &state, &expected, Poseidon2::<16>::new),
            24 => check_vector::<24>(&published, &state, &expected, Poseidon2::<24>::new),
            _ => continue,
        }
        counts[state.len() / 24] += 1;
    }
    assert_eq!(counts, [9, 9], "vectors of width 16 and 24");
}

fn check_vector<const WIDTH: usize>(
    published: &vectors::PermutationConstants,
    input: &[u32],
    output: &[u32],
    build: impl Fn(&RoundConstants<WIDTH>, Choice) -> Poseidon2<WIDTH>,
) {
    let rows = |rows: &[Vec<u32>]| rows.iter().map(|row| array(row)).collect();
    let constants = RoundConstants::new(
        rows(&published.initial),
        elements(&published.internal),
        rows(&published.terminal),
    )
    .expect("equal halves");
    let (input, output) = (array(input), array(output));
    let mut state = input;
    scalar::permute(&constants, &mut state);
    assert_eq!(state, output);
    for choice in backends() {
        check_one_and_many(&build(&constants, choice), &input, &output);
    }
}

fn check_one_and_many<const WIDTH: usize>(
    permutation: &Poseidon2<WIDTH>,
    input: &[KoalaBear; WIDTH],
    output: &[KoalaBear; WIDTH],
) {
    let mut state = *input;
    permutation.permute(&mut state);
    assert_eq!(state, *output, "one instance, {}", permutation.kernel());
    let mut states = [*input; 40];
    permutation.permute_many(&mut states);
    assert_eq!(states, [*output; 40], "{}", permutation.kernel());
}

#[test]
fn linear_layers_equal_the_vectors() {
    check_layer::<16>("external_matrix_w16", scalar::external_layer);
    check_layer::<24>("external_matrix_w24", scalar::external_layer);
    check_layer::<16>("internal_matrix_w16", scalar::internal_layer);
    check_layer::<24>("internal_matrix_w24", scalar::internal_layer);
}

fn check_layer<const WIDTH: usize>(name: &str, layer: impl Fn(&mut [KoalaBear; WIDTH])) {
    let vector = koalabear().get(name);
    let mut state = array(&vector.input::<Vec<u32>>("state"));
    layer(&mut state);
    assert_eq!(state[..], output(vector, "state"), "{name}");
}

/// Hashes `message` as a slice and as 37 equal rows.
fn check_message(hasher: &impl RowHasher, message: &[KoalaBear], expected: Digest) {
    assert_eq!(hasher.hash_slice(message), expected);
    let columns: Vec<_> = message.iter().map(|&word| vec![word; 37]).collect();
    let cells: Vec<_> = columns.iter().map(|column| Cell::Column(column)).collect();
    let mut digests = [Digest::ZERO; 37];
    hasher.hash_rows(&cells, 0..37, &mut digests);
    assert_eq!(digests, [expected; 37]);
}

#[test]
fn sponges_equal_the_vectors() {
    let (narrow, wide) = (
        RoundConstants::<16>::plonky3_default(),
        RoundConstants::<24>::plonky3_default(),
    );
    for choice in backends() {
        let sponge = PaddingFreeSponge::<16, 8>::new(Poseidon2::<16>::new(&narrow, choice));
        for vector in koalabear().with_prefix("p3_sponge_16_8_8_") {
            check_message(
                &sponge,
                &input(vector, "message"),
                digest(vector.output("digest")),
            );
        }
        let sponge = PaddingFreeSponge::<24, 16>::new(Poseidon2::<24>::new(&wide, choice));
        for vector in koalabear().with_prefix("p3_sponge_24_16_8_") {
            check_message(
                &sponge,
                &input(vector, "message"),
                digest(vector.output("digest")),
            );
        }
    }
}

#[test]
fn chains_equal_the_vectors() {
    for choice in backends() {
        let hash = MerkleDamgard::new(Poseidon2::<16>::new(&RoundConstants::<16>::gnark(), choice));
        for vector in koalabear().with_prefix("gnark_md_") {
            check_message(
                &hash,
                &input(vector, "message"),
                digest(vector.output("digest")),
            );
        }
        for vector in koalabear().with_prefix("lineth_leaf_") {
            check_message(&hash, &leaf_stream(vector), digest(vector.output("digest")));
        }
    }
}

/// The words of a lineth leaf: tag, widths, then the rows.
fn leaf_stream(vector: &Vector) -> Vec<KoalaBear> {
    #[derive(serde::Deserialize)]
    struct Row {
        base: Vec<u32>,
        ext: Vec<Vec<u32>>,
    }
    let mut words = vec![
        1667989395,
        vector.input("base_width"),
        vector.input("ext_width"),
    ];
    for row in vector.input::<Vec<Row>>("rows") {
        words.extend(row.base);
        words.extend(row.ext.concat());
    }
    if vector.outputs().contains_key("stream") {
        assert_eq!(words, vector.output::<Vec<u32>>("stream"));
    }
    elements(&words)
}

#[test]
fn compressions_equal_the_vectors() {
    for choice in backends() {
        let gnark =
            MerkleDamgard::new(Poseidon2::<16>::new(&RoundConstants::<16>::gnark(), choice));
        let nodes = koalabear().with_prefix("lineth_node_");
        for vector in koalabear().with_prefix("gnark_compress_").chain(nodes) {
            let pair = [digest(vector.input("left")), digest(vector.input("right"))];
            let aux = vector.inputs().get("aux").filter(|aux| !aux.is_null());
            let aux = aux.map(|_| digest(vector.input("aux")));
            check_pair(&gnark, pair, aux, digest(vector.output("digest")));
        }
        let constants = RoundConstants::<16>::plonky3_default();
        let plonky3 = TruncatedPermutation::new(Poseidon2::<16>::new(&constants, choice));
        let vector = koalabear().get("p3_compress_2_8_16");
        let pair = vector.input::<[[u32; 8]; 2]>("inputs").map(digest);
        check_pair(&plonky3, pair, None, digest(vector.output("digest")));
    }
}

fn check_pair(
    compression: &impl Compression,
    [left, right]: [Digest; 2],
    aux: Option<Digest>,
    expected: Digest,
) {
    let children: Vec<_> = [left, right].repeat(37);
    let mut parents = [Digest::ZERO; 37];
    if let Some(aux) = aux {
        let node = compression.compress(&left, &right);
        assert_eq!(compression.compress(&node, &aux), expected);
        compression.compress_pairs_with(&children, &[aux; 37], &mut parents);
    } else {
        assert_eq!(compression.compress(&left, &right), expected);
        compression.compress_pairs(&children, &mut parents);
        assert_eq!(parents, [expected; 37]);
        parents = [left; 37];
        compression.compress_into(&mut parents, &[right; 37]);
    }
    assert_eq!(parents, [expected; 37]);
}

// ---- every back end against the scalar definition

/// Words that meet the edges of the field often.
struct Source {
    rng: Rng,
    edges: Vec<u32>,
}

impl Source {
    fn new() -> Self {
        Self {
            rng: Rng::new(0x6c61_6e65_776f_726b),
            edges: edge_words(P),
        }
    }

    fn word(&mut self) -> KoalaBear {
        let word = match self.rng.below(4) {
            0 => self.edges[self.rng.in_range(0..self.edges.len())],
            _ => self.rng.below(u64::from(P)) as u32,
        };
        KoalaBear::from_montgomery_word(word).expect("a word below p")
    }

    fn words(&mut self, len: usize) -> Vec<KoalaBear> {
        (0..len).map(|_| self.word()).collect()
    }

    fn constants<const WIDTH: usize>(
        &mut self,
        half: usize,
        partial: usize,
    ) -> RoundConstants<WIDTH> {
        let initial = draw_rows(half, || self.word());
        let internal = self.words(partial);
        let terminal = draw_rows(half, || self.word());
        RoundConstants::new(initial, internal, terminal).expect("equal halves")
    }

    fn digests(&mut self, len: usize) -> Vec<Digest> {
        (0..len)
            .map(|_| Digest(std::array::from_fn(|_| self.word())))
            .collect()
    }
}

/// Numbers of instances that meet every tail of back ends of 4, 8 and 16 lanes.
fn counts() -> Vec<usize> {
    let mut counts: Vec<_> = [4, 8, 16].into_iter().flat_map(lengths).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Half the full rounds and the partial rounds of tables that users may bring.
const ROUNDS: [(usize, usize); 8] = [
    (4, 20),
    (4, 23),
    (3, 21),
    (3, 0),
    (6, 1),
    (5, 2),
    (1, 30),
    (4, 13),
];

fn check_permutations<const WIDTH: usize>(
    build: impl Fn(&RoundConstants<WIDTH>, Choice) -> Poseidon2<WIDTH>,
) {
    for choice in backends() {
        let mut source = Source::new();
        let mut tables: Vec<_> = ROUNDS
            .iter()
            .map(|&(half, partial)| source.constants(half, partial))
            .collect();
        let extreme = |word| {
            let rows = vec![[word; WIDTH]; 4];
            RoundConstants::new(rows.clone(), vec![word; 23], rows).expect("equal halves")
        };
        tables.extend([KoalaBear::ZERO, KoalaBear::ONE, KoalaBear::NEG_ONE].map(extreme));
        let top = KoalaBear::from_montgomery_word(P - 1).expect("a word below p");
        tables.push(extreme(top));
        for constants in tables {
            let permutation = build(&constants, choice);
            for count in counts() {
                let mut states: Vec<[KoalaBear; WIDTH]> = draw_rows(count, || source.word());
                if let Some(state) = states.first_mut() {
                    *state = [top; WIDTH];
                }
                let mut expected = states.clone();
                for (i, state) in expected.iter_mut().enumerate() {
                    scalar::permute(&constants, state);
                    let mut one = states[i];
                    permutation.permute(&mut one);
                    assert_eq!(one, *state, "one instance, {choice}");
                }
                permutation.permute_many(&mut states);
                let rounds = (constants.full_rounds(), constants.partial_rounds());
                assert!(states == expected, "{choice}, {count} states, {rounds:?}");
            }
        }
    }
}

#[test]
fn every_back_end_permutes_as_the_definition_does() {
    check_permutations::<16>(Poseidon2::<16>::new);
    check_permutations::<24>(Poseidon2::<24>::new);
}

/// The modes over the scalar permutation, from their definitions.
fn scalar_hash<const WIDTH: usize>(
    constants: &RoundConstants<WIDTH>,
    absorb: Absorb,
    message: &[KoalaBear],
) -> Digest {
    let mut state = [KoalaBear::ZERO; WIDTH];
    match absorb {
        Absorb::Sponge { rate } => {
            for block in message.chunks(rate) {
                state[..block.len()].copy_from_slice(block);
                scalar::permute(constants, &mut state);
            }
            Digest(std::array::from_fn(|i| state[i]))
        }
        Absorb::Chain => {
            let mut digest = Digest::ZERO;
            for block in message.chunks(8) {
                let mut right = Digest::ZERO;
                right.0[8 - block.len()..].copy_from_slice(block);
                digest = scalar_compress(constants, Feed::Forward, &digest, &right);
            }
            digest
        }
    }
}

fn scalar_compress<const WIDTH: usize>(
    constants: &RoundConstants<WIDTH>,
    feed: Feed,
    left: &Digest,
    right: &Digest,
) -> Digest {
    let mut state = std::array::from_fn(|i| if i < 8 { left.0[i] } else { right.0[i - 8] });
    scalar::permute(constants, &mut state);
    match feed {
        Feed::Truncate => Digest(std::array::from_fn(|i| state[i])),
        Feed::Forward => Digest(std::array::from_fn(|i| state[8 + i] + right.0[i])),
    }
}

/// The digests of rows whose cells come in parts: two, and as many as there can be.
fn check_parts<const WIDTH: usize>(
    hasher: &impl RowHasher,
    absorb: Absorb,
    cells: &[Cell<'_>],
    rows: std::ops::Range<usize>,
    expected: &[Digest],
) {
    let block_len = hasher.block_len();
    let blocks = cells.len() / block_len;
    if blocks < 2 || matches!(absorb, Absorb::Sponge { rate } if WIDTH - rate > 8) {
        return;
    }
    for cuts in [vec![1], vec![blocks - 1], (1..blocks).collect()] {
        let mut states = vec![Digest([KoalaBear::NEG_ONE; 8]); rows.len()];
        let mut start = 0;
        for (i, &cut) in cuts.iter().enumerate() {
            let part = if i == 0 { Part::First } else { Part::Middle };
            let end = cut * block_len;
            hasher.absorb_rows(part, &cells[start..end], rows.clone(), &mut states);
            start = end;
        }
        hasher.absorb_rows(Part::Last, &cells[start..], rows.clone(), &mut states);
        assert!(
            states == expected,
            "{} cells in parts at {cuts:?}",
            cells.len()
        );
    }
}

#[test]
#[should_panic(expected = "parts of whole blocks")]
fn a_part_of_no_whole_blocks_is_refused() {
    let hash = MerkleDamgard::new(Poseidon2::<16>::new(
        &RoundConstants::<16>::gnark(),
        Choice::best(),
    ));
    let cells = [Cell::Constant(KoalaBear::ONE); 9];
    hash.absorb_rows(Part::First, &cells, 0..1, &mut [Digest::ZERO]);
}

#[test]
#[should_panic(expected = "a whole block in the last part")]
fn a_short_last_part_is_refused() {
    let hash = MerkleDamgard::new(Poseidon2::<16>::new(
        &RoundConstants::<16>::gnark(),
        Choice::best(),
    ));
    let cells = [Cell::Constant(KoalaBear::ONE); 7];
    hash.absorb_rows(Part::Last, &cells, 0..1, &mut [Digest::ZERO]);
}

#[test]
#[should_panic(expected = "16 words to be carried")]
fn a_wide_capacity_is_not_carried() {
    let wide = Poseidon2::<24>::new(&RoundConstants::<24>::plonky3_default(), Choice::best());
    let cells = [Cell::Constant(KoalaBear::ONE); 8];
    PaddingFreeSponge::<24, 8>::new(wide).absorb_rows(
        Part::First,
        &cells,
        0..1,
        &mut [Digest::ZERO],
    );
}

fn check_rows<const WIDTH: usize>(
    hasher: &impl RowHasher,
    constants: &RoundConstants<WIDTH>,
    absorb: Absorb,
    choice: Choice,
) {
    let mut source = Source::new();
    // Numbers of columns around the blocks, and enough for several visits of a group of rows.
    for column_count in [0, 1, 5, 7, 8, 9, 13, 16, 17, 24, 32, 33, 67] {
        for row_count in counts().into_iter().chain([300]) {
            let first_row = [0, 3][row_count % 2];
            let columns: Vec<_> = (0..column_count)
                .map(|_| source.words(first_row + row_count))
                .collect();
            let mut cells = vec![];
            // Constants at the beginning, as a header, and in the middle.
            let constant_count = column_count % 4;
            cells.extend((0..constant_count).map(|_| Cell::Constant(source.word())));
            cells.extend(columns.iter().map(|column| Cell::Column(column)));
            cells.insert(cells.len() / 2, Cell::Constant(source.word()));
            let mut digests = source.digests(row_count);
            hasher.hash_rows(&cells, first_row..first_row + row_count, &mut digests);
            let rows = first_row..first_row + row_count;
            check_parts::<WIDTH>(hasher, absorb, &cells, rows, &digests);
            for (i, digest) in digests.iter().enumerate() {
                let message: Vec<_> = cells.iter().map(|cell| cell.at(first_row + i)).collect();
                let expected = scalar_hash(constants, absorb, &message);
                assert_eq!(
                    *digest,
                    expected,
                    "{choice}, row {i} of {row_count}, {} cells",
                    cells.len()
                );
                if i == 0 {
                    assert_eq!(hasher.hash_slice(&message), expected);
                }
            }
        }
    }
}

#[test]
fn every_back_end_hashes_rows_as_the_definition_does() {
    let plonky3 = RoundConstants::<16>::plonky3_default();
    let gnark = RoundConstants::<16>::gnark();
    let wide = RoundConstants::<24>::plonky3_default();
    for choice in backends() {
        let sponge = PaddingFreeSponge::<16, 8>::new(Poseidon2::<16>::new(&plonky3, choice));
        check_rows(&sponge, &plonky3, Absorb::Sponge { rate: 8 }, choice);
        let sponge = PaddingFreeSponge::<24, 16>::new(Poseidon2::<24>::new(&wide, choice));
        check_rows(&sponge, &wide, Absorb::Sponge { rate: 16 }, choice);
        // Rates that no ecosystem uses.
        let sponge = PaddingFreeSponge::<16, 11>::new(Poseidon2::<16>::new(&plonky3, choice));
        check_rows(&sponge, &plonky3, Absorb::Sponge { rate: 11 }, choice);
        let sponge = PaddingFreeSponge::<24, 8>::new(Poseidon2::<24>::new(&wide, choice));
        check_rows(&sponge, &wide, Absorb::Sponge { rate: 8 }, choice);
        let sponge = PaddingFreeSponge::<24, 23>::new(Poseidon2::<24>::new(&wide, choice));
        check_rows(&sponge, &wide, Absorb::Sponge { rate: 23 }, choice);
        let chain = MerkleDamgard::new(Poseidon2::<16>::new(&gnark, choice));
        check_rows(&chain, &gnark, Absorb::Chain, choice);
    }
}

fn check_compression(
    compression: &impl Compression,
    constants: &RoundConstants<16>,
    feed: Feed,
    choice: Choice,
) {
    let mut source = Source::new();
    for count in counts() {
        let children = source.digests(2 * count);
        let aux = source.digests(count);
        let expected: Vec<_> = children
            .chunks(2)
            .map(|pair| scalar_compress(constants, feed, &pair[0], &pair[1]))
            .collect();
        let mut parents = source.digests(count);
        compression.compress_pairs(&children, &mut parents);
        assert_eq!(parents, expected, "{choice}, {count} pairs");
        let with_aux: Vec<_> = expected
            .iter()
            .zip(&aux)
            .map(|(node, aux)| scalar_compress(constants, feed, node, aux))
            .collect();
        compression.compress_pairs_with(&children, &aux, &mut parents);
        assert_eq!(parents, with_aux, "{choice}, {count} pairs with aux");
        let mut nodes = expected;
        compression.compress_into(&mut nodes, &aux);
        assert_eq!(nodes, with_aux, "{choice}, {count} nodes in place");
        if count > 0 {
            assert_eq!(compression.compress(&children[0], &children[1]), {
                scalar_compress(constants, feed, &children[0], &children[1])
            });
        }
    }
}

#[test]
fn every_back_end_compresses_as_the_definition_does() {
    let plonky3 = RoundConstants::<16>::plonky3_default();
    let gnark = RoundConstants::<16>::gnark();
    for choice in backends() {
        let truncated = TruncatedPermutation::new(Poseidon2::<16>::new(&plonky3, choice));
        check_compression(&truncated, &plonky3, Feed::Truncate, choice);
        let chain = MerkleDamgard::new(Poseidon2::<16>::new(&gnark, choice));
        check_compression(&chain, &gnark, Feed::Forward, choice);
    }
}

#[test]
#[should_panic(expected = "row 5 of a column of 4")]
fn a_short_column_is_refused() {
    let hash = MerkleDamgard::new(Poseidon2::<16>::new(
        &RoundConstants::<16>::gnark(),
        Choice::best(),
    ));
    hash.hash_rows(
        &[Cell::Column(&[KoalaBear::ONE; 4])],
        0..5,
        &mut [Digest::ZERO; 5],
    );
}

#[test]
#[should_panic(expected = "two children per parent")]
fn an_odd_child_is_refused() {
    let hash = MerkleDamgard::new(Poseidon2::<16>::new(
        &RoundConstants::<16>::gnark(),
        Choice::best(),
    ));
    hash.compress_pairs(&[Digest::ZERO; 5], &mut [Digest::ZERO; 2]);
}

// ---- ranges of the lazy arithmetic

/// Every value that a word of [`portable`] can have.
#[derive(Copy, Clone, Debug)]
struct Interval {
    low: i128,
    high: i128,
}

impl Interval {
    /// The interval, once it is known to fit into 64 bits.
    fn new(low: i128, high: i128) -> Self {
        assert!(low <= high);
        let range = i128::from(i64::MIN)..=i128::from(i64::MAX);
        assert!(
            range.contains(&low) && range.contains(&high),
            "{low} ..= {high}"
        );
        Self { low, high }
    }

    fn product(self, other: Self) -> Self {
        let corners = [
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ];
        let low = corners.into_iter().min().expect("four corners");
        let high = corners.into_iter().max().expect("four corners");
        Self::new(low, high)
    }
}

impl std::ops::Add for Interval {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.low + other.low, self.high + other.high)
    }
}

impl std::ops::Sub for Interval {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.low - other.high, self.high - other.low)
    }
}

impl portable::Word for Interval {
    fn of(_: KoalaBear) -> Self {
        Self::new(0, i128::from(P) - 1)
    }

    fn fold(self) -> Self {
        let rounded = self + Self::new(1 << 30, 1 << 30);
        let multiples = Self::new(rounded.low >> 31, rounded.high >> 31);
        let taken = multiples.product(Self::new(i128::from(P), i128::from(P)));
        let _: Self = self - taken;
        // x - k p = (x - k 2^31) + k (2^24 - 1), and k is the nearest.
        let rest = Self::new(-(1 << 30), (1 << 30) - 1);
        rest + multiples.product(Self::new((1 << 24) - 1, (1 << 24) - 1))
    }

    fn times(self, other: Self) -> Self {
        let q = Self::new(i128::from(i32::MIN), i128::from(i32::MAX));
        let d = self.product(other) - q.product(Self::new(i128::from(P), i128::from(P)));
        Self::new(d.low >> 32, d.high >> 32)
    }

    fn scale(self, factor: i64) -> Self {
        self.product(Self::new(i128::from(factor), i128::from(factor)))
    }

    fn halve(self, exponent: u32) -> Self {
        let q = Self::new(0, (1 << exponent) - 1);
        let d = self - q.product(Self::new(i128::from(P), i128::from(P)));
        Self::new(d.low >> exponent, d.high >> exponent)
    }
}

/// Runs the portable permutation on intervals: no intermediate value overflows, and what comes out
/// folds to a number above -p and below p.
fn check_ranges<const WIDTH: usize>(half: usize, partial: usize) {
    use super::portable::{Word, permute};
    // The words of the constants do not matter: an interval stands for any.
    let constants = Source::new().constants::<WIDTH>(half, partial);
    let mut state = [Interval::of(KoalaBear::ZERO); WIDTH];
    permute(&constants, &mut state);
    for word in state {
        let folded = word.fold();
        assert!(
            -i128::from(P) < folded.low && folded.high < i128::from(P),
            "{folded:?}"
        );
    }
}

#[test]
fn lazy_words_stay_in_range() {
    for half in 1..=6 {
        for partial in 0..=40 {
            check_ranges::<16>(half, partial);
            check_ranges::<24>(half, partial);
        }
    }
}

/// The intervals above hold the values of real words.
#[test]
fn intervals_enclose_words() {
    use super::portable::Word;
    let mut source = Source::new();
    let extent = |word: i64| Interval::new(i128::from(word), i128::from(word));
    let encloses = |interval: Interval, word: i64| {
        assert!(
            (interval.low..=interval.high).contains(&i128::from(word)),
            "{word} {interval:?}"
        );
    };
    for _ in 0..10_000 {
        let (a, b) = (source.rng.next_u64() as i64 >> 26, i64::of(source.word()));
        let factor = i64::from(P) / 2 - b;
        encloses(extent(a).fold(), a.fold());
        encloses(extent(b).times(extent(factor)), b.times(factor));
        for exponent in [1, 2, 16, 24] {
            encloses(extent(a).halve(exponent), a.halve(exponent));
        }
    }
}
