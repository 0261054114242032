//! The kernels over slices, generic over the vector type.
//!
//! Elements of E are three words each. LEN of them are three vectors, which [`Clmul::split_triples`] turns into
//! one vector for each limb.

use super::clmul::{Clmul, Generic, Product};
use super::sums::{BaseSum, ExtensionSum, MixedSum};

/// The `count` words at `at`, then zeros.
#[inline(always)]
fn get<W: Clmul>(token: W::Token, words: &[u64], at: usize, count: usize) -> W {
    W::from_slice(token, &words[at..at + count])
}

/// Writes the first `count` words to `at`.
#[inline(always)]
fn put<W: Clmul>(vector: W, words: &mut [u64], at: usize, count: usize) {
    vector.to_slice(&mut words[at..at + count]);
}

/// Elements of E, a limb per vector.
type Limbs<W> = [W; 3];

/// Six words for the products with an element of E: its limbs and the sums of two of them.
type Six<W> = [W; 6];

/// The `count` elements of E at `at`, then zeros.
#[inline(always)]
fn get_limbs<W: Clmul>(token: W::Token, words: &[u64], at: usize, count: usize) -> Limbs<W> {
    let words = &words[3 * at..3 * (at + count)];
    let part = |i: usize| &words[(i * W::LEN).min(words.len())..];
    W::split_triples([
        W::from_slice(token, part(0)),
        W::from_slice(token, part(1)),
        W::from_slice(token, part(2)),
    ])
}

/// Writes the first `count` elements of E to `at`.
#[inline(always)]
fn put_limbs<W: Clmul>(limbs: Limbs<W>, words: &mut [u64], at: usize, count: usize) {
    let mut rest = &mut words[3 * at..3 * (at + count)];
    let [a, b, c] = W::join_triples(limbs);
    a.to_slice(rest);
    rest = rest.split_at_mut(W::LEN.min(rest.len())).1;
    b.to_slice(rest);
    rest = rest.split_at_mut(W::LEN.min(rest.len())).1;
    c.to_slice(rest);
}

#[inline(always)]
fn six<W: Clmul>([a, b, c]: Limbs<W>) -> Six<W> {
    [a, b, c, a.xor(b), a.xor(c), b.xor(c)]
}

/// An element of E in every place.
#[inline(always)]
fn splat<W: Clmul>(token: W::Token, element: [u64; 3]) -> Limbs<W> {
    let [a, b, c] = element;
    [W::splat(token, a), W::splat(token, b), W::splat(token, c)]
}

/// The products in E. For the formula see [`ExtensionSum::reduce`].
#[inline(always)]
fn times<W: Clmul>(left: Limbs<W>, right: &Six<W>) -> Limbs<W> {
    let left = six(left);
    let product = |i: usize| -> Product<W> { left[i].product(right[i]) };
    let (p0, p1, p2) = (product(0), product(1), product(2));
    let (p01, p02, p12) = (product(3), product(4), product(5));
    let outer = p0.xor(p12);
    [
        W::reduce(outer.xor3(p1, p2)),
        W::reduce(outer.xor(p01)),
        W::reduce(p0.xor3(p1, p02)),
    ]
}

#[inline(always)]
fn add<W: Clmul>([a0, a1, a2]: Limbs<W>, [b0, b1, b2]: Limbs<W>) -> Limbs<W> {
    [a0.xor(b0), a1.xor(b1), a2.xor(b2)]
}

/// The products of elements of K with one of E.
#[inline(always)]
fn times_base<W: Clmul>(base: W, [c0, c1, c2]: [W::Factor; 3]) -> Limbs<W> {
    [base.mul_by(c0), base.mul_by(c1), base.mul_by(c2)]
}

#[inline(always)]
fn prepare<W: Clmul>(token: W::Token, element: [u64; 3]) -> [W::Factor; 3] {
    let [a, b, c] = element;
    [
        W::prepare(token, a),
        W::prepare(token, b),
        W::prepare(token, c),
    ]
}

/// Calls `$step` with the start and the number of elements of every vector of `$len` elements: whole ones, then
/// one of what is left.
macro_rules! for_vectors {
    ($W:ident, $len:expr, |$at:ident, $count:ident| $step:expr) => {{
        let len = $len;
        let mut $at = 0;
        while $at + $W::LEN <= len {
            let $count = $W::LEN;
            $step;
            $at += $W::LEN;
        }
        let $count = len - $at;
        if $count > 0 {
            $step;
        }
    }};
}

