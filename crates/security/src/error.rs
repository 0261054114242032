//! Why there is no number to give.

use crate::fri::{LOG_DOMAIN_MAX, QUERIES_MAX, Regime, Source};

/// What is wrong with parameters, or why no parameters reach a target.
#[derive(Copy, Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Every word is a codeword.
    #[error("a code of rate 1 proves nothing\nhint: the inverse rate is 2 at least")]
    RateOne,
    /// The codeword is longer than any machine holds.
    #[error(
        "codewords of 2^{log_rows} rows times 2^{log_inv_rate} are too long: at most 2^{LOG_DOMAIN_MAX}"
    )]
    DomainTooLong {
        /// log2 of the rows of the largest table.
        log_rows: u32,
        /// log2 of the inverse rate.
        log_inv_rate: u32,
    },
    /// There are no columns, or no points to open them at.
    #[error("nothing is opened: {columns} columns at {points} points")]
    NothingOpened {
        /// Columns of all tables.
        columns: u32,
        /// Points for each column.
        points: u32,
    },
    /// A fold of arity 1 does not fold.
    #[error("a fold of arity 1 leaves everything as it is\nhint: the arity is 2 at least")]
    ArityOne,
    /// Nothing is checked.
    #[error("a proof without queries proves nothing\nhint: there is one query at least")]
    NoQueries,
    /// No multiplicity is within the bounds of list decoding.
    #[error(
        "2^{log_rows} rows are too few for list decoding with {points} points for each column\n\
         hint: unique decoding has no such limit"
    )]
    TooFewRows {
        /// log2 of the rows of the largest table.
        log_rows: u32,
        /// Points for each column.
        points: u32,
    },
    /// No number of queries reaches the target.
    #[error(
        "{target} bits are out of reach in the {} regime: the weakest source of error, {}, has {:.1}\nhint: {}",
        .regime.name(),
        .weakest.name(),
        round_down(*.bits),
        hint(*.weakest)
    )]
    OutOfReach {
        /// The bits asked for.
        target: u32,
        /// What they were asked for under.
        regime: Regime,
        /// The weakest source of error that is left with as many queries as the search tries.
        weakest: Source,
        /// Its bits.
        bits: f64,
    },
}

/// To one decimal.
fn round_down(bits: f64) -> f64 {
    (bits * 10.0).floor() / 10.0
}

fn hint(source: Source) -> String {
    match source {
        Source::Batching | Source::Folds => {
            "a field of a higher degree (6 instead of 4), or grinding before this challenge"
                .to_owned()
        }
        Source::OutOfDomain => {
            "a field of a higher degree (6 instead of 4), or unique decoding".to_owned()
        }
        Source::Queries => {
            format!("a lower rate, or more rows; at most {QUERIES_MAX} queries are tried")
        }
        Source::Hash => "longer digests, or a lower target".to_owned(),
    }
}

// The only number that is not an integer is a count of bits, which is never NaN.
impl Eq for Error {}
