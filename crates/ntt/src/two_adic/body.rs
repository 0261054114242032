//! The passes, for any [`Vector`].
//!
//! # The index
//! A message of n = 2^L elements y_i has the coefficients c_j = 1/n sum_i y_i w^-ij. The bits of i
//! are split, from the top, into l bits for the lanes of a vector, b *wide* and d *deep* ones:
//!
//! ```text
//!     i = (A, B, y)        A < 2^l, B < 2^b, y < 2^d
//!     j = lane + 2^l beta + 2^(l+b) z
//! ```
//!
//! Layers with one constant per block turn natural order into bit-reversed order, high bits of i
//! first: the layers of A leave the bits of `lane` (reversed), those of B the bits of beta, those
//! of y the bits of z. The value of a polynomial at x^2 = r is split into those at x and -x, and
//! the constant of a block is its x.
//!
//! # The passes
//! 1. *Gather.* For a few neighbouring y at a time, all (A, B): the layers of A and B. Then the
//!    factor w^-(lane y) / n, and a transposition, after which the lanes of a vector hold
//!    different `lane`, and whole vectors are numbered (B, y). All further constants are the same
//!    for all lanes.
//! 2. *Deep.* For each B, a row of 2^d vectors: the layers of y, which leave coefficients in a row
//!    with z reversed. Then for each coset g H of the codeword, the layers of z: the high bits of
//!    j first, which are the near neighbours in the row. They leave e, the low bits of the index of
//!    a value, in natural order, and the bits of its position reversed.
//! 3. *Scatter.* For each e, all (beta, lane): a factor (g w^e)^lane, the layers of beta and those
//!    of the lanes, during which pairs of vectors exchange halves. The result is a block of 2^(l+b)
//!    neighbours of the codeword, at the position rev(e): no order needs mending.
//!
//! The shift of a coset is part of the constants of all these layers.
//!
//! Between the passes the elements lie in *lines* of two vectors. The lines of a row are the same
//! in both layouts, so that a row can be replaced in place: 2^l lines of a row make a *piece*, and
//! the pieces of all rows at one place are neighbours. Pass 1 writes and pass 3 reads them in turn.
#![expect(
    unsafe_code,
    reason = "rows and blocks of one buffer, reached with a stride"
)]

use lanework_field::KoalaBear;
use lanework_field::koala::lanes::{Kernel, Lanes};

use super::scalar::reversed;
use super::table::Shape;
use super::vector::Vector;
use crate::plan::Passes;

/// The constants of one coset that is not the message itself.
struct Coset<V: Vector> {
    /// Its block of the codeword.
    index: usize,
    /// The layers of z: layer m uses 2^m constants from place 2^m on, by the low bits of e.
    deep: Vec<V::Twiddle>,
    /// For each line of pass 3 and each of its vectors: the factors of the lanes, the same times
    /// the constant of the first layer of beta, and from place 2^m on the constants of layer m.
    scatter: Vec<u32>,
}

/// A shape with its tables.
pub(crate) struct Body<V: Vector> {
    token: V::Token,
    shape: Shape,
    passes: Passes,
    deep_visits: Vec<u32>,
    wide_visits: Vec<u32>,
    /// The layers of A and B: layer m uses 2^m constants from place 2^m on.
    gather: Vec<V::Twiddle>,
    /// w^-(lane y) / n for the first y, per lane and y.
    twist: Vec<u32>,
    /// w^-(lane y) for the first y of each group of pass 1, per group and lane.
    twist_step: Vec<V::Twiddle>,
    /// The inverse roots in bit-reversed order, shared by all layers of y.
    inverse_roots: Vec<u32>,
    /// The layers of the lanes in pass 3, for each pair of vectors.
    lanes: Vec<V::Factor>,
    cosets: Vec<Coset<V>>,
    /// Whether block 0 of the codeword is the message.
    systematic: bool,
}

/// The powers of roots of unity that layers use, in bit-reversed order: 1, i, ..
fn bit_reversed_roots(len: usize, root: impl Fn(u32) -> KoalaBear) -> Vec<KoalaBear> {
    let mut roots = Vec::with_capacity(len.max(1));
    roots.push(KoalaBear::ONE);
    for m in 0..len.max(1).ilog2() {
        let next = root(m + 2);
        for k in 0..1 << m {
            roots.push(roots[k] * next);
        }
    }
    roots
}

fn inverse_root(log_order: u32) -> KoalaBear {
    KoalaBear::two_adic_generator(log_order).pow((1 << log_order) - 1)
}

/// `first`, `first ratio`, `first ratio^2`, ..
fn powers(first: KoalaBear, ratio: KoalaBear) -> impl Iterator<Item = KoalaBear> {
    std::iter::successors(Some(first), move |&x| Some(x * ratio))
}

/// Prepares words for use, in memory of their own.
fn expanded<V: Vector>(token: V::Token, mut words: Vec<u32>) -> Vec<V::Twiddle> {
    struct Expand<'a, V: Vector>(V::Token, &'a [u32], *mut V::Twiddle);
    impl<V: Vector> Kernel for Expand<'_, V> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            // SAFETY: bounds: `expanded` has room for as many constants as words.
            unsafe { V::expand(self.0, self.1.as_ptr(), self.2, self.1.len()) }
        }
    }
    words.resize(words.len().next_multiple_of(V::LEN), 0);
    let mut twiddles = Vec::with_capacity(words.len());
    V::run(token, Expand::<V>(token, &words, twiddles.as_mut_ptr()));
    // SAFETY: bounds: as many constants as words have been written.
    unsafe { twiddles.set_len(words.len()) };
    twiddles
}

