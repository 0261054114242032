//! Additive encoding, from lanes of polynomial words to rows of the codeword in words of the tower.

use std::error::Error;
use std::num::NonZero;
use std::time::{Duration, Instant};

use bench_protocol::{Job, RowDigest, Sample, serve, words};
use lanework::arch::Choice;
use lanework::arch::cpu::Caches;
use lanework::arch::memory::{Pages, Slab};
use lanework::arch::threads::Threads;
use lanework::field::gf2::T64;
use lanework::ntt::additive::{Encoder, Representation, Shape};

/// Serves samples.
pub(crate) fn run(job: &Job, choice: Choice) -> Result<(), Box<dyn Error>> {
    let shape = Shape {
        log_rows: job.log_rows,
        log_inv_rate: job.log_inv_rate,
        lanes: job.columns,
    };
    let pages = match job.option("pages") {
        Some("huge") | None => Pages::Huge,
        Some("normal") => Pages::Normal,
        Some(other) => return Err(format!("unknown pages: {other}").into()),
    };
    let threads = Threads::new(NonZero::new(job.threads).ok_or("no threads")?)?;
    let encoder = Encoder::new(shape, choice, Caches::detect(), job.threads)?;
    let lanes: Vec<Vec<u64>> = (0..job.columns)
        .map(|index| words(job, index).collect())
        .collect();
    let lanes: Vec<&[u64]> = lanes.iter().map(Vec::as_slice).collect();
    let map = byte_map();
    let mut codeword = Slab::<u64>::zeroed(shape.codeword_len(), pages)?;
    serve(&crate::facts(job, choice), || {
        let start = Instant::now();
        let (result, transposed) = threads.install(|| {
            let message = &mut codeword[..shape.message_len()];
            encoder.rows_of(&lanes, Representation::Polynomial, message);
            let transposed = Instant::now();
            (encoder.encode_in_place(&mut codeword), transposed)
        });
        result?;
        let done = Instant::now();
        let mut digest = RowDigest::default();
        for row in codeword.chunks_exact(shape.lanes) {
            digest.add(row.iter().map(|&word| polynomial(&map, word)));
        }
        Ok(Sample {
            total: done - start,
            encode: done - transposed,
            hash: Duration::ZERO,
            root: digest.limbs(),
        })
    })
}

/// The polynomial words of the tower's bytes: value v of byte i at 256 i + v.
fn byte_map() -> Vec<u64> {
    (0..8 * 256_u64)
        .map(|entry| T64((entry & 255) << (8 * (entry >> 8))).to_polynomial_word())
        .collect()
}

fn polynomial(map: &[u64], word: u64) -> u64 {
    let bytes = word.to_le_bytes().into_iter();
    map.chunks_exact(256)
        .zip(bytes)
        .fold(0, |sum, (map, byte)| sum ^ map[usize::from(byte)])
}
