//! From tables to a commitment: encode every column, hash every row.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_arch::memory::{self, Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear;
use lanework_hash::Digest;
use lanework_merkle::opening::check_positions;
use lanework_merkle::{Lower, lineth, mmcs};
use lanework_ntt::LdePlan;

use crate::rows::{Batch, Hashers};
use crate::source::Group;
use crate::{ColumnSource, Error, Format, MemoryMode, Params, RowOpening, Shape, SourceError};

/// Commits to `tables` with `params`.
///
/// This prepares constants and transforms, commits once, and drops what it prepared. To commit more
/// than once, keep a [`Committer`].
///
/// # Errors
/// As [`Committer::new`] and [`Committer::commit`].
pub fn commit<T: ColumnSource>(
    params: &Params,
    tables: Vec<T>,
) -> Result<(Commitment, ProverData<T>, Report), Error> {
    Committer::new(params.clone())?.commit(tables)
}

/// Commits to tables, again and again: keeps prepared constants, transforms, threads, and the memory
/// of earlier commitments that came back by [`Committer::recycle`].
///
/// It can be shared between threads that commit at the same time.
pub struct Committer {
    pub(crate) params: Params,
    pub(crate) caches: Caches,
    own_threads: Option<Threads>,
    pub(crate) hashers: Hashers,
    plans: Mutex<Vec<(u32, Arc<LdePlan>)>>,
    pub(crate) spare: Spare,
}

/// Memory of earlier commitments.
#[derive(Default)]
pub(crate) struct Spare {
    pub(crate) codewords: Mutex<Vec<Slab<KoalaBear>>>,
    pub(crate) digests: Mutex<Vec<Slab<Digest>>>,
}

