//! Many elements at once: one trait, one vector type per instruction set.
//!
//! A kernel is written once, generic over [`Lanes`], and compiled for every instruction set:
//!
//! ```
//! use lanework_arch::Portable;
//! use lanework_field::KoalaBear;
//! use lanework_field::koala::lanes::{Kernel, Lanes, PortableLanes};
//!
//! struct Cubes<'a, L: Lanes>(L::Token, &'a mut [KoalaBear]);
//!
//! impl<L: Lanes> Kernel for Cubes<'_, L> {
//!     type Output = ();
//!
//!     #[inline(always)]
//!     fn run(self) {
//!         for chunk in self.1.chunks_exact_mut(L::LEN) {
//!             L::from_slice(self.0, chunk).cube().to_slice(chunk);
//!         }
//!     }
//! }
//!
//! let mut values = [KoalaBear::new(5); 16];
//! PortableLanes::run(Portable, Cubes::<PortableLanes>(Portable, &mut values));
//! assert_eq!(values, [KoalaBear::new(125); 16]);
//! ```
//!
//! # Dispatch
//! A lane value exists only where its instruction set does: every way to make one takes the token
//! of [`lanework_arch`] or another lane value. Its arithmetic is therefore safe to call. All of it
//! is `#[inline(always)]` and has no target feature of its own; the instructions become usable in
//! the one function with a `#[target_feature]` into which everything is inlined. [`Lanes::run`] is
//! such a function for any [`Kernel`]; a kernel with an entry of its own does not need it.
//!
//! # Arithmetic
//! Lanes hold Montgomery words in [0, p), R = 2^32. Sums are corrected with an unsigned minimum:
//! for s in [0, 2p), min(s, s - p mod 2^32) is s mod p, because s - p wraps to a number above s
//! exactly when s < p; likewise min(d, d + p) for d in (-p, p).
//!
//! A product x y is reduced by q = x y p^-1 mod 2^32 and (x y - q p) / 2^32: the low words cancel,
//! so that only high words are subtracted. Read as signed, |x y| <= 2^31 p and |q| <= 2^31 give a
//! result in (-p, p) before the correction. That leaves room for a factor in (-p, p), which
//! [`Lanes::cube`] uses for the square and [`Lanes::add_cube`] for the sum it cubes: both stay
//! uncorrected.
//!
//! A constant factor c comes with c p^-1 mod 2^32 ([`Prepared`], [`Lanes::Multiplier`]): q is then
//! one product of x, which neither waits for x c nor needs it.
#![expect(unsafe_code, reason = "unaligned loads and stores of vectors")]

use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use lanework_arch::{Choice, Isa, Portable};

use super::KoalaBear;
use super::spec::{MONTGOMERY_MU, P};

#[cfg(target_arch = "aarch64")]
pub use super::aarch64_neon::NeonLanes;
pub use super::portable::PortableLanes;
#[cfg(target_arch = "x86_64")]
pub use super::x86_avx2::Avx2Lanes;
#[cfg(target_arch = "x86_64")]
pub use super::x86_avx512::Avx512Lanes;

pub(crate) mod sealed {
    /// Unsafe code relies on what the implementations here do, so there are no others.
    pub trait Sealed {}
}

/// A computation to be compiled with the instructions of a [`Lanes`] type.
pub trait Kernel {
    /// What the computation returns.
    type Output;

    /// Does the computation. Implementations are `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// A computation that any lanes can do, see [`dispatch`].
pub trait Computation {
    /// What the computation returns.
    type Output;

