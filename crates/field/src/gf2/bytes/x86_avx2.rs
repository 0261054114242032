//! Four words with AVX2, with GFNI or without.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::{
    __m256i, _mm_load_si128, _mm256_and_si256, _mm256_blend_epi32, _mm256_broadcastsi128_si256,
    _mm256_gf2p8affine_epi64_epi8, _mm256_gf2p8mul_epi8, _mm256_loadu_si256,
    _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32, _mm256_set_epi64x, _mm256_set1_epi32,
    _mm256_setr_epi32, _mm256_setr_epi64x, _mm256_shuffle_epi8, _mm256_slli_epi16,
    _mm256_srli_epi16, _mm256_xor_si256,
};
use std::hint::black_box;

use lanework_arch::{Avx2, Avx2Gfni};

use super::super::words::{Avx2Vector, Words};
use super::affine::{Matrices, TO_POLYNOMIAL, TO_TOWER};
use super::{Pattern, Shuffle, Table, TowerWords, WidePattern};

// The functions on raw vectors below are called with the contents of values only.

#[inline(always)]
fn xor(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: feature: the vectors come from values.
    unsafe { _mm256_xor_si256(a, b) }
}

/// The order that exchanges byte i of each word with byte i xor `K`.
#[inline(always)]
fn order<const K: i64>() -> __m256i {
    let low = 0x0706_0504_0302_0100 ^ (K * 0x0101_0101_0101_0101);
    let high = low ^ 0x0808_0808_0808_0808;
    // SAFETY: feature: called with a token or a value in hand.
    unsafe { _mm256_set_epi64x(high, low, high, low) }
}

#[inline(always)]
fn shuffle(x: __m256i, order: __m256i) -> __m256i {
    // SAFETY: feature: `x` comes from a value.
    unsafe { _mm256_shuffle_epi8(x, order) }
}

/// The bytes of each word, byte i exchanged with byte i xor `K`.
#[inline(always)]
fn exchange<const K: i64>(x: __m256i) -> __m256i {
    shuffle(x, order::<K>())
}

#[inline(always)]
fn mul(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: feature: the vectors come from values with an `Avx2Gfni` token.
    unsafe { _mm256_gf2p8mul_epi8(a, b) }
}

#[inline(always)]
fn broadcast(word: u32) -> __m256i {
    // SAFETY: feature: called with a token in hand.
    unsafe { _mm256_set1_epi32(word as i32) }
}

/// A constant of GF(2^32).
#[derive(Copy, Clone, Debug)]
pub struct Four {
    words: [__m256i; 4],
    /// The order of [`exchange`] with 2. The compiler does not know, for it would take two instructions.
    exchange_2: __m256i,
}

impl TowerWords for Avx2Vector<Avx2Gfni> {
    const NAME: &'static str = "avx2-gfni";
    type One = __m256i;
    type Two = [__m256i; 2];
    type Four = Four;
    type Eight = [__m256i; 8];

    #[inline(always)]
    fn one(_: Avx2Gfni, pattern: &Pattern) -> __m256i {
        broadcast(pattern.0[0])
    }

    #[inline(always)]
    fn two(_: Avx2Gfni, pattern: &Pattern) -> [__m256i; 2] {
        [broadcast(pattern.0[0]), broadcast(pattern.0[1])]
    }

    #[inline(always)]
    fn four(_: Avx2Gfni, pattern: &Pattern) -> Four {
        Four {
            words: [
                broadcast(pattern.0[0]),
                broadcast(pattern.0[1]),
                broadcast(pattern.0[2]),
                broadcast(pattern.0[3]),
            ],
            exchange_2: black_box(order::<2>()),
        }
    }

    #[inline(always)]
    fn eight(token: Avx2Gfni, pattern: &WidePattern) -> [__m256i; 8] {
        let mut words = [broadcast(0); 8];
        for k in 0..8 {
            words[k] = Self::splat(token, pattern.0[k]).0;
        }
        words
    }

    #[inline(always)]
    fn add_one(self, constant: &__m256i, v: Self) -> Self {
        self.xor(Self::new(mul(v.0, *constant)))
    }

    #[inline(always)]
    fn add_two(self, constant: &[__m256i; 2], v: Self) -> Self {
        let straight = mul(v.0, constant[0]);
        let crossed = mul(exchange::<1>(v.0), constant[1]);
        Self::new(xor(self.0, xor(straight, crossed)))
    }

    #[inline(always)]
    fn add_four(self, constant: &Four, v: Self) -> Self {
        let [a, b, c, d] = constant.words;
        let exchanged = shuffle(v.0, constant.exchange_2);
        let first = xor(mul(v.0, a), mul(exchange::<1>(v.0), b));
        let second = xor(mul(exchanged, c), mul(exchange::<3>(v.0), d));
        Self::new(xor(self.0, xor(first, second)))
    }

