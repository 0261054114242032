//! The permutation on lazily reduced 52-bit words, for instructions that multiply 52-bit integers
//! and add one half of the product.
//!
//! A field element x is held as an integer congruent to f x mod p for a factor f known at set-up,
//! and sums are not reduced: what limits them is that words stay below 2^52. Each step below
//! is written once over [`Words`]; the tests run it over intervals, which proves the ranges for
//! a parameter set, and the vector file runs it over lanes.
//!
//! - **Cube.** With R = 2^52 and X odd, X^3 R^-2 mod p takes seven multiply-adds: `m = -X / p`,
//!   `s = (X^2 + lo(X m) p) / R`, `r = (s X + lo(s m) p) / R`, all modulo R. X is odd
//!   and s is between 0 and R, so the low halves of X^2 and of s X are not zero, and each pair of low
//!   halves carries exactly one: the low products are never formed and nothing is subtracted.
//! - **Oddness and scale.** `M_E` therefore returns 2 y + p, its doublings hidden in multiply-adds. A
//!   cube turns the factor f into f^3 R^-2, so that the factor changes from round to round; every
//!   constant is scaled to match. In the internal rounds it must be the fixed point of
//!   f = (2 f)^3 R^-2, that is R / sqrt(8), which exists since 2 is a square modulo p.
//! - **Constants are free.** The constants of a round enter as `M_E^-1` of themselves in
//!   the accumulators of the cubes before it.
//! - **Products by a constant** c take three multiply-adds with c' = floor(c R / p): `q = hi(x c')`,
//!   `lo(x c) + lo(q (R - p))` is x c - q p modulo R, below 2 p. Words above 2^52 are cut when they
//!   are multiplied, so no mask is needed.
//! - **Internal rounds by pairs.** For lanes i, j with `V_i = -V_j = v` the half sum h and the half
//!   difference e follow h' = sigma + v e and e' = v h, hence h'' = sigma' + v^2 h: one product for
//!   two lanes, and the sum of all lanes needs h only. Products by 9, 16 and 127^2 are left
//!   unreduced in every other step of their recurrence.

#![allow(
    clippy::out_of_bounds_indexing,
    clippy::absurd_extreme_comparisons,
    reason = "lanes past the width are in code that a constant condition leaves out"
)]
#![expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "a constant that stays in memory is an operand of the instruction that uses it"
)]

use lanework_field::KoalaBear;
use lanework_field::koala::spec::P;

use super::RoundConstants;
use super::spec::{DIAGONAL_16, DIAGONAL_24};

/// Expands `$body` for each constant index `$index` below `$count`, at most 24.
///
/// Lanes must have indices known at compile time: a loop over them would go through memory. Bodies
/// that are large should not be there for indices that do not occur, so a literal 2 makes just two.
macro_rules! for_each_lane {
    (2, $index:ident, $body:block) => {
        for_each_lane!(@ 2, $index, $body; 0 1)
    };
    ($count:expr, $index:ident, $body:block) => {
        for_each_lane!(@ $count, $index, $body;
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23)
    };
    (@ $count:expr, $index:ident, $body:block; $($lane:literal)*) => {{
        $(if $lane < $count {
            const $index: usize = $lane;
            $body
        })*
    }};
}
pub(super) use for_each_lane;

/// R - p for R = 2^52.
pub(super) const MINUS_P: u64 = (1 << 52) - P as u64;

/// -1/p mod 2^52.
pub(super) const MINUS_INVERSE_P: u64 = {
    // Newton's iteration doubles the number of correct bits; 1 is right for one bit.
    let (p, mut x, mut i) = (P as u64, 1u64, 0);
    while i < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(p.wrapping_mul(x)));
        i += 1;
    }
    x.wrapping_neg() & ((1 << 52) - 1)
};

/// floor(2^52 / p).
pub(super) const RECIPROCAL: u64 = (1 << 52) / P as u64;

/// A prepared multiplier: c and floor(c 2^52 / p).
#[derive(Copy, Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Multiplier {
    pub(super) value: u64,
    pub(super) quotient: u64,
}

impl Multiplier {
    fn new(c: KoalaBear) -> Self {
        let value = u64::from(c.to_canonical());
        Self {
            value,
            quotient: ((u128::from(value) << 52) / u128::from(P)) as u64,
        }
    }
}

