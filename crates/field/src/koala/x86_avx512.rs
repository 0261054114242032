//! Sixteen lanes with AVX-512 F, BW, DQ and VL.
//!
//! Wide products take the even 32-bit lanes; the odd ones are first copied onto the even places.
//! Results of the two halves have their words at the odd places and are merged there.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::asm;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_add_epi64, _mm512_and_si512, _mm512_loadu_si512,
    _mm512_mask_add_epi32, _mm512_mask_shuffle_epi32, _mm512_mask_shuffle_i64x2, _mm512_min_epu32,
    _mm512_mul_epi32, _mm512_mul_epu32, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_shuffle_epi32, _mm512_shuffle_i64x2, _mm512_sllv_epi32, _mm512_srli_epi32,
    _mm512_srli_epi64, _mm512_storeu_si512, _mm512_sub_epi32, _mm512_sub_epi64,
    _mm512_test_epi32_mask, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};
use std::ops::{Add, Mul, Sub};

use lanework_arch::{Avx512, Isa};

use super::KoalaBear;
use super::lanes::{Addend, Kernel, Lanes, Prepared, derived_operators, reduce_products};
use super::spec::{MONTGOMERY_MU, P};

const LEN: usize = 16;

/// Copies odd 32-bit lanes onto the even ones.
const ODD_TO_EVEN: i32 = 0b11_11_01_01;
/// Copies even 32-bit lanes onto the odd ones.
const EVEN_TO_ODD: i32 = 0b10_10_00_00;
const ODD: u16 = 0xaaaa;
const EVEN: u16 = 0x5555;

/// Sixteen elements in one AVX-512 register.
///
/// Invariant: a value is only made from an [`Avx512`] token or from other values, so wherever one
/// exists, so do the instructions.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct Avx512Lanes(__m512i);

derived_operators!(Avx512Lanes);

/// Sixteen factors and their quotient words.
#[derive(Copy, Clone, Debug)]
pub struct Avx512Multiplier {
    word: __m512i,
    quotient: __m512i,
}

/// The low and the high halves of sums of products, in 64-bit lanes.
#[derive(Copy, Clone, Debug)]
pub struct Avx512Products {
    low: __m512i,
    high: __m512i,
}

// The functions on raw vectors below are called with the contents of lane values only.

/// The odd lanes, at the even places.
#[inline(always)]
fn odd(x: __m512i) -> __m512i {
    // SAFETY: feature: `x` comes from a lane value.
    unsafe { _mm512_shuffle_epi32::<ODD_TO_EVEN>(x) }
}

/// d mod p for d in [-p, p).
#[inline(always)]
fn correct(d: __m512i) -> __m512i {
    // SAFETY: feature: `d` comes from a lane value.
    unsafe { _mm512_min_epu32(d, _mm512_add_epi32(d, _mm512_set1_epi32(P as i32))) }
}

