//! Openings: commit to a table, open it at a point and the next row, verify.

use std::error::Error;
use std::time::Instant;

use bench_protocol::{Job, OpenSample, serve_openings};
use p3_challenger::{CanObserve, DuplexChallenger, FieldChallenger};
use p3_commit::{ExtensionMmcs, Pcs};
use p3_dft::Radix2DitParallel;
use p3_field::TwoAdicField;
use p3_field::extension::BinomialExtensionField;
use p3_fri::{FriParameters, TwoAdicFriPcs};
use p3_koala_bear::{KoalaBear, default_koalabear_poseidon2_16, default_koalabear_poseidon2_24};
use p3_matrix::dense::RowMajorMatrix;

use crate::{Compress, Perm16, Sponge24, Tree};

type Challenge = BinomialExtensionField<KoalaBear, 4>;
type Challenger = DuplexChallenger<KoalaBear, Perm16, 16, 8>;
type Mmcs = Tree<Sponge24>;
type Scheme = TwoAdicFriPcs<
    KoalaBear,
    Radix2DitParallel<KoalaBear>,
    Mmcs,
    ExtensionMmcs<KoalaBear, Challenge, Mmcs>,
>;

/// Options beside those of commitments: `queries`, `grinding` (bits before the queries), `final` (log2 of the
/// coefficients).
pub(crate) fn run(job: &Job, pool: &rayon::ThreadPool) -> Result<(), Box<dyn Error>> {
    let number = |name: &str, otherwise: usize| match job.option(name) {
        Some(text) => text.parse(),
        None => Ok(otherwise),
    };
    let tree = Mmcs::new(
        Sponge24::new(default_koalabear_poseidon2_24()),
        Compress::new(default_koalabear_poseidon2_16()),
        0,
    );
    let parameters = FriParameters {
        log_blowup: job.log_inv_rate as usize,
        log_final_poly_len: number("final", 6)?,
        max_log_arity: 3,
        num_queries: number("queries", 100)?,
        batch_proof_of_work_bits: 0,
        commit_proof_of_work_bits: 0,
        query_proof_of_work_bits: number("grinding", 16)?,
        mmcs: ExtensionMmcs::new(tree.clone()),
    };
    let scheme = Scheme::new(Radix2DitParallel::default(), tree, parameters);
    let table = crate::row_major(job);
    let domain =
        <Scheme as Pcs<Challenge, Challenger>>::natural_domain_for_degree(&scheme, job.rows());
    let facts = crate::facts(job, "arity=8");
    serve_openings(&facts, || {
        let values = crate::with_room(&table, job.log_inv_rate);
        // Errors of Plonky3 do not all go from thread to thread; their texts do.
        let sample = pool.install(|| -> Result<OpenSample, String> {
            let start = Instant::now();
            let matrix = RowMajorMatrix::new(values, job.columns);
            let (commitment, data) =
                <Scheme as Pcs<Challenge, Challenger>>::commit(&scheme, [(domain, matrix)])
                    .map_err(|error| format!("{error:?}"))?;
            let commit = start.elapsed();

            let start = Instant::now();
            let mut prover = Challenger::new(default_koalabear_poseidon2_16());
            prover.observe(commitment.clone());
            let zeta: Challenge = prover.sample_algebra_element();
            let mut verifier = prover.clone();
            let next = zeta * KoalaBear::two_adic_generator(job.rows().ilog2() as usize);
            let points = vec![vec![zeta, next]];
            let (values, proof) = scheme
                .open(vec![(&data, points).into()], &mut prover)
                .map_err(|error| format!("{error:?}"))?;
            let open = start.elapsed();

            let start = Instant::now();
            let claims = vec![(
                domain,
                vec![
                    (zeta, values[0][0][0].clone()),
                    (next, values[0][0][1].clone()),
                ],
            )];
            scheme
                .verify(vec![(commitment, claims).into()], &proof, &mut verifier)
                .map_err(|error| format!("{error:?}"))?;
            let verify = start.elapsed();
            Ok(OpenSample {
                commit,
                open,
                verify,
                proof_bytes: postcard::to_allocvec(&proof)
                    .map_err(|error| error.to_string())?
                    .len(),
            })
        });
        Ok(sample?)
    })
}
