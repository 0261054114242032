//! What a proof is about: commitments, shapes, points, claims.

use std::sync::Arc;

use lanework_field::koala::Extension;

use crate::schedule::Schedule;
use crate::{Commitment, Params, ProofParams, Shape, ShapeError};

/// At which points the columns of a table are opened: at `zeta w^s` for every shift s of the column,
/// where w is the root of unity of order n for n rows. Shift 1 is the next row.
///
/// Columns are counted as a [`Shape`] counts them, base columns first; an extension column is one. Every column has a
/// shift at least, and its shifts ascend and are below the number of rows; this is checked against the shape
/// by [`Committer::open`](crate::Committer::open) and [`verify`](crate::verify()).
///
/// ```
/// use lanework_fri::Shifts;
///
/// // Ten columns at zeta, of which the last two are opened one row further as well.
/// let shifts = Shifts::each((0..10).map(|column| if column < 8 { vec![0] } else { vec![0, 1] }));
/// assert_eq!(shifts.runs().len(), 2);
/// assert_eq!(shifts.claims_len(), 12);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shifts {
    runs: Vec<Run>,
}

/// Neighbouring columns that are opened at the same points.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// How many columns.
    pub columns: usize,
    /// Their shifts.
    pub shifts: Arc<[usize]>,
}

impl Shifts {
    /// The same shifts for all `columns` columns.
    pub fn uniform(columns: usize, shifts: &[usize]) -> Self {
        Self::from_runs([(columns, shifts.to_vec())])
    }

    /// The shifts of each column in order.
    pub fn each(columns: impl IntoIterator<Item = Vec<usize>>) -> Self {
        Self::from_runs(columns.into_iter().map(|shifts| (1, shifts)))
    }

    /// The shifts of so many columns each; neighbours with equal shifts become one run, and runs of no columns
    /// none, so that the same shifts have one form.
    pub fn from_runs(runs: impl IntoIterator<Item = (usize, Vec<usize>)>) -> Self {
        let mut merged: Vec<Run> = Vec::new();
        for (columns, shifts) in runs.into_iter().filter(|&(columns, _)| columns > 0) {
            match merged.last_mut() {
                Some(last) if *last.shifts == *shifts => {
                    last.columns = last.columns.saturating_add(columns);
                }
                _ => merged.push(Run {
                    columns,
                    shifts: shifts.into(),
                }),
            }
        }
        Self { runs: merged }
    }

    /// The runs, in order.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Columns.
    pub fn columns_len(&self) -> usize {
        let lens = self.runs.iter().map(|run| run.columns);
        lens.fold(0, usize::saturating_add)
    }

    /// Claims: a value for every shift of every column.
    pub fn claims_len(&self) -> usize {
        let lens = self.runs.iter();
        let lens = lens.map(|run| run.columns.saturating_mul(run.shifts.len()));
        lens.fold(0, usize::saturating_add)
    }
}

/// A table as its openings see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpenedTable {
    /// Its size.
    pub shape: Shape,
    /// At which points it is opened.
    pub shifts: Shifts,
}

/// What was committed to at once, as its openings see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedBatch {
    /// The commitment.
    pub commitment: Commitment,
    /// Its tables in the order in which they were committed to.
    pub tables: Vec<OpenedTable>,
}

/// What a proof proves: the columns behind the commitments are codewords of polynomials with these values
/// at these points; codewords up to the distance that the parameters are chosen for, and of degree up to n for n
/// rows, as in every FRI with quotients, or 0 for one row.
///
/// Commitments and claims are what a prover says. Shapes, shifts and parameters are the protocol's, which a
/// verifier must not take from the prover; and the point is a challenge, which it computes itself, see
/// [`sample_point`](crate::sample_point).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement<E> {
    /// What was committed to, in the order in which the protocol did so.
    pub batches: Vec<OpenedBatch>,
    /// The point that the shifts of all columns start from.
    pub zeta: E,
    /// The values, for every batch and table: of the first column at each of its shifts, then of the next.
    pub claims: Vec<Vec<Vec<E>>>,
}

impl<E: Extension> Statement<E> {
    /// Whether shapes and shifts can be opened, and the point lies in no domain: what both sides check first.
    ///
    /// # Errors
    /// [`ShapeError`].
    pub fn check(&self, params: &Params, proof_params: &ProofParams) -> Result<(), ShapeError> {
        let tables: Vec<&[OpenedTable]> =
            self.batches.iter().map(|batch| &batch.tables[..]).collect();
        let schedule = Schedule::new::<E>(params, proof_params, &tables)?;
        schedule.check_point(params.format(), self.zeta)
    }

    /// The claimed values of a column, in the order of its shifts; `None` if there is no such column.
    pub fn values(&self, batch: usize, table: usize, column: usize) -> Option<&[E]> {
        let shifts = &self.batches.get(batch)?.tables.get(table)?.shifts;
        let claims = self.claims.get(batch)?.get(table)?;
        let (mut first, mut start) = (0, 0);
        for run in shifts.runs() {
            let len = run.shifts.len();
            if column - first < run.columns {
                // More claims than fit an index are none that are there.
                let start = (column - first).checked_mul(len)?.checked_add(start)?;
                return claims.get(start..)?.get(..len);
            }
            first += run.columns;
            start = run.columns.checked_mul(len)?.checked_add(start)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanework_field::Field;
    use lanework_field::koala::Ext4;

    #[test]
    fn equal_shifts_have_one_form() {
        let shifts = |runs: &[(usize, &[usize])]| {
            Shifts::from_runs(runs.iter().map(|&(columns, run)| (columns, run.to_vec())))
        };
        let plain = shifts(&[(3, &[0])]);
        assert_eq!(shifts(&[(1, &[0]), (2, &[0])]), plain);
        assert_eq!(shifts(&[(0, &[7]), (3, &[0]), (0, &[])]), plain);
        assert_eq!(shifts(&[(1, &[0]), (0, &[7]), (2, &[0])]), plain);
        assert!(shifts(&[(0, &[])]).runs().is_empty());
    }

    /// Numbers of columns come from whoever makes the statement.
    #[test]
    fn values_of_absurd_shifts_are_none() {
        let statement = |runs: &[(usize, &[usize])]| Statement {
            batches: vec![OpenedBatch {
                commitment: Commitment::new(Vec::new()),
                tables: vec![OpenedTable {
                    shape: Shape::base(1, 1),
                    shifts: Shifts::from_runs(
                        runs.iter().map(|&(columns, run)| (columns, run.to_vec())),
                    ),
                }],
            }],
            zeta: Ext4::ONE,
            claims: vec![vec![vec![Ext4::ZERO, Ext4::ONE]]],
        };
        let max = usize::MAX;
        let wide = statement(&[(max, &[0, 1])]);
        assert_eq!(wide.values(0, 0, 0), Some(&[Ext4::ZERO, Ext4::ONE][..]));
        // Twice this wraps around to the first claim.
        assert_eq!(wide.values(0, 0, max / 2 + 1), None);
        assert_eq!(wide.values(0, 0, max - 1), None);
        let several = statement(&[(max, &[0]), (max, &[0, 1]), (2, &[1])]);
        assert_eq!(several.values(0, 0, 1), Some(&[Ext4::ONE][..]));
        assert_eq!(several.values(0, 0, max - 1), None);
        assert_eq!(several.values(0, 0, max), None);
    }
}