/// Prepares vectors of words, in memory of their own.
fn factors<V: Vector>(token: V::Token, words: &[u32]) -> Vec<V::Factor> {
    struct Factors<'a, V: Vector>(V::Token, &'a [u32]);
    impl<V: Vector> Kernel for Factors<'_, V> {
        type Output = Vec<V::Factor>;
        #[inline(always)]
        fn run(self) -> Vec<V::Factor> {
            let mut factors = Vec::with_capacity(self.1.len() / V::LEN);
            for words in self.1.chunks_exact(V::LEN) {
                // SAFETY: bounds: a whole vector.
                factors.push(unsafe { V::factor(self.0, words.as_ptr()) });
            }
            factors
        }
    }
    V::run(token, Factors::<V>(token, words))
}

impl<V: Vector> Body<V> {
    pub(crate) fn new(token: V::Token, shape: Shape, passes: Passes) -> Self {
        let Passes {
            log_lanes,
            log_wide,
            log_deep,
            ..
        } = passes;
        let word = |constant: KoalaBear| V::word(constant);
        let inverse_roots: Vec<u32> = {
            let mut roots = bit_reversed_roots(1 << (log_wide + log_deep - 1), inverse_root);
            // The layers of a row are read in whole vectors.
            roots.resize(roots.len() + V::LEN, KoalaBear::ZERO);
            roots.into_iter().map(word).collect()
        };
        let gather = {
            let layers = log_lanes + log_wide;
            let roots = bit_reversed_roots(1 << (layers - 1), inverse_root);
            let constants = (0..layers).flat_map(|m| &roots[..1 << m]).map(|&c| word(c));
            expanded::<V>(token, [0].into_iter().chain(constants).collect())
        };
        let scale = KoalaBear::from_u64(1 << shape.log_rows).inverse();
        let scale = scale.unwrap_or(KoalaBear::ZERO);
        let root = inverse_root(shape.log_rows);
        let by_lane = (0..V::LEN as u64).map(|lane| root.pow(lane));
        let twist = by_lane
            .clone()
            .flat_map(|ratio| powers(scale, ratio).take(2 * V::LEN));
        let twist_step = {
            let group_root = root.pow(2 * V::LEN as u64);
            let groups = powers(KoalaBear::ONE, group_root).take(1 << (log_deep - log_lanes - 1));
            groups
                .flat_map(|x| powers(KoalaBear::ONE, x).take(V::LEN))
                .map(word)
                .collect()
        };
        let lanes: Vec<u32> = {
            let roots = bit_reversed_roots(
                1 << (log_wide + log_lanes - 1),
                KoalaBear::two_adic_generator,
            );
            let layer = |pair: usize, m: u32| {
                (0..V::LEN).map(move |lane| (pair << (m + 1)) + (lane >> (log_lanes - 1 - m)))
            };
            let pairs = 0..1 << (log_wide - 1);
            let places = pairs.flat_map(|pair| (0..log_lanes).flat_map(move |m| layer(pair, m)));
            places.map(|k| word(roots[k])).collect()
        };
        let systematic = shape.shift == KoalaBear::ONE;
        let cosets = shape.cosets().enumerate().skip(usize::from(systematic));
        Self {
            token,
            shape,
            deep_visits: passes.deep_visits(),
            wide_visits: passes.wide_visits(),
            gather,
            twist: twist.map(word).collect(),
            twist_step: expanded::<V>(token, twist_step),
            inverse_roots,
            lanes: factors::<V>(token, &lanes),
            cosets: cosets
                .map(|(index, g)| Coset::new(token, &passes, shape, index, g))
                .collect(),
            passes,
            systematic,
        }
    }

    fn memory(&self) -> Memory {
        let Passes {
            log_lanes,
            log_wide,
            log_deep,
            ..
        } = self.passes;
        let vector_bytes = size_of::<V::Cell>() * V::LEN;
        let row_bytes = vector_bytes * self.row().len();
        let deep_constants = 1 << log_deep;
        let scatter_constants = 2 * BATCH * Self::scatter_constants(&self.passes);
        Memory {
            row_bytes,
            gather_bytes: vector_bytes << (log_lanes + log_wide + 1),
            rows: if self.cosets.len() > 1 { 2 } else { 1 },
            constants_bytes: size_of::<V::Twiddle>() * scatter_constants.max(deep_constants),
            factors_bytes: size_of::<[V::Factor; 2]>() * 2 * BATCH,
        }
    }

    /// Constants of the layers of beta for one vector of pass 3, in whole vectors.
    const fn scatter_constants(passes: &Passes) -> usize {
        let len = 1 << passes.log_wide;
        if len < V::LEN { V::LEN } else { len }
    }

    fn row(&self) -> Row {
        let Passes {
            log_deep,
            log_block,
            ..
        } = self.passes;
        Row {
            log_len: log_deep,
            log_block,
        }
    }

    pub(crate) fn scratch_len(&self) -> usize {
        (1 << self.shape.log_rows) + self.memory().len()
    }

    pub(crate) fn encode(
        &self,
        message: &[KoalaBear],
        codeword: &mut [KoalaBear],
        scratch: &mut [KoalaBear],
    ) {
        let len = message.len();
        let memory = self.memory();
        assert_eq!(
            codeword.len(),
            len << self.shape.log_inv_rate,
            "length of the codeword"
        );
        assert!(
            scratch.len() >= self.scratch_len(),
            "length of the scratch buffer"
        );
        let (work, rest) = scratch.split_at_mut(len);
        let working = Working::<V>::new(rest, memory);
        // Parts of the codeword serve as work space of the coset before them, so all access to it
        // goes through one pointer.
        let codeword = codeword.as_mut_ptr();
        let work = work.as_mut_ptr();
        // SAFETY: bounds: the lengths of all buffers have been checked.
        unsafe {
            self.gather(message.as_ptr(), work, codeword, working);
            self.deep(work, codeword, working);
            for coset in &self.cosets {
                let lines = self.target(coset, work, codeword);
                let block = codeword.add(coset.index << self.shape.log_rows);
                self.scatter(coset, lines, block, working);
            }
        }
    }

