//! Encoding: the coefficients of a message, and their values on the cosets of a codeword.
#![expect(
    unsafe_code,
    reason = "rows and blocks of one buffer, reached with a stride"
)]

use lanework_arch::memory::prefetch;
use lanework_field::KoalaBear;
use lanework_field::koala::lanes::{Kernel, Lanes};

use super::super::scalar::reversed;
use super::super::table::{Shape, Stores, Sums};
use super::super::vector::{Montgomery, Vector};
use super::front::Front;
use super::layers::{
    Ahead, NaturalVisit, Reversed, ReversedVisit, Row, for_radix, layers, layers_but_first, load,
    load_reversed, natural_constants, reversed_constants, store, transpose,
};
use super::memory::{Memory, Working};
use super::tables::{bit_reversed_roots, expanded, factors, powers};
use crate::plan::Passes;

/// Lines of pass 3 whose constants are prepared together, well before they are used.
const BATCH: usize = 4;

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

/// The encoder of a shape, with its tables.
pub(in super::super) struct Encoder<V: Vector> {
    shape: Shape,
    front: Front<V>,
    /// The layers of the lanes in pass 3, for each pair of vectors.
    lanes: Vec<V::Factor>,
    cosets: Vec<Coset<V>>,
    /// Whether block 0 of the codeword is the message.
    systematic: bool,
}

impl<V: Vector> Encoder<V> {
    pub(in super::super) fn new(token: V::Token, shape: Shape, passes: Passes) -> Self {
        let Passes {
            log_lanes,
            log_wide,
            ..
        } = passes;
        let lanes: Vec<u32> = {
            let len = 1 << (log_wide + log_lanes - 1);
            let roots = bit_reversed_roots(len, KoalaBear::two_adic_generator);
            let layer = |pair: usize, m: u32| {
                (0..V::LEN).map(move |lane| (pair << (m + 1)) + (lane >> (log_lanes - 1 - m)))
            };
            let pairs = 0..1 << (log_wide - 1);
            let places = pairs.flat_map(|pair| (0..log_lanes).flat_map(move |m| layer(pair, m)));
            places.map(|k| V::word(roots[k])).collect()
        };
        let systematic = shape.shift == KoalaBear::ONE;
        let cosets = shape.cosets().enumerate().skip(usize::from(systematic));
        let cosets = cosets
            .map(|(index, g)| Coset::new(token, &passes, shape, index, g))
            .collect();
        Self {
            shape,
            lanes: factors::<V>(token, &lanes),
            cosets,
            systematic,
            front: Front::new(token, Sums::coefficients(shape.log_rows), passes),
        }
    }

    fn memory(&self) -> Memory {
        let memory = self.front.memory(self.cosets.len().clamp(1, 2));
        let scatter_constants = 2 * BATCH * Self::scatter_constants(&self.front.passes);
        Memory {
            constants_bytes: memory
                .constants_bytes
                .max(scatter_constants * size_of::<V::Twiddle>()),
            factors_bytes: size_of::<[V::Factor; 2]>() * 2 * BATCH,
            ..memory
        }
    }

    /// Constants of the layers of beta for one vector of pass 3, in whole vectors.
    const fn scatter_constants(passes: &Passes) -> usize {
        let len = 1 << passes.log_wide;
        if len < V::LEN { V::LEN } else { len }
    }

    pub(in super::super) fn scratch_len(&self) -> usize {
        self.work_len() + self.memory().len()
    }

    /// Room for the lines of the first of several cosets, and for those of the last one.
    fn work_len(&self) -> usize {
        self.cosets.len().clamp(1, 2) << self.shape.log_rows
    }

