//! Files of little-endian u32, column after column, without a header.

use super::array::{Array, ByteOrder, Order, Word};
use super::{Error, ReadAt, Shape};

/// The layout of a file that must hold exactly `shape`.
pub(super) fn open(source: &impl ReadAt, shape: Shape) -> Result<Array, Error> {
    let array = Array {
        offset: 0,
        word: Word::U32,
        byte_order: ByteOrder::Little,
        order: Order::Fortran,
        shape,
    };
    array.check(source.total_bytes())?;
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Input, Unfit};
    use lanework::field::koala::KoalaBear;

    #[test]
    fn cells_are_column_after_column() {
        let bytes: Vec<u8> = (1u32..=6).flat_map(u32::to_le_bytes).collect();
        let input = Input::bin(
            &bytes[..],
            Shape {
                rows: 3,
                columns: 2,
            },
        )
        .expect("six cells");
        let mut cells = [KoalaBear::ZERO; 8];
        input
            .read(Unfit::Reject, &mut cells, 4, &|_| ())
            .expect("canonical cells");
        assert_eq!(cells, [1, 2, 3, 0, 4, 5, 6, 0].map(KoalaBear::new));
    }

    #[test]
    fn the_size_is_exact() {
        for len in [0, 23, 25, 28] {
            let bytes = vec![0u8; len];
            let shape = Shape {
                rows: 3,
                columns: 2,
            };
            assert!(matches!(
                open(&&bytes[..], shape),
                Err(Error::Size { expected: 24, got, .. }) if got == len as u64
            ));
        }
        for (rows, columns) in [(0, 1), (1, 0)] {
            assert!(matches!(
                open(&&[][..], Shape { rows, columns }),
                Err(Error::Empty { .. })
            ));
        }
        for (rows, columns) in [(usize::MAX, 2), (1 << 62, 1), (1 << 32, 1 << 32)] {
            let error = open(&&[][..], Shape { rows, columns });
            assert!(matches!(error, Err(Error::TooLarge { .. })), "{error:?}");
        }
    }
}
