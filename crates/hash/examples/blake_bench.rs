//! Gigabytes per second of every kernel of this CPU on one thread: leaves of 512 bytes in the
//! second-level cache, the same out of memory, and nodes; beside them the published crates on the same
//! input. The least of many short repeats, since the machine may be shared.

use std::hint::black_box;
use std::time::Instant;

use blake2::Digest as _;
use lanework_hash::ByteDigest;
use lanework_hash::blake::{Blake, Function};

/// Gigabytes per second at best, if `run` hashes `bytes` bytes.
fn best(bytes: u32, repeats: usize, mut run: impl FnMut()) -> f64 {
    (0..repeats)
        .map(|_| {
            let start = Instant::now();
            run();
            f64::from(bytes) / start.elapsed().as_secs_f64() / 1e9
        })
        .fold(0.0, f64::max)
}

/// Hashes messages of `len` bytes, a whole number to the slice.
type Hash<'a> = dyn Fn(&[u8], usize, &mut [ByteDigest]) + 'a;

fn measure(title: &str, hash: &Hash<'_>) {
    const LEAF_BYTES: usize = 512;
    const ABSENT_BYTES: usize = 216;
    let mut out = vec![ByteDigest::ZERO; 1 << 17];
    let large: Vec<u8> = (0..1 << 26_u32).map(|i: u32| (i >> 3) as u8).collect();
    let mut rate = |bytes: usize, len: usize, repeats: usize| {
        let messages = &large[..bytes / len * len];
        best(messages.len() as u32, repeats, || {
            hash(black_box(messages), len, &mut out[..messages.len() / len]);
        })
    };
    let (leaves, short, nodes) = (
        rate(1 << 19, LEAF_BYTES, 300),
        rate(1 << 19, LEAF_BYTES - ABSENT_BYTES, 300),
        rate(1 << 18, 64, 300),
    );
    let memory = rate(1 << 26, LEAF_BYTES, 8);
    println!(
        "{title:24} leaves {leaves:6.2}   rows of {} bytes {short:6.2}   nodes {nodes:6.2}   leaves in memory {memory:6.2}",
        LEAF_BYTES - ABSENT_BYTES
    );
}

fn main() {
    for function in Function::ALL {
        for choice in Blake::available() {
            let blake = match function {
                Function::Blake3 => Blake::blake3(choice),
                _ => Blake::blake2s(choice),
            };
            let title = format!("{function} {}", blake.kernel_name());
            measure(&title, &|messages, len, out| {
                let zeros = if len.is_multiple_of(64) { 0 } else { 512 - len };
                blake.hash_many(&blake.zero_prefix(zeros), messages, len, len, out);
            });
        }
    }
    measure("crate blake3", &|messages, len, out| {
        for (message, digest) in messages.chunks_exact(len).zip(out) {
            digest.0 = blake3::hash(message).into();
        }
    });
    measure("crate blake2", &|messages, len, out| {
        for (message, digest) in messages.chunks_exact(len).zip(out) {
            digest.0 = blake2::Blake2s256::digest(message).into();
        }
    });
}
