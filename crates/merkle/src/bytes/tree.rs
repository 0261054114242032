//! The prover's side: storage, growth, openings.

use std::fmt;
use std::slice::ChunksExactMut;
use std::sync::atomic::{AtomicUsize, Ordering};

use lanework_arch::memory::{self, Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_hash::ByteDigest;
use lanework_hash::blake::TreeHash;

use crate::Error;
use crate::opening::siblings;

/// The least number of nodes worth a step of their own is 2^`LOG_NARROWEST`: what the widest kernel does
/// at a time.
const LOG_NARROWEST: u32 = 5;

/// Nodes at the bottom of the subtrees that [`Growing::finish`] makes: they fit into any cache.
const LOG_TASK_NODES: u32 = 10;

/// A tree whose leaves are being written.
///
/// Whichever way they are written, [`finish`](Self::finish) gives the tree over what they are then.
#[derive(Debug)]
pub struct Growing {
    slab: Slab<ByteDigest>,
    log_leaves: u32,
    /// Levels above the leaves that the subtrees handed out last climb, and how many these are.
    handed_out: (u32, usize),
    /// How many of them did.
    climbed: AtomicUsize,
}

impl Growing {
    /// A tree of 2^`log_leaves` leaves that are whatever was in `spare`, which is reused if it is large
    /// enough, or else zeros.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn new(
        log_leaves: u32,
        pages: Pages,
        spare: Option<Slab<ByteDigest>>,
    ) -> Result<Self, Error> {
        let too_large = memory::Error::TooLarge {
            len: usize::MAX,
            element_bytes: size_of::<ByteDigest>(),
        };
        let len = match log_leaves.checked_add(1) {
            Some(log) if log < usize::BITS => (1_usize << log) - 1,
            _ => return Err(too_large.into()),
        };
        let slab = match spare {
            Some(mut slab) => {
                slab.set_len(len)?;
                slab
            }
            None => Slab::zeroed(len, pages)?,
        };
        Ok(Self {
            slab,
            log_leaves,
            handed_out: (0, 0),
            climbed: AtomicUsize::new(0),
        })
    }

    /// The number of leaves is 2 to this power.
    pub fn log_leaves(&self) -> u32 {
        self.log_leaves
    }

    /// The leaves.
    pub fn leaves_mut(&mut self) -> &mut [ByteDigest] {
        self.handed_out = (0, 0);
        &mut self.slab[..1 << self.log_leaves]
    }

    /// The tree cut into subtrees of 2^`log_leaves_per_task` leaves, or fewer if it has no more, for
    /// threads to work on at the same time.
    ///
    /// A subtree of a larger tree reaches up as long as its levels fill vectors.
    pub fn subtrees(&mut self, log_leaves_per_task: u32) -> Subtrees<'_> {
        *self.climbed.get_mut() = 0;
        let levels = levels(&mut self.slab, self.log_leaves);
        let subtrees = Subtrees::new(levels, log_leaves_per_task, &self.climbed);
        self.handed_out = (subtrees.height(), subtrees.len());
        subtrees
    }

    /// Builds what is above the subtrees, if all of them have climbed, or otherwise everything above the
    /// leaves, on the threads that are current.
    pub fn finish(mut self, hash: &TreeHash) -> Tree {
        let (height, count) = self.handed_out;
        let climbed = *self.climbed.get_mut() == count;
        let mut bottom = if climbed { height } else { 0 };
        while bottom < self.log_leaves {
            let levels = levels(&mut self.slab, self.log_leaves).split_off(bottom as usize);
            let subtrees = Subtrees::new(levels, LOG_TASK_NODES, &self.climbed);
            bottom += subtrees.height();
            Threads::current().for_each(subtrees, |subtree| subtree.climb(hash));
        }
        Tree {
            slab: self.slab,
            log_leaves: self.log_leaves,
        }
    }
}

/// The levels of a tree, the leaves first.
fn levels(mut digests: &mut [ByteDigest], log_leaves: u32) -> Vec<&mut [ByteDigest]> {
    let mut levels = Vec::with_capacity(log_leaves as usize + 1);
    for log_len in (0..=log_leaves).rev() {
        let (level, above) = digests.split_at_mut(1 << log_len);
        levels.push(level);
        digests = above;
    }
    levels
}

/// Disjoint subtrees from left to right, see [`Growing::subtrees`].
pub struct Subtrees<'a> {
    levels: Vec<ChunksExactMut<'a, ByteDigest>>,
    first_leaf: usize,
    leaves_len: usize,
    climbed: &'a AtomicUsize,
}

impl<'a> Subtrees<'a> {
    /// Subtrees of 2^`log_len` nodes of the lowest of `levels`, the last of which is the root.
    fn new(levels: Vec<&'a mut [ByteDigest]>, log_len: u32, climbed: &'a AtomicUsize) -> Self {
        let log_whole = levels.len() as u32 - 1;
        let log_len = log_len.min(log_whole);
        let height = if log_len == log_whole {
            log_len
        } else {
            log_len.saturating_sub(LOG_NARROWEST)
        };
        let levels = levels.into_iter().take(height as usize + 1);
        Self {
            levels: (0..)
                .zip(levels)
                .map(|(level, nodes)| nodes.chunks_exact_mut(1 << (log_len - level)))
                .collect(),
            first_leaf: 0,
            leaves_len: 1 << log_len,
            climbed,
        }
    }

