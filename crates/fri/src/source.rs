//! Where columns come from.

use std::ops::Range;
use std::sync::Arc;

use lanework_arch::memory::{Column, Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear;
use lanework_field::koala::Extension;

use crate::Error;

/// The size of a table: 2^`log_rows` rows of `base_width` base columns and `ext_width` extension
/// columns, each of the latter kept as `ext_degree` columns of limbs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// log2 of the number of rows.
    pub log_rows: u32,
    /// Base columns.
    pub base_width: usize,
    /// Extension columns.
    pub ext_width: usize,
    /// Limbs of a cell of an extension column.
    pub ext_degree: usize,
}

impl Shape {
    /// The shape of 2^`log_rows` rows of `width` base columns.
    pub const fn base(log_rows: u32, width: usize) -> Self {
        Self {
            log_rows,
            base_width: width,
            ext_width: 0,
            ext_degree: 1,
        }
    }

    /// Columns of base field elements: the base columns and the limbs of the extension columns; the
    /// largest number there is if they are more.
    pub const fn columns_len(&self) -> usize {
        let limbs_len = self.ext_width.saturating_mul(self.ext_degree);
        self.base_width.saturating_add(limbs_len)
    }

    /// Rows; the largest number there is if they are more.
    pub const fn rows_len(&self) -> usize {
        match 1_usize.checked_shl(self.log_rows) {
            Some(rows_len) => rows_len,
            None => usize::MAX,
        }
    }
}

/// A table to commit to: columns of values in natural order.
///
/// Columns are numbered from 0: the base columns in order, then the limbs of the first extension
/// column, and so on. [`Table`] is the ready-made source; implement this trait for columns that are
/// kept in another form. A reference to a source is one as well, which is never consumed, and so is a
/// box, so that sources of different kinds are committed to together as `Box<dyn ColumnSource>`.
///
/// ```
/// use lanework_field::KoalaBear;
/// use lanework_fri::{ColumnSource, Shape};
///
/// /// A row-major trace, of which columns are copied out one by one.
/// struct Trace {
///     cells: Vec<KoalaBear>,
///     width: usize,
///     log_rows: u32,
/// }
///
/// impl ColumnSource for Trace {
///     fn shape(&self) -> Shape {
///         Shape::base(self.log_rows, self.width)
///     }
///
///     fn column<'a>(&'a self, index: usize, buffer: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
///         for (cell, row) in buffer.iter_mut().zip(self.cells.chunks(self.width)) {
///             *cell = row[index];
///         }
///         buffer
///     }
/// }
/// ```
pub trait ColumnSource: Send + Sync {
    /// The size of the table.
    fn shape(&self) -> Shape;

    /// Column `index`, as it is kept or copied into `buffer`, which has as many cells as the table
    /// has rows. Called from several threads at once, for different columns.
    ///
    /// # Panics
    /// If there is no such column. A column of another length than the table's makes the commitment
    /// panic.
    fn column<'a>(&'a self, index: usize, buffer: &'a mut [KoalaBear]) -> &'a [KoalaBear];

    /// As [`column`](Self::column), for tables that may fail to give a column, such as files: commitments and
    /// openings call this.
    ///
    /// # Errors
    /// [`SourceError`]; not from the default, which calls [`column`](Self::column).
    ///
    /// # Panics
    /// As there.
    fn fetch<'a>(
        &'a self,
        index: usize,
        buffer: &'a mut [KoalaBear],
    ) -> Result<&'a [KoalaBear], SourceError> {
        Ok(self.column(index, buffer))
    }

    /// All columns in order, `group_len` at a time (the last group may be smaller), in a form that
    /// can be given up group by group. Called in memory mode [`Consume`](crate::MemoryMode::Consume).
    ///
    /// The default gives up nothing before the table itself is dropped.
    ///
    /// # Panics
    /// If `group_len` is zero. Groups that are not these columns make the commitment panic.
    fn groups(&mut self, group_len: usize) -> Vec<Group<'_>> {
        Group::shared(self, group_len)
    }
}

impl<S: ColumnSource + ?Sized> ColumnSource for &S {
    fn shape(&self) -> Shape {
        (**self).shape()
    }

