//! Fiat-Shamir transcripts, grinding, and the byte codec of proofs.
//!
//! Use it to make a protocol non-interactive: prover and verifier absorb the same messages and squeeze
//! the same challenges.
//!
//! | type | is |
//! |---|---|
//! | [`Transcript`] | a typed transcript under a domain label, over [`Function::Poseidon2`], BLAKE3 or BLAKE2s |
//! | [`Duplex`] | Plonky3's `DuplexChallenger<16, 8>`, which the Poseidon2 transcript is made of |
//! | [`lineth::FiatShamir`] | the transcript of lineth's prover-ray and verifier-ray |
//! | [`codec`] | bytes of proofs: a writer, and a reader that trusts nothing |
//!
//! ```
//! use lanework_arch::Choice;
//! use lanework_field::KoalaBear;
//! use lanework_transcript::{Function, Transcript};
//!
//! let mut prover = Transcript::new(&Function::plonky3(), "example v1", Choice::best());
//! prover.absorb_elements(&[KoalaBear::new(5)]);
//! let nonce = prover.grind(10)?;
//! let challenge: [KoalaBear; 4] = prover.squeeze_elements();
//!
//! let mut verifier = Transcript::new(&Function::plonky3(), "example v1", Choice::portable());
//! verifier.absorb_elements(&[KoalaBear::new(5)]);
//! verifier.check_grinding(10, nonce)?;
//! assert_eq!(verifier.squeeze_elements(), challenge);
//! # Ok::<(), lanework_transcript::Error>(())
//! ```
#![forbid(unsafe_code)]

mod chain;
pub mod codec;
mod duplex;
mod error;
pub mod lineth;
mod transcript;

pub use chain::Chain;
pub use duplex::Duplex;
pub use error::Error;
pub use transcript::{Function, GRINDING_BITS_MAX, Transcript};
