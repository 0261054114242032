use std::fmt;
use std::ops::Range;

use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_field::KoalaBear as Element;
use lanework_hash::{DIGEST_LEN, Digest};
use lanework_merkle::mmcs::Tree;
use lanework_merkle::{Builder, RowSource};
use p3_commit::{BatchOpening, BatchOpeningRef, Mmcs};
use p3_koala_bear::KoalaBear;
use p3_matrix::{Dimensions, Matrix};
use p3_merkle_tree::{MerkleTreeError, MerkleTreeMmcs, PrunedMerklePaths};
use p3_symmetric::MerkleCap;

use crate::transpose::{Strided, transpose};
use crate::{LaneworkCompression, LaneworkSponge, cast};

/// Plonky3's `MerkleTreeMmcs<_, _, _, _, 2, 8>` over KoalaBear, with trees built by our own builder.
///
/// Commitments, proofs and multi-proofs are those of that type, so that its verifier takes them; the
/// verifier of this one is that one. A level of the tree is no barrier for the threads, which are those
/// of the caller's rayon pool. Trees of other arities are built by `MerkleTreeMmcs` itself with a
/// [`LaneworkSponge`].
#[derive(Clone)]
pub struct LaneworkMmcs<const WIDTH: usize = 24, const RATE: usize = 16> {
    hash: LaneworkSponge<WIDTH, RATE>,
    compress: LaneworkCompression,
    cap_height: usize,
    cache_bytes: usize,
    stock: Stock<WIDTH, RATE>,
}

/// The type it stands in for.
type Stock<const WIDTH: usize, const RATE: usize> = MerkleTreeMmcs<
    KoalaBear,
    KoalaBear,
    LaneworkSponge<WIDTH, RATE>,
    LaneworkCompression,
    2,
    DIGEST_LEN,
>;

/// What a prover keeps of a commitment: the matrices and all digests.
pub struct ProverData<M> {
    matrices: Vec<M>,
    tree: Tree,
}

impl<M> fmt::Debug for ProverData<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProverData")
            .field("matrices", &self.matrices.len())
            .field("tree", &self.tree)
            .finish()
    }
}

impl<const WIDTH: usize, const RATE: usize> LaneworkMmcs<WIDTH, RATE> {
    /// The scheme with these hash functions, whose commitments are 2^`cap_height` digests.
    pub fn new(
        hash: LaneworkSponge<WIDTH, RATE>,
        compress: LaneworkCompression,
        cap_height: usize,
    ) -> Self {
        Self {
            stock: MerkleTreeMmcs::new(hash.clone(), compress.clone(), cap_height),
            hash,
            compress,
            cap_height,
            cache_bytes: Caches::detect().l2_bytes,
        }
    }

    /// The height of the cap.
    pub const fn cap_height(&self) -> usize {
        self.cap_height
    }

    /// Layers of the tree that openings climb: those below the cap.
    fn levels<M>(&self, data: &ProverData<M>) -> usize {
        (data.tree.layers_len() - 1).saturating_sub(self.cap_height)
    }

    fn rows_at<M: Matrix<KoalaBear>>(data: &ProverData<M>, index: usize) -> Vec<Vec<KoalaBear>> {
        let max_height = data.matrices.iter().map(Matrix::height).max().unwrap_or(0);
        assert!(
            index < max_height,
            "index out of bounds: {index} of {max_height}"
        );
        let row = |matrix: &M| {
            let row = index >> (ceil_log2(max_height) - ceil_log2(matrix.height()));
            // Heights are ceil(max / 2^k), so that every index has a row in every matrix.
            matrix
                .row(row)
                .map_or_else(Vec::new, |row| row.into_iter().collect())
        };
        data.matrices.iter().map(row).collect()
    }
}

impl<const WIDTH: usize, const RATE: usize> Mmcs<KoalaBear> for LaneworkMmcs<WIDTH, RATE> {
    type ProverData<M> = ProverData<M>;
    type Commitment = MerkleCap<KoalaBear, [KoalaBear; DIGEST_LEN]>;
    type Proof = Vec<[KoalaBear; DIGEST_LEN]>;
    type MultiProof = PrunedMerklePaths<KoalaBear, DIGEST_LEN>;
    type Error = MerkleTreeError;

    /// # Panics
    /// Without matrices, with one that has no rows or columns, with heights that do not fit together, or
    /// without memory for the digests.
    fn commit<M: Matrix<KoalaBear>>(
        &self,
        matrices: Vec<M>,
    ) -> (Self::Commitment, Self::ProverData<M>) {
        let builder =
            Builder::new(&self.hash.many, &self.compress.many).cache_bytes(self.cache_bytes);
        let sources: Vec<_> = matrices
            .iter()
            .map(|matrix| Source::new(matrix, self.hash.choice))
            .collect();
        let sources: Vec<_> = sources.iter().map(|rows| rows as &dyn RowSource).collect();
        let tree = Tree::build_from_rows(&builder, &sources, None);
        let tree = tree.unwrap_or_else(|error| panic!("{error}"));
        let cap_height = u32::try_from(self.cap_height).unwrap_or(u32::MAX);
        let cap = tree
            .cap(cap_height)
            .iter()
            .map(|&digest| cast::words(digest));
        let cap = MerkleCap::new(cap.collect());
        (cap, ProverData { matrices, tree })
    }

