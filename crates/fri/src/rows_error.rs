//! Why a proof is refused.

use crate::Error;

/// What is wrong with an opening.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// No commitment is to tables of these shapes.
    #[error(transparent)]
    Shapes(#[from] Error),
    /// The commitment has not as many digests as the parameters say.
    #[error("a commitment of {got} digests where there are {expected}")]
    CapLen {
        /// Digests of a cap under the parameters.
        expected: usize,
        /// Digests of the commitment.
        got: usize,
    },
    /// A table has fewer encoded rows than the cap has digests, so that the commitment says nothing of them.
    #[error("table {table} enters the tree above the cap\nhint: a lower cap binds it")]
    AboveCap {
        /// Index of the table.
        table: usize,
    },
    /// There are not rows of every table.
    #[error("opened rows of {got} tables, {expected} are committed to")]
    TablesLen {
        /// Tables committed to.
        expected: usize,
        /// Tables with opened rows.
        got: usize,
    },
    /// The opened rows of a table have another number of cells than they should.
    #[error("{got} cells of table {table}, where {rows} rows of {columns} columns are opened")]
    RowsLen {
        /// Index of the table.
        table: usize,
        /// Rows that the positions open.
        rows: usize,
        /// Columns of the table.
        columns: usize,
        /// Cells given.
        got: usize,
    },
    /// The tree refuses the positions, or the rows and siblings.
    #[error(transparent)]
    Tree(#[from] lanework_merkle::VerifyError),
}
