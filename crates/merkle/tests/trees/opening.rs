//! Openings of many leaves: against published ones, against Plonky3's own verifier, and what is refused.

use super::*;
use lanework_hash::Cell;
use lanework_merkle::Lower;
use lanework_merkle::opening::{Injected, VerifyError, verify};
use p3_koala_bear::{KoalaBear as F, default_koalabear_poseidon2_16};
use p3_matrix::Dimensions;
use p3_merkle_tree::{MerkleTreeMmcs, PrunedMerklePaths};

fn digests(words: Vec<[u32; 8]>) -> Vec<Digest> {
    let digest = |words: [u32; 8]| Digest(words.map(KoalaBear::new));
    words.into_iter().map(digest).collect()
}

/// The tables of a vector that has a tree.
fn matrices(name: &str) -> Vec<Vec<Vec<KoalaBear>>> {
    let matrices: Vec<Vec<Vec<u32>>> = koalabear().get(name).input("matrices_rows");
    matrices.iter().map(|rows| transposed(rows)).collect()
}

#[test]
fn published_openings() {
    let Modes {
        narrow, truncated, ..
    } = Modes::new(Choice::best());
    let builder = Builder::new(&narrow, &truncated);

    let vector = koalabear().get("p3_pruned_multiproof_order");
    let columns = matrices(&vector.input::<String>("tree"));
    let tree = mmcs::Tree::build(&builder, &[table(&columns[0])], None).unwrap();
    let positions: Vec<usize> = vector.input("leaf_indices");
    let siblings = tree.siblings(&positions, 0);
    let at: Vec<(usize, usize)> = vector.output("sibling_positions");
    let expected: Vec<_> = at.iter().map(|&(k, index)| tree.layer(k)[index]).collect();
    assert_eq!(siblings, expected);
    assert_eq!(siblings, digests(vector.output("sibling_hashes")));

    let vector = koalabear().get("p3_open_mixed_index5");
    let columns = matrices(&vector.input::<String>("tree"));
    let views: Vec<_> = columns.iter().map(|columns| table(columns)).collect();
    let tree = mmcs::Tree::build(&builder, &views, None).unwrap();
    let index: usize = vector.input("index");
    let siblings = tree.siblings(&[index], 0);
    assert_eq!(siblings, digests(vector.output("siblings_bottom_up")));
    let rows: Vec<Vec<u32>> = vector.output("opened_values");
    let hash = |row: &Vec<u32>| {
        let row: Vec<_> = row.iter().copied().map(KoalaBear::new).collect();
        narrow.hash_slice(&row)
    };
    let injected = Injected {
        level: 1,
        digests: vec![hash(&rows[1])],
    };
    let leaf = hash(&rows[0]);
    let check = |injected: &[Injected]| {
        verify(
            &truncated,
            &[tree.root()],
            3,
            &[index],
            &[leaf],
            injected,
            &siblings,
        )
    };
    assert_eq!(check(&[injected]), Ok(()));
    assert_eq!(check(&[]), Err(VerifyError::CapMismatch { index: 0 }));
}

/// A tree with what a verifier needs of it.
struct Case {
    log_leaves: u32,
    cap: Vec<Digest>,
    positions: Vec<usize>,
    leaves: Vec<Digest>,
    injected: Vec<Injected>,
    siblings: Vec<Digest>,
}

impl Case {
    fn verify(&self, compression: &dyn Compression) -> Result<(), VerifyError> {
        verify(
            compression,
            &self.cap,
            self.log_leaves,
            &self.positions,
            &self.leaves,
            &self.injected,
            &self.siblings,
        )
    }
}

