//! The prover: from commitments to claims and a proof.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lanework_arch::memory::{self, Pages, Slab, Tile, row_blocks};
use lanework_arch::threads::Threads;
use lanework_field::koala::Extension;
use lanework_field::koala::lanes::dispatch;
use lanework_field::{KoalaBear, powers};
use lanework_merkle::{Builder, Table, mmcs};
use lanework_ntt::{Direction, LdePlan, Order, Transform, bit_reverse};
use lanework_transcript::Transcript;

use crate::kernels::{
    AddMultiple, Challenge, Combine, Dot, Factor, Fold, Inverses, Minimal, Quotient,
};
use crate::schedule::{
    Level, Part, Round, Schedule, absorb_claims, absorb_final, absorb_setting, challenge,
    coset_shift, reversed,
};
use crate::verify::distinct;
use crate::{
    ColumnSource, Commitment, Committer, Error, Header, Layer, OpenedBatch, OpenedTable, Params,
    Proof, ProofParams, ProverData, RowOpening, Shape, Shifts, Statement, Tree,
};

/// What openings need of what was committed to; [`ProverData`](crate::ProverData) is that.
pub trait Committed: Sync {
    /// The sizes of the tables.
    fn shapes(&self) -> &[Shape];

    /// A column as it was before it was encoded, or copied into `buffer`, which has as many cells: its values
    /// at [`Committed::message_shift`] times the roots of unity, in natural order. Columns are counted as by
    /// [`ColumnSource`](crate::ColumnSource).
    ///
    /// # Errors
    /// [`Error::Source`] if a table cannot give its column.
    ///
    /// # Panics
    /// If there is no such column.
    fn message<'a>(
        &'a self,
        table: usize,
        column: usize,
        buffer: &'a mut [KoalaBear],
    ) -> Result<&'a [KoalaBear], Error>;

    /// Where the values of messages are taken.
    fn message_shift(&self) -> KoalaBear;

    /// The rows at strictly ascending positions of the tallest table, and what belongs to them of others.
    ///
    /// # Errors
    /// If the rows cannot be had any more.
    fn open_rows(&self, committer: &Committer, positions: &[usize]) -> Result<RowOpening, Error>;
}

impl<T: ColumnSource> Committed for ProverData<T> {
    fn shapes(&self) -> &[Shape] {
        self.shapes()
    }

    fn message<'a>(
        &'a self,
        table: usize,
        column: usize,
        buffer: &'a mut [KoalaBear],
    ) -> Result<&'a [KoalaBear], Error> {
        if let Some(table) = self.tables().get(table) {
            return Ok(table.fetch(column, buffer)?);
        }
        // The first values of a codeword are those of the message, in bit-reversed order.
        let codeword = self.codewords()[table].column(column);
        buffer.copy_from_slice(&codeword[..buffer.len()]);
        bit_reverse(buffer);
        Ok(buffer)
    }

    fn message_shift(&self) -> KoalaBear {
        match (self.tables(), self.tree()) {
            ([], Tree::Plonky3(_)) => KoalaBear::GENERATOR,
            _ => KoalaBear::ONE,
        }
    }

    fn open_rows(&self, committer: &Committer, positions: &[usize]) -> Result<RowOpening, Error> {
        self.open(committer, positions)
    }
}

/// Something committed to, and where to open it.
#[derive(Copy, Clone)]
pub struct Opening<'a> {
    commitment: &'a Commitment,
    data: &'a dyn Committed,
    shifts: &'a [Shifts],
}

impl<'a> Opening<'a> {
    /// Opens what `data` has behind `commitment`; `shifts` are those of each table.
    pub fn new(commitment: &'a Commitment, data: &'a dyn Committed, shifts: &'a [Shifts]) -> Self {
        Self {
            commitment,
            data,
            shifts,
        }
    }
}

impl std::fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening")
            .field("commitment", self.commitment)
            .field("shifts", &self.shifts)
            .finish_non_exhaustive()
    }
}

/// What an opening took.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenReport {
    /// Wall time of the claimed values.
    pub claims: Duration,
    /// Wall time of combining columns and of the quotients.
    pub quotients: Duration,
    /// Wall time of encoding the quotients and of the folding rounds with their trees.
    pub folding: Duration,
    /// Wall time of all nonces.
    pub grinding: Duration,
    /// Wall time of the queries.
    pub queries: Duration,
    /// Wall time of everything.
    pub total: Duration,
    /// The most memory that the process has held so far, where the system tells.
    pub peak_rss_bytes: Option<u64>,
}

