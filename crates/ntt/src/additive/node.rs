//! The butterflies of up to three layers, in one trip through registers.
#![expect(
    unsafe_code,
    reason = "rows of one or two buffers, reached with strides"
)]

use std::cell::Cell;

use lanework_arch::memory::prefetch;
use lanework_field::gf2::words::{Kernel, Words};

use super::form::{Class, Form, Four, One, Token, Twiddles, Two};

/// What the layers do to the values u and v of a pair, whose twiddle is t.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Network {
    /// u' = u + t v, v' = v + u'.
    Forward,
    /// v = v' + u', u = u' + t v; the layers in the opposite order.
    Inverse,
    /// u' = u + v, v' = v + t u'; the layers in the opposite order.
    Transposed,
}

/// Where slabs of rows lie, in words.
#[derive(Copy, Clone, Debug)]
pub(super) struct Slabs<P> {
    pub(super) base: P,
    /// From one slab to the next.
    pub(super) slab: usize,
    /// From one row of a slab to the next.
    pub(super) row: usize,
}

/// A node does its butterflies only.
const PLAIN: u8 = 0;
/// It also asks for lines of [`Ahead`].
const AHEAD: u8 = 1;
/// The same, and results bypass the caches.
const STREAM: u8 = 2;

/// Rows at a constant distance that will be read soon. All nodes of a group ask for some of their lines at every step,
/// so that memory is busy all the time.
#[derive(Copy, Clone, Debug)]
pub(super) struct Ahead {
    at: *const u64,
    row_end: *const u64,
    /// Rows left.
    rows: usize,
    words: usize,
    stride: usize,
}

impl Ahead {
    /// No rows.
    pub(super) const NONE: Self = Self {
        at: std::ptr::null(),
        row_end: std::ptr::null(),
        rows: 0,
        words: 0,
        stride: 0,
    };

    /// `rows` rows of `words` words, `stride` words apart.
    pub(super) fn new(base: *const u64, rows: usize, words: usize, stride: usize) -> Self {
        Self {
            at: base,
            row_end: base.wrapping_add(words),
            rows,
            words,
            stride,
        }
    }

    /// Asks for the next line.
    #[inline(always)]
    fn step(&mut self) {
        const LINE_WORDS: usize = 8;
        if self.rows > 0 {
            prefetch::read_later(self.at);
            self.at = self.at.wrapping_add(LINE_WORDS);
            if self.at >= self.row_end {
                self.rows -= 1;
                self.row_end = self.row_end.wrapping_add(self.stride);
                self.at = self.row_end.wrapping_sub(self.words);
            }
        }
    }
}

/// Where results go.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Stores {
    /// They stay in the caches.
    Cached,
    /// They bypass the caches.
    Streamed,
}

/// One node: 2^`log_radix` slabs of `rows` rows of `run` words.
#[derive(Copy, Clone)]
pub(super) struct Node<'a> {
    pub(super) log_radix: u32,
    /// The number of the block in the first of the layers.
    pub(super) block: usize,
    pub(super) source: Slabs<*const u64>,
    pub(super) target: Slabs<*mut u64>,
    pub(super) rows: usize,
    pub(super) run: usize,
    /// What will be read next, and among how many nodes that each row goes through it is shared.
    pub(super) ahead: Option<(&'a Cell<Ahead>, usize)>,
    pub(super) stores: Stores,
}

