//! Openings of encoded rows: which rows they show, that they are accepted here and by Plonky3, and what is
//! refused.

use super::*;
use lanework_fri::{Codeword, RowOpening, RowVerifier, RowsError, SourceError, verify_rows};

/// A commitment with an opening of it.
struct Case {
    verifier: RowVerifier,
    commitment: Commitment,
    shapes: Vec<Shape>,
    positions: Vec<usize>,
    opening: RowOpening,
    log_inv_rate: u32,
}

impl Case {
    fn verify(&self) -> Result<(), RowsError> {
        let Self {
            verifier,
            commitment,
            shapes,
            positions,
            opening,
            ..
        } = self;
        verifier.verify(commitment, shapes, positions, opening)
    }

    fn log_height(&self) -> u32 {
        let log_rows = self.shapes.iter().map(|shape| shape.log_rows).max();
        log_rows.unwrap() + self.log_inv_rate
    }
}

pub(super) fn random_positions(rng: &mut Rng, len: usize) -> Vec<usize> {
    let mut positions: Vec<_> = (0..rng.below(9)).map(|_| rng.in_range(0..len)).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Tables of several heights, the lineth format having one of each, and extension columns in some.
pub(super) fn random_tables(
    rng: &mut Rng,
    format: Format,
    least: u32,
    log_max: u32,
) -> Vec<(Columns, usize)> {
    let mut tables = vec![];
    for log_rows in (least..=log_max).rev() {
        let count = match rng.below(3) {
            0 if log_rows < log_max => 0,
            1 if format != Format::Lineth => 2,
            _ => 1,
        };
        for _ in 0..count {
            let ext_width = rng.in_range(0..3);
            let base_width = rng.in_range(usize::from(ext_width == 0)..20);
            let columns = random_columns(rng, base_width + 6 * ext_width, log_rows);
            tables.insert(rng.in_range(0..tables.len() + 1), (columns, base_width));
        }
    }
    tables
}

pub(super) fn views(tables: &[(Columns, usize)]) -> Vec<Table<'_>> {
    let mut views = vec![];
    for (columns, base_width) in tables {
        views.push(borrowed(columns).with_extension(*base_width, 6).unwrap());
    }
    views
}

#[test]
fn opened_rows_are_accepted_and_changed_ones_refused() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let format = [Format::Lineth, NARROW, WIDE][seed as usize % 3];
        let log_inv_rate = 1 + seed as u32 % 2;
        let log_max = rng.in_range(0..6) as u32;
        let cap_height = match format {
            Format::Lineth => 0,
            _ => rng.in_range(0..5) as u32,
        };
        let least = cap_height
            .min(log_max + log_inv_rate)
            .saturating_sub(log_inv_rate);
        let tables = random_tables(&mut rng, format, least, log_max);
        let params = Params::builder(format)
            .log_inv_rate(log_inv_rate)
            .cap_height(cap_height)
            .build()
            .unwrap();
        let committer = Committer::new(params.clone()).unwrap();
        let (commitment, data, _) = committer.commit(views(&tables)).unwrap();
        let shapes: Vec<_> = data.codewords().iter().map(Codeword::shape).collect();
        let height = 1 << (log_max + log_inv_rate);
        let positions = random_positions(&mut rng, height);
        let opening = data.open(&committer, &positions).unwrap();

        let mut by_position = vec![vec![]; positions.len()];
        for (codeword, cells) in data.codewords().iter().zip(&opening.rows) {
            let skip = height / codeword.height();
            let mut shown = std::collections::BTreeSet::new();
            for (&position, rows) in positions.iter().zip(&mut by_position) {
                let row = position / skip;
                rows.push(codeword.row(row).collect::<Vec<_>>());
                shown.insert(row);
                if format == Format::Lineth && skip > 1 {
                    shown.insert(row ^ 1);
                }
            }
            let expected = shown.into_iter().flat_map(|row| codeword.row(row));
            assert!(expected.eq(cells.iter().copied()), "seed {seed}");
        }
        if format == NARROW && !positions.is_empty() {
            let digests = commitment.digests();
            assert!(
                oracle::accepts(
                    digests,
                    &shapes,
                    log_inv_rate,
                    &positions,
                    &by_position,
                    &opening.siblings
                ),
                "seed {seed}"
            );
        }
        streamed_openings_are_the_same(&params, &tables, &commitment, &positions, &opening);
        let verified = verify_rows(&params, &commitment, &shapes, &positions, &opening);
        assert_eq!(verified, Ok(()), "seed {seed}");
        let case = Case {
            verifier: RowVerifier::new(&params),
            commitment,
            shapes,
            positions,
            opening,
            log_inv_rate,
        };
        refused(case, &mut rng);
    }
}

