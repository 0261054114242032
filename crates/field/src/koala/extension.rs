//! Extensions of degree 4 and 6.

use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::KoalaBear;
use super::lanes::Lanes;
use super::spec::{EXT4_FROBENIUS, EXT6_FROBENIUS};
use crate::Field;

/// An extension of KoalaBear, whose elements are a few limbs.
pub trait Extension: Field + From<KoalaBear> + Mul<KoalaBear, Output = Self> {
    /// As many values as an element has limbs.
    type Limbs<T: Copy + Send + Sync>: Copy + Send + Sync + AsRef<[T]> + AsMut<[T]>;

    /// The degree over the base field: limbs of an element.
    const DEGREE: usize;

    /// The limbs, in the order in which they are hashed.
    fn limbs(&self) -> &[KoalaBear];

    /// The element with these limbs.
    ///
    /// # Panics
    /// If they are not [`DEGREE`](Self::DEGREE) many.
    fn from_limbs(limbs: &[KoalaBear]) -> Self;

    /// The p-th power.
    #[must_use]
    fn frobenius(self) -> Self;

    /// `value` for each limb.
    fn splat<T: Copy + Send + Sync>(value: T) -> Self::Limbs<T>;

    /// The products of two elements in each lane, limb by limb.
    fn mul_lanes<L: Lanes>(left: &Self::Limbs<L>, right: &Self::Limbs<L>) -> Self::Limbs<L>;
}

/// An element of F\[X\]/(X^4 - 3): the coefficients of 1, X, X^2, X^3.
///
/// Plonky3's `BinomialExtensionField<KoalaBear, 4>`. gnark-crypto's E4 is the same field with the
/// coefficients in the order 1, X^2, X, X^3.
#[derive(
    Copy, Clone, Default, PartialEq, Eq, Hash, bytemuck::Zeroable, bytemuck::TransparentWrapper,
)]
#[repr(transparent)]
pub struct Ext4(pub [KoalaBear; 4]);

/// An element of E2\[v\]/(v^3 - (u + 1)) with E2 = F\[u\]/(u^2 - 3): the coefficient of v^i u^j is at
/// position 2 i + j.
///
/// gnark-crypto's and lineth's E6, with the limbs in the order B0.A0, B0.A1, B1.A0, B1.A1, B2.A0,
/// B2.A1.
#[derive(
    Copy, Clone, Default, PartialEq, Eq, Hash, bytemuck::Zeroable, bytemuck::TransparentWrapper,
)]
#[repr(transparent)]
pub struct Ext6(pub [KoalaBear; 6]);

/// An element of E2 = F\[u\]/(u^2 - 3), through which both extensions are inverted.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Ext2([KoalaBear; 2]);

const fn triple(x: KoalaBear) -> KoalaBear {
    x.plus(x).plus(x)
}

impl Ext2 {
    fn conjugate(self) -> Self {
        Self([self.0[0], -self.0[1]])
    }

    fn mul_base(self, scalar: KoalaBear) -> Self {
        Self(self.0.map(|x| x * scalar))
    }

    /// u times the element.
    fn mul_u(self) -> Self {
        Self([triple(self.0[1]), self.0[0]])
    }

    /// u + 1 times the element: v^3.
    fn mul_v3(self) -> Self {
        Self([self.0[0] + triple(self.0[1]), self.0[0] + self.0[1]])
    }

    fn square(self) -> Self {
        self * self
    }

    /// The inverse: the conjugate over the norm x0^2 - 3 x1^2.
    fn inverse(self) -> Option<Self> {
        let norm = self.0[0].square() - triple(self.0[1].square());
        Some(self.conjugate().mul_base(norm.inverse()?))
    }
}

impl Add for Ext2 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self([self.0[0] + other.0[0], self.0[1] + other.0[1]])
    }
}

impl Sub for Ext2 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self([self.0[0] - other.0[0], self.0[1] - other.0[1]])
    }
}