fn random_positions(rng: &mut Rng, log_leaves: u32) -> Vec<usize> {
    let mut positions: Vec<_> = (0..below(rng, 12))
        .map(|_| below(rng, 1 << log_leaves))
        .collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

fn above(positions: &[usize], level: u32) -> Vec<usize> {
    let mut nodes: Vec<_> = positions.iter().map(|position| position >> level).collect();
    nodes.dedup();
    nodes
}

#[test]
fn openings_of_lineth_trees() {
    let chain = Modes::new(Choice::best()).chain;
    let builder = Builder::new(&chain, &chain);
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let log_leaves = below(&mut rng, 8) as u32;
        let mut tables = vec![random_columns(&mut rng, 3, 1 << log_leaves)];
        for log_height in 1..log_leaves {
            if below(&mut rng, 2) == 0 {
                tables.push(random_columns(&mut rng, 2, 1 << log_height));
            }
        }
        let views: Vec<_> = tables
            .iter()
            .map(|columns| lineth::Table::new(table(columns), columns.len(), 0).unwrap())
            .collect();
        let tree = lineth::Tree::build(&builder, &views, None).unwrap();
        let cap_height = below(&mut rng, 3).min(log_leaves as usize) as u32;
        let positions = random_positions(&mut rng, log_leaves);
        let leaves: Vec<_> = positions
            .iter()
            .map(|&position| tree.level(log_leaves)[position])
            .collect();
        let mut injected = vec![];
        for columns in &tables[1..] {
            let level = log_leaves + 1 - columns[0].len().ilog2();
            if level > log_leaves - cap_height {
                continue;
            }
            let hash = |pair: &usize| {
                let rows = [2 * pair, 2 * pair + 1];
                let cells = rows
                    .iter()
                    .flat_map(|&row| columns.iter().map(move |column| column[row]));
                let header = lineth::header(columns.len(), 0);
                chain.hash_slice(&header.into_iter().chain(cells).collect::<Vec<_>>())
            };
            let digests = above(&positions, level).iter().map(hash).collect();
            injected.push(Injected { level, digests });
        }
        let case = Case {
            log_leaves,
            cap: tree.level(cap_height).to_vec(),
            siblings: tree.siblings(&positions, cap_height),
            positions,
            leaves,
            injected,
        };
        assert_eq!(case.verify(&chain), Ok(()), "seed {seed}");
        refused(case, &chain, &mut rng);
    }
}

/// Every change of one part of an opening is an error.
fn refused(mut case: Case, compression: &dyn Compression, rng: &mut Rng) {
    let word = below(rng, 8);
    macro_rules! wrong {
        ($digest:expr) => {{
            let right = $digest;
            $digest.0[word] += KoalaBear::ONE;
            assert!(case.verify(compression).is_err());
            $digest = right;
        }};
    }
    for i in 0..case.leaves.len() {
        wrong!(case.leaves[i]);
        let root = case.positions[i] >> (case.log_leaves - case.cap.len().ilog2());
        wrong!(case.cap[root]);
        let right = case.positions[i];
        // Its neighbour has other rows.
        case.positions[i] ^= 1;
        assert!(case.log_leaves == 0 || case.verify(compression).is_err());
        case.positions[i] = right;
    }
    for i in 0..case.siblings.len() {
        wrong!(case.siblings[i]);
        let sibling = case.siblings.remove(i);
        assert!(case.verify(compression).is_err());
        case.siblings.insert(i, sibling);
    }
    for i in 0..case.injected.len() {
        for j in 0..case.injected[i].digests.len() {
            wrong!(case.injected[i].digests[j]);
        }
        let level = case.injected[i].level;
        let expected = case.injected[i].digests.len();
        case.injected[i].digests.push(Digest::ZERO);
        assert_eq!(
            case.verify(compression),
            Err(VerifyError::InjectedLen {
                level,
                expected,
                got: expected + 1
            })
        );
        case.injected[i].digests.pop();
        for other in [0, case.log_leaves + 1, u32::MAX] {
            case.injected[i].level = other;
            let levels = case.log_leaves - case.cap.len().ilog2();
            let error = VerifyError::InjectedLevel {
                level: other,
                levels,
            };
            assert_eq!(case.verify(compression), Err(error));
        }
        case.injected[i].level = level;
    }
    case.siblings.push(Digest::ZERO);
    let expected = case.siblings.len() - 1;
    assert_eq!(
        case.verify(compression),
        Err(VerifyError::ExtraSiblings {
            expected,
            got: expected + 1
        })
    );
    case.siblings.pop();
    assert_eq!(case.verify(compression), Ok(()));
    for log_leaves in [usize::BITS, u32::MAX] {
        let error = VerifyError::TooManyLeaves { log_leaves };
        let case = Case {
            log_leaves,
            cap: case.cap.clone(),
            positions: case.positions.clone(),
            leaves: case.leaves.clone(),
            injected: case.injected.clone(),
            siblings: case.siblings.clone(),
        };
        assert_eq!(case.verify(compression), Err(error));
    }
    case.leaves.push(Digest::ZERO);
    assert!(case.verify(compression).is_err());
}

