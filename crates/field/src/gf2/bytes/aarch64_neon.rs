//! Two words with Advanced SIMD.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::aarch64::{
    uint8x16_t, uint64x2_t, vandq_u8, vdupq_n_u64, veorq_u8, veorq_u64, vld1q_lane_u64, vld1q_u8,
    vld1q_u64, vqtbl1q_u8, vreinterpretq_u8_u16, vreinterpretq_u8_u64, vreinterpretq_u16_u8,
    vreinterpretq_u64_u8, vshlq_n_u16, vshrq_n_u8, vshrq_n_u16, vst1q_lane_u64, vst1q_u64,
    vtrn1q_u64, vtrn2q_u64,
};

use lanework_arch::{Isa, Neon};

use super::super::words::{Kernel, Words, sealed};
use super::{Shuffle, Table};

const LEN: usize = 2;

/// Two words in one register, multiplied by lookups in tables.
///
/// Invariant: a value is only made from a [`Neon`] token or from other values, so wherever one exists, so do the
/// instructions.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct NeonTables(uint64x2_t);

impl sealed::Sealed for NeonTables {}

impl Words for NeonTables {
    type Token = Neon;
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
    fn splat(_: Neon, word: u64) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { vdupq_n_u64(word) })
    }

    #[inline(always)]
    unsafe fn load(_: Neon, source: *const u64) -> Self {
        // SAFETY: feature: the token. bounds: the caller's.
        Self(unsafe { vld1q_u64(source) })
    }

    #[inline(always)]
    unsafe fn load_part(token: Neon, source: *const u64, count: usize) -> Self {
        // SAFETY: feature: the token. bounds: the caller's, for as many words as each case reads.
        unsafe {
            match count {
                0 => Self(vdupq_n_u64(0)),
                1 => Self(vld1q_lane_u64::<0>(source, vdupq_n_u64(0))),
                _ => Self::load(token, source),
            }
        }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64) {
        // SAFETY: feature: a value exists. bounds: the caller's.
        unsafe { vst1q_u64(target, self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u64) {
        // SAFETY: bounds: the caller's.
        unsafe { self.store(target) }
    }

    #[inline(always)]
    unsafe fn store_part(self, target: *mut u64, count: usize) {
        // SAFETY: feature: a value exists. bounds: the caller's, for as many words as each case writes.
        unsafe {
            match count {
                0 => {}
                1 => vst1q_lane_u64::<0>(target, self.0),
                _ => self.store(target),
            }
        }
    }

    #[inline(always)]
    fn transpose(block: &mut [Self]) {
        let block: &mut [Self; LEN] = block.try_into().expect("as many vectors as words");
        let (a, b) = (block[0].0, block[1].0);
        // SAFETY: feature: values exist.
        *block = unsafe { [Self(vtrn1q_u64(a, b)), Self(vtrn2q_u64(a, b))] };
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self(unsafe { veorq_u64(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b.xor(c))
    }
}

impl NeonTables {
    #[inline(always)]
    fn bytes(self) -> uint8x16_t {
        // SAFETY: feature: a value exists.
        unsafe { vreinterpretq_u8_u64(self.0) }
    }

    /// The words of `bytes`, which come from a value.
    #[inline(always)]
    fn of(bytes: uint8x16_t) -> Self {
        // SAFETY: feature: the vector comes from a value.
        Self(unsafe { vreinterpretq_u64_u8(bytes) })
    }
}

impl Shuffle for NeonTables {
    const NAME: &'static str = "neon";

    #[inline(always)]
    fn repeat(self, table: &Table) -> Self {
        // SAFETY: feature: a value exists. bounds: a table has sixteen bytes.
        Self::of(unsafe { vld1q_u8(table.0.as_ptr()) })
    }

    #[inline(always)]
    fn lookup(self, index: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::of(unsafe { vqtbl1q_u8(self.bytes(), index.bytes()) })
    }

    #[inline(always)]
    fn and(self, mask: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::of(unsafe { vandq_u8(self.bytes(), mask.bytes()) })
    }

    #[inline(always)]
    fn and_xor(self, mask: Self, other: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::of(unsafe { veorq_u8(self.and(mask).bytes(), other.bytes()) })
    }

    #[inline(always)]
    fn down<const BITS: i32>(self) -> Self {
        // SAFETY: feature: a value exists.
        Self::of(unsafe { vshrq_n_u8::<BITS>(self.bytes()) })
    }

    #[inline(always)]
    fn replaced(self, words: &[u64; 8]) -> Self {
        // SAFETY: feature: a value exists. bounds: eight words, of which two are read.
        Self(unsafe { vld1q_u64(words.as_ptr()) })
    }

    #[inline(always)]
    fn byte_up(self) -> Self {
        // SAFETY: feature: a value exists.
        Self::of(unsafe {
            vreinterpretq_u8_u16(vshlq_n_u16::<8>(vreinterpretq_u16_u8(self.bytes())))
        })
    }

    #[inline(always)]
    fn byte_down(self) -> Self {
        // SAFETY: feature: a value exists.
        Self::of(unsafe {
            vreinterpretq_u8_u16(vshrq_n_u16::<8>(vreinterpretq_u16_u8(self.bytes())))
        })
    }
}
