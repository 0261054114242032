//! Openings and their verifier.

use lanework_arch::Choice;
use lanework_arch::memory::Pages;
use lanework_field::koala::{Ext4, Ext6};
use lanework_field::{Field, KoalaBear};
use lanework_fri::synthetic::Generator;
use lanework_fri::{
    ColumnSource, Commitment, Committed, Committer, Error, Extension, Format, Grinding, Header,
    MemoryMode, OpenedBatch, OpenedTable, Opening, Params, Proof, ProofParams, ProverData,
    RowOpening, Shape, ShapeError, Shifts, Sponge, Statement, Table, VerifyError, sample_point,
    verify,
};
use lanework_hash::{PaddingFreeSponge, Poseidon2, TruncatedPermutation};
use lanework_merkle::{Builder, mmcs};
use lanework_transcript::{Function, Transcript};

const FORMATS: [Format; 3] = [
    Format::Lineth,
    Format::Plonky3 {
        sponge: Sponge::Width16,
    },
    Format::Plonky3 {
        sponge: Sponge::Width24,
    },
];

/// A generator for cases: small numbers, and seeds.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn element<E: Extension>(&mut self) -> E {
        let limbs: Vec<_> = (0..E::DEGREE)
            .map(|_| KoalaBear::from_u64(self.next()))
            .collect();
        E::from_limbs(&limbs)
    }
}

/// Everything that a proof was made of.
struct Case<E> {
    params: Params,
    proof_params: ProofParams,
    function: Function,
    statement: Statement<E>,
    proof: Proof<E>,
}

impl<E: Extension> Case<E> {
    fn transcript(&self) -> Transcript {
        Transcript::new(&self.function, "test", Choice::portable())
    }

    fn verify(&self, statement: &Statement<E>, proof: &Proof<E>) -> Result<(), VerifyError> {
        verify(
            &self.params,
            &self.proof_params,
            &mut self.transcript(),
            statement,
            proof,
        )
    }
}

/// A table of 2^`log_rows` rows with random cells.
fn table(
    random: &mut Random,
    log_rows: u32,
    base: usize,
    ext: usize,
    degree: usize,
) -> Table<'static> {
    let generator = Generator::Random {
        seed: random.next(),
    };
    let table = generator
        .table(log_rows, base + ext * degree, Pages::Normal)
        .unwrap();
    if ext == 0 {
        table
    } else {
        table.with_extension(base, degree).unwrap()
    }
}

fn shifts(random: &mut Random, shape: Shape) -> Shifts {
    let rows = shape.rows_len();
    Shifts::each((0..shape.base_width + shape.ext_width).map(|_| {
        let mut shifts: Vec<usize> = match random.below(4) {
            0 => vec![0, 1, rows - 1],
            1 => vec![random.below(rows)],
            _ => vec![0],
        };
        shifts.retain(|&shift| shift < rows);
        shifts.sort_unstable();
        shifts.dedup();
        shifts
    }))
}

fn open<E: Extension, T: ColumnSource>(
    committer: &Committer,
    proof_params: ProofParams,
    function: Function,
    batches: &[(Commitment, ProverData<T>)],
    shifts: &[Vec<Shifts>],
    zeta: E,
) -> Case<E> {
    let openings: Vec<Opening<'_>> = batches
        .iter()
        .zip(shifts)
        .map(|((commitment, data), shifts)| Opening::new(commitment, data, shifts))
        .collect();
    let mut transcript = Transcript::new(&function, "test", Choice::best());
    let (statement, proof, _) = committer
        .open(&proof_params, &mut transcript, &openings, zeta)
        .unwrap();
    Case {
        params: committer.params().clone(),
        proof_params,
        function,
        statement,
        proof,
    }
}

/// f(z) for the polynomial with the values `column` on the roots of unity, by its coefficients.
fn evaluate<E: Extension>(column: &[KoalaBear], z: E) -> E {
    let n = column.len();
    let root = KoalaBear::two_adic_generator(n.ilog2()).inverse().unwrap();
    let count = KoalaBear::from_u64(n as u64).inverse().unwrap();
    let coefficient = |j: usize| {
        let terms = column
            .iter()
            .enumerate()
            .map(|(i, &y)| y * root.pow((i * j % n) as u64));
        terms.sum::<KoalaBear>() * count
    };
    (0..n)
        .rev()
        .fold(E::ZERO, |sum, j| sum * z + E::from(coefficient(j)))
}

