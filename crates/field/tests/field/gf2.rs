//! The fields of characteristic 2 as scalar types: published vectors, the definition, and their own laws.

use lanework_field::gf2::scalar::{product, remainder, times, times_extension};
use lanework_field::gf2::{B64, B192, BaseSum, ExtensionSum, MixedSum, T64};
use lanework_field::{Field, batch_inverse, powers};
use lanework_testkit::vectors::{binary, word, words};
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use serde_json::Value;

use crate::gf2_words::operands;

fn base() -> impl Strategy<Value = B64> {
    prop_oneof![
        1 => proptest::sample::select(operands(5)).prop_map(B64),
        3 => any::<u64>().prop_map(B64),
    ]
}

fn extension() -> impl Strategy<Value = B192> {
    std::array::from_fn::<_, 3, _>(|_| base()).prop_map(B192)
}

fn e(value: &Value) -> B192 {
    B192::new(words(value).try_into().expect("three limbs"))
}

fn cases(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.as_array().expect("a list");
    assert!(!list.is_empty());
    list.iter()
}

#[test]
fn published_arithmetic_of_k() {
    let k = &binary()["K"];
    for case in cases(&k["mul"]) {
        let (a, b) = (word(&case["a"]), word(&case["b"]));
        let wide = u128::from(word(&case["clmul_hi"])) << 64 | u128::from(word(&case["clmul_lo"]));
        assert_eq!(product(a, b), wide);
        assert_eq!(remainder(wide), word(&case["ab"]));
        assert_eq!(B64(a) * B64(b), B64(word(&case["ab"])));
    }
    for case in cases(&k["square"]) {
        assert_eq!(B64(word(&case["a"])).square(), B64(word(&case["sq"])));
    }
    for case in cases(&k["inverse"]) {
        let inverse = B64(word(&case["a"])).inverse().unwrap_or_default();
        assert_eq!(inverse, B64(word(&case["inv"])));
    }
    assert_eq!(B64::GENERATOR, B64(word(&k["generator"])));
    let factors: Vec<u64> = cases(&k["group_order_factors"])
        .map(|factor| factor.as_u64().expect("a number"))
        .collect();
    assert_eq!(factors.iter().product::<u64>(), u64::MAX);
    assert_eq!(B64::GENERATOR.pow(u64::MAX), B64::ONE);
    for factor in factors {
        assert_ne!(B64::GENERATOR.pow(u64::MAX / factor), B64::ONE);
    }
}

#[test]
fn published_arithmetic_of_e() {
    let vectors = &binary()["E"];
    for case in cases(&vectors["mul"]) {
        let (a, b) = (e(&case["a"]), e(&case["b"]));
        assert_eq!(a * b, e(&case["ab"]));
        let product = times_extension(a.words(), b.words());
        assert_eq!(B192::new(product), e(&case["ab"]));
    }
    for case in cases(&vectors["mul_base"]) {
        assert_eq!(e(&case["a"]) * B64(word(&case["k"])), e(&case["ak"]));
    }
    for case in cases(&vectors["square"]) {
        assert_eq!(e(&case["a"]).square(), e(&case["sq"]));
    }
    for case in cases(&vectors["frobenius_2^64"]) {
        assert_eq!(e(&case["a"]).frobenius(), e(&case["image"]));
    }
    for case in cases(&vectors["inverse"]) {
        assert_eq!(e(&case["a"]).inverse(), Some(e(&case["inv"])));
    }
    let case = &vectors["inner_product"];
    let mut sum = ExtensionSum::default();
    for (a, b) in cases(&case["a"]).zip(cases(&case["b"])) {
        sum.add_product(e(a), e(b));
    }
    assert_eq!(sum.reduce(), e(&case["sum"]));
}

#[test]
fn published_embedding_of_bytes() {
    let bytes = &binary()["F8"];
    let columns = words(&bytes["phi8_columns"]);
    for (i, &column) in columns.iter().enumerate() {
        assert_eq!(B64::from(T64(1 << i)), B64(column));
    }
    for case in cases(&bytes["mul"]) {
        let [a, b, ab] = words(case).try_into().expect("three bytes");
        assert_eq!(T64(a) * T64(b), T64(ab));
        assert_eq!(B64::from(T64(a)) * B64::from(T64(b)), T64(ab).into());
    }
    for (byte, image) in bytes["phi8_values"].as_object().expect("a table") {
        let byte = u64::from_str_radix(byte.trim_start_matches("0x"), 16).expect("a byte");
        assert_eq!(B64::from(T64(byte)), B64(word(image)));
    }
}

#[test]
fn published_tower() {
    let tower = &binary()["tower"];
    for case in cases(&tower["iso"]["images"]) {
        let (t, k) = (T64(word(&case["t"])), B64(word(&case["k"])));
        assert_eq!(B64::from(t), k);
        assert_eq!(T64::from(k), t);
    }
    for (basis, images) in words(&tower["cantor_basis_T"])
        .into_iter()
        .zip(words(&tower["cantor_basis_K"]))
    {
        assert_eq!(B64::from(T64(basis)), B64(images));
    }
    for level in ["mul64", "mul32", "mul16", "mul8"] {
        for case in cases(&tower[level]) {
            let (a, b) = (T64(word(&case["a"])), T64(word(&case["b"])));
            let ab = T64(word(&case["ab"]));
            assert_eq!(a * b, ab);
            assert_eq!(B64::from(a) * B64::from(b), ab.into());
            assert_eq!(a.square(), a * a);
            assert_eq!(a.inverse().map(|inverse| inverse * a), Some(T64::ONE));
        }
    }
}

