//! Vectors of 64-bit words.
#![expect(unsafe_code, reason = "loads and stores of vectors")]

use lanework_arch::Isa;

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
}
