//! The front of every transform: from natural order to rows of cells with z reversed.
#![expect(
    unsafe_code,
    reason = "rows and blocks of one buffer, reached with a stride"
)]

use lanework_field::KoalaBear;
use lanework_field::koala::lanes::Kernel;

use super::super::table::Sums;
use super::super::vector::Vector;
use super::layers::{
    Ahead, NaturalVisit, Row, for_lanes, for_radix, layers, load_reversed, natural_constants,
    store, transpose,
};
use super::memory::{Memory, Working};
use super::tables::{bit_reversed_roots, expanded, powers};
use crate::plan::Passes;

/// log2 of the lines that pass 1 reads together from each place of a message, where there are as
/// many: neighbours come with less waiting than lines that are far apart.
const LOG_LINES: u32 = 2;

/// Pass 1, and the layers of y of pass 2.
pub(super) struct Front<V: Vector> {
    pub(super) token: V::Token,
    pub(super) passes: Passes,
    pub(super) deep_visits: Vec<u32>,
    pub(super) wide_visits: Vec<u32>,
    /// The layers of A and B: layer m uses 2^m constants from place 2^m on.
    gather: Vec<V::Twiddle>,
    /// scale w^(lane y) for the first y, per lane and y.
    twist: Vec<u32>,
    /// w^(lane y) for the first y of each line of pass 1, per line and lane.
    twist_step: Vec<V::Twiddle>,
    /// The constants of the layers of y, in bit-reversed order.
    deep: Vec<u32>,
    /// Where those of each layer begin.
    deep_layers: Vec<usize>,
}

impl<V: Vector> Front<V> {
    pub(super) fn new(token: V::Token, sums: Sums, passes: Passes) -> Self {
        let Passes {
            log_lanes,
            log_wide,
            log_deep,
            ..
        } = passes;
        debug_assert_eq!(
            (log_lanes, log_lanes + log_wide + log_deep),
            (V::LOG_LEN, sums.log_len)
        );
        let root = |log_order| sums.root(log_order);
        let gather = {
            let layers = log_lanes + log_wide;
            let roots = bit_reversed_roots(1 << (layers - 1), root);
            let mut words = vec![0];
            for m in 0..layers {
                let shift = sums.shift.pow(1 << (sums.log_len - m - 1));
                words.extend(roots[..1 << m].iter().map(|&root| V::word(root * shift)));
            }
            expanded::<V>(token, words)
        };
        let root_of_all = root(sums.log_len);
        let twist = (0..V::LEN as u64).flat_map(|lane| {
            powers(sums.scale, root_of_all.pow(lane))
                .take(2 * V::LEN)
                .map(V::word)
        });
        let twist_step = {
            let root_of_line = root_of_all.pow(2 * V::LEN as u64);
            let lines = powers(KoalaBear::ONE, root_of_line).take(1 << (log_deep - log_lanes - 1));
            let steps = lines.flat_map(|x| powers(KoalaBear::ONE, x).take(V::LEN));
            expanded::<V>(token, steps.map(V::word).collect())
        };
        let roots = bit_reversed_roots(1 << (log_wide + log_deep - 1), root);
        let (mut deep, deep_layers) = if sums.shift == KoalaBear::ONE {
            // Every layer uses the first of the same constants.
            (
                roots.into_iter().map(V::word).collect(),
                vec![0; log_deep as usize],
            )
        } else {
            let (mut deep, mut layers) = (Vec::new(), Vec::new());
            for m in 0..log_deep {
                layers.push(deep.len());
                let shift = sums.shift.pow(1 << (log_deep - m - 1));
                let roots = &roots[..1 << (log_wide + m)];
                deep.extend(roots.iter().map(|&root| V::word(root * shift)));
            }
            (deep, layers)
        };
        // They are read in whole vectors.
        deep.resize(deep.len() + V::LEN, 0);
        Self {
            token,
            deep_visits: passes.deep_visits(),
            wide_visits: passes.wide_visits(),
            passes,
            gather,
            twist: twist.collect(),
            twist_step,
            deep,
            deep_layers,
        }
    }

    /// The working memory of these passes, and of `rows` rows.
    pub(super) fn memory(&self, rows: usize) -> Memory {
        let Passes {
            log_lanes,
            log_wide,
            log_deep,
            ..
        } = self.passes;
        let vector_bytes = size_of::<V::Cell>() * V::LEN;
        Memory {
            row_bytes: vector_bytes * self.row().len(),
            rows,
            gather_bytes: vector_bytes << (log_lanes + log_wide + 1 + self.log_lines()),
            constants_bytes: size_of::<V::Twiddle>() << log_deep,
            factors_bytes: 0,
        }
    }

    /// The layout of a row.
    #[inline(always)]
    pub(super) fn row(&self) -> Row {
        Row {
            log_len: self.passes.log_deep,
            log_block: self.passes.log_block,
        }
    }