#[test]
fn positions_in_disorder_are_refused() {
    use lanework_merkle::opening::check_positions;
    assert_eq!(check_positions(2, &[]), Ok(()));
    assert_eq!(check_positions(2, &[0, 1, 3]), Ok(()));
    for (before, position) in [(1, 1), (3, 2)] {
        assert_eq!(
            check_positions(2, &[0, before, position]),
            Err(VerifyError::NotAscending { before, position })
        );
    }
    let error = VerifyError::OutOfRange {
        position: 4,
        log_leaves: 2,
    };
    assert_eq!(check_positions(2, &[0, 4]), Err(error));
}

/// The verifier of Plonky3 takes the siblings of trees here, and refuses them changed.
#[test]
fn plonky3_accepts_the_siblings() {
    type Packing = <F as p3_field::Field>::Packing;
    type Permutation = p3_koala_bear::Poseidon2KoalaBear<16>;
    type Sponge = p3_symmetric::PaddingFreeSponge<Permutation, 16, 8, 8>;
    type Compress = p3_symmetric::TruncatedPermutation<Permutation, 2, 8, 16>;

    let permutation = default_koalabear_poseidon2_16();
    let modes = Modes::new(Choice::best());
    let builder = Builder::new(&modes.narrow, &modes.truncated);
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let log_leaves = below(&mut rng, 8) as u32;
        let cap_height = below(&mut rng, 4) as u32;
        // Tables that enter above the cap are not bound by it.
        let least = cap_height.min(log_leaves);
        let mut tables = vec![random_columns(&mut rng, 3, 1 << log_leaves)];
        for log_height in least..=log_leaves {
            for _ in 0..below(&mut rng, 3) {
                let width = 1 + below(&mut rng, 10);
                let at = below(&mut rng, tables.len() + 1);
                tables.insert(at, random_columns(&mut rng, width, 1 << log_height));
            }
        }
        let views: Vec<_> = tables.iter().map(|columns| table(columns)).collect();
        let tree = mmcs::Tree::build(&builder, &views, None).unwrap();
        let positions = random_positions(&mut rng, log_leaves);
        let siblings = tree.siblings(&positions, cap_height);

        let mmcs = MerkleTreeMmcs::<Packing, Packing, Sponge, Compress, 2, 8>::new(
            Sponge::new(permutation.clone()),
            Compress::new(permutation.clone()),
            cap_height as usize,
        );
        let theirs = |words: &[KoalaBear]| -> Vec<F> {
            words
                .iter()
                .map(|word| F::new(word.to_canonical()))
                .collect()
        };
        let matrices = tables
            .iter()
            .map(|columns| {
                let rows = (0..columns[0].len()).flat_map(|r| columns.iter().map(move |c| c[r]));
                RowMajorMatrix::new(theirs(&rows.collect::<Vec<_>>()), columns.len())
            })
            .collect();
        let (commitment, data) = mmcs.commit(matrices);
        let dimensions: Vec<_> = tables
            .iter()
            .map(|columns| Dimensions {
                width: columns.len(),
                height: columns[0].len(),
            })
            .collect();
        let (rows, proof) = mmcs.open_multi_batch(&positions, &data);
        let digest = |digest: &Digest| -> [F; 8] { theirs(&digest.0).try_into().unwrap() };
        let mut ours = PrunedMerklePaths {
            sibling_hashes: siblings.iter().map(digest).collect(),
        };
        assert_eq!(ours.sibling_hashes, proof.sibling_hashes, "seed {seed}");
        if positions.is_empty() {
            continue;
        }
        let check = |proof: &PrunedMerklePaths<F, 8>| {
            mmcs.verify_multi_batch(&commitment, &dimensions, &positions, &rows, proof)
                .is_ok()
        };
        assert!(check(&ours), "seed {seed}");
        ours.sibling_hashes.push([F::new(0); 8]);
        assert!(!check(&ours), "seed {seed}");

        // And here the rows that it opened.
        let hash = |level: u32, node: usize| {
            let of_height = tables
                .iter()
                .filter(|columns| columns[0].len() == 1 << (log_leaves - level));
            let cells: Vec<_> = of_height
                .flat_map(|columns| columns.iter().map(|column| column[node]))
                .collect();
            (!cells.is_empty()).then(|| modes.narrow.hash_slice(&cells))
        };
        let injected = (1..=log_leaves - least).filter_map(|level| {
            let digests = above(&positions, level).into_iter();
            let digests: Option<Vec<_>> = digests.map(|node| hash(level, node)).collect();
            digests.map(|digests| Injected { level, digests })
        });
        let case = Case {
            log_leaves,
            cap: tree.cap(cap_height).to_vec(),
            leaves: positions.iter().map(|&leaf| tree.layer(0)[leaf]).collect(),
            injected: injected.collect(),
            siblings,
            positions,
        };
        assert_eq!(case.verify(&modes.truncated), Ok(()), "seed {seed}");
        refused(case, &modes.truncated, &mut rng);
    }
}