/// Words below 2^52 in lanes, and the steps that the permutation consists of.
///
/// Integers are meant modulo 2^52: an implementation may keep anything above.
pub(super) trait Words: Copy {
    /// The proof that the instructions exist.
    type Token: Copy;

    /// Has what makes this word come before what makes the words that pass through here later.
    #[inline(always)]
    fn in_order(self) -> Self {
        self
    }

    /// `value` in every lane.
    fn constant(token: Self::Token, value: &u64) -> Self;

    /// The sum.
    fn add(self, other: Self) -> Self;

    /// The difference, which is not negative.
    fn sub(self, other: Self) -> Self;

    /// The sum with itself.
    #[inline(always)]
    fn double(self) -> Self {
        self.add(self)
    }

    /// `self + x * factor`.
    fn add_multiple(self, token: Self::Token, x: Self, factor: &u64) -> Self;

    /// `self - 1` plus a word congruent to x^3 2^-104 mod p, for odd x.
    fn add_cube(self, token: Self::Token, x: Self) -> Self;

    /// `self` plus a word below 2p congruent to x times the multiplier.
    fn add_product(self, token: Self::Token, x: Self, multiplier: &Multiplier) -> Self;

    /// A word below 2p congruent to `self`.
    fn reduce(self, token: Self::Token) -> Self;
}

/// How the lanes of a width go through the internal rounds.
///
/// Lanes 0, 1 and 2 have V = -2, 1 and 2; the last three pairs are those of 2^-24, 3 and 4, whose
/// squares are small.
pub(super) trait Split<const WIDTH: usize, const PAIRS: usize, const SINGLES: usize> {
    const DIAGONAL: [KoalaBear; WIDTH];
    /// Lanes with opposite entries, the positive one first.
    const PAIR_LANES: [(usize, usize); PAIRS];
    /// The other lanes.
    const SINGLE_LANES: [usize; SINGLES];
}

/// The split of width 16.
pub(super) struct Split16;

impl Split<16, 6, 1> for Split16 {
    const DIAGONAL: [KoalaBear; 16] = DIAGONAL_16;
    const PAIR_LANES: [(usize, usize); 6] = [(3, 6), (9, 12), (10, 13), (11, 15), (4, 7), (5, 8)];
    const SINGLE_LANES: [usize; 1] = [14];
}

/// The split of width 24.
pub(super) struct Split24;

impl Split<24, 9, 3> for Split24 {
    const DIAGONAL: [KoalaBear; 24] = DIAGONAL_24;
    const PAIR_LANES: [(usize, usize); 9] = [
        (3, 6),
        (9, 16),
        (11, 17),
        (12, 18),
        (13, 19),
        (14, 20),
        (15, 23),
        (4, 7),
        (5, 8),
    ];
    const SINGLE_LANES: [usize; 3] = [10, 21, 22];
}

/// The lane of V = 1 grows with every partial round; with more of them it could pass 2^52.
const PARTIAL_ROUNDS_MAX: usize = 1024;

/// v^2 of the last three pairs.
const SMALL_SQUARES: [u64; 3] = [127 * 127, 9, 16];

/// The prepared constants of one parameter set.
#[derive(Debug)]
pub(super) struct Constants<const WIDTH: usize, const PAIRS: usize, const SINGLES: usize> {
    /// Added to the input words: M_E^-1 of the first round's constants, at the factor of the input.
    pub(super) input: [u64; WIDTH],
    /// Accumulators of the cubes, a row for each full round.
    rounds: Vec<[u64; WIDTH]>,
    /// What the first two internal rounds multiply by, to change the factor on the way in.
    enter: Enter<PAIRS, SINGLES>,
    /// Added to lane 0 after each internal round: odd, and large enough to subtract a cube from.
    lane_zero: Vec<u64>,
    /// v^2 of each pair.
    squares: [Multiplier; PAIRS],
    /// V of each single lane.
    singles: [Multiplier; SINGLES],
    two: Multiplier,
    /// v of each pair.
    roots: [Multiplier; PAIRS],
    /// Added to the lanes on the way out: odd, and large enough to subtract a half difference from.
    leave: [u64; WIDTH],
    /// A multiple of p above every word at the entry to the internal rounds.
    offset: u64,
    /// From the factor of the output to that of the input, 2^32.
    pub(super) output: Multiplier,
}

