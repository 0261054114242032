//! The value of a work, and the kernels that look for a high one.

#[cfg(target_arch = "aarch64")]
mod aarch64_neon;
#[cfg_attr(
    target_arch = "x86_64",
    allow(dead_code, reason = "kernels for other targets, tested on all")
)]
mod body;
#[cfg_attr(
    target_arch = "x86_64",
    allow(dead_code, reason = "kernels for other targets, tested on all")
)]
mod portable;
mod precomputed;
mod scalar;
mod spec;
mod table;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod x86_64_scalar;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;

pub use precomputed::Precomputed;
pub use scalar::{difficulty, is_valid, validate};
pub use table::{Kernel, resolve_hit};

#[cfg(test)]
mod tests;
