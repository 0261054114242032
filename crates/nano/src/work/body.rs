//! The value of several nonces at once, generic over the lanes.
//!
//! Compared with the definition, it leaves out what is the same for all nonces of a root (most of the
//! first round, see [`Constants`]), the message words that are zero, and what the last round does not
//! pass on to the digest. A message word is added before the word that comes late, so that it is not
//! in the chain of dependent operations.

use super::precomputed::Constants;
use super::spec::{MESSAGE_WORDS, QUARTERS, SIGMA};

/// Words of 64 bits, one for each nonce.
///
/// Invariant: a value exists only where its instructions do.
pub(super) trait Lanes: Copy {
    /// What proves the instructions.
    type Token: Copy;

    /// `word` in every lane.
    fn splat(token: Self::Token, word: u64) -> Self;

    /// The sum in every lane.
    fn add(self, other: Self) -> Self;

    /// The bits in which the words differ.
    fn xor(self, other: Self) -> Self;

    /// The bits in which the words differ, rotated to the right by 32, 24, 16 or 63.
    fn xor_rotate<const BITS: u32>(self, other: Self) -> Self;
}

/// Four quarter-rounds `(number: a b c d)`, step by step, side by side. A macro, so that words are
/// chosen when it is compiled.
macro_rules! half_round {
    ($v:ident, $m:ident, $round:ident, $(($i:literal: $a:literal $b:literal $c:literal $d:literal)),*) => {
        $($v[$a] = plus($v[$a], $m, const { word($round, 2 * $i) }).add($v[$b]);)*
        $($v[$d] = $v[$d].xor_rotate::<32>($v[$a]);)*
        $($v[$c] = $v[$c].add($v[$d]);)*
        $($v[$b] = $v[$b].xor_rotate::<24>($v[$c]);)*
        $($v[$a] = plus($v[$a], $m, const { word($round, 2 * $i + 1) }).add($v[$b]);)*
        $($v[$d] = $v[$d].xor_rotate::<16>($v[$a]);)*
        $($v[$c] = $v[$c].add($v[$d]);)*
        $($v[$b] = $v[$b].xor_rotate::<63>($v[$c]);)*
    };
}

macro_rules! columns {
    ($v:ident, $m:ident, $round:ident) => {
        half_round!($v, $m, $round, (0: 0 4 8 12), (1: 1 5 9 13), (2: 2 6 10 14), (3: 3 7 11 15))
    };
}

macro_rules! diagonals {
    ($v:ident, $m:ident, $round:ident) => {
        half_round!($v, $m, $round, (4: 0 5 10 15), (5: 1 6 11 12), (6: 2 7 8 13), (7: 3 4 9 14))
    };
}

/// Rounds 1 to 10.
macro_rules! each_round {
    ($round:ident::<$lanes:ident>($($argument:expr),*)) => {
        $round::<$lanes, 1>($($argument),*);
        $round::<$lanes, 2>($($argument),*);
        $round::<$lanes, 3>($($argument),*);
        $round::<$lanes, 4>($($argument),*);
        $round::<$lanes, 5>($($argument),*);
        $round::<$lanes, 6>($($argument),*);
        $round::<$lanes, 7>($($argument),*);
        $round::<$lanes, 8>($($argument),*);
        $round::<$lanes, 9>($($argument),*);
        $round::<$lanes, 10>($($argument),*);
    };
}

/// A state of the compression, 16 words for each lane.
type State<L> = [L; 16];

/// The values of the works `nonces`.
#[inline(always)]
pub(super) fn values<L: Lanes>(token: L::Token, constants: &Constants, nonces: L) -> L {
    let m = message(token, constants, nonces);
    let mut v = first_round(token, constants, &m);
    each_round!(round::<L>(&mut v, &m));
    last_round(&mut v, &m);
    digest(token, constants, &v)
}

/// The values of two bundles of works, whose operations alternate half-round by half-round: the
/// operations of one half-round alone depend too much on each other to keep a wide core busy.
#[inline(always)]
pub(super) fn values_2<L: Lanes>(token: L::Token, constants: &Constants, nonces: [L; 2]) -> [L; 2] {
    let [m, n] = nonces.map(|nonces| message(token, constants, nonces));
    let mut v = first_round(token, constants, &m);
    let mut w = first_round(token, constants, &n);
    each_round!(round_2::<L>(&mut v, &mut w, &m, &n));
    last_round(&mut v, &m);
    last_round(&mut w, &n);
    [digest(token, constants, &v), digest(token, constants, &w)]
}

type Message<L> = [L; MESSAGE_WORDS];

#[inline(always)]
fn message<L: Lanes>(token: L::Token, constants: &Constants, nonces: L) -> Message<L> {
    let word = |word| L::splat(token, word);
    let c = constants;
    [nonces, word(c.m1), word(c.m2), word(c.m3), word(c.m4)]
}

