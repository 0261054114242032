//! What proofs are made of, as far as their security depends on it.

/// log2 of the modulus of KoalaBear, 2^31 - 2^24 + 1 = 2130706433, rounded down.
const KOALA_BEAR_BITS: f64 = 30.98868468744926;

/// The field that challenges are drawn from.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// An extension of KoalaBear.
    KoalaBear {
        /// Its degree.
        degree: u32,
    },
    /// A field of 2^this elements or more.
    Bits(u32),
}

impl Field {
    /// log2 of the number of elements.
    pub fn bits(self) -> f64 {
        match self {
            Self::KoalaBear { degree } => f64::from(degree) * KOALA_BEAR_BITS,
            Self::Bits(bits) => f64::from(bits),
        }
    }
}

/// The hash of the trees, as far as collisions go.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// Digests of elements of KoalaBear, whose collisions take the square root of the number of digests.
    KoalaBear {
        /// Elements in a digest.
        words: u32,
    },
    /// A hash whose collisions take 2^this evaluations.
    CollisionBits(u32),
}

impl Hash {
    /// log2 of the evaluations that a collision takes.
    pub fn collision_bits(self) -> f64 {
        match self {
            Self::KoalaBear { words } => f64::from(words) * (KOALA_BEAR_BITS / 2.0),
            Self::CollisionBits(bits) => f64::from(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_modulus_rounded_down() {
        let exact = 2130706433_f64.log2();
        assert!(KOALA_BEAR_BITS <= exact && exact - KOALA_BEAR_BITS < 1e-13);
        let bits = |degree| Field::KoalaBear { degree }.bits();
        assert!((bits(4) - 123.954_738_750).abs() < 1e-9);
        assert!((bits(6) - 185.932_108_125).abs() < 1e-9);
        assert!((Hash::KoalaBear { words: 8 }.collision_bits() - bits(4)).abs() < 1e-9);
    }
}
