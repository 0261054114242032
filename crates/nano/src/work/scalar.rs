//! The definition: Blake2b of the 40 bytes, written to be read. Every kernel is held against it, and
//! no work leaves the crate that it has not confirmed.

use super::spec::{H0, INITIAL, QUARTERS, ROUNDS, SIGMA};
use crate::Root;

/// The value of `work` for `root`: the 8-byte Blake2b digest of `work` in little-endian order and
/// `root`, read in little-endian order.
///
/// ```
/// // The receive block in the README of nano-work-server.
/// let root = [
///     0x71, 0x8c, 0xc2, 0x12, 0x1c, 0x3e, 0x64, 0x10, 0x59, 0xbc, 0x1c, 0x2c, 0xfc, 0x45, 0x66, 0x6c,
///     0x99, 0xe8, 0xae, 0x92, 0x2f, 0x7a, 0x80, 0x7b, 0x7d, 0x07, 0xb6, 0x2c, 0x99, 0x5d, 0x79, 0xe2,
/// ];
/// assert_eq!(lanework_nano::validate(&root, 0x2bf2_9ef0_0786_a6bc), 0xffff_ffd2_1c39_33f4);
/// ```
pub fn validate(root: &Root, work: u64) -> u64 {
    let mut message = [0; 16];
    message[0] = work;
    message[1..5].copy_from_slice(&root_words(root));
    let mut v = INITIAL;
    for round in 0..ROUNDS {
        let schedule = &SIGMA[round % SIGMA.len()];
        for (quarter, words) in QUARTERS.into_iter().enumerate() {
            let x = message[schedule[2 * quarter]];
            let y = message[schedule[2 * quarter + 1]];
            mix(&mut v, words, x, y);
        }
    }
    H0 ^ v[0] ^ v[8]
}

/// The same value, by the name it has in replies of work servers.
pub fn difficulty(root: &Root, work: u64) -> u64 {
    validate(root, work)
}

/// Whether the value of `work` for `root` is at least `threshold`.
pub fn is_valid(root: &Root, work: u64, threshold: u64) -> bool {
    validate(root, work) >= threshold
}

/// The root as it enters the message.
pub(super) fn root_words(root: &Root) -> [u64; 4] {
    let (words, _) = root.as_chunks::<8>();
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

/// A quarter of a round, RFC 7693 section 3.1.
pub(super) fn mix(v: &mut [u64; 16], [a, b, c, d]: [usize; 4], x: u64, y: u64) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
    v[d] = (v[d] ^ v[a]).rotate_right(32);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(24);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(63);
}
