use std::collections::HashMap;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_arch::memory::{Pages, Slab, Tile, prefetch, row_blocks};
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear as Element;
use lanework_field::koala::lanes::Lanes;
use lanework_ntt::{Direction, LdePlan, Order, Transform};
use p3_dft::{Radix2DitParallel, TwoAdicSubgroupDft};
use p3_field::PrimeCharacteristicRing;
use p3_koala_bear::KoalaBear;
use p3_matrix::Matrix;
use p3_matrix::bitrev::{BitReversedMatrixView, BitReversibleMatrix};
use p3_matrix::dense::RowMajorMatrix;

use crate::cast;
use crate::transpose::{LANES_MAX, Lines, Strided, transpose};

/// The transforms of Plonky3's `Radix2DitParallel` over KoalaBear, with kernels chosen when the program
/// runs.
///
/// Matrices are row-major, and results are in bit-reversed order, so that `bit_reverse_rows` on them costs
/// nothing. An extension grows the matrix it is given; nothing moves if that has the capacity. Columns are
/// transformed some at a time, in memory that clones share and that is kept for the next matrix. Work
/// runs in the caller's rayon pool.
///
/// ```
/// use lanework_plonky3::LaneworkDft;
/// use p3_dft::{Radix2DitParallel, TwoAdicSubgroupDft};
/// use p3_koala_bear::KoalaBear;
/// use p3_matrix::{Matrix, dense::RowMajorMatrix};
///
/// let matrix = RowMajorMatrix::new(KoalaBear::new_array([1, 2, 3, 4, 5, 6, 7, 8]).to_vec(), 2);
/// let shift = KoalaBear::new(3);
/// let extended = LaneworkDft::default().coset_lde_batch(matrix.clone(), 1, shift);
/// let expected = Radix2DitParallel::default().coset_lde_batch(matrix, 1, shift);
/// assert_eq!(extended.to_row_major_matrix(), expected.to_row_major_matrix());
/// ```
#[derive(Clone)]
pub struct LaneworkDft {
    choice: Choice,
    caches: Caches,
    shared: Arc<Shared>,
}

/// What clones have in common.
#[derive(Default)]
struct Shared {
    plans: Mutex<HashMap<Shape, Plan>>,
    spare: Mutex<Vec<Slab<Element>>>,
}

/// What is to be done to the columns of a matrix of 2^`log_height` rows.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct Shape {
    log_height: u32,
    kind: Kind,
    shift: Element,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// Values to 2^`added_bits` times as many.
    Extension { added_bits: u32 },
    /// Coefficients to values, in bit-reversed order.
    Evaluation,
    /// Values to coefficients.
    Interpolation,
}

#[derive(Clone)]
enum Plan {
    Extension(LdePlan),
    Transform(Transform, Order),
}

impl Plan {
    fn scratch_len(&self) -> usize {
        match self {
            Self::Extension(plan) => plan.scratch_len(),
            Self::Transform(plan, _) => plan.scratch_len(),
        }
    }
}

impl LaneworkDft {
    /// Transforms with the kernels of `choice`, in passes as large as `caches` allow.
    pub fn with_choice(choice: Choice, caches: Caches) -> Self {
        Self {
            choice,
            caches,
            shared: Arc::default(),
        }
    }

    fn plan(&self, shape: Shape) -> Plan {
        /// Shapes of a proof are a few dozen at most; a program that goes on to others forgets them all.
        const PLANS_MAX: usize = 64;
        let mut plans = self
            .shared
            .plans
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(&shape) {
            return plan.clone();
        }
        let Shape {
            log_height, shift, ..
        } = shape;
        let transform =
            |direction| Transform::new(log_height, direction, shift, self.choice, self.caches);
        let plan = match shape.kind {
            Kind::Extension { added_bits } => {
                LdePlan::new(log_height, added_bits, shift, self.choice, self.caches)
                    .map(Plan::Extension)
            }
            Kind::Evaluation => {
                transform(Direction::Forward).map(|plan| Plan::Transform(plan, Order::BitReversed))
            }
            Kind::Interpolation => {
                transform(Direction::Inverse).map(|plan| Plan::Transform(plan, Order::Natural))
            }
        };
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        if plans.len() == PLANS_MAX {
            plans.clear();
        }
        plans.insert(shape, plan.clone());
        plan
    }

