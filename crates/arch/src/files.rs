//! Reads at given positions of a file, for data larger than memory and for parts read in parallel.
//!
//! Nothing is mapped: a file that shrinks while it is read gives [`Error::Truncated`], where a mapped
//! one would kill the process.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Why a file could not be read. The message is complete: it holds what the system said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system does not open it.
    #[error("cannot open {}: {reason}", printable(path))]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// It is a folder, a pipe or a device, which have no positions to read at.
    #[error("not a regular file: {}", printable(path))]
    NotRegular {
        /// What it is called.
        path: PathBuf,
    },
    /// It ends before the bytes asked for.
    #[error(
        "{} is too short: expected {expected} bytes at offset {offset}, got {got}",
        printable(path)
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where the read began.
        offset: u64,
        /// How many bytes were asked for.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// It was written to since it was opened.
    #[error("{} changed while it was read", printable(path))]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The system does not read it.
    #[error("cannot read {} at offset {offset}: {reason}", printable(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// Where the read failed.
        offset: u64,
        /// What the system said.
        reason: io::Error,
    },
}

/// The path as messages show it: on one line, with control characters escaped, so that no file name
/// can steer a terminal.
///
/// ```
/// use lanework_arch::files::printable;
///
/// assert_eq!(printable("red\u{1b}[31m.csv".as_ref()), "red\\u{1b}[31m.csv");
/// ```
pub fn printable(path: &Path) -> String {
    let mut text = String::new();
    for character in path.to_string_lossy().chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

/// A regular file to read at any position, from any number of threads.
///
/// ```
/// use lanework_arch::files::PositionedFile;
///
/// let file = PositionedFile::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))?;
/// let mut start = [0; 9];
/// file.read_at(0, &mut start)?;
/// assert_eq!(start, *b"[package]");
///
/// let mut buffer = [0; 64];
/// let mut chunks = file.chunks(0..file.len(), &mut buffer);
/// let mut lines = 0;
/// while let Some(chunk) = chunks.next()? {
///     lines += chunk.iter().filter(|&&byte| byte == b'\n').count();
/// }
/// assert!(lines > 10);
/// # Ok::<(), lanework_arch::files::Error>(())
/// ```
#[derive(Debug)]
pub struct PositionedFile {
    path: PathBuf,
    handle: Handle,
    len: u64,
    modified: Option<SystemTime>,
}

impl PositionedFile {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// [`Error::Open`], or [`Error::NotRegular`] for what has no positions.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        // Before opening, since opening a device may do something, and a pipe may wait for its writer.
        match fs::metadata(&path) {
            Err(reason) => return Err(Error::Open { path, reason }),
            Ok(metadata) if !metadata.is_file() => return Err(Error::NotRegular { path }),
            Ok(_) => {}
        }
        match open_at_once(&path) {
            Err(reason) => Err(Error::Open { path, reason }),
            Ok(file) => Self::of(file, path),
        }
    }

    /// The open file `file`, which messages call `path`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn of(file: File, path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        match file.metadata() {
            Err(reason) => Err(Error::Open { path, reason }),
            // Also where the name was given to something else before it was opened.
            Ok(metadata) if !metadata.is_file() => Err(Error::NotRegular { path }),
            Ok(metadata) => Ok(Self {
                path,
                handle: Handle::new(file),
                len: metadata.len(),
                modified: metadata.modified().ok(),
            }),
        }
    }

    /// Looks whether the file has another length, or a later time of writing, than when it was opened. Writing that
    /// keeps both is not seen.
    ///
    /// # Errors
    /// [`Error::Changed`] if so, [`Error::Open`] if the system does not tell.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let path = || self.path.clone();
        match self.handle.metadata() {
            Err(reason) => Err(Error::Open {
                path: path(),
                reason,
            }),
            Ok(metadata)
                if metadata.len() == self.len && metadata.modified().ok() == self.modified =>
            {
                Ok(())
            }
            Ok(_) => Err(Error::Changed { path: path() }),
        }
    }

    /// The file's length in bytes when it was opened.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file was empty when it was opened.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fills `target` with the bytes at `offset`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the file ends before, [`Error::Read`] if the system fails. What `target`
    /// holds is then unspecified.
    pub fn read_at(&self, offset: u64, target: &mut [u8]) -> Result<(), Error> {
        let mut got = 0;
        while got < target.len() {
            let position = offset.saturating_add(got as u64);
            match self.handle.read_at(position, &mut target[got..]) {
                Ok(0) => {
                    let (path, expected) = (self.path.clone(), target.len());
                    return Err(Error::Truncated {
                        path,
                        offset,
                        expected,
                        got,
                    });
                }
                Ok(count) => got += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(reason) => {
                    return Err(Error::Read {
                        path: self.path.clone(),
                        offset: position,
                        reason,
                    });
                }
            }
        }
        Ok(())
    }

    /// Reads the bytes of `range` one after the other through `buffer`.
    ///
    /// # Panics
    /// If the buffer is empty.
    pub fn chunks<'a>(&'a self, range: Range<u64>, buffer: &'a mut [u8]) -> Chunks<'a> {
        assert!(!buffer.is_empty(), "empty buffer");
        Chunks {
            file: self,
            range,
            buffer,
        }
    }
}

