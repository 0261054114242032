//! The extensions of degree 4 and 6.

use std::array;

use lanework_field::koala::lanes::{Computation, Lanes, dispatch};
use lanework_field::koala::spec::P;
use lanework_field::koala::{Ext4, Ext6, Extension};
use lanework_field::{Error, Field, KoalaBear, batch_inverse, powers};
use lanework_testkit::vectors::{Vector, koalabear};
use p3_field::extension::BinomialExtensionField;
use p3_field::{BasedVectorSpace, Field as _, PrimeCharacteristicRing, PrimeField32};
use proptest::prelude::{ProptestConfig, Strategy, prop_assert_eq, proptest};

use crate::element;

fn ext4() -> impl Strategy<Value = Ext4> {
    array::from_fn::<_, 4, _>(|_| element()).prop_map(Ext4)
}

fn ext6() -> impl Strategy<Value = Ext6> {
    array::from_fn::<_, 6, _>(|_| element()).prop_map(Ext6)
}

fn e4(limbs: [u32; 4]) -> Ext4 {
    Ext4::from_canonical(limbs).expect("canonical")
}

fn e6(limbs: [u32; 6]) -> Ext6 {
    Ext6::from_canonical(limbs).expect("canonical")
}

#[test]
fn published_products_of_degree_4() {
    let case = koalabear().get("ext4_X4_minus_3_product");
    let (a, b) = (e4(case.input("a")), e4(case.input("b")));
    assert_eq!(a * b, e4(case.output("mul")));
    assert_eq!(a.square(), e4(case.output("square_a")));
    assert_eq!(a.inverse(), Some(e4(case.output("inv_a"))));

    // gnark-crypto's coordinates are the coefficients of 1, X^2, X, X^3.
    let permuted = |[c0, c1, c2, c3]: [u32; 4]| e4([c0, c2, c1, c3]);
    let case = koalabear().get("gnark_e4_product");
    let product = permuted(case.input("a")) * permuted(case.input("b"));
    assert_eq!(product, permuted(case.output("mul")));

    let case = koalabear().get("ext4_two_adic_generators");
    let of_order_25 = e4(case.output("order_2^25"));
    assert_eq!(
        of_order_25.square(),
        Ext4::from(KoalaBear::two_adic_generator(24))
    );
    assert_eq!(e4(case.output("order_2^26")).square(), of_order_25);
}

#[test]
fn published_products_of_degree_6() {
    for case in koalabear().with_prefix("e6_case_") {
        let (a, b) = (e6(case.input("a")), e6(case.input("b")));
        assert_eq!(a * b, e6(case.output("mul")), "{}", case.name);
        assert_eq!(a.square(), e6(case.output("square_a")), "{}", case.name);
        let inverse: Option<[u32; 6]> = case.output("inv_a");
        assert_eq!(a.inverse(), inverse.map(e6), "{}", case.name);
    }
}

/// The barycentric formula: (z^n - 1)/n times the sum of f(x) x / (z - x) over the subgroup.
fn lagrange(case: &Vector, values: &[Ext6]) {
    let z = e6(case.input("point"));
    let (len, log_len) = (values.len() as u64, values.len().ilog2());
    let points: Vec<_> = powers(KoalaBear::two_adic_generator(log_len))
        .take(values.len())
        .collect();
    let mut inverses: Vec<_> = points.iter().map(|&x| z - Ext6::from(x)).collect();
    batch_inverse(&mut inverses);
    let terms = values
        .iter()
        .zip(&points)
        .zip(inverses)
        .map(|((&f, &x), d)| f * x * d);
    let factor = (z.pow(len) - Ext6::ONE) * KoalaBear::ONE.div_2exp(log_len);
    assert_eq!(
        factor * terms.sum::<Ext6>(),
        e6(case.output("value")),
        "{}",
        case.name
    );
}

