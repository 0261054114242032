//! The field against published vectors, Plonky3's implementation, its own laws, and itself on
//! every instruction set.

mod conversions;
mod extensions;
mod gf2;
mod gf2_bytes;
mod gf2_rows;
mod gf2_words;
mod lanes;
mod scalar;

use lanework_field::KoalaBear;
use proptest::prelude::{Just, Strategy, any, prop_oneof};

/// Any element, with those at the edges more often than chance has them.
fn element() -> impl Strategy<Value = KoalaBear> {
    prop_oneof![
        1 => Just(KoalaBear::ZERO),
        1 => Just(KoalaBear::ONE),
        1 => Just(KoalaBear::NEG_ONE),
        13 => any::<u32>().prop_map(KoalaBear::reduce),
    ]
}
