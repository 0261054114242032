//! Four nonces with NEON, as two states of two lanes that take turns half-round by half-round. They
//! fill the 32 registers.
//!
//! With the SHA-3 instructions a rotation and the exclusive or before it are one instruction.
#![expect(unsafe_code, reason = "vector intrinsics")]
#![allow(
    unknown_lints,
    inline_always_mismatching_target_features,
    reason = "all of it ends up in the functions that have the features; older compilers have no such lint"
)]

use std::arch::aarch64::{
    uint64x2_t, vaddq_u64, vcgeq_u64, vcombine_u64, vcreate_u64, vdupq_n_u64, veorq_u64,
    vgetq_lane_u64, vld1q_u8, vorrq_u64, vqtbl1q_u8, vreinterpretq_u8_u64, vreinterpretq_u32_u64,
    vreinterpretq_u64_u8, vreinterpretq_u64_u32, vrev64q_u32, vshlq_n_u64, vsriq_n_u64, vst1q_u64,
    vxarq_u64,
};

use lanework_arch::{Isa, Neon, NeonSha3};

use super::body::{self, Lanes};
use super::precomputed::Constants;
use super::table::Backend;

/// Nonces in a vector.
const LANES: usize = 2;

/// Nonces in a bundle, of two states.
const BUNDLE_LEN: usize = 2 * LANES;

/// Two words, rotated by shuffles and shifts.
///
/// Invariant: a value is only made from a token or from other values, so wherever one exists, so do the
/// instructions.
#[derive(Copy, Clone)]
struct NeonLanes(uint64x2_t);

/// Two words, rotated by the SHA-3 instructions. The invariant is the same.
#[derive(Copy, Clone)]
struct NeonSha3Lanes(uint64x2_t);

/// The bytes from which those of a word rotated by 24 or 16 come.
const ROTATE_24: [u8; 16] = [3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10];
const ROTATE_16: [u8; 16] = [2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9];

/// The bytes of `x` at the places that `from` names.
#[inline]
#[target_feature(enable = "neon")]
fn bytes(x: uint64x2_t, from: &[u8; 16]) -> uint64x2_t {
    // SAFETY: bounds: the array has the 16 bytes of a vector.
    let from = unsafe { vld1q_u8(from.as_ptr()) };
    vreinterpretq_u64_u8(vqtbl1q_u8(vreinterpretq_u8_u64(x), from))
}

macro_rules! lanes {
    ($lanes:ident, $token:ident, |$x:ident, $y:ident, $bits:ident| $rotate:expr) => {
        impl Lanes for $lanes {
            type Token = $token;

            #[inline(always)]
            fn splat(_: $token, word: u64) -> Self {
                // SAFETY: feature: the token.
                Self(unsafe { vdupq_n_u64(word) })
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: feature: `self` exists.
                Self(unsafe { vaddq_u64(self.0, other.0) })
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: feature: `self` exists.
                Self(unsafe { veorq_u64(self.0, other.0) })
            }

            #[inline(always)]
            fn xor_rotate<const $bits: u32>(self, other: Self) -> Self {
                let ($x, $y) = (self.0, other.0);
                // SAFETY: feature: `self` exists.
                Self(unsafe { $rotate })
            }
        }
    };
}

lanes!(NeonLanes, Neon, |x, y, BITS| {
    let x = veorq_u64(x, y);
    match BITS {
        32 => vreinterpretq_u64_u32(vrev64q_u32(vreinterpretq_u32_u64(x))),
        24 => bytes(x, &ROTATE_24),
        16 => bytes(x, &ROTATE_16),
        _ => vsriq_n_u64::<63>(vshlq_n_u64::<1>(x), x),
    }
});

lanes!(NeonSha3Lanes, NeonSha3, |x, y, BITS| match BITS {
    32 => vxarq_u64::<32>(x, y),
    24 => vxarq_u64::<24>(x, y),
    16 => vxarq_u64::<16>(x, y),
    _ => vxarq_u64::<63>(x, y),
});

macro_rules! search {
    ($(#[$doc:meta])* $name:ident, $text:literal, $lanes:ident, $token:ident, $features:literal) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug)]
        pub(super) struct $name($token);

        impl $name {
            pub(super) fn new(token: $token) -> Self {
                Self(token)
            }
        }

        impl Backend for $name {
            fn name(&self) -> &'static str {
                $text
            }

            fn isa(&self) -> Isa {
                Isa::Neon
            }

            fn lanes(&self) -> usize {
                LANES
            }

            fn bundle_len(&self) -> usize {
                BUNDLE_LEN
            }

            fn scan(
                &self,
                constants: &Constants,
                start: u64,
                bundles: u64,
                threshold: u64,
            ) -> Option<u64> {
                #[target_feature(enable = $features)]
                fn entry(
                    token: $token,
                    constants: &Constants,
                    mut start: u64,
                    bundles: u64,
                    threshold: u64,
                ) -> Option<u64> {
                    let threshold = vdupq_n_u64(threshold);
                    for bundle in 0..bundles {
                        let nonces = nonces(start).map($lanes);
                        let [low, high] = body::values_2(token, constants, nonces);
                        let hits = vorrq_u64(vcgeq_u64(low.0, threshold), vcgeq_u64(high.0, threshold));
                        if vgetq_lane_u64::<0>(hits) | vgetq_lane_u64::<1>(hits) != 0 {
                            return Some(bundle);
                        }
                        start = start.wrapping_add(BUNDLE_LEN as u64);
                    }
                    None
                }
                // SAFETY: feature: the token in `self`.
                unsafe { entry(self.0, constants, start, bundles, threshold) }
            }

            fn values(&self, constants: &Constants, start: u64, out: &mut [u64]) {
                #[target_feature(enable = $features)]
                fn entry(token: $token, constants: &Constants, mut start: u64, out: &mut [u64]) {
                    let (bundles, _) = out.as_chunks_mut::<BUNDLE_LEN>();
                    for bundle in bundles {
                        let nonces = nonces(start).map($lanes);
                        let values = body::values_2(token, constants, nonces);
                        for (out, values) in bundle.chunks_exact_mut(LANES).zip(values) {
                            // SAFETY: bounds: a chunk has the words of a vector.
                            unsafe { vst1q_u64(out.as_mut_ptr(), values.0) };
                        }
                        start = start.wrapping_add(BUNDLE_LEN as u64);
                    }
                }
                // SAFETY: feature: the token in `self`.
                unsafe { entry(self.0, constants, start, out) }
            }
        }
    };
}

/// The nonces of a bundle.
#[inline]
#[target_feature(enable = "neon")]
fn nonces(start: u64) -> [uint64x2_t; 2] {
    let pair = |at: u64| {
        let first = start.wrapping_add(at);
        vcombine_u64(vcreate_u64(first), vcreate_u64(first.wrapping_add(1)))
    };
    [pair(0), pair(LANES as u64)]
}

search!(
    /// The search with NEON.
    NeonSearch, "neon", NeonLanes, Neon, "neon"
);
search!(
    /// The search with NEON and the SHA-3 instructions.
    NeonSha3Search, "neon-sha3", NeonSha3Lanes, NeonSha3, "neon,sha3"
);