#[derive(Debug)]
struct Enter<const PAIRS: usize, const SINGLES: usize> {
    lane_zero: Multiplier,
    sum: Multiplier,
    one: Multiplier,
    two: Multiplier,
    first: [Multiplier; PAIRS],
    second: [Multiplier; PAIRS],
    singles: [Multiplier; SINGLES],
}

/// The internal state of a batch: pairs by their half sums after an even and an odd number of
/// rounds, and the other lanes.
#[derive(Copy, Clone)]
pub(super) struct Internal<T, const PAIRS: usize, const SINGLES: usize> {
    even: [T; PAIRS],
    odd: [T; PAIRS],
    others: Others<T, SINGLES>,
}

#[derive(Copy, Clone)]
struct Others<T, const SINGLES: usize> {
    one: T,
    two: T,
    singles: [T; SINGLES],
    /// Lane 0, doubled and made odd.
    cubed: T,
    /// Its cube.
    cube: T,
    /// The sum of all lanes.
    sum: T,
    /// What the next lane 0 is after twice the cube is subtracted: doubled and made odd.
    next: T,
}

/// The least multiple of p above `floor`, plus `residue`, that is odd.
fn odd_above(floor: u64, residue: KoalaBear) -> u64 {
    let p = u64::from(P);
    let word = floor.next_multiple_of(p) + u64::from(residue.to_canonical());
    if word % 2 == 1 { word } else { word + p }
}

/// M_E^-1 x.
fn external_inverse<const WIDTH: usize>(x: &[KoalaBear; WIDTH]) -> [KoalaBear; WIDTH] {
    // Gauss-Jordan elimination on [M | x]: set-up only, and true to the definition of M_E.
    let mut rows = [[KoalaBear::ZERO; WIDTH]; WIDTH];
    for column in 0..WIDTH {
        let mut unit = [KoalaBear::ZERO; WIDTH];
        unit[column] = KoalaBear::ONE;
        super::scalar::external_layer(&mut unit);
        for (row, entry) in rows.iter_mut().zip(unit) {
            row[column] = entry;
        }
    }
    let mut x = *x;
    for column in 0..WIDTH {
        let pivot = (column..WIDTH).find(|&row| rows[row][column] != KoalaBear::ZERO);
        let pivot = pivot.expect("M_E is invertible");
        rows.swap(column, pivot);
        x.swap(column, pivot);
        let inverse = rows[column][column].inverse().expect("a pivot is not zero");
        rows[column] = rows[column].map(|entry| entry * inverse);
        x[column] *= inverse;
        let (pivot_row, pivot_x) = (rows[column], x[column]);
        for row in (0..WIDTH).filter(|&row| row != column) {
            let factor = rows[row][column];
            for (entry, from) in rows[row].iter_mut().zip(pivot_row) {
                *entry -= factor * from;
            }
            x[row] -= factor * pivot_x;
        }
    }
    x
}

/// sqrt(2) modulo p: some root of x^2 - 2, from the 2-Sylow subgroup.
fn sqrt_two() -> KoalaBear {
    // Tonelli-Shanks with p - 1 = 2^24 * 127.
    let two = KoalaBear::new(2);
    let mut root = two.pow(64);
    let mut rest = two.pow(127);
    let mut generator = KoalaBear::two_adic_generator(24);
    let mut log_order = 24;
    while rest != KoalaBear::ONE {
        let (mut square, mut log) = (rest, 0);
        while square != KoalaBear::ONE {
            square = square.square();
            log += 1;
        }
        let factor = generator.pow(1 << (log_order - log - 1));
        root *= factor;
        generator = factor.square();
        rest *= generator;
        log_order = log;
    }
    root
}

