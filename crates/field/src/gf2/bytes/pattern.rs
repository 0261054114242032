use std::ops::{BitXor, BitXorAssign};

use super::super::T64;
use super::super::spec::{C1, C2};
use super::super::tower::{mul8, mul16};

/// The bytes by which a constant of GF(2^32) multiplies words: byte i of word k is C_k\[i\].
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

    /// The constant's bytes.
    pub(crate) const fn constant_bytes(&self) -> [u8; 4] {
        [
            self.0[0] as u8,
            (self.0[1] >> 8) as u8,
            (self.0[2] >> 16) as u8,
            (self.0[3] >> 24) as u8,
        ]
    }
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