impl Node<'_> {
    /// Runs the node.
    ///
    /// # Safety
    /// All words of the source can be read, all of the target written, by nobody else. Source and target are
    /// disjoint or the same. With [`Stores::Streamed`] every run of the target starts on a cache line and is whole
    /// lines long, and a fence follows before others look at the target.
    pub(super) unsafe fn run<F: Form>(
        &self,
        token: Token<F>,
        twiddles: &Twiddles<F>,
        network: Network,
    ) {
        // SAFETY: the caller's promise is passed on.
        unsafe {
            match network {
                Network::Forward if self.stores == Stores::Streamed => {
                    self.sized::<F, { Network::Forward as u8 }, STREAM>(token, twiddles);
                }
                Network::Forward => {
                    self.sized::<F, { Network::Forward as u8 }, AHEAD>(token, twiddles);
                }
                Network::Inverse => {
                    self.sized::<F, { Network::Inverse as u8 }, PLAIN>(token, twiddles);
                }
                Network::Transposed => {
                    self.sized::<F, { Network::Transposed as u8 }, PLAIN>(token, twiddles);
                }
            }
        }
    }

    /// # Safety
    /// As [`Node::run`].
    unsafe fn sized<F: Form, const NETWORK: u8, const MODE: u8>(
        &self,
        token: Token<F>,
        twiddles: &Twiddles<F>,
    ) {
        let bits = usize::BITS - self.block.leading_zeros();
        macro_rules! go {
            ($radix:ident, $zero:literal $(, $class:ty)+) => {
                F::V::run(token, $radix::<F, $($class,)+ $zero, NETWORK, MODE> {
                    token, twiddles, node: self, classes: std::marker::PhantomData,
                })
            };
        }
        if !F::CLASSES {
            return match (self.log_radix, bits) {
                (1, 0) => go!(Radix2, true, Four),
                (1, _) => go!(Radix2, false, Four),
                (2, 0) => go!(Radix4, true, Four, Four),
                (2, _) => go!(Radix4, false, Four, Four),
                (_, 0) => go!(Radix8, true, Four, Four, Four),
                (..) => go!(Radix8, false, Four, Four, Four),
            };
        }
        // Twiddles of block b have the bits of b and one more, those of the next layer another one.
        match (self.log_radix, bits) {
            (1, 0) => go!(Radix2, true, One),
            (1, 1..=7) => go!(Radix2, false, One),
            (1, 8..=15) => go!(Radix2, false, Two),
            (1, _) => go!(Radix2, false, Four),
            (2, 0) => go!(Radix4, true, One, One),
            (2, 1..=6) => go!(Radix4, false, One, One),
            (2, 7) => go!(Radix4, false, One, Two),
            (2, 8..=14) => go!(Radix4, false, Two, Two),
            (2, 15) => go!(Radix4, false, Two, Four),
            (2, _) => go!(Radix4, false, Four, Four),
            (_, 0) => go!(Radix8, true, One, One, One),
            (_, 1..=5) => go!(Radix8, false, One, One, One),
            (_, 6) => go!(Radix8, false, One, One, Two),
            (_, 7) => go!(Radix8, false, One, Two, Two),
            (_, 8..=13) => go!(Radix8, false, Two, Two, Two),
            (_, 14) => go!(Radix8, false, Two, Two, Four),
            (_, 15) => go!(Radix8, false, Two, Four, Four),
            (..) => go!(Radix8, false, Four, Four, Four),
        }
    }

    /// Takes `stages` to the `R` vectors of every place of the rows.
    ///
    /// # Safety
    /// As [`Node::run`].
    #[inline(always)]
    unsafe fn for_each<F: Form, S: Stages<F, R>, const R: usize, const MODE: u8>(
        &self,
        token: Token<F>,
        stages: &S,
    ) {
        let len = F::V::LEN;
        let (mut ahead, nodes) = match self.ahead {
            Some((ahead, nodes)) if MODE != PLAIN => (ahead.get(), nodes),
            _ => (Ahead::NONE, 1),
        };
        let lines = R.div_ceil(nodes);
        for row in 0..self.rows {
            let source = self.source.base.wrapping_add(row * self.source.row);
            let target = self.target.base.wrapping_add(row * self.target.row);
            let whole = self.run / len * len;
            let mut x = [F::V::splat(token, 0); R];
            let mut at = 0;
            while at < whole {
                // SAFETY: bounds: the caller's slabs, of which `at` to `at + len` lies within a run.
                unsafe {
                    for k in 0..R {
                        x[k] = F::V::load(token, source.add(k * self.source.slab + at));
                    }
                    if MODE != PLAIN {
                        for _ in 0..lines {
                            ahead.step();
                        }
                    }
                    stages.apply(&mut x);
                    for k in 0..R {
                        let target = target.add(k * self.target.slab + at);
                        if MODE == STREAM {
                            x[k].stream(target);
                        } else {
                            x[k].store(target);
                        }
                    }
                }
                at += len;
            }
            let rest = self.run - whole;
            if rest > 0 {
                // SAFETY: bounds: the rest of the caller's runs.
                unsafe {
                    for k in 0..R {
                        x[k] = F::V::load_part(token, source.add(k * self.source.slab + at), rest);
                    }
                    stages.apply(&mut x);
                    for k in 0..R {
                        x[k].store_part(target.add(k * self.target.slab + at), rest);
                    }
                }
            }
        }
        if let Some((cell, _)) = self.ahead {
            cell.set(ahead);
        }
    }
}

/// The butterflies of a node's layers on one vector of each slab.
trait Stages<F: Form, const R: usize> {
    fn apply(&self, x: &mut [F::V; R]);
}

