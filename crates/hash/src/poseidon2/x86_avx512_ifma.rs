//! AVX-512 with IFMA: eight instances in 64-bit lanes, two such batches per step.
#![expect(
    unsafe_code,
    reason = "vector instructions, and rows read and written through pointers"
)]
#![allow(
    clippy::out_of_bounds_indexing,
    clippy::absurd_extreme_comparisons,
    reason = "lanes past the width are in code that a constant condition leaves out"
)]
#![expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "a constant that stays in memory is an operand of the instruction that uses it"
)]
#![allow(
    clippy::wildcard_imports,
    reason = "every import is a vector type or instruction"
)]

use core::arch::asm;
use core::arch::x86_64::*;

use lanework_arch::Avx512Ifma;
use lanework_arch::memory::prefetch;
use lanework_field::KoalaBear;
use lanework_field::koala::spec::P;

use super::RoundConstants;
use super::lazy52::{
    Constants, Internal, MINUS_INVERSE_P, MINUS_P, Multiplier, RECIPROCAL, Split, Split16, Split24,
    Words, back, for_each_lane, front, internal_rounds,
};
use super::table::{Absorb, CellSource, Feed, Many, Pairs};
use crate::{Digest, Part};

/// Instances in a vector.
const LANES: usize = 8;

/// Groups of two batches that absorb a block of columns before the next block is read: tables of
/// many columns are then read in runs of several cache lines.
const GROUPS: usize = 4;

/// Eight words; exists only where the token did, so that its arithmetic is safe.
#[derive(Copy, Clone)]
#[repr(transparent)]
struct V(__m512i);

// The steps are functions of their own, to be inlined by the optimiser: without one, the frame of a
// permutation that holds every intermediate result of every step would not fit a stack.

#[target_feature(enable = "avx512f")]
#[inline]
fn splat(value: u64) -> __m512i {
    _mm512_set1_epi64(value as i64)
}

/// `acc + x * factor`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn add_multiple(acc: __m512i, x: __m512i, factor: u64) -> __m512i {
    _mm512_madd52lo_epu64(acc, x, splat(factor))
}

/// See [`Words::add_cube`].
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn add_cube(acc: __m512i, x: __m512i) -> __m512i {
    let (low, high) = (_mm512_madd52lo_epu64, _mm512_madd52hi_epu64);
    let (zero, p) = (_mm512_setzero_si512(), splat(u64::from(P)));
    let m = low(zero, x, splat(MINUS_INVERSE_P));
    let square = high(high(splat(1), x, x), low(zero, x, m), p);
    high(high(acc, square, x), low(zero, square, m), p)
}

/// See [`Words::add_product`].
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn add_product(acc: __m512i, x: __m512i, multiplier: &Multiplier) -> __m512i {
    let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), x, splat(multiplier.quotient));
    let product = _mm512_madd52lo_epu64(acc, x, splat(multiplier.value));
    _mm512_madd52lo_epu64(product, quotient, splat(MINUS_P))
}

/// See [`Words::reduce`].
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce(x: __m512i) -> __m512i {
    let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), x, splat(RECIPROCAL));
    _mm512_madd52lo_epu64(x, quotient, splat(MINUS_P))
}

/// See [`Words::in_order`].
#[target_feature(enable = "avx512f")]
#[inline]
fn in_order(mut x: __m512i) -> __m512i {
    // SAFETY: there are no instructions.
    unsafe { asm!("/* {} */", inout(zmm_reg) x, options(nomem, nostack, preserves_flags)) };
    x
}

impl Words for V {
    type Token = Avx512Ifma;

    #[inline(always)]
    fn constant(_: Avx512Ifma, value: &u64) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { splat(*value) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: feature: a `V` exists only where the token did.
        Self(unsafe { _mm512_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: feature: a `V` exists only where the token did.
        Self(unsafe { _mm512_sub_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn add_multiple(self, _: Avx512Ifma, x: Self, factor: &u64) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { add_multiple(self.0, x.0, *factor) })
    }

    #[inline(always)]
    fn add_cube(self, _: Avx512Ifma, x: Self) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { add_cube(self.0, x.0) })
    }

    #[inline(always)]
    fn add_product(self, _: Avx512Ifma, x: Self, multiplier: &Multiplier) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { add_product(self.0, x.0, multiplier) })
    }

    #[inline(always)]
    fn reduce(self, _: Avx512Ifma) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { reduce(self.0) })
    }

    #[inline(always)]
    fn in_order(self) -> Self {
        // SAFETY: feature: a `V` exists only where the token did.
        Self(unsafe { in_order(self.0) })
    }
}

