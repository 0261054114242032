//! Commitments that keep no codewords: columns are encoded in groups, absorbed into one running hash state
//! for each row, and written over by the next group.
//!
//! What stays is the tables, which are asked for their columns again when rows are opened, and the upper part
//! of the tree.
//!
//! # Messages
//! The hasher takes the cells of a message in their order, part by part. Mostly a message is an encoded row, so
//! that a part is a few columns. In the lineth format the message of a smaller table is a pair of rows: all
//! cells of the even one, then all of the odd one. Such a table is gone through twice, once for each kind of
//! row. Its columns are encoded twice then, unless they are few enough for one group, which is the price of
//! keeping none.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use lanework_arch::memory::{self, Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear;
use lanework_hash::{Cell, Digest, Part};
use lanework_merkle::opening::Injected;
use lanework_merkle::{Builder, Lower, lineth, mmcs};

use crate::commit::{STREAMING_CACHES, lock, slab_of};
use crate::rows::{Batch, RowOpening, verify_batch};
use crate::{ColumnSource, Committer, Error, Format, Shape, Tree};

/// Layers at the bottom of the tree that are not kept.
const LOG_DROPPED: u32 = 4;

/// Where a cell of a message comes from.
#[derive(Copy, Clone)]
enum Source {
    Constant(KoalaBear),
    Column {
        table: usize,
        column: usize,
        rows: Rows,
    },
}

/// Which rows of a codeword are messages, or parts of them.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Rows {
    All,
    Even,
    Odd,
}

/// The messages of one level of the tree.
struct Messages {
    level: u32,
    log_len: u32,
    cells: Vec<Source>,
}

/// The messages of every level that has some.
fn messages(format: Format, batch: &Batch<'_>) -> Vec<Messages> {
    let mut list = vec![];
    for level in 0..=batch.log_height {
        let mut cells = vec![];
        for (table, shape) in batch.shapes.iter().enumerate() {
            if batch.log_message(shape) != level {
                continue;
            }
            if format == Format::Lineth {
                let header = lineth::header(shape.base_width, shape.ext_width);
                cells.extend(header.map(Source::Constant));
            }
            let kinds: &[Rows] = if batch.rows_per_message(shape) == 1 {
                &[Rows::All]
            } else {
                &[Rows::Even, Rows::Odd]
            };
            for &rows in kinds {
                cells.extend((0..shape.columns_len()).map(|column| Source::Column {
                    table,
                    column,
                    rows,
                }));
            }
        }
        if !cells.is_empty() {
            list.push(Messages {
                level,
                log_len: batch.log_height - level,
                cells,
            });
        }
    }
    list
}

/// What the size of a group depends on.
#[derive(Copy, Clone)]
struct Cut {
    block_len: usize,
    group_bytes: usize,
    threads_len: usize,
}

impl Messages {
    /// Cells that are made together, of which some may be constants: whole blocks.
    fn group_len(&self, cut: Cut) -> usize {
        let columns = (cut.group_bytes / size_of::<KoalaBear>()) >> self.log_len;
        // Enough that every thread has a column.
        columns
            .clamp(cut.threads_len, cut.threads_len.max(self.cells.len()))
            .next_multiple_of(cut.block_len)
    }

    /// The cells in parts as hashers want them.
    fn parts(&self, cut: Cut) -> Vec<(Part, &[Source])> {
        let group_len = self.group_len(cut);
        let mut parts = vec![];
        let mut rest = &self.cells[..];
        loop {
            // Less than a block cannot be left over.
            if rest.len() < group_len + cut.block_len {
                let part = if parts.is_empty() {
                    Part::Whole
                } else {
                    Part::Last
                };
                parts.push((part, rest));
                return parts;
            }
            let part = if parts.is_empty() {
                Part::First
            } else {
                Part::Middle
            };
            let (group, after) = rest.split_at(group_len);
            parts.push((part, group));
            rest = after;
        }
    }
}

