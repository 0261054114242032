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
//! | `Avx512Bytes`, `Avx2Bytes` | 8, 4 | an instruction of GFNI |
//! | `Avx512Tables`, `Avx2Tables`, `NeonTables` | 8, 4, 2 | lookups in tables of sixteen entries ([`Shuffle`]) |
//! | [`PortableBytes`] | 2 | bit by bit |
//!
//! A kernel is written once, generic over [`TowerWords`], and chosen at run time by [`dispatch`]. [`TowerRows`] has
//! the kernels for slices.
#![expect(unsafe_code, reason = "loads and stores of vectors")]

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

use std::fmt::Debug;

#[cfg(target_arch = "x86_64")]
use lanework_arch::{Avx2, Avx2Gfni, Avx512, Avx512Gfni};
use lanework_arch::{Choice, Portable};

#[cfg(target_arch = "aarch64")]
pub use aarch64_neon::NeonTables;
pub use pattern::{Pattern, WidePattern};
pub use portable::PortableBytes;
pub use rows::TowerRows;
pub use shuffle::{Shuffle, Table};
#[cfg(target_arch = "x86_64")]
pub use x86_avx2::{Avx2Bytes, Avx2Tables, Avx2Vector};
#[cfg(target_arch = "x86_64")]
pub use x86_avx512::{Avx512Bytes, Avx512Tables, Avx512Vector};

use super::words::{Kernel, Words, sealed};

/// What a token lets the compiler use.
pub trait Bundle: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// Runs `kernel`, compiled with the instructions.
    fn run<K: Kernel>(self, kernel: K) -> K::Output;
}

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

    /// The first words of `source`, then zeros if it is shorter than the vector.
    #[inline(always)]
    fn from_slice(token: Self::Token, source: &[u64]) -> Self {
        if source.len() >= Self::LEN {
            // SAFETY: bounds: the slice has so many.
            unsafe { Self::load(token, source.as_ptr()) }
        } else {
            // SAFETY: bounds: the slice's length.
            unsafe { Self::load_part(token, source.as_ptr(), source.len()) }
        }
    }

    /// Writes the first words to `target`, as many as it holds.
    #[inline(always)]
    fn to_slice(self, target: &mut [u64]) {
        if target.len() >= Self::LEN {
            // SAFETY: bounds: the slice has so many.
            unsafe { self.store(target.as_mut_ptr()) }
        } else {
            // SAFETY: bounds: the slice's length.
            unsafe { self.store_part(target.as_mut_ptr(), target.len()) }
        }
    }
}

/// A computation for any [`TowerWords`] type.
pub trait Generic {
    /// What the computation returns.
    type Output;

    /// Does the computation. Implementations are `#[inline(always)]`.
    fn run<W: TowerWords>(self, token: W::Token) -> Self::Output;
}

/// The vector type for a choice of instructions.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Proof {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512Gfni),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Gfni),
    #[cfg(target_arch = "x86_64")]
    Avx512Tables(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2Tables(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(lanework_arch::Neon),
    Portable(Portable),
}

impl Proof {
    /// The fastest type within `choice`.
    pub(crate) fn new(choice: Choice) -> Self {
        Self::all(choice).next().unwrap_or(Self::Portable(Portable))
    }

    /// Every type within `choice`, the fastest first.
    pub(crate) fn all(choice: Choice) -> impl Iterator<Item = Self> {
        let list = [
            #[cfg(target_arch = "x86_64")]
            Avx512Gfni::new(choice).map(Self::Avx512),
            #[cfg(target_arch = "x86_64")]
            Avx2Gfni::new(choice).map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Avx512::new(choice).map(Self::Avx512Tables),
            #[cfg(target_arch = "x86_64")]
            Avx2::new(choice).map(Self::Avx2Tables),
            #[cfg(target_arch = "aarch64")]
            lanework_arch::Neon::new(choice).map(Self::Neon),
            Some(Self::Portable(Portable)),
        ];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = choice;
        list.into_iter().flatten()
    }

    /// Runs `generic` with this type.
    #[inline]
    pub(crate) fn run<G: Generic>(self, generic: G) -> G::Output {
        struct With<G, W: Words>(G, W::Token);

        impl<G: Generic, W: TowerWords> Kernel for With<G, W> {
            type Output = G::Output;

            #[inline(always)]
            fn run(self) -> G::Output {
                self.0.run::<W>(self.1)
            }
        }

        fn with<W: TowerWords, G: Generic>(token: W::Token, generic: G) -> G::Output {
            W::run(token, With::<G, W>(generic, token))
        }

        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token) => with::<Avx512Bytes, G>(token, generic),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(token) => with::<Avx2Bytes, G>(token, generic),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Tables(token) => with::<Avx512Tables, G>(token, generic),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2Tables(token) => with::<Avx2Tables, G>(token, generic),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(token) => with::<NeonTables, G>(token, generic),
            Self::Portable(token) => with::<PortableBytes, G>(token, generic),
        }
    }
}

/// Runs `generic` with the fastest vector type within `choice`.
pub fn dispatch<G: Generic>(choice: Choice, generic: G) -> G::Output {
    Proof::new(choice).run(generic)
}
