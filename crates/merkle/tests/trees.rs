//! Trees against published digests, against Plonky3's own crates, and against their definition
//! written out node by node; with every kernel, several thread counts and small caches.

#[path = "trees/bytes.rs"]
mod bytes;
#[path = "trees/opening.rs"]
mod opening;

use std::num::NonZero;
use std::ops::Range;

use lanework_arch::Choice;
use lanework_arch::memory::Slab;
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear;
use lanework_hash::{
    Compression, Digest, MerkleDamgard, PaddingFreeSponge, Poseidon2, RoundConstants, RowHasher,
    TruncatedPermutation,
};
use lanework_merkle::{Builder, Error, RowSource, Table, lineth, mmcs};
use lanework_testkit::cases::Rng;
use lanework_testkit::isas;
use lanework_testkit::vectors::{Vector, koalabear};
use p3_commit::Mmcs as _;
use p3_field::PrimeField32 as _;
use p3_matrix::dense::RowMajorMatrix;
use serde_json::Value;

/// Columns of random cells, zeros and p - 1 among them.
fn random_columns(rng: &mut Rng, width: usize, height: usize) -> Vec<Vec<KoalaBear>> {
    let mut cell = || match rng.next_u64() {
        word if word % 61 == 0 => KoalaBear::ZERO,
        word if word % 61 == 1 => KoalaBear::NEG_ONE,
        word => KoalaBear::from_u64(word),
    };
    (0..width)
        .map(|_| (0..height).map(|_| cell()).collect())
        .collect()
}

fn below(rng: &mut Rng, bound: usize) -> usize {
    rng.in_range(0..bound)
}

fn table(columns: &[Vec<KoalaBear>]) -> Table<'_> {
    Table::new(columns.iter().map(Vec::as_slice).collect()).unwrap()
}

/// One choice for each kernel of this machine, reported.
fn choices(suite: &str) -> Vec<Choice> {
    let choices = Poseidon2::<16>::available();
    let names: Vec<_> = choices.iter().map(ToString::to_string).collect();
    isas::report(suite, &names);
    choices
}

struct Modes {
    chain: MerkleDamgard,
    narrow: PaddingFreeSponge<16, 8>,
    wide: PaddingFreeSponge<24, 16>,
    truncated: TruncatedPermutation,
}

impl Modes {
    fn new(choice: Choice) -> Self {
        let plonky3 = Poseidon2::<16>::new(&RoundConstants::<16>::plonky3_default(), choice);
        let wide = Poseidon2::<24>::new(&RoundConstants::<24>::plonky3_default(), choice);
        let gnark = Poseidon2::<16>::new(&RoundConstants::<16>::gnark(), choice);
        Self {
            chain: MerkleDamgard::new(gnark),
            narrow: PaddingFreeSponge::new(plonky3.clone()),
            wide: PaddingFreeSponge::new(wide),
            truncated: TruncatedPermutation::new(plonky3),
        }
    }
}

fn canonical(digests: &[Digest]) -> Vec<[u32; 8]> {
    digests.iter().map(|digest| digest.to_canonical()).collect()
}

/// The columns of a list of rows of canonical integers.
fn transposed(rows: &[Vec<u32>]) -> Vec<Vec<KoalaBear>> {
    let column = |i: usize| rows.iter().map(|row| KoalaBear::new(row[i])).collect();
    (0..rows[0].len()).map(column).collect()
}

