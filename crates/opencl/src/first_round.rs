//! What the first round of Blake2b makes of a root, whatever the nonce.
//!
//! The nonce enters the first column only. The other three, and what the diagonals compute before they
//! meet a word of the first column, are done here once for all nonces.

use crate::Root;

/// Blake2b's initialisation vector, RFC 7693 section 2.6.
const IV: [u64; 8] = [
    0x6a09e667f3bcc908,
    0xbb67ae8584caa73b,
    0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1,
    0x510e527fade682d1,
    0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b,
    0x5be0cd19137e2179,
];

/// How many words [`constants`] has.
pub(crate) const LEN: usize = 16;

/// Message words 1 to 4; v3, v5, v6, v7, v9, v10, v11, v14 and v15 after the columns of the first round;
/// v1 + v6, v2 + v7, and v13 mixed with v2 + v7. The order is that in which `work.cl` reads them.
pub(crate) fn constants(root: &Root) -> [u64; LEN] {
    let [m1, m2, m3, m4] =
        std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|j| root[8 * i + j])));
    let (v1, v5, v9, v13) = column(IV[1], IV[5], IV[1], IV[5], m2, m3);
    let (v2, v6, v10, v14) = column(IV[2], IV[6], IV[2], !IV[6], m4, 0);
    let (v3, v7, v11, v15) = column(IV[3], IV[7], IV[3], IV[7], 0, 0);
    let sum_1_6 = v1.wrapping_add(v6);
    let sum_2_7 = v2.wrapping_add(v7);
    let mixed_13 = (v13 ^ sum_2_7).rotate_right(32);
    [
        m1, m2, m3, m4, v3, v5, v6, v7, v9, v10, v11, v14, v15, sum_1_6, sum_2_7, mixed_13,
    ]
}

/// A quarter of a round, RFC 7693 section 3.1.
fn column(a: u64, b: u64, c: u64, d: u64, x: u64, y: u64) -> (u64, u64, u64, u64) {
    let a = a.wrapping_add(b).wrapping_add(x);
    let d = (d ^ a).rotate_right(32);
    let c = c.wrapping_add(d);
    let b = (b ^ c).rotate_right(24);
    let a = a.wrapping_add(b).wrapping_add(y);
    let d = (d ^ a).rotate_right(16);
    let c = c.wrapping_add(d);
    let b = (b ^ c).rotate_right(63);
    (a, b, c, d)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const SIGMA: [[usize; 16]; 10] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ];

    /// The value of a nonce, with the first round taken from the constants.
    fn finish(constants: [u64; LEN], nonce: u64) -> u64 {
        let [
            m1,
            m2,
            m3,
            m4,
            v3,
            v5,
            v6,
            v7,
            v9,
            v10,
            v11,
            v14,
            v15,
            sum_1_6,
            sum_2_7,
            mixed_13,
        ] = constants;
        let h0 = IV[0] ^ 0x0101_0008;
        let (v0, v4, v8, v12) = column(h0, IV[4], IV[0], IV[4] ^ 0x28, nonce, m1);
        // The sums were taken before the diagonals, so they are undone for the whole quarter.
        let v1 = sum_1_6.wrapping_sub(v6);
        let v2 = sum_2_7.wrapping_sub(v7);
        let v13 = mixed_13.rotate_left(32) ^ sum_2_7;
        let mut v = [
            v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15,
        ];
        let mut message = [0; 16];
        message[..5].copy_from_slice(&[nonce, m1, m2, m3, m4]);
        let mut mix = |[a, b, c, d]: [usize; 4], x: usize, y: usize| {
            (v[a], v[b], v[c], v[d]) = column(v[a], v[b], v[c], v[d], message[x], message[y]);
        };
        for round in 0..12 {
            let s = SIGMA[round % 10];
            for i in 0..4 {
                if round > 0 {
                    mix([i, i + 4, i + 8, i + 12], s[2 * i], s[2 * i + 1]);
                }
            }
            for i in 0..4 {
                let [b, c, d] = [1, 2, 3].map(|k| 4 * k + (i + k) % 4);
                mix([i, b, c, d], s[8 + 2 * i], s[9 + 2 * i]);
            }
        }
        h0 ^ v[0] ^ v[8]
    }

    #[test]
    fn the_other_rounds_lead_to_the_known_answers() {
        let path = lanework_testkit::vectors::path("nano.json");
        let vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        assert!(vectors.len() >= 20);
        for vector in &vectors {
            let text = |key: &str| vector[key].as_str().unwrap();
            let root: Root = std::array::from_fn(|i| {
                u8::from_str_radix(&text("root")[2 * i..2 * i + 2], 16).unwrap()
            });
            let word = |key: &str| u64::from_str_radix(text(key), 16).unwrap();
            assert_eq!(
                finish(constants(&root), word("work")),
                word("value"),
                "{vector}"
            );
        }
    }
}
