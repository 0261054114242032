//! K as a scalar type.

use std::fmt;
use std::ops::{Add, Mul};

use super::clmul::portable::{product, reduce, square};
use super::operators::operators_of_characteristic_2;
use crate::Field;

/// An element of K = GF(2)\[x\] / (x^64 + x^4 + x^3 + x + 1): bit i of the word is the coefficient of x^i.
///
/// ```
/// use lanework_field::{Field, gf2::B64};
///
/// assert_eq!(B64(1 << 63) * B64(2), B64(0x1b));
/// assert_eq!(B64(3).inverse().map(|x| x * B64(3)), Some(B64::ONE));
/// ```
#[derive(Copy, Clone, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct B64(pub u64);

impl B64 {
    /// 0.
    pub const ZERO: Self = Self(0);
    /// 1.
    pub const ONE: Self = Self(1);
    /// x, which generates the multiplicative group.
    pub const GENERATOR: Self = Self(2);

    /// The product, in a form usable in constants.
    #[must_use]
    #[inline]
    pub const fn times(self, other: Self) -> Self {
        Self(reduce(product(self.0, other.0)))
    }

    /// The square.
    #[must_use]
    #[inline]
    pub const fn square(self) -> Self {
        Self(reduce(square(self.0)))
    }

    /// The power `self^(2^exponent)`.
    #[must_use]
    pub const fn frobenius(self, exponent: u32) -> Self {
        let mut power = self;
        let mut k = exponent % 64;
        while k > 0 {
            power = power.square();
            k -= 1;
        }
        power
    }

    /// The inverse, or `None` for 0.
    ///
    /// It is a^(2^64 - 2): with `t[k]` = a^(2^k - 1), `t[i + j]` is the 2^j-th power of `t[i]` times `t[j]` (Itoh,
    /// Tsujii, "A fast algorithm for computing multiplicative inverses in GF(2^m) using normal bases", 1988).
    pub const fn inverse(self) -> Option<Self> {
        if self.0 == 0 {
            return None;
        }
        let mut t = self;
        let mut k = 1;
        while k < 63 {
            // 1, 3, 7, 15, 31, 63.
            t = t.frobenius(k).times(t).square().times(self);
            k = 2 * k + 1;
        }
        Some(t.square())
    }

    /// The eight bytes, lowest first.
    pub const fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    /// The element of eight bytes, lowest first.
    pub const fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }
}

impl Field for B64 {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    #[inline]
    fn square(self) -> Self {
        self.square()
    }

    fn inverse(self) -> Option<Self> {
        self.inverse()
    }
}

impl fmt::Debug for B64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x}", self.0)
    }
}

impl Add for B64 {
    type Output = Self;

    #[inline]
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the characteristic is 2")]
    fn add(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl Mul for B64 {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        self.times(other)
    }
}

operators_of_characteristic_2!(B64: add_assign, mul_assign);