    /// Where pass 2 leaves a coset for pass 3: in the block of the next coset, which is written
    /// later; the last one in the work space.
    fn target(
        &self,
        coset: &Coset<V>,
        work: *mut KoalaBear,
        codeword: *mut KoalaBear,
    ) -> *mut KoalaBear {
        let next = coset.index + 1;
        if next >> self.shape.log_inv_rate == 0 {
            // SAFETY: bounds: `next` is a block of the codeword.
            unsafe { codeword.add(next << self.shape.log_rows) }
        } else {
            work
        }
    }

    /// Where the line `line` of the row `row` begins.
    #[inline(always)]
    fn line(&self, row: usize, line: usize) -> usize {
        let Passes { log_wide, .. } = self.passes;
        let piece = (line >> V::LOG_LEN) << log_wide | row;
        (piece << (2 * V::LOG_LEN + 1)) + ((line & (V::LEN - 1)) << (V::LOG_LEN + 1))
    }
}

impl<V: Vector> Coset<V> {
    fn new(token: V::Token, passes: &Passes, shape: Shape, index: usize, shift: KoalaBear) -> Self {
        let Passes {
            log_lanes,
            log_wide,
            log_deep,
            ..
        } = *passes;
        let word = |constant: KoalaBear| V::word(constant);
        let deep = (0..log_deep).flat_map(|m| {
            let first = shift.pow(1 << (shape.log_rows - m - 1));
            powers(first, KoalaBear::two_adic_generator(m + 1)).take(1 << m)
        });
        let deep = [0].into_iter().chain(deep.map(word)).collect();

        let roots = bit_reversed_roots(1 << (log_wide - 1), KoalaBear::two_adic_generator);
        let root = KoalaBear::two_adic_generator(shape.log_rows);
        let half_root = root.pow(1 << (log_deep - 1));
        let mut scatter = Vec::with_capacity(Self::scatter_len(passes) << log_deep);
        for even in powers(shift, root).take(1 << (log_deep - 1)) {
            for x in [even, even * half_root] {
                scatter.extend(powers(KoalaBear::ONE, x).take(V::LEN).map(word));
                let mut layer = powers(x, x).take(V::LEN).last().unwrap_or(x);
                let mut layers = [KoalaBear::ZERO; 32];
                for m in (0..log_wide as usize).rev() {
                    layers[m] = layer;
                    layer = layer.square();
                }
                scatter.extend(powers(layers[0], x).take(V::LEN).map(word));
                scatter.push(0);
                for m in 0..log_wide as usize {
                    scatter.extend(roots[..1 << m].iter().map(|&root| word(root * layers[m])));
                }
                let end = scatter.len().next_multiple_of(Self::scatter_len(passes));
                scatter.resize(end, 0);
            }
        }
        debug_assert_eq!(1 << log_lanes, V::LEN);
        Self {
            index,
            deep: expanded::<V>(token, deep),
            scatter,
        }
    }

    /// Words per vector of pass 3.
    fn scatter_len(passes: &Passes) -> usize {
        2 * V::LEN + Body::<V>::scatter_constants(passes)
    }
}

/// How much working memory the passes need.
#[derive(Copy, Clone)]
struct Memory {
    row_bytes: usize,
    rows: usize,
    gather_bytes: usize,
    constants_bytes: usize,
    factors_bytes: usize,
}

/// Lines of pass 3 whose constants are prepared together, well before they are used.
const BATCH: usize = 4;

/// The alignment of working memory: a cache line, and any vector.
const ALIGN: usize = 64;

impl Memory {
    fn cells_bytes(self) -> usize {
        let rows = self.rows * self.row_bytes.next_multiple_of(ALIGN);
        rows.max(self.gather_bytes).next_multiple_of(ALIGN)
    }

    /// Elements, with those lost to alignment.
    fn len(self) -> usize {
        let constants_bytes = self.constants_bytes.next_multiple_of(ALIGN);
        let bytes = self.cells_bytes() + constants_bytes + self.factors_bytes + ALIGN;
        bytes.div_ceil(size_of::<KoalaBear>())
    }
}

/// Working memory: cells for the gathered group or a row, the row of another coset, constants.
struct Working<V: Vector> {
    cells: *mut V::Cell,
    other: *mut V::Cell,
    constants: *mut V::Twiddle,
    factors: *mut [V::Factor; 2],
}

impl<V: Vector> Clone for Working<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: Vector> Copy for Working<V> {}

