//! Every back end against the definition and against published implementations.

use lanework_arch::cpu::Caches;
use lanework_arch::{Choice, Feature};
use lanework_field::KoalaBear;
use lanework_field::koala::spec::P;
use lanework_testkit::cases::Rng;
use lanework_testkit::{isas, vectors};
use p3_dft::{Radix2DitParallel, TwoAdicSubgroupDft};
use p3_field::PrimeField32;
use p3_matrix::Matrix;
use p3_matrix::bitrev::BitReversibleMatrix;
use p3_matrix::dense::RowMajorMatrix;
use proptest::prelude::{Strategy, any, prop};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::scalar;
use crate::plan::Passes;
use crate::{Direction, Error, LdePlan, Order, Transform, bit_reverse};

/// Every back end of this CPU: all bundles, and those that lower one by a feature.
pub(super) fn choices() -> Vec<Choice> {
    let mut choices = Choice::available();
    let lowered = choices.iter().filter(|choice| choice.has(Feature::Ifma));
    let lowered: Vec<_> = lowered
        .map(|choice| choice.without(Feature::Ifma))
        .collect();
    choices.extend(lowered);
    choices
}

/// Caches that lead to one sweep, to several, and to visits of every kind.
fn caches() -> [Caches; 3] {
    [
        Caches::new(48 << 10, 2 << 20, 0),
        Caches::new(2 << 10, 16 << 10, 0),
        Caches::new(256, 4 << 10, 0),
    ]
}

fn elements(words: &[u32]) -> Vec<KoalaBear> {
    words.iter().map(|&word| KoalaBear::new(word)).collect()
}

fn message(log_rows: u32, seed: u64) -> Vec<KoalaBear> {
    let mut words = Rng::new(seed).words_below(P, 1 << log_rows);
    // The edge words come first, where they would all enter one vector.
    let third = words.len() / 3;
    words.rotate_right(third);
    elements(&words)
}

fn encode(plan: &LdePlan, message: &[KoalaBear]) -> Vec<KoalaBear> {
    let garbage = KoalaBear::new(P - 2);
    let mut codeword = vec![garbage; plan.codeword_len()];
    let mut scratch = vec![garbage; plan.scratch_len()];
    plan.encode(message, &mut codeword, &mut scratch);
    // Streaming stores, to the start of a cache line and elsewhere.
    let mut buffer = vec![KoalaBear::ZERO; codeword.len() + 32];
    let line = buffer.as_ptr().align_offset(64);
    for offset in [line, line + 1] {
        let streamed = &mut buffer[offset..offset + codeword.len()];
        streamed.fill(KoalaBear::ZERO);
        plan.encode_streaming(message, streamed, &mut scratch);
        assert_eq!(
            *streamed, codeword,
            "streamed, {offset} elements from the start"
        );
    }
    codeword
}

fn assert_equal(actual: &[KoalaBear], expected: &[KoalaBear], what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    let wrong = actual.iter().zip(expected).filter(|(a, e)| a != e).count();
    if let Some(r) = actual.iter().zip(expected).position(|(a, e)| a != e) {
        panic!(
            "{what}: {wrong} differ, the first at {r}: {:?} for {:?}",
            actual[r], expected[r]
        );
    }
}

#[test]
fn the_definition_is_the_polynomial() {
    for log_rows in 0..=7 {
        let values = message(log_rows, 1);
        let coefficients = scalar::inverse(&values);
        assert_eq!(scalar::evaluations(&coefficients, KoalaBear::ONE), values);
        for shift in [
            KoalaBear::ONE,
            KoalaBear::GENERATOR,
            KoalaBear::new(1_000_003),
        ] {
            let expected = scalar::evaluations(&coefficients, shift);
            assert_eq!(scalar::forward(&coefficients, shift), expected);
        }
    }
}

