//! Arrays of integers of one width, packed in a file.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use lanework::arch::memory::{self, Tile};
use lanework::arch::threads::Threads;
use lanework::field::koala::KoalaBear;

use super::{Column, Error, ReadAt, Shape, Unfit, element};

/// Bytes per read: large enough to make the calls cheap, small enough to stay in the cache while the
/// cells are spread over their columns.
const CHUNK_BYTES: usize = 1 << 20;

/// Bytes per read of a column alone.
const COLUMN_CHUNK_BYTES: usize = 1 << 18;

/// Elements of a cache line: threads that write different rows should not share lines.
const LINE_CELLS: usize = 16;

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
    Bool,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
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
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
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
                KoalaBear::from_canonical(self.try_into().ok()?).ok()
            }
        }
    )+ };
}

integer!(u8, u16, u32, u64, i8, i16, i32, i64);

/// A truth value: 0 or 1.
#[derive(Copy, Clone)]
struct Bool(bool);

impl From<Bool> for i128 {
    fn from(value: Bool) -> Self {
        value.0.into()
    }
}

impl Integer for Bool {
    const BYTES: usize = 1;

    #[inline]
    fn from_bytes(bytes: &[u8], _: ByteOrder) -> Self {
        // Whatever is not zero is true, as `NumPy` has it.
        Self(bytes != [0])
    }

