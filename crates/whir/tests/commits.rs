//! Roots against published ones and against trees computed by other crates; modes, threads and instruction
//! sets against each other; openings and what must not pass for one.

use std::num::NonZero;

use blake2::Blake2sVarCore;
use blake2::digest::Output;
use blake2::digest::core_api::{Buffer, UpdateCore, VariableOutputCore};
use lanework_arch::memory::Pages;
use lanework_arch::{Choice, Feature};
use lanework_field::gf2::{B64, T64};
use lanework_hash::ByteDigest;
use lanework_hash::blake::TreeHash;
use lanework_merkle::bytes::{Tree, VerifyError};
use lanework_ntt::additive::{Definition, Representation};
use lanework_testkit::cases::Rng;
use lanework_testkit::isas;
use lanework_testkit::vectors::binary;
use lanework_whir::{
    Commitment, Committer, Error, Function, Layout, MemoryMode, Opening, OpeningError, Params,
    Stack, commit,
};

fn words(len: usize, seed: u64) -> Vec<u64> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| rng.next_u64()).collect()
}

fn stack_of(words: &[u64]) -> Stack {
    Stack::from_words(words).unwrap()
}

fn choices() -> Vec<Choice> {
    let mut choices = Choice::available();
    for choice in Choice::available() {
        if choice.has(Feature::Gfni) {
            choices.push(choice.without(Feature::Gfni));
        }
    }
    choices
}

/// The rows of a code by the definition, as leaf images of 64 words.
fn images(words: &[u64], log_words: u32, log_inv_rate: u32) -> Vec<Vec<u8>> {
    let lane_words = 1_usize << (log_words - 6);
    let definition = Definition::cantor(log_words - 6 + log_inv_rate);
    let mut padded = words.to_vec();
    padded.resize(64 * lane_words, 0);
    let mut images = vec![Vec::new(); lane_words << log_inv_rate];
    for lane in padded.chunks(lane_words).rev() {
        let lane: Vec<T64> = lane.iter().map(|&word| B64(word).into()).collect();
        for (image, word) in images.iter_mut().zip(definition.encode(&lane, 1)) {
            image.extend(word.0.to_le_bytes());
        }
    }
    images
}

/// Personalised BLAKE2s of another crate.
fn blake2s(personal: [u8; 8], message: &[u8]) -> [u8; 32] {
    let mut core = Blake2sVarCore::new_with_params(&[], &personal, 0, 32);
    let mut buffer = Buffer::<Blake2sVarCore>::default();
    buffer.digest_blocks(message, |blocks| core.update_blocks(blocks));
    let mut digest = Output::<Blake2sVarCore>::default();
    core.finalize_variable_core(&mut buffer, &mut digest);
    digest.into()
}

/// The root of a tree by the hash functions of other crates.
fn root_of(images: &[Vec<u8>], function: Function) -> ByteDigest {
    let mut level: Vec<[u8; 32]> = images
        .iter()
        .map(|image| match function {
            Function::Blake3 => *blake3::hash(image).as_bytes(),
            _ => blake2s(*b"bpcsleaf", image),
        })
        .collect();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match function {
                Function::Blake3 => {
                    let key = b"lanework merkle node 2026 v1 ...";
                    *blake3::keyed_hash(key, &pair.concat()).as_bytes()
                }
                _ => blake2s(*b"bpcsnode", &pair.concat()),
            })
            .collect();
    }
    ByteDigest(level[0])
}

