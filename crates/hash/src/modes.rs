use std::ops::Range;

use lanework_field::KoalaBear;

use crate::Digest;

/// One cell of every row of a table.
#[derive(Copy, Clone, Debug)]
pub enum Cell<'a> {
    /// The same word in every row: a header, a separator.
    Constant(KoalaBear),
    /// Word r in row r.
    Column(&'a [KoalaBear]),
}

impl Cell<'_> {
    /// The word in row `row`.
    ///
    /// # Panics
    /// If a column has no such row.
    pub fn at(&self, row: usize) -> KoalaBear {
        match self {
            Self::Constant(word) => *word,
            Self::Column(column) => column[row],
        }
    }
}

/// Which of the cells of a row are absorbed, see [`RowHasher::absorb_rows`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All.
    Whole,
    /// The first, not all.
    First,
    /// Some between.
    Middle,
    /// The last, not all.
    Last,
}

impl Part {
    /// Whether the row begins with them.
    pub(crate) fn starts(self) -> bool {
        matches!(self, Self::Whole | Self::First)
    }

    /// Whether the row ends with them.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::Whole | Self::Last)
    }
}

/// A hash of rows of field elements.
pub trait RowHasher: Send + Sync {
    /// Cells that are absorbed together.
    fn block_len(&self) -> usize;

    /// The digest of one message.
    fn hash_slice(&self, message: &[KoalaBear]) -> Digest;

    /// Writes to `out` the digests of rows `rows` of the table whose row r is
    /// (cell 0 at r, cell 1 at r, ...). Any number of rows.
    ///
    /// # Panics
    /// If `out` and `rows` differ in length, or a column ends before the rows do.
    fn hash_rows(&self, cells: &[Cell<'_>], rows: Range<usize>, out: &mut [Digest]) {
        self.absorb_rows(Part::Whole, cells, rows, out);
    }

    /// As [`Self::hash_rows`], of rows whose cells come in parts: `states` holds what is carried from part to
    /// part, and the digests after the last one. Before the first, it may hold anything.
    ///
    /// All parts but the last are whole blocks of [`Self::block_len`] cells, and the last one has at least one
    /// whole block. What a block overwrites then need not be carried, and eight words are enough.
    ///
    /// # Panics
    /// If parts are not of these lengths, or more than eight words would have to be carried; if `states` and
    /// `rows` differ in length, or a column ends before the rows do.
    fn absorb_rows(
        &self,
        part: Part,
        cells: &[Cell<'_>],
        rows: Range<usize>,
        states: &mut [Digest],
    );
}

/// A two-to-one compression C of digests.
pub trait Compression: Send + Sync {
    /// C(left, right).
    fn compress(&self, left: &Digest, right: &Digest) -> Digest;

    /// Writes C(children 2i, children 2i + 1) to parent i.
    ///
    /// # Panics
    /// If there are not two children per parent.
    fn compress_pairs(&self, children: &[Digest], parents: &mut [Digest]);

    /// Writes C(C(children 2i, children 2i + 1), aux i) to parent i.
    ///
    /// # Panics
    /// If there are not two children and one auxiliary digest per parent.
    fn compress_pairs_with(&self, children: &[Digest], aux: &[Digest], parents: &mut [Digest]);

    /// Replaces node i by C(node i, right i).
    ///
    /// # Panics
    /// If `nodes` and `right` differ in length.
    fn compress_into(&self, nodes: &mut [Digest], right: &[Digest]);
}
