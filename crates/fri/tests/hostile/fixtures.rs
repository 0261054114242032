//! Proofs that were made once. What reads and verifies them is told here what they prove; what makes them again
//! must not change a byte.

use std::path::Path;
use std::{env, fs};

use lanework_arch::Choice;
use lanework_field::KoalaBear;
use lanework_field::koala::{Ext4, Ext6};
use lanework_fri::{
    Commitment, Format, Grinding, OpenedBatch, OpenedTable, Params, Proof, ProofParams, Shape,
    Shifts, Sponge, Statement, lineth, verify,
};
use lanework_hash::{Digest, RoundConstants};
use lanework_transcript::lineth::FiatShamir;
use lanework_transcript::{Function, Transcript};

use super::cases::{self, LABEL};

fn digest(words: [u32; 8]) -> Digest {
    Digest(words.map(KoalaBear::new))
}

fn table(shape: Shape, runs: &[(usize, &[usize])]) -> OpenedTable {
    OpenedTable {
        shape,
        shifts: Shifts::from_runs(runs.iter().map(|&(columns, run)| (columns, run.to_vec()))),
    }
}

/// Version 1 of `LWfp`, the Plonky3 format, degree 4.
#[test]
fn the_plonky3_fixture_is_accepted() {
    let ext = |limbs| Ext4::from_canonical(limbs).unwrap();
    let extended = Shape {
        log_rows: 5,
        base_width: 2,
        ext_width: 1,
        ext_degree: 4,
    };
    let caps = [
        [
            [
                1406521181, 1450262205, 1149134766, 40746332, 1993329896, 80490296, 1786113676,
                1476370899,
            ],
            [
                542203401, 768314439, 926651224, 366653500, 1359938682, 1448276679, 979815575,
                879253307,
            ],
        ],
        [
            [
                1691411704, 663885577, 1449571172, 1548128358, 336529034, 59920661, 1700437241,
                960656791,
            ],
            [
                995309484, 1472021234, 1744453214, 1241518260, 2061603291, 1232115819, 1820225270,
                1142001008,
            ],
        ],
    ];
    let [first, second] = caps.map(|cap| Commitment::new(cap.map(digest).to_vec()));
    let statement = Statement {
        batches: vec![
            OpenedBatch {
                commitment: first,
                tables: vec![
                    table(extended, &[(2, &[0]), (1, &[0, 1])]),
                    table(Shape::base(2, 1), &[(1, &[0, 3])]),
                ],
            },
            OpenedBatch {
                commitment: second,
                tables: vec![table(Shape::base(5, 1), &[(1, &[0, 31])])],
            },
        ],
        zeta: ext([1006214086, 1494220398, 2030437062, 1287548224]),
        claims: vec![
            vec![
                vec![
                    ext([1526857046, 2123671205, 1328956115, 168182152]),
                    ext([2010803498, 315296742, 1414534323, 41623818]),
                    ext([1662582346, 141673337, 1065318746, 611762315]),
                    ext([845788978, 1734866245, 935715635, 1815193917]),
                ],
                vec![
                    ext([1404807752, 1130104550, 36187609, 783060996]),
                    ext([440975548, 1409529713, 1384041641, 1366386340]),
                ],
            ],
            vec![vec![
                ext([1481739692, 2046703755, 1228199018, 666526475]),
                ext([1014951763, 479092860, 1184904171, 418907069]),
            ]],
        ],
    };
    let format = Format::Plonky3 {
        sponge: Sponge::Width24,
    };
    let params = Params::builder(format).cap_height(1).build().unwrap();
    let proof_params = ProofParams::builder()
        .log_arity(2)
        .log_final_len(1)
        .queries(6)
        .grinding(Grinding {
            batch: 2,
            fold: 3,
            query: 4,
        })
        .build()
        .unwrap();
    let mut transcript = Transcript::new(&Function::plonky3(), LABEL, Choice::portable());
    let proof = Proof::from_bytes(include_bytes!("../fixtures/plonky3-mixed-4.lwp")).unwrap();
    verify(&params, &proof_params, &mut transcript, &statement, &proof).unwrap();
}