/// Every change of one part is an error.
fn refused(mut case: Case, rng: &mut Rng) {
    let right = case.opening.clone();
    for table in 0..case.shapes.len() {
        let got = right.rows[table].len();
        for cell in 0..got {
            case.opening.rows[table][cell] += KoalaBear::ONE;
            assert!(matches!(case.verify(), Err(RowsError::Tree(_))));
            case.opening.rows[table][cell] -= KoalaBear::ONE;
        }
        case.opening.rows[table].push(KoalaBear::ZERO);
        assert!(matches!(case.verify(), Err(RowsError::RowsLen { .. })));
        for len in [got.saturating_sub(1), 0] {
            case.opening.rows[table].truncate(len);
            assert_eq!(case.verify().is_ok(), len == got);
        }
        case.opening = right.clone();

        other_shapes_are_refused(&mut case, table);
        let rows = case.opening.rows.remove(table);
        assert!(matches!(case.verify(), Err(RowsError::TablesLen { .. })));
        case.opening.rows.insert(table, rows);
    }
    for sibling in 0..right.siblings.len() {
        let word = rng.in_range(0..8);
        case.opening.siblings[sibling].0[word] += KoalaBear::ONE;
        assert!(matches!(case.verify(), Err(RowsError::Tree(_))));
        case.opening.siblings[sibling].0[word] -= KoalaBear::ONE;
        case.opening.siblings.remove(sibling);
        assert!(matches!(case.verify(), Err(RowsError::Tree(_))));
        case.opening = right.clone();
    }
    case.opening.siblings.push(Digest::ZERO);
    assert!(matches!(case.verify(), Err(RowsError::Tree(_))));
    case.opening = right;
    for index in 0..case.positions.len() {
        let position = case.positions[index];
        for wrong in [position ^ 1, position ^ 2, position + (1 << 20), usize::MAX] {
            case.positions[index] = wrong;
            // All encoded rows of a single row are equal.
            let constant = case.log_height() == case.log_inv_rate;
            assert!(case.verify().is_err() || constant, "{wrong}");
        }
        case.positions[index] = position;
    }
    if let Some(&last) = case.positions.last() {
        case.positions.push(last);
        assert!(matches!(case.verify(), Err(RowsError::Tree(_))));
        case.positions.pop();
        let digests = case.commitment.digests().to_vec();
        let index = (last * digests.len()) >> case.log_height();
        let mut wrong = digests.clone();
        wrong[index].0[0] += KoalaBear::ONE;
        case.commitment = Commitment::new(wrong);
        assert!(matches!(case.verify(), Err(RowsError::Tree(_))));
        case.commitment = Commitment::new(digests);
    }
    assert_eq!(case.verify(), Ok(()));
    for wrong in [0, 1, 2, 3, 64] {
        let expected = case.commitment.digests().len();
        if wrong != expected {
            let commitment = Commitment::new(vec![Digest::ZERO; wrong]);
            let right = std::mem::replace(&mut case.commitment, commitment);
            let got = wrong;
            assert_eq!(case.verify(), Err(RowsError::CapLen { expected, got }));
            case.commitment = right;
        }
    }
    case.shapes.clear();
    assert_eq!(case.verify(), Err(RowsError::Shapes(Error::NoTables)));
}

