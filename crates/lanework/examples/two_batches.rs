//! Commits twice, with few queries for a quick look, as a prover does that must see a challenge in between, and opens everything with one proof.
//!
//! `cargo run --release -p lanework --example two_batches`

use lanework::arch::Choice;
use lanework::arch::memory::Pages;
use lanework::field::koala::Ext4;
use lanework::fri::synthetic::Generator;
use lanework::fri::{
    self, Committer, Extension, Format, Grinding, OpenedBatch, OpenedTable, Opening, Params,
    ProofParams, Shape, Shifts, Sponge, Table,
};
use lanework::transcript::{Function, Transcript};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let format = Format::Plonky3 {
        sponge: Sponge::Width24,
    };
    let params = Params::builder(format).log_inv_rate(2).build()?;
    let proof_params = ProofParams::builder()
        .queries(60)
        .grinding(Grinding {
            query: 12,
            ..Grinding::default()
        })
        .build()?;
    let committer = Committer::new(params.clone())?;
    let label = "two batches 1";
    let mut transcript = Transcript::new(&Function::plonky3(), label, Choice::best());

    // The trace: a tall table, and a small one.
    let tall = Generator::Random { seed: 1 }.table(14, 12, Pages::Normal)?;
    let small = Generator::Random { seed: 2 }.table(9, 30, Pages::Normal)?;
    let (first, first_data, _) = committer.commit(vec![tall, small])?;

    // What depends on a challenge: a column of extension elements, the powers of the challenge.
    transcript.absorb_digests(first.digests());
    let challenge = Ext4::from_limbs(&transcript.squeeze_elements::<4>());
    let powers: Vec<Ext4> = lanework::field::powers(challenge).take(1 << 14).collect();
    let table = Table::copied(&[], &[&powers], Pages::Normal)?;
    let (second, second_data, _) = committer.commit(vec![table])?;

    // Columns of the trace at the point alone, the extension column at the next row too.
    let first_shifts = [Shifts::uniform(12, &[0]), Shifts::uniform(30, &[0])];
    let second_shifts = [Shifts::uniform(1, &[0, 1])];
    let extension = Shape {
        ext_width: 1,
        ext_degree: 4,
        ..Shape::base(14, 0)
    };
    let shapes = [Shape::base(14, 12), Shape::base(9, 30)];
    let tables = shapes.iter().zip(&first_shifts);
    let batches = [
        OpenedBatch {
            commitment: first.clone(),
            tables: tables
                .map(|(&shape, shifts)| OpenedTable {
                    shape,
                    shifts: shifts.clone(),
                })
                .collect(),
        },
        OpenedBatch {
            commitment: second.clone(),
            tables: vec![OpenedTable {
                shape: extension,
                shifts: second_shifts[0].clone(),
            }],
        },
    ];
    let mut verifier = transcript.clone();
    let zeta: Ext4 = fri::sample_point(&params, &proof_params, &mut transcript, &batches);
    let openings = [
        Opening::new(&first, &first_data, &first_shifts),
        Opening::new(&second, &second_data, &second_shifts),
    ];
    let (statement, proof, report) =
        committer.open(&proof_params, &mut transcript, &openings, zeta)?;
    println!("opened in {:?}, {:?}", report.total, proof.sizes());

    let point: Ext4 = fri::sample_point(&params, &proof_params, &mut verifier, &batches);
    assert_eq!(point, statement.zeta);
    assert_eq!(statement.batches, batches);
    fri::verify(&params, &proof_params, &mut verifier, &statement, &proof)?;

    let values = statement.values(1, 0, 0).ok_or("the column")?;
    println!("verified; the powers at the point: {:?}", values[0]);
    Ok(())
}
