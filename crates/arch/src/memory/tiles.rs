//! Disjoint mutable views of a column-major buffer, for writers that work in parallel.
#![expect(
    unsafe_code,
    reason = "hands out disjoint views of one exclusive buffer"
)]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;

/// The buffer cut into tiles of at most `tile_rows` rows by `tile_columns` columns.
///
/// The buffer holds columns of `column_len` elements, one after the other. Every element belongs to
/// exactly one tile; tiles at the lower and right edge are smaller. They come row block by row block.
///
/// ```
/// use lanework_arch::memory::tiles;
/// use lanework_arch::threads::Threads;
///
/// let mut buffer = [0; 4 * 3]; // 3 columns of 4 rows
/// Threads::current().for_each(tiles(&mut buffer, 4, 2, 2), |mut tile| {
///     let rows = tile.rows();
///     for column in tile.columns() {
///         for (row, cell) in rows.clone().zip(tile.column_mut(column)) {
///             *cell = 10 * column + row;
///         }
///     }
/// });
/// assert_eq!(buffer, [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]);
/// ```
///
/// # Panics
/// If a length is zero, or the buffer's is not a multiple of `column_len`.
pub fn tiles<T>(
    buffer: &mut [T],
    column_len: usize,
    tile_rows: usize,
    tile_columns: usize,
) -> Tiles<'_, T> {
    assert!(
        tile_rows > 0 && tile_columns > 0,
        "empty tiles: {tile_rows} x {tile_columns}"
    );
    assert!(
        column_len > 0 && buffer.len().is_multiple_of(column_len),
        "not whole columns of {column_len} elements: {}",
        buffer.len()
    );
    Tiles {
        columns: buffer.len() / column_len,
        base: NonNull::from(buffer).cast(),
        column_len,
        tile_rows,
        tile_columns,
        next: 0,
        buffer: PhantomData,
    }
}

/// The buffer cut into blocks of at most `block_rows` rows, each with its part of every column.
///
/// # Panics
/// As [`tiles`].
pub fn row_blocks<T>(buffer: &mut [T], column_len: usize, block_rows: usize) -> Tiles<'_, T> {
    tiles(buffer, column_len, block_rows, usize::MAX)
}

/// The disjoint tiles of a buffer, each handed out once; see [`tiles`] and [`row_blocks`].
pub struct Tiles<'a, T> {
    base: NonNull<T>,
    columns: usize,
    column_len: usize,
    tile_rows: usize,
    tile_columns: usize,
    next: usize,
    buffer: PhantomData<&'a mut [T]>,
}

// SAFETY: stands for the `&mut [T]` it was made from.
unsafe impl<T: Send> Send for Tiles<'_, T> {}

impl<T> Tiles<'_, T> {
    const fn across(&self) -> usize {
        self.columns.div_ceil(self.tile_columns)
    }

    const fn down(&self) -> usize {
        self.column_len.div_ceil(self.tile_rows)
    }
}

impl<'a, T> Iterator for Tiles<'a, T> {
    type Item = Tile<'a, T>;

    fn next(&mut self) -> Option<Tile<'a, T>> {
        if self.len() == 0 {
            return None;
        }
        let (down, across) = (self.next / self.across(), self.next % self.across());
        self.next += 1;
        Some(Tile {
            base: self.base,
            column_len: self.column_len,
            rows: part(down, self.tile_rows, self.column_len),
            columns: part(across, self.tile_columns, self.columns),
            buffer: PhantomData,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.across() * self.down() - self.next;
        (left, Some(left))
    }
}

impl<T> ExactSizeIterator for Tiles<'_, T> {}

/// The `index`-th part of `0..len` in steps of `step`.
fn part(index: usize, step: usize, len: usize) -> Range<usize> {
    let start = index * step;
    start..start.saturating_add(step).min(len)
}

impl<T> fmt::Debug for Tiles<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tiles")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Exclusive access to some rows of some columns of a column-major buffer.
pub struct Tile<'a, T> {
    base: NonNull<T>,
    column_len: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    buffer: PhantomData<&'a mut [T]>,
}

// SAFETY: stands for mutable slices of the buffer that no other tile covers.
unsafe impl<T: Send> Send for Tile<'_, T> {}
// SAFETY: a shared tile gives shared access to its elements only.
unsafe impl<T: Sync> Sync for Tile<'_, T> {}

