//! From a stack of words to its root: encode the lanes, hash the rows while they are in the cache.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_arch::memory::{self, Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_hash::ByteDigest;
use lanework_hash::blake::{TreeHash, ZeroPrefix};
use lanework_merkle::bytes::{Growing, Subtree, Tree};
use lanework_ntt::additive::{self, Encoder};

use crate::shape::{Commitment, Shape};
use crate::{Error, MemoryMode, Params, Stack};

/// Commits to `stack` with `params`.
///
/// This prepares the transform, commits once, and drops what it prepared. To commit more than once, keep a
/// [`Committer`].
///
/// # Errors
/// As [`Committer::new`] and [`Committer::commit`].
pub fn commit(params: &Params, stack: Stack) -> Result<(Commitment, ProverData, Report), Error> {
    Committer::new(params.clone())?.commit(stack)
}

/// Commits to stacks, again and again: keeps prepared transforms, threads, and the memory of earlier commitments
/// that came back by [`Committer::recycle`].
///
/// It can be shared between threads that commit at the same time.
pub struct Committer {
    params: Params,
    caches: Caches,
    own_threads: Option<Threads>,
    hash: TreeHash,
    encoders: Mutex<Vec<Arc<Encoder>>>,
    spare: Arc<Spare>,
}

/// Memory of earlier commitments.
#[derive(Default)]
struct Spare {
    code: Mutex<Vec<Slab<u64>>>,
    digests: Mutex<Vec<Slab<ByteDigest>>>,
}

impl Spare {
    /// A slab for `len` words of a code.
    fn code(&self, len: usize, pages: Pages) -> Result<Slab<u64>, memory::Error> {
        let mut spare = lock(&self.code);
        let fitting = spare.iter().position(|slab| slab.capacity() >= len);
        let index = fitting.or_else(|| spare.len().checked_sub(1));
        let slab = index.map(|index| spare.swap_remove(index));
        drop(spare);
        match slab {
            Some(mut slab) => slab.set_len(len).map(|()| slab),
            None => Slab::zeroed(len, pages),
        }
    }
}

impl Committer {
    /// Prepares threads.
    ///
    /// # Errors
    /// [`Error::Threads`] if the threads cannot be started.
    pub fn new(params: Params) -> Result<Self, Error> {
        Ok(Self {
            caches: Caches::detect(),
            own_threads: params.threads().map(Threads::new).transpose()?,
            hash: TreeHash::new(params.function(), params.choice()),
            encoders: Mutex::default(),
            spare: Arc::default(),
            params,
        })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The threads that commitments run on if they are asked for here, for work around them such as reading.
    pub fn threads(&self) -> Threads {
        self.own_threads.clone().unwrap_or_default()
    }

    /// Commits to `stack`.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn commit(&self, stack: Stack) -> Result<(Commitment, ProverData, Report), Error> {
        let start = Instant::now();
        let threads = self.threads();
        let shape = Shape::new(&stack, self.params.log_inv_rate(), self.params.function());
        let (tree, code, encoder, encode) = threads.install(|| {
            let encoder = self.encoder(shape)?;
            let spare = lock(&self.spare.digests).pop();
            let mut growing = Growing::new(shape.log_rows(), self.params.pages(), spare)?;
            let code = self.encode(&stack, shape, &encoder, &mut growing)?;
            let encode = start.elapsed();
            Ok::<_, Error>((growing.finish(&self.hash), code, encoder, encode))
        })?;
        let total = start.elapsed();
        let digests = (2_u64 << shape.log_rows()) - 1;
        let report = Report {
            encode,
            hash: total.saturating_sub(encode),
            total,
            message_bytes: size_of_val(stack.words()) as u64,
            code_bytes: size_of_val(&code[..]) as u64,
            digest_bytes: digests * size_of::<ByteDigest>() as u64,
            peak_rss_bytes: memory::peak_rss_bytes(),
            choice: self.params.choice(),
            threads: threads.count(),
            memory: self.params.memory(),
            fused: true,
            encode_kernel: encoder.kernel_name(),
            hash_kernel: self.hash.leaf().kernel_name(),
        };
        let code = match self.params.memory() {
            MemoryMode::Keep => Some(code),
            MemoryMode::Message => {
                lock(&self.spare.code).push(code);
                None
            }
        };
        let data = ProverData {
            stack,
            shape,
            code,
            tree,
            encoder,
            threads,
            pages: self.params.pages(),
            spare: Arc::clone(&self.spare),
        };
        Ok((Commitment::new(data.tree.root(), shape), data, report))
    }

