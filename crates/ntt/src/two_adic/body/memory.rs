//! The working memory of the passes.
#![expect(
    unsafe_code,
    reason = "rows and blocks of one buffer, reached with a stride"
)]

use lanework_field::KoalaBear;

use super::super::vector::Vector;

/// How much working memory the passes need.
#[derive(Copy, Clone)]
pub(super) struct Memory {
    pub(super) row_bytes: usize,
    pub(super) rows: usize,
    pub(super) gather_bytes: usize,
    pub(super) constants_bytes: usize,
    pub(super) factors_bytes: usize,
}

/// The alignment of working memory: a cache line, and any vector.
const ALIGN: usize = 64;

impl Memory {
    fn cells_bytes(self) -> usize {
        let rows = self.rows * self.row_bytes.next_multiple_of(ALIGN);
        rows.max(self.gather_bytes).next_multiple_of(ALIGN)
    }

    /// Elements, with those lost to alignment.
    pub(super) fn len(self) -> usize {
        let constants_bytes = self.constants_bytes.next_multiple_of(ALIGN);
        let bytes = self.cells_bytes() + constants_bytes + self.factors_bytes + ALIGN;
        bytes.div_ceil(size_of::<KoalaBear>())
    }
}

/// Working memory: cells for the gathered group or a row, the row of another coset, constants.
#[derive(Copy, Clone)]
pub(super) struct Working<V: Vector> {
    pub(super) cells: *mut V::Cell,
    pub(super) other: *mut V::Cell,
    pub(super) constants: *mut V::Twiddle,
    pub(super) factors: *mut [V::Factor; 2],
}

impl<V: Vector> Working<V> {
    pub(super) fn new(buffer: &mut [KoalaBear], memory: Memory) -> Self {
        assert!(buffer.len() >= memory.len(), "length of the working memory");
        let row_bytes = memory.row_bytes.next_multiple_of(ALIGN);
        let constants_bytes = memory.constants_bytes.next_multiple_of(ALIGN);
        let start: *mut u8 = buffer.as_mut_ptr().cast();
        // SAFETY: bounds: `Memory::len` counts these parts and what alignment takes.
        unsafe {
            let start = start.add(start.align_offset(ALIGN));
            let constants = start.add(memory.cells_bytes());
            Self {
                cells: start.cast(),
                other: start.add((memory.rows - 1) * row_bytes).cast(),
                constants: constants.cast(),
                factors: constants.add(constants_bytes).cast(),
            }
        }
    }
}
