//! The switch: which kernels there are, and the safe functions over them that take any number of
//! nonces and confirm every hit by the definition.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Duration;

#[cfg(target_arch = "x86_64")]
use lanework_arch::{Avx2, Avx512};
use lanework_arch::{Choice, Isa};
#[cfg(target_arch = "aarch64")]
use lanework_arch::{Neon, NeonSha3};

#[cfg(target_arch = "aarch64")]
use super::aarch64_neon::{NeonSearch, NeonSha3Search};
#[cfg(not(target_arch = "x86_64"))]
use super::portable::ScalarSearch;
use super::precomputed::{Constants, Precomputed};
use super::scalar::validate;
#[cfg(target_arch = "x86_64")]
use super::x86_64_scalar::ScalarSearch;
#[cfg(target_arch = "x86_64")]
use super::x86_avx2::Avx2Search;
#[cfg(target_arch = "x86_64")]
use super::x86_avx512::Avx512Search;
use crate::{Error, Root, Work};

/// How long it may take to find the fastest kernel, with some reserve below a twentieth of a second.
const TUNING: Duration = Duration::from_millis(40);

/// The most nonces in a bundle of any kernel.
const BUNDLE_MAX: usize = 16;

/// A search kernel, which exists only where its instructions do.
#[derive(Copy, Clone)]
pub struct Kernel(Implementation);

/// What an instruction set offers. Implementations hold the token that proves it.
pub(super) trait Backend {
    fn name(&self) -> &'static str;

    fn isa(&self) -> Isa;

    /// The nonces in a vector.
    fn lanes(&self) -> usize;

    /// The consecutive nonces in a bundle, at most [`BUNDLE_MAX`].
    fn bundle_len(&self) -> usize;

    /// The first of `bundles` consecutive bundles from `start` on in which there is a value of at least
    /// `threshold`.
    fn scan(&self, constants: &Constants, start: u64, bundles: u64, threshold: u64) -> Option<u64>;

    /// The values of consecutive nonces from `start` on, a whole number of bundles.
    fn values(&self, constants: &Constants, start: u64, out: &mut [u64]);
}

#[derive(Copy, Clone)]
enum Implementation {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512Search<8>),
    #[cfg(target_arch = "x86_64")]
    Avx512Vl(Avx512Search<4>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Search),
    #[cfg(target_arch = "aarch64")]
    NeonSha3(NeonSha3Search),
    #[cfg(target_arch = "aarch64")]
    Neon(NeonSearch),
    Scalar(ScalarSearch),
}

impl Implementation {
    /// The names of all kernels on any machine, the one that is usually fastest first.
    const NAMES: [&str; 6] = ["avx512", "avx512vl", "avx2", "neon-sha3", "neon", "scalar"];

    fn new(name: &str, choice: Choice) -> Option<Self> {
        match name {
            #[cfg(target_arch = "x86_64")]
            "avx512" => Avx512::new(choice).map(Avx512Search::new).map(Self::Avx512),
            #[cfg(target_arch = "x86_64")]
            "avx512vl" => Avx512::new(choice)
                .map(Avx512Search::new)
                .map(Self::Avx512Vl),
            #[cfg(target_arch = "x86_64")]
            "avx2" => Avx2::new(choice).map(Avx2Search::new).map(Self::Avx2),
            #[cfg(target_arch = "aarch64")]
            "neon-sha3" => NeonSha3::new(choice)
                .map(NeonSha3Search::new)
                .map(Self::NeonSha3),
            #[cfg(target_arch = "aarch64")]
            "neon" => Neon::new(choice).map(NeonSearch::new).map(Self::Neon),
            "scalar" => Some(Self::Scalar(ScalarSearch)),
            _ => None,
        }
    }

    fn backend(&self) -> &dyn Backend {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(search) => search,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vl(search) => search,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(search) => search,
            #[cfg(target_arch = "aarch64")]
            Self::NeonSha3(search) => search,
            #[cfg(target_arch = "aarch64")]
            Self::Neon(search) => search,
            Self::Scalar(scalar) => scalar,
        }
    }
}

