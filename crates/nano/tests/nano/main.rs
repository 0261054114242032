//! Work values, searches and numbers against published vectors, other implementations of Blake2b, and
//! searches that look at every nonce.

mod generate;
mod kernels;
mod numbers;
mod values;

use std::sync::Once;

use blake2::digest::consts::U8;
use blake2::{Blake2b, Digest};
use lanework_nano::{Kernel, Root};
use lanework_testkit::cases::Rng;
use lanework_testkit::isas;

/// The kernels of this machine, announced once per process.
fn kernels() -> Vec<Kernel> {
    static ANNOUNCE: Once = Once::new();
    let kernels = Kernel::available();
    ANNOUNCE.call_once(|| {
        let mut names: Vec<_> = kernels.iter().map(|kernel| kernel.isa().name()).collect();
        names.extend(kernels.iter().map(|kernel| kernel.name()));
        names.sort_unstable();
        names.dedup();
        isas::report("nano", &names);
    });
    kernels
}

/// The value by the generic implementation.
fn blake2b(root: &Root, work: u64) -> u64 {
    let digest = Blake2b::<U8>::new()
        .chain_update(work.to_le_bytes())
        .chain_update(root)
        .finalize();
    u64::from_le_bytes(digest.into())
}

fn random_root(rng: &mut Rng) -> Root {
    std::array::from_fn(|_| rng.next_u64() as u8)
}

/// A root as published, 64 hexadecimal digits.
fn root(text: &str) -> Root {
    assert_eq!(text.len(), 64, "{text}");
    std::array::from_fn(|i| {
        u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal digits")
    })
}
