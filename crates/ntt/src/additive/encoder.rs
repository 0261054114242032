//! Encoding of many interleaved lanes in few trips to memory.
#![expect(unsafe_code, reason = "hands rows of one buffer to workers")]

use std::cell::Cell;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_arch::memory::{self, Pages, Slab, stream};
use lanework_arch::threads::Threads;

use super::body::{Columns, TowerTransform};
use super::group::{Group, Rows};
use super::node::{Ahead, Stores};
use super::table;
use crate::Error;
use crate::plan::{Sweeps, radices};

/// What words of GF(2^64) are made of.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Representation {
    /// Words of the tower: [`lanework_field::gf2::T64`].
    Tower,
    /// Words of polynomials over GF(2).
    Polynomial,
}

/// The size of an encoding.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// A lane has 2^`log_rows` words.
    pub log_rows: u32,
    /// Its codeword is 2^`log_inv_rate` times as long.
    pub log_inv_rate: u32,
    /// The number of lanes.
    pub lanes: usize,
}

impl Shape {
    /// Rows of the message.
    pub const fn rows(self) -> usize {
        1 << self.log_rows
    }

    /// Words of the message, and of one of the 2^`log_inv_rate` parts of the codeword.
    pub const fn message_len(self) -> usize {
        self.lanes << self.log_rows
    }

    /// Words of the codeword.
    pub const fn codeword_len(self) -> usize {
        self.lanes << (self.log_rows + self.log_inv_rate)
    }
}

/// An encoder for messages of one shape.
pub struct Encoder {
    shape: Shape,
    sweeps: Sweeps,
    streaming_bytes: usize,
    kernels: Box<dyn TowerTransform>,
}

/// The largest log2 of a domain: all twiddles are elements of GF(2^32).
const LOG_DOMAIN_MAX: u32 = 32;

/// Refuses domains and lanes that cannot be.
pub(super) fn check(log_len: u32, lanes: usize) -> Result<(), Error> {
    if log_len > LOG_DOMAIN_MAX {
        return Err(Error::DomainTooLong { log_len });
    }
    assert!(lanes > 0, "at least one lane");
    // Eight bytes a word, counted as signed numbers.
    assert!(
        lanes.leading_zeros() >= log_len + 4,
        "the words of all rows fit the address space"
    );
    Ok(())
}

/// Positions of lanes that one task makes rows of.
const SPAN: usize = 1 << 12;

impl Encoder {
    /// Plans encodings of a shape on so many threads.
    ///
    /// # Errors
    /// [`Error::DomainTooLong`] above 2^32 rows of the codeword.
    ///
    /// # Panics
    /// If there are no lanes, or so many that the codeword does not fit the address space.
    pub fn new(
        shape: Shape,
        choice: Choice,
        caches: Caches,
        threads: usize,
    ) -> Result<Self, Error> {
        let log_len = shape.log_rows.saturating_add(shape.log_inv_rate);
        check(log_len, shape.lanes)?;
        let row_bytes = shape.lanes * size_of::<u64>();
        let sweeps = Sweeps::new(
            shape.log_rows,
            shape.log_inv_rate,
            row_bytes,
            caches,
            threads,
        );
        Ok(Self {
            shape,
            sweeps,
            // Beyond this, nothing of a pass is in the caches when the next one comes.
            streaming_bytes: threads.saturating_mul(8).saturating_mul(caches.l2_bytes),
            kernels: table::tower(choice, log_len),
        })
    }