impl Kernel {
    /// The kernel that is fastest on this machine, as [`autotune`](crate::autotune) found out when it
    /// was first asked.
    pub fn best() -> Self {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| crate::autotune(TUNING))
    }

    /// The kernels of this machine, the one that is usually fastest first.
    pub fn available() -> Vec<Self> {
        Self::available_in(Choice::best())
    }

    /// The kernels that `choice` has the instructions for, the one that is usually fastest first.
    pub fn available_in(choice: Choice) -> Vec<Self> {
        let names = Implementation::NAMES.into_iter();
        names
            .filter_map(|name| Implementation::new(name, choice))
            .map(Self)
            .collect()
    }

    /// The kernel that every machine runs.
    pub(crate) fn scalar() -> Self {
        Self(Implementation::Scalar(ScalarSearch))
    }

    /// The kernel with this name: `avx512`, `avx512vl`, `avx2`, `neon`, `neon-sha3` or `scalar`.
    ///
    /// # Errors
    /// If there is no such kernel, or this machine does not run it.
    pub fn from_name(name: &str) -> Result<Self, Error> {
        match Implementation::NAMES
            .into_iter()
            .find(|&known| known == name)
        {
            None => Err(Error::UnknownKernel {
                name: name.to_owned(),
            }),
            Some(name) => Implementation::new(name, Choice::best())
                .map(Self)
                .ok_or(Error::MissingKernel { name }),
        }
    }

    /// The names of the kernels of this machine, for messages.
    pub(crate) fn names() -> String {
        let names: Vec<_> = Self::available().into_iter().map(Self::name).collect();
        names.join(", ")
    }

    /// The name.
    pub fn name(self) -> &'static str {
        self.0.backend().name()
    }

    /// The instruction set.
    pub fn isa(self) -> Isa {
        self.0.backend().isa()
    }

    /// The nonces that one instruction works on.
    pub fn lanes(self) -> u64 {
        self.0.backend().lanes() as u64
    }

    /// The consecutive nonces that the kernel works on at a time.
    pub fn bundle_len(self) -> u64 {
        self.0.backend().bundle_len() as u64
    }

    /// The first nonce with a value of at least `threshold` among `count` nonces from `start` on. After
    /// `u64::MAX` comes 0.
    pub fn search(
        self,
        precomputed: &Precomputed,
        start: u64,
        count: u64,
        threshold: u64,
    ) -> Option<u64> {
        self.find(precomputed, start, count, threshold)
            .map(|work| work.nonce)
    }

    /// The same, with the value.
    pub(crate) fn find(
        self,
        precomputed: &Precomputed,
        mut start: u64,
        mut count: u64,
        threshold: u64,
    ) -> Option<Work> {
        let bundle_len = self.bundle_len();
        while count > 0 {
            // The last bundle may reach beyond the window; a hit there is not one.
            let bundles = count.div_ceil(bundle_len);
            let bundle =
                self.0
                    .backend()
                    .scan(&precomputed.constants, start, bundles, threshold)?;
            let skipped = bundle * bundle_len;
            start = start.wrapping_add(skipped);
            count -= skipped;
            let len = count.min(bundle_len);
            if let Some(work) = resolve_hit(&precomputed.root, start, len, threshold) {
                return Some(work);
            }
            start = start.wrapping_add(len);
            count -= len;
        }
        None
    }

    /// Writes the values of consecutive nonces from `start` on. After `u64::MAX` comes 0.
    pub fn difficulties(self, precomputed: &Precomputed, mut start: u64, out: &mut [u64]) {
        let bundle_len = self.bundle_len() as usize;
        let (whole, rest) = out.split_at_mut(out.len() - out.len() % bundle_len);
        self.0
            .backend()
            .values(&precomputed.constants, start, whole);
        start = start.wrapping_add(whole.len() as u64);
        let mut bundle = [0; BUNDLE_MAX];
        let bundle = &mut bundle[..bundle_len];
        if !rest.is_empty() {
            self.0
                .backend()
                .values(&precomputed.constants, start, bundle);
            rest.copy_from_slice(&bundle[..rest.len()]);
        }
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Kernel {}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.name()).finish()
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kernel {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::from_name(name)
    }
}

/// The first of `bundle_len` works from `first_nonce` on that the definition finds to have a value of at
/// least `threshold`, or `None` if whoever reported a hit among them was wrong.
pub fn resolve_hit(root: &Root, first_nonce: u64, bundle_len: u64, threshold: u64) -> Option<Work> {
    (0..bundle_len).find_map(|i| {
        let nonce = first_nonce.wrapping_add(i);
        let difficulty = validate(root, nonce);
        (difficulty >= threshold).then_some(Work { nonce, difficulty })
    })
}