/// Opens a file for reading, and where the system can, without waiting for the writer of a pipe.
fn open_at_once(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// The parts of a range of a file, see [`PositionedFile::chunks`].
#[derive(Debug)]
pub struct Chunks<'a> {
    file: &'a PositionedFile,
    range: Range<u64>,
    buffer: &'a mut [u8],
}

impl Chunks<'_> {
    /// The next part, as long as the buffer or what is left of the range, or `None` after the last.
    ///
    /// # Errors
    /// As [`PositionedFile::read_at`]; the same part can be tried again.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot lend its buffer"
    )]
    pub fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        let left = self.range.end.saturating_sub(self.range.start);
        if left == 0 {
            return Ok(None);
        }
        let len = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(self.buffer.len());
        let part = &mut self.buffer[..len];
        self.file.read_at(self.range.start, part)?;
        self.range.start += part.len() as u64;
        Ok(Some(part))
    }
}

#[cfg(unix)]
use positioned::Handle;
#[cfg(not(unix))]
use seeking::Handle;

/// The system reads at a position.
#[cfg(unix)]
mod positioned {
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::unix::fs::FileExt;

    #[derive(Debug)]
    pub(super) struct Handle(File);

    impl Handle {
        pub(super) const fn new(file: File) -> Self {
            Self(file)
        }

        pub(super) fn read_at(&self, offset: u64, target: &mut [u8]) -> io::Result<usize> {
            self.0.read_at(target, offset)
        }

        pub(super) fn metadata(&self) -> io::Result<Metadata> {
            self.0.metadata()
        }
    }
}

