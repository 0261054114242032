//! Rows to columns and back, a square of vectors at a time.

use lanework_arch::Choice;
#[cfg(target_arch = "aarch64")]
use lanework_arch::Neon;
use lanework_arch::Portable;
#[cfg(target_arch = "x86_64")]
use lanework_arch::{Avx2, Avx512};
use lanework_field::KoalaBear;
#[cfg(target_arch = "aarch64")]
use lanework_field::koala::lanes::NeonLanes;
#[cfg(target_arch = "x86_64")]
use lanework_field::koala::lanes::{Avx2Lanes, Avx512Lanes};
use lanework_field::koala::lanes::{Kernel, Lanes, PortableLanes};

/// The most lanes of a vector.
pub(crate) const LANES_MAX: usize = 16;

/// Lines to be written: rows, or columns.
pub(crate) trait Lines {
    /// Writes elements of line `line` from `first` on.
    fn put<L: Lanes>(&mut self, line: usize, first: usize, vector: L);
    /// Writes one element.
    fn put_one(&mut self, line: usize, index: usize, element: KoalaBear);
}

/// Lines that begin every so many elements.
pub(crate) struct Strided<'a>(pub &'a mut [KoalaBear], pub usize);

impl Lines for Strided<'_> {
    #[inline(always)]
    fn put<L: Lanes>(&mut self, line: usize, first: usize, vector: L) {
        vector.to_slice(&mut self.0[line * self.1 + first..]);
    }

    #[inline(always)]
    fn put_one(&mut self, line: usize, index: usize, element: KoalaBear) {
        self.0[line * self.1 + index] = element;
    }
}

/// Writes element j of line i of `source` to element i of line j of `target`, for all i below `lines_len`
/// and j below `line_len`.
///
/// # Panics
/// If a line is too short.
pub(crate) fn transpose<'a>(
    choice: Choice,
    lines_len: usize,
    line_len: usize,
    source: impl Fn(usize) -> &'a [KoalaBear],
    target: &mut impl Lines,
) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(token) = Avx512::new(choice) {
            return with::<Avx512Lanes>(token, lines_len, line_len, source, target);
        }
        if let Some(token) = Avx2::new(choice) {
            return with::<Avx2Lanes>(token, lines_len, line_len, source, target);
        }
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(token) = Neon::new(choice) {
        return with::<NeonLanes>(token, lines_len, line_len, source, target);
    }
    let _ = choice;
    with::<PortableLanes>(Portable, lines_len, line_len, source, target);
}

fn with<'a, L: Lanes>(
    token: L::Token,
    lines_len: usize,
    line_len: usize,
    source: impl Fn(usize) -> &'a [KoalaBear],
    target: &mut impl Lines,
) {
    L::run(
        token,
        Transposition::<L, _, _> {
            token,
            lines_len,
            line_len,
            source,
            target,
        },
    );
}

struct Transposition<'t, L: Lanes, S, T> {
    token: L::Token,
    lines_len: usize,
    line_len: usize,
    source: S,
    target: &'t mut T,
}

impl<'a, L: Lanes, S: Fn(usize) -> &'a [KoalaBear], T: Lines> Kernel
    for Transposition<'_, L, S, T>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            token,
            lines_len,
            line_len,
            source,
            target,
        } = self;
        let whole = line_len - line_len % L::LEN;
        let mut first_line = 0;
        while first_line + L::LEN <= lines_len {
            let mut lines: [&[KoalaBear]; LANES_MAX] = [&[]; LANES_MAX];
            for (i, line) in lines[..L::LEN].iter_mut().enumerate() {
                *line = &source(first_line + i)[..line_len];
            }
            for first in (0..whole).step_by(L::LEN) {
                let mut square = [L::splat(token, KoalaBear::ZERO); LANES_MAX];
                for i in 0..L::LEN {
                    square[i] = L::from_slice(token, &lines[i][first..]);
                }
                L::transpose(&mut square[..L::LEN]);
                for i in 0..L::LEN {
                    target.put(first + i, first_line, square[i]);
                }
            }
            for j in whole..line_len {
                for i in 0..L::LEN {
                    target.put_one(j, first_line + i, lines[i][j]);
                }
            }
            first_line += L::LEN;
        }
        for i in first_line..lines_len {
            for (j, &element) in source(i)[..line_len].iter().enumerate() {
                target.put_one(j, i, element);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns_and_rows_again() {
        for choice in Choice::available() {
            for width in [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 60] {
                for height in [1, 2, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64] {
                    let cells: Vec<_> = (0..width * height)
                        .map(|i| KoalaBear::from_u64(i as u64 * 0x9e37_79b9))
                        .collect();
                    let stride = height + 5;
                    let mut columns = vec![KoalaBear::ONE; width * stride];
                    let row = |r: usize| &cells[r * width..][..width];
                    let mut target = Strided(&mut columns, stride);
                    transpose(choice, height, width, row, &mut target);
                    for (c, column) in columns.chunks(stride).enumerate() {
                        for (r, &cell) in column[..height].iter().enumerate() {
                            assert_eq!(cell, cells[r * width + c], "{choice} {height} x {width}");
                        }
                        assert!(column[height..].iter().all(|&cell| cell == KoalaBear::ONE));
                    }
                    let mut rows = vec![KoalaBear::ONE; width * height];
                    let column = |c: usize| &columns[c * stride..];
                    let mut target = Strided(&mut rows, width);
                    transpose(choice, width, height, column, &mut target);
                    assert_eq!(rows, cells, "{choice} {height} x {width}");
                }
            }
        }
    }
}
