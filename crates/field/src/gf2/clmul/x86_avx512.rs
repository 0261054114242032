//! Eight words with AVX-512 and carry-less products of 512-bit vectors.
#![expect(unsafe_code, reason = "vector intrinsics")]

use std::arch::x86_64::{
    __m512i, _mm_set_epi64x, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_broadcast_i32x4,
    _mm512_clmulepi64_epi128, _mm512_loadu_si512, _mm512_mask_blend_epi64,
    _mm512_mask_shuffle_i64x2, _mm512_mask_storeu_epi64, _mm512_maskz_loadu_epi64,
    _mm512_permutex2var_epi64, _mm512_permutexvar_epi64, _mm512_set1_epi64, _mm512_setr_epi64,
    _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_shuffle_i64x2, _mm512_slli_epi64,
    _mm512_srli_epi64, _mm512_storeu_si512, _mm512_stream_si512, _mm512_ternarylogic_epi64,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use lanework_arch::{Avx512Vpclmul, Isa};

use super::super::words::{Kernel, Words, sealed};
use super::{Clmul, Product, SHIFTED_OUT, quotient};

const LEN: usize = 8;

/// The truth table of a three-way XOR.
const XOR3: i32 = 0x96;

/// Eight words in one AVX-512 register.
///
/// Invariant: a value is only made from an [`Avx512Vpclmul`] token or from other values, so wherever one exists,
/// so do the instructions.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub struct Avx512Words(__m512i);

impl sealed::Sealed for Avx512Words {}

/// The first `count` places.
#[inline(always)]
const fn first(count: usize) -> u8 {
    if count < LEN { (1 << count) - 1 } else { !0 }
}

/// The places of vector `vector` of eight triples that hold limb `limb`.
const fn places(vector: usize, limb: usize) -> u8 {
    let mut mask = 0;
    let mut place = 0;
    while place < LEN {
        if (LEN * vector + place) % 3 == limb {
            mask |= 1 << place;
        }
        place += 1;
    }
    mask
}

// The functions on raw vectors below are called with the contents of values only.

/// For each place, that of the first vector but for limb `B` of the second and limb `C` of the third.
#[inline(always)]
fn select<const B: u8, const C: u8>(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    // SAFETY: feature: `a` comes from a value.
    unsafe { _mm512_mask_blend_epi64(C, _mm512_mask_blend_epi64(B, a, b), c) }
}

/// The words moved down by `BY` places, the lowest to the top.
#[inline(always)]
fn rotate<const BY: i32>(x: __m512i) -> __m512i {
    // SAFETY: feature: `x` comes from a value.
    unsafe { _mm512_alignr_epi64::<BY>(x, x) }
}

/// Exchanges the off-diagonal blocks of `size` x `size` words of every 2 x 2 group of them.
#[inline(always)]
fn exchange(
    block: &mut [Avx512Words],
    size: usize,
    interleave: impl Fn(__m512i, __m512i) -> (__m512i, __m512i),
) {
    for group in (0..LEN).step_by(2 * size) {
        for i in group..group + size {
            let (lower, upper) = interleave(block[i].0, block[i + size].0);
            (block[i].0, block[i + size].0) = (lower, upper);
        }
    }
}

impl Words for Avx512Words {
    type Token = Avx512Vpclmul;
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Avx512;

    #[inline(always)]
    fn run<K: Kernel>(_: Avx512Vpclmul, kernel: K) -> K::Output {
        #[target_feature(
            enable = "avx2,bmi2,avx512f,avx512bw,avx512dq,avx512vl,pclmulqdq,vpclmulqdq"
        )]
        fn entry<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        // SAFETY: feature: the token.
        unsafe { entry(kernel) }
    }

    #[inline(always)]
    fn splat(_: Avx512Vpclmul, word: u64) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { _mm512_set1_epi64(word as i64) })
    }

    #[inline(always)]
    unsafe fn load(_: Avx512Vpclmul, source: *const u64) -> Self {
        // SAFETY: feature: the token; bounds: the caller's.
        Self(unsafe { _mm512_loadu_si512(source.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64) {
        // SAFETY: feature: `self` exists; bounds: the caller's.
        unsafe { _mm512_storeu_si512(target.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_part(_: Avx512Vpclmul, source: *const u64, count: usize) -> Self {
        // SAFETY: feature: the token; bounds: the caller's; masked places are not read.
        Self(unsafe { _mm512_maskz_loadu_epi64(first(count), source.cast()) })
    }

    #[inline(always)]
    unsafe fn stream(self, target: *mut u64) {
        // SAFETY: feature: `self` exists; bounds, alignment and the fence: the caller's.
        unsafe { _mm512_stream_si512(target.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_part(self, target: *mut u64, count: usize) {
        // SAFETY: feature: `self` exists; bounds: the caller's; masked places are not written.
        unsafe { _mm512_mask_storeu_epi64(target.cast(), first(count), self.0) }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, second: Self, third: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm512_ternarylogic_epi64::<XOR3>(self.0, second.0, third.0) })
    }

    #[inline(always)]
    fn transpose(block: &mut [Self]) {
        assert_eq!(block.len(), LEN, "as many vectors as words");
        exchange(block, 4, |a, b| {
            // SAFETY: feature: values exist.
            unsafe {
                (
                    _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b),
                    _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b),
                )
            }
        });
        exchange(block, 2, |a, b| {
            // SAFETY: feature: values exist.
            unsafe {
                (
                    _mm512_mask_shuffle_i64x2::<0b10_10_00_00>(a, 0b1100_1100, b, b),
                    _mm512_mask_shuffle_i64x2::<0b11_11_01_01>(b, 0b0011_0011, a, a),
                )
            }
        });
        exchange(block, 1, |a, b| {
            // SAFETY: feature: values exist.
            unsafe { (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)) }
        });
    }
}

impl Clmul for Avx512Words {
    const NAME: &'static str = "avx512";
    /// The factor at even and its quotient at odd places.
    type Factor = Self;
    /// Two words for every two places.
    type Sum = Self;

    #[inline(always)]
    fn unzip(self, other: Self) -> (Self, Self) {
        // SAFETY: feature: `self` exists.
        unsafe {
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            (
                Self(_mm512_permutex2var_epi64(self.0, even, other.0)),
                Self(_mm512_permutex2var_epi64(self.0, odd, other.0)),
            )
        }
    }

    // Since 3 and 8 are coprime, the eight words of a limb are at eight different places: they are put together
    // without a shuffle, and limb i of a triple is i places above its limb 0.

    #[inline(always)]
    fn split_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        let (a, b, c) = (a.0, b.0, c.0);
        [
            Self(select::<{ places(1, 0) }, { places(2, 0) }>(a, b, c)),
            Self(rotate::<1>(select::<{ places(1, 1) }, { places(2, 1) }>(
                a, b, c,
            ))),
            Self(rotate::<2>(select::<{ places(1, 2) }, { places(2, 2) }>(
                a, b, c,
            ))),
        ]
    }

    #[inline(always)]
    fn join_triples([a, b, c]: [Self; 3]) -> [Self; 3] {
        let (a, b, c) = (a.0, rotate::<7>(b.0), rotate::<6>(c.0));
        [
            Self(select::<{ places(0, 1) }, { places(0, 2) }>(a, b, c)),
            Self(select::<{ places(1, 1) }, { places(1, 2) }>(a, b, c)),
            Self(select::<{ places(2, 1) }, { places(2, 2) }>(a, b, c)),
        ]
    }

    #[inline(always)]
    fn unzip_triples(self, other: Self) -> (Self, Self) {
        // Place p is that of triple 3 p mod 8.
        // SAFETY: feature: `self` exists.
        unsafe {
            let even = _mm512_setr_epi64(0, 2, 12, 6, 8, 10, 4, 14);
            let odd = _mm512_setr_epi64(3, 5, 15, 1, 11, 13, 7, 9);
            (
                Self(_mm512_permutex2var_epi64(self.0, even, other.0)),
                Self(_mm512_permutex2var_epi64(self.0, odd, other.0)),
            )
        }
    }

    #[inline(always)]
    fn in_order_of_triples(self) -> Self {
        // SAFETY: feature: `self` exists.
        unsafe {
            let order = _mm512_setr_epi64(0, 3, 6, 1, 4, 7, 2, 5);
            Self(_mm512_permutexvar_epi64(order, self.0))
        }
    }

    #[inline(always)]
    fn product(self, other: Self) -> Product<Self> {
        // SAFETY: feature: `self` exists.
        unsafe {
            Product {
                even: Self(_mm512_clmulepi64_epi128::<0x00>(self.0, other.0)),
                odd: Self(_mm512_clmulepi64_epi128::<0x11>(self.0, other.0)),
            }
        }
    }

    #[inline(always)]
    fn reduce(product: Product<Self>) -> Self {
        let (even, odd) = (product.even.0, product.odd.0);
        // SAFETY: feature: `product` holds values.
        unsafe {
            let table = _mm512_broadcast_i32x4(_mm_set_epi64x(
                (SHIFTED_OUT >> 64) as i64,
                SHIFTED_OUT as i64,
            ));
            let low = _mm512_unpacklo_epi64(even, odd);
            let high = _mm512_unpackhi_epi64(even, odd);
            let out = _mm512_shuffle_epi8(table, _mm512_srli_epi64::<60>(high));
            let y = _mm512_xor_si512(high, _mm512_add_epi64(high, high));
            let low = _mm512_xor_si512(low, out);
            Self(_mm512_ternarylogic_epi64::<XOR3>(
                low,
                y,
                _mm512_slli_epi64::<3>(y),
            ))
        }
    }

    #[inline(always)]
    fn prepare(_: Avx512Vpclmul, word: u64) -> Self {
        // SAFETY: feature: the token.
        unsafe {
            let pair = _mm_set_epi64x(quotient(word) as i64, word as i64);
            Self(_mm512_broadcast_i32x4(pair))
        }
    }

    #[inline(always)]
    fn mul_by(self, factor: Self) -> Self {
        let (x, c) = (self.0, factor.0);
        // SAFETY: feature: `self` exists.
        unsafe {
            let low = _mm512_unpacklo_epi64(
                _mm512_clmulepi64_epi128::<0x00>(x, c),
                _mm512_clmulepi64_epi128::<0x01>(x, c),
            );
            let z = _mm512_unpackhi_epi64(
                _mm512_clmulepi64_epi128::<0x10>(x, c),
                _mm512_clmulepi64_epi128::<0x11>(x, c),
            );
            let y = _mm512_xor_si512(z, _mm512_add_epi64(z, z));
            Self(_mm512_ternarylogic_epi64::<XOR3>(
                low,
                y,
                _mm512_slli_epi64::<3>(y),
            ))
        }
    }

    #[inline(always)]
    fn no_products(_: Avx512Vpclmul) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { _mm512_setzero_si512() })
    }

    #[inline(always)]
    fn add_products(sum: Self, left: Self, right: Self) -> Self {
        let product = left.product(right);
        sum.xor3(product.even, product.odd)
    }

    #[inline(always)]
    fn total(sum: Self) -> u128 {
        let mut words = [0; LEN];
        sum.to_slice(&mut words);
        let pairs = words.chunks_exact(2);
        pairs.fold(0, |total, pair| {
            total ^ (pair[0] as u128 | (pair[1] as u128) << 64)
        })
    }
}
