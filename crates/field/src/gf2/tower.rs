//! The tower GF(2^8) < GF(2^16) < GF(2^32) < GF(2^64), in which products by elements of the small fields are
//! products of bytes.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, MulAssign};

use super::spec::{
    BYTE_MODULUS, C1, C2, C3, CANTOR_BASIS, POLYNOMIAL_TO_TOWER, TOWER_TO_POLYNOMIAL,
};

/// The product in the field of bytes, bit by bit.
pub(crate) const fn mul8(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        product ^= a * (b & 1);
        a = (a << 1) ^ ((a >> 7) * BYTE_MODULUS);
        b >>= 1;
    }
    product
}

/// Two halves of a product over the field below: (a0 + a1 G)(b0 + b1 G) with G^2 = G + c.
macro_rules! level {
    ($(#[$doc:meta])* $name:ident, $word:ty, $half:ty, $below:ident, $c:expr) => {
        $(#[$doc])*
        pub(crate) const fn $name(a: $word, b: $word) -> $word {
            let (a0, a1) = (a as $half, (a >> <$half>::BITS) as $half);
            let (b0, b1) = (b as $half, (b >> <$half>::BITS) as $half);
            let high = $below(a1, b1);
            let low = $below(a0, b0) ^ $below($c, high);
            let high = $below(a0, b1) ^ $below(a1, b0) ^ high;
            low as $word | (high as $word) << <$half>::BITS
        }
    };
}

level!(
    /// The product in GF(2^16).
    mul16, u16, u8, mul8, C1
);
level!(
    /// The product in GF(2^32).
    mul32, u32, u16, mul16, C2
);
level!(
    /// The product in GF(2^64).
    mul64, u64, u32, mul32, C3
);

/// The image of `word` under a linear map, given by the images of the words `1 << j`.
pub(crate) const fn apply(columns: &[u64; 64], word: u64) -> u64 {
    let mut image = 0;
    let mut j = 0;
    while j < 64 {
        image ^= columns[j] * (word >> j & 1);
        j += 1;
    }
    image
}

/// An element of GF(2^64) as a word of the tower.
///
/// Its product is the definition, byte by byte, and slow: compute in [`B64`](super::B64), or on slices with
/// [`TowerRows`](super::bytes::TowerRows).
///
/// Byte i, from the least significant, is the coefficient of the i-th product of {1, X}, {1, Y}, {1, Z}.
/// So the elements of GF(2^8), GF(2^16) and GF(2^32) are the words whose upper bytes are 0.
#[derive(Copy, Clone, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct T64(pub u64);

impl T64 {
    /// 0.
    pub const ZERO: Self = Self(0);
    /// 1.
    pub const ONE: Self = Self(1);

    /// Element `index` of the Cantor basis.
    ///
    /// # Panics
    /// If `index` is not below 64.
    pub const fn cantor(index: usize) -> Self {
        Self(CANTOR_BASIS[index])
    }

    /// The point omega(`position`) of a position: the sum of `beta_j` over the bits j of `position`.
    pub const fn omega(position: u64) -> Self {
        Self(apply(&CANTOR_BASIS, position))
    }

    /// The same element of K, as its word.
    pub const fn to_polynomial_word(self) -> u64 {
        apply(&TOWER_TO_POLYNOMIAL, self.0)
    }

    /// The tower's element for the word of an element of K.
    pub const fn from_polynomial_word(word: u64) -> Self {
        Self(apply(&POLYNOMIAL_TO_TOWER, word))
    }
}

impl fmt::Debug for T64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x}", self.0)
    }
}

impl Add for T64 {
    type Output = Self;

    #[expect(clippy::suspicious_arithmetic_impl, reason = "the characteristic is 2")]
    fn add(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl Mul for T64 {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(mul64(self.0, other.0))
    }
}

impl AddAssign for T64 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl MulAssign for T64 {
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}
