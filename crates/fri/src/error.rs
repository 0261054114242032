//! Why a commitment or an opening cannot be made.

/// What is wrong with parameters or tables, or what the machine lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The inverse rate is not one of 2, 4, 8, 16.
    #[error("no inverse rate of 2^{got}\nhint: it is one of 2, 4, 8, 16")]
    LogInvRate {
        /// log2 of the inverse rate as given.
        got: u32,
    },
    /// A cap was asked for in a format that has none.
    #[error("the lineth format has no cap on commitments, got cap height {got}")]
    CapHeight {
        /// The cap height as given.
        got: u32,
    },
    /// Constants were given for a permutation that the format does not use.
    #[error(
        "the format does not use a permutation of width {width}, but constants for it were given"
    )]
    UnusedConstants {
        /// Width of the permutation.
        width: usize,
    },
    /// There is nothing to commit to.
    #[error("no tables to commit to")]
    NoTables,
    /// A table has no columns.
    #[error("table {table} has no columns")]
    NoColumns {
        /// Index of the table.
        table: usize,
    },
    /// The number of rows is not a power of two.
    #[error("{rows} rows, which is not a power of two")]
    RowsNotPowerOfTwo {
        /// Rows of the table.
        rows: usize,
    },
    /// A column has another length than the first one of its table.
    #[error("column {column} has {got} rows, the first column has {expected}")]
    UnequalColumns {
        /// Index of the column.
        column: usize,
        /// Rows of the first column.
        expected: usize,
        /// Rows of this column.
        got: usize,
    },
    /// The cells of a table are not as many as its shape says.
    #[error("{got} cells, the shape has {expected}")]
    UnequalCells {
        /// Cells of the shape.
        expected: usize,
        /// Cells given.
        got: usize,
    },
    /// The encoded columns would be longer than the largest two-adic subgroup.
    #[error(
        "table {table} of 2^{log_rows} rows at inverse rate 2^{log_inv_rate} needs codewords of more than \
         2^24 cells\nhint: the field has no larger domain; split the table, or encode at a smaller inverse rate where there is one"
    )]
    CodewordTooLong {
        /// Index of the table.
        table: usize,
        /// log2 of its rows.
        log_rows: u32,
        /// log2 of the inverse rate.
        log_inv_rate: u32,
    },
    /// Extension columns are over another extension than the format hashes.
    #[error(
        "table {table} has extension columns of degree {got}, the lineth format has degree {expected}"
    )]
    ExtensionDegree {
        /// Index of the table.
        table: usize,
        /// Degree of the format.
        expected: usize,
        /// Degree of the table.
        got: usize,
    },
    /// The limb columns of a table are not whole extension columns.
    #[error("{limbs} limb columns are no whole extension columns of degree {degree}")]
    UnequalLimbs {
        /// Limb columns given.
        limbs: usize,
        /// Degree of the extension.
        degree: usize,
    },
    /// A table has fewer columns than it is said to have base columns.
    #[error("{columns_len} columns are fewer than {base_width} base columns")]
    TooFewColumns {
        /// Columns of the table.
        columns_len: usize,
        /// Base columns asked for.
        base_width: usize,
    },
    /// A text does not name a generator.
    #[error("not a generator: {text:?}\nhint: write lineth:SEED or random:SEED")]
    Generator {
        /// The text as given.
        text: String,
    },
    /// A table has fewer encoded rows than the cap has digests, so that no opening proves its rows.
    #[error("table {table} enters the tree above the cap\nhint: a lower cap binds it")]
    AboveCap {
        /// Index of the table.
        table: usize,
    },
    /// The positions to open are not rows in ascending order.
    #[error(transparent)]
    Positions(lanework_merkle::VerifyError),
    /// No such folding arity.
    #[error("no folding arity of 2^{got}\nhint: it is one of 2, 4, 8, 16")]
    LogArity {
        /// log2 of the arity as given.
        got: u32,
    },
    /// The final polynomial would be too long.
    #[error("no final polynomial of 2^{got} coefficients\nhint: at most 2^10")]
    LogFinalLen {
        /// log2 of its length as given.
        got: u32,
    },
    /// No such number of queries.
    #[error("{got} queries\nhint: from 1 to {max}; more bits of security take more")]
    Queries {
        /// As given.
        got: u32,
        /// The most.
        max: u32,
    },
    /// Too much work is asked for.
    #[error("grinding of {bits} bits\nhint: at most {max}")]
    Grinding {
        /// As given.
        bits: u32,
        /// The most.
        max: u32,
    },
    /// There are not shifts for every table of a batch.
    #[error("batch {batch} has {expected} tables, and shifts of {got}")]
    ShiftsLen {
        /// Index of the batch.
        batch: usize,
        /// Its tables.
        expected: usize,
        /// Tables that shifts are given for.
        got: usize,
    },
    /// In the Plonky3 format, what was consumed and what was kept cannot be opened together.
    #[error(
        "batches of different memory modes are opened together\nhint: commit to all with one committer"
    )]
    MixedModes,
    /// Shapes and shifts cannot be opened, or not at this point.
    #[error(transparent)]
    Shape(#[from] crate::ShapeError),
    /// The security asked for is out of reach, or nothing is known about such parameters.
    #[error(transparent)]
    Security(#[from] lanework_security::Error),
    /// No nonce was found.
    #[error(transparent)]
    Transcript(#[from] lanework_transcript::Error),
    /// The tables of a commitment that keeps no codewords, from which rows are to be opened, are not those that
    /// were committed to.
    #[error("the tables are no longer those that were committed to")]
    Changed,
    /// A table could not be had.
    #[error(transparent)]
    Source(#[from] crate::SourceError),
    /// Memory could not be had.
    #[error(transparent)]
    Memory(#[from] lanework_arch::memory::Error),
    /// Threads could not be had.
    #[error(transparent)]
    Threads(#[from] lanework_arch::threads::Error),
    /// The transform refuses the shape.
    #[error(transparent)]
    Ntt(#[from] lanework_ntt::Error),
    /// The tree refuses the tables.
    #[error(transparent)]
    Merkle(#[from] lanework_merkle::Error),
}
