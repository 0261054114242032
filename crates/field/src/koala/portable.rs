//! Lanes for any CPU: arrays that the compiler turns into whatever vectors the target has.

use std::ops::{Add, Mul, Sub};

use lanework_arch::{Isa, Portable};

use super::KoalaBear;
use super::lanes::{Addend, Kernel, Lanes, Prepared, derived_operators, reduce_products};
use super::spec::{MONTGOMERY_MU, P};

const LEN: usize = 8;

/// Eight elements in plain Rust.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct PortableLanes([KoalaBear; LEN]);

derived_operators!(PortableLanes);

/// d mod p for d in [-p, p). Two's complement, since plain vector units lack an unsigned minimum.
#[inline(always)]
fn correct(d: i32) -> KoalaBear {
    KoalaBear::from_word_below_p((d + (P as i32 & (d >> 31))) as u32)
}

/// (product - q p) / 2^32 for q p = product mod 2^32, in (-p, p) if product < 2^32 p.
///
/// Products are of unsigned words: plain vector units have no others.
#[inline(always)]
fn reduce(product: u64, q: u32) -> i32 {
    (product >> 32) as i32 - ((q as u64 * P as u64) >> 32) as i32
}

#[inline(always)]
fn product(x: KoalaBear, y: KoalaBear) -> KoalaBear {
    let product = x.montgomery_word() as u64 * y.montgomery_word() as u64;
    correct(reduce(
        product,
        (product as u32).wrapping_mul(MONTGOMERY_MU),
    ))
}

impl PortableLanes {
    #[inline(always)]
    #[expect(
        clippy::unused_self,
        reason = "other lanes need a value to make another"
    )]
    fn zero(self) -> Self {
        Self([KoalaBear::ZERO; LEN])
    }

    #[inline(always)]
    fn map(self, f: impl Fn(i32) -> KoalaBear) -> Self {
        Self(std::array::from_fn(|i| {
            f(self.0[i].montgomery_word() as i32)
        }))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(i32, i32) -> KoalaBear) -> Self {
        Self(std::array::from_fn(|i| {
            f(
                self.0[i].montgomery_word() as i32,
                other.0[i].montgomery_word() as i32,
            )
        }))
    }
}

impl Add for PortableLanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |x, y| correct(x - P as i32 + y))
    }
}

impl Sub for PortableLanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |x, y| correct(x - y))
    }
}

impl Mul for PortableLanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| product(self.0[i], other.0[i])))
    }
}

impl Lanes for PortableLanes {
    type Token = Portable;
    type Multiplier = [Prepared; LEN];
    /// Low and high halves.
    type Products = ([u64; LEN], [u64; LEN]);
    const LEN: usize = LEN;
    const ISA: Isa = Isa::Portable;

    #[inline(always)]
    fn run<K: Kernel>(_: Portable, kernel: K) -> K::Output {
        kernel.run()
    }

    #[inline(always)]
    fn splat(_: Portable, value: KoalaBear) -> Self {
        Self([value; LEN])
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn load(_: Portable, source: *const KoalaBear) -> Self {
        // SAFETY: bounds: the caller's; an array of elements has their alignment.
        Self(unsafe { source.cast::<[KoalaBear; LEN]>().read() })
    }

    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait's contract is about pointers")]
    unsafe fn store(self, target: *mut KoalaBear) {
        // SAFETY: bounds: the caller's; an array of elements has their alignment.
        unsafe { target.cast::<[KoalaBear; LEN]>().write(self.0) }
    }

    #[inline(always)]
    fn halve(self) -> Self {
        // An odd x becomes (x + p) / 2.
        self.map(|x| {
            let half = (x >> 1) + (-(x & 1) & (P.div_ceil(2) as i32));
            KoalaBear::from_word_below_p(half as u32)
        })
    }

    #[inline(always)]
    fn cube(self) -> Self {
        self * self * self
    }

    #[inline(always)]
    fn add_cube(self, constant: &Addend) -> Self {
        self.map(|x| correct(x + constant.0)).cube()
    }

    #[inline(always)]
    fn mul_2exp_neg<const N: u32>(self) -> Self {
        const { assert!(1 <= N && N <= 24) };
        // b * 127 * 2^(24 - N) = y / 2 - y / 2^8 for y = b * 2^(32 - N).
        self.map(|x| {
            let y = (x as u32) << (32 - N);
            correct((x >> N) - (y >> 1) as i32 + (y >> 8) as i32)
        })
    }

    #[inline(always)]
    fn mul_prepared(self, constant: &Prepared) -> Self {
        self.mul_by(&[*constant; LEN])
    }

    #[inline(always)]
    fn prepare(self) -> [Prepared; LEN] {
        self.0.map(Prepared::new)
    }

    #[inline(always)]
    fn mul_by(self, multiplier: &[Prepared; LEN]) -> Self {
        Self(std::array::from_fn(|i| {
            let x = self.0[i].montgomery_word();
            let Prepared { word, quotient } = multiplier[i];
            correct(reduce(x as u64 * word as u64, x.wrapping_mul(quotient)))
        }))
    }

    #[inline(always)]
    fn no_products(_: Portable) -> Self::Products {
        ([0; LEN], [0; LEN])
    }

    #[inline(always)]
    fn add_products(
        (mut low, mut high): Self::Products,
        x: [Self; 2],
        y: [Self; 2],
    ) -> Self::Products {
        for i in 0..LEN {
            let word = |lanes: Self| u64::from(lanes.0[i].montgomery_word());
            let sum = word(x[0]) * word(y[0]) + word(x[1]) * word(y[1]);
            low[i] += sum & u64::from(u32::MAX);
            high[i] += sum >> 32;
        }
        (low, high)
    }

    #[inline(always)]
    fn total((low, high): Self::Products) -> KoalaBear {
        reduce_products(low.iter().sum(), high.iter().sum())
    }

    #[inline(always)]
    fn interleave<const BLOCK: usize>(self, other: Self) -> (Self, Self) {
        const { assert!(BLOCK.is_power_of_two()) };
        if BLOCK >= LEN {
            return (self, other);
        }
        let (a, b) = (self.0, other.0);
        let lower = |i: usize| if i & BLOCK == 0 { a[i] } else { b[i - BLOCK] };
        let upper = |i: usize| if i & BLOCK == 0 { a[i + BLOCK] } else { b[i] };
        (
            Self(std::array::from_fn(lower)),
            Self(std::array::from_fn(upper)),
        )
    }
}