#[test]
fn published_evaluations_of_degree_6() {
    for case in koalabear().with_prefix("e6_eval_coefficients_") {
        let coefficients: Vec<[u32; 6]> = case.input("coefficients");
        let point = e6(case.input("point"));
        let terms = coefficients
            .into_iter()
            .zip(powers(point))
            .map(|(c, power)| e6(c) * power);
        assert_eq!(
            terms.sum::<Ext6>(),
            e6(case.output("value")),
            "{}",
            case.name
        );
    }

    let case = koalabear().get("e6_eval_lagrange_subgroup");
    let values: Vec<[u32; 6]> = case.input("values_natural_order");
    lagrange(case, &values.into_iter().map(e6).collect::<Vec<_>>());
    let case = koalabear().get("base_eval_lagrange_at_e6");
    let values: Vec<u32> = case.input("values_natural_order");
    let values: Vec<_> = values
        .into_iter()
        .map(|x| Ext6::from(KoalaBear::new(x)))
        .collect();
    lagrange(case, &values);
}

#[test]
fn limbs_out_of_range_are_named() {
    let error = Err(Error::NonCanonicalAt {
        index: 2,
        value: P.into(),
    });
    assert_eq!(Ext4::from_canonical([1, P - 1, P, u32::MAX]), error);
    let error = Err(Error::NonCanonicalAt {
        index: 5,
        value: u32::MAX.into(),
    });
    assert_eq!(Ext6::from_canonical([0, 0, 0, 0, 0, u32::MAX]), error);
    assert_eq!(
        e6([1, 2, 3, 4, 5, P - 1]).to_canonical(),
        [1, 2, 3, 4, 5, P - 1]
    );
}

/// The element of F\[w\]/(w^6 - 2 w^3 - 2) with w = v and u = w^3 - 1, in ascending powers of w.
fn in_powers_of_w(a: Ext6) -> [KoalaBear; 6] {
    array::from_fn(|i| {
        if i < 3 {
            a.0[2 * i] - a.0[2 * i + 1]
        } else {
            a.0[2 * (i - 3) + 1]
        }
    })
}

fn product_mod_w6(a: [KoalaBear; 6], b: [KoalaBear; 6]) -> [KoalaBear; 6] {
    let mut product = [KoalaBear::ZERO; 11];
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    for i in (6..11).rev() {
        let twice = product[i].double();
        product[i - 3] += twice;
        product[i - 6] += twice;
    }
    array::from_fn(|i| product[i])
}

type Theirs = BinomialExtensionField<p3_koala_bear::KoalaBear, 4>;

fn theirs(a: Ext4) -> Theirs {
    let limb = |i: usize| p3_koala_bear::KoalaBear::from_u32(a.0[i].to_canonical());
    Theirs::from_basis_coefficients_fn(limb)
}

fn ours(a: Theirs) -> Ext4 {
    let limbs: &[p3_koala_bear::KoalaBear] = a.as_basis_coefficients_slice();
    Ext4(array::from_fn(|i| {
        KoalaBear::new(limbs[i].as_canonical_u32())
    }))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn degree_4_is_that_of_plonky3(a in ext4(), b in ext4()) {
        prop_assert_eq!(ours(theirs(a) + theirs(b)), a + b);
        prop_assert_eq!(ours(theirs(a) - theirs(b)), a - b);
        prop_assert_eq!(ours(theirs(a) * theirs(b)), a * b);
        prop_assert_eq!(ours(theirs(a).square()), a.square());
        prop_assert_eq!(theirs(a).try_inverse().map(ours), a.inverse());
    }

    #[test]
    fn degree_6_is_that_of_polynomials(a in ext6(), b in ext6()) {
        let want = product_mod_w6(in_powers_of_w(a), in_powers_of_w(b));
        prop_assert_eq!(in_powers_of_w(a * b), want);
    }

    #[test]
    fn laws_of_degree_4(a in ext4(), b in ext4(), c in ext4(), s in element()) {
        laws(a, b, c, s)?;
        prop_assert_eq!(a.frobenius(), a.pow(P.into()));
        prop_assert_eq!((0..Ext4::DEGREE).fold(a, |a, _| a.frobenius()), a);
    }

    #[test]
    fn laws_of_degree_6(a in ext6(), b in ext6(), c in ext6(), s in element()) {
        laws(a, b, c, s)?;
        prop_assert_eq!(a.frobenius(), a.pow(P.into()));
        prop_assert_eq!((0..Ext6::DEGREE).fold(a, |a, _| a.frobenius()), a);
    }
}

