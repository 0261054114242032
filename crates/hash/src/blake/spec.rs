//! BLAKE2s-256 (RFC 7693) and BLAKE3 of one chunk (the paper "BLAKE3: one function, fast everywhere",
//! 2.1 to 2.4): two chains of compressions of blocks of 64 bytes that mix alike.
//!
//! A compression works on 16 words: the chaining value, four words of the initialisation vector, and the
//! four words that are called the tail here, which tell blocks apart. It mixes the columns and the
//! diagonals of these words seen as a square, in each round with the words of the block in another
//! order. The new chaining value is the exclusive or of both halves, in BLAKE2s that of the old one too.

/// Bytes in a block.
pub(super) const BLOCK_BYTES: usize = 64;

/// Bytes in the longest message: a chunk of BLAKE3.
pub(super) const MESSAGE_BYTES_MAX: usize = 1024;

/// Blocks in the longest message.
pub(super) const BLOCKS_MAX: usize = MESSAGE_BYTES_MAX / BLOCK_BYTES;

/// The initialisation vector, that of SHA-256.
pub(super) const IV: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/// The first word of the parameter block of BLAKE2s: 32 bytes of digest, no key, fan-out 1, depth 1.
pub(super) const PARAMETERS: u32 = 0x0101_0020;

/// The word of the parameter block at which the personalisation begins.
pub(super) const PERSONAL_AT: usize = 6;

/// Flags of BLAKE3.
pub(super) const CHUNK_START: u32 = 1;
pub(super) const CHUNK_END: u32 = 1 << 1;
pub(super) const ROOT: u32 = 1 << 3;
pub(super) const KEYED_HASH: u32 = 1 << 4;

/// The personalisations of BLAKE2s for trees.
pub(super) const LEAF_PERSONAL: [u8; 8] = *b"bpcsleaf";
pub(super) const NODE_PERSONAL: [u8; 8] = *b"bpcsnode";

/// The key under which BLAKE3 hashes the nodes of trees. Everyone knows it: all it does is that no
/// message has the same digest as a leaf and as a node.
pub(super) const NODE_KEY: [u8; 32] = *b"lanework merkle node 2026 v1 ...";

/// Passes the order of the words in a round to a macro: `schedule!(blake3 2, then, ARGUMENTS)` is
/// `then!(ARGUMENTS 3 4 10 ...)`.
macro_rules! schedule {
    (blake3 0, $then:ident, $($args:tt)*) => { $then!($($args)* 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) };
    (blake3 1, $then:ident, $($args:tt)*) => { $then!($($args)* 2 6 3 10 7 0 4 13 1 11 12 5 9 14 15 8) };
    (blake3 2, $then:ident, $($args:tt)*) => { $then!($($args)* 3 4 10 12 13 2 7 14 6 5 9 0 11 15 8 1) };
    (blake3 3, $then:ident, $($args:tt)*) => { $then!($($args)* 10 7 12 9 14 3 13 15 4 0 11 2 5 8 1 6) };
    (blake3 4, $then:ident, $($args:tt)*) => { $then!($($args)* 12 13 9 11 15 10 14 8 7 2 5 3 0 1 6 4) };
    (blake3 5, $then:ident, $($args:tt)*) => { $then!($($args)* 9 14 11 5 8 12 15 1 13 3 0 10 2 6 4 7) };
    (blake3 6, $then:ident, $($args:tt)*) => { $then!($($args)* 11 15 5 0 1 9 8 6 14 10 2 12 3 4 7 13) };
    (blake2s 0, $then:ident, $($args:tt)*) => { $then!($($args)* 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) };
    (blake2s 1, $then:ident, $($args:tt)*) => { $then!($($args)* 14 10 4 8 9 15 13 6 1 12 0 2 11 7 5 3) };
    (blake2s 2, $then:ident, $($args:tt)*) => { $then!($($args)* 11 8 12 0 5 2 15 13 10 14 3 6 7 1 9 4) };
    (blake2s 3, $then:ident, $($args:tt)*) => { $then!($($args)* 7 9 3 1 13 12 11 14 2 6 5 10 4 0 15 8) };
    (blake2s 4, $then:ident, $($args:tt)*) => { $then!($($args)* 9 0 5 7 2 4 10 15 14 1 11 12 6 8 3 13) };
    (blake2s 5, $then:ident, $($args:tt)*) => { $then!($($args)* 2 12 6 10 0 11 8 3 4 13 7 5 15 14 1 9) };
    (blake2s 6, $then:ident, $($args:tt)*) => { $then!($($args)* 12 5 1 15 14 13 4 10 0 7 6 3 9 2 8 11) };
    (blake2s 7, $then:ident, $($args:tt)*) => { $then!($($args)* 13 11 7 14 12 1 3 9 5 0 15 4 8 6 2 10) };
    (blake2s 8, $then:ident, $($args:tt)*) => { $then!($($args)* 6 15 14 9 11 3 0 8 12 2 13 7 1 4 10 5) };
    (blake2s 9, $then:ident, $($args:tt)*) => { $then!($($args)* 10 2 8 4 7 6 1 5 15 11 9 14 3 12 13 0) };
}
#[cfg(target_arch = "x86_64")]
pub(super) use schedule;

macro_rules! row {
    ($($word:literal)*) => { [$($word),*] };
}

/// What the two functions do not have in common in a compression.
pub(super) trait Mixing {
    /// The order of the words of the block in each round.
    const SCHEDULE: &'static [[usize; 16]];

    /// Whether the old chaining value is a part of the new one.
    const FEEDS_FORWARD: bool;
}

/// BLAKE3.
pub(super) struct Blake3Mixing;

impl Mixing for Blake3Mixing {
    const SCHEDULE: &'static [[usize; 16]] = &[
        schedule!(blake3 0, row,),
        schedule!(blake3 1, row,),
        schedule!(blake3 2, row,),
        schedule!(blake3 3, row,),
        schedule!(blake3 4, row,),
        schedule!(blake3 5, row,),
        schedule!(blake3 6, row,),
    ];
    const FEEDS_FORWARD: bool = false;
}

/// BLAKE2s.
pub(super) struct Blake2sMixing;

impl Mixing for Blake2sMixing {
    const SCHEDULE: &'static [[usize; 16]] = &[
        schedule!(blake2s 0, row,),
        schedule!(blake2s 1, row,),
        schedule!(blake2s 2, row,),
        schedule!(blake2s 3, row,),
        schedule!(blake2s 4, row,),
        schedule!(blake2s 5, row,),
        schedule!(blake2s 6, row,),
        schedule!(blake2s 7, row,),
        schedule!(blake2s 8, row,),
        schedule!(blake2s 9, row,),
    ];
    const FEEDS_FORWARD: bool = true;
}

/// The words that the eight quarters of a round work on: columns, then diagonals.
pub(super) const QUARTERS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];
