//! The permutation between natural and bit-reversed order.

use super::scalar::reversed;

/// The bits of a tile's side. A row of it is a cache line of 4-byte elements.
const LOG_TILE: u32 = 4;
const TILE: usize = 1 << LOG_TILE;

/// Moves each element to the index with its bits reversed. Doing it twice changes nothing.
///
/// Elements that are neighbours before are far apart afterwards, in long arrays on different pages.
/// So an array is seen as rows of tiles: the first four bits of an index number the rows of a tile,
/// the last four its columns, and those between them the tile. Tile m goes to where tile rev(m)
/// was, transposed, and both are moved together by way of a buffer, a cache line at a time.
///
/// # Panics
/// If the length is not a power of two.
pub fn bit_reverse<T: Copy>(values: &mut [T]) {
    assert!(
        values.len().is_power_of_two(),
        "not a power of two: {}",
        values.len()
    );
    let log_len = values.len().trailing_zeros();
    let Some(log_tiles) = log_len.checked_sub(2 * LOG_TILE) else {
        for i in 0..values.len() {
            let j = reversed(i, log_len);
            if i < j {
                values.swap(i, j);
            }
        }
        return;
    };
    for tile in 0..1 << log_tiles {
        let other = reversed(tile, log_tiles);
        if tile <= other {
            let (first, second) = (read(values, tile), read(values, other));
            write(values, other, &first);
            write(values, tile, &second);
        }
    }
}

fn read<T: Copy>(values: &[T], tile: usize) -> [[T; TILE]; TILE] {
    let pitch = values.len() >> LOG_TILE;
    let row = |i: usize| {
        let start = i * pitch + (tile << LOG_TILE);
        let row: &[T] = &values[start..start + TILE];
        std::array::from_fn(|j| row[j])
    };
    std::array::from_fn(row)
}

fn write<T: Copy>(values: &mut [T], tile: usize, source: &[[T; TILE]; TILE]) {
    let pitch = values.len() >> LOG_TILE;
    for i in 0..TILE {
        let start = i * pitch + (tile << LOG_TILE);
        let column = reversed(i, LOG_TILE);
        for (j, value) in values[start..start + TILE].iter_mut().enumerate() {
            *value = source[reversed(j, LOG_TILE)][column];
        }
    }
}
