use thiserror::Error;

/// Why a table of round constants or a name is not usable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The full rounds before and after the partial rounds differ in number.
    #[error(
        "round constants: {initial} full rounds before the partial rounds, {terminal} after\nhint: both halves have RF/2 rounds"
    )]
    UnequalHalves {
        /// Full rounds before the partial rounds.
        initial: usize,
        /// Full rounds after the partial rounds.
        terminal: usize,
    },
    /// There is no full round.
    #[error("round constants: no full round")]
    NoFullRound,
    /// No hash function of bytes has this name.
    #[error("unknown hash function: {name:?}\nhint: there are blake3 and blake2s")]
    UnknownFunction {
        /// The name as given.
        name: String,
    },
}
