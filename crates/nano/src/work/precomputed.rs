use std::fmt;

use super::scalar::{mix, root_words};
use super::spec::{H0, INITIAL, QUARTERS};
use crate::Root;

/// What all nonces of one root have in common: the message words of the root, and what the first round
/// makes of them. A search is given one, and it is made anew when the root changes.
#[derive(Clone)]
pub struct Precomputed {
    pub(super) root: Root,
    pub(super) constants: Constants,
}

/// The words that kernels read from memory, each repeated over all lanes.
///
/// In the first round the nonce enters the first column only. The other columns are the same for all
/// nonces, and so is what the diagonals compute before they meet the first column's words.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Constants {
    /// Message words 1 to 4, the root.
    pub root: [u64; 4],
    /// v0 + v4 before the first round, to which the nonce is added.
    pub sum_0_4: u64,
    /// v4, v8 and v12 before the first round.
    pub initial_4: u64,
    pub initial_8: u64,
    pub initial_12: u64,
    /// Words after the columns of the first round.
    pub v3: u64,
    pub v5: u64,
    pub v6: u64,
    pub v7: u64,
    pub v9: u64,
    pub v10: u64,
    pub v11: u64,
    pub v14: u64,
    pub v15: u64,
    /// v1 + v6 after the columns.
    pub sum_1_6: u64,
    /// v2 + v7 after the columns, and v13 mixed with that sum.
    pub sum_2_7: u64,
    pub mixed_13: u64,
    /// The chaining value, which the digest is mixed with.
    pub h0: u64,
}

impl Precomputed {
    /// Does the first round's part for `root`.
    pub fn new(root: &Root) -> Self {
        let [m1, m2, m3, m4] = root_words(root);
        let mut v = INITIAL;
        mix(&mut v, QUARTERS[1], m2, m3);
        mix(&mut v, QUARTERS[2], m4, 0);
        mix(&mut v, QUARTERS[3], 0, 0);
        let sum_2_7 = v[2].wrapping_add(v[7]);
        Self {
            root: *root,
            constants: Constants {
                root: [m1, m2, m3, m4],
                sum_0_4: INITIAL[0].wrapping_add(INITIAL[4]),
                initial_4: INITIAL[4],
                initial_8: INITIAL[8],
                initial_12: INITIAL[12],
                v3: v[3],
                v5: v[5],
                v6: v[6],
                v7: v[7],
                v9: v[9],
                v10: v[10],
                v11: v[11],
                v14: v[14],
                v15: v[15],
                sum_1_6: v[1].wrapping_add(v[6]),
                sum_2_7,
                mixed_13: (v[13] ^ sum_2_7).rotate_right(32),
                h0: H0,
            },
        }
    }

    /// The root that this was made of.
    pub fn root(&self) -> &Root {
        &self.root
    }
}

impl fmt::Debug for Precomputed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Precomputed")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}
