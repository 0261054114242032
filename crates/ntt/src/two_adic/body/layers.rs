//! Layers of butterflies, in registers and over rows of cells.
#![expect(
    unsafe_code,
    reason = "rows and blocks of one buffer, reached with a stride"
)]

use lanework_arch::memory::prefetch;
use lanework_field::KoalaBear;
use lanework_field::koala::lanes::Kernel;

use super::super::scalar::reversed;
use super::super::vector::Vector;

/// The layout of a row in cells: blocks that fit the first-level cache, one vector apart, so that
/// the same places of all blocks do not compete for the same lines of a cache.
#[derive(Copy, Clone)]
pub(super) struct Row {
    pub(super) log_len: u32,
    pub(super) log_block: u32,
}

impl Row {
    /// A row of one block.
    pub(super) const fn undivided(log_len: u32) -> Self {
        Self {
            log_len,
            log_block: log_len,
        }
    }

    /// Vectors, with those between the blocks.
    pub(super) fn len(self) -> usize {
        self.pitch() << (self.log_len - self.log_block)
    }

    /// Vectors from one block to the next.
    #[inline(always)]
    pub(super) fn pitch(self) -> usize {
        (1 << self.log_block) + 1
    }

    /// The place of a vector.
    #[inline(always)]
    pub(super) fn place(self, vector: usize) -> usize {
        vector + (vector >> self.log_block)
    }

    /// How far vectors are from each other that are 2^`log_distance` apart in the row, if these
    /// are whole blocks or all in one block.
    #[inline(always)]
    pub(super) fn stride(self, log_distance: u32) -> usize {
        self.place(1 << log_distance)
    }
}

/// The numbers below N with their bits reversed, as constants for loops to unroll.
pub(super) struct Reversed<const N: usize>;

impl<const N: usize> Reversed<N> {
    pub(super) const OF: [usize; N] = {
        let mut table = [0; N];
        let mut i = 0;
        while i < N {
            table[i] = reversed(i, N.ilog2());
            i += 1;
        }
        table
    };
}

/// One layer of butterflies with partners `HALF` apart. Block k uses the constant at N / 2 HALF + k.
#[inline(always)]
pub(super) fn layer<V: Vector, const N: usize, const HALF: usize>(
    v: &mut [V; N],
    c: &[V::Constant; N],
) {
    let blocks = N / (2 * HALF);
    for k in 0..blocks {
        for i in 2 * HALF * k..2 * HALF * k + HALF {
            (v[i], v[i + HALF]) = v[i].butterfly(v[i + HALF], &c[blocks + k]);
        }
    }
    V::keep_order(v);
}

/// The layers of N vectors after the first.
#[inline(always)]
pub(super) fn layers_but_first<V: Vector, const N: usize>(v: &mut [V; N], c: &[V::Constant; N]) {
    if N >= 16 {
        layer::<V, N, 4>(v, c);
    }
    if N >= 8 {
        layer::<V, N, 2>(v, c);
    }
    if N >= 4 {
        layer::<V, N, 1>(v, c);
    }
}

/// All layers of N vectors: natural to bit-reversed order.
#[inline(always)]
pub(super) fn layers<V: Vector, const N: usize>(v: &mut [V; N], c: &[V::Constant; N]) {
    match N {
        16 => layer::<V, N, 8>(v, c),
        8 => layer::<V, N, 4>(v, c),
        4 => layer::<V, N, 2>(v, c),
        _ => layer::<V, N, 1>(v, c),
    }
    layers_but_first(v, c);
}

/// The constants of the layers below block `block` of layer `level`.
#[inline(always)]
pub(super) unsafe fn natural_constants<V: Vector, const N: usize>(
    token: V::Token,
    table: *const V::Twiddle,
    level: u32,
    block: usize,
) -> [V::Constant; N] {
    // SAFETY: bounds: the caller's table has all blocks of these layers.
    unsafe {
        let mut c = [V::constant(token, table.add((1 << level) + block)); N];
        for i in 2..N {
            let m = i.ilog2();
            c[i] = V::constant(
                token,
                table.add((1 << (level + m)) + (block << m) + i - (1 << m)),
            );
        }
        c
    }
}

