//! Small honest proofs of many kinds, and what may become of bytes that are given out for one of them.

use lanework_arch::Choice;
use lanework_arch::memory::Pages;
use lanework_field::koala::{Ext4, Ext6};
use lanework_fri::synthetic::Generator;
use lanework_fri::{
    Committer, Extension, Format, Grinding, Header, Opening, Params, Proof, ProofParams, Shape,
    Shifts, Sponge, Statement, Table, VerifyError, lineth, sample_point, verify,
};
use lanework_hash::RoundConstants;
use lanework_transcript::lineth::FiatShamir;
use lanework_transcript::{Function, Transcript};

/// What became of bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// They are no proof.
    Undecodable,
    /// They are a proof of something else.
    Refused,
    /// They are the honest proof itself.
    Accepted,
}

/// A statement with an honest proof.
pub(crate) trait Target: Send + Sync {
    /// The name of its fixture.
    fn name(&self) -> &'static str;

    /// The honest proof.
    fn bytes(&self) -> Vec<u8>;

    /// Decodes and verifies bytes.
    ///
    /// # Panics
    /// If they are accepted and are not the honest proof, or are another encoding of what they decode to.
    fn judge(&self, bytes: &[u8]) -> Outcome;
}

/// All of them.
pub(crate) fn targets() -> Vec<Box<dyn Target>> {
    let mut targets: Vec<Box<dyn Target>> = Vec::new();
    for case in cases::<Ext4>() {
        targets.push(Box::new(case));
    }
    for case in cases::<Ext6>() {
        targets.push(Box::new(case));
    }
    for case in lineth_cases() {
        targets.push(Box::new(case));
    }
    targets
}

/// Everything that a proof was made of.
#[derive(Clone, Debug)]
pub(crate) struct Case<E> {
    pub(crate) name: &'static str,
    pub(crate) params: Params,
    pub(crate) proof_params: ProofParams,
    pub(crate) function: Function,
    pub(crate) statement: Statement<E>,
    pub(crate) proof: Proof<E>,
}

impl<E: Extension> Case<E> {
    pub(crate) fn verify(
        &self,
        statement: &Statement<E>,
        proof: &Proof<E>,
    ) -> Result<(), VerifyError> {
        verify(
            &self.params,
            &self.proof_params,
            &mut Transcript::new(&self.function, LABEL, Choice::portable()),
            statement,
            proof,
        )
    }
}

impl<E: Extension> Target for Case<E> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn bytes(&self) -> Vec<u8> {
        self.proof.to_bytes()
    }

    fn judge(&self, bytes: &[u8]) -> Outcome {
        let header = Header::from_bytes(bytes);
        let Ok(proof) = Proof::<E>::from_bytes(bytes) else {
            return Outcome::Undecodable;
        };
        assert_eq!(header, Ok(proof.header));
        assert!(proof.to_bytes() == bytes, "{}: two encodings", self.name);
        if self.verify(&self.statement, &proof).is_err() {
            return Outcome::Refused;
        }
        assert!(
            proof == self.proof,
            "{}: another proof is accepted",
            self.name
        );
        Outcome::Accepted
    }
}

/// A statement with an honest proof by lineth's FRI.
#[derive(Clone, Debug)]
pub(crate) struct LinethCase {
    pub(crate) name: &'static str,
    pub(crate) params: lineth::Params,
    pub(crate) batches: Vec<lineth::Batch>,
    pub(crate) zeta: Ext6,
    pub(crate) claims: Vec<Ext6>,
    pub(crate) proof: lineth::Proof,
}

impl LinethCase {
    pub(crate) fn verify(&self, proof: &lineth::Proof) -> Result<(), lineth::Error> {
        let statement = lineth::Statement {
            batches: &self.batches,
            zeta: self.zeta,
            claims: &self.claims,
        };
        let mut transcript = lineth_transcript(&self.batches);
        transcript.squeeze_extension();
        transcript.absorb_extension(&self.claims);
        lineth::verify(&self.params, &statement, &mut transcript, proof)
    }
}

impl Target for LinethCase {
    fn name(&self) -> &'static str {
        self.name
    }

    fn bytes(&self) -> Vec<u8> {
        self.proof.to_bytes()
    }

    fn judge(&self, bytes: &[u8]) -> Outcome {
        let Ok(proof) = lineth::Proof::from_bytes(bytes) else {
            return Outcome::Undecodable;
        };
        assert!(proof.to_bytes() == bytes, "{}: two encodings", self.name);
        if self.verify(&proof).is_err() {
            return Outcome::Refused;
        }
        assert!(
            proof == self.proof,
            "{}: another proof is accepted",
            self.name
        );
        Outcome::Accepted
    }
}