    #[inline]
    fn canonical(self) -> Option<KoalaBear> {
        Some(if self.0 {
            KoalaBear::ONE
        } else {
            KoalaBear::ZERO
        })
    }
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
        source: &(impl ReadAt + Sync),
        unfit: Unfit,
        cells: &mut [KoalaBear],
        stride: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        match self.word {
            Word::Bool => self.read_as::<Bool>(source, unfit, cells, stride, progress),
            Word::U8 => self.read_as::<u8>(source, unfit, cells, stride, progress),
            Word::U16 => self.read_as::<u16>(source, unfit, cells, stride, progress),
            Word::I8 => self.read_as::<i8>(source, unfit, cells, stride, progress),
            Word::I16 => self.read_as::<i16>(source, unfit, cells, stride, progress),
            Word::U32 => self.read_as::<u32>(source, unfit, cells, stride, progress),
            Word::U64 => self.read_as::<u64>(source, unfit, cells, stride, progress),
            Word::I32 => self.read_as::<i32>(source, unfit, cells, stride, progress),
            Word::I64 => self.read_as::<i64>(source, unfit, cells, stride, progress),
        }
    }

    /// Copies rows `rows` of a table in C order into `cells`, column after column. Messages count the rows of the
    /// file.
    pub(super) fn read_rows(
        &self,
        source: &(impl ReadAt + Sync),
        unfit: Unfit,
        rows: Range<usize>,
        cells: &mut [KoalaBear],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        let first = rows.start * self.shape.columns * self.word.bytes();
        let part = Self {
            offset: self.offset + first as u64,
            shape: Shape {
                rows: rows.len(),
                columns: self.shape.columns,
            },
            ..*self
        };
        let done = part.read(source, unfit, cells, rows.len(), progress);
        done.map_err(|error| match error {
            Error::OutOfRange { row, column, value } => Error::OutOfRange {
                row: rows.start + row,
                column,
                value,
            },
            other => other,
        })
    }

    /// Copies column `index` of a table in Fortran order, or of one column, into `cells`.
    pub(super) fn read_column(
        &self,
        source: &(impl ReadAt + Sync),
        unfit: Unfit,
        index: usize,
        cells: &mut [KoalaBear],
    ) -> Result<(), Error> {
        let columns = self.shape.columns;
        assert!(
            index < columns,
            "a table of {columns} columns has no {index}"
        );
        assert_eq!(cells.len(), self.shape.rows, "cells of a column");
        match self.word {
            Word::Bool => self.read_column_as::<Bool>(source, unfit, index, cells),
            Word::U8 => self.read_column_as::<u8>(source, unfit, index, cells),
            Word::U16 => self.read_column_as::<u16>(source, unfit, index, cells),
            Word::I8 => self.read_column_as::<i8>(source, unfit, index, cells),
            Word::I16 => self.read_column_as::<i16>(source, unfit, index, cells),
            Word::U32 => self.read_column_as::<u32>(source, unfit, index, cells),
            Word::U64 => self.read_column_as::<u64>(source, unfit, index, cells),
            Word::I32 => self.read_column_as::<i32>(source, unfit, index, cells),
            Word::I64 => self.read_column_as::<i64>(source, unfit, index, cells),
        }
    }

    fn read_column_as<T: Integer>(
        &self,
        source: &impl ReadAt,
        unfit: Unfit,
        index: usize,
        cells: &mut [KoalaBear],
    ) -> Result<(), Error> {
        let chunk_cells = COLUMN_CHUNK_BYTES / T::BYTES;
        let mut buffer = vec![0; cells.len().min(chunk_cells) * T::BYTES];
        for (chunk, cells) in cells.chunks_mut(chunk_cells).enumerate() {
            let first = index * self.shape.rows + chunk * chunk_cells;
            let bytes = &mut buffer[..cells.len() * T::BYTES];
            source.read_exact_at(self.offset + (first * T::BYTES) as u64, bytes)?;
            let mut fit = true;
            for (cell, bytes) in cells.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
                let value = T::from_bytes(bytes, self.byte_order);
                match value.canonical().or_else(|| element(value.into(), unfit)) {
                    Some(value) => *cell = value,
                    None => fit = false,
                }
            }
            if !fit {
                return Err(self.first_unfit::<T>(bytes, first).1);
            }
        }
        Ok(())
    }

    fn read_as<T: Integer>(
        &self,
        source: &(impl ReadAt + Sync),
        unfit: Unfit,
        cells: &mut [KoalaBear],
        stride: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        // The earliest failure in the file, whichever thread meets its own first.
        let failure = Mutex::new(None::<(usize, Error)>);
        let failure = || failure.lock().unwrap_or_else(PoisonError::into_inner);
        Threads::current().for_each_init(self.chunks(cells, stride), Vec::new, |buffer, chunk| {
            if failure()
                .as_ref()
                .is_some_and(|(place, _)| *place < chunk.first)
            {
                return;
            }
            match self.read_chunk::<T>(source, unfit, chunk, buffer) {
                Ok(()) => progress(buffer.len() as u64),
                Err((place, error)) => {
                    let mut failure = failure();
                    if failure
                        .as_ref()
                        .is_none_or(|(earliest, _)| place < *earliest)
                    {
                        *failure = Some((place, error));
                    }
                }
            }
        });
        let failed = failure().take();
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// The table in parts that are contiguous in the file, in the order of the file: some whole
    /// lines, or a part of one line. A line is a row in C order, a column in Fortran order.
    fn chunks<'a>(&self, cells: &'a mut [KoalaBear], stride: usize) -> Vec<Chunk<'a>> {
        let Shape { rows, columns } = self.shape;
        let most = CHUNK_BYTES / self.word.bytes();
        let (tile_rows, tile_columns) = match self.order {
            Order::C if columns >= most => (1, most),
            Order::C => match most / columns {
                few @ ..LINE_CELLS => (few, columns),
                many => (many - many % LINE_CELLS, columns),
            },
            Order::Fortran if rows >= most => (most, 1),
            Order::Fortran => (stride, most / rows),
        };
        let mut chunks: Vec<_> = memory::tiles(cells, stride, tile_rows, tile_columns)
            // The rows behind those of the file belong to the caller.
            .filter(|tile| tile.rows().start < rows)
            .map(|tile| {
                let (row, column) = (tile.rows().start, tile.columns().start);
                let first = match self.order {
                    Order::C => row * columns + column,
                    Order::Fortran => column * rows + row,
                };
                let rows = tile.rows().end.min(rows) - row;
                Chunk { tile, first, rows }
            })
            .collect();
        chunks.sort_by_key(|chunk| chunk.first);
        chunks
    }

    /// Reads a chunk and writes it to its columns. An error comes with the place of its cell.
    fn read_chunk<T: Integer>(
        &self,
        source: &impl ReadAt,
        unfit: Unfit,
        mut chunk: Chunk<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), (usize, Error)> {
        buffer.resize(chunk.rows * chunk.tile.columns().len() * T::BYTES, 0);
        source
            .read_exact_at(self.offset + (chunk.first * T::BYTES) as u64, buffer)
            .map_err(|error| (chunk.first, error))?;
        let convert = |bytes: &[u8]| {
            let value = T::from_bytes(bytes, self.byte_order);
            value.canonical().or_else(|| element(value.into(), unfit))
        };
        let converted = match self.order {
            Order::C => spread_rows::<T>(buffer, &mut chunk, convert),
            Order::Fortran => copy_columns::<T>(buffer, &mut chunk, convert),
        };
        converted.ok_or_else(|| self.first_unfit::<T>(buffer, chunk.first))
    }

    /// The error of the first cell that is not in [0, p), among cells from the place `first` on.
    fn first_unfit<T: Integer>(&self, buffer: &[u8], first: usize) -> (usize, Error) {
        let found = buffer
            .chunks_exact(T::BYTES)
            .map(|bytes| T::from_bytes(bytes, self.byte_order))
            .zip(first..)
            .find(|(value, _)| value.canonical().is_none());
        let Some((value, place)) = found else {
            return (first, Error::Changed);
        };
        let (row, index) = match self.order {
            Order::C => (place / self.shape.columns, place % self.shape.columns),
            Order::Fortran => (place % self.shape.rows, place / self.shape.rows),
        };
        let column = Column { index, name: None };
        (
            place,
            Error::OutOfRange {
                row,
                column,
                value: value.into(),
            },
        )
    }
}

