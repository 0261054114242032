//! The header of `.npy` files.
//!
//! Source: `NumPy` enhancement proposal 1 and `numpy/lib/format.py`. A file is the magic string
//! `\x93NUMPY`, two bytes of version, the length of the header (little-endian u16 in version 1, u32 in
//! versions 2 and 3), the header, and the cells. The header is a Python dictionary with exactly the
//! keys `descr`, `fortran_order` and `shape`, padded with blanks and a line break.
//!
//! The parser is our own because a header comes from anywhere: it reads a bounded number of bytes,
//! does not recurse, and knows only the literals that an array of integers needs. A general
//! reader of Python literals accepts nesting of any depth and integers of any size.

use super::array::{Array, ByteOrder, Order, Word};
use super::error::excerpt;
use super::{Error, ReadAt, Shape};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read, the limit that `NumPy` itself has for files it does not trust
/// (`numpy.lib.format`, `_MAX_HEADER_SIZE`).
const HEADER_BYTES_MAX: u64 = 10_000;

/// The layout of an `.npy` file.
pub(super) fn open(source: &impl ReadAt) -> Result<Array, Error> {
    let total_bytes = source.total_bytes();
    let mut prelude = [0; 12];
    let prelude_bytes = total_bytes.min(12) as usize;
    source.read_exact_at(0, &mut prelude[..prelude_bytes])?;
    if !prelude[..prelude_bytes].starts_with(MAGIC) {
        return Err(Error::NpyMagic);
    }
    let (length, start) = match (prelude[6], prelude[7]) {
        (1, 0) => (u64::from(u16::from_le_bytes([prelude[8], prelude[9]])), 10),
        (2 | 3, 0) => (
            u64::from(u32::from_le_bytes([
                prelude[8],
                prelude[9],
                prelude[10],
                prelude[11],
            ])),
            12,
        ),
        (major, minor) => return Err(Error::NpyVersion { major, minor }),
    };
    let Some(left) = total_bytes.checked_sub(start) else {
        return Err(Error::Truncated {
            expected: start,
            got: total_bytes,
        });
    };
    let max = HEADER_BYTES_MAX.min(left);
    if length > max {
        return Err(Error::NpyHeaderLength { got: length, max });
    }
    let mut header = vec![0; length as usize];
    source.read_exact_at(start, &mut header)?;

    let array = Parser {
        text: &header,
        offset: 0,
    }
    .array(start + length)?;
    array.check(total_bytes)?;
    Ok(array)
}

/// A cursor over the text of the header.
struct Parser<'a> {
    text: &'a [u8],
    offset: usize,
}

