//! Products of bytes by lookups in tables of sixteen entries, for CPUs that only shuffle bytes.
//!
//! A product is the sum of those of parts of its factor. For c in GF(2^8) the parts are the two halves of every
//! byte. For c = a + b X, all bytes are multiplied by a, b and c1 b, and of these the products that are due are
//! put where they belong. For GF(2^32) every place of four has another constant: there a part is two bits and the
//! number of the place.

use std::hint::black_box;

use super::super::spec::C1;
use super::super::tower::mul8;
use super::super::words::Words;
use super::super::{B64, T64};
use super::{Pattern, TowerWords, WidePattern};

/// Sixteen bytes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Table(pub(crate) [u8; 16]);

/// Vectors of words whose bytes can be shuffled.
pub trait Shuffle: Words {
    /// The name of the instructions, for reports.
    const NAME: &'static str;

    /// The bytes of `table` over and over.
    #[must_use]
    fn repeat(self, table: &Table) -> Self;
    /// For every byte of `index`, that byte of the same 16 bytes of `self`, or 0 if the index is above 127. Indices
    /// from 16 to 127 are not given.
    #[must_use]
    fn lookup(self, index: Self) -> Self;
    /// The bits of both.
    #[must_use]
    fn and(self, mask: Self) -> Self;
    /// other + (self and mask).
    #[must_use]
    fn and_xor(self, mask: Self, other: Self) -> Self;
    /// Every byte shifted down by `BITS`, which are 2, 4 or 6; what its upper `BITS` bits become is not specified.
    #[must_use]
    fn down<const BITS: i32>(self) -> Self;
    /// The first words of `words`.
    #[must_use]
    fn replaced(self, words: &[u64; 8]) -> Self;
    /// Even bytes at the next place, and zeros in their places.
    #[must_use]
    fn byte_up(self) -> Self;
    /// Odd bytes at the place before, and zeros in their places.
    #[must_use]
    fn byte_down(self) -> Self;
}

/// For every constant, its multiples by the lower and by the upper halves of bytes.
static HALVES: [[Table; 2]; 256] = {
    let mut rows = [[Table([0; 16]); 2]; 256];
    let mut i = 0;
    while i < 256 * 16 {
        let (constant, value) = (i / 16, i % 16);
        rows[constant][0].0[value] = mul8(constant as u8, value as u8);
        rows[constant][1].0[value] = mul8(constant as u8, (value << 4) as u8);
        i += 1;
    }
    rows
};

/// For every constant, its multiples by the values of bits 0 and 1, those of bits 2 and 3, and so on: four bytes
/// each, the first lowest.
static QUARTERS: [[u64; 2]; 256] = {
    let mut rows = [[0; 2]; 256];
    let mut i = 0;
    while i < 256 * 16 {
        let (constant, part, value) = (i / 16, i / 4 % 4, i % 4);
        let multiple = mul8(constant as u8, (value << (2 * part)) as u8) as u64;
        rows[constant][part / 2] |= multiple << (32 * (part % 2) + 8 * value);
        i += 1;
    }
    rows
};

const fn filled(bytes: [u8; 4]) -> Table {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 16 {
        table[i] = bytes[i % 4];
        i += 1;
    }
    Table(table)
}

/// The order that exchanges byte i with byte i xor k.
const fn exchange(k: u8) -> Table {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 16 {
        table[i as usize] = i ^ k;
        i += 1;
    }
    Table(table)
}

/// The order that has the half of a word that is `from` at the place of the half that is `to`, and zeros in the other.
const fn half(from: u8, to: u8) -> Table {
    let mut table = [0x80; 16];
    let mut i = 0;
    while i < 16 {
        if i / 4 % 2 == to {
            table[i as usize] = i / 8 * 8 + 4 * from + i % 4;
        }
        i += 1;
    }
    Table(table)
}

static LOWER_HALF: Table = filled([0x0f; 4]);
static LOWER_QUARTER: Table = filled([0x03; 4]);
static PLACES: Table = filled([0, 4, 8, 12]);
static ODD: Table = filled([0, 0xff, 0, 0xff]);
static EXCHANGES: [Table; 3] = [exchange(1), exchange(2), exchange(3)];
static LOWER_UP: Table = half(0, 1);
static UPPER_UP: Table = half(1, 1);
static UPPER_DOWN: Table = half(1, 0);

/// The halves of all bytes.
#[inline(always)]
fn halves<V: Shuffle>(v: V) -> [V; 2] {
    let mask = v.repeat(&LOWER_HALF);
    [v.and(mask), v.down::<4>().and(mask)]
}

/// The products of parts.
#[inline(always)]
fn look_up<V: Shuffle>(table: &Table, index: V) -> V {
    index.repeat(table).lookup(index)
}

/// The bytes of `v` in another order.
#[inline(always)]
fn reorder<V: Shuffle>(v: V, order: &Table) -> V {
    v.lookup(v.repeat(order))
}

/// The products of two bits each, with the constants of the four places.
#[inline(always)]
fn by_places<V: Shuffle>(tables: &[Table; 4], index: &[V; 4]) -> V {
    let first = look_up(&tables[0], index[0]);
    let second = look_up(&tables[1], index[1]);
    let third = look_up(&tables[2], index[2]);
    first.xor3(second, third).xor(look_up(&tables[3], index[3]))
}

/// A constant of GF(2^32): the tables of every `C_k`.
#[derive(Copy, Clone, Debug)]
pub struct Places {
    tables: [[Table; 4]; 4],
    /// [`EXCHANGES`]. The compiler does not know: it would have the terms of a sum change places one by one.
    exchanges: &'static [Table; 3],
}

