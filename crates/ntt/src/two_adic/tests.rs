//! Every back end against the definition and against published implementations.

use lanework_arch::cpu::Caches;
use lanework_arch::{Choice, Feature};
use lanework_field::KoalaBear;
use lanework_field::koala::spec::P;
use lanework_testkit::cases::Rng;
use lanework_testkit::{isas, vectors};

use super::scalar;
use crate::LdePlan;

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