    pub(in super::super) fn encode(
        &self,
        message: &[KoalaBear],
        codeword: &mut [KoalaBear],
        scratch: &mut [KoalaBear],
        stores: Stores,
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
        let (work, rest) = scratch.split_at_mut(self.work_len());
        let working = Working::<V>::new(rest, memory);
        // Parts of the codeword serve as work space of the coset before them, so all access to it
        // goes through one pointer.
        let codeword = codeword.as_mut_ptr();
        let stores = if codeword.addr().is_multiple_of(Ahead::LINE_BYTES) {
            stores
        } else {
            Stores::Caching
        };
        let work = work.as_mut_ptr();
        // SAFETY: bounds: the lengths of all buffers have been checked.
        unsafe {
            for group in 0..self.front.groups() {
                if self.systematic {
                    let front = &self.front;
                    let message = message.as_ptr();
                    V::run(
                        front.token,
                        CopyReversed {
                            front,
                            group,
                            message,
                            target: codeword,
                        },
                    );
                }
                if !self.cosets.is_empty() {
                    self.front.gather(group, message.as_ptr(), work, working);
                }
            }
            self.deep(work, codeword, working);
            for (place, coset) in self.cosets.iter().enumerate() {
                let lines = self.target(place, work, codeword);
                let block = codeword.add(coset.index << self.shape.log_rows);
                self.scatter(coset, lines, block, working, stores);
            }
        }
        if stores == Stores::Streaming {
            V::fence();
        }
    }

    /// Where pass 2 leaves a coset for pass 3: the last one in the work space of pass 1, the first one
    /// in more of it, since memory that has just been used is faster; the others in the block of the
    /// next coset, which is written later.
    fn target(
        &self,
        place: usize,
        work: *mut KoalaBear,
        codeword: *mut KoalaBear,
    ) -> *mut KoalaBear {
        let log_rows = self.shape.log_rows;
        // SAFETY: bounds: there is a block after every coset but the last, and more work space if
        // there are several.
        unsafe {
            if place + 1 == self.cosets.len() {
                work
            } else if place == 0 {
                work.add(1 << log_rows)
            } else {
                codeword.add((self.cosets[place].index + 1) << log_rows)
            }
        }
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
        2 * V::LEN + Encoder::<V>::scatter_constants(passes)
    }
}

/// Writes the elements of a group to their places in the bit-reversed message.
struct CopyReversed<'a, V: Vector> {
    front: &'a Front<V>,
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
        let Passes {
            log_wide, log_deep, ..
        } = self.front.passes;
        let token = V::words(self.front.token);
        let (log_rows, log_group) = (V::LOG_LEN + log_wide, self.front.log_group());
        // SAFETY: bounds: both sides are permutations of the indices of the message.
        unsafe {
            let target = self
                .target
                .add(reversed(self.group, log_deep - log_group) << log_rows);
            let log_tile = N.ilog2();
            for row in (0..1 << log_rows).step_by(N) {
                for column in (0..1 << log_group).step_by(N) {
                    // The low bits of a row or column are the high ones of its reversal.
                    let place = reversed(row >> log_tile, log_rows - log_tile) << log_deep;
                    let source = self.message.add((self.group << log_group) + place + column);
                    let step = |i: usize| Reversed::<N>::OF[i] << (log_rows - log_tile + log_deep);
                    let mut v = [Montgomery::<V::Words>::load_cells(token, source); N];
                    for i in 1..N {
                        v[i] = Montgomery::<V::Words>::load_cells(token, source.add(step(i)));
                    }
                    transpose(&mut v);
                    let log_block = log_rows + log_deep - log_group;
                    let place = reversed(column >> log_tile, log_group - log_tile) << log_block;
                    let target = target.add(place + row);
                    let step =
                        |i: usize| Reversed::<N>::OF[i] << (log_group - log_tile + log_block);
                    for (i, v) in v.iter().enumerate() {
                        v.store_cells(target.add(step(i)));
                    }
                }
            }
        }
    }
}