/// Version 1 of `LWfp`, the lineth format, degree 6.
#[test]
fn the_lineth_fixture_is_accepted() {
    let ext = |limbs| Ext6::from_canonical(limbs).unwrap();
    let extended = Shape {
        log_rows: 6,
        base_width: 1,
        ext_width: 1,
        ext_degree: 6,
    };
    let root = [
        100255640, 390326461, 340327870, 1799390410, 417094106, 676366372, 293734159, 860318777,
    ];
    let statement = Statement {
        batches: vec![OpenedBatch {
            commitment: Commitment::new(vec![digest(root)]),
            tables: vec![
                table(Shape::base(0, 2), &[(2, &[0])]),
                table(Shape::base(1, 1), &[(1, &[0, 1])]),
                table(extended, &[(2, &[0])]),
            ],
        }],
        zeta: ext([
            1654230112, 1026581257, 2053434573, 381692240, 1139301429, 2070538304,
        ]),
        claims: vec![vec![
            vec![
                ext([1894023813, 0, 0, 0, 0, 0]),
                ext([648683915, 0, 0, 0, 0, 0]),
            ],
            vec![
                ext([
                    1719949331, 1276467079, 322004566, 905035726, 1889546640, 46676829,
                ]),
                ext([
                    2006987484, 854239354, 1808701867, 1225670707, 241159793, 2084029604,
                ]),
            ],
            vec![
                ext([
                    714965007, 241045082, 1063844377, 1582189457, 1009105489, 490857613,
                ]),
                ext([
                    1694587746, 710487210, 1346095839, 1484115329, 2014162515, 1918161201,
                ]),
            ],
        ]],
    };
    let params = Params::builder(Format::Lineth).build().unwrap();
    let proof_params = ProofParams::builder()
        .log_arity(3)
        .log_final_len(0)
        .queries(6)
        .build()
        .unwrap();
    let mut transcript = Transcript::new(&Function::blake3(), LABEL, Choice::portable());
    let proof = Proof::from_bytes(include_bytes!("../fixtures/lineth-rows-6.lwp")).unwrap();
    verify(&params, &proof_params, &mut transcript, &statement, &proof).unwrap();
}

/// Version 1 of `LWln`.
#[test]
fn the_fixture_of_lineths_fri_is_accepted() {
    let ext = |limbs| Ext6::from_canonical(limbs).unwrap();
    let root = digest([
        1590937590, 1854365597, 478498170, 625386343, 1338297314, 384609573, 1230020955, 286942096,
    ]);
    let opened = lineth::Opened::at;
    let batches = [lineth::Batch {
        root,
        tables: vec![opened(4, 2, 0, &[0, 15]), opened(3, 1, 0, &[0])],
    }];
    let claims = [
        [
            963966084, 458645246, 989310019, 1934927625, 1423713742, 1136320998,
        ],
        [
            398419935, 1559132831, 632295526, 1416952281, 90697804, 1983738887,
        ],
        [
            532006646, 2049438469, 489707708, 471417301, 270809817, 1069323521,
        ],
        [
            405503157, 470174620, 534447131, 1254017807, 14803374, 1767425149,
        ],
        [
            826175156, 1346776350, 380150810, 2029135368, 472752394, 2070679680,
        ],
    ]
    .map(ext);
    let statement = lineth::Statement {
        batches: &batches,
        zeta: ext([
            814934458, 1284279657, 842507748, 396703327, 427956450, 1945513716,
        ]),
        claims: &claims,
    };
    let mut transcript = FiatShamir::new(&RoundConstants::<16>::gnark(), Choice::portable());
    transcript.absorb(&root.0);
    assert_eq!(transcript.squeeze_extension(), statement.zeta);
    transcript.absorb_extension(&claims);
    let params = lineth::Params::new(6, 4, 2, 3).unwrap();
    let bytes = include_bytes!("../fixtures/fri-of-lineth-short.lwp");
    let proof = lineth::Proof::from_bytes(bytes).unwrap();
    lineth::verify(&params, &statement, &mut transcript, &proof).unwrap();
}

/// All fixtures, and the seeds of the fuzz targets.
#[test]
fn provers_make_the_fixtures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = root.join("../../fuzz/corpus");
    for (index, target) in cases::targets().into_iter().enumerate() {
        let (name, bytes) = (target.name(), target.bytes());
        let file = format!("{name}.lwp");
        write_or_compare(&root.join("tests/fixtures").join(&file), &bytes);
        let kind = if bytes.starts_with(b"LWln") {
            "lineth"
        } else {
            "fri"
        };
        write_or_compare(&corpus.join(format!("{kind}_codec/seed-{file}")), &bytes);
        // The number of the target comes first.
        let seed = [&[index as u8][..], &bytes].concat();
        write_or_compare(&corpus.join(format!("{kind}_verify/seed-{file}")), &seed);
    }
}

fn write_or_compare(path: &Path, bytes: &[u8]) {
    if env::var_os("LANEWORK_WRITE_FIXTURES").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let kept = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(kept == bytes, "{} is another proof", path.display());
}