fn check_claims<E: Extension, T: ColumnSource>(case: &Case<E>, tables: &[Vec<T>]) {
    for (batch, (opened, tables)) in case.statement.batches.iter().zip(tables).enumerate() {
        for (table, (opened, source)) in opened.tables.iter().zip(tables).enumerate() {
            let shape = opened.shape;
            let root = KoalaBear::two_adic_generator(shape.log_rows);
            let mut column = 0;
            for run in opened.shifts.runs() {
                for _ in 0..run.columns {
                    let claims = case.statement.values(batch, table, column).unwrap();
                    let (first, limbs) = if column < shape.base_width {
                        (column, 1)
                    } else {
                        let ext = column - shape.base_width;
                        (shape.base_width + ext * shape.ext_degree, shape.ext_degree)
                    };
                    for (&shift, &claim) in run.shifts.iter().zip(claims) {
                        let z = case.statement.zeta * root.pow(shift as u64);
                        let value: E = (0..limbs)
                            .map(|limb| {
                                let mut basis = vec![KoalaBear::ZERO; E::DEGREE];
                                basis[limb] = KoalaBear::ONE;
                                let mut buffer = vec![KoalaBear::ZERO; shape.rows_len()];
                                let cells = source.column(first + limb, &mut buffer);
                                evaluate(cells, z) * E::from_limbs(&basis)
                            })
                            .sum();
                        assert_eq!(
                            claim, value,
                            "batch {batch}, table {table}, column {column}"
                        );
                    }
                    column += 1;
                }
            }
            assert_eq!(case.statement.values(batch, table, column), None);
        }
    }
}

fn random_case<E: Extension>(seed: u64, choice: Choice, memory: MemoryMode) -> Case<E> {
    let mut random = Random(seed | 1);
    let format = FORMATS[random.below(3)];
    let degree = match format {
        // Extension columns of the lineth format are of degree 6.
        Format::Lineth if E::DEGREE != 6 => 0,
        _ => E::DEGREE,
    };
    let tables: Vec<Vec<Table<'_>>> = (0..=random.below(3))
        .map(|_| {
            let mut heights: Vec<u32> = (0..=random.below(3))
                .map(|_| random.below(8) as u32)
                .collect();
            if format == Format::Lineth {
                heights.sort_unstable();
                heights.dedup();
            }
            let tables = heights.into_iter().map(|log_rows| {
                let ext = if degree == 0 { 0 } else { random.below(3) };
                let base = random.below(20) + usize::from(ext == 0);
                table(&mut random, log_rows, base, ext, degree.max(1))
            });
            tables.collect()
        })
        .collect();
    let log_inv_rate = 1 + random.below(4) as u32;
    let mut params = Params::builder(format)
        .log_inv_rate(log_inv_rate)
        .choice(choice)
        .memory(memory)
        .pages(Pages::Normal);
    if format != Format::Lineth {
        // Every table enters the trees below the cap.
        let heights = tables
            .iter()
            .flatten()
            .map(|table| table.shape().log_rows + log_inv_rate);
        params = params.cap_height(random.below(heights.min().unwrap() as usize + 1) as u32);
    }
    let committer = Committer::new(params.build().unwrap()).unwrap();
    let shifts: Vec<Vec<Shifts>> = tables
        .iter()
        .map(|tables| {
            tables
                .iter()
                .map(|table| shifts(&mut random, table.shape()))
                .collect()
        })
        .collect();
    let batches: Vec<_> = tables
        .into_iter()
        .map(|tables| {
            let (commitment, data, _) = committer.commit(tables).unwrap();
            (commitment, data)
        })
        .collect();
    let proof_params = ProofParams::builder()
        .log_arity(1 + random.below(4) as u32)
        .log_final_len(random.below(4) as u32)
        .queries(1 + random.below(12) as u32)
        .grinding(Grinding {
            batch: random.below(4) as u32,
            fold: random.below(4) as u32,
            query: random.below(4) as u32,
        })
        .build()
        .unwrap();
    let function = match random.below(3) {
        0 => Function::plonky3(),
        1 => Function::blake3(),
        _ => Function::blake2s(),
    };
    let case = open(
        &committer,
        proof_params,
        function,
        &batches,
        &shifts,
        random.element::<E>(),
    );
    if memory == MemoryMode::Keep {
        let tables: Vec<Vec<&Table<'_>>> = batches
            .iter()
            .map(|(_, data)| data.tables().iter().collect())
            .collect();
        check_claims(&case, &tables);
    }
    case
}