/// The eight words `$word` for lanes `$lane`, with indices known at compile time.
macro_rules! words {
    ($lane:ident => $word:expr) => {{
        macro_rules! word {
            ($index:literal) => {{
                const $lane: usize = $index;
                $word
            }};
        }
        [
            word!(0),
            word!(1),
            word!(2),
            word!(3),
            word!(4),
            word!(5),
            word!(6),
            word!(7),
        ]
    }};
}

/// One parameter set for this instruction set.
pub(super) struct Ifma<S, const WIDTH: usize, const PAIRS: usize, const SINGLES: usize> {
    token: Avx512Ifma,
    constants: Constants<WIDTH, PAIRS, SINGLES>,
    /// Added to a block word to bias it as the state word it becomes in a chain (width 16).
    rebias: [u64; LANES],
    /// Added to a biased block word for the word itself plus p.
    unbias: [u64; LANES],
    split: core::marker::PhantomData<fn() -> S>,
}

pub(super) type Ifma16 = Ifma<Split16, 16, 6, 1>;
pub(super) type Ifma24 = Ifma<Split24, 24, 9, 3>;

impl<S, const WIDTH: usize, const PAIRS: usize, const SINGLES: usize> Ifma<S, WIDTH, PAIRS, SINGLES>
where
    S: Split<WIDTH, PAIRS, SINGLES>,
{
    /// The back end, or `None` if the number of partial rounds is outside what the lazy words
    /// allow.
    pub(super) fn new(token: Avx512Ifma, constants: &RoundConstants<WIDTH>) -> Option<Self> {
        let constants = Constants::new::<S>(constants)?;
        let p = u64::from(P);
        let input = constants.input;
        Some(Self {
            token,
            rebias: core::array::from_fn(|i| (input[i] + p - input[LANES + i]) % p),
            unbias: core::array::from_fn(|i| p - input[LANES + i]),
            constants,
            split: core::marker::PhantomData,
        })
    }

    /// Permutes two batches: from biased input words to outputs at the output factor. `internal` is
    /// working memory.
    #[inline(always)]
    fn permute_batches(
        &self,
        batches: &mut [[V; WIDTH]; 2],
        internal: &mut [Internal<V, PAIRS, SINGLES>; 2],
    ) {
        // SAFETY: feature: the token.
        unsafe { permute_batches(self, batches, internal) };
    }

    /// Working memory of a permutation.
    #[inline(always)]
    fn internal(&self) -> [Internal<V, PAIRS, SINGLES>; 2] {
        [Internal::filled(self.constant(&0)); 2]
    }

    /// `acc` plus the output word `x` at the factor of Montgomery words, below `acc + 2p`.
    #[inline(always)]
    fn output(&self, acc: V, x: V) -> V {
        acc.add_product(self.token, x, &self.constants.output)
    }

    #[inline(always)]
    fn constant(&self, value: &u64) -> V {
        V::constant(self.token, value)
    }
}

/// One function for every way in and out, so that the code of a permutation is there once.
///
/// # Safety
/// The CPU has the features: the token vouches for them.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline(never)]
unsafe fn permute_batches<S, const WIDTH: usize, const PAIRS: usize, const SINGLES: usize>(
    this: &Ifma<S, WIDTH, PAIRS, SINGLES>,
    batches: &mut [[V; WIDTH]; 2],
    internal: &mut [Internal<V, PAIRS, SINGLES>; 2],
) where
    S: Split<WIDTH, PAIRS, SINGLES>,
{
    let (token, constants) = (this.token, &this.constants);
    let mut state = [V::constant(token, &0); WIDTH];
    for_each_lane!(2, BATCH, {
        for_each_lane!(WIDTH, LANE, {
            state[LANE] = batches[BATCH][LANE];
        });
        front::<S, V, WIDTH, PAIRS, SINGLES>(token, constants, &mut state, &mut internal[BATCH]);
    });
    // Of unknown length, so that the rounds of the batches stay blocks apart.
    internal_rounds(token, constants, core::hint::black_box(&mut internal[..]));
    for_each_lane!(2, BATCH, {
        back::<S, V, WIDTH, PAIRS, SINGLES>(token, constants, &internal[BATCH], &mut state);
        for_each_lane!(WIDTH, LANE, {
            batches[BATCH][LANE] = state[LANE];
        });
    });
}