/// A kernel: its operands, and what it does for a vector type.
macro_rules! kernel {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),+ } -> $output:ty, |$W:ident, $token:ident| $body:expr) => {
        $(#[$doc])*
        pub(super) struct $name<'a> {
            $(pub(super) $field: $type),+
        }

        impl Generic for $name<'_> {
            type Output = $output;

            #[inline(always)]
            fn run<$W: Clmul>(self, $token: $W::Token) -> $output {
                let Self { $($field),+ } = self;
                $body
            }
        }
    };
}

kernel!(
    /// out = x y.
    Mul { x: &'a [u64], y: &'a [u64], out: &'a mut [u64] } -> (),
    |W, token| for_vectors!(W, out.len(), |at, count| {
        let product = get::<W>(token, x, at, count).mul(get(token, y, at, count));
        put(product, out, at, count);
    })
);

kernel!(
    /// x = x^2.
    Square { values: &'a mut [u64] } -> (),
    |W, token| for_vectors!(W, values.len(), |at, count| {
        let x = get::<W>(token, values, at, count);
        put(x.mul(x), values, at, count);
    })
);

kernel!(
    /// x = c x.
    Scale { factor: u64, values: &'a mut [u64] } -> (),
    |W, token| {
        let factor = W::prepare(token, factor);
        for_vectors!(W, values.len(), |at, count| {
            let x = get::<W>(token, values, at, count);
            put(x.mul_by(factor), values, at, count);
        });
    }
);

kernel!(
    /// y = y + c x.
    AddScaled { factor: u64, x: &'a [u64], values: &'a mut [u64] } -> (),
    |W, token| {
        let factor = W::prepare(token, factor);
        for_vectors!(W, values.len(), |at, count| {
            let x = get::<W>(token, x, at, count);
            let y = get::<W>(token, values, at, count);
            put(y.xor(x.mul_by(factor)), values, at, count);
        });
    }
);

kernel!(
    /// upper = c lower, then lower = lower + upper.
    Double { factor: u64, lower: &'a mut [u64], upper: &'a mut [u64] } -> (),
    |W, token| {
        let factor = W::prepare(token, factor);
        for_vectors!(W, lower.len(), |at, count| {
            let x = get::<W>(token, lower, at, count);
            let product = x.mul_by(factor);
            put(product, upper, at, count);
            put(x.xor(product), lower, at, count);
        });
    }
);

kernel!(
    /// The sum of x y.
    Dot { x: &'a [u64], y: &'a [u64] } -> BaseSum,
    |W, token| {
        let mut sum = W::no_products(token);
        for_vectors!(W, x.len(), |at, count| {
            sum = W::add_products(sum, get(token, x, at, count), get(token, y, at, count));
        });
        BaseSum(W::total(sum))
    }
);

kernel!(
    /// The sum of x y, for x of K and y of E.
    DotMixed { x: &'a [u64], y: &'a [u64] } -> MixedSum,
    |W, token| {
        let [mut s0, mut s1, mut s2] = [W::no_products(token); 3];
        for_vectors!(W, x.len(), |at, count| {
            let x = get::<W>(token, x, at, count).in_order_of_triples();
            let [y0, y1, y2] = get_limbs(token, y, at, count);
            s0 = W::add_products(s0, x, y0);
            s1 = W::add_products(s1, x, y1);
            s2 = W::add_products(s2, x, y2);
        });
        MixedSum([W::total(s0), W::total(s1), W::total(s2)])
    }
);

kernel!(
    /// The sum of x y, for x and y of E.
    DotExtension { x: &'a [u64], y: &'a [u64] } -> ExtensionSum,
    |W, token| {
        let mut sums = [W::no_products(token); 6];
        for_vectors!(W, x.len() / 3, |at, count| {
            let x = six::<W>(get_limbs(token, x, at, count));
            let y = six::<W>(get_limbs(token, y, at, count));
            for i in 0..6 {
                sums[i] = W::add_products(sums[i], x[i], y[i]);
            }
        });
        let [s0, s1, s2, s3, s4, s5] = sums;
        ExtensionSum([
            W::total(s0),
            W::total(s1),
            W::total(s2),
            W::total(s3),
            W::total(s4),
            W::total(s5),
        ])
    }
);

kernel!(
    /// out = x y in E.
    MulExtension { x: &'a [u64], y: &'a [u64], out: &'a mut [u64] } -> (),
    |W, token| for_vectors!(W, out.len() / 3, |at, count| {
        let y = six::<W>(get_limbs(token, y, at, count));
        let product = times(get_limbs(token, x, at, count), &y);
        put_limbs(product, out, at, count);
    })
);

kernel!(
    /// x = c x in E.
    ScaleExtension { factor: [u64; 3], values: &'a mut [u64] } -> (),
    |W, token| {
        let factor = six::<W>(splat(token, factor));
        for_vectors!(W, values.len() / 3, |at, count| {
            let product = times(get_limbs(token, values, at, count), &factor);
            put_limbs(product, values, at, count);
        });
    }
);

kernel!(
    /// y = y + c x in E.
    AddScaledExtension { factor: [u64; 3], x: &'a [u64], values: &'a mut [u64] } -> (),
    |W, token| {
        let factor = six::<W>(splat(token, factor));
        for_vectors!(W, values.len() / 3, |at, count| {
            let product = times(get_limbs(token, x, at, count), &factor);
            let y = get_limbs(token, values, at, count);
            put_limbs(add(y, product), values, at, count);
        });
    }
);

kernel!(
    /// y = y + c x, for x of K and c and y of E.
    AddMultiples { factor: [u64; 3], x: &'a [u64], values: &'a mut [u64] } -> (),
    |W, token| {
        let factor = prepare::<W>(token, factor);
        for_vectors!(W, x.len(), |at, count| {
            let x = get::<W>(token, x, at, count).in_order_of_triples();
            let y = get_limbs(token, values, at, count);
            put_limbs(add(y, times_base(x, factor)), values, at, count);
        });
    }
);

kernel!(
    /// upper = c lower, then lower = lower + upper, in E.
    DoubleExtension { factor: [u64; 3], lower: &'a mut [u64], upper: &'a mut [u64] } -> (),
    |W, token| {
        let factor = six::<W>(splat(token, factor));
        for_vectors!(W, lower.len() / 3, |at, count| {
            let x = get_limbs(token, lower, at, count);
            let product = times(x, &factor);
            put_limbs(product, upper, at, count);
            put_limbs(add(x, product), lower, at, count);
        });
    }
);

kernel!(
    /// `out[i] = x[2 i] + c (x[2 i] + x[2 i + 1])`, for x of K and c of E.
    FoldBase { factor: [u64; 3], x: &'a [u64], out: &'a mut [u64] } -> (),
    |W, token| {
        let factor = prepare::<W>(token, factor);
        for_vectors!(W, out.len() / 3, |at, count| {
            let pairs = &x[2 * at..2 * (at + count)];
            let lower = W::from_slice(token, pairs);
            let upper = W::from_slice(token, &pairs[W::LEN.min(pairs.len())..]);
            let (even, odd) = lower.unzip(upper);
            let (even, odd) = (even.in_order_of_triples(), odd.in_order_of_triples());
            let [c0, c1, c2] = times_base(even.xor(odd), factor);
            put_limbs([even.xor(c0), c1, c2], out, at, count);
        });
    }
);

kernel!(
    /// `out[i] = x[2 i] + c (x[2 i] + x[2 i + 1])`, in E.
    FoldExtension { factor: [u64; 3], x: &'a [u64], out: &'a mut [u64] } -> (),
    |W, token| {
        let factor = six::<W>(splat(token, factor));
        for_vectors!(W, out.len() / 3, |at, count| {
            let (even, odd) = pairs_of_limbs(token, x, at, count);
            put_limbs(add(even, times(add(even, odd), &factor)), out, at, count);
        });
    }
);

/// Of the `2 count` elements of E at `2 at`, those at even and those at odd places.
#[inline(always)]
fn pairs_of_limbs<W: Clmul>(
    token: W::Token,
    words: &[u64],
    at: usize,
    count: usize,
) -> (Limbs<W>, Limbs<W>) {
    let first = W::LEN.min(2 * count);
    let [a0, a1, a2] = get_limbs::<W>(token, words, 2 * at, first);
    let [b0, b1, b2] = get_limbs::<W>(token, words, 2 * at + first, 2 * count - first);
    let (even0, odd0) = a0.unzip_triples(b0);
    let (even1, odd1) = a1.unzip_triples(b1);
    let (even2, odd2) = a2.unzip_triples(b2);
    ([even0, even1, even2], [odd0, odd1, odd2])
}
