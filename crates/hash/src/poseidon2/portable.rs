//! What runs on a plain CPU.
#![expect(
    unsafe_code,
    reason = "reads cells and digests through the pointers of the switch"
)]

use lanework_field::KoalaBear;

use super::RoundConstants;
use super::table::{Absorb, CellSource, Feed, Many, Pairs};
use crate::Digest;
use crate::digest::DIGEST_LEN;

/// One instance at a time: the many-instance kernel of plain CPUs, and the low-latency kernel.
#[derive(Clone, Debug)]
pub(crate) struct Permutation<const WIDTH: usize> {
    constants: RoundConstants<WIDTH>,
}

impl<const WIDTH: usize> Permutation<WIDTH> {
    pub(crate) fn new(constants: &RoundConstants<WIDTH>) -> Self {
        Self {
            constants: constants.clone(),
        }
    }

    pub(crate) fn permute(&self, state: &mut [KoalaBear; WIDTH]) {
        super::scalar::permute(&self.constants, state);
    }

    /// The digest of a row of `len` cells, padded as `absorb` wants.
    pub(crate) fn hash(
        &self,
        absorb: Absorb,
        len: usize,
        cell: impl Fn(usize) -> KoalaBear,
    ) -> Digest {
        let mut state = [KoalaBear::ZERO; WIDTH];
        match absorb {
            Absorb::Sponge { rate } => {
                for first in (0..len).step_by(rate) {
                    for (word, i) in state.iter_mut().zip(first..len.min(first + rate)) {
                        *word = cell(i);
                    }
                    self.permute(&mut state);
                }
            }
            Absorb::Chain => {
                let (zeros_at, zeros) = absorb.padding(len);
                for first in (0..len).step_by(DIGEST_LEN) {
                    let skip = if first == zeros_at { zeros } else { 0 };
                    let mut block = [KoalaBear::ZERO; DIGEST_LEN];
                    for (word, i) in block[skip..].iter_mut().zip(first..) {
                        *word = cell(i);
                    }
                    state[DIGEST_LEN..2 * DIGEST_LEN].copy_from_slice(&block);
                    self.permute(&mut state);
                    for (i, word) in block.into_iter().enumerate() {
                        state[i] = state[DIGEST_LEN + i] + word;
                    }
                }
            }
        }
        Digest(std::array::from_fn(|i| state[i]))
    }

    /// The compression of one pair (width 16).
    pub(crate) fn compress(&self, feed: Feed, left: &Digest, right: &Digest) -> Digest {
        let mut state = [KoalaBear::ZERO; WIDTH];
        state[..DIGEST_LEN].copy_from_slice(&left.0);
        state[DIGEST_LEN..2 * DIGEST_LEN].copy_from_slice(&right.0);
        self.permute(&mut state);
        match feed {
            Feed::Truncate => Digest(std::array::from_fn(|i| state[i])),
            Feed::Forward => Digest(std::array::from_fn(|i| state[DIGEST_LEN + i] + right.0[i])),
        }
    }
}

impl<const WIDTH: usize> Many<WIDTH> for Permutation<WIDTH> {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn lanes(&self) -> usize {
        1
    }

    fn permute(&self, states: &mut [[KoalaBear; WIDTH]]) {
        for state in states {
            self.permute(state);
        }
    }

    unsafe fn hash_rows(
        &self,
        absorb: Absorb,
        cells: &[CellSource],
        first_row: usize,
        out: &mut [Digest],
    ) {
        for (digest, row) in out.iter_mut().zip(first_row..) {
            // SAFETY: bounds: the caller vouches for every source at these rows.
            *digest = self.hash(absorb, cells.len(), |i| unsafe {
                cells[i].base.add(row * cells[i].step).read()
            });
        }
    }

    unsafe fn compress(&self, feed: Feed, pairs: &Pairs) {
        for i in 0..pairs.count {
            // SAFETY: bounds: `i` is below the count that the caller vouches for.
            unsafe {
                let left = pairs.left.add(i * pairs.stride).read();
                let right = pairs.right.add(i * pairs.stride).read();
                let mut digest = self.compress(feed, &left, &right);
                if !pairs.aux.is_null() {
                    digest = self.compress(feed, &digest, &*pairs.aux.add(i));
                }
                pairs.out.add(i).write(digest);
            }
        }
    }
}