/// Rows per task: the inverses of so many points stay in the second-level cache while columns pass by.
const BLOCK_ROWS: usize = 1 << 12;

/// Columns that are fetched at once: sources that copy fill as many buffers.
const GROUP_COLUMNS: usize = 16;

impl Committer {
    /// Opens columns at `zeta` and its shifts: makes the statement with the claimed values, and the proof of
    /// it.
    ///
    /// `transcript` binds the proof to what was said before; a verifier brings its own to the same state. Make
    /// `zeta` a challenge that came after the commitments, such as that of
    /// [`sample_point`](crate::sample_point).
    ///
    /// # Errors
    /// [`Error::Shape`] if shapes and shifts cannot be opened, or if `zeta` lies in a domain;
    /// [`Error::Transcript`] if no nonce has the work asked for; [`Error::Memory`]; and what
    /// [`Committed::open_rows`] says.
    pub fn open<E: Extension>(
        &self,
        proof_params: &ProofParams,
        transcript: &mut Transcript,
        openings: &[Opening<'_>],
        zeta: E,
    ) -> Result<(Statement<E>, Proof<E>, OpenReport), Error> {
        self.threads().install(|| {
            Prover {
                committer: self,
                proof_params,
                openings,
            }
            .prove(transcript, zeta)
        })
    }
}

/// A point to open at, that depends on everything that is committed to and on how it is going to be opened:
/// absorbs parameters, shapes, shifts and commitments.
///
/// The verifier computes it again from the batches of the statement.
pub fn sample_point<E: Extension>(
    params: &Params,
    proof_params: &ProofParams,
    transcript: &mut Transcript,
    batches: &[OpenedBatch],
) -> E {
    let settings = batches
        .iter()
        .map(|batch| (&batch.commitment, &batch.tables[..]));
    absorb_setting::<E>(transcript, params, proof_params, settings);
    challenge(transcript)
}

struct Prover<'a> {
    committer: &'a Committer,
    proof_params: &'a ProofParams,
    openings: &'a [Opening<'a>],
}

/// Columns of extension elements, limb by limb, all of one length.
struct Columns {
    limbs: Slab<KoalaBear>,
    len: usize,
}

impl Columns {
    fn zeroed<E: Extension>(len: usize, pages: Pages) -> Result<Self, Error> {
        let limbs = Slab::zeroed(E::DEGREE * len, pages)?;
        Ok(Self { limbs, len })
    }

    /// The rows `start..start + len` of each limb.
    fn rows<E: Extension>(&self, start: usize, len: usize) -> E::Limbs<&[KoalaBear]> {
        let mut rows = E::splat(&self.limbs[..0]);
        for (rows, column) in rows
            .as_mut()
            .iter_mut()
            .zip(self.limbs.chunks_exact(self.len))
        {
            *rows = &column[start..start + len];
        }
        rows
    }

    fn get<E: Extension>(&self, row: usize) -> E {
        let mut value = E::splat(KoalaBear::ZERO);
        let limbs = self.limbs.chunks_exact(self.len);
        for (limb, column) in value.as_mut().iter_mut().zip(limbs) {
            *limb = column[row];
        }
        E::from_limbs(value.as_ref())
    }

    /// Blocks of rows, each for one task.
    fn blocks(&mut self) -> impl Iterator<Item = Tile<'_, KoalaBear>> + Send {
        row_blocks(&mut self.limbs, self.len, BLOCK_ROWS)
    }
}

/// A level while it is opened.
struct Opened<'a, E> {
    level: &'a Level,
    /// 1/(x - zeta) over the domain of its messages.
    inverses: Columns,
    /// For each shift, the root that the point is shifted by.
    roots: Vec<KoalaBear>,
    zeta: E,
    /// `zeta` and its shifts.
    points: Vec<E>,
}

