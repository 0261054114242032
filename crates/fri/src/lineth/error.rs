//! Why an opening cannot be made or is not accepted.

use std::fmt;

/// What is wrong with parameters, a statement or a proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The sizes of the code are not possible.
    #[error(
        "no code of 2^{log_codeword} cells for 2^{log_plaintext} values\n\
         hint: codewords are longer than their columns and have at most 2^24 cells"
    )]
    Code {
        /// log2 of the longest codeword.
        log_codeword: u32,
        /// log2 of the largest column.
        log_plaintext: u32,
    },
    /// The final polynomial is larger than a column.
    #[error("a final polynomial of 2^{log_final} coefficients for columns of 2^{log_plaintext}")]
    FinalSize {
        /// log2 of its coefficients.
        log_final: u32,
        /// log2 of the largest column.
        log_plaintext: u32,
    },
    /// Nothing is looked at.
    #[error("no queries")]
    NoQueries,

    /// There is nothing to open.
    #[error("no batches to open")]
    NoBatches,
    /// A batch has no tables.
    #[error("batch {batch} has no tables")]
    NoTables {
        /// Index of the batch.
        batch: usize,
    },
    /// A table has no columns.
    #[error("batch {batch}: the table of 2^{log_rows} rows has no columns")]
    NoColumns {
        /// Index of the batch.
        batch: usize,
        /// log2 of the rows of the table.
        log_rows: u32,
    },
    /// Two tables of a batch have the same size.
    #[error("batch {batch}: two tables of 2^{log_rows} rows")]
    SameSize {
        /// Index of the batch.
        batch: usize,
        /// log2 of their rows.
        log_rows: u32,
    },
    /// A table is too large for the parameters.
    #[error("batch {batch}: a table of 2^{log_rows} rows, the parameters allow 2^{max}")]
    TableTooLarge {
        /// Index of the batch.
        batch: usize,
        /// log2 of the rows of the table.
        log_rows: u32,
        /// log2 of the most rows.
        max: u32,
    },
    /// A table is smaller than the final polynomial.
    #[error(
        "batch {batch}: a table of 2^{log_rows} rows is smaller than the final polynomial, 2^{min}"
    )]
    TableTooSmall {
        /// Index of the batch.
        batch: usize,
        /// log2 of the rows of the table.
        log_rows: u32,
        /// log2 of the coefficients of the final polynomial.
        min: u32,
    },
    /// A column is not opened.
    #[error("batch {batch}: column {column} of the table of 2^{log_rows} rows has no shifts")]
    NoShifts {
        /// Index of the batch.
        batch: usize,
        /// log2 of the rows of the table.
        log_rows: u32,
        /// Index of the column, extension columns after base columns.
        column: usize,
    },
    /// Two shifts of a column are the same, or one is not below the number of rows and so the same as a smaller one.
    #[error(
        "batch {batch}: shift {shift} of column {column} of the table of 2^{log_rows} rows is a duplicate or too large"
    )]
    AliasedShift {
        /// Index of the batch.
        batch: usize,
        /// log2 of the rows of the table.
        log_rows: u32,
        /// Index of the column, extension columns after base columns.
        column: usize,
        /// The shift.
        shift: usize,
    },
    /// Batches with the same root are not of the same shape.
    #[error("batches {first} and {second} have the same root, but other tables")]
    SameRoot {
        /// Index of the batch whose tree is opened.
        first: usize,
        /// Index of the other batch.
        second: usize,
    },
    /// All columns are as small as the final polynomial.
    #[error(
        "all columns have 2^{log_rows} rows, which leaves no round of folding\n\
         hint: there are no rules for this case on which all revisions of lineth agree"
    )]
    NoRounds {
        /// log2 of their rows.
        log_rows: u32,
    },
    /// There are columns of the size of the final polynomial, which is above 2.
    #[error(
        "columns of 2^{log_final} rows, as many as the final polynomial has coefficients\n\
         hint: the rule for such columns is complete up to two rows"
    )]
    Boundary {
        /// log2 of their rows.
        log_final: u32,
    },
    /// The point lies in the domain of a codeword.
    #[error("the point of the opening lies in the domain of a codeword")]
    ZetaInDomain,
    /// The point is zero, where all shifts are the same.
    #[error("the point of the opening is zero, and a column has several shifts")]
    ZetaZero,
    /// There are more or fewer claims than shifts.
    #[error("{got} claims for {expected} shifts")]
    Claims {
        /// Shifts of all columns.
        expected: usize,
        /// Claims given.
        got: usize,
    },

    /// The commitment is in another format.
    #[error("only commitments in the lineth format are opened")]
    Format,
    /// There are not as many commitments as batches.
    #[error("{got} commitments for {expected} batches")]
    Commitments {
        /// Batches.
        expected: usize,
        /// Commitments given.
        got: usize,
    },
    /// A commitment has other tables than the statement says, another rate, or no codewords any more.
    #[error("the commitment of batch {batch} is not of the shape or rate of the statement")]
    Shape {
        /// Index of the batch.
        batch: usize,
    },
    /// A commitment has another root than the statement says.
    #[error("the commitment of batch {batch} has another root")]
    Root {
        /// Index of the batch.
        batch: usize,
    },
    /// The columns do not have the values that are claimed.
    #[error("a claim does not hold")]
    FalseClaim,
    /// Memory could not be had.
    #[error(transparent)]
    Memory(#[from] lanework_arch::memory::Error),

    /// There is no challenge for a round.
    #[error("no challenge for round {round}")]
    NoChallenge {
        /// The round.
        round: u32,
    },
    /// The positions are not as many as there are queries.
    #[error("{got} positions for {expected} queries")]
    Positions {
        /// Queries.
        expected: usize,
        /// Positions.
        got: usize,
    },
    /// A position is not in the largest domain.
    #[error("position {position} of query {query} is not below 2^{log_len}")]
    Position {
        /// Index of the query.
        query: usize,
        /// The position.
        position: usize,
        /// log2 of the domain.
        log_len: u32,
    },

    /// A part of the proof has another length than the statement makes it.
    #[error("{got} {part}, there must be {expected}")]
    Length {
        /// The part.
        part: Part,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// A table that is sent with a cap is of another size than its place is for.
    #[error(
        "input tree {tree}: a table of 2^{got} rows in the cap, in the place of one of 2^{expected}"
    )]
    RevealedSize {
        /// Index of the tree.
        tree: usize,
        /// log2 of the rows that the table must have, before it is encoded.
        expected: u32,
        /// log2 of the rows that it is said to have.
        got: u32,
    },
    /// A pair of rows is missing.
    #[error("query {query}, input tree {tree}: no pair of rows at level {level}")]
    MissingPair {
        /// Index of the query.
        query: usize,
        /// Index of the tree.
        tree: usize,
        /// Levels below the root.
        level: u32,
    },
    /// There is a pair of rows where no table has one.
    #[error(
        "query {query}, input tree {tree}: a pair of rows at level {level}, where no table has one"
    )]
    UnexpectedPair {
        /// Index of the query.
        query: usize,
        /// Index of the tree.
        tree: usize,
        /// Levels below the root.
        level: u32,
    },
    /// A cap does not give the root of its batch.
    #[error("the cap of input tree {tree} does not have the root of the batch")]
    InputCap {
        /// Index of the tree.
        tree: usize,
    },
    /// A cap does not give the root of its running tree.
    #[error("the cap of running layer {layer} does not have the root of the layer")]
    RunningCap {
        /// The layer, the first being 1.
        layer: u32,
    },
    /// Rows of a query do not lead to the cap.
    #[error("query {query}, input tree {tree}: the rows are not in the tree")]
    InputPath {
        /// Index of the query.
        query: usize,
        /// Index of the tree.
        tree: usize,
    },
    /// A value of a running layer does not lead to the cap.
    #[error("query {query}, running layer {layer}: the value is not in the tree")]
    RunningPath {
        /// Index of the query.
        query: usize,
        /// The layer, the first being 1.
        layer: u32,
    },
    /// The last two words of a leaf are not zero.
    #[error("query {query}, running layer {layer}: a leaf is more than an element")]
    Padding {
        /// Index of the query.
        query: usize,
        /// The layer, the first being 1.
        layer: u32,
    },
    /// A pair does not fold to the value in the next layer.
    #[error(
        "query {query}, running layer {layer}: the value is not what the layer before folds to"
    )]
    Fold {
        /// Index of the query.
        query: usize,
        /// The layer with the value, the first being 1.
        layer: u32,
    },
    /// The last pair does not fold to the value of the final polynomial.
    #[error("query {query}: the last layer does not fold to the final polynomial")]
    Final {
        /// Index of the query.
        query: usize,
    },
    /// The combination of the boundary columns is not the same at x and -x.
    #[error("query {query}: the pair of the boundary level is not constant")]
    BoundaryPair {
        /// Index of the query.
        query: usize,
    },
    /// A column of one row has a codeword that is not constant.
    #[error("query {query}: the rows of the columns of size 1 differ")]
    BoundaryRows {
        /// Index of the query.
        query: usize,
    },
    /// The combination of the boundary columns is not the same in all queries.
    #[error("query {query}: the boundary level has another value than in query 0")]
    BoundaryValue {
        /// Index of the query.
        query: usize,
    },
}

