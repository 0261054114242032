//! Transforms over the subgroups of order 2^k, and their cosets.

mod body;
mod lde;
pub mod scalar;
mod small;
mod table;
#[cfg(test)]
mod tests;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_avx512_ifma;

pub use lde::LdePlan;
