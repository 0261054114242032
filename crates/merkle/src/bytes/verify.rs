//! The verifier's side.

use lanework_hash::ByteDigest;
use lanework_hash::blake::TreeHash;

use crate::VerifyError;
use crate::opening::Opening;

/// Checks that the tree of 2^`log_leaves` leaves with the cap `cap`, which may be the root alone, has
/// `leaves` at `positions`. Positions are in ascending order without repetition.
///
/// Every sibling must be needed. An opening of no leaves has no siblings and is accepted.
///
/// # Errors
/// [`VerifyError`]: what is wrong with the sizes, or that a digest of the cap differs.
pub fn verify(
    hash: &TreeHash,
    cap: &[ByteDigest],
    log_leaves: u32,
    positions: &[usize],
    leaves: &[ByteDigest],
    siblings: &[ByteDigest],
) -> Result<(), VerifyError> {
    let opening = Opening {
        log_leaves,
        positions,
        leaves,
        siblings,
    };
    let compress = |left: &ByteDigest, right: &ByteDigest| {
        let mut pair = [0; 2 * size_of::<ByteDigest>()];
        for (byte, from) in pair.iter_mut().zip(left.0.iter().chain(&right.0)) {
            *byte = *from;
        }
        hash.node().hash(&pair)
    };
    opening.climb(cap, compress, |_, _| Ok(()))
}
