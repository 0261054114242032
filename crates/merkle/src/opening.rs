//! Openings of several leaves at once, and the verifier's side: plain code that no input makes panic.
//!
//! An opening is the digests that cannot be computed from the leaves: level by level from the leaves on,
//! in ascending order, the siblings of those nodes whose sibling is not known. It ends at the cap, a level
//! of 2^h digests that takes the place of the root. Where a tree takes in digests of a smaller table, the
//! verifier has them for every node it knows, because it hashes the rows itself.
//!
//! Source: Plonky3 `merkle-tree/src/pruning.rs`, whose order of siblings this is.

use lanework_hash::{Compression, Digest};

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
    /// Digests enter at a level that is not between the leaves and the cap.
    #[error("digests enter at level {level}, which is not among the {levels} above the leaves")]
    InjectedLevel {
        /// The level above the leaves.
        level: u32,
        /// Levels above the leaves up to the cap.
        levels: u32,
    },
    /// There is not one digest for each node that one enters.
    #[error("{got} digests enter the {expected} nodes of level {level}")]
    InjectedLen {
        /// The level above the leaves.
        level: u32,
        /// The number of nodes.
        expected: usize,
        /// The number of digests.
        got: usize,
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

/// Digests of the rows of a smaller table, which enter nodes of one level of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injected {
    /// The level above the leaves.
    pub level: u32,
    /// The digests: one for each node of this level above one of the leaves, in ascending order of nodes.
    pub digests: Vec<Digest>,
}

/// Checks that the tree of 2^`log_leaves` leaves with the cap `cap`, which may be the root alone, has
/// `leaves` at `positions`, and takes in `injected`. Positions are in ascending order without repetition.
///
/// Every sibling must be needed. An opening of no leaves has no siblings and is accepted.
///
/// # Errors
/// [`VerifyError`]: what is wrong with the sizes, or that a digest of the cap differs.
pub fn verify(
    compression: &dyn Compression,
    cap: &[Digest],
    log_leaves: u32,
    positions: &[usize],
    leaves: &[Digest],
    injected: &[Injected],
    siblings: &[Digest],
) -> Result<(), VerifyError> {
    let opening = Opening {
        log_leaves,
        positions,
        leaves,
        siblings,
    };
    let levels = opening.levels(cap)?;
    if let Some(&Injected { level, .. }) = injected
        .iter()
        .find(|injected| !(1..=levels).contains(&injected.level))
    {
        return Err(VerifyError::InjectedLevel { level, levels });
    }
    opening.climb(
        cap,
        |left, right| compression.compress(left, right),
        |level, nodes| {
            for Injected { digests, .. } in injected.iter().filter(|one| one.level == level) {
                if digests.len() != nodes.len() {
                    return Err(VerifyError::InjectedLen {
                        level,
                        expected: nodes.len(),
                        got: digests.len(),
                    });
                }
                for ((_, node), digest) in nodes.iter_mut().zip(digests) {
                    *node = compression.compress(node, digest);
                }
            }
            Ok(())
        },
    )
}

/// Checks that `positions` are leaves of a tree of 2^`log_leaves`, in ascending order without repetition.
///
/// # Errors
/// [`VerifyError::TooManyLeaves`], [`VerifyError::OutOfRange`], [`VerifyError::NotAscending`].
pub fn check_positions(log_leaves: u32, positions: &[usize]) -> Result<(), VerifyError> {
    if log_leaves >= usize::BITS {
        return Err(VerifyError::TooManyLeaves { log_leaves });
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
    Ok(())
}

/// What a verifier is given beside the cap.
pub(crate) struct Opening<'a, D> {
    pub(crate) log_leaves: u32,
    pub(crate) positions: &'a [usize],
    pub(crate) leaves: &'a [D],
    pub(crate) siblings: &'a [D],
}

impl<D: Copy + PartialEq> Opening<'_, D> {
    /// Levels between the leaves and `cap`, the cap included.
    pub(crate) fn levels(&self, cap: &[D]) -> Result<u32, VerifyError> {
        let log_leaves = self.log_leaves;
        if log_leaves >= usize::BITS {
            return Err(VerifyError::TooManyLeaves { log_leaves });
        }
        let got = cap.len();
        match got.checked_ilog2() {
            Some(height) if got.is_power_of_two() && height <= log_leaves => {
                Ok(log_leaves - height)
            }
            _ => Err(VerifyError::CapLen { got, log_leaves }),
        }
    }

    /// Computes the nodes above the leaves up to `cap` and compares those. `inject` changes the nodes of a
    /// level, each with its index there, before they become children.
    pub(crate) fn climb(
        &self,
        cap: &[D],
        compress: impl Fn(&D, &D) -> D,
        inject: impl Fn(u32, &mut [(usize, D)]) -> Result<(), VerifyError>,
    ) -> Result<(), VerifyError> {
        let levels = self.levels(cap)?;
        if self.leaves.len() != self.positions.len() {
            return Err(VerifyError::LeavesLen {
                expected: self.positions.len(),
                got: self.leaves.len(),
            });
        }
        check_positions(self.log_leaves, self.positions)?;
        let mut nodes: Vec<(usize, D)> = self
            .positions
            .iter()
            .copied()
            .zip(self.leaves.iter().copied())
            .collect();
        let mut unused = self.siblings.iter();
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
                        got: self.siblings.len(),
                    })?,
                };
                let (left, right) = if position & 1 == 0 {
                    (node, other)
                } else {
                    (other, node)
                };
                parents.push((position >> 1, compress(&left, &right)));
            }
            inject(level + 1, &mut parents)?;
            nodes = parents;
        }
        if unused.len() > 0 {
            return Err(VerifyError::ExtraSiblings {
                expected: self.siblings.len() - unused.len(),
                got: self.siblings.len(),
            });
        }
        for (index, node) in nodes {
            if cap.get(index) != Some(&node) {
                return Err(VerifyError::CapMismatch { index });
            }
        }
        Ok(())
    }
}

/// The siblings of an opening of `positions`, which ascend, through `levels` levels: of node
/// `position` of level `level` above the leaves, whose sibling is not known, `node(level, position ^ 1)`.
pub(crate) fn siblings<D>(
    positions: &[usize],
    levels: u32,
    mut node: impl FnMut(u32, usize) -> D,
) -> Vec<D> {
    let mut siblings = Vec::new();
    let mut positions = positions.to_vec();
    for level in 0..levels {
        for group in positions.chunk_by(|a, b| a >> 1 == b >> 1) {
            if let &[position] = group {
                siblings.push(node(level, position ^ 1));
            }
        }
        for position in &mut positions {
            *position >>= 1;
        }
        positions.dedup();
    }
    siblings
}