/// A butterfly with a twiddle that is not zero.
#[inline(always)]
fn butterfly<F: Form, C: Class<F>, const NETWORK: u8, const R: usize>(
    x: &mut [F::V; R],
    (i, j): (usize, usize),
    twiddle: &C::Twiddle,
) {
    if NETWORK == Network::Forward as u8 {
        x[i] = C::add(x[i], twiddle, x[j]);
        x[j] = x[j].xor(x[i]);
    } else if NETWORK == Network::Inverse as u8 {
        x[j] = x[j].xor(x[i]);
        x[i] = C::add(x[i], twiddle, x[j]);
    } else {
        x[i] = x[i].xor(x[j]);
        x[j] = C::add(x[j], twiddle, x[i]);
    }
}

/// A butterfly whose twiddle is zero if `ZERO`.
#[inline(always)]
fn first<F: Form, C: Class<F>, const ZERO: bool, const NETWORK: u8, const R: usize>(
    x: &mut [F::V; R],
    (i, j): (usize, usize),
    twiddle: &C::Twiddle,
) {
    if !ZERO {
        butterfly::<F, C, NETWORK, R>(x, (i, j), twiddle);
    } else if NETWORK == Network::Transposed as u8 {
        x[i] = x[i].xor(x[j]);
    } else {
        x[j] = x[j].xor(x[i]);
    }
}

/// The butterflies of one layer, of `N` blocks.
#[inline(always)]
fn layer<
    F: Form,
    C: Class<F>,
    const ZERO: bool,
    const NETWORK: u8,
    const N: usize,
    const R: usize,
>(
    x: &mut [F::V; R],
    twiddles: &[C::Twiddle; N],
) {
    let half = R / N / 2;
    for block in 0..N {
        for i in 0..half {
            let at = block * 2 * half + i;
            if block == 0 {
                first::<F, C, ZERO, NETWORK, R>(x, (at, at + half), &twiddles[block]);
            } else {
                butterfly::<F, C, NETWORK, R>(x, (at, at + half), &twiddles[block]);
            }
        }
    }
}

macro_rules! radix {
    (
        $(#[$doc:meta])* $name:ident $stages:ident $size:literal,
        $($class:ident $field:ident $count:literal [$($i:literal)+]),+;
        $($last:ident $last_field:ident $last_count:literal),+
    ) => {
        $(#[$doc])*
        struct $name<'a, F: Form, $($class,)+ const ZERO: bool, const NETWORK: u8, const MODE: u8> {
            token: Token<F>,
            twiddles: &'a Twiddles<F>,
            node: &'a Node<'a>,
            classes: std::marker::PhantomData<($($class,)+)>,
        }

        /// Its twiddles, by layers.
        struct $stages<F: Form, $($class: Class<F>,)+ const ZERO: bool, const NETWORK: u8> {
            $($field: [$class::Twiddle; $count],)+
        }

        impl<F: Form, $($class: Class<F>,)+ const ZERO: bool, const NETWORK: u8, const MODE: u8> Kernel
            for $name<'_, F, $($class,)+ ZERO, NETWORK, MODE>
        {
            type Output = ();

            #[inline(always)]
            fn run(self) {
                // Twiddles are linear in the bits of the block.
                $(let $field = self.twiddles.of(self.node.block * $count);)+
                let stages = $stages::<F, $($class,)+ ZERO, NETWORK> {
                    $($field: [$($class::twiddle(
                        self.token,
                        $field ^ self.twiddles.low($i),
                    )),+],)+
                };
                // SAFETY: kernels are made by `Node::sized` alone, whose caller promised this.
                unsafe { self.node.for_each::<F, _, $size, MODE>(self.token, &stages) }
            }
        }

        impl<F: Form, $($class: Class<F>,)+ const ZERO: bool, const NETWORK: u8> Stages<F, $size>
            for $stages<F, $($class,)+ ZERO, NETWORK>
        {
            #[inline(always)]
            fn apply(&self, x: &mut [F::V; $size]) {
                if NETWORK == Network::Forward as u8 {
                    $(layer::<F, $class, ZERO, NETWORK, $count, $size>(x, &self.$field);)+
                } else {
                    $(layer::<F, $last, ZERO, NETWORK, $last_count, $size>(x, &self.$last_field);)+
                }
            }
        }
    };
}

radix!(
    /// One layer.
    Radix2 Stages2 2, A a 1 [0]; A a 1
);
radix!(
    /// Two layers.
    Radix4 Stages4 4, A a 1 [0], B b 2 [0 1]; B b 2, A a 1
);
radix!(
    /// Three layers.
    Radix8 Stages8 8, A a 1 [0], B b 2 [0 1], C c 4 [0 1 2 3]; C c 4, B b 2, A a 1
);
