//! The readable definition of the field.

use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::spec::{MONTGOMERY_MU, MONTGOMERY_R, MONTGOMERY_R2, P, TWO_ADIC_GENERATOR, TWO_ADICITY};
use crate::{Error, Field};

/// An element of KoalaBear, kept as a Montgomery word in [0, p) with R = 2^32.
///
/// The layout is that of `u32`, and the word is the one Plonky3's `KoalaBear` and gnark-crypto's
/// `Element` keep in memory, so that buffers can be shared without a conversion.
#[derive(Copy, Clone, Default, PartialEq, Eq, Hash, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct KoalaBear(u32);

/// x R^-1 mod p for x < 2^32 p, in [0, p).
#[inline(always)]
const fn montgomery_reduce(x: u64) -> u32 {
    let t = (x as u32).wrapping_mul(MONTGOMERY_MU);
    let u = ((t as u64 * P as u64) >> 32) as u32;
    let (difference, borrow) = ((x >> 32) as u32).overflowing_sub(u);
    if borrow {
        difference.wrapping_add(P)
    } else {
        difference
    }
}

impl KoalaBear {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// One.
    pub const ONE: Self = Self(MONTGOMERY_R);
    /// Minus one.
    pub const NEG_ONE: Self = Self(P - MONTGOMERY_R);
    /// A generator of the multiplicative group, 3.
    pub const GENERATOR: Self = Self::new(super::spec::GENERATOR);

    /// The element of the residue class of `value`.
    pub const fn new(value: u32) -> Self {
        Self(montgomery_reduce(value as u64 * MONTGOMERY_R2 as u64))
    }

    /// The element of the residue class of `value`.
    pub const fn from_u64(value: u64) -> Self {
        Self::new((value % P as u64) as u32)
    }

    /// The element with the canonical integer `value`.
    ///
    /// # Errors
    /// [`Error::NonCanonical`] if `value` is not below p.
    pub const fn from_canonical(value: u32) -> Result<Self, Error> {
        if value < P {
            Ok(Self::new(value))
        } else {
            Err(Error::NonCanonical {
                value: value as i128,
            })
        }
    }

    /// The canonical integer in [0, p).
    pub const fn to_canonical(self) -> u32 {
        montgomery_reduce(self.0 as u64)
    }

    /// The element kept as the Montgomery word `word`.
    ///
    /// # Errors
    /// [`Error::NonCanonical`] if `word` is not below p.
    pub const fn from_montgomery_word(word: u32) -> Result<Self, Error> {
        if word < P {
            Ok(Self(word))
        } else {
            Err(Error::NonCanonical {
                value: word as i128,
            })
        }
    }

    /// The Montgomery word, in [0, p).
    #[inline(always)]
    pub const fn montgomery_word(self) -> u32 {
        self.0
    }

    /// The element kept as `word`, which the caller has reduced.
    #[inline(always)]
    pub(crate) const fn from_word_below_p(word: u32) -> Self {
        debug_assert!(word < P);
        Self(word)
    }

    /// The product, in a form usable in constants.
    #[must_use]
    pub const fn times(self, other: Self) -> Self {
        Self(montgomery_reduce(self.0 as u64 * other.0 as u64))
    }

    /// The sum, in a form usable in constants.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        Self(if sum >= P { sum - P } else { sum })
    }

    /// 2 x.
    #[must_use]
    pub const fn double(self) -> Self {
        self.plus(self)
    }

    /// x / 2.
    #[must_use]
    pub const fn halve(self) -> Self {
        self.div_2exp(1)
    }

    /// x / 2^`exponent`: one reduction of a shifted word.
    ///
    /// # Panics
    /// If `exponent` is above 32.
    #[must_use]
    pub const fn div_2exp(self, exponent: u32) -> Self {
        Self(montgomery_reduce((self.0 as u64) << (32 - exponent)))
    }

    /// The sum of the products of the elements with the same index, which is reduced once.
    #[inline]
    pub fn dot<const N: usize>(left: &[Self; N], right: &[Self; N]) -> Self {
        // Below p R before and after each step: p^2 < p R / 2, hence two products are below p R,
        // and p R + p R < 2^64.
        const P_R: u64 = (P as u64) << 32;
        let product = |i: usize| left[i].0 as u64 * right[i].0 as u64;
        let mut sum = 0_u64;
        for i in (0..N).step_by(2) {
            sum += product(i) + if i + 1 < N { product(i + 1) } else { 0 };
            sum = sum.min(sum.wrapping_sub(P_R));
        }
        Self(montgomery_reduce(sum))
    }

    /// The square.
    #[must_use]
    pub const fn square(self) -> Self {
        self.times(self)
    }

    /// The cube.
    #[must_use]
    pub const fn cube(self) -> Self {
        self.times(self).times(self)
    }

    /// The power `self^exponent`.
    #[must_use]
    pub const fn pow(self, mut exponent: u64) -> Self {
        let (mut base, mut result) = (self, Self::ONE);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.times(base);
            }
            base = base.square();
            exponent >>= 1;
        }
        result
    }

    /// The inverse, or `None` for zero.
    pub const fn inverse(self) -> Option<Self> {
        if self.0 == 0 {
            None
        } else {
            Some(self.pow(P as u64 - 2))
        }
    }

    /// A primitive root of unity of order 2^`log_order`, a power of the same 2^24-th root everywhere.
    ///
    /// # Panics
    /// If `log_order` is above 24.
    pub const fn two_adic_generator(log_order: u32) -> Self {
        assert!(
            log_order <= TWO_ADICITY,
            "the two-adicity of KoalaBear is 24"
        );
        let mut root = Self::new(TWO_ADIC_GENERATOR);
        let mut k = log_order;
        while k < TWO_ADICITY {
            root = root.square();
            k += 1;
        }
        root
    }
}

impl Field for KoalaBear {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    #[inline(always)]
    fn square(self) -> Self {
        self.square()
    }

    fn inverse(self) -> Option<Self> {
        self.inverse()
    }
}

impl fmt::Debug for KoalaBear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_canonical(), f)
    }
}

impl fmt::Display for KoalaBear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_canonical(), f)
    }
}

impl Add for KoalaBear {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.plus(other)
    }
}

impl Sub for KoalaBear {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (difference, borrow) = self.0.overflowing_sub(other.0);
        Self(if borrow {
            difference.wrapping_add(P)
        } else {
            difference
        })
    }
}

impl Mul for KoalaBear {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.times(other)
    }
}

impl Neg for KoalaBear {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl AddAssign for KoalaBear {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for KoalaBear {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl MulAssign for KoalaBear {
    #[inline(always)]
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

impl Sum for KoalaBear {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl Product for KoalaBear {
    fn product<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ONE, Mul::mul)
    }
}
