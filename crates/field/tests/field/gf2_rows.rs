//! Slices of elements against the scalar types.

use lanework_arch::Choice;
use lanework_field::gf2::{B64, B192, Rows};
use lanework_testkit::cases::{Rng, lengths};

use crate::gf2_words::{choices, operands};

/// Kernels, and lengths that reach the ends of vectors, for each choice of instructions.
fn kernels() -> Vec<(Rows, Vec<usize>)> {
    let of = |choice| {
        let mut lengths: Vec<usize> = (0..=25).collect();
        lengths.extend(self::lengths(8));
        (Rows::new(choice), lengths)
    };
    choices().into_iter().map(of).collect()
}

/// Elements, among which are those at which something changes.
fn base(rng: &mut Rng, len: usize) -> Vec<B64> {
    let edges = operands(7);
    let edge = |rng: &mut Rng| edges[rng.in_range(0..edges.len())];
    let mut word = |_| match rng.below(3) {
        0 => edge(rng),
        _ => rng.next_u64(),
    };
    (0..len).map(&mut word).map(B64).collect()
}

fn extension(rng: &mut Rng, len: usize) -> Vec<B192> {
    let words = base(rng, 3 * len);
    let limbs = words.chunks_exact(3);
    limbs.map(|x| B192([x[0], x[1], x[2]])).collect()
}

fn zip<A: Copy, B: Copy, C>(a: &[A], b: &[B], f: impl Fn(A, B) -> C) -> Vec<C> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

#[test]
fn elements_of_k() {
    let mut rng = Rng::new(0x67_6635);
    for (rows, lengths) in kernels() {
        for len in lengths {
            let at = format!("{} {len}", rows.name());
            let (x, y) = (base(&mut rng, len), base(&mut rng, len));
            let mut out = vec![B64::ONE; len];
            rows.mul(&x, &y, &mut out);
            assert_eq!(out, zip(&x, &y, |x, y| x * y), "{at}");
            rows.square(&mut out);
            assert_eq!(out, zip(&x, &y, |x, y| (x * y).square()), "{at}");
            for c in base(&mut rng, 4) {
                let mut out = x.clone();
                rows.scale(c, &mut out);
                assert_eq!(out, zip(&x, &y, |x, _| c * x), "{at}");
                let mut out = y.clone();
                rows.add_scaled(c, &x, &mut out);
                assert_eq!(out, zip(&x, &y, |x, y| y + c * x), "{at}");
            }
            let sum = zip(&x, &y, |x, y| x * y).into_iter().sum();
            assert_eq!(rows.dot(&x, &y), sum, "{at}");
        }
    }
}

#[test]
fn elements_of_e() {
    let mut rng = Rng::new(0x67_6636);
    for (rows, lengths) in kernels() {
        for len in lengths {
            let at = format!("{} {len}", rows.name());
            let k = base(&mut rng, len);
            let (x, y) = (extension(&mut rng, len), extension(&mut rng, len));
            let mut out = vec![B192::ONE; len];
            rows.mul_extension(&x, &y, &mut out);
            assert_eq!(out, zip(&x, &y, |x, y| x * y), "{at}");
            for c in extension(&mut rng, 4) {
                let mut out = x.clone();
                rows.scale_extension(c, &mut out);
                assert_eq!(out, zip(&x, &y, |x, _| c * x), "{at}");
                let mut out = y.clone();
                rows.add_scaled_extension(c, &x, &mut out);
                assert_eq!(out, zip(&x, &y, |x, y| y + c * x), "{at}");
                let mut out = y.clone();
                rows.add_multiples(c, &k, &mut out);
                assert_eq!(out, zip(&k, &y, |k, y| y + c * k), "{at}");
                let mut out = x.clone();
                rows.scale_extension_by_base(c.0[0], &mut out);
                assert_eq!(out, zip(&x, &y, |x, _| x * c.0[0]), "{at}");
                let mut out = y.clone();
                rows.add_scaled_extension_by_base(c.0[0], &x, &mut out);
                assert_eq!(out, zip(&x, &y, |x, y| y + x * c.0[0]), "{at}");
            }
            let sum = zip(&x, &y, |x, y| x * y).into_iter().sum();
            assert_eq!(rows.dot_extension(&x, &y), sum, "{at}");
            let sum = zip(&k, &y, |k, y| y * k).into_iter().sum();
            assert_eq!(rows.dot_mixed(&k, &y), sum, "{at}");
        }
    }
}