impl<const WIDTH: usize, const PAIRS: usize, const SINGLES: usize>
    Constants<WIDTH, PAIRS, SINGLES>
{
    /// The prepared constants, or `None` if there are fewer internal rounds than the two that
    /// change the factor, or more than [`PARTIAL_ROUNDS_MAX`].
    pub(super) fn new<S: Split<WIDTH, PAIRS, SINGLES>>(
        constants: &RoundConstants<WIDTH>,
    ) -> Option<Self> {
        let RoundConstants {
            initial,
            internal,
            terminal,
        } = constants;
        if !(2..=PARTIAL_ROUNDS_MAX).contains(&internal.len()) {
            return None;
        }
        let inverse = |x: KoalaBear| x.inverse().expect("not zero");
        let two = KoalaBear::new(2);
        let half = inverse(two);
        let r = two.pow(52);
        let after_cube = |factor: KoalaBear| factor.cube() * inverse(r.square());
        let biased = |row: &[KoalaBear; WIDTH], factor: KoalaBear, carry: u64| {
            external_inverse(row).map(|c| u64::from((c * factor).to_canonical()) + carry)
        };

        // The input words are Montgomery words.
        let input_factor = two.pow(32);
        let internal_factor = r * inverse(two * sqrt_two());
        debug_assert_eq!(after_cube(two * internal_factor), internal_factor);

        let mut rounds = Vec::with_capacity(initial.len() + terminal.len());
        let mut factor = two * input_factor;
        let mut entry = [KoalaBear::ZERO; WIDTH];
        entry[0] = internal[0];
        for next in initial[1..].iter().chain([&entry]) {
            factor = after_cube(factor);
            rounds.push(biased(next, factor, 1));
            factor = two * factor;
        }
        let change = internal_factor * inverse(factor);
        for next in &terminal[1..] {
            rounds.push(biased(next, internal_factor, 1));
        }
        rounds.push([1; WIDTH]);

        let keys = internal[1..].iter().chain([&terminal[0][0]]);
        let root = |pair: usize| S::DIAGONAL[S::PAIR_LANES[pair].0];
        let multipliers = |f: &dyn Fn(usize) -> KoalaBear| -> [Multiplier; PAIRS] {
            std::array::from_fn(|pair| Multiplier::new(f(pair)))
        };
        let singles = |f: KoalaBear| -> [Multiplier; SINGLES] {
            S::SINGLE_LANES.map(|lane| Multiplier::new(S::DIAGONAL[lane] * f))
        };
        Some(Self {
            input: biased(&initial[0], input_factor, 0),
            rounds,
            enter: Enter {
                lane_zero: Multiplier::new(change),
                sum: Multiplier::new(change),
                one: Multiplier::new(change),
                two: Multiplier::new(two * change),
                first: multipliers(&|pair| root(pair) * half * change),
                second: multipliers(&|pair| root(pair).square() * half * change),
                singles: singles(change),
            },
            lane_zero: keys
                .map(|&c| odd_above(1 << 34, two * internal_factor * c))
                .collect(),
            squares: multipliers(&|pair| root(pair).square()),
            singles: singles(KoalaBear::ONE),
            two: Multiplier::new(two),
            roots: multipliers(&root),
            leave: terminal[0].map(|c| odd_above(1 << 34, two * internal_factor * c)),
            offset: (1u64 << 40).next_multiple_of(u64::from(P)),
            output: Multiplier::new(input_factor * inverse(two * internal_factor)),
        })
    }
}

/// `2 M_E x + p`.
#[inline(always)]
fn external_layer<T: Words, const WIDTH: usize>(token: T::Token, state: &mut [T; WIDTH]) {
    let mut sums = [state[0], state[1], state[2], state[3]];
    for_each_lane!(WIDTH, LANE, {
        if LANE >= 4 {
            sums[LANE % 4] = sums[LANE % 4].add(state[LANE]);
        }
    });
    for_each_lane!(WIDTH, LANE, {
        state[LANE] = state[LANE].add(sums[LANE % 4]);
    });
    let p = T::constant(token, &u64::from(P));
    for_each_lane!(WIDTH / 4, BLOCK, {
        let at = 4 * BLOCK;
        let [x0, x1, x2, x3] = [state[at], state[at + 1], state[at + 2], state[at + 3]];
        let left = x0.add(x1);
        let right = x2.add(x3);
        let all = p
            .add_multiple(token, right, &2)
            .add_multiple(token, left, &2);
        let odd = all.add_multiple(token, x1, &2);
        let even = all.add_multiple(token, x3, &2);
        state[at] = odd.add_multiple(token, left, &2);
        state[at + 1] = odd.add_multiple(token, x2, &4);
        state[at + 2] = even.add_multiple(token, right, &2);
        state[at + 3] = even.add_multiple(token, x0, &4);
    });
}

