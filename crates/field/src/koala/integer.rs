//! The integer types that field elements are read from.

use super::KoalaBear;
use super::spec::P;
use crate::Error;

mod sealed {
    pub trait Sealed {}
}

/// An integer type: `u32`, `u64`, `i32`, `i64`.
pub trait Integer: sealed::Sealed + Copy + Send + Sync + Into<i128> + 'static {
    /// Whether the integer is in [0, p).
    fn is_canonical(self) -> bool;

    /// The integer mod p, in [0, p).
    fn residue(self) -> u32;

    /// The low 32 bits, which are the integer if it is canonical.
    fn low_word(self) -> u32;
}

macro_rules! integer {
    ($signed:ty, $unsigned:ty) => {
        impl sealed::Sealed for $unsigned {}
        impl Integer for $unsigned {
            #[inline(always)]
            fn is_canonical(self) -> bool {
                self < P as $unsigned
            }

            #[inline(always)]
            fn residue(self) -> u32 {
                (self % P as $unsigned) as u32
            }

            #[inline(always)]
            fn low_word(self) -> u32 {
                self as u32
            }
        }

        impl sealed::Sealed for $signed {}
        impl Integer for $signed {
            #[inline(always)]
            fn is_canonical(self) -> bool {
                (self as $unsigned).is_canonical()
            }

            #[inline(always)]
            fn residue(self) -> u32 {
                self.rem_euclid(P as $signed) as u32
            }

            #[inline(always)]
            fn low_word(self) -> u32 {
                self as u32
            }
        }
    };
}

integer!(i32, u32);
integer!(i64, u64);

impl KoalaBear {
    /// The element with the canonical integer `value`.
    ///
    /// # Errors
    /// [`Error::NonCanonical`] if `value` is negative or not below p.
    #[inline]
    pub fn from_integer<I: Integer>(value: I) -> Result<Self, Error> {
        if value.is_canonical() {
            Ok(Self::new(value.low_word()))
        } else {
            Err(Error::NonCanonical {
                value: value.into(),
            })
        }
    }

    /// The element of the residue class of `value`; that of a negative number is p minus that of
    /// its absolute value.
    #[inline]
    pub fn reduce<I: Integer>(value: I) -> Self {
        Self::new(value.residue())
    }
}
