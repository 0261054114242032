//! Every vector type of words against the definition.

use std::collections::BTreeSet;

use lanework_arch::{Choice, Feature};
use lanework_field::gf2::clmul::{Clmul, Generic, dispatch};
use lanework_field::gf2::scalar::times;
use lanework_testkit::cases::Rng;
use lanework_testkit::isas;

/// Every choice whose vector type may differ from the others'.
pub(crate) fn choices() -> Vec<Choice> {
    let all = Choice::available().into_iter().flat_map(|choice| {
        [
            choice,
            choice.without(Feature::Vpclmulqdq),
            choice
                .without(Feature::Vpclmulqdq)
                .without(Feature::Pclmulqdq),
            choice.without(Feature::Pmull),
        ]
    });
    let mut choices = Vec::new();
    for choice in all {
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    choices
}

/// Words at which something in a product changes: none, single bits, all ones, ones at the top, then random ones.
pub(crate) fn operands(seed: u64) -> Vec<u64> {
    let mut words = vec![
        0,
        u64::MAX,
        u64::MAX << 60,
        0x1b,
        u64::MAX >> 1,
        0x1111 << 48,
    ];
    words.extend((0..64).map(|i| 1 << i));
    let mut rng = Rng::new(seed);
    words.extend((0..26).map(|_| rng.next_u64()));
    words
}

struct Pairwise<'a, F>(&'a [u64], &'a [u64], F);

/// An operation on two vectors, for every vector type.
trait Operation {
    fn apply<W: Clmul>(&self, token: W::Token, x: W, y: W, c: u64) -> W;
}

impl<F: Operation> Generic for Pairwise<'_, F> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run<W: Clmul>(self, token: W::Token) -> Vec<u64> {
        let Self(x, y, operation) = self;
        let mut out = vec![0; x.len()];
        let chunks = out.chunks_mut(W::LEN).zip(x.chunks(W::LEN));
        for ((out, x), y) in chunks.zip(y.chunks(W::LEN)) {
            let (x, y_lanes) = (W::from_slice(token, x), W::from_slice(token, y));
            operation.apply(token, x, y_lanes, y[0]).to_slice(out);
        }
        out
    }
}

struct Mul;
impl Operation for Mul {
    #[inline(always)]
    fn apply<W: Clmul>(&self, _: W::Token, x: W, y: W, _: u64) -> W {
        x.mul(y)
    }
}

struct Xor;
impl Operation for Xor {
    #[inline(always)]
    fn apply<W: Clmul>(&self, token: W::Token, x: W, y: W, c: u64) -> W {
        x.xor(y).xor3(y, W::splat(token, c)).xor(y)
    }
}

struct MulBy;
impl Operation for MulBy {
    #[inline(always)]
    fn apply<W: Clmul>(&self, token: W::Token, x: W, _: W, c: u64) -> W {
        x.mul_by(W::prepare(token, c))
    }
}

struct Products;
impl Operation for Products {
    #[inline(always)]
    fn apply<W: Clmul>(&self, token: W::Token, x: W, y: W, c: u64) -> W {
        let c = W::splat(token, c);
        let (xy, xx) = (x.product(y), x.product(x));
        W::reduce(xy.xor3(xx, c.product(y)).xor(xy))
    }
}

#[test]
fn products() {
    let operands = operands(0x67_6632);
    for choice in choices() {
        for &y in &operands {
            let ys = vec![y; operands.len()];
            let want: Vec<u64> = operands.iter().map(|&x| times(x, y)).collect();
            assert_eq!(
                dispatch(choice, Pairwise(&operands, &ys, Mul)),
                want,
                "{choice} {y:#x}"
            );
            assert_eq!(
                dispatch(choice, Pairwise(&operands, &ys, MulBy)),
                want,
                "{choice} {y:#x}"
            );
            let want: Vec<u64> = operands
                .iter()
                .map(|&x| times(x, x) ^ times(y, y))
                .collect();
            assert_eq!(
                dispatch(choice, Pairwise(&operands, &ys, Products)),
                want,
                "{choice} {y:#x}"
            );
        }
        // Different words at every place.
        let mut rng = Rng::new(0x67_6633);
        let [x, y]: [Vec<u64>; 2] = [(); 2].map(|()| (0..999).map(|_| rng.next_u64()).collect());
        let got = dispatch(choice, Pairwise(&x, &y, Mul));
        for i in 0..x.len() {
            assert_eq!(got[i], times(x[i], y[i]), "{choice} {i}");
        }
        let got = dispatch(choice, Pairwise(&x, &y, Xor));
        let len = dispatch(choice, Len);
        for i in 0..x.len() {
            assert_eq!(got[i], x[i] ^ y[i] ^ y[i / len * len], "{choice} {i}");
        }
    }
}

struct Len;
impl Generic for Len {
    type Output = usize;
    #[inline(always)]
    fn run<W: Clmul>(self, _: W::Token) -> usize {
        W::LEN
    }
}

/// The total of the products, and with a sum to start from.
struct Total<'a>(&'a [u64], &'a [u64]);
impl Generic for Total<'_> {
    type Output = u128;
    #[inline(always)]
    fn run<W: Clmul>(self, token: W::Token) -> u128 {
        let mut sum = W::no_products(token);
        for (x, y) in self.0.chunks(W::LEN).zip(self.1.chunks(W::LEN)) {
            sum = W::add_products(sum, W::from_slice(token, x), W::from_slice(token, y));
        }
        W::total(sum)
    }
}