    fn column<'a>(&'a self, index: usize, buffer: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        (**self).column(index, buffer)
    }

    fn fetch<'a>(
        &'a self,
        index: usize,
        buffer: &'a mut [KoalaBear],
    ) -> Result<&'a [KoalaBear], SourceError> {
        (**self).fetch(index, buffer)
    }

    // Not the default, which would be about references to references, and so on without end.
    fn groups(&mut self, group_len: usize) -> Vec<Group<'_>> {
        Group::shared(&**self, group_len)
    }
}

impl<S: ColumnSource + ?Sized> ColumnSource for Box<S> {
    fn shape(&self) -> Shape {
        (**self).shape()
    }

    fn column<'a>(&'a self, index: usize, buffer: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        (**self).column(index, buffer)
    }

    fn fetch<'a>(
        &'a self,
        index: usize,
        buffer: &'a mut [KoalaBear],
    ) -> Result<&'a [KoalaBear], SourceError> {
        (**self).fetch(index, buffer)
    }

    fn groups(&mut self, group_len: usize) -> Vec<Group<'_>> {
        (**self).groups(group_len)
    }
}

/// Why a table cannot give a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SourceError {
    reason: String,
}

impl SourceError {
    /// The error with what `reason` says.
    pub fn new(reason: impl std::fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
        }
    }
}

/// Consecutive columns of a table, which their holder can give back to the system.
pub struct Group<'a>(Kind<'a>);

enum Kind<'a> {
    Shared {
        source: Arc<dyn ColumnSource + 'a>,
        columns: Range<usize>,
    },
    Slab {
        cells: Column<'a, KoalaBear>,
        rows_len: usize,
    },
    Vectors(&'a mut [Vec<KoalaBear>]),
}

impl<'a> Group<'a> {
    /// The columns of `source` in groups that give up nothing.
    ///
    /// # Panics
    /// If `group_len` is zero.
    pub fn shared<S: ColumnSource + ?Sized>(source: &'a S, group_len: usize) -> Vec<Self> {
        let columns_len = source.shape().columns_len();
        // Behind a pointer of its own, because a source that has no size cannot become a `dyn` itself.
        let source: Arc<dyn ColumnSource + 'a> = Arc::new(source);
        (0..columns_len)
            .step_by(group_len)
            .map(|first| Kind::Shared {
                source: Arc::clone(&source),
                columns: first..(first + group_len).min(columns_len),
            })
            .map(Self)
            .collect()
    }

    /// The columns of `rows_len` cells in `slab`, one after the other, in groups that return their
    /// memory to the system.
    ///
    /// # Panics
    /// If a length is zero.
    pub fn slab(slab: &'a mut Slab<KoalaBear>, rows_len: usize, group_len: usize) -> Vec<Self> {
        slab.columns(group_len * rows_len)
            .map(|cells| Self(Kind::Slab { cells, rows_len }))
            .collect()
    }

    /// The columns `vectors` in groups that drop them.
    ///
    /// # Panics
    /// If `group_len` is zero.
    pub fn vectors(vectors: &'a mut [Vec<KoalaBear>], group_len: usize) -> Vec<Self> {
        vectors
            .chunks_mut(group_len)
            .map(|vectors| Self(Kind::Vectors(vectors)))
            .collect()
    }

