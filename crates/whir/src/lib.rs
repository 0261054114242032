//! Commitments to stacks of 64-bit words: encode over GF(2^64), hash every row, one root.
//!
//! Use this crate to commit to any file, to columns of words, or to bits packed into words. The words are elements of
//! K = GF(2^64), the values of a multilinear polynomial; they are encoded with a Reed-Solomon code over an additive
//! domain, and the rows of the code are the leaves of a Merkle tree of BLAKE3 or BLAKE2s.
//!
//! | item | what it is |
//! |---|---|
//! | [`Layout`], [`Stack`] | where columns of words lie in one vector; the vector |
//! | [`Params`] | rate, hash, what stays in memory, instruction set, threads |
//! | [`commit`], [`Committer`] | once, or again and again |
//! | [`Commitment`], [`Shape`] | the root and what it is the root of |
//! | [`ProverData`], [`Opening`] | rows of the code with what proves them |
//! | [`synthetic`] | generated words |
//!
//! ```
//! use lanework_whir::{Params, Stack};
//!
//! let stack = Stack::from_bytes(&[7; 200_000])?;
//! let (commitment, data, report) = lanework_whir::commit(&Params::builder().build()?, stack)?;
//!
//! let positions = [3, 700];
//! let opening = data.open(&positions)?;
//! let rows = commitment.verify(&positions, &opening)?;
//! assert_eq!(rows.len(), 2);
//! println!("{} in {:?}", commitment.root(), report.total);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The code
//! A vector of 2^M words is cut into 64 lanes by its top six variables: lane a is the words from a 2^(M - 6) on. A lane
//! is a message of the additive transform over the Cantor basis ([`lanework_ntt::additive`]). Row p of the code is
//! word p of the codewords of all lanes, as words of the tower, the last lane first; so the lanes beyond the last
//! word that was placed, which hold zeros, come first. They are not encoded, stored or sent, and the hash of their
//! zeros is computed once. This is the code of the multilinear commitments WHIR (Arnon, Chiesa, Fenzi, Yogev, ePrint
//! 2024/1586) and Ligerito (Novakovic, Angeris, ePrint 2025/1187) over binary fields.
#![forbid(unsafe_code)]

mod commit;
mod error;
mod params;
mod shape;
mod stack;
pub mod synthetic;

pub use commit::{Committer, Opening, ProverData, Report, commit};
pub use error::{Error, OpeningError};
pub use lanework_hash::blake::Function;
pub use params::{MemoryMode, Params, ParamsBuilder};
pub use shape::{Commitment, Shape};
pub use stack::{LOG_LANES, LOG_WORDS_MAX, LOG_WORDS_MIN, Layout, Stack};
