//! How long the kernels over GF(2^64) and GF(2^192) take, for every kernel this CPU runs.
//!
//! Usage: `gf2_bench [LOG_LEN]`, with 2^`LOG_LEN` elements per slice (10 by default, which stays in the first-level
//! cache for K). Prints nanoseconds per element: the best of many runs, and their median.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "times for display"
)]

use std::hint::black_box;
use std::time::Instant;

use lanework_field::gf2::{B64, B192, Rows};
use lanework_field::powers;

const SAMPLES: usize = 25;

/// Prints the time of `run` per element, of which it handles `len`.
fn measure(kernel: &str, name: &str, len: usize, mut run: impl FnMut()) {
    let mut time = |repeats: usize| {
        let start = Instant::now();
        for _ in 0..repeats {
            run();
        }
        start.elapsed().as_secs_f64() / repeats as f64
    };
    let once = time(1).min(time(1));
    let repeats = (4e-3 / once).ceil() as usize;
    let mut samples: Vec<f64> = (0..SAMPLES).map(|_| time(repeats)).collect();
    samples.sort_by(f64::total_cmp);
    let per_element = |seconds: f64| seconds * 1e9 / len as f64;
    println!(
        "{kernel:17} {name:20} {:8.4} {:8.4}",
        per_element(samples[0]),
        per_element(samples[SAMPLES / 2])
    );
}

fn main() {
    let log_len = std::env::args().nth(1).map_or(Ok(10), |text| text.parse());
    let Ok(log_len @ 1..=24) = log_len else {
        eprintln!("usage: gf2_bench [LOG_LEN], from 1 to 24");
        std::process::exit(2);
    };
    let len: usize = 1 << log_len;
    let start = B64(0x0109_0913_877e_d8ed);
    let x: Vec<B64> = powers(start).take(len).collect();
    let y: Vec<B64> = powers(start + B64::ONE).take(len).collect();
    let c = B64(0x66ab_35ac_2768_468f);
    let start = B192::new([start.0, c.0, 3]);
    let ex: Vec<B192> = powers(start).take(len).collect();
    let ey: Vec<B192> = powers(start + B192::ONE).take(len).collect();
    let ec = start * start;
    let mut out = vec![B64::ZERO; len];
    let mut eout = vec![B192::ZERO; len];
    let (point, epoint) = (&x[..log_len], &ex[..log_len]);

    println!(
        "{:17} {:20} {:>8} {:>8}",
        "kernel", "per element", "best", "median"
    );
    for rows in Rows::available() {
        let name = rows.name();
        measure(name, "K mul", len, || rows.mul(black_box(&x), &y, &mut out));
        measure(name, "K scale", len, || rows.scale(black_box(c), &mut out));
        measure(name, "K add_scaled", len, || {
            rows.add_scaled(black_box(c), &x, &mut out);
        });
        measure(name, "K dot", len, || {
            black_box(rows.dot(black_box(&x), &y));
        });
        measure(name, "K eq", len, || {
            rows.fill_eq_table_base(black_box(c), point, &mut out);
        });
        measure(name, "K.E dot", len, || {
            black_box(rows.dot_mixed(black_box(&x), &ey));
        });
        measure(name, "K.E add_multiples", len, || {
            rows.add_multiples(black_box(ec), &x, &mut eout);
        });
        measure(name, "K fold (of 2)", len / 2, || {
            rows.fold_base(black_box(ec), &x, &mut eout[..len / 2]);
        });
        measure(name, "E mul", len, || {
            rows.mul_extension(black_box(&ex), &ey, &mut eout);
        });
        measure(name, "E scale", len, || {
            rows.scale_extension(black_box(ec), &mut eout);
        });
        measure(name, "E scale by K", len, || {
            rows.scale_extension_by_base(black_box(c), &mut eout);
        });
        measure(name, "E dot", len, || {
            black_box(rows.dot_extension(black_box(&ex), &ey));
        });
        measure(name, "E eq", len, || {
            rows.fill_eq_table(black_box(ec), epoint, &mut eout);
        });
        measure(name, "E fold (of 2)", len / 2, || {
            rows.fold_extension(black_box(ec), &ex, &mut eout[..len / 2]);
        });
    }
}
