//! The reader against what the writer writes, and against anything else.

use lanework_field::KoalaBear;
use lanework_field::koala::spec::P;
use lanework_hash::Digest;
use lanework_transcript::codec::{Error, Reader, Writer};
use proptest::prelude::*;

const MAGIC: [u8; 4] = *b"test";

fn sample() -> Vec<u8> {
    let mut writer = Writer::new(MAGIC, 3);
    writer.u8(7);
    writer.u64(1 << 40);
    writer.len(2);
    writer.elements(&[KoalaBear::new(5), -KoalaBear::ONE]);
    writer.digests(&[Digest([KoalaBear::new(9); 8])]);
    writer.finish()
}

fn read(bytes: &[u8]) -> Result<(Vec<KoalaBear>, Vec<Digest>), Error> {
    let mut reader = Reader::new(bytes, MAGIC, 3)?;
    reader.u8()?;
    reader.u64()?;
    let len = reader.len("elements", 4)?;
    let elements = reader.elements(len)?;
    let digests = reader.digests(1)?;
    reader.finish()?;
    Ok((elements, digests))
}

#[test]
fn what_is_written_is_read() {
    let (elements, digests) = read(&sample()).unwrap();
    assert_eq!(elements, [KoalaBear::new(5), -KoalaBear::ONE]);
    assert_eq!(digests, [Digest([KoalaBear::new(9); 8])]);
}

#[test]
fn each_mistake_has_its_error() {
    let bytes = sample();
    for len in 0..bytes.len() {
        assert!(
            matches!(read(&bytes[..len]), Err(Error::Truncated { .. })),
            "{len}"
        );
    }
    let changed = |at: usize, new: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        read(&bytes).unwrap_err()
    };
    let (expected, got) = (MAGIC, *b"Test");
    assert_eq!(changed(0, b"T"), Error::Magic { expected, got });
    assert_eq!(
        changed(4, &[4]),
        Error::Version {
            expected: 3,
            got: 4
        }
    );
    let (what, max) = ("elements", 4);
    assert_eq!(
        changed(15, &[5]),
        Error::TooLong {
            offset: 15,
            what,
            got: 5,
            max
        }
    );
    assert_eq!(
        changed(15, &[255; 4]),
        Error::TooLong {
            offset: 15,
            what,
            got: u32::MAX,
            max
        }
    );
    assert_eq!(
        changed(19, &P.to_le_bytes()),
        Error::NonCanonical {
            offset: 19,
            value: P
        }
    );
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(read(&longer), Err(Error::Trailing { got: 1 }));
}

#[test]
fn a_length_without_bytes_allocates_nothing() {
    let mut reader = Reader::new(b"test\x03\0", MAGIC, 3).unwrap();
    assert!(matches!(
        reader.elements(usize::MAX),
        Err(Error::Truncated { .. })
    ));
    assert!(matches!(
        reader.digests(usize::MAX / 2),
        Err(Error::Truncated { .. })
    ));
    reader.finish().unwrap();
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = read(&bytes);
        let with_header = [&sample()[..6], &bytes].concat();
        if let Ok((elements, digests)) = read(&with_header) {
            // One encoding: writing it again gives the same bytes from the first element on.
            let mut writer = Writer::new(MAGIC, 3);
            writer.elements(&elements);
            writer.digests(&digests);
            prop_assert_eq!(&writer.finish()[6..], &with_header[19..]);
        }
    }
}
