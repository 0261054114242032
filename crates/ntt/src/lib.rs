//! Number-theoretic transforms over KoalaBear, additive ones over GF(2^64), and the Reed-Solomon encoding they make fast.
//!
//! Use it to extend columns of a table to the codewords that FRI commits to ([`LdePlan`]), and to go
//! from coefficients to values and back ([`Transform`]).
//!
//! | module | what it has |
//! |---|---|
//! | [`two_adic`] | transforms over subgroups of order 2^k and their cosets |
//! | [`additive`] | transforms of interleaved lanes of 64-bit words over subspaces |
//!
//! ```
//! use lanework_arch::{Choice, cpu::Caches};
//! use lanework_field::KoalaBear;
//! use lanework_ntt::LdePlan;
//!
//! let plan = LdePlan::new(2, 1, KoalaBear::ONE, Choice::best(), Caches::detect())?;
//! let message = [201, 202, 203, 204].map(KoalaBear::new);
//! let mut codeword = vec![KoalaBear::ZERO; plan.codeword_len()];
//! let mut scratch = vec![KoalaBear::ZERO; plan.scratch_len()];
//! plan.encode(&message, &mut codeword, &mut scratch);
//! // Without a shift, the first half is the message in bit-reversed order.
//! assert_eq!(codeword[..4], [201, 203, 202, 204].map(KoalaBear::new));
//! # Ok::<(), lanework_ntt::Error>(())
//! ```

pub mod additive;
mod error;
mod plan;
pub mod two_adic;

pub use error::Error;
pub use two_adic::{Direction, LdePlan, Order, Transform, bit_reverse};
