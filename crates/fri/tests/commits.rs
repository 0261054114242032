//! Whole commitments: against published roots and digests, against Plonky3's own crates, and against
//! each other for every kernel, thread count, memory mode and kind of source.

#[path = "commits/rows.rs"]
mod rows;

use std::num::NonZero;

use lanework_arch::Choice;
use lanework_arch::memory::{Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear;
use lanework_field::koala::{Ext4, Ext6};
use lanework_fri::synthetic::{Columns as GeneratedColumns, Generator};
use lanework_fri::{
    ColumnSource, Commitment, Committer, Error, Format, Group, MemoryMode, Params, Shape, Sponge,
    Table, Tree, commit,
};
use lanework_hash::{Digest, Poseidon2, RoundConstants};
use lanework_testkit::cases::Rng;
use lanework_testkit::isas;
use lanework_testkit::vectors::{LinethRoot, koalabear, lineth_roots};

const NARROW: Format = Format::Plonky3 {
    sponge: Sponge::Width16,
};
const WIDE: Format = Format::Plonky3 {
    sponge: Sponge::Width24,
};

type Columns = Vec<Vec<KoalaBear>>;

/// One choice for each kernel of this machine, reported.
fn choices(suite: &str) -> Vec<Choice> {
    let choices = Poseidon2::<16>::available();
    let names: Vec<_> = choices.iter().map(ToString::to_string).collect();
    isas::report(suite, &names);
    choices
}

fn elements(canonical: &[u32]) -> Vec<KoalaBear> {
    canonical.iter().map(|&word| KoalaBear::new(word)).collect()
}

fn canonical(digests: &[Digest]) -> Vec<[u32; 8]> {
    digests.iter().map(|digest| digest.to_canonical()).collect()
}

fn random_columns(rng: &mut Rng, width: usize, log_rows: u32) -> Columns {
    let mut cell = || match rng.below(40) {
        0 => KoalaBear::ZERO,
        1 => KoalaBear::NEG_ONE,
        _ => KoalaBear::from_u64(rng.next_u64()),
    };
    (0..width)
        .map(|_| (0..1 << log_rows).map(|_| cell()).collect())
        .collect()
}

fn borrowed(columns: &Columns) -> Table<'_> {
    Table::borrowed(columns.iter().map(Vec::as_slice).collect()).unwrap()
}

fn params(format: Format, log_inv_rate: u32) -> Params {
    Params::builder(format)
        .log_inv_rate(log_inv_rate)
        .build()
        .unwrap()
}

fn root_of(root: &LinethRoot, committer: &Committer) -> [u32; 8] {
    let generator = Generator::Lineth { seed: 1 };
    let table = committer
        .threads()
        .install(|| generator.table(root.log_rows, root.columns, Pages::Huge))
        .unwrap();
    let (commitment, ..) = committer.commit(vec![table]).unwrap();
    commitment.root().unwrap().to_canonical()
}

fn published_root(name: &str) {
    let root = lineth_roots()
        .iter()
        .find(|root| root.name == name)
        .unwrap();
    assert_eq!(root.log_inverse_rate, 1);
    let committer = Committer::new(params(Format::Lineth, 1)).unwrap();
    assert_eq!(root_of(root, &committer), root.canonical);
}

#[test]
fn published_root_of_a_wide_table() {
    published_root("2^12x4096");
}

#[test]
#[ignore = "large"]
fn published_root_of_a_square_table() {
    published_root("2^16x256");
}

#[test]
#[ignore = "large"]
fn published_root_of_a_tall_table() {
    published_root("2^20x16");
}

