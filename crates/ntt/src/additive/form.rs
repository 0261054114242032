//! What the body needs of a representation of GF(2^64): vectors of words, and products by twiddles.

use std::ops::BitXor;

use lanework_field::gf2::bytes::{Pattern, TowerWords};
use lanework_field::gf2::clmul::Clmul;
use lanework_field::gf2::words::Words;
use lanework_field::gf2::{B64, T64};

/// A way to multiply words by twiddles.
pub(super) trait Form: Copy + Send + Sync + 'static {
    type V: Words;
    /// What a table holds of a twiddle, linear in the twiddle.
    type Seed: Copy + Default + BitXor<Output = Self::Seed> + Send + Sync;
    /// A twiddle in GF(2^8), GF(2^16), GF(2^32), for all words of a vector.
    type One: Copy;
    type Two: Copy;
    type Four: Copy;
    /// Whether products by twiddles of small subfields cost less.
    const CLASSES: bool;

    fn seed(twiddle: T64) -> Self::Seed;
    fn one(token: Token<Self>, seed: Self::Seed) -> Self::One;
    fn two(token: Token<Self>, seed: Self::Seed) -> Self::Two;
    fn four(token: Token<Self>, seed: Self::Seed) -> Self::Four;
    /// u + t v.
    fn add_one(u: Self::V, twiddle: &Self::One, v: Self::V) -> Self::V;
    fn add_two(u: Self::V, twiddle: &Self::Two, v: Self::V) -> Self::V;
    fn add_four(u: Self::V, twiddle: &Self::Four, v: Self::V) -> Self::V;
}

pub(super) type Token<F> = <<F as Form>::V as Words>::Token;

/// Words of the tower, multiplied byte by byte.
#[derive(Copy, Clone)]
pub(super) struct Tower<V>(std::marker::PhantomData<V>);

impl<V: TowerWords> Form for Tower<V> {
    type V = V;
    type Seed = Pattern;
    type One = V::One;
    type Two = V::Two;
    type Four = V::Four;
    const CLASSES: bool = true;

    fn seed(twiddle: T64) -> Pattern {
        Pattern::new(twiddle)
    }

    #[inline(always)]
    fn one(token: V::Token, seed: Pattern) -> V::One {
        V::one(token, &seed)
    }

    #[inline(always)]
    fn two(token: V::Token, seed: Pattern) -> V::Two {
        V::two(token, &seed)
    }

    #[inline(always)]
    fn four(token: V::Token, seed: Pattern) -> V::Four {
        V::four(token, &seed)
    }

    #[inline(always)]
    fn add_one(u: V, twiddle: &V::One, v: V) -> V {
        u.add_one(twiddle, v)
    }

    #[inline(always)]
    fn add_two(u: V, twiddle: &V::Two, v: V) -> V {
        u.add_two(twiddle, v)
    }

    #[inline(always)]
    fn add_four(u: V, twiddle: &V::Four, v: V) -> V {
        u.add_four(twiddle, v)
    }
}

/// Words of polynomials, multiplied carry-less.
#[derive(Copy, Clone)]
pub(super) struct Polynomial<W>(std::marker::PhantomData<W>);

impl<W: Clmul> Form for Polynomial<W> {
    type V = W;
    type Seed = u64;
    type One = W::Factor;
    type Two = W::Factor;
    type Four = W::Factor;
    const CLASSES: bool = false;

    fn seed(twiddle: T64) -> u64 {
        B64::from(twiddle).0
    }

    #[inline(always)]
    fn one(token: W::Token, seed: u64) -> W::Factor {
        W::prepare(token, seed)
    }

    #[inline(always)]
    fn two(token: W::Token, seed: u64) -> W::Factor {
        W::prepare(token, seed)
    }

    #[inline(always)]
    fn four(token: W::Token, seed: u64) -> W::Factor {
        W::prepare(token, seed)
    }

    #[inline(always)]
    fn add_one(u: W, twiddle: &W::Factor, v: W) -> W {
        u.xor(v.mul_by(*twiddle))
    }

    #[inline(always)]
    fn add_two(u: W, twiddle: &W::Factor, v: W) -> W {
        u.xor(v.mul_by(*twiddle))
    }

    #[inline(always)]
    fn add_four(u: W, twiddle: &W::Factor, v: W) -> W {
        u.xor(v.mul_by(*twiddle))
    }
}

/// How many bytes the twiddles of a stage have.
pub(super) trait Class<F: Form> {
    type Twiddle: Copy;
    fn twiddle(token: Token<F>, seed: F::Seed) -> Self::Twiddle;
    fn add(u: F::V, twiddle: &Self::Twiddle, v: F::V) -> F::V;
}

pub(super) struct One;
pub(super) struct Two;
pub(super) struct Four;

macro_rules! class {
    ($class:ident, $prepare:ident, $add:ident) => {
        impl<F: Form> Class<F> for $class {
            type Twiddle = F::$class;

            #[inline(always)]
            fn twiddle(token: Token<F>, seed: F::Seed) -> F::$class {
                F::$prepare(token, seed)
            }

            #[inline(always)]
            fn add(u: F::V, twiddle: &F::$class, v: F::V) -> F::V {
                F::$add(u, twiddle, v)
            }
        }
    };
}

class!(One, one, add_one);
class!(Two, two, add_two);
class!(Four, four, add_four);

/// The twiddles of all blocks: that of block b is the sum of the entries of its bytes.
pub(super) struct Twiddles<F: Form>(Vec<[F::Seed; 256]>);

impl<F: Form> Twiddles<F> {
    /// For blocks below 2^`log_blocks`, at most 2^31.
    pub(super) fn new(log_blocks: u32) -> Self {
        let bytes = log_blocks.div_ceil(8).max(1) as usize;
        Self((0..bytes).map(Self::entries).collect())
    }

    /// The twiddle of block b is omega(2 b): bit j of b stands for beta_(j + 1).
    fn entries(byte: usize) -> [F::Seed; 256] {
        let mut entries = [F::Seed::default(); 256];
        for value in 1..256_usize {
            let bit = value.ilog2() as usize;
            let index = 8 * byte + bit + 1;
            // Block numbers have 31 bits.
            if index < 32 {
                entries[value] = entries[value ^ 1 << bit] ^ F::seed(T64::cantor(index));
            }
        }
        entries
    }

    /// The twiddle of a block.
    #[inline(always)]
    pub(super) fn of(&self, block: usize) -> F::Seed {
        let mut seed = self.0[0][block & 255];
        let mut rest = block >> 8;
        for entries in &self.0[1..] {
            seed = seed ^ entries[rest & 255];
            rest >>= 8;
        }
        seed
    }

    /// The twiddle of a block below 256.
    #[inline(always)]
    pub(super) fn low(&self, block: usize) -> F::Seed {
        self.0[0][block & 255]
    }
}
