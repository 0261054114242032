//! The scalar field.

use lanework_field::koala::spec::{MONTGOMERY_MU, MONTGOMERY_R, MONTGOMERY_R2, P};
use lanework_field::{Error, Field, KoalaBear, batch_inverse, powers, shifted_powers};
use lanework_testkit::cases::{Rng, edge_words, words_not_below};
use lanework_testkit::vectors::koalabear;
use p3_field::{Field as _, PrimeCharacteristicRing, PrimeField32, TwoAdicField};
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

use crate::element;

const P64: u64 = P as u64;

fn new(canonical: u32) -> KoalaBear {
    KoalaBear::from_canonical(canonical).expect("canonical")
}

fn edges() -> Vec<KoalaBear> {
    let word = |word| KoalaBear::from_montgomery_word(word).expect("below p");
    edge_words(P).into_iter().map(word).collect()
}

#[test]
fn constants_are_what_they_are_called() {
    assert_eq!(P.wrapping_mul(MONTGOMERY_MU), 1);
    assert_eq!(MONTGOMERY_R, ((1_u64 << 32) % P64) as u32);
    assert_eq!(
        u64::from(MONTGOMERY_R2),
        u64::from(MONTGOMERY_R).pow(2) % P64
    );
    assert_eq!(KoalaBear::ONE, new(1));
    assert_eq!(KoalaBear::NEG_ONE, new(P - 1));
    assert_eq!(KoalaBear::GENERATOR, new(3));
    for prime in [2, 127] {
        assert_ne!(
            KoalaBear::GENERATOR.pow(P64 / prime),
            KoalaBear::ONE,
            "3 has a smaller order"
        );
    }
}

#[test]
fn published_products_and_quotients() {
    let case = koalabear().get("field_mul_plonky3");
    let product = new(case.input("a")) * new(case.input("b"));
    assert_eq!(product.to_canonical(), case.output::<u32>("product"));

    for case in koalabear().with_prefix("field_case_") {
        let (a, b) = (new(case.input("a")), new(case.input("b")));
        let want = |key| new(case.output(key));
        let inverse = a.inverse().map(KoalaBear::to_canonical);
        assert_eq!(a + b, want("add"), "{}", case.name);
        assert_eq!(a - b, want("sub"), "{}", case.name);
        assert_eq!(a * b, want("mul"), "{}", case.name);
        assert_eq!(a.square(), want("square_a"), "{}", case.name);
        assert_eq!(-a, want("neg_a"), "{}", case.name);
        assert_eq!(inverse, case.output("inv_a"), "{}", case.name);
        let b_inverse = b.inverse().expect("no vector divides by zero");
        assert_eq!(a * b_inverse, want("a_div_b"), "{}", case.name);
        let bytes: [u8; 4] = case.output("bytes_a_big_endian");
        assert_eq!(a.to_canonical().to_be_bytes(), bytes, "{}", case.name);
    }
}

#[test]
fn published_words_roots_and_shifts() {
    for case in koalabear().with_prefix("montgomery_word_") {
        let (element, word) = (new(case.input("canonical")), case.output("montgomery_word"));
        assert_eq!(element.montgomery_word(), word, "{}", case.name);
        assert_eq!(
            KoalaBear::from_montgomery_word(word),
            Ok(element),
            "{}",
            case.name
        );
    }

    let case = koalabear().get("two_adic_generators");
    let roots: Vec<u32> = case.output("generator_of_order_2^k");
    assert_eq!(roots.len(), 25);
    for (k, root) in (0..).zip(roots) {
        assert_eq!(KoalaBear::two_adic_generator(k), new(root), "order 2^{k}");
    }

    let case = koalabear().get("div_2exp");
    let x = new(case.input("x"));
    let exponents: Vec<u32> = case.input("exponents");
    let results: Vec<u32> = case.output("results");
    assert_eq!(exponents.len(), results.len());
    for (exponent, result) in exponents.into_iter().zip(results) {
        assert_eq!(x.div_2exp(exponent), new(result), "exponent {exponent}");
    }

    let case = koalabear().get("cube_inverse_exponent");
    let cube = new(case.input("x")).cube();
    assert_eq!(cube, new(case.output("cube")));
    assert_eq!(
        cube.pow(case.input("root_exponent")),
        new(case.output("root_of_cube"))
    );
}

