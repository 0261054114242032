//! Eight lanes of 52 bits with AVX-512 and IFMA.
//!
//! IFMA reads the low 52 bits of its factors and adds the low or the high 52 bits of their product
//! to a number of 64. So a lane means its low 52 bits, and what stands above them never needs to
//! be cleared.
//!
//! A constant w comes with w' = floor(w 2^52 / p). For b below 2^52, q = floor(b w' / 2^52) is
//! floor(b w / p) or one less, hence b w - q p is in [0, 2p): three instructions with a sum for
//! free (V. Shoup's method). The remainder is exact modulo 2^52, where -p stands for p.
//!
//! A butterfly takes a to a + r and to a + 2p - r, so a transform adds 2p per layer to a lane that
//! starts below 2p: far from 2^52 after any number of layers this field has. That is why nothing
//! is reduced before a pass ends.
//!
//! Elements are Montgomery words and constants plain numbers: products are Montgomery words.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::asm;
use std::arch::x86_64::{
    __m512i, _mm_sfence, _mm256_loadu_si256, _mm512_and_si512, _mm512_cvtepu32_epi64,
    _mm512_loadu_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_shuffle_epi32,
    _mm512_mask_shuffle_i64x2, _mm512_min_epu32, _mm512_min_epu64, _mm512_permutex2var_epi32,
    _mm512_permutex2var_epi64, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setr_epi32,
    _mm512_setr_epi64, _mm512_setzero_si512, _mm512_shuffle_i64x2, _mm512_srli_epi64,
    _mm512_storeu_si512, _mm512_stream_si512, _mm512_sub_epi32, _mm512_sub_epi64,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

use lanework_arch::{Avx512, Avx512Ifma};
use lanework_field::KoalaBear;
use lanework_field::koala::lanes::{Avx512Lanes, Kernel};
use lanework_field::koala::spec::P;

use super::vector::Vector;

const LEN: usize = 8;

/// 2^52 / p, rounded down, and the 52 bits behind the point.
const QUOTIENT: u64 = (1 << 52) / P as u64;
const FRACTION: u64 = ((((1_u128 << 52) % P as u128) << 52) / P as u128) as u64;
/// -p modulo 2^52.
const MINUS_P: u64 = (1 << 52) - P as u64;

/// Eight elements, each the low 52 bits of a lane.
///
/// Invariant: a value is only made from an [`Avx512Ifma`] token or from other values.
#[derive(Copy, Clone)]
pub(crate) struct Ifma(__m512i);

/// A constant w and w'.
#[derive(Copy, Clone)]
#[repr(C)]
pub(crate) struct Twiddle {
    word: u64,
    quotient: u64,
}

/// Constants of lanes.
#[derive(Copy, Clone)]
pub(crate) struct Factor {
    word: __m512i,
    quotient: __m512i,
}

// The functions on raw vectors below are called with the contents of lane values, or under a token.

#[inline(always)]
fn splat(x: u64) -> __m512i {
    // SAFETY: feature: see above.
    unsafe { _mm512_set1_epi64(x.cast_signed()) }
}

/// sum + b f - q p in [sum, sum + 2p).
#[inline(always)]
fn add_product(sum: __m512i, b: __m512i, factor: &Factor) -> __m512i {
    // SAFETY: feature: see above.
    unsafe {
        let q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), b, factor.quotient);
        _mm512_madd52lo_epu64(
            _mm512_madd52lo_epu64(sum, b, factor.word),
            q,
            splat(MINUS_P),
        )
    }
}

/// Plain numbers below p with their quotients. The sum of the two products may be one below the
/// exact quotient, which adds less than one p 2^-14 to a remainder.
#[inline(always)]
fn prepared(word: __m512i) -> Factor {
    // SAFETY: feature: see above.
    let quotient = unsafe {
        let fraction = _mm512_madd52hi_epu64(_mm512_setzero_si512(), word, splat(FRACTION));
        _mm512_madd52lo_epu64(fraction, word, splat(QUOTIENT))
    };
    Factor { word, quotient }
}

/// The low words of the first vector at the even places and those of the second at the odd ones.
#[inline(always)]
fn alternate(even: __m512i, odd: __m512i) -> __m512i {
    // SAFETY: feature: see above.
    unsafe { _mm512_mask_shuffle_epi32::<0b10_10_00_00>(even, 0xaaaa, odd) }
}

/// Words in [0, 2p) brought below p.
#[inline(always)]
fn correct(words: __m512i) -> __m512i {
    // SAFETY: feature: see above.
    unsafe {
        _mm512_min_epu32(
            words,
            _mm512_sub_epi32(words, _mm512_set1_epi32(P.cast_signed())),
        )
    }
}

impl Vector for Ifma {
    const NAME: &'static str = "avx512-ifma";
    const LOG_LEN: u32 = LEN.ilog2();

    type Token = Avx512Ifma;
    type Cell = u64;
    type Twiddle = Twiddle;
    type Constant = Factor;
    type Factor = Factor;
    type Words = Avx512Lanes;

