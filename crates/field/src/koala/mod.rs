//! KoalaBear, the prime field of p = 2^31 - 2^24 + 1.

#[cfg(target_arch = "aarch64")]
mod aarch64_neon;
pub mod lanes;
mod portable;
mod scalar;
pub mod spec;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;

pub use scalar::{KoalaBear, NonCanonical};
#[cfg(test)]
mod tests;