    fn open_batch<M: Matrix<KoalaBear>>(
        &self,
        index: usize,
        data: &Self::ProverData<M>,
    ) -> BatchOpening<KoalaBear, Self> {
        let rows = Self::rows_at(data, index);
        let sibling = |level| sibling(&data.tree, level, index >> level);
        BatchOpening::new(rows, (0..self.levels(data)).map(sibling).collect())
    }

    fn get_matrices<'a, M: Matrix<KoalaBear>>(&self, data: &'a Self::ProverData<M>) -> Vec<&'a M> {
        data.matrices.iter().collect()
    }

    fn verify_batch(
        &self,
        commit: &Self::Commitment,
        dimensions: &[Dimensions],
        index: usize,
        opening: BatchOpeningRef<'_, KoalaBear, Self>,
    ) -> Result<(), Self::Error> {
        let opening = BatchOpeningRef::new(opening.opened_values, opening.opening_proof);
        self.stock.verify_batch(commit, dimensions, index, opening)
    }

    fn open_multi_batch<M: Matrix<KoalaBear>>(
        &self,
        indices: &[usize],
        data: &Self::ProverData<M>,
    ) -> (Vec<Vec<Vec<KoalaBear>>>, Self::MultiProof) {
        let rows = indices
            .iter()
            .map(|&index| Self::rows_at(data, index))
            .collect();
        // On each level, the digests that cannot be computed from those below, in ascending order.
        let mut nodes = indices.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let mut sibling_hashes = Vec::new();
        for level in 0..self.levels(data) {
            for pair in nodes.chunk_by(|a, b| a / 2 == b / 2) {
                if let &[node] = pair {
                    sibling_hashes.push(sibling(&data.tree, level, node));
                }
            }
            for node in &mut nodes {
                *node /= 2;
            }
            nodes.dedup();
        }
        (rows, PrunedMerklePaths { sibling_hashes })
    }

    fn verify_multi_batch<R: AsRef<[KoalaBear]> + PartialEq>(
        &self,
        commit: &Self::Commitment,
        dimensions: &[Dimensions],
        indices: &[usize],
        opened_values: &[Vec<R>],
        proof: &Self::MultiProof,
    ) -> Result<(), Self::Error> {
        self.stock
            .verify_multi_batch(commit, dimensions, indices, opened_values, proof)
    }
}

impl<const WIDTH: usize, const RATE: usize> fmt::Debug for LaneworkMmcs<WIDTH, RATE> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneworkMmcs")
            .field("hash", &self.hash)
            .field("compress", &self.compress)
            .field("cap_height", &self.cap_height)
            .finish_non_exhaustive()
    }
}

fn sibling(tree: &Tree, level: usize, node: usize) -> [KoalaBear; DIGEST_LEN] {
    let digest: Digest = tree.layer(level)[node ^ 1];
    cast::words(digest)
}

fn ceil_log2(len: usize) -> usize {
    len.next_power_of_two().ilog2() as usize
}

/// A matrix of Plonky3, which hands out rows.
struct Source<'a, M> {
    matrix: &'a M,
    choice: Choice,
    rows: RowAccess,
}

/// How rows are best had.
#[derive(Copy, Clone)]
enum RowAccess {
    /// As slices of the matrix.
    Borrowed,
    /// As vectors of the cells of one column in some rows: a row as a slice would be allocated each time.
    Packed,
}

impl<'a, M: Matrix<KoalaBear>> Source<'a, M> {
    fn new(matrix: &'a M, choice: Choice) -> Self {
        // Two slices that live at the same time, in the same place, are no allocations.
        let rows = match (matrix.row_slice(0), matrix.row_slice(0)) {
            (Some(a), Some(b)) if a.as_ptr() == b.as_ptr() => RowAccess::Borrowed,
            _ => RowAccess::Packed,
        };
        Self {
            matrix,
            choice,
            rows,
        }
    }
}

impl<M: Matrix<KoalaBear>> RowSource for Source<'_, M> {
    fn width(&self) -> usize {
        self.matrix.width()
    }

    fn height(&self) -> usize {
        self.matrix.height()
    }

    fn copy_columns(&self, rows: Range<usize>, columns: &mut [Element], stride: usize) {
        /// Rows of a vector.
        const PACK: usize = 16;
        match self.rows {
            RowAccess::Borrowed => {
                let slices: Vec<_> = rows.map(|row| self.matrix.row_slice(row)).collect();
                let row = |r: usize| match &slices[r] {
                    Some(slice) => cast::elements(slice),
                    None => panic!("a row below the height"),
                };
                let mut columns = Strided(columns, stride);
                transpose(self.choice, slices.len(), self.width(), row, &mut columns);
            }
            RowAccess::Packed => {
                for first in (0..rows.len()).step_by(PACK) {
                    // Rows beyond the last are the first ones again, and left out.
                    let count = PACK.min(rows.len() - first);
                    let cells = self
                        .matrix
                        .vertically_packed_row::<[KoalaBear; PACK]>(rows.start + first);
                    for (column, cells) in columns.chunks_mut(stride).zip(cells) {
                        column[first..first + count]
                            .copy_from_slice(&cast::elements(&cells)[..count]);
                    }
                }
            }
        }
    }
}
