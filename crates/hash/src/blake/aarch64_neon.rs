//! Four messages with NEON.
#![expect(unsafe_code, reason = "vector intrinsics")]
#![allow(
    unknown_lints,
    inline_always_mismatching_target_features,
    reason = "all of it ends up in the functions that have the features; older compilers have no such lint"
)]

use std::arch::aarch64::{
    uint32x4_t, vaddq_u32, vdupq_n_u32, veorq_u32, vld1q_u8, vqtbl1q_u8, vreinterpretq_u8_u32,
    vreinterpretq_u16_u32, vreinterpretq_u32_u8, vreinterpretq_u32_u16, vreinterpretq_u32_u64,
    vreinterpretq_u64_u32, vrev32q_u16, vshlq_n_u32, vsriq_n_u32, vst1q_u8, vtrn1q_u32, vtrn2q_u32,
    vzip1q_u64, vzip2q_u64,
};

use lanework_arch::Neon;

use super::Function;
use super::body::{self, Lanes};
use super::layout::Layout;
use super::spec::{Blake2sMixing, Blake3Mixing};
use super::table::{Backend, Rows};

/// A word of each of four messages.
///
/// Invariant: a value is only made from a token or from other values, so wherever one exists, so do the
/// instructions.
#[derive(Copy, Clone)]
struct NeonLanes(uint32x4_t);

impl Lanes for NeonLanes {
    type Token = Neon;

    const LEN: usize = 4;

    #[inline(always)]
    fn splat(_: Neon, word: u32) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { vdupq_n_u32(word) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { vaddq_u32(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { veorq_u32(self.0, other.0) })
    }

    #[inline(always)]
    fn rotate<const BITS: u32>(self) -> Self {
        let x = self.0;
        // SAFETY: feature: `self` exists.
        Self(unsafe {
            match BITS {
                16 => vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(x))),
                12 => vsriq_n_u32::<12>(vshlq_n_u32::<20>(x), x),
                8 => rotate_8(x),
                _ => vsriq_n_u32::<7>(vshlq_n_u32::<25>(x), x),
            }
        })
    }

    #[inline(always)]
    unsafe fn load(_: Neon, blocks: *const u8, pitch: usize) -> [Self; 16] {
        // SAFETY: feature: the token; bounds: the caller vouches for the blocks.
        unsafe { load(blocks, pitch) }.map(Self)
    }

    #[inline(always)]
    unsafe fn store(state: [Self; 8], digests: *mut u8) {
        // SAFETY: feature: `state` exists; bounds: the caller vouches for the digests.
        unsafe { store(state.map(|word| word.0), digests) };
    }
}

/// The bytes from which those of a word rotated by 8 come.
const ROTATE_8: [u8; 16] = [1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12];

#[inline]
#[target_feature(enable = "neon")]
fn rotate_8(x: uint32x4_t) -> uint32x4_t {
    // SAFETY: bounds: the array has the 16 bytes of a vector.
    let from = unsafe { vld1q_u8(ROTATE_8.as_ptr()) };
    vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(x), from))
}

/// Four vectors of four words, transposed.
#[inline]
#[target_feature(enable = "neon")]
fn transpose([a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    let ab_even = vreinterpretq_u64_u32(vtrn1q_u32(a, b));
    let ab_odd = vreinterpretq_u64_u32(vtrn2q_u32(a, b));
    let cd_even = vreinterpretq_u64_u32(vtrn1q_u32(c, d));
    let cd_odd = vreinterpretq_u64_u32(vtrn2q_u32(c, d));
    [
        vreinterpretq_u32_u64(vzip1q_u64(ab_even, cd_even)),
        vreinterpretq_u32_u64(vzip1q_u64(ab_odd, cd_odd)),
        vreinterpretq_u32_u64(vzip2q_u64(ab_even, cd_even)),
        vreinterpretq_u32_u64(vzip2q_u64(ab_odd, cd_odd)),
    ]
}

/// Word w of each of four blocks.
///
/// # Safety
/// The blocks are readable.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load(blocks: *const u8, pitch: usize) -> [uint32x4_t; 16] {
    let quarter = |at: usize| {
        transpose(std::array::from_fn(|i| {
            // SAFETY: bounds: the caller vouches for the blocks.
            let words = unsafe { vld1q_u8(blocks.wrapping_add(i * pitch + 16 * at)) };
            vreinterpretq_u32_u8(words)
        }))
    };
    let quarters = [quarter(0), quarter(1), quarter(2), quarter(3)];
    std::array::from_fn(|i| quarters[i / 4][i % 4])
}

/// Writes four digests.
///
/// # Safety
/// There is room for them.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn store(state: [uint32x4_t; 8], digests: *mut u8) {
    let [a, b, c, d, e, f, g, h] = state;
    let (low, high) = (transpose([a, b, c, d]), transpose([e, f, g, h]));
    for i in 0..4 {
        let digest = digests.wrapping_add(32 * i);
        // SAFETY: bounds: the caller vouches for four digests.
        unsafe {
            vst1q_u8(digest, vreinterpretq_u8_u32(low[i]));
            vst1q_u8(digest.wrapping_add(16), vreinterpretq_u8_u32(high[i]));
        }
    }
}

/// The back end.
#[derive(Copy, Clone, Debug)]
pub(super) struct NeonHash(Neon);

impl NeonHash {
    pub(super) fn new(token: Neon) -> Self {
        Self(token)
    }
}

impl Backend for NeonHash {
    fn name(&self) -> &'static str {
        "neon"
    }

    fn lanes(&self) -> usize {
        NeonLanes::LEN
    }

    unsafe fn hash(&self, function: Function, layout: &Layout, rows: &Rows) {
        #[target_feature(enable = "neon")]
        unsafe fn blake3(token: Neon, layout: &Layout, rows: &Rows) {
            // SAFETY: as the caller's.
            unsafe { body::hash::<Blake3Mixing, NeonLanes>(token, layout, rows) };
        }
        #[target_feature(enable = "neon")]
        unsafe fn blake2s(token: Neon, layout: &Layout, rows: &Rows) {
            // SAFETY: as the caller's.
            unsafe { body::hash::<Blake2sMixing, NeonLanes>(token, layout, rows) };
        }
        // SAFETY: feature: the token in `self`; bounds: the caller vouches for the rows.
        unsafe {
            match function {
                Function::Blake3 => blake3(self.0, layout, rows),
                Function::Blake2s => blake2s(self.0, layout, rows),
            }
        }
    }
}