impl Mul for Ext2 {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let [y0, y1] = other.0;
        Self([
            KoalaBear::dot(&self.0, &[y0, triple(y1)]),
            KoalaBear::dot(&self.0, &[y1, y0]),
        ])
    }
}

impl Ext4 {
    /// (a0 + a2 Y, a1 + a3 Y) for Y = X^2, a root of u^2 - 3: the element is the first plus X times
    /// the second.
    fn halves(self) -> (Ext2, Ext2) {
        let [a0, a1, a2, a3] = self.0;
        (Ext2([a0, a2]), Ext2([a1, a3]))
    }

    fn from_halves(even: Ext2, odd: Ext2) -> Self {
        Self([even.0[0], odd.0[0], even.0[1], odd.0[1]])
    }

    /// The p-th power.
    ///
    /// X^p is 3^((p - 1)/4) X.
    #[must_use]
    pub fn frobenius(self) -> Self {
        let mut limbs = self.0;
        for (limb, power) in limbs.iter_mut().zip(EXT4_FROBENIUS) {
            *limb *= KoalaBear::new(power);
        }
        Self(limbs)
    }
}

impl Field for Ext4 {
    const ZERO: Self = Self([KoalaBear::ZERO; 4]);
    const ONE: Self = Self::from_base(KoalaBear::ONE);

    #[inline]
    fn square(self) -> Self {
        let [a0, a1, a2, a3] = self.0;
        let (twice_a0, twice_a1) = (a0.double(), a1.double());
        let (triple_a2, triple_a3) = (triple(a2), triple(a3));
        Self([
            KoalaBear::dot(&[a0, twice_a1, a2], &[a0, triple_a3, triple_a2]),
            KoalaBear::dot(&[twice_a0, a2.double()], &[a1, triple_a3]),
            KoalaBear::dot(&[twice_a0, a1, a3], &[a2, a1, triple_a3]),
            KoalaBear::dot(&[twice_a0, twice_a1], &[a3, a2]),
        ])
    }

    fn inverse(self) -> Option<Self> {
        // (A + B X)(A - B X) = A^2 - B^2 Y.
        let (even, odd) = self.halves();
        let norm = (even.square() - odd.square().mul_u()).inverse()?;
        Some(Self::from_halves(
            even * norm,
            Ext2([KoalaBear::ZERO; 2]) - odd * norm,
        ))
    }
}

impl Mul for Ext4 {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let a = &self.0;
        let [b0, b1, b2, b3] = other.0;
        let (c1, c2, c3) = (triple(b1), triple(b2), triple(b3));
        Self([
            KoalaBear::dot(a, &[b0, c3, c2, c1]),
            KoalaBear::dot(a, &[b1, b0, c3, c2]),
            KoalaBear::dot(a, &[b2, b1, b0, c3]),
            KoalaBear::dot(a, &[b3, b2, b1, b0]),
        ])
    }
}

impl Ext6 {
    /// The coefficients of 1, v, v^2.
    fn parts(self) -> [Ext2; 3] {
        let [a, b, c, d, e, f] = self.0;
        [Ext2([a, b]), Ext2([c, d]), Ext2([e, f])]
    }

    fn from_parts(parts: [Ext2; 3]) -> Self {
        let [Ext2([a, b]), Ext2([c, d]), Ext2([e, f])] = parts;
        Self([a, b, c, d, e, f])
    }

    /// The p-th power.
    ///
    /// u^p is -u. With v^3 = u + 1 and p = 2 mod 3, v^p is k v^2 for k = (u + 1)^((p - 2)/3), and
    /// v^(2p) is k^2 (u + 1) v.
    #[must_use]
    pub fn frobenius(self) -> Self {
        let [a, b, c] = self.parts().map(Ext2::conjugate);
        let [of_v, of_v2] = EXT6_FROBENIUS.map(|k| Ext2(k.map(KoalaBear::new)));
        Self::from_parts([a, c * of_v2, b * of_v])
    }
}

impl Field for Ext6 {
    const ZERO: Self = Self([KoalaBear::ZERO; 6]);
    const ONE: Self = Self::from_base(KoalaBear::ONE);

