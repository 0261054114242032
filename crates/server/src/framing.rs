//! Where an HTTP/1 request begins and ends, and whether that is beyond doubt. Bytes in, lengths out.
//!
//! The HTTP library that answers requests is lenient in places where two readers may disagree about
//! where a request ends. What passes here has one reading: lines end in CR LF, no header goes on in
//! the next line, there is one length or `chunked`, never both, and heads are of bounded size.
//!
//! It does not matter in which pieces the bytes arrive.

/// The most bytes from the start of a request to its body.
pub const MAX_HEAD_BYTES: usize = 16 << 10;

/// The request has more than one reading, or none.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Malformed;

/// What follows a head.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// This many bytes.
    Length(u64),
    /// Chunks, until an empty one.
    Chunked(Chunks),
}

/// Finds the end of a head at the start of `bytes`, empty lines before it included. `None` if it is
/// not there yet.
///
/// # Errors
/// If what is there is no head, whatever follows.
pub fn head_len(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let window = &bytes[..bytes.len().min(MAX_HEAD_BYTES)];
    let mut start = 0;
    let mut is_before_head = true;
    for (at, _) in window
        .iter()
        .enumerate()
        .filter(|&(_, &byte)| byte == b'\n')
    {
        let line = window[start..at].strip_suffix(b"\r").ok_or(Malformed)?;
        start = at + 1;
        match (line, is_before_head) {
            ([], true) => {}
            ([], false) => return Ok(Some(start)),
            // An old way to write a long header, which not all understand.
            ([b' ' | b'\t', ..], _) => return Err(Malformed),
            _ => is_before_head = false,
        }
        if line.contains(&b'\r') {
            return Err(Malformed);
        }
    }
    if window.len() == MAX_HEAD_BYTES {
        Err(Malformed)
    } else {
        Ok(None)
    }
}

/// What follows a head, which [`head_len`] found.
///
/// # Errors
/// If the head does not say so without doubt.
pub fn body(head: &[u8]) -> Result<Body, Malformed> {
    let lines = head
        .split(|&byte| byte == b'\n')
        .skip_while(|line| matches!(line, [] | [b'\r']));
    let (mut length, mut is_chunked) = (None, false);
    for line in lines.skip(1) {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            continue;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.trim_ascii().eq_ignore_ascii_case(b"content-length") {
            let value = decimal(value).ok_or(Malformed)?;
            if length.replace(value).is_some_and(|before| before != value) {
                return Err(Malformed);
            }
        } else if name.trim_ascii().eq_ignore_ascii_case(b"transfer-encoding") {
            if is_chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Malformed);
            }
            is_chunked = true;
        }
    }
    match (length, is_chunked) {
        (Some(_), true) => Err(Malformed),
        (None, true) => Ok(Body::Chunked(Chunks::default())),
        (length, false) => Ok(Body::Length(length.unwrap_or(0))),
    }
}

fn decimal(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number
        .then(|| str::from_utf8(text).ok()?.parse().ok())
        .flatten()
}

/// A reader of chunks that only looks for their end.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Chunks {
    place: Place,
    /// The bytes of extensions and trailers so far, which count as part of the head.
    overhead: usize,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Place {
    Size { digits: u8, size: u64 },
    Extension { size: u64 },
    SizeLf { size: u64 },
    Data { left: u64 },
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    LastLf,
    End,
}

impl Default for Place {
    fn default() -> Self {
        Self::Size { digits: 0, size: 0 }
    }
}

