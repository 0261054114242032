//! Products on any CPU, through products of integers.

use lanework_arch::{Isa, Portable};

use super::super::words::{Kernel, Words, sealed};
use super::{Clmul, Product};

/// The bits of a word whose places are `class` mod 4.
const fn class(word: u64, class: u32) -> u64 {
    word & (0x1111_1111_1111_1111 << class)
}

/// The carry-less product.
///
/// Of words with bits at every fourth place only, the product of integers has as coefficients the number of pairs
/// of bits that meet there, in four bits each, so long as no more than fifteen meet; the lowest of the four is
/// the carry-less coefficient. One factor therefore goes without its highest bits.
#[inline]
pub(crate) const fn product(a: u64, b: u64) -> u128 {
    const MASK: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;
    let low = a & ((1 << 60) - 1);
    let [a0, a1, a2, a3] = [class(low, 0), class(low, 1), class(low, 2), class(low, 3)];
    let [b0, b1, b2, b3] = [class(b, 0), class(b, 1), class(b, 2), class(b, 3)];
    let c0 = times(a0, b0) ^ times(a1, b3) ^ times(a2, b2) ^ times(a3, b1);
    let c1 = times(a0, b1) ^ times(a1, b0) ^ times(a2, b3) ^ times(a3, b2);
    let c2 = times(a0, b2) ^ times(a1, b1) ^ times(a2, b0) ^ times(a3, b3);
    let c3 = times(a0, b3) ^ times(a1, b2) ^ times(a2, b1) ^ times(a3, b0);
    let sum = (c0 & MASK) ^ (c1 & (MASK << 1)) ^ (c2 & (MASK << 2)) ^ (c3 & (MASK << 3));
    sum ^ high(a, b, 60) ^ high(a, b, 61) ^ high(a, b, 62) ^ high(a, b, 63)
}

const fn times(a: u64, b: u64) -> u128 {
    a as u128 * b as u128
}

/// `b` times the bit of `a` at a place.
const fn high(a: u64, b: u64, place: u32) -> u128 {
    ((b & (a >> place & 1).wrapping_neg()) as u128) << place
}

/// The carry-less square: the bits with zeros between them.
#[inline]
pub(crate) const fn square(a: u64) -> u128 {
    spread(a as u32) as u128 | (spread((a >> 32) as u32) as u128) << 64
}

const fn spread(half: u32) -> u64 {
    let mut x = half as u64;
    x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
    x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | (x << 2)) & 0x3333_3333_3333_3333;
    (x | (x << 1)) & 0x5555_5555_5555_5555
}

/// The element of K that a polynomial stands for.
#[inline]
pub(crate) const fn reduce(x: u128) -> u64 {
    let high = (x >> 64) as u64;
    let z = super::quotient(high);
    let y = z ^ (z << 1);
    x as u64 ^ y ^ (y << 3)
}

/// One word.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct PortableWords(u64);

impl sealed::Sealed for PortableWords {}

impl Words for PortableWords {
    type Token = Portable;
    const LEN: usize = 1;
    const ISA: Isa = Isa::Portable;

    #[inline(always)]
    fn run<K: Kernel>(_: Portable, kernel: K) -> K::Output {
        kernel.run()
    }

    #[inline(always)]
    fn splat(_: Portable, word: u64) -> Self {
        Self(word)
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn load(_: Portable, source: *const u64) -> Self {
        // SAFETY: bounds: the caller's.
        Self(unsafe { source.read_unaligned() })
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn store(self, target: *mut u64) {
        // SAFETY: bounds: the caller's.
        unsafe { target.write_unaligned(self.0) }
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn load_part(token: Portable, source: *const u64, count: usize) -> Self {
        if count == 0 {
            return Self(0);
        }
        // SAFETY: bounds: the caller's, for at least one word.
        unsafe { Self::load(token, source) }
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn stream(self, target: *mut u64) {
        // SAFETY: bounds: the caller's.
        unsafe { self.store(target) }
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn store_part(self, target: *mut u64, count: usize) {
        if count > 0 {
            // SAFETY: bounds: the caller's, for at least one word.
            unsafe { self.store(target) }
        }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn xor3(self, second: Self, third: Self) -> Self {
        Self(self.0 ^ second.0 ^ third.0)
    }

    #[inline(always)]
    fn transpose(block: &mut [Self]) {
        assert_eq!(block.len(), 1, "as many vectors as words");
    }
}

impl Clmul for PortableWords {
    const NAME: &'static str = "portable";
    type Factor = u64;
    type Sum = u128;

    #[inline(always)]
    fn unzip(self, other: Self) -> (Self, Self) {
        (self, other)
    }

    #[inline(always)]
    fn split_triples(triples: [Self; 3]) -> [Self; 3] {
        triples
    }

    #[inline(always)]
    fn join_triples(limbs: [Self; 3]) -> [Self; 3] {
        limbs
    }

    #[inline(always)]
    fn unzip_triples(self, other: Self) -> (Self, Self) {
        (self, other)
    }

    #[inline(always)]
    fn in_order_of_triples(self) -> Self {
        self
    }

    #[inline(always)]
    fn product(self, other: Self) -> Product<Self> {
        let product = product(self.0, other.0);
        Product {
            even: Self(product as u64),
            odd: Self((product >> 64) as u64),
        }
    }

    #[inline(always)]
    fn reduce(product: Product<Self>) -> Self {
        Self(reduce(
            product.even.0 as u128 | (product.odd.0 as u128) << 64,
        ))
    }

    #[inline(always)]
    fn prepare(_: Portable, word: u64) -> u64 {
        word
    }

    #[inline(always)]
    fn mul_by(self, factor: u64) -> Self {
        Self(reduce(product(self.0, factor)))
    }

    #[inline(always)]
    fn no_products(_: Portable) -> u128 {
        0
    }

    #[inline(always)]
    fn add_products(sum: u128, left: Self, right: Self) -> u128 {
        sum ^ product(left.0, right.0)
    }

    #[inline(always)]
    fn total(sum: u128) -> u128 {
        sum
    }
}