    #[inline]
    fn square(self) -> Self {
        self * self
    }

    fn inverse(self) -> Option<Self> {
        // The product of the conjugates of a + b v + c v^2 over E2 is (t0 + t1 v + t2 v^2), and
        // the norm its product with the element.
        let [a, b, c] = self.parts();
        let t0 = a.square() - (b * c).mul_v3();
        let t1 = c.square().mul_v3() - a * b;
        let t2 = b.square() - a * c;
        let norm = (a * t0 + (c * t1 + b * t2).mul_v3()).inverse()?;
        Some(Self::from_parts([t0 * norm, t1 * norm, t2 * norm]))
    }
}

impl Mul for Ext6 {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        // Limb by limb, a product with y in E2 is a product with the columns (y0, 3 y1) for the
        // first and (y1, y0) for the second limb of the result.
        let a = &self.0;
        let [Ext2([x0, x1]), Ext2([y0, y1]), Ext2([z0, z1])] = other.parts();
        let [_, Ext2([p0, p1]), Ext2([q0, q1])] = other.parts().map(Ext2::mul_v3);
        let (r1, s1, t1) = (triple(x1), triple(y1), triple(z1));
        Self([
            KoalaBear::dot(a, &[x0, r1, q0, triple(q1), p0, triple(p1)]),
            KoalaBear::dot(a, &[x1, x0, q1, q0, p1, p0]),
            KoalaBear::dot(a, &[y0, s1, x0, r1, q0, triple(q1)]),
            KoalaBear::dot(a, &[y1, y0, x1, x0, q1, q0]),
            KoalaBear::dot(a, &[z0, t1, y0, s1, x0, r1]),
            KoalaBear::dot(a, &[z1, z0, y1, y0, x1, x0]),
        ])
    }
}

/// 3 x in each lane.
#[inline(always)]
fn triple_lanes<L: Lanes>(x: L) -> L {
    x.double() + x
}

/// The products of (a0, a1) and (b0, b1) in E2, lane by lane.
#[inline(always)]
fn mul_ext2_lanes<L: Lanes>(a: [L; 2], b: [L; 2]) -> [L; 2] {
    [
        a[0] * b[0] + triple_lanes(a[1] * b[1]),
        a[0] * b[1] + a[1] * b[0],
    ]
}

