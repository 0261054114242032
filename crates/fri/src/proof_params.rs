//! How much is folded, asked and worked for in a proof.

use lanework_field::koala::Extension;
use lanework_security::{self as security, fri::Regime};
use lanework_transcript::GRINDING_BITS_MAX;

use crate::{Error, OpenedTable, Params};

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

    /// A builder with the defaults: arity 8, a final polynomial of at most 64 coefficients, no grinding. How many
    /// queries there must be depends on the rate and on what is assumed:
    /// [`for_security`](ProofParamsBuilder::for_security) finds it, or [`queries`](ProofParamsBuilder::queries) sets it.
    pub fn builder() -> ProofParamsBuilder {
        ProofParamsBuilder(Self {
            log_arity: 3,
            log_final_len: 6,
            queries: 0,
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

    /// The bits of security of proofs over `E` about `tables`, source by source.
    ///
    /// # Errors
    /// [`Error::Security`] if nothing can be said of such parameters.
    pub fn security<'a, E: Extension>(
        &self,
        regime: Regime,
        params: &Params,
        tables: impl IntoIterator<Item = &'a OpenedTable>,
    ) -> Result<security::fri::Report, Error> {
        let parameters = security::fri::Parameters {
            shape: shape::<E>(self.log_arity, params, tables),
            queries: self.queries,
            grinding: security::fri::Grinding {
                batching: self.grinding.batch,
                folds: self.grinding.fold,
                queries: self.grinding.query,
            },
        };
        Ok(parameters.report(regime)?)
    }
}

/// What the bounds depend on beside queries and work.
fn shape<'a, E: Extension>(
    log_arity: u32,
    params: &Params,
    tables: impl IntoIterator<Item = &'a OpenedTable>,
) -> security::fri::Shape {
    let (mut log_rows, mut lowest, mut columns, mut points) = (0, u32::MAX, 0_usize, 0);
    for OpenedTable { shape, shifts } in tables {
        log_rows = log_rows.max(shape.log_rows);
        lowest = lowest.min(shape.log_rows);
        columns = columns.saturating_add(shifts.columns_len());
        let most = shifts.runs().iter().map(|run| run.shifts.len()).max();
        points = points.max(most.unwrap_or(0));
    }
    security::fri::Shape {
        log_rows,
        heights: if lowest < log_rows {
            security::fri::Heights::Mixed
        } else {
            security::fri::Heights::Equal
        },
        log_inv_rate: params.log_inv_rate(),
        field: security::Field::KoalaBear {
            degree: E::DEGREE as u32,
        },
        hash: security::Hash::KoalaBear {
            words: lanework_hash::DIGEST_LEN as u32,
        },
        columns: u32::try_from(columns).unwrap_or(u32::MAX),
        points: u32::try_from(points).unwrap_or(u32::MAX),
        log_arity,
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

    /// Sets the queries, from 1 to [`ProofParams::QUERIES_MAX`].
    #[must_use]
    pub fn queries(self, queries: u32) -> Self {
        Self(ProofParams { queries, ..self.0 })
    }

    /// Sets the bits of work, each at most 24.
    #[must_use]
    pub fn grinding(self, grinding: Grinding) -> Self {
        Self(ProofParams { grinding, ..self.0 })
    }

    /// The parameters of proofs over `E` about `tables` with at least `bits` bits of security under `regime`:
    /// all sources of error together. Queries are as few as can be with no more than the work set here; work
    /// that makes no difference is left out.
    ///
    /// ```
    /// use lanework_field::koala::Ext6;
    /// use lanework_fri::{Format, Grinding, OpenedTable, Params, ProofParams, Shape, Shifts};
    /// use lanework_security::fri::Regime;
    ///
    /// let params = Params::builder(Format::Lineth).build()?;
    /// let table = OpenedTable { shape: Shape::base(20, 64), shifts: Shifts::uniform(64, &[0, 1]) };
    /// let proof_params = ProofParams::builder()
    ///     .grinding(Grinding { query: 16, ..Grinding::default() })
    ///     .for_security::<Ext6>(100, Regime::UniqueDecoding, &params, [&table])?;
    /// let report = proof_params.security::<Ext6>(Regime::UniqueDecoding, &params, [&table])?;
    /// assert!(report.sum() >= 100.0);
    /// # Ok::<(), lanework_fri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Security`] if it is out of reach, with the source of error that is in the way; and as
    /// [`ProofParamsBuilder::build`].
    pub fn for_security<'a, E: Extension>(
        self,
        bits: u32,
        regime: Regime,
        params: &Params,
        tables: impl IntoIterator<Item = &'a OpenedTable>,
    ) -> Result<ProofParams, Error> {
        let Grinding { batch, fold, query } = self.0.grinding;
        let most = security::fri::Grinding {
            batching: batch,
            folds: fold,
            queries: query,
        };
        let shape = shape::<E>(self.0.log_arity, params, tables);
        let found = security::fri::Parameters::for_target(shape, most, bits, regime)?;
        self.queries(found.queries)
            .grinding(Grinding {
                batch: found.grinding.batching,
                fold: found.grinding.folds,
                query: found.grinding.queries,
            })
            .build()
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
