//! The digests of a tree: their storage and how they are computed.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use lanework_arch::memory::{Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear;
use lanework_hash::{Compression, Digest, RowHasher};

use crate::lower::Lower;
use crate::opening::{Injected, check_positions, siblings};
use crate::rows::Rows;
use crate::{Error, memory};

/// How trees are built: the hash functions and what the machine offers.
///
/// Work runs on the threads that are current when a tree is built.
#[derive(Copy, Clone)]
pub struct Builder<'a> {
    hasher: &'a dyn RowHasher,
    compression: &'a dyn Compression,
    pages: Pages,
    cache_bytes: usize,
}

impl std::fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("pages", &self.pages)
            .field("cache_bytes", &self.cache_bytes)
            .finish_non_exhaustive()
    }
}

impl<'a> Builder<'a> {
    /// A builder with the given hash functions, normal pages, and a modest guess at the cache.
    pub fn new(hasher: &'a dyn RowHasher, compression: &'a dyn Compression) -> Self {
        Self {
            hasher,
            compression,
            pages: Pages::Normal,
            cache_bytes: 1 << 18,
        }
    }

    /// Sets the pages in which digests are kept.
    #[must_use]
    pub fn pages(self, pages: Pages) -> Self {
        Self { pages, ..self }
    }

    /// Sets the bytes of cache that one thread can call its own: the size of the second level.
    #[must_use]
    pub fn cache_bytes(self, cache_bytes: usize) -> Self {
        Self {
            cache_bytes,
            ..self
        }
    }

