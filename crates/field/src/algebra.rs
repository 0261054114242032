//! What the fields have in common.

use std::fmt::Debug;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A field.
pub trait Field:
    Copy
    + Debug
    + Default
    + Eq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + Product
{
    /// Zero.
    const ZERO: Self;

    /// One.
    const ONE: Self;

    /// The square.
    #[must_use]
    fn square(self) -> Self;

    /// The inverse, or `None` for zero.
    fn inverse(self) -> Option<Self>;

    /// The power `self^exponent`.
    #[must_use]
    fn pow(self, mut exponent: u64) -> Self {
        let (mut base, mut result) = (self, Self::ONE);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result *= base;
            }
            base = base.square();
            exponent >>= 1;
        }
        result
    }
}

/// Values that share one inversion.
const BATCH_LEN: usize = 512;

/// Replaces every value by its inverse, and leaves zeros as they are.
///
/// An inversion is shared by several hundred values (Montgomery's trick): the cost is about three
/// products per value. Values are treated in independent blocks of a fixed length, so that parts of
/// a slice can as well be given to several threads.
///
/// ```
/// use lanework_field::{KoalaBear, batch_inverse};
///
/// let mut values = [2, 0, 3].map(KoalaBear::new);
/// batch_inverse(&mut values);
/// assert_eq!(values[0] * KoalaBear::new(2), KoalaBear::ONE);
/// assert_eq!(values[1], KoalaBear::ZERO);
/// ```
pub fn batch_inverse<F: Field>(values: &mut [F]) {
    for block in values.chunks_mut(BATCH_LEN) {
        let mut before = [F::ONE; BATCH_LEN];
        let mut product = F::ONE;
        for (before, &value) in before.iter_mut().zip(&*block) {
            *before = product;
            if value != F::ZERO {
                product *= value;
            }
        }
        // A product of values other than zero is not zero; the default is never taken.
        let mut after = product.inverse().unwrap_or_default();
        for (&before, value) in before.iter().zip(block).rev() {
            if *value != F::ZERO {
                (*value, after) = (before * after, after * *value);
            }
        }
    }
}

/// The powers 1, x, x^2, … of `base`, without an end.
pub fn powers<F: Field>(base: F) -> Powers<F> {
    shifted_powers(F::ONE, base)
}

/// The numbers s, s x, s x^2, … for `start` s and `base` x, without an end.
pub const fn shifted_powers<F: Field>(start: F, base: F) -> Powers<F> {
    Powers { next: start, base }
}

/// The iterator of [`powers`] and [`shifted_powers`].
#[derive(Clone, Debug)]
pub struct Powers<F> {
    next: F,
    base: F,
}

impl<F: Field> Iterator for Powers<F> {
    type Item = F;

    #[inline]
    fn next(&mut self) -> Option<F> {
        let power = self.next;
        self.next *= self.base;
        Some(power)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