#[test]
fn folds() {
    let mut rng = Rng::new(0x67_6637);
    for (rows, lengths) in kernels() {
        for len in lengths {
            let at = format!("{} {len}", rows.name());
            let (k, x) = (base(&mut rng, 2 * len), extension(&mut rng, 2 * len));
            for c in extension(&mut rng, 4) {
                let mut out = vec![B192::ONE; len];
                rows.fold_base(c, &k, &mut out);
                let pairs = k.chunks_exact(2);
                let want = pairs.map(|f| B192::from(f[0]) + c * (f[0] + f[1]));
                assert_eq!(out, want.collect::<Vec<_>>(), "{at}");
                rows.fold_extension(c, &x, &mut out);
                let pairs = x.chunks_exact(2);
                let want = pairs.map(|f| f[0] + c * (f[0] + f[1]));
                assert_eq!(out, want.collect::<Vec<_>>(), "{at}");
            }
        }
    }
}

#[test]
fn tables_of_eq() {
    let mut rng = Rng::new(0x67_6638);
    for (rows, _) in kernels() {
        for len in 0..8 {
            let (k, x) = (base(&mut rng, len), extension(&mut rng, len));
            let bits = |v: usize| (0..len).map(move |j| v >> j & 1);
            let (got, got_base) = (rows.eq_table(&x), rows.eq_table_base(&k));
            assert_eq!([got.len(), got_base.len()], [1 << len; 2]);
            for v in 0..1 << len {
                let factor = |(x, bit): (&B192, usize)| B192::new([1 ^ bit as u64, 0, 0]) + *x;
                let want: B192 = x.iter().zip(bits(v)).map(factor).product();
                assert_eq!(got[v], want, "{} {len} {v}", rows.name());
                let factor = |(x, bit): (&B64, usize)| B64(1 ^ bit as u64) + *x;
                let want: B64 = k.iter().zip(bits(v)).map(factor).product();
                assert_eq!(got_base[v], want, "{} {len} {v}", rows.name());
            }
            let scale = B192::new([5, 6, 7]);
            let mut scaled = vec![B192::ONE; 1 << len];
            rows.fill_eq_table(scale, &x, &mut scaled);
            assert_eq!(scaled, zip(&got, &got, |x, _| scale * x));
        }
    }
}

#[test]
fn every_kernel_is_available() {
    let names: Vec<_> = Rows::available().into_iter().map(Rows::name).collect();
    for choice in choices() {
        assert!(names.contains(&Rows::new(choice).name()), "{names:?}");
    }
    assert_eq!(names[0], Rows::new(Choice::best()).name());
}

#[test]
fn lengths_that_differ_panic() {
    let rows = Rows::new(Choice::best());
    let (base, extension) = ([B64::ONE; 9], [B192::ONE; 9]);
    let panics = |f: &mut dyn FnMut()| {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
        assert!(result.is_err());
    };
    panics(&mut || {
        rows.dot(&base, &base[..8]);
    });
    panics(&mut || {
        rows.dot_mixed(&base, &extension[..8]);
    });
    panics(&mut || {
        rows.dot_extension(&extension[..8], &extension);
    });
    panics(&mut || rows.mul(&base, &base, &mut [B64::ONE; 8]));
    panics(&mut || rows.mul_extension(&extension, &extension, &mut [B192::ONE; 8]));
    panics(&mut || rows.add_scaled(B64::ONE, &base, &mut [B64::ONE; 8]));
    panics(&mut || rows.fold_base(B192::ONE, &base, &mut [B192::ONE; 4]));
    panics(&mut || rows.fold_extension(B192::ONE, &extension, &mut [B192::ONE; 5]));
    panics(&mut || rows.fill_eq_table(B192::ONE, &extension[..2], &mut [B192::ONE; 3]));
}