impl<V: Vector> Working<V> {
    fn new(buffer: &mut [KoalaBear], memory: Memory) -> Self {
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

/// The layout of a row in cells: blocks that fit the first-level cache, one vector apart, so that
/// the same places of all blocks do not compete for the same lines of a cache.
#[derive(Copy, Clone)]
struct Row {
    log_len: u32,
    log_block: u32,
}

impl Row {
    /// A row of one block.
    const fn undivided(log_len: u32) -> Self {
        Self { log_len, log_block: log_len }
    }

    /// Vectors, with those between the blocks.
    fn len(self) -> usize {
        self.pitch() << (self.log_len - self.log_block)
    }

    /// Vectors from one block to the next.
    #[inline(always)]
    fn pitch(self) -> usize {
        (1 << self.log_block) + 1
    }

    /// The place of a vector.
    #[inline(always)]
    fn place(self, vector: usize) -> usize {
        vector + (vector >> self.log_block)
    }

    /// How far vectors are from each other that are 2^`log_distance` apart in the row, if these
    /// are whole blocks or all in one block.
    #[inline(always)]
    fn stride(self, log_distance: u32) -> usize {
        self.place(1 << log_distance)
    }
}

// ---------------------------------------------------------------- layers in registers

/// The numbers below N with their bits reversed, as constants for loops to unroll.
struct Reversed<const N: usize>;

impl<const N: usize> Reversed<N> {
    const OF: [usize; N] = {
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
fn layer<V: Vector, const N: usize, const HALF: usize>(v: &mut [V; N], c: &[V::Constant; N]) {
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
fn layers_but_first<V: Vector, const N: usize>(v: &mut [V; N], c: &[V::Constant; N]) {
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
fn layers<V: Vector, const N: usize>(v: &mut [V; N], c: &[V::Constant; N]) {
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
unsafe fn natural_constants<V: Vector, const N: usize>(
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
            c[i] = V::constant(token, table.add((1 << (level + m)) + (block << m) + i - (1 << m)));
        }
        c
    }
}

/// The constants of the layers from `level` on of a row in reversed order, at its place `low`.
#[inline(always)]
unsafe fn reversed_constants<V: Vector, const N: usize>(
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
unsafe fn load<V: Vector, const N: usize>(
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
unsafe fn store<V: Vector, const N: usize>(v: &[V; N], cells: *mut V::Cell, stride: usize) {
    for (i, v) in v.iter().enumerate() {
        // SAFETY: bounds: the caller's.
        unsafe { v.store_cells(cells.add(i * stride * V::LEN)) }
    }
}

/// N vectors, `stride` vectors apart, in bit-reversed order.
#[inline(always)]
unsafe fn load_reversed<V: Vector, const N: usize>(
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
unsafe fn store_reversed<V: Vector, const N: usize>(
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
fn transpose<V: Vector, const N: usize>(v: &mut [V; N]) {
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

/// The same for vectors of words.
#[inline(always)]
fn transpose_words<L: Lanes, const N: usize>(v: &mut [L; N]) {
    #[inline(always)]
    fn exchange<L: Lanes, const N: usize, const BLOCK: usize>(v: &mut [L; N]) {
        for group in (0..N).step_by(2 * BLOCK) {
            for i in group..group + BLOCK {
                (v[i], v[i + BLOCK]) = v[i].interleave::<BLOCK>(v[i + BLOCK]);
            }
        }
    }
    if N >= 16 {
        exchange::<L, N, 8>(v);
    }
    if N >= 8 {
        exchange::<L, N, 4>(v);
    }
    exchange::<L, N, 2>(v);
    exchange::<L, N, 1>(v);
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

/// Layers of cells in natural order, in place: those from `done` on, log2 N of them. The cells are
/// block `block` of the layer `level` of the whole transform.
struct NaturalVisit<V: Vector, const N: usize> {
    token: V::Token,
    cells: *mut V::Cell,
    row: Row,
    done: u32,
    constants: *const V::Twiddle,
    level: u32,
    block: usize,
}

impl<V: Vector, const N: usize> Kernel for NaturalVisit<V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { token, cells, row, done, constants, level, block } = self;
        let log_stride = row.log_len - done - N.ilog2();
        for k in 0..1 << done {
            // SAFETY: bounds: whoever makes a visit says that it has the cells of the row and the
            // constants of its layers.
            unsafe {
                let c = natural_constants::<V, N>(token, constants, level + done, (block << done) + k);
                for z in 0..1 << log_stride {
                    let cells = cells.add(row.place((k * N << log_stride) + z) * V::LEN);
                    let mut v = load::<V, N>(token, cells, row.stride(log_stride));
                    layers(&mut v, &c);
                    store(&v, cells, row.stride(log_stride));
                }
            }
        }
    }
}

/// Layers of cells in reversed order, from `source` to `target`: those from `done` on.
struct ReversedVisit<V: Vector, const N: usize> {
    token: V::Token,
    source: *const V::Cell,
    target: *mut V::Cell,
    row: Row,
    done: u32,
    constants: *const V::Twiddle,
}

impl<V: Vector, const N: usize> Kernel for ReversedVisit<V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { token, source, target, row, done, constants } = self;
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

// ---------------------------------------------------------------- pass 1

struct Gather<'a, V: Vector, const N: usize> {
    body: &'a Body<V>,
    message: *const KoalaBear,
    cells: *mut V::Cell,
}

impl<V: Vector> Body<V> {
    /// Pass 1. For the first element of the message and of what it fills, the codeword and the work
    /// space.
    unsafe fn gather(
        &self,
        message: *const KoalaBear,
        work: *mut KoalaBear,
        codeword: *mut KoalaBear,
        working: Working<V>,
    ) {
        let Passes { log_wide, log_deep, .. } = self.passes;
        let (token, cells) = (self.token, working.cells);
        for group in 0..1 << (log_deep - V::LOG_LEN - 1) {
            // SAFETY: bounds: a group is as wide as a line.
            let message = unsafe { message.add(group * 2 * V::LEN) };
            if self.systematic {
                V::run(token, CopyReversed { body: self, group, message, target: codeword });
            }
            if self.cosets.is_empty() {
                continue;
            }
            match V::LOG_LEN {
                2 => V::run(token, Gather::<V, 4> { body: self, message, cells }),
                3 => V::run(token, Gather::<V, 8> { body: self, message, cells }),
                _ => V::run(token, Gather::<V, 16> { body: self, message, cells }),
            }
            let row = Row::undivided(V::LOG_LEN + log_wide + 1);
            let (constants, level, block) = (self.gather.as_ptr(), 0, 0);
            let mut done = V::LOG_LEN;
            for &log_radix in &self.wide_visits {
                for_radix!(log_radix, N => V::run(
                    token,
                    NaturalVisit::<V, N> { token, cells, row, done, constants, level, block },
                ));
                done += log_radix;
            }
            match V::LOG_LEN {
                2 => V::run(token, Twist::<V, 4> { body: self, group, cells, work }),
                3 => V::run(token, Twist::<V, 8> { body: self, group, cells, work }),
                _ => V::run(token, Twist::<V, 16> { body: self, group, cells, work }),
            }
        }
    }
}

/// The layers of A for one group of a message. Cells are numbered (A, B, half of the group).
impl<V: Vector, const N: usize> Kernel for Gather<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Passes { log_wide, log_deep, .. } = self.body.passes;
        let token = self.body.token;
        // SAFETY: bounds: 2^(l + b) rows of two vectors, of the message and of cells.
        unsafe {
            let c = natural_constants::<V, N>(token, self.body.gather.as_ptr(), 0, 0);
            for place in 0..2 << log_wide {
                let (wide, half) = (place >> 1, place & 1);
                let message = self.message.add((wide << log_deep) + half * V::LEN);
                let mut v = [V::load_message(token, message); N];
                for a in 1..N {
                    v[a] = V::load_message(token, message.add(a << (log_wide + log_deep)));
                }
                layers(&mut v, &c);
                store(&v, self.cells.add(place * V::LEN), 2 << log_wide);
            }
        }
    }
}

/// The end of pass 1: the factors, and the transposition.
struct Twist<'a, V: Vector, const N: usize> {
    body: &'a Body<V>,
    group: usize,
    cells: *const V::Cell,
    work: *mut KoalaBear,
}

impl<V: Vector, const N: usize> Kernel for Twist<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let log_wide = self.body.passes.log_wide;
        // SAFETY: bounds: 2^(l + b) rows of two vectors of cells, and a piece of each row.
        unsafe {
            let factors = self.factors();
            for wide in 0..1 << log_wide {
                for (half, factors) in factors.iter().enumerate() {
                    let source = self.cells.add((wide * 2 + half) * V::LEN);
                    let mut v = load_reversed::<V, N>(self.body.token, source, 2 << log_wide);
                    for i in 0..N {
                        v[i] = v[i].mul_by(&factors[i]);
                    }
                    transpose(&mut v);
                    let first = (self.group * 2 + half) * (N / 2);
                    for i in 0..N / 2 {
                        let line = self.body.line(wide, first + i);
                        V::store_line(v[2 * i], v[2 * i + 1], self.work.add(line));
                    }
                }
            }
        }
    }
}

impl<V: Vector, const N: usize> Twist<'_, V, N> {
    /// w^-(lane y) / n for the vectors y of the group: by half, lane and y.
    #[inline(always)]
    unsafe fn factors(&self) -> [[V::Factor; N]; 2] {
        let body = self.body;
        let (words, steps) = (body.twist.as_ptr(), body.twist_step.as_ptr());
        // SAFETY: bounds: one step per group and lane, and 2 LEN words per lane.
        unsafe {
            let mut factors = [[V::factor(body.token, words); N]; 2];
            for lane in 0..N {
                let step = V::constant(body.token, steps.add(self.group * N + lane));
                for half in 0..2 {
                    let words = words.add((lane * 2 + half) * N);
                    factors[half][lane] = V::factor_times(body.token, words, &step);
                }
            }
            factors
        }
    }
}

/// Writes the elements of a group to their places in the bit-reversed message.
struct CopyReversed<'a, V: Vector> {
    body: &'a Body<V>,
    group: usize,
    message: *const KoalaBear,
    target: *mut KoalaBear,
}

impl<V: Vector> Kernel for CopyReversed<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: bounds: the message and its block of the codeword.
        unsafe {
            match V::Words::LEN {
                4 => self.copy_tiles::<4>(),
                8 => self.copy_tiles::<8>(),
                _ => self.copy_tiles::<16>(),
            }
        }
    }
}

