//! The formulas against published values and against p3-security, and what holds for all parameters.

use p3_security::fri::{
    FriRegime, commit_phase_error_ldr_m, commit_phase_error_udr, conjectured_commit_phase_error,
    conjectured_error, proven_error_udr, query_phase_error,
};
use p3_security::proximity::{alpha_ldr_m, alpha_udr, compute_upper_m, list_size_ldr_m};
use p3_security::{InstanceShape, SecurityAssumption, StarkAirParams};
use proptest::prelude::*;

use super::bounds::{Bounds, Proximity};
use super::*;

/// A shape like those of the published examples: one column of 2^20 rows at rate 1/2.
fn shape() -> Shape {
    Shape {
        log_rows: 20,
        heights: Heights::Equal,
        log_inv_rate: 1,
        field: Field::Bits(252),
        hash: Hash::CollisionBits(256),
        columns: 1,
        points: 2,
        log_arity: 3,
    }
}

fn bits(report: &Report, source: Source) -> f64 {
    report.term(source).map_or(f64::INFINITY, |term| term.bits)
}

#[track_caller]
fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-8, "{a} is not {b}");
}

// Published values ---------------------------------------------------------------------------------

#[test]
fn plonky3_benchmark_of_high_arity() {
    let parameters = Parameters {
        shape: shape(),
        queries: 100,
        grinding: Grinding {
            queries: 16,
            ..Grinding::NONE
        },
    };
    for (regime, expected) in [(Regime::UniqueDecoding, 57), (Regime::ListDecoding, 65)] {
        let report = parameters.report(regime).expect("parameters fit");
        assert_eq!(report.weakest().source, Source::Queries);
        assert_eq!(report.security_bits(), expected);
    }
}

#[test]
fn queries_of_lineth() {
    let parameters = Parameters {
        shape: Shape {
            field: Field::KoalaBear { degree: 6 },
            ..shape()
        },
        queries: 229,
        grinding: Grinding::NONE,
    };
    let queries = |regime| {
        bits(
            &parameters.report(regime).expect("parameters fit"),
            Source::Queries,
        )
    };
    assert!((95.0..95.1).contains(&queries(Regime::UniqueDecoding)));
    assert!((110.0..114.5).contains(&queries(Regime::ListDecoding)));
}

#[test]
fn queries_for_128_bits() {
    let found = |target, regime| {
        let shape = Shape {
            field: Field::KoalaBear { degree: 6 },
            ..shape()
        };
        let found = Parameters::for_target(shape, Grinding::NONE, target, regime);
        found.expect("within reach").queries
    };
    assert_eq!(found(128, Regime::UniqueDecoding), 309);
    assert!((200..229).contains(&found(100, Regime::ListDecoding)));
    assert!((128..140).contains(&found(128, Regime::Conjectured)));
}

// Against p3-security ------------------------------------------------------------------------------

/// Parameters, and the same for p3-security.
fn grid() -> impl Iterator<Item = (Parameters, FriRegime, StarkAirParams, InstanceShape)> {
    let shapes = [4, 10, 16, 20, 24].into_iter().flat_map(|log_rows| {
        [1, 2, 3, 4].into_iter().flat_map(move |log_inv_rate| {
            [1, 2, 3, 4].into_iter().flat_map(move |log_arity| {
                [(1, 2), (1, 1), (2, 1), (300, 2), (5000, 3)].map(|(columns, points)| Shape {
                    log_rows,
                    log_inv_rate,
                    columns,
                    points,
                    log_arity,
                    ..shape()
                })
            })
        })
    });
    let parameters = shapes.flat_map(|shape| {
        let grinding = Grinding {
            batching: 9,
            folds: 5,
            queries: 16,
        };
        [
            (124, 1, Grinding::NONE),
            (155, 100, grinding),
            (186, 229, grinding),
        ]
        .map(|(bits, queries, grinding)| Parameters {
            shape: Shape {
                field: Field::Bits(bits),
                ..shape
            },
            queries,
            grinding,
        })
    });
    parameters.map(|parameters| {
        let Shape {
            log_rows,
            log_inv_rate,
            columns,
            points,
            log_arity,
            ..
        } = parameters.shape;
        let regime = FriRegime {
            log_blowup: log_inv_rate as usize,
            num_queries: parameters.queries as usize,
            log_final_poly_len: 0,
            max_log_arity: log_arity as usize,
            commit_pow_bits: parameters.grinding.folds as usize,
            query_pow_bits: parameters.grinding.queries as usize,
        };
        let air = StarkAirParams {
            num_constraints: 1,
            max_constraint_degree: 2,
            num_quotient_chunks: 1,
            max_combo: points as usize,
        };
        let Field::Bits(field_bits) = parameters.shape.field else {
            unreachable!("fields are given in bits");
        };
        let instance = InstanceShape {
            log_trace_length: log_rows as usize,
            modulus_bits: field_bits as usize,
            collision_resistance: 256,
            num_batched_functions: (columns * points) as usize,
        };
        (parameters, regime, air, instance)
    })
}

