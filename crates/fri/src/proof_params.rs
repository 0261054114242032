//! How much is folded, asked and worked for in a proof.

use lanework_transcript::GRINDING_BITS_MAX;

use crate::Error;

/// The bits of work before challenges: each bit halves the chance of a prover that tries again and again.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Grinding {
    /// Before the challenge that batches columns.
    pub batch: u32,
    /// Before the challenge of each folding round.
    pub fold: u32,
    /// Before the positions of the queries.
    pub query: u32,
}

/// The parameters of a proof beside those of the commitment; prover and verifier use the same.
///
/// ```
/// use lanework_fri::{Grinding, ProofParams};
///
/// let params = ProofParams::builder()
///     .queries(100)
///     .grinding(Grinding { query: 16, ..Grinding::default() })
///     .build()?;
/// assert_eq!(params.log_arity(), 3);
/// # Ok::<(), lanework_fri::Error>(())
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProofParams {
    log_arity: u32,
    log_final_len: u32,
    queries: u32,
    grinding: Grinding,
}

impl ProofParams {
    /// The most queries.
    pub const QUERIES_MAX: u32 = 1 << 16;

    /// A builder with the defaults: arity 8, a final polynomial of at most 64 coefficients, no grinding,
    /// and 124 queries, which say little before one knows the rate: see `for_security`.
    pub fn builder() -> ProofParamsBuilder {
        ProofParamsBuilder(Self {
            log_arity: 3,
            log_final_len: 6,
            queries: 124,
            grinding: Grinding::default(),
        })
    }

    /// log2 of the most values that a folding round makes one of.
    pub fn log_arity(&self) -> u32 {
        self.log_arity
    }

    /// log2 of the coefficients of the final polynomial, unless a table has fewer rows.
    pub fn log_final_len(&self) -> u32 {
        self.log_final_len
    }

    /// Positions at which the folding is checked.
    pub fn queries(&self) -> u32 {
        self.queries
    }

    /// The bits of work.
    pub fn grinding(&self) -> Grinding {
        self.grinding
    }
}

/// Collects the parameters of a proof, see [`ProofParams::builder`].
#[derive(Copy, Clone, Debug)]
pub struct ProofParamsBuilder(ProofParams);

impl ProofParamsBuilder {
    /// Sets log2 of the arity: 1, 2, 3 or 4.
    #[must_use]
    pub fn log_arity(self, log_arity: u32) -> Self {
        Self(ProofParams {
            log_arity,
            ..self.0
        })
    }

    /// Sets log2 of the coefficients of the final polynomial, at most 10.
    #[must_use]
    pub fn log_final_len(self, log_final_len: u32) -> Self {
        Self(ProofParams {
            log_final_len,
            ..self.0
        })
    }

    /// Sets the queries, at least 1.
    #[must_use]
    pub fn queries(self, queries: u32) -> Self {
        Self(ProofParams { queries, ..self.0 })
    }

    /// Sets the bits of work.
    #[must_use]
    pub fn grinding(self, grinding: Grinding) -> Self {
        Self(ProofParams { grinding, ..self.0 })
    }

    /// The parameters.
    ///
    /// # Errors
    /// [`Error::LogArity`], [`Error::LogFinalLen`], [`Error::Queries`] and [`Error::Grinding`] for values
    /// out of range.
    pub fn build(self) -> Result<ProofParams, Error> {
        let params = self.0;
        if !(1..=4).contains(&params.log_arity) {
            return Err(Error::LogArity {
                got: params.log_arity,
            });
        }
        if params.log_final_len > 10 {
            return Err(Error::LogFinalLen {
                got: params.log_final_len,
            });
        }
        if !(1..=ProofParams::QUERIES_MAX).contains(&params.queries) {
            return Err(Error::Queries {
                got: params.queries,
                max: ProofParams::QUERIES_MAX,
            });
        }
        let Grinding { batch, fold, query } = params.grinding;
        let bits = batch.max(fold).max(query);
        if bits > GRINDING_BITS_MAX {
            return Err(Error::Grinding {
                bits,
                max: GRINDING_BITS_MAX,
            });
        }
        Ok(params)
    }
}
