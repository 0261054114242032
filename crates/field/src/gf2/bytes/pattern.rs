use std::ops::{BitXor, BitXorAssign};

use super::super::T64;
use super::super::spec::{C1, C2, C3};
use super::super::tower::{mul8, mul16, mul32};

/// The bytes by which a constant of GF(2^32) multiplies words: byte i of word k is `C_k[i]`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Pattern(pub(crate) [u32; 4]);

impl Pattern {
    /// The pattern of `constant`.
    ///
    /// # Panics
    /// If the constant is not in GF(2^32).
    pub const fn new(constant: T64) -> Self {
        assert!(constant.0 >> 32 == 0, "a constant of GF(2^32)");
        let (low, high) = (constant.0 as u16, (constant.0 >> 16) as u16);
        let (scaled, sum) = (mul16(C2, high), low ^ high);
        Self([
            straight(low) | straight(sum) << 16,
            crossed(low) | crossed(sum) << 16,
            straight(scaled) | straight(high) << 16,
            crossed(scaled) | crossed(high) << 16,
        ])
    }

    /// `C_k[i]`.
    #[inline(always)]
    pub(crate) const fn byte(&self, k: usize, i: usize) -> u8 {
        (self.0[k] >> (8 * i)) as u8
    }
}

/// The bytes by which any constant multiplies words: byte i of word k is `C_k[i]`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct WidePattern(pub(crate) [u64; 8]);

impl WidePattern {
    /// The pattern of `constant`.
    pub const fn new(constant: T64) -> Self {
        let (low, high) = (constant.0 as u32, (constant.0 >> 32) as u32);
        let straight = pair(low, low ^ high);
        let crossed = pair(mul32(C3, high), high);
        let mut words = [0; 8];
        let mut k = 0;
        while k < 4 {
            words[k] = straight[k];
            words[4 + k] = crossed[k];
            k += 1;
        }
        Self(words)
    }

    /// The patterns of a, b and c b, for the constant a + b Z and Z^2 = Z + c.
    #[inline(always)]
    pub(crate) const fn parts(&self) -> [Pattern; 3] {
        let w = &self.0;
        [
            Pattern([w[0] as u32, w[1] as u32, w[2] as u32, w[3] as u32]),
            Pattern([
                (w[4] >> 32) as u32,
                (w[5] >> 32) as u32,
                (w[6] >> 32) as u32,
                (w[7] >> 32) as u32,
            ]),
            Pattern([w[4] as u32, w[5] as u32, w[6] as u32, w[7] as u32]),
        ]
    }
}

/// The patterns of two constants of GF(2^32), for the lower and the upper half of words.
const fn pair(lower: u32, upper: u32) -> [u64; 4] {
    let (lower, upper) = (
        Pattern::new(T64(lower as u64)),
        Pattern::new(T64(upper as u64)),
    );
    let mut words = [0; 4];
    let mut k = 0;
    while k < 4 {
        words[k] = lower.0[k] as u64 | (upper.0[k] as u64) << 32;
        k += 1;
    }
    words
}

/// What a + b X multiplies bytes by that stay where they are.
const fn straight(constant: u16) -> u32 {
    let (a, b) = (constant as u8, (constant >> 8) as u8);
    a as u32 | ((a ^ b) as u32) << 8
}

/// What a + b X multiplies bytes by that change places with their neighbour.
const fn crossed(constant: u16) -> u32 {
    let b = (constant >> 8) as u8;
    mul8(C1, b) as u32 | (b as u32) << 8
}

impl BitXor for Pattern {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self([
            self.0[0] ^ other.0[0],
            self.0[1] ^ other.0[1],
            self.0[2] ^ other.0[2],
            self.0[3] ^ other.0[3],
        ])
    }
}

impl BitXorAssign for Pattern {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}
