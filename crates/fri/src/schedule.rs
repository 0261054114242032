//! What prover and verifier derive from parameters, shapes and shifts alone: which columns make up which
//! level, and what is folded when.

use std::sync::Arc;

use lanework_field::koala::Extension;
use lanework_field::{KoalaBear, powers};
use lanework_merkle::lineth;
use lanework_transcript::Transcript;

use crate::{Format, OpenedTable, Params, ProofParams, Sponge, Statement};

/// log2 of the largest order of a root of unity.
pub(crate) const LOG_LONGEST: u32 = 24;

/// Why shapes and shifts are none that can be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// There is nothing to open.
    #[error("no batches")]
    NoBatches,
    /// A batch has no tables.
    #[error("batch {batch} has no tables")]
    NoTables {
        /// Index of the batch.
        batch: usize,
    },
    /// A table has no columns.
    #[error("batch {batch}, table {table} has no columns")]
    NoColumns {
        /// Index of the batch.
        batch: usize,
        /// Index of the table in it.
        table: usize,
    },
    /// A table has more columns than fit an index.
    #[error("batch {batch}, table {table} has more columns than there can be")]
    TooManyColumns {
        /// Index of the batch.
        batch: usize,
        /// Index of the table in it.
        table: usize,
    },
    /// The codewords would be longer than the largest two-adic subgroup.
    #[error(
        "batch {batch}, table {table} of 2^{log_rows} rows has codewords of more than 2^24 cells"
    )]
    CodewordTooLong {
        /// Index of the batch.
        batch: usize,
        /// Index of the table in it.
        table: usize,
        /// log2 of its rows.
        log_rows: u32,
    },
    /// Extension columns are over another extension than the proof.
    #[error(
        "batch {batch}, table {table} has extension columns of degree {got}, the proof has degree {expected}"
    )]
    ExtensionDegree {
        /// Index of the batch.
        batch: usize,
        /// Index of the table in it.
        table: usize,
        /// Degree of the proof.
        expected: usize,
        /// Degree of the table.
        got: usize,
    },
    /// The lineth format has one table of each height in a batch.
    #[error("batch {batch}, table {table} has 2^{log_rows} rows, as one before it")]
    SameHeight {
        /// Index of the batch.
        batch: usize,
        /// Index of the table in it.
        table: usize,
        /// log2 of its rows.
        log_rows: u32,
    },
    /// There are not shifts for every column.
    #[error("batch {batch}, table {table} has {expected} columns, and shifts of {got}")]
    ShiftsLen {
        /// Index of the batch.
        batch: usize,
        /// Index of the table in it.
        table: usize,
        /// Columns of the table.
        expected: usize,
        /// Columns that shifts are given for.
        got: usize,
    },
    /// Every committed column is opened at some point: others would not be known to be codewords.
    #[error("batch {batch}, table {table}, column {column} is opened nowhere")]
    NotOpened {
        /// Index of the batch.
        batch: usize,
        /// Index of the table in it.
        table: usize,
        /// Index of the column.
        column: usize,
    },
    /// A shift is not below the number of rows, or not above the one before it.
    #[error(
        "batch {batch}, table {table}, column {column}: shift {shift} is not below 2^{log_rows}, or not above \
         the one before it"
    )]
    Shift {
        /// Index of the batch.
        batch: usize,
        /// Index of the table in it.
        table: usize,
        /// Index of the column.
        column: usize,
        /// The shift.
        shift: usize,
        /// log2 of the rows.
        log_rows: u32,
    },
    /// The point lies where the columns are committed to.
    #[error("the point lies in the domain of a codeword or of a column")]
    PointOnDomain,
    /// All shifts of zero are zero.
    #[error("shifts of the point zero are no different points")]
    ShiftsOfZero,
}

/// Columns of one height, in canonical order: batch by batch, table by table.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub log_rows: u32,
    pub parts: Vec<Part>,
    /// Every shift that occurs, ascending.
    pub shifts: Vec<usize>,
    /// Columns of all parts.
    pub columns_len: usize,
    /// The most points of a column.
    pub points_max: usize,
}

