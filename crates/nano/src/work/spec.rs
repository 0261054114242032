//! Blake2b (RFC 7693) as work uses it: 40 bytes of message, 8 bytes of digest, no key.

/// Bytes of the message: 8 of work, 32 of root.
pub(super) const MESSAGE_BYTES: u64 = 40;

/// Words of the message that are not zero by construction.
pub(super) const MESSAGE_WORDS: usize = 5;

/// The initialisation vector, RFC 7693 section 2.6.
pub(super) const IV: [u64; 8] = [
    0x6a09e667f3bcc908,
    0xbb67ae8584caa73b,
    0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1,
    0x510e527fade682d1,
    0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b,
    0x5be0cd19137e2179,
];

/// The parameter word: 8 bytes of digest, no key, fan-out 1, depth 1.
pub(super) const PARAMETERS: u64 = 0x0101_0008;

/// The first word of the chaining value.
pub(super) const H0: u64 = IV[0] ^ PARAMETERS;

/// The number of rounds.
pub(super) const ROUNDS: usize = 12;

/// The state before the first round: the counter is the length, and the block is the last.
pub(super) const INITIAL: [u64; 16] = [
    H0,
    IV[1],
    IV[2],
    IV[3],
    IV[4],
    IV[5],
    IV[6],
    IV[7],
    IV[0],
    IV[1],
    IV[2],
    IV[3],
    IV[4] ^ MESSAGE_BYTES,
    IV[5],
    !IV[6],
    IV[7],
];

/// The message schedule, RFC 7693 section 2.7; rounds 10 and 11 are rounds 0 and 1 again.
pub(super) const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// The words that the eight quarter-rounds of a round work on: columns, then diagonals.
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
