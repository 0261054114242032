//! Many instances in 32-bit Montgomery lanes, one instance per lane, for every [`Lanes`] type.
//!
//! Partial rounds go by [pairs of lanes](super::pairs).
//!
//! # Rows
//! Rows are hashed in visits of [`VISIT_ROWS`] rows. A visit goes through the cells once, block by
//! block, with the states of all its groups of lanes in the first-level cache, so that it reads a
//! few cache lines of a column together rather than one; and while a group is permuted, its next
//! cells are prefetched.
#![expect(
    unsafe_code,
    reason = "loads and stores through the pointers of the switch"
)]

use lanework_arch::memory::prefetch;
use lanework_field::KoalaBear;
use lanework_field::koala::lanes::{Addend, Kernel, Lanes, Prepared};

use super::RoundConstants;
use super::pairs::{PAIRS_16, PAIRS_24, Pair, SINGLES_16, SINGLES_24};
use super::table::{Absorb, CellSource, Feed, Many, Pairs};
use crate::digest::DIGEST_LEN;
use crate::{Digest, Part};

/// Rows that go through the cells together.
const VISIT_ROWS: usize = 64;

/// The back end for the lanes `L`.
pub(super) struct Body<L: Lanes, const WIDTH: usize> {
    name: &'static str,
    token: L::Token,
    rounds: Rounds<WIDTH>,
}

/// A [`Pair`] with its factors prepared.
#[derive(Copy, Clone)]
struct PreparedPair {
    plus: usize,
    minus: usize,
    v: Prepared,
    half_inverse: Prepared,
}

const fn prepare<const COUNT: usize>(pairs: [Pair; COUNT]) -> [PreparedPair; COUNT] {
    const ZERO: Prepared = Prepared::new(KoalaBear::ZERO);
    const EMPTY: PreparedPair = PreparedPair {
        plus: 0,
        minus: 0,
        v: ZERO,
        half_inverse: ZERO,
    };
    let mut list = [EMPTY; COUNT];
    let mut i = 0;
    while i < COUNT {
        let Pair {
            plus,
            minus,
            v,
            half_inverse,
        } = pairs[i];
        let (v, half_inverse) = (Prepared::new(v), Prepared::new(half_inverse));
        list[i] = PreparedPair {
            plus,
            minus,
            v,
            half_inverse,
        };
        i += 1;
    }
    list
}

static PREPARED_16: [PreparedPair; PAIRS_16.len()] = prepare(PAIRS_16);
static PREPARED_24: [PreparedPair; PAIRS_24.len()] = prepare(PAIRS_24);

/// The constants as the rounds use them.
struct Rounds<const WIDTH: usize> {
    initial: Vec<[Addend; WIDTH]>,
    internal: Vec<Addend>,
    terminal: Vec<[Addend; WIDTH]>,
}

impl<L: Lanes, const WIDTH: usize> Body<L, WIDTH> {
    pub(super) fn new(
        name: &'static str,
        token: L::Token,
        constants: &RoundConstants<WIDTH>,
    ) -> Self {
        const { assert!(VISIT_ROWS.is_multiple_of(L::LEN) && L::LEN <= super::table::LANES_MAX) };
        let rows =
            |rows: &[[KoalaBear; WIDTH]]| rows.iter().map(|row| row.map(Addend::new)).collect();
        let rounds = Rounds {
            initial: rows(&constants.initial),
            internal: constants
                .internal
                .iter()
                .copied()
                .map(Addend::new)
                .collect(),
            terminal: rows(&constants.terminal),
        };
        Self {
            name,
            token,
            rounds,
        }
    }

    /// Permutes the states in `state`, one per lane.
    #[inline(always)]
    fn permute_lanes(&self, state: &mut [L; WIDTH]) {
        // A function of its own, since every use would be a copy of some thousand instructions.
        L::run(self.token, Permutation { body: self, state });
    }
}