fn check_case<E: Extension>(case: &Case<E>, name: &str) {
    assert_eq!(case.verify(&case.statement, &case.proof), Ok(()), "{name}");
    let bytes = case.proof.to_bytes();
    assert_eq!(case.proof.sizes().total, bytes.len());
    assert_eq!(
        Proof::<E>::from_bytes(&bytes).as_ref(),
        Ok(&case.proof),
        "{name}"
    );
    assert_eq!(Header::from_bytes(&bytes), Ok(case.proof.header));
}

#[test]
fn honest_proofs_are_accepted() {
    for seed in 1..80 {
        let case = random_case::<Ext4>(seed * 0x9e37_79b9, Choice::best(), MemoryMode::Keep);
        check_case(&case, &format!("degree 4, seed {seed}"));
        let case = random_case::<Ext6>(seed * 0x9e37_79b9, Choice::best(), MemoryMode::Keep);
        check_case(&case, &format!("degree 6, seed {seed}"));
    }
}

#[test]
fn every_choice_and_memory_mode_make_the_same_proof() {
    for seed in 1..16 {
        let seed = seed * 0x51_7cc1;
        let expected = random_case::<Ext4>(seed, Choice::portable(), MemoryMode::Keep);
        for choice in Choice::available() {
            for memory in [MemoryMode::Keep, MemoryMode::Consume, MemoryMode::Streaming] {
                let case = random_case::<Ext4>(seed, choice, memory);
                assert_eq!(case.statement, expected.statement, "{choice}");
                assert_eq!(case.proof, expected.proof, "{choice}");
            }
        }
    }
}

/// A small proof with everything in it: two batches, two heights, extension columns, a cap, all nonces.
fn small_case() -> Case<Ext4> {
    let mut random = Random(77);
    let params = Params::builder(FORMATS[2])
        .cap_height(1)
        .pages(Pages::Normal)
        .build()
        .unwrap();
    let committer = Committer::new(params).unwrap();
    let tables = [
        vec![
            table(&mut random, 5, 2, 1, 4),
            table(&mut random, 2, 1, 0, 1),
        ],
        vec![table(&mut random, 5, 1, 0, 1)],
    ];
    let shifts = [
        vec![
            Shifts::from_runs([(2, vec![0]), (1, vec![0, 1])]),
            Shifts::uniform(1, &[0, 3]),
        ],
        vec![Shifts::uniform(1, &[0, 31])],
    ];
    let batches: Vec<_> = tables
        .into_iter()
        .map(|tables| {
            let (commitment, data, _) = committer.commit(tables).unwrap();
            (commitment, data)
        })
        .collect();
    let proof_params = ProofParams::builder()
        .log_arity(2)
        .log_final_len(1)
        .queries(3)
        .grinding(Grinding {
            batch: 2,
            fold: 3,
            query: 4,
        })
        .build()
        .unwrap();
    let zeta = random.element();
    open(
        &committer,
        proof_params,
        Function::plonky3(),
        &batches,
        &shifts,
        zeta,
    )
}

fn change(element: &mut KoalaBear) {
    *element += KoalaBear::ONE;
}

