use thiserror::Error;

/// Why a table of round constants is not usable.
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
}