    /// Does to every column what `kind` says. `shift` is not zero.
    fn apply(
        &self,
        mut matrix: RowMajorMatrix<KoalaBear>,
        kind: Kind,
        shift: KoalaBear,
    ) -> RowMajorMatrix<KoalaBear> {
        let (width, height) = (matrix.width(), matrix.height());
        assert!(height.is_power_of_two(), "a power of two of rows: {height}");
        let plan = self.plan(Shape {
            log_height: height.ilog2(),
            kind,
            shift: cast::element(shift),
        });
        let added_bits = match kind {
            Kind::Extension { added_bits } => added_bits,
            Kind::Evaluation | Kind::Interpolation => 0,
        };
        let job = Job {
            dft: self,
            plan: &plan,
            width,
            height,
            extended_height: height << added_bits,
        };
        let (values, len) = (&mut matrix.values, job.extended_height * width);
        // A strip is the work of one thread, so that there should be some for each of them, and their memory
        // small beside that of the matrix.
        if width >= 2 * STRIP * Threads::current().count().get() {
            #[expect(unsafe_code, reason = "the strips are known here")]
            // SAFETY: bounds: strips are disjoint, and each writes the rows of its own once, in ascending order.
            unsafe {
                cast::grow_with(values, len, |old, new| job.by_strips(old, new));
            }
        } else {
            cast::grow(values, len);
            job.by_columns(cast::elements_mut(values));
        }
        matrix
    }

    fn take(&self, len: usize) -> Spare<'_> {
        let mut spare = self
            .shared
            .spare
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // The largest, so that small ones do not grow for a small part of the work.
        let largest = (0..spare.len()).max_by_key(|&i| spare[i].capacity());
        let slab = largest.map(|i| spare.swap_remove(i));
        drop(spare);
        let slab = match slab {
            Some(mut slab) => slab.set_len(len).map(|()| slab),
            None => Slab::zeroed(len, Pages::Huge),
        };
        Spare {
            slab: Some(slab.unwrap_or_else(|error| panic!("{error}"))),
            shared: &self.shared,
        }
    }
}

/// Columns of a strip: as many as elements in a cache line.
const STRIP: usize = 16;

/// Rows of a strip that are transposed at a time.
const ROWS: usize = 32;

/// How many rows ahead of them memory is asked for: rows of a strip lie far apart.
const AHEAD: usize = 2 * ROWS;

/// Elements between the end of a column and the next: lines of neighbouring columns are not to fall into
/// the same set of a cache, as they would at a distance that is a power of two.
const GAP: usize = 16;

/// One matrix to be transformed.
struct Job<'a> {
    dft: &'a LaneworkDft,
    plan: &'a Plan,
    width: usize,
    height: usize,
    extended_height: usize,
}