/// Eight words of a column, from `source` on.
///
/// # Safety
/// The features; eight words are readable.
#[inline(always)]
unsafe fn load_column(source: *const KoalaBear) -> V {
    // SAFETY: as the caller vouches.
    V(unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(source.cast())) })
}

/// Transposes 64-bit words between vectors 0..4 of eight rows given as halves: `rows[r]` holds words
/// 0..4 of row r and words 0..4 of row r + 4; result k holds word k of rows 0..8.
///
/// # Safety
/// The features.
#[inline(always)]
unsafe fn transpose_4x8(rows: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: as the caller vouches.
    unsafe {
        // Words 0 and 2 (then 1 and 3) of rows 0, 1 | 4, 5, and of rows 2, 3 | 6, 7.
        let even01 = _mm512_unpacklo_epi64(rows[0], rows[1]);
        let odd01 = _mm512_unpackhi_epi64(rows[0], rows[1]);
        let even23 = _mm512_unpacklo_epi64(rows[2], rows[3]);
        let odd23 = _mm512_unpackhi_epi64(rows[2], rows[3]);
        let first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        [
            _mm512_permutex2var_epi64(even01, first, even23),
            _mm512_permutex2var_epi64(odd01, first, odd23),
            _mm512_permutex2var_epi64(even01, second, even23),
            _mm512_permutex2var_epi64(odd01, second, odd23),
        ]
    }
}

/// The eight words of eight digests, `stride` digests apart, in lanes.
///
/// # Safety
/// The features; the digests are readable.
#[inline(always)]
unsafe fn load_digests(source: *const Digest, stride: usize) -> [V; LANES] {
    // SAFETY: as the caller vouches.
    unsafe {
        let row = |r: usize| _mm256_loadu_si256(source.add(r * stride).cast());
        let rows = |r: usize| _mm512_inserti64x4(_mm512_castsi256_si512(row(r)), row(r + 4), 1);
        let pairs = transpose_4x8([rows(0), rows(1), rows(2), rows(3)]);
        let mask = _mm512_set1_epi64(0xffff_ffff);
        let word = |k: usize| V(_mm512_and_si512(pairs[k], mask));
        let next = |k: usize| V(_mm512_srli_epi64(pairs[k], 32));
        [
            word(0),
            next(0),
            word(1),
            next(1),
            word(2),
            next(2),
            word(3),
            next(3),
        ]
    }
}

/// Asks for the cells of two batches of rows, a line of each source, ahead of their use: the many
/// sources, each read slowly, are more than the CPU foresees.
#[inline(always)]
fn prefetch_cells(cells: &[CellSource], row: usize) {
    for cell in cells {
        prefetch::read(cell.base.wrapping_add(row * cell.step));
    }
}

/// Asks for the lines of two batches of digests ahead of their being written.
#[inline(always)]
fn prefetch_digests(target: *mut Digest) {
    for_each_lane!(LANES, PAIR, {
        prefetch::read(target.wrapping_add(2 * PAIR));
    });
}

