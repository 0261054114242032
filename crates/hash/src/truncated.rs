use crate::poseidon2::table::Feed;
use crate::{Compression, Digest, Poseidon2};

/// Plonky3's `TruncatedPermutation<_, 2, 8, 16>`: the first eight lanes of the permuted
/// concatenation.
#[derive(Clone, Debug)]
pub struct TruncatedPermutation {
    permutation: Poseidon2<16>,
}

impl TruncatedPermutation {
    /// The compression over `permutation`.
    pub fn new(permutation: Poseidon2<16>) -> Self {
        Self { permutation }
    }
}

impl Compression for TruncatedPermutation {
    fn compress(&self, left: &Digest, right: &Digest) -> Digest {
        self.permutation
            .kernels
            .compress_one(Feed::Truncate, left, right)
    }

    fn compress_pairs(&self, children: &[Digest], parents: &mut [Digest]) {
        self.permutation
            .kernels
            .compress_children(Feed::Truncate, children, None, parents);
    }

    fn compress_pairs_with(&self, children: &[Digest], aux: &[Digest], parents: &mut [Digest]) {
        self.permutation
            .kernels
            .compress_children(Feed::Truncate, children, Some(aux), parents);
    }

    fn compress_into(&self, nodes: &mut [Digest], right: &[Digest]) {
        self.permutation
            .kernels
            .compress_into(Feed::Truncate, nodes, right);
    }
}
