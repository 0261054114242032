//! The value of a work, and the kernels that look for a high one.

mod body;
mod portable;
mod precomputed;
mod scalar;
mod spec;
mod table;

pub use precomputed::Precomputed;
pub use scalar::{difficulty, is_valid, validate};
pub use table::{Kernel, resolve_hit};

#[cfg(test)]
mod tests;