    /// The shape.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The kernels in use.
    pub fn kernel_name(&self) -> &'static str {
        self.kernels.name()
    }

    /// The rows of a block: encoding hands over blocks of so many rows.
    pub const fn block_rows(&self) -> usize {
        1 << self.sweeps.deep
    }

    /// Makes rows of lanes: words `rows[p * lanes + i]` for word p of `lanes[i]`, as words that
    /// [`Encoder::encode`] takes.
    pub fn rows_of(&self, lanes: &[&[u64]], representation: Representation, rows: &mut [u64]) {
        let Shape { lanes: width, .. } = self.shape;
        assert_eq!(lanes.len(), width, "lanes");
        assert!(
            lanes.iter().all(|lane| lane.len() == self.shape.rows()),
            "words of a lane"
        );
        assert_eq!(rows.len(), self.shape.message_len(), "words of the rows");
        let streams = self.streams(rows.as_ptr(), rows.len(), width);
        Threads::current().for_each(
            rows.chunks_mut(SPAN * width).enumerate(),
            |(index, chunk)| {
                let columns = Columns {
                    lanes,
                    first: index * SPAN,
                    count: chunk.len() / width,
                };
                stream::scope(|_| {
                    // SAFETY: the chunk is this task's, and its rows are whole lines if `streams`; the scope ends
                    // with a fence.
                    unsafe {
                        self.kernels
                            .rows_of(columns, representation, streams, chunk.as_mut_ptr());
                    }
                });
            },
        );
    }

    /// Whether runs of `run` words at `target` are whole lines, and `len` words too many to find them in a cache later.
    fn streams(&self, target: *const u64, len: usize, run: usize) -> bool {
        len * size_of::<u64>() > self.streaming_bytes
            && (run * size_of::<u64>()).is_multiple_of(stream::LINE_BYTES)
            && (target as usize).is_multiple_of(stream::LINE_BYTES)
    }

    /// Encodes the rows that lie at the front of `codeword`.
    ///
    /// # Errors
    /// If there is no memory for the workers.
    ///
    /// # Panics
    /// If `codeword` is not as long as the shape says.
    pub fn encode_in_place(&self, codeword: &mut [u64]) -> Result<(), memory::Error> {
        self.encode_all(None, codeword)
    }

    /// Encodes `rows`.
    ///
    /// # Errors
    /// If there is no memory for the workers.
    ///
    /// # Panics
    /// If `rows` or `codeword` is not as long as the shape says.
    pub fn encode(&self, rows: &[u64], codeword: &mut [u64]) -> Result<(), memory::Error> {
        self.encode_all(Some(rows), codeword)
    }

    fn encode_all(&self, rows: Option<&[u64]>, codeword: &mut [u64]) -> Result<(), memory::Error> {
        let replicas = 0..1 << self.shape.log_inv_rate;
        let blocks = replicas.len() * self.shape.rows() / self.block_rows();
        self.encode_blocks(rows, codeword, replicas, vec![Some(()); blocks], |(), _| ())
    }

    /// Encodes some of the parts of the codeword, and calls `each` with finished blocks, in words of the tower, while
    /// they are in the cache.
    ///
    /// The codeword has 2^`log_inv_rate` parts of as many rows as the message, and `codeword` is those of `replicas`.
    /// The message is `rows`, or what lies at the front of `codeword`. `parts` are for the blocks of
    /// [`Encoder::block_rows`] rows, in order; each is handed over with its block, once, from any thread. Blocks
    /// without a part need not be computed, and what is then in their place is not specified.
    ///
    /// # Errors
    /// If there is no memory for the workers.
    ///
    /// # Panics
    /// If there are no such parts of the codeword, or lengths do not fit together.
    pub fn encode_blocks<P: Send>(
        &self,
        rows: Option<&[u64]>,
        codeword: &mut [u64],
        replicas: Range<usize>,
        parts: Vec<Option<P>>,
        each: impl Fn(P, &[u64]) + Sync,
    ) -> Result<(), memory::Error> {
        let shape = self.shape;
        let message_len = shape.message_len();
        assert!(
            replicas.end <= 1 << shape.log_inv_rate,
            "parts of the codeword"
        );
        assert_eq!(
            codeword.len(),
            replicas.len() * message_len,
            "words of the codeword"
        );
        assert_eq!(
            parts.len() * self.block_rows() * shape.lanes,
            codeword.len(),
            "a part for each block"
        );
        if let Some(rows) = rows {
            assert_eq!(rows.len(), message_len, "words of the message");
        }
        let wanted: Vec<bool> = parts.iter().map(Option::is_some).collect();
        if !wanted.contains(&true) {
            return Ok(());
        }
        if self.sweeps.gathered.is_empty() {
            // One sweep. A part that is the message itself is the last to be made.
            let Some(rows) = rows else {
                let (message, others) = codeword.split_at_mut(message_len);
                let mut parts = parts;
                let others_parts = parts.split_off(1);
                self.deep(
                    Some(message),
                    others,
                    replicas.start + 1,
                    others_parts,
                    &each,
                );
                self.deep(None, message, replicas.start, parts, &each);
                return Ok(());
            };
            self.deep(Some(rows), codeword, replicas.start, parts, &each);
            return Ok(());
        }
        let source = rows.map_or(codeword.as_ptr(), <[u64]>::as_ptr);
        let buffer = Buffer {
            source,
            target: codeword.as_mut_ptr(),
            len: codeword.len(),
        };
        let mut layer = 0;
        for pass in 0..self.sweeps.gathered.len() {
            let layers = layer + self.sweeps.gathered[pass];
            // Rows that the pass finishes are wanted where blocks under them are.
            let under = (shape.rows() / self.block_rows()) >> layers;
            let wanted: Vec<bool> = wanted
                .chunks(under)
                .map(|part| part.contains(&true))
                .collect();
            self.gather(&buffer, &replicas, layer, pass, &wanted)?;
            layer = layers;
        }
        self.deep(None, codeword, replicas.start, parts, &each);
        Ok(())
    }

    /// One gathered pass, which starts at layer `layer` of each part.
    fn gather(
        &self,
        buffer: &Buffer,
        replicas: &Range<usize>,
        layer: u32,
        pass: usize,
        wanted: &[bool],
    ) -> Result<(), memory::Error> {
        let Shape {
            log_rows, lanes, ..
        } = self.shape;
        let layers = self.sweeps.gathered[pass];
        let radices = radices(layers);
        let batch = 1 << self.sweeps.log_batch[pass];
        let words = batch * lanes;
        // Rows of a group are so far apart.
        let log_step = log_rows - layer - layers;
        let stride = lanes << log_step;
        let batches = (1 << log_step) / batch;
        let stores = if self.streams(buffer.target, buffer.len, words) {
            Stores::Streamed
        } else {
            Stores::Cached
        };
        let message_len = self.shape.message_len();
        let block_words = message_len >> layer;
        // In the first pass all parts are made of the same rows, the first one last: the rows may be its own.
        let (spans, targets): (usize, Vec<Vec<(usize, usize)>>) = if layer == 0 {
            let all = (0..replicas.len()).map(|i| (replicas.start + i, i * message_len));
            (1, vec![all.rev().collect()])
        } else {
            let blocks = replicas.len() << layer;
            let first = replicas.start << layer;
            let each = (0..blocks).map(|b| vec![(first + b, b * block_words)]);
            (blocks, each.collect())
        };
        // Some batches in a row, so that one can ask for the next.
        let together = (batches * spans / (Threads::current().count().get() * 4))
            .clamp(1, 64)
            .min(batches);
        let per_span = batches.div_ceil(together);
        let rows = 1 << layers;
        let work_len = words << layers;
        let failure = Mutex::new(Ok(()));
        Threads::current().for_each_init(
            0..spans * per_span,
            || Slab::<u64>::zeroed(work_len, Pages::Normal),
            |work, task| {
                let work = match work {
                    Ok(work) => work.as_mut_ptr(),
                    Err(error) => {
                        *failure.lock().unwrap_or_else(PoisonError::into_inner) =
                            Err(error.clone());
                        return;
                    }
                };
                let (span, task) = (task / per_span, task % per_span);
                let targets = &targets[span];
                stream::scope(|_| {
                    for index in task * together..((task + 1) * together).min(batches) {
                        let at = index * words;
                        for (i, &(block, offset)) in targets.iter().enumerate() {
                            let results = (offset / block_words) << layers;
                            let wanted = &wanted[results..results + rows];
                            if !wanted.contains(&true) {
                                continue;
                            }
                            let from = if layer == 0 {
                                buffer.source
                            } else {
                                buffer.target.cast_const().wrapping_add(offset)
                            };
                            let source = Rows {
                                base: from.wrapping_add(at),
                                stride,
                            };
                            let ahead = if i + 1 == targets.len() && index + 1 < batches {
                                let next = source.base.wrapping_add(words);
                                Ahead::new(next, rows, words, stride)
                            } else {
                                Ahead::NONE
                            };
                            let group = Group {
                                words,
                                radices: &radices,
                                block,
                                source,
                                target: Rows {
                                    base: buffer.target.wrapping_add(offset + at),
                                    stride,
                                },
                                work,
                                ahead: Some(&Cell::new(ahead)),
                                stores,
                                wanted: Some(wanted).filter(|wanted| wanted.contains(&false)),
                            };
                            // SAFETY: rows `at / lanes + i * step` of source and target are this task's alone; the
                            // worker's memory has room for the group; the scope ends with a fence.
                            unsafe { self.kernels.forward(&group) };
                        }
                    }
                });
            },
        );
        failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The deep pass over parts from `first_replica` on: of the rows that are there, or with one sweep of those of the
    /// message.
    fn deep<P: Send>(
        &self,
        message: Option<&[u64]>,
        codeword: &mut [u64],
        first_replica: usize,
        parts: Vec<Option<P>>,
        each: &(impl Fn(P, &[u64]) + Sync),
    ) {
        let Shape {
            log_rows, lanes, ..
        } = self.shape;
        let radices = radices(self.sweeps.deep);
        let block_words = lanes << self.sweeps.deep;
        let blocks = parts.len();
        let first = first_replica << (log_rows - self.sweeps.deep);
        let together = (blocks / (Threads::current().count().get() * 4)).clamp(1, 16);
        let mut parts = parts.into_iter();
        let tasks: Vec<Blocks<'_, P>> = codeword
            .chunks_mut(together * block_words)
            .enumerate()
            .map(|(i, chunk)| {
                let count = chunk.len() / block_words;
                (i * together, parts.by_ref().take(count).collect(), chunk)
            })
            .collect();
        Threads::current().for_each(tasks, |(index, parts, chunk)| {
            for (i, part) in parts.into_iter().enumerate() {
                let Some(part) = part else { continue };
                let block = &mut chunk[i * block_words..(i + 1) * block_words];
                if !radices.is_empty() {
                    let base = block.as_mut_ptr();
                    let mut group = Group::in_place(&radices, lanes, first + index + i, base);
                    if let Some(message) = message {
                        group.source.base = message.as_ptr();
                    }
                    let ahead = if index + i + 1 < blocks && message.is_none() {
                        let next = base.wrapping_add(block_words).cast_const();
                        Ahead::new(next, 1, block_words, 0)
                    } else {
                        Ahead::NONE
                    };
                    let ahead = Cell::new(ahead);
                    group.ahead = Some(&ahead);
                    // SAFETY: the block is this task's alone, and a message is as long as a block.
                    unsafe { self.kernels.forward(&group) };
                } else if let Some(message) = message {
                    block.copy_from_slice(message);
                }
                each(part, block);
            }
        });
    }
}

/// Some blocks in a row: the number of the first, their parts, their words.
type Blocks<'a, P> = (usize, Vec<Option<P>>, &'a mut [u64]);

/// The buffers of a gathered pass.
struct Buffer {
    source: *const u64,
    target: *mut u64,
    /// Words of the target.
    len: usize,
}

// SAFETY: workers reach disjoint rows through it, see `Encoder::gather`.
unsafe impl Sync for Buffer {}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("shape", &self.shape)
            .field("sweeps", &self.sweeps)
            .field("kernels", &self.kernel_name())
            .finish_non_exhaustive()
    }
}
