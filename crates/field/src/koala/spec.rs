//! Constants of KoalaBear.
//!
//! Source: Plonky3 `koala-bear/src/koala_bear.rs`, gnark-crypto `field/koalabear`.

/// The modulus, p = 2^31 - 2^24 + 1.
pub const P: u32 = 0x7f00_0001;

/// The largest k with 2^k dividing p - 1.
pub const TWO_ADICITY: u32 = 24;

/// A generator of the multiplicative group (canonical).
pub const GENERATOR: u32 = 3;

/// The primitive 2^24-th root of unity 3^127 (canonical), the same in both ecosystems.
pub const TWO_ADIC_GENERATOR: u32 = 0x6ac4_9f88;

/// p^-1 mod 2^32, the constant of the Montgomery reduction with a subtraction.
pub const MONTGOMERY_MU: u32 = 0x8100_0001;

/// R mod p for R = 2^32: the Montgomery word of one.
pub const MONTGOMERY_R: u32 = 0x01ff_fffe;

/// R^2 mod p for R = 2^32.
pub const MONTGOMERY_R2: u32 = 402_124_772;

/// 1, w, w^2, w^3 for w = 3^((p - 1)/4) (canonical): X^(i p) is w^i X^i where X^4 = 3.
pub const EXT4_FROBENIUS: [u32; 4] = [1, 2113994754, 2130706432, 16711679];

/// (k0, k1) for v^p = (k0 + k1 u) v^2 and for v^(2 p) = (k0 + k1 u) v (canonical), where
/// v^3 = u + 1 and u^2 = 3.
pub const EXT6_FROBENIUS: [[u32; 2]; 2] = [[463699036, 285003076], [1935672222, 283040797]];
