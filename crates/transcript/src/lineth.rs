//! lineth's transcript.

use lanework_arch::Choice;
use lanework_field::KoalaBear;
use lanework_field::koala::Ext6;
use lanework_hash::{Compression, DIGEST_LEN, Digest, MerkleDamgard, Poseidon2, RoundConstants};

/// A Merkle-Damgard chain of which challenges are states: nothing says where a message ends, so that prover
/// and verifier must agree on all lengths beforehand.
///
/// Elements absorbed are cut into blocks of eight; with C the compression with feed-forward of
/// [`MerkleDamgard`], a block b makes the state s to C(s, b). A squeeze compresses what is left of the last
/// block, padded with zeros on the left, and returns the state, which is zero at first; then it absorbs one
/// zero, without which two squeezes in a row would be equal.
///
/// ```
/// use lanework_arch::Choice;
/// use lanework_field::KoalaBear;
/// use lanework_hash::RoundConstants;
/// use lanework_transcript::lineth::FiatShamir;
///
/// let mut transcript = FiatShamir::new(&RoundConstants::<16>::gnark(), Choice::portable());
/// transcript.absorb(&[1, 2, 3].map(KoalaBear::new));
/// assert_eq!(transcript.squeeze_indices(3, 10), [546, 352, 575]);
/// ```
///
/// Source: lineth-monorepo `verifier-ray/src/crypto/fiat_shamir.zig`.
#[derive(Clone, Debug)]
pub struct FiatShamir {
    hash: MerkleDamgard,
    state: Digest,
    /// Absorbed, but not compressed yet: the first `pending_len` elements, fewer than a block.
    pending: [KoalaBear; DIGEST_LEN],
    pending_len: usize,
}

impl FiatShamir {
    /// The transcript that has absorbed nothing.
    pub fn new(constants: &RoundConstants<16>, choice: Choice) -> Self {
        Self {
            hash: MerkleDamgard::new(Poseidon2::<16>::new(constants, choice)),
            state: Digest::ZERO,
            pending: [KoalaBear::ZERO; DIGEST_LEN],
            pending_len: 0,
        }
    }

    /// Absorbs elements.
    pub fn absorb(&mut self, elements: &[KoalaBear]) {
        for &element in elements {
            self.pending[self.pending_len] = element;
            self.pending_len += 1;
            if self.pending_len == DIGEST_LEN {
                self.compress(Digest(self.pending));
            }
        }
    }

    /// Absorbs the limbs of elements of the extension.
    pub fn absorb_extension(&mut self, elements: &[Ext6]) {
        for element in elements {
            self.absorb(&element.0);
        }
    }

    /// Squeezes the state.
    pub fn squeeze_digest(&mut self) -> Digest {
        if self.pending_len > 0 {
            let mut block = [KoalaBear::ZERO; DIGEST_LEN];
            let (_, last) = block.split_at_mut(DIGEST_LEN - self.pending_len);
            last.copy_from_slice(&self.pending[..self.pending_len]);
            self.compress(Digest(block));
        }
        self.absorb(&[KoalaBear::ZERO]);
        self.state
    }

    /// Squeezes an element of the extension: the first six words of a digest.
    pub fn squeeze_extension(&mut self) -> Ext6 {
        let [a, b, c, d, e, f, ..] = self.squeeze_digest().0;
        Ext6([a, b, c, d, e, f])
    }

    /// Squeezes `count` numbers below 2^`bits`, with repetitions: the low bits of the words of as many digests
    /// as it takes. What is left of the last digest is dropped.
    ///
    /// # Panics
    /// If `bits` is above 24, beyond which the numbers would be far from uniform.
    pub fn squeeze_indices(&mut self, count: usize, bits: u32) -> Vec<usize> {
        assert!(bits <= 24, "positions below 2^{bits}");
        let digests = (0..count.div_ceil(DIGEST_LEN)).flat_map(|_| self.squeeze_digest().0);
        let index = |word: KoalaBear| word.to_canonical() as usize & ((1 << bits) - 1);
        digests.map(index).take(count).collect()
    }

    fn compress(&mut self, block: Digest) {
        self.state = self.hash.compress(&self.state, &block);
        self.pending_len = 0;
    }
}
