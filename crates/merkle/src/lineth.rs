//! lineth's multi-size tree: one tree over tables of different powers of two.
//!
//! The encoded rows of the largest table are hashed into the leaves. Every smaller table of e rows
//! gives e / 2 auxiliary digests, each of an even row and the odd one after it, which belong to the
//! level with e / 2 nodes: node(l, r) = C(l, r), and node(l, r, a) = C(C(l, r), a) where there is an
//! auxiliary digest a. A smaller table of one row has no pair and does not enter the tree.
//!
//! A message is a header (a tag, the number of base columns, the number of extension columns), then
//! the cells of the row or of both rows: the base columns in order, then the limbs of each extension
//! column.
//!
//! Source: lineth-monorepo `prover-ray/crypto/koalabear/fri/{tree,commitment}.go`, the leaf format
//! with header.

use lanework_arch::memory::Slab;
use lanework_field::KoalaBear;
use lanework_hash::{Cell, Digest};

use crate::layers::Layers;
use crate::opening::Injected;
use crate::rows::Rows;
use crate::{Builder, Error, Lower, memory};

/// First word of every message: ASCII `Lfri_lf1`, reduced.
pub const LEAF_TAG: KoalaBear = KoalaBear::from_u64(0x4c66_7269_5f6c_6631);

/// Limbs of a cell of an extension column.
pub const EXT_DEGREE: usize = 6;

/// The header of messages of `base_width` base columns and `ext_width` extension columns.
pub fn header(base_width: usize, ext_width: usize) -> [KoalaBear; 3] {
    [
        LEAF_TAG,
        KoalaBear::from_u64(base_width as u64),
        KoalaBear::from_u64(ext_width as u64),
    ]
}

/// A [`Table`](crate::Table) with its numbers of base and extension columns, which enter the header.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    cells: crate::Table<'a>,
    base_width: usize,
    ext_width: usize,
}

impl<'a> Table<'a> {
    /// The table whose columns are `base_width` base columns, then the limb columns of `ext_width`
    /// extension columns.
    ///
    /// # Errors
    /// [`Error::UnequalWidths`] if the table has another number of columns.
    pub fn new(
        cells: crate::Table<'a>,
        base_width: usize,
        ext_width: usize,
    ) -> Result<Self, Error> {
        let got = cells.width();
        let limbs_len = EXT_DEGREE.checked_mul(ext_width);
        if limbs_len.and_then(|limbs| limbs.checked_add(base_width)) == Some(got) {
            Ok(Self {
                cells,
                base_width,
                ext_width,
            })
        } else {
            Err(Error::UnequalWidths {
                base_width,
                ext_width,
                got,
            })
        }
    }

    /// The header of its messages.
    pub fn header(&self) -> [KoalaBear; 3] {
        header(self.base_width, self.ext_width)
    }

    /// Rows of every column.
    pub fn height(&self) -> usize {
        self.cells.height()
    }
}

/// The nodes of a multi-size tree.
#[derive(Debug)]
pub struct Tree {
    layers: Layers,
}

impl Tree {
    /// Builds the tree over `tables`, in any order of heights. `spare` is reused for the digests if
    /// it is large enough.
    ///
    /// # Errors
    /// Without tables or with one that has no columns; if a height is not a power of two or occurs
    /// twice; [`Error::Memory`].
    pub fn build(
        builder: &Builder<'_>,
        tables: &[Table<'_>],
        spare: Option<Slab<Digest>>,
    ) -> Result<Self, Error> {
        let max_height = tables
            .iter()
            .map(Table::height)
            .max()
            .ok_or(Error::NoTables)?;
        let mut seen = 0_usize;
        for (index, table) in tables.iter().enumerate() {
            let height = table.height();
            if table.cells.width() == 0 {
                return Err(Error::NoColumns { table: index });
            }
            if height == 0 {
                return Err(Error::NoRows { table: index });
            }
            if !height.is_power_of_two() {
                return Err(Error::HeightNotPowerOfTwo {
                    table: index,
                    height,
                });
            }
            if seen & height != 0 {
                return Err(Error::SameHeight {
                    table: index,
                    height,
                });
            }
            seen |= height;
        }
        let mut rows: Vec<_> = (0..=max_height.ilog2()).map(|_| None).collect();
        for table in tables {
            if table.height() == max_height {
                let header = table.header().map(Cell::Constant);
                let len = header.len() + table.cells.width();
                let cells = table.cells.columns().map(Cell::Column);
                let cells = memory::collect(len, header.into_iter().chain(cells))?;
                rows[0] = Some(Rows::Single(cells));
            } else if table.height() > 1 {
                // The layer of half as many nodes as the table has rows.
                let layer = max_height.ilog2() - table.height().ilog2() + 1;
                rows[layer as usize] = Some(Rows::Pairs {
                    prefix: table.header(),
                    table: &table.cells,
                });
            }
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

    /// The digest at the top.
    pub fn root(&self) -> Digest {
        self.layers.root()
    }

    /// log2 of the number of leaves.
    pub fn log_leaves(&self) -> u32 {
        self.layers.len() as u32 - 1
    }

    /// The 2^`depth` nodes at `depth` below the root; the leaves are at [`Tree::log_leaves`], leaf i
    /// being that of row i of the largest table, in the order in which it was given.
    ///
    /// # Panics
    /// If the tree is not that deep, or the level was dropped.
    pub fn level(&self, depth: u32) -> &[Digest] {
        assert!(
            depth <= self.log_leaves(),
            "a tree of {} levels has no {depth}",
            self.layers.len()
        );
        self.layers.layer((self.log_leaves() - depth) as usize)
    }

    /// The node at `index` of the heap: the root at 0, the children of k at 2k + 1 and 2k + 2.
    ///
    /// # Panics
    /// If the tree has no such node, or it was dropped.
    pub fn node(&self, index: usize) -> Digest {
        let depth = (index + 1).ilog2();
        self.level(depth)[index + 1 - (1 << depth)]
    }

    /// The siblings that open the leaves at `positions` up to the 2^`cap_height` nodes at that depth, or up
    /// to the leaves themselves where the tree is lower, for [`opening::verify`](crate::opening::verify).
    ///
    /// # Panics
    /// If the positions are not leaves in ascending order without repetition, or layers were dropped.
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

    /// Nodes of all levels that are kept.
    pub fn digests_len(&self) -> usize {
        self.layers.digests_len()
    }

    /// The memory of the nodes, to be used again.
    pub fn into_slab(self) -> Slab<Digest> {
        self.layers.into_slab()
    }
}
