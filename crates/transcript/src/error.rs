/// What is wrong with a nonce, or with the work that is asked of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// More work than grinding is for.
    #[error("grinding of {bits} bits, at most {max} are possible")]
    TooMuchGrinding {
        /// Bits asked for.
        bits: u32,
        /// The most there can be.
        max: u32,
    },
    /// No work was asked for, but a nonce was given.
    #[error("nonce {nonce} where no work is asked for")]
    UnexpectedNonce {
        /// The nonce.
        nonce: u64,
    },
    /// The nonce is not an element of the field.
    #[error("nonce {nonce} is no canonical element")]
    NonCanonicalNonce {
        /// The nonce.
        nonce: u64,
    },
    /// The nonce does not have the work asked for.
    #[error("nonce {nonce} does not have {bits} bits of work")]
    TooLittleWork {
        /// Bits asked for.
        bits: u32,
        /// The nonce.
        nonce: u64,
    },
    /// No nonce has the work asked for.
    #[error("no nonce has {bits} bits of work")]
    NoNonce {
        /// Bits asked for.
        bits: u32,
    },
}
