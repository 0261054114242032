//! Binary trees over 2^n digests of bytes, openings of many leaves at once, and their verifier.
//!
//! A tree grows under its leaves: [`Growing`] hands out disjoint [`Subtree`]s, in each of which a task
//! hashes rows straight into the leaves and climbs while they are in cache; what is above the subtrees is
//! built at the end.
//!
//! An opening of several leaves is the digests that cannot be computed from these leaves: level by level
//! from the leaves on, in ascending order, the siblings of those nodes whose sibling is not known. It ends
//! at the cap, a level of 2^h digests that takes the place of the root.
//!
//! ```
//! use lanework_arch::Choice;
//! use lanework_arch::memory::Pages;
//! use lanework_hash::blake::{Function, TreeHash};
//! use lanework_merkle::bytes::{Growing, verify};
//!
//! let hash = TreeHash::new(Function::Blake3, Choice::best());
//! let rows: Vec<u8> = (0..64 * 24).map(|i| i as u8).collect();
//! let prefix = hash.leaf().zero_prefix(0);
//!
//! let mut growing = Growing::new(6, Pages::Normal, None)?;
//! for mut subtree in growing.subtrees(4) {
//!     let rows = &rows[subtree.first_leaf() * 24..];
//!     hash.leaf().hash_many(&prefix, rows, 24, 24, subtree.leaves_mut());
//!     subtree.climb(&hash);
//! }
//! let tree = growing.finish(&hash);
//!
//! let siblings = tree.open(&[9, 40, 9], 0);
//! let leaves = [9, 40].map(|position| tree.level(0)[position]);
//! verify(&hash, tree.cap(0), 6, &[9, 40], &leaves, &siblings)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod tree;
mod verify;

pub use tree::{Growing, Subtree, Subtrees, Tree};
pub use verify::verify;

pub use crate::VerifyError;
