//! Openings of commitments by FRI.
//!
//! # The protocol
//!
//! Tables of one rate ρ are committed to, the largest with k = 2^`log_rows` rows and codewords of n = k/ρ values.
//! Points are drawn, the prover claims the value y of every column f at its points z, and a challenge α combines, for
//! each height, all quotients (f(x) - y)/(x - z) by its powers: B of them in all heights, columns times points. The
//! largest combination is folded by challenges β, 2^a values to one, and where the folded word has the length of a
//! smaller combination, that is added with factor β^(2^a). Each challenge may be preceded by grinding. In the end a
//! constant is sent, and Q positions are checked.
//!
//! A final polynomial that is longer, and lower arities than the largest, leave less to go wrong than is counted here.
//!
//! # Regimes
//!
//! What can be said depends on the agreement τ that a word is required to have with the code, and on how many polynomials
//! can have it with one word, L. With q the size of the field:
//!
//! | [`Regime`] | agreement τ | L | bad challenges of a line on a domain of length n, E(n) |
//! |---|---|---|---|
//! | [`UniqueDecoding`](Regime::UniqueDecoding) | (1 + ρ⁺)/2 | 1 | n + 1 |
//! | [`ListDecoding`](Regime::ListDecoding) | (1 + 1/(2m)) √ρ | (m + 1/2)/√ρ | (2 μ^5 + 3 μ (1 - τ) ρ) n/(3 ρ^(3/2)) + μ/√ρ |
//! | [`Conjectured`](Regime::Conjectured) | ρ + ρ log2(e/ρ)/log2 q | 1 | n + 1 |
//!
//! where ρ⁺ = (k + points)/n and μ = m + 1/2. The multiplicity m is a matter of the proof alone; reports take the one
//! of 3 to 1000 with the best sum, of those below 1/(2 (√((k + points)/k) - 1)). The first two regimes are proven. The
//! third takes codewords of a cheating prover for random words, and is what many deployments count on.
//!
//! # What is counted
//!
//! | [`Source`] | error probability, before grinding |
//! |---|---|
//! | [`Batching`](Source::Batching) | (B - 1) E(n)/q: the challenge α is bad; nothing if B = 1 |
//! | [`OutOfDomain`](Source::OutOfDomain) | (L (L - 1)/2) (k + points - 1)/q: two of L polynomials agree at a point |
//! | [`Folds`](Source::Folds) | in each round with n values, d E(n)/q, for list decoding plus 2^a (n + 1) (2m + 1)/(√ρ q) |
//! | [`Queries`](Source::Queries) | τ^Q: the positions miss what is wrong |
//! | [`Hash`](Source::Hash) | 2^-bits: a collision, which takes 2^bits hashes |
//!
//! - The degree d of a fold is that of the curve of its challenge: 2^a - 1, and 2^a where tables have
//!   [several heights](Heights::Mixed), as if one joined in every round.
//! - Rounds are those of one table, the highest arities first. No order of heights has a larger sum.
//! - With several heights, pairs of polynomials are counted for every height from 1 to k. The other numbers hold for all of
//!   them together: smaller domains have fewer bad challenges, and the agreement that the largest height is tested for
//!   is enough for all.
//! - The out-of-domain error makes the claimed values name one of the L candidates for the columns of each height. L
//!   holds for whole rows, because Johnson's bound counts agreements alone, and for polynomials of degree k as well:
//!   a quotient of degree below k says no more about f. The points must be drawn after all commitments, from the field
//!   but for the domains.
//! - Grinding divides the error of its own challenge by 2^bits, and of no other: bits are then those of the work of a
//!   prover who succeeds.
//!
//! Two numbers sum this up. The [sum](Report::sum) of the probabilities bounds the error of the interactive protocol.
//! The [weakest](Report::weakest) source, with the worst round in place of all folds, is the level of round-by-round
//! soundness, which is what others report and what counts for a prover who tries challenges again and again.
//!
//! # What is not counted
//!
//! What the caller's protocol does before the opening has errors of its own: combining C constraints, L C/q;
//! the identity at the point that is opened (DEEP-ALI), for constraints of degree D about L (D + 1) (k + points)/q;
//! lookup and permutation arguments. L is [`Report::list_size`], since all of them face every candidate. Bits of
//! the transcript's own hash, and of transcripts that leave something out, are not counted either.
//!
//! # Sources
//!
//! - Bad challenges of curves, unique decoding, and the composition of batched FRI: Ben-Sasson, Carmon, Ishai, Kopparty,
//!   Saraf, ePrint 2020/654, sections 6 to 8. Where that has n, n + 1 is used, which covers the bound of ePrint 2025/2055 too.
//! - List decoding: Ben-Sasson, Carmon, Haböck, Kopparty, Saraf, ePrint 2025/2055, theorem 4.2, times the degree of
//!   the curve. The count for lines of Dao, Kominers and Thaler, ePrint 2026/2056, theorem 5.12, is smaller for all m; the
//!   older and larger one is used. For mutual agreement with lists, theorem 4.6 of 2025/2055 needs about twice this m at the
//!   same τ, which would make E(n) up to 32 times as large; that is not counted. The second summand of a fold is that of
//!   ePrint 2024/1553, theorem 2; both are added, where others take the larger.
//! - Out-of-domain points, ρ⁺, the bound on m and grinding: ethSTARK documentation, ePrint 2021/582, section 5.
//! - Random words: ePrint 2025/2010, section 1.5.

