//! Why a commitment or an opening cannot be made, and why one is not accepted.

use lanework_merkle::bytes::VerifyError;

use crate::stack::{LOG_WORDS_MAX, LOG_WORDS_MIN, WORDS_MIN};

/// What is wrong with parameters or words, or what the machine lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The inverse rate is not one of 2, 4, 8, 16.
    #[error("no inverse rate of 2^{got}\nhint: it is one of 2, 4, 8, 16")]
    LogInvRate {
        /// log2 of the inverse rate as given.
        got: u32,
    },
    /// There is too little to commit to.
    #[error(
        "too small to commit to: {words} words of 8 bytes\n\
         hint: more than {} bytes make a vector of 2^{LOG_WORDS_MIN} words, the smallest; append zeros",
        8 * (WORDS_MIN - 1)
    )]
    TooSmall {
        /// Words placed.
        words: usize,
    },
    /// There is too much to commit to.
    #[error(
        "too large to commit to: {words} words of 8 bytes\n\
         hint: at most 2^{LOG_WORDS_MAX} words, {} bytes; commit to parts",
        8_u64 << LOG_WORDS_MAX
    )]
    TooLarge {
        /// Words placed, or as many as can be counted.
        words: usize,
    },
    /// A column is not a power of two of words.
    #[error(
        "column {column} has {words} words, which is not a power of two\n\
         hint: fill it up with zeros; one vector of any length is made by Stack::from_words"
    )]
    ColumnLen {
        /// Index of the column.
        column: usize,
        /// Its words.
        words: usize,
    },
    /// A row is asked for that the code does not have.
    #[error("no row {position} in a code of {rows} rows")]
    Position {
        /// The row as given.
        position: usize,
        /// Rows of the code.
        rows: usize,
    },
    /// Memory could not be had.
    #[error(transparent)]
    Memory(#[from] lanework_arch::memory::Error),
    /// Threads could not be had.
    #[error(transparent)]
    Threads(#[from] lanework_arch::threads::Error),
    /// The transform refuses the shape.
    #[error(transparent)]
    Ntt(#[from] lanework_ntt::Error),
    /// The tree cannot be built.
    #[error(transparent)]
    Merkle(#[from] lanework_merkle::Error),
}

/// Why an opening is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpeningError {
    /// No vector has the shape of the commitment.
    #[error("no commitment has this shape: {what}")]
    Shape {
        /// What does not fit.
        what: &'static str,
    },
    /// There are more or fewer words than the rows have.
    #[error("{got} words, the rows have {expected}")]
    WordsLen {
        /// Words of the rows.
        expected: usize,
        /// Words given.
        got: usize,
    },
    /// The tree does not have these leaves.
    #[error(transparent)]
    Tree(#[from] VerifyError),
}
