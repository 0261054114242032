//! E, the extension of degree 3, as a scalar type.

use std::ops::{Add, Mul, MulAssign};

use super::B64;
use super::operators::operators_of_characteristic_2;
use super::sums::ExtensionSum;
use crate::Field;

/// An element of E = K\[y\] / (y^3 + y + 1): the coefficients of 1, y, y^2.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct B192(pub [B64; 3]);

impl B192 {
    /// 0.
    pub const ZERO: Self = Self([B64::ZERO; 3]);
    /// 1.
    pub const ONE: Self = Self::from_base(B64::ONE);
    /// The degree over K.
    pub const DEGREE: usize = 3;

    /// The element of K as one of E.
    pub const fn from_base(value: B64) -> Self {
        Self([value, B64::ZERO, B64::ZERO])
    }

    /// The element with the words `limbs`.
    pub const fn new(limbs: [u64; 3]) -> Self {
        Self([B64(limbs[0]), B64(limbs[1]), B64(limbs[2])])
    }

    /// The words of the coefficients.
    pub const fn words(self) -> [u64; 3] {
        let [c0, c1, c2] = self.0;
        [c0.0, c1.0, c2.0]
    }

    /// The power `self^(2^64)`.
    ///
    /// It fixes K, and takes y to y^2 and y^2 to y^4 = y^2 + y.
    #[must_use]
    pub fn frobenius(self) -> Self {
        let [c0, c1, c2] = self.0;
        Self([c0, c2, c1 + c2])
    }

    /// The 24 bytes: the coefficients from the lowest, each with its lowest byte first.
    pub fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (bytes, limb) in bytes.chunks_exact_mut(8).zip(self.0) {
            bytes.copy_from_slice(&limb.to_bytes());
        }
        bytes
    }

    /// The element of 24 bytes; every 24 bytes are one.
    pub const fn from_bytes(bytes: [u8; 24]) -> Self {
        let mut limbs = [0; 3];
        let mut i = 0;
        while i < 24 {
            limbs[i / 8] |= (bytes[i] as u64) << (8 * (i % 8));
            i += 1;
        }
        Self::new(limbs)
    }
}

impl Field for B192 {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    #[inline]
    fn square(self) -> Self {
        let [s0, s1, s2] = self.0.map(B64::square);
        Self([s0, s2, s1 + s2])
    }

    fn inverse(self) -> Option<Self> {
        // The product with both conjugates is the norm, which is in K.
        let conjugate = self.frobenius();
        let others = conjugate * conjugate.frobenius();
        let norm = (self * others).0[0];
        Some(others * norm.inverse()?)
    }
}

impl From<B64> for B192 {
    fn from(value: B64) -> Self {
        Self::from_base(value)
    }
}

impl Add for B192 {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        let ([a0, a1, a2], [b0, b1, b2]) = (self.0, other.0);
        Self([a0 + b0, a1 + b1, a2 + b2])
    }
}

impl Mul for B192 {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let mut sum = ExtensionSum::default();
        sum.add_product(self, other);
        sum.reduce()
    }
}

impl Mul<B64> for B192 {
    type Output = Self;

    #[inline]
    fn mul(self, scalar: B64) -> Self {
        Self(self.0.map(|limb| limb * scalar))
    }
}

impl MulAssign<B64> for B192 {
    #[inline]
    fn mul_assign(&mut self, scalar: B64) {
        *self = *self * scalar;
    }
}

operators_of_characteristic_2!(B192: add_assign, mul_assign);
