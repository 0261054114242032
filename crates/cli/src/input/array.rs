//! Arrays of integers of one width, packed in a file.

use lanework::field::koala::KoalaBear;

use super::{Column, Error, ReadAt, Shape, Unfit, element};

/// Bytes per read: large enough to make the calls cheap, small enough to stay in the cache while the
/// cells are spread over their columns.
const CHUNK_BYTES: usize = 1 << 20;

/// Rows of a C-order chunk that are spread together. Rows of wide tables are a large power of two of
/// bytes apart and fall into the same cache sets; this many of them stay there side by side.
const ROW_BLOCK: usize = 8;

/// Where the cells are and what they look like.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    /// The first byte of the cells.
    pub offset: u64,
    pub word: Word,
    pub byte_order: ByteOrder,
    pub order: Order,
    pub shape: Shape,
}

/// The type of a cell.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    U32,
    U64,
    I32,
    I64,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

/// Which cells are neighbours in the file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Those of a row.
    C,
    /// Those of a column.
    Fortran,
}

impl Word {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::U32 | Self::I32 => 4,
            Self::U64 | Self::I64 => 8,
        }
    }
}

/// An integer type as bytes.
trait Integer: Copy + Into<i128> {
    const BYTES: usize;
    fn from_bytes(bytes: &[u8], byte_order: ByteOrder) -> Self;
    /// The field element, if the integer is in [0, p).
    fn canonical(self) -> Option<KoalaBear>;
}

macro_rules! integer {
    ($($type:ty),+) => { $(
        impl Integer for $type {
            const BYTES: usize = size_of::<Self>();

            #[inline]
            fn from_bytes(bytes: &[u8], byte_order: ByteOrder) -> Self {
                let mut array = [0; size_of::<Self>()];
                array.copy_from_slice(bytes);
                match byte_order {
                    ByteOrder::Little => Self::from_le_bytes(array),
                    ByteOrder::Big => Self::from_be_bytes(array),
                }
            }

            #[inline]
            fn canonical(self) -> Option<KoalaBear> {
                KoalaBear::from_canonical(u32::try_from(self).ok()?).ok()
            }
        }
    )+ };
}

integer!(u32, u64, i32, i64);

/// A rectangle of cells that are contiguous in the file: whole lines, or a part of one line. A line
/// is a row in C order, a column in Fortran order.
#[derive(Copy, Clone, Debug)]
struct Chunk {
    line: usize,
    lines: usize,
    /// First cell within the line.
    start: usize,
    /// Cells of each line.
    len: usize,
}