/// Every word of a proof, each changed once.
#[test]
fn every_changed_word_of_a_proof_is_rejected() {
    let case = small_case();
    check_case(&case, "small");
    let rejected = |what: &str, change: &dyn Fn(&mut Proof<Ext4>)| {
        let mut proof = case.proof.clone();
        change(&mut proof);
        assert_ne!(proof, case.proof, "{what}");
        assert!(case.verify(&case.statement, &proof).is_err(), "{what}");
    };
    rejected("batch nonce", &|proof| proof.batch_nonce += 1);
    rejected("query nonce", &|proof| proof.query_nonce += 1);
    for round in 0..case.proof.layers.len() {
        rejected("nonce", &|proof| proof.layers[round].nonce += 1);
        let layer = &case.proof.layers[round];
        for index in 0..layer.commitment.len() {
            for word in 0..8 {
                rejected("cap", &|proof| {
                    change(&mut proof.layers[round].commitment[index].0[word]);
                });
            }
        }
        for index in 0..layer.values.len() {
            for limb in 0..4 {
                rejected("value", &|proof| {
                    change(&mut proof.layers[round].values[index].0[limb]);
                });
            }
        }
        for index in 0..layer.siblings.len() {
            for word in 0..8 {
                rejected("sibling", &|proof| {
                    change(&mut proof.layers[round].siblings[index].0[word]);
                });
            }
        }
    }
    for index in 0..case.proof.final_polynomial.len() {
        for limb in 0..4 {
            rejected("final", &|proof| {
                change(&mut proof.final_polynomial[index].0[limb]);
            });
        }
    }
    for (batch, opening) in case.proof.batches.iter().enumerate() {
        for (table, cells) in opening.rows.iter().enumerate() {
            for cell in 0..cells.len() {
                rejected("cell", &|proof| {
                    change(&mut proof.batches[batch].rows[table][cell]);
                });
            }
        }
        for index in 0..opening.siblings.len() {
            for word in 0..8 {
                rejected("sibling", &|proof| {
                    change(&mut proof.batches[batch].siblings[index].0[word]);
                });
            }
        }
    }
}

/// Every list of a proof, one element shorter and one longer, and every field of its header.
#[test]
fn lists_of_other_lengths_and_other_headers_are_rejected() {
    let case = small_case();
    let rejected = |what: &str, change: &dyn Fn(&mut Proof<Ext4>)| {
        let mut proof = case.proof.clone();
        change(&mut proof);
        assert_ne!(proof, case.proof, "{what}");
        assert!(case.verify(&case.statement, &proof).is_err(), "{what}");
    };
    macro_rules! lengths {
        ($($path:tt)+) => {
            rejected(stringify!($($path)+), &|proof| { proof.$($path)+.pop(); });
            rejected(stringify!($($path)+), &|proof| {
                let last = proof.$($path)+.last().cloned();
                proof.$($path)+.extend(last);
            });
            rejected(stringify!($($path)+), &|proof| proof.$($path)+.clear());
        };
    }
    lengths!(layers);
    lengths!(final_polynomial);
    lengths!(batches);
    for round in 0..case.proof.layers.len() {
        lengths!(layers[round].commitment);
        lengths!(layers[round].values);
        if !case.proof.layers[round].siblings.is_empty() {
            lengths!(layers[round].siblings);
        }
    }
    for batch in 0..2 {
        lengths!(batches[batch].rows);
        lengths!(batches[batch].siblings);
        for table in 0..case.proof.batches[batch].rows.len() {
            lengths!(batches[batch].rows[table]);
        }
    }
    for change in [
        (&|header: &mut Header| header.format = 1) as &dyn Fn(&mut Header),
        &|header| header.degree = 6,
        &|header| header.log_inv_rate += 1,
        &|header| header.cap_height += 1,
        &|header| header.log_arity += 1,
        &|header| header.log_final_len += 1,
        &|header| header.queries += 1,
        &|header| header.grinding.batch += 1,
        &|header| header.grinding.fold += 1,
        &|header| header.grinding.query += 1,
    ] {
        let mut proof = case.proof.clone();
        change(&mut proof.header);
        let result = case.verify(&case.statement, &proof);
        assert!(
            matches!(result, Err(VerifyError::Header { .. })),
            "{result:?}"
        );
    }
}

