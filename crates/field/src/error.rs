/// What can be wrong with numbers from outside.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An integer is not in [0, p).
    #[error("not a canonical field element: {value}")]
    NonCanonical {
        /// The integer.
        value: i128,
    },
    /// An integer of a slice is not in [0, p).
    #[error("not a canonical field element at index {index}: {value}")]
    NonCanonicalAt {
        /// The index of the first such integer.
        index: usize,
        /// The integer.
        value: i128,
    },
}
