//! Eight words with AVX-512, with GFNI and VBMI or without.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::{
    __m512i, _mm_load_si128, _mm512_alignr_epi64, _mm512_and_si512, _mm512_broadcast_i32x4,
    _mm512_gf2p8affine_epi64_epi8, _mm512_gf2p8mul_epi8, _mm512_load_si512, _mm512_loadu_epi64,
    _mm512_permutexvar_epi8, _mm512_set_epi64, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setr_epi64, _mm512_shuffle_epi8, _mm512_slli_epi16, _mm512_srli_epi16,
    _mm512_ternarylogic_epi64, _mm512_xor_si512,
};

use lanework_arch::{Avx512, Avx512Gfni};

use super::super::words::{Avx512Vector, Words, XOR3};
use super::affine::{Matrices, TO_POLYNOMIAL, TO_TOWER};
use super::{Pattern, Shuffle, Table, TowerWords, WidePattern};

// The functions on raw vectors below are called with the contents of values only.

#[inline(always)]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    // SAFETY: feature: the vectors come from values.
    unsafe { _mm512_ternarylogic_epi64::<XOR3>(a, b, c) }
}

/// The bytes of each word, byte i exchanged with byte i xor `K`.
#[inline(always)]
fn exchange<const K: i64>(x: __m512i) -> __m512i {
    // SAFETY: feature: `x` comes from a value.
    unsafe {
        let low = 0x0706_0504_0302_0100 ^ (K * 0x0101_0101_0101_0101);
        let high = low ^ 0x0808_0808_0808_0808;
        let order = _mm512_set_epi64(high, low, high, low, high, low, high, low);
        _mm512_shuffle_epi8(x, order)
    }
}

#[inline(always)]
fn mul(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: feature: the vectors come from values with an `Avx512Gfni` token.
    unsafe { _mm512_gf2p8mul_epi8(a, b) }
}

#[inline(always)]
fn broadcast(word: u32) -> __m512i {
    // SAFETY: feature: called with a token in hand.
    unsafe { _mm512_set1_epi32(word as i32) }
}

impl TowerWords for Avx512Vector<Avx512Gfni> {
    type One = __m512i;
    type Two = [__m512i; 2];
    type Four = [__m512i; 4];
    type Eight = [__m512i; 8];
    const NAME: &'static str = "avx512-gfni";

    #[inline(always)]
    fn one(_: Avx512Gfni, pattern: &Pattern) -> __m512i {
        broadcast(pattern.0[0])
    }

    #[inline(always)]
    fn two(_: Avx512Gfni, pattern: &Pattern) -> [__m512i; 2] {
        [broadcast(pattern.0[0]), broadcast(pattern.0[1])]
    }

    #[inline(always)]
    fn four(_: Avx512Gfni, pattern: &Pattern) -> [__m512i; 4] {
        [
            broadcast(pattern.0[0]),
            broadcast(pattern.0[1]),
            broadcast(pattern.0[2]),
            broadcast(pattern.0[3]),
        ]
    }

    #[inline(always)]
    fn add_one(self, constant: &__m512i, v: Self) -> Self {
        self.xor(Self::new(mul(v.0, *constant)))
    }

    #[inline(always)]
    fn add_two(self, constant: &[__m512i; 2], v: Self) -> Self {
        let straight = mul(v.0, constant[0]);
        let crossed = mul(exchange::<1>(v.0), constant[1]);
        Self::new(xor3(self.0, straight, crossed))
    }

    #[inline(always)]
    fn add_four(self, constant: &[__m512i; 4], v: Self) -> Self {
        let products = [
            mul(v.0, constant[0]),
            mul(exchange::<1>(v.0), constant[1]),
            mul(exchange::<2>(v.0), constant[2]),
            mul(exchange::<3>(v.0), constant[3]),
        ];
        let sum = xor3(self.0, products[0], products[1]);
        Self::new(xor3(sum, products[2], products[3]))
    }

    #[inline(always)]
    fn eight(_: Avx512Gfni, pattern: &WidePattern) -> [__m512i; 8] {
        let mut words = [broadcast(0); 8];
        for k in 0..8 {
            // SAFETY: feature: the token.
            words[k] = unsafe { _mm512_set1_epi64(pattern.0[k] as i64) };
        }
        words
    }

