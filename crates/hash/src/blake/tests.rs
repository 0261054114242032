//! Order of proof: the definition against the published crates for every length, every kernel against
//! them and against the definition, published trees.

use blake2::digest::Digest as _;
use blake2::digest::core_api::{Buffer, UpdateCore as _, VariableOutputCore as _};
use blake2::{Blake2s256, Blake2sVarCore};
use lanework_arch::Choice;
use lanework_testkit::cases::{Rng, lengths};
use lanework_testkit::isas;
use lanework_testkit::vectors::{binary, words};

use super::spec::{LEAF_PERSONAL, NODE_KEY, NODE_PERSONAL};
use super::{Blake, Function, TreeHash};
use crate::{ByteDigest, Error};

/// A function of the published crates.
#[derive(Copy, Clone)]
enum Oracle {
    Blake3,
    Blake3Keyed([u8; 32]),
    Blake2s,
    Blake2sPersonal([u8; 8]),
}

impl Oracle {
    const ALL: [Self; 4] = [
        Self::Blake3,
        Self::Blake3Keyed(*b"whatever has thirty-two bytes ok"),
        Self::Blake2s,
        Self::Blake2sPersonal(*b"12345678"),
    ];

    fn ours(self, choice: Choice) -> Blake {
        match self {
            Self::Blake3 => Blake::blake3(choice),
            Self::Blake3Keyed(key) => Blake::blake3_keyed(&key, choice),
            Self::Blake2s => Blake::blake2s(choice),
            Self::Blake2sPersonal(personal) => Blake::blake2s_personal(&personal, choice),
        }
    }

    fn hash(self, message: &[u8]) -> ByteDigest {
        ByteDigest(match self {
            Self::Blake3 => blake3::hash(message).into(),
            Self::Blake3Keyed(key) => blake3::keyed_hash(&key, message).into(),
            Self::Blake2s => Blake2s256::digest(message).into(),
            Self::Blake2sPersonal(personal) => {
                // The keyed function of the crate would hash an empty key as a block.
                let mut core = Blake2sVarCore::new_with_params(&[], &personal, 0, 32);
                let mut buffer = Buffer::<Blake2sVarCore>::default();
                buffer.digest_blocks(message, |blocks| core.update_blocks(blocks));
                let mut digest = blake2::digest::Output::<Blake2sVarCore>::default();
                core.finalize_variable_core(&mut buffer, &mut digest);
                digest.into()
            }
        })
    }
}

/// The choices to test, announced once per process.
fn backends() -> Vec<Choice> {
    static ANNOUNCE: std::sync::Once = std::sync::Once::new();
    let choices = Blake::available();
    ANNOUNCE.call_once(|| {
        let names: Vec<_> = choices.iter().map(Choice::to_string).collect();
        isas::report("blake", &names);
    });
    choices
}

fn bytes(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| rng.next_u64() as u8).collect()
}

/// Checks all kernels for `count` messages of `zeros` zeros and `len` bytes, `pitch` apart, in memory
/// that ends where the last message does.
fn check(rng: &mut Rng, zeros: usize, len: usize, pitch: usize, count: usize) {
    let messages = bytes(rng, (count.max(1) - 1) * pitch + len);
    for oracle in Oracle::ALL {
        let expected: Vec<_> = (0..count)
            .map(|i| {
                let mut message = vec![0; zeros];
                message.extend(&messages[i * pitch..][..len]);
                oracle.hash(&message)
            })
            .collect();
        for choice in backends() {
            let blake = oracle.ours(choice);
            let mut digests = vec![ByteDigest::ZERO; count];
            let prefix = blake.zero_prefix(zeros);
            blake.hash_many(&prefix, &messages, len, pitch, &mut digests);
            assert_eq!(
                digests, expected,
                "{blake:?}: {count} of {zeros} + {len} bytes, {pitch} apart"
            );
        }
    }
}

#[test]
fn one_message_of_every_length_has_the_published_digest() {
    let message = bytes(&mut Rng::new(1), Blake::MESSAGE_BYTES_MAX);
    for oracle in Oracle::ALL {
        let blake = oracle.ours(Choice::portable());
        for len in 0..=message.len() {
            assert_eq!(
                blake.hash(&message[..len]),
                oracle.hash(&message[..len]),
                "{blake:?}: {len}"
            );
        }
    }
}

#[test]
fn many_messages_of_every_length_have_the_published_digests() {
    let mut rng = Rng::new(2);
    for len in 0..=Blake::MESSAGE_BYTES_MAX {
        let count = rng.in_range(32..50);
        let pitch = len + rng.in_range(0..9);
        check(&mut rng, 0, len, pitch, count);
    }
}

#[test]
fn every_number_of_messages_is_hashed() {
    let mut rng = Rng::new(3);
    let mut counts = [lengths(4), lengths(8), lengths(16), lengths(32)].concat();
    counts.extend([500, 1000]);
    for count in counts {
        for len in [1, 64, 65, 128, 296] {
            check(&mut rng, 0, len, len + 8, count);
        }
        check(&mut rng, 0, 96, 24, count);
        check(&mut rng, 40, 100, 0, count);
    }
}

#[test]
fn zeros_in_front_are_part_of_the_message() {
    let mut rng = Rng::new(4);
    for zeros in (0..=512).step_by(8) {
        let len = 512 - zeros;
        check(&mut rng, zeros, len, len, 49);
    }
    for zeros in 0..=130 {
        let len = rng.in_range(0..200);
        let pitch = len + rng.in_range(0..20);
        check(&mut rng, zeros, len, pitch, 33);
    }
    for _ in 0..200 {
        let zeros = rng.in_range(0..1025);
        let len = rng.in_range(0..1025 - zeros);
        let count = rng.in_range(0..70);
        check(&mut rng, zeros, len, len, count);
    }
    check(&mut rng, 1024, 0, 0, 20);
    check(&mut rng, 960, 64, 64, 20);
}

