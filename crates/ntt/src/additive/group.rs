//! Several layers on a group of rows, in depth-first order, so that each level of the caches is used well.
#![expect(
    unsafe_code,
    reason = "rows of one or two buffers, reached with strides"
)]

use std::cell::Cell;

use super::form::{Form, Token, Twiddles};
use super::node::{Ahead, Network, Node, Slabs, Stores};

/// Rows at a constant distance, in words.
#[derive(Copy, Clone, Debug)]
pub(super) struct Rows<P> {
    pub(super) base: P,
    pub(super) stride: usize,
}

/// A transform of the 2^l rows of a group: l is the sum of `radices`, and a row is `words` words.
#[derive(Copy, Clone)]
pub(super) struct Group<'a> {
    pub(super) words: usize,
    /// Layers of each node, in the order of the forward network.
    pub(super) radices: &'a [u32],
    /// The number of the group's block in the first of its layers.
    pub(super) block: usize,
    pub(super) source: Rows<*const u64>,
    pub(super) target: Rows<*mut u64>,
    /// Between the first node and the last, the rows lie here, one after the other. With one node it is not
    /// used.
    pub(super) work: *mut u64,
    /// What will be read next.
    pub(super) ahead: Option<&'a Cell<Ahead>>,
    pub(super) stores: Stores,
    /// Which rows of the target are wanted, if not all are; others may be left as they are.
    pub(super) wanted: Option<&'a [bool]>,
}

impl Group<'_> {
    /// A group that is transformed where it lies.
    pub(super) fn in_place(
        radices: &[u32],
        words: usize,
        block: usize,
        rows: *mut u64,
    ) -> Group<'_> {
        Group {
            words,
            radices,
            block,
            source: Rows {
                base: rows,
                stride: words,
            },
            target: Rows {
                base: rows,
                stride: words,
            },
            work: rows,
            ahead: None,
            stores: Stores::Cached,
            wanted: None,
        }
    }

    /// Runs the forward network.
    ///
    /// # Safety
    /// The rows of the source can be read and those of the target and `work` written, by nobody else. `work` is
    /// disjoint from the source and, unless it is the same rows, from the target; or all three are the same. With
    /// [`Stores::Streamed`] the rows of the target start on cache lines and are whole lines long, and a fence follows
    /// before others look at them.
    pub(super) unsafe fn forward<F: Form>(&self, token: Token<F>, twiddles: &Twiddles<F>) {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.descend::<F>(token, twiddles, 0, 0, self.block) }
    }

    /// Runs the inverse or the transposed network on rows that lie one after the other at `work`.
    ///
    /// # Safety
    /// The rows can be written, by nobody else.
    pub(super) unsafe fn backward<F: Form>(
        &self,
        token: Token<F>,
        twiddles: &Twiddles<F>,
        network: Network,
    ) {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.ascend::<F>(token, twiddles, network, 0, 0, self.block) }
    }

    fn log_rows(&self, depth: usize) -> u32 {
        self.radices[depth..].iter().sum()
    }

    /// The node at `depth` whose block starts at row `first`.
    fn node(&self, depth: usize, first: usize, block: usize) -> Node<'_> {
        let last = depth + 1 == self.radices.len();
        let log_radix = self.radices[depth];
        let slab_rows = 1 << (self.log_rows(depth) - log_radix);
        let work = Rows {
            base: self.work,
            stride: self.words,
        };
        let (base, stride) = if depth == 0 {
            (self.source.base, self.source.stride)
        } else {
            (work.base.cast_const(), work.stride)
        };
        let target = if last { self.target } else { work };
        let slabs = |stride: usize| (slab_rows * stride, stride);
        let ((source_slab, source_row), (target_slab, target_row)) =
            (slabs(stride), slabs(target.stride));
        // Rows that follow each other are one long row.
        let together = stride == self.words && target.stride == self.words;
        let (rows, run) = if together {
            (1, slab_rows * self.words)
        } else {
            (slab_rows, self.words)
        };
        Node {
            log_radix,
            block,
            source: Slabs {
                base: base.wrapping_add(first * stride),
                slab: source_slab,
                row: source_row,
            },
            target: Slabs {
                base: target.base.wrapping_add(first * target.stride),
                slab: target_slab,
                row: target_row,
            },
            rows,
            run,
            ahead: self.ahead.map(|ahead| (ahead, self.radices.len())),
            // Nodes before the last write to `work`, which is read again at once.
            stores: if last { self.stores } else { Stores::Cached },
        }
    }

    /// # Safety
    /// As [`Group::forward`].
    unsafe fn descend<F: Form>(
        &self,
        token: Token<F>,
        twiddles: &Twiddles<F>,
        depth: usize,
        first: usize,
        block: usize,
    ) {
        let node = self.node(depth, first, block);
        let last = depth + 1 == self.radices.len();
        // SAFETY: the caller's rows.
        unsafe {
            node.run::<F>(token, twiddles, Network::Forward);
            if !last {
                let log_radix = self.radices[depth];
                let rows = 1 << self.log_rows(depth + 1);
                for i in 0..1 << log_radix {
                    let first = first + i * rows;
                    let part = first..first + rows;
                    if self
                        .wanted
                        .is_none_or(|wanted| wanted[part].contains(&true))
                    {
                        let block = block << log_radix | i;
                        self.descend::<F>(token, twiddles, depth + 1, first, block);
                    }
                }
            }
        }
    }

    /// # Safety
    /// As [`Group::backward`].
    unsafe fn ascend<F: Form>(
        &self,
        token: Token<F>,
        twiddles: &Twiddles<F>,
        network: Network,
        depth: usize,
        first: usize,
        block: usize,
    ) {
        // SAFETY: the caller's rows.
        unsafe {
            if depth + 1 < self.radices.len() {
                let log_radix = self.radices[depth];
                let rows = 1 << self.log_rows(depth + 1);
                for i in 0..1 << log_radix {
                    self.ascend::<F>(
                        token,
                        twiddles,
                        network,
                        depth + 1,
                        first + i * rows,
                        block << log_radix | i,
                    );
                }
            }
            self.node(depth, first, block)
                .run::<F>(token, twiddles, network);
        }
    }
}