    /// Computes every layer over messages as many as `height` at the bottom. `rows[k]` feeds layer
    /// k, which has ceil(`height` / 2^k) nodes; layer 0 is made of its digests, and in any other
    /// layer node j is compressed once more with its digest j.
    pub(crate) fn build(
        &self,
        height: usize,
        rows: &[Option<Rows<'_>>],
        spare: Option<Slab<Digest>>,
    ) -> Result<Layers, Error> {
        let mut layers = Layers::allocate(height, 0, self.pages, spare)?;
        let shape = layers.shape.clone();
        let mut stored = split(&shape, &mut layers.slab);
        let mut injected: Vec<Vec<Digest>> = shape.iter().map(|_| Vec::new()).collect();
        let mut bottom = 0;
        loop {
            let built = self.climb(&shape, &mut stored, rows, &mut injected, bottom)?;
            if bottom + built + 1 == shape.len() {
                return Ok(layers);
            }
            bottom += built;
        }
    }

    /// Computes the layers from the layer `dropped` on over digests of all rows: `leaves`, a power of two of
    /// them, and those that enter the layers above. What is below is only passed through.
    ///
    /// # Panics
    /// If the tree has no layer `dropped`, or digests do not enter all nodes of a layer above the bottom.
    pub(crate) fn build_over(
        &self,
        leaves: &[Digest],
        injected: Vec<Injected>,
        dropped: u32,
        spare: Option<Slab<Digest>>,
    ) -> Result<Layers, Error> {
        assert!(leaves.len().is_power_of_two(), "a power of two of leaves");
        let log_leaves = leaves.len().ilog2();
        assert!(dropped <= log_leaves, "no layer {dropped}");
        let dropped = dropped as usize;
        let mut entering: Vec<Vec<Digest>> = (0..=log_leaves).map(|_| Vec::new()).collect();
        for Injected { level, digests } in injected {
            assert!(
                (1..=log_leaves).contains(&level),
                "no layer {level} above leaves"
            );
            assert_eq!(
                digests.len(),
                leaves.len() >> level,
                "digests of layer {level}"
            );
            entering[level as usize] = digests;
        }
        let mut layers = Layers::allocate(leaves.len(), dropped, self.pages, spare)?;
        let shape = layers.shape.clone();
        let mut stored = split(&shape, &mut layers.slab);
        self.pass_through(leaves, &entering, dropped, stored[dropped]);
        let rows: Vec<_> = shape.iter().map(|_| None).collect();
        let mut bottom = dropped;
        while bottom + 1 < shape.len() {
            // The leaves are complete too, so that no layer is hashed from rows.
            bottom += self.climb_from(
                &shape,
                &mut stored,
                &rows,
                &mut entering,
                bottom,
                Bottom::Complete,
            )?;
        }
        Ok(layers)
    }

    /// Writes the layer `above` layers above `leaves` to `nodes`.
    fn pass_through(
        &self,
        leaves: &[Digest],
        entering: &[Vec<Digest>],
        above: usize,
        nodes: &mut [Digest],
    ) {
        if above == 0 {
            nodes.copy_from_slice(leaves);
            return;
        }
        let threads = Threads::current();
        let span = self.subtree_span(leaves.len(), threads.count().get());
        let span = span.max(NARROWEST << above).min(leaves.len());
        let tasks = nodes
            .chunks_mut(span >> above)
            .zip(leaves.chunks(span))
            .enumerate();
        threads.for_each_init(
            tasks,
            || (Vec::new(), Vec::new()),
            |(children, parents), (index, (nodes, leaves))| {
                for (layer, entering) in entering.iter().enumerate().take(above + 1).skip(1) {
                    let from: &[Digest] = if layer == 1 { leaves } else { children };
                    let len = span >> layer;
                    parents.resize(len, Digest::ZERO);
                    if entering.is_empty() {
                        self.compression.compress_pairs(from, parents);
                    } else {
                        let entering = &entering[index * len..][..len];
                        self.compression
                            .compress_pairs_with(from, entering, parents);
                    }
                    std::mem::swap(children, parents);
                }
                nodes.copy_from_slice(children);
            },
        );
    }

    /// [`Builder::climb_from`] the rows, or from a layer that was built from them.
    fn climb(
        &self,
        shape: &[LayerShape],
        stored: &mut [&mut [Digest]],
        rows: &[Option<Rows<'_>>],
        injected: &mut [Vec<Digest>],
        bottom: usize,
    ) -> Result<usize, Error> {
        let kind = if bottom == 0 {
            Bottom::Rows
        } else {
            Bottom::Complete
        };
        self.climb_from(shape, stored, rows, injected, bottom, kind)
    }

    /// Builds layers above the layer `bottom`, which is hashed from its rows if it is the lowest and
    /// complete otherwise; returns how many. Each task owns a subtree, so that digests are read back
    /// while they are in cache and no thread waits for a level to be finished.
    ///
    /// The first climb also hashes the rows that feed layers above it, into `injected`: near the root
    /// there are too few subtrees to share out the rows of a wide table.
    fn climb_from(
        &self,
        shape: &[LayerShape],
        stored: &mut [&mut [Digest]],
        rows: &[Option<Rows<'_>>],
        injected: &mut [Vec<Digest>],
        bottom: usize,
        kind: Bottom,
    ) -> Result<usize, Error> {
        let threads = Threads::current();
        // Rows may be wide, so that few of them are work enough for a task; pairs are not.
        let least = match kind {
            Bottom::Rows => ROWS_TOGETHER,
            Bottom::Complete => 16 * NARROWEST,
        };
        let span = self
            .subtree_span(shape[bottom].nodes_len, threads.count().get())
            .max(least);
        let above = shape.len() - 1 - bottom;
        let single = shape[bottom].nodes_len <= span;
        // Several subtrees stop while their uppermost layer still fills vectors; what is above it is
        // built by the next, much smaller climb.
        let built = if single {
            above
        } else {
            above.min((span / NARROWEST).ilog2() as usize)
        };
        let layers = &mut stored[bottom..=bottom + built];
        let count = if single {
            1
        } else {
            shape[bottom].nodes_len.div_ceil(span)
        };
        let mut subtrees: Vec<Subtree<'_>> = (0..count)
            .map(|index| Subtree {
                first: index * span,
                layers: Vec::with_capacity(built + 1),
            })
            .collect();
        for (k, layer) in layers.iter_mut().enumerate() {
            let chunk = if single { layer.len() } else { span >> k };
            for (subtree, nodes) in subtrees.iter_mut().zip(layer.chunks_mut(chunk)) {
                subtree.layers.push(nodes);
            }
        }
        let mut tasks = Vec::new();
        let (injected, above) = injected.split_at_mut(bottom + built + 1);
        if let Bottom::Rows = kind {
            let above = above
                .iter_mut()
                .zip(&rows[built + 1..])
                .zip(&shape[built + 1..]);
            for ((digests, rows), layer) in above {
                let Some(rows) = rows else { continue };
                memory::resize(digests, layer.nodes_len, Digest::default())?;
                let chunks = digests.chunks_mut(ROWS_TOGETHER).enumerate();
                tasks.extend(chunks.map(|(index, digests)| Task::Rows {
                    rows,
                    first: index * ROWS_TOGETHER,
                    digests,
                }));
            }
        }
        tasks.extend(subtrees.into_iter().map(Task::Subtree));
        let part = Part {
            shape: &shape[bottom..],
            rows: &rows[bottom..],
            injected: &injected[bottom..],
            bottom: kind,
        };
        let failure = Mutex::new(Ok(()));
        threads.for_each_init(tasks, Scratch::default, |scratch, task| {
            let done = match task {
                Task::Rows {
                    rows,
                    first,
                    digests,
                } => {
                    let range = first..first + digests.len();
                    rows.hash(self.hasher, range, digests, &mut scratch.staging)
                }
                Task::Subtree(subtree) => self.build_subtree(&part, subtree, scratch),
            };
            if done.is_err() {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = done;
            }
        });
        let failure = failure.into_inner();
        failure
            .unwrap_or_else(PoisonError::into_inner)
            .map(|()| built)
    }

    /// Bottom nodes of one subtree: a power of two, so that subtrees cover whole nodes above.
    fn subtree_span(&self, nodes_len: usize, threads: usize) -> usize {
        /// Enough tasks for each thread that the last ones to finish are a small part of the whole.
        const TASKS_PER_THREAD: usize = 16;
        // A subtree has twice as many digests as bottom nodes, and half of the cache is left to the
        // cells and constants that are being read.
        let cached = (self.cache_bytes / (4 * size_of::<Digest>())).max(1);
        let balanced = nodes_len.div_ceil(threads * TASKS_PER_THREAD).max(1);
        let span = balanced.min(cached).next_power_of_two();
        if threads == 1 {
            cached.next_power_of_two()
        } else {
            span
        }
    }

    fn build_subtree(
        &self,
        part: &Part<'_>,
        subtree: Subtree<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let Scratch { hashed, staging } = scratch;
        let mut layers = subtree.layers.into_iter().enumerate();
        let Some((_, bottom)) = layers.next() else {
            return Ok(());
        };
        if let (Bottom::Rows, Some(rows)) = (part.bottom, &part.rows[0]) {
            let range = part.shape[0].nodes_in(subtree.first, bottom.len());
            let digests = &mut bottom[..range.len()];
            rows.hash(self.hasher, range, digests, staging)?;
        }
        let mut children = bottom;
        for (k, layer) in layers {
            let range = part.shape[k].nodes_in(subtree.first >> k, layer.len());
            let count = range.len();
            let (children_here, parents) = (&children[..2 * count], &mut layer[..count]);
            let injected = match (&part.injected[k][..], &part.rows[k]) {
                ([], None) => None,
                ([], Some(rows)) => {
                    memory::resize(hashed, hashed.len().max(count), Digest::default())?;
                    rows.hash(self.hasher, range, &mut hashed[..count], staging)?;
                    Some(&hashed[..count])
                }
                (digests, _) => Some(&digests[range]),
            };
            match injected {
                Some(digests) => {
                    self.compression
                        .compress_pairs_with(children_here, digests, parents);
                }
                None => self.compression.compress_pairs(children_here, parents),
            }
            children = layer;
        }
        Ok(())
    }
}

/// The least number of nodes worth a step of their own: the instances of the widest back end.
const NARROWEST: usize = 16;

/// Rows that back ends like to hash together.
const ROWS_TOGETHER: usize = 64;

/// What the subtrees of one climb have in common; index 0 is their bottom layer.
struct Part<'a> {
    shape: &'a [LayerShape],
    rows: &'a [Option<Rows<'a>>],
    /// Digests of the rows where they are hashed already.
    injected: &'a [Vec<Digest>],
    bottom: Bottom,
}

/// What the bottom layer of a climb is.
#[derive(Copy, Clone)]
enum Bottom {
    /// Digests of rows, still to be hashed.
    Rows,
    /// The top of the climb before.
    Complete,
}

/// A piece of work for one thread.
enum Task<'a> {
    /// Hashes rows for a layer above this climb.
    Rows {
        rows: &'a Rows<'a>,
        first: usize,
        digests: &'a mut [Digest],
    },
    Subtree(Subtree<'a>),
}

/// The part of each layer that one task writes.
struct Subtree<'a> {
    /// Index of the first bottom node.
    first: usize,
    layers: Vec<&'a mut [Digest]>,
}