/// Also those of more cells than there are words.
fn other_shapes_are_refused(case: &mut Case, table: usize) {
    let shape = case.shapes[table];
    for wrong in [
        Shape {
            base_width: shape.base_width + 1,
            ..shape
        },
        Shape {
            base_width: usize::MAX,
            ..shape
        },
        Shape {
            ext_width: usize::MAX,
            ..shape
        },
        Shape {
            base_width: 0,
            ext_width: 0,
            ..shape
        },
        Shape {
            log_rows: shape.log_rows + 1,
            ..shape
        },
        Shape {
            log_rows: 25,
            ..shape
        },
        Shape {
            log_rows: u32::MAX,
            ..shape
        },
    ] {
        case.shapes[table] = wrong;
        // An opening of nothing says nothing, not even of widths.
        assert!(
            case.verify().is_err() || case.positions.is_empty(),
            "{wrong:?}"
        );
    }
    case.shapes[table] = shape;
}

#[test]
fn rows_that_no_opening_proves_are_refused() {
    let columns = [
        random_columns(&mut Rng::new(1), 2, 3),
        random_columns(&mut Rng::new(2), 2, 0),
    ];
    let build = |cap_height| {
        Params::builder(NARROW)
            .cap_height(cap_height)
            .build()
            .unwrap()
    };
    for (cap_height, bound) in [(0, true), (1, true), (2, false), (9, false)] {
        let committer = Committer::new(build(cap_height)).unwrap();
        let tables = columns.iter().map(borrowed).collect();
        let (commitment, data, _) = committer.commit(tables).unwrap();
        let opened = data.open(&committer, &[5]);
        assert_eq!(opened.is_ok(), bound);
        if bound {
            continue;
        }
        assert_eq!(opened, Err(Error::AboveCap { table: 1 }));
        let shapes = [Shape::base(3, 2), Shape::base(0, 2)];
        let opening = RowOpening::default();
        let verified = verify_rows(committer.params(), &commitment, &shapes, &[5], &opening);
        assert_eq!(verified, Err(RowsError::AboveCap { table: 1 }));
    }
}

#[test]
fn only_rows_in_order_are_opened() {
    let columns = random_columns(&mut Rng::new(1), 2, 3);
    let committer = Committer::new(params(Format::Lineth, 1)).unwrap();
    let (_, data, _) = committer.commit(vec![borrowed(&columns)]).unwrap();
    for positions in [&[16][..], &[3, 3], &[4, 3], &[usize::MAX]] {
        let opened = data.open(&committer, positions);
        assert!(matches!(opened, Err(Error::Positions(_))), "{positions:?}");
    }
}

fn streamed_openings_are_the_same(
    params: &Params,
    tables: &[(Columns, usize)],
    commitment: &Commitment,
    positions: &[usize],
    opening: &RowOpening,
) {
    for (threads, group_bytes) in [(1, 0), (2, 1 << 10), (3, usize::MAX)] {
        let params = Params::builder(params.format())
            .log_inv_rate(params.log_inv_rate())
            .cap_height(params.cap_height())
            .memory(MemoryMode::Streaming)
            .threads(NonZero::new(threads))
            .group_bytes(group_bytes)
            .build()
            .unwrap();
        let committer = Committer::new(params).unwrap();
        let (streamed, data, report) = committer.commit(views(tables)).unwrap();
        assert_eq!(&streamed, commitment);
        assert!(data.codewords().is_empty());
        assert_eq!(data.shapes().len(), tables.len());
        let height = 1_u64 << data.shapes().iter().map(|s| s.log_rows).max().unwrap();
        let digests = (height << (committer.params().log_inv_rate() + 1)) - 1;
        assert!(report.digest_bytes / 32 <= digests);
        assert_eq!(&data.open(&committer, positions).unwrap(), opening);
        assert_eq!(committer.recycle(data).len(), tables.len());
    }
}