impl<V: Vector> CopyReversed<'_, V> {
    #[inline(always)]
    unsafe fn copy_tiles<const N: usize>(&self) {
        let Passes { log_wide, log_deep, .. } = self.body.passes;
        let token = V::words(self.body.token);
        let (log_rows, log_group) = (V::LOG_LEN + log_wide, V::LOG_LEN + 1);
        // SAFETY: bounds: both sides are permutations of the indices of the message.
        unsafe {
            let target = self.target.add(reversed(self.group, log_deep - log_group) << log_rows);
            let log_tile = N.ilog2();
            for row in (0..1 << log_rows).step_by(N) {
                for column in (0..1 << log_group).step_by(N) {
                    // The low bits of a row or column are the high ones of its reversal.
                    let place = reversed(row >> log_tile, log_rows - log_tile) << log_deep;
                    let source = self.message.add(place + column);
                    let step = |i: usize| Reversed::<N>::OF[i] << (log_rows - log_tile + log_deep);
                    let mut v = [V::Words::load(token, source); N];
                    for i in 1..N {
                        v[i] = V::Words::load(token, source.add(step(i)));
                    }
                    transpose_words(&mut v);
                    let log_block = log_rows + log_deep - log_group;
                    let place = reversed(column >> log_tile, log_group - log_tile) << log_block;
                    let target = target.add(place + row);
                    let step = |i: usize| Reversed::<N>::OF[i] << (log_group - log_tile + log_block);
                    for (i, v) in v.iter().enumerate() {
                        v.store(target.add(step(i)));
                    }
                }
            }
        }
    }
}

// ---------------------------------------------------------------- pass 2

impl<V: Vector> Body<V> {
    /// Pass 2.
    unsafe fn deep(&self, work: *mut KoalaBear, codeword: *mut KoalaBear, working: Working<V>) {
        let Some((last, others)) = self.cosets.split_last() else { return };
        for row in 0..1 << self.passes.log_wide {
            // SAFETY: bounds: the caller's.
            unsafe {
                self.inverse(row, work, working);
                for coset in others {
                    let lines = self.target(coset, work, codeword);
                    self.forward(row, coset, working.cells, working.other, lines);
                }
                self.forward(row, last, working.cells, working.cells, self.target(last, work, codeword));
            }
        }
    }

