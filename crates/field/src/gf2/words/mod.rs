//! Vectors of 64-bit words: one trait, one type per width.
//!
//! | type | words | tokens |
//! |---|---|---|
//! | `Avx512Vector` | 8 | `Avx512Token` |
//! | `Avx2Vector` | 4 | `Avx2Token` |
//! | `NeonVector` | 2 | `NeonToken` |
//!
//! The token says which products there are: [`clmul`](super::clmul) and [`bytes`](super::bytes) implement their traits
//! for the vectors of the tokens that allow it, and have a type of their own for other CPUs.
#![expect(unsafe_code, reason = "loads and stores of vectors")]

#[cfg(target_arch = "aarch64")]
mod aarch64_neon;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;

use lanework_arch::Isa;

#[cfg(target_arch = "aarch64")]
pub use aarch64_neon::{NeonToken, NeonVector};
#[cfg(target_arch = "x86_64")]
pub use x86_avx2::{Avx2Token, Avx2Vector};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_avx512::XOR3;
#[cfg(target_arch = "x86_64")]
pub use x86_avx512::{Avx512Token, Avx512Vector};

pub use crate::koala::lanes::Kernel;

pub(crate) mod sealed {
    /// Unsafe code relies on what the implementations here do, so there are no others.
    pub trait Sealed {}
}

/// A vector of 64-bit words.
pub trait Words: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The proof that the instructions exist.
    type Token: Copy + Send + Sync + 'static;
    /// The number of words.
    const LEN: usize;
    /// The instruction-set bundle.
    const ISA: Isa;

    /// Runs `kernel`, compiled with the instructions of this type.
    fn run<K: Kernel>(token: Self::Token, kernel: K) -> K::Output;
    /// `word` in every place.
    fn splat(token: Self::Token, word: u64) -> Self;
    /// The words at `source`, which need not be aligned.
    ///
    /// # Safety
    /// [`Words::LEN`] words can be read at `source`.
    unsafe fn load(token: Self::Token, source: *const u64) -> Self;
    /// The first `count` words at `source`, then zeros.
    ///
    /// # Safety
    /// `count` words, at most [`Words::LEN`], can be read at `source`.
    unsafe fn load_part(token: Self::Token, source: *const u64, count: usize) -> Self;
    /// Writes the words to `target`, which need not be aligned.
    ///
    /// # Safety
    /// [`Words::LEN`] words can be written at `target`.
    unsafe fn store(self, target: *mut u64);
    /// Writes the words to `target` past the caches, where there are such stores.
    ///
    /// # Safety
    /// As [`Words::store`]; `target` is a multiple of the vector's size, and a fence must follow before anyone
    /// else looks at it.
    unsafe fn stream(self, target: *mut u64);

    /// Writes the first `count` words to `target`.
    ///
    /// # Safety
    /// `count` words, at most [`Words::LEN`], can be written at `target`.
    unsafe fn store_part(self, target: *mut u64, count: usize);
    /// Transposes [`Words::LEN`] vectors: word j of vector i becomes word i of vector j.
    ///
    /// # Panics
    /// If `block` has another length.
    fn transpose(block: &mut [Self]);

    /// The bitwise sum.
    #[must_use]
    fn xor(self, other: Self) -> Self;
    /// The bitwise sum of three.
    #[must_use]
    fn xor3(self, b: Self, c: Self) -> Self;

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

/// The trait of the tokens of one width, and the features that each lets the compiler use.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! tokens {
    ($(#[$doc:meta])* $name:ident { $($token:ident: $features:literal,)+ }) => {
        $(#[$doc])*
        pub trait $name: sealed::Sealed + Copy + std::fmt::Debug + Send + Sync + 'static {
            /// Runs `kernel`, compiled with the instructions.
            fn run<K: Kernel>(self, kernel: K) -> K::Output;
        }

        $(
            impl sealed::Sealed for $token {}

            impl $name for $token {
                #[inline(always)]
                fn run<K: Kernel>(self, kernel: K) -> K::Output {
                    #[target_feature(enable = $features)]
                    fn entry<K: Kernel>(kernel: K) -> K::Output {
                        kernel.run()
                    }
                    // SAFETY: feature: the token.
                    unsafe { entry(kernel) }
                }
            }
        )+
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use tokens;

/// The switch of a trait of vectors: which of them a choice of instructions gets, and computations for any of them.
/// Vectors are listed from the fastest, with that of other CPUs at the end.
macro_rules! dispatch {
    ($words:ident { $(#[$cfg:meta] $vector:ident<$token:ident>,)+ $portable:ident }) => {
        #[doc = concat!("A computation for any [`", stringify!($words), "`] type.")]
        pub trait Generic {
            /// What the computation returns.
            type Output;

            /// Does the computation. Implementations are `#[inline(always)]`.
            fn run<W: $words>(self, token: W::Token) -> Self::Output;
        }

        /// The vector type for a choice of instructions.
        #[derive(Copy, Clone, Debug)]
        pub(crate) enum Proof {
            $(#[$cfg] $token(lanework_arch::$token),)+
            Portable(lanework_arch::Portable),
        }

        impl Proof {
            /// The fastest type within `choice`.
            pub(crate) fn new(choice: lanework_arch::Choice) -> Self {
                let portable = Self::Portable(lanework_arch::Portable);
                Self::all(choice).next().unwrap_or(portable)
            }

            /// Every type within `choice`, the fastest first.
            pub(crate) fn all(choice: lanework_arch::Choice) -> impl Iterator<Item = Self> {
                #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
                let _ = choice;
                let list = [
                    $(#[$cfg] lanework_arch::$token::new(choice).map(Self::$token),)+
                    Some(Self::Portable(lanework_arch::Portable)),
                ];
                list.into_iter().flatten()
            }

            /// The name of the instructions, for reports.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(#[$cfg] Self::$token(_) => {
                        <$crate::gf2::words::$vector<lanework_arch::$token> as $words>::NAME
                    })+
                    Self::Portable(_) => <$portable as $words>::NAME,
                }
            }

            /// Runs `generic` with this type.
            #[inline]
            pub(crate) fn run<G: Generic>(self, generic: G) -> G::Output {
                struct With<G, W: $words>(G, W::Token);

                impl<G: Generic, W: $words> $crate::gf2::words::Kernel for With<G, W> {
                    type Output = G::Output;

                    #[inline(always)]
                    fn run(self) -> G::Output {
                        self.0.run::<W>(self.1)
                    }
                }

                fn with<W: $words, G: Generic>(token: W::Token, generic: G) -> G::Output {
                    W::run(token, With::<G, W>(generic, token))
                }

                match self {
                    $(#[$cfg] Self::$token(token) => {
                        with::<$crate::gf2::words::$vector<lanework_arch::$token>, G>(token, generic)
                    })+
                    Self::Portable(token) => with::<$portable, G>(token, generic),
                }
            }
        }

        /// Runs `generic` with the fastest vector type within `choice`.
        pub fn dispatch<G: Generic>(choice: lanework_arch::Choice, generic: G) -> G::Output {
            Proof::new(choice).run(generic)
        }
    };
}
pub(crate) use dispatch;