/// The same vector, of which the compiler does not know where it comes from.
///
/// Without it LLVM sees that q counts mod 2^32 only, takes the product that makes it for one of
/// 64-bit words, and replaces one instruction by several.
#[inline]
#[target_feature(enable = "avx512f")]
fn opaque(mut x: __m512i) -> __m512i {
    // SAFETY: the instruction is a comment.
    unsafe {
        asm!("/* {0} */", inout(zmm_reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

/// product - q p, whose low words are 0 and whose high words, at the odd places, are in (-p, p).
/// For products at even places of the signed numbers 32-bit lanes hold.
#[inline(always)]
fn reduce(product: __m512i, q: __m512i) -> __m512i {
    // SAFETY: feature: `product` comes from a lane value.
    unsafe {
        let multiple = _mm512_mul_epi32(opaque(q), _mm512_set1_epi32(P as i32));
        _mm512_sub_epi64(product, multiple)
    }
}

/// The same, with q = product p^-1.
#[inline(always)]
fn reduce_product(product: __m512i) -> __m512i {
    // SAFETY: feature: `product` comes from a lane value.
    reduce(product, unsafe {
        _mm512_mul_epu32(product, _mm512_set1_epi32(MONTGOMERY_MU as i32))
    })
}

/// The reduced products of the even and of the odd lanes in one vector.
///
/// As intrinsics, LLVM makes it a shuffle of two sources that overwrites its table of indices.
#[inline]
#[target_feature(enable = "avx512f")]
fn merge(even: __m512i, mut odd: __m512i) -> __m512i {
    // SAFETY: the instruction reads and writes its operands only.
    unsafe {
        asm!(
            "vpshufd {odd}{{{mask}}}, {even}, {order}",
            odd = inout(zmm_reg) odd,
            even = in(zmm_reg) even,
            mask = in(kreg) EVEN,
            order = const ODD_TO_EVEN,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    odd
}

/// x^3 for signed x in [-p, p).
#[inline(always)]
fn cube(x: __m512i) -> __m512i {
    // SAFETY: feature: `x` comes from a lane value.
    unsafe {
        let x_odd = odd(x);
        let square_even = reduce_product(_mm512_mul_epi32(x, x));
        let square_odd = reduce_product(_mm512_mul_epi32(x_odd, x_odd));
        let cube_even = reduce_product(_mm512_mul_epi32(odd(square_even), x));
        let cube_odd = reduce_product(_mm512_mul_epi32(odd(square_odd), x_odd));
        correct(merge(cube_even, cube_odd))
    }
}

impl Avx512Lanes {
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "the value proves the instructions")]
    fn zero(self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm512_setzero_si512() })
    }
}

impl Add for Avx512Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let sum = _mm512_add_epi32(self.0, other.0);
            let less = _mm512_sub_epi32(sum, _mm512_set1_epi32(P as i32));
            Self(_mm512_min_epu32(sum, less))
        }
    }
}

impl Sub for Avx512Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(correct(unsafe { _mm512_sub_epi32(self.0, other.0) }))
    }
}

impl Mul for Avx512Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let even = reduce_product(_mm512_mul_epu32(self.0, other.0));
            let odd = reduce_product(_mm512_mul_epu32(odd(self.0), odd(other.0)));
            Self(correct(merge(even, odd)))
        }
    }
}

impl Lanes for Avx512Lanes {
    type Token = Avx512;
    type Multiplier = Avx512Multiplier;
    type Products = Avx512Products;
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Avx512;

    #[inline(always)]
    fn run<K: Kernel>(_: Avx512, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
        fn entry<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        // SAFETY: feature: the token.
        unsafe { entry(kernel) }
    }

