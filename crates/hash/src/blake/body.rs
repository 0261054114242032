//! The algorithm over a vector type: as many messages as it has lanes, word by word.
#![expect(unsafe_code, reason = "the rows are a pointer")]

use lanework_arch::memory::prefetch;

use super::layout::{Layout, Part};
use super::spec::{BLOCK_BYTES, IV, Mixing, QUARTERS};
use super::table::{LANES_MAX, Rows};

/// A word of each of several messages.
///
/// Values are only made from a token or from other values, so wherever one exists, so do the
/// instructions.
pub(super) trait Lanes: Copy {
    /// Proof that the instructions exist.
    type Token: Copy;

    /// The messages, at most [`LANES_MAX`].
    const LEN: usize;

    fn splat(token: Self::Token, word: u32) -> Self;

    fn add(self, other: Self) -> Self;

    fn xor(self, other: Self) -> Self;

    /// Rotates every word to the right by 16, 12, 8 or 7 bits.
    fn rotate<const BITS: u32>(self) -> Self;

    /// Word w of a block of every message, the blocks `pitch` bytes apart.
    ///
    /// # Safety
    /// The blocks are readable.
    unsafe fn load(token: Self::Token, blocks: *const u8, pitch: usize) -> [Self; 16];

    /// Writes the digests of all messages, one after the other.
    ///
    /// # Safety
    /// There is room for them.
    unsafe fn store(state: [Self; 8], digests: *mut u8);
}

/// Hashes all rows, which are a multiple of the lanes.
///
/// # Safety
/// As [`Backend::hash`](super::table::Backend::hash).
#[inline(always)]
pub(super) unsafe fn hash<M: Mixing, L: Lanes>(token: L::Token, layout: &Layout, rows: &Rows) {
    for first in (0..rows.count).step_by(L::LEN) {
        let base = rows.base.wrapping_add(first * rows.pitch);
        let mut state: [L; 8] = std::array::from_fn(|i| L::splat(token, layout.start[i]));
        for (block, tail) in layout.tails[..layout.blocks].iter().enumerate() {
            let part = layout.part(block);
            // The same block of the rows to come: so many rows at once are more than what the hardware
            // follows by itself.
            for i in L::LEN..2 * L::LEN {
                prefetch::read_later(base.wrapping_add(i * rows.pitch + part.from));
            }
            let words = if part.is_whole() {
                // SAFETY: bounds: the part is within the rows, for which the caller vouches.
                unsafe { L::load(token, base.wrapping_add(part.from), rows.pitch) }
            } else {
                let mut staged = [[0; BLOCK_BYTES]; LANES_MAX];
                // SAFETY: bounds: the part is within the rows, for which the caller vouches, and the
                // blocks are as many as the lanes or more.
                unsafe {
                    stage(part, base, rows.pitch, &mut staged[..L::LEN]);
                    L::load(token, staged.as_ptr().cast(), BLOCK_BYTES)
                }
            };
            state = compress::<M, L>(token, &state, &words, *tail);
        }
        // SAFETY: bounds: the caller vouches for the digests of all rows.
        unsafe { L::store(state, rows.out.add(first).cast()) };
    }
}

/// Copies what the block takes from each row.
///
/// # Safety
/// The part is readable in as many rows as there are blocks.
#[inline(always)]
unsafe fn stage(part: Part, rows: *const u8, pitch: usize, blocks: &mut [[u8; BLOCK_BYTES]]) {
    for (i, block) in blocks.iter_mut().enumerate() {
        let row = rows.wrapping_add(i * pitch + part.from);
        // SAFETY: bounds: the caller vouches for the row.
        let row = unsafe { std::slice::from_raw_parts(row, part.len) };
        block[part.front..part.front + part.len].copy_from_slice(row);
    }
}

/// The chaining values after one block.
#[inline(always)]
fn compress<M: Mixing, L: Lanes>(
    token: L::Token,
    state: &[L; 8],
    words: &[L; 16],
    tail: [u32; 4],
) -> [L; 8] {
    let mut v: [L; 16] = std::array::from_fn(|i| match i {
        0..8 => state[i],
        8..12 => L::splat(token, IV[i - 8]),
        _ => L::splat(token, tail[i - 12]),
    });
    round::<M, L, 0>(&mut v, words);
    round::<M, L, 1>(&mut v, words);
    round::<M, L, 2>(&mut v, words);
    round::<M, L, 3>(&mut v, words);
    round::<M, L, 4>(&mut v, words);
    round::<M, L, 5>(&mut v, words);
    round::<M, L, 6>(&mut v, words);
    round::<M, L, 7>(&mut v, words);
    round::<M, L, 8>(&mut v, words);
    round::<M, L, 9>(&mut v, words);
    std::array::from_fn(|i| {
        let new = v[i].xor(v[i + 8]);
        if M::FEEDS_FORWARD {
            new.xor(state[i])
        } else {
            new
        }
    })
}

/// Round `ROUND`, if the function has one.
#[inline(always)]
fn round<M: Mixing, L: Lanes, const ROUND: usize>(v: &mut [L; 16], words: &[L; 16]) {
    if ROUND >= M::SCHEDULE.len() {
        return;
    }
    let order = const { M::SCHEDULE[ROUND % M::SCHEDULE.len()] };
    half_round::<L>(v, words, &order, 0);
    half_round::<L>(v, words, &order, 4);
}

/// Four quarters side by side.
#[inline(always)]
fn half_round<L: Lanes>(v: &mut [L; 16], words: &[L; 16], order: &[usize; 16], first: usize) {
    turn::<L, 16, 12>(v, words, order, first, 0);
    turn::<L, 8, 7>(v, words, order, first, 1);
}

/// The first or the second half of four quarters.
#[inline(always)]
fn turn<L: Lanes, const D: u32, const B: u32>(
    v: &mut [L; 16],
    words: &[L; 16],
    order: &[usize; 16],
    first: usize,
    half: usize,
) {
    let quarters = [first, first + 1, first + 2, first + 3];
    for q in quarters {
        let [a, _, _, _] = QUARTERS[q];
        v[a] = v[a].add(words[order[2 * q + half]]);
    }
    for q in quarters {
        let [a, b, _, _] = QUARTERS[q];
        v[a] = v[a].add(v[b]);
    }
    for q in quarters {
        let [a, _, _, d] = QUARTERS[q];
        v[d] = v[d].xor(v[a]);
    }
    for q in quarters {
        let [_, _, _, d] = QUARTERS[q];
        v[d] = v[d].rotate::<D>();
    }
    for q in quarters {
        let [_, _, c, d] = QUARTERS[q];
        v[c] = v[c].add(v[d]);
    }
    for q in quarters {
        let [_, b, c, _] = QUARTERS[q];
        v[b] = v[b].xor(v[c]);
    }
    for q in quarters {
        let [_, b, _, _] = QUARTERS[q];
        v[b] = v[b].rotate::<B>();
    }
}
