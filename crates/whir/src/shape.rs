//! What a verifier holds.

use lanework_arch::Choice;
use lanework_hash::ByteDigest;
use lanework_hash::blake::{Function, TreeHash};
use lanework_merkle::bytes;

use crate::commit::Opening;
use crate::stack::{LOG_LANES, LOG_WORDS_MAX, LOG_WORDS_MIN};
use crate::{OpeningError, Stack};

/// What a root is the root of. The root alone does not bind it: a protocol puts both into its transcript.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bytes committed to.
    pub byte_len: u64,
    /// The vector has 2^`log_words` words.
    pub log_words: u32,
    /// Lanes that hold something, of 64.
    pub lanes: usize,
    /// The code is 2^`log_inv_rate` times as long as the message.
    pub log_inv_rate: u32,
    /// The hash of leaves and nodes.
    pub function: Function,
}

impl Shape {
    pub(crate) fn new(stack: &Stack, log_inv_rate: u32, function: Function) -> Self {
        Self {
            byte_len: stack.byte_len(),
            log_words: stack.log_words(),
            lanes: stack.lanes().len(),
            log_inv_rate,
            function,
        }
    }

    /// log2 of the words of a lane.
    pub(crate) fn log_lane_words(&self) -> u32 {
        self.log_words - LOG_LANES
    }

    /// log2 of the rows of the code, which are the leaves of the tree.
    pub fn log_rows(&self) -> u32 {
        self.log_lane_words() + self.log_inv_rate
    }

    /// Bytes of zeros before a row in its leaf: those of the lanes that hold nothing.
    pub(crate) fn zero_bytes(&self) -> usize {
        8 * ((1 << LOG_LANES) - self.lanes)
    }

    /// Whether there is a vector of this shape.
    fn check(&self) -> Result<(), OpeningError> {
        let fail = |what| Err(OpeningError::Shape { what });
        if !(LOG_WORDS_MIN..=LOG_WORDS_MAX).contains(&self.log_words) {
            return fail("log_words");
        }
        if !(1..=4).contains(&self.log_inv_rate) {
            return fail("log_inv_rate");
        }
        let words = self.byte_len.div_ceil(8);
        if words > 1 << self.log_words || words <= 1 << (self.log_words - 1) {
            return fail("byte_len");
        }
        if self.lanes as u64 != words.div_ceil(1 << self.log_lane_words()) {
            return fail("lanes");
        }
        Ok(())
    }
}

/// The public result: a root and what it is the root of.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Commitment {
    root: ByteDigest,
    shape: Shape,
}

impl Commitment {
    /// A commitment that was received.
    pub fn new(root: ByteDigest, shape: Shape) -> Self {
        Self { root, shape }
    }

    /// The root.
    pub fn root(&self) -> ByteDigest {
        self.root
    }

    /// What it is the root of.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The rows at `positions`, in the order asked for, if the opening proves them: words of the tower, the last lane
    /// first. Positions may come in any order and more than once, as for [`crate::ProverData::open`].
    ///
    /// # Errors
    /// [`OpeningError`]: there is no such shape, sizes do not fit, or the rows are not those committed to.
    pub fn verify<'a>(
        &self,
        positions: &[usize],
        opening: &'a Opening,
    ) -> Result<Vec<&'a [u64]>, OpeningError> {
        self.shape.check()?;
        let Shape { lanes, .. } = self.shape;
        let mut distinct = positions.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let got = opening.words.len();
        let expected = distinct.len().saturating_mul(lanes);
        if got != expected {
            return Err(OpeningError::WordsLen { expected, got });
        }
        let hash = TreeHash::new(self.shape.function, Choice::portable());
        let rows: Vec<&[u64]> = opening.words.chunks_exact(lanes).collect();
        let zeros = self.shape.zero_bytes();
        let mut leaves = Vec::with_capacity(rows.len());
        let mut image = Vec::with_capacity(8 << LOG_LANES);
        for row in &rows {
            image.clear();
            image.resize(zeros, 0);
            image.extend(row.iter().flat_map(|word| word.to_le_bytes()));
            leaves.push(hash.leaf().hash(&image));
        }
        let log_rows = self.shape.log_rows();
        bytes::verify(
            &hash,
            &[self.root],
            log_rows,
            &distinct,
            &leaves,
            &opening.siblings,
        )?;
        let row = |position| {
            distinct
                .binary_search(position)
                .ok()
                .and_then(|index| rows.get(index))
        };
        Ok(positions.iter().filter_map(row).copied().collect())
    }
}