/// Cells that are read together, and where they go.
struct Chunk<'a> {
    tile: Tile<'a, KoalaBear>,
    /// The place of the first cell, counted in the file.
    first: usize,
    /// Rows of the tile that are in the file.
    rows: usize,
}

/// Writes rows to their columns; `None` if a cell cannot be converted.
fn spread_rows<T: Integer>(
    buffer: &[u8],
    chunk: &mut Chunk<'_>,
    convert: impl Fn(&[u8]) -> Option<KoalaBear>,
) -> Option<()> {
    let row_bytes = chunk.tile.columns().len() * T::BYTES;
    for (block, rows) in buffer.chunks(ROW_BLOCK * row_bytes).enumerate() {
        for (column, target) in chunk.tile.columns_mut().enumerate() {
            let target = target[block * ROW_BLOCK..].iter_mut();
            for (cell, row) in target.zip(rows.chunks_exact(row_bytes)) {
                *cell = convert(&row[column * T::BYTES..(column + 1) * T::BYTES])?;
            }
        }
    }
    Some(())
}

/// Writes columns to their places; `None` if a cell cannot be converted.
fn copy_columns<T: Integer>(
    buffer: &[u8],
    chunk: &mut Chunk<'_>,
    convert: impl Fn(&[u8]) -> Option<KoalaBear>,
) -> Option<()> {
    let columns = buffer.chunks_exact(chunk.rows * T::BYTES);
    for (target, bytes) in chunk.tile.columns_mut().zip(columns) {
        for (cell, bytes) in target.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
            *cell = convert(bytes)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    /// The cell that [`bytes`] has at (row, column): what of `1000 row + column` is positive in the type.
    fn value(array: &Array, row: usize, column: usize) -> u64 {
        let most = match array.word {
            Word::Bool => 1,
            Word::U8 | Word::I8 => 127,
            Word::U16 | Word::I16 => 0x7fff,
            _ => u64::MAX,
        };
        (1000 * row + column) as u64 & most
    }

    /// The bytes of a table of some layout.
    fn bytes(array: &Array) -> Vec<u8> {
        let Shape { rows, columns } = array.shape;
        let mut bytes = vec![0xff; array.offset as usize];
        for index in 0..rows * columns {
            let (row, column) = match array.order {
                Order::C => (index / columns, index % columns),
                Order::Fortran => (index % rows, index / rows),
            };
            let value = value(array, row, column);
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
            for word in [
                Word::Bool,
                Word::U8,
                Word::U16,
                Word::U32,
                Word::U64,
                Word::I8,
                Word::I16,
                Word::I32,
                Word::I64,
            ] {
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
                        let done = AtomicU64::new(0);
                        let progress = |bytes| {
                            done.fetch_add(bytes, Relaxed);
                        };
                        array
                            .read(&&bytes[..], Unfit::Reject, &mut cells, stride, &progress)
                            .expect("canonical cells");
                        assert_eq!(done.into_inner() + array.offset, bytes.len() as u64);
                        for (index, cell) in cells.into_iter().enumerate() {
                            let (column, row) = (index / stride, index % stride);
                            let expected = if row < rows {
                                KoalaBear::from_u64(value(&array, row, column))
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
    fn short_integers_keep_their_sign_and_truth_is_one() {
        let read = |word, unfit, bytes: &[u8]| {
            let array = Array {
                offset: 0,
                word,
                byte_order: ByteOrder::Big,
                order: Order::C,
                shape: Shape {
                    rows: bytes.len() / word.bytes(),
                    columns: 1,
                },
            };
            let mut cells = vec![KoalaBear::ZERO; array.shape.rows];
            array.read(&bytes, unfit, &mut cells, array.shape.rows, &|_| ())?;
            Ok::<_, Error>(cells)
        };
        let elements = |values: &[i64]| -> Vec<KoalaBear> {
            let element = |&value: &i64| element(value.into(), Unfit::Reduce);
            values.iter().filter_map(element).collect()
        };
        let bytes = [0, 1, 127, 128, 254, 255];
        for (word, values) in [
            (Word::Bool, &[0, 1, 1, 1, 1, 1][..]),
            (Word::U8, &[0, 1, 127, 128, 254, 255]),
            (Word::I8, &[0, 1, 127, -128, -2, -1]),
            (Word::U16, &[1, 0x7f80, 0xfeff]),
            (Word::I16, &[1, 0x7f80, -257]),
        ] {
            let cells = read(word, Unfit::Reduce, &bytes).expect("reduced");
            assert_eq!(cells, elements(values), "{word:?}");
            let signed = values.iter().any(|&value| value < 0);
            assert_eq!(
                read(word, Unfit::Reject, &bytes).is_err(),
                signed,
                "{word:?}"
            );
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

        let error = array.read(&&bytes[..], Unfit::Reject, &mut cells, 20, &|_| ());
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
            .read(&&bytes[..], Unfit::Reduce, &mut cells, 20, &|_| ())
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
        let error = array.read(&&[0u8; 15][..], Unfit::Reject, &mut cells, 4, &|_| ());
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