#[test]
fn published_plonky3_trees() {
    let modes = Modes::new(Choice::best());
    let builder = Builder::new(&modes.narrow, &modes.truncated);
    // Trees of other arities are not built here.
    let binary = |vector: &&Vector| vector.input::<usize>("arity") == 2;
    let mut checked = 0;
    for vector in koalabear().with_prefix("p3_tree").filter(binary) {
        let name = &vector.name;
        let matrices: Vec<Vec<Vec<u32>>> = vector.input("matrices_rows");
        let matrices: Vec<_> = matrices.iter().map(|rows| transposed(rows)).collect();
        let tables: Vec<_> = matrices.iter().map(|columns| table(columns)).collect();
        let tree = mmcs::Tree::build(&builder, &tables, None).unwrap();
        assert_eq!(
            tree.root().to_canonical(),
            vector.output::<[u32; 8]>("root"),
            "{name}"
        );
        let lens: Vec<usize> = (0..tree.layers_len())
            .map(|k| tree.layer(k).len())
            .collect();
        assert_eq!(lens, vector.output::<Vec<usize>>("layer_lengths"), "{name}");
        let digests = |key: &str| vector.output::<Vec<[u32; 8]>>(key);
        for (key, k) in [("leaves", 0), ("layer_1", 1)] {
            if vector.outputs().contains_key(key) {
                assert_eq!(canonical(tree.layer(k)), digests(key), "{name}");
            }
        }
        for (key, height) in [("cap_height_1", 1), ("cap_height_2", 2)] {
            if vector.outputs().contains_key(key) {
                assert_eq!(canonical(tree.cap(height)), digests(key), "{name}");
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 7);
}

#[test]
fn published_lineth_leaves_and_nodes() {
    #[derive(serde::Deserialize)]
    struct Row {
        base: Vec<u32>,
        ext: Vec<[u32; 6]>,
    }

    let Modes { chain, .. } = Modes::new(Choice::best());
    let builder = Builder::new(&chain, &chain);
    for name in [
        "lineth_leaf_header",
        "lineth_leaf_pair",
        "lineth_leaf_16_base_columns",
    ] {
        let vector = koalabear().get(name);
        let rows: Vec<Row> = vector.input("rows");
        let rows: Vec<Vec<u32>> = rows
            .into_iter()
            .map(|row| {
                row.base
                    .into_iter()
                    .chain(row.ext.into_iter().flatten())
                    .collect()
            })
            .collect();
        let columns = transposed(&rows);
        let widths = (vector.input("base_width"), vector.input("ext_width"));
        let small = lineth::Table::new(table(&columns), widths.0, widths.1).unwrap();
        let expected = Digest(vector.output::<[u32; 8]>("digest").map(KoalaBear::new));
        if rows.len() == 1 {
            // One row is the leaf of a tree of its own.
            assert_eq!(
                lineth::Tree::build(&builder, &[small], None)
                    .unwrap()
                    .root(),
                expected
            );
        } else {
            // Two rows are an auxiliary digest of the root under any larger table.
            let columns = vec![vec![KoalaBear::ONE; 4]];
            let large = lineth::Table::new(table(&columns), 1, 0).unwrap();
            let alone = lineth::Tree::build(&builder, std::slice::from_ref(&large), None);
            let both = lineth::Tree::build(&builder, &[small, large], None);
            let root = chain.compress(&alone.unwrap().root(), &expected);
            assert_eq!(both.unwrap().root(), root, "{name}");
        }
    }
    for vector in koalabear().with_prefix("lineth_node") {
        let read = |key: &str| {
            let words: Option<[u32; 8]> = vector.input(key);
            words.map(|words| Digest(words.map(KoalaBear::new)))
        };
        let mut node = chain.compress(&read("left").unwrap(), &read("right").unwrap());
        if let Some(aux) = read("aux") {
            node = chain.compress(&node, &aux);
        }
        assert_eq!(
            node.to_canonical(),
            vector.output::<[u32; 8]>("digest"),
            "{}",
            vector.name
        );
    }
}

mod oracle {
    //! The trees of p3-merkle-tree.

    use super::*;
    use p3_koala_bear::{
        KoalaBear as F, default_koalabear_poseidon2_16, default_koalabear_poseidon2_24,
    };
    use p3_merkle_tree::MerkleTreeMmcs;
    use p3_symmetric::{PaddingFreeSponge, TruncatedPermutation};

    type Packing = <F as p3_field::Field>::Packing;
    type Permutation16 = p3_koala_bear::Poseidon2KoalaBear<16>;
    type Permutation24 = p3_koala_bear::Poseidon2KoalaBear<24>;
    type Compress = TruncatedPermutation<Permutation16, 2, 8, 16>;

    /// All digest layers, and the cap of each height that this version allows, as canonical integers.
    pub(super) type Trees = (Vec<Vec<[u32; 8]>>, Vec<(u32, Vec<[u32; 8]>)>);

    pub(super) fn trees(wide: bool, tables: &[Vec<Vec<KoalaBear>>], caps: &[u32]) -> Trees {
        let compress = Compress::new(default_koalabear_poseidon2_16());
        let matrices = || -> Vec<RowMajorMatrix<F>> {
            let matrix = |columns: &Vec<Vec<KoalaBear>>| {
                let rows = (0..columns[0].len()).flat_map(|r| columns.iter().map(move |c| c[r]));
                let cells = rows.map(|cell| F::new(cell.to_canonical())).collect();
                RowMajorMatrix::new(cells, columns.len())
            };
            tables.iter().map(matrix).collect()
        };
        macro_rules! commit {
            ($sponge:ty, $permutation:expr) => {{
                let commit = |cap: u32| {
                    MerkleTreeMmcs::<Packing, Packing, $sponge, Compress, 2, 8>::new(
                        <$sponge>::new($permutation),
                        compress.clone(),
                        cap as usize,
                    )
                    .commit(matrices())
                };
                let read = |value: Value| -> Vec<[u32; 8]> {
                    let words: Vec<[u32; 8]> = serde_json::from_value(value).unwrap();
                    let canonical = |word| {
                        KoalaBear::from_montgomery_word(word)
                            .unwrap()
                            .to_canonical()
                    };
                    words
                        .into_iter()
                        .map(|digest| digest.map(canonical))
                        .collect()
                };
                let layers = serde_json::to_value(&commit(0).1).unwrap()["digest_layers"].take();
                let Value::Array(layers) = layers else {
                    panic!("layers are a list")
                };
                let layers: Vec<_> = layers.into_iter().map(read).collect();
                // It panics where a padded layer cuts the cap to another length than a power of two.
                let allowed = caps.iter().filter(|&&cap| {
                    let below = (layers.len() - 1).min(cap as usize);
                    layers[layers.len() - 1 - below].len().min(1 << below).is_power_of_two()
                });
                let caps = allowed.map(|&cap| {
                    let canonical = |digest: &[F; 8]| digest.map(|word| word.as_canonical_u32());
                    (cap, commit(cap).0.roots().iter().map(canonical).collect())
                });
                let caps = caps.collect();
                (layers, caps)
            }};
        }
        if wide {
            commit!(PaddingFreeSponge<Permutation24, 24, 16, 8>, default_koalabear_poseidon2_24())
        } else {
            commit!(PaddingFreeSponge<Permutation16, 16, 8, 8>, default_koalabear_poseidon2_16())
        }
    }
}

#[test]
fn every_layer_and_cap_is_that_of_plonky3() {
    let modes: Vec<Modes> = choices("mmcs").into_iter().map(Modes::new).collect();
    for seed in 0..60_u64 {
        let mut rng = Rng::new(seed);
        // Mostly small trees of any height, now and then one that needs several climbs.
        let max_height = match seed % 6 {
            0 => 1 + below(&mut rng, 9),
            1 => 1 << below(&mut rng, 9),
            2 => 2000 + below(&mut rng, 3000),
            _ => 1 + below(&mut rng, 700),
        };
        let mut tables: Vec<Vec<Vec<KoalaBear>>> = Vec::new();
        let mut height = max_height;
        loop {
            let count = if height == max_height {
                1 + below(&mut rng, 2)
            } else {
                below(&mut rng, 3).min(below(&mut rng, 3))
            };
            for _ in 0..count {
                let width = 1 + below(&mut rng, 20);
                let position = below(&mut rng, tables.len() + 1);
                tables.insert(position, random_columns(&mut rng, width, height));
            }
            if height == 1 {
                break;
            }
            height = height.div_ceil(2);
        }
        let caps: Vec<u32> = (0..4).map(|_| below(&mut rng, 14) as u32).collect();
        let wide = below(&mut rng, 2) == 1;
        let heights: Vec<_> = tables.iter().map(|columns| columns[0].len()).collect();
        let shown = format!("seed {seed}, heights {heights:?}");
        let (expected_layers, expected_caps) = oracle::trees(wide, &tables, &caps);
        let views: Vec<_> = tables.iter().map(|columns| table(columns)).collect();
        for (index, modes) in modes.iter().enumerate() {
            let hasher: &dyn RowHasher = if wide { &modes.wide } else { &modes.narrow };
            let builder =
                Builder::new(hasher, &modes.truncated).cache_bytes([1 << 12, 1 << 18][index % 2]);
            let threads = Threads::new(NonZero::new(1 + index % 3).unwrap()).unwrap();
            let tree = threads
                .install(|| mmcs::Tree::build(&builder, &views, None))
                .unwrap();
            let layers: Vec<_> = (0..tree.layers_len())
                .map(|k| canonical(tree.layer(k)))
                .collect();
            assert_eq!(layers, expected_layers, "{shown}");
            for (height, expected) in &expected_caps {
                assert_eq!(
                    &canonical(tree.cap(*height)),
                    expected,
                    "{shown}, cap {height}"
                );
            }
        }
    }
}

/// The node at `index` of `depth`, from its definition.
fn defined(
    chain: &MerkleDamgard,
    tables: &[(Vec<Vec<KoalaBear>>, usize)],
    depth: u32,
    index: usize,
) -> Digest {
    let max_height = tables
        .iter()
        .map(|(columns, _)| columns[0].len())
        .max()
        .unwrap();
    let message = |(columns, ext_width): &(Vec<Vec<KoalaBear>>, usize), rows: &[usize]| {
        let widths = [columns.len() - 6 * ext_width, *ext_width];
        let header = [1667989395, widths[0] as u32, widths[1] as u32].map(KoalaBear::new);
        let cells = rows
            .iter()
            .flat_map(|&row| columns.iter().map(move |column| column[row]));
        chain.hash_slice(&header.into_iter().chain(cells).collect::<Vec<_>>())
    };
    let of_height = |height: usize| {
        tables
            .iter()
            .find(|(columns, _)| columns[0].len() == height)
    };
    if max_height == 1 << depth {
        return message(of_height(max_height).unwrap(), &[index]);
    }
    let child = |side| defined(chain, tables, depth + 1, 2 * index + side);
    let node = chain.compress(&child(0), &child(1));
    match of_height(2 << depth).filter(|_| 2 << depth < max_height) {
        Some(table) => chain.compress(&node, &message(table, &[2 * index, 2 * index + 1])),
        None => node,
    }
}

#[test]
fn lineth_trees_follow_their_definition() {
    let chains: Vec<_> = choices("lineth")
        .into_iter()
        .map(|c| Modes::new(c).chain)
        .collect();
    for seed in 0..40_u64 {
        let mut rng = Rng::new(seed);
        let log_max = below(&mut rng, 11);
        let mut tables = Vec::new();
        for log_height in (0..=log_max).rev() {
            if log_height == log_max || below(&mut rng, 2) == 0 {
                let (base_width, ext_width) = (below(&mut rng, 12), below(&mut rng, 4));
                let base_width = if ext_width == 0 {
                    base_width.max(1)
                } else {
                    base_width
                };
                let columns = random_columns(&mut rng, base_width + 6 * ext_width, 1 << log_height);
                tables.insert(below(&mut rng, tables.len() + 1), (columns, ext_width));
            }
        }
        let views: Vec<_> = tables
            .iter()
            .map(|(columns, ext_width)| {
                lineth::Table::new(table(columns), columns.len() - 6 * ext_width, *ext_width)
                    .unwrap()
            })
            .collect();
        let oracle = Modes::new(Choice::portable()).chain;
        let expected_root = defined(&oracle, &tables, 0, 0);
        let (depth, index) = (
            below(&mut rng, log_max + 1) as u32,
            below(&mut rng, 1 << log_max),
        );
        let index = index % (1 << depth);
        let expected_node = defined(&oracle, &tables, depth, index);
        for (which, chain) in chains.iter().enumerate() {
            let builder = Builder::new(chain, chain).cache_bytes([1 << 12, 1 << 18][which % 2]);
            let threads = Threads::new(NonZero::new(1 + which % 3).unwrap()).unwrap();
            let tree = threads
                .install(|| lineth::Tree::build(&builder, &views, None))
                .unwrap();
            assert_eq!(tree.root(), expected_root, "seed {seed}");
            assert_eq!(tree.level(depth)[index], expected_node, "seed {seed}");
            assert_eq!(
                tree.node((1 << depth) - 1 + index),
                expected_node,
                "seed {seed}"
            );
            assert_eq!(tree.digests_len(), (2 << log_max) - 1);
        }
    }
}

#[test]
fn used_memory_does_not_show() {
    let Modes {
        narrow, truncated, ..
    } = Modes::new(Choice::best());
    let builder = Builder::new(&narrow, &truncated);
    let build = |height: usize, spare: Option<Slab<Digest>>| {
        let columns = random_columns(&mut Rng::new(7), 3, height);
        mmcs::Tree::build(&builder, &[table(&columns)], spare).unwrap()
    };
    // From larger, so that padding falls on digests; then to larger again.
    let mut spare = build(1000, None).into_slab();
    for height in [333, 5, 1, 777, 4000] {
        let (fresh, reused) = (build(height, None), build(height, Some(spare)));
        for k in 0..fresh.layers_len() {
            assert_eq!(
                fresh.layer(k),
                reused.layer(k),
                "height {height}, layer {k}"
            );
        }
        spare = reused.into_slab();
    }
}

#[test]
fn tables_that_fit_no_tree_are_errors() {
    let Modes {
        chain,
        narrow,
        truncated,
        ..
    } = Modes::new(Choice::best());
    let of = |height: usize| vec![vec![KoalaBear::ONE; height]];
    let (seven, four, three, one, none) = (of(7), of(4), of(3), of(1), of(0));

    let builder = Builder::new(&narrow, &truncated);
    let build = |tables: &[&Vec<Vec<KoalaBear>>]| {
        let tables: Vec<_> = tables.iter().map(|columns| table(columns)).collect();
        mmcs::Tree::build(&builder, &tables, None).map(|tree| tree.layers_len())
    };
    assert_eq!(build(&[&seven, &four, &one]), Ok(4));
    assert_eq!(build(&[]), Err(Error::NoTables));
    assert_eq!(build(&[&none]), Err(Error::NoRows { table: 0 }));
    assert_eq!(build(&[&seven, &none]), Err(Error::NoRows { table: 1 }));
    assert_eq!(
        build(&[&seven, &Vec::new()]),
        Err(Error::NoColumns { table: 1 })
    );
    let error = Error::IncompatibleHeight {
        table: 0,
        height: 3,
        max_height: 7,
        expected: 4,
    };
    assert_eq!(build(&[&three, &seven]), Err(error));

    let builder = Builder::new(&chain, &chain);
    let build = |tables: &[&Vec<Vec<KoalaBear>>]| {
        let tables: Vec<_> = tables
            .iter()
            .map(|columns| lineth::Table::new(table(columns), columns.len(), 0).unwrap())
            .collect();
        lineth::Tree::build(&builder, &tables, None).map(|tree| tree.log_leaves())
    };
    assert_eq!(build(&[&one, &four]), Ok(2));
    assert_eq!(build(&[]), Err(Error::NoTables));
    assert_eq!(build(&[&Vec::new()]), Err(Error::NoColumns { table: 0 }));
    assert_eq!(build(&[&none]), Err(Error::NoRows { table: 0 }));
    assert_eq!(
        build(&[&four, &three]),
        Err(Error::HeightNotPowerOfTwo {
            table: 1,
            height: 3
        })
    );
    assert_eq!(
        build(&[&four, &one, &four]),
        Err(Error::SameHeight {
            table: 2,
            height: 4
        })
    );

    let error = Error::UnequalColumns {
        column: 1,
        expected: 4,
        got: 3,
    };
    assert_eq!(Table::new(vec![&four[0], &three[0]]).unwrap_err(), error);
    let error = Error::UnequalWidths {
        base_width: 0,
        ext_width: 1,
        got: 1,
    };
    assert_eq!(lineth::Table::new(table(&four), 0, 1).unwrap_err(), error);
}

/// Columns that are handed out as rows of blocks.
struct Copied<'a>(&'a [Vec<KoalaBear>]);

impl RowSource for Copied<'_> {
    fn width(&self) -> usize {
        self.0.len()
    }

    fn height(&self) -> usize {
        self.0[0].len()
    }

    fn copy_columns(&self, rows: Range<usize>, columns: &mut [KoalaBear], stride: usize) {
        assert_eq!(columns.len(), self.width() * stride);
        for (target, column) in columns.chunks_exact_mut(stride).zip(self.0) {
            target[..rows.len()].copy_from_slice(&column[rows.clone()]);
        }
    }
}

