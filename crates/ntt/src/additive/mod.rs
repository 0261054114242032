//! Additive transforms.

mod body;
mod encoder;
mod form;
mod group;
mod node;
mod scalar;
mod table;
#[cfg(test)]
mod tests;
mod transform;

pub use encoder::{Encoder, Representation, Shape};
pub use node::Network;
pub use scalar::Definition;
pub use transform::Transform;
