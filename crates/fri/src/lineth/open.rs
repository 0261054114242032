//! The prover: claims, quotients, folding, paths.
//!
//! Everything is read from the codewords, so that it does not matter whether the tables were kept: the first n cells
//! of a codeword are the n values of the column in bit-reversed order, at any rate.
//!
//! Domains are in bit-reversed order, where position 2 t of 2^k points is position t of a table of 2^(k - 1)
//! points, and position 2 t + 1 its negative. The table of a smaller domain is the front of that of a larger
//! one, so that one table serves all rounds.

use lanework_arch::Choice;
use lanework_arch::memory::{Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_field::koala::Ext6;
use lanework_field::koala::lanes::dispatch;
use lanework_field::{Field, KoalaBear, batch_inverse};
use lanework_hash::{Compression, Digest, MerkleDamgard, Poseidon2};
use lanework_merkle::lineth::{self, EXT_DEGREE};

use super::params::{Batch, InputTree, Level, Opened, Plan, cap_depth};
use super::proof::{InputCap, InputOpening, Proof, Revealed, Row, RunningOpening};
use super::quotient::Quotient;
use super::{Challenges, Error, Params, Statement};
use crate::kernels::{Combine, Dot};
use crate::{Codeword, ProverData, Tree};

/// Positions that are worked on together: their sums stay in the first-level cache.
const CHUNK: usize = 512;

/// What opening a commitment needs of it.
#[derive(Copy, Clone, Debug)]
pub struct Committed<'a> {
    codewords: &'a [Codeword],
    tree: &'a lineth::Tree,
}

impl<'a> Committed<'a> {
    /// The commitment behind `data`, of whose tables nothing is needed.
    ///
    /// # Errors
    /// [`Error::Format`] if it is in another format than lineth's.
    pub fn new<T>(data: &'a ProverData<T>) -> Result<Self, Error> {
        match data.tree() {
            Tree::Lineth(tree) => Ok(Self {
                codewords: data.codewords(),
                tree,
            }),
            Tree::Plonky3(_) => Err(Error::Format),
        }
    }

    /// The codewords of the table of 2^`log_rows` rows.
    fn table(&self, log_rows: u32) -> Option<&'a Codeword> {
        let mut codewords = self.codewords.iter();
        codewords.find(|codeword| codeword.shape().log_rows == log_rows)
    }

    fn has_shape_of(&self, plan: &Plan<'_>, batch: &Batch) -> bool {
        let alike = |opened: &Opened| {
            self.table(opened.log_rows).is_some_and(|codeword| {
                let shape = codeword.shape();
                let degree = if shape.ext_width == 0 {
                    EXT_DEGREE
                } else {
                    shape.ext_degree
                };
                (shape.base_width, shape.ext_width, degree)
                    == (opened.base.len(), opened.extension.len(), EXT_DEGREE)
                    && codeword.height() == shape.rows_len() << plan.log_inv_rate
            })
        };
        self.codewords.len() == batch.tables.len() && batch.tables.iter().all(alike)
    }
}