/// Everything that a verifier is given beside the proof.
#[test]
fn every_changed_public_input_is_rejected() {
    let case = small_case();
    let rejected = |what: &str, change: &dyn Fn(&mut Statement<Ext4>)| {
        let mut statement = case.statement.clone();
        change(&mut statement);
        assert_ne!(statement, case.statement, "{what}");
        assert!(case.verify(&statement, &case.proof).is_err(), "{what}");
    };
    for limb in 0..4 {
        rejected("zeta", &|statement| change(&mut statement.zeta.0[limb]));
    }
    for (batch, claims) in case.statement.claims.iter().enumerate() {
        for (table, claims) in claims.iter().enumerate() {
            for claim in 0..claims.len() {
                for limb in 0..4 {
                    rejected("claim", &|statement| {
                        change(&mut statement.claims[batch][table][claim].0[limb]);
                    });
                }
            }
            rejected("claims", &|statement| {
                statement.claims[batch][table].truncate(claims.len() - 1);
            });
            rejected("claims", &|statement| {
                statement.claims[batch][table].push(Ext4::ONE);
            });
        }
        rejected("claims", &|statement| drop(statement.claims[batch].pop()));
        let digests = case.statement.batches[batch].commitment.digests().to_vec();
        for index in 0..digests.len() {
            for word in 0..8 {
                rejected("commitment", &|statement| {
                    let mut digests = digests.clone();
                    change(&mut digests[index].0[word]);
                    statement.batches[batch].commitment = Commitment::new(digests);
                });
            }
        }
        rejected("cap", &|statement| {
            statement.batches[batch].commitment = Commitment::new(digests[..1].to_vec());
        });
        for table in 0..case.statement.batches[batch].tables.len() {
            let opened = |change: &dyn Fn(&mut OpenedTable)| {
                rejected("table", &|statement| {
                    change(&mut statement.batches[batch].tables[table]);
                });
            };
            opened(&|opened| opened.shape.log_rows += 1);
            opened(&|opened| opened.shape.log_rows -= 1);
            opened(&|opened| opened.shape.base_width += 1);
            opened(&|opened| opened.shape.ext_width += 1);
            opened(&|opened| opened.shape.ext_degree += 1);
            let columns = case.statement.batches[batch].tables[table]
                .shifts
                .columns_len();
            opened(&|opened| opened.shifts = Shifts::uniform(columns, &[2]));
            opened(&|opened| opened.shifts = Shifts::uniform(columns, &[0, 2]));
            opened(&|opened| opened.shifts = Shifts::uniform(columns + 1, &[0]));
        }
        rejected("tables", &|statement| {
            drop(statement.batches[batch].tables.pop());
        });
    }
    rejected("batches", &|statement| statement.batches.swap(0, 1));
    rejected("batches", &|statement| drop(statement.batches.pop()));
    rejected("all", &|statement| statement.batches.clear());
}

/// Other parameters, and a transcript in another state.
#[test]
fn other_parameters_and_transcripts_are_rejected() {
    let case = small_case();
    let other = |params: Params, proof_params: ProofParams, mut transcript: Transcript| {
        verify(
            &params,
            &proof_params,
            &mut transcript,
            &case.statement,
            &case.proof,
        )
        .unwrap_err()
    };
    let (params, proof_params) = (&case.params, case.proof_params);
    for format in [FORMATS[0], FORMATS[1]] {
        other(
            Params::builder(format).build().unwrap(),
            proof_params,
            case.transcript(),
        );
    }
    let rate4 = Params::builder(params.format())
        .cap_height(1)
        .log_inv_rate(2)
        .build()
        .unwrap();
    other(rate4, proof_params, case.transcript());
    let constants = lanework_hash::RoundConstants::<16>::gnark();
    let foreign = Params::builder(params.format())
        .cap_height(1)
        .constants16(constants)
        .build()
        .unwrap();
    other(foreign, proof_params, case.transcript());
    let more = ProofParams::builder().queries(4).build().unwrap();
    other(params.clone(), more, case.transcript());
    let label = Transcript::new(&case.function, "another", Choice::portable());
    other(params.clone(), proof_params, label);
    let mut said = case.transcript();
    said.absorb_integers(&[1]);
    other(params.clone(), proof_params, said);
    for function in [Function::gnark(), Function::blake3()] {
        other(
            params.clone(),
            proof_params,
            Transcript::new(&function, "test", Choice::portable()),
        );
    }
}