/// Neighbouring columns of one table with the same shifts.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub batch: usize,
    pub table: usize,
    /// The first limb column, as column sources count them.
    pub cell: usize,
    pub columns: usize,
    /// Limbs of a cell: 1, or the degree of the extension.
    pub limbs: usize,
    /// The first claim of the table that belongs to these columns.
    pub claim: usize,
    /// The shifts, as indices into those of the level.
    pub points: Arc<[usize]>,
}

/// One folding round: from 2^`log_len` values to 2^`log_arity` times fewer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub log_len: u32,
    pub log_arity: u32,
}

impl Round {
    /// log2 of the values after it, which are the rows that are committed to before it.
    pub(crate) fn log_rows(self) -> u32 {
        self.log_len - self.log_arity
    }
}

/// All levels, tallest first, and all rounds.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub log_inv_rate: u32,
    pub levels: Vec<Level>,
    pub rounds: Vec<Round>,
    pub log_final_len: u32,
}

impl Schedule {
    /// log2 of the longest codeword.
    pub(crate) fn log_height(&self) -> u32 {
        let log_rows = self.levels.first().map_or(0, |level| level.log_rows);
        log_rows + self.log_inv_rate
    }

    /// Derives everything for tables `batches`, opened over the extension `E`.
    pub(crate) fn new<E: Extension>(
        params: &Params,
        proof_params: &ProofParams,
        batches: &[&[OpenedTable]],
    ) -> Result<Self, ShapeError> {
        if batches.is_empty() {
            return Err(ShapeError::NoBatches);
        }
        for (batch, tables) in batches.iter().enumerate() {
            if tables.is_empty() {
                return Err(ShapeError::NoTables { batch });
            }
            for (table, opened) in tables.iter().enumerate() {
                check::<E>(params, batch, table, opened)?;
                let log_rows = opened.shape.log_rows;
                let before = tables.iter().take(table);
                if params.format() == Format::Lineth
                    && before.clone().any(|other| other.shape.log_rows == log_rows)
                {
                    return Err(ShapeError::SameHeight {
                        batch,
                        table,
                        log_rows,
                    });
                }
            }
        }
        let all = || batches.iter().flat_map(|tables| tables.iter());
        let mut heights: Vec<u32> = all().map(|opened| opened.shape.log_rows).collect();
        heights.sort_unstable_by(|a, b| b.cmp(a));
        heights.dedup();
        let levels: Vec<Level> = heights
            .iter()
            .map(|&log_rows| Level::new(batches, log_rows))
            .collect();
        let log_inv_rate = params.log_inv_rate();
        let lowest = heights.last().copied().unwrap_or(0);
        let log_final_len = proof_params.log_final_len().min(lowest);
        let log_end = log_final_len + log_inv_rate;
        let mut log_len = heights.first().copied().unwrap_or(0) + log_inv_rate;
        let mut rounds = Vec::new();
        while log_len > log_end {
            let next = heights.iter().map(|log_rows| log_rows + log_inv_rate);
            let next = next.filter(|&other| other < log_len).max().unwrap_or(0);
            let log_arity = proof_params.log_arity().min(log_len - next.max(log_end));
            rounds.push(Round { log_len, log_arity });
            log_len -= log_arity;
        }
        Ok(Self {
            log_inv_rate,
            levels,
            rounds,
            log_final_len,
        })
    }

    /// The level whose codewords have 2^`log_len` values.
    pub(crate) fn level(&self, log_len: u32) -> Option<&Level> {
        let mut levels = self.levels.iter();
        levels.find(|level| level.log_rows + self.log_inv_rate == log_len)
    }

    /// Refuses a point at which a quotient has no value.
    pub(crate) fn check_point<E: Extension>(
        &self,
        format: Format,
        zeta: E,
    ) -> Result<(), ShapeError> {
        let log_height = self.log_height();
        let shifted = coset_shift(format).pow(1 << log_height);
        // The domains of smaller tables lie in the largest one, and so do the points of all shifts if one does.
        let rows = 1_u64 << (log_height - self.log_inv_rate);
        if zeta.pow(1 << log_height) == E::from(shifted) || zeta.pow(rows) == E::ONE {
            return Err(ShapeError::PointOnDomain);
        }
        if zeta == E::ZERO && self.levels.iter().any(|level| level.shifts.len() > 1) {
            return Err(ShapeError::ShiftsOfZero);
        }
        Ok(())
    }
}