#[test]
fn rows_may_lie_anywhere() {
    let mut rng = Rng::new(5);
    let rows = bytes(&mut rng, 40 * 200 + 64);
    for choice in backends() {
        let blake = Blake::blake3(choice);
        for offset in 0..64 {
            let rows = &rows[offset..];
            let mut digests = [ByteDigest::ZERO; 40];
            blake.hash_many(&blake.zero_prefix(24), rows, 180, 200, &mut digests);
            let mut message = [0; 204];
            for (row, digest) in rows.chunks(200).zip(&digests) {
                message[24..].copy_from_slice(&row[..180]);
                assert_eq!(*digest, blake.hash(&message));
            }
        }
    }
}

#[test]
fn parents_are_digests_of_pairs() {
    let mut rng = Rng::new(6);
    for count in lengths(16).into_iter().chain([200, 1500]) {
        let children: Vec<ByteDigest> = (0..2 * count)
            .map(|_| ByteDigest(std::array::from_fn(|_| rng.next_u64() as u8)))
            .collect();
        for oracle in Oracle::ALL {
            let expected: Vec<_> = children
                .chunks(2)
                .map(|pair| oracle.hash(&[pair[0].0, pair[1].0].concat()))
                .collect();
            for choice in backends() {
                let blake = oracle.ours(choice);
                let mut parents = vec![ByteDigest::ZERO; count];
                blake.hash_pairs(&children, &mut parents);
                assert_eq!(parents, expected, "{blake:?}: {count}");
            }
        }
    }
}

#[test]
fn trees_have_the_functions_they_are_said_to_have() {
    let message = bytes(&mut Rng::new(7), 64);
    let choice = Choice::best();
    for (tree, leaf, node) in [
        (
            TreeHash::new(Function::Blake3, choice),
            Oracle::Blake3,
            Oracle::Blake3Keyed(NODE_KEY),
        ),
        (
            TreeHash::new(Function::Blake2s, choice),
            Oracle::Blake2sPersonal(LEAF_PERSONAL),
            Oracle::Blake2sPersonal(NODE_PERSONAL),
        ),
        (
            TreeHash::plain_blake2s(choice),
            Oracle::Blake2s,
            Oracle::Blake2s,
        ),
    ] {
        assert_eq!(tree.leaf().hash(&message), leaf.hash(&message));
        assert_eq!(tree.node().hash(&message), node.hash(&message));
    }
}

/// The levels of a tree over the rows of a vector.
fn levels(tree: &TreeHash, case: &serde_json::Value) -> Vec<Vec<ByteDigest>> {
    let rows = case["rows"].as_array().expect("rows");
    let row_bytes = 8 * case["row_words"].as_u64().expect("a number") as usize;
    let leaf_bytes = 8 * case["leaf_words"].as_u64().expect("a number") as usize;
    let bytes: Vec<u8> = rows
        .iter()
        .flat_map(words)
        .flat_map(u64::to_le_bytes)
        .collect();
    let mut level = vec![ByteDigest::ZERO; rows.len()];
    let prefix = tree.leaf().zero_prefix(leaf_bytes - row_bytes);
    tree.leaf()
        .hash_many(&prefix, &bytes, row_bytes, row_bytes, &mut level);
    let mut levels = vec![level];
    while levels[levels.len() - 1].len() > 1 {
        let children = &levels[levels.len() - 1];
        let mut parents = vec![ByteDigest::ZERO; children.len() / 2];
        tree.node().hash_pairs(children, &mut parents);
        levels.push(parents);
    }
    levels
}

#[test]
fn published_trees_are_reproduced() {
    let (plain, personal) = (&binary()["merkle_plain"], &binary()["merkle_personalised"]);
    for choice in backends() {
        let levels_plain = levels(&TreeHash::plain_blake2s(choice), plain);
        let texts: Vec<Vec<String>> = levels_plain
            .iter()
            .map(|level| level.iter().map(ToString::to_string).collect())
            .collect();
        assert_eq!(serde_json::json!(texts), plain["levels"]);

        let levels = levels(&TreeHash::new(Function::Blake2s, choice), plain);
        assert_eq!(levels[0][0].to_string(), personal["leaf0"]);
        assert_eq!(levels[levels.len() - 1][0].to_string(), personal["root"]);
    }
}

#[test]
fn names_are_read_and_written() {
    for function in Function::ALL {
        assert_eq!(function.to_string().parse(), Ok(function));
    }
    let name = "blake".to_owned();
    assert_eq!(
        name.parse::<Function>(),
        Err(Error::UnknownFunction { name })
    );
}

#[test]
#[should_panic(expected = "another function")]
fn a_prefix_belongs_to_its_function() {
    let prefix = Blake::blake3_keyed(&[7; 32], Choice::portable()).zero_prefix(64);
    Blake::blake3(Choice::portable()).hash_many(&prefix, &[], 0, 0, &mut []);
}

#[test]
#[should_panic(expected = "3 messages of 10 bytes, 16 apart, in 41")]
fn messages_that_are_not_there_are_refused() {
    let blake = Blake::blake3(Choice::portable());
    let mut out = [ByteDigest::ZERO; 3];
    blake.hash_many(&blake.zero_prefix(0), &[0; 41], 10, 16, &mut out);
}

#[test]
#[should_panic(expected = "at most 1024")]
fn messages_that_are_too_long_are_refused() {
    let blake = Blake::blake3(Choice::portable());
    let mut out = [ByteDigest::ZERO; 1];
    blake.hash_many(&blake.zero_prefix(1000), &[0; 25], 25, 25, &mut out);
}