impl Array {
    /// Checks that a file of `total_bytes` holds the cells and nothing else.
    pub(super) fn check(&self, total_bytes: u64) -> Result<(), Error> {
        let Shape { rows, columns } = self.shape;
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { rows, columns });
        }
        let expected = self
            .shape
            .cells()
            .and_then(|cells| cells.checked_mul(self.word.bytes()))
            .filter(|&bytes| isize::try_from(bytes).is_ok())
            .ok_or(Error::TooLarge { rows, columns })? as u64;
        let got = total_bytes.saturating_sub(self.offset);
        if got == expected {
            Ok(())
        } else {
            Err(Error::Size {
                rows,
                columns,
                expected,
                got,
            })
        }
    }

    /// See [`super::Input::read`].
    pub(super) fn read(
        &self,
        source: &impl ReadAt,
        unfit: Unfit,
        cells: &mut [KoalaBear],
        stride: usize,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        match self.word {
            Word::U32 => self.read_as::<u32>(source, unfit, cells, stride, progress),
            Word::U64 => self.read_as::<u64>(source, unfit, cells, stride, progress),
            Word::I32 => self.read_as::<i32>(source, unfit, cells, stride, progress),
            Word::I64 => self.read_as::<i64>(source, unfit, cells, stride, progress),
        }
    }

    fn read_as<T: Integer>(
        &self,
        source: &impl ReadAt,
        unfit: Unfit,
        cells: &mut [KoalaBear],
        stride: usize,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let mut offset = self.offset;
        for chunk in self.chunks() {
            buffer.resize(chunk.lines * chunk.len * T::BYTES, 0);
            source.read_exact_at(offset, &mut buffer)?;
            offset += buffer.len() as u64;

            let convert = |bytes: &[u8]| {
                let value = T::from_bytes(bytes, self.byte_order);
                value.canonical().or_else(|| element(value.into(), unfit))
            };
            let converted = match self.order {
                Order::C => spread_rows::<T>(&buffer, chunk, cells, stride, convert),
                Order::Fortran => copy_columns::<T>(&buffer, chunk, cells, stride, convert),
            };
            if converted.is_none() {
                return Err(self.first_unfit::<T>(&buffer, chunk));
            }
            progress(offset);
        }
        Ok(())
    }

    /// The chunks of the file, in its order.
    fn chunks(&self) -> impl Iterator<Item = Chunk> + use<> {
        let (lines, line_len) = match self.order {
            Order::C => (self.shape.rows, self.shape.columns),
            Order::Fortran => (self.shape.columns, self.shape.rows),
        };
        let most = CHUNK_BYTES / self.word.bytes();
        let (most_lines, most_cells) = (most.div_ceil(line_len).max(1), most.min(line_len));
        let most_lines = if most_cells < line_len { 1 } else { most_lines };
        (0..lines).step_by(most_lines).flat_map(move |line| {
            (0..line_len).step_by(most_cells).map(move |start| Chunk {
                line,
                lines: most_lines.min(lines - line),
                start,
                len: most_cells.min(line_len - start),
            })
        })
    }

    /// The error of the first cell of `chunk`, in the order of the file, that is not in [0, p).
    fn first_unfit<T: Integer>(&self, buffer: &[u8], chunk: Chunk) -> Error {
        let found = buffer
            .chunks_exact(T::BYTES)
            .map(|bytes| T::from_bytes(bytes, self.byte_order))
            .enumerate()
            .find(|(_, value)| value.canonical().is_none());
        let Some((index, value)) = found else {
            return Error::Changed;
        };
        let (line, place) = (
            chunk.line + index / chunk.len,
            chunk.start + index % chunk.len,
        );
        let (row, column) = match self.order {
            Order::C => (line, place),
            Order::Fortran => (place, line),
        };
        Error::OutOfRange {
            row,
            column: Column {
                index: column,
                name: None,
            },
            value: value.into(),
        }
    }
}

/// Writes a chunk of rows to its columns; `None` if a cell cannot be converted.
fn spread_rows<T: Integer>(
    buffer: &[u8],
    chunk: Chunk,
    cells: &mut [KoalaBear],
    stride: usize,
    convert: impl Fn(&[u8]) -> Option<KoalaBear>,
) -> Option<()> {
    let row_bytes = chunk.len * T::BYTES;
    for (block, rows) in buffer.chunks(ROW_BLOCK * row_bytes).enumerate() {
        let first_row = chunk.line + block * ROW_BLOCK;
        for column in 0..chunk.len {
            let target = (chunk.start + column) * stride + first_row;
            let target = &mut cells[target..target + rows.len() / row_bytes];
            for (cell, row) in target.iter_mut().zip(rows.chunks_exact(row_bytes)) {
                *cell = convert(&row[column * T::BYTES..(column + 1) * T::BYTES])?;
            }
        }
    }
    Some(())
}

