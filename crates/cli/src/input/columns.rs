//! Tables that stay in their files: columns are read when they are asked for.
//!
//! A file that has row after row is first brought into the other order, through a window of whole rows.

use std::io::{Seek, SeekFrom, Write};

use lanework::field::koala::KoalaBear;
use lanework::fri::{self, ColumnSource, SourceError};

use super::array::{Array, Order};
use super::{Error, Format, Input, Pad, ReadAt, Shape, Unfit, padded_rows};

/// Cells of the window in which rows become columns.
const WINDOW_CELLS: usize = 1 << 26;

/// A table whose columns lie one after the other in a file, from which they are read, filled up to a power of two
/// of rows.
///
/// Every cell is checked each time it is read, and so is whether the file was written to since it was opened,
/// where that can be seen.
#[derive(Debug)]
pub struct Columns<S> {
    source: S,
    array: Array,
    unfit: Unfit,
    pad: Option<Pad>,
    shape: fri::Shape,
}

impl<S: ReadAt + Sync> Input<S> {
    /// Whether the columns lie one after the other in the file, as [`Self::into_columns`] wants them.
    pub const fn is_column_major(&self) -> bool {
        match &self.format {
            Format::Array(array) => {
                matches!(array.order, Order::Fortran) || array.shape.columns == 1
            }
            Format::Csv(_) => false,
        }
    }

    /// The table with its cells left in the file, filled up to a power of two of rows.
    ///
    /// # Errors
    /// [`Error::RowsNotPowerOfTwo`] if the number of rows is not a power of two and there is no `pad`;
    /// [`Error::RowMajor`] if the columns are not one after the other.
    pub fn into_columns(self, unfit: Unfit, pad: Option<Pad>) -> Result<Columns<S>, Error> {
        let Shape { rows, columns } = self.shape();
        let height = padded_rows(rows, pad)?;
        match self.format {
            Format::Array(array) if array.order == Order::Fortran || columns == 1 => Ok(Columns {
                source: self.source,
                array,
                unfit,
                pad,
                shape: fri::Shape::base(height.ilog2(), columns),
            }),
            _ => Err(Error::RowMajor),
        }
    }

    /// Writes the cells to `target` as a `.bin` file has them: u32, little endian, column after column. Some hundred
    /// MiB of them are in memory at a time. `progress` is as for [`Self::read`].
    ///
    /// # Errors
    /// As [`Self::read`]; [`Error::Memory`], and [`Error::Write`] if `target` cannot be written.
    pub fn transpose(
        &self,
        unfit: Unfit,
        target: &mut (impl Write + Seek),
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        self.transpose_by(WINDOW_CELLS, unfit, target, progress)
    }

    fn transpose_by(
        &self,
        window_cells: usize,
        unfit: Unfit,
        target: &mut (impl Write + Seek),
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        let shape = self.shape();
        let window_rows = (window_cells / shape.columns).clamp(1, shape.rows);
        let mut window = Window::new(shape, window_rows)?;
        match &self.format {
            Format::Array(array) => {
                for first in (0..shape.rows).step_by(window_rows) {
                    let rows = window_rows.min(shape.rows - first);
                    array.read_rows(
                        &self.source,
                        unfit,
                        first..first + rows,
                        &mut window.cells[..rows * shape.columns],
                        progress,
                    )?;
                    window.write(first, rows, rows, target)?;
                }
            }
            Format::Csv(records) => {
                records.each_row(&self.source, unfit, progress, |row, cells| {
                    let within = row % window_rows;
                    let places = window.cells[within..].iter_mut().step_by(window_rows);
                    for (place, cell) in places.zip(cells) {
                        *place = *cell;
                    }
                    if within + 1 == window_rows || row + 1 == shape.rows {
                        window.write(row - within, within + 1, window_rows, target)?;
                    }
                    Ok(())
                })?;
            }
        }
        target.flush().map_err(Error::Write)
    }
}

/// Some rows of a table, column after column.
struct Window {
    cells: Vec<KoalaBear>,
    bytes: Vec<u8>,
    shape: Shape,
}

impl Window {
    fn new(shape: Shape, rows: usize) -> Result<Self, Error> {
        let len = rows * shape.columns;
        let out_of_memory = |_| lanework::arch::memory::Error::OutOfMemory { bytes: 4 * len };
        let (mut cells, mut bytes) = (Vec::new(), Vec::new());
        cells.try_reserve_exact(len).map_err(out_of_memory)?;
        bytes.try_reserve_exact(4 * rows).map_err(out_of_memory)?;
        cells.resize(len, KoalaBear::ZERO);
        Ok(Self {
            cells,
            bytes,
            shape,
        })
    }

