use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_field::gf2::T64;

use super::{Encoder, Shape};

fn random(len: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        })
        .collect()
}

fn reference(shape: Shape, rows: &[u64]) -> Vec<u64> {
    let n = shape.log_rows + shape.log_inv_rate;
    let mut code: Vec<u64> = (0..1 << shape.log_inv_rate).flat_map(|_| rows.to_vec()).collect();
    for layer in shape.log_inv_rate..n {
        let half = 1_usize << (n - 1 - layer);
        for block in 0..1_usize << layer {
            let t = T64::omega(2 * block as u64);
            for p in block * 2 * half..block * 2 * half + half {
                for lane in 0..shape.lanes {
                    let (i, j) = (p * shape.lanes + lane, (p + half) * shape.lanes + lane);
                    let u = T64(code[i]) + t * T64(code[j]);
                    code[i] = u.0;
                    code[j] ^= u.0;
                }
            }
        }
    }
    code
}

#[test]
fn encodes() {
    for (log_rows, log_inv_rate, lanes) in [(3, 1, 1), (4, 2, 3), (6, 1, 8), (9, 1, 5), (10, 2, 13), (12, 1, 8), (13, 1, 3)] {
        let shape = Shape { log_rows, log_inv_rate, lanes };
        let rows = random(shape.message_len(), 5);
        let want = reference(shape, &rows);
        for l2 in [1 << 9, 1 << 12, 1 << 15, 1 << 21] {
            for threads in [1, 2] {
                let encoder = Encoder::new(shape, Choice::best(), Caches::new(1 << 12, l2, 0), threads).unwrap();
                let mut code = vec![0; shape.codeword_len()];
                encoder.encode(&rows, &mut code);
                assert!(code == want, "{encoder:?}");
                code.fill(7);
                code[..rows.len()].copy_from_slice(&rows);
                encoder.encode_in_place(&mut code);
                assert!(code == want, "in place {encoder:?}");
            }
        }
    }
}