/// Buffers that a worker keeps between tasks; empty unless smaller tables are injected.
#[derive(Default)]
struct Scratch {
    hashed: Vec<Digest>,
    staging: Vec<KoalaBear>,
}

/// Where one layer is and how many of its digests are nodes; the others are padding.
#[derive(Clone, Debug)]
struct LayerShape {
    stored: Range<usize>,
    nodes_len: usize,
}

impl LayerShape {
    /// The nodes among the `len` digests from `first` on.
    fn nodes_in(&self, first: usize, len: usize) -> Range<usize> {
        first..(first + len).min(self.nodes_len)
    }
}

/// The layers of `shape` in the slab, with their padding written, so that no task has to know of it.
fn split<'a>(shape: &[LayerShape], mut rest: &'a mut [Digest]) -> Vec<&'a mut [Digest]> {
    let mut stored = Vec::with_capacity(shape.len());
    for layer in shape {
        let (nodes, after) = rest.split_at_mut(layer.stored.len());
        if !nodes.is_empty() {
            nodes[layer.nodes_len..].fill(Digest::default());
        }
        stored.push(nodes);
        rest = after;
    }
    stored
}

/// The digests of a binary tree in one slab, bottom layer first; all but those of the lowest layers, where
/// these are dropped.
#[derive(Debug)]
pub(crate) struct Layers {
    slab: Slab<Digest>,
    shape: Vec<LayerShape>,
    dropped: usize,
}