#[test]
fn generated_lineth_commitments() {
    for choice in choices("lineth commitments") {
        for vector in koalabear().with_prefix("lineth_generated") {
            let name = &vector.name;
            let params = Params::builder(Format::Lineth)
                .log_inv_rate(vector.input("log_inverse_rate"))
                .choice(choice)
                .build()
                .unwrap();
            let generator = Generator::Lineth {
                seed: vector.input("seed"),
            };
            let (log_rows, width) = (vector.input("log_rows"), vector.input("columns"));
            let table = generator.table(log_rows, width, Pages::Normal).unwrap();
            if vector.outputs().contains_key("columns") {
                for (i, column) in vector.output::<Vec<Vec<u32>>>("columns").iter().enumerate() {
                    assert_eq!(table.column(i), elements(column), "{name}");
                }
            }
            let (commitment, data, _) = commit(&params, vec![table]).unwrap();
            let root = commitment.root().unwrap();
            assert_eq!(
                root.to_canonical(),
                vector.output::<[u32; 8]>("root_canonical"),
                "{name}"
            );
            let words = root.0.map(KoalaBear::montgomery_word);
            assert_eq!(
                words,
                vector.output::<[u32; 8]>("root_montgomery_words"),
                "{name}"
            );
            if vector.outputs().contains_key("leaf_0") {
                let Tree::Lineth(tree) = data.tree() else {
                    panic!("{name}")
                };
                let leaf = tree.level(tree.log_leaves())[0];
                assert_eq!(
                    leaf.to_canonical(),
                    vector.output::<[u32; 8]>("leaf_0"),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn published_lineth_commitment_of_extension_columns() {
    #[derive(serde::Deserialize)]
    struct Sized {
        size_log2: u32,
        ext_first_limbs: Vec<Vec<u32>>,
    }

    let vector = koalabear().get("lineth_normal_flow_commit");
    let sizes: Vec<Sized> = vector.input("tables");
    let tables = sizes.iter().map(|size| {
        let mut columns = Columns::new();
        for limbs in &size.ext_first_limbs {
            columns.push(elements(limbs));
            columns.extend(vec![vec![KoalaBear::ZERO; 1 << size.size_log2]; 5]);
        }
        Table::vectors(columns)
            .unwrap()
            .with_extension(0, 6)
            .unwrap()
    });
    let params = params(Format::Lineth, vector.input("log_inverse_rate"));
    let (commitment, data, _) = commit(&params, tables.collect()).unwrap();
    let expected: [u32; 8] = vector.output("root");
    assert_eq!(commitment.root().unwrap().to_canonical(), expected);
    let Tree::Lineth(tree) = data.tree() else {
        panic!("format")
    };
    for (key, depth) in [("cap_depth_2_nodes", 2), ("leaves", 3)] {
        assert_eq!(
            canonical(tree.level(depth)),
            vector.output::<Vec<[u32; 8]>>(key),
            "{key}"
        );
    }
    assert_eq!(tree.node(0).to_canonical(), expected);
}

#[test]
fn lineth_codewords() {
    for vector in koalabear().with_prefix("lineth_encode") {
        let column = elements(&vector.input::<Vec<u32>>("column_natural_order"));
        let params = params(Format::Lineth, vector.input("log_inverse_rate"));
        let table = Table::borrowed(vec![&column]).unwrap();
        let (_, data, _) = commit(&params, vec![table]).unwrap();
        let (key, _) = vector.outputs().iter().next().unwrap();
        let expected = elements(&vector.output::<Vec<u32>>(key));
        assert_eq!(data.codewords()[0].column(0), expected, "{}", vector.name);
    }
}

#[test]
fn plonky3_vectors() {
    let columns = |rows: &[Vec<u32>]| -> Columns {
        (0..rows[0].len())
            .map(|i| rows.iter().map(|row| KoalaBear::new(row[i])).collect())
            .collect()
    };
    for vector in koalabear().with_prefix("p3_lde") {
        let input = columns(&vector.input::<Vec<Vec<u32>>>("rows_natural_order"));
        let params = params(NARROW, vector.input("log_blowup"));
        let (_, data, _) = commit(&params, vec![borrowed(&input)]).unwrap();
        let expected = vector.output::<Vec<Vec<u32>>>("rows_bit_reversed");
        for (i, row) in expected.iter().enumerate() {
            assert!(
                data.codewords()[0].row(i).eq(elements(row)),
                "{} row {i}",
                vector.name
            );
        }
    }
    // The two trees whose tables are themselves extensions of known columns.
    let tall = vec![elements(&[1, 3, 5, 7]), elements(&[2, 4, 6, 8])];
    let short = vec![elements(&[9, 10])];
    for (name, tables) in [
        ("p3_tree_lde_4x2", vec![&tall]),
        ("p3_tree_mixed_heights_8_4", vec![&tall, &short]),
        (
            "p3_tree_order_independent_of_insertion_between_heights",
            vec![&short, &tall],
        ),
    ] {
        let vector = koalabear().get(name);
        let tables: Vec<_> = tables.into_iter().map(borrowed).collect();
        let (commitment, ..) = commit(&params(NARROW, 1), tables).unwrap();
        let expected = vector.output::<[u32; 8]>("root");
        assert_eq!(
            commitment.root().unwrap().to_canonical(),
            expected,
            "{name}"
        );
    }
}

mod oracle {
    //! Extension and tree of the p3 crates.

    use super::Columns;
    use lanework_field::KoalaBear;
    use lanework_fri::Shape;
    use lanework_hash::Digest;
    use p3_commit::Mmcs as _;
    use p3_dft::{Radix2DitParallel, TwoAdicSubgroupDft as _};
    use p3_field::{Field, PrimeCharacteristicRing as _, PrimeField32 as _};
    use p3_koala_bear::{
        KoalaBear as F, Poseidon2KoalaBear, default_koalabear_poseidon2_16,
        default_koalabear_poseidon2_24,
    };
    use p3_matrix::bitrev::BitReversibleMatrix as _;
    use p3_matrix::dense::RowMajorMatrix;
    use p3_matrix::{Dimensions, Matrix as _};
    use p3_merkle_tree::{MerkleCap, MerkleTreeMmcs, PrunedMerklePaths};
    use p3_symmetric::{PaddingFreeSponge, TruncatedPermutation};

    type Packing = <F as Field>::Packing;
    type Compress = TruncatedPermutation<Poseidon2KoalaBear<16>, 2, 8, 16>;
    type Narrow = PaddingFreeSponge<Poseidon2KoalaBear<16>, 16, 8, 8>;
    type Wide = PaddingFreeSponge<Poseidon2KoalaBear<24>, 24, 16, 8>;

    /// The rows of the extension of a table in bit-reversed order, as canonical integers.
    pub(super) fn extension(columns: &Columns, log_inv_rate: u32) -> Vec<Vec<u32>> {
        let matrix = extended(columns, log_inv_rate);
        matrix
            .rows()
            .map(|row| row.map(|cell| cell.as_canonical_u32()).collect())
            .collect()
    }

    fn extended(columns: &Columns, log_inv_rate: u32) -> RowMajorMatrix<F> {
        let rows = (0..columns[0].len()).flat_map(|r| columns.iter().map(move |column| column[r]));
        let cells: Vec<F> = rows
            .map(|cell: KoalaBear| F::new(cell.to_canonical()))
            .collect();
        Radix2DitParallel::default()
            .coset_lde_batch(
                RowMajorMatrix::new(cells, columns.len()),
                log_inv_rate as usize,
                F::from_u32(3),
            )
            .bit_reverse_rows()
            .to_row_major_matrix()
    }

    /// Whether Plonky3 accepts rows and siblings of an opening, `rows` being those of each position and
    /// table, under a commitment in the narrow format.
    pub(super) fn accepts(
        commitment: &[Digest],
        shapes: &[Shape],
        log_inv_rate: u32,
        positions: &[usize],
        rows: &[Vec<Vec<KoalaBear>>],
        siblings: &[Digest],
    ) -> bool {
        let theirs = |words: &[KoalaBear]| -> Vec<F> {
            let word = |word: &KoalaBear| F::new(word.to_canonical());
            words.iter().map(word).collect()
        };
        let digest = |digest: &Digest| -> [F; 8] { theirs(&digest.0).try_into().unwrap() };
        let mmcs = MerkleTreeMmcs::<Packing, Packing, _, _, 2, 8>::new(
            Narrow::new(default_koalabear_poseidon2_16()),
            Compress::new(default_koalabear_poseidon2_16()),
            commitment.len().ilog2() as usize,
        );
        let dimensions: Vec<_> = shapes
            .iter()
            .map(|shape| Dimensions {
                width: shape.columns_len(),
                height: 1 << (shape.log_rows + log_inv_rate),
            })
            .collect();
        let rows: Vec<Vec<Vec<F>>> = rows
            .iter()
            .map(|tables| tables.iter().map(|row| theirs(row)).collect())
            .collect();
        let proof = PrunedMerklePaths {
            sibling_hashes: siblings.iter().map(digest).collect(),
        };
        let cap = MerkleCap::new(commitment.iter().map(digest).collect());
        mmcs.verify_multi_batch(&cap, &dimensions, positions, &rows, &proof)
            .is_ok()
    }

    pub(super) fn cap(
        wide: bool,
        tables: &[Columns],
        log_inv_rate: u32,
        cap_height: u32,
    ) -> Vec<[u32; 8]> {
        let matrices = tables
            .iter()
            .map(|columns| extended(columns, log_inv_rate))
            .collect();
        let compress = Compress::new(default_koalabear_poseidon2_16());
        let cap = if wide {
            let sponge = Wide::new(default_koalabear_poseidon2_24());
            MerkleTreeMmcs::<Packing, Packing, _, _, 2, 8>::new(
                sponge,
                compress,
                cap_height as usize,
            )
            .commit(matrices)
            .0
        } else {
            let sponge = Narrow::new(default_koalabear_poseidon2_16());
            MerkleTreeMmcs::<Packing, Packing, _, _, 2, 8>::new(
                sponge,
                compress,
                cap_height as usize,
            )
            .commit(matrices)
            .0
        };
        cap.roots()
            .iter()
            .map(|digest| digest.map(|word| word.as_canonical_u32()))
            .collect()
    }
}

#[test]
fn caps_are_those_of_plonky3() {
    let choices = choices("Plonky3 commitments");
    for seed in 0..50_u64 {
        let mut rng = Rng::new(seed);
        let log_max = match seed % 5 {
            0 => rng.in_range(9..13) as u32,
            _ => rng.in_range(0..9) as u32,
        };
        let log_inv_rate = rng.in_range(1..5) as u32;
        let mut tables = vec![];
        for log_rows in 0..=log_max {
            let count = if log_rows == log_max {
                1 + rng.below(2)
            } else {
                rng.below(2)
            };
            for _ in 0..count {
                let width = rng.in_range(1..if log_rows > 8 { 12 } else { 40 });
                let place = rng.in_range(0..tables.len() + 1);
                tables.insert(place, random_columns(&mut rng, width, log_rows));
            }
        }
        let cap_height = rng.in_range(0..6) as u32;
        let wide = rng.below(2) == 0;
        let expected = oracle::cap(wide, &tables, log_inv_rate, cap_height);
        let choice = choices[rng.in_range(0..choices.len())];
        let params = Params::builder(if wide { WIDE } else { NARROW })
            .log_inv_rate(log_inv_rate)
            .cap_height(cap_height)
            .choice(choice)
            .build()
            .unwrap();
        let views = tables.iter().map(borrowed).collect();
        let (commitment, data, report) = commit(&params, views).unwrap();
        let shown = format!("seed {seed}, {choice}, rate 2^{log_inv_rate}, cap {cap_height}");
        for (codeword, columns) in data.codewords().iter().zip(&tables) {
            for (r, row) in oracle::extension(columns, log_inv_rate).iter().enumerate() {
                assert!(codeword.row(r).eq(elements(row)), "{shown}, row {r}");
            }
        }
        assert_eq!(canonical(commitment.digests()), expected, "{shown}");
        assert_eq!(commitment.root().is_some(), expected.len() == 1, "{shown}");
        let cells: usize = tables
            .iter()
            .map(|columns| columns.len() * columns[0].len())
            .sum();
        assert_eq!(report.witness_bytes, 4 * cells as u64, "{shown}");
        assert_eq!(
            report.codeword_bytes,
            (4 * cells as u64) << log_inv_rate,
            "{shown}"
        );
        assert_eq!(
            report.digest_bytes,
            ((2 << (log_max + log_inv_rate)) - 1) * 32,
            "{shown}"
        );
    }
}

/// A source that copies its columns out of rows.
struct Rows {
    shape: Shape,
    cells: Vec<KoalaBear>,
}

impl ColumnSource for Rows {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn column<'a>(&'a self, index: usize, buffer: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        let rows = self.cells.chunks_exact(self.shape.columns_len());
        buffer
            .iter_mut()
            .zip(rows)
            .for_each(|(cell, row)| *cell = row[index]);
        buffer
    }
}

/// Any source, so that one commitment can mix them.
type Source<'a> = Box<dyn ColumnSource + 'a>;

/// A batch of tables in forms that begin with `kind`, the first of them with extension columns.
fn sources(tables: &[Columns], kind: usize) -> Vec<Source<'_>> {
    (kind..)
        .zip(tables)
        .map(|(form, columns)| source(columns, form, form == kind))
        .collect()
}

fn source(columns: &Columns, form: usize, extended: bool) -> Source<'_> {
    let shape = Shape::base(columns[0].len().ilog2(), columns.len());
    let table = match form % 4 {
        0 => borrowed(columns),
        1 => Table::vectors(columns.clone()).unwrap(),
        2 => {
            let mut slab = Slab::zeroed(columns.len() * columns[0].len(), Pages::Normal).unwrap();
            slab.copy_from_slice(&columns.concat());
            Table::slab(slab, shape).unwrap()
        }
        _ => {
            let rows = (0..columns[0].len()).flat_map(|r| columns.iter().map(move |c| c[r]));
            let shape = if extended {
                Shape {
                    base_width: 1,
                    ext_width: 2,
                    ext_degree: 6,
                    ..shape
                }
            } else {
                shape
            };
            return Box::new(Rows {
                shape,
                cells: rows.collect(),
            });
        }
    };
    Box::new(if extended {
        table.with_extension(1, 6).unwrap()
    } else {
        table
    })
}

#[test]
fn nothing_but_format_and_rate_shows_in_the_root() {
    let choices = choices("commitments");
    let mut rng = Rng::new(11);
    let tables = [(13, 9), (70, 6), (1, 2), (3, 0)]
        .map(|(width, log_rows)| random_columns(&mut rng, width, log_rows));
    for format in [Format::Lineth, NARROW, WIDE] {
        for log_inv_rate in [1, 2, 3, 4] {
            let plain = Params::builder(format)
                .log_inv_rate(log_inv_rate)
                .choice(Choice::portable())
                .threads(NonZero::new(1))
                .pages(Pages::Normal);
            let expected = commit(&plain.clone().build().unwrap(), sources(&tables, 0))
                .unwrap()
                .0;
            for (which, &choice) in choices.iter().enumerate() {
                for threads in 1..=3 {
                    for memory in [MemoryMode::Keep, MemoryMode::Consume, MemoryMode::Streaming] {
                        let params = plain
                            .clone()
                            .choice(choice)
                            .threads(NonZero::new(threads))
                            .memory(memory)
                            .group_bytes(threads << 12)
                            .pages(Pages::Huge)
                            .build()
                            .unwrap();
                        let sources = sources(&tables, which + threads);
                        let (commitment, data, report) = commit(&params, sources).unwrap();
                        let shown =
                            format!("{format:?} {log_inv_rate} {choice} {threads} {memory:?}");
                        assert_eq!(commitment, expected, "{shown}");
                        let kept = if memory == MemoryMode::Consume {
                            0
                        } else {
                            tables.len()
                        };
                        assert_eq!(data.tables().len(), kept, "{shown}");
                        assert_eq!(report.threads.get(), threads, "{shown}");
                        assert_eq!(report.choice, choice, "{shown}");
                    }
                }
            }
        }
    }
}

#[test]
fn extension_columns_are_their_limbs() {
    let mut rng = Rng::new(31);
    let base = random_columns(&mut rng, 2, 5);
    let limbs = random_columns(&mut rng, 12, 5);
    let base: Vec<_> = base.iter().map(Vec::as_slice).collect();
    let sextic = |first: usize| -> Vec<Ext6> {
        (0..32)
            .map(|r| Ext6(std::array::from_fn(|i| limbs[first + i][r])))
            .collect()
    };
    let quartic = |first: usize| -> Vec<Ext4> {
        (0..32)
            .map(|r| Ext4(std::array::from_fn(|i| limbs[first + i][r])))
            .collect()
    };
    let columns = base
        .iter()
        .copied()
        .chain(limbs.iter().map(Vec::as_slice))
        .collect();
    let flat = Table::borrowed(columns).unwrap();
    let (a, b) = (sextic(0), sextic(6));
    let table = Table::copied(&base, &[&a, &b], Pages::Normal).unwrap();
    assert_eq!(
        table.shape(),
        Shape {
            log_rows: 5,
            base_width: 2,
            ext_width: 2,
            ext_degree: 6
        }
    );
    assert!((0..14).all(|i| table.column(i) == flat.column(i)));
    let (a, b, c) = (quartic(0), quartic(4), quartic(8));
    let table = Table::copied(&base, &[&a, &b, &c], Pages::Normal).unwrap();
    assert_eq!(
        table.shape(),
        Shape {
            log_rows: 5,
            base_width: 2,
            ext_width: 3,
            ext_degree: 4
        }
    );
    assert!((0..14).all(|i| table.column(i) == flat.column(i)));
    let error = Table::copied(&base, &[&a[1..]], Pages::Normal).unwrap_err();
    assert_eq!(
        error,
        Error::UnequalColumns {
            column: 2,
            expected: 32,
            got: 31
        }
    );
}

#[test]
fn used_memory_does_not_show() {
    let mut rng = Rng::new(5);
    let committer = Committer::new(params(WIDE, 1)).unwrap();
    for (width, log_rows) in [(9, 8), (40, 5), (2, 10), (9, 8), (1, 0), (17, 9)] {
        let tables = [
            random_columns(&mut rng, width, log_rows),
            random_columns(&mut rng, 3, 3),
        ];
        let fresh = commit(committer.params(), tables.iter().map(borrowed).collect()).unwrap();
        let (commitment, data, _) = committer
            .commit(tables.iter().map(borrowed).collect())
            .unwrap();
        assert_eq!(commitment, fresh.0);
        for (ours, fresh) in data.codewords().iter().zip(fresh.1.codewords()) {
            assert!((0..fresh.height()).all(|r| ours.row(r).eq(fresh.row(r))));
        }
        assert_eq!(committer.recycle(data).len(), 2);
    }
}

#[test]
fn commitments_at_the_same_time() {
    let mut rng = Rng::new(17);
    let tables: Vec<Columns> = (0..6)
        .map(|i| random_columns(&mut rng, 5 + i, 6 + i as u32 % 3))
        .collect();
    let expected: Vec<Commitment> = tables
        .iter()
        .map(|table| commit(&params(NARROW, 1), vec![borrowed(table)]).unwrap().0)
        .collect();
    for threads in [None, NonZero::new(1), NonZero::new(2)] {
        let params = Params::builder(NARROW).threads(threads).build().unwrap();
        let shared = Committer::new(params).unwrap();
        std::thread::scope(|scope| {
            for (table, expected) in tables.iter().zip(&expected) {
                let shared = &shared;
                scope.spawn(move || {
                    for _ in 0..5 {
                        let (commitment, data, _) = shared.commit(vec![borrowed(table)]).unwrap();
                        assert_eq!(&commitment, expected);
                        shared.recycle(data);
                    }
                });
            }
        });
    }
}

#[test]
fn the_pool_of_the_caller_is_used() {
    let mut rng = Rng::new(23);
    let table = random_columns(&mut rng, 20, 8);
    let shared = Committer::new(params(Format::Lineth, 1)).unwrap();
    let expected = shared.commit(vec![borrowed(&table)]).unwrap().0;
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            use rayon::prelude::*;
            let (commitment, _, report) = shared.commit(vec![borrowed(&table)]).unwrap();
            assert_eq!(commitment, expected);
            assert_eq!(report.threads.get(), threads);
            // Nested in work of the pool itself.
            (0..8).into_par_iter().for_each(|_| {
                assert_eq!(shared.commit(vec![borrowed(&table)]).unwrap().0, expected);
            });
        });
    }
    let inline = Threads::new(NonZero::<usize>::MIN).unwrap();
    let (made_inline, report) = inline.install(|| {
        let report = shared.commit(vec![borrowed(&table)]).unwrap().2;
        (Committer::new(params(Format::Lineth, 1)).unwrap(), report)
    });
    assert_eq!(report.threads.get(), 1);
    // What counts is who commits, not who made the committer.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let report = pool.install(|| made_inline.commit(vec![borrowed(&table)]).unwrap().2);
    assert_eq!(report.threads.get(), 2);
}

