//! What can be wrong with the tables of a tree.

/// Why no tree can be built over the given tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to commit to.
    #[error("no tables to commit to")]
    NoTables,
    /// A table has no rows.
    #[error("table {table} has no rows")]
    NoRows {
        /// Index of the table.
        table: usize,
    },
    /// A table has no columns.
    #[error("table {table} has no columns")]
    NoColumns {
        /// Index of the table.
        table: usize,
    },
    /// The columns of one table differ in length.
    #[error("column {column} of a table has {got} rows, the first column has {expected}")]
    UnequalColumns {
        /// Index of the column.
        column: usize,
        /// Rows of the first column.
        expected: usize,
        /// Rows of this column.
        got: usize,
    },
    /// The columns of a table are not its base columns and the limbs of its extension columns.
    #[error("{got} columns do not make {base_width} base and {ext_width} extension columns")]
    UnequalWidths {
        /// Base columns.
        base_width: usize,
        /// Extension columns.
        ext_width: usize,
        /// Columns given, an extension column counting once for each limb.
        got: usize,
    },
    /// The height of a table does not fit under the tallest one.
    #[error(
        "table {table} has {height} rows, which has no place under {max_height}\n\
         hint: the nearest height that has is {expected}"
    )]
    IncompatibleHeight {
        /// Index of the table.
        table: usize,
        /// Its rows.
        height: usize,
        /// Rows of the tallest table.
        max_height: usize,
        /// The one height between the same powers of two that fits.
        expected: usize,
    },
    /// The height of a table is not a power of two.
    #[error("table {table} has {height} rows, which is not a power of two")]
    HeightNotPowerOfTwo {
        /// Index of the table.
        table: usize,
        /// Its rows.
        height: usize,
    },
    /// Two tables have the same height, and the format has one table per height.
    #[error(
        "table {table} has {height} rows, as many as an earlier one\n\
         hint: put all columns of one height into one table"
    )]
    SameHeight {
        /// Index of the later table.
        table: usize,
        /// Rows of both.
        height: usize,
    },
    /// The digests could not be allocated.
    #[error(transparent)]
    Memory(#[from] lanework_arch::memory::Error),
}