/// A file has one position, which readers take turns to set.
#[cfg(any(test, not(unix)))]
mod seeking {
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom};
    use std::sync::{Mutex, PoisonError};

    #[derive(Debug)]
    pub(super) struct Handle(Mutex<File>);

    impl Handle {
        pub(super) const fn new(file: File) -> Self {
            Self(Mutex::new(file))
        }

        pub(super) fn read_at(&self, offset: u64, target: &mut [u8]) -> io::Result<usize> {
            let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(offset))?;
            file.read(target)
        }

        #[cfg(not(unix))]
        pub(super) fn metadata(&self) -> io::Result<std::fs::Metadata> {
            let file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            file.metadata()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::Threads;

    /// A file that is removed after the test.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str, content: &[u8]) -> Self {
            let name = format!("lanework-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::write(&path, content).unwrap();
            Self(path)
        }

        fn open(&self) -> PositionedFile {
            PositionedFile::open(&self.0).unwrap()
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn bytes(len: u32) -> Vec<u8> {
        (0..len).map(|i| (i % 509 * 31 % 251) as u8).collect()
    }

    #[test]
    fn reads_every_position() {
        let content = bytes(1000);
        let temporary = Temporary::new("positions", &content);
        let file = temporary.open();
        assert_eq!(
            (file.len(), file.is_empty(), file.path()),
            (1000, false, &*temporary.0)
        );
        for (offset, len) in [
            (0, 0),
            (0, 1000),
            (1, 999),
            (500, 17),
            (999, 1),
            (1000, 0),
            (2000, 0),
        ] {
            let mut target = vec![0; len];
            file.read_at(offset as u64, &mut target).unwrap();
            assert!(
                len == 0 || target == content[offset..offset + len],
                "{len} at {offset}"
            );
        }
    }

    #[test]
    fn a_short_file_is_an_error_that_says_how_short() {
        let temporary = Temporary::new("short", &bytes(100));
        let file = temporary.open();
        for (start, len, found) in [(90, 11, 10), (100, 1, 0), (1 << 40, 5, 0), (0, 1000, 100)] {
            match file.read_at(start, &mut vec![0; len]).unwrap_err() {
                Error::Truncated {
                    offset,
                    expected,
                    got,
                    ..
                } => {
                    assert_eq!((offset, expected, got), (start, len, found));
                }
                other => panic!("{other}"),
            }
        }
        // No file reaches that far: an error of either kind, not a panic.
        assert!(file.read_at(u64::MAX, &mut [0; 4]).is_err());
    }

    #[test]
    fn a_file_that_shrinks_after_opening_is_an_error() {
        let content = bytes(100_000);
        let temporary = Temporary::new("shrinking", &content);
        let file = temporary.open();
        let mut buffer = [0; 4096];
        let mut chunks = file.chunks(0..file.len(), &mut buffer);
        assert_eq!(chunks.next().unwrap(), Some(&content[..4096]));
        File::options()
            .write(true)
            .open(&temporary.0)
            .unwrap()
            .set_len(5000)
            .unwrap();
        let error = chunks.next().unwrap_err();
        assert!(
            matches!(
                error,
                Error::Truncated {
                    offset: 4096,
                    expected: 4096,
                    got: 904,
                    ..
                }
            ),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.ends_with("too short: expected 4096 bytes at offset 4096, got 904"),
            "{text}"
        );
    }

    #[test]
    fn chunks_make_up_the_range() {
        let content = bytes(1000);
        let temporary = Temporary::new("chunks", &content);
        let file = temporary.open();
        for (start, end) in [(0, 1000), (3, 997), (10, 10), (250, 500)] {
            for len in [1, 7, 250, 999, 4096] {
                let mut buffer = vec![0; len];
                let mut chunks = file.chunks(start as u64..end as u64, &mut buffer);
                let mut all = Vec::new();
                while let Some(chunk) = chunks.next().unwrap() {
                    assert!(chunk.len() == len || all.len() + chunk.len() == end - start);
                    all.extend_from_slice(chunk);
                }
                assert_eq!(all, content[start..end]);
            }
        }
    }

    #[test]
    fn threads_read_the_same_file_at_once() {
        let content = bytes(1 << 16);
        let temporary = Temporary::new("shared", &content);
        let file = temporary.open();
        let seeking = seeking::Handle::new(File::open(&temporary.0).unwrap());
        let threads = Threads::new(4.try_into().unwrap()).unwrap();
        let mut target = vec![0; content.len()];
        threads.for_each(target.chunks_mut(1000).enumerate(), |(i, part)| {
            file.read_at(1000 * i as u64, part).unwrap();
            // The way of systems without positioned reads.
            let mut same = vec![0; part.len()];
            assert_eq!(
                seeking.read_at(1000 * i as u64, &mut same).unwrap(),
                part.len()
            );
            assert_eq!(part, same);
        });
        assert_eq!(target, content);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_pipe_is_refused_without_waiting_for_its_writer() {
        use std::os::unix::ffi::OsStrExt;

        use rustix::fs::{CWD, FileType, Mode, mknodat};

        let temporary = Temporary::new("pipe", &[]);
        fs::remove_file(&temporary.0).unwrap();
        let name = temporary.0.as_os_str().as_bytes();
        mknodat(CWD, name, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let error = PositionedFile::open(&temporary.0).unwrap_err();
        assert!(matches!(error, Error::NotRegular { .. }), "{error}");
        // Also when the pipe takes the place of a file that has been looked at.
        assert!(
            !open_at_once(&temporary.0)
                .unwrap()
                .metadata()
                .unwrap()
                .is_file()
        );
    }

    #[test]
    fn names_are_printable() {
        for (name, shown) in [
            ("a/b c'\"\\é.csv", "a/b c'\"\\é.csv"),
            ("a\nhint: b", "a\\nhint: b"),
            ("\u{1b}[31m\u{9b}\u{7f}", "\\u{1b}[31m\\u{9b}\\u{7f}"),
        ] {
            assert_eq!(printable(name.as_ref()), shown);
        }
        let missing = PositionedFile::open("no/\u{1b}[31m").unwrap_err();
        assert!(
            missing.to_string().contains("no/\\u{1b}[31m: "),
            "{missing}"
        );
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = PositionedFile::open(std::env::temp_dir()).unwrap_err();
        assert!(matches!(folder, Error::NotRegular { .. }), "{folder}");
        let missing = PositionedFile::open("no/such/file").unwrap_err();
        assert!(matches!(missing, Error::Open { .. }), "{missing}");
        assert!(
            missing
                .to_string()
                .starts_with("cannot open no/such/file: "),
            "{missing}"
        );
        #[cfg(unix)]
        assert!(matches!(
            PositionedFile::open("/dev/null"),
            Err(Error::NotRegular { .. })
        ));
        let empty = Temporary::new("empty", &[]).open();
        assert!(empty.is_empty());
        assert!(empty.read_at(0, &mut [0]).is_err());
    }
}
