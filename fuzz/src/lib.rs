//! What every reader and every verifier must keep, whatever bytes it is given.

#[path = "../../crates/fri/tests/hostile/cases.rs"]
#[expect(dead_code, reason = "names and honest bytes are for the tests")]
mod cases;

use std::sync::OnceLock;

use cases::Target;
use lanework::field::KoalaBear;
use lanework_cli::input::{Error, Input, Shape, Unfit};
use lanework_fri::{Extension, Header, Proof};

/// Reads the cells of what was opened, with both ways to treat integers that are not in [0, p).
///
/// # Panics
/// If the shape is one that `bytes` cannot back, or reading does something it must not.
pub fn read(opened: Result<Input<&[u8]>, Error>, bytes: &[u8]) {
    let Ok(input) = opened else { return };
    let Shape { rows, columns } = input.shape();
    assert!(rows > 0 && columns > 0);
    // The shortest cell is one digit of a .csv file, and what separates it from the next.
    assert!(
        rows.checked_mul(columns)
            .is_some_and(|cells| cells <= bytes.len())
    );

    // Rows beyond the table belong to the caller.
    let stride = rows + 1;
    let mut strict = vec![KoalaBear::NEG_ONE; stride * columns];
    let mut reduced = strict.clone();
    let strictly = input.read(Unfit::Reject, &mut strict, stride, &|_| ());
    let reducing = input.read(Unfit::Reduce, &mut reduced, stride, &|_| ());
    if strictly.is_ok() {
        assert!(reducing.is_ok());
        assert_eq!(strict, reduced);
    }
    for column in strict.chunks(stride).chain(reduced.chunks(stride)) {
        assert_eq!(column[rows], KoalaBear::NEG_ONE);
    }
}

/// The honest proofs, made once.
fn targets() -> &'static [Box<dyn Target>] {
    static TARGETS: OnceLock<Vec<Box<dyn Target>>> = OnceLock::new();
    TARGETS.get_or_init(cases::targets)
}

/// Decodes and verifies the proof that follows the number of what it should prove.
///
/// # Panics
/// If a proof is accepted that is not the honest one.
pub fn verify(bytes: &[u8]) {
    if let [target, proof @ ..] = bytes {
        targets()[usize::from(*target) % targets().len()].judge(proof);
    }
}

/// Decodes a proof over `E`.
///
/// # Panics
/// If the bytes are not the one encoding of the proof, or its header is another.
pub fn decode<E: Extension>(bytes: &[u8]) {
    let header = Header::from_bytes(bytes);
    if let Ok(proof) = Proof::<E>::from_bytes(bytes) {
        assert_eq!(header, Ok(proof.header));
        assert_eq!(proof.to_bytes(), bytes);
        assert_eq!(proof.sizes().total, bytes.len());
    }
}