    /// Where the line `line` of the row `row` begins.
    #[inline(always)]
    pub(super) fn line(&self, row: usize, line: usize) -> usize {
        let piece = (line >> V::LOG_LEN) << self.passes.log_wide | row;
        (piece << (2 * V::LOG_LEN + 1)) + ((line & (V::LEN - 1)) << (V::LOG_LEN + 1))
    }

    /// log2 of the lines in a group.
    fn log_lines(&self) -> u32 {
        LOG_LINES.min(self.passes.log_deep - V::LOG_LEN - 1)
    }

    /// log2 of the neighbours in a group of pass 1.
    #[inline(always)]
    pub(super) fn log_group(&self) -> u32 {
        V::LOG_LEN + 1 + self.log_lines()
    }

    /// Groups of pass 1.
    pub(super) fn groups(&self) -> usize {
        1 << (self.passes.log_deep - self.log_group())
    }

    /// The constants of a layer of y.
    #[inline(always)]
    fn layer(&self, m: u32) -> *const u32 {
        self.deep[self.deep_layers[m as usize]..].as_ptr()
    }

    /// Pass 1 for one group, from the elements at `message` on.
    ///
    /// # Safety
    /// `message` and `work` have as many elements as the transform, `working` what
    /// [`Front::memory`] says.
    pub(super) unsafe fn gather(
        &self,
        group: usize,
        message: *const KoalaBear,
        work: *mut KoalaBear,
        working: Working<V>,
    ) {
        let (token, cells) = (self.token, working.cells);
        // SAFETY: bounds: the group is one of the message.
        let message = unsafe { message.add(group << self.log_group()) };
        for_lanes!(V::LOG_LEN, N => V::run(token, Gather::<V, N> { front: self, message, cells }));
        let row = Row::undivided(V::LOG_LEN + self.passes.log_wide);
        let (constants, level, block) = (self.gather.as_ptr(), 0, 0);
        let halves = 2 << self.log_lines();
        let mut ahead = self.next_group(group, message);
        for half in 0..halves {
            // SAFETY: bounds: there are cells for all vectors of a group.
            let cells = unsafe { cells.add((half * V::LEN) << row.log_len) };
            let mut done = V::LOG_LEN;
            for &log_radix in &self.wide_visits {
                for_radix!(log_radix, N => V::run(
                    token,
                    NaturalVisit::<V, N> { token, cells, row, done, constants, level, block, ahead: &mut ahead },
                ));
                done += log_radix;
            }
            let half = group * halves + half;
            for_lanes!(V::LOG_LEN, N => V::run(
                token,
                Twist::<V, N> { front: self, half, cells, work },
            ));
        }
    }

    /// The elements of the next group, for the visits of a group.
    fn next_group(&self, group: usize, message: *const KoalaBear) -> Ahead {
        if group + 1 == self.groups() {
            return Ahead::nothing();
        }
        let log_rows = V::LOG_LEN + self.passes.log_wide;
        let visits = self.wide_visits.iter();
        let steps: usize = visits.map(|log_radix| 1 << (log_rows - log_radix)).sum();
        Ahead::new(
            message.wrapping_add(1 << self.log_group()),
            self.log_group(),
            self.passes.log_deep,
            1 << log_rows,
            steps << (self.log_lines() + 1),
        )
    }

    /// The lines of the next row, for the visits of a row.
    fn next_row(&self, row: usize, work: *const KoalaBear) -> Ahead {
        let Passes {
            log_wide, log_deep, ..
        } = self.passes;
        if row + 1 == 1 << log_wide {
            return Ahead::nothing();
        }
        let visits = self.deep_visits.iter().skip(1);
        let steps = visits.map(|log_radix| 1 << (log_deep - log_radix)).sum();
        let log_chunk = 2 * V::LOG_LEN + 1;
        Ahead::new(
            work.wrapping_add(self.line(row + 1, 0)),
            log_chunk,
            log_chunk + log_wide,
            1 << (log_deep - 1 - V::LOG_LEN),
            steps,
        )
    }

    /// The layers of y: from the lines of a row to cells.
    ///
    /// # Safety
    /// As for [`Front::gather`].
    pub(super) unsafe fn row_layers(
        &self,
        row: usize,
        work: *const KoalaBear,
        working: Working<V>,
    ) {
        let Passes {
            log_deep,
            log_block,
            ..
        } = self.passes;
        let (token, layout) = (self.token, self.row());
        let (cells, constants) = (working.cells, working.constants);
        V::run(
            token,
            ExpandRow {
                front: self,
                row,
                target: constants,
            },
        );
        let Some((&first, visits)) = self.deep_visits.split_first() else {
            return;
        };
        for_radix!(first, N => V::run(
            token,
            FirstVisit::<V, N> { front: self, row, lines: work, cells, constants },
        ));
        let mut done = first;
        let mut ahead = self.next_row(row, work);
        let top = log_deep - log_block;
        let mut visits = visits;
        while let Some((&log_radix, rest)) = visits.split_first().filter(|_| done < top) {
            let (row, level, block) = (layout, 0, 0);
            for_radix!(log_radix, N => V::run(
                token,
                NaturalVisit::<V, N> { token, cells, row, done, constants, level, block, ahead: &mut ahead },
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
                    NaturalVisit::<V, N> { token, cells, row, done, constants, level, block, ahead: &mut ahead },
                ));
                done += log_radix;
            }
        }
    }
}

