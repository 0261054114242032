//! The kernels of a representation behind one object.
#![expect(
    unsafe_code,
    reason = "rows of one or two buffers, reached with strides"
)]

use lanework_field::gf2::bytes::TowerWords;
use lanework_field::gf2::words::{Kernel, Words};

use super::encoder::Representation;
use super::form::{Form, Token, Tower, Twiddles};
use super::group::Group;
use super::node::Network;

/// Lanes to be made rows: positions `first` to `first + count` of every lane.
#[derive(Copy, Clone, Debug)]
pub(super) struct Columns<'a> {
    /// The lanes in the order of a row.
    pub(super) lanes: &'a [&'a [u64]],
    pub(super) first: usize,
    pub(super) count: usize,
}

/// What an instruction set can do.
pub(super) trait Transform: Send + Sync {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// Runs the forward network.
    ///
    /// # Safety
    /// As [`Group::forward`]. The group's blocks are below the number the kernels were made for.
    unsafe fn forward(&self, group: &Group<'_>);

    /// Runs the inverse or the transposed network.
    ///
    /// # Safety
    /// As [`Group::backward`]. The group's blocks are below the number the kernels were made for.
    unsafe fn backward(&self, group: &Group<'_>, network: Network);
}

/// What an instruction set can do with words of the tower.
pub(super) trait TowerTransform: Transform {
    /// Makes rows of lanes of a representation, one after the other at `target`, as words of the tower.
    ///
    /// # Safety
    /// The rows can be written, by nobody else. If `stream`, they start on cache lines and are whole lines long,
    /// and a fence follows.
    unsafe fn rows_of(
        &self,
        columns: Columns<'_>,
        representation: Representation,
        stream: bool,
        target: *mut u64,
    );
}

/// The kernels of one representation.
pub(super) struct Body<F: Form> {
    name: &'static str,
    token: Token<F>,
    twiddles: Twiddles<F>,
}

impl<F: Form> Body<F> {
    /// Kernels for blocks below 2^`log_blocks`.
    pub(super) fn new(name: &'static str, token: Token<F>, log_blocks: u32) -> Self {
        Self {
            name,
            token,
            twiddles: Twiddles::new(log_blocks),
        }
    }
}

impl<F: Form> Transform for Body<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    unsafe fn forward(&self, group: &Group<'_>) {
        // SAFETY: the caller's promise is passed on.
        unsafe { group.forward::<F>(self.token, &self.twiddles) }
    }

    unsafe fn backward(&self, group: &Group<'_>, network: Network) {
        // SAFETY: the caller's promise is passed on.
        unsafe { group.backward::<F>(self.token, &self.twiddles, network) }
    }
}

impl<V: TowerWords> TowerTransform for Body<Tower<V>> {
    unsafe fn rows_of(
        &self,
        columns: Columns<'_>,
        representation: Representation,
        stream: bool,
        target: *mut u64,
    ) {
        macro_rules! go {
            ($from:ident, $stream:literal) => {
                V::run(
                    self.token,
                    RowsOf::<V, { Representation::$from as u8 }, $stream> {
                        token: self.token,
                        columns,
                        target,
                    },
                )
            };
        }
        match (representation, stream) {
            (Representation::Tower, false) => go!(Tower, false),
            (Representation::Tower, true) => go!(Tower, true),
            (Representation::Polynomial, false) => go!(Polynomial, false),
            (Representation::Polynomial, true) => go!(Polynomial, true),
        }
    }
}

struct RowsOf<'a, V: Words, const FROM: u8, const STREAM: bool> {
    token: V::Token,
    columns: Columns<'a>,
    target: *mut u64,
}

/// The most words of a vector.
const LEN_MAX: usize = 8;
/// Positions of a tile: some lanes are read over so many before the next ones are.
const TILE: usize = 1 << 10;
/// How far ahead lanes are asked for, in words.
const AHEAD: usize = 96;

impl<V: TowerWords, const FROM: u8, const STREAM: bool> Kernel for RowsOf<'_, V, FROM, STREAM> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Columns {
            lanes,
            first,
            count,
        } = self.columns;
        let len = V::LEN;
        let width = lanes.len();
        for lane in lanes {
            assert!(lane.len() >= first + count, "lanes have these positions");
        }
        // Rows of a power of two of lines would all fall into the same sets of the caches.
        let tile = if width.is_multiple_of(64) { 64 } else { TILE };
        for start in (0..count).step_by(tile) {
            let end = (start + tile).min(count);
            for (index, group) in lanes.chunks(len).enumerate() {
                let mut at = start;
                while at < end {
                    let here = len.min(end - at);
                    let mut block = [V::splat(self.token, 0); LEN_MAX];
                    // SAFETY: bounds: `at + here <= count`, which all lanes have from `first` on; row `at + i`
                    // for `i < here` is one of the target's, and `group` lies within it.
                    unsafe {
                        for (x, lane) in block.iter_mut().zip(group) {
                            let source = lane.as_ptr().add(first + at);
                            lanework_arch::memory::prefetch::read(source.wrapping_add(AHEAD));
                            *x = if here == len {
                                V::load(self.token, source)
                            } else {
                                V::load_part(self.token, source, here)
                            };
                            if FROM == Representation::Polynomial as u8 {
                                *x = x.polynomial_to_tower();
                            }
                        }
                        V::transpose(&mut block[..len]);
                        for (i, x) in block[..here].iter().enumerate() {
                            let target = self.target.add((at + i) * width + index * len);
                            if group.len() < len {
                                x.store_part(target, group.len());
                            } else if STREAM && len == LEN_MAX {
                                x.stream(target);
                            } else {
                                x.store(target);
                            }
                        }
                    }
                    at += here;
                }
            }
        }
    }
}