    /// The layers of y: from the lines of a row to coefficients in cells.
    unsafe fn inverse(&self, row: usize, work: *const KoalaBear, working: Working<V>) {
        let Passes { log_deep, log_block, .. } = self.passes;
        let (token, layout) = (self.token, self.row());
        let (cells, constants) = (working.cells, working.constants);
        V::run(token, ExpandRow { body: self, row, target: constants });
        let Some((&first, visits)) = self.deep_visits.split_first() else { return };
        for_radix!(first, N => V::run(
            token,
            FirstVisit::<V, N> { body: self, row, lines: work, cells, constants },
        ));
        let mut done = first;
        let top = log_deep - log_block;
        let mut visits = visits;
        while let Some((&log_radix, rest)) = visits.split_first().filter(|_| done < top) {
            let (row, level, block) = (layout, 0, 0);
            for_radix!(log_radix, N => V::run(
                token,
                NaturalVisit::<V, N> { token, cells, row, done, constants, level, block },
            ));
            done += log_radix;
            visits = rest;
        }
        for block in 0..1 << top {
            // SAFETY: bounds: the layout has so many blocks.
            let cells = unsafe { cells.add(block * layout.pitch() * V::LEN) };
            let (row, level) = (Row::undivided(log_block), top);
            let mut done = done - top;
            for &log_radix in visits {
                for_radix!(log_radix, N => V::run(
                    token,
                    NaturalVisit::<V, N> { token, cells, row, done, constants, level, block },
                ));
                done += log_radix;
            }
        }
    }

    /// The layers of z: from coefficients in `source`, by way of `target`, to the lines of a row.
    unsafe fn forward(
        &self,
        row: usize,
        coset: &Coset<V>,
        source: *const V::Cell,
        target: *mut V::Cell,
        lines: *mut KoalaBear,
    ) {
        let Passes { log_deep, log_block, .. } = self.passes;
        let (token, layout) = (self.token, self.row());
        let constants = coset.deep.as_ptr();
        let Some((&last, visits)) = self.deep_visits.split_first() else { return };
        let near = visits.iter().rev().scan(0, |done, &log_radix| {
            *done += log_radix;
            Some(*done)
        });
        let near = near.take_while(|&done| done <= log_block).count();
        let (far, near) = visits.split_at(visits.len() - near);
        for block in 0..1 << (log_deep - log_block) {
            let place = block * layout.pitch() * V::LEN;
            // SAFETY: bounds: the layout has so many blocks.
            let (mut source, target) = unsafe { (source.add(place), target.add(place)) };
            let row = Row::undivided(log_block);
            let mut done = 0;
            for &log_radix in near.iter().rev() {
                for_radix!(log_radix, N => V::run(
                    token,
                    ReversedVisit::<V, N> { token, source, target, row, done, constants },
                ));
                source = target;
                done += log_radix;
            }
        }
        let mut done = near.iter().sum();
        let cells = if near.is_empty() { source } else { target.cast_const() };
        for &log_radix in far.iter().rev() {
            let row = layout;
            for_radix!(log_radix, N => V::run(
                token,
                ReversedVisit::<V, N> { token, source: cells, target, row, done, constants },
            ));
            done += log_radix;
        }
        for_radix!(last, N => V::run(
            token,
            LastVisit::<V, N> { body: self, row, lines, cells, constants },
        ));
    }
}

/// Prepares the constants of the layers of y for one row.
struct ExpandRow<'a, V: Vector> {
    body: &'a Body<V>,
    row: usize,
    target: *mut V::Twiddle,
}

impl<V: Vector> Kernel for ExpandRow<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for m in 0..self.body.passes.log_deep {
            // SAFETY: bounds: row r of 2^b has places r 2^m .. of the layer behind b + m others.
            // Whole vectors of constants may reach into the next layer, which is written later.
            unsafe {
                let words = self.body.inverse_roots.as_ptr().add(self.row << m);
                V::expand(self.body.token, words, self.target.add(1 << m), 1 << m);
            }
        }
    }
}

/// The first layers of y, from lines to cells.
struct FirstVisit<'a, V: Vector, const N: usize> {
    body: &'a Body<V>,
    row: usize,
    lines: *const KoalaBear,
    cells: *mut V::Cell,
    constants: *const V::Twiddle,
}

impl<V: Vector, const N: usize> Kernel for FirstVisit<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { body, row, lines, cells, constants } = self;
        let (token, layout) = (body.token, body.row());
        let log_stride = layout.log_len - N.ilog2();
        // SAFETY: bounds: the lines are those of the row, the cells those of the layout.
        unsafe {
            let c = natural_constants::<V, N>(token, constants, 0, 0);
            for z in (0..1 << log_stride).step_by(2) {
                let line = |q: usize| lines.add(body.line(row, (z + (q << log_stride)) / 2));
                let mut v = [V::load_half::<0>(token, line(0)); N];
                for q in 1..N {
                    v[q] = V::load_half::<0>(token, line(q));
                }
                layers(&mut v, &c);
                let cells = cells.add(layout.place(z) * V::LEN);
                store(&v, cells, layout.stride(log_stride));
                for q in 0..N {
                    v[q] = V::load_half::<1>(token, line(q));
                }
                layers(&mut v, &c);
                store(&v, cells.add(V::LEN), layout.stride(log_stride));
            }
        }
    }
}

/// The last layers of z, from cells to lines. A line holds the vectors e and e + 2^(d-1), whose
/// positions are neighbours.
struct LastVisit<'a, V: Vector, const N: usize> {
    body: &'a Body<V>,
    row: usize,
    lines: *mut KoalaBear,
    cells: *const V::Cell,
    constants: *const V::Twiddle,
}

