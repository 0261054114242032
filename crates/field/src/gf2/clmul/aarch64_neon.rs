//! Two words with Advanced SIMD and carry-less products of 64-bit words.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::aarch64::{
    uint64x2_t, vaddq_u64, vcopyq_laneq_u64, vdupq_n_u64, veorq_u64, vextq_u64, vgetq_lane_u64,
    vld1q_lane_u64, vld1q_u64, vmull_high_p64, vmull_p64, vreinterpretq_p64_u64,
    vreinterpretq_u64_p128, vshlq_n_u64, vst1q_lane_u64, vst1q_u64, vtrn1q_u64, vtrn2q_u64,
    vuzp1q_u64, vuzp2q_u64,
};

use lanework_arch::{Isa, NeonPmull};

use super::super::spec::K_MODULUS;
use super::super::words::{Kernel, Words, sealed};
use super::{Clmul, Product, quotient};

const LEN: usize = 2;

/// Two words in one Advanced SIMD register.
///
/// Invariant: a value is only made from a [`NeonPmull`] token or from other values, so wherever one exists, so do
/// the instructions.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct NeonWords(uint64x2_t);

impl sealed::Sealed for NeonWords {}

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

impl Words for NeonWords {
    type Token = NeonPmull;
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Neon;

    #[inline(always)]
    fn run<K: Kernel>(_: NeonPmull, kernel: K) -> K::Output {
        #[target_feature(enable = "neon,aes")]
        fn entry<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        // SAFETY: feature: the token.
        unsafe { entry(kernel) }
    }

    #[inline(always)]
    fn splat(_: NeonPmull, word: u64) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { vdupq_n_u64(word) })
    }

    #[inline(always)]
    unsafe fn load(_: NeonPmull, source: *const u64) -> Self {
        // SAFETY: feature: the token; bounds: the caller's.
        Self(unsafe { vld1q_u64(source) })
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64) {
        // SAFETY: feature: `self` exists; bounds: the caller's.
        unsafe { vst1q_u64(target, self.0) }
    }

    #[inline(always)]
    unsafe fn load_part(token: NeonPmull, source: *const u64, count: usize) -> Self {
        // SAFETY: feature: the token; bounds: the caller's, for as many words as each case reads.
        unsafe {
            match count {
                0 => Self(vdupq_n_u64(0)),
                1 => Self(vld1q_lane_u64::<0>(source, vdupq_n_u64(0))),
                _ => Self::load(token, source),
            }
        }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u64) {
        // SAFETY: bounds: the caller's.
        unsafe { self.store(target) }
    }

    #[inline(always)]
    unsafe fn store_part(self, target: *mut u64, count: usize) {
        // SAFETY: feature: `self` exists; bounds: the caller's, for as many words as each case writes.
        unsafe {
            match count {
                0 => {}
                1 => vst1q_lane_u64::<0>(target, self.0),
                _ => self.store(target),
            }
        }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { veorq_u64(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, second: Self, third: Self) -> Self {
        self.xor(second).xor(third)
    }

    #[inline(always)]
    fn transpose(block: &mut [Self]) {
        let block: &mut [Self; LEN] = block.try_into().expect("as many vectors as words");
        let [a, b] = block.map(|x| x.0);
        // SAFETY: feature: values exist.
        *block = unsafe { [Self(vtrn1q_u64(a, b)), Self(vtrn2q_u64(a, b))] };
    }
}

impl Clmul for NeonWords {
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
                Self(vuzp1q_u64(self.0, other.0)),
                Self(vuzp2q_u64(self.0, other.0)),
            )
        }
    }

    #[inline(always)]
    fn split_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        // SAFETY: feature: values exist.
        unsafe {
            [
                Self(vcopyq_laneq_u64::<1, 1>(a.0, b.0)),
                Self(vextq_u64::<1>(a.0, c.0)),
                Self(vcopyq_laneq_u64::<1, 1>(b.0, c.0)),
            ]
        }
    }

    #[inline(always)]
    fn join_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        // SAFETY: feature: values exist.
        unsafe {
            [
                Self(vtrn1q_u64(a.0, b.0)),
                Self(vcopyq_laneq_u64::<1, 1>(c.0, a.0)),
                Self(vtrn2q_u64(b.0, c.0)),
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
                even: Self(lower_product(self.0, other.0)),
                odd: Self(upper_product(self.0, other.0)),
            }
        }
    }

    #[inline(always)]
    fn reduce(product: Product<Self>) -> Self {
        // SAFETY: feature: `product` holds values.
        Self(unsafe { vtrn1q_u64(fold(product.even.0), fold(product.odd.0)) })
    }

    #[inline(always)]
    fn prepare(token: NeonPmull, word: u64) -> [Self; 2] {
        [word, quotient(word)].map(|word| Self::splat(token, word))
    }

    #[inline(always)]
    fn mul_by(self, [factor, quotient]: [Self; 2]) -> Self {
        let (low, high) = (self.product(factor), self.product(quotient));
        // SAFETY: feature: `self` exists.
        unsafe {
            let low = vtrn1q_u64(low.even.0, low.odd.0);
            let z = vtrn2q_u64(high.even.0, high.odd.0);
            let y = veorq_u64(z, vaddq_u64(z, z));
            Self(veorq_u64(veorq_u64(low, y), vshlq_n_u64::<3>(y)))
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
        let mut words = [0; LEN];
        sum.to_slice(&mut words);
        words[0] as u128 | (words[1] as u128) << 64
    }
}
