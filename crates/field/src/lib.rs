//! Finite fields for the Lanework crates: scalars, extensions, and many elements per instruction.
//!
//! Use it for field arithmetic that must equal other implementations bit for bit: elements are the
//! words that Plonky3 and gnark-crypto keep in memory.
//!
//! | module | holds |
//! |---|---|
//! | [`koala`] | KoalaBear: [`KoalaBear`], [`koala::Ext4`], [`koala::Ext6`], conversions of slices |
//! | [`gf2`] | fields of characteristic 2: GF(2^64) as polynomials and as a tower, GF(2^192), many words at once |
//! | [`koala::lanes`] | vectors of elements for AVX-512, AVX2, NEON and plain CPUs |
//!
//! ```
//! use lanework_field::koala::Ext4;
//! use lanework_field::{Field, KoalaBear, batch_inverse, powers};
//!
//! # fn main() -> Result<(), lanework_field::Error> {
//! let x = Ext4::from_canonical([1, 2, 3, 4])?;
//! let mut row: Vec<Ext4> = powers(x).take(5).collect();
//! batch_inverse(&mut row);
//! assert_eq!(row[4] * x.pow(4), Ext4::from(KoalaBear::ONE));
//! # Ok(())
//! # }
//! ```

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "words are read as signed and as unsigned numbers alike"
)]

mod algebra;
mod error;
pub mod gf2;
pub mod koala;

pub use algebra::{Field, Powers, batch_inverse, powers, shifted_powers};
pub use error::Error;
pub use koala::KoalaBear;
