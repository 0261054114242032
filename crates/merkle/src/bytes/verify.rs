//! The verifier's side: plain code that no input makes panic.

use lanework_hash::ByteDigest;
use lanework_hash::blake::TreeHash;

/// Why an opening is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Positions in a tree of this height are no words of this machine.
    #[error("a tree of 2^{log_leaves} leaves is too large")]
    TooManyLeaves {
        /// Of the number of leaves.
        log_leaves: u32,
    },
    /// The cap is not a level of the tree.
    #[error("a cap of {got} digests is no level of a tree of 2^{log_leaves} leaves")]
    CapLen {
        /// Digests in the cap.
        got: usize,
        /// Of the number of leaves.
        log_leaves: u32,
    },
    /// There is not one leaf per position.
    #[error("{got} leaves for {expected} positions")]
    LeavesLen {
        /// The number of positions.
        expected: usize,
        /// The number of leaves.
        got: usize,
    },
    /// A position is not in the tree.
    #[error("position {position} is not among 2^{log_leaves} leaves")]
    OutOfRange {
        /// The position.
        position: usize,
        /// Of the number of leaves.
        log_leaves: u32,
    },
    /// A position is not above the one before it.
    #[error("position {position} comes after {before}")]
    NotAscending {
        /// The position before it.
        before: usize,
        /// The position.
        position: usize,
    },
    /// The siblings end too early.
    #[error("{got} siblings, and none for node {position} of level {level}")]
    MissingSibling {
        /// The level above the leaves.
        level: u32,
        /// The node whose sibling is missing.
        position: usize,
        /// Siblings given.
        got: usize,
    },
    /// There are siblings that belong to no node.
    #[error("{got} siblings where {expected} are needed")]
    ExtraSiblings {
        /// Siblings needed.
        expected: usize,
        /// Siblings given.
        got: usize,
    },
    /// A digest of the cap, which may be the root, is not the one computed.
    #[error("the leaves and siblings do not lead to digest {index} of the cap")]
    CapMismatch {
        /// Index in the cap.
        index: usize,
    },
}

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
    if log_leaves >= usize::BITS {
        return Err(VerifyError::TooManyLeaves { log_leaves });
    }
    let levels = match cap.len().checked_ilog2() {
        Some(height) if cap.len().is_power_of_two() && height <= log_leaves => log_leaves - height,
        _ => {
            let got = cap.len();
            return Err(VerifyError::CapLen { got, log_leaves });
        }
    };
    if leaves.len() != positions.len() {
        return Err(VerifyError::LeavesLen {
            expected: positions.len(),
            got: leaves.len(),
        });
    }
    for &position in positions {
        if position >> log_leaves != 0 {
            return Err(VerifyError::OutOfRange {
                position,
                log_leaves,
            });
        }
    }
    for pair in positions.windows(2) {
        if let &[before, position] = pair
            && before >= position
        {
            return Err(VerifyError::NotAscending { before, position });
        }
    }
    let mut nodes: Vec<(usize, ByteDigest)> = positions
        .iter()
        .copied()
        .zip(leaves.iter().copied())
        .collect();
    let mut unused = siblings.iter();
    for level in 0..levels {
        let mut parents = Vec::with_capacity(nodes.len());
        for group in nodes.chunk_by(|(a, _), (b, _)| a >> 1 == b >> 1) {
            let &[(position, node), ref rest @ ..] = group else {
                continue;
            };
            let other = match rest {
                [(_, right), ..] => *right,
                [] => *unused.next().ok_or(VerifyError::MissingSibling {
                    level,
                    position,
                    got: siblings.len(),
                })?,
            };
            let (left, right) = if position & 1 == 0 {
                (node, other)
            } else {
                (other, node)
            };
            let mut pair = [0; 2 * size_of::<ByteDigest>()];
            for (byte, from) in pair.iter_mut().zip(left.0.iter().chain(&right.0)) {
                *byte = *from;
            }
            parents.push((position >> 1, hash.node().hash(&pair)));
        }
        nodes = parents;
    }
    if unused.len() > 0 {
        return Err(VerifyError::ExtraSiblings {
            expected: siblings.len() - unused.len(),
            got: siblings.len(),
        });
    }
    for (index, node) in nodes {
        if cap.get(index) != Some(&node) {
            return Err(VerifyError::CapMismatch { index });
        }
    }
    Ok(())
}
