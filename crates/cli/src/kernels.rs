//! Which kernels run.

use lanework::arch::Choice;
use lanework::arch::cpu::Caches;
use lanework::field::KoalaBear;
use lanework::fri::Params;
use lanework::hash::blake::Blake;
use lanework::hash::{Poseidon2, RoundConstants};
use lanework::nano::Kernel;
use lanework::ntt::{LdePlan, additive};
use serde::Serialize;

/// A shape in the middle of what provers commit to; the kernel does not depend on it once vectors
/// can be filled.
const LOG_ROWS: u32 = 16;

/// The names of the kernels of a commitment.
#[derive(Copy, Clone, Debug, Serialize)]
pub(crate) struct Kernels {
    pub(crate) encode: &'static str,
    pub(crate) hash: &'static str,
}

impl Kernels {
    /// The kernels with which `params` encode and hash a table of 2^`log_rows` rows.
    pub(crate) fn of(params: &Params, log_rows: u32) -> anyhow::Result<Self> {
        let choice = params.choice();
        let hash = match params.constants24() {
            Some(wide) => Poseidon2::<24>::new(wide, choice).kernel(),
            None => Poseidon2::<16>::new(params.constants16(), choice).kernel(),
        };
        let encode = encoder(log_rows.min(LOG_ROWS), params.log_inv_rate(), choice)?;
        Ok(Self { encode, hash })
    }
}

/// The family that encodes words of GF(2^64).
pub(crate) const ADDITIVE: &str = "additive encoding";

/// The family that hashes rows of bytes.
pub(crate) const BLAKE: &str = "blake3 and blake2s";

/// The families of kernels of a commitment and the one of each that runs with `choice`.
pub(crate) fn families(choice: Choice) -> anyhow::Result<[(&'static str, &'static str); 5]> {
    let narrow = Poseidon2::<16>::new(&RoundConstants::<16>::plonky3_default(), choice);
    let wide = Poseidon2::<24>::new(&RoundConstants::<24>::plonky3_default(), choice);
    Ok([
        ("poseidon2 width 16", narrow.kernel()),
        ("poseidon2 width 24", wide.kernel()),
        ("reed-solomon encoding", encoder(LOG_ROWS, 1, choice)?),
        (ADDITIVE, additive_encoder(choice)?),
        (BLAKE, Blake::blake3(choice).kernel_name()),
    ])
}

/// The kernel that searches for Nano work with `choice`: the fastest, found by trying, if nothing was
/// lowered, else the widest.
pub(crate) fn search(choice: Choice) -> Option<Kernel> {
    if choice == Choice::best() {
        return Some(Kernel::best());
    }
    Kernel::available_in(choice).first().copied()
}

fn encoder(log_rows: u32, log_inv_rate: u32, choice: Choice) -> anyhow::Result<&'static str> {
    let shift = KoalaBear::GENERATOR;
    let plan = LdePlan::new(log_rows, log_inv_rate, shift, choice, Caches::detect())?;
    Ok(plan.kernel())
}

fn additive_encoder(choice: Choice) -> anyhow::Result<&'static str> {
    let shape = additive::Shape {
        log_rows: LOG_ROWS,
        log_inv_rate: 1,
        lanes: 64,
    };
    Ok(additive::Encoder::new(shape, choice, Caches::detect(), 1)?.kernel_name())
}