/// Batching as if every word were within half the distance of the code, of which p3-security counts n bad challenges for a
/// line.
fn assert_batching(report: &Report, parameters: &Parameters, instance: &InstanceShape) {
    if instance.num_batched_functions < 2 {
        assert_eq!(report.term(Source::Batching), None);
        return;
    }
    let theirs = SecurityAssumption::UniqueDecoding.prox_gaps_error(
        instance.log_trace_length,
        parameters.shape.log_inv_rate as usize,
        instance.modulus_bits,
        instance.num_batched_functions,
    );
    let len = power_of_two(parameters.shape.log_rows + parameters.shape.log_inv_rate);
    let one_more = (1.0 + len.recip()).log2();
    assert_close(
        bits(report, Source::Batching),
        theirs + f64::from(parameters.grinding.batching) - one_more,
    );
}

fn power_of_two(log: u32) -> f64 {
    f64::from(log).exp2()
}

fn fold(report: &Report) -> f64 {
    report
        .term(Source::Folds)
        .expect("there are folds")
        .round_bits
}

#[test]
fn unique_decoding_is_that_of_plonky3() {
    for (parameters, regime, air, instance) in grid() {
        let report = parameters
            .report(Regime::UniqueDecoding)
            .expect("parameters fit");
        let alpha = alpha_udr(instance.log_trace_length, regime.log_blowup, air.max_combo);
        let queries = query_phase_error(alpha, regime.num_queries, regime.query_pow_bits).bits();
        let commit = commit_phase_error_udr(&regime, &instance)
            .expect("there are folds")
            .bits();
        assert_close(bits(&report, Source::Queries), queries);
        assert_close(fold(&report), commit);
        assert_close(
            bits(&report, Source::Queries).min(fold(&report)),
            proven_error_udr(&regime, &air, &instance).bits(),
        );
        assert_batching(&report, &parameters, &instance);
        assert_eq!(report.term(Source::OutOfDomain), None);
        assert_close(bits(&report, Source::Hash), 256.0);
    }
}

#[test]
fn the_conjecture_is_that_of_plonky3() {
    for (parameters, regime, _, instance) in grid() {
        let report = parameters
            .report(Regime::Conjectured)
            .expect("parameters fit");
        let commit = conjectured_commit_phase_error(&regime, &instance).expect("there are folds");
        assert_close(
            bits(&report, Source::Queries),
            conjectured_error(&regime, &instance).bits(),
        );
        assert_close(fold(&report), commit.bits());
        assert_batching(&report, &parameters, &instance);
        assert_eq!(report.term(Source::OutOfDomain), None);
    }
}

