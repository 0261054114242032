//! The verifier: plain code on one thread that no input makes panic.

use lanework_field::koala::{Extension, spec};
use lanework_field::{KoalaBear, batch_inverse, powers};
use lanework_hash::Digest;
use lanework_merkle::opening;
use lanework_transcript::Transcript;

use crate::rows::Hashers;
use crate::schedule::{
    Level, Part, Round, Schedule, ShapeError, absorb_claims, absorb_final, absorb_setting,
    challenge, coset_shift, reversed,
};
use crate::{
    Format, Header, OpenedTable, Params, Proof, ProofParams, RowVerifier, RowsError, Shape,
    Statement,
};

/// Why a proof is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The statement is none that can be proven.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The proof was made with other parameters.
    #[error("the proof was made with other parameters: {got:?}, expected {expected:?}")]
    Header {
        /// The header of proofs with the parameters given.
        expected: Header,
        /// The header of this one.
        got: Header,
    },
    /// A list has another length than the parameters and the statement say.
    #[error("{got} {what}, expected {expected}")]
    Length {
        /// What is counted.
        what: &'static str,
        /// As many as there should be.
        expected: usize,
        /// As many as there are.
        got: usize,
    },
    /// A nonce lacks the work: so it is, too, if the proof is of another statement or made with another transcript.
    #[error("the nonce {of}: {source}")]
    Nonce {
        /// Which nonce.
        of: &'static str,
        /// What is wrong with it.
        source: lanework_transcript::Error,
    },
    /// The opened rows of a batch do not belong to its commitment, or to the positions: so it is, too, if the
    /// proof is of another statement or made with another transcript.
    #[error("batch {batch}: {source}")]
    Rows {
        /// Index of the batch.
        batch: usize,
        /// What is wrong with them.
        source: RowsError,
    },
    /// The opened values of a folding round do not belong to its commitment.
    #[error("folding round {round}: {source}")]
    Layer {
        /// The round.
        round: usize,
        /// What is wrong with them.
        source: opening::VerifyError,
    },
    /// A column of one row is not what is claimed of it.
    #[error("the columns of one row have other values at position {position}")]
    Constant {
        /// The position in the codeword.
        position: usize,
    },
    /// The folded value is not that of the final polynomial.
    #[error("the folded value at position {position} is not that of the final polynomial")]
    Final {
        /// The position among the last values.
        position: usize,
    },
}

/// Verifies that `statement` holds.
///
/// `transcript` is in the state in which the prover's was when it called [`Committer::open`](crate::Committer::open): if both
/// drew the point from it by [`sample_point`](crate::sample_point), after that. The point itself is part of the
/// statement, and not computed here: **the caller draws it, or compares it with what it draws**.
///
/// The verifier computes with scalars, on the calling thread; the instruction set and the memory mode of `params`
/// mean nothing to it.
///
/// Soundness is that of batched FRI with quotients (DEEP-FRI, ePrint 2019/336; batching by powers,
/// ePrint 2020/654): (f(x) - y)/(x - z) is a polynomial only if y is the value of f at z.
///
/// # Errors
/// [`VerifyError`] if the proof does not prove the statement.
pub fn verify<E: Extension>(
    params: &Params,
    proof_params: &ProofParams,
    transcript: &mut Transcript,
    statement: &Statement<E>,
    proof: &Proof<E>,
) -> Result<(), VerifyError> {
    let tables: Vec<&[OpenedTable]> = statement
        .batches
        .iter()
        .map(|batch| &batch.tables[..])
        .collect();
    let schedule = Schedule::new::<E>(params, proof_params, &tables)?;
    schedule.check_point(params.format(), statement.zeta)?;
    check_lengths(params, proof_params, &schedule, statement, proof)?;

    let challenges = replay(
        params,
        proof_params,
        transcript,
        &schedule,
        statement,
        proof,
    )?;
    let log_height = schedule.log_height();
    let positions = &challenges.positions;
    let rows = RowVerifier::new(params);
    let batches = statement.batches.iter().zip(&proof.batches);
    for (batch, (opened, opening)) in batches.enumerate() {
        let shapes: Vec<Shape> = opened.tables.iter().map(|table| table.shape).collect();
        let log_rows = shapes.iter().map(|shape| shape.log_rows).max();
        let log_batch = log_rows.unwrap_or(0) + schedule.log_inv_rate;
        let positions = distinct(positions, log_height - log_batch);
        rows.verify(&opened.commitment, &shapes, &positions, opening)
            .map_err(|source| VerifyError::Rows { batch, source })?;
    }
    let queried = Queried {
        params,
        statement,
        proof,
        schedule: &schedule,
        positions,
        alpha: challenges.alpha,
    };
    check_folding(&queried, rows.hashers(), &challenges.betas)
}

