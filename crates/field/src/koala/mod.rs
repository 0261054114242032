//! KoalaBear, the prime field of p = 2^31 - 2^24 + 1.

pub mod spec;
mod scalar;

pub use scalar::{KoalaBear, NonCanonical};
