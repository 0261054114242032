//! Tables as the trees see them: columns of equal height, hashed row by row or pair by pair.

use std::ops::Range;

use lanework_field::KoalaBear;
use lanework_hash::{Cell, Digest, RowHasher};

use crate::{Error, memory};

/// A table of encoded columns of equal height, borrowed from wherever they are kept: what trees are
/// built over. Tables to be encoded and committed to are those of `lanework-fri`.
///
/// Row i of the table is message i of the tree, whatever the order of the rows means; codewords are in
/// bit-reversed order.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    columns: Columns<'a>,
    height: usize,
}

#[derive(Clone, Debug)]
enum Columns<'a> {
    Apart(Vec<&'a [KoalaBear]>),
    /// One after the other.
    Joined(&'a [KoalaBear]),
}

impl<'a> Table<'a> {
    /// The table of the given columns.
    ///
    /// # Errors
    /// [`Error::UnequalColumns`] if the columns differ in length.
    pub fn new(columns: Vec<&'a [KoalaBear]>) -> Result<Self, Error> {
        let height = columns.first().map_or(0, |column| column.len());
        match columns.iter().position(|column| column.len() != height) {
            None => Ok(Self {
                columns: Columns::Apart(columns),
                height,
            }),
            Some(column) => Err(Error::UnequalColumns {
                column,
                expected: height,
                got: columns[column].len(),
            }),
        }
    }

    /// The table whose columns lie one after the other in `cells`, each of `height` rows.
    ///
    /// # Panics
    /// If `height` is zero or does not divide the number of cells.
    pub fn column_major(cells: &'a [KoalaBear], height: usize) -> Self {
        assert!(
            height > 0 && cells.len().is_multiple_of(height),
            "cells are not whole columns"
        );
        Self {
            columns: Columns::Joined(cells),
            height,
        }
    }

    /// The columns.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &'a [KoalaBear]> {
        (0..self.width()).map(|index| match &self.columns {
            Columns::Apart(columns) => columns[index],
            Columns::Joined(cells) => &cells[index * self.height..][..self.height],
        })
    }

    /// Columns.
    pub fn width(&self) -> usize {
        match &self.columns {
            Columns::Apart(columns) => columns.len(),
            Columns::Joined(cells) => cells.len() / self.height,
        }
    }

    /// Rows of every column.
    pub fn height(&self) -> usize {
        self.height
    }
}

/// A table whose columns do not lie in memory as such: one that is kept row by row, or computed.
pub trait RowSource: Sync {
    /// Columns.
    fn width(&self) -> usize;

    /// Rows.
    fn height(&self) -> usize;

    /// Writes the cells of `rows`, column by column: that of row `rows.start + i` in column c to
    /// `columns[c * stride + i]`. There are at most `stride` rows.
    fn copy_columns(&self, rows: Range<usize>, columns: &mut [KoalaBear], stride: usize);
}

/// The messages that feed one layer of a tree, of which message i makes digest i.
pub(crate) enum Rows<'a> {
    /// Message i is row i of the cells.
    Single(Vec<Cell<'a>>),
    /// Message i is row i of the sources, one after the other.
    Sources(Vec<&'a dyn RowSource>),
    /// Message i is the prefix, row 2i of the table, and row 2i + 1.
    Pairs {
        prefix: [KoalaBear; 3],
        table: &'a Table<'a>,
    },
}

impl Rows<'_> {
    /// Digests of the messages `range`, into `out`.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub(crate) fn hash(
        &self,
        hasher: &dyn RowHasher,
        range: Range<usize>,
        out: &mut [Digest],
        staging: &mut Vec<KoalaBear>,
    ) -> Result<(), Error> {
        match self {
            Self::Single(cells) => {
                hasher.hash_rows(cells, range, out);
                Ok(())
            }
            Self::Sources(sources) => hash_sources(sources, hasher, range.start, out, staging),
            Self::Pairs { prefix, table } => {
                hash_pairs(prefix, table, hasher, range.start, out, staging)
            }
        }
    }
}

/// As many rows of `width` cells as the second-level cache keeps easily, in whole vectors of the widest
/// back end.
fn staged_rows_len(width: usize) -> usize {
    const STAGED_WORDS: usize = 1 << 15;
    (STAGED_WORDS / width.max(1) / 32 * 32).clamp(32, 256)
}

/// The row hasher wants the cells of consecutive messages side by side, so the sources lay out a few
/// rows at a time.
fn hash_sources(
    sources: &[&dyn RowSource],
    hasher: &dyn RowHasher,
    first: usize,
    out: &mut [Digest],
    staging: &mut Vec<KoalaBear>,
) -> Result<(), Error> {
    let width = sources.iter().map(|source| source.width()).sum();
    let rows_len = staged_rows_len(width);
    memory::resize(staging, width * rows_len, KoalaBear::ZERO)?;
    for (block, digests) in out.chunks_mut(rows_len).enumerate() {
        let (first, count) = (first + block * rows_len, digests.len());
        let mut rest = &mut staging[..width * rows_len];
        for source in sources {
            let (columns, after) = rest.split_at_mut(source.width() * rows_len);
            source.copy_columns(first..first + count, columns, rows_len);
            rest = after;
        }
        let columns = staging.chunks_exact(rows_len).take(width);
        let cells = memory::collect(width, columns.map(Cell::Column))?;
        hasher.hash_rows(&cells, 0..count, digests);
    }
    Ok(())
}

/// The row hasher wants the cells of consecutive messages side by side, so the even and the odd
/// rows of a few pairs at a time are laid out as columns of their own.
fn hash_pairs(
    prefix: &[KoalaBear],
    table: &Table<'_>,
    hasher: &dyn RowHasher,
    first: usize,
    out: &mut [Digest],
    staging: &mut Vec<KoalaBear>,
) -> Result<(), Error> {
    let width = table.width();
    let pairs_len = staged_rows_len(2 * width);
    memory::resize(staging, 2 * width * pairs_len, KoalaBear::ZERO)?;
    for (block, digests) in out.chunks_mut(pairs_len).enumerate() {
        let (first, count) = (first + block * pairs_len, digests.len());
        let (even, odd) = staging.split_at_mut(width * pairs_len);
        let staged = even
            .chunks_exact_mut(pairs_len)
            .zip(odd.chunks_exact_mut(pairs_len));
        for (column, (even, odd)) in table.columns().zip(staged) {
            let (pairs, _) = column[2 * first..2 * (first + count)].as_chunks::<2>();
            for (&[a, b], (even, odd)) in pairs.iter().zip(even.iter_mut().zip(odd)) {
                (*even, *odd) = (a, b);
            }
        }
        let constants = prefix.iter().map(|&word| Cell::Constant(word));
        let columns = staging.chunks_exact(pairs_len).map(Cell::Column);
        let cells = memory::collect(prefix.len() + 2 * width, constants.chain(columns))?;
        hasher.hash_rows(&cells, 0..count, digests);
    }
    Ok(())
}