    /// Writes `rows` rows, which are `first` and those after it in the table, to their places in `target`. Columns are
    /// `stride` cells apart.
    fn write(
        &mut self,
        first: usize,
        rows: usize,
        stride: usize,
        target: &mut (impl Write + Seek),
    ) -> Result<(), Error> {
        let columns = self.cells.chunks(stride).take(self.shape.columns);
        for (index, column) in columns.enumerate() {
            self.bytes.clear();
            let words = column[..rows].iter().map(|cell| cell.to_canonical());
            self.bytes.extend(words.flat_map(u32::to_le_bytes));
            let place = 4 * (index * self.shape.rows + first) as u64;
            target
                .seek(SeekFrom::Start(place))
                .and_then(|_| target.write_all(&self.bytes))
                .map_err(Error::Write)?;
        }
        Ok(())
    }
}

impl<S: ReadAt + Send + Sync> ColumnSource for Columns<S> {
    fn shape(&self) -> fri::Shape {
        self.shape
    }

    /// # Panics
    /// If there is no such column, or it cannot be read: [`ColumnSource::fetch`] gives an error.
    fn column<'a>(&'a self, index: usize, buffer: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        match self.fetch(index, buffer) {
            Ok(column) => column,
            Err(error) => panic!("{error}"),
        }
    }

    fn fetch<'a>(
        &'a self,
        index: usize,
        buffer: &'a mut [KoalaBear],
    ) -> Result<&'a [KoalaBear], SourceError> {
        let (cells, padding) = buffer.split_at_mut(self.array.shape.rows);
        let fill = match self.pad {
            Some(Pad::Last) => cells.len().checked_sub(1),
            _ => None,
        };
        self.array
            .read_column(&self.source, self.unfit, index, cells)
            .and_then(|()| self.source.check_unchanged())
            .map_err(|error| SourceError::new(self.source.named(&error)))?;
        padding.fill(fill.map_or(KoalaBear::ZERO, |last| cells[last]));
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn columns_of(table: &impl ColumnSource) -> Result<Vec<Vec<u32>>, SourceError> {
        let shape = table.shape();
        (0..shape.columns_len())
            .map(|index| {
                let mut buffer = vec![KoalaBear::NEG_ONE; shape.rows_len()];
                let column = table.fetch(index, &mut buffer)?;
                Ok(column.iter().map(|cell| cell.to_canonical()).collect())
            })
            .collect()
    }

    fn bin(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn columns_are_read_and_filled_up() {
        let bytes = bin(&[1, 2, 3, 4, 5, 6]);
        let shape = Shape {
            rows: 3,
            columns: 2,
        };
        let table = |pad| {
            let input = Input::bin(&bytes[..], shape).expect("six cells");
            assert!(input.is_column_major());
            input.into_columns(Unfit::Reject, pad)
        };
        let zero = columns_of(&table(Some(Pad::Zero)).expect("padded"));
        assert_eq!(zero, Ok(vec![vec![1, 2, 3, 0], vec![4, 5, 6, 0]]));
        let last = columns_of(&table(Some(Pad::Last)).expect("padded"));
        assert_eq!(last, Ok(vec![vec![1, 2, 3, 3], vec![4, 5, 6, 6]]));
        assert!(matches!(
            table(None),
            Err(Error::RowsNotPowerOfTwo { rows: 3 })
        ));
    }

    #[test]
    fn cells_that_do_not_fit_are_errors() {
        let bytes = bin(&[1, 2, 3, u32::MAX]);
        let shape = Shape {
            rows: 2,
            columns: 2,
        };
        let table = |unfit| {
            let input = Input::bin(&bytes[..], shape).expect("four cells");
            input.into_columns(unfit, None).expect("two rows")
        };
        let error = columns_of(&table(Unfit::Reject)).expect_err("above p");
        assert!(
            error
                .to_string()
                .starts_with("row 1, column 1: not a field element: 4294967295"),
            "{error}"
        );
        let reduced = u32::MAX % lanework::field::koala::spec::P;
        assert_eq!(
            columns_of(&table(Unfit::Reduce)),
            Ok(vec![vec![1, 2], vec![3, reduced]])
        );
    }

    #[test]
    fn rows_become_columns_in_windows() {
        let (rows, columns) = (13, 5);
        let value = |row: usize, column: usize| (100 * row + column) as u32;
        let mut text = String::from("a,b,c,d,e\n");
        let mut npy = b"\x93NUMPY\x01\x00".to_vec();
        let header =
            format!("{{'descr': '<u4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n");
        npy.extend((header.len() as u16).to_le_bytes());
        npy.extend(header.bytes());
        let mut expected = vec![0; rows * columns];
        for row in 0..rows {
            let cells: Vec<_> = (0..columns).map(|column| value(row, column)).collect();
            npy.extend(bin(&cells));
            let cells: Vec<_> = cells.iter().map(ToString::to_string).collect();
            text += &(cells.join(",") + "\n");
            for column in 0..columns {
                expected[column * rows + row] = value(row, column);
            }
        }
        for window_cells in [1, 5, 12, 20, 64, 65, 1000] {
            for csv in [false, true] {
                let input = if csv {
                    Input::csv(text.as_bytes())
                } else {
                    Input::npy(&npy[..])
                };
                let input = input.expect("a table");
                assert!(!input.is_column_major());
                let mut target = Cursor::new(vec![]);
                input
                    .transpose_by(window_cells, Unfit::Reject, &mut target, &|_| ())
                    .expect("canonical cells");
                assert_eq!(target.into_inner(), bin(&expected), "{window_cells} {csv}");
                assert!(matches!(
                    input.into_columns(Unfit::Reject, Some(Pad::Zero)),
                    Err(Error::RowMajor)
                ));
            }
        }
    }

    #[test]
    fn errors_name_the_row_of_the_file() {
        let text = "a,b\n1,2\n3,4\n5,2130706433\n7,8\n";
        let input = Input::csv(text.as_bytes()).expect("a table");
        let mut npy = b"\x93NUMPY\x01\x00".to_vec();
        let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (4, 2), }\n";
        npy.extend((header.len() as u16).to_le_bytes());
        npy.extend(header.bytes());
        npy.extend(bin(&[1, 2, 3, 4, 5, 2130706433, 7, 8]));
        for window_cells in [1, 4, 100] {
            let mut target = Cursor::new(vec![]);
            let error = input.transpose_by(window_cells, Unfit::Reject, &mut target, &|_| ());
            assert!(
                matches!(error, Err(Error::OutOfRange { row: 2, .. })),
                "{error:?}"
            );
            let input = Input::npy(&npy[..]).expect("a table");
            let error = input.transpose_by(window_cells, Unfit::Reject, &mut target, &|_| ());
            let Err(Error::OutOfRange { row: 2, column, .. }) = error else {
                panic!("{error:?}");
            };
            assert_eq!(column.index, 1);
        }
    }

    #[test]
    fn a_target_that_cannot_be_written_is_an_error() {
        let input = Input::csv(&b"a,b\n1,2\n"[..]).expect("a table");
        let mut small = [0; 4];
        let error = input.transpose(Unfit::Reject, &mut Cursor::new(&mut small[..]), &|_| ());
        assert!(matches!(error, Err(Error::Write(_))), "{error:?}");
    }

    #[test]
    fn a_file_that_was_written_to_is_not_read_on() {
        use lanework::arch::files::PositionedFile;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("table.bin");
        let shape = Shape {
            rows: 2,
            columns: 2,
        };
        let open = || {
            std::fs::write(&path, bin(&[1, 2, 3, 4])).expect("written");
            let file = PositionedFile::open(&path).expect("opened");
            let input = Input::bin(file, shape).expect("four cells");
            input.into_columns(Unfit::Reject, None).expect("two rows")
        };
        let table = open();
        assert_eq!(columns_of(&table), Ok(vec![vec![1, 2], vec![3, 4]]));
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        let file = std::fs::File::options()
            .write(true)
            .open(&path)
            .expect("opened");
        file.set_modified(later).expect("set");
        let error = columns_of(&table).expect_err("written to");
        assert!(
            error.to_string().contains("changed while it was read"),
            "{error}"
        );
        let table = open();
        file.set_len(12).expect("cut");
        let error = columns_of(&table).expect_err("too short");
        assert!(error.to_string().contains("table.bin"), "{error}");
    }
}