#[test]
fn words_and_integers_out_of_range_are_rejected() {
    for value in words_not_below(P) {
        let error = Error::NonCanonical {
            value: value.into(),
        };
        assert_eq!(KoalaBear::from_canonical(value), Err(error.clone()));
        assert_eq!(KoalaBear::from_montgomery_word(value), Err(error.clone()));
        assert_eq!(KoalaBear::from_integer(value), Err(error.clone()));
        assert_eq!(KoalaBear::from_integer(i64::from(value)), Err(error));
    }
    for value in [-1, i64::MIN, i64::MAX, i64::from(P), 1 << 32, -(1 << 32)] {
        let error = Error::NonCanonical {
            value: value.into(),
        };
        assert_eq!(KoalaBear::from_integer(value), Err(error));
        let unsigned = value.cast_unsigned();
        let error = Error::NonCanonical {
            value: unsigned.into(),
        };
        assert_eq!(KoalaBear::from_integer(unsigned), Err(error));
    }
    assert_eq!(
        KoalaBear::from_integer(-1_i32),
        Err(Error::NonCanonical { value: -1 })
    );
    assert_eq!(KoalaBear::from_integer(P - 1), Ok(KoalaBear::NEG_ONE));
    assert_eq!(
        KoalaBear::from_integer(u64::from(P) - 1),
        Ok(KoalaBear::NEG_ONE)
    );
}

#[test]
fn reduction_is_the_mathematical_remainder() {
    for value in [
        0,
        1,
        -1,
        i64::MIN,
        i64::MAX,
        P.into(),
        -i64::from(P),
        1 << 32,
        i32::MIN.into(),
    ] {
        let remainder = i128::from(value).rem_euclid(P.into());
        assert_eq!(
            i128::from(KoalaBear::reduce(value).to_canonical()),
            remainder,
            "{value}"
        );
        let unsigned = value.cast_unsigned();
        let remainder = u128::from(unsigned) % u128::from(P);
        assert_eq!(
            u128::from(KoalaBear::reduce(unsigned).to_canonical()),
            remainder,
            "{unsigned}"
        );
        assert_eq!(KoalaBear::reduce(unsigned), KoalaBear::from_u64(unsigned));
    }
    for value in [i32::MIN, -1, i32::MAX] {
        assert_eq!(
            KoalaBear::reduce(value),
            KoalaBear::reduce(i64::from(value))
        );
    }
    for value in words_not_below(P) {
        assert_eq!(KoalaBear::reduce(value), KoalaBear::from_u64(value.into()));
        assert_eq!(KoalaBear::new(value), KoalaBear::from_u64(value.into()));
    }
}

#[test]
fn shifts_are_quotients() {
    let half = KoalaBear::new(2).inverse().expect("2 is not 0");
    for x in edges() {
        assert_eq!(x.halve(), x * half);
        assert_eq!(x.double(), x + x);
        for exponent in 0..=32 {
            assert_eq!(x.div_2exp(exponent), x * half.pow(exponent.into()));
        }
    }
}

fn dot_product_of_the_largest_words<const N: usize>() {
    let top = KoalaBear::from_montgomery_word(P - 1).expect("below p");
    let sum: KoalaBear = (0..N).map(|_| top * top).sum();
    assert_eq!(KoalaBear::dot(&[top; N], &[top; N]), sum, "{N} products");
}

#[test]
fn dot_products_of_the_largest_words() {
    dot_product_of_the_largest_words::<0>();
    dot_product_of_the_largest_words::<1>();
    dot_product_of_the_largest_words::<2>();
    dot_product_of_the_largest_words::<3>();
    dot_product_of_the_largest_words::<6>();
    dot_product_of_the_largest_words::<64>();
}

