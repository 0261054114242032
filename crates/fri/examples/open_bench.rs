//! Times commit, open and verify: `open_bench LOG_ROWS COLUMNS DEGREE QUERIES THREADS [ROUNDS]`.

use std::num::NonZero;
use std::time::Instant;

use lanework_arch::Choice;
use lanework_arch::memory::Pages;
use lanework_field::koala::{Ext4, Ext6};
use lanework_fri::synthetic::Generator;
use lanework_fri::{
    Committer, Extension, Format, Grinding, OpenedBatch, OpenedTable, Opening, Params, ProofParams,
    Shape, Shifts, Sponge, sample_point, verify,
};
use lanework_transcript::{Function, Transcript};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<usize> = std::env::args()
        .skip(1)
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let [log_rows, columns, degree, queries, threads, ref rest @ ..] = arguments[..] else {
        return Err("LOG_ROWS COLUMNS DEGREE QUERIES THREADS [ROUNDS]".into());
    };
    let rounds = rest.first().copied().unwrap_or(3);
    match degree {
        4 => run::<Ext4>(log_rows as u32, columns, queries as u32, threads, rounds),
        _ => run::<Ext6>(log_rows as u32, columns, queries as u32, threads, rounds),
    }
}

fn run<E: Extension>(
    log_rows: u32,
    columns: usize,
    queries: u32,
    threads: usize,
    rounds: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let format = Format::Plonky3 {
        sponge: Sponge::Width24,
    };
    let params = Params::builder(format)
        .threads(NonZero::new(threads))
        .build()?;
    let proof_params = ProofParams::builder()
        .queries(queries)
        .grinding(Grinding {
            query: 16,
            ..Grinding::default()
        })
        .build()?;
    let committer = Committer::new(params.clone())?;
    let mut tables = Vec::new();
    for round in 0..rounds {
        let table = match tables.pop() {
            Some(table) => table,
            None => committer
                .threads()
                .install(|| Generator::Random { seed: 1 }.table(log_rows, columns, Pages::Huge))?,
        };
        let start = Instant::now();
        let (commitment, data, _) = committer.commit(vec![table])?;
        let commit = start.elapsed();
        let start = Instant::now();
        let shifts = [Shifts::uniform(columns, &[0, 1])];
        let mut transcript = Transcript::new(&Function::plonky3(), "bench", Choice::best());
        let batch = OpenedBatch {
            commitment: commitment.clone(),
            tables: vec![OpenedTable {
                shape: Shape::base(log_rows, columns),
                shifts: shifts[0].clone(),
            }],
        };
        let zeta: E = sample_point(&params, &proof_params, &mut transcript, &[batch]);
        let mut same = transcript.clone();
        let openings = [Opening::new(&commitment, &data, &shifts)];
        let (statement, proof, report) =
            committer.open(&proof_params, &mut transcript, &openings, zeta)?;
        let open = start.elapsed();
        let start = Instant::now();
        verify(&params, &proof_params, &mut same, &statement, &proof)?;
        let verified = start.elapsed();
        println!(
            "{round}: commit {commit:.1?} open {open:.1?} verify {verified:.1?} {report:.1?} {:?}",
            proof.sizes()
        );
        tables = committer.recycle(data);
    }
    Ok(())
}