impl Committer {
    /// Prepares constants and threads.
    ///
    /// # Errors
    /// [`Error::Threads`] if the threads cannot be started.
    pub fn new(params: Params) -> Result<Self, Error> {
        let own_threads = params.threads().map(Threads::new).transpose()?;
        Ok(Self {
            caches: Caches::detect(),
            own_threads,
            hashers: Hashers::new(&params, params.choice()),
            plans: Mutex::default(),
            spare: Spare::default(),
            params,
        })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The threads that commitments run on if they are asked for here, for work around them such as
    /// making the tables.
    pub fn threads(&self) -> Threads {
        self.own_threads.clone().unwrap_or_default()
    }

    pub(crate) fn hashers(&self) -> &Hashers {
        &self.hashers
    }

    pub(crate) fn caches(&self) -> Caches {
        self.caches
    }

    /// Commits to `tables`: of distinct heights in the lineth format; in the Plonky3 format the
    /// columns of tables of equal height stand side by side, in the order given.
    ///
    /// # Errors
    /// If there are no tables, or one has no columns; [`Error::CodewordTooLong`] above 2^24 cells per
    /// codeword; [`Error::ExtensionDegree`] if the lineth format meets extension columns of another
    /// degree than 6; [`Error::Merkle`] if it meets two tables of one height; [`Error::Memory`].
    pub fn commit<T: ColumnSource>(
        &self,
        mut tables: Vec<T>,
    ) -> Result<(Commitment, ProverData<T>, Report), Error> {
        let start = Instant::now();
        let threads = self.threads();
        let shapes: Vec<Shape> = tables.iter().map(ColumnSource::shape).collect();
        self.params.check(&shapes)?;
        let (codewords, encode, tree) = threads.install(|| {
            if self.params.memory() == MemoryMode::Streaming {
                let (tree, times) = self.stream(&tables, &shapes)?;
                return Ok((vec![], times.encode, tree));
            }
            let codewords = self.encode(&mut tables, &shapes)?;
            if self.params.memory() == MemoryMode::Consume {
                tables.clear();
            }
            let encode = start.elapsed();
            let tree = self.hash(&codewords)?;
            Ok::<_, Error>((codewords, encode, tree))
        })?;
        let total = start.elapsed();
        let commitment = tree.commitment(&self.params);
        let cells = |count: usize| (count * size_of::<KoalaBear>()) as u64;
        let witness_len = shapes
            .iter()
            .map(|shape| shape.columns_len() << shape.log_rows)
            .sum::<usize>();
        let report = Report {
            encode,
            hash: total.saturating_sub(encode),
            total,
            witness_bytes: cells(witness_len),
            codeword_bytes: cells(witness_len << self.params.log_inv_rate()),
            digest_bytes: (tree.digests_len() * size_of::<Digest>()) as u64,
            peak_rss_bytes: memory::peak_rss_bytes(),
            choice: self.params.choice(),
            threads: threads.count(),
            memory: self.params.memory(),
            fused: false,
        };
        Ok((
            commitment,
            ProverData {
                tables,
                shapes,
                codewords,
                tree,
            },
            report,
        ))
    }

    /// Takes back the memory of a commitment for the next ones; returns its tables.
    pub fn recycle<T>(&self, data: ProverData<T>) -> Vec<T> {
        lock(&self.spare.digests).push(data.tree.into_slab());
        lock(&self.spare.codewords).extend(data.codewords.into_iter().map(|code| code.cells));
        data.tables
    }

    pub(crate) fn plan(&self, log_rows: u32) -> Result<Arc<LdePlan>, Error> {
        let mut plans = lock(&self.plans);
        if let Some((_, plan)) = plans.iter().find(|&&(rows, _)| rows == log_rows) {
            return Ok(Arc::clone(plan));
        }
        let shift = match self.params.format() {
            Format::Lineth => KoalaBear::ONE,
            Format::Plonky3 { .. } => KoalaBear::GENERATOR,
        };
        let plan = Arc::new(LdePlan::new(
            log_rows,
            self.params.log_inv_rate(),
            shift,
            self.params.choice(),
            self.caches,
        )?);
        plans.push((log_rows, Arc::clone(&plan)));
        Ok(plan)
    }

    fn encode<T: ColumnSource>(
        &self,
        tables: &mut [T],
        shapes: &[Shape],
    ) -> Result<Vec<Codeword>, Error> {
        let pages = self.params.pages();
        let plans = shapes.iter().map(|shape| self.plan(shape.log_rows));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let mut codewords = Vec::with_capacity(tables.len());
        for &shape in shapes {
            let log_height = shape.log_rows + self.params.log_inv_rate();
            // What does not fit the address space is refused by the slab.
            let len = shape.columns_len().saturating_mul(1 << log_height);
            let cells = slab_of(&self.spare.codewords, len, pages)?;
            codewords.push(Codeword {
                shape,
                log_height,
                cells,
            });
        }

        let threads_len = Threads::current().count().get();
        let bytes: usize = codewords
            .iter()
            .map(|code| size_of_val(&code.cells[..]))
            .sum();
        let streaming = bytes > STREAMING_CACHES * threads_len * self.caches.l2_bytes;
        let mut jobs = Vec::new();
        let parts = tables.iter_mut().zip(&mut codewords).zip(&plans);
        for ((table, codeword), plan) in parts {
            let (shape, height) = (codeword.shape, codeword.height());
            let group_len = group_len(shape, self.params.memory(), threads_len);
            let groups = match self.params.memory() {
                // Streaming goes another way.
                MemoryMode::Keep | MemoryMode::Streaming => Group::shared(table, group_len),
                MemoryMode::Consume => table.groups(group_len),
            };
            // Memory of an earlier codeword must not pass for a column that a source left out.
            let columns_len = shape.columns_len();
            let in_order = (0..columns_len).step_by(group_len);
            assert!(
                groups
                    .iter()
                    .map(Group::len)
                    .eq(in_order.map(|first| group_len.min(columns_len - first))),
                "the groups of a source are its {columns_len} columns, {group_len} at a time"
            );
            let targets = codeword.cells.chunks_mut(group_len * height);
            jobs.extend(groups.into_iter().zip(targets).map(|(group, target)| Job {
                group,
                target,
                rows_len: shape.rows_len(),
                plan,
                streaming,
            }));
        }
        // A column of the largest table that comes last would keep one thread busy alone.
        jobs.sort_by_key(|job| std::cmp::Reverse(job.rows_len));

        // Untouched pages of a slab take no memory, so a buffer for copied columns costs sources that
        // lend theirs nothing. The slabs are not kept: they would add to the peak, which comes when the
        // tree is built.
        let scratch_len = jobs.iter().map(Job::scratch_len).max().unwrap_or(0);
        let failure = Mutex::new(None);
        Threads::current().for_each_init(
            jobs,
            || Slab::zeroed(scratch_len, pages),
            |scratch, job| match scratch {
                Ok(scratch) => {
                    if let Err(error) = job.encode(scratch) {
                        *lock(&failure) = Some(error.into());
                    }
                }
                Err(error) => *lock(&failure) = Some(Error::from(error.clone())),
            },
        );
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(codewords),
        }
    }

