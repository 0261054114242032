//! How messages of one length fall into blocks.

use super::Function;
use super::spec::{BLOCK_BYTES, BLOCKS_MAX, CHUNK_END, CHUNK_START, IV, ROOT};

/// The blocks of messages of one length that begin with zeros, without those blocks in front that are
/// the same in all of them.
///
/// The rest of a message is some zeros, less than a block, and its row.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The chaining value before the first block.
    pub start: [u32; 8],
    /// Zeros before the row in the first block.
    pub front: usize,
    /// Bytes of the row.
    pub len: usize,
    /// How many of `tails` are in use: at least one.
    pub blocks: usize,
    /// The last four words of the state for each block.
    pub tails: [[u32; 4]; BLOCKS_MAX],
}

/// What a block takes from its row.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Bytes of the row before the block.
    pub from: usize,
    /// Bytes of the row in the block.
    pub len: usize,
    /// Zeros of the block in front of them.
    pub front: usize,
}

impl Part {
    pub(super) fn is_whole(self) -> bool {
        self.len == BLOCK_BYTES
    }
}

impl Layout {
    /// The layout of messages of `zeros` zeros and `len` bytes, of which the first `shared` blocks are
    /// in the chaining value `start` already; the last block of the message is not.
    pub(super) fn new(
        function: Function,
        flags: u32,
        start: [u32; 8],
        shared: usize,
        zeros: usize,
        len: usize,
    ) -> Self {
        let total = zeros + len;
        let count = total.div_ceil(BLOCK_BYTES).max(1);
        let mut tails = [[0; 4]; BLOCKS_MAX];
        for (tail, block) in tails.iter_mut().zip(shared..count) {
            *tail = self::tail(function, flags, block, count, total);
        }
        Self {
            start,
            front: zeros - shared * BLOCK_BYTES,
            len,
            blocks: count - shared,
            tails,
        }
    }

    /// What block `block` takes from its row.
    pub(super) fn part(&self, block: usize) -> Part {
        let front = if block == 0 { self.front } else { 0 };
        let from = (block * BLOCK_BYTES).saturating_sub(self.front);
        Part {
            from,
            len: (BLOCK_BYTES - front).min(self.len - from),
            front,
        }
    }
}

/// The last four words of the state for block `block` of the `count` blocks of a message of `total`
/// bytes.
pub(super) fn tail(
    function: Function,
    flags: u32,
    block: usize,
    count: usize,
    total: usize,
) -> [u32; 4] {
    let (first, last) = (block == 0, block + 1 == count);
    let before = block * BLOCK_BYTES;
    let here = if last { total - before } else { BLOCK_BYTES };
    match function {
        Function::Blake3 => {
            let start = if first { CHUNK_START } else { 0 };
            let end = if last { CHUNK_END | ROOT } else { 0 };
            [0, 0, here as u32, flags | start | end]
        }
        Function::Blake2s => {
            let last = if last { u32::MAX } else { 0 };
            [IV[4] ^ (before + here) as u32, IV[5], IV[6] ^ last, IV[7]]
        }
    }
}
