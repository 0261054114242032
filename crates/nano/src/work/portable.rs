//! One nonce at a time, in plain Rust.

use lanework_arch::{Isa, Portable};

use super::body::{self, Lanes};
use super::precomputed::Constants;
use super::table::Backend;

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

/// The search without vectors.
#[derive(Copy, Clone, Debug)]
pub(super) struct ScalarSearch;

impl Backend for ScalarSearch {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn isa(&self) -> Isa {
        Isa::Portable
    }

    fn lanes(&self) -> usize {
        1
    }

    fn bundle_len(&self) -> usize {
        1
    }

    fn scan(&self, constants: &Constants, start: u64, bundles: u64, threshold: u64) -> Option<u64> {
        (0..bundles)
            .find(|&i| body::values(Portable, constants, start.wrapping_add(i)) >= threshold)
    }

    fn values(&self, constants: &Constants, start: u64, out: &mut [u64]) {
        for (i, value) in (0..).zip(out) {
            *value = body::values(Portable, constants, start.wrapping_add(i));
        }
    }
}
