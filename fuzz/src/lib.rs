//! What every file reader must keep, whatever bytes it is given.

use lanework::field::KoalaBear;
use lanework_cli::input::{Error, Input, Shape, Unfit};

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