impl<L: Lanes, const WIDTH: usize> Many<WIDTH> for Body<L, WIDTH> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn lanes(&self) -> usize {
        L::LEN
    }

    fn permute(&self, states: &mut [[KoalaBear; WIDTH]]) {
        assert!(states.len().is_multiple_of(L::LEN), "whole groups of lanes");
        L::run(self.token, States { body: self, states });
    }

    unsafe fn hash_rows(
        &self,
        absorb: Absorb,
        part: Part,
        cells: &[CellSource],
        first_row: usize,
        out: &mut [Digest],
    ) {
        assert!(out.len().is_multiple_of(L::LEN), "whole groups of lanes");
        match absorb {
            Absorb::Sponge { rate } => assert!(DIGEST_LEN <= rate && rate < WIDTH, "a rate"),
            Absorb::Chain => assert!(cells.len().is_multiple_of(DIGEST_LEN), "whole blocks"),
        }
        L::run(
            self.token,
            Rows {
                body: self,
                absorb,
                part,
                cells,
                first_row,
                out,
            },
        );
    }

    unsafe fn compress(&self, feed: Feed, pairs: &Pairs) {
        assert!(pairs.count.is_multiple_of(L::LEN), "whole groups of lanes");
        assert!(WIDTH == 2 * DIGEST_LEN, "two digests fill the state");
        L::run(
            self.token,
            Compressions {
                body: self,
                feed,
                pairs,
            },
        );
    }
}

// ---- the permutation

struct Permutation<'a, L: Lanes, const WIDTH: usize> {
    body: &'a Body<L, WIDTH>,
    state: &'a mut [L; WIDTH],
}

impl<L: Lanes, const WIDTH: usize> Kernel for Permutation<'_, L, WIDTH> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Rounds {
            initial,
            internal,
            terminal,
        } = &self.body.rounds;
        let mut state = *self.state;
        external_layer(&mut state);
        for constants in initial {
            full_round(constants, &mut state);
        }
        if internal.is_empty() {
            // Entering the pairs and leaving them would change nothing.
        } else if WIDTH == 16 {
            partial_rounds(internal, &PREPARED_16, &SINGLES_16, &mut state);
        } else {
            partial_rounds(internal, &PREPARED_24, &SINGLES_24, &mut state);
        }
        for constants in terminal {
            full_round(constants, &mut state);
        }
        *self.state = state;
    }
}

#[inline(always)]
fn full_round<L: Lanes, const WIDTH: usize>(constants: &[Addend; WIDTH], state: &mut [L; WIDTH]) {
    for (word, constant) in state.iter_mut().zip(constants) {
        *word = word.add_cube(constant);
    }
    external_layer(state);
}

#[inline(always)]
fn external_layer<L: Lanes, const WIDTH: usize>(state: &mut [L; WIDTH]) {
    for block in state.chunks_exact_mut(4) {
        let [a, b, c, d] = [block[0], block[1], block[2], block[3]];
        let (ab, cd) = (a + b, c + d);
        let sum = ab + cd;
        let (sum_b, sum_d) = (sum + b, sum + d);
        block[0] = sum_b + ab;
        block[1] = sum_b + c.double();
        block[2] = sum_d + cd;
        block[3] = sum_d + a.double();
    }
    for i in 0..4 {
        let mut column = state[i] + state[i + 4] + (state[i + 8] + state[i + 12]);
        if WIDTH == 24 {
            column += state[WIDTH - 8 + i] + state[WIDTH - 4 + i];
        }
        for block in 0..WIDTH / 4 {
            state[4 * block + i] += column;
        }
    }
}

#[inline(always)]
fn partial_rounds<L: Lanes, const WIDTH: usize, const PAIRS: usize, const SINGLES: usize>(
    constants: &[Addend],
    pairs: &[PreparedPair; PAIRS],
    singles: &[usize; SINGLES],
    state: &mut [L; WIDTH],
) {
    let mut first = state[0];
    let mut now: [L; PAIRS] =
        std::array::from_fn(|i| (state[pairs[i].plus] + state[pairs[i].minus]).halve());
    let mut before: [L; PAIRS] = std::array::from_fn(|i| {
        (state[pairs[i].plus] - state[pairs[i].minus]).mul_prepared(&pairs[i].half_inverse)
    });
    let mut alone: [L; SINGLES] = std::array::from_fn(|i| state[singles[i]]);

    let (twos, odd) = constants.as_chunks::<2>();
    for [a, b] in twos {
        partial_round(a, &mut first, &now, &mut before, &mut alone);
        partial_round(b, &mut first, &before, &mut now, &mut alone);
    }
    if let [a] = odd {
        partial_round(a, &mut first, &now, &mut before, &mut alone);
        (now, before) = (before, now);
    }

    state[0] = first;
    for (i, pair) in pairs.iter().enumerate() {
        let e = before[i].mul_prepared(&pair.v);
        state[pair.plus] = now[i] + e;
        state[pair.minus] = now[i] - e;
    }
    for (i, &lane) in singles.iter().enumerate() {
        state[lane] = alone[i];
    }
}