#[test]
fn roots_are_those_of_the_definition_and_of_other_hashes() {
    // Whole and partial lanes, all 64 and few, every rate.
    for (len, log_inv_rate) in [
        (1 << 15, 1),
        ((1 << 14) + 1, 4),
        (20_000, 2),
        (30_001, 3),
        (40_000, 1),
    ] {
        let words = words(len, len as u64);
        let log_words = len.next_power_of_two().ilog2();
        let images = images(&words, log_words, log_inv_rate);
        for function in Function::ALL {
            let params = Params::builder()
                .log_inv_rate(log_inv_rate)
                .function(function);
            let (commitment, data, report) =
                commit(&params.build().unwrap(), stack_of(&words)).unwrap();
            assert_eq!(
                commitment.root(),
                root_of(&images, function),
                "{len} {function}"
            );
            let shape = commitment.shape();
            assert_eq!(
                (shape.byte_len, shape.log_words),
                (8 * len as u64, log_words)
            );
            assert_eq!(shape.lanes, len.div_ceil(1 << (log_words - 6)));
            assert_eq!(
                (shape.log_inv_rate, shape.function),
                (log_inv_rate, function)
            );
            assert_eq!(data.code().unwrap().len(), shape.lanes * images.len());
            assert_eq!(report.code_bytes, 8 * data.code().unwrap().len() as u64);
        }
    }
}