impl<'a> Parser<'a> {
    /// The whole dictionary.
    fn array(mut self, data_offset: u64) -> Result<Array, Error> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        self.expect(b'{', "an opening brace")?;
        while !self.eat(b'}') {
            let key_offset = self.offset;
            let key = self.string("a key in quotes")?;
            self.expect(b':', "a colon")?;
            let fresh = match key {
                b"descr" => descr.replace(self.descr()?).is_none(),
                b"fortran_order" => order.replace(self.order()?).is_none(),
                b"shape" => shape.replace(self.shape()?).is_none(),
                _ => false,
            };
            if !fresh {
                self.offset = key_offset;
                return Err(self.error("each of descr, fortran_order and shape once"));
            }
            if !self.eat(b',') {
                self.expect(b'}', "a comma or a closing brace")?;
                break;
            }
        }
        self.skip_blanks();
        if self.offset != self.text.len() {
            return Err(self.error("the end of the header"));
        }
        let (Some((word, byte_order)), Some(order), Some(shape)) = (descr, order, shape) else {
            return Err(self.error("each of descr, fortran_order and shape once"));
        };
        Ok(Array {
            offset: data_offset,
            word,
            byte_order,
            order,
            shape,
        })
    }

    /// The type of the cells.
    fn descr(&mut self) -> Result<(Word, ByteOrder), Error> {
        self.skip_blanks();
        if self.text.get(self.offset) == Some(&b'[') {
            return Err(Error::NpyType {
                got: "a structure".to_owned(),
            });
        }
        let descr = self.string("a type in quotes")?;
        let unsupported = || Error::NpyType {
            got: excerpt(descr),
        };
        let (order, word) = descr.split_first().ok_or_else(unsupported)?;
        let word = match word {
            b"b1" => Word::Bool,
            b"u1" => Word::U8,
            b"u2" => Word::U16,
            b"u4" => Word::U32,
            b"u8" => Word::U64,
            b"i1" => Word::I8,
            b"i2" => Word::I16,
            b"i4" => Word::I32,
            b"i8" => Word::I64,
            _ => return Err(unsupported()),
        };
        let byte_order = match order {
            b'<' => ByteOrder::Little,
            b'>' => ByteOrder::Big,
            // What one byte has.
            b'|' if word.bytes() == 1 => ByteOrder::Little,
            _ => return Err(unsupported()),
        };
        Ok((word, byte_order))
    }

    fn order(&mut self) -> Result<Order, Error> {
        self.skip_blanks();
        for (word, order) in [(&b"True"[..], Order::Fortran), (b"False", Order::C)] {
            if self.text[self.offset..].starts_with(word) {
                self.offset += word.len();
                return Ok(order);
            }
        }
        Err(self.error("True or False"))
    }

    /// A tuple of one or two integers.
    fn shape(&mut self) -> Result<Shape, Error> {
        let mut extents = [0, 1];
        let mut dimensions = 0;
        self.expect(b'(', "an opening parenthesis")?;
        while !self.eat(b')') {
            let extent = self.integer()?;
            if let Some(place) = extents.get_mut(dimensions) {
                *place = extent;
            }
            dimensions += 1;
            if !self.eat(b',') {
                self.expect(b')', "a comma or a closing parenthesis")?;
                break;
            }
        }
        match dimensions {
            1 | 2 => Ok(Shape {
                rows: extents[0],
                columns: extents[1],
            }),
            got => Err(Error::NpyDimensions { got }),
        }
    }

    /// A decimal integer, with the `L` that Python 2 wrote behind it.
    fn integer(&mut self) -> Result<usize, Error> {
        self.skip_blanks();
        let start = self.offset;
        let mut value = 0usize;
        while let Some(digit) = self
            .text
            .get(self.offset)
            .filter(|byte| byte.is_ascii_digit())
        {
            value = value
                .checked_mul(10)
                .and_then(|value| value.checked_add(usize::from(digit - b'0')))
                .ok_or_else(|| self.error("an extent that can be addressed"))?;
            self.offset += 1;
        }
        if self.offset == start {
            return Err(self.error("a decimal integer"));
        }
        if self.text.get(self.offset) == Some(&b'L') {
            self.offset += 1;
        }
        Ok(value)
    }

    /// The characters between quotes. None of the strings that matter has an escape.
    fn string(&mut self, expected: &'static str) -> Result<&'a [u8], Error> {
        self.skip_blanks();
        let Some(&quote @ (b'\'' | b'"')) = self.text.get(self.offset) else {
            return Err(self.error(expected));
        };
        let rest = &self.text[self.offset + 1..];
        let len = rest
            .iter()
            .position(|&byte| byte == quote)
            .ok_or_else(|| self.error("a closing quote"))?;
        self.offset += len + 2;
        Ok(&rest[..len])
    }

    fn skip_blanks(&mut self) {
        let blanks = self.text[self.offset..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace());
        self.offset += blanks.count();
    }

    /// Steps over `byte`, if it comes next.
    fn eat(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let next = self.text.get(self.offset) == Some(&byte);
        self.offset += usize::from(next);
        next
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        if self.eat(byte) {
            Ok(())
        } else {
            Err(self.error(expected))
        }
    }

    const fn error(&self, expected: &'static str) -> Error {
        Error::NpyHeader {
            offset: self.offset,
            expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::{Input, Unfit};
    use lanework::field::koala::KoalaBear;

    /// A file of `version` with `header` and `cells` bytes.
    fn file(version: u8, header: &str, cells: usize) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([version, 0]);
        match version {
            1 => file.extend((header.len() as u16).to_le_bytes()),
            _ => file.extend((header.len() as u32).to_le_bytes()),
        }
        file.extend(header.as_bytes());
        file.resize(file.len() + cells, 0);
        file
    }

    fn dictionary(descr: &str, fortran: &str, shape: &str) -> String {
        format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}   \n")
    }

    #[test]
    fn headers_as_numpy_writes_them() {
        let words = [
            ("b1", Word::Bool),
            ("u1", Word::U8),
            ("u2", Word::U16),
            ("u4", Word::U32),
            ("u8", Word::U64),
            ("i1", Word::I8),
            ("i2", Word::I16),
            ("i4", Word::I32),
            ("i8", Word::I64),
        ];
        for version in [1, 2, 3] {
            for (name, word) in words {
                for (mark, byte_order) in [('<', ByteOrder::Little), ('>', ByteOrder::Big)] {
                    for (fortran, order) in [("False", Order::C), ("True", Order::Fortran)] {
                        for (text, rows, columns) in [
                            ("(6,)", 6, 1),
                            ("(2, 3)", 2, 3),
                            ("(1,6)", 1, 6),
                            ("(2L, 3L)", 2, 3),
                        ] {
                            let header = dictionary(&format!("'{mark}{name}'"), fortran, text);
                            let file = file(version, &header, 6 * word.bytes());
                            let array = open(&&file[..]).expect(&header);
                            let offset = file.len() as u64 - 6 * word.bytes() as u64;
                            let shape = Shape { rows, columns };
                            assert_eq!(
                                array,
                                Array {
                                    offset,
                                    word,
                                    byte_order,
                                    order,
                                    shape
                                }
                            );
                        }
                    }
                }
            }
        }
        for (name, word) in words.into_iter().filter(|(_, word)| word.bytes() == 1) {
            let header = dictionary(&format!("'|{name}'"), "False", "(2, 3)");
            let array = open(&&file(1, &header, 6)[..]).expect(&header);
            assert_eq!(array.word, word);
        }
        let unusual = "\t{ \"shape\":( 2 ,3 ) ,\"fortran_order\":False,\"descr\":\"<u4\"}";
        assert_eq!(
            open(&&file(1, unusual, 24)[..]).expect(unusual).shape,
            Shape {
                rows: 2,
                columns: 3
            }
        );
    }

    #[test]
    fn headers_that_are_refused() {
        let good = || dictionary("'<u4'", "False", "(2, 3)");
        let refused = |file: &[u8]| open(&file).expect_err("a refusal");

        assert!(matches!(refused(b""), Error::NpyMagic));
        assert!(matches!(refused(b"PK\x03\x04"), Error::NpyMagic));
        assert!(matches!(
            refused(&file(4, &good(), 24)),
            Error::NpyVersion { major: 4, minor: 0 }
        ));
        let whole = file(1, &good(), 24);
        for len in 0..whole.len() {
            let error = refused(&whole[..len]);
            assert!(
                matches!(
                    error,
                    Error::NpyMagic
                        | Error::NpyVersion { .. }
                        | Error::Truncated { .. }
                        | Error::NpyHeaderLength { .. }
                        | Error::NpyHeader { .. }
                        | Error::Size { .. }
                ),
                "{len}: {error:?}"
            );
        }

        // Lengths and extents that no file backs.
        let mut absurd = file(2, &good(), 24);
        absurd[8..12].fill(0xff);
        let left = absurd.len() as u64 - 12;
        let error = refused(&absurd);
        assert!(
            matches!(error, Error::NpyHeaderLength { got: 0xffff_ffff, max } if max == left),
            "{error:?}"
        );
        let long = file(2, &format!("{}{}", good(), " ".repeat(20_000)), 24);
        assert!(matches!(
            refused(&long),
            Error::NpyHeaderLength { max: 10_000, .. }
        ));
        for shape in [
            "(4294967296, 4294967296)",
            "(9223372036854775807,)",
            "(4611686018427387904, 2)",
        ] {
            let error = refused(&file(1, &dictionary("'<u4'", "False", shape), 24));
            assert!(
                matches!(error, Error::TooLarge { .. }),
                "{shape}: {error:?}"
            );
        }
        let error = refused(&file(
            1,
            &dictionary("'<u4'", "False", "(1000000, 1000)"),
            24,
        ));
        assert!(
            matches!(
                error,
                Error::Size {
                    expected: 4_000_000_000,
                    got: 24,
                    ..
                }
            ),
            "{error:?}"
        );
        for shape in ["(0, 3)", "(3, 0)", "(0,)"] {
            let error = refused(&file(1, &dictionary("'<u4'", "False", shape), 0));
            assert!(matches!(error, Error::Empty { .. }), "{shape}: {error:?}");
        }
        for (shape, got) in [("()", 0), ("(1, 2, 3)", 3), ("(1,1,1,1,)", 4)] {
            let error = refused(&file(1, &dictionary("'<u4'", "False", shape), 24));
            assert!(
                matches!(error, Error::NpyDimensions { got: g } if g == got),
                "{error:?}"
            );
        }
    }

    #[test]
    fn types_and_texts_that_are_refused() {
        let refused = |file: &[u8]| open(&file).expect_err("a refusal");
        for descr in [
            "'<f4'",
            "'|u2'",
            "'=u1'",
            "'<b2'",
            "'|S1'",
            "'<c8'",
            "'u4'",
            "'=u4'",
            "''",
            "'<'",
            "'<u16'",
            "[('a', '<u4')]",
        ] {
            let error = refused(&file(1, &dictionary(descr, "False", "(2, 3)"), 24));
            assert!(matches!(error, Error::NpyType { .. }), "{descr}: {error:?}");
        }
        for header in [
            "",
            "{",
            "{}",
            "{'descr'}",
            "{'descr': '<u4}",
            "{descr: '<u4'}",
            "{'descr': '<u4', 'descr': '<u4', 'fortran_order': False, 'shape': (6,)}",
            "{'descr': '<u4', 'fortran_order': False, 'shape': (6,), 'more': 1}",
            "{'descr': '<u4', 'fortran_order': False}",
            "{'descr': '<u4', 'fortran_order': 0, 'shape': (6,)}",
            "{'descr': '<u4', 'fortran_order': False, 'shape': (-6,)}",
            "{'descr': '<u4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<u4', 'fortran_order': False, 'shape': [6]}",
            "{'descr': '<u4', 'fortran_order': False, 'shape': (6 6)}",
            "{'descr': '<u4', 'fortran_order': False, 'shape': (6,)} x",
            "{'descr': '<u4', 'fortran_order': False, 'shape': (6,),,}",
            &"{".repeat(9_000),
            &format!("{{'shape': {}", "(".repeat(9_000)),
        ] {
            let error = refused(&file(1, header, 24));
            assert!(
                matches!(error, Error::NpyHeader { .. }),
                "{header:.80}: {error:?}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(2_000)
        })]

        /// Whatever the bytes are, the reader returns; and what it accepts, it can read.
        #[test]
        fn no_file_panics(
            version in 0u8..5,
            header in prop_oneof![
                "[{}()'\":, \n]{0,40}|\\PC{0,80}",
                ("'?[<>|]?[buif][1248]'?", "True|False|[a-zT]{0,5}", "\\(?[0-9L]{0,22},? ?[0-9]{0,4},?\\)?")
                    .prop_map(|(descr, fortran, shape)| dictionary(&descr, &fortran, &shape)),
            ],
            cells in 0usize..200,
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            unfit in prop_oneof![Just(Unfit::Reject), Just(Unfit::Reduce)],
        ) {
            let mut bytes = file(version, &header, cells);
            for (index, byte) in flips {
                let index = index.index(bytes.len());
                bytes[index] = byte;
            }
            if let Ok(input) = Input::npy(&bytes[..]) {
                let Shape { rows, columns } = input.shape();
                prop_assert!(rows * columns <= bytes.len());
                let mut target = vec![KoalaBear::ZERO; rows * columns];
                let result = input.read(unfit, &mut target, rows, &|_| ());
                prop_assert!(result.is_ok() || unfit == Unfit::Reject);
            }
        }
    }
}
