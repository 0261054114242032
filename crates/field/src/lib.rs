//! Finite fields of the Lanework crates.

pub mod koala;

pub use koala::KoalaBear;