    /// Does the computation. Implementations are `#[inline(always)]`.
    fn run<L: Lanes>(self, token: L::Token) -> Self::Output;
}

/// Does `computation` with the widest lanes that `choice` has.
///
/// ```
/// use lanework_arch::Choice;
/// use lanework_field::KoalaBear;
/// use lanework_field::koala::lanes::{Computation, Lanes, dispatch};
///
/// struct Double<'a>(&'a mut [KoalaBear]);
///
/// impl Computation for Double<'_> {
///     type Output = ();
///
///     #[inline(always)]
///     fn run<L: Lanes>(self, token: L::Token) {
///         for chunk in self.0.chunks_exact_mut(L::LEN) {
///             L::from_slice(token, chunk).double().to_slice(chunk);
///         }
///     }
/// }
///
/// let mut values = [KoalaBear::new(5); 32];
/// dispatch(Choice::best(), Double(&mut values));
/// assert_eq!(values, [KoalaBear::new(10); 32]);
/// ```
pub fn dispatch<C: Computation>(choice: Choice, computation: C) -> C::Output {
    struct With<C, L: Lanes>(C, L::Token);

    impl<C: Computation, L: Lanes> Kernel for With<C, L> {
        type Output = C::Output;

        #[inline(always)]
        fn run(self) -> C::Output {
            self.0.run::<L>(self.1)
        }
    }

    #[cfg(target_arch = "x86_64")]
    if let Some(token) = lanework_arch::Avx512::new(choice) {
        return Avx512Lanes::run(token, With::<C, Avx512Lanes>(computation, token));
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = lanework_arch::Avx2::new(choice) {
        return Avx2Lanes::run(token, With::<C, Avx2Lanes>(computation, token));
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(token) = lanework_arch::Neon::new(choice) {
        return NeonLanes::run(token, With::<C, NeonLanes>(computation, token));
    }
    PortableLanes::run(Portable, With::<C, PortableLanes>(computation, Portable))
}

/// A constant factor with its quotient word, the same for all lanes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub(crate) word: u32,
    pub(crate) quotient: u32,
}

impl Prepared {
    /// Prepares the factor `value`.
    pub const fn new(value: KoalaBear) -> Self {
        let word = value.montgomery_word();
        Self {
            word,
            quotient: word.wrapping_mul(MONTGOMERY_MU),
        }
    }
}

/// A constant to be added just before a cube, the same for all lanes: the word minus p.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Addend(pub(crate) i32);

impl Addend {
    /// Prepares the summand `value`.
    pub const fn new(value: KoalaBear) -> Self {
        Self(value.montgomery_word() as i32 - P as i32)
    }
}

/// A vector of field elements in [0, p), as Montgomery words.
pub trait Lanes:
    sealed::Sealed
    + Copy
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
{
    /// The proof that the instructions exist.
    type Token: Copy + Send + Sync + 'static;

    /// Constant factors, one per lane, with their quotient words.
    type Multiplier: Copy + Send + Sync + 'static;

    /// A sum of products of lanes, none of them reduced.
    type Products: Copy + Send + Sync + 'static;

    /// The number of lanes: 4, 8 or 16.
    const LEN: usize;

    /// The instruction-set bundle.
    const ISA: Isa;

    /// Runs `kernel`, compiled with the instructions of this type.
    fn run<K: Kernel>(token: Self::Token, kernel: K) -> K::Output;

    /// `value` in every lane.
    fn splat(token: Self::Token, value: KoalaBear) -> Self;

    /// The [`Lanes::LEN`] elements at `source`, which need not be aligned.
    ///
    /// # Safety
    /// [`Lanes::LEN`] elements can be read at `source`.
    unsafe fn load(token: Self::Token, source: *const KoalaBear) -> Self;

    /// Writes the elements to `target`, which need not be aligned.
    ///
    /// # Safety
    /// [`Lanes::LEN`] elements can be written at `target`.
    unsafe fn store(self, target: *mut KoalaBear);

    /// The first [`Lanes::LEN`] elements of `source`.
    ///
    /// # Panics
    /// If `source` is shorter.
    #[inline(always)]
    fn from_slice(token: Self::Token, source: &[KoalaBear]) -> Self {
        let source = &source[..Self::LEN];
        // SAFETY: bounds: the slice has LEN elements.
        unsafe { Self::load(token, source.as_ptr()) }
    }

    /// Writes the elements to the front of `target`.
    ///
    /// # Panics
    /// If `target` is shorter than [`Lanes::LEN`].
    #[inline(always)]
    fn to_slice(self, target: &mut [KoalaBear]) {
        let target = &mut target[..Self::LEN];
        // SAFETY: bounds: the slice has LEN elements.
        unsafe { self.store(target.as_mut_ptr()) }
    }

    /// 2 x.
    #[must_use]
    #[inline(always)]
    fn double(self) -> Self {
        self + self
    }

    /// x / 2.
    #[must_use]
    fn halve(self) -> Self;

    /// x^2.
    #[must_use]
    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }

    /// x^3.
    #[must_use]
    fn cube(self) -> Self;

    /// (x + c)^3.
    #[must_use]
    fn add_cube(self, constant: &Addend) -> Self;

    /// x / 2^N, for N from 1 to 24.
    ///
    /// With x = a 2^N + b and 127 * 2^24 = -1, this is a - b * 127 * 2^(24 - N): shifts only.
    #[must_use]
    fn mul_2exp_neg<const N: u32>(self) -> Self;

    /// c x for a constant c.
    #[must_use]
    fn mul_prepared(self, constant: &Prepared) -> Self;

    /// The same elements as constant factors.
    fn prepare(self) -> Self::Multiplier;

    /// The factor of each lane times the element of the lane.
    #[must_use]
    fn mul_by(self, multiplier: &Self::Multiplier) -> Self;

    /// The sum of no products.
    fn no_products(token: Self::Token) -> Self::Products;

    /// The sum with `x[0] y[0]` and `x[1] y[1]` added in each lane. Up to 2^24 times.
    ///
    /// Four products of words below p are below 2^64, so that two of each of two neighbouring lanes are added
    /// before the halves of the sum go to sums of their own.
    #[must_use]
    fn add_products(sum: Self::Products, x: [Self; 2], y: [Self; 2]) -> Self::Products;

    /// The sum over all lanes, reduced.
    fn total(sum: Self::Products) -> KoalaBear;

    /// Exchanges blocks of `BLOCK` lanes (a power of two) between two vectors: the blocks
    /// a0 a1 a2 a3 .. and b0 b1 b2 b3 .. become a0 b0 a2 b2 .. and a1 b1 a3 b3 .. . A `BLOCK` of
    /// LEN or more changes nothing. Doing it twice changes nothing.
    #[must_use]
    fn interleave<const BLOCK: usize>(self, other: Self) -> (Self, Self);

    /// Transposes LEN vectors of LEN lanes: lane j of vector i becomes lane i of vector j.
    ///
    /// # Panics
    /// If `block` does not hold LEN vectors.
    #[inline(always)]
    fn transpose(block: &mut [Self]) {
        assert_eq!(block.len(), Self::LEN, "a block to transpose is square");
        if Self::LEN >= 16 {
            exchange::<Self, 8>(block);
        }
        if Self::LEN >= 8 {
            exchange::<Self, 4>(block);
        }
        exchange::<Self, 2>(block);
        exchange::<Self, 1>(block);
    }

    /// The sum, in a tree of additions.
    ///
    /// # Panics
    /// If `N` is 0.
    #[must_use]
    #[inline(always)]
    fn sum<const N: usize>(mut values: [Self; N]) -> Self {
        let mut len = N;
        while len > 1 {
            for i in 0..len / 2 {
                values[i] += values[len - 1 - i];
            }
            len -= len / 2;
        }
        values[0]
    }
}

/// Exchanges the off-diagonal `BLOCK` x `BLOCK` blocks of every 2 x 2 group of them.
#[inline(always)]
fn exchange<L: Lanes, const BLOCK: usize>(block: &mut [L]) {
    for group in (0..L::LEN).step_by(2 * BLOCK) {
        for i in group..group + BLOCK {
            (block[i], block[i + BLOCK]) = block[i].interleave::<BLOCK>(block[i + BLOCK]);
        }
    }
}

/// The element of a sum of products of Montgomery words: `low` + 2^32 `high` over R = 2^32.
#[inline]
pub(crate) fn reduce_products(low: u64, high: u64) -> KoalaBear {
    let p = u64::from(P);
    let low = (low % p) as u32;
    let high = KoalaBear::from_word_below_p((high % p) as u32);
    // A product of words is divided by R, as this sum must be; the word 1 stands for 1/R.
    KoalaBear::from_word_below_p(low) * KoalaBear::from_word_below_p(1) + high
}

/// The operators that follow from the plain ones, for a lane type.
macro_rules! derived_operators {
    ($lanes:ty) => {
        impl $crate::koala::lanes::sealed::Sealed for $lanes {}

        impl std::ops::Neg for $lanes {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.zero() - self
            }
        }

        impl std::ops::AddAssign for $lanes {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl std::ops::SubAssign for $lanes {
            #[inline(always)]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl std::ops::MulAssign for $lanes {
            #[inline(always)]
            fn mul_assign(&mut self, other: Self) {
                *self = *self * other;
            }
        }
    };
}
pub(crate) use derived_operators;