/// What cannot be opened is refused by prover and verifier alike, with the same reason.
#[test]
fn what_cannot_be_opened_is_refused_by_both() {
    let case = small_case();
    let committer = Committer::new(case.params.clone()).unwrap();
    let mut random = Random(3);
    let (commitment, data, _) = committer
        .commit(vec![
            table(&mut random, 5, 2, 1, 4),
            table(&mut random, 2, 1, 0, 1),
        ])
        .unwrap();
    let good = [Shifts::uniform(3, &[0]), Shifts::uniform(1, &[0])];
    let both = |shifts: &[Shifts], zeta: Ext4| {
        let opening = Opening::new(&commitment, &data, shifts);
        let result = committer.open(&case.proof_params, &mut case.transcript(), &[opening], zeta);
        let Err(Error::Shape(reason)) = result else {
            panic!("{result:?}")
        };
        let tables = data
            .codewords()
            .iter()
            .zip(shifts)
            .map(|(codeword, shifts)| OpenedTable {
                shape: codeword.shape(),
                shifts: shifts.clone(),
            });
        let statement = Statement {
            batches: vec![OpenedBatch {
                commitment: commitment.clone(),
                tables: tables.collect(),
            }],
            zeta,
            claims: vec![
                shifts
                    .iter()
                    .map(|shifts| vec![Ext4::ZERO; shifts.claims_len().min(10)])
                    .collect(),
            ],
        };
        let refused = case.verify(&statement, &case.proof);
        assert_eq!(refused, Err(VerifyError::Shape(reason.clone())));
        reason
    };
    let zeta = random.element();
    for bad in [vec![0, 0], vec![1, 0], vec![32], vec![0, usize::MAX]] {
        let reason = both(&[Shifts::uniform(3, &bad), good[1].clone()], zeta);
        assert!(matches!(reason, ShapeError::Shift { .. }), "{reason}");
    }
    let reason = both(
        &[
            Shifts::from_runs([(2, vec![0]), (1, vec![])]),
            good[1].clone(),
        ],
        zeta,
    );
    assert_eq!(
        reason,
        ShapeError::NotOpened {
            batch: 0,
            table: 0,
            column: 2
        }
    );
    for columns in [0, 2, 4, usize::MAX] {
        let reason = both(&[Shifts::uniform(columns, &[0]), good[1].clone()], zeta);
        assert!(matches!(reason, ShapeError::ShiftsLen { .. }), "{reason}");
    }
    // The domains of codewords, and that of the rows themselves.
    let points = [
        KoalaBear::GENERATOR * KoalaBear::two_adic_generator(6).pow(5),
        KoalaBear::two_adic_generator(5).pow(3),
    ];
    for point in points {
        assert_eq!(both(&good, Ext4::from(point)), ShapeError::PointOnDomain);
    }
    let several = [Shifts::uniform(3, &[0, 1]), good[1].clone()];
    assert_eq!(both(&several, Ext4::ZERO), ShapeError::ShiftsOfZero);

    let opening = Opening::new(&commitment, &data, &good[..1]);
    let result = committer.open(&case.proof_params, &mut case.transcript(), &[opening], zeta);
    assert_eq!(
        result.unwrap_err(),
        Error::ShiftsLen {
            batch: 0,
            expected: 2,
            got: 1
        }
    );
    let result = committer.open(&case.proof_params, &mut case.transcript(), &[], zeta);
    assert_eq!(result.unwrap_err(), Error::Shape(ShapeError::NoBatches));
}

#[test]
fn parameters_out_of_range_are_refused() {
    let builder = ProofParams::builder;
    assert_eq!(
        builder().log_arity(0).build(),
        Err(Error::LogArity { got: 0 })
    );
    assert_eq!(
        builder().log_arity(5).build(),
        Err(Error::LogArity { got: 5 })
    );
    assert_eq!(
        builder().log_final_len(11).build(),
        Err(Error::LogFinalLen { got: 11 })
    );
    let max = ProofParams::QUERIES_MAX;
    assert_eq!(
        builder().queries(0).build(),
        Err(Error::Queries { got: 0, max })
    );
    assert_eq!(
        builder().queries(max + 1).build(),
        Err(Error::Queries { got: max + 1, max })
    );
    let grinding = Grinding {
        fold: 25,
        ..Grinding::default()
    };
    assert_eq!(
        builder().queries(1).grinding(grinding).build(),
        Err(Error::Grinding { bits: 25, max: 24 })
    );
}

