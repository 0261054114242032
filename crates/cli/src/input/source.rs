//! Bytes that are read by position.

use std::io;

use lanework::arch::files::{PositionedFile, printable};

use super::Error;

/// A file, or what stands for one: a known number of bytes, read by position.
pub trait ReadAt {
    /// The number of bytes.
    fn total_bytes(&self) -> u64;

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// If the bytes are not there, or cannot be read.
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error>;

    /// Looks whether the bytes were written to since they were opened, where that can be seen.
    ///
    /// # Errors
    /// If so, or if the system does not tell any more.
    fn check_unchanged(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The message of `error`, and where it came from if that has a name.
    fn named(&self, error: &Error) -> String {
        error.to_string()
    }
}

impl ReadAt for &[u8] {
    fn total_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..)?.get(..buffer.len()))
            .ok_or(Error::Truncated {
                expected: offset + buffer.len() as u64,
                got: self.total_bytes(),
            })?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

impl ReadAt for PositionedFile {
    fn total_bytes(&self) -> u64 {
        self.len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
        Ok(self.read_at(offset, buffer)?)
    }

    fn check_unchanged(&self) -> Result<(), Error> {
        Ok(self.check_unchanged()?)
    }

    fn named(&self, error: &Error) -> String {
        match error {
            // These name the file themselves.
            Error::File(error) => error.to_string(),
            other => format!("{}: {other}", printable(self.path())),
        }
    }
}

/// The longest line of text that is read: a line is kept whole, and costs a multiple of its length.
pub(super) const LINE_BYTES_MAX: usize = 1 << 22;

/// A source of text as a stream, in which every carriage return belongs to the end of a line.
#[derive(Debug)]
pub(super) struct Stream<'a, S> {
    source: &'a S,
    position: u64,
    line_bytes: usize,
    returned: bool,
}

impl<'a, S> Stream<'a, S> {
    pub(super) const fn new(source: &'a S) -> Self {
        Self {
            source,
            position: 0,
            line_bytes: 0,
            returned: false,
        }
    }

    /// Looks through what follows the text seen before.
    fn check(&mut self, text: &[u8]) -> io::Result<()> {
        for &byte in text {
            if self.returned && byte != b'\n' {
                return Err(io::Error::other(
                    "a carriage return is not followed by a line feed\n\
                     hint: end lines with a line feed, alone or after a carriage return",
                ));
            }
            self.returned = byte == b'\r';
            self.line_bytes = if byte == b'\n' {
                0
            } else {
                self.line_bytes + 1
            };
            if self.line_bytes > LINE_BYTES_MAX {
                return Err(io::Error::other(format!(
                    "a line is longer than {LINE_BYTES_MAX} bytes\n\
                     hint: .npy and .bin files hold tables of any width"
                )));
            }
        }
        Ok(())
    }
}

impl<S: ReadAt> io::Read for Stream<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.source.total_bytes() - self.position;
        let len = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        self.source
            .read_exact_at(self.position, &mut buffer[..len])
            .map_err(|error| match error {
                Error::Io(error) => error,
                other => io::Error::other(other),
            })?;
        self.check(&buffer[..len])?;
        if len == 0 && self.returned {
            self.check(b" ")?;
        }
        self.position += len as u64;
        Ok(len)
    }
}