#[test]
fn consumed_columns_are_given_back() {
    let generator = Generator::Random { seed: 3 };
    let mut table = generator.table(12, 5, Pages::Normal).unwrap();
    let before: Vec<KoalaBear> = table.column(4).to_vec();
    let mut groups = table.groups(2);
    assert_eq!(groups.iter().map(Group::len).collect::<Vec<_>>(), [2, 2, 1]);
    let last = groups.pop().unwrap();
    assert_eq!(last.column(0, &mut vec![KoalaBear::ZERO; 1 << 12]), before);
    drop(last);
    groups.into_iter().for_each(Group::release);
    assert!((0..4).all(|i| table.column(i).iter().all(|&cell| cell == KoalaBear::ZERO)));
    assert_eq!(table.column(4), before);

    let mut table = Table::vectors(vec![vec![KoalaBear::ONE; 4]; 3]).unwrap();
    table.groups(2).remove(1).release();
    assert_eq!([0, 1, 2].map(|i| table.column(i).len()), [4, 4, 0]);

    // A box gives back what is in it, a reference does not.
    let boxed = Box::new(Table::vectors(vec![vec![KoalaBear::ONE; 4]; 2]).unwrap());
    (&*boxed).groups(1).remove(0).release();
    assert_eq!([0, 1].map(|i| (*boxed).column(i).len()), [4, 4]);
    let any: &mut Box<dyn ColumnSource> = &mut (boxed as Box<dyn ColumnSource>);
    any.groups(1).remove(0).release();
    assert_eq!(any.column(0, &mut []).len(), 0);
}

