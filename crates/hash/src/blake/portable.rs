//! One message after the other, in plain Rust.
#![expect(unsafe_code, reason = "the rows are a pointer")]

use super::Function;
use super::layout::Layout;
use super::scalar;
use super::table::{Backend, Rows};

/// The back end that every machine runs.
#[derive(Copy, Clone, Debug)]
pub(super) struct OneByOne;

impl Backend for OneByOne {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn lanes(&self) -> usize {
        1
    }

    unsafe fn hash(&self, function: Function, layout: &Layout, rows: &Rows) {
        for i in 0..rows.count {
            // SAFETY: bounds: the caller vouches for `count` rows of the length of the layout.
            let row = unsafe {
                std::slice::from_raw_parts(rows.base.wrapping_add(i * rows.pitch), layout.len)
            };
            let digest = scalar::hash(function, layout, row);
            // SAFETY: bounds: the caller vouches for `count` digests.
            unsafe { rows.out.add(i).write(digest) };
        }
    }
}
