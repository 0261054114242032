//! One instance with little latency, for transcripts and tails.
//!
//! A full round is the same for all lanes of the state, so that they are the lanes of a few vectors.
//! A partial round is one chain of products, which plain integers walk through fastest: the state
//! changes over to the words of [`portable`] and back.

use lanework_arch::Choice;
use lanework_field::KoalaBear;
#[cfg(target_arch = "x86_64")]
use lanework_field::koala::lanes::Avx2Lanes as Vector;
#[cfg(target_arch = "aarch64")]
use lanework_field::koala::lanes::NeonLanes as Vector;
use lanework_field::koala::lanes::{Kernel, Lanes};

use super::RoundConstants;
use super::portable::{self, Word, element_of};
use super::table::{Absorb, Feed};
use crate::digest::DIGEST_LEN;
use crate::{Digest, Part};

/// The permutation with its constants.
pub(super) struct Single<const WIDTH: usize> {
    constants: RoundConstants<WIDTH>,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    vectors: Option<<Vector as Lanes>::Token>,
}

impl<const WIDTH: usize> Single<WIDTH> {
    pub(super) fn new(constants: &RoundConstants<WIDTH>, choice: Choice) -> Self {
        let _ = choice;
        Self {
            constants: constants.clone(),
            #[cfg(target_arch = "x86_64")]
            vectors: lanework_arch::Avx2::new(choice),
            #[cfg(target_arch = "aarch64")]
            vectors: lanework_arch::Neon::new(choice),
        }
    }

    pub(super) fn permute(&self, state: &mut [KoalaBear; WIDTH]) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(token) = self.vectors {
            let constants = &self.constants;
            return Vector::run(
                token,
                Permutation::<Vector, WIDTH> {
                    token,
                    constants,
                    state,
                },
            );
        }
        let mut words = state.map(i64::of);
        portable::permute(&self.constants, &mut words);
        *state = words.map(element_of);
    }

    /// The digest of a row of `len` cells, padded as `absorb` wants; or what a part of it leaves, see
    /// [`Many::hash_rows`](super::table::Many::hash_rows).
    pub(super) fn hash(
        &self,
        absorb: Absorb,
        part: Part,
        carried: Digest,
        len: usize,
        cell: impl Fn(usize) -> KoalaBear,
    ) -> Digest {
        let mut state = [KoalaBear::ZERO; WIDTH];
        if !part.starts() {
            state[absorb.carried(WIDTH)..][..DIGEST_LEN].copy_from_slice(&carried.0);
        }
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
        let left = absorb.left(part, WIDTH);
        Digest(std::array::from_fn(|i| state[left + i]))
    }

    /// The compression of one pair (width 16).
    pub(super) fn compress(&self, feed: Feed, left: &Digest, right: &Digest) -> Digest {
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

/// The permutation with the lanes of the state in vectors.
struct Permutation<'a, L: Lanes, const WIDTH: usize> {
    token: L::Token,
    constants: &'a RoundConstants<WIDTH>,
    state: &'a mut [KoalaBear; WIDTH],
}

/// The most vectors of a state: width 24 in vectors of four.
const VECTORS_MAX: usize = 6;

impl<L: Lanes, const WIDTH: usize> Kernel for Permutation<'_, L, WIDTH> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const { assert!(WIDTH.is_multiple_of(L::LEN) && WIDTH / L::LEN <= VECTORS_MAX) };
        let Self {
            token,
            constants,
            state,
        } = self;
        let mut vectors = [L::splat(token, KoalaBear::ZERO); VECTORS_MAX];
        let vectors = &mut vectors[..WIDTH / L::LEN];
        load(token, state, vectors);
        external_layer(vectors);
        for row in &constants.initial {
            full_round(token, row, vectors);
        }
        store(vectors, state);
        let mut words = state.map(i64::of);
        portable::partial_rounds(&constants.internal, &mut words);
        *state = words.map(element_of);
        load(token, state, vectors);
        for row in &constants.terminal {
            full_round(token, row, vectors);
        }
        store(vectors, state);
    }
}

#[inline(always)]
fn load<L: Lanes>(token: L::Token, words: &[KoalaBear], vectors: &mut [L]) {
    for (vector, words) in vectors.iter_mut().zip(words.chunks_exact(L::LEN)) {
        *vector = L::from_slice(token, words);
    }
}

#[inline(always)]
fn store<L: Lanes>(vectors: &[L], words: &mut [KoalaBear]) {
    for (vector, words) in vectors.iter().zip(words.chunks_exact_mut(L::LEN)) {
        vector.to_slice(words);
    }
}

#[inline(always)]
fn full_round<L: Lanes>(token: L::Token, constants: &[KoalaBear], vectors: &mut [L]) {
    for (vector, constants) in vectors.iter_mut().zip(constants.chunks_exact(L::LEN)) {
        *vector = (*vector + L::from_slice(token, constants)).cube();
    }
    external_layer(vectors);
}

#[inline(always)]
fn external_layer<L: Lanes>(vectors: &mut [L]) {
    for vector in &mut *vectors {
        *vector = multiply_blocks(*vector);
    }
    let mut columns = vectors[1..]
        .iter()
        .fold(vectors[0], |sum, &vector| sum + vector);
    if L::LEN >= 8 {
        let (even, odd) = columns.interleave::<4>(columns);
        columns = even + odd;
    }
    if L::LEN >= 16 {
        let (even, odd) = columns.interleave::<8>(columns);
        columns = even + odd;
    }
    for vector in vectors {
        *vector += columns;
    }
}

/// The circulant (2, 3, 1, 1) times every block of four lanes a, b, c, d.
#[inline(always)]
fn multiply_blocks<L: Lanes>(vector: L) -> L {
    // a a c c and b b d d.
    let (even, odd) = vector.interleave::<1>(vector);
    let pairs = even + odd;
    let (first, second) = pairs.interleave::<2>(pairs);
    let sum = first + second;
    // c c a a, and from it b c d a.
    let (a, c) = even.interleave::<2>(even);
    let (turned, _) = c.interleave::<2>(a);
    let (next, _) = odd.interleave::<1>(turned);
    sum + vector + next.double()
}