    /// Columns of the group.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Shared { columns, .. } => columns.len(),
            Kind::Slab { cells, rows_len } => cells.len() / rows_len,
            Kind::Vectors(vectors) => vectors.len(),
        }
    }

    /// Whether the group has no columns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Column `index` of the group, see [`ColumnSource::column`].
    ///
    /// # Panics
    /// If `index` is not below [`Group::len`], the source fails, or the column has another length than `buffer`.
    pub fn column<'b>(&'b self, index: usize, buffer: &'b mut [KoalaBear]) -> &'b [KoalaBear] {
        match self.fetch(index, buffer) {
            Ok(column) => column,
            Err(error) => panic!("{error}"),
        }
    }

    /// Column `index` of the group, see [`ColumnSource::fetch`].
    ///
    /// # Errors
    /// [`SourceError`] if the source fails.
    ///
    /// # Panics
    /// As [`Group::column`], but for failures.
    pub fn fetch<'b>(
        &'b self,
        index: usize,
        buffer: &'b mut [KoalaBear],
    ) -> Result<&'b [KoalaBear], SourceError> {
        assert!(
            index < self.len(),
            "a group of {} columns has no {index}",
            self.len()
        );
        let rows_len = buffer.len();
        let column = match &self.0 {
            Kind::Shared { source, columns } => source.fetch(columns.start + index, buffer)?,
            Kind::Slab { cells, rows_len } => &cells[index * rows_len..][..*rows_len],
            Kind::Vectors(vectors) => &vectors[index],
        };
        assert_eq!(
            column.len(),
            rows_len,
            "the columns of a source have as many cells as its shape has rows"
        );
        Ok(column)
    }

    /// Gives the columns back to the system.
    pub fn release(self) {
        match self.0 {
            Kind::Shared { .. } => {}
            Kind::Slab { cells, .. } => cells.release(),
            Kind::Vectors(vectors) => vectors.fill(Vec::new()),
        }
    }
}

impl std::fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// A table to commit to, of columns that are in memory: in one slab, in vectors of its own, or borrowed.
///
/// It has a power of two of rows, which are not encoded yet. The table of encoded columns that trees
/// are built over is another one, in `lanework-merkle`.
#[derive(Debug)]
pub struct Table<'a> {
    shape: Shape,
    storage: Storage<'a>,
}

#[derive(Debug)]
enum Storage<'a> {
    Slab(Slab<KoalaBear>),
    Vectors(Vec<Vec<KoalaBear>>),
    Borrowed(Vec<&'a [KoalaBear]>),
}

impl<'a> Table<'a> {
    /// The table of borrowed base columns.
    ///
    /// # Errors
    /// [`Error::NoColumns`], [`Error::UnequalColumns`], [`Error::RowsNotPowerOfTwo`].
    pub fn borrowed(columns: Vec<&'a [KoalaBear]>) -> Result<Self, Error> {
        let shape = base_shape(columns.iter().map(|column| column.len()))?;
        Ok(Self {
            shape,
            storage: Storage::Borrowed(columns),
        })
    }

    /// The table of base columns in vectors of their own, which are dropped one after the other when
    /// the table is consumed.
    ///
    /// # Errors
    /// As [`Table::borrowed`].
    pub fn vectors(columns: Vec<Vec<KoalaBear>>) -> Result<Self, Error> {
        let shape = base_shape(columns.iter().map(Vec::len))?;
        Ok(Self {
            shape,
            storage: Storage::Vectors(columns),
        })
    }

    /// The table of all columns in one slab, one after the other, whose pages are given back one after
    /// the other when the table is consumed.
    ///
    /// # Errors
    /// [`Error::UnequalCells`] if the slab has not exactly the cells of `shape`.
    pub fn slab(cells: Slab<KoalaBear>, shape: Shape) -> Result<Self, Error> {
        let expected = shape
            .columns_len()
            .checked_mul(shape.rows_len())
            .filter(|&expected| expected == cells.len());
        match expected {
            Some(_) => Ok(Self {
                shape,
                storage: Storage::Slab(cells),
            }),
            None => Err(Error::UnequalCells {
                expected: shape.columns_len().saturating_mul(shape.rows_len()),
                got: cells.len(),
            }),
        }
    }