/// A tree that lacks its lowest layers, and opens with them made again, is the whole tree otherwise.
#[test]
fn trees_without_their_lowest_layers() {
    let modes = Modes::new(Choice::best());
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let log_leaves = below(&mut rng, 14) as u32;
        let mut tables = vec![random_columns(&mut rng, 2, 1 << log_leaves)];
        let mut injected = vec![];
        for level in 1..=log_leaves {
            if below(&mut rng, 2) == 0 {
                let columns = random_columns(&mut rng, 3, 1 << (log_leaves - level));
                let mut digests = vec![Digest::ZERO; columns[0].len()];
                let cells: Vec<_> = columns.iter().map(|column| Cell::Column(column)).collect();
                modes
                    .narrow
                    .hash_rows(&cells, 0..digests.len(), &mut digests);
                tables.push(columns);
                injected.push(Injected { level, digests });
            }
        }
        let builder = Builder::new(&modes.narrow, &modes.truncated)
            .cache_bytes([1 << 12, 1 << 18][seed as usize % 2]);
        let threads = Threads::new(NonZero::new(1 + seed as usize % 3).unwrap()).unwrap();
        let views: Vec<_> = tables.iter().map(|columns| table(columns)).collect();
        let whole = mmcs::Tree::build(&builder, &views, None).unwrap();
        let dropped = below(&mut rng, 5).min(log_leaves as usize) as u32;
        let leaves = whole.layer(0);
        let tree = threads.install(|| {
            mmcs::Tree::over_digests(&builder, leaves, injected.clone(), dropped, None)
        });
        let tree = tree.unwrap();
        assert_eq!(
            (tree.layers_len(), tree.dropped()),
            (whole.layers_len(), dropped)
        );
        let kept = (2 << (log_leaves - dropped)) - 1;
        assert_eq!(tree.digests_len(), kept, "padding aside");
        for k in dropped as usize..tree.layers_len() {
            assert!(tree.layer(k) == whole.layer(k), "seed {seed}, layer {k}");
        }
        let positions = random_positions(&mut rng, log_leaves);
        let subtrees = above(&positions, dropped);
        let part = |digests: &[Digest], level: u32| -> Vec<Digest> {
            let len = 1 << (dropped - level);
            let parts = subtrees
                .iter()
                .map(|&subtree| &digests[subtree * len..][..len]);
            parts.flatten().copied().collect()
        };
        let below_tops = injected.iter().filter(|injected| injected.level < dropped);
        let below_tops: Vec<_> = below_tops
            .map(|injected| Injected {
                level: injected.level,
                digests: part(&injected.digests, injected.level),
            })
            .collect();
        let leaves = part(leaves, 0);
        let lower = Lower::build(&modes.truncated, dropped, subtrees, leaves, &below_tops);
        let cap_height = below(&mut rng, 1 + (log_leaves - dropped) as usize) as u32;
        assert_eq!(
            tree.siblings_with(&lower, &positions, cap_height),
            whole.siblings(&positions, cap_height),
            "seed {seed}"
        );
    }
}
