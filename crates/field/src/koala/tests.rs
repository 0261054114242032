//! Every lane type against the scalar definition.

#[cfg(target_arch = "x86_64")]
use lanework_arch::{Avx2, Avx512};
use lanework_arch::{Choice, Portable};

use super::KoalaBear;
use super::lanes::*;
use super::spec::P;

fn values(len: usize, seed: u64) -> Vec<KoalaBear> {
    let edges = [
        0,
        1,
        2,
        P - 1,
        P - 2,
        P / 2,
        P / 2 + 1,
        1 << 24,
        (1 << 24) - 1,
    ];
    let mut x = seed;
    (0..len)
        .map(|i| {
            x = x
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            if x >> 61 == 0 {
                KoalaBear::from_montgomery_word(edges[(x >> 33) as usize % edges.len()]).unwrap()
            } else if i < edges.len() {
                KoalaBear::from_montgomery_word(edges[i]).unwrap()
            } else {
                KoalaBear::from_u64(x >> 20)
            }
        })
        .collect()
}

struct Suite<L: Lanes>(L::Token);
impl<L: Lanes> Kernel for Suite<L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let n = 160;
        let (a, b) = (values(n, 1), values(n, 99));
        let half = KoalaBear::new(2).inverse().unwrap();
        for x in (0..n).step_by(L::LEN) {
            for y in (0..n).step_by(L::LEN) {
                let (u, v) = (
                    L::from_slice(self.0, &a[x..]),
                    L::from_slice(self.0, &b[y..]),
                );
                let check = |got: L, want: &dyn Fn(KoalaBear, KoalaBear) -> KoalaBear| {
                    let mut out = vec![KoalaBear::ZERO; L::LEN];
                    got.to_slice(&mut out);
                    let want: Vec<_> = (0..L::LEN).map(|i| want(a[x + i], b[y + i])).collect();
                    assert_eq!(out, want);
                };
                check(u + v, &|a, b| a + b);
                check(u - v, &|a, b| a - b);
                check(u * v, &|a, b| a * b);
                check(-u, &|a, _| -a);
                check(u.double(), &|a, _| a + a);
                check(u.halve(), &|a, _| a * half);
                check(u.square(), &|a, _| a * a);
                check(u.cube(), &|a, _| a * a * a);
                check(u.add_cube(&Addend::new(b[y])), &|a, _| (a + b[y]).cube());
                check(u.mul_prepared(&Prepared::new(b[y])), &|a, _| a * b[y]);
                check(u.mul_by(&v.prepare()), &|a, b| a * b);
                check(u.mul_2exp_neg::<1>(), &|a, _| a * half);
                check(u.mul_2exp_neg::<8>(), &|a, _| a * half.pow(8));
                check(u.mul_2exp_neg::<24>(), &|a, _| a * half.pow(24));
                check(L::sum([u, v, u, v, v]), &|a, b| a + b + a + b + b);
            }
        }
        let square: Vec<_> = (0..L::LEN * L::LEN)
            .map(|i| KoalaBear::new(i as u32))
            .collect();
        let mut block: Vec<L> = square
            .chunks(L::LEN)
            .map(|r| L::from_slice(self.0, r))
            .collect();
        L::transpose(&mut block);
        let mut row = vec![KoalaBear::ZERO; L::LEN];
        for (j, column) in block.iter().enumerate() {
            column.to_slice(&mut row);
            for i in 0..L::LEN {
                assert_eq!(row[i], square[i * L::LEN + j]);
            }
        }
    }
}

#[test]
fn lanes_equal_the_scalar_definition() {
    PortableLanes::run(Portable, Suite::<PortableLanes>(Portable));
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(t) = Avx2::new(Choice::best()) {
            Avx2Lanes::run(t, Suite::<Avx2Lanes>(t));
        }
        if let Some(t) = Avx512::new(Choice::best()) {
            Avx512Lanes::run(t, Suite::<Avx512Lanes>(t));
        }
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(t) = lanework_arch::Neon::new(Choice::best()) {
        NeonLanes::run(t, Suite::<NeonLanes>(t));
    }
}