/// Slabs that workers pass on from one group to the next, so that their pages appear once.
struct Pool {
    slabs: Mutex<Vec<Slab<KoalaBear>>>,
    len: usize,
    pages: Pages,
}

impl Pool {
    fn new(len: usize, pages: Pages) -> Self {
        Self {
            slabs: Mutex::default(),
            len,
            pages,
        }
    }

    fn lend(&self) -> Result<Lent<'_>, Error> {
        let slab = lock(&self.slabs).pop();
        let slab = match slab {
            Some(slab) => slab,
            None => Slab::zeroed(self.len, self.pages)?,
        };
        Ok(Lent { slab, pool: self })
    }
}

struct Lent<'a> {
    slab: Slab<KoalaBear>,
    pool: &'a Pool,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // A slab of nothing has no memory, and takes the place of the one that goes back.
        if let Ok(empty) = Slab::zeroed(0, self.pool.pages) {
            let slab = std::mem::replace(&mut self.slab, empty);
            lock(&self.pool.slabs).push(slab);
        }
    }
}

/// The codewords to make of one column.
#[derive(Default)]
struct Targets<'a> {
    all: Option<&'a mut [KoalaBear]>,
    even: Option<&'a mut [KoalaBear]>,
    odd: Option<&'a mut [KoalaBear]>,
}

/// What went on.
#[derive(Default)]
pub(crate) struct Times {
    pub(crate) encode: Duration,
    pub(crate) hash: Duration,
}

impl Committer {
    /// The tree over the encoded rows of `tables`, without its lowest layers.
    pub(crate) fn stream<T: ColumnSource>(
        &self,
        tables: &[T],
        shapes: &[Shape],
    ) -> Result<(Tree, Times), Error> {
        let pages = self.params.pages();
        let batch = Batch::new(&self.params, shapes);
        let cut = self.cut();
        let list = messages(self.params.format(), &batch);
        let cells_len = |messages: &Messages| {
            let parts = messages.parts(cut);
            let most = parts.iter().map(|(_, cells)| cells.len()).max();
            most.unwrap_or(0).saturating_mul(1 << messages.log_len)
        };
        let longest = list.iter().map(cells_len).max().unwrap_or(0);
        let mut slab = slab_of(&self.spare.codewords, longest, pages)?;
        let pool = Pool::new(self.stream_scratch_len(shapes)?, pages);

        let mut times = Times::default();
        let mut leaves = None;
        let mut injected = vec![];
        for messages in &list {
            let len = 1 << messages.log_len;
            if messages.level == 0 {
                let spare = lock(&self.spare.digests).pop();
                let mut states = match spare {
                    Some(mut slab) => {
                        slab.set_len(len)?;
                        slab
                    }
                    None => Slab::zeroed(len, pages)?,
                };
                self.absorb(
                    tables,
                    shapes,
                    messages,
                    &mut slab,
                    &pool,
                    &mut states,
                    &mut times,
                )?;
                leaves = Some(states);
            } else {
                let mut digests = digests(len)?;
                self.absorb(
                    tables,
                    shapes,
                    messages,
                    &mut slab,
                    &pool,
                    &mut digests,
                    &mut times,
                )?;
                injected.push(Injected {
                    level: messages.level,
                    digests,
                });
            }
        }
        // There is a tallest table.
        let leaves = leaves.ok_or(Error::NoTables)?;
        drop((slab, pool));
        let start = Instant::now();
        let builder = self.builder();
        let dropped = LOG_DROPPED.min(batch.log_height - batch.cap_height);
        let tree = match self.params.format() {
            Format::Lineth => Tree::Lineth(lineth::Tree::over_digests(
                &builder, &leaves, injected, dropped, None,
            )?),
            Format::Plonky3 { .. } => Tree::Plonky3(mmcs::Tree::over_digests(
                &builder, &leaves, injected, dropped, None,
            )?),
        };
        times.hash += start.elapsed();
        Ok((tree, times))
    }

    fn cut(&self) -> Cut {
        Cut {
            block_len: self.hashers.hasher.block_len(),
            group_bytes: self.params.group_bytes(),
            threads_len: Threads::current().count().get(),
        }
    }

