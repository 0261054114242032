//! Poseidon2 over KoalaBear in widths 16 and 24, with rounds and constants as data.
//!
//! One state goes through the external matrix, then RF/2 full rounds (a constant for every lane, cube
//! every lane, the external matrix), RP partial rounds (a constant for lane 0, cube lane 0, the
//! internal matrix) and RF/2 full rounds. The matrices are those of Plonky3 and
//! gnark-crypto, which differ in rounds and constants only.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod body;
mod constants;
#[cfg(target_arch = "x86_64")]
mod lazy52;
mod pairs;
mod portable;
#[cfg_attr(
    not(test),
    allow(
        dead_code,
        reason = "the oracle of the kernels; one also computes constants with it"
    )
)]
mod scalar;
mod single;
mod spec;
pub(crate) mod table;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86_avx512_ifma;

use std::fmt;
use std::sync::Arc;

use lanework_arch::Choice;
use lanework_field::KoalaBear;

pub use constants::RoundConstants;
use table::Kernels;

/// One Poseidon2 permutation with its constants prepared for the kernels of one [`Choice`].
///
/// Clones share the prepared constants.
#[derive(Clone)]
pub struct Poseidon2<const WIDTH: usize> {
    pub(crate) kernels: Arc<Kernels<WIDTH>>,
}

impl Poseidon2<16> {
    /// Prepares `constants` for the kernels of `choice`.
    pub fn new(constants: &RoundConstants<16>, choice: Choice) -> Self {
        Self {
            kernels: Arc::new(Kernels::<16>::new(constants, choice)),
        }
    }
}

impl Poseidon2<24> {
    /// Prepares `constants` for the kernels of `choice`.
    pub fn new(constants: &RoundConstants<24>, choice: Choice) -> Self {
        Self {
            kernels: Arc::new(Kernels::<24>::new(constants, choice)),
        }
    }
}

impl<const WIDTH: usize> Poseidon2<WIDTH> {
    /// One choice for each many-instance kernel that this CPU runs, plainest first.
    pub fn available() -> Vec<Choice> {
        table::available()
    }

    /// The name of the many-instance kernel in use.
    pub fn kernel(&self) -> &'static str {
        self.kernels.name()
    }

    /// Permutes one state, with the least latency.
    pub fn permute(&self, state: &mut [KoalaBear; WIDTH]) {
        self.kernels.permute_one(state);
    }

    /// Permutes every state, with the most throughput.
    pub fn permute_many(&self, states: &mut [[KoalaBear; WIDTH]]) {
        self.kernels.permute_many(states);
    }
}

impl<const WIDTH: usize> fmt::Debug for Poseidon2<WIDTH> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poseidon2")
            .field("width", &WIDTH)
            .field("kernel", &self.kernel())
            .finish()
    }
}