#[test]
fn roots_of_unity_are_the_published_ones() {
    let vector = vectors::koalabear().get("two_adic_generators");
    let orders: Vec<u32> = vector.input("k");
    let roots: Vec<u32> = vector.output("generator_of_order_2^k");
    assert_eq!(orders.len(), roots.len());
    for (&log_order, &root) in orders.iter().zip(&roots) {
        assert_eq!(
            KoalaBear::two_adic_generator(log_order),
            KoalaBear::new(root)
        );
    }
}

#[test]
fn codewords_are_the_published_ones() {
    let mut exercised = Vec::new();
    for choice in choices() {
        for vector in vectors::koalabear().with_prefix("lineth_encode_") {
            let message = elements(&vector.input::<Vec<u32>>("column_natural_order"));
            let expected = elements(&vector.output::<Vec<u32>>("codeword_bit_reversed"));
            let log_inv_rate = vector.input("log_inverse_rate");
            assert_equal(
                &scalar::encode(&message, log_inv_rate, KoalaBear::ONE),
                &expected,
                "scalar",
            );
            let plan = plan(
                message.len().ilog2(),
                log_inv_rate,
                KoalaBear::ONE,
                choice,
                caches()[0],
            );
            assert_equal(&encode(&plan, &message), &expected, &vector.name);
        }
        for vector in vectors::koalabear().with_prefix("p3_lde_") {
            let rows: Vec<Vec<u32>> = vector.input("rows_natural_order");
            let expected: Vec<Vec<u32>> = vector.output("rows_bit_reversed");
            let (log_blowup, shift): (u32, u32) =
                (vector.input("log_blowup"), vector.input("shift"));
            let plan = plan(
                rows.len().ilog2(),
                log_blowup,
                KoalaBear::new(shift),
                choice,
                caches()[0],
            );
            for column in 0..rows[0].len() {
                let cell = |row: &Vec<u32>| KoalaBear::new(row[column]);
                let message: Vec<_> = rows.iter().map(cell).collect();
                let expected: Vec<_> = expected.iter().map(cell).collect();
                assert_equal(&encode(&plan, &message), &expected, &vector.name);
            }
        }
        exercised.push(choice.to_string());
    }
    isas::report("ntt", &exercised);
}

fn plan(
    log_rows: u32,
    log_inv_rate: u32,
    shift: KoalaBear,
    choice: Choice,
    caches: Caches,
) -> LdePlan {
    LdePlan::new(log_rows, log_inv_rate, shift, choice, caches).expect("a shape within bounds")
}

#[test]
fn every_back_end_encodes_every_size_rate_and_shift_by_definition() {
    for log_rows in 0..=12 {
        for log_inv_rate in 0..=4 {
            for shift in [
                KoalaBear::ONE,
                KoalaBear::GENERATOR,
                KoalaBear::new(123_456_789),
            ] {
                let message = message(log_rows, u64::from(log_rows));
                let expected = scalar::encode(&message, log_inv_rate, shift);
                for choice in choices() {
                    for caches in caches() {
                        let plan = plan(log_rows, log_inv_rate, shift, choice, caches);
                        let what = format!("{plan:?} {caches:?}");
                        assert_equal(&encode(&plan, &message), &expected, &what);
                    }
                }
            }
        }
    }
}

/// Sizes at which a plan with these caches is of another kind than the smaller ones: the number of
/// visits of the wide and of the deep layers, and whether rows have several blocks.
fn sizes_of_new_kinds(caches: Caches, log_rows_max: u32) -> Vec<u32> {
    let mut kinds = Vec::new();
    let mut sizes = Vec::new();
    for log_rows in 0..=log_rows_max {
        let kind = Passes::new(log_rows, 3, 8, caches).map(|passes| {
            let divided = passes.log_block < passes.log_deep;
            (
                passes.wide_visits().len(),
                passes.deep_visits().len(),
                divided,
            )
        });
        if !kinds.contains(&kind) {
            kinds.push(kind);
            sizes.push(log_rows);
        }
    }
    sizes
}