#[inline(always)]
fn full_rounds<T: Words, const WIDTH: usize>(
    token: T::Token,
    rounds: &[[u64; WIDTH]],
    state: &mut [T; WIDTH],
) {
    for accumulators in rounds {
        for_each_lane!(WIDTH, LANE, {
            let accumulator = T::constant(token, &accumulators[LANE]);
            let cube = accumulator.add_cube(token, state[LANE]);
            // Of many cubes, compilers put off the ends, with more words waiting than registers.
            state[LANE] = if WIDTH > 16 { cube.in_order() } else { cube };
        });
        external_layer(token, state);
    }
}

/// From the input words, biased by [`Constants::input`], to the first internal round.
#[inline(always)]
pub(super) fn front<
    S: Split<WIDTH, PAIRS, SINGLES>,
    T: Words,
    const WIDTH: usize,
    const PAIRS: usize,
    const SINGLES: usize,
>(
    token: T::Token,
    constants: &Constants<WIDTH, PAIRS, SINGLES>,
    state: &mut [T; WIDTH],
    internal: &mut Internal<T, PAIRS, SINGLES>,
) {
    external_layer(token, state);
    full_rounds(
        token,
        &constants.rounds[..constants.rounds.len() / 2],
        state,
    );
    let zero = T::constant(token, &0);
    let lane_zero = zero.add_product(token, state[0], &constants.enter.lane_zero);
    let cubed = T::constant(token, &u64::from(P)).add_multiple(token, lane_zero, &2);
    internal.others.cube = T::constant(token, &1).add_cube(token, cubed);
    let offset = T::constant(token, &constants.offset);
    let mut sum = state[1].add(state[2]);
    internal.others.one = state[1];
    internal.others.two = state[2];
    for_each_lane!(PAIRS, PAIR, {
        let (i, j) = S::PAIR_LANES[PAIR];
        let both = state[i].add(state[j]);
        internal.even[PAIR] = both;
        internal.odd[PAIR] = state[i].add(offset).sub(state[j]);
        sum = sum.add(both);
    });
    for_each_lane!(SINGLES, SINGLE, {
        let single = state[S::SINGLE_LANES[SINGLE]];
        internal.others.singles[SINGLE] = single;
        sum = sum.add(single);
    });
    let sum = zero.add_product(token, sum, &constants.enter.sum);
    internal.others.sum = sum;
    internal.others.next = T::constant(token, &constants.lane_zero[0]).add_multiple(token, sum, &2);
}

impl<T: Copy, const PAIRS: usize, const SINGLES: usize> Internal<T, PAIRS, SINGLES> {
    /// A state to be written by [`front`].
    #[inline(always)]
    pub(super) fn filled(word: T) -> Self {
        let others = Others {
            one: word,
            two: word,
            singles: [word; SINGLES],
            cubed: word,
            cube: word,
            sum: word,
            next: word,
        };
        Self {
            even: [word; PAIRS],
            odd: [word; PAIRS],
            others,
        }
    }
}

/// Which form of the internal round: they differ in what they reduce.
mod form {
    /// The first, on sums and differences at the factor of the full rounds.
    pub(super) const FIRST: u8 = 0;
    /// The second, which still multiplies a sum of the full rounds.
    pub(super) const SECOND: u8 = 1;
    /// Small squares stay unreduced.
    pub(super) const LAZY: u8 = 2;
    /// Everything is reduced but the lane of V = 2.
    pub(super) const REDUCING: u8 = 3;
    /// Everything is reduced.
    pub(super) const ALL: u8 = 4;
}

/// One internal round of one batch after its cube: `before` are the half sums of the round before,
/// which the next ones replace. It ends with the cube and the sum that the next round starts from, so
/// that their latency passes while another batch has its turn.
#[inline(always)]
fn internal_round<
    T: Words,
    const WIDTH: usize,
    const PAIRS: usize,
    const SINGLES: usize,
    const FORM: u8,
