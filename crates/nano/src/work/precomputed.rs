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

/// The words that kernels read from memory and repeat over all lanes, or that are there once per lane.
///
/// In the first round the nonce enters the first column only. The other columns are the same for all
/// nonces, and so is what the diagonals compute before they meet the first column's words.
#[derive(Copy, Clone)]
#[repr(C)]
pub(super) struct Constants<W = u64> {
    /// Message words 1 to 4, the root.
    pub m1: W,
    pub m2: W,
    pub m3: W,
    pub m4: W,
    /// v0 + v4 before the first round, to which the nonce is added.
    pub sum_0_4: W,
    /// v4, v8 and v12 before the first round.
    pub initial_4: W,
    pub initial_8: W,
    pub initial_12: W,
    /// Words after the columns of the first round.
    pub v3: W,
    pub v5: W,
    pub v6: W,
    pub v7: W,
    pub v9: W,
    pub v10: W,
    pub v11: W,
    pub v14: W,
    pub v15: W,
    /// v1 + v6 after the columns.
    pub sum_1_6: W,
    /// v2 + v7 after the columns, and v13 mixed with that sum.
    pub sum_2_7: W,
    pub mixed_13: W,
    /// The chaining value, which the digest is mixed with.
    pub h0: W,
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
                m1,
                m2,
                m3,
                m4,
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

impl Constants {
    /// Every word in the form that `f` gives it, as for a kernel that cannot repeat words by itself.
    #[allow(dead_code, reason = "which kernels there are depends on the target")]
    pub(super) fn map<W>(&self, f: impl Fn(u64) -> W) -> Constants<W> {
        Constants {
            m1: f(self.m1),
            m2: f(self.m2),
            m3: f(self.m3),
            m4: f(self.m4),
            sum_0_4: f(self.sum_0_4),
            initial_4: f(self.initial_4),
            initial_8: f(self.initial_8),
            initial_12: f(self.initial_12),
            v3: f(self.v3),
            v5: f(self.v5),
            v6: f(self.v6),
            v7: f(self.v7),
            v9: f(self.v9),
            v10: f(self.v10),
            v11: f(self.v11),
            v14: f(self.v14),
            v15: f(self.v15),
            sum_1_6: f(self.sum_1_6),
            sum_2_7: f(self.sum_2_7),
            mixed_13: f(self.mixed_13),
            h0: f(self.h0),
        }
    }
}

impl fmt::Debug for Precomputed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Precomputed")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}