impl<E: Extension> Opened<'_, E> {
    /// For each set of points and each point z of it, what (f(x) - y)/(x/root - zeta) is multiplied by, where `root`
    /// shifts zeta to z.
    fn weights(&self, sets: &[&[usize]], alpha: E) -> Vec<Vec<Factor<E>>> {
        let weights = self.level.point_weights(alpha);
        let factor = |(&point, &weight): (&usize, &E)| {
            Factor::new(weight * self.roots[point].inverse().unwrap_or_default())
        };
        let sets = sets.iter().map(|set| set.iter().zip(&weights));
        sets.map(|set| set.map(factor).collect()).collect()
    }
}

/// A column of limbs that is to be fetched: which part of the level, column of the part, and limb.
#[derive(Copy, Clone)]
struct LimbColumn<'a> {
    part: &'a Part,
    /// Among the columns of the level.
    index: usize,
    /// Among those of the part.
    column: usize,
    limb: usize,
}

/// A folding round, committed to and done.
struct FoldedLayer<E> {
    round: Round,
    cells: Slab<KoalaBear>,
    tree: mmcs::Tree,
    layer: Layer<E>,
}

impl Prover<'_> {
    fn prove<E: Extension>(
        &self,
        transcript: &mut Transcript,
        zeta: E,
    ) -> Result<(Statement<E>, Proof<E>, OpenReport), Error> {
        let start = Instant::now();
        let mut report = OpenReport::default();
        let params = self.committer.params();
        let shift = self.message_shift();
        let mut shifts = self
            .openings
            .iter()
            .map(|opening| opening.data.message_shift());
        if shifts.any(|other| other != shift) {
            return Err(Error::MixedModes);
        }
        let batches = self.opened_batches()?;
        let tables: Vec<&[OpenedTable]> = batches.iter().map(|batch| &batch.tables[..]).collect();
        let schedule = Schedule::new::<E>(params, self.proof_params, &tables)?;
        schedule.check_point(params.format(), zeta)?;
        let settings = batches
            .iter()
            .map(|batch| (&batch.commitment, &batch.tables[..]));
        absorb_setting::<E>(transcript, params, self.proof_params, settings);

        let (levels, claims) = timed(&mut report.claims, || {
            self.claim_all(&schedule, &batches, zeta)
        })?;
        let statement = Statement {
            batches,
            zeta,
            claims,
        };
        absorb_claims(transcript, &statement);
        let grinding = self.proof_params.grinding();
        let batch_nonce = timed(&mut report.grinding, || transcript.grind(grinding.batch))?;
        let alpha: E = challenge(transcript);
        let mut codewords = Vec::with_capacity(levels.len());
        for opened in levels {
            let log_rows = opened.level.log_rows;
            let quotient = timed(&mut report.quotients, || {
                self.quotient(&opened, &statement, alpha)
            })?;
            drop(opened);
            let codeword = timed(&mut report.folding, || {
                self.encode::<E>(log_rows, &quotient)
            })?;
            codewords.push((log_rows, codeword));
        }
        let (layers, final_polynomial) =
            self.fold_all(&schedule, transcript, codewords, &mut report)?;
        absorb_final(transcript, &final_polynomial);
        let query_nonce = timed(&mut report.grinding, || transcript.grind(grinding.query))?;

        let start_queries = Instant::now();
        let log_height = schedule.log_height();
        let queries = self.proof_params.queries() as usize;
        let mut positions = transcript.squeeze_indices(queries, log_height);
        positions.sort_unstable();
        positions.dedup();
        let mut opened = Vec::with_capacity(self.openings.len());
        for (opening, batch) in self.openings.iter().zip(&statement.batches) {
            let log_rows = batch.tables.iter().map(|table| table.shape.log_rows).max();
            let log_batch = log_rows.unwrap_or(0) + schedule.log_inv_rate;
            let positions = distinct(&positions, log_height - log_batch);
            opened.push(opening.data.open_rows(self.committer, &positions)?);
        }
        let layers = self.open_layers(layers, positions);
        report.queries = start_queries.elapsed();
        report.total = start.elapsed();
        report.peak_rss_bytes = memory::peak_rss_bytes();
        let proof = Proof {
            header: Header::new::<E>(params, self.proof_params),
            batch_nonce,
            layers,
            final_polynomial,
            query_nonce,
            batches: opened,
        };
        Ok((statement, proof, report))
    }

    /// The claims of all levels, tallest first, and what is needed of the levels later.
    #[expect(
        clippy::type_complexity,
        reason = "claims by batch and table, as in a statement"
    )]
    fn claim_all<'l, E: Extension>(
        &self,
        schedule: &'l Schedule,
        batches: &[OpenedBatch],
        zeta: E,
    ) -> Result<(Vec<Opened<'l, E>>, Vec<Vec<Vec<E>>>), Error> {
        let tables = batches.iter().map(|batch| batch.tables.iter());
        let mut claims: Vec<Vec<Vec<E>>> = tables
            .map(|tables| {
                tables
                    .map(|table| vec![E::ZERO; table.shifts.claims_len()])
                    .collect()
            })
            .collect();
        let mut levels = Vec::with_capacity(schedule.levels.len());
        for level in &schedule.levels {
            let opened = self.open_level(level, zeta)?;
            self.claim(&opened, &mut claims)?;
            levels.push(opened);
        }
        Ok((levels, claims))
    }

    /// Folds the codewords of all levels, tallest first, into one polynomial.
    fn fold_all<E: Extension>(
        &self,
        schedule: &Schedule,
        transcript: &mut Transcript,
        mut codewords: Vec<(u32, Columns)>,
        report: &mut OpenReport,
    ) -> Result<(Vec<FoldedLayer<E>>, Vec<E>), Error> {
        let cap_height = self.committer.params().cap_height();
        let bits = self.proof_params.grinding().fold;
        // The tallest comes first; the others wait for the round that is as long as they are.
        codewords.reverse();
        let (_, mut current) = codewords.pop().ok_or(Error::NoTables)?;
        let mut layers = Vec::with_capacity(schedule.rounds.len());
        for &round in &schedule.rounds {
            let (cells, tree) = timed(&mut report.folding, || {
                self.commit_round::<E>(round, &current)
            })?;
            let commitment = tree.cap(cap_height).to_vec();
            transcript.absorb_digests(&commitment);
            let nonce = timed(&mut report.grinding, || transcript.grind(bits))?;
            let beta: E = challenge(transcript);
            let start = Instant::now();
            current = self.fold(round, &cells, beta)?;
            let joins = |(log_rows, _): &mut (u32, Columns)| {
                *log_rows + schedule.log_inv_rate == round.log_rows()
            };
            if let Some((_, other)) = codewords.pop_if(joins) {
                self.join(&mut current, &other, beta.pow(1 << round.log_arity));
            }
            report.folding += start.elapsed();
            layers.push(FoldedLayer {
                round,
                cells,
                tree,
                layer: Layer {
                    commitment,
                    nonce,
                    values: Vec::new(),
                    siblings: Vec::new(),
                },
            });
        }
        let coefficients = self.coefficients::<E>(schedule.log_final_len, &current)?;
        Ok((layers, coefficients))
    }

    /// What is opened, as verifiers see it.
    fn opened_batches(&self) -> Result<Vec<OpenedBatch>, Error> {
        let batches = self.openings.iter().enumerate().map(|(batch, opening)| {
            let shapes = opening.data.shapes();
            if shapes.len() != opening.shifts.len() {
                return Err(Error::ShiftsLen {
                    batch,
                    expected: shapes.len(),
                    got: opening.shifts.len(),
                });
            }
            let tables = shapes.iter().zip(opening.shifts);
            Ok(OpenedBatch {
                commitment: opening.commitment.clone(),
                tables: tables
                    .map(|(&shape, shifts)| OpenedTable {
                        shape,
                        shifts: shifts.clone(),
                    })
                    .collect(),
            })
        });
        batches.collect()
    }

    /// Where the values of all messages are taken.
    fn message_shift(&self) -> KoalaBear {
        let first = self.openings.first();
        first.map_or(KoalaBear::ONE, |opening| opening.data.message_shift())
    }

    fn pages(&self) -> Pages {
        self.committer.params().pages()
    }

    fn open_level<'l, E: Extension>(
        &self,
        level: &'l Level,
        zeta: E,
    ) -> Result<Opened<'l, E>, Error> {
        let choice = self.committer.params().choice();
        let step = KoalaBear::two_adic_generator(level.log_rows);
        let roots: Vec<KoalaBear> = level
            .shifts
            .iter()
            .map(|&shift| step.pow(shift as u64))
            .collect();
        let shift = self.message_shift();
        let minimal = Minimal::new(zeta);
        let mut inverses = Columns::zeroed::<E>(1 << level.log_rows, self.pages())?;
        Threads::current().for_each(inverses.blocks(), |mut block| {
            let start = shift * step.pow(block.rows().start as u64);
            let mut out: Vec<&mut [KoalaBear]> = block.columns_mut().collect();
            dispatch(
                choice,
                Inverses {
                    start,
                    step,
                    minimal: &minimal,
                    out: &mut out,
                },
            );
        });
        Ok(Opened {
            level,
            inverses,
            zeta,
            points: roots.iter().map(|&root| zeta * root).collect(),
            roots,
        })
    }

    /// Calls `work` with all limb columns of a level, some at a time, as they were before encoding.
    fn for_each_group(
        &self,
        level: &Level,
        mut work: impl FnMut(&[LimbColumn<'_>], &[&[KoalaBear]]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut index = 0;
        let mut all = Vec::new();
        for part in &level.parts {
            for column in 0..part.columns {
                all.extend((0..part.limbs).map(|limb| LimbColumn {
                    part,
                    index,
                    column,
                    limb,
                }));
                index += 1;
            }
        }
        let rows_len = 1 << level.log_rows;
        let mut buffers = Slab::zeroed(GROUP_COLUMNS.min(all.len()) * rows_len, self.pages())?;
        for group in all.chunks(GROUP_COLUMNS) {
            let mut columns: Vec<&[KoalaBear]> = vec![&[]; group.len()];
            let jobs = columns
                .iter_mut()
                .zip(group)
                .zip(buffers.chunks_exact_mut(rows_len));
            let failure = Mutex::new(Ok(()));
            Threads::current().for_each(jobs, |((column, limb), buffer)| {
                let data = self.openings[limb.part.batch].data;
                let index = limb.part.cell + limb.column * limb.part.limbs + limb.limb;
                match data.message(limb.part.table, index, buffer) {
                    Ok(message) => *column = message,
                    Err(error) => {
                        *failure.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
                    }
                }
            });
            failure
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner)?;
            work(group, &columns)?;
        }
        Ok(())
    }

    /// Computes the claims of a level: values of polynomials from their values on a domain, by the
    /// barycentric formula.
    ///
    /// For x running over s H with H of order n, f(z) = (1 - (z/s)^n)/n times the sum of
    /// x f(x)/(x - z), and x/(x - z) = 1 + z/(x - z). The inverses for a shifted point are those for
    /// zeta, shifted and divided by the root.
    fn claim<E: Extension>(
        &self,
        opened: &Opened<'_, E>,
        claims: &mut [Vec<Vec<E>>],
    ) -> Result<(), Error> {
        let choice = self.committer.params().choice();
        let level = opened.level;
        let rows_len = 1 << level.log_rows;
        let shift = self.message_shift();
        let shift_inverse = shift.inverse().unwrap_or_default();
        let count = KoalaBear::from_u64(rows_len as u64)
            .inverse()
            .unwrap_or_default();
        let vanishing = (E::ONE - (opened.zeta * shift_inverse).pow(rows_len as u64)) * count;
        let root_inverses: Vec<KoalaBear> = opened
            .roots
            .iter()
            .map(|root| root.inverse().unwrap_or_default())
            .collect();

        self.for_each_group(level, |group, columns| {
            // For each column its sum, and its products with the inverses for each of its points.
            let lens = group.iter().map(|limb| 1 + limb.part.points.len());
            let sums = Mutex::new(vec![E::ZERO; lens.sum()]);
            let blocks = (0..rows_len).step_by(BLOCK_ROWS);
            Threads::current().for_each(blocks, |first| {
                let len = BLOCK_ROWS.min(rows_len - first);
                let mut here = Vec::new();
                for (limb, column) in group.iter().zip(columns) {
                    let column = &column[first..first + len];
                    here.push(E::from(column.iter().copied().sum()));
                    for &point in limb.part.points.iter() {
                        let segments = rotated(first, len, level.shifts[point], rows_len);
                        here.push(
                            segments
                                .map(|(at, from, len)| {
                                    let weights = opened.inverses.rows::<E>(from, len);
                                    let column = &column[at - first..][..len];
                                    dispatch(choice, Dot { column, weights })
                                })
                                .sum(),
                        );
                    }
                }
                let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
                for (sum, here) in sums.iter_mut().zip(here) {
                    *sum += here;
                }
            });
            let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
            let mut sums = sums.into_iter();
            for limb in group {
                let part = limb.part;
                let sum = sums.next().unwrap_or_default();
                let claims = &mut claims[part.batch][part.table][part.claim..];
                let claims = &mut claims[limb.column * part.points.len()..];
                for (&point, claim) in part.points.iter().zip(claims) {
                    let products = sums.next().unwrap_or_default() * root_inverses[point];
                    let value = (sum + opened.points[point] * products) * vanishing;
                    *claim += value * basis::<E>(part.limbs, limb.limb);
                }
            }
            Ok(())
        })
    }

    /// The values of the quotient of a level on the domain of its messages: the sum over columns f and their
    /// points z of `alpha^c (f(x) - y)/(x - z)`.
    fn quotient<E: Extension>(
        &self,
        opened: &Opened<'_, E>,
        statement: &Statement<E>,
        alpha: E,
    ) -> Result<Columns, Error> {
        let choice = self.committer.params().choice();
        let level = opened.level;
        let rows_len = 1 << level.log_rows;
        // Columns that are opened at the same points are added up first.
        let mut sets: Vec<&[usize]> = level.parts.iter().map(|part| &part.points[..]).collect();
        sets.sort_unstable();
        sets.dedup();
        let alphas: Vec<E> = powers(alpha).take(level.columns_len).collect();
        let mut combined = Vec::with_capacity(sets.len());
        for _ in &sets {
            combined.push(Columns::zeroed::<E>(rows_len, self.pages())?);
        }
        self.for_each_group(level, |group, columns| {
            for (set, combined) in sets.iter().zip(&mut combined) {
                let chosen = group
                    .iter()
                    .zip(columns)
                    .filter(|(limb, _)| &*limb.part.points == *set);
                let (factors, chosen): (Vec<E>, Vec<&[KoalaBear]>) = chosen
                    .map(|(limb, &column)| {
                        (
                            alphas[limb.index] * basis::<E>(limb.part.limbs, limb.limb),
                            column,
                        )
                    })
                    .unzip();
                if chosen.is_empty() {
                    continue;
                }
                Threads::current().for_each(combined.blocks(), |mut block| {
                    let rows = block.rows();
                    let columns: Vec<&[KoalaBear]> =
                        chosen.iter().map(|column| &column[rows.clone()]).collect();
                    for (l, out) in block.columns_mut().enumerate() {
                        let factors: Vec<KoalaBear> =
                            factors.iter().map(|factor| factor.limbs()[l]).collect();
                        dispatch(
                            choice,
                            Combine {
                                columns: &columns,
                                factors: &factors,
                                out,
                            },
                        );
                    }
                });
            }
            Ok(())
        })?;

        // What is claimed of the sums.
        let mut claimed: Vec<Vec<E>> = sets.iter().map(|set| vec![E::ZERO; set.len()]).collect();
        let mut alphas = alphas.into_iter();
        for part in &level.parts {
            let claims = &statement.claims[part.batch][part.table][part.claim..];
            let claimed = sets
                .iter()
                .zip(&mut claimed)
                .find(|(set, _)| **set == &*part.points);
            let Some((_, claimed)) = claimed else {
                continue;
            };
            let columns = claims.chunks_exact(part.points.len()).take(part.columns);
            for (claims, alpha) in columns.zip(&mut alphas) {
                for (sum, &claim) in claimed.iter_mut().zip(claims) {
                    *sum += alpha * claim;
                }
            }
        }
        let weights = opened.weights(&sets, alpha);
        let mut quotient = Columns::zeroed::<E>(rows_len, self.pages())?;
        Threads::current().for_each(quotient.blocks(), |mut block| {
            let rows = block.rows();
            let mut out: Vec<&mut [KoalaBear]> = block.columns_mut().collect();
            let sums = sets.iter().zip(&combined).zip(&claimed).zip(&weights);
            for (((set, combined), claimed), weights) in sums {
                for ((&point, &value), weight) in set.iter().zip(claimed).zip(weights) {
                    let segments = rotated(rows.start, rows.len(), level.shifts[point], rows_len);
                    for (at, from, len) in segments {
                        let mut out: Vec<&mut [KoalaBear]> = out
                            .iter_mut()
                            .map(|out| &mut out[at - rows.start..][..len])
                            .collect();
                        dispatch(
                            choice,
                            Quotient {
                                values: combined.rows::<E>(at, len),
                                inverses: opened.inverses.rows::<E>(from, len),
                                value,
                                weight,
                                out: &mut out,
                            },
                        );
                    }
                }
            }
        });
        Ok(quotient)
    }

    /// The codeword of values on the domain of messages.
    fn encode<E: Extension>(&self, log_rows: u32, message: &Columns) -> Result<Columns, Error> {
        let params = self.committer.params();
        let message_shift = self.message_shift();
        let shift = coset_shift(params.format()) * message_shift.inverse().unwrap_or_default();
        let plan = LdePlan::new(
            log_rows,
            params.log_inv_rate(),
            shift,
            params.choice(),
            self.committer.caches(),
        )?;
        let mut codeword = Columns::zeroed::<E>(plan.codeword_len(), self.pages())?;
        let limbs = message.limbs.chunks_exact(message.len);
        let jobs = limbs.zip(codeword.limbs.chunks_exact_mut(codeword.len));
        Threads::current().for_each_init(
            jobs,
            || vec![KoalaBear::ZERO; plan.scratch_len()],
            |scratch, (message, codeword)| plan.encode(message, codeword, scratch),
        );
        Ok(codeword)
    }

    /// The rows of a folding round, their cells one column after the other, and the tree over them.
    fn commit_round<E: Extension>(
        &self,
        round: Round,
        current: &Columns,
    ) -> Result<(Slab<KoalaBear>, mmcs::Tree), Error> {
        let rows_len = 1 << round.log_rows();
        let mut cells = Slab::zeroed(current.limbs.len(), self.pages())?;
        Threads::current().for_each(
            row_blocks(&mut cells, rows_len, BLOCK_ROWS / 4),
            |mut block| {
                let rows = block.rows();
                let values = rows.start << round.log_arity..rows.end << round.log_arity;
                for (column, out) in block.columns_mut().enumerate() {
                    let (slot, limb) = (column / E::DEGREE, column % E::DEGREE);
                    let limb = &current.limbs[limb * current.len..][values.clone()];
                    for (cell, row) in out.iter_mut().zip(limb.chunks_exact(1 << round.log_arity)) {
                        *cell = row[slot];
                    }
                }
            },
        );
        let hashers = self.committer.hashers();
        let builder = Builder::new(&*hashers.hasher, &*hashers.compression)
            .pages(self.pages())
            .cache_bytes(self.committer.caches().l2_bytes);
        let tree = mmcs::Tree::build(&builder, &[Table::column_major(&cells, rows_len)], None)?;
        Ok((cells, tree))
    }

    fn fold<E: Extension>(
        &self,
        round: Round,
        cells: &[KoalaBear],
        beta: E,
    ) -> Result<Columns, Error> {
        let choice = self.committer.params().choice();
        let rows_len = 1 << round.log_rows();
        let challenge = Challenge::new(round.log_arity, beta);
        let points = inverse_points(round);
        let mut folded = Columns::zeroed::<E>(rows_len, self.pages())?;
        Threads::current().for_each(folded.blocks(), |mut block| {
            let rows = block.rows();
            let cells: Vec<&[KoalaBear]> = cells
                .chunks_exact(rows_len)
                .map(|column| &column[rows.clone()])
                .collect();
            let mut out: Vec<&mut [KoalaBear]> = block.columns_mut().collect();
            dispatch(
                choice,
                Fold {
                    challenge: &challenge,
                    cells: &cells,
                    inverse_points: &points[rows],
                    out: &mut out,
                },
            );
        });
        Ok(folded)
    }

    /// Adds `factor` times the codeword of a smaller level.
    fn join<E: Extension>(&self, current: &mut Columns, other: &Columns, factor: E) {
        let choice = self.committer.params().choice();
        let factor = Factor::new(factor);
        Threads::current().for_each(current.blocks(), |mut block| {
            let rows = block.rows();
            let mut out: Vec<&mut [KoalaBear]> = block.columns_mut().collect();
            dispatch(
                choice,
                AddMultiple {
                    values: other.rows::<E>(rows.start, rows.len()),
                    factor: &factor,
                    out: &mut out,
                },
            );
        });
    }

    /// The coefficients of the polynomial whose codeword is `codeword`: the first values are those on the
    /// subgroup of as many elements as there are coefficients.
    fn coefficients<E: Extension>(
        &self,
        log_len: u32,
        codeword: &Columns,
    ) -> Result<Vec<E>, Error> {
        let len = 1 << log_len;
        let transform = Transform::new(
            log_len,
            Direction::Inverse,
            KoalaBear::ONE,
            self.committer.params().choice(),
            self.committer.caches(),
        )?;
        let mut scratch = vec![KoalaBear::ZERO; transform.scratch_len()];
        let mut limbs = Vec::with_capacity(E::DEGREE * len);
        for values in codeword.limbs.chunks_exact(codeword.len) {
            let mut values = values[..len].to_vec();
            transform.apply(
                &mut values,
                Order::BitReversed,
                Order::Natural,
                &mut scratch,
            );
            limbs.extend(values);
        }
        let mut coefficients = Columns::zeroed::<E>(len, Pages::Normal)?;
        coefficients.limbs.copy_from_slice(&limbs);
        Ok((0..len).map(|row| coefficients.get(row)).collect())
    }

    /// Opens the rows of all folding rounds at `positions`, which are in the longest codeword.
    fn open_layers<E: Extension>(
        &self,
        layers: Vec<FoldedLayer<E>>,
        mut positions: Vec<usize>,
    ) -> Vec<Layer<E>> {
        let cap_height = self.committer.params().cap_height();
        let opened = layers.into_iter().map(|committed| {
            let FoldedLayer {
                round,
                cells,
                tree,
                mut layer,
            } = committed;
            let rows = distinct(&positions, round.log_arity);
            let rows_len = 1 << round.log_rows();
            let mut known = positions.iter().copied().peekable();
            for &row in &rows {
                for slot in 0..1 << round.log_arity {
                    let place = (row << round.log_arity) + slot;
                    if known.next_if_eq(&place).is_some() {
                        continue;
                    }
                    let mut value = E::splat(KoalaBear::ZERO);
                    for (l, limb) in value.as_mut().iter_mut().enumerate() {
                        *limb = cells[(slot * E::DEGREE + l) * rows_len + row];
                    }
                    layer.values.push(E::from_limbs(value.as_ref()));
                }
            }
            layer.siblings = tree.siblings(&rows, cap_height);
            positions = rows;
            layer
        });
        opened.collect()
    }
}

