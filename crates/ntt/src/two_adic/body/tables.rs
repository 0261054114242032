//! What tables are made of.
#![expect(unsafe_code, reason = "constants are prepared in place")]

use lanework_field::KoalaBear;
use lanework_field::koala::lanes::Kernel;

use super::super::vector::Vector;

/// The powers of roots of unity that layers use, in bit-reversed order: 1, i, ..
pub(super) fn bit_reversed_roots(len: usize, root: impl Fn(u32) -> KoalaBear) -> Vec<KoalaBear> {
    let mut roots = Vec::with_capacity(len.max(1));
    roots.push(KoalaBear::ONE);
    for m in 0..len.max(1).ilog2() {
        let next = root(m + 2);
        for k in 0..1 << m {
            roots.push(roots[k] * next);
        }
    }
    roots
}

/// `first`, `first ratio`, `first ratio^2`, ..
pub(super) fn powers(first: KoalaBear, ratio: KoalaBear) -> impl Iterator<Item = KoalaBear> {
    std::iter::successors(Some(first), move |&x| Some(x * ratio))
}

/// Prepares words for use, in memory of their own.
pub(super) fn expanded<V: Vector>(token: V::Token, mut words: Vec<u32>) -> Vec<V::Twiddle> {
    struct Expand<'a, V: Vector>(V::Token, &'a [u32], *mut V::Twiddle);
    impl<V: Vector> Kernel for Expand<'_, V> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            // SAFETY: bounds: `expanded` has room for as many constants as words.
            unsafe { V::expand(self.0, self.1.as_ptr(), self.2, self.1.len()) }
        }
    }
    words.resize(words.len().next_multiple_of(V::LEN), 0);
    let mut twiddles = Vec::with_capacity(words.len());
    V::run(token, Expand::<V>(token, &words, twiddles.as_mut_ptr()));
    // SAFETY: bounds: as many constants as words have been written.
    unsafe { twiddles.set_len(words.len()) };
    twiddles
}

/// Prepares vectors of words, in memory of their own.
pub(super) fn factors<V: Vector>(token: V::Token, words: &[u32]) -> Vec<V::Factor> {
    struct Factors<'a, V: Vector>(V::Token, &'a [u32]);
    impl<V: Vector> Kernel for Factors<'_, V> {
        type Output = Vec<V::Factor>;
        #[inline(always)]
        fn run(self) -> Vec<V::Factor> {
            let mut factors = Vec::with_capacity(self.1.len() / V::LEN);
            for words in self.1.chunks_exact(V::LEN) {
                // SAFETY: bounds: a whole vector.
                factors.push(unsafe { V::factor(self.0, words.as_ptr()) });
            }
            factors
        }
    }
    V::run(token, Factors::<V>(token, words))
}