impl<V: Vector, const N: usize> Kernel for LastVisit<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { body, row, lines, cells, constants } = self;
        let (token, layout) = (body.token, body.row());
        let done = layout.log_len - N.ilog2();
        for low in 0..1_usize << done {
            // SAFETY: bounds: the cells are those of the layout, the lines those of the row.
            unsafe {
                let c = reversed_constants::<V, N>(token, constants, done, low);
                let cells = cells.add(layout.place(low) * V::LEN);
                let mut v = load_reversed::<V, N>(token, cells, layout.stride(done));
                layers(&mut v, &c);
                for i in 0..N / 2 {
                    let line = low + (Reversed::<N>::OF[2 * i] << done);
                    let target = lines.add(body.line(row, line));
                    V::store_line(v[2 * i].reduce(), v[2 * i + 1].reduce(), target);
                }
            }
        }
    }
}

// ---------------------------------------------------------------- pass 3

impl<V: Vector> Body<V> {
    /// Pass 3: from the lines of a coset to its block of the codeword.
    unsafe fn scatter(
        &self,
        coset: &Coset<V>,
        lines: *const KoalaBear,
        block: *mut KoalaBear,
        working: Working<V>,
    ) {
        let Passes { log_wide, log_deep, .. } = self.passes;
        let token = self.token;
        let Some((&first, visits)) = self.wide_visits.split_first() else { return };
        let Working { cells, constants, factors, .. } = working;
        let pass = ScatterPass { body: self, coset, lines, block, constants, factors };
        match *visits {
            [] => for_radix!(first, N => V::run(token, Scatter::<V, N>(pass))),
            [last] => for_radix!(first, N => for_radix!(last, M => V::run(
                token,
                ScatterTwice::<V, N, M> { pass, cells },
            ))),
            [ref visits @ .., last] => {
                let log_lines = log_deep - 1;
                for line in 0..1 << log_lines {
                    if line % BATCH == 0 {
                        V::run(token, ScatterConstants { pass, line });
                    }
                    for half in 0..2 {
                        for_radix!(first, N => V::run(
                            token,
                            ScatterFirst::<V, N> { pass, line, half, cells },
                        ));
                        let constants = pass.constants(line, half);
                        let (row, level, block) = (Row::undivided(log_wide), 0, 0);
                        let mut done = first;
                        for &log_radix in visits {
                            for_radix!(log_radix, N => V::run(
                                token,
                                NaturalVisit::<V, N> {
                                    token, cells, row, done, constants, level, block,
                                },
                            ));
                            done += log_radix;
                        }
                        for_radix!(last, N => V::run(
                            token,
                            ScatterLast::<V, N> { pass, line, half, cells, done },
                        ));
                    }
                }
            }
        }
    }
}

/// What the visits of pass 3 have in common.
struct ScatterPass<'a, V: Vector> {
    body: &'a Body<V>,
    coset: &'a Coset<V>,
    lines: *const KoalaBear,
    block: *mut KoalaBear,
    constants: *mut V::Twiddle,
    factors: *mut [V::Factor; 2],
}

impl<V: Vector> Clone for ScatterPass<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: Vector> Copy for ScatterPass<'_, V> {}

/// Pass 3 where the layers of beta are one visit.
struct Scatter<'a, V: Vector, const N: usize>(ScatterPass<'a, V>);

impl<V: Vector, const N: usize> Kernel for Scatter<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let pass = self.0;
        for line in 0..1 << (pass.body.passes.log_deep - 1) {
            if line % BATCH == 0 {
                ScatterConstants { pass, line }.run();
            }
            // SAFETY: bounds: the lines of a row, and the blocks of as many vectors.
            unsafe {
                let mut v = pass.first_layers::<N, 0>(line, 0);
                finish(pass.body, &mut v, 0, pass.target(line, 0));
                let mut v = pass.first_layers::<N, 1>(line, 0);
                finish(pass.body, &mut v, 0, pass.target(line, 1));
            }
        }
    }
}

/// Pass 3 where the layers of beta are two visits, of N and M vectors.
struct ScatterTwice<'a, V: Vector, const N: usize, const M: usize> {
    pass: ScatterPass<'a, V>,
    cells: *mut V::Cell,
}

impl<V: Vector, const N: usize, const M: usize> Kernel for ScatterTwice<'_, V, N, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { pass, cells } = self;
        for line in 0..1 << (pass.body.passes.log_deep - 1) {
            if line % BATCH == 0 {
                ScatterConstants { pass, line }.run();
            }
            for half in 0..2 {
                ScatterFirst::<V, N> { pass, line, half, cells }.run();
                ScatterLast::<V, M> { pass, line, half, cells, done: N.ilog2() }.run();
            }
        }
    }
}

/// The first layers of beta of one block, to cells.
struct ScatterFirst<'a, V: Vector, const N: usize> {
    pass: ScatterPass<'a, V>,
    line: usize,
    half: usize,
    cells: *mut V::Cell,
}

impl<V: Vector, const N: usize> Kernel for ScatterFirst<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { pass, line, half, cells } = self;
        let stride = 1 << (pass.body.passes.log_wide - N.ilog2());
        for z in 0..stride {
            // SAFETY: bounds: the lines of a row, and 2^b vectors of cells.
            unsafe {
                let v = match half {
                    0 => pass.first_layers::<N, 0>(line, z),
                    _ => pass.first_layers::<N, 1>(line, z),
                };
                store(&v, cells.add(z * V::LEN), stride);
            }
        }
    }
}

/// The last layers of beta of one block, and those of the lanes.
struct ScatterLast<'a, V: Vector, const N: usize> {
    pass: ScatterPass<'a, V>,
    line: usize,
    half: usize,
    cells: *const V::Cell,
    done: u32,
}

