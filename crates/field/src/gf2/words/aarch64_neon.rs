//! Two words with Advanced SIMD.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::aarch64::{
    uint64x2_t, vdupq_n_u64, veorq_u64, vld1q_lane_u64, vld1q_u64, vst1q_lane_u64, vst1q_u64,
    vtrn1q_u64, vtrn2q_u64,
};
use std::marker::PhantomData;

use lanework_arch::{Isa, Neon, NeonPmull};

use super::{Kernel, Words, sealed, tokens};

const LEN: usize = 2;

tokens!(
    /// A proof of Advanced SIMD and of what comes with it.
    NeonToken {
        Neon: "neon",
        NeonPmull: "neon,aes",
    }
);

/// Two words in one register, multiplied as the token `T` allows.
///
/// Invariant: a value is only made from a token or from other values, so wherever one exists, so do the
/// instructions.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct NeonVector<T: NeonToken>(pub(crate) uint64x2_t, PhantomData<T>);

impl<T: NeonToken> sealed::Sealed for NeonVector<T> {}

impl<T: NeonToken> NeonVector<T> {
    /// The words of `vector`, which was made with a token or a value in hand.
    #[inline(always)]
    pub(crate) fn new(vector: uint64x2_t) -> Self {
        Self(vector, PhantomData)
    }
}

impl<T: NeonToken> Words for NeonVector<T> {
    type Token = T;
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Neon;

    #[inline(always)]
    fn run<K: Kernel>(token: T, kernel: K) -> K::Output {
        token.run(kernel)
    }

    #[inline(always)]
    fn splat(_: T, word: u64) -> Self {
        // SAFETY: feature: the token.
        Self::new(unsafe { vdupq_n_u64(word) })
    }

    #[inline(always)]
    unsafe fn load(_: T, source: *const u64) -> Self {
        // SAFETY: feature: the token. bounds: the caller's.
        Self::new(unsafe { vld1q_u64(source) })
    }

    #[inline(always)]
    unsafe fn load_part(token: T, source: *const u64, count: usize) -> Self {
        // SAFETY: feature: the token. bounds: the caller's, for as many words as each case reads.
        unsafe {
            match count {
                0 => Self::splat(token, 0),
                1 => Self::new(vld1q_lane_u64::<0>(source, vdupq_n_u64(0))),
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
        *block = unsafe { [Self::new(vtrn1q_u64(a, b)), Self::new(vtrn2q_u64(a, b))] };
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { veorq_u64(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b.xor(c))
    }
}