impl Level {
    fn new(batches: &[&[OpenedTable]], log_rows: u32) -> Self {
        let of_level = || {
            let tables = batches.iter().enumerate().flat_map(|(batch, tables)| {
                tables
                    .iter()
                    .enumerate()
                    .map(move |(table, opened)| (batch, table, opened))
            });
            tables.filter(|(_, _, opened)| opened.shape.log_rows == log_rows)
        };
        let runs = of_level().flat_map(|(_, _, opened)| opened.shifts.runs());
        let mut shifts: Vec<usize> = runs.flat_map(|run| run.shifts.iter().copied()).collect();
        shifts.sort_unstable();
        shifts.dedup();
        let mut parts = Vec::new();
        for (batch, table, opened) in of_level() {
            let shape = opened.shape;
            let (mut column, mut cell, mut claim) = (0, 0, 0);
            for run in opened.shifts.runs() {
                let points: Arc<[usize]> = run
                    .shifts
                    .iter()
                    .map(|shift| shifts.partition_point(|other| other < shift))
                    .collect();
                // A run may reach from the base columns into the extension columns.
                let base = shape.base_width.saturating_sub(column).min(run.columns);
                for (columns, limbs) in [(base, 1), (run.columns - base, shape.ext_degree)] {
                    if columns > 0 {
                        parts.push(Part {
                            batch,
                            table,
                            cell,
                            columns,
                            limbs,
                            claim,
                            points: Arc::clone(&points),
                        });
                    }
                    column += columns;
                    cell += columns * limbs;
                    claim += columns * points.len();
                }
            }
        }
        Self {
            log_rows,
            points_max: parts
                .iter()
                .map(|part| part.points.len())
                .max()
                .unwrap_or(0),
            columns_len: parts.iter().map(|part| part.columns).sum(),
            parts,
            shifts,
        }
    }

    /// What the factor alpha^c of a column is multiplied by at the first of its points, at the second, and so on.
    /// So every claim has a power of alpha of its own.
    pub(crate) fn point_weights<E: Extension>(&self, alpha: E) -> Vec<E> {
        let weights = powers(alpha.pow(self.columns_len as u64));
        weights.take(self.points_max).collect()
    }
}

fn check<E: Extension>(
    params: &Params,
    batch: usize,
    table: usize,
    opened: &OpenedTable,
) -> Result<(), ShapeError> {
    let shape = opened.shape;
    let log_rows = shape.log_rows;
    if log_rows.saturating_add(params.log_inv_rate()) > LOG_LONGEST {
        return Err(ShapeError::CodewordTooLong {
            batch,
            table,
            log_rows,
        });
    }
    if shape.base_width == 0 && shape.ext_width == 0 {
        return Err(ShapeError::NoColumns { batch, table });
    }
    if shape.columns_len() > u32::MAX as usize {
        return Err(ShapeError::TooManyColumns { batch, table });
    }
    let degrees = [E::DEGREE, lineth::EXT_DEGREE];
    let degrees = if params.format() == Format::Lineth {
        &degrees[..]
    } else {
        &degrees[..1]
    };
    if shape.ext_width > 0 {
        let wrong = degrees.iter().find(|&&degree| degree != shape.ext_degree);
        if let Some(&expected) = wrong {
            return Err(ShapeError::ExtensionDegree {
                batch,
                table,
                expected,
                got: shape.ext_degree,
            });
        }
    }
    let (expected, got) = (
        shape.base_width.saturating_add(shape.ext_width),
        opened.shifts.columns_len(),
    );
    if expected != got {
        return Err(ShapeError::ShiftsLen {
            batch,
            table,
            expected,
            got,
        });
    }
    let mut column = 0;
    for run in opened.shifts.runs() {
        if run.shifts.is_empty() {
            return Err(ShapeError::NotOpened {
                batch,
                table,
                column,
            });
        }
        let mut least = 0;
        for &shift in run.shifts.iter() {
            if shift < least || shift >= shape.rows_len() {
                return Err(ShapeError::Shift {
                    batch,
                    table,
                    column,
                    shift,
                    log_rows,
                });
            }
            least = shift + 1;
        }
        column += run.columns;
    }
    Ok(())
}