    #[inline(always)]
    fn splat(_: Avx512, value: KoalaBear) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { _mm512_set1_epi32(value.montgomery_word() as i32) })
    }

    #[inline(always)]
    unsafe fn load(_: Avx512, source: *const KoalaBear) -> Self {
        // SAFETY: feature: the token; bounds: the caller's.
        Self(unsafe { _mm512_loadu_si512(source.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut KoalaBear) {
        // SAFETY: feature: `self` exists; bounds: the caller's; layout: words below p.
        unsafe { _mm512_storeu_si512(target.cast(), self.0) }
    }

    #[inline(always)]
    fn halve(self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            // An odd x becomes (x + p) / 2.
            let is_odd = _mm512_test_epi32_mask(self.0, _mm512_set1_epi32(1));
            let half = _mm512_srli_epi32::<1>(self.0);
            let one_half = _mm512_set1_epi32(P.div_ceil(2) as i32);
            Self(_mm512_mask_add_epi32(half, is_odd, half, one_half))
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
            _mm512_add_epi32(self.0, _mm512_set1_epi32(constant.0))
        }))
    }

    #[inline(always)]
    fn mul_2exp_neg<const N: u32>(self) -> Self {
        const { assert!(1 <= N && N <= 24) };
        // SAFETY: feature: `self` exists.
        unsafe {
            // b * 127 * 2^(24 - N) = y / 2 - y / 2^8 for y = b * 2^(32 - N).
            let y = _mm512_sllv_epi32(self.0, _mm512_set1_epi32(32 - N as i32));
            let d = _mm512_sub_epi32(_mm512_srli_epi32::<N>(self.0), _mm512_srli_epi32::<1>(y));
            Self(correct(_mm512_add_epi32(d, _mm512_srli_epi32::<8>(y))))
        }
    }

    #[inline(always)]
    fn mul_prepared(self, constant: &Prepared) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let word = _mm512_set1_epi32(constant.word as i32);
            let quotient = _mm512_set1_epi32(constant.quotient as i32);
            let x_odd = odd(self.0);
            let even = reduce(
                _mm512_mul_epu32(self.0, word),
                _mm512_mul_epu32(self.0, quotient),
            );
            let odd = reduce(
                _mm512_mul_epu32(x_odd, word),
                _mm512_mul_epu32(x_odd, quotient),
            );
            Self(correct(merge(even, odd)))
        }
    }

    #[inline(always)]
    fn prepare(self) -> Avx512Multiplier {
        // SAFETY: feature: `self` exists.
        unsafe {
            let mu = _mm512_set1_epi32(MONTGOMERY_MU as i32);
            let (even, odd) = (
                _mm512_mul_epu32(self.0, mu),
                _mm512_mul_epu32(odd(self.0), mu),
            );
            let quotient = _mm512_mask_shuffle_epi32::<EVEN_TO_ODD>(even, ODD, odd);
            Avx512Multiplier {
                word: self.0,
                quotient,
            }
        }
    }

    #[inline(always)]
    fn mul_by(self, multiplier: &Avx512Multiplier) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let Avx512Multiplier { word, quotient } = *multiplier;
            let x_odd = odd(self.0);
            let even = reduce(
                _mm512_mul_epu32(self.0, word),
                _mm512_mul_epu32(self.0, quotient),
            );
            let odd = reduce(
                _mm512_mul_epu32(x_odd, odd(word)),
                _mm512_mul_epu32(x_odd, odd(quotient)),
            );
            Self(correct(merge(even, odd)))
        }
    }

    #[inline(always)]
    fn no_products(_: Avx512) -> Avx512Products {
        // SAFETY: feature: the token.
        let zero = unsafe { _mm512_setzero_si512() };
        Avx512Products {
            low: zero,
            high: zero,
        }
    }

    #[inline(always)]
    fn add_products(sum: Avx512Products, x: [Self; 2], y: [Self; 2]) -> Avx512Products {
        // SAFETY: feature: lane values exist.
        unsafe {
            let even = _mm512_add_epi64(
                _mm512_mul_epu32(x[0].0, y[0].0),
                _mm512_mul_epu32(x[1].0, y[1].0),
            );
            let odd = _mm512_add_epi64(
                _mm512_mul_epu32(odd(x[0].0), odd(y[0].0)),
                _mm512_mul_epu32(odd(x[1].0), odd(y[1].0)),
            );
            let products = _mm512_add_epi64(even, odd);
            let low = _mm512_and_si512(products, _mm512_set1_epi64(0xffff_ffff));
            Avx512Products {
                low: _mm512_add_epi64(sum.low, low),
                high: _mm512_add_epi64(sum.high, _mm512_srli_epi64::<32>(products)),
            }
        }
    }

    #[inline(always)]
    fn total(sum: Avx512Products) -> KoalaBear {
        let (mut low, mut high) = ([0_u64; 8], [0_u64; 8]);
        // SAFETY: feature: `sum` comes from a lane value or a token; bounds: the arrays are as long as vectors.
        unsafe {
            _mm512_storeu_si512(low.as_mut_ptr().cast(), sum.low);
            _mm512_storeu_si512(high.as_mut_ptr().cast(), sum.high);
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
                    _mm512_mask_shuffle_epi32::<EVEN_TO_ODD>(a, ODD, b),
                    _mm512_mask_shuffle_epi32::<ODD_TO_EVEN>(b, EVEN, a),
                ),
                2 => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
                4 => (
                    _mm512_mask_shuffle_i64x2::<0b10_10_00_00>(a, 0b1100_1100, b, b),
                    _mm512_mask_shuffle_i64x2::<0b11_11_01_01>(b, 0b0011_0011, a, a),
                ),
                8 => (
                    _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b),
                    _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b),
                ),
                _ => (a, b),
            }
        };
        (Self(lower), Self(upper))
    }
}
