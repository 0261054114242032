//! A transform by itself: the front, and a way out in bit-reversed order.
#![expect(
    unsafe_code,
    reason = "rows and blocks of one buffer, reached with a stride"
)]

use lanework_field::KoalaBear;
use lanework_field::koala::lanes::Kernel;

use super::super::table::Sums;
use super::super::vector::Vector;
use super::front::Front;
use super::layers::{Reversed, for_lanes, transpose};
use super::memory::Working;
use crate::plan::Passes;

/// A transform of one length, with its tables.
pub(in super::super) struct Transformer<V: Vector> {
    front: Front<V>,
    len: usize,
}

impl<V: Vector> Transformer<V> {
    /// scale * sum of `y_i` (shift root^j)^i, with the inverse root in the inverse direction.
    pub(in super::super) fn new(token: V::Token, sums: Sums, passes: Passes) -> Self {
        Self {
            front: Front::new(token, sums, passes),
            len: 1 << sums.log_len,
        }
    }

    pub(in super::super) fn scratch_len(&self) -> usize {
        self.len + self.front.memory(1).len()
    }

    /// Replaces elements in natural order by their transform in bit-reversed order.
    pub(in super::super) fn transform(&self, values: &mut [KoalaBear], scratch: &mut [KoalaBear]) {
        assert_eq!(values.len(), self.len, "length of the transform");
        assert!(
            scratch.len() >= self.scratch_len(),
            "length of the scratch buffer"
        );
        let front = &self.front;
        let (work, rest) = scratch.split_at_mut(self.len);
        let working = Working::<V>::new(rest, front.memory(1));
        let (values, work) = (values.as_mut_ptr(), work.as_mut_ptr());
        // SAFETY: bounds: the lengths of all buffers have been checked.
        unsafe {
            for group in 0..front.groups() {
                front.gather(group, values, work, working);
            }
            for row in 0..1 << front.passes.log_wide {
                front.row_layers(row, work, working);
                let cells = working.cells;
                for_lanes!(V::LOG_LEN, N => V::run(
                    front.token,
                    Leave::<V, N> { front, row, cells, values },
                ));
            }
        }
    }
}

/// The elements of a row at their places: the bits of `lane`, then the row, then the reversed z.
struct Leave<'a, V: Vector, const N: usize> {
    front: &'a Front<V>,
    row: usize,
    cells: *const V::Cell,
    values: *mut KoalaBear,
}

impl<V: Vector, const N: usize> Kernel for Leave<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            front,
            row,
            cells,
            values,
        } = self;
        let Passes {
            log_wide, log_deep, ..
        } = front.passes;
        let token = front.token;
        for z in (0..1 << log_deep).step_by(2 * N) {
            // SAFETY: bounds: the cells are those of the layout, the places those of all elements.
            unsafe {
                let tile = |first: usize| {
                    let mut v = [V::load_cells(token, cells); N];
                    for i in 0..N {
                        let place = front.row().place(first + i);
                        v[i] = V::load_cells(token, cells.add(place * N)).reduce();
                    }
                    transpose(&mut v);
                    v
                };
                let (first, second) = (tile(z), tile(z + N));
                let values = values.add((row << log_deep) + z);
                for lane in 0..N {
                    let place = Reversed::<N>::OF[lane] << (log_wide + log_deep);
                    V::store_consecutive(first[lane], second[lane], values.add(place));
                }
            }
        }
    }
}