/// A part of a proof that has a length.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The caps of the input trees.
    InputCaps,
    /// The nodes of one of them.
    InputNodes {
        /// Index of the tree.
        tree: usize,
    },
    /// The tables sent with one of them.
    RevealedTables {
        /// Index of the tree.
        tree: usize,
    },
    /// The encoded rows of such a table.
    RevealedRows {
        /// Index of the tree.
        tree: usize,
        /// log2 of the rows of the table before it is encoded.
        log_rows: u32,
    },
    /// The openings of the input trees, by queries.
    InputQueries,
    /// The input trees opened for a query.
    InputTrees {
        /// Index of the query.
        query: usize,
    },
    /// The siblings of such an opening.
    InputSiblings {
        /// Index of the query.
        query: usize,
        /// Index of the tree.
        tree: usize,
    },
    /// The levels of such an opening at which there may be a pair of rows.
    InputLevels {
        /// Index of the query.
        query: usize,
        /// Index of the tree.
        tree: usize,
    },
    /// The base cells of a row.
    BaseCells {
        /// Index of the tree.
        tree: usize,
        /// log2 of the rows of the table before it is encoded.
        log_rows: u32,
    },
    /// The extension cells of a row.
    ExtensionCells {
        /// Index of the tree.
        tree: usize,
        /// log2 of the rows of the table before it is encoded.
        log_rows: u32,
    },
    /// The roots of the running trees.
    RoundRoots,
    /// The caps of the running trees.
    RoundCaps,
    /// The nodes of one of them.
    RoundNodes {
        /// The layer, the first being 1.
        layer: u32,
    },
    /// The coefficients of the final polynomial.
    FinalPolynomial,
    /// The openings of the running trees, by queries.
    RunningQueries,
    /// The running layers opened for a query.
    RunningLayers {
        /// Index of the query.
        query: usize,
    },
    /// The siblings of such an opening.
    RunningSiblings {
        /// Index of the query.
        query: usize,
        /// The layer, the first being 1.
        layer: u32,
    },
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InputCaps => write!(f, "caps of input trees"),
            Self::InputNodes { tree } => write!(f, "nodes in the cap of input tree {tree}"),
            Self::RevealedTables { tree } => write!(f, "tables in the cap of input tree {tree}"),
            Self::RevealedRows { tree, log_rows } => {
                write!(
                    f,
                    "rows of the table of 2^{log_rows} rows in the cap of input tree {tree}"
                )
            }
            Self::InputQueries => write!(f, "queries of input trees"),
            Self::InputTrees { query } => write!(f, "input trees in query {query}"),
            Self::InputSiblings { query, tree } => {
                write!(f, "siblings of query {query} in input tree {tree}")
            }
            Self::InputLevels { query, tree } => {
                write!(f, "levels of query {query} in input tree {tree}")
            }
            Self::BaseCells { tree, log_rows } => {
                write!(
                    f,
                    "base cells in a row of the table of 2^{log_rows} rows of input tree {tree}"
                )
            }
            Self::ExtensionCells { tree, log_rows } => {
                write!(
                    f,
                    "extension cells in a row of the table of 2^{log_rows} rows of input tree {tree}"
                )
            }
            Self::RoundRoots => write!(f, "roots of running trees"),
            Self::RoundCaps => write!(f, "caps of running trees"),
            Self::RoundNodes { layer } => write!(f, "nodes in the cap of running layer {layer}"),
            Self::FinalPolynomial => write!(f, "coefficients of the final polynomial"),
            Self::RunningQueries => write!(f, "queries of running trees"),
            Self::RunningLayers { query } => write!(f, "running layers in query {query}"),
            Self::RunningSiblings { query, layer } => {
                write!(f, "siblings of query {query} in running layer {layer}")
            }
        }
    }
}
