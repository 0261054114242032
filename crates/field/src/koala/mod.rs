//! KoalaBear, the prime field of p = 2^31 - 2^24 + 1, and its extensions.

#[cfg(target_arch = "aarch64")]
mod aarch64_neon;
mod convert;
mod extension;
mod integer;
pub mod lanes;
mod portable;
mod scalar;
pub mod spec;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;

pub use convert::{from_canonical_slice, reduce_slice, to_canonical_slice};
pub use extension::{Ext4, Ext6, Extension};
pub use integer::Integer;
pub use scalar::KoalaBear;