#[test]
fn words_are_those_of_plonky3() {
    for x in edges() {
        let theirs = p3_koala_bear::KoalaBear::from_u32(x.to_canonical());
        // Its serialised form is its word.
        let word = serde_json::to_value(theirs).expect("a number");
        assert_eq!(word, x.montgomery_word());
    }
}

#[test]
fn batches_of_every_length_with_and_without_zeros() {
    let mut rng = Rng::new(0x62_6174_6368);
    for len in [0, 1, 2, 511, 512, 513, 1300] {
        let values: Vec<_> = rng
            .words_below(P, len)
            .into_iter()
            .map(KoalaBear::new)
            .collect();
        assert!(len < 511 || values.contains(&KoalaBear::ZERO));
        let mut inverses = values.clone();
        batch_inverse(&mut inverses);
        for (value, inverse) in values.into_iter().zip(inverses) {
            assert_eq!(inverse, value.inverse().unwrap_or(KoalaBear::ZERO));
        }
    }
    let mut zeros = [KoalaBear::ZERO; 600];
    batch_inverse(&mut zeros);
    assert_eq!(zeros, [KoalaBear::ZERO; 600]);
}

#[test]
fn powers_go_on_without_an_end() {
    let (start, base) = (KoalaBear::new(5), KoalaBear::GENERATOR);
    for (i, (power, shifted)) in powers(base)
        .zip(shifted_powers(start, base))
        .take(100)
        .enumerate()
    {
        assert_eq!(power, base.pow(i as u64));
        assert_eq!(shifted, start * power);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn ring_laws(a in element(), b in element(), c in element()) {
        prop_assert_eq!((a + b) + c, a + (b + c));
        prop_assert_eq!((a * b) * c, a * (b * c));
        prop_assert_eq!(a * (b + c), a * b + a * c);
        prop_assert_eq!(a + b, b + a);
        prop_assert_eq!(a * b, b * a);
        prop_assert_eq!(a - b, a + -b);
        prop_assert_eq!(a.cube(), a * a * a);
        prop_assert_eq!(KoalaBear::dot(&[a, b, c], &[b, c, a]), a * b + b * c + c * a);
    }

    #[test]
    fn every_element_but_zero_has_an_inverse(a in element()) {
        let product = a.inverse().map(|inverse| a * inverse);
        prop_assert_eq!(product, (a != KoalaBear::ZERO).then_some(KoalaBear::ONE));
        prop_assert_eq!(Field::inverse(a), a.inverse());
    }

    #[test]
    fn products_are_those_of_integers(a in any::<u32>(), b in any::<u32>()) {
        let product = u64::from(a) * u64::from(b) % P64;
        prop_assert_eq!(u64::from((KoalaBear::new(a) * KoalaBear::new(b)).to_canonical()), product);
    }

    #[test]
    fn plonky3_agrees(a in element(), b in element()) {
        type Theirs = p3_koala_bear::KoalaBear;
        let theirs = |x: KoalaBear| Theirs::from_u32(x.to_canonical());
        let same = |x: Theirs, y: KoalaBear| prop_same(x, y);
        same(theirs(a) + theirs(b), a + b)?;
        same(theirs(a) - theirs(b), a - b)?;
        same(theirs(a) * theirs(b), a * b)?;
        same(theirs(a).halve(), a.halve())?;
        if let Some(inverse) = a.inverse() {
            same(theirs(a).inverse(), inverse)?;
        }
    }
}

fn prop_same(
    theirs: p3_koala_bear::KoalaBear,
    ours: KoalaBear,
) -> Result<(), proptest::test_runner::TestCaseError> {
    prop_assert_eq!(theirs.as_canonical_u32(), ours.to_canonical());
    Ok(())
}

#[test]
fn plonky3_has_the_same_roots_of_unity() {
    for k in 0..=24 {
        let theirs = p3_koala_bear::KoalaBear::two_adic_generator(k as usize);
        assert_eq!(
            theirs.as_canonical_u32(),
            KoalaBear::two_adic_generator(k).to_canonical()
        );
    }
}
