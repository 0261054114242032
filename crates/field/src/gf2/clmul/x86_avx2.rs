//! Four words with AVX2, and carry-less products of 256-bit or of 128-bit vectors.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::{
    __m256i, _mm_clmulepi64_si128, _mm_set_epi64x, _mm_xor_si128, _mm256_add_epi64,
    _mm256_blend_epi32, _mm256_broadcastsi128_si256, _mm256_castsi256_si128,
    _mm256_clmulepi64_epi128, _mm256_extracti128_si256, _mm256_permute4x64_epi64, _mm256_set_m128i,
    _mm256_setr_epi64x, _mm256_shuffle_epi8, _mm256_slli_epi64, _mm256_srli_epi64,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi64, _mm256_xor_si256, _mm256_zextsi128_si256,
};

use lanework_arch::{Avx2Pclmul, Avx2Vpclmul};

use super::super::words::{Avx2Token, Avx2Vector, Words};
use super::{Clmul, Product, SHIFTED_OUT, quotient};

const LEN: usize = 4;

/// How a token multiplies.
pub trait Multiplier: Avx2Token {
    /// The name of the instructions.
    const NAME: &'static str;

    /// The products of the words that `WHICH` selects, as the instruction has it.
    ///
    /// # Safety
    /// A token of this type exists.
    unsafe fn clmul<const WHICH: i32>(x: __m256i, y: __m256i) -> __m256i;

    /// The products of the words of `x` with a constant that is at even places of `factor`, and its quotient at odd
    /// ones.
    ///
    /// # Safety
    /// A token of this type exists.
    unsafe fn mul_by(x: __m256i, factor: __m256i) -> __m256i;

    /// `sum`, of which the halves are added up in the end, plus the products of the words.
    ///
    /// # Safety
    /// A token of this type exists.
    unsafe fn add_products(sum: __m256i, x: __m256i, y: __m256i) -> __m256i;
}

impl Multiplier for Avx2Vpclmul {
    const NAME: &'static str = "avx2";

    #[inline(always)]
    unsafe fn clmul<const WHICH: i32>(x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: feature: the token, which the caller says exists.
        unsafe { _mm256_clmulepi64_epi128::<WHICH>(x, y) }
    }

    #[inline(always)]
    unsafe fn mul_by(x: __m256i, factor: __m256i) -> __m256i {
        // SAFETY: feature: the token, which the caller says exists.
        unsafe {
            let low = _mm256_unpacklo_epi64(
                Self::clmul::<0x00>(x, factor),
                Self::clmul::<0x01>(x, factor),
            );
            let z = _mm256_unpackhi_epi64(
                Self::clmul::<0x10>(x, factor),
                Self::clmul::<0x11>(x, factor),
            );
            fold(low, z)
        }
    }

    #[inline(always)]
    unsafe fn add_products(sum: __m256i, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: feature: the token, which the caller says exists.
        unsafe {
            let sum = _mm256_xor_si256(sum, Self::clmul::<0x00>(x, y));
            _mm256_xor_si256(sum, Self::clmul::<0x11>(x, y))
        }
    }
}

impl Multiplier for Avx2Pclmul {
    const NAME: &'static str = "avx2,-vpclmulqdq";

    #[inline(always)]
    unsafe fn clmul<const WHICH: i32>(x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: feature: the token, which the caller says exists.
        unsafe {
            let lower =
                _mm_clmulepi64_si128::<WHICH>(_mm256_castsi256_si128(x), _mm256_castsi256_si128(y));
            let upper = _mm_clmulepi64_si128::<WHICH>(
                _mm256_extracti128_si256::<1>(x),
                _mm256_extracti128_si256::<1>(y),
            );
            _mm256_set_m128i(upper, lower)
        }
    }

    #[inline(always)]
    unsafe fn mul_by(x: __m256i, factor: __m256i) -> __m256i {
        // Products are dear here, and the quotient takes as many again.
        // SAFETY: feature: the token, which the caller says exists.
        unsafe {
            reduce(
                Self::clmul::<0x00>(x, factor),
                Self::clmul::<0x01>(x, factor),
            )
        }
    }

