//! Slices of words, by the kernels of a choice of instructions.

use std::marker::PhantomData;

use lanework_arch::Choice;

use super::super::{B64, T64};
use super::{Generic, Pattern, Proof, TowerWords, WidePattern};

/// Products of slices of [`T64`] by constants, by the kernels of one instruction set.
///
/// Slices may have any length. Products by constants of small subfields cost less.
///
/// ```
/// use lanework_arch::Choice;
/// use lanework_field::gf2::T64;
/// use lanework_field::gf2::bytes::TowerRows;
///
/// let rows = TowerRows::new(Choice::best());
/// let mut words = [T64(1), T64(2), T64::cantor(40)];
/// rows.scale(T64::cantor(8), &mut words);
/// assert_eq!(words, [T64(0x100), T64(0x200), T64::cantor(8) * T64::cantor(40)]);
/// ```
#[derive(Copy, Clone, Debug)]
pub struct TowerRows {
    proof: Proof,
}

/// How many bytes a constant has.
trait Class {
    type Constant<W: TowerWords>: Copy;
    fn prepare<W: TowerWords>(token: W::Token, constant: T64) -> Self::Constant<W>;
    fn add<W: TowerWords>(sum: W, constant: &Self::Constant<W>, v: W) -> W;
}

struct One;
struct Two;
struct Four;
struct Eight;

macro_rules! class {
    ($class:ident, $pattern:ident, $prepare:ident, $add:ident) => {
        impl Class for $class {
            type Constant<W: TowerWords> = W::$class;

            #[inline(always)]
            fn prepare<W: TowerWords>(token: W::Token, constant: T64) -> W::$class {
                W::$prepare(token, &$pattern::new(constant))
            }

            #[inline(always)]
            fn add<W: TowerWords>(sum: W, constant: &W::$class, v: W) -> W {
                sum.$add(constant, v)
            }
        }
    };
}

class!(One, Pattern, one, add_one);
class!(Two, Pattern, two, add_two);
class!(Four, Pattern, four, add_four);
class!(Eight, WidePattern, eight, add_eight);

struct Scale<'a, C> {
    class: PhantomData<C>,
    constant: T64,
    words: &'a mut [u64],
}

impl<C: Class> Generic for Scale<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<W: TowerWords>(self, token: W::Token) {
        let Self {
            class: _,
            constant,
            words,
        } = self;
        let constant = C::prepare::<W>(token, constant);
        let zero = W::splat(token, 0);
        let mut chunks = words.chunks_exact_mut(W::LEN);
        for chunk in &mut chunks {
            C::add(zero, &constant, W::from_slice(token, chunk)).to_slice(chunk);
        }
        let rest = chunks.into_remainder();
        C::add(zero, &constant, W::from_slice(token, rest)).to_slice(rest);
    }
}

struct AddScaled<'a, C> {
    class: PhantomData<C>,
    constant: T64,
    x: &'a [u64],
    words: &'a mut [u64],
}

impl<C: Class> Generic for AddScaled<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<W: TowerWords>(self, token: W::Token) {
        let Self {
            class: _,
            constant,
            x,
            words,
        } = self;
        let constant = C::prepare::<W>(token, constant);
        let (mut xs, mut chunks) = (x.chunks_exact(W::LEN), words.chunks_exact_mut(W::LEN));
        for (x, chunk) in (&mut xs).zip(&mut chunks) {
            let sum = W::from_slice(token, chunk);
            C::add(sum, &constant, W::from_slice(token, x)).to_slice(chunk);
        }
        let (x, rest) = (xs.remainder(), chunks.into_remainder());
        let sum = W::from_slice(token, rest);
        C::add(sum, &constant, W::from_slice(token, x)).to_slice(rest);
    }
}

/// A map of words, from one slice to another.
macro_rules! map {
    ($name:ident, $map:ident) => {
        struct $name<'a>(&'a [u64], &'a mut [u64]);

        impl Generic for $name<'_> {
            type Output = ();

            #[inline(always)]
            fn run<W: TowerWords>(self, token: W::Token) {
                let mut xs = self.0.chunks_exact(W::LEN);
                let mut outs = self.1.chunks_exact_mut(W::LEN);
                for (x, out) in (&mut xs).zip(&mut outs) {
                    W::from_slice(token, x).$map().to_slice(out);
                }
                let (x, rest) = (xs.remainder(), outs.into_remainder());
                W::from_slice(token, x).$map().to_slice(rest);
            }
        }
    };
}

map!(ToTower, polynomial_to_tower);
map!(ToPolynomial, tower_to_polynomial);

/// Runs the kernel `$kernel` for the class of its constant.
macro_rules! run_by_class {
    ($rows:expr, $kernel:ident { $constant:ident, $($field:ident),+ }) => {{
        macro_rules! run {
            ($class:ident) => {
                $rows.proof.run($kernel {
                    class: PhantomData::<$class>,
                    $constant,
                    $($field),+
                })
            };
        }
        match u64::BITS - $constant.0.leading_zeros() {
            0..=8 => run!(One),
            9..=16 => run!(Two),
            17..=32 => run!(Four),
            _ => run!(Eight),
        }
    }};
}

impl TowerRows {
    /// The fastest kernels within `choice`.
    pub fn new(choice: Choice) -> Self {
        Self {
            proof: Proof::new(choice),
        }
    }

    /// All kernels that this CPU runs, the fastest first.
    pub fn available() -> Vec<Self> {
        let proofs = Proof::all(Choice::best());
        proofs.map(|proof| Self { proof }).collect()
    }

    /// The name of the kernels, for reports.
    pub fn name(self) -> &'static str {
        self.proof.name()
    }

    /// Multiplies every word by `constant`.
    pub fn scale(self, constant: T64, words: &mut [T64]) {
        let words: &mut [u64] = bytemuck::cast_slice_mut(words);
        run_by_class!(self, Scale { constant, words });
    }

    /// Adds `constant` x to the words.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_scaled(self, constant: T64, x: &[T64], words: &mut [T64]) {
        assert_eq!(x.len(), words.len(), "one word for each");
        let x: &[u64] = bytemuck::cast_slice(x);
        let words: &mut [u64] = bytemuck::cast_slice_mut(words);
        run_by_class!(self, AddScaled { constant, x, words });
    }

    /// Converts elements of K to the tower.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn to_tower(self, elements: &[B64], tower: &mut [T64]) {
        assert_eq!(elements.len(), tower.len(), "one element for each");
        let (x, out) = (
            bytemuck::cast_slice(elements),
            bytemuck::cast_slice_mut(tower),
        );
        self.proof.run(ToTower(x, out));
    }

    /// Converts elements of the tower to K.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn to_polynomial(self, tower: &[T64], elements: &mut [B64]) {
        assert_eq!(elements.len(), tower.len(), "one element for each");
        let (x, out) = (
            bytemuck::cast_slice(tower),
            bytemuck::cast_slice_mut(elements),
        );
        self.proof.run(ToPolynomial(x, out));
    }
}