/// One partial round: `now` is h, and `before` goes from g to the next h.
#[inline(always)]
fn partial_round<L: Lanes, const PAIRS: usize, const SINGLES: usize>(
    constant: &Addend,
    first: &mut L,
    now: &[L; PAIRS],
    before: &mut [L; PAIRS],
    alone: &mut [L; SINGLES],
) {
    let others = L::sum(*now).double() + L::sum(*alone);
    let cube = first.add_cube(constant);
    // The diagonal entry of lane 0 is -2.
    *first = others - cube;
    let sum = others + cube;

    // The squares of 1/2, 3, 4 and 2^-8 are common to both widths.
    before[0] = before[0].mul_2exp_neg::<2>() + sum;
    before[1] = nine(before[1]) + sum;
    before[2] = sixteen(before[2]) + sum;
    before[3] = before[3].mul_2exp_neg::<16>() + sum;
    alone[0] += sum;
    alone[1] = alone[1].double() + sum;
    if PAIRS == PAIRS_16.len() {
        before[4] = before[4].mul_2exp_neg::<6>() + sum;
        before[5] = square_of_2_24(before[5]) + sum;
        alone[2] = sum - alone[2].mul_2exp_neg::<4>();
    } else {
        before[4] = before[4].mul_2exp_neg::<6>() + sum;
        before[5] = before[5].mul_2exp_neg::<8>() + sum;
        before[6] = before[6].mul_2exp_neg::<10>() + sum;
        before[7] = before[7].mul_2exp_neg::<12>() + sum;
        before[8] = square_of_2_24(before[8]) + sum;
        alone[2] = alone[2].mul_2exp_neg::<2>() + sum;
        alone[3] = sum - alone[3].mul_2exp_neg::<7>();
        alone[4] = sum - alone[4].mul_2exp_neg::<9>();
    }
}

#[inline(always)]
fn nine<L: Lanes>(x: L) -> L {
    x.double().double().double() + x
}

#[inline(always)]
fn sixteen<L: Lanes>(x: L) -> L {
    x.double().double().double().double()
}

/// 2^-48 x.
#[inline(always)]
fn square_of_2_24<L: Lanes>(x: L) -> L {
    static FACTOR: Prepared = Prepared::new(KoalaBear::new(127 * 127));
    x.mul_prepared(&FACTOR)
}

// ---- states

struct States<'a, L: Lanes, const WIDTH: usize> {
    body: &'a Body<L, WIDTH>,
    states: &'a mut [[KoalaBear; WIDTH]],
}

impl<L: Lanes, const WIDTH: usize> Kernel for States<'_, L, WIDTH> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let token = self.body.token;
        let zero = L::splat(token, KoalaBear::ZERO);
        // Where a square block of words begins; the last one overlaps where LEN does not divide.
        let blocks = (0..WIDTH)
            .step_by(L::LEN)
            .map(|first| first.min(WIDTH - L::LEN));
        for group in self.states.chunks_exact_mut(L::LEN) {
            let mut lanes = [zero; WIDTH];
            for first in blocks.clone() {
                let block = &mut lanes[first..first + L::LEN];
                for (vector, state) in block.iter_mut().zip(&*group) {
                    *vector = L::from_slice(token, &state[first..]);
                }
                L::transpose(block);
            }
            self.body.permute_lanes(&mut lanes);
            let mut words = [zero; WIDTH];
            for first in blocks.clone() {
                let block = &mut words[..L::LEN];
                block.copy_from_slice(&lanes[first..first + L::LEN]);
                L::transpose(block);
                for (vector, state) in block.iter().zip(&mut *group) {
                    vector.to_slice(&mut state[first..]);
                }
            }
        }
    }
}

// ---- rows

struct Rows<'a, L: Lanes, const WIDTH: usize> {
    body: &'a Body<L, WIDTH>,
    absorb: Absorb,
    part: Part,
    cells: &'a [CellSource],
    first_row: usize,
    out: &'a mut [Digest],
}