impl Layers {
    fn allocate(
        height: usize,
        dropped: usize,
        pages: Pages,
        spare: Option<Slab<Digest>>,
    ) -> Result<Self, Error> {
        let mut shape = Vec::new();
        let (mut nodes_len, mut start) = (height, 0);
        loop {
            // An odd layer gets a zero digest as the last right child.
            let stored_len = if nodes_len == 1 {
                1
            } else {
                nodes_len.next_multiple_of(2)
            };
            let end = if shape.len() < dropped {
                start
            } else {
                start + stored_len
            };
            shape.push(LayerShape {
                stored: start..end,
                nodes_len,
            });
            start = end;
            if nodes_len == 1 {
                break;
            }
            nodes_len = stored_len / 2;
        }
        let slab = match spare {
            Some(mut slab) => {
                slab.set_len(start)?;
                slab
            }
            None => Slab::zeroed(start, pages)?,
        };
        Ok(Self {
            slab,
            shape,
            dropped,
        })
    }

    /// Layers, the bottom one and the root included.
    pub(crate) fn len(&self) -> usize {
        self.shape.len()
    }

    /// Layers at the bottom that are not there.
    pub(crate) fn dropped(&self) -> u32 {
        self.dropped as u32
    }

    /// The digests of layer `k` above the bottom, padding included.
    ///
    /// # Panics
    /// If there is no such layer, or it was dropped.
    pub(crate) fn layer(&self, k: usize) -> &[Digest] {
        assert!(k >= self.dropped, "layer {k} was dropped");
        &self.slab[self.shape[k].stored.clone()]
    }

    /// The digest of the last layer.
    pub(crate) fn root(&self) -> Digest {
        self.layer(self.len() - 1)[0]
    }

    /// Digests of all layers.
    pub(crate) fn digests_len(&self) -> usize {
        self.shape.last().map_or(0, |layer| layer.stored.end)
    }

    /// What opens the leaves at `positions` under the cap of 2^`cap_height` digests, or the leaves
    /// themselves where the tree is lower.
    ///
    /// # Panics
    /// If positions are not ascending indices of leaves.
    pub(crate) fn siblings(&self, positions: &[usize], cap_height: u32) -> Vec<Digest> {
        let lower = Lower::default();
        self.siblings_with(&lower, positions, cap_height)
    }

    /// [`Layers::siblings`] with the nodes of `lower` in the place of dropped layers.
    pub(crate) fn siblings_with(
        &self,
        lower: &Lower,
        positions: &[usize],
        cap_height: u32,
    ) -> Vec<Digest> {
        let log_leaves = self.len() as u32 - 1;
        if let Err(error) = check_positions(log_leaves, positions) {
            panic!("{error}");
        }
        siblings(
            positions,
            log_leaves.saturating_sub(cap_height),
            |level, index| {
                if (level as usize) < lower.len() {
                    lower.node(level, index)
                } else {
                    self.layer(level as usize)[index]
                }
            },
        )
    }

    pub(crate) fn into_slab(self) -> Slab<Digest> {
        self.slab
    }
}