/// Writes eight digests from their words in lanes, each below 2p.
///
/// # Safety
/// The features; the digests are writable.
#[inline(always)]
unsafe fn store_digests(words: &[V; LANES], target: *mut Digest) {
    // SAFETY: as the caller vouches.
    unsafe {
        let p = _mm512_set1_epi32(P as i32);
        let pair = |k: usize| {
            let (even, odd) = (words[2 * k].0, words[2 * k + 1].0);
            // The low halves of `odd` go to the high halves.
            let both = _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, 0b10_10_00_00);
            _mm512_min_epu32(both, _mm512_sub_epi32(both, p))
        };
        let pairs = [pair(0), pair(1), pair(2), pair(3)];
        // 128-bit parts: words 0..4 and 4..8 of the even rows, then of the odd rows.
        let even_low = _mm512_unpacklo_epi64(pairs[0], pairs[1]);
        let odd_low = _mm512_unpackhi_epi64(pairs[0], pairs[1]);
        let even_high = _mm512_unpacklo_epi64(pairs[2], pairs[3]);
        let odd_high = _mm512_unpackhi_epi64(pairs[2], pairs[3]);
        let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        let rows_02 = _mm512_permutex2var_epi64(even_low, first, even_high);
        let rows_46 = _mm512_permutex2var_epi64(even_low, second, even_high);
        let rows_13 = _mm512_permutex2var_epi64(odd_low, first, odd_high);
        let rows_57 = _mm512_permutex2var_epi64(odd_low, second, odd_high);
        let store = |row: usize, both: __m512i| {
            _mm512_storeu_si512(target.add(row).cast(), both);
        };
        store(0, _mm512_shuffle_i64x2(rows_02, rows_13, 0b01_00_01_00));
        store(2, _mm512_shuffle_i64x2(rows_02, rows_13, 0b11_10_11_10));
        store(4, _mm512_shuffle_i64x2(rows_46, rows_57, 0b01_00_01_00));
        store(6, _mm512_shuffle_i64x2(rows_46, rows_57, 0b11_10_11_10));
    }
}

