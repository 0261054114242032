//! Transforms over the subgroups of order 2^k, and their cosets.

mod bit_reverse;
mod body;
mod lde;
pub mod scalar;
mod small;
mod table;
#[cfg(test)]
mod tests;
mod transform;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_avx512_ifma;

pub use bit_reverse::bit_reverse;
pub use lde::LdePlan;
pub use transform::{Direction, Order, Transform};
