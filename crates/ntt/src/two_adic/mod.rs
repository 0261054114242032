//! Transforms over the subgroups of order 2^k, and their cosets.

mod lde;
pub mod scalar;
mod small;
mod table;

pub use lde::LdePlan;