>(
    token: T::Token,
    constants: &Constants<WIDTH, PAIRS, SINGLES>,
    key: &u64,
    before: &mut [T; PAIRS],
    others: &mut Others<T, SINGLES>,
) {
    let sigma = others.sum.add(others.cube);
    let cubed = others.next.sub(others.cube.double());
    others.cubed = cubed;
    others.cube = T::constant(token, &1).add_cube(token, cubed);
    let enter = &constants.enter;
    let multipliers = match FORM {
        form::FIRST => &enter.first,
        form::SECOND => &enter.second,
        _ => &constants.squares,
    };
    let mut halves = sigma;
    for_each_lane!(PAIRS, PAIR, {
        let half = if FORM == form::LAZY && PAIR + SMALL_SQUARES.len() >= PAIRS {
            let square = &SMALL_SQUARES[(PAIR + SMALL_SQUARES.len() - PAIRS) % SMALL_SQUARES.len()];
            sigma.add_multiple(token, before[PAIR], square)
        } else {
            sigma.add_product(token, before[PAIR], &multipliers[PAIR])
        };
        before[PAIR] = half;
        halves = if PAIR == 0 { half } else { halves.add(half) };
    });
    let one = if FORM == form::FIRST {
        sigma.add_product(token, others.one, &enter.one)
    } else {
        sigma.add(others.one)
    };
    let two = match FORM {
        form::FIRST => sigma.add_product(token, others.two, &enter.two),
        form::ALL => sigma.add_product(token, others.two, &constants.two),
        _ => sigma.add_multiple(token, others.two, &2),
    };
    let mut sum = one.add(two);
    (others.one, others.two) = (one, two);
    let multipliers = if FORM == form::FIRST {
        &enter.singles
    } else {
        &constants.singles
    };
    for_each_lane!(SINGLES, SINGLE, {
        let single = sigma.add_product(token, others.singles[SINGLE], &multipliers[SINGLE]);
        others.singles[SINGLE] = single;
        sum = sum.add(single);
    });
    let sum = sum.add_multiple(token, halves, &2).reduce(token);
    others.sum = sum;
    others.next = T::constant(token, key).add_multiple(token, sum, &2);
}

/// All internal rounds, the batches in turn so that one computes while another waits.
///
/// The state stays in memory between rounds: each round of a batch is then a block of its own that
/// fits the registers, and the order of blocks is the order in which the CPU sees them.
#[inline(always)]
pub(super) fn internal_rounds<
    T: Words,
    const WIDTH: usize,
    const PAIRS: usize,
    const SINGLES: usize,
>(
    token: T::Token,
    constants: &Constants<WIDTH, PAIRS, SINGLES>,
    batches: &mut [Internal<T, PAIRS, SINGLES>],
) {
    macro_rules! round {
        ($form:ident, $before:ident, $key:expr) => {
            for Internal {
                $before, others, ..
            } in batches.iter_mut()
            {
                internal_round::<T, WIDTH, PAIRS, SINGLES, { form::$form }>(
                    token, constants, $key, $before, others,
                );
            }
        };
    }
    // Each round prepares the next with its key; after the last one none is needed.
    let keys = &constants.lane_zero;
    let key = |round: usize| keys.get(round + 1).unwrap_or(&keys[0]);
    round!(FIRST, odd, key(0));
    round!(SECOND, even, key(1));
    let mut done = 2;
    while done + 4 <= keys.len() {
        round!(LAZY, odd, key(done));
        round!(LAZY, even, key(done + 1));
        round!(REDUCING, odd, key(done + 2));
        round!(ALL, even, key(done + 3));
        done += 4;
    }
    while done + 2 <= keys.len() {
        round!(REDUCING, odd, key(done));
        round!(REDUCING, even, key(done + 1));
        done += 2;
    }
    if done < keys.len() {
        round!(REDUCING, odd, key(done));
        for batch in batches {
            core::mem::swap(&mut batch.even, &mut batch.odd);
        }
    }
}

/// From the last internal round to the output words, at twice the internal factor.
#[inline(always)]
pub(super) fn back<
    S: Split<WIDTH, PAIRS, SINGLES>,
    T: Words,
    const WIDTH: usize,
    const PAIRS: usize,
    const SINGLES: usize,
