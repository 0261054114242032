//! Eight words with AVX-512 and carry-less products of 512-bit vectors.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::{
    __m512i, _mm_set_epi64x, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_broadcast_i32x4,
    _mm512_clmulepi64_epi128, _mm512_mask_blend_epi64, _mm512_permutex2var_epi64,
    _mm512_permutexvar_epi64, _mm512_setr_epi64, _mm512_shuffle_epi8, _mm512_slli_epi64,
    _mm512_srli_epi64, _mm512_ternarylogic_epi64, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
    _mm512_xor_si512,
};

use lanework_arch::Avx512Vpclmul;

use super::super::words::{Avx512Vector, Words, XOR3};
use super::{Clmul, Product, SHIFTED_OUT, quotient};

const LEN: usize = 8;

/// The places of vector `vector` of eight triples that hold limb `limb`.
const fn places(vector: usize, limb: usize) -> u8 {
    let mut mask = 0;
    let mut place = 0;
    while place < LEN {
        if (LEN * vector + place) % 3 == limb {
            mask |= 1 << place;
        }
        place += 1;
    }
    mask
}

// The functions on raw vectors below are called with the contents of values only.

/// For each place, that of the first vector but for limb `B` of the second and limb `C` of the third.
#[inline(always)]
fn select<const B: u8, const C: u8>(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    // SAFETY: feature: `a` comes from a value.
    unsafe { _mm512_mask_blend_epi64(C, _mm512_mask_blend_epi64(B, a, b), c) }
}

/// The words moved down by `BY` places, the lowest to the top.
#[inline(always)]
fn rotate<const BY: i32>(x: __m512i) -> __m512i {
    // SAFETY: feature: `x` comes from a value.
    unsafe { _mm512_alignr_epi64::<BY>(x, x) }
}

impl Clmul for Avx512Vector<Avx512Vpclmul> {
    const NAME: &'static str = "avx512";
    /// The factor at even and its quotient at odd places.
    type Factor = Self;
    /// Two words for every two places.
    type Sum = Self;

    #[inline(always)]
    fn unzip(self, other: Self) -> (Self, Self) {
        // SAFETY: feature: `self` exists.
        unsafe {
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            (
                Self::new(_mm512_permutex2var_epi64(self.0, even, other.0)),
                Self::new(_mm512_permutex2var_epi64(self.0, odd, other.0)),
            )
        }
    }

    // Since 3 and 8 are coprime, the eight words of a limb are at eight different places: they are put together
    // without a shuffle, and limb i of a triple is i places above its limb 0.

    #[inline(always)]
    fn split_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        let (a, b, c) = (a.0, b.0, c.0);
        [
            Self::new(select::<{ places(1, 0) }, { places(2, 0) }>(a, b, c)),
            Self::new(rotate::<1>(select::<{ places(1, 1) }, { places(2, 1) }>(
                a, b, c,
            ))),
            Self::new(rotate::<2>(select::<{ places(1, 2) }, { places(2, 2) }>(
                a, b, c,
            ))),
        ]
    }

    #[inline(always)]
    fn join_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        let (a, b, c) = (a.0, rotate::<7>(b.0), rotate::<6>(c.0));
        [
            Self::new(select::<{ places(0, 1) }, { places(0, 2) }>(a, b, c)),
            Self::new(select::<{ places(1, 1) }, { places(1, 2) }>(a, b, c)),
            Self::new(select::<{ places(2, 1) }, { places(2, 2) }>(a, b, c)),
        ]
    }

    #[inline(always)]
    fn unzip_triples(self, other: Self) -> (Self, Self) {
        // Place p is that of triple 3 p mod 8.
        // SAFETY: feature: `self` exists.
        unsafe {
            let even = _mm512_setr_epi64(0, 2, 12, 6, 8, 10, 4, 14);
            let odd = _mm512_setr_epi64(3, 5, 15, 1, 11, 13, 7, 9);
            (
                Self::new(_mm512_permutex2var_epi64(self.0, even, other.0)),
                Self::new(_mm512_permutex2var_epi64(self.0, odd, other.0)),
            )
        }
    }

    #[inline(always)]
    fn in_order_of_triples(self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let order = _mm512_setr_epi64(0, 3, 6, 1, 4, 7, 2, 5);
            Self::new(_mm512_permutexvar_epi64(order, self.0))
        }
    }

    #[inline(always)]
    fn product(self, other: Self) -> Product<Self> {
        // SAFETY: feature: `self` exists.
        unsafe {
            Product {
                even: Self::new(_mm512_clmulepi64_epi128::<0x00>(self.0, other.0)),
                odd: Self::new(_mm512_clmulepi64_epi128::<0x11>(self.0, other.0)),
            }
        }
    }

    #[inline(always)]
    fn reduce(product: Product<Self>) -> Self {
        let (even, odd) = (product.even.0, product.odd.0);
        // SAFETY: feature: `product` holds values.
        unsafe {
            let table = _mm512_broadcast_i32x4(_mm_set_epi64x(
                (SHIFTED_OUT >> 64) as i64,
                SHIFTED_OUT as i64,
            ));
            let low = _mm512_unpacklo_epi64(even, odd);
            let high = _mm512_unpackhi_epi64(even, odd);
            let out = _mm512_shuffle_epi8(table, _mm512_srli_epi64::<60>(high));
            let y = _mm512_xor_si512(high, _mm512_add_epi64(high, high));
            let low = _mm512_xor_si512(low, out);
            Self::new(_mm512_ternarylogic_epi64::<XOR3>(
                low,
                y,
                _mm512_slli_epi64::<3>(y),
            ))
        }
    }

    #[inline(always)]
    fn prepare(_: Avx512Vpclmul, word: u64) -> Self {
        // SAFETY: feature: the token.
        unsafe {
            let pair = _mm_set_epi64x(quotient(word) as i64, word as i64);
            Self::new(_mm512_broadcast_i32x4(pair))
        }
    }

    #[inline(always)]
    fn mul_by(self, factor: Self) -> Self {
        let (x, c) = (self.0, factor.0);
        // SAFETY: feature: `self` exists.
        unsafe {
            let low = _mm512_unpacklo_epi64(
                _mm512_clmulepi64_epi128::<0x00>(x, c),
                _mm512_clmulepi64_epi128::<0x01>(x, c),
            );
            let z = _mm512_unpackhi_epi64(
                _mm512_clmulepi64_epi128::<0x10>(x, c),
                _mm512_clmulepi64_epi128::<0x11>(x, c),
            );
            let y = _mm512_xor_si512(z, _mm512_add_epi64(z, z));
            Self::new(_mm512_ternarylogic_epi64::<XOR3>(
                low,
                y,
                _mm512_slli_epi64::<3>(y),
            ))
        }
    }

    #[inline(always)]
    fn no_products(token: Avx512Vpclmul) -> Self {
        Self::splat(token, 0)
    }

    #[inline(always)]
    fn add_products(sum: Self, left: Self, right: Self) -> Self {
        let product = left.product(right);
        sum.xor3(product.even, product.odd)
    }

    #[inline(always)]
    fn total(sum: Self) -> u128 {
        let mut words = [0; LEN];
        sum.to_slice(&mut words);
        let pairs = words.chunks_exact(2);
        pairs.fold(0, |total, pair| {
            total ^ (pair[0] as u128 | (pair[1] as u128) << 64)
        })
    }
}
