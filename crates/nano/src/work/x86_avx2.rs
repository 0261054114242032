//! Four nonces at a time with AVX2.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::*;

use lanework_arch::{Avx2, Isa};

use super::body::{self, Lanes};
use super::precomputed::Constants;
use super::table::Backend;

#[derive(Copy, Clone)]
struct V(__m256i);

impl Lanes for V {
    type Token = Avx2;

    #[inline(always)]
    fn splat(_: Avx2, word: u64) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { _mm256_set1_epi64x(word as i64) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm256_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn xor_rotate<const BITS: u32>(self, other: Self) -> Self {
        let x = self.xor(other).0;
        // SAFETY: feature: `self` exists.
        Self(unsafe {
            match BITS {
                32 => _mm256_shuffle_epi32::<0b10_11_00_01>(x),
                24 => _mm256_shuffle_epi8(
                    x,
                    _mm256_setr_epi8(
                        3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10, 3, 4, 5, 6, 7, 0, 1,
                        2, 11, 12, 13, 14, 15, 8, 9, 10,
                    ),
                ),
                16 => _mm256_shuffle_epi8(
                    x,
                    _mm256_setr_epi8(
                        2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9, 2, 3, 4, 5, 6, 7, 0,
                        1, 10, 11, 12, 13, 14, 15, 8, 9,
                    ),
                ),
                _ => _mm256_or_si256(_mm256_add_epi64(x, x), _mm256_srli_epi64::<63>(x)),
            }
        })
    }
}

#[derive(Copy, Clone, Debug)]
pub(super) struct Avx2Search(pub(super) Avx2);

impl Backend for Avx2Search {
    fn name(&self) -> &'static str {
        "avx2"
    }

    fn isa(&self) -> Isa {
        Isa::Avx2
    }

    fn lanes(&self) -> usize {
        4
    }

    fn bundle_len(&self) -> usize {
        4
    }

    fn scan(&self, constants: &Constants, start: u64, bundles: u64, threshold: u64) -> Option<u64> {
        #[target_feature(enable = "avx2")]
        fn entry(
            token: Avx2,
            constants: &Constants,
            start: u64,
            bundles: u64,
            threshold: u64,
        ) -> Option<u64> {
            let mut nonces = _mm256_add_epi64(
                _mm256_set1_epi64x(start as i64),
                _mm256_setr_epi64x(0, 1, 2, 3),
            );
            let sign = _mm256_set1_epi64x(i64::MIN);
            let thr = _mm256_xor_si256(_mm256_set1_epi64x(threshold as i64), sign);
            for i in 0..bundles {
                let v = body::values(token, constants, V(nonces)).0;
                let less = _mm256_cmpgt_epi64(thr, _mm256_xor_si256(v, sign));
                if _mm256_movemask_pd(_mm256_castsi256_pd(less)) != 0b1111 {
                    return Some(i);
                }
                nonces = _mm256_add_epi64(nonces, _mm256_set1_epi64x(4));
            }
            None
        }
        // SAFETY: feature: the token.
        unsafe { entry(self.0, constants, start, bundles, threshold) }
    }

    fn values(&self, constants: &Constants, start: u64, out: &mut [u64]) {
        #[target_feature(enable = "avx2")]
        fn entry(token: Avx2, constants: &Constants, start: u64, out: &mut [u64]) {
            let mut nonces = _mm256_add_epi64(
                _mm256_set1_epi64x(start as i64),
                _mm256_setr_epi64x(0, 1, 2, 3),
            );
            for c in out.chunks_exact_mut(4) {
                let v = body::values(token, constants, V(nonces)).0;
                // SAFETY: bounds
                unsafe { _mm256_storeu_si256(c.as_mut_ptr().cast(), v) };
                nonces = _mm256_add_epi64(nonces, _mm256_set1_epi64x(4));
            }
        }
        // SAFETY: feature: the token.
        unsafe { entry(self.0, constants, start, out) }
    }
}
