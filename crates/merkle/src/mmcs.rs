//! Plonky3's `MerkleTreeMmcs` with binary compression: one tree over tables of mixed heights.
//!
//! The rows of the tallest tables are hashed into the bottom layer, tables of equal height side by
//! side in the order given. A layer of odd length is padded with a zero digest before its pairs are
//! compressed. A shorter table belongs to the layer with as many nodes as it has rows, where node j
//! becomes C(node j, H(row j)); so the heights allowed under a tallest of m are ceil(m / 2^k).
//!
//! Source: Plonky3 `merkle-tree/src/merkle_tree.rs`; digests are those of p3-merkle-tree 0.8.0.

use std::cmp::Reverse;

use lanework_arch::memory::Slab;
use lanework_hash::{Cell, Digest};

use crate::layers::Layers;
use crate::opening::Injected;
use crate::rows::Rows;
use crate::{Builder, Error, Lower, RowSource, Table, memory};

/// The digest layers of a binary `MerkleTreeMmcs`.
#[derive(Debug)]
pub struct Tree {
    layers: Layers,
}

impl Tree {
    /// Builds the tree over `tables`, in any order of heights. `spare` is reused for the digests if
    /// it is large enough.
    ///
    /// # Errors
    /// Without tables or with one that has no rows or no columns; [`Error::IncompatibleHeight`] if
    /// a height is not ceil(m / 2^k) for the greatest height m; [`Error::Memory`].
    pub fn build(
        builder: &Builder<'_>,
        tables: &[Table<'_>],
        spare: Option<Slab<Digest>>,
    ) -> Result<Self, Error> {
        let shapes = tables.iter().map(|table| (table.height(), table.width()));
        let max_height = check(shapes)?;
        let mut order: Vec<&Table<'_>> = tables.iter().collect();
        order.sort_by_key(|table| Reverse(table.height()));
        let mut rows: Vec<_> = (0..=ceil_log2(max_height)).map(|_| None).collect();
        for group in order.chunk_by(|a, b| a.height() == b.height()) {
            let width = group.iter().map(|table| table.width()).sum();
            let cells = group.iter().flat_map(|table| table.columns());
            let layer = ceil_log2(max_height) - ceil_log2(group[0].height());
            let cells = memory::collect(width, cells.map(Cell::Column))?;
            rows[layer] = Some(Rows::Single(cells));
        }
        Ok(Self {
            layers: builder.build(max_height, &rows, spare)?,
        })
    }

    /// Builds the layers above the lowest `dropped` ones over digests of all rows: `leaves`, and the
    /// `injected` ones of smaller tables. `spare` is reused if it is large enough.
    ///
    /// # Errors
    /// [`Error::Memory`].
    ///
    /// # Panics
    /// If the number of leaves is not a power of two, or the tree has no layer `dropped`; if there is not one
    /// digest for each node of a layer that digests enter.
    pub fn over_digests(
        builder: &Builder<'_>,
        leaves: &[Digest],
        injected: Vec<Injected>,
        dropped: u32,
        spare: Option<Slab<Digest>>,
    ) -> Result<Self, Error> {
        Ok(Self {
            layers: builder.build_over(leaves, injected, dropped, spare)?,
        })
    }

    /// Layers at the bottom that were dropped.
    pub fn dropped(&self) -> u32 {
        self.layers.dropped()
    }

    /// The same over tables that are not kept by columns.
    ///
    /// # Errors
    /// As [`Tree::build`].
    pub fn build_from_rows(
        builder: &Builder<'_>,
        sources: &[&dyn RowSource],
        spare: Option<Slab<Digest>>,
    ) -> Result<Self, Error> {
        let shapes = sources
            .iter()
            .map(|source| (source.height(), source.width()));
        let max_height = check(shapes)?;
        let mut order = sources.to_vec();
        order.sort_by_key(|source| Reverse(source.height()));
        let mut rows: Vec<_> = (0..=ceil_log2(max_height)).map(|_| None).collect();
        for group in order.chunk_by(|a, b| a.height() == b.height()) {
            let layer = ceil_log2(max_height) - ceil_log2(group[0].height());
            rows[layer] = Some(Rows::Sources(group.to_vec()));
        }
        Ok(Self {
            layers: builder.build(max_height, &rows, spare)?,
        })
    }

    /// The digest at the top.
    pub fn root(&self) -> Digest {
        self.layers.root()
    }

    /// The commitment of Plonky3: the first 2^`cap_height` digests of the layer that far below the
    /// root. In a tree that is lower, the bottom layer; in a layer that is shorter, all of it.
    ///
    /// Only heights that are not powers of two have such short layers, and p3-merkle-tree refuses
    /// their caps from 0.8.0 on.
    pub fn cap(&self, cap_height: u32) -> &[Digest] {
        let below = (self.layers.len() - 1).min(cap_height as usize);
        let layer = self.layers.layer(self.layers.len() - 1 - below);
        &layer[..layer.len().min(1 << below)]
    }

    /// The siblings that open the leaves at `positions` up to [`Tree::cap`] of `cap_height`, for
    /// [`opening::verify`](crate::opening::verify), which takes trees of a power of two of leaves.
    ///
    /// A cap says nothing of tables that have fewer rows than it has digests: they enter above it.
    ///
    /// # Panics
    /// If the positions are not leaves in ascending order without repetition, padding aside, or layers
    /// were dropped.
    pub fn siblings(&self, positions: &[usize], cap_height: u32) -> Vec<Digest> {
        self.layers.siblings(positions, cap_height)
    }

    /// [`Tree::siblings`] with the nodes of `lower` in the place of the layers that were dropped.
    ///
    /// # Panics
    /// As there; if `lower` has not the subtrees of all positions.
    pub fn siblings_with(
        &self,
        lower: &Lower,
        positions: &[usize],
        cap_height: u32,
    ) -> Vec<Digest> {
        self.layers.siblings_with(lower, positions, cap_height)
    }

    /// Digest layers, the bottom one and the root included.
    pub fn layers_len(&self) -> usize {
        self.layers.len()
    }

    /// The digests of layer `k` above the bottom, with their padding; in layer 0, digest i is that of
    /// row i of the tallest tables, in the order in which they were given.
    ///
    /// # Panics
    /// If `k` is not below [`Tree::layers_len`], or the layer was dropped.
    pub fn layer(&self, k: usize) -> &[Digest] {
        self.layers.layer(k)
    }

    /// Digests of all layers that are kept.
    pub fn digests_len(&self) -> usize {
        self.layers.digests_len()
    }

    /// The memory of the digests, to be used again.
    pub fn into_slab(self) -> Slab<Digest> {
        self.layers.into_slab()
    }
}

/// The greatest of the heights, which go with widths; fails if one of them has no place under it.
fn check(shapes: impl Iterator<Item = (usize, usize)> + Clone) -> Result<usize, Error> {
    let heights = shapes.clone().map(|(height, _)| height);
    let max_height = heights.max().ok_or(Error::NoTables)?;
    for (table, (height, width)) in shapes.enumerate() {
        if width == 0 {
            return Err(Error::NoColumns { table });
        }
        if height == 0 {
            return Err(Error::NoRows { table });
        }
        let below = ceil_log2(max_height) - ceil_log2(height);
        let expected = ((max_height - 1) >> below) + 1;
        if height != expected {
            return Err(Error::IncompatibleHeight {
                table,
                height,
                max_height,
                expected,
            });
        }
    }
    Ok(max_height)
}

fn ceil_log2(len: usize) -> usize {
    len.next_power_of_two().ilog2() as usize
}
