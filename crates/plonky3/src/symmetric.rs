//! The two modes of the permutation that trees are made with.

use lanework_field::KoalaBear as Element;
use lanework_hash::{
    Cell, Compression, DIGEST_LEN, Digest, PaddingFreeSponge, RowHasher, TruncatedPermutation,
};
use p3_field::PackedValue;
use p3_koala_bear::KoalaBear;
use p3_symmetric::{CryptographicHasher, PseudoCompressionFunction};

use crate::transpose::{Strided, transpose};
use crate::{LaneworkPoseidon2, cast};

/// Messages and pairs that Plonky3 is asked to hand over at a time: what the widest kernel runs at once.
const LANES: usize = 16;

/// Plonky3's `PaddingFreeSponge<_, WIDTH, RATE, 8>` over [`LaneworkPoseidon2`], for many messages at a
/// time.
///
/// In a `MerkleTreeMmcs` it makes the tree hash whole groups of rows, in builds without vector
/// instructions too.
#[derive(Clone, Debug)]
pub struct LaneworkSponge<const WIDTH: usize, const RATE: usize> {
    one: p3_symmetric::PaddingFreeSponge<LaneworkPoseidon2<WIDTH>, WIDTH, RATE, DIGEST_LEN>,
    pub(crate) many: PaddingFreeSponge<WIDTH, RATE>,
    pub(crate) choice: lanework_arch::Choice,
}

impl<const WIDTH: usize, const RATE: usize> LaneworkSponge<WIDTH, RATE> {
    /// The sponge over `permutation`. A rate below 8, or one that leaves no capacity, does not compile.
    pub fn new(permutation: LaneworkPoseidon2<WIDTH>) -> Self {
        Self {
            many: PaddingFreeSponge::new(permutation.permutation.clone()),
            choice: permutation.choice,
            one: p3_symmetric::PaddingFreeSponge::new(permutation),
        }
    }

    /// Hashes messages of `len` elements that lie one after the other.
    fn hash_rows(&self, messages: &[Element], len: usize, mut write: impl FnMut(usize, Digest)) {
        /// Messages that are laid out together, few enough for the first-level cache if they are short.
        const BLOCK: usize = 4 * LANES;
        let mut columns = vec![Element::ZERO; len * BLOCK];
        for (block, messages) in messages.chunks(len * BLOCK).enumerate() {
            let count = messages.len() / len;
            let row = |r: usize| &messages[r * len..][..len];
            let mut target = Strided(&mut columns, BLOCK);
            transpose(self.choice, count, len, row, &mut target);
            let cells: Vec<_> = columns.chunks_exact(BLOCK).map(Cell::Column).collect();
            let mut digests = [Digest::ZERO; BLOCK];
            self.many.hash_rows(&cells, 0..count, &mut digests[..count]);
            for (i, &digest) in digests[..count].iter().enumerate() {
                write(block * BLOCK + i, digest);
            }
        }
    }
}

impl<P, const WIDTH: usize, const RATE: usize> CryptographicHasher<P, [P; DIGEST_LEN]>
    for LaneworkSponge<WIDTH, RATE>
where
    P: PackedValue<Value = KoalaBear> + Default,
{
    const LANES: usize = if P::WIDTH == 1 { LANES } else { 1 };

    fn hash_iter<I: IntoIterator<Item = P>>(&self, input: I) -> [P; DIGEST_LEN] {
        self.one.hash_iter(input)
    }

    fn hash_many(&self, input: &[P], out: &mut [[P; DIGEST_LEN]]) {
        if out.is_empty() {
            return;
        }
        assert!(
            input.len().is_multiple_of(out.len()),
            "messages of one length: {} elements for {} digests",
            input.len(),
            out.len()
        );
        let len = input.len() / out.len();
        if P::WIDTH == 1 && len > 0 {
            let messages = cast::elements(P::unpack_slice(input));
            self.hash_rows(messages, len, |i, digest| {
                out[i] = cast::words(digest).map(P::broadcast);
            });
        } else {
            for (i, digest) in out.iter_mut().enumerate() {
                *digest = self.hash_slice(&input[i * len..][..len]);
            }
        }
    }
}

/// Plonky3's `TruncatedPermutation<_, 2, 8, 16>` over [`LaneworkPoseidon2`], for many pairs at a time.
#[derive(Clone, Debug)]
pub struct LaneworkCompression {
    one: p3_symmetric::TruncatedPermutation<LaneworkPoseidon2<16>, 2, DIGEST_LEN, 16>,
    pub(crate) many: TruncatedPermutation,
}

impl LaneworkCompression {
    /// The compression over `permutation`.
    pub fn new(permutation: LaneworkPoseidon2<16>) -> Self {
        Self {
            many: TruncatedPermutation::new(permutation.permutation.clone()),
            one: p3_symmetric::TruncatedPermutation::new(permutation),
        }
    }
}

impl<P> PseudoCompressionFunction<[P; DIGEST_LEN], 2> for LaneworkCompression
where
    P: PackedValue<Value = KoalaBear> + Default,
{
    const LANES: usize = if P::WIDTH == 1 { LANES } else { 1 };

    fn compress(&self, input: [[P; DIGEST_LEN]; 2]) -> [P; DIGEST_LEN] {
        self.one.compress(input)
    }

    fn compress_many(&self, inputs: &[[[P; DIGEST_LEN]; 2]], out: &mut [[P; DIGEST_LEN]]) {
        /// Parents that are computed together.
        const BLOCK: usize = 4 * LANES;
        assert_eq!(inputs.len(), out.len(), "one group of inputs per output");
        if P::WIDTH > 1 {
            for (output, &group) in out.iter_mut().zip(inputs) {
                *output = self.compress(group);
            }
            return;
        }
        let children = cast::digests(P::unpack_slice(inputs.as_flattened().as_flattened()));
        for (children, out) in children.chunks(2 * BLOCK).zip(out.chunks_mut(BLOCK)) {
            let mut parents = [Digest::ZERO; BLOCK];
            let parents = &mut parents[..out.len()];
            self.many.compress_pairs(children, parents);
            for (output, &parent) in out.iter_mut().zip(&*parents) {
                *output = cast::words(parent).map(P::broadcast);
            }
        }
    }
}
