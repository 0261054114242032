//! Files of comma-separated integers under a line of column names.
//!
//! The file is read twice: once for the number of rows, so that the table can be allocated whole,
//! and once for the cells.

use std::io::Read;
use std::num::{IntErrorKind, ParseIntError};

use csv::{ByteRecord, Reader, ReaderBuilder};
use lanework::field::koala::KoalaBear;

use super::error::excerpt;
use super::source::Stream;
use super::{Column, Error, ReadAt, Shape, Unfit, element};

/// Rows between reports of progress.
const PROGRESS_ROWS: usize = 1024;

/// The records of a file, counted.
#[derive(Debug)]
pub(super) struct Records {
    pub shape: Shape,
    names: ByteRecord,
}

/// Counts the records of a file and checks that each has as many fields as there are names.
pub(super) fn open(source: &impl ReadAt) -> Result<Records, Error> {
    let mut reader = reader(source);
    let mut record = ByteRecord::new();
    let mut names = ByteRecord::new();
    if !next(&mut reader, &mut names, 0)? {
        return Err(Error::Empty {
            rows: 0,
            columns: 0,
        });
    }
    let columns = names.len();
    if names.iter().all(is_integer) {
        return Err(Error::NoNames);
    }
    let mut rows = 0;
    while next(&mut reader, &mut record, rows)? {
        rows += 1;
    }
    if rows == 0 {
        return Err(Error::Empty { rows, columns });
    }
    Ok(Records {
        shape: Shape { rows, columns },
        names,
    })
}

impl Records {
    /// See [`super::Input::read`].
    pub(super) fn read(
        &self,
        source: &impl ReadAt,
        unfit: Unfit,
        cells: &mut [KoalaBear],
        stride: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        self.each_row(source, unfit, progress, |row, values| {
            for (index, value) in values.iter().enumerate() {
                cells[index * stride + row] = *value;
            }
            Ok(())
        })
    }

    /// Calls `take` with every row and its number, in order.
    pub(super) fn each_row(
        &self,
        source: &impl ReadAt,
        unfit: Unfit,
        progress: &(dyn Fn(u64) + Sync),
        mut take: impl FnMut(usize, &[KoalaBear]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut values = vec![KoalaBear::ZERO; self.shape.columns];
        let mut reader = reader(source);
        let mut record = ByteRecord::new();
        if !next(&mut reader, &mut record, 0)? || record != self.names {
            return Err(Error::Changed);
        }
        let mut reported = 0;
        for row in 0..self.shape.rows {
            if !next(&mut reader, &mut record, row)? || record.len() != self.shape.columns {
                return Err(Error::Changed);
            }
            for (index, field) in record.iter().enumerate() {
                let value = integer(field).map_err(|error| {
                    let (column, text) = (self.column(index), excerpt(field));
                    if is_overflow(&error) {
                        Error::IntegerTooLong { row, column, text }
                    } else {
                        Error::NotAnInteger { row, column, text }
                    }
                })?;
                values[index] = element(value, unfit).ok_or_else(|| Error::OutOfRange {
                    row,
                    column: self.column(index),
                    value,
                })?;
            }
            take(row, &values)?;
            if row % PROGRESS_ROWS == 0 {
                let position = reader.position().byte();
                progress(position - reported);
                reported = position;
            }
        }
        if next(&mut reader, &mut record, self.shape.rows)? {
            Err(Error::Changed)
        } else {
            Ok(())
        }
    }

    fn column(&self, index: usize) -> Column {
        Column {
            index,
            name: self.names.get(index).map(excerpt),
        }
    }
}

fn reader<S: ReadAt>(source: &S) -> Reader<Stream<'_, S>> {
    ReaderBuilder::new()
        .has_headers(false)
        // Text around or between quotes would become part of a number; `integer` takes them off.
        .quoting(false)
        .buffer_capacity(1 << 16)
        .from_reader(Stream::new(source))
}

/// Reads one record; `false` at the end of the file.
fn next<R: Read>(
    reader: &mut Reader<R>,
    record: &mut ByteRecord,
    row: usize,
) -> Result<bool, Error> {
    let line = reader.position().line();
    let found = reader
        .read_byte_record(record)
        .map_err(|error| match error.into_kind() {
            // What the source says itself comes back as it was.
            csv::ErrorKind::Io(error) => error.downcast().unwrap_or_else(Error::Io),
            csv::ErrorKind::UnequalLengths {
                expected_len: expected,
                len: got,
                ..
            } => Error::CsvFields { row, expected, got },
            other => Error::Io(std::io::Error::other(format!("{other:?}"))),
        })?;
    // The csv crate skips empty lines; in a table of one column that would lose a row.
    if found && reader.position().line() > line + 1 {
        return Err(Error::CsvLine { line });
    }
    Ok(found)
}

fn integer(field: &[u8]) -> Result<i128, ParseIntError> {
    // Neither bytes that are no text nor a lonely quote are part of an integer.
    let text = std::str::from_utf8(field).unwrap_or("?").trim_ascii();
    let quoted = text.strip_prefix('"').and_then(|x| x.strip_suffix('"'));
    quoted.unwrap_or(text).parse()
}

/// Whether a field is an integer, of any length.
fn is_integer(field: &[u8]) -> bool {
    integer(field).map_or_else(|error| is_overflow(&error), |_| true)
}

fn is_overflow(error: &ParseIntError) -> bool {
    matches!(
        error.kind(),
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow
    )
}

