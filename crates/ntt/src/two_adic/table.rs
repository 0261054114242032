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

use super::body::{Encoder, Transformer};
use super::small::{SmallEncoder, SmallTransform};
use super::transform::Direction;
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
    fn encode(
        &self,
        message: &[KoalaBear],
        codeword: &mut [KoalaBear],
        scratch: &mut [KoalaBear],
        stores: Stores,
    );
}

/// How a codeword is written: into the caches as well, or past them where the back end can.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stores {
    Caching,
    Streaming,
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

/// Which sums a transform computes: `scale` * sum of `y_i` (`shift` root^j)^i.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Sums {
    /// The number of elements is 2^`log_len`.
    pub log_len: u32,
    /// Which root: that of the order of the transform, or its inverse.
    pub direction: Direction,
    pub shift: KoalaBear,
    pub scale: KoalaBear,
}

impl Sums {
    /// The coefficients of a polynomial from its values at the roots of unity.
    pub(crate) fn coefficients(log_len: u32) -> Self {
        let scale = KoalaBear::from_u64(1 << log_len).inverse();
        let scale = scale.unwrap_or(KoalaBear::ZERO);
        Self {
            log_len,
            direction: Direction::Inverse,
            shift: KoalaBear::ONE,
            scale,
        }
    }

    /// The values of a polynomial on a coset from its coefficients.
    pub(crate) fn values(log_len: u32, shift: KoalaBear) -> Self {
        Self {
            log_len,
            direction: Direction::Forward,
            shift,
            scale: KoalaBear::ONE,
        }
    }

    /// The root of unity of order 2^`log_order`.
    pub(crate) fn root(self, log_order: u32) -> KoalaBear {
        let root = KoalaBear::two_adic_generator(log_order);
        match self.direction {
            Direction::Forward => root,
            Direction::Inverse => root.pow((1 << log_order) - 1),
        }
    }
}

/// A back end with its tables for one transform, from natural to bit-reversed order.
pub(crate) trait Transformation: Send + Sync {
    /// See [`Encode::name`].
    fn name(&self) -> &'static str;

    /// See [`Encode::scratch_len`].
    fn scratch_len(&self) -> usize;

    /// Transforms in place. The lengths have been checked.
    fn transform(&self, values: &mut [KoalaBear], scratch: &mut [KoalaBear]);
}

impl<V: Vector> Encode for Encoder<V> {
    fn name(&self) -> &'static str {
        V::NAME
    }

    fn scratch_len(&self) -> usize {
        Self::scratch_len(self)
    }

    fn encode(
        &self,
        message: &[KoalaBear],
        codeword: &mut [KoalaBear],
        scratch: &mut [KoalaBear],
        stores: Stores,
    ) {
        Self::encode(self, message, codeword, scratch, stores);
    }
}

impl<V: Vector> Transformation for Transformer<V> {
    fn name(&self) -> &'static str {
        V::NAME
    }

    fn scratch_len(&self) -> usize {
        Self::scratch_len(self)
    }

    fn transform(&self, values: &mut [KoalaBear], scratch: &mut [KoalaBear]) {
        Self::transform(self, values, scratch);
    }
}

/// Something to compute, for whichever back end is chosen.
trait Task: Copy {
    type Kernel: ?Sized;

    fn log_len(self) -> u32;
    fn with_vectors<V: Vector + 'static>(
        self,
        token: V::Token,
        passes: Passes,
    ) -> Arc<Self::Kernel>;
    fn without_vectors(self) -> Arc<Self::Kernel>;
}

impl Task for Shape {
    type Kernel = dyn Encode;

    fn log_len(self) -> u32 {
        self.log_rows
    }

    fn with_vectors<V: Vector + 'static>(self, token: V::Token, passes: Passes) -> Arc<dyn Encode> {
        Arc::new(Encoder::<V>::new(token, self, passes))
    }

    fn without_vectors(self) -> Arc<dyn Encode> {
        Arc::new(SmallEncoder::new(self))
    }
}

impl Task for Sums {
    type Kernel = dyn Transformation;

    fn log_len(self) -> u32 {
        self.log_len
    }

    fn with_vectors<V: Vector + 'static>(
        self,
        token: V::Token,
        passes: Passes,
    ) -> Arc<dyn Transformation> {
        Arc::new(Transformer::<V>::new(token, self, passes))
    }

    fn without_vectors(self) -> Arc<dyn Transformation> {
        Arc::new(SmallTransform::new(self))
    }
}

/// The encoder for `choice`.
pub(crate) fn encoder(shape: Shape, choice: Choice, caches: Caches) -> Arc<dyn Encode> {
    back_end(shape, choice, caches)
}

/// The transform for `choice`.
pub(crate) fn transformation(
    sums: Sums,
    choice: Choice,
    caches: Caches,
) -> Arc<dyn Transformation> {
    back_end(sums, choice, caches)
}

/// The back end for `choice`: the widest one whose vectors the elements fill.
fn back_end<T: Task>(task: T, choice: Choice, caches: Caches) -> Arc<T::Kernel> {
    #[cfg(target_arch = "x86_64")]
    let wide = wide::<Ifma, _>(task, Avx512Ifma::new(choice), caches)
        .or_else(|| wide::<Montgomery<Avx512Lanes>, _>(task, Avx512::new(choice), caches))
        .or_else(|| wide::<Montgomery<Avx2Lanes>, _>(task, Avx2::new(choice), caches));
    #[cfg(target_arch = "aarch64")]
    let wide = wide::<Montgomery<NeonLanes>, _>(task, Neon::new(choice), caches);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let wide = None;
    wide.or_else(|| self::wide::<Montgomery<PortableLanes>, _>(task, Some(Portable), caches))
        .unwrap_or_else(|| task.without_vectors())
}

fn wide<V: Vector + 'static, T: Task>(
    task: T,
    token: Option<V::Token>,
    caches: Caches,
) -> Option<Arc<T::Kernel>> {
    let passes = Passes::new(task.log_len(), V::LOG_LEN, size_of::<V::Cell>(), caches)?;
    Some(task.with_vectors::<V>(token?, passes))
}
