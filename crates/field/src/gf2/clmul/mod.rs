//! Many elements of K at once: one trait, one vector type per instruction set.
//!
//! A kernel is written once, generic over [`Clmul`], and compiled for every instruction set; which one
//! runs is chosen at run time by a [`Generic`] computation and [`dispatch`]:
//!
//! ```
//! use lanework_arch::Choice;
//! use lanework_field::gf2::clmul::{Clmul, Generic, dispatch};
//!
//! struct Squares<'a>(&'a mut [u64]);
//!
//! impl Generic for Squares<'_> {
//!     type Output = ();
//!
//!     #[inline(always)]
//!     fn run<W: Clmul>(self, token: W::Token) {
//!         for chunk in self.0.chunks_mut(W::LEN) {
//!             let x = W::from_slice(token, chunk);
//!             x.mul(x).to_slice(chunk);
//!         }
//!     }
//! }
//!
//! let mut words = [2, 3, 1 << 32];
//! dispatch(Choice::best(), Squares(&mut words));
//! assert_eq!(words, [4, 5, 0x1b]);
//! ```
//!
//! Values prove their instructions, and inlining follows the same rules, as in
//! [`koala::lanes`](crate::koala::lanes).
//!
//! # Arithmetic
//! A product of two words has a low word l and a high word h, and x^64 = x^4 + x^3 + x + 1 = (x + 1)(x^3 + 1).
//! So the product is l + y + x^3 y for y = (x + 1) h, except for the bits that y and x^3 y shift out: they are
//! four bits that depend on the highest four of h alone, and come back through a table of sixteen bytes. Where
//! carry-less products are cheap, h is multiplied by x^4 + x^3 + x + 1, and so is the high word of that.
//!
//! A constant factor c comes with m = floor(c x^64 / P) ([`Clmul::prepare`]). For a word a, the high word of a m
//! is floor(a c / P), for what m lacks is of negative degree; the remainder is then the low word of a c plus that
//! of floor(a c / P) (x^4 + x^3 + x + 1), and nothing that is shifted out counts.
//!
//! Sums of products are reduced once, for reduction is linear ([`Clmul::Sum`], [`Product::xor`]).

#[cfg(target_arch = "aarch64")]
mod aarch64_neon;
pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;

use std::fmt::Debug;

pub use portable::PortableWords;
#[cfg(target_arch = "x86_64")]
pub use x86_avx2::Multiplier;

use super::words::{Words, dispatch};

/// Carry-less products of all words of two vectors, not reduced.
///
/// Each half of the vector type holds one half of the products, low word first; of a vector of one word, the low
/// and the high word.
#[derive(Copy, Clone, Debug)]
pub struct Product<W> {
    pub(crate) even: W,
    pub(crate) odd: W,
}

impl<W: Words> Product<W> {
    /// The sums of products.
    #[must_use]
    #[inline(always)]
    pub fn xor(self, other: Self) -> Self {
        Self {
            even: self.even.xor(other.even),
            odd: self.odd.xor(other.odd),
        }
    }

    /// The sums of three products.
    #[must_use]
    #[inline(always)]
    pub fn xor3(self, second: Self, third: Self) -> Self {
        Self {
            even: self.even.xor3(second.even, third.even),
            odd: self.odd.xor3(second.odd, third.odd),
        }
    }
}

/// Vectors of words as elements of K.
pub trait Clmul: Words + Debug {
    /// The name of the instructions, for reports.
    const NAME: &'static str;

    /// A constant factor with its quotient word.
    type Factor: Copy + Debug + Send + Sync + 'static;

    /// A sum of products at any places.
    type Sum: Copy + Debug;

    /// The carry-less products of the words at the same place.
    fn product(self, other: Self) -> Product<Self>;

    /// The elements of K that the products stand for.
    fn reduce(product: Product<Self>) -> Self;

    /// The products in K.
    #[must_use]
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self::reduce(self.product(other))
    }

    /// Prepares the factor `word`.
    fn prepare(token: Self::Token, word: u64) -> Self::Factor;

    /// The products in K with a constant.
    #[must_use]
    fn mul_by(self, factor: Self::Factor) -> Self;

    /// The words at even and those at odd places of `self` followed by `other`.
    #[must_use]
    fn unzip(self, other: Self) -> (Self, Self);

    /// The limbs of LEN triples of words: vector i has word i of every triple, with the triples in an order
    /// that only [`Clmul::in_order_of_triples`] and [`Clmul::join_triples`] know.
    #[must_use]
    fn split_triples(triples: [Self; 3]) -> [Self; 3];

    /// Undoes [`Clmul::split_triples`].
    #[must_use]
    fn join_triples(limbs: [Self; 3]) -> [Self; 3];

    /// The words in the order of the triples of [`Clmul::split_triples`].
    #[must_use]
    fn in_order_of_triples(self) -> Self;

    /// As [`Clmul::unzip`], from words in the order of triples to words in the order of triples.
    #[must_use]
    fn unzip_triples(self, other: Self) -> (Self, Self);

    /// The sum of no products.
    fn no_products(token: Self::Token) -> Self::Sum;

    /// `sum` plus the products of the words at the same place.
    fn add_products(sum: Self::Sum, left: Self, right: Self) -> Self::Sum;

    /// The polynomial that a sum of products is, low and high word together.
    fn total(sum: Self::Sum) -> u128;
}

dispatch!(Clmul {
    #[cfg(target_arch = "x86_64")]
    Avx512Vector<Avx512Vpclmul>,
    #[cfg(target_arch = "x86_64")]
    Avx2Vector<Avx2Vpclmul>,
    #[cfg(target_arch = "x86_64")]
    Avx2Vector<Avx2Pclmul>,
    #[cfg(target_arch = "aarch64")]
    NeonVector<NeonPmull>,
    PortableWords
});

/// floor(c x^64 / P), the quotient word of a constant factor c.
pub(crate) const fn quotient(c: u64) -> u64 {
    c ^ (c >> 63) ^ (c >> 61) ^ (c >> 60)
}

/// Sixteen bytes, by the highest four bits of a high word, the lowest byte first: what y and x^3 y shift out, times
/// x^4 + x^3 + x + 1.
#[cfg(target_arch = "x86_64")]
pub(crate) const SHIFTED_OUT: u128 = {
    let mut table = 0;
    let mut i = 0_u128;
    while i < 16 {
        let out = i ^ (i >> 1) ^ (i >> 3);
        table |= (out ^ (out << 1) ^ (out << 3) ^ (out << 4)) << (8 * i);
        i += 1;
    }
    table
};
