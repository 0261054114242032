//! Fields of characteristic 2: GF(2^64) in two representations, and GF(2^192) over it.

pub mod bytes;
pub mod clmul;
pub mod scalar;
pub mod spec;
mod tower;
pub mod words;

pub use tower::T64;