#[cfg(test)]
mod tests {
    use lanework::arch::files::PositionedFile;

    use super::*;
    use crate::input::Input;

    fn read(text: &str, unfit: Unfit) -> Result<Vec<u32>, Error> {
        let input = Input::csv(text.as_bytes())?;
        let Shape { rows, columns } = input.shape();
        let mut cells = vec![KoalaBear::ZERO; rows * columns];
        input.read(unfit, &mut cells, rows, &|_| ())?;
        Ok(cells.into_iter().map(KoalaBear::to_canonical).collect())
    }

    #[test]
    fn rows_become_columns() {
        for text in [
            "a,b\n1,2\n3,4\n",
            "a,b\n1,2\n3,4",
            "a,b\r\n1,2\r\n3,4\r\n",
            "\u{feff}a,b\n 1 ,\t2\n+3,\"4\"\n\n\n",
        ] {
            assert_eq!(
                read(text, Unfit::Reject).expect(text),
                [1, 3, 2, 4],
                "{text:?}"
            );
        }
        assert_eq!(
            read(
                "v\n2130706432\n-1\n2130706433\n-170141183460469231731687303715884105728\n",
                Unfit::Reduce
            )
            .expect("reduced"),
            [
                2130706432,
                2130706432,
                0,
                i128::MIN.rem_euclid(2130706433) as u32
            ]
        );
    }

    #[test]
    fn text_that_is_nearly_a_table_is_refused() {
        for text in [
            "a\n\"1\"2\n3\n",
            "a\n1\n\"2",
            "a\n1\n\"2\n\"\n3\n",
            "a\r1\r\r2\r",
            "a\n1\n\r2\n",
            "a\n1\n2\r",
        ] {
            assert!(read(text, Unfit::Reject).is_err(), "{text:?}");
        }
        let long = format!(
            "a\n{}\n",
            "0".repeat(super::super::source::LINE_BYTES_MAX + 1)
        );
        let error = read(&long, Unfit::Reject).expect_err("a refusal");
        assert!(error.to_string().contains("longer than"), "{error}");
    }

    #[test]
    fn a_row_is_not_taken_for_names() {
        let error = Input::csv(&b"1,2\n3,4\n"[..]).expect_err("a refusal");
        assert!(matches!(error, Error::NoNames), "{error}");
        assert!(Input::csv(&b"1,b\n3,4\n"[..]).is_ok());
        let long = format!("{}\n1\n", "9".repeat(50));
        assert!(matches!(Input::csv(long.as_bytes()), Err(Error::NoNames)));
    }

    #[test]
    fn a_file_that_shrinks_between_its_readings_names_itself_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("shrinking.csv");
        std::fs::write(&path, "a,b\n1,2\n3,4\n").expect("a file is written");
        let file = PositionedFile::open(&path).expect("a file");
        let input = Input::csv(file).expect("a table");
        std::fs::write(&path, "a,b\n1,2\n").expect("a file is written");
        let mut cells = [KoalaBear::ZERO; 4];
        let error = input
            .read(Unfit::Reject, &mut cells, 2, &|_| ())
            .expect_err("a row is gone");
        assert!(matches!(error, Error::File(_)), "{error:?}");
        assert_eq!(error.to_string().matches("shrinking.csv").count(), 1);
    }

    #[test]
    fn what_is_refused() {
        for text in ["", "\n", "a,b\n", "a,b"] {
            let error = read(text, Unfit::Reject);
            assert!(
                matches!(error, Err(Error::Empty { rows: 0, .. })),
                "{text:?}: {error:?}"
            );
        }
        let error = read("a,b\n1,2\n3\n", Unfit::Reject);
        assert!(
            matches!(
                error,
                Err(Error::CsvFields {
                    row: 1,
                    expected: 2,
                    got: 1
                })
            ),
            "{error:?}"
        );
        for text in ["a\n1\n\n2\n", "a\r\n1\r\n\r\n2\r\n"] {
            let error = read(text, Unfit::Reject);
            assert!(
                matches!(error, Err(Error::CsvLine { line: 2 | 3 })),
                "{text:?}: {error:?}"
            );
        }
        for field in [
            "", "1.0", "x", "0x10", "1e3", "--1", "1 2", "\"", "\"1", "1\"",
        ] {
            let error = read(&format!("a,b\n1,2\n3,{field}\n"), Unfit::Reduce);
            let Err(Error::NotAnInteger { row: 1, column, .. }) = error else {
                panic!("{error:?}")
            };
            assert_eq!(column.to_string(), "1 (b)");
        }
        for sign in ["", "-"] {
            let field = format!("{sign}{}", "9".repeat(41));
            let error = read(&format!("a,b\n1,2\n3,{field}\n"), Unfit::Reduce);
            let Err(Error::IntegerTooLong { row: 1, column, .. }) = error else {
                panic!("{error:?}")
            };
            assert_eq!(column.to_string(), "1 (b)");
        }
        for (field, expected) in [("2130706433", 2130706433), ("-1", -1)] {
            let error = read(&format!("a,b\n1,2\n{field},4\n"), Unfit::Reject);
            let Err(Error::OutOfRange {
                row: 1,
                column,
                value,
            }) = error
            else {
                panic!("{error:?}")
            };
            assert_eq!((column.to_string().as_str(), value), ("0 (a)", expected));
        }
    }
}
