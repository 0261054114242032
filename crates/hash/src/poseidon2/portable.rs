//! What runs on a plain CPU: one instance at a time, in 64-bit integers that are reduced lazily.
//!
//! A word is a signed integer congruent to the Montgomery word. Sums are not reduced at all;
//! products are, by [`Word::times`], and so is what enters a cube, by [`Word::fold`]. The arithmetic
//! is written once over [`Word`]: the tests run it over intervals, which proves that no
//! intermediate value leaves 64 bits, whatever the constants. Partial rounds go by
//! [pairs of lanes](super::pairs).
#![expect(
    unsafe_code,
    reason = "reads cells and digests through the pointers of the switch"
)]

use std::ops::{Add, Sub};

use lanework_arch::Choice;
use lanework_field::KoalaBear;
use lanework_field::koala::spec::{MONTGOMERY_MU, P};

use super::RoundConstants;
use super::pairs::{PAIRS_16, PAIRS_24, Pair, SINGLES_16, SINGLES_24};
use super::single::Single;
use super::table::{Absorb, CellSource, Feed, Many, Pairs};
use crate::{Digest, Part};

/// An integer congruent to a Montgomery word, in the algorithm or in its proof.
pub(super) trait Word: Copy + Add<Output = Self> + Sub<Output = Self> {
    /// The word of `element`, or of any element.
    fn of(element: KoalaBear) -> Self;

    /// A congruent word of little more than 30 bits and a sign.
    fn fold(self) -> Self;

    /// The word of the product of the elements.
    fn times(self, other: Self) -> Self;

    /// The word times `factor`.
    fn scale(self, factor: i64) -> Self;

    /// The word of the element divided by 2^`exponent`, at most 24.
    fn halve(self, exponent: u32) -> Self;
}

impl Word for i64 {
    #[inline(always)]
    fn of(element: KoalaBear) -> Self {
        element.montgomery_word() as i64
    }

    #[inline(always)]
    fn fold(self) -> Self {
        // The nearest multiple k of 2^31 tells how many p to take away; k p without a product, since
        // products are what there is too much of.
        let shifted = self + (1 << 30);
        let k = shifted >> 31;
        (shifted & ((1 << 31) - 1)) - (1 << 30) + (k << 24) - k
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let product = self * other;
        let q = (product as i32).wrapping_mul(MONTGOMERY_MU as i32) as i64;
        (product - q * P as i64) >> 32
    }

    #[inline(always)]
    fn scale(self, factor: i64) -> Self {
        self * factor
    }

    #[inline(always)]
    fn halve(self, exponent: u32) -> Self {
        // p is 1 modulo 2^24.
        let q = self & ((1 << exponent) - 1);
        (self - q * P as i64) >> exponent
    }
}

/// Permutes `state`, whose words come from [`Word::of`].
#[inline(always)]
pub(super) fn permute<W: Word, const WIDTH: usize>(
    constants: &RoundConstants<WIDTH>,
    state: &mut [W; WIDTH],
) {
    external_layer(state);
    for row in &constants.initial {
        full_round(row, state);
    }
    partial_rounds(&constants.internal, state);
    for row in &constants.terminal {
        full_round(row, state);
    }
}

#[inline(always)]
fn cube<W: Word>(word: W, constant: KoalaBear) -> W {
    let x = (word + W::of(constant)).fold();
    x.times(x).times(x)
}

#[inline(always)]
fn full_round<W: Word, const WIDTH: usize>(constants: &[KoalaBear; WIDTH], state: &mut [W; WIDTH]) {
    for (word, &constant) in state.iter_mut().zip(constants) {
        *word = cube(*word, constant);
    }
    external_layer(state);
}

#[inline(always)]
fn external_layer<W: Word, const WIDTH: usize>(state: &mut [W; WIDTH]) {
    for block in state.as_chunks_mut::<4>().0 {
        let [a, b, c, d] = *block;
        let (ab, cd) = (a + b, c + d);
        let sum = ab + cd;
        *block = [
            sum + b + ab,
            sum + b + (c + c),
            sum + d + cd,
            sum + d + (a + a),
        ];
    }
    let mut columns = [state[0], state[1], state[2], state[3]];
    for block in &state.as_chunks::<4>().0[1..] {
        for (column, &word) in columns.iter_mut().zip(block) {
            *column = *column + word;
        }
    }
    for block in state.as_chunks_mut::<4>().0 {
        for (word, &column) in block.iter_mut().zip(&columns) {
            *word = *word + column;
        }
    }
}

/// The partial rounds of `constants`.
#[inline(always)]
pub(super) fn partial_rounds<W: Word, const WIDTH: usize>(
    constants: &[KoalaBear],
    state: &mut [W; WIDTH],
) {
    if WIDTH == 16 {
        by_pairs(constants, &PAIRS_16, &SINGLES_16, state);
    } else {
        by_pairs(constants, &PAIRS_24, &SINGLES_24, state);
    }
}