#[test]
fn tall_columns_are_encoded_by_definition() {
    // Rows of several blocks and three visits of the wide layers, at sizes that a definition can do.
    let narrow = Caches::new(2 << 10, 16 << 10, 0);
    let passes = Passes::new(16, 3, 8, narrow).expect("many elements");
    assert!(passes.wide_visits().len() > 2, "{passes:?}");
    let tiny = Caches::new(256, 16 << 10, 0);
    let passes = Passes::new(16, 3, 8, tiny).expect("many elements");
    assert!(passes.log_block < passes.log_deep, "{passes:?}");
    let machine = Caches::new(48 << 10, 2 << 20, 0);
    let mut cases = vec![(14, narrow), (16, narrow), (16, tiny), (16, machine)];
    let tall = sizes_of_new_kinds(machine, 20)
        .into_iter()
        .filter(|&log_rows| log_rows > 12);
    cases.extend(tall.map(|log_rows| (log_rows, machine)));
    for (log_rows, caches) in cases {
        let message = message(log_rows, 5);
        for shift in [KoalaBear::ONE, KoalaBear::GENERATOR] {
            let expected = scalar::encode(&message, 1, shift);
            for choice in choices() {
                let plan = plan(log_rows, 1, shift, choice, caches);
                assert_equal(
                    &encode(&plan, &message),
                    &expected,
                    &format!("{plan:?} {caches:?}"),
                );
            }
        }
    }
}

#[test]
fn slices_need_no_alignment_and_threads_may_share_a_plan() {
    for choice in choices() {
        let plan = plan(10, 2, KoalaBear::GENERATOR, choice, caches()[1]);
        std::thread::scope(|scope| {
            for offset in 0..4_usize {
                let plan = &plan;
                scope.spawn(move || {
                    let message = message(10, offset as u64);
                    let expected = scalar::encode(&message, 2, KoalaBear::GENERATOR);
                    let moved = |len: usize| vec![KoalaBear::ONE; len + 2 * offset];
                    let (mut source, mut target) = (moved(1 << 10), moved(1 << 12));
                    let mut scratch = moved(plan.scratch_len());
                    source[offset..][..1 << 10].copy_from_slice(&message);
                    let codeword = &mut target[offset..][..1 << 12];
                    let scratch = &mut scratch[offset..][..plan.scratch_len()];
                    plan.encode(&source[offset..][..1 << 10], codeword, scratch);
                    assert_equal(codeword, &expected, &format!("{plan:?} at {offset}"));
                    let rest = [&target[..offset], &target[offset + (1 << 12)..]].concat();
                    assert!(
                        rest.iter().all(|&cell| cell == KoalaBear::ONE),
                        "written beyond"
                    );
                });
            }
        });
    }
}

#[test]
fn codewords_are_those_of_plonky3() {
    let mut rng = Rng::new(11);
    for (log_rows, log_inv_rate) in [(0, 1), (1, 1), (3, 2), (8, 1), (9, 4), (11, 2), (13, 1)] {
        let width = rng.in_range(1..4);
        let words = rng.words_below(P, width << log_rows);
        let cells = words
            .iter()
            .map(|&word| p3_koala_bear::KoalaBear::new(word))
            .collect();
        let matrix = RowMajorMatrix::<p3_koala_bear::KoalaBear>::new(cells, width);
        let shift = p3_koala_bear::KoalaBear::new(3);
        let dft = Radix2DitParallel::<p3_koala_bear::KoalaBear>::default();
        let extended = dft
            .coset_lde_batch(matrix, log_inv_rate, shift)
            .bit_reverse_rows();
        let extended = extended.to_row_major_matrix();
        for choice in choices() {
            let plan = plan(
                log_rows,
                log_inv_rate as u32,
                KoalaBear::GENERATOR,
                choice,
                caches()[0],
            );
            for column in 0..width {
                let column_of = |words: &[u32]| -> Vec<u32> {
                    words[column..].iter().step_by(width).copied().collect()
                };
                let message = elements(&column_of(&words));
                let expected: Vec<u32> = extended
                    .values
                    .iter()
                    .map(PrimeField32::as_canonical_u32)
                    .collect();
                let expected = elements(&column_of(&expected));
                assert_equal(&encode(&plan, &message), &expected, &format!("{plan:?}"));
            }
        }
    }
}