#[test]
fn references_are_sources() {
    let columns = random_columns(&mut Rng::new(33), 3, 4);
    let table = borrowed(&columns);
    for memory in [MemoryMode::Keep, MemoryMode::Consume] {
        let params = Params::builder(WIDE).memory(memory).build().unwrap();
        let expected = commit(&params, vec![borrowed(&columns)]).unwrap().0;
        assert_eq!(commit(&params, vec![&table]).unwrap().0, expected);
        assert_eq!(
            commit(&params, vec![&table as &dyn ColumnSource])
                .unwrap()
                .0,
            expected
        );
    }
}

#[test]
fn constants_are_the_callers() {
    let mut rng = Rng::new(29);
    let table = random_columns(&mut rng, 20, 3);
    let root = |params: Result<Params, Error>| {
        commit(&params.unwrap(), vec![borrowed(&table)])
            .unwrap()
            .0
            .root()
            .unwrap()
    };
    let gnark = RoundConstants::<16>::gnark;
    let lineth = root(Params::builder(Format::Lineth).build());
    assert_eq!(
        root(Params::builder(Format::Lineth).constants16(gnark()).build()),
        lineth
    );
    let plonky3 = RoundConstants::<16>::plonky3_default();
    assert_ne!(
        root(Params::builder(Format::Lineth).constants16(plonky3).build()),
        lineth
    );

    let wide = root(Params::builder(WIDE).build());
    let other = RoundConstants::<24>::gnark();
    assert_ne!(
        root(Params::builder(WIDE).constants24(other.clone()).build()),
        wide
    );
    assert_ne!(
        root(Params::builder(WIDE).constants16(gnark()).build()),
        wide
    );
    let error = Params::builder(NARROW)
        .constants24(other)
        .build()
        .unwrap_err();
    assert_eq!(error, Error::UnusedConstants { width: 24 });
}