impl<S, const WIDTH: usize, const PAIRS: usize, const SINGLES: usize> Ifma<S, WIDTH, PAIRS, SINGLES>
where
    S: Split<WIDTH, PAIRS, SINGLES>,
{
    /// # Safety
    /// The features; `states` is a multiple of two batches.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    unsafe fn permute_entry(&self, states: &mut [[KoalaBear; WIDTH]]) {
        let zero = self.constant(&0);
        let mut internal = self.internal();
        for states in states.chunks_exact_mut(2 * LANES) {
            let mut batches = [[zero; WIDTH]; 2];
            for (batch, rows) in batches.iter_mut().zip(states.chunks_exact(LANES)) {
                for lane in 0..WIDTH {
                    let words: [KoalaBear; LANES] = core::array::from_fn(|row| rows[row][lane]);
                    // SAFETY: feature: the token. bounds: an array of eight words.
                    let words = unsafe { load_column(words.as_ptr()) };
                    batch[lane] = words.add(self.constant(&self.constants.input[lane]));
                }
            }
            self.permute_batches(&mut batches, &mut internal);
            for (batch, rows) in batches.iter().zip(states.chunks_exact_mut(LANES)) {
                for first in (0..WIDTH).step_by(LANES) {
                    let words = words!(I => self.output(zero, batch[first + I]));
                    let mut digests = [Digest::ZERO; LANES];
                    // SAFETY: feature: the token. bounds: an array of eight digests.
                    unsafe { store_digests(&words, digests.as_mut_ptr()) };
                    for (row, digest) in rows.iter_mut().zip(digests) {
                        row[first..first + LANES].copy_from_slice(&digest.0);
                    }
                }
            }
        }
    }

    /// Digests of `groups` times two batches of rows by the sponge of `rate`, which `RATE` repeats
    /// where its lanes are to be known at compile time and is 0 otherwise.
    ///
    /// # Safety
    /// The features; as [`Many::hash_rows`] for rows `first_row ..` and digests from `out` on.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    unsafe fn sponge_entry<const RATE: usize>(
        &self,
        rate: usize,
        part: Part,
        cells: &[CellSource],
        first_row: usize,
        groups: usize,
        out: *mut Digest,
    ) {
        let input = &self.constants.input;
        let zero = self.constant(&0);
        let mut initial = [zero; WIDTH];
        for_each_lane!(WIDTH, LANE, {
            initial[LANE] = self.constant(&input[LANE]);
        });
        let mut internal = self.internal();
        let mut states = [[initial; 2]; GROUPS];
        if !part.starts() {
            for (group, batches) in states[..groups].iter_mut().enumerate() {
                for (half, batch) in batches.iter_mut().enumerate() {
                    // SAFETY: feature: the token. bounds: the caller vouches for the digests.
                    let carried = unsafe { load_digests(out.add((2 * group + half) * LANES), 1) };
                    for_each_lane!(LANES, LANE, {
                        let at = WIDTH - LANES + LANE;
                        batch[at] = carried[LANE].add(self.constant(&input[at]));
                    });
                }
            }
        }
        // The first of the lanes that are written in the end.
        let left = Absorb::Sponge { rate }.left(part, WIDTH);
        let mut blocks = cells.chunks(rate).peekable();
        while let Some(block) = blocks.next() {
            // Lanes that the next block overwrites need not be carried over.
            let kept = blocks.peek().map(|next| next.len());
            let ahead = ahead(
                blocks.peek().copied(),
                &cells[..rate.min(cells.len())],
                first_row,
                groups,
            );
            for (group, batches) in states[..groups].iter_mut().enumerate() {
                prefetch_cells(ahead.0, ahead.1 + 2 * group * LANES);
                if kept.is_none() {
                    prefetch_digests(out.wrapping_add(2 * (group + 1) * LANES));
                }
                for (half, batch) in batches.iter_mut().enumerate() {
                    let row = first_row + (2 * group + half) * LANES;
                    let cell = |lane: usize| {
                        let cell = block[lane];
                        // SAFETY: feature: the token. bounds: the caller vouches for the rows.
                        let words = unsafe { load_column(cell.base.add(row * cell.step)) };
                        words.add(self.constant(&input[lane]))
                    };
                    if block.len() == RATE {
                        for_each_lane!(RATE, LANE, {
                            batch[LANE] = cell(LANE);
                        });
                    } else {
                        for (lane, word) in batch.iter_mut().enumerate().take(block.len()) {
                            *word = cell(lane);
                        }
                    }
                }
                self.permute_batches(batches, &mut internal);
                for (half, batch) in batches.iter_mut().enumerate() {
                    match kept {
                        Some(kept) if kept == RATE => for_each_lane!(WIDTH, LANE, {
                            if LANE >= RATE {
                                batch[LANE] = self.output(self.constant(&input[LANE]), batch[LANE]);
                            }
                        }),
                        Some(kept) => {
                            for (word, bias) in batch.iter_mut().zip(input).skip(kept) {
                                *word = self.output(self.constant(bias), *word);
                            }
                        }
                        None => {
                            let words = if left == 0 {
                                words!(I => self.output(zero, batch[I]))
                            } else {
                                words!(I => self.output(zero, batch[WIDTH - LANES + I]))
                            };
                            // SAFETY: feature: the token. bounds: the caller vouches for the digests.
                            unsafe { store_digests(&words, out.add((2 * group + half) * LANES)) };
                        }
                    }
                }
            }
        }
    }

    /// [`Ifma::sponge_entry`] for any rate.
    ///
    /// # Safety
    /// As [`Many::hash_rows`], with whole batches.
    unsafe fn sponge(
        &self,
        rate: usize,
        part: Part,
        cells: &[CellSource],
        first_row: usize,
        out: &mut [Digest],
    ) {
        assert_eq!(out.len() % (2 * LANES), 0, "whole batches");
        for_each_run(first_row, out, |row, groups, digests| {
            // SAFETY: feature: the token. bounds: as the caller vouches.
            unsafe {
                match rate {
                    8 => self.sponge_entry::<8>(rate, part, cells, row, groups, digests),
                    16 => self.sponge_entry::<16>(rate, part, cells, row, groups, digests),
                    _ => self.sponge_entry::<0>(rate, part, cells, row, groups, digests),
                }
            }
        });
    }
}

impl Ifma16 {
    /// The state words that a permuted batch leaves in a chain: the upper half plus the block.
    #[inline(always)]
    fn chained(&self, batch: &[V; 16], block: &[V; LANES]) -> [V; LANES] {
        words!(I => {
            self.output(block[I].add(self.constant(&self.rebias[I])), batch[LANES + I])
        })
    }

    /// The digest words of a permuted batch with feed-forward of its block.
    #[inline(always)]
    fn forwarded(&self, batch: &[V; 16], block: &[V; LANES]) -> [V; LANES] {
        words!(I => {
            self.output(block[I].add(self.constant(&self.unbias[I])), batch[LANES + I])
                .reduce(self.token)
        })
    }