#[inline(always)]
fn add_ext2_lanes<L: Lanes>(a: [L; 2], b: [L; 2]) -> [L; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

/// u + 1 times the elements.
#[inline(always)]
fn mul_v3_lanes<L: Lanes>(a: [L; 2]) -> [L; 2] {
    [a[0] + triple_lanes(a[1]), a[0] + a[1]]
}

macro_rules! extension {
    ($name:ident, $degree:literal, $mul_lanes:expr) => {
        impl Extension for $name {
            type Limbs<T: Copy + Send + Sync> = [T; $degree];

            const DEGREE: usize = $degree;

            fn limbs(&self) -> &[KoalaBear] {
                &self.0
            }

            fn from_limbs(limbs: &[KoalaBear]) -> Self {
                let mut element = Self::ZERO;
                element.0.copy_from_slice(limbs);
                element
            }

            fn frobenius(self) -> Self {
                self.frobenius()
            }

            #[inline(always)]
            fn splat<T: Copy + Send + Sync>(value: T) -> [T; $degree] {
                [value; $degree]
            }

            #[inline(always)]
            fn mul_lanes<L: Lanes>(left: &[L; $degree], right: &[L; $degree]) -> [L; $degree] {
                $mul_lanes(left, right)
            }
        }

        impl $name {
            /// The degree over the base field.
            pub const DEGREE: usize = $degree;

            /// The element of the base field as one of the extension.
            pub const fn from_base(value: KoalaBear) -> Self {
                let mut limbs = [KoalaBear::ZERO; $degree];
                limbs[0] = value;
                Self(limbs)
            }

            /// The element with the canonical integers `limbs`.
            ///
            /// # Errors
            /// [`crate::Error::NonCanonicalAt`] for the first limb that is not below p.
            pub fn from_canonical(limbs: [u32; $degree]) -> Result<Self, crate::Error> {
                let mut elements = [KoalaBear::ZERO; $degree];
                for (index, (element, value)) in elements.iter_mut().zip(limbs).enumerate() {
                    *element = KoalaBear::from_canonical(value).map_err(|_| {
                        crate::Error::NonCanonicalAt {
                            index,
                            value: value.into(),
                        }
                    })?;
                }
                Ok(Self(elements))
            }

            /// The limbs as canonical integers.
            pub fn to_canonical(self) -> [u32; $degree] {
                self.0.map(KoalaBear::to_canonical)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl From<KoalaBear> for $name {
            fn from(value: KoalaBear) -> Self {
                Self::from_base(value)
            }
        }

        impl Add for $name {
            type Output = Self;
            #[inline]
            fn add(mut self, other: Self) -> Self {
                self += other;
                self
            }
        }

        impl Sub for $name {
            type Output = Self;
            #[inline]
            fn sub(mut self, other: Self) -> Self {
                self -= other;
                self
            }
        }

        impl Neg for $name {
            type Output = Self;
            #[inline]
            fn neg(self) -> Self {
                Self(self.0.map(Neg::neg))
            }
        }

        impl Mul<KoalaBear> for $name {
            type Output = Self;
            #[inline]
            fn mul(self, scalar: KoalaBear) -> Self {
                Self(self.0.map(|limb| limb * scalar))
            }
        }

        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                for (limb, other) in self.0.iter_mut().zip(other.0) {
                    *limb += other;
                }
            }
        }

        impl SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                for (limb, other) in self.0.iter_mut().zip(other.0) {
                    *limb -= other;
                }
            }
        }

        impl MulAssign for $name {
            #[inline]
            fn mul_assign(&mut self, other: Self) {
                *self = *self * other;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::ZERO, Add::add)
            }
        }

        impl Product for $name {
            fn product<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::ONE, Mul::mul)
            }
        }
    };
}

/// Coefficient by coefficient, with X^4 = 3.
#[inline(always)]
fn mul_ext4_lanes<L: Lanes>(a: &[L; 4], b: &[L; 4]) -> [L; 4] {
    [
        a[0] * b[0] + triple_lanes(a[1] * b[3] + a[2] * b[2] + a[3] * b[1]),
        a[0] * b[1] + a[1] * b[0] + triple_lanes(a[2] * b[3] + a[3] * b[2]),
        a[0] * b[2] + a[1] * b[1] + a[2] * b[0] + triple_lanes(a[3] * b[3]),
        a[0] * b[3] + a[1] * b[2] + a[2] * b[1] + a[3] * b[0],
    ]
}

/// Coefficient by coefficient over E2, with v^3 = u + 1.
#[inline(always)]
fn mul_ext6_lanes<L: Lanes>(a: &[L; 6], b: &[L; 6]) -> [L; 6] {
    let (a0, a1, a2) = ([a[0], a[1]], [a[2], a[3]], [a[4], a[5]]);
    let (b0, b1, b2) = ([b[0], b[1]], [b[2], b[3]], [b[4], b[5]]);
    let high = add_ext2_lanes(mul_ext2_lanes(a1, b2), mul_ext2_lanes(a2, b1));
    let c0 = add_ext2_lanes(mul_ext2_lanes(a0, b0), mul_v3_lanes(high));
    let low = add_ext2_lanes(mul_ext2_lanes(a0, b1), mul_ext2_lanes(a1, b0));
    let c1 = add_ext2_lanes(low, mul_v3_lanes(mul_ext2_lanes(a2, b2)));
    let low = add_ext2_lanes(mul_ext2_lanes(a0, b2), mul_ext2_lanes(a1, b1));
    let c2 = add_ext2_lanes(low, mul_ext2_lanes(a2, b0));
    [c0[0], c0[1], c1[0], c1[1], c2[0], c2[1]]
}

extension!(Ext4, 4, mul_ext4_lanes);
extension!(Ext6, 6, mul_ext6_lanes);