    #[inline(always)]
    fn run<K: Kernel>(_: Avx512Ifma, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn entry<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        // SAFETY: feature: the token.
        unsafe { entry(kernel) }
    }

    #[inline(always)]
    fn words(token: Avx512Ifma) -> Avx512 {
        token.avx512()
    }

    #[inline(always)]
    fn word(constant: KoalaBear) -> u32 {
        constant.to_canonical()
    }

    #[inline(always)]
    unsafe fn expand(token: Avx512Ifma, words: *const u32, twiddles: *mut Twiddle, len: usize) {
        for i in (0..len).step_by(LEN) {
            // SAFETY: feature: the token; bounds: the caller's; layout: a twiddle is two words.
            unsafe {
                let Factor { word, quotient } = Self::factor(token, words.add(i));
                let lower = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
                let upper = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
                let target: *mut u64 = twiddles.add(i).cast();
                let lower = _mm512_permutex2var_epi64(word, lower, quotient);
                let upper = _mm512_permutex2var_epi64(word, upper, quotient);
                _mm512_storeu_si512(target.cast(), lower);
                _mm512_storeu_si512(target.add(LEN).cast(), upper);
            }
        }
    }

    #[inline(always)]
    unsafe fn constant(_: Avx512Ifma, twiddle: *const Twiddle) -> Factor {
        // SAFETY: bounds: the caller's.
        let Twiddle { word, quotient } = unsafe { twiddle.read() };
        Factor {
            word: splat(word),
            quotient: splat(quotient),
        }
    }

    #[inline(always)]
    unsafe fn factor(_: Avx512Ifma, words: *const u32) -> Factor {
        // SAFETY: feature: the token; bounds: the caller's.
        prepared(unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(words.cast())) })
    }

    #[inline(always)]
    unsafe fn factor_times(_: Avx512Ifma, words: *const u32, constant: &Factor) -> Factor {
        // SAFETY: feature: the token; bounds: the caller's.
        unsafe {
            let words = _mm512_cvtepu32_epi64(_mm256_loadu_si256(words.cast()));
            let product = add_product(_mm512_setzero_si512(), words, constant);
            let product = _mm512_and_si512(product, splat((1 << 52) - 1));
            prepared(_mm512_min_epu64(
                product,
                _mm512_sub_epi64(product, splat(P as u64)),
            ))
        }
    }

    #[inline(always)]
    unsafe fn load_cells(_: Avx512Ifma, cells: *const u64) -> Self {
        // SAFETY: feature: the token; bounds: the caller's.
        Self(unsafe { _mm512_loadu_si512(cells.cast()) })
    }

    #[inline(always)]
    unsafe fn store_cells(self, cells: *mut u64) {
        // SAFETY: feature: `self` exists; bounds: the caller's.
        unsafe { _mm512_storeu_si512(cells.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_message(_: Avx512Ifma, elements: *const KoalaBear) -> Self {
        // SAFETY: feature: the token; bounds: the caller's.
        Self(unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(elements.cast())) })
    }

    #[inline(always)]
    unsafe fn load_half<const HALF: usize>(_: Avx512Ifma, line: *const KoalaBear) -> Self {
        // SAFETY: feature: the token; bounds: the caller's.
        unsafe {
            let line = _mm512_loadu_si512(line.cast());
            Self(match HALF {
                0 => _mm512_and_si512(line, splat(u32::MAX as u64)),
                _ => _mm512_srli_epi64::<32>(line),
            })
        }
    }

    #[inline(always)]
    unsafe fn store_line(first: Self, second: Self, line: *mut KoalaBear) {
        // SAFETY: feature: the vectors exist; bounds: the caller's.
        unsafe { _mm512_storeu_si512(line.cast(), alternate(first.0, second.0)) }
    }

    #[inline(always)]
    unsafe fn store_alternating(even: Self, odd: Self, elements: *mut KoalaBear) {
        let words = correct(alternate(even.0, odd.0));
        // SAFETY: feature: the vectors exist; bounds: the caller's; layout: words below p.
        unsafe { _mm512_storeu_si512(elements.cast(), words) }
    }

    #[inline(always)]
    unsafe fn stream_alternating(even: Self, odd: Self, elements: *mut KoalaBear) {
        let words = correct(alternate(even.0, odd.0));
        // SAFETY: feature: the vectors exist; bounds, and that a line begins: the caller's; layout: words
        // below p.
        unsafe { _mm512_stream_si512(elements.cast(), words) }
    }

    #[inline(always)]
    fn fence() {
        // SAFETY: feature: SSE is in the baseline.
        unsafe { _mm_sfence() }
    }

    #[inline(always)]
    unsafe fn store_consecutive(first: Self, second: Self, elements: *mut KoalaBear) {
        let (first, second) = (first.0, second.0);
        // SAFETY: feature: the vectors exist; bounds: the caller's; layout: words below p.
        unsafe {
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let words = correct(_mm512_permutex2var_epi32(first, even, second));
            _mm512_storeu_si512(elements.cast(), words);
        }
    }

    #[inline(always)]
    fn reduce(self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), self.0, splat(QUOTIENT));
            Self(_mm512_madd52lo_epu64(self.0, q, splat(MINUS_P)))
        }
    }

    #[inline(always)]
    fn butterfly(self, other: Self, constant: &Factor) -> (Self, Self) {
        self.butterfly_by(other, constant)
    }

    #[inline(always)]
    fn butterfly_by(self, other: Self, factor: &Factor) -> (Self, Self) {
        let sum = add_product(self.0, other.0, factor);
        // SAFETY: feature: `self` exists.
        let difference = unsafe {
            let twice = _mm512_madd52lo_epu64(splat(2 * P as u64), self.0, splat(2));
            _mm512_sub_epi64(twice, sum)
        };
        (Self(sum), Self(difference))
    }

    #[inline(always)]
    fn mul_by(self, factor: &Factor) -> Self {
        // SAFETY: feature: `self` exists.
        Self(add_product(
            unsafe { _mm512_setzero_si512() },
            self.0,
            factor,
        ))
    }

    #[inline(always)]
    fn interleave<const BLOCK: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: feature: `self` exists.
        let (lower, upper) = unsafe {
            match BLOCK {
                1 => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
                2 => (
                    _mm512_mask_shuffle_i64x2::<0b10_10_00_00>(a, 0b1100_1100, b, b),
                    _mm512_mask_shuffle_i64x2::<0b11_11_01_01>(b, 0b0011_0011, a, a),
                ),
                4 => (
                    _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b),
                    _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b),
                ),
                _ => (a, b),
            }
        };
        (Self(lower), Self(upper))
    }

    #[inline(always)]
    fn keep_order<const N: usize>(v: &mut [Self; N]) {
        for v in v.as_chunks_mut::<8>().0 {
            // SAFETY: feature: the vectors exist.
            unsafe { keep_order(v) }
        }
    }
}