    fn hash(&self, codewords: &[Codeword]) -> Result<Tree, Error> {
        let builder = self.builder();
        let spare = lock(&self.spare.digests).pop();
        match self.params.format() {
            Format::Lineth => {
                let tables = codewords.iter().map(|codeword| {
                    let Shape {
                        base_width,
                        ext_width,
                        ..
                    } = codeword.shape;
                    lineth::Table::new(codeword.table(), base_width, ext_width)
                });
                let tables = tables.collect::<Result<Vec<_>, _>>()?;
                Ok(Tree::Lineth(lineth::Tree::build(&builder, &tables, spare)?))
            }
            Format::Plonky3 { .. } => {
                let tables: Vec<_> = codewords.iter().map(Codeword::table).collect();
                Ok(Tree::Plonky3(mmcs::Tree::build(&builder, &tables, spare)?))
            }
        }
    }
}

impl std::fmt::Debug for Committer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Committer")
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

/// Columns per job: enough cells to be worth fetching, or when columns are given back, whole huge
/// pages of them; but several jobs for each thread as long as there are columns.
fn group_len(shape: Shape, memory: MemoryMode, threads_len: usize) -> usize {
    const JOBS_PER_THREAD: usize = 8;
    let cells: usize = match memory {
        MemoryMode::Keep | MemoryMode::Streaming => 1 << 14,
        MemoryMode::Consume => 1 << 19,
    };
    let balanced = shape.columns_len() / (JOBS_PER_THREAD * threads_len);
    (cells / shape.rows_len()).min(balanced).max(1)
}

/// Codewords of more bytes than this many second-level caches of all threads are gone from the caches
/// when they are hashed.
pub(crate) const STREAMING_CACHES: usize = 8;

/// Some columns of one table and the codewords to make of them.
struct Job<'a> {
    group: Group<'a>,
    target: &'a mut [KoalaBear],
    rows_len: usize,
    plan: &'a LdePlan,
    streaming: bool,
}

impl Job<'_> {
    /// Cells that [`Job::encode`] needs beside the codewords.
    fn scratch_len(&self) -> usize {
        self.rows_len + self.plan.scratch_len()
    }

    fn encode(self, scratch: &mut [KoalaBear]) -> Result<(), SourceError> {
        let (buffer, scratch) = scratch.split_at_mut(self.rows_len);
        let codeword_len = self.target.len() / self.group.len();
        for (index, codeword) in self.target.chunks_exact_mut(codeword_len).enumerate() {
            let column = self.group.fetch(index, buffer)?;
            let scratch = &mut scratch[..self.plan.scratch_len()];
            if self.streaming {
                self.plan.encode_streaming(column, codeword, scratch);
            } else {
                self.plan.encode(column, codeword, scratch);
            }
        }
        self.group.release();
        Ok(())
    }
}

