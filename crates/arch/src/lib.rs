//! What the machine offers and how Lanework uses it: instruction sets, memory and threads.

mod isa;

pub use isa::{
    Avx2, Avx512, Avx512Ifma, Choice, ChoiceError, Feature, Features, Isa, Neon, Portable,
};
