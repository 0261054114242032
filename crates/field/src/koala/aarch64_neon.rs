//! Four lanes with Advanced SIMD.
//!
//! `sqdmulh` yields the high word of twice a product. For q p = x y mod 2^32 the doubled products
//! have equal low words, so that half the difference of their high words is (x y - q p) / 2^32.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::aarch64::{
    int32x4_t, uint32x4_t, uint64x2_t, vaddq_s32, vaddq_u32, vaddq_u64, vaddvq_u64, vandq_u32,
    vandq_u64, vdupq_n_s32, vdupq_n_u32, vdupq_n_u64, vget_low_u32, vhsubq_s32, vld1q_u32,
    vminq_u32, vmlal_high_u32, vmlal_u32, vmlaq_u32, vmlsq_u32, vmull_u32, vmulq_n_s32, vmulq_s32,
    vqdmulhq_s32, vreinterpretq_s32_u32, vreinterpretq_u32_s32, vreinterpretq_u32_u64,
    vreinterpretq_u64_u32, vshlq_u32, vshrq_n_u32, vsraq_n_u64, vst1q_u32, vsubq_u32, vtrn1q_u32,
    vtrn1q_u64, vtrn2q_u32, vtrn2q_u64,
};
use std::ops::{Add, Mul, Sub};

use lanework_arch::{Isa, Neon};

use super::KoalaBear;
use super::lanes::{Addend, Kernel, Lanes, Prepared, derived_operators, reduce_products};
use super::spec::{MONTGOMERY_MU, P};

const LEN: usize = 4;

/// Four elements in one Advanced SIMD register.
///
/// Invariant: a value is only made from a [`Neon`] token or from other values, so wherever one
/// exists, so do the instructions.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct NeonLanes(uint32x4_t);

derived_operators!(NeonLanes);

/// Four factors and their quotient words.
#[derive(Copy, Clone, Debug)]
pub struct NeonMultiplier {
    word: int32x4_t,
    quotient: int32x4_t,
}

/// The low and the high halves of sums of products, in 64-bit lanes.
#[derive(Copy, Clone, Debug)]
pub struct NeonProducts {
    low: uint64x2_t,
    high: uint64x2_t,
}

// The functions on raw vectors below are called with the contents of lane values only.

#[inline(always)]
fn signed(x: uint32x4_t) -> int32x4_t {
    // SAFETY: feature: `x` comes from a lane value.
    unsafe { vreinterpretq_s32_u32(x) }
}

#[inline(always)]
fn unsigned(x: int32x4_t) -> uint32x4_t {
    // SAFETY: feature: `x` comes from a lane value.
    unsafe { vreinterpretq_u32_s32(x) }
}

/// d mod p for d in [-p, p).
#[inline(always)]
fn correct(d: uint32x4_t) -> NeonLanes {
    // SAFETY: feature: `d` comes from a lane value.
    NeonLanes(unsafe { vminq_u32(d, vaddq_u32(d, vdupq_n_u32(P))) })
}

/// x y 2^-32 in (-p, p), for |x y| <= 2^31 p and x, y above -2^31, with q = x y p^-1 mod 2^32.
#[inline(always)]
fn reduced_product(x: int32x4_t, y: int32x4_t, q: int32x4_t) -> int32x4_t {
    // SAFETY: feature: `x` comes from a lane value.
    unsafe { vhsubq_s32(vqdmulhq_s32(x, y), vqdmulhq_s32(q, vdupq_n_s32(P as i32))) }
}

/// The same, finding q.
#[inline(always)]
fn product(x: int32x4_t, y: int32x4_t) -> int32x4_t {
    // SAFETY: feature: `x` comes from a lane value.
    let q = unsafe { vmulq_s32(vmulq_s32(x, y), vdupq_n_s32(MONTGOMERY_MU as i32)) };
    reduced_product(x, y, q)
}

/// x^3 for signed x in (-p, p).
#[inline(always)]
fn cube(x: int32x4_t) -> NeonLanes {
    // SAFETY: feature: `x` comes from a lane value.
    unsafe {
        // Both quotients are products of x p^-1: the first is x times it, the second x^2 times it.
        let x_mu = vmulq_s32(x, vdupq_n_s32(MONTGOMERY_MU as i32));
        let square = reduced_product(x, x, vmulq_s32(x, x_mu));
        correct(unsigned(reduced_product(
            square,
            x,
            vmulq_s32(square, x_mu),
        )))
    }
}

impl NeonLanes {
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "the value proves the instructions")]
    fn zero(self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { vdupq_n_u32(0) })
    }
}

impl Add for NeonLanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let sum = vaddq_u32(self.0, other.0);
            Self(vminq_u32(sum, vsubq_u32(sum, vdupq_n_u32(P))))
        }
    }
}

impl Sub for NeonLanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        correct(unsafe { vsubq_u32(self.0, other.0) })
    }
}

impl Mul for NeonLanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        correct(unsigned(product(signed(self.0), signed(other.0))))
    }
}

impl Lanes for NeonLanes {
    type Token = Neon;
    type Multiplier = NeonMultiplier;
    type Products = NeonProducts;
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Neon;