/// Adds the time that `work` takes.
fn timed<R>(total: &mut Duration, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *total += start.elapsed();
    result
}

/// Basis element `limb` for the limbs of an extension column, one for a base column.
fn basis<E: Extension>(limbs: usize, limb: usize) -> E {
    let mut basis = E::splat(KoalaBear::ZERO);
    if let Some(one) = basis.as_mut().get_mut(if limbs == 1 { 0 } else { limb }) {
        *one = KoalaBear::ONE;
    }
    E::from_limbs(basis.as_ref())
}

/// The rows `first..first + len` of a column of `rows_len` rows, and where they are when it is rotated by
/// `shift`: one segment, or two, as (row, rotated row, length).
fn rotated(
    first: usize,
    len: usize,
    shift: usize,
    rows_len: usize,
) -> impl Iterator<Item = (usize, usize, usize)> {
    let from = (first + rows_len - shift) % rows_len;
    let head = len.min(rows_len - from);
    let segments = [(first, from, head), (first + head, 0, len - head)];
    segments.into_iter().filter(|&(_, _, len)| len > 0)
}

/// The inverse of the point of the first value of every row of a folding round.
fn inverse_points(round: Round) -> Vec<KoalaBear> {
    let log_rows = round.log_rows();
    let root = KoalaBear::two_adic_generator(round.log_len);
    let inverse = root.pow((1 << round.log_len) - 1);
    let mut points = Vec::with_capacity(1 << log_rows);
    points.push(KoalaBear::ONE);
    for bit in 0..log_rows {
        // Row r + 2^bit has an index with the reversed bit more than row r.
        let factor = inverse.pow(1 << (log_rows - 1 - bit));
        for row in 0..1 << bit {
            points.push(points[row] * factor);
        }
    }
    debug_assert!(
        points.last().is_some_and(|&last| {
            last == inverse.pow(reversed((1 << log_rows) - 1, log_rows) as u64)
        }),
        "powers in bit-reversed order"
    );
    points
}