impl<L: Lanes, const WIDTH: usize> Kernel for Rows<'_, L, WIDTH> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            body,
            absorb,
            part,
            cells,
            mut first_row,
            out,
        } = self;
        let zero = L::splat(body.token, KoalaBear::ZERO);
        let mut states = vec![[zero; WIDTH]; VISIT_ROWS / L::LEN];
        let block_len = match absorb {
            Absorb::Sponge { rate } => rate,
            Absorb::Chain => DIGEST_LEN,
        };
        let left = absorb.left(part, WIDTH);
        for out in out.chunks_mut(VISIT_ROWS) {
            let states = &mut states[..out.len() / L::LEN];
            states.fill([zero; WIDTH]);
            if !part.starts() {
                let carried = absorb.carried(WIDTH);
                for (state, out) in states.iter_mut().zip(out.chunks_exact(L::LEN)) {
                    let lanes = &mut state[carried..carried + DIGEST_LEN];
                    // SAFETY: bounds: a chunk of `LEN` digests.
                    unsafe { load_digests(body.token, out.as_ptr(), 1, lanes) };
                }
            }
            let mut blocks = cells.chunks(block_len).peekable();
            while let Some(block) = blocks.next() {
                let next = blocks.peek().copied().unwrap_or_default();
                for (i, state) in states.iter_mut().enumerate() {
                    let row = first_row + i * L::LEN;
                    ask_for_cells(next, row);
                    match absorb {
                        Absorb::Sponge { .. } => {
                            for (word, cell) in state.iter_mut().zip(block) {
                                // SAFETY: bounds: the caller vouches for the cells at these rows.
                                *word = unsafe { load(body.token, cell, row) };
                            }
                            body.permute_lanes(state);
                        }
                        Absorb::Chain => {
                            for (word, cell) in state[DIGEST_LEN..].iter_mut().zip(block) {
                                // SAFETY: bounds: the caller vouches for the cells at these rows.
                                *word = unsafe { load(body.token, cell, row) };
                            }
                            feed_forward(body, state);
                        }
                    }
                }
            }
            for (state, out) in states.iter().zip(out.chunks_exact_mut(L::LEN)) {
                let mut words = [zero; DIGEST_LEN];
                words.copy_from_slice(&state[left..left + DIGEST_LEN]);
                store_digests(words, out);
            }
            first_row += VISIT_ROWS;
        }
    }
}

/// The cells of `LEN` rows.
///
/// # Safety
/// The cell can be read at these rows.
#[inline(always)]
unsafe fn load<L: Lanes>(token: L::Token, cell: &CellSource, row: usize) -> L {
    // SAFETY: bounds: the caller's.
    unsafe { L::load(token, cell.base.add(row * cell.step)) }
}

/// Lanes 0..8 become lanes 8..16 of the permuted state plus lanes 8..16.
#[inline(always)]
fn feed_forward<L: Lanes, const WIDTH: usize>(body: &Body<L, WIDTH>, state: &mut [L; WIDTH]) {
    let right: [L; DIGEST_LEN] = std::array::from_fn(|i| state[DIGEST_LEN + i]);
    body.permute_lanes(state);
    for (i, right) in right.into_iter().enumerate() {
        state[i] = state[DIGEST_LEN + i] + right;
    }
}

/// Asks for the cells of the rows from `row` on, as far as they share a cache line.
#[inline(always)]
fn ask_for_cells(cells: &[CellSource], row: usize) {
    for cell in cells {
        prefetch::read(cell.base.wrapping_add(row * cell.step));
    }
}

// ---- compressions

struct Compressions<'a, L: Lanes, const WIDTH: usize> {
    body: &'a Body<L, WIDTH>,
    feed: Feed,
    pairs: &'a Pairs,
}

impl<L: Lanes, const WIDTH: usize> Kernel for Compressions<'_, L, WIDTH> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            body,
            feed,
            pairs:
                &Pairs {
                    left,
                    right,
                    stride,
                    aux,
                    out,
                    count,
                },
        } = self;
        let zero = L::splat(body.token, KoalaBear::ZERO);
        let mut state = [zero; WIDTH];
        for first in (0..count).step_by(L::LEN) {
            // SAFETY: bounds: `first + LEN` is at most the count that the caller vouches for; the
            // group is read before it is written.
            unsafe {
                if stride == 2 && L::LEN == 2 * DIGEST_LEN {
                    // A vector holds a pair.
                    for (i, word) in state.iter_mut().enumerate() {
                        let pair = left.add(2 * (first + i));
                        *word = L::load(body.token, pair.cast::<KoalaBear>());
                    }
                    L::transpose(&mut state);
                } else {
                    let at = first * stride;
                    load_digests(body.token, left.add(at), stride, &mut state[..DIGEST_LEN]);
                    load_digests(body.token, right.add(at), stride, &mut state[DIGEST_LEN..]);
                }
                compress(body, feed, &mut state);
                if !aux.is_null() {
                    load_digests(body.token, aux.add(first), 1, &mut state[DIGEST_LEN..]);
                    compress(body, feed, &mut state);
                }
                let out = std::slice::from_raw_parts_mut(out.add(first), L::LEN);
                store_digests(std::array::from_fn(|i| state[i]), out);
            }
        }
    }
}