/// A table of one row is a constant; the quotient of a codeword of degree one is a constant as well, and must not
/// pass for one of degree below zero.
#[test]
fn a_line_does_not_pass_for_a_constant() {
    let params = Params::builder(FORMATS[2])
        .pages(Pages::Normal)
        .build()
        .unwrap();
    let committer = Committer::new(params.clone()).unwrap();
    let hidden = Table::vectors(vec![vec![KoalaBear::new(5)]]).unwrap();
    let (_, honest, _) = committer.commit(vec![hidden]).unwrap();
    // The codeword of 5 + 7 x.
    let shift = KoalaBear::GENERATOR;
    let line: Vec<_> = [shift, -shift]
        .map(|x| KoalaBear::new(5) + KoalaBear::new(7) * x)
        .to_vec();
    let cheater = Cheater::new(&committer, honest, &[line]);
    let zeta: Ext4 = Random(9).element();
    let shifts = [Shifts::uniform(1, &[0])];
    let commitment = cheater.commitment();
    let opening = Opening::new(&commitment, &cheater, &shifts);
    let proof_params = ProofParams::builder().queries(2).build().unwrap();
    let transcript = || Transcript::new(&Function::plonky3(), "line", Choice::best());
    let (mut statement, mut proof, _) = committer
        .open(&proof_params, &mut transcript(), &[opening], zeta)
        .unwrap();
    // The claim is the value of the line; what is left to prove is its slope.
    let slope = Ext4::from(KoalaBear::new(7));
    statement.claims[0][0][0] = Ext4::from(KoalaBear::new(5)) + zeta * slope;
    proof.final_polynomial = vec![slope];
    // The positions follow from the changed transcript.
    for position in 0..2 {
        proof.batches = vec![cheater.open_rows(&committer, &[position]).unwrap()];
        let result = verify(
            &params,
            &proof_params,
            &mut transcript(),
            &statement,
            &proof,
        );
        assert!(result.is_err());
        proof.batches = vec![cheater.open_rows(&committer, &[0, 1]).unwrap()];
        let result = verify(
            &params,
            &proof_params,
            &mut transcript(),
            &statement,
            &proof,
        );
        assert!(
            matches!(
                result,
                Err(VerifyError::Constant { .. } | VerifyError::Rows { .. })
            ),
            "{result:?}"
        );
    }
}

/// Claims of one column at several points have factors of their own. If they had the same, the sum of two false
/// quotients of a table of two rows could be a polynomial at three positions of four.
#[test]
fn false_claims_of_one_column_do_not_make_up_for_each_other() {
    let params = Params::builder(FORMATS[2])
        .pages(Pages::Normal)
        .build()
        .unwrap();
    let committer = Committer::new(params.clone()).unwrap();
    // The values of 5 + 7 x.
    let column = [KoalaBear::ONE, KoalaBear::NEG_ONE]
        .map(|x| KoalaBear::new(5) + KoalaBear::new(7) * x)
        .to_vec();
    let table = Table::vectors(vec![column]).unwrap();
    let (commitment, data, _) = committer.commit(vec![table]).unwrap();
    let shifts = [Shifts::uniform(1, &[0, 1])];
    let opening = Opening::new(&commitment, &data, &shifts);
    let proof_params = ProofParams::builder().queries(2).build().unwrap();
    // All points of the codeword but the last one.
    let root = KoalaBear::two_adic_generator(2);
    let points = [0, 2, 1].map(|exponent| KoalaBear::GENERATOR * root.pow(exponent));
    let mut accepted = 0;
    for trial in 0..32 {
        let label = format!("trial {trial}");
        let transcript = || Transcript::new(&Function::plonky3(), &label, Choice::best());
        let zeta: Ext4 = Random(trial + 1).element();
        let (mut statement, mut proof, _) = committer
            .open(&proof_params, &mut transcript(), &[opening], zeta)
            .unwrap();
        // (x - a)(x - b)(x - c) = (x + q) (x - zeta)(x + zeta) + r x + s.
        let [a, b, c] = points;
        let q = -(a + b + c);
        let r = zeta.square() + Ext4::from(a * b + a * c + b * c);
        let s = zeta.square() * q - Ext4::from(a * b * c);
        let half_inverse = (zeta + zeta).inverse().unwrap();
        statement.claims[0][0][0] += (r * zeta + s) * half_inverse;
        statement.claims[0][0][1] -= (s - r * zeta) * half_inverse;
        // 14 for the true claims, and x + q at the points.
        proof.final_polynomial = vec![
            Ext4::from(KoalaBear::new(14) + q),
            Ext4::from(KoalaBear::GENERATOR),
        ];
        // The positions follow from the changed transcript.
        for set in 1..8 {
            let positions: Vec<usize> =
                (0..3).filter(|position| set >> position & 1 == 1).collect();
            proof.batches = vec![data.open(&committer, &positions).unwrap()];
            let result = verify(
                &params,
                &proof_params,
                &mut transcript(),
                &statement,
                &proof,
            );
            accepted += usize::from(result.is_ok());
        }
    }
    assert_eq!(accepted, 0, "of 32");
}