fn transform(
    plan: &Transform,
    column: &[KoalaBear],
    input: Order,
    output: Order,
) -> Vec<KoalaBear> {
    let mut column = column.to_vec();
    let mut scratch = vec![KoalaBear::new(P - 2); plan.scratch_len()];
    plan.apply(&mut column, input, output, &mut scratch);
    column
}

fn transform_plan(
    log_len: u32,
    direction: Direction,
    shift: KoalaBear,
    choice: Choice,
    caches: Caches,
) -> Transform {
    Transform::new(log_len, direction, shift, choice, caches).expect("a length within bounds")
}

#[test]
fn every_back_end_transforms_every_size_and_order_by_definition() {
    for log_len in (0..=13).chain([16]) {
        for shift in [KoalaBear::ONE, KoalaBear::GENERATOR] {
            let coefficients = message(log_len, u64::from(log_len));
            let values = scalar::forward(&coefficients, shift);
            let reversed = |column: &[KoalaBear]| {
                let place = |i| column[scalar::reversed(i, log_len)];
                (0..column.len()).map(place).collect::<Vec<_>>()
            };
            let in_order = |column: &[KoalaBear], order| match order {
                Order::Natural => column.to_vec(),
                Order::BitReversed => reversed(column),
            };
            for choice in choices() {
                for caches in caches() {
                    for direction in [Direction::Forward, Direction::Inverse] {
                        let plan = transform_plan(log_len, direction, shift, choice, caches);
                        let (from, to) = match direction {
                            Direction::Forward => (&coefficients, &values),
                            Direction::Inverse => (&values, &coefficients),
                        };
                        for input in [Order::Natural, Order::BitReversed] {
                            for output in [Order::Natural, Order::BitReversed] {
                                let actual =
                                    transform(&plan, &in_order(from, input), input, output);
                                let what = format!("{plan:?} {caches:?} {input:?} {output:?}");
                                assert_equal(&actual, &in_order(to, output), &what);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn bit_reversal_moves_each_index_to_its_reversal() {
    for log_len in 0..=14 {
        let mut indices: Vec<usize> = (0..1 << log_len).collect();
        bit_reverse(&mut indices);
        let expected = (0..1 << log_len).map(|i| scalar::reversed(i, log_len));
        assert!(indices.iter().copied().eq(expected), "2^{log_len}");
    }
}

#[test]
fn what_has_no_subgroup_is_an_error() {
    let (choice, caches) = (Choice::portable(), caches()[0]);
    let plan =
        |log_rows, log_inv_rate, shift| LdePlan::new(log_rows, log_inv_rate, shift, choice, caches);
    for (log_rows, log_inv_rate) in [(24, 1), (23, 2), (25, 0), (u32::MAX, 1)] {
        let error = plan(log_rows, log_inv_rate, KoalaBear::ONE).expect_err("too long");
        assert_eq!(
            error,
            Error::TooLong {
                log_rows,
                log_inv_rate
            }
        );
        assert!(error.to_string().contains("hint:"), "{error}");
    }
    assert_eq!(
        plan(3, 1, KoalaBear::ZERO).expect_err("no coset"),
        Error::ZeroShift
    );
    for (log_len, shift, expected) in [
        (25, KoalaBear::ONE, Error::NoSubgroup { log_len: 25 }),
        (3, KoalaBear::ZERO, Error::ZeroShift),
    ] {
        let plan = Transform::new(log_len, Direction::Inverse, shift, choice, caches);
        assert_eq!(plan.expect_err("no coset"), expected);
    }
}

/// Runs a property on seeded columns of a random size up to 2^11, on every back end.
fn for_columns(test: impl Fn(Choice, Caches, &[Vec<KoalaBear>; 2], KoalaBear)) {
    let column =
        |log_len: u32| prop::collection::vec(0..P, 1 << log_len).prop_map(|words| elements(&words));
    let columns = (0..=11_u32).prop_flat_map(move |log_len| [column(log_len), column(log_len)]);
    let cases = (columns, 1..P, any::<prop::sample::Index>());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config {
        cases: 48,
        failure_persistence: None,
        ..Config::default()
    };
    let result = TestRunner::new_with_rng(config, rng).run(&cases, |(columns, scalar, index)| {
        let caches = caches();
        let caches = caches[index.index(caches.len())];
        for choice in choices() {
            test(choice, caches, &columns, KoalaBear::new(scalar));
        }
        Ok(())
    });
    result.expect("a property of transforms");
}

#[test]
fn encoding_is_linear() {
    for_columns(|choice, caches, [a, b], factor| {
        let plan = plan(a.len().ilog2(), 1, KoalaBear::GENERATOR, choice, caches);
        let sum = |a: &[KoalaBear], b: &[KoalaBear]| -> Vec<KoalaBear> {
            a.iter().zip(b).map(|(&a, &b)| a + factor * b).collect()
        };
        let expected = sum(&encode(&plan, a), &encode(&plan, b));
        assert_equal(&encode(&plan, &sum(a, b)), &expected, "a + c b");
    });
}

#[test]
fn an_inverse_undoes_a_transform_on_any_coset() {
    for_columns(|choice, caches, [column, _], shift| {
        let plan =
            |direction| transform_plan(column.len().ilog2(), direction, shift, choice, caches);
        let (forward, inverse) = (plan(Direction::Forward), plan(Direction::Inverse));
        let values = transform(&forward, column, Order::Natural, Order::BitReversed);
        let back = transform(&inverse, &values, Order::BitReversed, Order::Natural);
        assert_equal(&back, column, "there and back");
    });
}

#[test]
fn products_of_values_are_values_of_products() {
    for_columns(|choice, caches, [a, b], shift| {
        // Few enough coefficients for the product by the schoolbook.
        let few = a.len().min(64);
        let (a, b) = (&a[..few], &b[..few]);
        let mut product = vec![KoalaBear::ZERO; 2 * few];
        for (i, &a) in a.iter().enumerate() {
            for (j, &b) in b.iter().enumerate() {
                product[i + j] += a * b;
            }
        }
        // Long enough for the vectors of every back end.
        let len = (2 * few).max(1 << 10);
        let plan = transform_plan(len.ilog2(), Direction::Forward, shift, choice, caches);
        let values = |column: &[KoalaBear]| {
            let mut column = column.to_vec();
            column.resize(len, KoalaBear::ZERO);
            transform(&plan, &column, Order::Natural, Order::BitReversed)
        };
        let expected: Vec<_> = values(a)
            .iter()
            .zip(values(b))
            .map(|(&a, b)| a * b)
            .collect();
        assert_equal(&values(&product), &expected, "convolution");
    });
}

#[test]
fn blocks_of_a_codeword_are_cosets() {
    for_columns(|choice, caches, [message, _], shift| {
        let log_rows = message.len().ilog2();
        let codeword = encode(&plan(log_rows, 2, shift, choice, caches), message);
        let root = KoalaBear::two_adic_generator(log_rows + 2);
        let inverse = transform_plan(log_rows, Direction::Inverse, KoalaBear::ONE, choice, caches);
        let coefficients = transform(&inverse, message, Order::Natural, Order::Natural);
        for (c, block) in codeword.chunks_exact(message.len()).enumerate() {
            let shift = shift * root.pow(scalar::reversed(c, 2) as u64);
            let forward = transform_plan(log_rows, Direction::Forward, shift, choice, caches);
            let values = transform(&forward, &coefficients, Order::Natural, Order::BitReversed);
            assert_equal(block, &values, &format!("block {c}"));
        }
    });
}
