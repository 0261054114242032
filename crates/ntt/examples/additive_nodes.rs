//! ns per butterfly of nodes in the second-level cache, by class of twiddle.
use lanework_arch::Choice;
use lanework_ntt::additive::{Representation, Transform};
use std::time::Instant;
fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let choices: Vec<Choice> = if names.is_empty() {
        [
            "avx512",
            "avx2",
            "avx512,-gfni",
            "avx2,-gfni",
            "portable",
            "neon",
        ]
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect()
    } else {
        names.iter().map(|name| name.parse().unwrap()).collect()
    };
    for choice in choices {
        for log in [3_u32, 2, 1] {
            for (name, lanes) in [
                ("long", (512 * 56) >> log),
                ("row", 56),
                ("L1", 4096 >> log),
            ] {
                for (class, block) in [("zero", 0), ("one", 9), ("two", 300), ("four", 70000)] {
                    let t = Transform::new(log, lanes, 20, Representation::Tower, choice).unwrap();
                    let mut rows = lanework_arch::memory::Slab::<u64>::zeroed(
                        512 * 56,
                        lanework_arch::memory::Pages::Huge,
                    )
                    .unwrap();
                    for (i, r) in rows.iter_mut().enumerate() {
                        *r = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    }
                    let mut best = f64::MAX;
                    for _ in 0..300 {
                        let start = Instant::now();
                        let n = if name == "L1" { 4096 } else { 512 * 56 };
                        for _ in 0..512 * 56 / n {
                            for (i, rows) in rows[..n].chunks_mut(lanes << log).enumerate() {
                                t.forward(rows, if block == 0 { 0 } else { block + (i & 7) });
                            }
                        }
                        best = best.min(start.elapsed().as_secs_f64());
                    }
                    println!(
                        "{:12} radix {} {name:4} {class:4}: {:.4} ns per butterfly",
                        t.kernel_name(),
                        1 << log,
                        best * 1e9 / (256.0 * 56.0 * log as f64)
                    );
                }
            }
        }
    }
}