fn check_shapes(
    plan: &Plan<'_>,
    committed: &[Committed<'_>],
    batches: &[Batch],
) -> Result<(), Error> {
    let (expected, got) = (batches.len(), committed.len());
    if expected != got {
        return Err(Error::Commitments { expected, got });
    }
    for (index, (committed, batch)) in committed.iter().zip(batches).enumerate() {
        if !committed.has_shape_of(plan, batch) {
            return Err(Error::Shape { batch: index });
        }
        if committed.tree.root() != batch.root {
            return Err(Error::Root { batch: index });
        }
    }
    Ok(())
}

/// The values of all columns at their shifts, in canonical order. Works on the current threads.
///
/// They come from the values on the subgroup of order n by the barycentric formula, whose weights all columns of
/// one size share:
///
/// ```text
/// f(z) = (z^n - 1) / n  sum over i of f(w^i) w^i / (z - w^i)
/// ```
///
/// # Errors
/// What is wrong with the statement, or with the commitments for it; [`Error::Memory`].
pub fn claims(
    params: &Params,
    choice: Choice,
    committed: &[Committed<'_>],
    batches: &[Batch],
    zeta: Ext6,
) -> Result<Vec<Ext6>, Error> {
    let plan = Plan::new(params, batches, zeta)?;
    check_shapes(&plan, committed, batches)?;
    let threads = Threads::current();
    let mut claims = vec![Ext6::ZERO; plan.claims_len];
    let points = bit_reversed_powers(
        plan.log_rows.saturating_sub(1),
        KoalaBear::ONE,
        Power::Positive,
    )?;
    for level in &plan.levels {
        let columns = columns(level, committed);
        let rows_len = 1 << level.log_rows;
        let slots = &mut claims[level.claims.clone()];
        let shifts = level.tables.iter().flat_map(|(_, opened)| opened.columns());
        let shifts = columns
            .iter()
            .zip(shifts)
            .flat_map(|(column, shifts)| shifts.iter().map(move |&shift| (shift, column)));
        let openings = shifts
            .zip(slots)
            .map(|((shift, column), slot)| (shift, column, slot));
        let mut openings: Vec<_> = openings.collect();
        openings.sort_by_key(|&(shift, ..)| shift);
        let root = KoalaBear::two_adic_generator(level.log_rows);
        let mut weights = slab(EXT_DEGREE * rows_len)?;
        for openings in openings.chunk_by_mut(|a, b| a.0 == b.0) {
            let z = zeta * root.pow(openings[0].0 as u64);
            let vanishing = z.pow(rows_len as u64) - Ext6::ONE;
            let factor = vanishing * KoalaBear::ONE.div_2exp(level.log_rows);
            let chunks = weights.chunks_mut(EXT_DEGREE * CHUNK).enumerate();
            threads.for_each(chunks, |(chunk, weights)| {
                barycentric_weights(&points, chunk * CHUNK, z, factor, weights);
            });
            threads.for_each(openings.iter_mut(), |(_, column, slot)| {
                let limbs = column.limbs.iter().enumerate();
                **slot = limbs
                    .map(|(limb, cells)| {
                        let cells = &cells[..rows_len];
                        unit(limb) * dot(choice, cells, &weights)
                    })
                    .sum();
            });
        }
    }
    Ok(claims)
}

/// Opens `committed`, one commitment for each batch of the statement in the same order. `challenges` have absorbed
/// the statement. Works on the current threads.
///
/// # Errors
/// What is wrong with the statement, the commitments or the challenges; [`Error::FalseClaim`] if a claim does not hold
/// (unless the challenges are such that it passes all the same); [`Error::Memory`].
pub fn open<C: Challenges + ?Sized>(
    params: &Params,
    choice: Choice,
    committed: &[Committed<'_>],
    statement: &Statement<'_>,
    challenges: &mut C,
) -> Result<Proof, Error> {
    let plan = Plan::new(params, statement.batches, statement.zeta)?;
    plan.check_claims(statement.claims)?;
    check_shapes(&plan, committed, statement.batches)?;
    let (layers, final_polynomial) =
        fold_all(params, &plan, choice, committed, statement, challenges)?;
    challenges.absorb_final(&final_polynomial);
    let positions = challenges.positions(plan.queries, plan.log_layer(0));
    plan.check_positions(&positions)?;

    let trees = plan.trees.iter();
    let inputs: Vec<_> = trees.map(|tree| (tree, &committed[tree.batch])).collect();
    let input_queries = positions.iter().map(|position| {
        let openings = inputs.iter().map(|(tree, committed)| {
            let index = position >> (plan.log_rows - tree.log_rows);
            open_input(tree, committed, index)
        });
        openings.collect()
    });
    let depth = |layer: &RunningTree| cap_depth(plan.queries, layer.height());
    let caps = layers
        .iter()
        .map(|layer| cap(depth(layer), |level| layer.level(level)));
    let running_queries = positions.iter().map(|position| {
        let openings = layers.iter().zip(1..);
        let openings = openings.map(|(layer, number)| layer.open(position >> number, depth(layer)));
        openings.collect()
    });
    Ok(Proof {
        input_queries: input_queries.collect(),
        input_caps: inputs
            .iter()
            .map(|(tree, committed)| input_cap(tree, committed))
            .collect(),
        round_roots: layers.iter().map(RunningTree::root).collect(),
        round_caps: caps.collect(),
        final_polynomial,
        running_queries: running_queries.collect(),
    })
}

/// All rounds: the trees over the running layers and the final polynomial.
fn fold_all<C: Challenges + ?Sized>(
    params: &Params,
    plan: &Plan<'_>,
    choice: Choice,
    committed: &[Committed<'_>],
    statement: &Statement<'_>,
    challenges: &mut C,
) -> Result<(Vec<RunningTree>, Vec<Ext6>), Error> {
    let hash = MerkleDamgard::new(Poseidon2::<16>::new(params.constants(), choice));
    let log_half = plan.log_layer(1);
    let points = bit_reversed_powers(log_half, KoalaBear::ONE, Power::Positive)?;
    let halves = bit_reversed_powers(log_half, KoalaBear::ONE.halve(), Power::Negative)?;
    let enter = |level: &Level<'_>, alpha: Ext6, running: &mut [Ext6]| {
        let quotient = Quotient::new(level, statement.zeta, statement.claims, alpha);
        combine(
            choice,
            &quotient,
            &columns(level, committed),
            &points,
            running,
        );
    };

    let mut running = slab(1 << plan.log_layer(0))?;
    let mut layers = Vec::new();
    let mut alpha = Ext6::ZERO;
    for round in 0..plan.rounds() {
        alpha = challenges.alpha().ok_or(Error::NoChallenge { round })?;
        if let Some(level) = plan.level_at(round) {
            enter(level, alpha.square(), &mut running);
        }
        running = fold(&running, alpha, &halves)?;
        if plan.layers().contains(&(round + 1)) {
            let layer = RunningTree::build(&hash, &running)?;
            challenges.absorb_root(&layer.root());
            layers.push(layer);
        }
    }
    let mut final_polynomial = interpolate(&running, &halves);
    let rest = final_polynomial.split_off(1 << plan.log_final);
    if rest.iter().any(|&coefficient| coefficient != Ext6::ZERO) {
        return Err(Error::FalseClaim);
    }
    if let Some(level) = plan.boundary() {
        running.fill(Ext6::ZERO);
        enter(level, alpha, &mut running);
        if running.iter().any(|&value| value != running[0]) {
            return Err(Error::FalseClaim);
        }
    }
    Ok((layers, final_polynomial))
}

/// What is sent of a tree with a cap at `depth`.
fn cap<'a>(depth: u32, level: impl FnOnce(u32) -> &'a [Digest]) -> Vec<Digest> {
    if depth == 0 {
        Vec::new()
    } else {
        level(depth).to_vec()
    }
}

fn input_cap(tree: &InputTree<'_>, committed: &Committed<'_>) -> InputCap {
    let revealed = tree.revealed().iter();
    let codewords = revealed.filter_map(|opened| committed.table(opened.log_rows));
    let tables = codewords.map(|codeword| Revealed {
        log_rows: codeword.shape().log_rows,
        rows: (0..codeword.height())
            .map(|index| row(codeword, index))
            .collect(),
    });
    InputCap {
        nodes: cap(tree.depth, |level| committed.tree.level(level)),
        tables: tables.collect(),
    }
}

/// Opens the leaf at `index`.
fn open_input(tree: &InputTree<'_>, committed: &Committed<'_>, index: usize) -> InputOpening {
    let pair = |log_rows: u32| {
        let codeword = committed.table(log_rows)?;
        let index = index >> (tree.log_rows - log_rows);
        Some([row(codeword, index), row(codeword, index ^ 1)])
    };
    let sibling = |level: u32| committed.tree.level(level)[index >> (tree.height - level) ^ 1];
    let levels = tree.depth..tree.height - 1;
    let pairs = levels
        .clone()
        .map(|level| pair(tree.tables[tree.table_at(level)?].log_rows));
    InputOpening {
        siblings: levels.map(|above| sibling(above + 1)).collect(),
        pairs: pairs.collect(),
        // The table is there: shapes were compared.
        bottom: pair(tree.log_rows).unwrap_or_default(),
    }
}

fn slab<T: bytemuck::Zeroable + Copy>(len: usize) -> Result<Slab<T>, Error> {
    Ok(Slab::zeroed(len, Pages::Huge)?)
}

fn row(codeword: &Codeword, index: usize) -> Row {
    let mut cells: Vec<KoalaBear> = codeword.row(index).collect();
    let limbs = cells.split_off(codeword.shape().base_width);
    let (limbs, _) = limbs.as_chunks::<EXT_DEGREE>();
    Row {
        base: cells,
        extension: limbs.iter().copied().map(Ext6).collect(),
    }
}

/// The codewords of a column: one for a base column, six for an extension column.
struct Column<'a> {
    limbs: Vec<&'a [KoalaBear]>,
}

/// The columns of a level in canonical order.
fn columns<'a>(level: &Level<'_>, committed: &[Committed<'a>]) -> Vec<Column<'a>> {
    let mut columns = Vec::new();
    for (batch, opened) in &level.tables {
        let Some(codeword) = committed[*batch].table(opened.log_rows) else {
            continue;
        };
        let (base, extension) = (opened.base.len(), opened.extension.len());
        columns.extend((0..base).map(|index| Column {
            limbs: vec![codeword.column(index)],
        }));
        columns.extend((0..extension).map(|index| {
            let first = base + index * EXT_DEGREE;
            Column {
                limbs: (first..first + EXT_DEGREE)
                    .map(|index| codeword.column(index))
                    .collect(),
            }
        }));
    }
    columns
}

/// The element whose limb `limb` is one, the others zero.
fn unit(limb: usize) -> Ext6 {
    let mut element = Ext6::ZERO;
    element.0[limb] = KoalaBear::ONE;
    element
}

#[derive(Copy, Clone)]
enum Power {
    Positive,
    Negative,
}

/// The table of 2^`log_len` points: `start` w^e or `start` w^-e at the position with the bits of e reversed, w being
/// the root of unity of twice the order.
fn bit_reversed_powers(
    log_len: u32,
    start: KoalaBear,
    power: Power,
) -> Result<Slab<KoalaBear>, Error> {
    let mut table = slab(1 << log_len)?;
    table[0] = start;
    for k in 0..log_len {
        // Bit k of a position counts as w^(2^(log_len - 1 - k)).
        let root = KoalaBear::two_adic_generator(k + 2);
        let factor = match power {
            Power::Positive => root,
            Power::Negative => root.pow((1 << (k + 2)) - 1),
        };
        let (done, rest) = table.split_at_mut(1 << k);
        for (next, &value) in rest.iter_mut().zip(&*done) {
            *next = value * factor;
        }
    }
    Ok(table)
}

/// The point of `position`, in any domain for which the table is large enough.
fn point_of(points: &[KoalaBear], position: usize) -> KoalaBear {
    let point = points[position / 2];
    if position & 1 == 0 { point } else { -point }
}

/// Writes the weights `factor` x / (z - x) for the points x from position `first` on: all first limbs, then all
/// second ones, and so on.
fn barycentric_weights(
    points: &[KoalaBear],
    first: usize,
    z: Ext6,
    factor: Ext6,
    weights: &mut [KoalaBear],
) {
    let len = weights.len() / EXT_DEGREE;
    let x = |index: usize| point_of(points, first + index);
    let mut inverses: Vec<Ext6> = (0..len)
        .map(|index| z - Ext6::from_base(x(index)))
        .collect();
    batch_inverse(&mut inverses);
    for (index, inverse) in inverses.into_iter().enumerate() {
        let weight = inverse * factor * x(index);
        for (limb, value) in weight.0.into_iter().enumerate() {
            weights[limb * len + index] = value;
        }
    }
}

/// The sum of cells times weights, the latter in chunks as [`barycentric_weights`] writes them.
fn dot(choice: Choice, cells: &[KoalaBear], weights: &[KoalaBear]) -> Ext6 {
    let chunks = cells.chunks(CHUNK).zip(weights.chunks(EXT_DEGREE * CHUNK));
    let dots = chunks.map(|(column, weights)| {
        let mut limbs = [column; EXT_DEGREE];
        for (limb, weights) in limbs.iter_mut().zip(weights.chunks_exact(column.len())) {
            *limb = weights;
        }
        dispatch(
            choice,
            Dot::<Ext6> {
                column,
                weights: limbs,
            },
        )
    });
    dots.sum()
}

/// Lets the columns of a level enter `running`.
fn combine(
    choice: Choice,
    quotient: &Quotient,
    columns: &[Column<'_>],
    points: &[KoalaBear],
    running: &mut [Ext6],
) {
    let mut groups: Vec<Vec<Term<'_>>> = (0..quotient.groups_len()).map(|_| Vec::new()).collect();
    for (shape, column) in quotient.columns.iter().zip(columns) {
        // Only extension columns have several limbs, the first of which counts once like a base column.
        let terms = column.limbs.iter().enumerate().map(|(limb, &cells)| Term {
            cells,
            factor: shape.coefficient * unit(limb),
        });
        groups[shape.group].extend(terms);
    }
    let chunks = running.chunks_mut(CHUNK).enumerate();
    Threads::current().for_each_init(chunks, Scratch::default, |scratch, (chunk, running)| {
        let (first, len) = (chunk * CHUNK, running.len());
        let Scratch {
            sums,
            inverses,
            group_sums,
        } = scratch;
        sums.clear();
        sums.resize(groups.len() * EXT_DEGREE * len, KoalaBear::ZERO);
        for (sums, terms) in sums.chunks_exact_mut(EXT_DEGREE * len).zip(&groups) {
            accumulate(choice, terms, first, sums);
        }
        let points_len = quotient.points_len();
        inverses.clear();
        inverses.resize(points_len * len, Ext6::ZERO);
        for (index, inverses) in inverses.chunks_exact_mut(points_len).enumerate() {
            quotient.denominators(point_of(points, first + index), inverses);
        }
        batch_inverse(inverses);
        let inverses = inverses.chunks_exact(points_len);
        for ((index, value), inverses) in running.iter_mut().enumerate().zip(inverses) {
            group_sums.clear();
            group_sums.extend(sums.chunks_exact(EXT_DEGREE * len).map(|sums| {
                let mut sum = Ext6::ZERO;
                for (limb, value) in sum.0.iter_mut().enumerate() {
                    *value = sums[limb * len + index];
                }
                sum
            }));
            *value = quotient.value(*value, group_sums, inverses);
        }
    });
}

#[derive(Default)]
struct Scratch {
    /// For each group all first limbs, then all second ones, and so on.
    sums: Vec<KoalaBear>,
    inverses: Vec<Ext6>,
    group_sums: Vec<Ext6>,
}

/// A column of base elements and its factor.
struct Term<'a> {
    cells: &'a [KoalaBear],
    factor: Ext6,
}

/// Adds the cells from `first` on, times their factors, to `sums`, which has all first limbs, then all second
/// ones, and so on.
fn accumulate(choice: Choice, terms: &[Term<'_>], first: usize, sums: &mut [KoalaBear]) {
    let len = sums.len() / EXT_DEGREE;
    let columns: Vec<&[KoalaBear]> = terms
        .iter()
        .map(|term| &term.cells[first..][..len])
        .collect();
    for (limb, out) in sums.chunks_exact_mut(len).enumerate() {
        let factors: Vec<KoalaBear> = terms.iter().map(|term| term.factor.0[limb]).collect();
        let combine = Combine {
            columns: &columns,
            factors: &factors,
            out,
        };
        dispatch(choice, combine);
    }
}

/// Halves the running values. `halves` has 1 / (2 x).
fn fold(running: &[Ext6], alpha: Ext6, halves: &[KoalaBear]) -> Result<Slab<Ext6>, Error> {
    let half = KoalaBear::ONE.halve();
    let mut next = slab(running.len() / 2)?;
    let chunks = next.chunks_mut(CHUNK);
    let chunks = chunks
        .zip(running.chunks(2 * CHUNK))
        .zip(halves.chunks(CHUNK));
    Threads::current().for_each(chunks, |((next, running), halves)| {
        let (pairs, _) = running.as_chunks::<2>();
        for ((next, &[low, high]), &inverse) in next.iter_mut().zip(pairs).zip(halves) {
            *next = (low + high) * half + alpha * ((low - high) * inverse);
        }
    });
    Ok(next)
}

/// The coefficients of the polynomial with these values on a subgroup in bit-reversed order. `halves` has 1 / (2 x).
fn interpolate(values: &[Ext6], halves: &[KoalaBear]) -> Vec<Ext6> {
    let half = KoalaBear::ONE.halve();
    let (pairs, _) = values.as_chunks::<2>();
    if pairs.is_empty() {
        return values.to_vec();
    }
    // f(x) = even(x^2) + x odd(x^2).
    let even: Vec<Ext6> = pairs
        .iter()
        .map(|&[low, high]| (low + high) * half)
        .collect();
    let odd = pairs
        .iter()
        .zip(halves)
        .map(|(&[low, high], &inverse)| (low - high) * inverse);
    let odd: Vec<Ext6> = odd.collect();
    let parts = interpolate(&even, halves)
        .into_iter()
        .zip(interpolate(&odd, halves));
    parts.flat_map(|(even, odd)| [even, odd]).collect()
}

/// The tree over a running layer.
struct RunningTree {
    /// The leaves first.
    levels: Vec<Slab<Digest>>,
}

impl RunningTree {
    fn build(hash: &MerkleDamgard, values: &[Ext6]) -> Result<Self, Error> {
        let threads = Threads::current();
        let mut leaves = slab::<Digest>(values.len())?;
        let chunks = leaves.chunks_mut(CHUNK).zip(values.chunks(CHUNK));
        threads.for_each(chunks, |(leaves, values)| {
            for (leaf, value) in leaves.iter_mut().zip(values) {
                let (limbs, _) = leaf.0.split_at_mut(EXT_DEGREE);
                limbs.copy_from_slice(&value.0);
            }
        });
        let mut levels = vec![leaves];
        let mut len = values.len();
        while len > 1 {
            len /= 2;
            let mut parents = slab::<Digest>(len)?;
            let children = levels[levels.len() - 1].chunks(2 * CHUNK);
            threads.for_each(
                parents.chunks_mut(CHUNK).zip(children),
                |(parents, children)| {
                    hash.compress_pairs(children, parents);
                },
            );
            levels.push(parents);
        }
        Ok(Self { levels })
    }

    /// log2 of the leaves.
    fn height(&self) -> u32 {
        self.levels.len() as u32 - 1
    }

    /// The nodes at `depth` below the root.
    fn level(&self, depth: u32) -> &[Digest] {
        &self.levels[(self.height() - depth) as usize]
    }

    fn root(&self) -> Digest {
        self.level(0)[0]
    }

    fn open(&self, index: usize, depth: u32) -> RunningOpening {
        let height = self.height();
        let sibling = |level: u32| self.level(level)[index >> (height - level) ^ 1];
        RunningOpening {
            leaf: self.levels[0][index],
            siblings: (depth + 1..=height).map(sibling).collect(),
        }
    }
}