pub(crate) const LABEL: &str = "hostile";

/// A table to open: its shape, and the shifts of so many columns each.
type Planned<'a> = (Shape, &'a [(usize, &'a [usize])]);

fn with_extension<E: Extension>(log_rows: u32, base_width: usize, ext_width: usize) -> Shape {
    Shape {
        log_rows,
        base_width,
        ext_width,
        ext_degree: E::DEGREE,
    }
}

/// Proofs over `E`. Positions are many enough that a nonce other than the honest one cannot lead to the same.
pub(crate) fn cases<E: Extension>() -> Vec<Case<E>> {
    let sponge24 = Format::Plonky3 {
        sponge: Sponge::Width24,
    };
    let sponge16 = Format::Plonky3 {
        sponge: Sponge::Width16,
    };
    let name = |four, six| if E::DEGREE == 4 { four } else { six };
    let mut cases = vec![
        // Two batches, two heights, extension columns, a cap, all nonces.
        case(
            name("plonky3-mixed-4", "plonky3-mixed-6"),
            Params::builder(sponge24).cap_height(1),
            ProofParams::builder()
                .log_arity(2)
                .log_final_len(1)
                .queries(6)
                .grinding(Grinding {
                    batch: 2,
                    fold: 3,
                    query: 4,
                }),
            Function::plonky3(),
            &[
                &[
                    (with_extension::<E>(5, 2, 1), &[(2, &[0]), (1, &[0, 1])]),
                    (Shape::base(2, 1), &[(1, &[0, 3])]),
                ],
                &[(Shape::base(5, 1), &[(1, &[0, 31])])],
            ],
        ),
        // A lower batch before the tallest, one row, the largest arity, a lower rate, a cap of a single level.
        case(
            name("plonky3-narrow-4", "plonky3-narrow-6"),
            Params::builder(sponge16).log_inv_rate(2).cap_height(2),
            ProofParams::builder()
                .log_arity(4)
                .log_final_len(0)
                .queries(5),
            Function::blake3(),
            &[
                &[
                    (Shape::base(3, 2), &[(1, &[7]), (1, &[0])]),
                    (Shape::base(0, 1), &[(1, &[0])]),
                ],
                &[
                    (Shape::base(6, 1), &[(1, &[0])]),
                    (Shape::base(6, 3), &[(3, &[0, 1])]),
                ],
            ],
        ),
        // No folding round.
        case(
            name("plonky3-final-4", "plonky3-final-6"),
            Params::builder(sponge24).log_inv_rate(3),
            ProofParams::builder().log_final_len(4).queries(6),
            Function::blake2s(),
            &[&[(with_extension::<E>(4, 0, 1), &[(1, &[0, 5, 9])])]],
        ),
        // Pairs of rows, several heights.
        case(
            name("lineth-heights-4", "lineth-heights-6"),
            Params::builder(Format::Lineth),
            ProofParams::builder()
                .log_arity(1)
                .log_final_len(2)
                .queries(5)
                .grinding(Grinding {
                    query: 3,
                    ..Grinding::default()
                }),
            Function::gnark(),
            &[
                &[
                    (Shape::base(2, 2), &[(2, &[0])]),
                    (Shape::base(5, 1), &[(1, &[0, 1])]),
                ],
                &[(Shape::base(4, 1), &[(1, &[0])])],
            ],
        ),
    ];
    if E::DEGREE == lanework_merkle::lineth::EXT_DEGREE {
        cases.push(case(
            "lineth-rows-6",
            Params::builder(Format::Lineth),
            ProofParams::builder()
                .log_arity(3)
                .log_final_len(0)
                .queries(6),
            Function::blake3(),
            &[&[
                (Shape::base(0, 2), &[(2, &[0])]),
                (Shape::base(1, 1), &[(1, &[0, 1])]),
                (with_extension::<E>(6, 1, 1), &[(2, &[0])]),
            ]],
        ));
    }
    cases
}

/// The columns are generated; the point is a challenge.
fn case<E: Extension>(
    name: &'static str,
    params: lanework_fri::ParamsBuilder,
    proof_params: lanework_fri::ProofParamsBuilder,
    function: Function,
    batches: &[&[Planned<'_>]],
) -> Case<E> {
    let params = params.pages(Pages::Normal).build().unwrap();
    let proof_params = proof_params.build().unwrap();
    let committer = Committer::new(params.clone()).unwrap();
    let shifts: Vec<Vec<Shifts>> = batches
        .iter()
        .map(|tables| {
            let shifts = tables.iter().map(|(_, runs)| {
                Shifts::from_runs(runs.iter().map(|&(columns, run)| (columns, run.to_vec())))
            });
            shifts.collect()
        })
        .collect();
    let committed: Vec<_> = (1..)
        .zip(batches)
        .map(|(batch, tables)| {
            let tables = (10 * batch..)
                .zip(tables.iter())
                .map(|(seed, (shape, _))| table(seed, *shape));
            committer.commit(tables.collect()).unwrap()
        })
        .collect();
    let openings: Vec<Opening<'_>> = committed
        .iter()
        .zip(&shifts)
        .map(|((commitment, data, _), shifts)| Opening::new(commitment, data, shifts))
        .collect();
    let transcript = || Transcript::new(&function, LABEL, Choice::best());
    let opened: Vec<_> = committed
        .iter()
        .zip(batches)
        .zip(&shifts)
        .map(
            |(((commitment, ..), tables), shifts)| lanework_fri::OpenedBatch {
                commitment: commitment.clone(),
                tables: tables
                    .iter()
                    .zip(shifts)
                    .map(|(&(shape, _), shifts)| lanework_fri::OpenedTable {
                        shape,
                        shifts: shifts.clone(),
                    })
                    .collect(),
            },
        )
        .collect();
    let zeta = sample_point(&params, &proof_params, &mut transcript(), &opened);
    let (statement, proof, _) = committer
        .open(&proof_params, &mut transcript(), &openings, zeta)
        .unwrap();
    assert_eq!(statement.batches, opened);
    Case {
        name,
        params,
        proof_params,
        function,
        statement,
        proof,
    }
}

fn table(seed: u64, shape: Shape) -> Table<'static> {
    let generator = Generator::Lineth { seed };
    let table = generator.table(shape.log_rows, shape.columns_len(), Pages::Normal);
    let table = table.unwrap();
    if shape.ext_width == 0 {
        table
    } else {
        table
            .with_extension(shape.base_width, shape.ext_degree)
            .unwrap()
    }
}

/// Proofs by lineth's FRI: caps, tables revealed with them, a level at the boundary, several trees.
pub(crate) fn lineth_cases() -> Vec<LinethCase> {
    let params = |log_codeword, log_plaintext, log_final, queries| {
        lineth::Params::new(log_codeword, log_plaintext, log_final, queries).unwrap()
    };
    let opened = lineth::Opened::at;
    vec![
        lineth_case(
            "fri-of-lineth-boundary",
            params(6, 5, 0, 4),
            vec![
                vec![opened(5, 1, 1, &[0, 1]), opened(0, 1, 0, &[0])],
                vec![opened(3, 2, 0, &[0]), opened(4, 0, 1, &[3])],
            ],
        ),
        lineth_case(
            "fri-of-lineth-short",
            params(6, 4, 2, 3),
            vec![vec![opened(4, 2, 0, &[0, 15]), opened(3, 1, 0, &[0])]],
        ),
    ]
}

fn lineth_case(
    name: &'static str,
    params: lineth::Params,
    tables: Vec<Vec<lineth::Opened>>,
) -> LinethCase {
    let commitments = Params::builder(Format::Lineth)
        .log_inv_rate(params.log_inv_rate())
        .pages(Pages::Normal)
        .build()
        .unwrap();
    let committer = Committer::new(commitments).unwrap();
    let mut data = Vec::new();
    let mut batches = Vec::new();
    for (batch, tables) in (1..).zip(tables) {
        let columns = (10 * batch..).zip(&tables).map(|(seed, opened)| {
            let (base, ext) = (opened.base.len(), opened.extension.len());
            table(seed, with_extension::<Ext6>(opened.log_rows, base, ext))
        });
        let (commitment, committed, _) = committer.commit(columns.collect()).unwrap();
        let root = commitment.root().unwrap();
        data.push(committed);
        batches.push(lineth::Batch { root, tables });
    }
    let committed: Vec<_> = data
        .iter()
        .map(|data| lineth::Committed::new(data).unwrap())
        .collect();
    let mut transcript = lineth_transcript(&batches);
    let zeta = transcript.squeeze_extension();
    let claims = lineth::claims(&params, Choice::best(), &committed, &batches, zeta).unwrap();
    transcript.absorb_extension(&claims);
    let statement = lineth::Statement {
        batches: &batches,
        zeta,
        claims: &claims,
    };
    let proof = lineth::open(
        &params,
        Choice::best(),
        &committed,
        &statement,
        &mut transcript,
    );
    LinethCase {
        name,
        params,
        proof: proof.unwrap(),
        batches,
        zeta,
        claims,
    }
}

fn lineth_transcript(batches: &[lineth::Batch]) -> FiatShamir {
    let mut transcript = FiatShamir::new(&RoundConstants::<16>::gnark(), Choice::portable());
    for batch in batches {
        transcript.absorb(&batch.root.0);
    }
    transcript
}
