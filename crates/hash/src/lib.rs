//! Poseidon2 over KoalaBear: one state with little latency, many states with much throughput, and
//! the hash modes of Plonky3 and of gnark-crypto / lineth over it; BLAKE3 and BLAKE2s of many messages.
//!
//! Use it to hash the rows of tables and to build Merkle levels. The kernels are
//! chosen at run time by a [`Choice`](lanework_arch::Choice); every one gives the same digests.
//!
//! | module or type | holds |
//! |---|---|
//! | [`RoundConstants`] | the numbers of rounds and the constants: Plonky3's, gnark-crypto's or the caller's |
//! | [`Poseidon2`] | the permutation |
//! | [`PaddingFreeSponge`], [`TruncatedPermutation`] | Plonky3's modes |
//! | [`MerkleDamgard`] | gnark-crypto's and lineth's mode |
//! | [`RowHasher`], [`Compression`] | what trees need of a mode |
//! | [`blake`] | BLAKE3 and BLAKE2s of bytes |
//!
//! ```
//! use lanework_arch::Choice;
//! use lanework_field::KoalaBear;
//! use lanework_hash::{Cell, Digest, PaddingFreeSponge, Poseidon2, RoundConstants, RowHasher};
//!
//! let permutation = Poseidon2::<24>::new(&RoundConstants::<24>::plonky3_default(), Choice::best());
//! let sponge = PaddingFreeSponge::<24, 16>::new(permutation);
//!
//! let a: Vec<_> = (0..100).map(KoalaBear::new).collect();
//! let b: Vec<_> = (100..200).map(KoalaBear::new).collect();
//! let mut digests = vec![Digest::ZERO; 100];
//! sponge.hash_rows(&[Cell::Column(&a), Cell::Column(&b)], 0..100, &mut digests);
//! assert_eq!(digests[7], sponge.hash_slice(&[a[7], b[7]]));
//! ```

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "words are read as signed where products are"
)]

pub mod blake;
mod digest;
mod error;
mod merkle_damgard;
mod modes;
mod poseidon2;
mod sponge;
mod truncated;

pub use digest::{BYTE_DIGEST_LEN, ByteDigest, DIGEST_LEN, Digest};
pub use error::Error;
pub use merkle_damgard::MerkleDamgard;
pub use modes::{Cell, Compression, Part, RowHasher};
pub use poseidon2::{Poseidon2, RoundConstants};
pub use sponge::PaddingFreeSponge;
pub use truncated::TruncatedPermutation;