/// A slab of `len` elements, written or not: the smallest spare one that is large enough, or else a
/// new one in place of the largest spare one, so that spares do not add up.
pub(crate) fn slab_of<T: bytemuck::Zeroable + Copy>(
    spare: &Mutex<Vec<Slab<T>>>,
    len: usize,
    pages: Pages,
) -> Result<Slab<T>, memory::Error> {
    let mut slabs = lock(spare);
    slabs.sort_by_key(Slab::capacity);
    let index = slabs.partition_point(|slab| slab.capacity() < len);
    let reused = if index < slabs.len() {
        Some(slabs.remove(index))
    } else {
        slabs.pop()
    };
    drop(slabs);
    match reused {
        Some(mut slab) => slab.set_len(len).map(|()| slab),
        None => Slab::zeroed(len, pages),
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these protect is a list of buffers or plans, each whole whenever the lock is free.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The public result: what a verifier holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commitment {
    digests: Vec<Digest>,
}

impl Commitment {
    /// The commitment of these digests: a root, or a cap.
    pub fn new(digests: Vec<Digest>) -> Self {
        Self { digests }
    }

    /// The root in the lineth format, the cap in the Plonky3 format.
    pub fn digests(&self) -> &[Digest] {
        &self.digests
    }

    /// The root, unless the commitment is a cap of several digests.
    pub fn root(&self) -> Option<Digest> {
        match self.digests[..] {
            [root] => Some(root),
            _ => None,
        }
    }
}

/// What openings need: the tables if they were kept, their codewords, the tree.
#[derive(Debug)]
pub struct ProverData<T> {
    tables: Vec<T>,
    shapes: Vec<Shape>,
    codewords: Vec<Codeword>,
    tree: Tree,
}

impl<T> ProverData<T> {
    /// The tables in the order given; none if they were consumed.
    pub fn tables(&self) -> &[T] {
        &self.tables
    }

    /// The sizes of the tables, in the order given.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The codewords of each table, in the order given; none in memory mode
    /// [`Streaming`](MemoryMode::Streaming).
    pub fn codewords(&self) -> &[Codeword] {
        &self.codewords
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }
}

impl<T: ColumnSource> ProverData<T> {
    /// The encoded rows at `positions` of the tallest table and the rows of the other tables that go with
    /// them, with what proves them. `committer` has the parameters of the commitment.
    ///
    /// In memory mode [`Streaming`](MemoryMode::Streaming), all columns are encoded once more for that: open all
    /// positions together.
    ///
    /// # Errors
    /// [`Error::Positions`] if the positions are not rows in ascending order without repetition;
    /// [`Error::AboveCap`] if a table has fewer encoded rows than the commitment has digests. Where
    /// codewords were not kept, also [`Error::Changed`] if the tables changed, [`Error::Source`],
    /// [`Error::Memory`].
    pub fn open(&self, committer: &Committer, positions: &[usize]) -> Result<RowOpening, Error> {
        let batch = Batch::new(&committer.params, &self.shapes);
        check_positions(batch.log_height, positions).map_err(Error::Positions)?;
        if let Some(table) = batch.above_cap() {
            return Err(Error::AboveCap { table });
        }
        if self.codewords.is_empty() {
            let Self {
                tables,
                shapes,
                tree,
                ..
            } = self;
            return committer.open_streamed(tables, shapes, tree, positions);
        }
        let rows = self.codewords.iter().map(|codeword| {
            let rows = batch.rows(&codeword.shape, positions).into_iter();
            rows.flat_map(|row| codeword.row(row)).collect()
        });
        Ok(RowOpening {
            rows: rows.collect(),
            siblings: self.tree.siblings(positions, batch.cap_height),
        })
    }
}

/// The encoded columns of one table.
#[derive(Debug)]
pub struct Codeword {
    shape: Shape,
    log_height: u32,
    cells: Slab<KoalaBear>,
}

impl Codeword {
    /// The size of the table.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Encoded rows.
    pub fn height(&self) -> usize {
        1 << self.log_height
    }

    fn table(&self) -> lanework_merkle::Table<'_> {
        lanework_merkle::Table::column_major(&self.cells, self.height())
    }

    /// Encoded column `index`, in bit-reversed order.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, index: usize) -> &[KoalaBear] {
        &self.cells[index * self.height()..][..self.height()]
    }

    /// The cells of encoded row `index`: base columns, then the limbs of each extension column. Rows are in
    /// bit-reversed order, as columns and the leaves of the tree are.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, index: usize) -> impl ExactSizeIterator<Item = KoalaBear> {
        assert!(
            index < self.height(),
            "{} encoded rows have no {index}",
            self.height()
        );
        self.cells
            .chunks_exact(self.height())
            .map(move |column| column[index])
    }
}

