//! What parameters are worth.

use super::bounds::{Bounds, Proximity};
use super::{Parameters, Regime};
use crate::Error;

/// The multiplicities that list decoding is tried with.
const MULTIPLICITIES: std::ops::RangeInclusive<u32> = 3..=1000;

/// Where an opening can go wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The challenge that combines columns.
    Batching,
    /// The points that columns are opened at; in list decoding alone.
    OutOfDomain,
    /// The challenges of the folds.
    Folds,
    /// The positions that are checked.
    Queries,
    /// A collision of the hash.
    Hash,
}

impl Source {
    /// All sources, in the order of the protocol.
    pub const ALL: [Self; 5] = [
        Self::Batching,
        Self::OutOfDomain,
        Self::Folds,
        Self::Queries,
        Self::Hash,
    ];

    /// The name used in reports and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batching => "batching",
            Self::OutOfDomain => "out of domain",
            Self::Folds => "folds",
            Self::Queries => "queries",
            Self::Hash => "hash",
        }
    }
}

/// The error of one source, as -log2 of a probability.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Term {
    /// What goes wrong.
    pub source: Source,
    /// Bits of all its rounds together.
    pub bits: f64,
    /// Bits of its worst round: of one fold, not of all. The same as `bits` for the other sources.
    pub round_bits: f64,
}

/// The errors of an opening, in bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    regime: Regime,
    multiplicity: Option<u32>,
    list_size: f64,
    terms: Vec<Term>,
}

impl Report {
    /// The report for the multiplicity with the largest sum, if the regime has one. The parameters are consistent.
    pub(super) fn best(parameters: &Parameters, regime: Regime) -> Result<Self, Error> {
        let shape = &parameters.shape;
        let report = |proximity| Self::new(parameters, regime, &Bounds::new(shape, proximity));
        match regime {
            Regime::UniqueDecoding => Ok(report(Proximity::Unique)),
            Regime::Conjectured => Ok(report(Proximity::Random)),
            Regime::ListDecoding => MULTIPLICITIES
                .filter(|&multiplicity| Proximity::list_decodes(shape, multiplicity))
                .map(|multiplicity| report(Proximity::List { multiplicity }))
                .max_by(|a, b| a.sum().total_cmp(&b.sum()))
                .ok_or(Error::TooFewRows {
                    log_rows: shape.log_rows,
                    points: shape.points,
                }),
        }
    }

    /// The report under these bounds.
    pub(super) fn new(parameters: &Parameters, regime: Regime, bounds: &Bounds<'_>) -> Self {
        Self {
            regime,
            multiplicity: bounds.multiplicity(),
            list_size: bounds.list_size(),
            terms: bounds.terms(parameters.queries, parameters.grinding),
        }
    }

    /// What was counted under.
    pub fn regime(&self) -> Regime {
        self.regime
    }

    /// The multiplicity m of list decoding.
    pub fn multiplicity(&self) -> Option<u32> {
        self.multiplicity
    }

    /// Candidates for the columns of one height, L. Errors of the caller's own challenges are multiplied by it.
    pub fn list_size(&self) -> f64 {
        self.list_size
    }

    /// The errors that there are, in the order of [`Source::ALL`].
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The error of a source, or `None` if it has none.
    pub fn term(&self, source: Source) -> Option<Term> {
        self.terms
            .iter()
            .copied()
            .find(|term| term.source == source)
    }

    /// The source whose worst round has the fewest bits: the level of round-by-round soundness.
    pub fn weakest(&self) -> Term {
        let weaker = |a: Term, b: Term| if b.round_bits < a.round_bits { b } else { a };
        let (first, others) = self.terms.split_first().expect("queries are a source");
        others.iter().copied().fold(*first, weaker)
    }

    /// Bits of the sum of all error probabilities, 0 or more.
    pub fn sum(&self) -> f64 {
        let least = self
            .terms
            .iter()
            .map(|term| term.bits)
            .fold(f64::INFINITY, f64::min);
        let sum: f64 = self
            .terms
            .iter()
            .map(|term| libm::exp2(least - term.bits))
            .sum();
        (least - libm::log2(sum)).max(0.0)
    }

    /// Whole bits of the [sum](Self::sum).
    pub fn security_bits(&self) -> u32 {
        #[expect(clippy::cast_sign_loss, reason = "it is not negative")]
        let bits = self.sum() as u32;
        bits
    }
}
