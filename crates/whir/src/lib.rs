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
//! zeros is computed once. The code is that of the multilinear commitments WHIR (Arnon, Chiesa, Fenzi, Yogev, ePrint
//! 2024/1586) and Ligerito (Novakovic, Angeris, ePrint 2025/1187) over binary fields.
//!
//! # Bytes
//! - A word is eight bytes of the input, the first the lowest, and an element of K = GF(2)\[x\] / (x^64 + x^4 + x^3 + x + 1)
//!   with bit i the coefficient of x^i; or of the tower, see [`Stack::with_representation`].
//! - The tower is not that of Binius: [`lanework_field::gf2::spec`] has its polynomials, the Cantor basis, and both maps.
//! - Row p has the values at the point [`T64::omega(p)`](lanework_field::gf2::T64::omega) of the polynomials whose
//!   coefficients in the novel basis are the lanes' words, in words of the tower.
//! - A leaf is 512 bytes: 64 words, little endian, of which those of empty lanes are zeros.
//! - Leaves and nodes are hashed by [`TreeHash::new`](lanework_hash::blake::TreeHash::new).
//!
//! The root does not depend on the number of bytes in the last word, nor on what the words are made of. [`Shape`] has
//! the former; a protocol puts the whole commitment, and the latter, into its transcript.
#![forbid(unsafe_code)]

mod commit;
mod error;
mod params;
mod shape;
mod stack;
pub mod synthetic;

pub use commit::{Committer, Opening, ProverData, Report, commit};
pub use error::{Error, OpeningError};
pub use lanework_hash::ByteDigest;
pub use lanework_hash::blake::Function;
pub use lanework_ntt::additive::Representation;
pub use params::{MemoryMode, Params, ParamsBuilder};
pub use shape::{Commitment, Shape};
pub use stack::{LOG_LANES, LOG_WORDS_MAX, LOG_WORDS_MIN, Layout, Stack};