/// Writes a chunk of columns to its columns; `None` if a cell cannot be converted.
fn copy_columns<T: Integer>(
    buffer: &[u8],
    chunk: Chunk,
    cells: &mut [KoalaBear],
    stride: usize,
    convert: impl Fn(&[u8]) -> Option<KoalaBear>,
) -> Option<()> {
    for (column, bytes) in buffer.chunks_exact(chunk.len * T::BYTES).enumerate() {
        let target = (chunk.line + column) * stride + chunk.start;
        let target = &mut cells[target..target + chunk.len];
        for (cell, bytes) in target.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
            *cell = convert(bytes)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a table whose cell at (row, column) is `1000 row + column`.
    fn bytes(array: &Array) -> Vec<u8> {
        let Shape { rows, columns } = array.shape;
        let mut bytes = vec![0xff; array.offset as usize];
        for index in 0..rows * columns {
            let (row, column) = match array.order {
                Order::C => (index / columns, index % columns),
                Order::Fortran => (index % rows, index / rows),
            };
            let value = (1000 * row + column) as u64;
            let little = &value.to_le_bytes()[..array.word.bytes()];
            match array.byte_order {
                ByteOrder::Little => bytes.extend(little),
                ByteOrder::Big => bytes.extend(little.iter().rev()),
            }
        }
        bytes
    }

    #[test]
    fn every_layout_gives_the_same_cells() {
        // Shapes of one chunk, of many, with a short last chunk, and with lines above a chunk.
        let most = CHUNK_BYTES / 4;
        let shapes = [
            (1, 1),
            (3, 5),
            (8, 3),
            (17, 2),
            (2, most + 3),
            (most + 3, 2),
            (3000, 300),
            (1, 9),
        ];
        for (rows, columns) in shapes {
            for word in [Word::U32, Word::U64, Word::I32, Word::I64] {
                for byte_order in [ByteOrder::Little, ByteOrder::Big] {
                    for order in [Order::C, Order::Fortran] {
                        let shape = Shape { rows, columns };
                        let array = Array {
                            offset: 7,
                            word,
                            byte_order,
                            order,
                            shape,
                        };
                        let bytes = bytes(&array);
                        array
                            .check(bytes.len() as u64)
                            .expect("the size of the shape");

                        let stride = rows + 1;
                        let mut cells = vec![KoalaBear::NEG_ONE; stride * columns];
                        let mut last = 0;
                        array
                            .read(
                                &&bytes[..],
                                Unfit::Reject,
                                &mut cells,
                                stride,
                                &mut |done| {
                                    assert!(done > last);
                                    last = done;
                                },
                            )
                            .expect("canonical cells");
                        assert_eq!(last, bytes.len() as u64);
                        for (index, cell) in cells.into_iter().enumerate() {
                            let (column, row) = (index / stride, index % stride);
                            let value = (1000 * row + column) as u32;
                            let expected = if row < rows {
                                KoalaBear::new(value)
                            } else {
                                KoalaBear::NEG_ONE
                            };
                            assert_eq!(cell, expected, "{array:?} row {row} column {column}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_unfit_cell_of_the_file_is_named() {
        let array = Array {
            offset: 0,
            word: Word::I64,
            byte_order: ByteOrder::Little,
            order: Order::C,
            shape: Shape {
                rows: 20,
                columns: 3,
            },
        };
        let p = i64::from(lanework::field::koala::spec::P);
        let mut values = vec![p - 1; 60];
        (values[13 * 3 + 2], values[14 * 3], values[5 * 3 + 1]) = (-1, p, i64::MIN);
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let mut cells = vec![KoalaBear::ZERO; 60];

        let error = array.read(&&bytes[..], Unfit::Reject, &mut cells, 20, &mut |_| ());
        let Err(Error::OutOfRange {
            row: 5,
            column,
            value,
        }) = error
        else {
            panic!("{error:?}")
        };
        assert_eq!((column.index, value), (1, i128::from(i64::MIN)));

        array
            .read(&&bytes[..], Unfit::Reduce, &mut cells, 20, &mut |_| ())
            .expect("reduced");
        assert_eq!(
            (cells[2 * 20 + 13], cells[14]),
            (KoalaBear::NEG_ONE, KoalaBear::ZERO)
        );
        let residue = i128::from(i64::MIN).rem_euclid(i128::from(p));
        assert_eq!(i128::from(cells[20 + 5].to_canonical()), residue);
    }

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let shape = Shape {
            rows: 4,
            columns: 1,
        };
        let (word, byte_order, order) = (Word::U32, ByteOrder::Little, Order::C);
        let array = Array {
            offset: 0,
            word,
            byte_order,
            order,
            shape,
        };
        let mut cells = vec![KoalaBear::ZERO; 4];
        let error = array.read(&&[0u8; 15][..], Unfit::Reject, &mut cells, 4, &mut |_| ());
        assert!(
            matches!(
                error,
                Err(Error::Truncated {
                    expected: 16,
                    got: 15
                })
            ),
            "{error:?}"
        );
    }
}
