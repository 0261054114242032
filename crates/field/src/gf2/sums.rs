//! Sums of products that are reduced once.
//!
//! ```
//! use lanework_field::gf2::{B64, BaseSum};
//!
//! let mut sum = BaseSum::default();
//! sum.add_product(B64(1 << 63), B64(2));
//! sum.add_product(B64(3), B64(3));
//! assert_eq!(sum.reduce(), B64(0x1b ^ 5));
//! ```

use std::ops::{BitXor, BitXorAssign};

use super::clmul::portable::{product, reduce};
use super::{B64, B192};

/// A sum of products of two elements of K, as a polynomial.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseSum(pub(crate) u128);

/// A sum of products of an element of K and one of E, as three polynomials.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct MixedSum(pub(crate) [u128; 3]);

/// A sum of products of two elements of E, as six polynomials: with coefficients a and b, the sums of a0 b0, a1 b1,
/// a2 b2, (a0 + a1)(b0 + b1), (a0 + a2)(b0 + b2) and (a1 + a2)(b1 + b2).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionSum(pub(crate) [u128; 6]);

impl BaseSum {
    /// Adds a product.
    #[inline]
    pub fn add_product(&mut self, left: B64, right: B64) {
        self.0 ^= product(left.0, right.0);
    }

    /// The sum.
    #[inline]
    pub fn reduce(self) -> B64 {
        B64(reduce(self.0))
    }
}

impl MixedSum {
    /// Adds a product.
    #[inline]
    pub fn add_product(&mut self, left: B64, right: B192) {
        for (sum, limb) in self.0.iter_mut().zip(right.0) {
            *sum ^= product(left.0, limb.0);
        }
    }

    /// The sum.
    #[inline]
    pub fn reduce(self) -> B192 {
        B192(self.0.map(|sum| B64(reduce(sum))))
    }
}

impl ExtensionSum {
    /// Adds a product.
    #[inline]
    pub fn add_product(&mut self, left: B192, right: B192) {
        let ([a0, a1, a2], [b0, b1, b2]) = (left.words(), right.words());
        let [p0, p1, p2, p01, p02, p12] = &mut self.0;
        *p0 ^= product(a0, b0);
        *p1 ^= product(a1, b1);
        *p2 ^= product(a2, b2);
        *p01 ^= product(a0 ^ a1, b0 ^ b1);
        *p02 ^= product(a0 ^ a2, b0 ^ b2);
        *p12 ^= product(a1 ^ a2, b1 ^ b2);
    }

    /// The sum.
    ///
    /// With y^3 = y + 1 and y^4 = y^2 + y, the coefficients are a0 b0 + a1 b2 + a2 b1, then a0 b1 + a1 b0 + a1 b2 +
    /// a2 b1 + a2 b2, and a0 b2 + a1 b1 + a2 b0 + a2 b2.
    #[inline]
    pub fn reduce(self) -> B192 {
        let [p0, p1, p2, p01, p02, p12] = self.0;
        let limbs = [p0 ^ p12 ^ p1 ^ p2, p0 ^ p12 ^ p01, p0 ^ p1 ^ p02];
        B192(limbs.map(|limb| B64(reduce(limb))))
    }
}

macro_rules! sums {
    ($($name:ident: $add:expr;)+) => {
        $(
            impl BitXor for $name {
                type Output = Self;

                /// The sum of both.
                #[inline]
                fn bitxor(mut self, other: Self) -> Self {
                    self ^= other;
                    self
                }
            }

            impl BitXorAssign for $name {
                /// Adds the other sum.
                #[inline]
                fn bitxor_assign(&mut self, other: Self) {
                    let add: fn(&mut Self, Self) = $add;
                    add(self, other);
                }
            }
        )+
    };
}

fn add<const N: usize>(sums: &mut [u128; N], others: [u128; N]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum ^= other;
    }
}

sums! {
    BaseSum: |sum, other| sum.0 ^= other.0;
    MixedSum: |sum, other| add(&mut sum.0, other.0);
    ExtensionSum: |sum, other| add(&mut sum.0, other.0);
}
