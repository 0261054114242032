//! Two words on any CPU.
//!
//! The product of bytes goes through the bits of the constant from the highest: the sum so far times z, plus the
//! other factor where the bit is set. That is written byte by byte, in loops of sixteen that compilers turn into
//! vectors.

use lanework_arch::{Isa, Portable};

use super::super::spec::BYTE_MODULUS;
use super::super::words::{Kernel, Words, sealed};
use super::super::{B64, T64};
use super::{Pattern, TowerWords, WidePattern};

const LEN: usize = 2;

/// Two words.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct PortableBytes([u64; LEN]);

impl sealed::Sealed for PortableBytes {}

impl Words for PortableBytes {
    type Token = Portable;
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Portable;

    #[inline(always)]
    fn run<K: Kernel>(_: Portable, kernel: K) -> K::Output {
        kernel.run()
    }

    #[inline(always)]
    fn splat(_: Portable, word: u64) -> Self {
        Self([word; LEN])
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn load(_: Portable, source: *const u64) -> Self {
        // SAFETY: bounds: the caller's.
        Self(unsafe { source.cast::<[u64; LEN]>().read_unaligned() })
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn load_part(token: Portable, source: *const u64, count: usize) -> Self {
        // SAFETY: bounds: the caller's, for as many words as each case reads.
        unsafe {
            match count {
                0 => Self([0; LEN]),
                1 => Self([source.read_unaligned(), 0]),
                _ => Self::load(token, source),
            }
        }
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn store(self, target: *mut u64) {
        // SAFETY: bounds: the caller's.
        unsafe { target.cast::<[u64; LEN]>().write_unaligned(self.0) }
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
        // SAFETY: bounds: the caller's, for as many words as each case writes.
        unsafe {
            match count {
                0 => {}
                1 => target.write_unaligned(self.0[0]),
                _ => self.store(target),
            }
        }
    }

    #[inline(always)]
    fn transpose(block: &mut [Self]) {
        let block: &mut [Self; LEN] = block.try_into().expect("as many vectors as words");
        let [Self([a, b]), Self([c, d])] = *block;
        *block = [Self([a, c]), Self([b, d])];
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b.xor(c))
    }
}

/// The bytes of two words.
type Bytes = [u8; 16];

#[inline(always)]
fn bytes([a, b]: [u64; LEN]) -> Bytes {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&a.to_le_bytes());
    bytes[8..].copy_from_slice(&b.to_le_bytes());
    bytes
}

/// `N` patterns of bytes, bit by bit from the highest: all ones where the bit is set.
#[derive(Copy, Clone, Debug)]
#[repr(C, align(16))]
pub struct Masks<const N: usize>([[Bytes; N]; 8]);

impl<const N: usize> Masks<N> {
    #[inline(always)]
    fn new(patterns: &[u64; N]) -> Self {
        let mut masks = [[[0; 16]; N]; 8];
        for i in 0..8 {
            for k in 0..N {
                let bits = (patterns[k] >> (7 - i)) & 0x0101_0101_0101_0101;
                masks[i][k] = bytes([(bits << 8).wrapping_sub(bits); LEN]);
            }
        }
        Self(masks)
    }

    /// The sum of the products with vectors.
    #[inline(always)]
    fn products(&self, vectors: &[Bytes; N]) -> [u64; LEN] {
        let mut sums = [0; 16];
        for place in 0..16 {
            let mut sum = 0_u8;
            for i in 0..8 {
                let carry = (sum as i8 >> 7) as u8 & BYTE_MODULUS;
                sum = (sum << 1) ^ carry;
                for k in 0..N {
                    sum ^= vectors[k][place] & self.0[i][k][place];
                }
            }
            sums[place] = sum;
        }
        let (mut a, mut b) = ([0; 8], [0; 8]);
        a.copy_from_slice(&sums[..8]);
        b.copy_from_slice(&sums[8..]);
        [u64::from_le_bytes(a), u64::from_le_bytes(b)]
    }
}

/// Each word of a pattern twice.
#[inline(always)]
fn twice(word: u32) -> u64 {
    word as u64 | (word as u64) << 32
}

/// Byte i exchanged with byte i xor 1.
#[inline(always)]
fn exchange_1(x: u64) -> u64 {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    (x >> 8) & EVEN | (x & EVEN) << 8
}

/// Byte i exchanged with byte i xor 2.
#[inline(always)]
fn exchange_2(x: u64) -> u64 {
    const EVEN: u64 = 0x0000_ffff_0000_ffff;
    (x >> 16) & EVEN | (x & EVEN) << 16
}

impl PortableBytes {
    /// The exchanges of bytes 0 to 3.
    #[inline(always)]
    fn exchanges([a, b]: [u64; LEN]) -> [Bytes; 4] {
        let (a2, b2) = (exchange_2(a), exchange_2(b));
        [
            bytes([a, b]),
            bytes([exchange_1(a), exchange_1(b)]),
            bytes([a2, b2]),
            bytes([exchange_1(a2), exchange_1(b2)]),
        ]
    }
}

impl TowerWords for PortableBytes {
    const NAME: &'static str = "portable";
    type One = Masks<1>;
    type Two = Masks<2>;
    type Four = Masks<4>;
    type Eight = Masks<8>;

    #[inline(always)]
    fn one(_: Portable, pattern: &Pattern) -> Masks<1> {
        Masks::new(&[twice(pattern.0[0])])
    }

    #[inline(always)]
    fn two(_: Portable, pattern: &Pattern) -> Masks<2> {
        Masks::new(&[twice(pattern.0[0]), twice(pattern.0[1])])
    }

    #[inline(always)]
    fn four(_: Portable, pattern: &Pattern) -> Masks<4> {
        let [a, b, c, d] = pattern.0;
        Masks::new(&[twice(a), twice(b), twice(c), twice(d)])
    }

    #[inline(always)]
    fn eight(_: Portable, pattern: &WidePattern) -> Masks<8> {
        Masks::new(&pattern.0)
    }

    #[inline(always)]
    fn add_one(self, constant: &Masks<1>, v: Self) -> Self {
        self.xor(Self(constant.products(&[bytes(v.0)])))
    }

    #[inline(always)]
    fn add_two(self, constant: &Masks<2>, v: Self) -> Self {
        let [a, b] = v.0;
        let exchanged = [exchange_1(a), exchange_1(b)];
        self.xor(Self(constant.products(&[bytes(v.0), bytes(exchanged)])))
    }

    #[inline(always)]
    fn add_four(self, constant: &Masks<4>, v: Self) -> Self {
        self.xor(Self(constant.products(&Self::exchanges(v.0))))
    }

    #[inline(always)]
    fn add_eight(self, constant: &Masks<8>, v: Self) -> Self {
        let [a, b] = v.0;
        let lower = Self::exchanges(v.0);
        let upper = Self::exchanges([a.rotate_left(32), b.rotate_left(32)]);
        let vectors = [
            lower[0], lower[1], lower[2], lower[3], upper[0], upper[1], upper[2], upper[3],
        ];
        self.xor(Self(constant.products(&vectors)))
    }

    #[inline(always)]
    fn polynomial_to_tower(self) -> Self {
        let [a, b] = self.0;
        Self([T64::from(B64(a)).0, T64::from(B64(b)).0])
    }

    #[inline(always)]
    fn tower_to_polynomial(self) -> Self {
        let [a, b] = self.0;
        Self([B64::from(T64(a)).0, B64::from(T64(b)).0])
    }
}
