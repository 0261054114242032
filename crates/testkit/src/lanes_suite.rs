//! The suite every vector type of field elements must pass.

/// Expands a module `$name` of tests in the calling crate, for the type `$lanes` that implements
/// `lanework_field::koala::lanes::Lanes`, with `$token` an `Option` of its token. Without the token
/// the tests are skipped, and say so.
///
/// Every operation is compared with the scalar field on all pairs of edge values and on random
/// ones, compiled with the instructions of the type.
///
/// ```ignore
/// lanework_testkit::koala_lanes_suite!(avx2, Avx2Lanes, Avx2::new(Choice::best()));
/// ```
#[macro_export]
macro_rules! koala_lanes_suite {
    ($name:ident, $lanes:ty, $token:expr) => {
        mod $name {
            use ::std::array;

            #[allow(unused_imports, reason = "the names in the macro's arguments")]
            use super::*;
            use ::lanework_field::KoalaBear;
            use ::lanework_field::koala::lanes::{Addend, Kernel, Lanes, Prepared};
            use ::lanework_field::koala::spec::P;

            type L = $lanes;
            type Token = <L as Lanes>::Token;
            const LEN: usize = L::LEN;
            type Row = [KoalaBear; LEN];

            fn with_token(f: impl FnOnce(Token)) {
                match $token {
                    Some(token) => f(token),
                    None => $crate::isas::skip(stringify!($name), "lanes of field elements"),
                }
            }

            /// Runs one vector operation with the instructions of the type.
            struct Apply<F>(F);

            impl<F: FnOnce() -> L> Kernel for Apply<F> {
                type Output = Row;

                #[inline(always)]
                fn run(self) -> Row {
                    let mut row = [KoalaBear::ZERO; LEN];
                    (self.0)().to_slice(&mut row);
                    row
                }
            }

            fn apply(token: Token, f: impl FnOnce() -> L) -> Row {
                L::run(token, Apply(f))
            }

            fn elements(words: Vec<u32>) -> Vec<KoalaBear> {
                let element = |word| KoalaBear::from_montgomery_word(word).expect("below p");
                words.into_iter().map(element).collect()
            }

            /// All pairs of edge values, then random pairs, filled up to whole rows.
            fn pairs() -> Vec<(Row, Row)> {
                let edges = elements($crate::cases::edge_words(P));
                let mut rng = $crate::cases::Rng::new(0x6b6f_616c_61);
                let mut x: Vec<_> = edges.iter().flat_map(|&x| vec![x; edges.len()]).collect();
                let mut y: Vec<_> = edges.iter().flat_map(|_| edges.clone()).collect();
                let fill = 64 * LEN - x.len() % LEN;
                x.extend(elements(rng.words_below(P, fill)));
                y.extend(elements(rng.words_below(P, fill)).into_iter().rev());
                let rows = x.chunks_exact(LEN).zip(y.chunks_exact(LEN));
                rows.map(|(x, y)| (x.try_into().expect("LEN"), y.try_into().expect("LEN")))
                    .collect()
            }

            fn check(
                vector: impl Fn(L, L) -> L,
                scalar: impl Fn(KoalaBear, KoalaBear) -> KoalaBear,
            ) {
                with_token(|token| {
                    for (x, y) in pairs() {
                        let got = apply(token, || {
                            vector(L::from_slice(token, &x), L::from_slice(token, &y))
                        });
                        let want: Row = array::from_fn(|i| scalar(x[i], y[i]));
                        let words = |row: Row| row.map(KoalaBear::montgomery_word);
                        assert_eq!(words(got), words(want), "operands {x:?}, {y:?}");
                    }
                });
            }

            fn check_constant(
                vector: impl Fn(L, KoalaBear) -> L,
                scalar: impl Fn(KoalaBear, KoalaBear) -> KoalaBear,
            ) {
                with_token(|token| {
                    for (x, y) in pairs() {
                        for c in y {
                            let got = apply(token, || vector(L::from_slice(token, &x), c));
                            let words = got.map(KoalaBear::montgomery_word);
                            let want = x.map(|x| scalar(x, c).montgomery_word());
                            assert_eq!(words, want, "operands {x:?}, {c:?}");
                        }
                    }
                });
            }

            #[test]
            fn sums_of_products() {
                with_token(|token| {
                    /// The sum of products of all rows, two at a time.
                    struct Sum<'a>(Token, &'a [(Row, Row)]);

                    impl Kernel for Sum<'_> {
                        type Output = KoalaBear;

                        #[inline(always)]
                        fn run(self) -> KoalaBear {
                            let mut sum = L::no_products(self.0);
                            for rows in self.1.chunks_exact(2) {
                                let x = [&rows[0].0, &rows[1].0].map(|x| L::from_slice(self.0, x));
                                let y = [&rows[0].1, &rows[1].1].map(|y| L::from_slice(self.0, y));
                                sum = L::add_products(sum, x, y);
                            }
                            L::total(sum)
                        }
                    }

                    let greatest =
                        [-KoalaBear::ONE, elements(vec![P - 1])[0]].map(|x| ([x; LEN], [x; LEN]));
                    let cases = [pairs(), greatest.repeat(10_000), Vec::new()];
                    for rows in cases {
                        let rows = &rows[..rows.len() / 2 * 2];
                        let products = rows.iter().flat_map(|(x, y)| x.iter().zip(y));
                        let want: KoalaBear = products.map(|(&x, &y)| x * y).sum();
                        assert_eq!(L::run(token, Sum(token, rows)), want);
                    }
                });
            }

            #[test]
            fn sums_and_differences() {
                check(|x, y| x + y, |x, y| x + y);
                check(|x, y| x - y, |x, y| x - y);
                check(|x, _| -x, |x, _| -x);
                check(|x, _| x.double(), |x, _| x + x);
                check(
                    |mut x, y| {
                        x += y;
                        x -= y;
                        x -= y;
                        x
                    },
                    |x, y| x - y,
                );
            }

            #[test]
            fn products() {
                check(|x, y| x * y, |x, y| x * y);
                check(
                    |mut x, y| {
                        x *= y;
                        x
                    },
                    |x, y| x * y,
                );
                check(|x, _| x.square(), |x, _| x.square());
                check(|x, _| x.cube(), |x, _| x.cube());
                check(|x, y| x.mul_by(&y.prepare()), |x, y| x * y);
            }

            #[test]
            fn constants() {
                check_constant(|x, c| x.mul_prepared(&Prepared::new(c)), |x, c| x * c);
                check_constant(|x, c| x.add_cube(&Addend::new(c)), |x, c| (x + c).cube());
                with_token(|token| {
                    check_constant(move |x, c| x + L::splat(token, c), |x, c| x + c);
                });
            }

            #[test]
            fn divisions_by_powers_of_two() {
                const HALF: KoalaBear = KoalaBear::new(P.div_ceil(2));
                fn by<const N: u32>() {
                    let inverse = HALF.pow(N.into());
                    check(|x, _| x.mul_2exp_neg::<N>(), |x, _| x * inverse);
                }
                check(|x, _| x.halve(), |x, _| x * HALF);
                by::<1>();
                by::<2>();
                by::<3>();
                by::<4>();
                by::<5>();
                by::<6>();
                by::<7>();
                by::<8>();
                by::<9>();
                by::<10>();
                by::<11>();
                by::<12>();
                by::<13>();
                by::<14>();
                by::<15>();
                by::<16>();
                by::<17>();
                by::<18>();
                by::<19>();
                by::<20>();
                by::<21>();
                by::<22>();
                by::<23>();
                by::<24>();
            }

            #[test]
            fn sums_of_many() {
                check(|x, _| L::sum([x]), |x, _| x);
                check(|x, y| L::sum([x, y]), |x, y| x + y);
                check(|x, y| L::sum([x, y, y]), |x, y| x + y + y);
                check(
                    |x, y| L::sum([x, y, y, x, x, y, y]),
                    |x, y| (0..3).fold(y, |s, _| s + x + y),
                );
                check(
                    |x, y| L::sum([x, y, x, y, x, y, x, y]),
                    |x, y| (x + y) * KoalaBear::new(4),
                );
            }

            #[test]
            fn interleaved_blocks() {
                fn blocks<const BLOCK: usize>(token: Token) {
                    let x: Row = array::from_fn(|i| KoalaBear::new(i as u32));
                    let y: Row = array::from_fn(|i| KoalaBear::new(100 + i as u32));
                    let (u, v) = (L::from_slice(token, &x), L::from_slice(token, &y));
                    let got = (
                        apply(token, || u.interleave::<BLOCK>(v).0),
                        apply(token, || u.interleave::<BLOCK>(v).1),
                    );
                    let from = |i: usize, bit: usize| {
                        let place = i & !BLOCK | bit;
                        if i & BLOCK == 0 { x[place] } else { y[place] }
                    };
                    let want = if BLOCK < LEN {
                        (
                            array::from_fn(|i| from(i, 0)),
                            array::from_fn(|i| from(i, BLOCK)),
                        )
                    } else {
                        (x, y)
                    };
                    assert_eq!(got, want, "block {BLOCK}");
                }
                with_token(|token| {
                    blocks::<1>(token);
                    blocks::<2>(token);
                    blocks::<4>(token);
                    blocks::<8>(token);
                    blocks::<16>(token);
                });
            }

            #[test]
            fn transposed_squares() {
                struct Transpose(Token);
                impl Kernel for Transpose {
                    type Output = ();

                    #[inline(always)]
                    fn run(self) {
                        let cell = |i, j| KoalaBear::new((i * LEN + j) as u32);
                        let mut square: [L; LEN] = array::from_fn(|i| {
                            let row: Row = array::from_fn(|j| cell(i, j));
                            L::from_slice(self.0, &row)
                        });
                        L::transpose(&mut square);
                        for (i, lanes) in square.into_iter().enumerate() {
                            let mut row = [KoalaBear::ZERO; LEN];
                            lanes.to_slice(&mut row);
                            assert_eq!(row, array::from_fn(|j| cell(j, i)));
                        }
                    }
                }
                with_token(|token| L::run(token, Transpose(token)));
            }

            #[test]
            fn slices_at_any_place_and_nothing_beyond_them() {
                with_token(|token| {
                    let source: Vec<_> = (1..=3 * LEN as u32).map(KoalaBear::new).collect();
                    for at in 0..2 * LEN {
                        let mut target = vec![KoalaBear::ZERO; 3 * LEN];
                        L::from_slice(token, &source[at..]).to_slice(&mut target[at..]);
                        for (i, &x) in target.iter().enumerate() {
                            let inside = (at..at + LEN).contains(&i);
                            assert_eq!(x, if inside { source[i] } else { KoalaBear::ZERO });
                        }
                    }
                });
            }
        }
    };
}