/// What the transcript asks for.
struct Challenges<E> {
    alpha: E,
    betas: Vec<E>,
    /// Positions in the longest codewords, ascending.
    positions: Vec<usize>,
}

/// Absorbs what the prover said and squeezes what it was asked, in the same order.
fn replay<E: Extension>(
    params: &Params,
    proof_params: &ProofParams,
    transcript: &mut Transcript,
    schedule: &Schedule,
    statement: &Statement<E>,
    proof: &Proof<E>,
) -> Result<Challenges<E>, VerifyError> {
    let grinding = proof_params.grinding();
    let nonce = |of| move |source| VerifyError::Nonce { of, source };
    let settings = statement
        .batches
        .iter()
        .map(|batch| (&batch.commitment, &batch.tables[..]));
    absorb_setting::<E>(transcript, params, proof_params, settings);
    absorb_claims(transcript, statement);
    transcript
        .check_grinding(grinding.batch, proof.batch_nonce)
        .map_err(nonce("of batching"))?;
    let alpha = challenge(transcript);
    let mut betas = Vec::with_capacity(proof.layers.len());
    for layer in &proof.layers {
        transcript.absorb_digests(&layer.commitment);
        transcript
            .check_grinding(grinding.fold, layer.nonce)
            .map_err(nonce("of a folding round"))?;
        betas.push(challenge(transcript));
    }
    absorb_final(transcript, &proof.final_polynomial);
    transcript
        .check_grinding(grinding.query, proof.query_nonce)
        .map_err(nonce("of the queries"))?;
    let queries = proof_params.queries() as usize;
    let mut positions = transcript.squeeze_indices(queries, schedule.log_height());
    positions.sort_unstable();
    positions.dedup();
    Ok(Challenges {
        alpha,
        betas,
        positions,
    })
}

/// Follows the values at the positions from round to round down to the final polynomial.
fn check_folding<E: Extension>(
    queried: &Queried<'_, E>,
    hashers: &Hashers,
    betas: &[E],
) -> Result<(), VerifyError> {
    let Queried {
        schedule, proof, ..
    } = queried;
    let mut positions = queried.positions.to_vec();
    let mut values = Vec::new();
    for level in schedule.levels.iter().take(1) {
        values = queried.quotients(level)?;
    }
    let folding = schedule.rounds.iter().zip(&proof.layers).zip(betas);
    for (index, ((&round, layer), &beta)) in folding.enumerate() {
        let rows = complete_rows(round, &positions, &values, &layer.values)?;
        let leaves: Vec<Digest> = rows
            .iter()
            .map(|(_, row)| hashers.hash_values(row))
            .collect();
        positions = rows.iter().map(|&(position, _)| position).collect();
        opening::verify(
            &*hashers.compression,
            &layer.commitment,
            round.log_rows(),
            &positions,
            &leaves,
            &[],
            &layer.siblings,
        )
        .map_err(|source| VerifyError::Layer {
            round: index,
            source,
        })?;
        values = rows
            .into_iter()
            .map(|(position, row)| fold(round, position, row, beta))
            .collect();
        if let Some(level) = schedule.level(round.log_rows()) {
            let factor = beta.pow(1 << round.log_arity);
            for (value, quotient) in values.iter_mut().zip(queried.quotients(level)?) {
                *value += factor * quotient;
            }
        }
    }
    let log_len = schedule.log_final_len + schedule.log_inv_rate;
    let root = KoalaBear::two_adic_generator(log_len);
    for (&position, &value) in positions.iter().zip(&values) {
        let x = root.pow(reversed(position, log_len) as u64);
        let coefficients = proof.final_polynomial.iter().rev();
        if coefficients.fold(E::ZERO, |sum, &coefficient| sum * x + coefficient) != value {
            return Err(VerifyError::Final { position });
        }
    }
    Ok(())
}