#[test]
fn sums_of_products() {
    let mut rng = Rng::new(0x67_6634);
    let mut x = operands(1);
    x.extend((0..999).map(|_| rng.next_u64()));
    let y: Vec<u64> = x.iter().map(|_| rng.next_u64()).collect();
    for len in [0, 1, 2, 7, 8, 9, 24, 31, x.len()] {
        let terms = x.iter().zip(&y).take(len);
        let want = terms.fold(0, |sum, (&x, &y)| {
            sum ^ lanework_field::gf2::scalar::product(x, y)
        });
        for choice in choices() {
            assert_eq!(
                dispatch(choice, Total(&x[..len], &y[..len])),
                want,
                "{choice} {len}"
            );
        }
    }
}

/// What the shuffles do to the words 0, 1, 2, ….
struct Shuffles;
impl Generic for Shuffles {
    type Output = ();
    #[inline(always)]
    fn run<W: Clmul>(self, token: W::Token) {
        let numbers: Vec<u64> = (0..3 * W::LEN as u64).collect();
        let vectors: [W; 3] = std::array::from_fn(|i| W::from_slice(token, &numbers[i * W::LEN..]));
        let words = |x: W| {
            let mut words = vec![0; W::LEN];
            x.to_slice(&mut words);
            words
        };
        let (even, odd) = vectors[0].unzip(vectors[1]);
        let [even, odd] = [even, odd].map(words);
        for i in 0..W::LEN {
            assert_eq!(
                [even[i], odd[i]],
                [2 * i as u64, 2 * i as u64 + 1],
                "{}",
                W::NAME
            );
        }

        let square: Vec<u64> = (0..(W::LEN * W::LEN) as u64).collect();
        let mut block: Vec<W> = square
            .chunks(W::LEN)
            .map(|row| W::from_slice(token, row))
            .collect();
        W::transpose(&mut block);
        for (i, row) in block.into_iter().map(words).enumerate() {
            let want: Vec<u64> = (0..W::LEN).map(|j| (W::LEN * j + i) as u64).collect();
            assert_eq!(row, want, "{}", W::NAME);
        }

        let limbs = W::split_triples(vectors);
        let order = words(vectors[0].in_order_of_triples());
        for (limb, got) in limbs.map(words).into_iter().enumerate() {
            let want: Vec<u64> = order.iter().map(|i| 3 * i + limb as u64).collect();
            assert_eq!(got, want, "{}", W::NAME);
        }
        let joined: Vec<u64> = W::join_triples(limbs).into_iter().flat_map(words).collect();
        assert_eq!(joined, numbers, "{}", W::NAME);
    }
}

/// Parts of vectors touch no other words.
struct Parts;
impl Generic for Parts {
    type Output = ();
    #[inline(always)]
    fn run<W: Clmul>(self, token: W::Token) {
        let source: Vec<u64> = (1..=W::LEN as u64).collect();
        for count in 0..=W::LEN {
            let x = W::from_slice(token, &source[..count]);
            let mut target = vec![u64::MAX; W::LEN + 1];
            x.to_slice(&mut target);
            let want = (1..)
                .take(count)
                .chain(vec![0; W::LEN - count])
                .chain([u64::MAX]);
            assert_eq!(target, want.collect::<Vec<_>>(), "{}", W::NAME);

            let mut target = vec![u64::MAX; W::LEN];
            W::from_slice(token, &source).to_slice(&mut target[..count]);
            let want = (1..).take(count).chain(vec![u64::MAX; W::LEN - count]);
            assert_eq!(target, want.collect::<Vec<_>>(), "{}", W::NAME);
        }
    }
}

/// Stores past the caches write the whole vector.
struct Streams;
impl Generic for Streams {
    type Output = ();
    #[inline(always)]
    fn run<W: Clmul>(self, token: W::Token) {
        #[repr(align(64))]
        struct Line([u64; 8]);

        let source = [3, 1, 4, 1, 5, 9, 2, 6];
        let mut line = Line([0; 8]);
        for (source, target) in source.chunks(W::LEN).zip(line.0.chunks_mut(W::LEN)) {
            // SAFETY: bounds and alignment: a line's part of the vector's size; no other thread sees it.
            #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
            unsafe {
                W::from_slice(token, source).stream(target.as_mut_ptr());
            }
        }
        assert_eq!(line.0, source, "{}", W::NAME);
    }
}

#[test]
fn places() {
    for choice in choices() {
        dispatch(choice, Streams);
        dispatch(choice, Shuffles);
        dispatch(choice, Parts);
    }
}

struct Name;
impl Generic for Name {
    type Output = &'static str;
    #[inline(always)]
    fn run<W: Clmul>(self, _: W::Token) -> &'static str {
        W::NAME
    }
}

#[test]
fn every_vector_type_is_exercised() {
    let kernels: BTreeSet<_> = choices()
        .into_iter()
        .map(|choice| dispatch(choice, Name))
        .collect();
    assert!(kernels.contains("portable"));
    let available = Choice::available().into_iter().map(Choice::isa);
    let mut names: Vec<_> = available.map(lanework_arch::Isa::name).collect();
    names.extend(kernels.into_iter().filter(|name| name.contains(',')));
    isas::report("gf2", &names);
}
