use std::ops::Range;

use lanework_field::KoalaBear;

use crate::digest::DIGEST_LEN;
use crate::poseidon2::table::{Absorb, Feed};
use crate::{Cell, Compression, Digest, Part, Poseidon2, RowHasher};

/// The hash of gnark-crypto and lineth: a chain of two-to-one compressions with feed-forward from
/// the zero state, in blocks of eight words; a short last block is padded with zeros on the left.
/// The empty message has the zero digest.
///
/// The compression is the upper half of the permuted concatenation plus the right input. Leading
/// zeros of a short last block collide with their absence: lengths are fixed by the context or by a
/// header.
#[derive(Clone, Debug)]
pub struct MerkleDamgard {
    permutation: Poseidon2<16>,
}

impl MerkleDamgard {
    /// The hash over `permutation`.
    pub fn new(permutation: Poseidon2<16>) -> Self {
        Self { permutation }
    }
}

impl RowHasher for MerkleDamgard {
    fn hash_slice(&self, message: &[KoalaBear]) -> Digest {
        self.permutation.kernels.hash_one(Absorb::Chain, message)
    }

    fn block_len(&self) -> usize {
        DIGEST_LEN
    }

    fn absorb_rows(
        &self,
        part: Part,
        cells: &[Cell<'_>],
        rows: Range<usize>,
        states: &mut [Digest],
    ) {
        self.permutation
            .kernels
            .hash_rows(Absorb::Chain, part, cells, rows, states);
    }
}

impl Compression for MerkleDamgard {
    fn compress(&self, left: &Digest, right: &Digest) -> Digest {
        self.permutation
            .kernels
            .compress_one(Feed::Forward, left, right)
    }

    fn compress_pairs(&self, children: &[Digest], parents: &mut [Digest]) {
        self.permutation
            .kernels
            .compress_children(Feed::Forward, children, None, parents);
    }

    fn compress_pairs_with(&self, children: &[Digest], aux: &[Digest], parents: &mut [Digest]) {
        self.permutation
            .kernels
            .compress_children(Feed::Forward, children, Some(aux), parents);
    }

    fn compress_into(&self, nodes: &mut [Digest], right: &[Digest]) {
        self.permutation
            .kernels
            .compress_into(Feed::Forward, nodes, right);
    }
}