impl Chunks {
    /// Goes over `bytes` as far as they belong to the body, and says how far that is.
    ///
    /// # Errors
    /// If they are no chunks.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let mut at = 0;
        while at < bytes.len() && !self.is_at_end() {
            if let Place::Data { left } = &mut self.place {
                let len = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len() - at);
                *left -= len as u64;
                at += len;
                if *left == 0 {
                    self.place = Place::DataCr;
                }
                continue;
            }
            self.place = self.next(bytes[at])?;
            at += 1;
        }
        Ok(at)
    }

    /// Whether the body is over.
    pub fn is_at_end(&self) -> bool {
        self.place == Place::End
    }

    fn next(&mut self, byte: u8) -> Result<Place, Malformed> {
        if matches!(
            self.place,
            Place::Extension { .. } | Place::TrailerStart | Place::Trailer
        ) {
            self.overhead += 1;
            if self.overhead > MAX_HEAD_BYTES {
                return Err(Malformed);
            }
        }
        Ok(match (self.place, byte) {
            (Place::Size { digits, size }, _) if byte.is_ascii_hexdigit() && digits < 15 => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                Place::Size {
                    digits: digits + 1,
                    size: size << 4 | u64::from(digit),
                }
            }
            (Place::Size { digits: 1.., size } | Place::Extension { size }, b'\r') => {
                Place::SizeLf { size }
            }
            (Place::Size { digits: 1.., size }, b';' | b' ' | b'\t')
            | (Place::Extension { size }, b'\t' | b' '..=b'~' | 128..) => Place::Extension { size },
            (Place::SizeLf { size: 0 } | Place::TrailerLf, b'\n') => Place::TrailerStart,
            (Place::SizeLf { size }, b'\n') => Place::Data { left: size },
            (Place::DataCr, b'\r') => Place::DataLf,
            (Place::DataLf, b'\n') => Place::default(),
            (Place::TrailerStart, b'\r') => Place::LastLf,
            (Place::Trailer, b'\r') => Place::TrailerLf,
            (Place::TrailerStart, b'!'..=b'~') | (Place::Trailer, b'\t' | b' '..=b'~' | 128..) => {
                Place::Trailer
            }
            (Place::LastLf, b'\n') => Place::End,
            _ => return Err(Malformed),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn framed(head: &str) -> Result<Body, Malformed> {
        assert_eq!(head_len(head.as_bytes())?, Some(head.len()), "{head:?}");
        body(head.as_bytes())
    }

    #[test]
    fn heads_end_at_an_empty_line() {
        assert_eq!(
            head_len(b"POST / HTTP/1.1\r\nHost: ::1\r\n\r\n{}"),
            Ok(Some(30))
        );
        assert_eq!(head_len(b"\r\n\r\nPOST / HTTP/1.0\r\n\r\n"), Ok(Some(23)));
        for part in [
            "",
            "\r",
            "\r\n",
            "POST / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\nA: b\r\n\r",
        ] {
            assert_eq!(head_len(part.as_bytes()), Ok(None), "{part:?}");
        }
    }

    #[test]
    fn doubtful_lines_are_malformed() {
        for head in [
            "POST / HTTP/1.1\nA: b\r\n\r\n",
            "POST / HTTP/1.1\r\nA: b\n\r\n",
            "POST / HTTP/1.1\r\nA: b\r\n\n",
            "\nPOST / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
            "POST / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n",
            "POST / HTTP/1.1\r\nA: b\rc: d\r\n\r\n",
            "POST / HTTP/1.1\r\nA: b\r\r\n\r\n",
        ] {
            assert_eq!(head_len(head.as_bytes()), Err(Malformed), "{head:?}");
        }
        let long = format!("POST / HTTP/1.1\r\nA: {}", "b".repeat(MAX_HEAD_BYTES));
        assert_eq!(head_len(long.as_bytes()), Err(Malformed));
    }

    #[test]
    fn lengths_must_be_beyond_doubt() {
        let with = |headers: &str| framed(&format!("POST / HTTP/1.1\r\n{headers}\r\n"));
        assert_eq!(with(""), Ok(Body::Length(0)));
        assert_eq!(with("content-LENGTH:\t17 \r\n"), Ok(Body::Length(17)));
        assert_eq!(
            with("Content-Length: 5\r\nContent-Length: 5\r\n"),
            Ok(Body::Length(5))
        );
        assert_eq!(
            with("Transfer-Encoding: Chunked\r\n"),
            Ok(Body::Chunked(Chunks::default()))
        );
        for headers in [
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: identity\r\n",
            "Transfer-Encoding: \r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: -5\r\n",
            "Content-Length: \r\n",
            "Content-Length: 0x5\r\n",
            "Content-Length: 18446744073709551616\r\n",
        ] {
            assert_eq!(with(headers), Err(Malformed), "{headers:?}");
        }
    }

    #[test]
    fn chunks_end_with_an_empty_one() {
        for (body, rest) in [
            ("0\r\n\r\n", ""),
            ("5\r\nabcde\r\n0\r\n\r\n", "POST"),
            (
                "5;x=y\r\nabcde\r\n00A ; \"z\"\r\n0123456789\r\n0\r\nTrailer: x\r\nB: c\r\n\r\n",
                "\r\n",
            ),
        ] {
            let mut chunks = Chunks::default();
            assert_eq!(
                chunks.read(format!("{body}{rest}").as_bytes()),
                Ok(body.len()),
                "{body:?}"
            );
            assert!(chunks.is_at_end());
        }
    }

    #[test]
    fn bad_chunks_are_malformed() {
        for body in [
            "\r\n",
            "g\r\n",
            "5\nabcde",
            "5\r\nabcdef\r\n",
            "-5\r\n",
            "0x5\r\n",
            "5\r\r\n",
            "5;a\nb\r\n",
            "+5\r\n",
            " 5\r\n",
            "0\r\n\n",
            "0\r\nA: b\n\r\n",
            "0\r\n folded\r\n\r\n",
            "ffffffffffffffff\r\n",
            "5\r\nabcde\n",
        ] {
            assert_eq!(
                Chunks::default().read(body.as_bytes()),
                Err(Malformed),
                "{body:?}"
            );
        }
        let long = format!("5;{}", "x".repeat(MAX_HEAD_BYTES + 1));
        assert_eq!(Chunks::default().read(long.as_bytes()), Err(Malformed));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(chunks in prop::collection::vec("[a-z]{1,20}", 0..5), cuts in prop::collection::vec(1usize..9, 0..99)) {
            let chunks = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len()));
            let mut body = chunks.collect::<Vec<_>>().concat();
            body.push_str("0\r\nA: b\r\n\r\n");
            let (mut reader, mut rest) = (Chunks::default(), body.as_bytes());
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                prop_assert_eq!(reader.read(piece), Ok(piece.len()));
                rest = after;
            }
            prop_assert_eq!(reader.read(rest), Ok(rest.len()));
            prop_assert!(reader.is_at_end());
        }

        #[test]
        fn nothing_panics(bytes in any::<Vec<u8>>()) {
            let _ = head_len(&bytes);
            let _ = body(&bytes);
            let _ = Chunks::default().read(&bytes);
        }
    }
}