    #[inline(always)]
    fn add_eight(self, constant: &[__m512i; 8], v: Self) -> Self {
        let sum = self.add_four(&[constant[0], constant[1], constant[2], constant[3]], v);
        let products = [
            mul(exchange::<4>(v.0), constant[4]),
            mul(exchange::<5>(v.0), constant[5]),
            mul(exchange::<6>(v.0), constant[6]),
            mul(exchange::<7>(v.0), constant[7]),
        ];
        let sum = xor3(sum.0, products[0], products[1]);
        Self::new(xor3(sum, products[2], products[3]))
    }

    #[inline(always)]
    fn polynomial_to_tower(self) -> Self {
        Self::new(apply(&TO_TOWER, self.0))
    }

    #[inline(always)]
    fn tower_to_polynomial(self) -> Self {
        Self::new(apply(&TO_POLYNOMIAL, self.0))
    }
}

/// The map of every word.
#[inline(always)]
fn apply(matrices: &Matrices, x: __m512i) -> __m512i {
    /// Byte q of word w and byte w of word q change places.
    static TRANSPOSITION: [[u8; 8]; 8] = {
        let mut order = [[0; 8]; 8];
        let mut i = 0;
        while i < 64 {
            order[i / 8][i % 8] = (i % 8 * 8 + i / 8) as u8;
            i += 1;
        }
        order
    };
    // SAFETY: feature: `x` comes from a value with an `Avx512Gfni` token. bounds: the tables have 64 bytes, and the matrices are aligned.
    unsafe {
        let order = _mm512_loadu_epi64(TRANSPOSITION.as_ptr().cast());
        macro_rules! map {
            ($x:expr, $k:literal) => {
                _mm512_gf2p8affine_epi64_epi8::<0>(
                    $x,
                    _mm512_load_si512(matrices.0[$k].as_ptr().cast()),
                )
            };
        }
        // Word q now has byte q of the eight words.
        let x = _mm512_permutexvar_epi8(order, x);
        let a = xor3(
            map!(x, 0),
            map!(_mm512_alignr_epi64::<1>(x, x), 1),
            map!(_mm512_alignr_epi64::<2>(x, x), 2),
        );
        let b = xor3(
            map!(_mm512_alignr_epi64::<3>(x, x), 3),
            map!(_mm512_alignr_epi64::<4>(x, x), 4),
            map!(_mm512_alignr_epi64::<5>(x, x), 5),
        );
        let c = _mm512_xor_si512(
            map!(_mm512_alignr_epi64::<6>(x, x), 6),
            map!(_mm512_alignr_epi64::<7>(x, x), 7),
        );
        _mm512_permutexvar_epi8(order, xor3(a, b, c))
    }
}

impl Shuffle for Avx512Vector<Avx512> {
    const NAME: &'static str = "avx512";

    #[inline(always)]
    fn repeat(self, table: &Table) -> Self {
        // SAFETY: feature: a value exists. bounds and alignment: those of a table.
        Self::new(unsafe { _mm512_broadcast_i32x4(_mm_load_si128(table.0.as_ptr().cast())) })
    }

    #[inline(always)]
    fn lookup(self, index: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm512_shuffle_epi8(self.0, index.0) })
    }

    #[inline(always)]
    fn and(self, mask: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm512_and_si512(self.0, mask.0) })
    }

    #[inline(always)]
    fn and_xor(self, mask: Self, other: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm512_ternarylogic_epi64::<0x6a>(self.0, mask.0, other.0) })
    }

    #[inline(always)]
    fn down<const BITS: i32>(self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe {
            match BITS {
                2 => _mm512_srli_epi16::<2>(self.0),
                4 => _mm512_srli_epi16::<4>(self.0),
                _ => _mm512_srli_epi16::<6>(self.0),
            }
        })
    }

    #[inline(always)]
    fn replaced(self, words: &[u64; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = *words;
        // SAFETY: feature: a value exists.
        Self::new(unsafe {
            _mm512_setr_epi64(
                a as i64, b as i64, c as i64, d as i64, e as i64, f as i64, g as i64, h as i64,
            )
        })
    }

    #[inline(always)]
    fn byte_up(self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm512_slli_epi16::<8>(self.0) })
    }

    #[inline(always)]
    fn byte_down(self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm512_srli_epi16::<8>(self.0) })
    }
}