    /// Words to enter the state at lanes `FIRST ..`.
    #[inline(always)]
    fn biased<const FIRST: usize>(&self, words: &[V; LANES]) -> [V; LANES] {
        words!(I => words[I].add(self.constant(&self.constants.input[FIRST + I])))
    }

    /// Writes the two halves of a state.
    #[inline(always)]
    fn fill(batch: &mut [V; 16], left: &[V; LANES], right: &[V; LANES]) {
        for_each_lane!(LANES, LANE, {
            batch[LANE] = left[LANE];
            batch[LANES + LANE] = right[LANE];
        });
    }

    /// Digests of `groups` times two batches of rows by the chain.
    ///
    /// # Safety
    /// As [`Ifma::sponge_entry`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    unsafe fn chain_entry(
        &self,
        part: Part,
        cells: &[CellSource],
        first_row: usize,
        groups: usize,
        out: *mut Digest,
    ) {
        let input = &self.constants.input;
        let initial = words!(I => self.constant(&input[I]));
        let mut internal = self.internal();
        let mut states = [[initial; 2]; GROUPS];
        if !part.starts() {
            for (group, states) in states[..groups].iter_mut().enumerate() {
                for (half, state) in states.iter_mut().enumerate() {
                    // SAFETY: feature: the token. bounds: the caller vouches for the digests.
                    let carried = unsafe { load_digests(out.add((2 * group + half) * LANES), 1) };
                    *state = self.biased::<0>(&carried);
                }
            }
        }
        let mut blocks = cells.as_chunks::<LANES>().0.iter().peekable();
        while let Some(block) = blocks.next() {
            let last = blocks.peek().is_none();
            let next = blocks.peek().map(|next| next.as_slice());
            let ahead = ahead(next, &cells[..LANES], first_row, groups);
            for (group, states) in states[..groups].iter_mut().enumerate() {
                prefetch_cells(ahead.0, ahead.1 + 2 * group * LANES);
                if last {
                    prefetch_digests(out.wrapping_add(2 * (group + 1) * LANES));
                }
                let mut batches = [[self.constant(&0); 16]; 2];
                let mut words = [[self.constant(&0); LANES]; 2];
                for half in 0..2 {
                    let row = first_row + (2 * group + half) * LANES;
                    words[half] = self.biased::<LANES>(&words!(I => {
                        // SAFETY: feature: the token. bounds: the caller vouches for the rows.
                        unsafe { load_column(block[I].base.add(row * block[I].step)) }
                    }));
                    Self::fill(&mut batches[half], &states[half], &words[half]);
                }
                self.permute_batches(&mut batches, &mut internal);
                for half in 0..2 {
                    if last {
                        let digests = self.forwarded(&batches[half], &words[half]);
                        // SAFETY: feature: the token. bounds: the caller vouches for the digests.
                        unsafe { store_digests(&digests, out.add((2 * group + half) * LANES)) };
                    } else {
                        states[half] = self.chained(&batches[half], &words[half]);
                    }
                }
            }
        }
    }

    /// # Safety
    /// The features; as [`Many::compress`], with a count that is a multiple of two batches.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    unsafe fn compress_entry(&self, feed: Feed, pairs: &Pairs) {
        let zero = self.constant(&0);
        let mut internal = self.internal();
        for first in (0..pairs.count).step_by(2 * LANES) {
            let mut batches = [[zero; 16]; 2];
            let mut rights = [[zero; LANES]; 2];
            prefetch_digests(pairs.out.wrapping_add(first + 2 * LANES));
            for half in 0..2 {
                let at = (first + half * LANES) * pairs.stride;
                // SAFETY: feature: the token. bounds: the caller vouches for the pointers.
                let (left, right) = unsafe {
                    (
                        load_digests(pairs.left.add(at), pairs.stride),
                        load_digests(pairs.right.add(at), pairs.stride),
                    )
                };
                rights[half] = self.biased::<LANES>(&right);
                Self::fill(&mut batches[half], &self.biased::<0>(&left), &rights[half]);
            }
            self.permute_batches(&mut batches, &mut internal);
            if !pairs.aux.is_null() {
                for half in 0..2 {
                    // SAFETY: feature: the token. bounds: the caller vouches for the pointers.
                    let right = unsafe { load_digests(pairs.aux.add(first + half * LANES), 1) };
                    let left = match feed {
                        Feed::Truncate => words!(I => {
                            self.output(self.constant(&self.constants.input[I]), batches[half][I])
                        }),
                        Feed::Forward => self.chained(&batches[half], &rights[half]),
                    };
                    rights[half] = self.biased::<LANES>(&right);
                    Self::fill(&mut batches[half], &left, &rights[half]);
                }
                self.permute_batches(&mut batches, &mut internal);
            }
            for half in 0..2 {
                let words = match feed {
                    Feed::Truncate => words!(I => self.output(zero, batches[half][I])),
                    Feed::Forward => self.forwarded(&batches[half], &rights[half]),
                };
                // SAFETY: feature: the token. bounds: the caller vouches for the pointers.
                unsafe { store_digests(&words, pairs.out.add(first + half * LANES)) };
            }
        }
    }
}