#[test]
fn roots_of_published_proofs() {
    let mut seen = 0;
    for proof in binary()["whir_end_to_end"].as_array().unwrap() {
        let number = |key: &str| proof[key].as_u64().unwrap();
        if proof["instance"] != "cantor" || number("log_n") < 15 {
            continue;
        }
        let lane_words = 1 << (number("log_n") - 6);
        let words = words(number("lanes_committed") as usize * lane_words, 1);
        let params = Params::builder().log_inv_rate(number("log_inv_rate") as u32);
        let (commitment, data, _) = commit(&params.build().unwrap(), stack_of(&words)).unwrap();
        assert_eq!(u64::from(commitment.shape().log_words), number("log_n"));
        // Those trees are of BLAKE2s without personalisation.
        let hash = TreeHash::plain_blake2s(Choice::best());
        let zeros = hash.leaf().zero_prefix(8 * (64 - commitment.shape().lanes));
        let row_bytes = 8 * commitment.shape().lanes;
        let bytes: Vec<u8> = data
            .code()
            .unwrap()
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let mut leaves = vec![ByteDigest::ZERO; bytes.len() / row_bytes];
        hash.leaf()
            .hash_many(&zeros, &bytes, row_bytes, row_bytes, &mut leaves);
        let tree = Tree::build(&hash, &leaves, Pages::Normal, None).unwrap();
        assert_eq!(proof["root"], tree.root().to_string());
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn roots_do_not_depend_on_instructions_threads_or_memory() {
    let mut names = Vec::new();
    let words = words(37 << 11, 3);
    let build = |choice, threads, memory, function| {
        Params::builder()
            .choice(choice)
            .threads(NonZero::new(threads))
            .memory(memory)
            .function(function)
            .pages(Pages::Normal)
            .build()
            .unwrap()
    };
    for function in Function::ALL {
        let reference = build(Choice::portable(), 1, MemoryMode::Keep, function);
        let (want, kept, _) = commit(&reference, stack_of(&words)).unwrap();
        let positions = [0, 1, 77, 2048, 4095, 77];
        let opening = kept.open(&positions).unwrap();
        for choice in choices() {
            names.push(choice.to_string());
            for threads in [1, 2, 3] {
                for memory in [MemoryMode::Keep, MemoryMode::Message] {
                    let committer =
                        Committer::new(build(choice, threads, memory, function)).unwrap();
                    // The second time in the memory of the first.
                    let mut stack = stack_of(&words);
                    for _ in 0..2 {
                        let (commitment, data, report) = committer.commit(stack).unwrap();
                        assert_eq!(commitment, want, "{choice} {threads} {memory:?}");
                        assert_eq!(data.code().is_some(), memory == MemoryMode::Keep);
                        assert_eq!(data.open(&positions).unwrap(), opening);
                        assert_eq!(report.threads.get(), threads);
                        stack = committer.recycle(data);
                    }
                    // Another size in between must not leave anything behind.
                    committer.commit(stack_of(&words[..20_000])).unwrap();
                    let (commitment, ..) = committer.commit(stack).unwrap();
                    assert_eq!(commitment, want);
                }
            }
        }
    }
    names.sort();
    names.dedup();
    isas::report("whir", &names);
}

#[test]
fn words_of_the_tower_are_committed_as_they_are() {
    let polynomial = words(1 << 15, 4);
    let tower: Vec<u64> = polynomial
        .iter()
        .map(|&word| T64::from(B64(word)).0)
        .collect();
    let params = Params::builder().build().unwrap();
    let (one, ..) = commit(&params, stack_of(&polynomial)).unwrap();
    let stack = stack_of(&tower).with_representation(Representation::Tower);
    let (other, ..) = commit(&params, stack).unwrap();
    assert_eq!(one, other);
}

#[test]
fn bytes_are_words_with_the_first_byte_lowest() {
    let words = words(1 << 15, 5);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let params = Params::builder().build().unwrap();
    let (one, ..) = commit(&params, stack_of(&words)).unwrap();
    let (other, ..) = commit(&params, Stack::from_bytes(&bytes).unwrap()).unwrap();
    assert_eq!(one, other);
    // A byte less is another commitment even if that byte is zero.
    let mut short = bytes;
    *short.last_mut().unwrap() = 0;
    let (zero, ..) = commit(&params, Stack::from_bytes(&short).unwrap()).unwrap();
    short.pop();
    let (without, ..) = commit(&params, Stack::from_bytes(&short).unwrap()).unwrap();
    assert_eq!(zero.root(), without.root());
    assert_ne!(zero, without);
}

#[test]
fn columns_lie_where_the_published_layout_has_them() {
    let vector = &binary()["stacking"];
    let list = |key: &str| -> Vec<usize> {
        vector[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_u64().unwrap() as usize)
            .collect()
    };
    let log_sizes: Vec<u32> = list("log_sizes").into_iter().map(|x| x as u32).collect();
    let layout = Layout::new(&log_sizes);
    assert_eq!(layout.offsets(), list("offsets"));
    assert_eq!(vector["placed_words"], layout.words());
    assert_eq!(vector["log_stack"], layout.log_words());
    assert_eq!(vector["lanes_at_k0=6"], layout.lanes());

    let columns: Vec<Vec<u64>> = log_sizes
        .iter()
        .map(|&log| words(1 << log, u64::from(log)))
        .collect();
    let columns: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
    let stack = Stack::from_columns(&columns).unwrap();
    for (column, &offset) in columns.iter().zip(layout.offsets()) {
        assert_eq!(&stack.words()[offset..offset + column.len()], *column);
    }
    assert!(
        stack.words()[layout.words()..]
            .iter()
            .all(|&word| word == 0)
    );
    assert_eq!(stack.lanes().len(), layout.lanes());
    assert_eq!(
        Stack::from_columns(&[&[1, 2], &[1, 2, 3]]).unwrap_err(),
        Error::ColumnLen {
            column: 1,
            words: 3
        }
    );
}

#[test]
fn sizes_out_of_range_are_refused() {
    for words in [0, 1, 1 << 14] {
        let error = Stack::zeroed(8 * words as u64).unwrap_err();
        assert_eq!(error, Error::TooSmall { words });
        assert!(error.to_string().contains("hint"), "{error}");
    }
    assert_eq!(Stack::zeroed(8 * ((1 << 14) + 1)).unwrap().log_words(), 15);
    assert!(matches!(
        Stack::zeroed((8 << 28) + 1),
        Err(Error::TooLarge { .. })
    ));
    assert!(matches!(
        Stack::zeroed(u64::MAX),
        Err(Error::TooLarge { .. })
    ));
    assert_eq!(Stack::zeroed(8 << 28).unwrap().log_words(), 28);
    for got in [0, 5, u32::MAX] {
        let error = Params::builder().log_inv_rate(got).build().unwrap_err();
        assert_eq!(error, Error::LogInvRate { got });
    }
}

#[test]
fn openings_prove_rows_and_nothing_else() {
    let words = words(35 << 10, 6);
    let (commitment, data, _) =
        commit(&Params::builder().build().unwrap(), stack_of(&words)).unwrap();
    let lanes = commitment.shape().lanes;
    assert_eq!(
        data.open(&[5, 2048]).unwrap_err(),
        Error::Position {
            position: 2048,
            rows: 2048
        }
    );
    let positions = [4, 5, 1000, 2047];
    let opening = data.open(&[1000, 4, 2047, 5, 4]).unwrap();
    let rows = commitment.verify(&positions, &opening).unwrap();
    for (row, &position) in rows.iter().zip(&positions) {
        assert_eq!(
            *row,
            &data.code().unwrap()[position * lanes..(position + 1) * lanes]
        );
    }
    let again = commitment
        .verify(&[2047, 4, 5, 2047, 1000], &opening)
        .unwrap();
    assert_eq!(again, [rows[3], rows[0], rows[1], rows[3], rows[2]]);
    let none = data.open(&[]).unwrap();
    assert!(commitment.verify(&[], &none).unwrap().is_empty());

    let refuse = |commitment: &Commitment, positions: &[usize], opening: &Opening| {
        commitment.verify(positions, opening).unwrap_err()
    };
    for index in [0, lanes, opening.words.len() - 1] {
        let mut twin = opening.clone();
        twin.words[index] ^= 1;
        assert!(matches!(
            refuse(&commitment, &positions, &twin),
            OpeningError::Tree(_)
        ));
    }
    for index in 0..opening.siblings.len() {
        let mut twin = opening.clone();
        twin.siblings[index].0[31] ^= 0x80;
        assert!(matches!(
            refuse(&commitment, &positions, &twin),
            OpeningError::Tree(_)
        ));
    }
    let mut twin = opening.clone();
    twin.siblings.pop();
    assert!(matches!(
        refuse(&commitment, &positions, &twin),
        OpeningError::Tree(VerifyError::MissingSibling { .. })
    ));
    twin.siblings.extend([ByteDigest::ZERO; 2]);
    assert!(matches!(
        refuse(&commitment, &positions, &twin),
        OpeningError::Tree(_)
    ));
    let mut twin = opening.clone();
    twin.words.pop();
    assert!(matches!(
        refuse(&commitment, &positions, &twin),
        OpeningError::WordsLen { .. }
    ));
    for wrong in [&[4, 5, 1000, 2046][..], &[4, 5, 1000, usize::MAX]] {
        assert!(
            matches!(refuse(&commitment, wrong, &opening), OpeningError::Tree(_)),
            "{wrong:?}"
        );
    }
    assert!(matches!(
        refuse(&commitment, &positions[..3], &opening),
        OpeningError::WordsLen { .. }
    ));
    let mut root = commitment.root();
    root.0[0] ^= 1;
    let other = Commitment::new(root, commitment.shape());
    assert!(matches!(
        refuse(&other, &positions, &opening),
        OpeningError::Tree(VerifyError::CapMismatch { .. })
    ));
}

#[test]
fn shapes_that_no_vector_has_are_refused() {
    let words = words(35 << 10, 7);
    let (commitment, data, _) =
        commit(&Params::builder().build().unwrap(), stack_of(&words)).unwrap();
    let opening = data.open(&[1]).unwrap();
    let good = commitment.shape();
    assert!(commitment.verify(&[1], &opening).is_ok());
    let mut shapes = Vec::new();
    for log_words in [0, 5, 14, 15, 17, 28, 29, 64, u32::MAX] {
        shapes.push(lanework_whir::Shape { log_words, ..good });
    }
    for lanes in [0, 1, 34, 36, 64, 65, usize::MAX] {
        shapes.push(lanework_whir::Shape { lanes, ..good });
    }
    for log_inv_rate in [0, 2, 5, 32, u32::MAX] {
        shapes.push(lanework_whir::Shape {
            log_inv_rate,
            ..good
        });
    }
    for byte_len in [0, 8 << 15, u64::MAX] {
        shapes.push(lanework_whir::Shape { byte_len, ..good });
    }
    shapes.push(lanework_whir::Shape {
        function: Function::Blake2s,
        ..good
    });
    for shape in shapes {
        let other = Commitment::new(commitment.root(), shape);
        assert!(other.verify(&[1], &opening).is_err(), "{shape:?}");
    }
}
