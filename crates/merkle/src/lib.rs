//! Merkle trees over tables of mixed heights, in the two formats that KoalaBear provers use, and over
//! digests of bytes.
//!
//! Use this crate to commit to columns that are already encoded; to commit to a trace, use
//! `lanework-fri`, which encodes and then comes here.
//!
//! | module | what it builds |
//! |---|---|
//! | [`lineth`] | the multi-size tree of lineth's prover-ray: two children and an auxiliary digest |
//! | [`mmcs`] | the binary `MerkleTreeMmcs` of Plonky3: mixed heights, caps |
//! | [`bytes`] | binary trees of digests of bytes, with openings and their verifier |
//! | [`opening`] | the verifier of openings of the first two |
//!
//! The first two are one binary tree whose layers may take in digests of a smaller table, so they share one
//! [`Builder`]. It cuts the tree into subtrees that fit into the cache of a core. A task hashes the
//! rows of its subtree straight into the storage of the tree, and goes on to compress its layers,
//! those of smaller tables included, as long as they fill vectors; the few layers above are then
//! built the same way. No thread waits for others at each level.
//!
//! ```
//! use lanework_arch::Choice;
//! use lanework_field::KoalaBear;
//! use lanework_hash::{PaddingFreeSponge, Poseidon2, RoundConstants, TruncatedPermutation};
//! use lanework_merkle::{Builder, Table, mmcs};
//!
//! let permutation =
//!     Poseidon2::<16>::new(&RoundConstants::<16>::plonky3_default(), Choice::best());
//! let sponge = PaddingFreeSponge::<16, 8>::new(permutation.clone());
//! let compression = TruncatedPermutation::new(permutation);
//! let builder = Builder::new(&sponge, &compression);
//!
//! let tall: Vec<_> = (0..8).map(KoalaBear::new).collect();
//! let short: Vec<_> = (8..12).map(KoalaBear::new).collect();
//! let tables = [Table::new(vec![&tall])?, Table::new(vec![&short])?];
//! let tree = mmcs::Tree::build(&builder, &tables, None)?;
//! assert_eq!(tree.layers_len(), 4);
//! assert_eq!(tree.cap(0), [tree.root()]);
//! # Ok::<(), lanework_merkle::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod bytes;
mod error;
mod layers;
pub mod lineth;
mod lower;
mod memory;
pub mod mmcs;
pub mod opening;
mod rows;

pub use error::Error;
pub use layers::Builder;
pub use lower::Lower;
pub use opening::VerifyError;
pub use rows::{RowSource, Table};