#[inline(always)]
fn digest<L: Lanes>(token: L::Token, constants: &Constants, v: &State<L>) -> L {
    v[0].xor(v[8]).xor(L::splat(token, constants.h0))
}

/// Round 0: the first column, then the diagonals.
#[inline(always)]
fn first_round<L: Lanes>(token: L::Token, constants: &Constants, m: &Message<L>) -> State<L> {
    let word = |word| L::splat(token, word);
    let c = constants;

    let mut v0 = word(c.sum_0_4).add(m[0]);
    let mut v12 = word(c.initial_12).xor_rotate::<32>(v0);
    let mut v8 = word(c.initial_8).add(v12);
    let mut v4 = word(c.initial_4).xor_rotate::<24>(v8);
    v0 = v0.add(m[1]).add(v4);
    v12 = v12.xor_rotate::<16>(v0);
    v8 = v8.add(v12);
    v4 = v4.xor_rotate::<63>(v8);

    let (v3, v9, v14) = (word(c.v3), word(c.v9), word(c.v14));
    let (v5, v10, v15) = (word(c.v5), word(c.v10), word(c.v15));
    let zero = word(0);
    let mut v = [zero; 16];
    [v[0], v[5], v[10], v[15]] = [v0, v5, v10, v15];
    [v[3], v[4], v[9], v[14]] = [v3, v4, v9, v14];
    quarter(&mut v, QUARTERS[4], None, None);
    quarter(&mut v, QUARTERS[7], None, None);

    v[1] = word(c.sum_1_6);
    v[12] = v12.xor_rotate::<32>(v[1]);
    v[11] = word(c.v11).add(v[12]);
    v[6] = word(c.v6).xor_rotate::<24>(v[11]);
    second_half(&mut v, QUARTERS[5], None);

    v[13] = word(c.mixed_13);
    v[8] = v8.add(v[13]);
    v[7] = word(c.v7).xor_rotate::<24>(v[8]);
    v[2] = word(c.sum_2_7);
    second_half(&mut v, QUARTERS[6], None);
    v
}

#[inline(always)]
fn round<L: Lanes, const ROUND: usize>(v: &mut State<L>, m: &Message<L>) {
    columns!(v, m, ROUND);
    diagonals!(v, m, ROUND);
}

#[inline(always)]
fn round_2<L: Lanes, const ROUND: usize>(
    v: &mut State<L>,
    w: &mut State<L>,
    m: &Message<L>,
    n: &Message<L>,
) {
    columns!(v, m, ROUND);
    columns!(w, n, ROUND);
    diagonals!(v, m, ROUND);
    diagonals!(w, n, ROUND);
}

/// Round 11, as far as v0 and v8 need it.
#[inline(always)]
fn last_round<L: Lanes>(v: &mut State<L>, m: &Message<L>) {
    const SCHEDULE: &[usize; 16] = &SIGMA[11 % SIGMA.len()];
    let at = |index: usize| m.get(SCHEDULE[index]).copied();
    // Columns; of the first, v4 is not needed, of the third, v14 is not.
    quarter(v, QUARTERS[0], at(0), at(1));
    quarter(v, QUARTERS[1], at(2), at(3));
    quarter(v, QUARTERS[2], at(4), at(5));
    quarter(v, QUARTERS[3], at(6), at(7));
    // The diagonal of v0, then that of v8.
    quarter(v, QUARTERS[4], at(8), at(9));
    quarter(v, QUARTERS[6], at(12), at(13));
}

/// The word of the message at `place` in the schedule of `round`.
const fn word(round: usize, place: usize) -> usize {
    SIGMA[round % SIGMA.len()][place]
}

/// The sum of `a` and a message word, which is zero if the nonce and the root do not reach it.
#[inline(always)]
fn plus<L: Lanes>(a: L, m: &Message<L>, index: usize) -> L {
    match m.get(index) {
        Some(&word) => a.add(word),
        None => a,
    }
}

#[inline(always)]
fn quarter<L: Lanes>(v: &mut State<L>, words: [usize; 4], x: Option<L>, y: Option<L>) {
    let [a, b, c, d] = words;
    v[a] = x.map_or(v[a], |x| v[a].add(x)).add(v[b]);
    v[d] = v[d].xor_rotate::<32>(v[a]);
    v[c] = v[c].add(v[d]);
    v[b] = v[b].xor_rotate::<24>(v[c]);
    second_half(v, words, y);
}

#[inline(always)]
fn second_half<L: Lanes>(v: &mut State<L>, [a, b, c, d]: [usize; 4], y: Option<L>) {
    v[a] = y.map_or(v[a], |y| v[a].add(y)).add(v[b]);
    v[d] = v[d].xor_rotate::<16>(v[a]);
    v[c] = v[c].add(v[d]);
    v[b] = v[b].xor_rotate::<63>(v[c]);
}