    /// Takes back the memory of a commitment for the next ones; returns its stack.
    pub fn recycle(&self, data: ProverData) -> Stack {
        lock(&self.spare.digests).push(data.tree.into_slab());
        lock(&self.spare.code).extend(data.code);
        data.stack
    }

    fn encoder(&self, shape: Shape) -> Result<Arc<Encoder>, Error> {
        let shape = additive::Shape {
            log_rows: shape.log_lane_words(),
            log_inv_rate: shape.log_inv_rate,
            lanes: shape.lanes,
        };
        let mut encoders = lock(&self.encoders);
        if let Some(encoder) = encoders.iter().find(|encoder| encoder.shape() == shape) {
            return Ok(Arc::clone(encoder));
        }
        let encoder = Arc::new(Encoder::new(
            shape,
            self.params.choice(),
            self.caches,
            Threads::current().count().get(),
        )?);
        encoders.push(Arc::clone(&encoder));
        Ok(encoder)
    }

    /// Encodes the lanes and hashes the rows; returns the code, or the last part of it.
    fn encode(
        &self,
        stack: &Stack,
        shape: Shape,
        encoder: &Encoder,
        growing: &mut Growing,
    ) -> Result<Slab<u64>, Error> {
        let replicas = 1 << shape.log_inv_rate;
        let together = match self.params.memory() {
            MemoryMode::Keep => replicas,
            MemoryMode::Message => 1,
        };
        let message_len = stack.words().len();
        let mut code = self
            .spare
            .code(together * message_len, self.params.pages())?;
        let zeros = self.hash.leaf().zero_prefix(shape.zero_bytes());
        let blocks = shape_blocks(shape, encoder);
        let mut subtrees = growing.subtrees(encoder.block_rows().ilog2()).map(Some);
        for first in (0..replicas).step_by(together) {
            fill(stack, encoder, &mut code[..message_len]);
            let parts: Vec<Option<Subtree<'_>>> =
                subtrees.by_ref().take(together * blocks).collect();
            encoder.encode_blocks(
                None,
                &mut code,
                first..first + together,
                parts,
                |mut subtree, rows| {
                    hash_rows(&self.hash, &zeros, shape, rows, subtree.leaves_mut());
                    subtree.climb(&self.hash);
                },
            )?;
        }
        Ok(code)
    }
}

impl std::fmt::Debug for Committer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Committer")
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these protect is a list of buffers or encoders, each whole whenever the lock is free.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks of a part of the code.
fn shape_blocks(shape: Shape, encoder: &Encoder) -> usize {
    (1 << shape.log_lane_words()) / encoder.block_rows()
}

/// Writes the rows of the message: the last lane first.
fn fill(stack: &Stack, encoder: &Encoder, rows: &mut [u64]) {
    let lanes: Vec<&[u64]> = stack.lanes().rev().collect();
    encoder.rows_of(&lanes, stack.representation(), rows);
}

/// The digests of rows.
fn hash_rows(
    hash: &TreeHash,
    zeros: &ZeroPrefix,
    shape: Shape,
    rows: &[u64],
    leaves: &mut [ByteDigest],
) {
    let row_bytes = 8 * shape.lanes;
    #[cfg(target_endian = "little")]
    let bytes: &[u8] = bytemuck::cast_slice(rows);
    #[cfg(target_endian = "big")]
    let bytes = &rows
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect::<Vec<u8>>()[..];
    hash.leaf()
        .hash_many(zeros, bytes, row_bytes, row_bytes, leaves);
}

/// Rows of a block that are opened, and where they go.
type Targets<'a> = Vec<(usize, &'a mut [u64])>;

/// Rows of the code, and the digests that prove them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The rows in ascending order of their positions: words of the tower, the last lane first.
    pub words: Vec<u64>,
    /// The digests that cannot be computed from the rows, as in [`Tree::open`].
    pub siblings: Vec<ByteDigest>,
}