impl<V: Vector> Encoder<V> {
    /// Pass 2.
    unsafe fn deep(&self, work: *mut KoalaBear, codeword: *mut KoalaBear, working: Working<V>) {
        if self.cosets.is_empty() {
            return;
        }
        for row in 0..1 << self.front.passes.log_wide {
            // SAFETY: bounds: the caller's.
            unsafe {
                self.front.row_layers(row, work, working);
                for (place, coset) in self.cosets.iter().enumerate() {
                    let lines = self.target(place, work, codeword);
                    // The last one may use up the coefficients.
                    let last = place + 1 == self.cosets.len();
                    let cells = if last { working.cells } else { working.other };
                    self.forward(row, coset, working.cells, cells, lines);
                }
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
        let Passes {
            log_deep,
            log_block,
            ..
        } = self.front.passes;
        let (token, layout) = (self.front.token, self.front.row());
        let constants = coset.deep.as_ptr();
        let Some((&last, visits)) = self.front.deep_visits.split_first() else {
            return;
        };
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
        let cells = if near.is_empty() {
            source
        } else {
            target.cast_const()
        };
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
            LastVisit::<V, N> { front: &self.front, row, lines, cells, constants },
        ));
    }
}

/// The last layers of z, from cells to lines. A line holds the vectors e and e + 2^(d-1), whose
/// positions are neighbours.
struct LastVisit<'a, V: Vector, const N: usize> {
    front: &'a Front<V>,
    row: usize,
    lines: *mut KoalaBear,
    cells: *const V::Cell,
    constants: *const V::Twiddle,
}

impl<V: Vector, const N: usize> Kernel for LastVisit<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            front,
            row,
            lines,
            cells,
            constants,
        } = self;
        let (token, layout) = (front.token, front.row());
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
                    let target = lines.add(front.line(row, line));
                    V::store_line(v[2 * i].reduce(), v[2 * i + 1].reduce(), target);
                }
            }
        }
    }
}

impl<V: Vector> Encoder<V> {
    /// Pass 3: from the lines of a coset to its block of the codeword.
    unsafe fn scatter(
        &self,
        coset: &Coset<V>,
        lines: *const KoalaBear,
        block: *mut KoalaBear,
        working: Working<V>,
        stores: Stores,
    ) {
        let Passes {
            log_wide, log_deep, ..
        } = self.front.passes;
        let token = self.front.token;
        let Some((&first, visits)) = self.front.wide_visits.split_first() else {
            return;
        };
        let Working {
            cells,
            constants,
            factors,
            ..
        } = working;
        let pass = ScatterPass {
            encoder: self,
            coset,
            lines,
            block,
            constants,
            factors,
            stores,
        };
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
                                    ahead: &mut Ahead::nothing(),
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
#[derive(Copy, Clone)]
struct ScatterPass<'a, V: Vector> {
    encoder: &'a Encoder<V>,
    coset: &'a Coset<V>,
    lines: *const KoalaBear,
    block: *mut KoalaBear,
    constants: *mut V::Twiddle,
    factors: *mut [V::Factor; 2],
    stores: Stores,
}

/// Pass 3 where the layers of beta are one visit.
struct Scatter<'a, V: Vector, const N: usize>(ScatterPass<'a, V>);

