//! Sixteen messages with AVX-512.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm512_add_epi32, _mm512_castsi256_si512,
    _mm512_inserti64x4, _mm512_ror_epi32, _mm512_set1_epi32, _mm512_shuffle_i32x4,
    _mm512_storeu_si512, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32,
    _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use lanework_arch::Avx512;

use super::Function;
use super::body::{self, Lanes};
use super::layout::Layout;
use super::spec::{Blake2sMixing, Blake3Mixing};
use super::table::{Backend, Rows};

/// A word of each of sixteen messages.
///
/// Invariant: a value is only made from a token or from other values, so wherever one exists, so do the
/// instructions.
#[derive(Copy, Clone)]
struct Avx512Lanes(__m512i);

impl Lanes for Avx512Lanes {
    type Token = Avx512;

    const LEN: usize = 16;

    #[inline(always)]
    fn splat(_: Avx512, word: u32) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { _mm512_set1_epi32(word as i32) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm512_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn rotate<const BITS: u32>(self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe {
            match BITS {
                16 => _mm512_ror_epi32::<16>(self.0),
                12 => _mm512_ror_epi32::<12>(self.0),
                8 => _mm512_ror_epi32::<8>(self.0),
                _ => _mm512_ror_epi32::<7>(self.0),
            }
        })
    }

    #[inline(always)]
    unsafe fn load(_: Avx512, blocks: *const u8, pitch: usize) -> [Self; 16] {
        // SAFETY: feature: the token; bounds: the caller vouches for the blocks.
        unsafe { load(blocks, pitch) }.map(Self)
    }

    #[inline(always)]
    unsafe fn store(state: [Self; 8], digests: *mut u8) {
        // SAFETY: feature: `state` exists; bounds: the caller vouches for the digests.
        unsafe { store(state.map(|word| word.0), digests) };
    }
}

/// Four vectors of four words, transposed within each quarter.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(ab_low, cd_low),
        _mm512_unpackhi_epi64(ab_low, cd_low),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Word w of each of sixteen blocks.
///
/// # Safety
/// The blocks are readable.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load(blocks: *const u8, pitch: usize) -> [__m512i; 16] {
    // Eight words of rows i and i + 4 side by side.
    let rows = |first: usize, at: usize| {
        transpose(std::array::from_fn(|i| {
            let low: *const __m256i = blocks.wrapping_add((first + i) * pitch + 32 * at).cast();
            let high: *const __m256i = blocks
                .wrapping_add((first + i + 4) * pitch + 32 * at)
                .cast();
            // SAFETY: bounds: the caller vouches for the blocks.
            unsafe {
                let low = _mm512_castsi256_si512(_mm256_loadu_si256(low));
                _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(high))
            }
        }))
    };
    let half = |at: usize| -> [__m512i; 8] {
        let (a, b) = (rows(0, at), rows(8, at));
        std::array::from_fn(|i| match i {
            0..4 => _mm512_shuffle_i32x4::<0x88>(a[i], b[i]),
            _ => _mm512_shuffle_i32x4::<0xdd>(a[i - 4], b[i - 4]),
        })
    };
    let halves = [half(0), half(1)];
    std::array::from_fn(|i| halves[i / 8][i % 8])
}

/// Writes sixteen digests.
///
/// # Safety
/// There is room for them.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store(state: [__m512i; 8], digests: *mut u8) {
    let [a, b, c, d, e, f, g, h] = state;
    let (low, high) = (transpose([a, b, c, d]), transpose([e, f, g, h]));
    for pair in 0..2 {
        let halves = |i: usize| {
            let (low, high) = (low[2 * pair + i], high[2 * pair + i]);
            (
                _mm512_shuffle_i32x4::<0x44>(low, high),
                _mm512_shuffle_i32x4::<0xee>(low, high),
            )
        };
        let ((a, c), (b, d)) = (halves(0), halves(1));
        let pairs = [
            _mm512_shuffle_i32x4::<0x88>(a, b),
            _mm512_shuffle_i32x4::<0xdd>(a, b),
            _mm512_shuffle_i32x4::<0x88>(c, d),
            _mm512_shuffle_i32x4::<0xdd>(c, d),
        ];
        for (i, digests_2) in pairs.into_iter().enumerate() {
            // SAFETY: bounds: the caller vouches for sixteen digests.
            unsafe {
                _mm512_storeu_si512(digests.wrapping_add(128 * i + 64 * pair).cast(), digests_2)
            };
        }
    }
}

/// The back end.
#[derive(Copy, Clone, Debug)]
pub(super) struct Avx512Hash(Avx512);

impl Avx512Hash {
    pub(super) fn new(token: Avx512) -> Self {
        Self(token)
    }
}

impl Backend for Avx512Hash {
    fn name(&self) -> &'static str {
        "avx512"
    }

    fn lanes(&self) -> usize {
        Avx512Lanes::LEN
    }

    unsafe fn hash(&self, function: Function, layout: &Layout, rows: &Rows) {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn blake3(token: Avx512, layout: &Layout, rows: &Rows) {
            // SAFETY: as the caller's.
            unsafe { body::hash::<Blake3Mixing, Avx512Lanes>(token, layout, rows) };
        }
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn blake2s(token: Avx512, layout: &Layout, rows: &Rows) {
            // SAFETY: as the caller's.
            unsafe { body::hash::<Blake2sMixing, Avx512Lanes>(token, layout, rows) };
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
