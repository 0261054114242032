//! Nano proof-of-work: finds and checks the eight bytes that a block carries as its work.
//!
//! The value of a work for a root is the Blake2b digest of 8 bytes of work and root, read as a number;
//! work is valid if its value is at least a threshold. Finding one takes half a billion hashes on
//! average, so the search runs on all lanes of the CPU, with whichever kernel is fastest on the
//! machine it is started on. Use this crate in a wallet, a node or a work server; the parts are:
//!
//! | item | what it does |
//! |---|---|
//! | [`generate`], [`generate_with`] | find work, on the threads and with the kernel asked for |
//! | [`validate`], [`is_valid`] | the value of a work, and whether it reaches a threshold |
//! | [`Network`], [`multiplier`] | the thresholds, and difficulties as multiples of them |
//! | [`Kernel`], [`autotune`], [`hash_rate_benchmark`] | the kernels of this machine, and how fast they are |
//! | [`Kernel::search`], [`Precomputed`], [`BATCH`] | the search in batches, for schedulers of their own |
//!
//! ```
//! use std::num::NonZeroUsize;
//!
//! use lanework_nano::{Network, generate, is_valid, multiplier, validate};
//!
//! // The hash of an account's last block, or the public key of an account without one.
//! let root = [7; 32];
//! // The network of the node's unit tests asks for little work.
//! let threshold = Network::Dev.receive();
//! let work = generate(&root, threshold, NonZeroUsize::MIN);
//! assert!(is_valid(&root, work.nonce, threshold));
//! assert_eq!(validate(&root, work.nonce), work.difficulty);
//! assert!(multiplier::to_multiplier(work.difficulty, threshold) >= 1.0);
//! println!("work {:016x}, difficulty {:016x}", work.nonce, work.difficulty);
//! ```

mod clock;
mod error;
mod generate;
pub mod multiplier;
mod network;
mod rate;
mod work;

pub use error::Error;
pub use generate::{Work, generate, generate_counted, generate_with};
pub use network::Network;
pub use rate::{HashRate, autotune, hash_rate_benchmark};
pub use work::{Kernel, Precomputed, difficulty, is_valid, resolve_hit, validate};

/// What work is for, as hashed: the hash of the account's previous block, or the public key of an
/// account that has none.
pub type Root = [u8; 32];

/// The nonces that are searched between two looks at whether to go on.
pub const BATCH: u64 = 65_536;

/// The hashes that a search for `threshold` takes on average, 2^64 / (2^64 - threshold).
///
/// The number a search takes is geometrically distributed: as likely as not it is over after 0.69 of
/// this, and one in a hundred takes 4.6 times as many.
pub fn expected_hashes(threshold: u64) -> f64 {
    multiplier::TWO_POW_64 / multiplier::distance(threshold)
}
