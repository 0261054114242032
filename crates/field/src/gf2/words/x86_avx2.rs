//! Four words with AVX2.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::{
    __m256i, _mm256_cmpgt_epi64, _mm256_loadu_si256, _mm256_maskload_epi64, _mm256_maskstore_epi64,
    _mm256_permute2x128_si256, _mm256_set1_epi64x, _mm256_setr_epi64x, _mm256_storeu_si256,
    _mm256_stream_si256, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64, _mm256_xor_si256,
};
use std::marker::PhantomData;

use lanework_arch::{Avx2, Avx2Gfni, Avx2Pclmul, Avx2Vpclmul, Isa};

use super::{Kernel, Words, sealed, tokens};

const LEN: usize = 4;

tokens!(
    /// A proof of AVX2 and of what comes with it.
    Avx2Token {
        Avx2: "avx2,bmi2",
        Avx2Gfni: "avx2,bmi2,gfni",
        Avx2Pclmul: "avx2,bmi2,pclmulqdq",
        Avx2Vpclmul: "avx2,bmi2,pclmulqdq,vpclmulqdq",
    }
);

/// Four words in one register, multiplied as the token `T` allows.
///
/// Invariant: a value is only made from a token or from other values, so wherever one exists, so do the
/// instructions.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct Avx2Vector<T: Avx2Token>(pub(crate) __m256i, PhantomData<T>);

impl<T: Avx2Token> sealed::Sealed for Avx2Vector<T> {}

impl<T: Avx2Token> Avx2Vector<T> {
    /// The words of `vector`, which was made with a token or a value in hand.
    #[inline(always)]
    pub(crate) fn new(vector: __m256i) -> Self {
        Self(vector, PhantomData)
    }
}

/// All ones at the first `count` places.
#[inline(always)]
fn first(count: usize) -> __m256i {
    // SAFETY: feature: called with a token or a value in hand.
    unsafe {
        _mm256_cmpgt_epi64(
            _mm256_set1_epi64x(count.min(LEN) as i64),
            _mm256_setr_epi64x(0, 1, 2, 3),
        )
    }
}

impl<T: Avx2Token> Words for Avx2Vector<T> {
    type Token = T;
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Avx2;

    #[inline(always)]
    fn run<K: Kernel>(token: T, kernel: K) -> K::Output {
        token.run(kernel)
    }

    #[inline(always)]
    fn splat(_: T, word: u64) -> Self {
        // SAFETY: feature: the token.
        Self::new(unsafe { _mm256_set1_epi64x(word as i64) })
    }

    #[inline(always)]
    unsafe fn load(_: T, source: *const u64) -> Self {
        // SAFETY: feature: the token. bounds: the caller's.
        Self::new(unsafe { _mm256_loadu_si256(source.cast()) })
    }

    #[inline(always)]
    unsafe fn load_part(_: T, source: *const u64, count: usize) -> Self {
        // SAFETY: feature: the token. bounds: the caller's, as masked places are not read.
        Self::new(unsafe { _mm256_maskload_epi64(source.cast(), first(count)) })
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64) {
        // SAFETY: feature: a value exists. bounds: the caller's.
        unsafe { _mm256_storeu_si256(target.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u64) {
        // SAFETY: feature: a value exists. bounds, alignment and the fence: the caller's.
        unsafe { _mm256_stream_si256(target.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_part(self, target: *mut u64, count: usize) {
        // SAFETY: feature: a value exists. bounds: the caller's, as masked places are not written.
        unsafe { _mm256_maskstore_epi64(target.cast(), first(count), self.0) }
    }

    #[inline(always)]
    fn transpose(block: &mut [Self]) {
        let block: &mut [Self; LEN] = block.try_into().expect("as many vectors as words");
        let [a, b, c, d] = [block[0].0, block[1].0, block[2].0, block[3].0];
        // SAFETY: feature: values exist.
        unsafe {
            let (ab_even, ab_odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            let (cd_even, cd_odd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
            block[0].0 = _mm256_permute2x128_si256::<0x20>(ab_even, cd_even);
            block[1].0 = _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd);
            block[2].0 = _mm256_permute2x128_si256::<0x31>(ab_even, cd_even);
            block[3].0 = _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd);
        }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: a value exists.
        Self::new(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b.xor(c))
    }
}