#[inline(always)]
fn by_pairs<W: Word, const WIDTH: usize, const PAIRS: usize, const SINGLES: usize>(
    constants: &[KoalaBear],
    pairs: &[Pair; PAIRS],
    singles: &[usize; SINGLES],
    state: &mut [W; WIDTH],
) {
    let mut first = state[0];
    let mut now = pairs.map(|pair| (state[pair.plus] + state[pair.minus]).fold().halve(1));
    let mut before = pairs.map(|pair| {
        let difference = state[pair.plus] - state[pair.minus];
        difference.fold().times(W::of(pair.half_inverse).fold())
    });
    let mut alone = singles.map(|lane| state[lane].fold());
    for &constant in constants {
        let cube = cube(first, constant);
        let half_others = now[1..].iter().fold(now[0], |sum, &h| sum + h);
        let others = alone
            .iter()
            .fold(half_others + half_others, |sum, &word| sum + word);
        // The diagonal entry of lane 0 is -2.
        first = others - cube;
        let sum = (others + cube).fold();

        let next = products::<W, PAIRS>(&before).map(|product| sum + product);
        (before, now) = (now, next);
        alone = single_products::<W, SINGLES>(&alone).map(|product| sum + product);
    }
    state[0] = first;
    for (i, pair) in pairs.iter().enumerate() {
        let e = before[i].fold().times(W::of(pair.v));
        state[pair.plus] = now[i] + e;
        state[pair.minus] = now[i] - e;
    }
    for (i, &lane) in singles.iter().enumerate() {
        state[lane] = alone[i];
    }
}

/// v^2 g for every pair.
#[inline(always)]
fn products<W: Word, const PAIRS: usize>(g: &[W; PAIRS]) -> [W; PAIRS] {
    std::array::from_fn(|i| match (PAIRS, i) {
        (_, 0) => g[i].halve(2),
        (_, 1) => g[i].scale(9).fold(),
        (_, 2) => g[i].scale(16).fold(),
        (_, 3) => g[i].halve(16),
        (_, 4) => g[i].halve(6),
        (9, 5) => g[i].halve(8),
        (9, 6) => g[i].halve(10),
        (9, 7) => g[i].halve(12),
        _ => g[i].halve(24).halve(24),
    })
}

/// The diagonal entry times the word, for every lane of no pair.
#[inline(always)]
fn single_products<W: Word, const SINGLES: usize>(words: &[W; SINGLES]) -> [W; SINGLES] {
    std::array::from_fn(|i| match (SINGLES, i) {
        (_, 0) => words[i].fold(),
        (_, 1) => (words[i] + words[i]).fold(),
        (3, _) => words[i].scale(-1).halve(4),
        (_, 2) => words[i].halve(2),
        (_, 3) => words[i].scale(-1).halve(7),
        _ => words[i].scale(-1).halve(9),
    })
}

/// The element of a word.
#[inline(always)]
pub(super) fn element_of(word: i64) -> KoalaBear {
    let folded = word.fold();
    let word = if folded < 0 {
        folded + P as i64
    } else {
        folded
    };
    match KoalaBear::from_montgomery_word(word as u32) {
        Ok(element) => element,
        Err(_) => unreachable!("fold leaves less than p"),
    }
}

/// The back end of plain CPUs: one instance after the other.
pub(super) struct OneByOne<const WIDTH: usize>(Single<WIDTH>);

impl<const WIDTH: usize> OneByOne<WIDTH> {
    pub(super) fn new(constants: &RoundConstants<WIDTH>) -> Self {
        Self(Single::new(constants, Choice::portable()))
    }
}

impl<const WIDTH: usize> Many<WIDTH> for OneByOne<WIDTH> {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn lanes(&self) -> usize {
        1
    }

    fn permute(&self, states: &mut [[KoalaBear; WIDTH]]) {
        for state in states {
            self.0.permute(state);
        }
    }

    unsafe fn hash_rows(
        &self,
        absorb: Absorb,
        part: Part,
        cells: &[CellSource],
        first_row: usize,
        out: &mut [Digest],
    ) {
        for (digest, row) in out.iter_mut().zip(first_row..) {
            // SAFETY: bounds: the caller vouches for every source at these rows.
            *digest = self.0.hash(absorb, part, *digest, cells.len(), |i| unsafe {
                cells[i].base.add(row * cells[i].step).read()
            });
        }
    }

    unsafe fn compress(&self, feed: Feed, pairs: &Pairs) {
        for i in 0..pairs.count {
            // SAFETY: bounds: `i` is below the count that the caller vouches for.
            unsafe {
                let left = pairs.left.add(i * pairs.stride).read();
                let right = pairs.right.add(i * pairs.stride).read();
                let mut digest = self.0.compress(feed, &left, &right);
                if !pairs.aux.is_null() {
                    digest = self.0.compress(feed, &digest, &*pairs.aux.add(i));
                }
                pairs.out.add(i).write(digest);
            }
        }
    }
}
