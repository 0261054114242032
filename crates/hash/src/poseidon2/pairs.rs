//! The lanes of the internal matrix that come in pairs with opposite diagonal entries.
//!
//! For two lanes with entries v and -v, let h be half their sum and e half their difference. A partial
//! round whose lane sum is t makes
//!
//! ```text
//! h' = t + v e,   e' = v h,   hence   h'' = t' + v^2 h
//! ```
//!
//! so that a pair costs one multiplication in place of two, and the sum of its lanes is 2 h. A
//! kernel keeps h of this round and g = h of the round before, for which e = v g; to begin with,
//! g = e / v.

use lanework_field::KoalaBear;

use super::spec::{DIAGONAL_16, DIAGONAL_24};

/// A pair of lanes, the one with the entry v first.
#[derive(Copy, Clone, Debug)]
pub(super) struct Pair {
    pub(super) plus: usize,
    pub(super) minus: usize,
    pub(super) v: KoalaBear,
    /// 1 / (2 v).
    pub(super) half_inverse: KoalaBear,
}

const fn pairs<const COUNT: usize>(
    diagonal: &[KoalaBear],
    lanes: [(usize, usize); COUNT],
) -> [Pair; COUNT] {
    const EMPTY: Pair = Pair {
        plus: 0,
        minus: 0,
        v: KoalaBear::ZERO,
        half_inverse: KoalaBear::ZERO,
    };
    let mut list = [EMPTY; COUNT];
    let mut i = 0;
    while i < COUNT {
        let (plus, minus) = lanes[i];
        let v = diagonal[plus];
        assert!(
            v.plus(diagonal[minus]).montgomery_word() == 0,
            "opposite entries"
        );
        let Some(half_inverse) = v.plus(v).inverse() else {
            panic!("an entry is zero")
        };
        list[i] = Pair {
            plus,
            minus,
            v,
            half_inverse,
        };
        i += 1;
    }
    list
}

/// v is 1/2, 3, 4, 2^-8, 2^-3, 2^-24.
pub(super) const PAIRS_16: [Pair; 6] = pairs(
    &DIAGONAL_16,
    [(3, 6), (4, 7), (5, 8), (9, 12), (10, 13), (11, 15)],
);

/// v is 1/2, 3, 4, 2^-8, 2^-3, 2^-4, 2^-5, 2^-6, 2^-24.
pub(super) const PAIRS_24: [Pair; 9] = pairs(
    &DIAGONAL_24,
    [
        (3, 6),
        (4, 7),
        (5, 8),
        (9, 16),
        (11, 17),
        (12, 18),
        (13, 19),
        (14, 20),
        (15, 23),
    ],
);

/// The lanes of no pair but lane 0: their entries are 1, 2, -2^-4.
pub(super) const SINGLES_16: [usize; 3] = [1, 2, 14];

/// Their entries are 1, 2, 2^-2, -2^-7, -2^-9.
pub(super) const SINGLES_24: [usize; 5] = [1, 2, 10, 21, 22];
