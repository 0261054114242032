//! What can be wrong with a file.

use std::fmt;

use lanework::field::koala::spec::P;

/// Why a table cannot be read. Rows and columns are counted from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system cannot read the file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file cannot be opened, or not read by position. The message names it.
    #[error(transparent)]
    File(#[from] lanework::arch::files::Error),
    /// The file ends before the bytes that are due.
    #[error("the file ends at byte {got}: expected at least {expected} bytes")]
    Truncated {
        /// Bytes that are due.
        expected: u64,
        /// Where it ends.
        got: u64,
    },
    /// A second reading saw other records than the first.
    #[error("the file changed while it was read")]
    Changed,
    /// The first line of a `.csv` file holds integers only.
    #[error(
        "the first line holds integers where column names belong\nhint: put a line of names before the \
         rows, so that no row is taken for them"
    )]
    NoNames,
    /// There is no cell.
    #[error("the table is empty: {rows} rows, {columns} columns")]
    Empty {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// The bytes of the cells cannot be counted.
    #[error("the table is too large to address: {rows} rows, {columns} columns")]
    TooLarge {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// The file does not have the size of its shape.
    #[error(
        "{rows} rows and {columns} columns take {expected} bytes, but the file has {got} bytes of \
         cells"
    )]
    Size {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// Bytes of cells that the shape asks for.
        expected: u64,
        /// Bytes of cells that are there.
        got: u64,
    },
    /// The file does not begin with the magic string of `.npy`.
    #[error("not an .npy file: it does not begin with \\x93NUMPY")]
    NpyMagic,
    /// No version of the format has this number.
    #[error("unknown version of the .npy format: {major}.{minor}")]
    NpyVersion {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// The header is longer than any array of numbers needs, or than the file.
    #[error("the .npy header states a length of {got} bytes: at most {max} are possible here")]
    NpyHeaderLength {
        /// The length in the file.
        got: u64,
        /// The most that is read.
        max: u64,
    },
    /// The header is not the dictionary that the format asks for.
    #[error("malformed .npy header at byte {offset} of the dictionary: expected {expected}")]
    NpyHeader {
        /// Where in the dictionary.
        offset: usize,
        /// What the reader looked for.
        expected: &'static str,
    },
    /// The array holds something else than integers of 8 to 64 bits or truth values.
    #[error(
        "the .npy array does not hold integers, but elements of type {got:?}\nhint: integers of 8 to 64 \
         bits and bool are read; in NumPy, array.astype('uint32') makes them"
    )]
    NpyType {
        /// The type as written in the header.
        got: String,
    },
    /// The array has no rows and columns.
    #[error(
        "the .npy array has {got} dimensions: expected 1 or 2\nhint: a table is (rows, columns), or \
         (rows,) if it has one column; in NumPy, array.reshape(rows, columns) makes it"
    )]
    NpyDimensions {
        /// Number of dimensions.
        got: usize,
    },
    /// A line of a `.csv` file has more or fewer fields than the first.
    #[error("row {row} has {got} fields: expected {expected}, as in the line of column names")]
    CsvFields {
        /// Row.
        row: usize,
        /// Number of column names.
        expected: u64,
        /// Number of fields.
        got: u64,
    },
    /// A line of a `.csv` file is empty, or a field runs over several lines.
    #[error("the record at line {line} is not one line: an empty line, or a line break in quotes")]
    CsvLine {
        /// Line, counted from 1.
        line: u64,
    },
    /// A field of a `.csv` file is not an integer.
    #[error(
        "row {row}, column {column}: not an integer: {text:?}\n\
         hint: cells are decimal integers, such as 7 or -1, without point, exponent or unit"
    )]
    NotAnInteger {
        /// Row.
        row: usize,
        /// Column.
        column: Column,
        /// The field, shortened.
        text: String,
    },
    /// A field of a `.csv` file is an integer of hundreds of bits.
    #[error(
        "row {row}, column {column}: an integer too long to be read: {text:?}\n\
         hint: values are in [0, {P}); with --reduce, those from -2^127 to 2^127 - 1 are read"
    )]
    IntegerTooLong {
        /// Row.
        row: usize,
        /// Column.
        column: Column,
        /// The field, shortened.
        text: String,
    },
    /// A value is not in [0, p).
    #[error(
        "row {row}, column {column}: not a field element: {value}\n\
         hint: values are in [0, {P}); --reduce takes them modulo {P}"
    )]
    OutOfRange {
        /// Row.
        row: usize,
        /// Column.
        column: Column,
        /// The value.
        value: i128,
    },
    /// The columns of the table do not lie one after the other in the file.
    #[error("the file has row after row, where column after column is needed")]
    RowMajor,
    /// What was to be written cannot be.
    #[error("cannot write: {0}")]
    Write(std::io::Error),
    /// There is not enough memory.
    #[error(transparent)]
    Memory(#[from] lanework::arch::memory::Error),
    /// The table has no power of two of rows, and no padding was asked for.
    #[error("{rows} rows are not a power of two\nhint: --pad zero|last fills the table up")]
    RowsNotPowerOfTwo {
        /// Rows.
        rows: usize,
    },
}

/// A column, by its place and, where the file names it, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Place, counted from 0.
    pub index: usize,
    /// Name in the file.
    pub name: Option<String>,
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.index)?;
        self.name
            .as_ref()
            .map_or(Ok(()), |name| write!(f, " ({})", name.escape_debug()))
    }
}

/// The first characters of bytes that go into a message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const LEN: usize = 40;
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(LEN)]).into_owned();
    if bytes.len() > LEN {
        text.push_str("...");
    }
    text
}