fn laws<E>(a: E, b: E, c: E, s: KoalaBear) -> Result<(), proptest::test_runner::TestCaseError>
where
    E: Field + From<KoalaBear> + std::ops::Mul<KoalaBear, Output = E>,
{
    prop_assert_eq!((a + b) + c, a + (b + c));
    prop_assert_eq!((a * b) * c, a * (b * c));
    prop_assert_eq!(a * (b + c), a * b + a * c);
    prop_assert_eq!(a * b, b * a);
    prop_assert_eq!(a - b + b, a);
    prop_assert_eq!(a + -a, E::ZERO);
    prop_assert_eq!(a * E::ONE, a);
    prop_assert_eq!(a.square(), a * a);
    prop_assert_eq!(a * s, a * E::from(s));
    prop_assert_eq!(a.pow(5), a.square().square() * a);
    prop_assert_eq!(
        a.inverse().map(|inverse| a * inverse),
        (a != E::ZERO).then_some(E::ONE)
    );
    let mut values = [a, E::ZERO, b, c];
    batch_inverse(&mut values);
    let inverse = |x: E| x.inverse().unwrap_or(E::ZERO);
    prop_assert_eq!(values, [inverse(a), E::ZERO, inverse(b), inverse(c)]);
    Ok(())
}

/// Products in lanes against products of scalars.
#[test]
fn products_in_lanes_are_products() {
    struct Products<'a, E>(&'a [E], &'a [E], &'a mut Vec<E>);

    impl<E: Extension> Computation for Products<'_, E> {
        type Output = ();

        #[inline(always)]
        fn run<L: Lanes>(self, token: L::Token) {
            let load = |elements: &[E]| {
                let mut limbs = E::splat(L::splat(token, KoalaBear::ZERO));
                for (limb, lanes) in limbs.as_mut().iter_mut().enumerate() {
                    let column: Vec<_> = elements.iter().map(|x| x.limbs()[limb]).collect();
                    *lanes = L::from_slice(token, &column);
                }
                limbs
            };
            for (left, right) in self.0.chunks(L::LEN).zip(self.1.chunks(L::LEN)) {
                let products = E::mul_lanes(&load(left), &load(right));
                let mut columns = vec![[KoalaBear::ZERO; 16]; E::DEGREE];
                for (column, lanes) in columns.iter_mut().zip(products.as_ref()) {
                    lanes.to_slice(column);
                }
                self.2.extend((0..L::LEN).map(|lane| {
                    let limbs: Vec<_> = columns.iter().map(|column| column[lane]).collect();
                    E::from_limbs(&limbs)
                }));
            }
        }
    }

    fn check<E: Extension>() {
        let mut state = 1_u64;
        let mut elements = || {
            (0..64)
                .map(|_| {
                    let limbs: Vec<_> = (0..E::DEGREE)
                        .map(|_| {
                            state = state
                                .wrapping_mul(6364136223846793005)
                                .wrapping_add(1442695040888963407);
                            match state >> 60 {
                                0 => -KoalaBear::ONE,
                                1 => KoalaBear::ZERO,
                                _ => KoalaBear::from_u64(state >> 16),
                            }
                        })
                        .collect();
                    E::from_limbs(&limbs)
                })
                .collect::<Vec<E>>()
        };
        let (left, right) = (elements(), elements());
        let expected: Vec<E> = left.iter().zip(&right).map(|(&a, &b)| a * b).collect();
        for choice in lanework_arch::Choice::available() {
            let mut products = Vec::new();
            dispatch(choice, Products(&left, &right, &mut products));
            assert_eq!(products, expected, "{choice}");
        }
    }
    check::<Ext4>();
    check::<Ext6>();
}
