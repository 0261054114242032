//! The switch: which back end computes many instances, and what each must provide.

use lanework_field::KoalaBear;

use crate::Digest;

/// Where the cells of consecutive rows come from: the cell of row `r` is at `base + r * step`.
#[derive(Copy, Clone, Debug)]
pub(crate) struct CellSource {
    /// The cell of row 0. With `step` 0, a block of [`LANES_MAX`] equal words.
    pub base: *const KoalaBear,
    /// 1 for a column, 0 for a constant.
    pub step: usize,
}

/// How the blocks of a row enter the state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absorb {
    /// Padding-free sponge: block words overwrite lanes 0..`rate`, then the state is permuted; a
    /// short last block overwrites its own lanes only. The digest is lanes 0..8.
    Sponge {
        /// Words per block.
        rate: usize,
    },
    /// Merkle-Damgard chain (width 16): the state is lanes 0..8, the block lanes 8..16; the next
    /// state is lanes 8..16 of the permuted state plus the block. Blocks are 8 cells each; the
    /// caller has padded the cells to a multiple of 8.
    Chain,
}

/// What a two-to-one compression does after the permutation (width 16).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    /// The digest is lanes 0..8 (Plonky3's truncated permutation).
    Truncate,
    /// The digest is lanes 8..16 plus the right input (gnark-crypto, lineth).
    Forward,
}

/// Two-to-one compressions `out[i] = C(left[i * stride], right[i * stride])`, and then
/// `out[i] = C(out[i], aux[i])` if `aux` is not null.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Pairs {
    pub left: *const Digest,
    pub right: *const Digest,
    pub stride: usize,
    pub aux: *const Digest,
    /// May be `left` itself when `stride` is 1.
    pub out: *mut Digest,
    pub count: usize,
}

/// A back end that runs many instances of one permutation, with its constants prepared.
///
/// One implementation per instruction set and feature; each holds the token that proves its
/// instructions exist. Counts are multiples of [`Many::lanes`]; wrappers do the tails.
pub(crate) trait Many<const WIDTH: usize>: Send + Sync {
    /// The name in reports: `avx512-ifma`, `avx512`, `avx2`, `neon`, `portable`.
    fn name(&self) -> &'static str;

    /// Instances per step: counts given to the other functions are multiples of this.
    fn lanes(&self) -> usize;

    /// Permutes every state.
    fn permute(&self, states: &mut [[KoalaBear; WIDTH]]);

    /// Digests of rows `first_row .. first_row + out.len()`, absorbing `cells` from the zero state.
    ///
    /// # Safety
    /// Every source with step 1 is readable at rows `first_row .. first_row + out.len()`, and every
    /// source with step 0 at [`LANES_MAX`] words.
    unsafe fn hash_rows(&self, absorb: Absorb, cells: &[CellSource], first_row: usize, out: &mut [Digest]);

    /// Compressions of pairs (width 16 only).
    ///
    /// # Safety
    /// The pointers of `pairs` are valid for its count and stride.
    unsafe fn compress(&self, feed: Feed, pairs: &Pairs);
}

/// The most instances any back end runs at once.
pub(crate) const LANES_MAX: usize = 32;