#[test]
fn products_equal_the_definition() {
    let operands = operands(3);
    for &a in &operands {
        for &b in &operands {
            assert_eq!(B64(a) * B64(b), B64(times(a, b)), "{a:#x} {b:#x}");
        }
        assert_eq!(B64(a).square(), B64(times(a, a)), "{a:#x}");
        assert_eq!(B64(a).frobenius(3), B64(a).pow(8));
        assert_eq!(B64(a).frobenius(64), B64(a));
    }
}

#[test]
fn elements_convert_to_the_tower_and_back() {
    for word in operands(4) {
        let image = T64::from(B64(word));
        assert_eq!(image, T64::from_polynomial_word(word));
        assert_eq!(word, image.to_polynomial_word());
        assert_eq!(B64::from(image), B64(word));
    }
}

#[test]
fn zero_has_no_inverse_and_stays_in_a_batch() {
    assert_eq!(B64::ZERO.inverse(), None);
    assert_eq!(B192::ZERO.inverse(), None);
    assert_eq!(T64::ZERO.inverse(), None);

    let base: Vec<B64> = operands(6).into_iter().map(B64).collect();
    let mut inverses = base.clone();
    batch_inverse(&mut inverses);
    for (&x, inverse) in base.iter().zip(inverses) {
        assert_eq!(inverse, x.inverse().unwrap_or_default());
    }
    let extension: Vec<B192> = powers(B192::new([3, 1, 7]))
        .take(600)
        .chain([B192::ZERO])
        .collect();
    let mut inverses = extension.clone();
    batch_inverse(&mut inverses);
    for (&x, inverse) in extension.iter().zip(inverses) {
        assert_eq!(inverse, x.inverse().unwrap_or_default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn laws_of_k(a in base(), b in base(), c in base()) {
        prop_assert_eq!(a * (b + c), a * b + a * c);
        prop_assert_eq!(a * b * c, a * (b * c));
        prop_assert_eq!(a - b, a + b);
        prop_assert_eq!(-a + a, B64::ZERO);
        prop_assert_eq!(T64::from(a) * T64::from(b), T64::from(a * b));
        prop_assert_eq!(B64::from_bytes(a.to_bytes()), a);
        if let Some(inverse) = a.inverse() {
            prop_assert_eq!(inverse * a, B64::ONE);
        }
    }

    #[test]
    fn laws_of_e(a in extension(), b in extension(), c in extension(), k in base()) {
        prop_assert_eq!(B192::new(times_extension(a.words(), b.words())), a * b);
        prop_assert_eq!(a * (b + c), a * b + a * c);
        prop_assert_eq!(a * b * c, a * (b * c));
        prop_assert_eq!(a.square(), a * a);
        prop_assert_eq!(a * k, a * B192::from(k));
        prop_assert_eq!(a.frobenius() * b.frobenius(), (a * b).frobenius());
        prop_assert_eq!(a.frobenius().frobenius().frobenius(), a);
        prop_assert_eq!((0..64).fold(a, |power, _| power.square()), a.frobenius());
        prop_assert_eq!(B192::from_bytes(a.to_bytes()), a);
        if let Some(inverse) = a.inverse() {
            prop_assert_eq!(inverse * a, B192::ONE);
        }
    }

    #[test]
    fn sums_are_reduced_once(a in [extension(), extension()], b in [extension(), extension()]) {
        let [mut left, mut right] = [ExtensionSum::default(); 2];
        left.add_product(a[0], b[0]);
        right.add_product(a[1], b[1]);
        prop_assert_eq!((left ^ right).reduce(), a[0] * b[0] + a[1] * b[1]);

        let [mut left, mut right] = [MixedSum::default(); 2];
        left.add_product(a[0].0[0], b[0]);
        right.add_product(a[1].0[0], b[1]);
        prop_assert_eq!((left ^ right).reduce(), b[0] * a[0].0[0] + b[1] * a[1].0[0]);

        let [mut left, mut right] = [BaseSum::default(); 2];
        left.add_product(a[0].0[0], b[0].0[0]);
        right.add_product(a[1].0[0], b[1].0[0]);
        prop_assert_eq!((left ^ right).reduce(), a[0].0[0] * b[0].0[0] + a[1].0[0] * b[1].0[0]);
    }
}

#[test]
fn elements_are_written_lowest_byte_first() {
    let element = B192::new([0x0102, 1 << 56, 3]);
    let mut bytes = [0; 24];
    (bytes[0], bytes[1], bytes[15], bytes[16]) = (2, 1, 1, 3);
    assert_eq!(element.to_bytes(), bytes);
    assert_eq!(format!("{:?}", B64(0x1b)), "0x000000000000001b");
}
