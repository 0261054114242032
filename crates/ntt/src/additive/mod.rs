//! Additive transforms.

mod body;
mod encoder;
mod form;
mod group;
mod node;
mod table;
#[cfg(test)]
mod tests;
mod transform;

pub use encoder::{Encoder, Representation, Shape};
pub use transform::Transform;
