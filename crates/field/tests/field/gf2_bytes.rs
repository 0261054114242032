//! Products by constants of the tower, for every vector type, against the definition.

use std::collections::BTreeSet;

use lanework_arch::{Choice, Feature};
use lanework_field::gf2::bytes::{Generic, Pattern, TowerRows, TowerWords, WidePattern, dispatch};
use lanework_field::gf2::{B64, T64};
use lanework_testkit::cases::{Rng, lengths};
use lanework_testkit::isas;
use lanework_testkit::vectors::{binary, word, words};
use serde_json::Value;

use crate::gf2_words::operands;

/// Every choice whose vector type may differ from the others'.
fn choices() -> Vec<Choice> {
    let all = Choice::available().into_iter().flat_map(|choice| {
        [
            choice,
            choice.without(Feature::Gfni),
            choice.without(Feature::Vbmi),
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

fn elements(words: &[u64]) -> Vec<T64> {
    words.iter().map(|&word| T64(word)).collect()
}

fn cases(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.as_array().expect("a list");
    assert!(!list.is_empty());
    list.iter()
}

/// Constants of `bytes` bytes: corners, then random ones.
fn constants(bytes: u32, seed: u64) -> Vec<T64> {
    let mask = u64::MAX >> (64 - 8 * bytes);
    let mut rng = Rng::new(seed);
    let corners = [
        0,
        1,
        mask,
        1 << (8 * bytes - 1),
        0x100 & mask,
        0x1_0000 & mask,
    ];
    let random = (0..40).map(|_| rng.next_u64() & mask);
    corners.into_iter().chain(random).map(T64).collect()
}

/// What the words `y` become when products of `x` are added, by each class that has the constant.
struct Classes<'a> {
    constant: T64,
    x: &'a [u64],
    y: &'a [u64],
}

struct Name;

impl Generic for Name {
    type Output = (&'static str, &'static str, usize);

    #[inline(always)]
    fn run<W: TowerWords>(self, _: W::Token) -> Self::Output {
        (W::NAME, W::ISA.name(), W::LEN)
    }
}

impl Generic for Classes<'_> {
    type Output = Vec<(&'static str, Vec<u64>)>;

    #[inline(always)]
    fn run<W: TowerWords>(self, token: W::Token) -> Self::Output {
        let mut results = Vec::new();
        macro_rules! class {
            ($pattern:ident, $prepare:ident, $add:ident) => {{
                let constant = W::$prepare(token, &$pattern::new(self.constant));
                let mut out = self.y.to_vec();
                for (out, x) in out.chunks_mut(W::LEN).zip(self.x.chunks(W::LEN)) {
                    let sum = W::from_slice(token, out);
                    let sum = sum.$add(&constant, W::from_slice(token, x));
                    sum.to_slice(out);
                }
                results.push((stringify!($prepare), out));
            }};
        }
        if self.constant.0 >> 8 == 0 {
            class!(Pattern, one, add_one);
        }
        if self.constant.0 >> 16 == 0 {
            class!(Pattern, two, add_two);
        }
        if self.constant.0 >> 32 == 0 {
            class!(Pattern, four, add_four);
        }
        class!(WidePattern, eight, add_eight);
        results
    }
}

#[test]
fn every_kernel_is_exercised() {
    let mut names = BTreeSet::new();
    for choice in choices() {
        let (name, isa, _) = dispatch(choice, Name);
        names.extend([name, isa]);
    }
    for rows in TowerRows::available() {
        assert!(names.contains(rows.name()), "{}", rows.name());
    }
    let names: Vec<&str> = names.into_iter().collect();
    isas::report("tower", &names);
}

#[test]
fn products_by_constants_of_every_size() {
    let x = operands(11);
    let y: Vec<u64> = x.iter().map(|x| x.rotate_left(17) ^ 0x55).collect();
    let mut all: Vec<T64> = (0..256).map(T64).collect();
    for bytes in [2, 4, 8] {
        all.extend(constants(bytes, u64::from(bytes)));
    }
    all.extend((0..64).map(T64::cantor));
    for constant in all {
        let products = x
            .iter()
            .zip(&y)
            .map(|(&x, &y)| (constant * T64(x) + T64(y)).0);
        let want: Vec<u64> = products.collect();
        for choice in choices() {
            let (x, y) = (&x, &y);
            for (class, got) in dispatch(choice, Classes { constant, x, y }) {
                assert_eq!(got, want, "{choice} {class} {constant:?}");
            }
        }
    }
}

#[test]
fn patterns_are_linear() {
    let (a, b) = (T64(0x245f_2141), T64(0xd030_07a7));
    let mut sum = Pattern::new(a);
    sum ^= Pattern::new(b);
    assert_eq!(sum, Pattern::new(a + b));
    assert_eq!(sum ^ Pattern::new(b), Pattern::new(a));
}

#[test]
fn published_products_by_constants() {
    for case in cases(&binary()["tower"]["multiply_by_constant"]) {
        let constant = T64(word(&case["c"]));
        let (x, y) = ([word(&case["u"]); 9], [0; 9]);
        let want = [word(&case["cu"]); 9];
        assert_eq!((constant * T64(x[0])).0, want[0]);
        for choice in choices() {
            let (x, y) = (&x, &y);
            for (class, got) in dispatch(choice, Classes { constant, x, y }) {
                assert_eq!(got, want, "{choice} {class} {constant:?}");
            }
        }
    }
}

/// The bytes that a kernel multiplies by, read off from products of words with a single byte 1.
#[test]
fn published_patterns_of_the_cantor_basis() {
    let list = &binary()["tower"]["patterns_of_beta_4byte"];
    assert_eq!(cases(list).count(), 32);
    let x: Vec<u64> = (0..4).map(|byte| 1 << (8 * byte)).collect();
    for (j, patterns) in cases(list).enumerate() {
        let constant = T64::cantor(j);
        let mut want = vec![0; 4];
        for (k, pattern) in cases(patterns).enumerate() {
            let bytes = word(pattern).to_be_bytes();
            for (i, &byte) in bytes[4..].iter().enumerate() {
                want[i ^ k] |= u64::from(byte) << (8 * i);
            }
        }
        for choice in choices() {
            let (x, y) = (&x, &[0; 4]);
            for (class, got) in dispatch(choice, Classes { constant, x, y }) {
                assert_eq!(got, want, "{choice} {class} {j}");
            }
        }
    }
}

#[test]
fn rows_of_any_length() {
    let mut rng = Rng::new(12);
    for rows in TowerRows::available() {
        for len in lengths(8) {
            let x: Vec<u64> = (0..len).map(|_| rng.next_u64()).collect();
            let (x, y) = (
                elements(&x),
                elements(&x[..].iter().rev().copied().collect::<Vec<_>>()),
            );
            for bits in [1, 8, 9, 16, 17, 32, 33, 64] {
                let constant = T64(rng.next_u64() >> (64 - bits) | 1 << (bits - 1));
                let name = rows.name();
                let mut scaled = x.clone();
                rows.scale(constant, &mut scaled);
                let want: Vec<T64> = x.iter().map(|&x| constant * x).collect();
                assert_eq!(scaled, want, "{name} {len} {constant:?}");
                let mut sums = y.clone();
                rows.add_scaled(constant, &x, &mut sums);
                let want: Vec<T64> = want.iter().zip(&y).map(|(&a, &b)| a + b).collect();
                assert_eq!(sums, want, "{name} {len} {constant:?}");
            }
            let mut elements = vec![B64(1); len];
            rows.to_polynomial(&x, &mut elements);
            let want: Vec<B64> = x.iter().map(|x| B64(x.to_polynomial_word())).collect();
            assert_eq!(elements, want, "{} {len}", rows.name());
            let mut tower = vec![T64(1); len];
            rows.to_tower(&elements, &mut tower);
            assert_eq!(tower, x, "{} {len}", rows.name());
        }
    }
}

#[test]
#[should_panic(expected = "one word for each")]
fn rows_of_different_lengths() {
    TowerRows::new(Choice::best()).add_scaled(T64::ONE, &[T64::ONE; 2], &mut [T64::ONE; 3]);
}

#[test]
fn the_isomorphism() {
    let iso = &binary()["tower"]["iso"];
    for rows in TowerRows::available() {
        let name = rows.name();
        let check = |tower: &[u64], polynomial: &[u64]| {
            let tower = elements(tower);
            let mut images = vec![B64(0); tower.len()];
            rows.to_polynomial(&tower, &mut images);
            let polynomial: Vec<B64> = polynomial.iter().map(|&word| B64(word)).collect();
            assert_eq!(images, polynomial, "{name}");
            let mut back = vec![T64(0); tower.len()];
            rows.to_tower(&polynomial, &mut back);
            assert_eq!(back, tower, "{name}");
        };
        let units: Vec<u64> = (0..64).map(|j| 1 << j).collect();
        check(&units, &words(&iso["T_to_K_columns"]));
        check(&words(&iso["K_to_T_columns"]), &units);
        for case in cases(&iso["images"]) {
            check(&[word(&case["t"])], &[word(&case["k"])]);
        }
    }
}

/// Loads, stores, transposition and sums.
struct Moves;

impl Generic for Moves {
    type Output = ();

    #[inline(always)]
    fn run<W: TowerWords>(self, token: W::Token) {
        let mut rng = Rng::new(13);
        let source: Vec<u64> = (0..W::LEN * W::LEN).map(|_| rng.next_u64()).collect();
        let mut block: Vec<W> = Vec::new();
        for row in source.chunks(W::LEN) {
            block.push(W::from_slice(token, row));
        }
        W::transpose(&mut block);
        for (i, vector) in block.iter().enumerate() {
            let mut words = vec![0; W::LEN];
            vector.to_slice(&mut words);
            for (j, &word) in words.iter().enumerate() {
                assert_eq!(word, source[j * W::LEN + i], "{} {i} {j}", W::NAME);
            }
        }
        for count in 0..=W::LEN {
            let vector = W::from_slice(token, &source[..count]);
            let mut words = vec![7; W::LEN];
            vector.to_slice(&mut words);
            let mut want = source[..count].to_vec();
            want.resize(W::LEN, 0);
            assert_eq!(words, want, "{} {count}", W::NAME);
            let mut part = vec![7; count];
            vector.xor(W::splat(token, 3)).to_slice(&mut part);
            let want: Vec<u64> = source[..count].iter().map(|word| word ^ 3).collect();
            assert_eq!(part, want, "{} {count}", W::NAME);
        }
        let [a, b, c] = [&source[..W::LEN], &[5; 8][..W::LEN], &[9; 8][..W::LEN]];
        let [x, y, z] = [
            W::from_slice(token, a),
            W::from_slice(token, b),
            W::from_slice(token, c),
        ];
        let mut words = vec![0; W::LEN];
        x.xor3(y, z).to_slice(&mut words);
        let want: Vec<u64> = a.iter().map(|word| word ^ 5 ^ 9).collect();
        assert_eq!(words, want, "{}", W::NAME);
    }
}

#[test]
fn moves() {
    for choice in choices() {
        dispatch(choice, Moves);
    }
}