#[test]
fn what_cannot_be_committed_is_an_error() {
    for log_inv_rate in [0, 5, u32::MAX] {
        let error = Params::builder(WIDE)
            .log_inv_rate(log_inv_rate)
            .build()
            .unwrap_err();
        assert_eq!(error, Error::LogInvRate { got: log_inv_rate });
    }
    let error = Params::builder(Format::Lineth)
        .cap_height(1)
        .build()
        .unwrap_err();
    assert_eq!(error, Error::CapHeight { got: 1 });

    let commit = |format, shapes: &[Shape]| {
        let rows = shapes.iter().map(|&shape| Rows {
            shape,
            cells: vec![],
        });
        commit(&params(format, 1), rows.collect())
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(commit(WIDE, &[]), Error::NoTables);
    let none = Shape::base(3, 0);
    assert_eq!(commit(WIDE, &[none]), Error::NoColumns { table: 0 });
    let error = Error::CodewordTooLong {
        table: 0,
        log_rows: 24,
        log_inv_rate: 1,
    };
    assert_eq!(commit(WIDE, &[Shape::base(24, 1)]), error);
    assert!(matches!(
        commit(WIDE, &[Shape::base(u32::MAX, 1)]),
        Error::CodewordTooLong { .. }
    ));
    // No machine has the memory; nothing is allocated on trust.
    assert!(matches!(
        commit(WIDE, &[Shape::base(20, usize::MAX / 8)]),
        Error::Memory(_)
    ));
    let quartic = Shape {
        log_rows: 2,
        base_width: 1,
        ext_width: 1,
        ext_degree: 4,
    };
    let error = Error::ExtensionDegree {
        table: 1,
        expected: 6,
        got: 4,
    };
    assert_eq!(commit(Format::Lineth, &[Shape::base(3, 1), quartic]), error);
    let same = commit(Format::Lineth, &[Shape::base(2, 1), Shape::base(2, 1)]);
    let height = lanework_merkle::Error::SameHeight {
        table: 1,
        height: 8,
    };
    assert_eq!(same, Error::Merkle(height));

    let (three, four) = ([KoalaBear::ONE; 3], [KoalaBear::ONE; 4]);
    let error = Table::borrowed(vec![&three]).unwrap_err();
    assert_eq!(error, Error::RowsNotPowerOfTwo { rows: 3 });
    let error = Table::borrowed(vec![&four, &four, &three]).unwrap_err();
    assert_eq!(
        error,
        Error::UnequalColumns {
            column: 2,
            expected: 4,
            got: 3
        }
    );
    assert_eq!(
        Table::borrowed(vec![]).unwrap_err(),
        Error::NoColumns { table: 0 }
    );
    assert_eq!(
        Table::borrowed(vec![&[]]).unwrap_err(),
        Error::RowsNotPowerOfTwo { rows: 0 }
    );
    let cells = Slab::zeroed(7, Pages::Normal).unwrap();
    let error = Table::slab(cells, Shape::base(1, 4)).unwrap_err();
    assert_eq!(
        error,
        Error::UnequalCells {
            expected: 8,
            got: 7
        }
    );
    let error = Table::borrowed(vec![&four; 4])
        .unwrap()
        .with_extension(1, 4)
        .unwrap_err();
    assert_eq!(
        error,
        Error::UnequalLimbs {
            limbs: 3,
            degree: 4
        }
    );
}

#[test]
fn columns_are_generated_on_demand() {
    for text in ["lineth:7", "random:7"] {
        let generator: Generator = text.parse().unwrap();
        for (log_rows, width) in [(0, 1), (3, 4), (5, 7)] {
            let table = generator.table(log_rows, width, Pages::Normal).unwrap();
            let columns = GeneratedColumns::new(generator, log_rows, width);
            assert_eq!(columns.shape(), table.shape());
            let mut buffer = vec![KoalaBear::NEG_ONE; 1 << log_rows];
            for index in 0..width {
                assert_eq!(columns.column(index, &mut buffer), table.column(index));
            }
        }
    }
}

#[test]
fn generators_are_named_by_text() {
    for text in ["lineth:1", "random:18446744073709551615"] {
        assert_eq!(text.parse::<Generator>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "lineth",
        "lineth:",
        "lineth:-1",
        "random:18446744073709551616",
        "zero:1",
    ] {
        let error = text.parse::<Generator>().unwrap_err();
        assert_eq!(error, Error::Generator { text: text.into() });
    }
    // Columns do not depend on how many are made with them.
    for generator in [Generator::Lineth { seed: 9 }, Generator::Random { seed: 9 }] {
        let many = generator.table(5, 9, Pages::Normal).unwrap();
        for width in [1, 4, 7] {
            let few = generator.table(5, width, Pages::Normal).unwrap();
            assert!(
                (0..width).all(|i| few.column(i) == many.column(i)),
                "{generator} {width}"
            );
        }
        assert_ne!(many.column(0), many.column(1), "{generator}");
    }
}

#[test]
fn more_base_columns_than_columns_are_refused() {
    let columns = random_columns(&mut Rng::new(31), 2, 2);
    let error = borrowed(&columns).with_extension(5, 6).unwrap_err();
    assert!(
        matches!(
            error,
            Error::TooFewColumns {
                columns_len: 2,
                base_width: 5
            }
        ),
        "{error}"
    );
    assert!(borrowed(&columns).with_extension(2, 6).is_ok());
}

/// A source whose last column ends too early.
struct Ragged(Columns);

impl ColumnSource for Ragged {
    fn shape(&self) -> Shape {
        Shape::base(self.0[0].len().ilog2(), self.0.len())
    }

    fn column<'a>(&'a self, index: usize, _: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        &self.0[index]
    }
}

#[test]
#[should_panic(expected = "as many cells as its shape has rows")]
fn columns_of_another_length_are_refused() {
    let mut columns = random_columns(&mut Rng::new(34), 3, 4);
    columns[2].pop();
    let _ = commit(&params(Format::Lineth, 1), vec![Ragged(columns)]);
}

/// A source whose groups leave out its last column.
struct Incomplete(Columns);

impl ColumnSource for Incomplete {
    fn shape(&self) -> Shape {
        Shape::base(self.0[0].len().ilog2(), self.0.len())
    }

    fn column<'a>(&'a self, index: usize, _: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        &self.0[index]
    }

    fn groups(&mut self, group_len: usize) -> Vec<Group<'_>> {
        let (_, kept) = self.0.split_last_mut().unwrap();
        Group::vectors(kept, group_len)
    }
}

#[test]
#[should_panic(expected = "the groups of a source are its 3 columns")]
fn groups_that_leave_out_a_column_are_refused() {
    let columns = random_columns(&mut Rng::new(32), 3, 4);
    let params = Params::builder(Format::Lineth)
        .memory(MemoryMode::Consume)
        .build()
        .unwrap();
    let _ = commit(&params, vec![Incomplete(columns)]);
}
