//! The switch: which back end encodes.

use std::sync::Arc;

#[cfg(target_arch = "aarch64")]
use lanework_arch::Neon;
use lanework_arch::cpu::Caches;
#[cfg(target_arch = "x86_64")]
use lanework_arch::{Avx2, Avx512, Avx512Ifma};
use lanework_arch::{Choice, Portable};
use lanework_field::KoalaBear;
#[cfg(target_arch = "aarch64")]
use lanework_field::koala::lanes::NeonLanes;
use lanework_field::koala::lanes::PortableLanes;
#[cfg(target_arch = "x86_64")]
use lanework_field::koala::lanes::{Avx2Lanes, Avx512Lanes};

use super::body::Body;
use super::small::Small;
use super::vector::{Montgomery, Vector};
#[cfg(target_arch = "x86_64")]
use super::x86_avx512_ifma::Ifma;
use crate::plan::Passes;

/// A back end with its tables for one shape of message and one coset.
pub(crate) trait Encode: Send + Sync {
    /// The name in reports: `avx512-ifma`, `avx512`, `avx2`, `neon`, `portable`.
    fn name(&self) -> &'static str;

    /// Elements of working memory.
    fn scratch_len(&self) -> usize;

    /// Writes the codeword of `message`. The lengths have been checked.
    fn encode(&self, message: &[KoalaBear], codeword: &mut [KoalaBear], scratch: &mut [KoalaBear]);
}

/// What to encode: 2^`log_rows` elements to 2^`log_inv_rate` times as many, on `shift` H.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub log_rows: u32,
    pub log_inv_rate: u32,
    pub shift: KoalaBear,
}

impl Shape {
    /// The cosets of the subgroup of order 2^`log_rows` that make up the codeword, in order.
    pub(crate) fn cosets(self) -> impl Iterator<Item = KoalaBear> {
        let root = KoalaBear::two_adic_generator(self.log_rows + self.log_inv_rate);
        (0..1 << self.log_inv_rate).map(move |c| {
            self.shift * root.pow(super::scalar::reversed(c, self.log_inv_rate) as u64)
        })
    }
}

impl<V: Vector> Encode for Body<V>
where
    Self: Send + Sync,
{
    fn name(&self) -> &'static str {
        V::NAME
    }

    fn scratch_len(&self) -> usize {
        Self::scratch_len(self)
    }

    fn encode(&self, message: &[KoalaBear], codeword: &mut [KoalaBear], scratch: &mut [KoalaBear]) {
        Self::encode(self, message, codeword, scratch);
    }
}

/// The back end for `choice`: the widest one whose vectors the message fills.
pub(crate) fn encoder(shape: Shape, choice: Choice, caches: Caches) -> Arc<dyn Encode> {
    let vectors = [
        #[cfg(target_arch = "x86_64")]
        Avx512Ifma::new(choice).and_then(|token| vector::<Ifma>(token, shape, caches)),
        #[cfg(target_arch = "x86_64")]
        Avx512::new(choice)
            .and_then(|token| vector::<Montgomery<Avx512Lanes>>(token, shape, caches)),
        #[cfg(target_arch = "x86_64")]
        Avx2::new(choice).and_then(|token| vector::<Montgomery<Avx2Lanes>>(token, shape, caches)),
        #[cfg(target_arch = "aarch64")]
        Neon::new(choice).and_then(|token| vector::<Montgomery<NeonLanes>>(token, shape, caches)),
        vector::<Montgomery<PortableLanes>>(Portable, shape, caches),
    ];
    let small = || Arc::new(Small::new(shape)) as Arc<dyn Encode>;
    vectors.into_iter().flatten().next().unwrap_or_else(small)
}

fn vector<V: Vector + 'static>(
    token: V::Token,
    shape: Shape,
    caches: Caches,
) -> Option<Arc<dyn Encode>>
where
    Body<V>: Send + Sync,
{
    let passes = Passes::new(shape.log_rows, V::LOG_LEN, size_of::<V::Cell>(), caches)?;
    Some(Arc::new(Body::<V>::new(token, shape, passes)))
}
