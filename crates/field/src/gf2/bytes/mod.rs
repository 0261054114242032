//! Products of words of the tower by constants, byte by byte, many words at once.
//!
//! A product by a constant c is linear over the field of bytes. With `u_i` the bytes of a word and `p_k` the exchange of
//! byte i with byte i xor k, it is the sum over k of `C_k[i]` `u_(i xor k)`, where the bytes `C_k[i]` depend on c
//! alone: one product of bytes for c in GF(2^8), two for GF(2^16), four for GF(2^32), eight in general. Those of a
//! subfield repeat along the word, so that one [`Pattern`] serves every word of a vector; and they are linear in
//! c, so that the pattern of a sum is the sum of patterns.
//!
//! How bytes are multiplied depends on the CPU:
//!
//! | type | words | products of bytes |
//! |---|---|---|
//! | `Avx512Vector<Avx512Gfni>`, `Avx2Vector<Avx2Gfni>` | 8, 4 | an instruction of GFNI |
//! | `Avx512Vector<Avx512>`, `Avx2Vector<Avx2>`, `NeonVector<Neon>` | 8, 4, 2 | lookups in tables of sixteen entries ([`Shuffle`]) |
//! | [`PortableBytes`] | 2 | bit by bit |
//!
//! A kernel is written once, generic over [`TowerWords`], and chosen at run time by [`dispatch`]. [`TowerRows`] has
//! the kernels for slices.

#[cfg(target_arch = "aarch64")]
mod aarch64_neon;
mod affine;
mod pattern;
mod portable;
mod rows;
mod shuffle;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;

pub use pattern::{Pattern, WidePattern};
pub use portable::PortableBytes;
pub use rows::TowerRows;
pub use shuffle::{Shuffle, Table};

use super::words::{Words, dispatch};

/// A vector of words of the tower, and products by constants.
pub trait TowerWords: Words {
    /// The name of the instructions, for reports.
    const NAME: &'static str;

    /// A constant of GF(2^8), ready for use.
    type One: Copy;
    /// A constant of GF(2^16).
    type Two: Copy;
    /// A constant of GF(2^32).
    type Four: Copy;
    /// Any constant.
    type Eight: Copy;

    /// Prepares the constant of a pattern, if that is in GF(2^8).
    fn one(token: Self::Token, pattern: &Pattern) -> Self::One;
    /// Prepares the constant of a pattern, if that is in GF(2^16).
    fn two(token: Self::Token, pattern: &Pattern) -> Self::Two;
    /// Prepares the constant of a pattern.
    fn four(token: Self::Token, pattern: &Pattern) -> Self::Four;
    /// Prepares the constant of a pattern.
    fn eight(token: Self::Token, pattern: &WidePattern) -> Self::Eight;

    /// self + c v.
    #[must_use]
    fn add_one(self, constant: &Self::One, v: Self) -> Self;
    /// self + c v.
    #[must_use]
    fn add_two(self, constant: &Self::Two, v: Self) -> Self;
    /// self + c v.
    #[must_use]
    fn add_four(self, constant: &Self::Four, v: Self) -> Self;
    /// self + c v.
    #[must_use]
    fn add_eight(self, constant: &Self::Eight, v: Self) -> Self;

    /// The words of the tower for words of K.
    #[must_use]
    fn polynomial_to_tower(self) -> Self;
    /// The words of K for words of the tower.
    #[must_use]
    fn tower_to_polynomial(self) -> Self;
}

dispatch!(TowerWords {
    #[cfg(target_arch = "x86_64")]
    Avx512Vector<Avx512Gfni>,
    #[cfg(target_arch = "x86_64")]
    Avx2Vector<Avx2Gfni>,
    #[cfg(target_arch = "x86_64")]
    Avx512Vector<Avx512>,
    #[cfg(target_arch = "x86_64")]
    Avx2Vector<Avx2>,
    #[cfg(target_arch = "aarch64")]
    NeonVector<Neon>,
    PortableBytes
});