/// Refuses a header of other parameters and lists of other lengths than the statement has.
fn check_lengths<E: Extension>(
    params: &Params,
    proof_params: &ProofParams,
    schedule: &Schedule,
    statement: &Statement<E>,
    proof: &Proof<E>,
) -> Result<(), VerifyError> {
    let expected = Header::new::<E>(params, proof_params);
    let got = proof.header;
    if got != expected {
        return Err(VerifyError::Header { expected, got });
    }
    let same = |what, expected: usize, got: usize| {
        if expected == got {
            Ok(())
        } else {
            Err(VerifyError::Length {
                what,
                expected,
                got,
            })
        }
    };
    let batches = &statement.batches;
    same("batches of claims", batches.len(), statement.claims.len())?;
    for (batch, claims) in batches.iter().zip(&statement.claims) {
        same("tables of claims", batch.tables.len(), claims.len())?;
        for (opened, claims) in batch.tables.iter().zip(claims) {
            same("claims", opened.shifts.claims_len(), claims.len())?;
        }
    }
    same("batches of rows", batches.len(), proof.batches.len())?;
    same("folding rounds", schedule.rounds.len(), proof.layers.len())?;
    for (round, layer) in schedule.rounds.iter().zip(&proof.layers) {
        let cap_len = 1 << params.cap_height().min(round.log_rows());
        same("digests of a layer", cap_len, layer.commitment.len())?;
    }
    let final_len = 1 << schedule.log_final_len;
    same("coefficients", final_len, proof.final_polynomial.len())
}

/// What the queries find in the codewords of the columns.
struct Queried<'a, E> {
    params: &'a Params,
    statement: &'a Statement<E>,
    proof: &'a Proof<E>,
    schedule: &'a Schedule,
    /// Positions in the longest codewords.
    positions: &'a [usize],
    alpha: E,
}

impl<E: Extension> Queried<'_, E> {
    /// The values of the quotients of a level at all positions: the sum over its C columns f and the points z of
    /// each, of `alpha^(c + C k) (f(x) - y)/(x - z)` for point k of column c.
    fn quotients(&self, level: &Level) -> Result<Vec<E>, VerifyError> {
        let log_height = level.log_rows + self.schedule.log_inv_rate;
        let positions = distinct(self.positions, self.schedule.log_height() - log_height);
        let step = KoalaBear::two_adic_generator(level.log_rows);
        let points: Vec<E> = level
            .shifts
            .iter()
            .map(|&shift| self.statement.zeta * step.pow(shift as u64))
            .collect();

        // For each point the claims that belong to it, and for each part its rows.
        let mut claimed = vec![E::ZERO; points.len()];
        let mut alphas = powers(self.alpha);
        let weights = level.point_weights(self.alpha);
        let mut parts = Vec::with_capacity(level.parts.len());
        for part in &level.parts {
            let alphas: Vec<E> = alphas.by_ref().take(part.columns).collect();
            let claims = self
                .statement
                .claims
                .get(part.batch)
                .and_then(|batch| batch.get(part.table));
            let claims = claims.map_or(&[][..], |claims| &claims[part.claim..]);
            for (claims, &alpha) in claims.chunks_exact(part.points.len()).zip(&alphas) {
                let points = part.points.iter().zip(&weights);
                for (&claim, (&point, &weight)) in claims.iter().zip(points) {
                    claimed[point] += alpha * weight * claim;
                }
            }
            parts.push((part, alphas, self.rows(part, log_height, &positions)));
        }

        let root = KoalaBear::two_adic_generator(log_height);
        let shift = coset_shift(self.params.format());
        let mut inverses: Vec<E> = positions
            .iter()
            .flat_map(|&position| {
                let x = shift * root.pow(reversed(position, log_height) as u64);
                points.iter().map(move |&point| E::from(x) - point)
            })
            .collect();
        batch_inverse(&mut inverses);

        let mut quotients = Vec::with_capacity(positions.len());
        for (&position, inverses) in positions.iter().zip(inverses.chunks_exact(points.len())) {
            let mut quotient = E::ZERO;
            for (part, alphas, rows) in &parts {
                let cells = rows.row(position).get(part.cell..).unwrap_or_default();
                let mut sum = E::ZERO;
                if part.limbs == 1 {
                    for (&alpha, &cell) in alphas.iter().zip(cells) {
                        sum += alpha * cell;
                    }
                } else {
                    for (&alpha, limbs) in alphas.iter().zip(cells.chunks_exact(part.limbs)) {
                        sum += alpha * E::from_limbs(limbs);
                    }
                }
                let points = part.points.iter().zip(&weights);
                quotient += sum
                    * points
                        .map(|(&point, &weight)| weight * inverses[point])
                        .sum::<E>();
            }
            for (&claimed, &inverse) in claimed.iter().zip(inverses) {
                quotient -= claimed * inverse;
            }
            // A quotient of degree below zero is zero. Degrees are not told apart below the number of rows, which
            // for a single row would let a polynomial of degree one pass.
            if level.log_rows == 0 && quotient != E::ZERO {
                return Err(VerifyError::Constant { position });
            }
            quotients.push(quotient);
        }
        Ok(quotients)
    }

    fn rows(&self, part: &Part, log_height: u32, positions: &[usize]) -> TableRows<'_> {
        let tables = self
            .statement
            .batches
            .get(part.batch)
            .map_or(&[][..], |batch| &batch.tables);
        let tallest = tables.iter().map(|table| table.shape.log_rows).max();
        let pairs = self.params.format() == Format::Lineth
            && tallest != Some(log_height - self.schedule.log_inv_rate);
        let rows = self
            .proof
            .batches
            .get(part.batch)
            .and_then(|batch| batch.rows.get(part.table));
        TableRows {
            cells: rows.map_or(&[][..], |rows| rows),
            width: tables
                .get(part.table)
                .map_or(0, |table| table.shape.columns_len()),
            positions: distinct(positions, u32::from(pairs)),
            log_group: u32::from(pairs),
        }
    }
}

