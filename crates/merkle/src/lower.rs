//! The lower layers of a tree that keeps only those above, made again where they are needed.

use lanework_hash::{Compression, Digest};

use crate::opening::Injected;

/// The nodes below some nodes of a tree: subtrees of 2^h leaves each, without their tops.
#[derive(Clone, Debug, Default)]
pub struct Lower {
    /// Which subtrees of the tree they are, in ascending order.
    subtrees: Vec<usize>,
    /// The nodes of each level, subtree after subtree; as many levels as the subtrees have halvings.
    levels: Vec<Vec<Digest>>,
}

impl Lower {
    /// Builds the subtrees of 2^`log_leaves` leaves whose numbers are `subtrees`, in ascending order, from
    /// their leaves and what enters them below their tops: in both, subtree after subtree.
    ///
    /// # Panics
    /// If there are not as many digests as the subtrees have nodes.
    pub fn build(
        compression: &dyn Compression,
        log_leaves: u32,
        subtrees: Vec<usize>,
        leaves: Vec<Digest>,
        injected: &[Injected],
    ) -> Self {
        assert_eq!(leaves.len(), subtrees.len() << log_leaves, "leaves");
        let mut levels = vec![];
        let mut nodes = leaves;
        for level in 1..=log_leaves {
            let mut parents = vec![Digest::ZERO; nodes.len() / 2];
            if level < log_leaves {
                compression.compress_pairs(&nodes, &mut parents);
                for injected in injected.iter().filter(|injected| injected.level == level) {
                    compression.compress_into(&mut parents, &injected.digests);
                }
            }
            levels.push(std::mem::replace(&mut nodes, parents));
        }
        Self { subtrees, levels }
    }

    /// Levels below the tops.
    pub(crate) fn len(&self) -> usize {
        self.levels.len()
    }

    /// Node `index` of level `level` of the whole tree.
    pub(crate) fn node(&self, level: u32, index: usize) -> Digest {
        let log_nodes = self.levels.len() as u32 - level;
        let subtree = self
            .subtrees
            .binary_search(&(index >> log_nodes))
            .unwrap_or_else(|_| panic!("node {index} of level {level} was not made again"));
        let within = index & ((1 << log_nodes) - 1);
        self.levels[level as usize][(subtree << log_nodes) + within]
    }
}