>(
    token: T::Token,
    constants: &Constants<WIDTH, PAIRS, SINGLES>,
    internal: &Internal<T, PAIRS, SINGLES>,
    state: &mut [T; WIDTH],
) {
    let lane =
        |lane: usize, x: T| T::constant(token, &constants.leave[lane]).add_multiple(token, x, &2);
    let zero = T::constant(token, &0);
    state[0] = internal.others.cubed;
    state[1] = lane(1, internal.others.one);
    state[2] = lane(2, internal.others.two);
    for_each_lane!(SINGLES, SINGLE, {
        state[S::SINGLE_LANES[SINGLE]] =
            lane(S::SINGLE_LANES[SINGLE], internal.others.singles[SINGLE]);
    });
    for_each_lane!(PAIRS, PAIR, {
        let (i, j) = S::PAIR_LANES[PAIR];
        let difference = zero.add_product(token, internal.odd[PAIR], &constants.roots[PAIR]);
        let half_sum = internal.even[PAIR];
        state[i] = lane(i, half_sum).add_multiple(token, difference, &2);
        state[j] = lane(j, half_sum).sub(difference.double());
    });
    full_rounds(
        token,
        &constants.rounds[constants.rounds.len() / 2..],
        state,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u128 = 1 << 52;
    const PRIME: u128 = P as u128;

    /// Every word that a step may meet: bounds, and the parity where it is certain.
    #[derive(Copy, Clone, Debug)]
    struct Interval {
        low: u128,
        high: u128,
        odd: Option<bool>,
    }

    impl Interval {
        fn new(low: u128, high: u128, odd: Option<bool>) -> Self {
            assert!(
                low <= high && high < LIMIT,
                "a word in {low}..={high} passes 2^52"
            );
            Self { low, high, odd }
        }
    }

    impl Words for Interval {
        type Token = ();

        fn constant((): (), value: &u64) -> Self {
            let word = u128::from(*value);
            Self::new(word, word, Some(word % 2 == 1))
        }

        fn add(self, other: Self) -> Self {
            let odd = self.odd.zip(other.odd).map(|(a, b)| a ^ b);
            Self::new(self.low + other.low, self.high + other.high, odd)
        }

        fn double(self) -> Self {
            Self::new(2 * self.low, 2 * self.high, Some(false))
        }

        fn sub(self, other: Self) -> Self {
            assert!(
                self.low >= other.high,
                "{self:?} - {other:?} may be negative"
            );
            let odd = self.odd.zip(other.odd).map(|(a, b)| a ^ b);
            Self::new(self.low - other.high, self.high - other.low, odd)
        }

        fn add_multiple(self, (): (), x: Self, factor: &u64) -> Self {
            let factor = u128::from(*factor);
            assert!(x.high * factor < LIMIT, "{x:?} * {factor} has a high half");
            let odd = if factor.is_multiple_of(2) {
                Some(false)
            } else {
                x.odd
            };
            let product = Self::new(x.low * factor, x.high * factor, odd);
            self.add(product)
        }

        fn add_cube(self, (): (), x: Self) -> Self {
            assert_eq!(
                x.odd,
                Some(true),
                "the low half of an even square may be zero"
            );
            // X^2 + m p is a multiple of R, at least R, with m < R; likewise s X + m p.
            let square = (x.high * x.high + (LIMIT - 1) * PRIME) / LIMIT;
            assert!(square < LIMIT, "the square of {x:?} does not fit a factor");
            let cube = (square * x.high + (LIMIT - 1) * PRIME) / LIMIT;
            Self::new(self.low, self.high + cube - 1, None)
        }

        fn add_product(self, (): (), _: Self, multiplier: &Multiplier) -> Self {
            let value = u128::from(multiplier.value);
            assert!(value < PRIME);
            assert_eq!(u128::from(multiplier.quotient), (value << 52) / PRIME);
            // x c / p - q < x / R + 1 < 2.
            Self::new(self.low, self.high + 2 * PRIME - 1, None)
        }

        fn reduce(self, (): ()) -> Self {
            // x / p - q < x / R + 1 < 2.
            Self::new(0, 2 * PRIME - 1, None)
        }
    }

    /// Runs a permutation over intervals from words as large as any mode makes them; gives the
    /// largest output word.
    fn largest_output<
        S: Split<WIDTH, PAIRS, SINGLES>,
        const WIDTH: usize,
        const PAIRS: usize,
        const SINGLES: usize,
    >(
        constants: &Constants<WIDTH, PAIRS, SINGLES>,
    ) -> u128 {
        // A chained word is a block word, two biases and a product, each below p or 2p.
        let mut state = [Interval::new(0, 5 * PRIME, None); WIDTH];
        let mut internal = [Internal::filled(state[0]); 2];
        front::<S, _, WIDTH, PAIRS, SINGLES>((), constants, &mut state, &mut internal[0]);
        internal[1] = internal[0];
        internal_rounds((), constants, &mut internal);
        back::<S, _, WIDTH, PAIRS, SINGLES>((), constants, &internal[0], &mut state);
        state.iter().map(|word| word.high).max().unwrap()
    }

    fn ranges_hold<
        S: Split<WIDTH, PAIRS, SINGLES>,
        const WIDTH: usize,
        const PAIRS: usize,
        const SINGLES: usize,
    >(
        tables: &[RoundConstants<WIDTH>],
    ) {
        for table in tables {
            let constants = Constants::new::<S>(table).expect("a usable table");
            assert!(largest_output::<S, WIDTH, PAIRS, SINGLES>(&constants) < LIMIT);
        }
        // No table has larger constants than these, and bounds only grow with the constants.
        for partial in (2..20).chain([PARTIAL_ROUNDS_MAX]) {
            for half in [1, 2, 9] {
                let row = [KoalaBear::NEG_ONE; WIDTH];
                let table =
                    RoundConstants::new(vec![row; half], vec![row[0]; partial], vec![row; half]);
                let mut largest = Constants::new::<S>(&table.unwrap()).unwrap();
                largest.rounds.fill([u64::from(P); WIDTH]);
                let most = odd_above(1 << 34, KoalaBear::NEG_ONE) + 2 * u64::from(P);
                largest.lane_zero.fill(most);
                largest.leave = [most; WIDTH];
                assert!(largest_output::<S, WIDTH, PAIRS, SINGLES>(&largest) < LIMIT);
            }
        }
    }

    #[test]
    fn no_table_takes_a_word_past_its_range() {
        ranges_hold::<Split16, 16, 6, 1>(&[
            RoundConstants::<16>::plonky3_default(),
            RoundConstants::<16>::gnark(),
        ]);
        ranges_hold::<Split24, 24, 9, 3>(&[
            RoundConstants::<24>::plonky3_default(),
            RoundConstants::<24>::gnark(),
        ]);
    }

    #[test]
    #[should_panic(expected = "passes 2^52")]
    fn the_ranges_are_what_limits_the_partial_rounds() {
        let row = [KoalaBear::NEG_ONE; 16];
        let table = RoundConstants::new(vec![row; 4], vec![row[0]; 8], vec![row; 4]).unwrap();
        let mut constants = Constants::new::<Split16>(&table).unwrap();
        constants.lane_zero = vec![constants.lane_zero[0]; 1 << 20];
        largest_output::<Split16, 16, 6, 1>(&constants);
    }

    #[test]
    fn tables_outside_the_ranges_are_refused() {
        let row = [KoalaBear::ONE; 16];
        for partial in [0, 1, PARTIAL_ROUNDS_MAX + 1] {
            let table = RoundConstants::new(vec![row; 4], vec![row[0]; partial], vec![row; 4]);
            assert!(Constants::new::<Split16>(&table.unwrap()).is_none());
        }
    }

    #[test]
    fn lanes_split_into_opposite_pairs_and_singles() {
        fn check<
            S: Split<WIDTH, PAIRS, SINGLES>,
            const WIDTH: usize,
            const PAIRS: usize,
            const SINGLES: usize,
        >() {
            let mut lanes: Vec<usize> = S::PAIR_LANES.iter().flat_map(|&(i, j)| [i, j]).collect();
            lanes.extend(S::SINGLE_LANES);
            lanes.extend([0, 1, 2]);
            lanes.sort_unstable();
            assert_eq!(lanes, (0..WIDTH).collect::<Vec<_>>());
            for (i, j) in S::PAIR_LANES {
                assert_eq!(S::DIAGONAL[i] + S::DIAGONAL[j], KoalaBear::ZERO);
            }
            for (square, (i, _)) in SMALL_SQUARES.iter().rev().zip(S::PAIR_LANES.iter().rev()) {
                assert_eq!(S::DIAGONAL[*i].square(), KoalaBear::from_u64(*square));
            }
        }
        check::<Split16, 16, 6, 1>();
        check::<Split24, 24, 9, 3>();
    }
}
