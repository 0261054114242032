//! Eight lanes with AVX2.
//!
//! Wide products take the even 32-bit lanes; the odd ones are first copied onto the even places.
//! Results of the two halves have their words at the odd places and are merged there.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_add_epi64, _mm256_and_si256, _mm256_blend_epi32,
    _mm256_loadu_si256, _mm256_min_epu32, _mm256_mul_epi32, _mm256_mul_epu32,
    _mm256_permute2x128_si256, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_shuffle_epi32, _mm256_sign_epi32, _mm256_sllv_epi32, _mm256_srli_epi32,
    _mm256_srli_epi64, _mm256_srlv_epi32, _mm256_storeu_si256, _mm256_sub_epi32, _mm256_sub_epi64,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
};
use std::ops::{Add, Mul, Sub};

use lanework_arch::{Avx2, Isa};

use super::KoalaBear;
use super::lanes::{Addend, Kernel, Lanes, Prepared, derived_operators, reduce_products};
use super::spec::{MONTGOMERY_MU, P};

const LEN: usize = 8;

/// Copies odd 32-bit lanes onto the even ones.
const ODD_TO_EVEN: i32 = 0b11_11_01_01;
/// Copies even 32-bit lanes onto the odd ones.
const EVEN_TO_ODD: i32 = 0b10_10_00_00;
const ODD: i32 = 0b1010_1010;

/// Eight elements in one AVX2 register.
///
/// Invariant: a value is only made from an [`Avx2`] token or from other values, so wherever one
/// exists, so do the instructions.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct Avx2Lanes(__m256i);

derived_operators!(Avx2Lanes);

/// Eight factors and their quotient words.
#[derive(Copy, Clone, Debug)]
pub struct Avx2Multiplier {
    word: __m256i,
    quotient: __m256i,
}

/// The low and the high halves of sums of products, in 64-bit lanes.
#[derive(Copy, Clone, Debug)]
pub struct Avx2Products {
    low: __m256i,
    high: __m256i,
}

// The functions on raw vectors below are called with the contents of lane values only.

/// The odd lanes, at the even places.
#[inline(always)]
fn odd(x: __m256i) -> __m256i {
    // SAFETY: feature: `x` comes from a lane value.
    unsafe { _mm256_shuffle_epi32::<ODD_TO_EVEN>(x) }
}

/// d mod p for d in [-p, p).
#[inline(always)]
fn correct(d: __m256i) -> __m256i {
    // SAFETY: feature: `d` comes from a lane value.
    unsafe { _mm256_min_epu32(d, _mm256_add_epi32(d, _mm256_set1_epi32(P as i32))) }
}

/// The same vector, of which the compiler does not know where it comes from.
///
/// Without it LLVM sees that q counts mod 2^32 only, takes the product that makes it for one of
/// 64-bit words, and replaces one instruction by several.
#[inline]
#[target_feature(enable = "avx2")]
fn opaque(mut x: __m256i) -> __m256i {
    // SAFETY: the instruction is a comment.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

/// product - q p, whose low words are 0 and whose high words, at the odd places, are in (-p, p).
/// For products at even places of the signed numbers 32-bit lanes hold.
#[inline(always)]
fn reduce(product: __m256i, q: __m256i) -> __m256i {
    // SAFETY: feature: `product` comes from a lane value.
    unsafe {
        let multiple = _mm256_mul_epi32(opaque(q), _mm256_set1_epi32(P as i32));
        _mm256_sub_epi64(product, multiple)
    }
}

/// The same, with q = product p^-1.
#[inline(always)]
fn reduce_product(product: __m256i) -> __m256i {
    // SAFETY: feature: `product` comes from a lane value.
    reduce(product, unsafe {
        _mm256_mul_epu32(product, _mm256_set1_epi32(MONTGOMERY_MU as i32))
    })
}

/// The reduced products of the even and of the odd lanes in one vector.
#[inline(always)]
fn merge(even: __m256i, odd_lanes: __m256i) -> __m256i {
    // SAFETY: feature: `even` comes from a lane value.
    unsafe { _mm256_blend_epi32::<ODD>(odd(even), odd_lanes) }
}

/// x^3 for signed x in [-p, p).
#[inline(always)]
fn cube(x: __m256i) -> __m256i {
    // SAFETY: feature: `x` comes from a lane value.
    unsafe {
        let x_odd = odd(x);
        let square_even = reduce_product(_mm256_mul_epi32(x, x));
        let square_odd = reduce_product(_mm256_mul_epi32(x_odd, x_odd));
        let cube_even = reduce_product(_mm256_mul_epi32(odd(square_even), x));
        let cube_odd = reduce_product(_mm256_mul_epi32(odd(square_odd), x_odd));
        correct(merge(cube_even, cube_odd))
    }
}

impl Avx2Lanes {
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "the value proves the instructions")]
    fn zero(self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm256_setzero_si256() })
    }
}