#[test]
fn rows_that_are_copied_give_the_tree_of_the_columns() {
    let mut rng = Rng::new(9);
    let modes = Modes::new(Choice::best());
    let builder = Builder::new(&modes.wide, &modes.truncated);
    for shapes in [
        vec![(1, 1)],
        vec![(33, 7)],
        vec![(4096, 3), (1024, 40)],
        vec![(500, 2), (1000, 17), (1000, 1), (63, 600), (1, 5)],
    ] {
        let tables: Vec<_> = shapes
            .iter()
            .map(|&(height, width)| random_columns(&mut rng, width, height))
            .collect();
        let by_columns: Vec<_> = tables.iter().map(|columns| table(columns)).collect();
        let copied: Vec<_> = tables.iter().map(|columns| Copied(columns)).collect();
        let sources: Vec<_> = copied.iter().map(|rows| rows as &dyn RowSource).collect();
        for threads in 1..=3 {
            let threads = Threads::new(NonZero::new(threads).unwrap()).unwrap();
            threads.install(|| {
                let expected = mmcs::Tree::build(&builder, &by_columns, None).unwrap();
                let tree = mmcs::Tree::build_from_rows(&builder, &sources, None).unwrap();
                assert_eq!(tree.layers_len(), expected.layers_len());
                for k in 0..tree.layers_len() {
                    assert_eq!(tree.layer(k), expected.layer(k), "{shapes:?}, layer {k}");
                }
            });
        }
    }
    assert_eq!(
        mmcs::Tree::build_from_rows(&builder, &[], None).err(),
        Some(Error::NoTables)
    );
}
