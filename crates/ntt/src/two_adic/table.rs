//! The switch: which back end encodes.

use lanework_field::KoalaBear;

/// A back end with its tables for one shape of message and one coset.
pub(crate) trait Encode: Send + Sync {
    /// The name in reports: `avx512-ifma`, `avx512`, `avx2`, `neon`, `portable`.
    fn name(&self) -> &'static str;

    /// Elements of working memory.
    fn scratch_len(&self) -> usize;

    /// Writes the codeword of `message`. The lengths have been checked.
    fn encode(&self, message: &[KoalaBear], codeword: &mut [KoalaBear], scratch: &mut [KoalaBear]);
}

/// What to encode: 2^`log_rows` elements to 2^`log_inv_rate` times as many, on `shift` H.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub log_rows: u32,
    pub log_inv_rate: u32,
    pub shift: KoalaBear,
}

impl Shape {
    /// The cosets of the subgroup of order 2^`log_rows` that make up the codeword, in order.
    pub(crate) fn cosets(self) -> impl Iterator<Item = KoalaBear> {
        let root = KoalaBear::two_adic_generator(self.log_rows + self.log_inv_rate);
        (0..1 << self.log_inv_rate).map(move |c| {
            self.shift * root.pow(super::scalar::reversed(c, self.log_inv_rate) as u64)
        })
    }
}