/// Lanes 0..8 become the compression.
#[inline(always)]
fn compress<L: Lanes, const WIDTH: usize>(
    body: &Body<L, WIDTH>,
    feed: Feed,
    state: &mut [L; WIDTH],
) {
    match feed {
        Feed::Truncate => body.permute_lanes(state),
        Feed::Forward => feed_forward(body, state),
    }
}

// ---- digests in memory and in lanes
//
// Bits of an address: which vector (v2 v1 v0), which lane in it. Exchanging blocks of 2^k lanes
// between vectors that differ in one bit of v exchanges that bit with bit k of the lane.

/// Exchanges bit `k` of the lane with bit k % 3 of the vector's number.
#[inline(always)]
fn exchange<L: Lanes>(vectors: &mut [L; DIGEST_LEN], bit: usize) {
    let distance = 1 << (bit % 3);
    for i in 0..DIGEST_LEN {
        if i & distance == 0 {
            let (a, b) = (vectors[i], vectors[i + distance]);
            (vectors[i], vectors[i + distance]) = match bit {
                0 => a.interleave::<1>(b),
                1 => a.interleave::<2>(b),
                2 => a.interleave::<4>(b),
                _ => a.interleave::<8>(b),
            };
        }
    }
}

/// Where vector `number` begins in the memory of `LEN` consecutive digests, once exchanged.
#[inline(always)]
fn place<L: Lanes>(number: usize) -> usize {
    match L::LEN {
        // Lanes w1 w0, vectors w2 l1 l0.
        4 => (number & 3) * DIGEST_LEN + (number >> 2) * 4,
        // Lanes w2 w1 w0, vectors l2 l1 l0.
        8 => number * DIGEST_LEN,
        // Lanes l0 w2 w1 w0, vectors l2 l1 l3.
        _ => (number >> 1) * 2 * DIGEST_LEN + (number & 1) * 8 * DIGEST_LEN,
    }
}

/// Writes digest j, whose word i is lane j of `words[i]`, to `out[j]`.
#[inline(always)]
fn store_digests<L: Lanes>(mut words: [L; DIGEST_LEN], out: &mut [Digest]) {
    assert_eq!(out.len(), L::LEN, "one digest per lane");
    for bit in 0..L::LEN.trailing_zeros() as usize {
        exchange(&mut words, bit);
    }
    for (number, vector) in words.into_iter().enumerate() {
        // SAFETY: bounds: `LEN` digests were asserted, and `place` is a permutation of the vectors
        // in them; layout: a digest is eight elements.
        unsafe { vector.store(out.as_mut_ptr().cast::<KoalaBear>().add(place::<L>(number))) };
    }
}

/// Reads word i of digest `source[j * stride]` to lane j of `words[i]`. The stride is 1 where a
/// vector holds two digests.
///
/// # Safety
/// The digests can be read.
#[inline(always)]
unsafe fn load_digests<L: Lanes>(
    token: L::Token,
    source: *const Digest,
    stride: usize,
    words: &mut [L],
) {
    debug_assert!(stride == 1 || L::LEN <= DIGEST_LEN, "one digest per vector");
    let mut vectors: [L; DIGEST_LEN] = std::array::from_fn(|number| {
        let place = place::<L>(number);
        // SAFETY: bounds: the caller's; layout: a digest is eight elements.
        unsafe {
            let digest = source.add(place / DIGEST_LEN * stride);
            L::load(token, digest.cast::<KoalaBear>().add(place % DIGEST_LEN))
        }
    });
    for bit in (0..L::LEN.trailing_zeros() as usize).rev() {
        exchange(&mut vectors, bit);
    }
    words[..DIGEST_LEN].copy_from_slice(&vectors);
}