/// p3-security takes the count of lines of ePrint 2026/2056, which is smaller by a factor of about μ^2/(4 √ρ).
#[test]
fn list_decoding_is_that_of_plonky3_with_an_older_count() {
    let mut tried = 0;
    for (parameters, regime, air, instance) in grid() {
        let shape = &parameters.shape;
        let max = compute_upper_m(1 << shape.log_rows, air.max_combo);
        for m in [3, 4, 10, 100, 1000, max] {
            let multiplicity = u32::try_from(m).expect("m is small");
            assert_eq!(
                Proximity::list_decodes(shape, multiplicity),
                m <= max,
                "{shape:?}, m {m}"
            );
            if !(3..=max.min(1000)).contains(&m) {
                continue;
            }
            tried += 1;
            let bounds = Bounds::new(shape, Proximity::List { multiplicity });
            let report = Report::new(&parameters, Regime::ListDecoding, &bounds);
            assert_eq!(report.multiplicity(), Some(multiplicity));
            assert_close(report.list_size(), list_size_ldr_m(regime.log_blowup, m));
            let alpha = alpha_ldr_m(regime.log_blowup, m);
            let queries = query_phase_error(alpha, regime.num_queries, regime.query_pow_bits);
            assert_close(bits(&report, Source::Queries), queries.bits());

            let root = power_of_two(shape.log_inv_rate).sqrt().recip();
            let mu = f64::from(multiplicity) + 0.5;
            let ratio = (mu * mu / (4.0 * root)).log2();
            let commit = commit_phase_error_ldr_m(&regime, &instance, m)
                .expect("there are folds")
                .bits();
            let smaller = |ours: f64, theirs: f64, slack: f64| {
                let beyond = theirs - ours - ratio;
                // Short codes have a rate that is noticeably below ρ, of which theirs is.
                let short = -1.5 * 2.0 / power_of_two(shape.log_rows);
                assert!(
                    (short..slack).contains(&beyond),
                    "{shape:?}, m {m}: {beyond}"
                );
                assert!(ours <= theirs);
            };
            // The second summand, 2^a (n + 1) (2m + 1)/√ρ, has most weight where m is 3 and the arity 2.
            if commit > 5.0 {
                smaller(fold(&report), commit, 0.12);
            }
            if instance.num_batched_functions > 1 {
                let batching = SecurityAssumption::prox_gaps_error_jb_at_m(
                    instance.log_trace_length,
                    regime.log_blowup,
                    instance.modulus_bits,
                    instance.num_batched_functions,
                    m,
                );
                let grinding = f64::from(parameters.grinding.batching);
                if batching > ratio {
                    smaller(bits(&report, Source::Batching), batching + grinding, 0.01);
                }
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

/// Pairs of candidates, as for WHIR: p3-security counts L^2/2 of them, with another L.
#[test]
fn out_of_domain_pairs_are_those_of_plonky3() {
    for (log_rows, log_inv_rate, multiplicity) in [(10, 1, 3), (16, 2, 10), (24, 4, 1000)] {
        let shape = Shape {
            log_rows,
            log_inv_rate,
            points: 1,
            ..shape()
        };
        let bounds = Bounds::new(&shape, Proximity::List { multiplicity });
        let parameters = Parameters {
            shape,
            queries: 1,
            grinding: Grinding::NONE,
        };
        let report = Report::new(&parameters, Regime::ListDecoding, &bounds);
        let (assumption, log_eta) = (SecurityAssumption::JohnsonBound, -10.0);
        let (log_rows, log_inv_rate) = (log_rows as usize, log_inv_rate as usize);
        let theirs = assumption.ood_error_at_log_eta(log_rows, log_inv_rate, 252, 1, log_eta);
        let list = assumption.list_size_bits_at_log_eta(log_rows, log_inv_rate, log_eta);
        let ours = report.list_size();
        assert_close(
            bits(&report, Source::OutOfDomain) + (ours * (ours - 1.0)).log2(),
            theirs + 2.0 * list,
        );
    }
}

// Schedules ----------------------------------------------------------------------------------------

/// All ways to fold 2^`log_rows` rows to one, as arities.
fn schedules(log_rows: u32, log_arity: u32) -> Vec<Vec<u32>> {
    if log_rows == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in 1..=log_arity.min(log_rows) {
        for mut rest in schedules(log_rows - first, log_arity) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

#[test]
fn no_schedule_is_worse_than_high_arities_first() {
    let proximities = [
        Proximity::Unique,
        Proximity::List { multiplicity: 3 },
        Proximity::List { multiplicity: 500 },
    ];
    for (log_rows, log_arity, log_inv_rate) in [
        (1, 1, 1),
        (7, 1, 1),
        (10, 2, 1),
        (11, 3, 2),
        (10, 4, 4),
        (4, 9, 1),
    ] {
        for heights in [Heights::Equal, Heights::Mixed] {
            let shape = Shape {
                log_rows,
                heights,
                log_inv_rate,
                log_arity,
                ..shape()
            };
            for proximity in proximities {
                let bounds = Bounds::new(&shape, proximity);
                let bad = bounds.folds();
                let mut sums = Vec::new();
                for schedule in schedules(log_rows, log_arity) {
                    let mut log_len = log_rows + log_inv_rate;
                    let mut sum = 0.0;
                    for log_arity in schedule {
                        let round = bounds.fold(log_arity, log_len);
                        assert!(round <= bad.worst);
                        sum += round;
                        log_len -= log_arity;
                    }
                    assert!(sum <= bad.sum * (1.0 + 1e-12), "{shape:?}");
                    sums.push(sum);
                }
                assert!(sums.iter().any(|sum| (sum / bad.sum - 1.0).abs() < 1e-12));
            }
        }
    }
}

#[test]
fn joins_raise_the_degree_by_one() {
    let parameters = |heights| Parameters {
        shape: Shape { heights, ..shape() },
        queries: 100,
        grinding: Grinding::NONE,
    };
    let report = |heights, regime| parameters(heights).report(regime).expect("parameters fit");
    let regime = Regime::UniqueDecoding;
    let difference = fold(&report(Heights::Equal, regime)) - fold(&report(Heights::Mixed, regime));
    assert_close(difference, (8.0_f64 / 7.0).log2());
    // 1 + 2 + ... + 2^20 rows instead of 2^20, and 21 more points instead of one.
    let regime = Regime::ListDecoding;
    let bits = |heights| bits(&report(heights, regime), Source::OutOfDomain);
    let (mixed, equal) = (2_097_151.0 + 21.0, 1_048_576.0 + 1.0);
    assert_close(
        bits(Heights::Equal) - bits(Heights::Mixed),
        f64::log2(mixed / equal),
    );
}

// What holds for all parameters --------------------------------------------------------------------

/// Numbers of all sizes, mostly of those that make sense.
fn number(sensible: std::ops::Range<u32>) -> impl Strategy<Value = u32> {
    prop_oneof![8 => sensible, 1 => 0_u32..70, 1 => any::<u32>()]
}

fn field() -> impl Strategy<Value = Field> {
    prop_oneof![
        number(4..7).prop_map(|degree| Field::KoalaBear { degree }),
        number(100..300).prop_map(Field::Bits),
    ]
}

fn hash() -> impl Strategy<Value = Hash> {
    prop_oneof![
        number(8..9).prop_map(|words| Hash::KoalaBear { words }),
        number(100..260).prop_map(Hash::CollisionBits),
    ]
}

prop_compose! {
    fn shapes()(
        log_rows in number(0..25),
        mixed in any::<bool>(),
        log_inv_rate in number(1..5),
        field in field(),
        hash in hash(),
        columns in number(1..10_000),
        points in number(1..4),
        log_arity in number(1..5),
    ) -> Shape {
        let heights = if mixed { Heights::Mixed } else { Heights::Equal };
        Shape { log_rows, heights, log_inv_rate, field, hash, columns, points, log_arity }
    }
}

prop_compose! {
    fn grindings()(batching in number(0..20), folds in number(0..20), queries in number(0..25)) -> Grinding {
        Grinding { batching, folds, queries }
    }
}

fn regimes() -> impl Strategy<Value = Regime> {
    prop::sample::select(&Regime::ALL[..])
}

fn more(parameters: &Parameters, by: u32) -> [Parameters; 4] {
    let raised = |raise: fn(&mut Parameters) -> &mut u32| {
        let mut raised = *parameters;
        let number = raise(&mut raised);
        *number = number.saturating_add(by);
        raised
    };
    [
        raised(|parameters| &mut parameters.queries),
        raised(|parameters| &mut parameters.grinding.batching),
        raised(|parameters| &mut parameters.grinding.folds),
        raised(|parameters| &mut parameters.grinding.queries),
    ]
}

proptest! {
    #[test]
    fn every_input_has_numbers_or_an_error(
        shape in shapes(),
        queries in number(1..400),
        grinding in grindings(),
        regime in regimes(),
        by in number(1..40),
    ) {
        let parameters = Parameters { shape, queries, grinding };
        match parameters.report(regime) {
            Ok(report) => {
                let sum = report.sum();
                for term in report.terms() {
                    prop_assert!(term.bits.is_finite() && term.bits >= 0.0, "{term:?}");
                    prop_assert!(term.round_bits >= term.bits && term.round_bits.is_finite(), "{term:?}");
                    prop_assert!(sum <= term.bits);
                }
                let weakest = report.weakest();
                prop_assert!(report.terms().iter().all(|term| weakest.round_bits <= term.round_bits));
                prop_assert!(report.list_size() >= 1.0 && report.list_size().is_finite());
                prop_assert_eq!(report.multiplicity().is_some(), regime == Regime::ListDecoding);
                // More queries and more grinding never lower the sum.
                for more in more(&parameters, by) {
                    let more = more.report(regime).expect("it is as consistent").sum();
                    prop_assert!(more >= sum - 1e-9, "{more} < {sum}");
                }
            }
            Err(Error::TooFewRows { .. }) => prop_assert_eq!(regime, Regime::ListDecoding),
            Err(error) => prop_assert!(
                shape.log_inv_rate == 0 || shape.log_rows.saturating_add(shape.log_inv_rate) > 64
                    || shape.columns == 0 || shape.points == 0 || shape.log_arity == 0 || queries == 0,
                "{}", error
            ),
        }
    }

    #[test]
    fn what_is_found_is_the_least(
        shape in shapes(),
        most in grindings(),
        target in number(60..130),
        regime in regimes(),
    ) {
        let reaches = |parameters: &Parameters| {
            parameters.report(regime).is_ok_and(|report| report.sum() >= f64::from(target))
        };
        match Parameters::for_target(shape, most, target, regime) {
            Ok(found) => {
                prop_assert!(reaches(&found), "{found:?}");
                prop_assert!(found.report(regime).is_ok_and(|report| report.security_bits() >= target));
                let Grinding { batching, folds, queries } = found.grinding;
                prop_assert!(batching <= most.batching && folds <= most.folds && queries <= most.queries);
                let fewer = Parameters { queries: found.queries - 1, grinding: most, ..found };
                prop_assert!(!reaches(&fewer), "{found:?}");
                for (bits, grinding) in [
                    (batching, Grinding { batching: batching.wrapping_sub(1), ..found.grinding }),
                    (folds, Grinding { folds: folds.wrapping_sub(1), ..found.grinding }),
                    (queries, Grinding { queries: queries.wrapping_sub(1), ..found.grinding }),
                ] {
                    prop_assert!(bits == 0 || !reaches(&Parameters { grinding, ..found }), "{found:?}");
                }
            }
            Err(Error::OutOfReach { .. }) => {
                let parameters = Parameters { shape, queries: QUERIES_MAX, grinding: most };
                prop_assert!(!reaches(&parameters));
            }
            Err(error) => {
                let parameters = Parameters { shape, queries: 1, grinding: most };
                prop_assert_eq!(parameters.report(regime).err(), Some(error));
            }
        }
    }
}

// Errors -------------------------------------------------------------------------------------------

#[test]
fn what_is_out_of_reach_is_named() {
    let refused = |shape, target, regime| {
        let found = Parameters::for_target(shape, Grinding::NONE, target, regime);
        found.expect_err("out of reach").to_string()
    };
    let koala_bear = |degree| Shape {
        field: Field::KoalaBear { degree },
        columns: 300,
        ..shape()
    };
    let message = refused(koala_bear(4), 100, Regime::UniqueDecoding);
    for part in [
        "100 bits",
        "the unique regime",
        "batching, has 93.7",
        "hint: ",
        "(6 instead of 4)",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let hash = Shape {
        hash: Hash::KoalaBear { words: 8 },
        ..koala_bear(6)
    };
    let message = refused(hash, 124, Regime::Conjectured);
    assert!(
        message.contains("the conjectured regime: the weakest source of error, hash, has 123.9"),
        "{message}"
    );
    let short = Shape {
        log_rows: 0,
        points: 1,
        ..shape()
    };
    let message = refused(short, 10, Regime::UniqueDecoding);
    assert!(
        message.contains("queries, has 0.0") && message.contains("lower rate"),
        "{message}"
    );
    let message = refused(short, 10, Regime::ListDecoding);
    assert!(
        message.contains("2^0 rows are too few for list decoding"),
        "{message}"
    );
}

#[test]
fn inconsistent_parameters_are_refused() {
    let refused = |shape| {
        let parameters = Parameters {
            shape,
            queries: 100,
            grinding: Grinding::NONE,
        };
        parameters
            .report(Regime::UniqueDecoding)
            .expect_err("inconsistent")
    };
    let base = shape();
    assert_eq!(
        refused(Shape {
            log_inv_rate: 0,
            ..base
        }),
        Error::RateOne
    );
    let long = Error::DomainTooLong {
        log_rows: u32::MAX,
        log_inv_rate: 1,
    };
    assert_eq!(
        refused(Shape {
            log_rows: u32::MAX,
            ..base
        }),
        long
    );
    let nothing = |columns, points| Error::NothingOpened { columns, points };
    assert_eq!(refused(Shape { columns: 0, ..base }), nothing(0, 2));
    assert_eq!(refused(Shape { points: 0, ..base }), nothing(1, 0));
    assert_eq!(
        refused(Shape {
            log_arity: 0,
            ..base
        }),
        Error::ArityOne
    );
    let parameters = Parameters {
        shape: base,
        queries: 0,
        grinding: Grinding::NONE,
    };
    assert_eq!(
        parameters.report(Regime::Conjectured),
        Err(Error::NoQueries)
    );
}
