//! The operators that follow from sums and products.

/// For a field of characteristic 2 that has `Add` and `Mul`: differences, which are sums, negation, which changes
/// nothing, sums and products of many; and, when asked, the assignments.
macro_rules! operators_of_characteristic_2 {
    ($field:ty: add_assign, mul_assign) => {
        $crate::gf2::operators::operators_of_characteristic_2!($field);

        impl std::ops::AddAssign for $field {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl std::ops::MulAssign for $field {
            #[inline]
            fn mul_assign(&mut self, other: Self) {
                *self = *self * other;
            }
        }
    };
    ($field:ty) => {
        impl std::ops::Sub for $field {
            type Output = Self;
            #[inline]
            #[expect(clippy::suspicious_arithmetic_impl, reason = "the characteristic is 2")]
            fn sub(self, other: Self) -> Self {
                self + other
            }
        }

        impl std::ops::SubAssign for $field {
            #[inline]
            #[expect(clippy::suspicious_op_assign_impl, reason = "the characteristic is 2")]
            fn sub_assign(&mut self, other: Self) {
                *self += other;
            }
        }

        impl std::ops::Neg for $field {
            type Output = Self;
            #[inline]
            fn neg(self) -> Self {
                self
            }
        }

        impl std::iter::Sum for $field {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::ZERO, std::ops::Add::add)
            }
        }

        impl std::iter::Product for $field {
            fn product<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::ONE, std::ops::Mul::mul)
            }
        }
    };
}
pub(crate) use operators_of_characteristic_2;
