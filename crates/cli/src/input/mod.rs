//! Tables in files: shape first, then the cells.
//!
//! An [`Input`] is made in two steps. Opening reads what describes the table (a header, or the
//! number of records) and checks it against the length of the file; [`Input::read`] then copies the
//! cells, in chunks of bounded size, into a column-major buffer of the caller. So the caller knows
//! the shape before it allocates, and the shape is never larger than the file can back.
//!
//! A table that is larger than memory stays in its file: [`Input::into_columns`] reads column by column, and
//! [`Input::transpose`] brings a file into the order for that.

mod array;
mod bin;
mod columns;
mod csv;
mod error;
mod npy;
mod source;

use lanework::field::koala::KoalaBear;

pub use columns::Columns;
pub use error::{Column, Error};
pub use source::ReadAt;

/// Rows and columns of a table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Cells in each column.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
}

impl Shape {
    /// The number of cells, or `None` if it does not fit.
    pub const fn cells(self) -> Option<usize> {
        self.rows.checked_mul(self.columns)
    }
}

/// What becomes of an integer that is not in [0, p).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is an error.
    Reject,
    /// Its residue modulo p is taken.
    Reduce,
}

/// What fills a table up to a power of two of rows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Pad {
    /// Zeros.
    Zero,
    /// Copies of the last row.
    Last,
}

/// The rows of a table after padding: the least power of two that holds `rows`.
///
/// # Errors
/// [`Error::RowsNotPowerOfTwo`] if `rows` is not a power of two and there is no `pad`.
pub const fn padded_rows(rows: usize, pad: Option<Pad>) -> Result<usize, Error> {
    match (rows.checked_next_power_of_two(), pad) {
        (Some(padded), _) if padded == rows => Ok(rows),
        (Some(padded), Some(_)) => Ok(padded),
        _ => Err(Error::RowsNotPowerOfTwo { rows }),
    }
}

/// A table in a file: its shape is known and checked, its cells are not read yet.
#[derive(Debug)]
pub struct Input<S> {
    source: S,
    format: Format,
}

#[derive(Debug)]
enum Format {
    Array(array::Array),
    Csv(csv::Records),
}

impl<S: ReadAt + Sync> Input<S> {
    /// The table of an `.npy` file: one or two dimensions of integers of 8 to 64 bits, signed or not,
    /// or bool, in either byte order, in C or Fortran order. An array of one dimension is one column.
    ///
    /// # Errors
    /// If the header is not that of such an array, or states another size than the file has.
    pub fn npy(source: S) -> Result<Self, Error> {
        let format = Format::Array(npy::open(&source)?);
        Ok(Self { source, format })
    }

    /// The table of a `.csv` file: a line of column names, then a line of integers for each row.
    ///
    /// # Errors
    /// If a line has another number of fields than the first, or there are no rows. Whether the
    /// fields are integers is seen in [`Self::read`].
    pub fn csv(source: S) -> Result<Self, Error> {
        let format = Format::Csv(csv::open(&source)?);
        Ok(Self { source, format })
    }

    /// The table of a file of little-endian u32, column after column.
    ///
    /// # Errors
    /// If the file does not have exactly the size of `shape`, or the shape is empty.
    pub fn bin(source: S, shape: Shape) -> Result<Self, Error> {
        let format = Format::Array(bin::open(&source, shape)?);
        Ok(Self { source, format })
    }

    /// The shape of the table in the file. Never empty.
    pub const fn shape(&self) -> Shape {
        match &self.format {
            Format::Array(array) => array.shape,
            Format::Csv(records) => records.shape,
        }
    }

    /// Copies the cells into `cells`: the cell at row `r` of column `c` goes to `c * stride + r`.
    /// `progress` is called with the number of bytes read since the last call. Arrays are read on the
    /// current threads ([`Threads::current`](lanework::arch::threads::Threads::current)), and the
    /// error is that of the first cell in the file nevertheless.
    ///
    /// # Errors
    /// If a cell is not an integer, or not in [0, p) and `unfit` is [`Unfit::Reject`]; if the file
    /// changes under the reader.
    ///
    /// # Panics
    /// If `stride` is below the number of rows or `cells` has another length than `stride` times
    /// the number of columns.
    pub fn read(
        &self,
        unfit: Unfit,
        cells: &mut [KoalaBear],
        stride: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        let shape = self.shape();
        assert!(
            stride >= shape.rows,
            "a column of {} rows in {stride} cells",
            shape.rows
        );
        assert_eq!(
            Some(cells.len()),
            stride.checked_mul(shape.columns),
            "cells of the table"
        );
        match &self.format {
            Format::Array(array) => array.read(&self.source, unfit, cells, stride, progress),
            Format::Csv(records) => records.read(&self.source, unfit, cells, stride, progress),
        }
    }
}

/// Fills rows `rows..stride` of every column of `stride` cells, which [`Input::read`] has left as
/// they were.
///
/// # Panics
/// If `rows` is zero or above `stride`.
pub fn pad_columns(cells: &mut [KoalaBear], stride: usize, rows: usize, pad: Pad) {
    assert!(
        rows > 0 && rows <= stride,
        "{rows} rows in columns of {stride} cells"
    );
    for column in cells.chunks_exact_mut(stride) {
        let fill = match pad {
            Pad::Zero => KoalaBear::ZERO,
            Pad::Last => column[rows - 1],
        };
        column[rows..].fill(fill);
    }
}

/// The field element of `value`, or `None` if it is not in [0, p) and may not be reduced.
fn element(value: i128, unfit: Unfit) -> Option<KoalaBear> {
    let modulus = i128::from(lanework::field::koala::spec::P);
    let value = match unfit {
        Unfit::Reject => value,
        Unfit::Reduce => value.rem_euclid(modulus),
    };
    KoalaBear::from_canonical(u32::try_from(value).ok()?).ok()
}