/// The constants of the layers from `level` on of a row in reversed order, at its place `low`.
#[inline(always)]
pub(super) unsafe fn reversed_constants<V: Vector, const N: usize>(
    token: V::Token,
    table: *const V::Twiddle,
    level: u32,
    low: usize,
) -> [V::Constant; N] {
    // SAFETY: bounds: the caller's table has all places of these layers.
    unsafe {
        let mut c = [V::constant(token, table.add((1 << level) + low)); N];
        // For i = 2^m + k, the reversal of k is the upper m bits of that of i.
        for i in 2..N {
            let m = i.ilog2();
            let first = table.add((1 << (level + m)) + low);
            let k = Reversed::<N>::OF[i] >> (N.ilog2() - m);
            c[i] = V::constant(token, first.add(k << level));
        }
        c
    }
}

/// N vectors, `stride` vectors apart.
#[inline(always)]
pub(super) unsafe fn load<V: Vector, const N: usize>(
    token: V::Token,
    cells: *const V::Cell,
    stride: usize,
) -> [V; N] {
    // SAFETY: bounds: the caller's.
    unsafe {
        let mut v = [V::load_cells(token, cells); N];
        for i in 1..N {
            v[i] = V::load_cells(token, cells.add(i * stride * V::LEN));
        }
        v
    }
}

#[inline(always)]
pub(super) unsafe fn store<V: Vector, const N: usize>(
    v: &[V; N],
    cells: *mut V::Cell,
    stride: usize,
) {
    for (i, v) in v.iter().enumerate() {
        // SAFETY: bounds: the caller's.
        unsafe { v.store_cells(cells.add(i * stride * V::LEN)) }
    }
}

/// N vectors, `stride` vectors apart, in bit-reversed order.
#[inline(always)]
pub(super) unsafe fn load_reversed<V: Vector, const N: usize>(
    token: V::Token,
    cells: *const V::Cell,
    stride: usize,
) -> [V; N] {
    // SAFETY: bounds: the caller's.
    unsafe {
        let mut v = [V::load_cells(token, cells); N];
        for i in 1..N {
            v[i] = V::load_cells(token, cells.add(Reversed::<N>::OF[i] * stride * V::LEN));
        }
        v
    }
}

#[inline(always)]
pub(super) unsafe fn store_reversed<V: Vector, const N: usize>(
    v: &[V; N],
    cells: *mut V::Cell,
    stride: usize,
) {
    for (i, v) in v.iter().enumerate() {
        // SAFETY: bounds: the caller's.
        unsafe { v.store_cells(cells.add(Reversed::<N>::OF[i] * stride * V::LEN)) }
    }
}

/// Exchanges lanes with vectors.
#[inline(always)]
pub(super) fn transpose<V: Vector, const N: usize>(v: &mut [V; N]) {
    #[inline(always)]
    fn exchange<V: Vector, const N: usize, const BLOCK: usize>(v: &mut [V; N]) {
        for group in (0..N).step_by(2 * BLOCK) {
            for i in group..group + BLOCK {
                (v[i], v[i + BLOCK]) = v[i].interleave::<BLOCK>(v[i + BLOCK]);
            }
        }
    }
    if N >= 16 {
        exchange::<V, N, 8>(v);
    }
    if N >= 8 {
        exchange::<V, N, 4>(v);
    }
    exchange::<V, N, 2>(v);
    exchange::<V, N, 1>(v);
}

/// Evaluates an expression for a radix that is known only at run time.
macro_rules! for_radix {
    ($log_radix:expr, $n:ident => $visit:expr) => {
        match $log_radix {
            1 => {
                const $n: usize = 2;
                $visit
            }
            2 => {
                const $n: usize = 4;
                $visit
            }
            _ => {
                const $n: usize = 8;
                $visit
            }
        }
    };
}

/// What a later visit will read, asked for a little at a time between the layers of this one: chunks
/// of neighbours, a fixed distance apart.
#[derive(Copy, Clone)]
pub(super) struct Ahead {
    first: *const u8,
    log_chunk_bytes: u32,
    distance_bytes: usize,
    next: usize,
    end: usize,
    lines_per_step: usize,
}

impl Ahead {
    /// The least that is fetched.
    pub(super) const LINE_BYTES: usize = 64;

    pub(super) const fn nothing() -> Self {
        Self {
            first: std::ptr::null(),
            log_chunk_bytes: 0,
            distance_bytes: 0,
            next: 0,
            end: 0,
            lines_per_step: 0,
        }
    }

