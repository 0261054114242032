//! Openings: commit to a table, open it at a point and the next row, verify.

use std::error::Error;
use std::num::NonZero;
use std::time::Instant;

use bench_protocol::{Job, OpenSample, column, serve_openings};
use lanework::arch::Choice;
use lanework::field::KoalaBear;
use lanework::field::koala::{Ext4, Ext6};
use lanework::fri::{
    Committer, Extension, Format, Grinding, OpenedBatch, OpenedTable, Opening, Params, ProofParams,
    Shape, Shifts, Sponge, Table, sample_point, verify,
};
use lanework::transcript::{Function, Transcript};

/// Options beside those of commitments: `queries`, `grinding` (bits before the queries), `final` (log2 of the
/// coefficients), `degree=4|6`.
pub(crate) fn run(job: &Job, choice: Choice) -> Result<(), Box<dyn Error>> {
    match job.option("degree").unwrap_or("4") {
        "4" => with::<Ext4>(job, choice),
        "6" => with::<Ext6>(job, choice),
        other => Err(format!("unknown degree: {other}").into()),
    }
}

fn with<E: Extension>(job: &Job, choice: Choice) -> Result<(), Box<dyn Error>> {
    let number = |name: &str, otherwise: u32| match job.option(name) {
        Some(text) => text.parse(),
        None => Ok(otherwise),
    };
    let params = Params::builder(Format::Plonky3 {
        sponge: Sponge::Width24,
    })
    .log_inv_rate(job.log_inv_rate)
    .choice(choice)
    .threads(NonZero::new(job.threads))
    .build()?;
    let proof_params = ProofParams::builder()
        .queries(number("queries", 100)?)
        .log_final_len(number("final", 6)?)
        .grinding(Grinding {
            query: number("grinding", 16)?,
            ..Grinding::default()
        })
        .build()?;
    let committer = Committer::new(params.clone())?;
    let log_rows = job.rows().ilog2();
    let columns: Vec<Vec<KoalaBear>> = (0..job.columns)
        .map(|index| column(job, index).map(KoalaBear::new).collect())
        .collect();
    let shifts = [Shifts::uniform(job.columns, &[0, 1])];
    serve_openings(&crate::facts(job, choice), || {
        let table = Table::borrowed(columns.iter().map(Vec::as_slice).collect())?;
        let start = Instant::now();
        let (commitment, data, _) = committer.commit(vec![table])?;
        let commit = start.elapsed();

        let start = Instant::now();
        let mut transcript = Transcript::new(&Function::plonky3(), "bench", choice);
        let batch = OpenedBatch {
            commitment: commitment.clone(),
            tables: vec![OpenedTable {
                shape: Shape::base(log_rows, job.columns),
                shifts: shifts[0].clone(),
            }],
        };
        let zeta: E = sample_point(&params, &proof_params, &mut transcript, &[batch]);
        let mut verifier = transcript.clone();
        let openings = [Opening::new(&commitment, &data, &shifts)];
        let (statement, proof, _) =
            committer.open(&proof_params, &mut transcript, &openings, zeta)?;
        let open = start.elapsed();

        let start = Instant::now();
        verify(&params, &proof_params, &mut verifier, &statement, &proof)?;
        let verify = start.elapsed();
        committer.recycle(data);
        Ok(OpenSample {
            commit,
            open,
            verify,
            proof_bytes: proof.to_bytes().len(),
        })
    })
}
