//! Slices from and to canonical integers.
//!
//! The residues are written as if they were Montgomery words and multiplied by the constant that
//! makes them so: one constant product per element, in lanes.

use lanework_arch::Choice;

use super::lanes::{Computation, Lanes, Prepared, dispatch};
use super::spec::{MONTGOMERY_R2, P};
use super::{Integer, KoalaBear};
use crate::Error;

/// Elements per round of checking and multiplying, which stay in the first-level cache.
const BLOCK_LEN: usize = 1024;

/// Converts `integers` in [0, p) to `elements`.
///
/// # Errors
/// [`Error::NonCanonicalAt`] for the first integer outside of [0, p); `elements` then holds some
/// elements.
///
/// # Panics
/// If the lengths differ.
pub fn from_canonical_slice<I: Integer>(
    choice: Choice,
    integers: &[I],
    elements: &mut [KoalaBear],
) -> Result<(), Error> {
    from_slice::<_, true>(choice, integers, elements)
}

/// Converts `integers` to the `elements` of their residue classes.
///
/// # Panics
/// If the lengths differ.
pub fn reduce_slice<I: Integer>(choice: Choice, integers: &[I], elements: &mut [KoalaBear]) {
    let result = from_slice::<_, false>(choice, integers, elements);
    debug_assert_eq!(result, Ok(()), "every integer has a residue");
}

/// Converts `elements` to canonical `integers`.
///
/// # Panics
/// If the lengths differ.
pub fn to_canonical_slice(choice: Choice, elements: &[KoalaBear], integers: &mut [u32]) {
    assert_eq!(integers.len(), elements.len(), "one integer per element");
    dispatch(choice, ToCanonical { elements, integers });
}

fn from_slice<I: Integer, const CHECK: bool>(
    choice: Choice,
    integers: &[I],
    elements: &mut [KoalaBear],
) -> Result<(), Error> {
    assert_eq!(integers.len(), elements.len(), "one element per integer");
    dispatch(choice, FromIntegers::<I, CHECK> { integers, elements })
}

struct FromIntegers<'a, I, const CHECK: bool> {
    integers: &'a [I],
    elements: &'a mut [KoalaBear],
}

impl<I: Integer, const CHECK: bool> Computation for FromIntegers<'_, I, CHECK> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<L: Lanes>(self, token: L::Token) -> Result<(), Error> {
        const TO_MONTGOMERY: KoalaBear = KoalaBear::from_word_below_p(MONTGOMERY_R2);
        let blocks = self
            .integers
            .chunks(BLOCK_LEN)
            .zip(self.elements.chunks_mut(BLOCK_LEN));
        for (block, (integers, elements)) in blocks.enumerate() {
            let mut all_canonical = true;
            for (element, &integer) in elements.iter_mut().zip(integers) {
                all_canonical &= integer.is_canonical();
                let word = if CHECK {
                    integer.low_word()
                } else {
                    integer.residue()
                };
                // Words not below p are brought there, although they end in an error.
                *element = KoalaBear::from_word_below_p(if CHECK { word.min(P - 1) } else { word });
            }
            if CHECK && !all_canonical {
                return Err(first_unfit(integers, block * BLOCK_LEN));
            }
            multiply::<L>(token, elements, TO_MONTGOMERY);
        }
        Ok(())
    }
}

struct ToCanonical<'a> {
    elements: &'a [KoalaBear],
    integers: &'a mut [u32],
}

impl Computation for ToCanonical<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: L::Token) {
        const FROM_MONTGOMERY: KoalaBear = KoalaBear::from_word_below_p(1);
        let blocks = self
            .elements
            .chunks(BLOCK_LEN)
            .zip(self.integers.chunks_mut(BLOCK_LEN));
        let mut buffer = [KoalaBear::ZERO; BLOCK_LEN];
        for (elements, integers) in blocks {
            let buffer = &mut buffer[..elements.len()];
            buffer.copy_from_slice(elements);
            multiply::<L>(token, buffer, FROM_MONTGOMERY);
            for (integer, word) in integers.iter_mut().zip(buffer) {
                *integer = word.montgomery_word();
            }
        }
    }
}

#[inline(always)]
fn multiply<L: Lanes>(token: L::Token, elements: &mut [KoalaBear], factor: KoalaBear) {
    let prepared = Prepared::new(factor);
    let mut groups = elements.chunks_exact_mut(L::LEN);
    for group in &mut groups {
        L::from_slice(token, group)
            .mul_prepared(&prepared)
            .to_slice(group);
    }
    for element in groups.into_remainder() {
        *element *= factor;
    }
}

#[cold]
fn first_unfit<I: Integer>(integers: &[I], start: usize) -> Error {
    let index = integers
        .iter()
        .take_while(|integer| integer.is_canonical())
        .count();
    Error::NonCanonicalAt {
        index: start + index,
        value: integers[index].into(),
    }
}
