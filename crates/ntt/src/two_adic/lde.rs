use std::fmt;
use std::sync::Arc;

use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_field::KoalaBear;
use lanework_field::koala::spec::TWO_ADICITY;

use super::table::{Encode, Shape, Stores, encoder};
use crate::Error;

/// The Reed-Solomon encoder of columns of one length at one rate: a low-degree extension.
///
/// A column of n elements holds the values of a polynomial f of degree below n at the powers of
/// the root of unity of order n, in their natural order. Its codeword has N = n 2^`log_inv_rate`
/// elements. Position r holds f(`shift` w^rev(r)), with w the root of order N and rev the reversal
/// of log2 N bits. So block c of n positions covers one coset of the subgroup of order n, points x
/// and -x are neighbours, and a `shift` of one makes block 0 the message in bit-reversed order.
///
/// lineth encodes with `shift` one, Plonky3 (for a fresh trace) with `shift` 3, the generator.
///
/// A plan holds tables only. It can be used by any number of threads, each with a scratch buffer of
/// its own. Extension columns are encoded limb by limb.
#[derive(Clone)]
pub struct LdePlan {
    shape: Shape,
    kernel: Arc<dyn Encode>,
}

impl LdePlan {
    /// Plans the encoding of 2^`log_rows` elements to 2^`log_inv_rate` times as many, with the
    /// instructions of `choice` and passes as large as `caches` allow.
    ///
    /// # Errors
    /// [`Error::TooLong`] if `log_rows + log_inv_rate` is above 24, [`Error::ZeroShift`].
    pub fn new(
        log_rows: u32,
        log_inv_rate: u32,
        shift: KoalaBear,
        choice: Choice,
        caches: Caches,
    ) -> Result<Self, Error> {
        if log_rows.saturating_add(log_inv_rate) > TWO_ADICITY {
            return Err(Error::TooLong {
                log_rows,
                log_inv_rate,
            });
        }
        if shift == KoalaBear::ZERO {
            return Err(Error::ZeroShift);
        }
        let shape = Shape {
            log_rows,
            log_inv_rate,
            shift,
        };
        Ok(Self {
            shape,
            kernel: encoder(shape, choice, caches),
        })
    }

    /// The length of a message.
    pub fn message_len(&self) -> usize {
        1 << self.shape.log_rows
    }

    /// The length of a codeword.
    pub fn codeword_len(&self) -> usize {
        1 << (self.shape.log_rows + self.shape.log_inv_rate)
    }

    /// The elements of working memory that [`LdePlan::encode`] needs: a little more than one message, or
    /// than two if the codeword has several blocks that are not the message.
    pub fn scratch_len(&self) -> usize {
        self.kernel.scratch_len()
    }

    /// The name of the back end: `avx512-ifma`, `avx512`, `avx2`, `neon` or `portable`.
    pub fn kernel(&self) -> &'static str {
        self.kernel.name()
    }

    /// Writes the codeword of `message`. What `scratch` holds afterwards has no meaning.
    ///
    /// # Panics
    /// If a slice has another length than the plan says.
    pub fn encode(
        &self,
        message: &[KoalaBear],
        codeword: &mut [KoalaBear],
        scratch: &mut [KoalaBear],
    ) {
        self.encode_with(message, codeword, scratch, Stores::Caching);
    }

    /// The same, with stores that leave the codeword in memory rather than in the caches, where the
    /// back end can: for tables so large that nothing of a codeword is left in the caches when it is
    /// read.
    ///
    /// # Panics
    /// As [`LdePlan::encode`].
    pub fn encode_streaming(
        &self,
        message: &[KoalaBear],
        codeword: &mut [KoalaBear],
        scratch: &mut [KoalaBear],
    ) {
        self.encode_with(message, codeword, scratch, Stores::Streaming);
    }

    fn encode_with(
        &self,
        message: &[KoalaBear],
        codeword: &mut [KoalaBear],
        scratch: &mut [KoalaBear],
        stores: Stores,
    ) {
        assert_eq!(message.len(), self.message_len(), "length of the message");
        assert_eq!(
            codeword.len(),
            self.codeword_len(),
            "length of the codeword"
        );
        assert_eq!(
            scratch.len(),
            self.scratch_len(),
            "length of the scratch buffer"
        );
        self.kernel.encode(message, codeword, scratch, stores);
    }
}

impl fmt::Debug for LdePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LdePlan")
            .field("shape", &self.shape)
            .field("kernel", &self.kernel())
            .finish_non_exhaustive()
    }
}