    /// The table of copies of base columns and of extension columns, the latter split into limbs; made
    /// on the current threads.
    ///
    /// ```
    /// use lanework_arch::memory::Pages;
    /// use lanework_field::KoalaBear;
    /// use lanework_field::koala::Ext6;
    /// use lanework_fri::Table;
    ///
    /// let flags = [KoalaBear::ONE, KoalaBear::ZERO];
    /// let sums = [Ext6([1, 2, 3, 4, 5, 6].map(KoalaBear::new)); 2];
    /// let table = Table::copied(&[&flags], &[&sums], Pages::Normal)?;
    /// assert_eq!(table.column(0), flags);
    /// assert_eq!(table.column(6), [KoalaBear::new(6); 2]);
    /// # Ok::<(), lanework_fri::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::borrowed`]; [`Error::Memory`].
    pub fn copied<E: Extension>(
        base: &[&[KoalaBear]],
        extension: &[&[E]],
        pages: Pages,
    ) -> Result<Self, Error> {
        let base_lens = base.iter().map(|column| column.len());
        let lens: Vec<usize> = base_lens
            .chain(extension.iter().map(|column| column.len()))
            .collect();
        let shape = Shape {
            base_width: base.len(),
            ext_width: extension.len(),
            ext_degree: E::DEGREE,
            ..base_shape(lens.into_iter())?
        };
        let rows_len = shape.rows_len();
        let mut cells = Slab::zeroed(shape.columns_len().saturating_mul(rows_len), pages)?;
        let (base_cells, limbs) = cells.split_at_mut(base.len() * rows_len);
        let threads = Threads::current();
        threads.for_each(
            base_cells.chunks_exact_mut(rows_len).zip(base),
            |(cells, column)| {
                cells.copy_from_slice(column);
            },
        );
        let columns = limbs.chunks_exact_mut(E::DEGREE * rows_len).zip(extension);
        threads.for_each(columns, |(limbs, column)| {
            for (index, limb) in limbs.chunks_exact_mut(rows_len).enumerate() {
                for (cell, value) in limb.iter_mut().zip(*column) {
                    *cell = value.limbs()[index];
                }
            }
        });
        Self::slab(cells, shape)
    }

    /// Declares the last columns to be the limbs of extension columns of degree `ext_degree`, all but
    /// the first `base_width` of them.
    ///
    /// # Errors
    /// [`Error::TooFewColumns`] if the table has not so many base columns, and
    /// [`Error::UnequalLimbs`] if what is left are no whole extension columns.
    pub fn with_extension(self, base_width: usize, ext_degree: usize) -> Result<Self, Error> {
        let columns_len = self.shape.columns_len();
        let Some(limbs) = columns_len.checked_sub(base_width) else {
            return Err(Error::TooFewColumns {
                columns_len,
                base_width,
            });
        };
        if ext_degree == 0 || !limbs.is_multiple_of(ext_degree) {
            return Err(Error::UnequalLimbs {
                limbs,
                degree: ext_degree,
            });
        }
        let ext_width = limbs / ext_degree;
        Ok(Self {
            shape: Shape {
                base_width,
                ext_width,
                ext_degree,
                ..self.shape
            },
            ..self
        })
    }

    /// The cells of column `index`.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, index: usize) -> &[KoalaBear] {
        match &self.storage {
            Storage::Slab(cells) => {
                let rows_len = self.shape.rows_len();
                &cells[index * rows_len..][..rows_len]
            }
            Storage::Vectors(columns) => &columns[index],
            Storage::Borrowed(columns) => columns[index],
        }
    }
}

impl ColumnSource for Table<'_> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn column<'a>(&'a self, index: usize, _: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        self.column(index)
    }

    fn groups(&mut self, group_len: usize) -> Vec<Group<'_>> {
        if let Storage::Borrowed(_) = self.storage {
            return Group::shared(self, group_len);
        }
        match &mut self.storage {
            Storage::Slab(cells) => Group::slab(cells, self.shape.rows_len(), group_len),
            Storage::Vectors(columns) => Group::vectors(columns, group_len),
            Storage::Borrowed(_) => Vec::new(),
        }
    }
}

fn base_shape(mut lens: impl ExactSizeIterator<Item = usize>) -> Result<Shape, Error> {
    let width = lens.len();
    let rows = lens.next().ok_or(Error::NoColumns { table: 0 })?;
    if let Some((column, got)) = (1..).zip(lens).find(|&(_, len)| len != rows) {
        return Err(Error::UnequalColumns {
            column,
            expected: rows,
            got,
        });
    }
    if !rows.is_power_of_two() {
        return Err(Error::RowsNotPowerOfTwo { rows });
    }
    Ok(Shape::base(rows.ilog2(), width))
}