/// What openings need: the words, the code if it was kept, the tree.
pub struct ProverData {
    stack: Stack,
    shape: Shape,
    code: Option<Slab<u64>>,
    tree: Tree,
    encoder: Arc<Encoder>,
    threads: Threads,
    pages: Pages,
    spare: Arc<Spare>,
}

impl ProverData {
    /// The words.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The code, row by row, in words of the tower, if it was kept.
    pub fn code(&self) -> Option<&[u64]> {
        self.code.as_deref()
    }

    /// The rows at `positions` with what proves them. Positions may come in any order and more than once; an opening
    /// has each once, in ascending order.
    ///
    /// Where the code was not kept, the parts that have such rows are made again, as far as the rows need it.
    ///
    /// # Errors
    /// [`Error::Position`] if there is no such row; [`Error::Memory`].
    pub fn open(&self, positions: &[usize]) -> Result<Opening, Error> {
        let rows_len = 1_usize << self.shape.log_rows();
        if let Some(&position) = positions.iter().find(|&&position| position >= rows_len) {
            return Err(Error::Position {
                position,
                rows: rows_len,
            });
        }
        let mut distinct = positions.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        Ok(Opening {
            words: self.rows(&distinct)?,
            siblings: self.tree.open(&distinct, 0),
        })
    }

    /// The rows at `positions`, which ascend.
    fn rows(&self, positions: &[usize]) -> Result<Vec<u64>, Error> {
        let lanes = self.shape.lanes;
        let mut words = vec![0; positions.len() * lanes];
        if let Some(code) = &self.code {
            for (row, &position) in words.chunks_exact_mut(lanes).zip(positions) {
                row.copy_from_slice(&code[position * lanes..(position + 1) * lanes]);
            }
            return Ok(words);
        }
        let block_rows = self.encoder.block_rows();
        let blocks = shape_blocks(self.shape, &self.encoder);
        // The rows of each block that has any, with where they go.
        let mut wanted: Vec<Option<Targets<'_>>> = (0..blocks << self.shape.log_inv_rate)
            .map(|_| None)
            .collect();
        for (row, &position) in words.chunks_exact_mut(lanes).zip(positions) {
            wanted[position / block_rows]
                .get_or_insert_default()
                .push((position % block_rows, row));
        }
        let mut part = self.spare.code(self.stack.words().len(), self.pages)?;
        self.threads.install(|| {
            for (replica, wanted) in wanted.chunks_mut(blocks).enumerate() {
                if wanted.iter().all(Option::is_none) {
                    continue;
                }
                fill(&self.stack, &self.encoder, &mut part);
                let wanted = wanted.iter_mut().map(Option::take).collect();
                self.encoder.encode_blocks(
                    None,
                    &mut part,
                    replica..replica + 1,
                    wanted,
                    |targets, rows| {
                        for (row, target) in targets {
                            target.copy_from_slice(&rows[row * lanes..(row + 1) * lanes]);
                        }
                    },
                )?;
            }
            Ok::<_, Error>(())
        })?;
        lock(&self.spare.code).push(part);
        Ok(words)
    }
}

impl std::fmt::Debug for ProverData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProverData")
            .field("shape", &self.shape)
            .field("kept", &self.code.is_some())
            .finish_non_exhaustive()
    }
}

/// What a commitment took.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Wall time until all rows were encoded and hashed.
    pub encode: Duration,
    /// Wall time of what remained of the tree.
    pub hash: Duration,
    /// Wall time of both.
    pub total: Duration,
    /// Bytes of the words of the lanes that hold something.
    pub message_bytes: u64,
    /// Bytes of the code, or of the part of it that was in memory at a time.
    pub code_bytes: u64,
    /// Bytes of the digests of the tree.
    pub digest_bytes: u64,
    /// The most memory that the process has held so far, where the system tells.
    pub peak_rss_bytes: Option<u64>,
    /// The instruction set that kernels were chosen by.
    pub choice: Choice,
    /// Threads.
    pub threads: NonZero<usize>,
    /// What stayed in memory.
    pub memory: MemoryMode,
    /// Whether rows were hashed while they were encoded; their time is then in `encode`.
    pub fused: bool,
    /// The kernels that encoded.
    pub encode_kernel: &'static str,
    /// The kernels that hashed.
    pub hash_kernel: &'static str,
}