/// What is read after a block of the rows from `first_row` on: the next block of these rows, or else
/// the first block of the rows after them; and the row where it begins.
fn ahead<'a>(
    next: Option<&'a [CellSource]>,
    first: &'a [CellSource],
    first_row: usize,
    groups: usize,
) -> (&'a [CellSource], usize) {
    match next {
        Some(next) => (next, first_row),
        None => (first, first_row + 2 * groups * LANES),
    }
}

/// Calls `hash` with (row, groups, digest pointer) for runs of up to [`GROUPS`] groups.
fn for_each_run(
    first_row: usize,
    out: &mut [Digest],
    mut hash: impl FnMut(usize, usize, *mut Digest),
) {
    for (run, digests) in out.chunks_mut(2 * LANES * GROUPS).enumerate() {
        let row = first_row + run * 2 * LANES * GROUPS;
        hash(row, digests.len() / (2 * LANES), digests.as_mut_ptr());
    }
}

impl Many<16> for Ifma16 {
    fn name(&self) -> &'static str {
        "avx512-ifma"
    }

    fn lanes(&self) -> usize {
        2 * LANES
    }

    fn permute(&self, states: &mut [[KoalaBear; 16]]) {
        assert_eq!(states.len() % (2 * LANES), 0, "whole batches");
        // SAFETY: feature: the token. bounds: asserted.
        unsafe { self.permute_entry(states) };
    }

    unsafe fn hash_rows(
        &self,
        absorb: Absorb,
        part: Part,
        cells: &[CellSource],
        first_row: usize,
        out: &mut [Digest],
    ) {
        match absorb {
            // SAFETY: as the caller vouches.
            Absorb::Sponge { rate } => unsafe { self.sponge(rate, part, cells, first_row, out) },
            Absorb::Chain => {
                assert_eq!(out.len() % (2 * LANES), 0, "whole batches");
                for_each_run(first_row, out, |row, groups, digests| {
                    // SAFETY: feature: the token. bounds: as the caller vouches.
                    unsafe { self.chain_entry(part, cells, row, groups, digests) };
                });
            }
        }
    }

    unsafe fn compress(&self, feed: Feed, pairs: &Pairs) {
        assert_eq!(pairs.count % (2 * LANES), 0, "whole batches");
        // SAFETY: feature: the token. bounds: as the caller vouches.
        unsafe { self.compress_entry(feed, pairs) };
    }
}

impl Many<24> for Ifma24 {
    fn name(&self) -> &'static str {
        "avx512-ifma"
    }

    fn lanes(&self) -> usize {
        2 * LANES
    }

    fn permute(&self, states: &mut [[KoalaBear; 24]]) {
        assert_eq!(states.len() % (2 * LANES), 0, "whole batches");
        // SAFETY: feature: the token. bounds: asserted.
        unsafe { self.permute_entry(states) };
    }

    unsafe fn hash_rows(
        &self,
        absorb: Absorb,
        part: Part,
        cells: &[CellSource],
        first_row: usize,
        out: &mut [Digest],
    ) {
        let Absorb::Sponge { rate } = absorb else {
            unreachable!("the chain has width 16");
        };
        // SAFETY: as the caller vouches.
        unsafe { self.sponge(rate, part, cells, first_row, out) };
    }

    unsafe fn compress(&self, _: Feed, _: &Pairs) {
        unreachable!("compression has width 16");
    }
}