impl Job<'_> {
    /// The elements between columns, and between their codewords, which are the columns themselves if
    /// there is nothing to extend.
    fn strides(&self) -> (usize, usize) {
        let codewords = match self.plan {
            Plan::Extension(..) => self.extended_height + GAP,
            Plan::Transform(..) => 0,
        };
        (self.height + GAP, codewords)
    }

    /// Transforms one column; its codeword is empty if there is nothing to extend.
    fn transform(&self, column: &mut [Element], codeword: &mut [Element], scratch: &mut [Element]) {
        let column = &mut column[..self.height];
        match self.plan {
            Plan::Extension(plan) => {
                plan.encode(column, &mut codeword[..self.extended_height], scratch);
            }
            Plan::Transform(plan, order) => plan.apply(column, Order::Natural, *order, scratch),
        }
    }

    /// A strip of columns at a time, from the matrix and back by one thread. Writes the rows that are there and those
    /// that are new, and returns the number of elements in the latter.
    fn by_strips(&self, old: &mut [Element], new: &mut [MaybeUninit<Element>]) -> usize {
        let (stride, codeword_stride) = self.strides();
        let (columns_len, codewords_len) = (STRIP * stride, STRIP * codeword_stride);
        let len = columns_len + codewords_len + self.plan.scratch_len();
        let written = AtomicUsize::new(0);
        let work = |spare: &mut Spare<'_>, mut strip: Strip<'_>| {
            let (columns, rest) = spare.cells().split_at_mut(columns_len);
            let (codewords, scratch) = rest.split_at_mut(codewords_len);
            let width = strip.old.rows().len();
            for first in (0..self.height).step_by(ROWS) {
                let count = ROWS.min(self.height - first);
                strip.prefetch(first + AHEAD..first + AHEAD + count);
                let row = |row| strip.old.column(first + row);
                let mut target = Strided(&mut columns[first..], stride);
                transpose(self.dft.choice, count, width, row, &mut target);
            }
            let mut codeword = codewords.chunks_mut(codeword_stride.max(1));
            for column in columns.chunks_mut(stride).take(width) {
                self.transform(column, codeword.next().unwrap_or_default(), scratch);
            }
            let (source, stride) = if codewords.is_empty() {
                (&*columns, stride)
            } else {
                (&*codewords, codeword_stride)
            };
            for first in (0..self.extended_height).step_by(ROWS) {
                let count = ROWS.min(self.extended_height - first);
                strip.prefetch(first + AHEAD..first + AHEAD + count);
                let column = |column: usize| &source[column * stride + first..];
                let mut rows = From(&mut strip, first);
                transpose(self.dft.choice, width, count, column, &mut rows);
            }
            written.fetch_add(strip.written, Ordering::Relaxed);
        };
        // No rows are new if there is nothing to extend.
        let mut new = (!new.is_empty()).then(|| row_blocks(new, self.width, STRIP));
        let strips = row_blocks(old, self.width, STRIP).map(|old| Strip {
            old,
            new: new.as_mut().and_then(Iterator::next),
            written: 0,
        });
        Threads::current().for_each_init(strips, || self.dft.take(len), work);
        written.into_inner()
    }

    /// Some columns at a time, the work on which is shared out: rows to columns, then columns, then back.
    fn by_columns(&self, cells: &mut [Element]) {
        /// Rows that one thread transposes at a time.
        const BLOCK: usize = 512;
        let threads = Threads::current();
        let (stride, codeword_stride) = self.strides();
        let together = self
            .width
            .min(threads.count().get().next_multiple_of(STRIP));
        let len = together * (stride + codeword_stride);
        let mut spare = self.dft.take(len);
        let choice = self.dft.choice;
        for first in (0..self.width).step_by(together) {
            let count = together.min(self.width - first);
            let (columns, codewords) = spare.cells().split_at_mut(together * stride);
            let columns = &mut columns[..count * stride];
            let rows = cells.chunks(BLOCK * self.width);
            let tiles = row_blocks(columns, stride, BLOCK);
            threads.for_each(
                rows.zip(tiles).take(self.height.div_ceil(BLOCK)),
                |(rows, tile)| {
                    let rows_len = BLOCK.min(self.height - tile.rows().start);
                    let row = |row: usize| &rows[row * self.width + first..][..count];
                    transpose(choice, rows_len, count, row, &mut Part(tile));
                },
            );
            let mut codeword = codewords.chunks_mut(codeword_stride.max(1));
            let pairs: Vec<_> = columns
                .chunks_mut(stride)
                .map(|column| (column, codeword.next().unwrap_or_default()))
                .collect();
            let scratch = || self.dft.take(self.plan.scratch_len());
            threads.for_each_init(pairs, scratch, |scratch, (column, codeword)| {
                self.transform(column, codeword, scratch.cells());
            });
            let (source, stride) = if codewords.is_empty() {
                (&*columns, stride)
            } else {
                (&*codewords, codeword_stride)
            };
            let rows = cells.chunks_mut(BLOCK * self.width).enumerate();
            threads.for_each(rows, |(block, rows)| {
                let column = |column: usize| &source[column * stride + block * BLOCK..];
                let rows_len = rows.len() / self.width;
                let mut target = Strided(&mut rows[first..], self.width);
                transpose(choice, count, rows_len, column, &mut target);
            });
        }
    }
}

/// A strip of columns in the rows of a matrix: those that it has, and those that it is to have.
struct Strip<'a> {
    old: Tile<'a, Element>,
    new: Option<Tile<'a, MaybeUninit<Element>>>,
    /// Elements of new rows.
    written: usize,
}

impl Strip<'_> {
    /// Asks for the rows among `rows` that there are.
    fn prefetch(&self, rows: Range<usize>) {
        let (old, new) = (self.old.columns(), self.new.as_ref().map(Tile::columns));
        let height = old.len();
        for row in rows.start..rows.end.min(height) {
            prefetch::read_later(self.old.column(row).as_ptr());
        }
        let new_end = height + new.map_or(0, |new| new.len());
        for row in rows.start.max(height)..rows.end.min(new_end) {
            if let Some(new) = &self.new {
                prefetch::read_later(new.column(row - height).as_ptr());
            }
        }
    }
}

/// The rows of a strip from one on.
struct From<'a, 'b>(&'a mut Strip<'b>, usize);