    /// The digests of all `messages`, into `states`.
    #[expect(clippy::too_many_arguments, reason = "the memory that is passed on")]
    fn absorb<T: ColumnSource>(
        &self,
        tables: &[T],
        shapes: &[Shape],
        messages: &Messages,
        slab: &mut Slab<KoalaBear>,
        pool: &Pool,
        states: &mut [Digest],
        times: &mut Times,
    ) -> Result<(), Error> {
        let threads = Threads::current();
        let threads_len = threads.count().get();
        let hasher = &*self.hashers.hasher;
        let len = 1_usize << messages.log_len;
        // So many rows that a task is worth its list of cells.
        let rows_per_task = (len / (16 * threads_len)).clamp(64, 1 << 13);
        for (part, sources) in messages.parts(self.cut()) {
            let start = Instant::now();
            self.encode_group(
                tables,
                shapes,
                sources,
                &mut slab[..sources.len() * len],
                pool,
            )?;
            let encoded = Instant::now();
            let cells: Vec<_> = sources
                .iter()
                .zip(slab.chunks_exact(len))
                .map(|(source, column)| match source {
                    Source::Constant(word) => Cell::Constant(*word),
                    Source::Column { .. } => Cell::Column(column),
                })
                .collect();
            let tasks = states.chunks_mut(rows_per_task).enumerate();
            threads.for_each(tasks, |(index, states)| {
                let first = index * rows_per_task;
                hasher.absorb_rows(part, &cells, first..first + states.len(), states);
            });
            times.encode += encoded - start;
            times.hash += encoded.elapsed();
        }
        Ok(())
    }

    /// Encodes the columns of a group, the rows of each that it asks for into a part of `slab`.
    fn encode_group<T: ColumnSource>(
        &self,
        tables: &[T],
        shapes: &[Shape],
        sources: &[Source],
        slab: &mut [KoalaBear],
        pool: &Pool,
    ) -> Result<(), Error> {
        let threads = Threads::current();
        let streaming =
            size_of_val(slab) > STREAMING_CACHES * threads.count().get() * self.caches.l2_bytes;
        let mut jobs: BTreeMap<(usize, usize), Targets<'_>> = BTreeMap::new();
        let len = slab.len() / sources.len();
        for (source, target) in sources.iter().zip(slab.chunks_exact_mut(len)) {
            if let &Source::Column {
                table,
                column,
                rows,
            } = source
            {
                let targets = jobs.entry((table, column)).or_default();
                match rows {
                    Rows::All => targets.all = Some(target),
                    Rows::Even => targets.even = Some(target),
                    Rows::Odd => targets.odd = Some(target),
                }
            }
        }
        self.each_column(tables, shapes, jobs, pool, |codeword, targets, encode| {
            let Targets { all, even, odd } = targets;
            if let Some(target) = all {
                return encode(target, streaming);
            }
            encode(codeword, false)?;
            let (pairs, _) = codeword.as_chunks::<2>();
            if let Some(even) = even {
                for (cell, &[a, _]) in even.iter_mut().zip(pairs) {
                    *cell = a;
                }
            }
            if let Some(odd) = odd {
                for (cell, &[_, b]) in odd.iter_mut().zip(pairs) {
                    *cell = b;
                }
            }
            Ok(())
        })
    }