    #[inline(always)]
    fn add_eight(self, constant: &[__m256i; 8], v: Self) -> Self {
        let sum = self.add_two(&[constant[0], constant[1]], v);
        let sum = sum.xor(Self::new(xor(
            mul(exchange::<2>(v.0), constant[2]),
            mul(exchange::<3>(v.0), constant[3]),
        )));
        let first = xor(
            mul(exchange::<4>(v.0), constant[4]),
            mul(exchange::<5>(v.0), constant[5]),
        );
        let second = xor(
            mul(exchange::<6>(v.0), constant[6]),
            mul(exchange::<7>(v.0), constant[7]),
        );
        Self::new(xor(sum.0, xor(first, second)))
    }

    #[inline(always)]
    fn polynomial_to_tower(self) -> Self {
        static MATRICES: Pairs = Pairs::new(&TO_TOWER);
        Self::new(apply(&MATRICES, self.0))
    }

    #[inline(always)]
    fn tower_to_polynomial(self) -> Self {
        static MATRICES: Pairs = Pairs::new(&TO_POLYNOMIAL);
        Self::new(apply(&MATRICES, self.0))
    }
}

/// The matrices for output bytes at even places and those for odd ones.
#[repr(C, align(32))]
struct Pairs([[[u64; 4]; 2]; 8]);

impl Pairs {
    const fn new(matrices: &Matrices) -> Self {
        let mut pairs = [[[0; 4]; 2]; 8];
        let mut i = 0;
        while i < 64 {
            let (k, p) = (i / 8, i % 8);
            pairs[k][p % 2][p / 2] = matrices.0[k][p];
            i += 1;
        }
        Self(pairs)
    }
}

/// The map of every word.
#[inline(always)]
fn apply(matrices: &Pairs, x: __m256i) -> __m256i {
    // SAFETY: feature: `x` comes from a value with an `Avx2Gfni` token. bounds: a pair has twice four words.
    unsafe {
        macro_rules! map {
            ($x:expr, $k:literal, $parity:literal) => {
                _mm256_gf2p8affine_epi64_epi8::<0>(
                    $x,
                    _mm256_loadu_si256(matrices.0[$k][$parity].as_ptr().cast()),
                )
            };
        }
        macro_rules! sum {
            ($x:expr, $parity:literal) => {
                xor(
                    xor(
                        xor(map!($x[0], 0, $parity), map!($x[1], 1, $parity)),
                        xor(map!($x[2], 2, $parity), map!($x[3], 3, $parity)),
                    ),
                    xor(
                        xor(map!($x[4], 4, $parity), map!($x[5], 5, $parity)),
                        xor(map!($x[6], 6, $parity), map!($x[7], 7, $parity)),
                    ),
                )
            };
        }
        // Byte w of 32-bit word q and byte q of 32-bit word w of a half change places.
        let order = _mm256_set_epi64x(
            0x0f0b_0703_0e0a_0602,
            0x0d09_0501_0c08_0400,
            0x0f0b_0703_0e0a_0602,
            0x0d09_0501_0c08_0400,
        );
        let halves = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
        // The 32-bit word q now has byte q of the four words. A matrix is for two of them, and right for one.
        let x = _mm256_shuffle_epi8(halves, order);
        let y = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0));
        let rotated = [
            x,
            y,
            _mm256_permute4x64_epi64::<0b00_11_10_01>(x),
            _mm256_permute4x64_epi64::<0b00_11_10_01>(y),
            _mm256_permute4x64_epi64::<0b01_00_11_10>(x),
            _mm256_permute4x64_epi64::<0b01_00_11_10>(y),
            _mm256_permute4x64_epi64::<0b10_01_00_11>(x),
            _mm256_permute4x64_epi64::<0b10_01_00_11>(y),
        ];
        let sum = _mm256_blend_epi32::<0b1010_1010>(sum!(rotated, 0), sum!(rotated, 1));
        let halves = _mm256_shuffle_epi8(sum, order);
        _mm256_permutevar8x32_epi32(halves, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
    }
}

impl Shuffle for Avx2Vector<Avx2> {
    const NAME: &'static str = "avx2";

    #[inline(always)]
    fn repeat(self, table: &Table) -> Self {
        // SAFETY: feature: a value exists. bounds and alignment: those of a table.
        Self::new(unsafe { _mm256_broadcastsi128_si256(_mm_load_si128(table.0.as_ptr().cast())) })
    }

    #[inline(always)]
    fn lookup(self, index: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm256_shuffle_epi8(self.0, index.0) })
    }

    #[inline(always)]
    fn and(self, mask: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm256_and_si256(self.0, mask.0) })
    }

    #[inline(always)]
    fn and_xor(self, mask: Self, other: Self) -> Self {
        self.and(mask).xor(other)
    }

    #[inline(always)]
    fn down<const BITS: i32>(self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm256_srli_epi16::<BITS>(self.0) })
    }

    #[inline(always)]
    fn replaced(self, words: &[u64; 8]) -> Self {
        let [a, b, c, d] = [words[0], words[1], words[2], words[3]];
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm256_setr_epi64x(a as i64, b as i64, c as i64, d as i64) })
    }

    #[inline(always)]
    fn byte_up(self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm256_slli_epi16::<8>(self.0) })
    }

    #[inline(always)]
    fn byte_down(self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm256_srli_epi16::<8>(self.0) })
    }
}