    /// `chunks` chunks of 2^`log_chunk` elements, 2^`log_distance` elements apart, to be asked for in
    /// `steps` steps.
    pub(super) fn new(
        first: *const KoalaBear,
        log_chunk: u32,
        log_distance: u32,
        chunks: usize,
        steps: usize,
    ) -> Self {
        let chunk_bytes = (size_of::<KoalaBear>() << log_chunk).max(Self::LINE_BYTES);
        let end = chunks * chunk_bytes;
        Self {
            first: first.cast(),
            log_chunk_bytes: chunk_bytes.ilog2(),
            distance_bytes: size_of::<KoalaBear>() << log_distance,
            next: 0,
            end,
            lines_per_step: (end / Self::LINE_BYTES).div_ceil(steps.max(1)),
        }
    }

    #[inline(always)]
    fn step(&mut self) {
        for _ in 0..self.lines_per_step {
            if self.next == self.end {
                return;
            }
            let (chunk, place) = (
                self.next >> self.log_chunk_bytes,
                self.next & ((1 << self.log_chunk_bytes) - 1),
            );
            let offset = chunk * self.distance_bytes + place;
            prefetch::read_later(self.first.wrapping_add(offset));
            self.next += Self::LINE_BYTES;
        }
    }
}

/// Layers of cells in natural order, in place: those from `done` on, log2 N of them. The cells are
/// block `block` of the layer `level` of the whole transform.
pub(super) struct NaturalVisit<'a, V: Vector, const N: usize> {
    pub(super) token: V::Token,
    pub(super) cells: *mut V::Cell,
    pub(super) row: Row,
    pub(super) done: u32,
    pub(super) constants: *const V::Twiddle,
    pub(super) level: u32,
    pub(super) block: usize,
    pub(super) ahead: &'a mut Ahead,
}

impl<V: Vector, const N: usize> Kernel for NaturalVisit<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            token,
            cells,
            row,
            done,
            constants,
            level,
            block,
            ahead,
        } = self;
        let mut next = *ahead;
        let log_stride = row.log_len - done - N.ilog2();
        for k in 0..1 << done {
            // SAFETY: bounds: whoever makes a visit says that it has the cells of the row and the
            // constants of its layers.
            unsafe {
                let c =
                    natural_constants::<V, N>(token, constants, level + done, (block << done) + k);
                for z in 0..1 << log_stride {
                    let cells = cells.add(row.place(((k * N) << log_stride) + z) * V::LEN);
                    let mut v = load::<V, N>(token, cells, row.stride(log_stride));
                    next.step();
                    layers(&mut v, &c);
                    store(&v, cells, row.stride(log_stride));
                }
            }
        }
        *ahead = next;
    }
}

/// Layers of cells in reversed order, from `source` to `target`: those from `done` on.
pub(super) struct ReversedVisit<V: Vector, const N: usize> {
    pub(super) token: V::Token,
    pub(super) source: *const V::Cell,
    pub(super) target: *mut V::Cell,
    pub(super) row: Row,
    pub(super) done: u32,
    pub(super) constants: *const V::Twiddle,
}

impl<V: Vector, const N: usize> Kernel for ReversedVisit<V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            token,
            source,
            target,
            row,
            done,
            constants,
        } = self;
        for low in 0..1 << done {
            // SAFETY: bounds: as in `NaturalVisit`.
            unsafe {
                let c = reversed_constants::<V, N>(token, constants, done, low);
                for high in 0..1 << (row.log_len - done - N.ilog2()) {
                    let place = row.place(low + high * (N << done)) * V::LEN;
                    let mut v = load_reversed::<V, N>(token, source.add(place), row.stride(done));
                    layers(&mut v, &c);
                    store_reversed(&v, target.add(place), row.stride(done));
                }
            }
        }
    }
}

/// Evaluates an expression for the number of lanes of a vector, as a constant to count with.
macro_rules! for_lanes {
    ($log_len:expr, $n:ident => $visit:expr) => {
        match $log_len {
            2 => {
                const $n: usize = 4;
                $visit
            }
            3 => {
                const $n: usize = 8;
                $visit
            }
            _ => {
                const $n: usize = 16;
                $visit
            }
        }
    };
}

pub(super) use {for_lanes, for_radix};