impl Add for Avx2Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let sum = _mm256_add_epi32(self.0, other.0);
            let less = _mm256_sub_epi32(sum, _mm256_set1_epi32(P as i32));
            Self(_mm256_min_epu32(sum, less))
        }
    }
}

impl Sub for Avx2Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(correct(unsafe { _mm256_sub_epi32(self.0, other.0) }))
    }
}

impl Mul for Avx2Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let even = reduce_product(_mm256_mul_epu32(self.0, other.0));
            let odd = reduce_product(_mm256_mul_epu32(odd(self.0), odd(other.0)));
            Self(correct(merge(even, odd)))
        }
    }
}

impl Lanes for Avx2Lanes {
    type Token = Avx2;
    type Multiplier = Avx2Multiplier;
    type Products = Avx2Products;
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Avx2;

    #[inline(always)]
    fn run<K: Kernel>(_: Avx2, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi2")]
        fn entry<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        // SAFETY: feature: the token.
        unsafe { entry(kernel) }
    }

    #[inline(always)]
    fn splat(_: Avx2, value: KoalaBear) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { _mm256_set1_epi32(value.montgomery_word() as i32) })
    }

    #[inline(always)]
    unsafe fn load(_: Avx2, source: *const KoalaBear) -> Self {
        // SAFETY: feature: the token; bounds: the caller's.
        Self(unsafe { _mm256_loadu_si256(source.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut KoalaBear) {
        // SAFETY: feature: `self` exists; bounds: the caller's; layout: words below p.
        unsafe { _mm256_storeu_si256(target.cast(), self.0) }
    }

    #[inline(always)]
    fn halve(self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            // An odd x becomes (x + p) / 2; the sign of x mod 2 is 0 or 1.
            let is_odd = _mm256_and_si256(self.0, _mm256_set1_epi32(1));
            let one_half = _mm256_set1_epi32(P.div_ceil(2) as i32);
            let addend = _mm256_sign_epi32(one_half, is_odd);
            Self(_mm256_add_epi32(_mm256_srli_epi32::<1>(self.0), addend))
        }
    }

    #[inline(always)]
    fn cube(self) -> Self {
        Self(cube(self.0))
    }

    #[inline(always)]
    fn add_cube(self, constant: &Addend) -> Self {
        // SAFETY: feature: `self` exists.
        Self(cube(unsafe {
            _mm256_add_epi32(self.0, _mm256_set1_epi32(constant.0))
        }))
    }

    #[inline(always)]
    fn mul_2exp_neg<const N: u32>(self) -> Self {
        const { assert!(1 <= N && N <= 24) };
        // SAFETY: feature: `self` exists.
        unsafe {
            // b * 127 * 2^(24 - N) = y / 2 - y / 2^8 for y = b * 2^(32 - N).
            let y = _mm256_sllv_epi32(self.0, _mm256_set1_epi32(32 - N as i32));
            let a = _mm256_srlv_epi32(self.0, _mm256_set1_epi32(N as i32));
            let d = _mm256_sub_epi32(a, _mm256_srli_epi32::<1>(y));
            Self(correct(_mm256_add_epi32(d, _mm256_srli_epi32::<8>(y))))
        }
    }

    #[inline(always)]
    fn mul_prepared(self, constant: &Prepared) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let word = _mm256_set1_epi32(constant.word as i32);
            let quotient = _mm256_set1_epi32(constant.quotient as i32);
            let x_odd = odd(self.0);
            let even = reduce(
                _mm256_mul_epu32(self.0, word),
                _mm256_mul_epu32(self.0, quotient),
            );
            let odd = reduce(
                _mm256_mul_epu32(x_odd, word),
                _mm256_mul_epu32(x_odd, quotient),
            );
            Self(correct(merge(even, odd)))
        }
    }

    #[inline(always)]
    fn prepare(self) -> Avx2Multiplier {
        // SAFETY: feature: `self` exists.
        unsafe {
            let mu = _mm256_set1_epi32(MONTGOMERY_MU as i32);
            let (even, odd) = (
                _mm256_mul_epu32(self.0, mu),
                _mm256_mul_epu32(odd(self.0), mu),
            );
            let odd = _mm256_shuffle_epi32::<EVEN_TO_ODD>(odd);
            Avx2Multiplier {
                word: self.0,
                quotient: _mm256_blend_epi32::<ODD>(even, odd),
            }
        }
    }

    #[inline(always)]
    fn mul_by(self, multiplier: &Avx2Multiplier) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let Avx2Multiplier { word, quotient } = *multiplier;
            let x_odd = odd(self.0);
            let even = reduce(
                _mm256_mul_epu32(self.0, word),
                _mm256_mul_epu32(self.0, quotient),
            );
            let odd = reduce(
                _mm256_mul_epu32(x_odd, odd(word)),
                _mm256_mul_epu32(x_odd, odd(quotient)),
            );
            Self(correct(merge(even, odd)))
        }
    }

    #[inline(always)]
    fn no_products(_: Avx2) -> Avx2Products {
        // SAFETY: feature: the token.
        let zero = unsafe { _mm256_setzero_si256() };
        Avx2Products {
            low: zero,
            high: zero,
        }
    }

    #[inline(always)]
    fn add_products(sum: Avx2Products, x: [Self; 2], y: [Self; 2]) -> Avx2Products {
        // SAFETY: feature: lane values exist.
        unsafe {
            let even = _mm256_add_epi64(
                _mm256_mul_epu32(x[0].0, y[0].0),
                _mm256_mul_epu32(x[1].0, y[1].0),
            );
            let odd = _mm256_add_epi64(
                _mm256_mul_epu32(odd(x[0].0), odd(y[0].0)),
                _mm256_mul_epu32(odd(x[1].0), odd(y[1].0)),
            );
            let products = _mm256_add_epi64(even, odd);
            let low = _mm256_and_si256(products, _mm256_set1_epi64x(0xffff_ffff));
            Avx2Products {
                low: _mm256_add_epi64(sum.low, low),
                high: _mm256_add_epi64(sum.high, _mm256_srli_epi64::<32>(products)),
            }
        }
    }

    #[inline(always)]
    fn total(sum: Avx2Products) -> KoalaBear {
        let (mut low, mut high) = ([0_u64; 4], [0_u64; 4]);
        // SAFETY: feature: `sum` comes from a lane value or a token; bounds: the arrays are as long as vectors.
        unsafe {
            _mm256_storeu_si256(low.as_mut_ptr().cast(), sum.low);
            _mm256_storeu_si256(high.as_mut_ptr().cast(), sum.high);
        }
        reduce_products(low.iter().sum(), high.iter().sum())
    }

    #[inline(always)]
    fn interleave<const BLOCK: usize>(self, other: Self) -> (Self, Self) {
        const { assert!(BLOCK.is_power_of_two()) };
        let (a, b) = (self.0, other.0);
        // SAFETY: feature: `self` exists.
        let (lower, upper) = unsafe {
            match BLOCK {
                1 => (
                    _mm256_blend_epi32::<ODD>(a, _mm256_shuffle_epi32::<EVEN_TO_ODD>(b)),
                    _mm256_blend_epi32::<ODD>(odd(a), b),
                ),
                2 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                4 => (
                    _mm256_permute2x128_si256::<0x20>(a, b),
                    _mm256_permute2x128_si256::<0x31>(a, b),
                ),
                _ => (a, b),
            }
        };
        (Self(lower), Self(upper))
    }
}
