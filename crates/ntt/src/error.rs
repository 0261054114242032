use lanework_field::koala::spec::TWO_ADICITY;

/// Why a plan cannot be made.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no subgroup as large as the codeword.
    #[error(
        "too long to encode: 2^{log_rows} rows at inverse rate 2^{log_inv_rate}\n\
         hint: rows times inverse rate may be at most 2^{TWO_ADICITY}"
    )]
    TooLong {
        /// The message has 2^`log_rows` elements.
        log_rows: u32,
        /// The codeword is 2^`log_inv_rate` times as long.
        log_inv_rate: u32,
    },
    /// There is no subgroup of this order.
    #[error(
        "no subgroup of order 2^{log_len}\n\
         hint: a transform may have at most 2^{TWO_ADICITY} elements"
    )]
    NoSubgroup {
        /// The transform has 2^`log_len` elements.
        log_len: u32,
    },
    /// There is no additive domain as large as the codeword.
    #[error("too long to encode: a codeword of 2^{log_len} rows\nhint: it may have at most 2^32")]
    DomainTooLong {
        /// The codeword has 2^`log_len` rows.
        log_len: u32,
    },
    /// A coset needs a representative that is not zero.
    #[error("the shift of a coset is zero")]
    ZeroShift,
}
