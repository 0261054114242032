//! The passes, for any [`Vector`].
//!
//! # The index
//! A message of n = 2^L elements `y_i` has the coefficients `c_j = 1/n sum_i y_i w^-ij`. The bits of
//! i are split, from the top, into l bits for the lanes of a vector, b *wide* and d *deep* ones:
//!
//! ```text
//!     i = (A, B, y)        A < 2^l, B < 2^b, y < 2^d
//!     j = lane + 2^l beta + 2^(l+b) z
//! ```
//!
//! Layers with one constant per block turn natural order into bit-reversed order, high bits of i
//! first: the layers of A leave the bits of `lane` (reversed), those of B the bits of beta, those
//! of y the bits of z. The value of a polynomial at x^2 = r is split into those at x and -x, and
//! the constant of a block is its x.
//!
//! # The passes
//! 1. *Gather.* For a few neighbouring y at a time, all (A, B): the layers of A and B. Then the
//!    factor w^-(lane y) / n, and a transposition, after which the lanes of a vector hold
//!    different `lane`, and whole vectors are numbered (B, y). All further constants are the same
//!    for all lanes.
//! 2. *Deep.* For each B, a row of 2^d vectors: the layers of y, which leave coefficients in a row
//!    with z reversed. Then for each coset g H of the codeword, the layers of z: the high bits of
//!    j first, which are the near neighbours in the row. They leave e, the low bits of the index of
//!    a value, in natural order, and the bits of its position reversed.
//! 3. *Scatter.* For each e, all (beta, lane): a factor (g w^e)^lane, the layers of beta and those
//!    of the lanes, during which pairs of vectors exchange halves. The result is a block of 2^(l+b)
//!    neighbours of the codeword, at the position rev(e): no order needs mending.
//!
//! The shift of a coset is part of the constants of all these layers.
//!
//! Between the passes the elements lie in *lines* of two vectors. The lines of a row are the same
//! in both layouts, so that a row can be replaced in place: 2^l lines of a row make a *piece*, and
//! the pieces of all rows at one place are neighbours. Pass 1 writes and pass 3 reads them in turn.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over registers, to be unrolled"
)]

mod encoder;
mod front;
mod layers;
mod memory;
mod tables;
mod transformer;

pub(super) use encoder::Encoder;
pub(super) use transformer::Transformer;
