use std::ops::Range;

use lanework_field::KoalaBear;

use crate::poseidon2::table::Absorb;
use crate::{Cell, Digest, Part, Poseidon2, RowHasher};

/// Plonky3's `PaddingFreeSponge<_, WIDTH, RATE, 8>`: block words overwrite the first `RATE` lanes of
/// a zero state, which is permuted after each block; a short last block leaves the other lanes as
/// they are. The empty message has the zero digest.
///
/// The length is not encoded: use it for rows of publicly fixed width only.
#[derive(Clone, Debug)]
pub struct PaddingFreeSponge<const WIDTH: usize, const RATE: usize> {
    permutation: Poseidon2<WIDTH>,
}

impl<const WIDTH: usize, const RATE: usize> PaddingFreeSponge<WIDTH, RATE> {
    const ABSORB: Absorb = Absorb::Sponge { rate: RATE };

    /// The sponge over `permutation`. A rate below 8, or one that leaves no capacity, does not
    /// compile.
    pub fn new(permutation: Poseidon2<WIDTH>) -> Self {
        const { assert!(RATE >= 8 && RATE < WIDTH, "8 <= RATE < WIDTH") };
        Self { permutation }
    }
}

impl<const WIDTH: usize, const RATE: usize> RowHasher for PaddingFreeSponge<WIDTH, RATE> {
    fn hash_slice(&self, message: &[KoalaBear]) -> Digest {
        self.permutation.kernels.hash_one(Self::ABSORB, message)
    }

    fn block_len(&self) -> usize {
        RATE
    }

    fn absorb_rows(
        &self,
        part: Part,
        cells: &[Cell<'_>],
        rows: Range<usize>,
        states: &mut [Digest],
    ) {
        self.permutation
            .kernels
            .hash_rows(Self::ABSORB, part, cells, rows, states);
    }
}