impl<V: Vector, const N: usize> Kernel for Scatter<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let pass = self.0;
        for line in 0..1 << (pass.encoder.front.passes.log_deep - 1) {
            if line % BATCH == 0 {
                ScatterConstants { pass, line }.run();
            }
            // SAFETY: bounds: the lines of a row, and the blocks of as many vectors.
            unsafe {
                let mut v = pass.first_layers::<N, 0>(line, 0);
                finish(&pass, &mut v, 0, pass.target(line, 0));
                let mut v = pass.first_layers::<N, 1>(line, 0);
                finish(&pass, &mut v, 0, pass.target(line, 1));
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
        for line in 0..1 << (pass.encoder.front.passes.log_deep - 1) {
            if line % BATCH == 0 {
                ScatterConstants { pass, line }.run();
            }
            for half in 0..2 {
                ScatterFirst::<V, N> {
                    pass,
                    line,
                    half,
                    cells,
                }
                .run();
                ScatterLast::<V, M> {
                    pass,
                    line,
                    half,
                    cells,
                    done: N.ilog2(),
                }
                .run();
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
        let Self {
            pass,
            line,
            half,
            cells,
        } = self;
        let stride = 1 << (pass.encoder.front.passes.log_wide - N.ilog2());
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
        let Self {
            pass,
            line,
            half,
            cells,
            done,
        } = self;
        let (token, constants) = (pass.encoder.front.token, pass.constants(line, half));
        for k in 0..1 << done {
            // SAFETY: bounds: 2^b vectors of cells, and a block of the codeword of as many.
            unsafe {
                let c = natural_constants::<V, N>(token, constants, done, k);
                let mut v = load::<V, N>(token, cells.add(k * N * V::LEN), 1);
                layers(&mut v, &c);
                finish(&pass, &mut v, k * N, pass.target(line, half));
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
        let (token, passes) = (pass.encoder.front.token, &pass.encoder.front.passes);
        let constants = Encoder::<V>::scatter_constants(passes);
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
        let Passes {
            log_wide, log_deep, ..
        } = self.encoder.front.passes;
        let position = reversed(line, log_deep - 1) * 2 + half;
        // SAFETY: bounds: positions count the blocks of 2^(l + b) elements.
        unsafe { self.block.add(position << (V::LOG_LEN + log_wide)) }
    }

    /// The constants of the layers of beta.
    #[inline(always)]
    fn constants(&self, line: usize, half: usize) -> *const V::Twiddle {
        let vector = line % BATCH * 2 + half;
        self.constants
            .wrapping_add(vector * Encoder::<V>::scatter_constants(&self.encoder.front.passes))
    }

    /// Asks for N lines of the next pieces, so that the pieces at one place are asked for in order
    /// while the lines of those before are used up.
    #[inline(always)]
    fn ask_ahead<const N: usize>(&self, line: usize, z: usize) {
        let front = &self.encoder.front;
        let pieces = front.line(0, (line | (V::LEN - 1)) + 1);
        let first = ((line & (V::LEN - 1)) << front.passes.log_wide) + z * N;
        let elements = first << (V::LOG_LEN + 1)..(first + N) << (V::LOG_LEN + 1);
        for i in elements.step_by(Ahead::LINE_BYTES / size_of::<KoalaBear>()) {
            prefetch::read_later(self.lines.wrapping_add(pieces + i));
        }
    }

    /// The first layers of beta of the vectors z, z + stride, ..
    #[inline(always)]
    unsafe fn first_layers<const N: usize, const HALF: usize>(
        &self,
        line: usize,
        z: usize,
    ) -> [V; N] {
        let front = &self.encoder.front;
        let (token, log_wide) = (front.token, front.passes.log_wide);
        let log_stride = log_wide - N.ilog2();
        // SAFETY: bounds: one line of each row, and the constants of a batch.
        unsafe {
            // Rows are in reversed order; (q, z) reversed is (z reversed, q reversed).
            let first = self
                .lines
                .add(front.line(reversed(z, log_stride) << N.ilog2(), line));
            let source = |q: usize| first.add(front.line(Reversed::<N>::OF[q], 0));
            if HALF == 0 {
                self.ask_ahead::<N>(line, z);
            }
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
    pass: &ScatterPass<'_, V>,
    v: &mut [V; N],
    first: usize,
    target: *mut KoalaBear,
) {
    let log_len = V::LOG_LEN as usize;
    // SAFETY: bounds: factors for all pairs of a block, and room for its vectors.
    unsafe {
        let factors = pass.encoder.lanes.as_ptr().add(first / 2 * log_len);
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
        let target = target.add(first * V::LEN);
        for i in (0..N).step_by(2) {
            let target = target.add(i * V::LEN);
            match pass.stores {
                Stores::Caching => V::store_alternating(v[i], v[i + 1], target),
                Stores::Streaming => V::stream_alternating(v[i], v[i + 1], target),
            }
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