/// A table that may change, or fail.
#[derive(Debug)]
struct Unsteady {
    columns: Columns,
    fails: bool,
}

impl ColumnSource for Unsteady {
    fn shape(&self) -> Shape {
        Shape::base(self.columns[0].len().ilog2(), self.columns.len())
    }

    fn column<'a>(&'a self, index: usize, _: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        &self.columns[index]
    }

    fn fetch<'a>(
        &'a self,
        index: usize,
        buffer: &'a mut [KoalaBear],
    ) -> Result<&'a [KoalaBear], SourceError> {
        if self.fails && index == 3 {
            Err(SourceError::new("gone"))
        } else {
            Ok(self.column(index, buffer))
        }
    }
}

#[test]
fn failures_of_a_source_are_errors() {
    for format in [Format::Lineth, NARROW, WIDE] {
        for memory in [MemoryMode::Keep, MemoryMode::Consume, MemoryMode::Streaming] {
            let params = Params::builder(format).memory(memory).build().unwrap();
            let columns = random_columns(&mut Rng::new(3), 20, 5);
            let table = Unsteady {
                columns,
                fails: true,
            };
            let error = commit(&params, vec![Box::new(table)]).unwrap_err();
            assert_eq!(error, Error::Source(SourceError::new("gone")));
        }
    }
}

#[test]
fn a_table_that_changes_is_not_opened() {
    for format in [Format::Lineth, NARROW, WIDE] {
        // Tables below and above the layers that are made again.
        for log_rows in [8, 7, 2] {
            let committer = Committer::new(
                Params::builder(format)
                    .memory(MemoryMode::Streaming)
                    .build()
                    .unwrap(),
            )
            .unwrap();
            let mut rng = Rng::new(4);
            let tall = random_columns(&mut rng, 3, 9);
            let mut small = Unsteady {
                columns: random_columns(&mut rng, 20, log_rows),
                fails: false,
            };
            let opened = {
                let tables: Vec<Source<'_>> = vec![Box::new(borrowed(&tall)), Box::new(&small)];
                let (_, data, _) = committer.commit(tables).unwrap();
                data.open(&committer, &[5, 600]).unwrap()
            };
            let cell = std::sync::Mutex::new(&mut small);
            let changing = Changing {
                inner: &cell,
                shape: Shape::base(log_rows, 20),
            };
            let tables: Vec<Source<'_>> = vec![Box::new(borrowed(&tall)), Box::new(&changing)];
            let (_, data, _) = committer.commit(tables).unwrap();
            assert_eq!(data.open(&committer, &[5, 600]), Ok(opened));
            // It does not show in the first half of a codeword of lineth, which is the column itself.
            cell.lock().unwrap().columns[11][1] += KoalaBear::ONE;
            assert_eq!(data.open(&committer, &[5, 600]), Err(Error::Changed));
            cell.lock().unwrap().fails = true;
            let error = Error::Source(SourceError::new("gone"));
            assert_eq!(data.open(&committer, &[5, 600]), Err(error));
        }
    }
}

struct Changing<'a> {
    inner: &'a std::sync::Mutex<&'a mut Unsteady>,
    shape: Shape,
}

impl ColumnSource for Changing<'_> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn column<'a>(&'a self, index: usize, buffer: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        self.fetch(index, buffer).unwrap()
    }

    fn fetch<'a>(
        &'a self,
        index: usize,
        buffer: &'a mut [KoalaBear],
    ) -> Result<&'a [KoalaBear], SourceError> {
        let table = self.inner.lock().unwrap();
        let mut unused = [];
        buffer.copy_from_slice(table.fetch(index, &mut unused)?);
        Ok(buffer)
    }
}
