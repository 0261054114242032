//! Times the passes of an additive encoding.
use lanework_arch::{
    Choice,
    cpu::Caches,
    memory::{Pages, Slab},
    threads::Threads,
};
use lanework_ntt::additive::{Encoder, Representation, Shape};
use std::time::Instant;

fn main() {
    let args: Vec<usize> = std::env::args()
        .skip(1)
        .map(|a| a.parse().unwrap())
        .collect();
    let (log_rows, log_inv_rate, lanes, threads) =
        (args[0] as u32, args[1] as u32, args[2], args[3]);
    let mut caches = Caches::detect();
    if let Some(&l2) = args.get(4) {
        caches.l2_bytes = l2 << 10;
    }
    let shape = Shape {
        log_rows,
        log_inv_rate,
        lanes,
    };
    let choice = std::env::var("ISA").map_or(Choice::best(), |t| t.parse().unwrap());
    let encoder = Encoder::new(shape, choice, caches, threads).unwrap();
    println!("{encoder:?}");
    let mut code = Slab::<u64>::zeroed(shape.codeword_len(), Pages::Huge).unwrap();
    let mut message = Slab::<u64>::zeroed(shape.message_len(), Pages::Huge).unwrap();
    let mut state = 1u64;
    for w in message.iter_mut() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        *w = state ^ state >> 29;
    }
    code.fill(1);
    let lane_list: Vec<&[u64]> = message.chunks(1 << log_rows).collect();
    let pool = Threads::new(threads.try_into().unwrap()).unwrap();
    pool.install(|| {
        let mut best = [f64::MAX; 4]; let mut gather = f64::MAX;
        for _ in 0..5 {
            let n = shape.message_len();
            let t = Instant::now();
            encoder.rows_of(&lane_list, Representation::Polynomial, &mut code[..n]);
            let a = t.elapsed().as_secs_f64();
            let t = Instant::now();
            let first = std::sync::Mutex::new(0.0);
            let parts = vec![Some(()); code.len() / lanes / encoder.block_rows()];
            encoder.encode_blocks(None, &mut code, 0..1 << log_inv_rate, parts, |(), _| { let mut f = first.lock().unwrap(); if *f == 0.0 { *f = t.elapsed().as_secs_f64() } }).unwrap();
            gather = gather.min(first.into_inner().unwrap() * 1e3);
            let b = t.elapsed().as_secs_f64();
            let t = Instant::now();
            for w in code.chunks_mut(1 << 16) { for x in w { *x ^= 0x55; } }
            let c = t.elapsed().as_secs_f64();
            for (best, x) in best.iter_mut().zip([a, b, a + b, c]) { *best = best.min(x * 1e3); }
        }
        let butterflies = (shape.codeword_len() / 2) as f64 * log_rows as f64;
        println!("gather {gather:.1}, transpose {:.1} ms, encode {:.1} ms ({:.4} ns per butterfly and thread), both {:.1} ms; sweep {:.1} ms", best[0], best[1], best[1] * 1e6 * threads as f64 / butterflies, best[2], best[3]);
    });
}