    #[inline(always)]
    unsafe fn add_products(sum: __m256i, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: feature: the token, which the caller says exists.
        unsafe {
            let (x0, x1) = (_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
            let (y0, y1) = (_mm256_castsi256_si128(y), _mm256_extracti128_si256::<1>(y));
            let lower = _mm_xor_si128(
                _mm_clmulepi64_si128::<0x00>(x0, y0),
                _mm_clmulepi64_si128::<0x11>(x0, y0),
            );
            let upper = _mm_xor_si128(
                _mm_clmulepi64_si128::<0x00>(x1, y1),
                _mm_clmulepi64_si128::<0x11>(x1, y1),
            );
            let sum = _mm_xor_si128(_mm256_castsi256_si128(sum), lower);
            _mm256_zextsi128_si256(_mm_xor_si128(sum, upper))
        }
    }
}

/// The two 32-bit halves of each place of vector `vector` of four triples that holds limb `limb`.
const fn places(vector: usize, limb: usize) -> i32 {
    let mut mask = 0;
    let mut place = 0;
    while place < LEN {
        if (LEN * vector + place) % 3 == limb {
            mask |= 0b11 << (2 * place);
        }
        place += 1;
    }
    mask
}

const ROTATE_1: i32 = 0b00_11_10_01;
const ROTATE_2: i32 = 0b01_00_11_10;
const ROTATE_3: i32 = 0b10_01_00_11;

// The functions on raw vectors below are called with the contents of values only.

/// For each place, that of the first vector but for limb `B` of the second and limb `C` of the third.
#[inline(always)]
fn select<const B: i32, const C: i32>(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    // SAFETY: feature: `a` comes from a value.
    unsafe { _mm256_blend_epi32::<C>(_mm256_blend_epi32::<B>(a, b), c) }
}

#[inline(always)]
fn permute<const ORDER: i32>(x: __m256i) -> __m256i {
    // SAFETY: feature: `x` comes from a value.
    unsafe { _mm256_permute4x64_epi64::<ORDER>(x) }
}

/// low + y + x^3 y for y = (x + 1) z.
#[inline(always)]
fn fold(low: __m256i, z: __m256i) -> __m256i {
    // SAFETY: feature: `low` comes from a value.
    unsafe {
        let y = _mm256_xor_si256(z, _mm256_add_epi64(z, z));
        _mm256_xor_si256(_mm256_xor_si256(low, y), _mm256_slli_epi64::<3>(y))
    }
}

/// The elements of K for products of the words at even and of those at odd places.
#[inline(always)]
fn reduce(even: __m256i, odd: __m256i) -> __m256i {
    // SAFETY: feature: `even` comes from a value.
    unsafe {
        let table = _mm256_broadcastsi128_si256(_mm_set_epi64x(
            (SHIFTED_OUT >> 64) as i64,
            SHIFTED_OUT as i64,
        ));
        let low = _mm256_unpacklo_epi64(even, odd);
        let high = _mm256_unpackhi_epi64(even, odd);
        let out = _mm256_shuffle_epi8(table, _mm256_srli_epi64::<60>(high));
        fold(_mm256_xor_si256(low, out), high)
    }
}

impl<T: Multiplier> Clmul for Avx2Vector<T> {
    const NAME: &'static str = T::NAME;
    /// The factor at even and its quotient at odd places.
    type Factor = Self;
    /// Two words for every two places.
    type Sum = Self;

    #[inline(always)]
    fn unzip(self, other: Self) -> (Self, Self) {
        const FROM_PAIRS: i32 = 0b11_01_10_00;
        // SAFETY: feature: `self` exists.
        let (even, odd) = unsafe {
            (
                _mm256_unpacklo_epi64(self.0, other.0),
                _mm256_unpackhi_epi64(self.0, other.0),
            )
        };
        (
            Self::new(permute::<FROM_PAIRS>(even)),
            Self::new(permute::<FROM_PAIRS>(odd)),
        )
    }

    // Since 3 and 4 are coprime, the four words of a limb are at four different places: they are put together
    // without a shuffle, and limb i of a triple is i places above its limb 0.

    #[inline(always)]
    fn split_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        let (a, b, c) = (a.0, b.0, c.0);
        let x = select::<{ places(1, 0) }, { places(2, 0) }>(a, b, c);
        let y = permute::<ROTATE_1>(select::<{ places(1, 1) }, { places(2, 1) }>(a, b, c));
        let z = permute::<ROTATE_2>(select::<{ places(1, 2) }, { places(2, 2) }>(a, b, c));
        [Self::new(x), Self::new(y), Self::new(z)]
    }

    #[inline(always)]
    fn join_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        let (a, b, c) = (a.0, permute::<ROTATE_3>(b.0), permute::<ROTATE_2>(c.0));
        let x = select::<{ places(0, 1) }, { places(0, 2) }>(a, b, c);
        let y = select::<{ places(1, 1) }, { places(1, 2) }>(a, b, c);
        let z = select::<{ places(2, 1) }, { places(2, 2) }>(a, b, c);
        [Self::new(x), Self::new(y), Self::new(z)]
    }

    #[inline(always)]
    fn unzip_triples(self, other: Self) -> (Self, Self) {
        // SAFETY: feature: `self` exists.
        let (even, odd) = unsafe {
            (
                _mm256_unpacklo_epi64(self.0, other.0),
                _mm256_unpackhi_epi64(self.0, other.0),
            )
        };
        (
            Self::new(permute::<0b10_01_11_00>(even)),
            Self::new(permute::<0b00_11_01_10>(odd)),
        )
    }

    #[inline(always)]
    fn in_order_of_triples(self) -> Self {
        Self::new(permute::<0b01_10_11_00>(self.0))
    }

    #[inline(always)]
    fn product(self, other: Self) -> Product<Self> {
        // SAFETY: feature: `self` exists.
        unsafe {
            Product {
                even: Self::new(T::clmul::<0x00>(self.0, other.0)),
                odd: Self::new(T::clmul::<0x11>(self.0, other.0)),
            }
        }
    }

    #[inline(always)]
    fn reduce(product: Product<Self>) -> Self {
        Self::new(reduce(product.even.0, product.odd.0))
    }

    #[inline(always)]
    fn prepare(_: T, word: u64) -> Self {
        let (word, quotient) = (word as i64, quotient(word) as i64);
        // SAFETY: feature: the token.
        Self::new(unsafe { _mm256_setr_epi64x(word, quotient, word, quotient) })
    }

    #[inline(always)]
    fn mul_by(self, factor: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self::new(unsafe { T::mul_by(self.0, factor.0) })
    }

    #[inline(always)]
    fn no_products(token: T) -> Self {
        Self::splat(token, 0)
    }

    #[inline(always)]
    fn add_products(sum: Self, left: Self, right: Self) -> Self {
        // SAFETY: feature: `sum` exists.
        Self::new(unsafe { T::add_products(sum.0, left.0, right.0) })
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
