//! Finite fields of the Lanework crates.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "words are read as signed and as unsigned numbers alike"
)]

pub mod koala;

pub use koala::KoalaBear;