    /// Calls `work` for each of `jobs`, which name columns of tables, with memory for a codeword, what the job is,
    /// and how to encode the column to where it says.
    fn each_column<T: ColumnSource, J: Send>(
        &self,
        tables: &[T],
        shapes: &[Shape],
        jobs: impl IntoIterator<Item = ((usize, usize), J), IntoIter: Send>,
        pool: &Pool,
        work: impl Fn(
            &mut [KoalaBear],
            J,
            &mut dyn FnMut(&mut [KoalaBear], bool) -> Result<(), Error>,
        ) -> Result<(), Error>
        + Sync,
    ) -> Result<(), Error> {
        let plans = shapes.iter().map(|shape| self.plan(shape.log_rows));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let log_inv_rate = self.params.log_inv_rate();
        let failure = Mutex::new(None);
        Threads::current().for_each_init(
            jobs,
            || pool.lend(),
            |lent, ((table, column), job)| {
                if lock(&failure).is_some() {
                    return;
                }
                let done = match lent {
                    Err(error) => Err(error.clone()),
                    Ok(lent) => {
                        let (plan, rows_len) = (&plans[table], shapes[table].rows_len());
                        let (buffer, rest) = lent.slab.split_at_mut(rows_len);
                        let (scratch, rest) = rest.split_at_mut(plan.scratch_len());
                        let codeword = &mut rest[..rows_len << log_inv_rate];
                        let mut encode = |target: &mut [KoalaBear], streaming: bool| {
                            let cells = tables[table].fetch(column, buffer)?;
                            assert_eq!(
                                cells.len(),
                                rows_len,
                                "the columns of a source have as many cells as its shape has rows"
                            );
                            if streaming {
                                plan.encode_streaming(cells, target, scratch);
                            } else {
                                plan.encode(cells, target, scratch);
                            }
                            Ok(())
                        };
                        work(codeword, job, &mut encode)
                    }
                };
                if let Err(error) = done {
                    *lock(&failure) = Some(error);
                }
            },
        );
        match failure
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
        {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Cells that a worker needs for any column: itself, what the transform asks for, and a codeword. Pages that
    /// are not written take no memory.
    fn stream_scratch_len(&self, shapes: &[Shape]) -> Result<usize, Error> {
        let mut most = 0;
        for shape in shapes {
            let plan = self.plan(shape.log_rows)?;
            let codeword_len = shape.rows_len() << self.params.log_inv_rate();
            most = most.max(shape.rows_len() + plan.scratch_len() + codeword_len);
        }
        Ok(most)
    }

    /// The rows at `positions`, which are checked, of tables that `tree` commits to, with what proves them.
    pub(crate) fn open_streamed<T: ColumnSource>(
        &self,
        tables: &[T],
        shapes: &[Shape],
        tree: &Tree,
        positions: &[usize],
    ) -> Result<RowOpening, Error> {
        let batch = Batch::new(&self.params, shapes);
        let dropped = tree.dropped();
        let mut subtrees: Vec<_> = positions
            .iter()
            .map(|position| position >> dropped)
            .collect();
        subtrees.dedup();
        // All messages below the subtrees, and of higher levels those of the positions.
        let wanted: Vec<Vec<usize>> = shapes
            .iter()
            .map(|shape| {
                let level = batch.log_message(shape);
                let messages: Vec<usize> = if level < dropped {
                    let log_len = dropped - level;
                    let all = |subtree: &usize| subtree << log_len..(subtree + 1) << log_len;
                    subtrees.iter().flat_map(all).collect()
                } else {
                    let mut messages: Vec<_> =
                        positions.iter().map(|position| position >> level).collect();
                    messages.dedup();
                    messages
                };
                let per_message = batch.rows_per_message(shape);
                let rows = |message: usize| message * per_message..(message + 1) * per_message;
                messages.into_iter().flat_map(rows).collect()
            })
            .collect();
        let cells = self
            .threads()
            .install(|| self.gather(tables, shapes, &wanted))?;
        let lower = self.lower(&batch, &cells, &wanted, subtrees, dropped);
        let rows = shapes.iter().zip(&cells).zip(&wanted);
        let rows = rows.map(|((shape, cells), wanted)| {
            let opened = batch.rows(shape, positions).into_iter();
            opened
                .filter_map(|row| wanted.binary_search(&row).ok())
                .flat_map(|at| {
                    cells
                        .chunks_exact(wanted.len())
                        .map(move |column| column[at])
                })
                .collect()
        });
        let opening = RowOpening {
            rows: rows.collect(),
            siblings: tree.siblings_with(&lower, positions, batch.cap_height),
        };
        // Nothing else tells whether the tables are what they were.
        let commitment = tree.commitment(&self.params);
        verify_batch(
            &self.params,
            &self.hashers,
            &commitment,
            shapes,
            positions,
            &opening,
        )
        .map_err(|_| Error::Changed)?;
        Ok(opening)
    }

    /// The encoded cells of every table at the rows `wanted` of it, column after column.
    fn gather<T: ColumnSource>(
        &self,
        tables: &[T],
        shapes: &[Shape],
        wanted: &[Vec<usize>],
    ) -> Result<Vec<Vec<KoalaBear>>, Error> {
        let mut cells = vec![];
        for (shape, wanted) in shapes.iter().zip(wanted) {
            let len = shape.columns_len().saturating_mul(wanted.len());
            let mut vector = Vec::new();
            reserve(&mut vector, len)?;
            vector.resize(len, KoalaBear::ZERO);
            cells.push(vector);
        }
        let mut jobs = vec![];
        for (table, (cells, wanted)) in cells.iter_mut().zip(wanted).enumerate() {
            if !wanted.is_empty() {
                let columns = cells.chunks_exact_mut(wanted.len()).enumerate();
                jobs.extend(columns.map(|(column, target)| ((table, column), (target, wanted))));
            }
        }
        let pool = Pool::new(self.stream_scratch_len(shapes)?, self.params.pages());
        self.each_column(
            tables,
            shapes,
            jobs,
            &pool,
            |codeword, (target, wanted), encode| {
                encode(codeword, false)?;
                for (cell, &row) in target.iter_mut().zip(wanted) {
                    *cell = codeword[row];
                }
                Ok(())
            },
        )?;
        Ok(cells)
    }

    /// The lowest layers of the tree over the messages of which `cells` has the rows `wanted`.
    fn lower(
        &self,
        batch: &Batch<'_>,
        cells: &[Vec<KoalaBear>],
        wanted: &[Vec<usize>],
        subtrees: Vec<usize>,
        dropped: u32,
    ) -> Lower {
        if dropped == 0 || subtrees.is_empty() {
            return Lower::default();
        }
        let mut leaves = vec![];
        let mut injected = vec![];
        for messages in messages(self.params.format(), batch) {
            if messages.level >= dropped {
                continue;
            }
            let mut digests = vec![Digest::ZERO; subtrees.len() << (dropped - messages.level)];
            let mut message = vec![];
            for (index, digest) in digests.iter_mut().enumerate() {
                message.clear();
                message.extend(messages.cells.iter().map(|source| match *source {
                    Source::Constant(word) => word,
                    Source::Column {
                        table,
                        column,
                        rows,
                    } => {
                        let row = match rows {
                            Rows::All => index,
                            Rows::Even => 2 * index,
                            Rows::Odd => 2 * index + 1,
                        };
                        cells[table][column * wanted[table].len() + row]
                    }
                }));
                *digest = self.hashers.hasher.hash_slice(&message);
            }
            if messages.level == 0 {
                leaves = digests;
            } else {
                injected.push(Injected {
                    level: messages.level,
                    digests,
                });
            }
        }
        Lower::build(
            &*self.hashers.compression,
            dropped,
            subtrees,
            leaves,
            &injected,
        )
    }

    pub(crate) fn builder(&self) -> Builder<'_> {
        Builder::new(&*self.hashers.hasher, &*self.hashers.compression)
            .pages(self.params.pages())
            .cache_bytes(self.caches.l2_bytes)
    }
}

fn digests(len: usize) -> Result<Vec<Digest>, Error> {
    let mut digests = Vec::new();
    reserve(&mut digests, len)?;
    digests.resize(len, Digest::ZERO);
    Ok(digests)
}

fn reserve<T>(vector: &mut Vec<T>, len: usize) -> Result<(), Error> {
    let bytes = len.saturating_mul(size_of::<T>());
    let reserved = vector.try_reserve_exact(len);
    Ok(reserved.map_err(|_| memory::Error::OutOfMemory { bytes })?)
}