mod bounds;
mod report;
mod search;
#[cfg(test)]
mod tests;

pub use report::{Report, Source, Term};
pub use search::QUERIES_MAX;

use crate::{Error, Field, Hash};

/// log2 of the longest codeword that is computed with.
pub const LOG_DOMAIN_MAX: u32 = 64;

/// What is proven, and by which means, but for queries and grinding.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// log2 of the rows of the largest table.
    pub log_rows: u32,
    /// Whether there are smaller tables.
    pub heights: Heights,
    /// log2 of codeword length over message length.
    pub log_inv_rate: u32,
    /// The field of the challenges.
    pub field: Field,
    /// The hash of all trees.
    pub hash: Hash,
    /// Columns of all tables that are opened. A column of extension elements is one.
    pub columns: u32,
    /// The most points that a column is opened at.
    pub points: u32,
    /// log2 of the most values that a fold makes one of.
    pub log_arity: u32,
}

/// The heights of the tables of one opening.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Heights {
    /// All tables have the same number of rows.
    Equal,
    /// Smaller tables join while the largest is folded.
    Mixed,
}

/// Bits of proof-of-work before challenges.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Grinding {
    /// Before the challenge that combines columns.
    pub batching: u32,
    /// Before the challenge of each fold.
    pub folds: u32,
    /// Before the positions of the queries.
    pub queries: u32,
}

impl Grinding {
    /// No proof-of-work.
    pub const NONE: Self = Self {
        batching: 0,
        folds: 0,
        queries: 0,
    };
}

/// Under which bound or conjecture bits are counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Regime {
    /// Proven, up to half the distance of the code.
    UniqueDecoding,
    /// Proven, up to Johnson's bound.
    ListDecoding,
    /// As if cheating provers committed to random words.
    Conjectured,
}

impl Regime {
    /// All regimes.
    pub const ALL: [Self; 3] = [Self::UniqueDecoding, Self::ListDecoding, Self::Conjectured];

    /// The name used on the command line and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UniqueDecoding => "unique",
            Self::ListDecoding => "list",
            Self::Conjectured => "conjectured",
        }
    }
}

/// The parameters of an opening that its security depends on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// What is proven.
    pub shape: Shape,
    /// Positions that are checked.
    pub queries: u32,
    /// Proof-of-work.
    pub grinding: Grinding,
}

impl Parameters {
    /// The bits of every source of error.
    ///
    /// # Errors
    /// If a number is zero that must not be, if codewords are longer than 2^[`LOG_DOMAIN_MAX`], and for list decoding
    /// if the rows are too few.
    pub fn report(&self, regime: Regime) -> Result<Report, Error> {
        self.shape.check()?;
        if self.queries == 0 {
            return Err(Error::NoQueries);
        }
        Report::best(self, regime)
    }

    /// The parameters with the fewest queries whose [sum](Report::sum) is `target` bits or more, and among them with
    /// little grinding: `most` at first, then as few bits as the number of queries allows, for folds, then for batching,
    /// then for queries.
    ///
    /// # Errors
    /// As [`Parameters::report`]; [`Error::OutOfReach`] if [`QUERIES_MAX`] queries with all the grinding are not enough.
    pub fn for_target(
        shape: Shape,
        most: Grinding,
        target: u32,
        regime: Regime,
    ) -> Result<Self, Error> {
        search::for_target(shape, most, target, regime)
    }
}

impl Shape {
    fn check(&self) -> Result<(), Error> {
        let &Self {
            log_rows,
            log_inv_rate,
            columns,
            points,
            log_arity,
            ..
        } = self;
        if log_inv_rate == 0 {
            return Err(Error::RateOne);
        }
        if log_rows.saturating_add(log_inv_rate) > LOG_DOMAIN_MAX {
            return Err(Error::DomainTooLong {
                log_rows,
                log_inv_rate,
            });
        }
        if columns == 0 || points == 0 {
            return Err(Error::NothingOpened { columns, points });
        }
        if log_arity == 0 {
            return Err(Error::ArityOne);
        }
        Ok(())
    }
}
