//! Trees of digests of bytes: against published ones, against paths taken one by one, and every opening
//! that is not quite right.

use std::num::NonZero;

use lanework_arch::Choice;
use lanework_arch::memory::{Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_hash::ByteDigest;
use lanework_hash::blake::{Blake, Function, TreeHash};
use lanework_merkle::Error;
use lanework_merkle::bytes::{Growing, Tree, VerifyError, verify};
use lanework_testkit::cases::Rng;
use lanework_testkit::vectors::{binary, words};
use serde_json::Value;

fn random_digests(rng: &mut Rng, len: usize) -> Vec<ByteDigest> {
    (0..len)
        .map(|_| ByteDigest(std::array::from_fn(|_| rng.next_u64() as u8)))
        .collect()
}

fn hashes() -> [TreeHash; 3] {
    let choice = Choice::best();
    [
        TreeHash::new(Function::Blake3, choice),
        TreeHash::new(Function::Blake2s, choice),
        TreeHash::plain_blake2s(choice),
    ]
}

fn build(hash: &TreeHash, leaves: &[ByteDigest]) -> Tree {
    Tree::build(hash, leaves, Pages::Normal, None).unwrap()
}

/// All levels, node by node.
fn naive_levels(hash: &TreeHash, leaves: &[ByteDigest]) -> Vec<Vec<ByteDigest>> {
    let mut levels = vec![leaves.to_vec()];
    while levels[levels.len() - 1].len() > 1 {
        let pairs = levels[levels.len() - 1].chunks(2);
        let parents = pairs.map(|pair| hash.node().hash(&[pair[0].0, pair[1].0].concat()));
        levels.push(parents.collect());
    }
    levels
}

/// The siblings of an opening from whole paths: those on some path that no path computes.
fn naive_siblings(
    levels: &[Vec<ByteDigest>],
    positions: &[usize],
    cap_height: u32,
) -> Vec<ByteDigest> {
    let mut siblings = Vec::new();
    for (k, level) in levels[..levels.len() - 1 - cap_height as usize]
        .iter()
        .enumerate()
    {
        for node in 0..level.len() {
            let on_path = |node: usize| positions.iter().any(|position| position >> k == node);
            if !on_path(node) && on_path(node ^ 1) {
                siblings.push(level[node]);
            }
        }
    }
    siblings
}

fn digests(value: &Value) -> Vec<ByteDigest> {
    let texts = value.as_array().unwrap().iter();
    texts
        .map(|text| {
            let text = text.as_str().unwrap();
            ByteDigest(std::array::from_fn(|i| {
                u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()
            }))
        })
        .collect()
}

fn positions(value: &Value) -> Vec<usize> {
    let list = value.as_array().unwrap().iter();
    list.map(|position| position.as_u64().unwrap() as usize)
        .collect()
}

/// The leaf digests of a vector.
fn vector_leaves(hash: &TreeHash, vector: &Value) -> Vec<ByteDigest> {
    let rows = vector["rows"].as_array().unwrap();
    let row_bytes = 8 * vector["row_words"].as_u64().unwrap() as usize;
    let leaf_bytes = 8 * vector["leaf_words"].as_u64().unwrap() as usize;
    let bytes: Vec<u8> = rows
        .iter()
        .flat_map(words)
        .flat_map(u64::to_le_bytes)
        .collect();
    let mut leaves = vec![ByteDigest::ZERO; rows.len()];
    let prefix = hash.leaf().zero_prefix(leaf_bytes - row_bytes);
    hash.leaf()
        .hash_many(&prefix, &bytes, row_bytes, row_bytes, &mut leaves);
    leaves
}

#[test]
fn published_trees_and_openings_are_reproduced() {
    let vector = &binary()["merkle_plain"];
    let hash = TreeHash::plain_blake2s(Choice::best());
    let leaves = vector_leaves(&hash, vector);
    let tree = build(&hash, &leaves);
    for (k, level) in (0..).zip(vector["levels"].as_array().unwrap()) {
        assert_eq!(tree.level(k), digests(level));
    }
    let (queries, distinct) = (
        positions(&vector["queries"]),
        positions(&vector["distinct_sorted"]),
    );
    let siblings = tree.open(&queries, 0);
    assert_eq!(siblings, digests(&vector["siblings"]));
    let opened: Vec<_> = distinct.iter().map(|&position| leaves[position]).collect();
    let root = [tree.root()];
    assert_eq!(
        verify(
            &hash,
            &root,
            tree.log_leaves(),
            &distinct,
            &opened,
            &siblings
        ),
        Ok(())
    );

    let personalised = &binary()["merkle_personalised"];
    let hash = TreeHash::new(Function::Blake2s, Choice::best());
    let leaves = vector_leaves(&hash, vector);
    assert_eq!(leaves[0].to_string(), personalised["leaf0"]);
    let root = build(&hash, &leaves).root();
    assert_eq!(root.to_string(), personalised["root"]);
}

#[test]
fn levels_and_openings_equal_the_naive_ones() {
    let mut rng = Rng::new(1);
    for hash in hashes() {
        for log_leaves in 0..=9 {
            let leaves = random_digests(&mut rng, 1 << log_leaves);
            let levels = naive_levels(&hash, &leaves);
            let tree = build(&hash, &leaves);
            assert_eq!(tree.log_leaves(), log_leaves);
            for (k, level) in (0..).zip(&levels) {
                assert_eq!(tree.level(k), level);
                assert_eq!(tree.cap(log_leaves - k), level);
            }
            assert_eq!([tree.root()], levels[log_leaves as usize][..]);
            for _ in 0..20 {
                let count = rng.in_range(0..(1 << log_leaves) + 2);
                let queries: Vec<_> = (0..count)
                    .map(|_| rng.in_range(0..1 << log_leaves))
                    .collect();
                let cap_height = rng.in_range(0..log_leaves as usize + 1) as u32;
                let siblings = tree.open(&queries, cap_height);
                assert_eq!(siblings, naive_siblings(&levels, &queries, cap_height));
                let mut distinct = queries;
                distinct.sort_unstable();
                distinct.dedup();
                let opened: Vec<_> = distinct.iter().map(|&position| leaves[position]).collect();
                let cap = tree.cap(cap_height);
                assert_eq!(
                    verify(&hash, cap, log_leaves, &distinct, &opened, &siblings),
                    Ok(())
                );
            }
        }
    }
}

#[test]
fn subtrees_grown_by_threads_make_the_same_tree() {
    const ROW_BYTES: usize = 40;
    let mut rng = Rng::new(2);
    for choice in Blake::available() {
        let hash = TreeHash::new(Function::Blake3, choice);
        let prefix = hash.leaf().zero_prefix(88);
        let mut spare: Option<Slab<ByteDigest>> = None;
        for log_leaves in [0, 1, 4, 7, 12, 13] {
            let rows: Vec<u8> = (0..ROW_BYTES << log_leaves)
                .map(|_| rng.next_u64() as u8)
                .collect();
            let fill = |first: usize, leaves: &mut [ByteDigest]| {
                let rows = &rows[first * ROW_BYTES..];
                hash.leaf()
                    .hash_many(&prefix, rows, ROW_BYTES, ROW_BYTES, leaves);
            };
            let mut leaves = vec![ByteDigest::ZERO; 1 << log_leaves];
            fill(0, &mut leaves);
            let plain = build(&hash, &leaves);
            for log_per_task in [0, 3, 6, 8, 20] {
                for threads in [1, 3] {
                    let threads = Threads::new(NonZero::new(threads).unwrap()).unwrap();
                    let mut growing =
                        Growing::new(log_leaves, Pages::Normal, spare.take()).unwrap();
                    let subtrees = growing.subtrees(log_per_task);
                    assert_eq!(subtrees.len(), 1 << log_leaves.saturating_sub(log_per_task));
                    threads.for_each(subtrees, |mut subtree| {
                        fill(subtree.first_leaf(), subtree.leaves_mut());
                        subtree.climb(&hash);
                    });
                    let tree = threads.install(|| growing.finish(&hash));
                    for k in 0..=log_leaves {
                        assert_eq!(tree.level(k), plain.level(k), "{log_per_task}");
                    }
                    spare = Some(tree.into_slab());
                }
            }
        }
    }
}

#[test]
fn a_tree_does_not_depend_on_who_has_climbed() {
    let mut rng = Rng::new(3);
    let hash = hashes()[0];
    let leaves = random_digests(&mut rng, 1 << 10);
    let root = build(&hash, &leaves).root();

    let mut growing = Growing::new(10, Pages::Normal, None).unwrap();
    for (i, mut subtree) in growing.subtrees(7).enumerate() {
        let first = subtree.first_leaf();
        subtree
            .leaves_mut()
            .copy_from_slice(&leaves[first..first + 128]);
        if i != 5 {
            subtree.climb(&hash);
        }
    }
    assert_eq!(growing.finish(&hash).root(), root);

    let mut growing = Growing::new(10, Pages::Normal, None).unwrap();
    for subtree in growing.subtrees(7) {
        subtree.climb(&hash);
    }
    growing.leaves_mut().copy_from_slice(&leaves);
    assert_eq!(growing.finish(&hash).root(), root);
}

#[test]
fn slabs_are_used_again_and_absurd_trees_are_errors() {
    let hash = hashes()[0];
    let leaves = random_digests(&mut Rng::new(4), 64);
    let tree = build(&hash, &leaves);
    let root = tree.root();
    let slab = tree.into_slab();
    let address = slab.as_ptr();
    let tree = Tree::build(&hash, &leaves, Pages::Normal, Some(slab)).unwrap();
    assert_eq!(tree.root(), root);
    assert_eq!(tree.into_slab().as_ptr(), address);
    for log_leaves in [50, 63, 64, u32::MAX] {
        let error = Growing::new(log_leaves, Pages::Normal, None).unwrap_err();
        assert!(matches!(error, Error::Memory(_)), "{error}");
    }
}

/// An opening, to be spoilt.
#[derive(Clone)]
struct Opening {
    cap: Vec<ByteDigest>,
    log_leaves: u32,
    positions: Vec<usize>,
    leaves: Vec<ByteDigest>,
    siblings: Vec<ByteDigest>,
}

impl Opening {
    fn verify(&self, hash: &TreeHash) -> Result<(), VerifyError> {
        let Self {
            cap,
            log_leaves,
            positions,
            leaves,
            siblings,
        } = self;
        verify(hash, cap, *log_leaves, positions, leaves, siblings)
    }

    fn with(&self, spoil: impl FnOnce(&mut Self)) -> Self {
        let mut opening = self.clone();
        spoil(&mut opening);
        opening
    }
}

/// An opening of a tree of 64 leaves up to a cap of two digests.
fn opening(hash: &TreeHash) -> Opening {
    let leaves = random_digests(&mut Rng::new(5), 64);
    let tree = build(hash, &leaves);
    let positions = vec![3, 10, 11, 40];
    Opening {
        cap: tree.cap(1).to_vec(),
        log_leaves: 6,
        leaves: positions.iter().map(|&position| leaves[position]).collect(),
        siblings: tree.open(&positions, 1),
        positions,
    }
}

#[test]
fn digests_and_positions_that_are_changed_are_found_out() {
    let hash = hashes()[0];
    let opening = opening(&hash);
    assert_eq!(opening.verify(&hash), Ok(()));

    let mismatch = |index| Err(VerifyError::CapMismatch { index });
    for bit in [0, 77, 255] {
        let flip = |digest: &mut ByteDigest| digest.0[bit / 8] ^= 1 << (bit % 8);
        for i in 0..opening.leaves.len() {
            let spoilt = opening.with(|opening| flip(&mut opening.leaves[i]));
            assert_eq!(spoilt.verify(&hash), mismatch(i / 3));
        }
        for i in 0..opening.siblings.len() {
            let spoilt = opening.with(|opening| flip(&mut opening.siblings[i]));
            assert!(matches!(
                spoilt.verify(&hash),
                Err(VerifyError::CapMismatch { .. })
            ));
        }
        for i in 0..2 {
            let spoilt = opening.with(|opening| flip(&mut opening.cap[i]));
            assert_eq!(spoilt.verify(&hash), mismatch(i));
        }
    }
    for other in [hashes()[1], hashes()[2]] {
        assert_eq!(opening.verify(&other), mismatch(0));
    }
    let spoilt = opening.with(|opening| opening.leaves.swap(1, 2));
    assert_eq!(spoilt.verify(&hash), mismatch(0));
    let spoilt = opening.with(|opening| opening.siblings.swap(0, 1));
    assert_eq!(spoilt.verify(&hash), mismatch(0));
    let spoilt = opening.with(|opening| opening.positions[3] = 41);
    assert_eq!(spoilt.verify(&hash), mismatch(1));
}

#[test]
fn sizes_and_orders_that_are_wrong_are_found_out() {
    let hash = hashes()[0];
    let opening = opening(&hash);
    let got = opening.siblings.len();
    for i in 0..got {
        let spoilt = opening.with(|opening| {
            opening.siblings.remove(i);
        });
        assert!(
            matches!(spoilt.verify(&hash), Err(VerifyError::MissingSibling { got: g, .. }) if g == got - 1)
        );
        let spoilt = opening.with(|opening| opening.siblings.insert(i, ByteDigest::ZERO));
        assert_eq!(
            spoilt.verify(&hash),
            Err(VerifyError::ExtraSiblings {
                expected: got,
                got: got + 1
            })
        );
    }

    let spoilt = opening.with(|opening| opening.positions.swap(0, 1));
    let not_ascending = |before, position| Err(VerifyError::NotAscending { before, position });
    assert_eq!(spoilt.verify(&hash), not_ascending(10, 3));
    let spoilt = opening.with(|opening| opening.positions[2] = 10);
    assert_eq!(spoilt.verify(&hash), not_ascending(10, 10));
    for position in [64, usize::MAX] {
        let spoilt = opening.with(|opening| opening.positions[3] = position);
        assert_eq!(
            spoilt.verify(&hash),
            Err(VerifyError::OutOfRange {
                position,
                log_leaves: 6
            })
        );
    }
    let spoilt = opening.with(|opening| {
        opening.leaves.pop();
    });
    assert_eq!(
        spoilt.verify(&hash),
        Err(VerifyError::LeavesLen {
            expected: 4,
            got: 3
        })
    );
    for got in [0, 3, 128] {
        let spoilt = opening.with(|opening| opening.cap.resize(got, ByteDigest::ZERO));
        assert_eq!(
            spoilt.verify(&hash),
            Err(VerifyError::CapLen { got, log_leaves: 6 })
        );
    }
    for log_leaves in [64, u32::MAX] {
        let spoilt = opening.with(|opening| opening.log_leaves = log_leaves);
        assert_eq!(
            spoilt.verify(&hash),
            Err(VerifyError::TooManyLeaves { log_leaves })
        );
    }
    for log_leaves in [5, 7, 63] {
        let spoilt = opening.with(|opening| opening.log_leaves = log_leaves);
        assert!(spoilt.verify(&hash).is_err());
    }
    let nothing = opening.with(|opening| {
        opening.positions.clear();
        opening.leaves.clear();
        opening.siblings.clear();
    });
    assert_eq!(nothing.verify(&hash), Ok(()));
}

#[test]
fn a_leaf_is_no_node() {
    let leaves = random_digests(&mut Rng::new(6), 4);
    for (hash, separate) in hashes().into_iter().zip([true, true, false]) {
        let pair = [leaves[0].0, leaves[1].0].concat();
        assert_eq!(hash.leaf().hash(&pair) != hash.node().hash(&pair), separate);
    }
}
