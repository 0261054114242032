//! Eight messages with AVX2.
//!
//! The sixteen registers hold the state; words of the block are operands in memory. Rotations by whole
//! bytes are shuffles.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_castsi128_si256,
    _mm256_inserti128_si256, _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set1_epi32,
    _mm256_setr_epi8, _mm256_shuffle_epi8, _mm256_slli_epi32, _mm256_srli_epi32,
    _mm256_storeu_si256, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use lanework_arch::Avx2;

use super::Function;
use super::body::{self, Lanes};
use super::layout::Layout;
use super::spec::{Blake2sMixing, Blake3Mixing};
use super::table::{Backend, Rows};

/// A word of each of eight messages.
///
/// Invariant: a value is only made from a token or from other values, so wherever one exists, so do the
/// instructions.
#[derive(Copy, Clone)]
struct Avx2Lanes(__m256i);

impl Lanes for Avx2Lanes {
    type Token = Avx2;

    const LEN: usize = 8;

    #[inline(always)]
    fn splat(_: Avx2, word: u32) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { _mm256_set1_epi32(word as i32) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm256_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn rotate<const BITS: u32>(self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe {
            match BITS {
                16 => rotate_16(self.0),
                8 => rotate_8(self.0),
                12 => rotate_bits::<12, 20>(self.0),
                _ => rotate_bits::<7, 25>(self.0),
            }
        })
    }

    #[inline(always)]
    unsafe fn load(_: Avx2, blocks: *const u8, pitch: usize) -> [Self; 16] {
        // SAFETY: feature: the token; bounds: the caller vouches for the blocks.
        unsafe { load(blocks, pitch) }.map(Self)
    }

    #[inline(always)]
    unsafe fn store(state: [Self; 8], digests: *mut u8) {
        // SAFETY: feature: `state` exists; bounds: the caller vouches for the digests.
        unsafe { store(state.map(|word| word.0), digests) };
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_16(x: __m256i) -> __m256i {
    let from = _mm256_setr_epi8(
        2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9,
        14, 15, 12, 13,
    );
    _mm256_shuffle_epi8(x, from)
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_8(x: __m256i) -> __m256i {
    let from = _mm256_setr_epi8(
        1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8,
        13, 14, 15, 12,
    );
    _mm256_shuffle_epi8(x, from)
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_bits<const RIGHT: i32, const LEFT: i32>(x: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_srli_epi32::<RIGHT>(x), _mm256_slli_epi32::<LEFT>(x))
}

/// Four vectors of four words, transposed within each half.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab_low, cd_low),
        _mm256_unpackhi_epi64(ab_low, cd_low),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Word w of each of eight blocks.
///
/// # Safety
/// The blocks are readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(blocks: *const u8, pitch: usize) -> [__m256i; 16] {
    let quarter = |at: usize| {
        transpose(std::array::from_fn(|i| {
            let low: *const __m128i = blocks.wrapping_add(i * pitch + 16 * at).cast();
            let high: *const __m128i = blocks.wrapping_add((i + 4) * pitch + 16 * at).cast();
            // SAFETY: bounds: the caller vouches for the blocks.
            unsafe {
                let low = _mm256_castsi128_si256(_mm_loadu_si128(low));
                _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(high))
            }
        }))
    };
    let quarters = [quarter(0), quarter(1), quarter(2), quarter(3)];
    std::array::from_fn(|i| quarters[i / 4][i % 4])
}

/// Writes eight digests.
///
/// # Safety
/// There is room for them.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(state: [__m256i; 8], digests: *mut u8) {
    let [a, b, c, d, e, f, g, h] = state;
    let (low, high) = (transpose([a, b, c, d]), transpose([e, f, g, h]));
    for i in 0..4 {
        let digest: *mut __m256i = digests.wrapping_add(32 * i).cast();
        // SAFETY: bounds: the caller vouches for eight digests.
        unsafe {
            let first = _mm256_permute2x128_si256::<0x20>(low[i], high[i]);
            _mm256_storeu_si256(digest, first);
            let second = _mm256_permute2x128_si256::<0x31>(low[i], high[i]);
            _mm256_storeu_si256(digest.wrapping_add(4), second);
        }
    }
}

/// The back end.
#[derive(Copy, Clone, Debug)]
pub(super) struct Avx2Hash(Avx2);

impl Avx2Hash {
    pub(super) fn new(token: Avx2) -> Self {
        Self(token)
    }
}

impl Backend for Avx2Hash {
    fn name(&self) -> &'static str {
        "avx2"
    }

    fn lanes(&self) -> usize {
        Avx2Lanes::LEN
    }

    unsafe fn hash(&self, function: Function, layout: &Layout, rows: &Rows) {
        #[target_feature(enable = "avx2")]
        unsafe fn blake3(token: Avx2, layout: &Layout, rows: &Rows) {
            // SAFETY: as the caller's.
            unsafe { body::hash::<Blake3Mixing, Avx2Lanes>(token, layout, rows) };
        }
        #[target_feature(enable = "avx2")]
        unsafe fn blake2s(token: Avx2, layout: &Layout, rows: &Rows) {
            // SAFETY: as the caller's.
            unsafe { body::hash::<Blake2sMixing, Avx2Lanes>(token, layout, rows) };
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
