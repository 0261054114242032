//! The bytes of proofs.
//!
//! A file starts with a magic of four bytes and a version of two. Integers are little endian, of fixed
//! width; field elements are canonical integers of four bytes, digests eight of them. So a proof has one
//! encoding, and nothing follows it.
//!
//! ```
//! use lanework_field::KoalaBear;
//! use lanework_transcript::codec::{Reader, Writer};
//!
//! let mut writer = Writer::new(*b"LWex", 1);
//! writer.len(2);
//! writer.elements(&[KoalaBear::new(3), KoalaBear::new(4)]);
//! let bytes = writer.finish();
//!
//! let mut reader = Reader::new(&bytes, *b"LWex", 1)?;
//! let len = reader.len("elements", 100)?;
//! assert_eq!(reader.elements(len)?, [3, 4].map(KoalaBear::new));
//! reader.finish()?;
//! # Ok::<(), lanework_transcript::codec::Error>(())
//! ```

use lanework_field::KoalaBear;
use lanework_hash::{DIGEST_LEN, Digest};

/// What is wrong with bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The first bytes are not those of the format.
    #[error("not a file of this kind: it starts with {got:02x?}, not with {expected:02x?}")]
    Magic {
        /// What files of this kind start with.
        expected: [u8; 4],
        /// What this one starts with.
        got: [u8; 4],
    },
    /// The version is another one.
    #[error("format version {got}, this program reads version {expected}")]
    Version {
        /// The version that is read.
        expected: u16,
        /// The version in the file.
        got: u16,
    },
    /// The bytes end too early.
    #[error("at byte {offset}: {needed} more bytes are needed, {left} are left")]
    Truncated {
        /// Where the missing part starts.
        offset: usize,
        /// Its bytes.
        needed: usize,
        /// Bytes left.
        left: usize,
    },
    /// A number is not below p.
    #[error("at byte {offset}: {value} is no canonical element")]
    NonCanonical {
        /// Where it is.
        offset: usize,
        /// The number.
        value: u32,
    },
    /// A part is longer than it can be.
    #[error("at byte {offset}: {got} {what}, at most {max} are possible")]
    TooLong {
        /// Where the length is.
        offset: usize,
        /// What is counted.
        what: &'static str,
        /// The length.
        got: u32,
        /// The longest possible.
        max: usize,
    },
    /// A value is none of those defined.
    #[error("at byte {offset}: {value} is no {what}")]
    Unknown {
        /// Where it is.
        offset: usize,
        /// What it should be.
        what: &'static str,
        /// The value.
        value: u32,
    },
    /// Something follows the proof.
    #[error("{got} bytes after the end")]
    Trailing {
        /// How many bytes.
        got: usize,
    },
}

/// Collects the bytes of a proof.
#[derive(Clone, Debug)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// A writer of the format `magic` in `version`.
    pub fn new(magic: [u8; 4], version: u16) -> Self {
        let mut bytes = magic.to_vec();
        bytes.extend(version.to_le_bytes());
        Self { bytes }
    }

    /// Bytes so far.
    pub fn offset(&self) -> usize {
        self.bytes.len()
    }

    /// Writes a byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Writes four bytes.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// Writes eight bytes.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// Writes a number of things that follow, as four bytes.
    ///
    /// # Panics
    /// If it is 2^32 or more.
    pub fn len(&mut self, len: usize) {
        let len = u32::try_from(len);
        assert!(len.is_ok(), "a proof has no parts of 2^32 elements");
        self.u32(len.unwrap_or_default());
    }

    /// Writes elements, without their number.
    pub fn elements(&mut self, elements: &[KoalaBear]) {
        for element in elements {
            self.u32(element.to_canonical());
        }
    }

    /// Writes digests, without their number.
    pub fn digests(&mut self, digests: &[Digest]) {
        for digest in digests {
            self.elements(&digest.0);
        }
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Takes the bytes of a proof apart. Any bytes give a value or an [`Error`]; nothing is allocated that the
/// bytes left do not fill.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// A reader of the format `magic` in `version`.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::Magic`], [`Error::Version`].
    pub fn new(bytes: &'a [u8], magic: [u8; 4], version: u16) -> Result<Self, Error> {
        let mut reader = Self { bytes, offset: 0 };
        let got = reader.array()?;
        if got != magic {
            let expected = magic;
            return Err(Error::Magic { expected, got });
        }
        let got = u16::from_le_bytes(reader.array()?);
        if got != version {
            let expected = version;
            return Err(Error::Version { expected, got });
        }
        Ok(reader)
    }

    /// Bytes read so far.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Reads a byte.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(|[byte]| byte)
    }

    /// Reads four bytes.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads eight bytes.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads the number of `what` that follow, of which there are at most `max`.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::TooLong`].
    pub fn len(&mut self, what: &'static str, max: usize) -> Result<usize, Error> {
        let offset = self.offset;
        let got = self.u32()?;
        match usize::try_from(got) {
            Ok(len) if len <= max => Ok(len),
            _ => Err(Error::TooLong {
                offset,
                what,
                got,
                max,
            }),
        }
    }

    /// Reads `len` elements.
    ///
    /// # Errors
    /// [`Error::Truncated`] before anything is allocated, [`Error::NonCanonical`].
    pub fn elements(&mut self, len: usize) -> Result<Vec<KoalaBear>, Error> {
        let start = self.offset;
        let bytes = self.take(len.saturating_mul(size_of::<u32>()))?;
        let (words, _) = bytes.as_chunks::<4>();
        let element = |(index, word): (usize, &[u8; 4])| {
            let value = u32::from_le_bytes(*word);
            KoalaBear::from_canonical(value).map_err(|_| Error::NonCanonical {
                offset: start + index * size_of::<u32>(),
                value,
            })
        };
        words.iter().enumerate().map(element).collect()
    }

    /// Reads `len` digests.
    ///
    /// # Errors
    /// As [`Reader::elements`].
    pub fn digests(&mut self, len: usize) -> Result<Vec<Digest>, Error> {
        let words = self.elements(len.saturating_mul(DIGEST_LEN))?;
        let (digests, _) = words.as_chunks::<DIGEST_LEN>();
        Ok(digests.iter().copied().map(Digest).collect())
    }

    /// Ends reading.
    ///
    /// # Errors
    /// [`Error::Trailing`] if there are bytes left.
    pub fn finish(self) -> Result<(), Error> {
        match self.bytes.len() {
            0 => Ok(()),
            got => Err(Error::Trailing { got }),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let Some((taken, rest)) = self.bytes.split_at_checked(len) else {
            return Err(Error::Truncated {
                offset: self.offset,
                needed: len,
                left: self.bytes.len(),
            });
        };
        self.bytes = rest;
        self.offset += len;
        Ok(taken)
    }
}
