//! Tables as the trees see them: columns of equal height, hashed row by row or pair by pair.

use std::ops::Range;

use lanework_field::KoalaBear;
use lanework_hash::{Cell, Digest, RowHasher};

use crate::Error;

/// A table of columns of equal height, borrowed from wherever they are kept.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    columns: Vec<&'a [KoalaBear]>,
    height: usize,
}

impl<'a> Table<'a> {
    /// The table of the given columns.
    ///
    /// # Errors
    /// [`Error::UnequalColumns`] if the columns differ in length.
    pub fn new(columns: Vec<&'a [KoalaBear]>) -> Result<Self, Error> {
        let height = columns.first().map_or(0, |column| column.len());
        match columns.iter().position(|column| column.len() != height) {
            None => Ok(Self { columns, height }),
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
            columns: cells.chunks_exact(height).collect(),
            height,
        }
    }

    /// The columns.
    pub fn columns(&self) -> &[&'a [KoalaBear]] {
        &self.columns
    }

    /// Rows of every column.
    pub fn height(&self) -> usize {
        self.height
    }
}

/// The messages that feed one layer of a tree, of which message i makes digest i.
#[derive(Debug)]
pub(crate) enum Rows<'a> {
    /// Message i is row i of the cells.
    Single(Vec<Cell<'a>>),
    /// Message i is the prefix, row 2i of the columns, and row 2i + 1.
    Pairs {
        prefix: Vec<KoalaBear>,
        columns: Vec<&'a [KoalaBear]>,
    },
}

impl Rows<'_> {
    /// Digests of the messages `range`, into `out`.
    pub(crate) fn hash(
        &self,
        hasher: &dyn RowHasher,
        range: Range<usize>,
        out: &mut [Digest],
        staging: &mut Vec<KoalaBear>,
    ) {
        match self {
            Self::Single(cells) => hasher.hash_rows(cells, range, out),
            Self::Pairs { prefix, columns } => {
                hash_pairs(prefix, columns, hasher, range.start, out, staging);
            }
        }
    }
}

/// The row hasher wants the cells of consecutive messages side by side, so the even and the odd
/// rows of a few pairs at a time are laid out as columns of their own.
fn hash_pairs(
    prefix: &[KoalaBear],
    columns: &[&[KoalaBear]],
    hasher: &dyn RowHasher,
    first: usize,
    out: &mut [Digest],
    staging: &mut Vec<KoalaBear>,
) {
    // Whole vectors of the widest back end, as many as the second-level cache keeps easily.
    const STAGED_WORDS: usize = 1 << 15;
    let pairs_len = (STAGED_WORDS / (2 * columns.len().max(1)) / 32 * 32).clamp(32, 256);
    staging.resize(2 * columns.len() * pairs_len, KoalaBear::ZERO);
    for (block, digests) in out.chunks_mut(pairs_len).enumerate() {
        let (first, count) = (first + block * pairs_len, digests.len());
        let (even, odd) = staging.split_at_mut(columns.len() * pairs_len);
        let staged = even
            .chunks_exact_mut(pairs_len)
            .zip(odd.chunks_exact_mut(pairs_len));
        for (column, (even, odd)) in columns.iter().zip(staged) {
            let (pairs, _) = column[2 * first..2 * (first + count)].as_chunks::<2>();
            for (&[a, b], (even, odd)) in pairs.iter().zip(even.iter_mut().zip(odd)) {
                (*even, *odd) = (a, b);
            }
        }
        let constants = prefix.iter().map(|&word| Cell::Constant(word));
        let columns = staging.chunks_exact(pairs_len).map(Cell::Column);
        let cells: Vec<_> = constants.chain(columns).collect();
        hasher.hash_rows(&cells, 0..count, digests);
    }
}