/// The layers of A for one group of a message. Cells are numbered (half of a line, A, B).
struct Gather<'a, V: Vector, const N: usize> {
    front: &'a Front<V>,
    message: *const KoalaBear,
    cells: *mut V::Cell,
}

impl<V: Vector, const N: usize> Kernel for Gather<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Passes {
            log_wide, log_deep, ..
        } = self.front.passes;
        let token = self.front.token;
        // SAFETY: bounds: 2^(l + b) rows of a group, of the message and of cells.
        unsafe {
            let c = natural_constants::<V, N>(token, self.front.gather.as_ptr(), 0, 0);
            for wide in 0..1 << log_wide {
                for half in 0..2 << self.front.log_lines() {
                    let message = self.message.add((wide << log_deep) + half * V::LEN);
                    let mut v = [V::load_message(token, message); N];
                    for a in 1..N {
                        v[a] = V::load_message(token, message.add(a << (log_wide + log_deep)));
                    }
                    layers(&mut v, &c);
                    let place = half << (V::LOG_LEN + log_wide) | wide;
                    store(&v, self.cells.add(place * V::LEN), 1 << log_wide);
                }
            }
        }
    }
}

/// The end of pass 1 for half a line: the factors, and the transposition.
struct Twist<'a, V: Vector, const N: usize> {
    front: &'a Front<V>,
    half: usize,
    cells: *const V::Cell,
    work: *mut KoalaBear,
}

impl<V: Vector, const N: usize> Kernel for Twist<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let log_wide = self.front.passes.log_wide;
        // SAFETY: bounds: 2^(l + b) vectors of cells, and a piece of each row.
        unsafe {
            let factors = self.factors();
            for wide in 0..1 << log_wide {
                let source = self.cells.add(wide * V::LEN);
                let mut v = load_reversed::<V, N>(self.front.token, source, 1 << log_wide);
                for i in 0..N {
                    v[i] = v[i].mul_by(&factors[i]);
                }
                transpose(&mut v);
                for i in 0..N / 2 {
                    let line = self.front.line(wide, self.half * (N / 2) + i);
                    V::store_line(v[2 * i], v[2 * i + 1], self.work.add(line));
                }
            }
        }
    }
}

impl<V: Vector, const N: usize> Twist<'_, V, N> {
    /// w^-(lane y) / n for the vector y of each lane.
    #[inline(always)]
    unsafe fn factors(&self) -> [V::Factor; N] {
        let (token, line, half) = (self.front.token, self.half / 2, self.half % 2);
        let (words, steps) = (self.front.twist.as_ptr(), self.front.twist_step.as_ptr());
        // SAFETY: bounds: one step per line and lane, and 2 LEN words per lane.
        unsafe {
            let mut factors = [V::factor(token, words); N];
            for (lane, factor) in factors.iter_mut().enumerate() {
                let step = V::constant(token, steps.add(line * N + lane));
                let words = words.add((lane * 2 + half) * N);
                *factor = V::factor_times(token, words, &step);
            }
            factors
        }
    }
}

/// Prepares the constants of the layers of y for one row.
struct ExpandRow<'a, V: Vector> {
    front: &'a Front<V>,
    row: usize,
    target: *mut V::Twiddle,
}

impl<V: Vector> Kernel for ExpandRow<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for m in 0..self.front.passes.log_deep {
            // SAFETY: bounds: row r of 2^b has places r 2^m .. of the layer behind b + m others.
            // Whole vectors of constants may reach into the next layer, which is written later.
            unsafe {
                let words = self.front.layer(m).add(self.row << m);
                V::expand(self.front.token, words, self.target.add(1 << m), 1 << m);
            }
        }
    }
}

/// The first layers of y, from lines to cells.
struct FirstVisit<'a, V: Vector, const N: usize> {
    front: &'a Front<V>,
    row: usize,
    lines: *const KoalaBear,
    cells: *mut V::Cell,
    constants: *const V::Twiddle,
}

impl<V: Vector, const N: usize> Kernel for FirstVisit<'_, V, N> {
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
        let log_stride = layout.log_len - N.ilog2();
        // SAFETY: bounds: the lines are those of the row, the cells those of the layout.
        unsafe {
            let c = natural_constants::<V, N>(token, constants, 0, 0);
            for z in (0..1 << log_stride).step_by(2) {
                let line =
                    |q: usize| lines.add(front.line(row, usize::midpoint(z, q << log_stride)));
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