/// The opened rows of a table: groups of one, or pairs, at the positions of the queries.
struct TableRows<'a> {
    cells: &'a [KoalaBear],
    width: usize,
    /// Of the groups.
    positions: Vec<usize>,
    /// 1 if rows are opened in pairs.
    log_group: u32,
}

impl TableRows<'_> {
    /// The cells of row `position`, which is one of those opened.
    fn row(&self, position: usize) -> &[KoalaBear] {
        let group = position >> self.log_group;
        let index = self.positions.partition_point(|&other| other < group);
        let row = (index << self.log_group) + (position - (group << self.log_group));
        let cells = self.cells.get(row * self.width..).unwrap_or_default();
        cells.get(..self.width).unwrap_or_default()
    }
}

/// The rows of a folding round at `positions`: what is known of them, and `values` in the other places.
fn complete_rows<E: Extension>(
    round: Round,
    positions: &[usize],
    known: &[E],
    values: &[E],
) -> Result<Vec<(usize, Vec<E>)>, VerifyError> {
    let arity = 1 << round.log_arity;
    let rows = distinct(positions, round.log_arity).len();
    let (expected, got) = (rows * arity - positions.len(), values.len());
    if got != expected {
        return Err(VerifyError::Length {
            what: "values of a folding round",
            expected,
            got,
        });
    }
    let mut known = positions
        .iter()
        .copied()
        .zip(known.iter().copied())
        .peekable();
    let mut others = values.iter().copied();
    let rows = distinct(positions, round.log_arity).into_iter().map(|row| {
        let places = (row << round.log_arity)..((row + 1) << round.log_arity);
        let values = places.map(
            |place| match known.next_if(|&(position, _)| position == place) {
                Some((_, value)) => value,
                None => others.next().unwrap_or_default(),
            },
        );
        (row, values.collect())
    });
    Ok(rows.collect())
}

/// The value at `beta` of the polynomial through the values of a row: halves are folded until one is left,
/// each time with the square of the challenge before.
fn fold<E: Extension>(round: Round, position: usize, mut row: Vec<E>, mut beta: E) -> E {
    let mut log_len = round.log_len;
    let mut first = position << round.log_arity;
    while row.len() > 1 {
        let root = KoalaBear::two_adic_generator(log_len);
        let (pairs, _) = row.as_chunks::<2>();
        row = (first / 2..)
            .zip(pairs)
            .map(|(pair, &[low, high])| {
                // 1/x for the points x and -x of the pair.
                let exponent = reversed(2 * pair, log_len) as u64;
                let inverse = root.pow((1 << log_len) - exponent);
                ((low + high) + beta * (low - high) * inverse) * HALF
            })
            .collect();
        beta = beta.square();
        first /= 2;
        log_len -= 1;
    }
    row.first().copied().unwrap_or_default()
}

const HALF: KoalaBear = KoalaBear::new(spec::P.div_ceil(2));

/// The distinct `position >> shift` of ascending positions.
pub(crate) fn distinct(positions: &[usize], shift: u32) -> Vec<usize> {
    let mut above: Vec<usize> = positions.iter().map(|position| position >> shift).collect();
    above.dedup();
    above
}