    /// Levels above the lowest one.
    fn height(&self) -> u32 {
        self.levels.len() as u32 - 1
    }
}

impl<'a> Iterator for Subtrees<'a> {
    type Item = Subtree<'a>;

    fn next(&mut self) -> Option<Subtree<'a>> {
        let levels: Option<Vec<_>> = self.levels.iter_mut().map(Iterator::next).collect();
        let first_leaf = self.first_leaf;
        self.first_leaf += self.leaves_len;
        Some(Subtree {
            first_leaf,
            levels: levels?,
            climbed: self.climbed,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.levels[0].len();
        (len, Some(len))
    }
}

impl ExactSizeIterator for Subtrees<'_> {}

impl fmt::Debug for Subtrees<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subtrees")
            .field("len", &self.len())
            .field("leaves_len", &self.leaves_len)
            .field("height", &self.height())
            .finish_non_exhaustive()
    }
}

/// Exclusive access to a part of each of the lower levels.
pub struct Subtree<'a> {
    first_leaf: usize,
    levels: Vec<&'a mut [ByteDigest]>,
    climbed: &'a AtomicUsize,
}

impl Subtree<'_> {
    /// The position in the tree of its first leaf.
    pub fn first_leaf(&self) -> usize {
        self.first_leaf
    }

    /// The leaves.
    pub fn leaves_mut(&mut self) -> &mut [ByteDigest] {
        self.levels[0]
    }

    /// Computes the nodes above the leaves, which are complete.
    pub fn climb(self, hash: &TreeHash) {
        let mut levels = self.levels.into_iter();
        let mut children = levels.next();
        for parents in levels {
            if let Some(children) = children {
                hash.node().hash_pairs(children, parents);
            }
            children = Some(parents);
        }
        // Whoever finishes the tree has waited for this task in some other way.
        self.climbed.fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Subtree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subtree")
            .field("first_leaf", &self.first_leaf)
            .field("levels_len", &self.levels.len())
            .finish_non_exhaustive()
    }
}

/// The digests of a tree, level by level in one slab, the leaves first.
#[derive(Debug)]
pub struct Tree {
    slab: Slab<ByteDigest>,
    log_leaves: u32,
}

impl Tree {
    /// Builds the tree over `leaves` on the threads that are current. `spare` is reused for the digests
    /// if it is large enough.
    ///
    /// # Errors
    /// [`Error::Memory`].
    ///
    /// # Panics
    /// If the number of leaves is not a power of two.
    pub fn build(
        hash: &TreeHash,
        leaves: &[ByteDigest],
        pages: Pages,
        spare: Option<Slab<ByteDigest>>,
    ) -> Result<Self, Error> {
        let len = leaves.len();
        assert!(len.is_power_of_two(), "{len} leaves, not a power of two");
        let mut growing = Growing::new(len.ilog2(), pages, spare)?;
        growing.leaves_mut().copy_from_slice(leaves);
        Ok(growing.finish(hash))
    }

    /// The number of leaves is 2 to this power.
    pub fn log_leaves(&self) -> u32 {
        self.log_leaves
    }

    /// The digest at the top.
    pub fn root(&self) -> ByteDigest {
        self.slab[self.slab.len() - 1]
    }

    /// The level of 2^`height` digests, what a verifier is told in the place of the root.
    ///
    /// # Panics
    /// If the tree is not that high.
    pub fn cap(&self, height: u32) -> &[ByteDigest] {
        self.level(self.above(height))
    }

    /// The digests of level `k` above the leaves.
    ///
    /// # Panics
    /// If the tree is not that high.
    pub fn level(&self, k: u32) -> &[ByteDigest] {
        let len = 1 << self.above(k);
        let from = (2 << self.log_leaves) - 2 * len;
        &self.slab[from..from + len]
    }

    /// Levels between level `k` and the top, from either end.
    fn above(&self, k: u32) -> u32 {
        let log_leaves = self.log_leaves;
        assert!(
            k <= log_leaves,
            "level {k} of a tree of height {log_leaves}"
        );
        log_leaves - k
    }

    /// The siblings that open the leaves at `positions`, in any order, up to the cap of 2^`cap_height`
    /// digests.
    ///
    /// # Panics
    /// If there is no such leaf, or the tree is not as high as the cap.
    pub fn open(&self, positions: &[usize], cap_height: u32) -> Vec<ByteDigest> {
        let mut active = positions.to_vec();
        active.sort_unstable();
        active.dedup();
        if let Some(&last) = active.last() {
            let log_leaves = self.log_leaves;
            assert!(last >> log_leaves == 0, "leaf {last} of 2^{log_leaves}");
        }
        siblings(&active, self.above(cap_height), |level, index| {
            self.level(level)[index]
        })
    }

    /// The memory of the digests, to be used again.
    pub fn into_slab(self) -> Slab<ByteDigest> {
        self.slab
    }
}
