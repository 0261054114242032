//! The definition: one message at a time, written to be read. Every kernel is held against it.

use super::Function;
use super::layout::Layout;
use super::spec::{BLOCK_BYTES, Blake2sMixing, Blake3Mixing, IV, Mixing};
use crate::ByteDigest;

/// The digest of the message with the row `row`.
pub(super) fn hash(function: Function, layout: &Layout, row: &[u8]) -> ByteDigest {
    let mut state = layout.start;
    for block in 0..layout.blocks {
        let part = layout.part(block);
        let mut bytes = [0; BLOCK_BYTES];
        bytes[part.front..part.front + part.len]
            .copy_from_slice(&row[part.from..part.from + part.len]);
        state = compress(function, &state, &bytes, layout.tails[block]);
    }
    let mut digest = ByteDigest::ZERO;
    for (bytes, word) in digest.0.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    digest
}

/// The chaining value after one block.
pub(super) fn compress(
    function: Function,
    state: &[u32; 8],
    block: &[u8; BLOCK_BYTES],
    tail: [u32; 4],
) -> [u32; 8] {
    match function {
        Function::Blake3 => compress_as::<Blake3Mixing>(state, block, tail),
        Function::Blake2s => compress_as::<Blake2sMixing>(state, block, tail),
    }
}

fn compress_as<M: Mixing>(state: &[u32; 8], block: &[u8; BLOCK_BYTES], tail: [u32; 4]) -> [u32; 8] {
    let (words, _) = block.as_chunks::<4>();
    let m: [u32; 16] = std::array::from_fn(|i| u32::from_le_bytes(words[i]));
    let mut v = [0; 16];
    v[..8].copy_from_slice(state);
    v[8..12].copy_from_slice(&IV[..4]);
    v[12..].copy_from_slice(&tail);
    for s in M::SCHEDULE {
        mix(&mut v, [0, 4, 8, 12], m[s[0]], m[s[1]]);
        mix(&mut v, [1, 5, 9, 13], m[s[2]], m[s[3]]);
        mix(&mut v, [2, 6, 10, 14], m[s[4]], m[s[5]]);
        mix(&mut v, [3, 7, 11, 15], m[s[6]], m[s[7]]);
        mix(&mut v, [0, 5, 10, 15], m[s[8]], m[s[9]]);
        mix(&mut v, [1, 6, 11, 12], m[s[10]], m[s[11]]);
        mix(&mut v, [2, 7, 8, 13], m[s[12]], m[s[13]]);
        mix(&mut v, [3, 4, 9, 14], m[s[14]], m[s[15]]);
    }
    std::array::from_fn(|i| {
        let old = if M::FEEDS_FORWARD { state[i] } else { 0 };
        v[i] ^ v[i + 8] ^ old
    })
}

/// A quarter of a round, RFC 7693 section 3.1.
#[inline(always)]
fn mix(v: &mut [u32; 16], [a, b, c, d]: [usize; 4], x: u32, y: u32) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(12);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
    v[d] = (v[d] ^ v[a]).rotate_right(8);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(7);
}
