//! How long products of tower words by constants take, by the size of the constant, and conversions, for every
//! kernel this CPU runs; beside them the products in K.
//!
//! Usage: `gf2_bytes_bench`. Prints nanoseconds per word: the best of many runs over words in the first-level cache.

use std::hint::black_box;
use std::time::Instant;

use lanework_field::gf2::bytes::TowerRows;
use lanework_field::gf2::{B64, Rows, T64};

const LEN: usize = 1 << 10;

/// Prints the time of `run` per word.
fn measure(kernel: &str, name: &str, mut run: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..400 {
        let start = Instant::now();
        for _ in 0..8 {
            run();
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    let nanoseconds = best * 1e9 / f64::from(8 * LEN as u32);
    println!("{kernel:17} {name:16} {nanoseconds:8.4}");
}

fn main() {
    let mut words = [T64(0); LEN];
    for (i, word) in words.iter_mut().enumerate() {
        *word = T64((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    let mut sums = words;
    let mut elements = [B64(0); LEN];
    for rows in TowerRows::available() {
        let name = rows.name();
        for (class, constant) in [
            ("1 byte", 0xc3),
            ("2 bytes", 0x8e6d),
            ("4 bytes", 0x245f_2141),
            ("8 bytes", 0x0cc2_f2e0_b47a_ab15),
        ] {
            measure(name, class, || {
                rows.add_scaled(black_box(T64(constant)), &words, &mut sums);
            });
        }
        measure(name, "to polynomial", || {
            rows.to_polynomial(black_box(&words), &mut elements);
        });
        measure(name, "to tower", || {
            rows.to_tower(black_box(&elements), &mut words);
        });
    }
    let mut sums = elements;
    for rows in Rows::available() {
        measure(rows.name(), "K add_scaled", || {
            rows.add_scaled(black_box(B64(0x245f_2141)), &elements, &mut sums);
        });
    }
}
