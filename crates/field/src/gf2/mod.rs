//! Fields of characteristic 2: GF(2^64) in two representations, and GF(2^192) over it.
//!
//! | item | what it is |
//! |---|---|
//! | [`B64`] | K = GF(2)\[x\] / (x^64 + x^4 + x^3 + x + 1) |
//! | [`B192`] | E = K\[y\] / (y^3 + y + 1) |
//! | [`T64`] | GF(2^64) as a tower over the field of bytes |
//! | [`BaseSum`], [`MixedSum`], [`ExtensionSum`] | sums of products, reduced once |
//! | [`Rows`], [`TowerRows`](bytes::TowerRows) | slices of elements, by the kernels of a choice of instructions |
//! | [`words`] | vectors of words |
//! | [`clmul`], [`bytes`] | their products in K, and by constants of the tower |
//! | [`scalar`] | the definition, bit by bit |

mod base;
mod body;
pub mod bytes;
pub mod clmul;
mod convert;
mod extension;
mod operators;
mod rows;
pub mod scalar;
pub mod spec;
mod sums;
mod tower;
pub mod words;

pub use base::B64;
pub use extension::B192;
pub use rows::Rows;
pub use sums::{BaseSum, ExtensionSum, MixedSum};
pub use tower::T64;