/// What the points of codewords are multiplied by: they lie on this times the roots of unity.
pub(crate) fn coset_shift(format: Format) -> KoalaBear {
    match format {
        Format::Lineth => KoalaBear::ONE,
        Format::Plonky3 { .. } => KoalaBear::GENERATOR,
    }
}

/// The number of a format in headers and transcripts.
pub(crate) fn format_id(format: Format) -> u8 {
    match format {
        Format::Lineth => 0,
        Format::Plonky3 {
            sponge: Sponge::Width16,
        } => 1,
        Format::Plonky3 {
            sponge: Sponge::Width24,
        } => 2,
    }
}

/// Absorbs what fixes the relation before anything is known about it: parameters, shapes, commitments.
pub(crate) fn absorb_setting<'a, E: Extension>(
    transcript: &mut Transcript,
    params: &Params,
    proof_params: &ProofParams,
    batches: impl ExactSizeIterator<Item = (&'a crate::Commitment, &'a [OpenedTable])>,
) {
    transcript.absorb_bytes(b"lanework fri 1");
    let grinding = proof_params.grinding();
    transcript.absorb_integers(&[
        format_id(params.format()).into(),
        params.log_inv_rate().into(),
        params.cap_height().into(),
        E::DEGREE as u64,
        proof_params.log_arity().into(),
        proof_params.log_final_len().into(),
        proof_params.queries().into(),
        grinding.batch.into(),
        grinding.fold.into(),
        grinding.query.into(),
        batches.len() as u64,
    ]);
    let mut constants: Vec<KoalaBear> = params.constants16().words().collect();
    constants.extend(
        params
            .constants24()
            .into_iter()
            .flat_map(lanework_hash::RoundConstants::words),
    );
    transcript.absorb_elements(&constants);
    for (commitment, tables) in batches {
        transcript.absorb_integers(&[tables.len() as u64]);
        for OpenedTable { shape, shifts } in tables {
            let mut integers = vec![
                shape.log_rows.into(),
                shape.base_width as u64,
                shape.ext_width as u64,
                shape.ext_degree as u64,
            ];
            for run in shifts.runs() {
                integers.extend([run.columns as u64, run.shifts.len() as u64]);
                integers.extend(run.shifts.iter().map(|&shift| shift as u64));
            }
            transcript.absorb_integers(&integers);
        }
        transcript.absorb_digests(commitment.digests());
    }
}

/// Absorbs the point and the values claimed there.
pub(crate) fn absorb_claims<E: Extension>(transcript: &mut Transcript, statement: &Statement<E>) {
    transcript.absorb_elements(statement.zeta.limbs());
    for claims in statement.claims.iter().flatten() {
        let limbs: Vec<KoalaBear> = claims
            .iter()
            .flat_map(lanework_field::koala::Extension::limbs)
            .copied()
            .collect();
        transcript.absorb_elements(&limbs);
    }
}

/// Absorbs the polynomial that folding ends with.
pub(crate) fn absorb_final<E: Extension>(transcript: &mut Transcript, coefficients: &[E]) {
    let limbs: Vec<KoalaBear> = coefficients
        .iter()
        .flat_map(lanework_field::koala::Extension::limbs)
        .copied()
        .collect();
    transcript.absorb_elements(&limbs);
}

/// Squeezes an element of the extension.
pub(crate) fn challenge<E: Extension>(transcript: &mut Transcript) -> E {
    let mut limbs = E::splat(KoalaBear::ZERO);
    transcript.squeeze_into(limbs.as_mut());
    E::from_limbs(limbs.as_ref())
}

/// `index` with its lowest `bits` bits reversed.
pub(crate) fn reversed(index: usize, bits: u32) -> usize {
    match bits {
        0 => 0,
        _ => index.reverse_bits() >> (usize::BITS - bits),
    }
}
