//! The isomorphisms as maps of bytes, for `gf2p8affineqb`.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "of x86 alone"))]

use super::super::spec::{POLYNOMIAL_TO_TOWER, TOWER_TO_POLYNOMIAL};

pub(super) static TO_TOWER: Matrices = Matrices::new(&POLYNOMIAL_TO_TOWER);
pub(super) static TO_POLYNOMIAL: Matrices = Matrices::new(&TOWER_TO_POLYNOMIAL);

/// A linear map of 64 bits as 64 maps of bytes: word p of vector k maps input byte (p + k) mod 8 to output byte p.
#[repr(C, align(64))]
pub(super) struct Matrices(pub(super) [[u64; 8]; 8]);

impl Matrices {
    const fn new(columns: &[u64; 64]) -> Self {
        let mut matrices = [[0; 8]; 8];
        let (mut k, mut p) = (0, 0);
        while k < 8 {
            let q = (p + k) % 8;
            // `gf2p8affineqb` has the row of output bit i in byte 7 - i.
            let (mut i, mut j) = (0, 0);
            while i < 8 {
                let entry = columns[8 * q + j] >> (8 * p + i) & 1;
                matrices[k][p] |= entry << (8 * (7 - i) + j);
                j += 1;
                if j == 8 {
                    (i, j) = (i + 1, 0);
                }
            }
            p += 1;
            if p == 8 {
                (k, p) = (k + 1, 0);
            }
        }
        Self(matrices)
    }
}
