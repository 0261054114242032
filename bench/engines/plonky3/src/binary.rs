//! Additive encoding, in place on rows.

use std::error::Error;
use std::time::{Duration, Instant};

use bench_protocol::{Job, RowDigest, Sample, serve, words};
use p3_binary_dft::{AdditiveNtt, ButterflyField, LchNtt};
use p3_binary_field::{BinaryField64, Poly64};
use p3_matrix::dense::RowMajorMatrix;

/// Serves samples.
pub(crate) fn run(job: &Job, pool: &rayon::ThreadPool) -> Result<(), Box<dyn Error>> {
    match job.option("field").unwrap_or("poly") {
        "poly" => encode::<Poly64>(job, pool),
        "tower" => encode::<BinaryField64>(job, pool),
        other => Err(format!("unknown field: {other}").into()),
    }
}

fn encode<F: ButterflyField + From<Poly64> + Into<Poly64>>(
    job: &Job,
    pool: &rayon::ThreadPool,
) -> Result<(), Box<dyn Error>> {
    let mut message = F::zero_vec(job.rows() * job.columns);
    for index in 0..job.columns {
        for (row, word) in words(job, index).enumerate() {
            message[row * job.columns + index] = Poly64::new(word).into();
        }
    }
    // The transform works in place: one buffer goes in and comes back. The message, and the zeros that are asked for
    // behind it, are written outside the timed part.
    let mut values = F::zero_vec(message.len() << job.log_inv_rate);
    // Butterflies have vector kernels of their own, beside the packings of the fields.
    let facts = crate::facts(job, &format!("bits={}", F::bits()));
    serve(&facts, || {
        let (rows, tail) = values.split_at_mut(message.len());
        rows.copy_from_slice(&message);
        tail.fill(F::ZERO);
        let input = RowMajorMatrix::new(std::mem::take(&mut values), job.columns);
        let (total, codeword) = pool.install(|| {
            let start = Instant::now();
            let codeword = LchNtt::default().ntt_batch_padded(input, job.log_inv_rate as usize);
            (start.elapsed(), codeword)
        });
        values = codeword.values;
        let mut digest = RowDigest::default();
        for row in values.chunks_exact(job.columns) {
            digest.add(row.iter().map(|&word| word.into().to_bits()));
        }
        Ok(Sample {
            total,
            encode: total,
            hash: Duration::ZERO,
            root: digest.limbs(),
        })
    })
}