impl<V: Vector, const N: usize> Kernel for ScatterLast<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { pass, line, half, cells, done } = self;
        let (token, constants) = (pass.body.token, pass.constants(line, half));
        for k in 0..1 << done {
            // SAFETY: bounds: 2^b vectors of cells, and a block of the codeword of as many.
            unsafe {
                let c = natural_constants::<V, N>(token, constants, done, k);
                let mut v = load::<V, N>(token, cells.add(k * N * V::LEN), 1);
                layers(&mut v, &c);
                finish(pass.body, &mut v, k * N, pass.target(line, half));
            }
        }
    }
}

/// Prepares the constants of a batch of lines: those of the layers of beta, the factors of the
/// lanes, and the same times the constant of the first layer.
struct ScatterConstants<'a, V: Vector> {
    pass: ScatterPass<'a, V>,
    line: usize,
}

impl<V: Vector> Kernel for ScatterConstants<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { pass, line } = self;
        let (token, passes) = (pass.body.token, &pass.body.passes);
        let constants = Body::<V>::scatter_constants(passes);
        let len = Coset::<V>::scatter_len(passes);
        for vector in 0..2 * BATCH {
            // SAFETY: bounds: one set of words per vector, and room for a batch.
            unsafe {
                let words = pass.coset.scatter.as_ptr().add((line * 2 + vector) * len);
                let factors = [V::factor(token, words), V::factor(token, words.add(V::LEN))];
                pass.factors.add(vector).write(factors);
                let target = pass.constants.add(vector * constants);
                V::expand(token, words.add(2 * V::LEN), target, constants);
            }
        }
    }
}

impl<V: Vector> ScatterPass<'_, V> {
    /// Where the block of a vector begins.
    #[inline(always)]
    unsafe fn target(&self, line: usize, half: usize) -> *mut KoalaBear {
        let Passes { log_wide, log_deep, .. } = self.body.passes;
        let position = reversed(line, log_deep - 1) * 2 + half;
        // SAFETY: bounds: positions count the blocks of 2^(l + b) elements.
        unsafe { self.block.add(position << (V::LOG_LEN + log_wide)) }
    }

    /// The constants of the layers of beta.
    #[inline(always)]
    fn constants(&self, line: usize, half: usize) -> *const V::Twiddle {
        let vector = line % BATCH * 2 + half;
        self.constants.wrapping_add(vector * Body::<V>::scatter_constants(&self.body.passes))
    }

    /// The first layers of beta of the vectors z, z + stride, ..
    #[inline(always)]
    unsafe fn first_layers<const N: usize, const HALF: usize>(&self, line: usize, z: usize) -> [V; N] {
        let (body, token) = (self.body, self.body.token);
        let log_wide = body.passes.log_wide;
        let log_stride = log_wide - N.ilog2();
        // SAFETY: bounds: one line of each row, and the constants of a batch.
        unsafe {
            // Rows are in reversed order; (q, z) reversed is (z reversed, q reversed).
            let first = self.lines.add(body.line(reversed(z, log_stride) << N.ilog2(), line));
            let source = |q: usize| first.add(body.line(Reversed::<N>::OF[q], 0));
            let factors = &*self.factors.add(line % BATCH * 2 + HALF);
            let mut v = [V::load_half::<HALF>(token, source(0)); N];
            for q in 1..N {
                v[q] = V::load_half::<HALF>(token, source(q));
            }
            for q in 0..N / 2 {
                v[q] = v[q].mul_by(&factors[0]);
                (v[q], v[q + N / 2]) = v[q].butterfly_by(v[q + N / 2], &factors[1]);
            }
            let c = natural_constants::<V, N>(token, self.constants(line, HALF), 0, 0);
            layers_but_first(&mut v, &c);
            v
        }
    }
}

/// The layers of the lanes of vectors `first` .. of a block, and their way out. All vectors go layer
/// by layer: the chain of one pair alone would leave most units idle.
#[inline(always)]
unsafe fn finish<V: Vector, const N: usize>(
    body: &Body<V>,
    v: &mut [V; N],
    first: usize,
    target: *mut KoalaBear,
) {
    let log_len = V::LOG_LEN as usize;
    // SAFETY: bounds: factors for all pairs of a block, and room for its vectors.
    unsafe {
        let factors = body.lanes.as_ptr().add(first / 2 * log_len);
        let mut m = 0;
        if V::LEN >= 16 {
            lane_layer::<V, N, 8>(v, factors);
            m += 1;
        }
        if V::LEN >= 8 {
            lane_layer::<V, N, 4>(v, factors.add(m));
            m += 1;
        }
        lane_layer::<V, N, 2>(v, factors.add(m));
        lane_layer::<V, N, 1>(v, factors.add(m + 1));
        for v in v.iter_mut() {
            *v = v.reduce();
        }
        for i in (0..N).step_by(2) {
            V::store_alternating(v[i], v[i + 1], target.add((first + i) * V::LEN));
        }
    }
}

/// One layer of the lanes, on pairs of vectors.
#[inline(always)]
unsafe fn lane_layer<V: Vector, const N: usize, const BLOCK: usize>(
    v: &mut [V; N],
    factors: *const V::Factor,
) {
    for i in (0..N).step_by(2) {
        (v[i], v[i + 1]) = v[i].interleave::<BLOCK>(v[i + 1]);
    }
    for i in (0..N).step_by(2) {
        // SAFETY: bounds: the caller's; a pair has as many factors as layers.
        let factor = unsafe { &*factors.add(i / 2 * V::LOG_LEN as usize) };
        (v[i], v[i + 1]) = v[i].butterfly_by(v[i + 1], factor);
    }
    V::keep_order(v);
}
