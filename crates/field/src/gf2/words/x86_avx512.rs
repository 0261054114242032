//! Eight words with AVX-512.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::{
    __m512i, _mm512_loadu_epi64, _mm512_mask_storeu_epi64, _mm512_maskz_loadu_epi64,
    _mm512_set1_epi64, _mm512_shuffle_i64x2, _mm512_storeu_epi64, _mm512_stream_si512,
    _mm512_ternarylogic_epi64, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64, _mm512_xor_si512,
};
use std::marker::PhantomData;

use lanework_arch::{Avx512, Avx512Gfni, Avx512Vpclmul, Isa};

use super::{Kernel, Words, sealed, tokens};

const LEN: usize = 8;

/// The truth table of a sum of three.
pub(crate) const XOR3: i32 = 0x96;

tokens!(
    /// A proof of AVX-512 and of what comes with it.
    Avx512Token {
        Avx512: "avx512f,avx512bw,avx512dq,avx512vl",
        Avx512Gfni: "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni",
        Avx512Vpclmul: "avx2,bmi2,avx512f,avx512bw,avx512dq,avx512vl,pclmulqdq,vpclmulqdq",
    }
);

/// Eight words in one register, multiplied as the token `T` allows.
///
/// Invariant: a value is only made from a token or from other values, so wherever one exists, so do the
/// instructions.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct Avx512Vector<T: Avx512Token>(pub(crate) __m512i, PhantomData<T>);

impl<T: Avx512Token> sealed::Sealed for Avx512Vector<T> {}

impl<T: Avx512Token> Avx512Vector<T> {
    /// The words of `vector`, which was made with a token or a value in hand.
    #[inline(always)]
    pub(crate) fn new(vector: __m512i) -> Self {
        Self(vector, PhantomData)
    }
}

/// The first `count` places.
#[inline(always)]
const fn first(count: usize) -> u8 {
    if count < LEN { (1 << count) - 1 } else { !0 }
}

impl<T: Avx512Token> Words for Avx512Vector<T> {
    type Token = T;
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Avx512;

    #[inline(always)]
    fn run<K: Kernel>(token: T, kernel: K) -> K::Output {
        token.run(kernel)
    }

    #[inline(always)]
    fn splat(_: T, word: u64) -> Self {
        // SAFETY: feature: the token.
        Self::new(unsafe { _mm512_set1_epi64(word as i64) })
    }

    #[inline(always)]
    unsafe fn load(_: T, source: *const u64) -> Self {
        // SAFETY: feature: the token. bounds: the caller's.
        Self::new(unsafe { _mm512_loadu_epi64(source.cast()) })
    }

    #[inline(always)]
    unsafe fn load_part(_: T, source: *const u64, count: usize) -> Self {
        // SAFETY: feature: the token. bounds: the caller's, as masked places are not read.
        Self::new(unsafe { _mm512_maskz_loadu_epi64(first(count), source.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64) {
        // SAFETY: feature: a value exists. bounds: the caller's.
        unsafe { _mm512_storeu_epi64(target.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u64) {
        // SAFETY: feature: a value exists. bounds, alignment and the fence: the caller's.
        unsafe { _mm512_stream_si512(target.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_part(self, target: *mut u64, count: usize) {
        // SAFETY: feature: a value exists. bounds: the caller's, as masked places are not written.
        unsafe { _mm512_mask_storeu_epi64(target.cast(), first(count), self.0) }
    }

    #[inline(always)]
    fn transpose(block: &mut [Self]) {
        let block: &mut [Self; LEN] = block.try_into().expect("as many vectors as words");
        // SAFETY: feature: values exist.
        unsafe {
            let mut pairs = [block[0].0; LEN];
            for i in [0, 2, 4, 6] {
                pairs[i] = _mm512_unpacklo_epi64(block[i].0, block[i + 1].0);
                pairs[i + 1] = _mm512_unpackhi_epi64(block[i].0, block[i + 1].0);
            }
            // Pairs of pairs within and across halves.
            for i in [0, 1] {
                let (a, b, c, d) = (pairs[i], pairs[i + 2], pairs[i + 4], pairs[i + 6]);
                let ab_even = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
                let ab_odd = _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
                let cd_even = _mm512_shuffle_i64x2::<0b10_00_10_00>(c, d);
                let cd_odd = _mm512_shuffle_i64x2::<0b11_01_11_01>(c, d);
                block[i].0 = _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_even, cd_even);
                block[i + 2].0 = _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_odd, cd_odd);
                block[i + 4].0 = _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_even, cd_even);
                block[i + 6].0 = _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_odd, cd_odd);
            }
        }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm512_ternarylogic_epi64::<XOR3>(self.0, b.0, c.0) })
    }
}
