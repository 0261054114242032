//! One nonce at a time, in plain Rust.

use lanework_arch::Portable;

use super::body::{self, Lanes};
use super::precomputed::Constants;

impl Lanes for u64 {
    type Token = Portable;

    #[inline(always)]
    fn splat(_: Portable, word: u64) -> Self {
        word
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn xor_rotate<const BITS: u32>(self, other: Self) -> Self {
        (self ^ other).rotate_right(BITS)
    }
}

pub(super) fn scan(constants: &Constants, start: u64, bundles: u64, threshold: u64) -> Option<u64> {
    (0..bundles).find(|&i| body::values(Portable, constants, start.wrapping_add(i)) >= threshold)
}

pub(super) fn values(constants: &Constants, start: u64, out: &mut [u64]) {
    for (i, value) in (0..).zip(out) {
        *value = body::values(Portable, constants, start.wrapping_add(i));
    }
}