/// Instructions that make these vectors come before those that use them.
#[inline]
#[target_feature(enable = "avx512f")]
fn keep_order(v: &mut [Ifma; 8]) {
    let [a, b, c, d, e, f, g, h] = v;
    // SAFETY: there are no instructions.
    unsafe {
        asm!(
            "/* {} {} {} {} {} {} {} {} */",
            inout(zmm_reg) a.0, inout(zmm_reg) b.0, inout(zmm_reg) c.0, inout(zmm_reg) d.0,
            inout(zmm_reg) e.0, inout(zmm_reg) f.0, inout(zmm_reg) g.0, inout(zmm_reg) h.0,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
}

#[cfg(test)]
mod tests {
    use lanework_arch::Choice;
    use lanework_testkit::cases::edge_words;

    use super::*;
    use crate::plan::LOG_RADIX_MAX;

    const P64: u64 = P as u64;

    /// The range of `add_product` beyond `sum`, for b up to `b`, w up to p - 1 and a quotient that is
    /// up to `short` below floor(w 2^52 / p).
    fn product_bound(b: u64, short: u64) -> u64 {
        // b w - q p with q > b w' / 2^52 - 1 and w' > w 2^52 / p - 1 - short.
        let error = (b as u128 * (1 + short as u128) * P as u128) >> 52;
        P64 + error as u64 + 1
    }

    #[test]
    fn lanes_stay_below_52_bits_and_products_below_2p() {
        // The longest way without a reduction: the layers of y and of z, in a row of all elements.
        let layers = 2 * lanework_field::koala::spec::TWO_ADICITY + LOG_RADIX_MAX;
        let mut bound = 2 * P64;
        for _ in 0..layers {
            let product = product_bound(bound, 1);
            assert!(product <= 2 * P64, "{product}");
            // a + r, and 2 a + 2 p - (a + r); neither falls below zero.
            bound += 2 * P64;
            assert!(2 * bound + 2 * P64 < 1 << 52, "{bound}");
        }
        assert!(product_bound(bound, 1) <= 2 * P64);
        assert!(
            u32::try_from(2 * P64).is_ok(),
            "lines hold words of 32 bits"
        );
    }

    #[test]
    fn quotients_are_exact_or_one_below() {
        let Some(token) = Avx512Ifma::new(Choice::best()) else {
            lanework_testkit::isas::skip("avx512", "no IFMA here");
            return;
        };
        let mut words = edge_words(P);
        words.extend((0..10_000_u64).map(|i| (i * 0x9e37_79b9_7f4a % P64) as u32));
        for words in words.chunks_exact(LEN) {
            let mut twiddles = [Twiddle {
                word: 0,
                quotient: 0,
            }; LEN];
            // SAFETY: feature: the token; bounds: one vector.
            unsafe { Ifma::expand(token, words.as_ptr(), twiddles.as_mut_ptr(), LEN) };
            for (&word, twiddle) in words.iter().zip(twiddles) {
                assert_eq!(twiddle.word, u64::from(word));
                let exact = ((u128::from(word) << 52) / u128::from(P64)) as u64;
                assert!(exact - twiddle.quotient <= 1, "{word}");
            }
        }
    }
}