impl<T> Tile<'_, T> {
    /// The rows, counted in the whole buffer.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The columns, counted in the whole buffer.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// The tile's rows of one column, counted in the whole buffer.
    ///
    /// # Panics
    /// If the column is not one of [`columns`](Self::columns).
    pub fn column(&self, column: usize) -> &[T] {
        // SAFETY: *bounds* and exclusiveness: see `start`. The borrow of `self` covers the result.
        unsafe { std::slice::from_raw_parts(self.start(column), self.rows.len()) }
    }

    /// The tile's rows of one column, to write.
    ///
    /// # Panics
    /// As [`column`](Self::column).
    pub fn column_mut(&mut self, column: usize) -> &mut [T] {
        // SAFETY: *bounds* and exclusiveness: see `start`. The borrow of `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start(column), self.rows.len()) }
    }

    /// Every column of the tile at once, to write.
    pub fn columns_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [T]> {
        let (base, column_len, rows) = (self.base, self.column_len, self.rows.clone());
        self.columns.clone().map(move |column| {
            let start = start(base, column_len, rows.start, column);
            // SAFETY: *bounds* and exclusiveness: see `start`. Different columns do not overlap, each
            // comes once, and the borrow of `self` is exclusive.
            unsafe { std::slice::from_raw_parts_mut(start, rows.len()) }
        })
    }

    /// The first element of a column; `rows.len()` elements from there belong to this tile alone.
    fn start(&self, column: usize) -> *mut T {
        assert!(
            self.columns.contains(&column),
            "column {column} is not in {:?}",
            self.columns
        );
        start(self.base, self.column_len, self.rows.start, column)
    }
}

/// Where row `row` of column `column` is.
///
/// Tiles only hold rows below `column_len` and columns of the buffer (`Tiles::next`), which makes
/// this, and what follows up to the end of the tile's rows, part of the buffer. Tiles of one buffer
/// differ in their rows or in their columns, and the buffer is borrowed exclusively, so that nobody
/// else has access.
const fn start<T>(base: NonNull<T>, column_len: usize, row: usize, column: usize) -> *mut T {
    // SAFETY: *bounds*: within the buffer, as above.
    unsafe { base.as_ptr().add(column * column_len + row) }
}

impl<T> fmt::Debug for Tile<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tile")
            .field("rows", &self.rows)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::Threads;

    #[test]
    fn every_element_belongs_to_exactly_one_tile() {
        let threads = Threads::new(3.try_into().unwrap()).unwrap();
        for (rows, columns) in [(1, 1), (1, 5), (7, 1), (8, 6), (13, 11)] {
            for tile_rows in [1, 2, 4, rows, usize::MAX] {
                for tile_columns in [1, 2, 3, columns, usize::MAX] {
                    let mut buffer = vec![0_u32; rows * columns];
                    let all = tiles(&mut buffer, rows, tile_rows, tile_columns);
                    let count = all.len();
                    assert_eq!(
                        count,
                        rows.div_ceil(tile_rows) * columns.div_ceil(tile_columns)
                    );
                    threads.for_each(all, |mut tile| {
                        let rows = tile.rows();
                        for column in tile.columns() {
                            assert_eq!(tile.column(column).len(), rows.len());
                            for (row, cell) in rows.clone().zip(tile.column_mut(column)) {
                                *cell += 1000 * column as u32 + row as u32 + 1;
                            }
                        }
                    });
                    for (i, &cell) in buffer.iter().enumerate() {
                        assert_eq!(cell as usize, 1000 * (i / rows) + i % rows + 1, "{i}");
                    }
                }
            }
        }
    }

    #[test]
    fn row_blocks_hold_their_part_of_every_column() {
        let mut buffer = [0; 5 * 3];
        let mut blocks: Vec<_> = row_blocks(&mut buffer, 5, 2).collect();
        assert_eq!(
            blocks.iter().map(Tile::rows).collect::<Vec<_>>(),
            [0..2, 2..4, 4..5]
        );
        // All views are held and written at the same time.
        let mut slices: Vec<_> = blocks.iter_mut().flat_map(Tile::columns_mut).collect();
        for (i, slice) in slices.iter_mut().enumerate() {
            slice.fill(i);
        }
        assert_eq!(buffer, [0, 0, 3, 3, 6, 1, 1, 4, 4, 7, 2, 2, 5, 5, 8]);
    }

    #[test]
    fn an_empty_buffer_has_no_tiles() {
        assert_eq!(row_blocks::<u8>(&mut [], 4, 2).count(), 0);
    }

    #[test]
    #[should_panic(expected = "not whole columns of 4 elements: 6")]
    fn a_buffer_of_broken_columns_is_refused() {
        let _ = tiles(&mut [0; 6], 4, 1, 1);
    }

    #[test]
    #[should_panic(expected = "column 2 is not in 0..2")]
    fn a_column_of_another_tile_is_refused() {
        let mut buffer = [0; 8];
        tiles(&mut buffer, 2, 2, 2).next().unwrap().column_mut(2);
    }
}
