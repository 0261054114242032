//! Slices of integers to elements and back, on every instruction set.

use lanework_arch::Choice;
use lanework_field::koala::spec::P;
use lanework_field::koala::{Integer, from_canonical_slice, reduce_slice, to_canonical_slice};
use lanework_field::{Error, KoalaBear};
use lanework_testkit::cases::{Rng, lengths, words_not_below};

/// Lengths around the groups of the widest lanes and around the blocks of the conversion.
fn all_lengths() -> Vec<usize> {
    let mut all = lengths(16);
    all.extend([1023, 1024, 1025, 2048, 2100]);
    all
}

fn round_trips<I: Integer + TryFrom<u32>>() {
    let mut rng = Rng::new(0x636f_6e76);
    for choice in Choice::available() {
        for len in all_lengths() {
            let words = rng.words_below(P, len);
            let integers: Vec<I> = words
                .iter()
                .map(|&x| I::try_from(x).ok().expect("31 bits fit"))
                .collect();
            let want: Vec<_> = words.iter().map(|&x| KoalaBear::new(x)).collect();
            let mut elements = vec![KoalaBear::ONE; len];
            assert_eq!(
                from_canonical_slice(choice, &integers, &mut elements),
                Ok(())
            );
            assert_eq!(elements, want, "{choice} {len}");
            elements.fill(KoalaBear::ONE);
            reduce_slice(choice, &integers, &mut elements);
            assert_eq!(elements, want, "{choice} {len}");
            let mut back = vec![1; len];
            to_canonical_slice(choice, &elements, &mut back);
            assert_eq!(back, words, "{choice} {len}");
        }
    }
}

#[test]
fn canonical_integers_of_every_type_and_length() {
    round_trips::<u32>();
    round_trips::<u64>();
    round_trips::<i32>();
    round_trips::<i64>();
}

/// Puts each of `unfit` at each of several places, twice, and expects the first to be named.
fn unfit_is_named<I: Integer>(unfit: &[I], fit: I) {
    for choice in Choice::available() {
        for len in [1, 17, 1024, 2100] {
            let mut elements = vec![KoalaBear::ZERO; len];
            for index in [0, len / 2, len - 1] {
                for &value in unfit {
                    let mut integers = vec![fit; len];
                    integers[index] = value;
                    integers[len - 1] = value;
                    let result = from_canonical_slice(choice, &integers, &mut elements);
                    let value = value.into();
                    assert_eq!(
                        result,
                        Err(Error::NonCanonicalAt { index, value }),
                        "{choice} {len}"
                    );
                    reduce_slice(choice, &integers, &mut elements);
                    let remainder = value.rem_euclid(P.into());
                    assert_eq!(i128::from(elements[index].to_canonical()), remainder);
                }
            }
        }
    }
}

#[test]
fn the_first_unfit_integer_is_named_and_reduced_on_demand() {
    unfit_is_named(&words_not_below(P), P - 1);
    unfit_is_named(&[-1, i32::MIN, P.cast_signed(), i32::MAX], 1);
    unfit_is_named(&[P.into(), 1 << 32, (1 << 32) + 1, u64::MAX], 1);
    unfit_is_named(
        &[P.into(), -1, -(1 << 32), (1 << 32) + 1, i64::MIN, i64::MAX],
        1,
    );
}

#[test]
#[should_panic(expected = "one element per integer")]
fn lengths_must_agree() {
    let _ = from_canonical_slice(Choice::portable(), &[1_u32, 2], &mut [KoalaBear::ZERO]);
}