    #[inline(always)]
    fn run<K: Kernel>(_: Neon, kernel: K) -> K::Output {
        #[target_feature(enable = "neon")]
        fn entry<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        // SAFETY: feature: the token.
        unsafe { entry(kernel) }
    }

    #[inline(always)]
    fn splat(_: Neon, value: KoalaBear) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { vdupq_n_u32(value.montgomery_word()) })
    }

    #[inline(always)]
    unsafe fn load(_: Neon, source: *const KoalaBear) -> Self {
        // SAFETY: feature: the token; bounds: the caller's.
        Self(unsafe { vld1q_u32(source.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut KoalaBear) {
        // SAFETY: feature: `self` exists; bounds: the caller's; layout: words below p.
        unsafe { vst1q_u32(target.cast(), self.0) }
    }

    #[inline(always)]
    fn halve(self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            // An odd x becomes (x + p) / 2.
            let is_odd = vandq_u32(self.0, vdupq_n_u32(1));
            Self(vmlaq_u32(
                vshrq_n_u32::<1>(self.0),
                is_odd,
                vdupq_n_u32(P.div_ceil(2)),
            ))
        }
    }

    #[inline(always)]
    fn cube(self) -> Self {
        cube(signed(self.0))
    }

    #[inline(always)]
    fn add_cube(self, constant: &Addend) -> Self {
        // SAFETY: feature: `self` exists.
        cube(unsafe { vaddq_s32(signed(self.0), vdupq_n_s32(constant.0)) })
    }

    #[inline(always)]
    fn mul_2exp_neg<const N: u32>(self) -> Self {
        const { assert!(1 <= N && N <= 24) };
        // SAFETY: feature: `self` exists.
        unsafe {
            let a = vshlq_u32(self.0, vdupq_n_s32(-(N as i32)));
            let b = vandq_u32(self.0, vdupq_n_u32((1 << N) - 1));
            correct(vmlsq_u32(a, b, vdupq_n_u32(127 << (24 - N))))
        }
    }

    #[inline(always)]
    fn mul_prepared(self, constant: &Prepared) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let q = vmulq_n_s32(signed(self.0), constant.quotient as i32);
            let word = vdupq_n_s32(constant.word as i32);
            correct(unsigned(reduced_product(signed(self.0), word, q)))
        }
    }

    #[inline(always)]
    fn prepare(self) -> NeonMultiplier {
        let word = signed(self.0);
        // SAFETY: feature: `self` exists.
        let quotient = unsafe { vmulq_n_s32(word, MONTGOMERY_MU as i32) };
        NeonMultiplier { word, quotient }
    }

    #[inline(always)]
    fn mul_by(self, multiplier: &NeonMultiplier) -> Self {
        let x = signed(self.0);
        // SAFETY: feature: `self` exists.
        let q = unsafe { vmulq_s32(x, multiplier.quotient) };
        correct(unsigned(reduced_product(x, multiplier.word, q)))
    }

    #[inline(always)]
    fn no_products(_: Neon) -> NeonProducts {
        // SAFETY: feature: the token.
        let zero = unsafe { vdupq_n_u64(0) };
        NeonProducts {
            low: zero,
            high: zero,
        }
    }

    #[inline(always)]
    fn add_products(sum: NeonProducts, x: [Self; 2], y: [Self; 2]) -> NeonProducts {
        // SAFETY: feature: lane values exist.
        unsafe {
            let mut products = vmull_u32(vget_low_u32(x[0].0), vget_low_u32(y[0].0));
            products = vmlal_u32(products, vget_low_u32(x[1].0), vget_low_u32(y[1].0));
            products = vmlal_high_u32(products, x[0].0, y[0].0);
            products = vmlal_high_u32(products, x[1].0, y[1].0);
            let low = vandq_u64(products, vdupq_n_u64(0xffff_ffff));
            NeonProducts {
                low: vaddq_u64(sum.low, low),
                high: vsraq_n_u64::<32>(sum.high, products),
            }
        }
    }

    #[inline(always)]
    fn total(sum: NeonProducts) -> KoalaBear {
        // SAFETY: feature: `sum` comes from a lane value or a token.
        unsafe { reduce_products(vaddvq_u64(sum.low), vaddvq_u64(sum.high)) }
    }

    #[inline(always)]
    fn interleave<const BLOCK: usize>(self, other: Self) -> (Self, Self) {
        const { assert!(BLOCK.is_power_of_two()) };
        let (a, b) = (self.0, other.0);
        // SAFETY: feature: `self` exists.
        let (lower, upper) = unsafe {
            match BLOCK {
                1 => (vtrn1q_u32(a, b), vtrn2q_u32(a, b)),
                2 => {
                    let (a, b) = (vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b));
                    let (lower, upper) = (vtrn1q_u64(a, b), vtrn2q_u64(a, b));
                    (vreinterpretq_u32_u64(lower), vreinterpretq_u32_u64(upper))
                }
                _ => (a, b),
            }
        };
        (Self(lower), Self(upper))
    }
}
