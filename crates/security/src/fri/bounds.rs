//! The formulas, in the letters of the [module](super).

use std::f64::consts::LOG2_E;

use super::{Grinding, Heights, Shape, Source, Term};

/// How far words may be from the code.
#[derive(Copy, Clone, Debug)]
pub(super) enum Proximity {
    /// Half the distance of the code.
    Unique,
    /// Near Johnson's bound, the nearer the larger m is.
    List {
        /// m.
        multiplicity: u32,
    },
    /// As far as random words.
    Random,
}

impl Proximity {
    /// Whether m < 1/(2 (√(1 + points/k) - 1)), which is to say that τ > √ρ⁺.
    pub(super) fn list_decodes(shape: &Shape, multiplicity: u32) -> bool {
        let m = f64::from(multiplicity);
        // (1 + 1/(2m))^2 > 1 + points/k, without what is lost next to 1.
        (4.0 * m + 1.0) * power_of_two(shape.log_rows) > 4.0 * m * m * f64::from(shape.points)
    }
}

/// Challenges of folds that are bad, of about as many as the field has elements.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct BadFolds {
    /// In the worst round.
    pub(super) worst: f64,
    /// In all rounds.
    pub(super) sum: f64,
}

/// The bounds for a shape at a proximity.
#[derive(Copy, Clone, Debug)]
pub(super) struct Bounds<'a> {
    shape: &'a Shape,
    proximity: Proximity,
    /// ρ.
    rate: f64,
}

impl<'a> Bounds<'a> {
    /// The shape is consistent.
    pub(super) fn new(shape: &'a Shape, proximity: Proximity) -> Self {
        let rate = power_of_two(shape.log_inv_rate).recip();
        Self {
            shape,
            proximity,
            rate,
        }
    }

    /// m.
    pub(super) fn multiplicity(&self) -> Option<u32> {
        match self.proximity {
            Proximity::List { multiplicity } => Some(multiplicity),
            Proximity::Unique | Proximity::Random => None,
        }
    }

    /// L.
    pub(super) fn list_size(&self) -> f64 {
        match self.proximity {
            Proximity::Unique | Proximity::Random => 1.0,
            Proximity::List { multiplicity } => (f64::from(multiplicity) + 0.5) / self.rate.sqrt(),
        }
    }

    /// -log2 τ, 0 or more.
    fn query_bits(&self) -> f64 {
        let log_inv_rate = f64::from(self.shape.log_inv_rate);
        let bits = match self.proximity {
            Proximity::Unique => {
                let rows = power_of_two(self.shape.log_rows);
                let rate = (rows + f64::from(self.shape.points)) / rows * self.rate;
                1.0 - libm::log2(1.0 + rate)
            }
            Proximity::List { multiplicity } => {
                log_inv_rate / 2.0 - libm::log2(1.0 + 0.5 / f64::from(multiplicity))
            }
            Proximity::Random => {
                log_inv_rate - libm::log2(1.0 + (LOG2_E + log_inv_rate) / self.shape.field.bits())
            }
        };
        bits.max(0.0)
    }

    /// E(n): challenges that make a line of two words close to the code, although there is no large set on which both
    /// are.
    fn line(&self, len: f64) -> f64 {
        match self.proximity {
            Proximity::Unique | Proximity::Random => len + 1.0,
            Proximity::List { multiplicity } => {
                let m = f64::from(multiplicity);
                let (mu, root) = (m + 0.5, self.rate.sqrt());
                let distance = 1.0 - (1.0 + 0.5 / m) * root;
                let numerator = 2.0 * mu * mu * mu * mu * mu + 3.0 * mu * distance * self.rate;
                numerator * len / (3.0 * self.rate * root) + mu / root
            }
        }
    }

    /// One round: `log_arity` of codewords of this length.
    pub(super) fn fold(&self, log_arity: u32, log_len: u32) -> f64 {
        let (arity, len) = (power_of_two(log_arity), power_of_two(log_len));
        let degree = match self.shape.heights {
            Heights::Equal => arity - 1.0,
            Heights::Mixed => arity,
        };
        let weighted = match self.proximity {
            Proximity::Unique | Proximity::Random => 0.0,
            Proximity::List { multiplicity } => {
                arity * (len + 1.0) * (2.0 * f64::from(multiplicity) + 1.0) / self.rate.sqrt()
            }
        };
        degree * self.line(len) + weighted
    }

    /// All rounds, the highest arities first.
    pub(super) fn folds(&self) -> BadFolds {
        let mut bad = BadFolds::default();
        let mut log_rows = self.shape.log_rows;
        while log_rows > 0 {
            let log_arity = self.shape.log_arity.min(log_rows);
            let round = self.fold(log_arity, log_rows + self.shape.log_inv_rate);
            bad.worst = bad.worst.max(round);
            bad.sum += round;
            log_rows -= log_arity;
        }
        bad
    }

    /// Points at which some two of the candidates agree.
    fn agreements(&self) -> f64 {
        let (rows, others) = (
            power_of_two(self.shape.log_rows),
            f64::from(self.shape.points) - 1.0,
        );
        let agreements = match self.shape.heights {
            Heights::Equal => rows + others,
            Heights::Mixed => 2.0 * rows - 1.0 + (f64::from(self.shape.log_rows) + 1.0) * others,
        };
        let list = self.list_size();
        list * (list - 1.0) / 2.0 * agreements
    }

    /// The errors that there are.
    pub(super) fn terms(&self, queries: u32, grinding: Grinding) -> Vec<Term> {
        let shape = self.shape;
        let mut terms = Vec::with_capacity(Source::ALL.len());
        let mut push = |source, round_bits: f64, bits: f64| {
            terms.push(Term {
                source,
                bits: bits.max(0.0),
                round_bits: round_bits.max(0.0),
            });
        };
        let challenge =
            |bad: f64, grinding: u32| shape.field.bits() - libm::log2(bad) + f64::from(grinding);

        let functions = f64::from(shape.columns) * f64::from(shape.points);
        if functions > 1.0 {
            let len = power_of_two(shape.log_rows + shape.log_inv_rate);
            let bits = challenge((functions - 1.0) * self.line(len), grinding.batching);
            push(Source::Batching, bits, bits);
        }
        if self.list_size() > 1.0 {
            let bits = challenge(self.agreements(), 0);
            push(Source::OutOfDomain, bits, bits);
        }
        let bad = self.folds();
        if bad.sum > 0.0 {
            push(
                Source::Folds,
                challenge(bad.worst, grinding.folds),
                challenge(bad.sum, grinding.folds),
            );
        }
        let bits = f64::from(queries) * self.query_bits() + f64::from(grinding.queries);
        push(Source::Queries, bits, bits);
        let bits = shape.hash.collision_bits();
        push(Source::Hash, bits, bits);
        terms
    }
}

/// 2^log.
fn power_of_two(log: u32) -> f64 {
    libm::exp2(f64::from(log))
}