/// A prover that committed to other codewords than those of its messages.
struct Cheater<'a> {
    honest: ProverData<Table<'a>>,
    cells: Vec<KoalaBear>,
    height: usize,
    tree: mmcs::Tree,
}

impl<'a> Cheater<'a> {
    fn new(
        committer: &Committer,
        honest: ProverData<Table<'a>>,
        columns: &[Vec<KoalaBear>],
    ) -> Self {
        let constants = committer.params().constants24().unwrap();
        let sponge =
            PaddingFreeSponge::<24, 16>::new(Poseidon2::<24>::new(constants, Choice::best()));
        let constants = committer.params().constants16();
        let nodes = TruncatedPermutation::new(Poseidon2::<16>::new(constants, Choice::best()));
        let height = columns[0].len();
        let cells = columns.concat();
        let table = lanework_merkle::Table::column_major(&cells, height);
        let tree = mmcs::Tree::build(&Builder::new(&sponge, &nodes), &[table], None).unwrap();
        Self {
            honest,
            cells,
            height,
            tree,
        }
    }

    fn commitment(&self) -> Commitment {
        Commitment::new(vec![self.tree.root()])
    }
}

impl Committed for Cheater<'_> {
    fn shapes(&self) -> &[Shape] {
        self.honest.shapes()
    }

    fn message<'b>(
        &'b self,
        table: usize,
        column: usize,
        buffer: &'b mut [KoalaBear],
    ) -> Result<&'b [KoalaBear], Error> {
        self.honest.message(table, column, buffer)
    }

    fn message_shift(&self) -> KoalaBear {
        self.honest.message_shift()
    }

    fn open_rows(&self, _: &Committer, positions: &[usize]) -> Result<RowOpening, Error> {
        let rows = positions.iter().flat_map(|&row| {
            self.cells
                .chunks(self.height)
                .map(move |column| column[row])
        });
        Ok(RowOpening {
            rows: vec![rows.collect()],
            siblings: self.tree.siblings(positions, 0),
        })
    }
}

/// Codewords that are wrong in a quarter of their positions, as far as unique decoding reaches at rate 1/2, are
/// accepted as often as so many positions are all missed: (3/4)^Q.
#[test]
fn wrong_codewords_are_caught_as_often_as_queries_hit_them() {
    const TRIALS: usize = 600;
    const QUERIES: u32 = 3;
    let params = Params::builder(FORMATS[2])
        .pages(Pages::Normal)
        .build()
        .unwrap();
    let committer = Committer::new(params.clone()).unwrap();
    let mut random = Random(21);
    let proof_params = ProofParams::builder()
        .queries(QUERIES)
        .log_final_len(0)
        .build()
        .unwrap();
    let mut accepted = 0;
    for trial in 0..TRIALS {
        let (_, honest, _) = committer
            .commit(vec![table(&mut random, 6, 1, 0, 1)])
            .unwrap();
        let mut column = honest.codewords()[0].column(0).to_vec();
        let mut wrong: Vec<usize> = (0..column.len()).collect();
        for _ in 0..column.len() / 4 {
            let position = wrong.swap_remove(random.below(wrong.len()));
            column[position] += KoalaBear::ONE;
        }
        let cheater = Cheater::new(&committer, honest, &[column]);
        let commitment = cheater.commitment();
        let shifts = [Shifts::uniform(1, &[0, 1])];
        let label = format!("trial {trial}");
        let transcript = || Transcript::new(&Function::blake3(), &label, Choice::best());
        let batch = OpenedBatch {
            commitment: commitment.clone(),
            tables: vec![OpenedTable {
                shape: Shape::base(6, 1),
                shifts: shifts[0].clone(),
            }],
        };
        let zeta: Ext4 = sample_point(&params, &proof_params, &mut transcript(), &[batch]);
        let opening = Opening::new(&commitment, &cheater, &shifts);
        let (statement, proof, _) = committer
            .open(&proof_params, &mut transcript(), &[opening], zeta)
            .unwrap();
        accepted += usize::from(
            verify(
                &params,
                &proof_params,
                &mut transcript(),
                &statement,
                &proof,
            )
            .is_ok(),
        );
    }
    // 253 expected; four standard deviations are 48.
    assert!((205..=301).contains(&accepted), "{accepted} of {TRIALS}");
}