impl Lines for From<'_, '_> {
    #[inline(always)]
    fn put<L: Lanes>(&mut self, line: usize, first: usize, vector: L) {
        let Self(strip, first_row) = self;
        let row = *first_row + line;
        let height = strip.old.columns().len();
        if row < height {
            return vector.to_slice(&mut strip.old.column_mut(row)[first..]);
        }
        if let Some(new) = &mut strip.new {
            let mut elements = [Element::ZERO; LANES_MAX];
            vector.to_slice(&mut elements);
            let part = &mut new.column_mut(row - height)[first..][..L::LEN];
            part.write_copy_of_slice(&elements[..L::LEN]);
            strip.written += L::LEN;
        }
    }

    #[inline(always)]
    fn put_one(&mut self, line: usize, index: usize, element: Element) {
        let Self(strip, first_row) = self;
        let row = *first_row + line;
        let height = strip.old.columns().len();
        if row < height {
            strip.old.column_mut(row)[index] = element;
        } else if let Some(new) = &mut strip.new {
            new.column_mut(row - height)[index].write(element);
            strip.written += 1;
        }
    }
}

/// A part of every column of a buffer of columns.
struct Part<'a>(Tile<'a, Element>);

impl Lines for Part<'_> {
    #[inline(always)]
    fn put<L: Lanes>(&mut self, line: usize, first: usize, vector: L) {
        vector.to_slice(&mut self.0.column_mut(line)[first..]);
    }

    #[inline(always)]
    fn put_one(&mut self, line: usize, index: usize, element: Element) {
        self.0.column_mut(line)[index] = element;
    }
}

/// Working memory, given back when it is dropped.
struct Spare<'a> {
    slab: Option<Slab<Element>>,
    shared: &'a Shared,
}

impl Spare<'_> {
    fn cells(&mut self) -> &mut [Element] {
        self.slab.as_deref_mut().unwrap_or_default()
    }
}

impl Drop for Spare<'_> {
    fn drop(&mut self) {
        let spare = self.shared.spare.lock();
        let mut spare = spare.unwrap_or_else(PoisonError::into_inner);
        spare.extend(self.slab.take());
    }
}

impl Default for LaneworkDft {
    /// Transforms with the best kernels of this CPU.
    fn default() -> Self {
        Self::with_choice(Choice::best(), Caches::detect())
    }
}

impl fmt::Debug for LaneworkDft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneworkDft")
            .field("choice", &self.choice)
            .field("caches", &self.caches)
            .finish_non_exhaustive()
    }
}

impl TwoAdicSubgroupDft<KoalaBear> for LaneworkDft {
    type Evaluations = BitReversedMatrixView<RowMajorMatrix<KoalaBear>>;

    fn dft_batch(&self, matrix: RowMajorMatrix<KoalaBear>) -> Self::Evaluations {
        self.coset_dft_batch(matrix, KoalaBear::ONE)
    }

    fn coset_dft_batch(
        &self,
        matrix: RowMajorMatrix<KoalaBear>,
        shift: KoalaBear,
    ) -> Self::Evaluations {
        if shift == KoalaBear::ZERO {
            // There is no such coset; what others make of it is not worth a kernel.
            return Radix2DitParallel::default().coset_dft_batch(matrix, shift);
        }
        self.apply(matrix, Kind::Evaluation, shift)
            .bit_reverse_rows()
    }

    fn idft_batch(&self, matrix: RowMajorMatrix<KoalaBear>) -> RowMajorMatrix<KoalaBear> {
        self.apply(matrix, Kind::Interpolation, KoalaBear::ONE)
    }

    fn coset_idft_batch(
        &self,
        matrix: RowMajorMatrix<KoalaBear>,
        shift: KoalaBear,
    ) -> RowMajorMatrix<KoalaBear> {
        self.apply(matrix, Kind::Interpolation, shift)
    }

    fn coset_lde_batch(
        &self,
        matrix: RowMajorMatrix<KoalaBear>,
        added_bits: usize,
        shift: KoalaBear,
    ) -> Self::Evaluations {
        if shift == KoalaBear::ZERO {
            return Radix2DitParallel::default().coset_lde_batch(matrix, added_bits, shift);
        }
        // More bits than fit are refused with the plan.
        let added_bits = u32::try_from(added_bits).unwrap_or(u32::MAX);
        self.apply(matrix, Kind::Extension { added_bits }, shift)
            .bit_reverse_rows()
    }
}