/// The tree of a commitment.
#[derive(Debug)]
#[non_exhaustive]
pub enum Tree {
    /// lineth's multi-size tree.
    Lineth(lineth::Tree),
    /// Plonky3's binary `MerkleTreeMmcs`.
    Plonky3(mmcs::Tree),
}

impl Tree {
    /// The digest at the top.
    pub fn root(&self) -> Digest {
        match self {
            Self::Lineth(tree) => tree.root(),
            Self::Plonky3(tree) => tree.root(),
        }
    }

    /// Digests of all layers.
    pub fn digests_len(&self) -> usize {
        match self {
            Self::Lineth(tree) => tree.digests_len(),
            Self::Plonky3(tree) => tree.digests_len(),
        }
    }

    /// The public part of it.
    pub(crate) fn commitment(&self, params: &Params) -> Commitment {
        let digests = match self {
            Self::Lineth(tree) => vec![tree.root()],
            Self::Plonky3(tree) => tree.cap(params.cap_height()).to_vec(),
        };
        Commitment { digests }
    }

    /// Layers at the bottom that were not kept.
    pub(crate) fn dropped(&self) -> u32 {
        match self {
            Self::Lineth(tree) => tree.dropped(),
            Self::Plonky3(tree) => tree.dropped(),
        }
    }

    fn siblings(&self, positions: &[usize], cap_height: u32) -> Vec<Digest> {
        self.siblings_with(&Lower::default(), positions, cap_height)
    }

    /// What opens `positions`, with `lower` in the place of layers that were not kept.
    pub(crate) fn siblings_with(
        &self,
        lower: &Lower,
        positions: &[usize],
        cap_height: u32,
    ) -> Vec<Digest> {
        match self {
            Self::Lineth(tree) => tree.siblings_with(lower, positions, cap_height),
            Self::Plonky3(tree) => tree.siblings_with(lower, positions, cap_height),
        }
    }

    fn into_slab(self) -> Slab<Digest> {
        match self {
            Self::Lineth(tree) => tree.into_slab(),
            Self::Plonky3(tree) => tree.into_slab(),
        }
    }
}

/// What a commitment took.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Wall time until all columns were encoded.
    pub encode: Duration,
    /// Wall time of the tree.
    pub hash: Duration,
    /// Wall time of both.
    pub total: Duration,
    /// Bytes of the cells of the tables.
    pub witness_bytes: u64,
    /// Bytes of the cells of the codewords, which are kept unless the memory mode is
    /// [`Streaming`](MemoryMode::Streaming).
    pub codeword_bytes: u64,
    /// Bytes of the digests of the tree that are kept.
    pub digest_bytes: u64,
    /// The most memory that the process has held so far, where the system tells.
    pub peak_rss_bytes: Option<u64>,
    /// The instruction set that kernels were chosen by.
    pub choice: Choice,
    /// Threads.
    pub threads: NonZero<usize>,
    /// What stayed in memory.
    pub memory: MemoryMode,
    /// Whether rows were hashed while columns were encoded; their time is then in `encode`.
    pub fused: bool,
}
