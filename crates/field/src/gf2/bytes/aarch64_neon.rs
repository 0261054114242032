//! Two words with Advanced SIMD, by lookups in tables.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::aarch64::{
    uint8x16_t, vandq_u8, veorq_u8, vld1q_u8, vld1q_u64, vqtbl1q_u8, vreinterpretq_u8_u16,
    vreinterpretq_u8_u64, vreinterpretq_u16_u8, vreinterpretq_u64_u8, vshlq_n_u16, vshrq_n_u8,
    vshrq_n_u16,
};

use lanework_arch::Neon;

use super::super::words::NeonVector;
use super::{Shuffle, Table};

impl NeonVector<Neon> {
    #[inline(always)]
    fn bytes(self) -> uint8x16_t {
        // SAFETY: feature: a value exists.
        unsafe { vreinterpretq_u8_u64(self.0) }
    }

    /// The words of `bytes`, which come from a value.
    #[inline(always)]
    fn of(bytes: uint8x16_t) -> Self {
        // SAFETY: feature: the vector comes from a value.
        Self::new(unsafe { vreinterpretq_u64_u8(bytes) })
    }
}

impl Shuffle for NeonVector<Neon> {
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
        Self::new(unsafe { vld1q_u64(words.as_ptr()) })
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
