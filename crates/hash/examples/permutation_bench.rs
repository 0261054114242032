//! Nanoseconds per permutation of every kernel of this CPU: many states, rows of a table, and
//! Merkle levels. The least of many short repeats, since the machine may be shared.

use std::hint::black_box;
use std::time::Instant;

use lanework_arch::Choice;
use lanework_field::KoalaBear;
use lanework_hash::{
    Cell, Compression, Digest, MerkleDamgard, PaddingFreeSponge, Poseidon2, RoundConstants,
    RowHasher, TruncatedPermutation,
};

/// Nanoseconds of one of the `count` operations that `run` does.
fn least(count: u32, mut run: impl FnMut()) -> f64 {
    (0..60)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e9 / f64::from(count)
        })
        .fold(f64::INFINITY, f64::min)
}

fn values(len: usize) -> Vec<KoalaBear> {
    (0..len as u64)
        .map(|i| KoalaBear::from_u64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8))
        .collect()
}

fn states<const WIDTH: usize>() -> Vec<[KoalaBear; WIDTH]> {
    values(1024 * WIDTH).as_chunks::<WIDTH>().0.to_vec()
}

fn permutation<const WIDTH: usize>(title: &str, permutation: &Poseidon2<WIDTH>) {
    let mut state = states::<WIDTH>()[1];
    let one = least(256, || {
        for _ in 0..256 {
            permutation.permute(black_box(&mut state));
        }
    });
    let mut states = states::<WIDTH>();
    let many = least(states.len() as u32, || {
        permutation.permute_many(black_box(&mut states));
    });
    let kernel = permutation.kernel();
    println!("{kernel:12} {title:10} permute {one:8.1}   permute_many {many:8.1}");
}

/// Time per permutation of rows with `columns` cells, of which a block takes `rate`.
fn rows(kernel: &str, title: &str, hasher: &impl RowHasher, columns: usize, rate: usize) {
    let rows = 1 << 15 >> columns.ilog2();
    let table: Vec<_> = (0..columns).map(|_| values(rows)).collect();
    let cells: Vec<_> = table.iter().map(|column| Cell::Column(column)).collect();
    let mut digests = vec![Digest::ZERO; rows];
    let time = least((rows * columns.div_ceil(rate)) as u32, || {
        hasher.hash_rows(black_box(&cells), 0..rows, &mut digests);
    });
    println!("{kernel:12} {title:10} hash_rows of {columns:4} columns {time:8.1} per permutation");
}

fn level(kernel: &str, title: &str, compression: &impl Compression) {
    let children: Vec<_> = values(8 << 13)
        .as_chunks()
        .0
        .iter()
        .copied()
        .map(Digest)
        .collect();
    let mut parents = vec![Digest::ZERO; children.len() / 2];
    let time = least(parents.len() as u32, || {
        compression.compress_pairs(black_box(&children), &mut parents);
    });
    println!("{kernel:12} {title:10} compress_pairs {time:8.1}");
    let few = least(4, || {
        compression.compress_pairs(black_box(&children[..8]), &mut parents[..4]);
    });
    println!("{kernel:12} {title:10} compress_pairs of 4 {few:8.1}");
}

fn main() {
    let wanted: Vec<_> = std::env::args().skip(1).collect();
    for choice in Poseidon2::<16>::available() {
        if !wanted.is_empty() && !wanted.contains(&choice.to_string()) {
            continue;
        }
        bench(choice);
    }
}

fn bench(choice: Choice) {
    let plonky3 = Poseidon2::<16>::new(&RoundConstants::<16>::plonky3_default(), choice);
    let gnark = Poseidon2::<16>::new(&RoundConstants::<16>::gnark(), choice);
    let wide = Poseidon2::<24>::new(&RoundConstants::<24>::plonky3_default(), choice);
    let kernel = plonky3.kernel();
    permutation("w16", &plonky3);
    permutation("w16 gnark", &gnark);
    permutation("w24", &wide);
    for columns in [16, 256] {
        rows(
            kernel,
            "w16",
            &PaddingFreeSponge::<16, 8>::new(plonky3.clone()),
            columns,
            8,
        );
        rows(
            kernel,
            "w16 gnark",
            &MerkleDamgard::new(gnark.clone()),
            columns,
            8,
        );
        rows(
            kernel,
            "w24",
            &PaddingFreeSponge::<24, 16>::new(wide.clone()),
            columns,
            16,
        );
    }
    level(kernel, "w16", &TruncatedPermutation::new(plonky3));
    level(kernel, "w16 gnark", &MerkleDamgard::new(gnark));
}
