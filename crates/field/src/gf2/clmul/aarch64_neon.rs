//! Two words with Advanced SIMD and carry-less products of 64-bit words.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::aarch64::{
    uint64x2_t, vaddq_u64, vcopyq_laneq_u64, vdupq_n_u64, veorq_u64, vextq_u64, vgetq_lane_u64,
    vmull_high_p64, vmull_p64, vreinterpretq_p64_u64, vreinterpretq_u64_p128, vshlq_n_u64,
    vtrn1q_u64, vtrn2q_u64, vuzp1q_u64, vuzp2q_u64,
};

use lanework_arch::NeonPmull;

use super::super::spec::K_MODULUS;
use super::super::words::{NeonVector, Words};
use super::{Clmul, Product, quotient};

// The functions on raw vectors below are called with the contents of values only.

/// The carry-less product of the words at place 0.
#[inline]
#[target_feature(enable = "neon,aes")]
fn lower_product(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
    let product = vmull_p64(vgetq_lane_u64::<0>(x), vgetq_lane_u64::<0>(y));
    vreinterpretq_u64_p128(product)
}

/// The carry-less product of the words at place 1.
#[inline]
#[target_feature(enable = "neon,aes")]
fn upper_product(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
    let product = vmull_high_p64(vreinterpretq_p64_u64(x), vreinterpretq_p64_u64(y));
    vreinterpretq_u64_p128(product)
}

/// A polynomial whose low word is that of `x` modulo P: two times the high word comes down.
#[inline(always)]
fn fold(x: uint64x2_t) -> uint64x2_t {
    // SAFETY: feature: `x` comes from a value.
    unsafe {
        let modulus = vdupq_n_u64(K_MODULUS);
        let once = upper_product(x, modulus);
        let twice = upper_product(once, modulus);
        veorq_u64(veorq_u64(x, once), twice)
    }
}

impl Clmul for NeonVector<NeonPmull> {
    const NAME: &'static str = "neon";
    /// The factor and its quotient, each in both places.
    type Factor = [Self; 2];
    /// Two words.
    type Sum = Self;

    #[inline(always)]
    fn unzip(self, other: Self) -> (Self, Self) {
        // SAFETY: feature: `self` exists.
        unsafe {
            (
                Self::new(vuzp1q_u64(self.0, other.0)),
                Self::new(vuzp2q_u64(self.0, other.0)),
            )
        }
    }

    #[inline(always)]
    fn split_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        // SAFETY: feature: values exist.
        unsafe {
            [
                Self::new(vcopyq_laneq_u64::<1, 1>(a.0, b.0)),
                Self::new(vextq_u64::<1>(a.0, c.0)),
                Self::new(vcopyq_laneq_u64::<1, 1>(b.0, c.0)),
            ]
        }
    }

    #[inline(always)]
    fn join_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        // SAFETY: feature: values exist.
        unsafe {
            [
                Self::new(vtrn1q_u64(a.0, b.0)),
                Self::new(vcopyq_laneq_u64::<1, 1>(c.0, a.0)),
                Self::new(vtrn2q_u64(b.0, c.0)),
            ]
        }
    }

    #[inline(always)]
    fn unzip_triples(self, other: Self) -> (Self, Self) {
        self.unzip(other)
    }

    #[inline(always)]
    fn in_order_of_triples(self) -> Self {
        self
    }

    #[inline(always)]
    fn product(self, other: Self) -> Product<Self> {
        // SAFETY: feature: `self` exists.
        unsafe {
            Product {
                even: Self::new(lower_product(self.0, other.0)),
                odd: Self::new(upper_product(self.0, other.0)),
            }
        }
    }

    #[inline(always)]
    fn reduce(product: Product<Self>) -> Self {
        // SAFETY: feature: `product` holds values.
        Self::new(unsafe { vtrn1q_u64(fold(product.even.0), fold(product.odd.0)) })
    }

    #[inline(always)]
    fn prepare(token: NeonPmull, word: u64) -> [Self; 2] {
        [Self::splat(token, word), Self::splat(token, quotient(word))]
    }

    #[inline(always)]
    fn mul_by(self, [factor, quotient]: [Self; 2]) -> Self {
        let (low, high) = (self.product(factor), self.product(quotient));
        // SAFETY: feature: `self` exists.
        unsafe {
            let low = vtrn1q_u64(low.even.0, low.odd.0);
            let z = vtrn2q_u64(high.even.0, high.odd.0);
            let y = veorq_u64(z, vaddq_u64(z, z));
            Self::new(veorq_u64(veorq_u64(low, y), vshlq_n_u64::<3>(y)))
        }
    }

    #[inline(always)]
    fn no_products(token: NeonPmull) -> Self {
        Self::splat(token, 0)
    }

    #[inline(always)]
    fn add_products(sum: Self, left: Self, right: Self) -> Self {
        let product = left.product(right);
        sum.xor3(product.even, product.odd)
    }

    #[inline(always)]
    fn total(sum: Self) -> u128 {
        let mut words = [0; 2];
        sum.to_slice(&mut words);
        words[0] as u128 | (words[1] as u128) << 64
    }
}