/// The tables of `C_k`, at the places that the bytes are at before the exchange.
#[inline(always)]
fn places(pattern: &Pattern, k: usize) -> [Table; 4] {
    const LOWER: u64 = 0xffff_ffff;
    let mut tables = [Table([0; 16]); 4];
    for half in 0..2 {
        let place = 2 * half;
        let first = &QUARTERS[pattern.byte(k, place ^ k) as usize];
        let second = &QUARTERS[pattern.byte(k, (place + 1) ^ k) as usize];
        for pair in 0..2 {
            let (a, b) = (first[pair], second[pair]);
            let even = a & LOWER | b << 32;
            let odd = a >> 32 | b & !LOWER;
            let bytes = 8 * half..8 * half + 8;
            tables[2 * pair].0[bytes.clone()].copy_from_slice(&even.to_le_bytes());
            tables[2 * pair + 1].0[bytes].copy_from_slice(&odd.to_le_bytes());
        }
    }
    tables
}

/// A word of several that go through tables. Gathering for all of them at once pays for eight.
#[inline(always)]
fn alone<V: Words>(word: u64) -> u64 {
    if V::LEN < 8 { black_box(word) } else { word }
}

impl<V: Shuffle> TowerWords for V {
    const NAME: &'static str = V::NAME;
    type One = [Table; 2];
    type Two = [[Table; 2]; 3];
    type Four = Places;
    type Eight = [Places; 3];

    #[inline(always)]
    fn one(_: V::Token, pattern: &Pattern) -> [Table; 2] {
        HALVES[pattern.byte(0, 0) as usize]
    }

    #[inline(always)]
    fn two(_: V::Token, pattern: &Pattern) -> [[Table; 2]; 3] {
        let (a, b, c) = (pattern.byte(0, 0), pattern.byte(1, 1), pattern.byte(1, 0));
        debug_assert_eq!(c, mul8(C1, b));
        [HALVES[a as usize], HALVES[b as usize], HALVES[c as usize]]
    }

    #[inline(always)]
    fn four(_: V::Token, pattern: &Pattern) -> Places {
        Places {
            tables: [
                places(pattern, 0),
                places(pattern, 1),
                places(pattern, 2),
                places(pattern, 3),
            ],
            exchanges: black_box(&EXCHANGES),
        }
    }

    #[inline(always)]
    fn eight(token: V::Token, pattern: &WidePattern) -> [Places; 3] {
        let [a, b, c] = pattern.parts();
        [
            Self::four(token, &a),
            Self::four(token, &b),
            Self::four(token, &c),
        ]
    }

    #[inline(always)]
    fn add_one(self, constant: &[Table; 2], v: Self) -> Self {
        let [low, high] = halves(v);
        self.xor3(look_up(&constant[0], low), look_up(&constant[1], high))
    }

    // (a + b X)(u + v X) is a (u + v X), b v at X, b u from 1 to X, and c1 b v from X to 1.
    #[inline(always)]
    fn add_two(self, constant: &[[Table; 2]; 3], v: Self) -> Self {
        let [low, high] = halves(v);
        let [a, b, c] = constant;
        let sum = self.xor3(look_up(&a[0], low), look_up(&a[1], high));
        let b = look_up(&b[0], low).xor(look_up(&b[1], high));
        let c = look_up(&c[0], low).xor(look_up(&c[1], high));
        let sum = b.and_xor(v.repeat(&ODD), sum);
        sum.xor3(b.byte_up(), c.byte_down())
    }

    #[inline(always)]
    fn add_four(self, constant: &Places, v: Self) -> Self {
        let (mask, places) = (v.repeat(&LOWER_QUARTER), v.repeat(&PLACES));
        let index = [
            v.and_xor(mask, places),
            v.down::<2>().and_xor(mask, places),
            v.down::<4>().and_xor(mask, places),
            v.down::<6>().and_xor(mask, places),
        ];
        let sum = self
            .xor3(
                look_up(&constant.tables[0][0], index[0]),
                look_up(&constant.tables[0][1], index[1]),
            )
            .xor3(
                look_up(&constant.tables[0][2], index[2]),
                look_up(&constant.tables[0][3], index[3]),
            );
        let first = reorder(
            by_places(&constant.tables[1], &index),
            &constant.exchanges[0],
        );
        let second = reorder(
            by_places(&constant.tables[2], &index),
            &constant.exchanges[1],
        );
        let third = reorder(
            by_places(&constant.tables[3], &index),
            &constant.exchanges[2],
        );
        sum.xor3(first, second).xor(third)
    }

    // (a + b Z)(u + v Z) is a (u + v Z), b (u + v) at Z, and c3 b v at 1.
    #[inline(always)]
    fn add_eight(self, constant: &[Places; 3], v: Self) -> Self {
        let both = reorder(v, &LOWER_UP).xor(reorder(v, &UPPER_UP));
        let [a, b, c] = constant;
        self.add_four(a, v)
            .add_four(b, both)
            .add_four(c, reorder(v, &UPPER_DOWN))
    }

    #[inline(always)]
    fn polynomial_to_tower(self) -> Self {
        let mut words = [0; 8];
        self.to_slice(&mut words);
        for word in &mut words[..V::LEN] {
            *word = T64::from(B64(alone::<V>(*word))).0;
        }
        self.replaced(&words)
    }

    #[inline(always)]
    fn tower_to_polynomial(self) -> Self {
        let mut words = [0; 8];
        self.to_slice(&mut words);
        for word in &mut words[..V::LEN] {
            *word = B64::from(T64(alone::<V>(*word))).0;
        }
        self.replaced(&words)
    }
}
