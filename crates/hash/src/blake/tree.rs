use std::fmt;

use lanework_arch::Choice;

use super::spec::{LEAF_PERSONAL, NODE_KEY, NODE_PERSONAL};
use super::{Blake, Function};

/// The hash of the leaves and the hash of the inner nodes of a Merkle tree.
#[derive(Copy, Clone)]
pub struct TreeHash {
    leaf: Blake,
    node: Blake,
}

impl TreeHash {
    /// The hashes of trees of Lanework's own, in which no leaf is a node.
    ///
    /// BLAKE2s is personalised: `bpcsleaf` for leaves, `bpcsnode` for nodes. BLAKE3 is plain for leaves,
    /// and for nodes keyed with the 32 bytes `lanework merkle node 2026 v1 ...`, the three dots included.
    pub fn new(function: Function, choice: Choice) -> Self {
        match function {
            Function::Blake3 => Self {
                leaf: Blake::blake3(choice),
                node: Blake::blake3_keyed(&NODE_KEY, choice),
            },
            Function::Blake2s => Self {
                leaf: Blake::blake2s_personal(&LEAF_PERSONAL, choice),
                node: Blake::blake2s_personal(&NODE_PERSONAL, choice),
            },
        }
    }

    /// BLAKE2s without personalisation for both: the trees of others, where nothing but the length tells
    /// a leaf from a node.
    pub fn plain_blake2s(choice: Choice) -> Self {
        let plain = Blake::blake2s(choice);
        Self {
            leaf: plain,
            node: plain,
        }
    }

    /// The hash of leaves.
    pub fn leaf(&self) -> &Blake {
        &self.leaf
    }

    /// The hash of inner nodes.
    pub fn node(&self) -> &Blake {
        &self.node
    }
}

impl fmt::Debug for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeHash")
            .field("function", &self.leaf.function())
            .field("kernel", &self.leaf.kernel_name())
            .finish_non_exhaustive()
    }
}
