//! Plonky3's commitments over KoalaBear with kernels chosen when the program runs.
//!
//! Plonky3 chooses its instructions when it is compiled: a plain build computes element by element, and one for
//! the CPU of the machine faults on others. Use these types in the place of the ones they are named after to have
//! low-degree extensions, Poseidon2 and Merkle trees that are fast in a plain build. Commitments and proofs stay
//! the same byte for byte, and verifiers need not know.
//!
//! | type | in the place of |
//! |---|---|
//! | [`LaneworkDft`] | `Radix2DitParallel<KoalaBear>` |
//! | [`LaneworkPoseidon2<WIDTH>`](LaneworkPoseidon2) | `Poseidon2KoalaBear<WIDTH>`, of width 16 or 24 |
//! | [`LaneworkSponge<WIDTH, RATE>`](LaneworkSponge) | `PaddingFreeSponge<_, WIDTH, RATE, 8>` |
//! | [`LaneworkCompression`] | `TruncatedPermutation<_, 2, 8, 16>` |
//! | [`LaneworkMmcs<WIDTH, RATE>`](LaneworkMmcs) | `MerkleTreeMmcs<_, _, _, _, 2, 8>` |
//!
//! They are for version 0.8.0 of the `p3-*` crates. `docs/plonky3.md` in the repository shows a prover before and
//! after.
//!
//! ```
//! use lanework_plonky3::{LaneworkCompression, LaneworkMmcs, LaneworkPoseidon2, LaneworkSponge};
//! use p3_commit::{BatchOpeningRef, Mmcs};
//! use p3_koala_bear::KoalaBear;
//! use p3_matrix::{Matrix, dense::RowMajorMatrix};
//!
//! type ValMmcs = LaneworkMmcs<24, 16>;
//!
//! let hash = LaneworkSponge::new(LaneworkPoseidon2::<24>::default());
//! let compress = LaneworkCompression::new(LaneworkPoseidon2::<16>::default());
//! let mmcs = ValMmcs::new(hash, compress, 0);
//!
//! let matrix = RowMajorMatrix::new(KoalaBear::new_array([1, 2, 3, 4, 5, 6, 7, 8]).to_vec(), 2);
//! let dimensions = [matrix.dimensions()];
//! let (commitment, data) = mmcs.commit_matrix(matrix);
//! let opening = mmcs.open_batch(3, &data);
//! assert_eq!(opening.opened_values, [KoalaBear::new_array([7, 8])]);
//! mmcs.verify_batch(&commitment, &dimensions, 3, (&opening).into())?;
//! # Ok::<(), p3_merkle_tree::MerkleTreeError>(())
//! ```

mod cast;
mod dft;
mod mmcs;
mod poseidon2;
mod symmetric;
mod transpose;

pub use dft::LaneworkDft;
pub use mmcs::{LaneworkMmcs, ProverData};
pub use poseidon2::{
    LaneworkPoseidon2, default_koalabear_poseidon2_16, default_koalabear_poseidon2_24,
};
pub use symmetric::{LaneworkCompression, LaneworkSponge};
