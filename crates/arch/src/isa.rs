//! Which instruction sets this CPU runs, which of them to use, and the tokens that prove it.

use std::fmt;
use std::str::FromStr;

/// An instruction-set bundle, from the plainest to the widest.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Safe Rust with the compiler's baseline for the target.
    Portable,
    /// 64-bit Arm with Advanced SIMD.
    Neon,
    /// AVX2 and BMI2.
    Avx2,
    /// AVX-512 F, BW, DQ and VL (and the AVX2 bundle).
    Avx512,
}

impl Isa {
    /// Every bundle, plainest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Neon, Self::Avx2, Self::Avx512];

    /// The name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this CPU runs the bundle.
    pub fn detected(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.detected()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[allow(
                unreachable_patterns,
                reason = "which bundles exist depends on the target"
            )]
            _ => false,
        }
    }

    /// The features that kernels may use inside this bundle.
    const fn features(self) -> Features {
        match self {
            Self::Portable => Features::NONE,
            Self::Neon => Features::NONE.with(Feature::Pmull).with(Feature::Sha3),
            Self::Avx2 => Features::NONE
                .with(Feature::Gfni)
                .with(Feature::Vpclmulqdq)
                .with(Feature::Pclmulqdq),
            Self::Avx512 => Features::NONE
                .with(Feature::Gfni)
                .with(Feature::Vpclmulqdq)
                .with(Feature::Ifma)
                .with(Feature::Vbmi)
                .with(Feature::Vbmi2)
                .with(Feature::Pclmulqdq),
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An instruction-set extension that a kernel may use inside a bundle.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Byte-wise products and affine maps over GF(2^8).
    Gfni,
    /// Carry-less multiplication on 256-bit and 512-bit vectors.
    Vpclmulqdq,
    /// 52-bit integer multiply-add.
    Ifma,
    /// Byte permutes.
    Vbmi,
    /// Byte compress and funnel shifts.
    Vbmi2,
    /// Carry-less multiplication on 128-bit vectors.
    Pclmulqdq,
    /// Arm carry-less multiplication of 64-bit words.
    Pmull,
    /// Arm SHA-3 instructions (`xar`, `eor3`).
    Sha3,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Self; 8] = [
        Self::Gfni,
        Self::Vpclmulqdq,
        Self::Ifma,
        Self::Vbmi,
        Self::Vbmi2,
        Self::Pclmulqdq,
        Self::Pmull,
        Self::Sha3,
    ];

    /// The name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfni => "gfni",
            Self::Vpclmulqdq => "vpclmulqdq",
            Self::Ifma => "ifma",
            Self::Vbmi => "vbmi",
            Self::Vbmi2 => "vbmi2",
            Self::Pclmulqdq => "pclmulqdq",
            Self::Pmull => "pmull",
            Self::Sha3 => "sha3",
        }
    }

    /// Whether this CPU has the feature.
    pub fn detected(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return match self {
            Self::Gfni => is_x86_feature_detected!("gfni"),
            Self::Vpclmulqdq => is_x86_feature_detected!("vpclmulqdq"),
            Self::Ifma => is_x86_feature_detected!("avx512ifma"),
            Self::Vbmi => is_x86_feature_detected!("avx512vbmi"),
            Self::Vbmi2 => is_x86_feature_detected!("avx512vbmi2"),
            Self::Pclmulqdq => is_x86_feature_detected!("pclmulqdq"),
            Self::Pmull | Self::Sha3 => false,
        };
        #[cfg(target_arch = "aarch64")]
        return match self {
            Self::Pmull => std::arch::is_aarch64_feature_detected!("pmull"),
            Self::Sha3 => std::arch::is_aarch64_feature_detected!("sha3"),
            _ => false,
        };
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return false;
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of [`Feature`]s.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Features(u32);

impl Features {
    const NONE: Self = Self(0);

    const fn with(self, feature: Feature) -> Self {
        Self(self.0 | 1 << feature as u32)
    }

    const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(1 << feature as u32))
    }

    /// Whether the set holds `feature`.
    pub const fn contains(self, feature: Feature) -> bool {
        self.0 >> feature as u32 & 1 == 1
    }

    /// The features in the set.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |&f| self.contains(f))
    }
}

/// Why a text does not name a usable [`Choice`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No bundle has this name.
    #[error(
        "unknown instruction set: {name:?}\nhint: this machine has {}",
        Choice::available_text()
    )]
    UnknownIsa {
        /// The name as given.
        name: String,
    },
    /// The CPU (or the target of this build) lacks the bundle.
    #[error(
        "this machine does not run {isa}\nhint: it has {}",
        Choice::available_text()
    )]
    MissingIsa {
        /// The bundle asked for.
        isa: Isa,
    },
    /// A mask entry is not of the form `-feature`, or names a feature the bundle does not have.
    #[error(
        "unknown feature mask for {isa}: {mask:?}\nhint: {}",
        mask_hint(*isa)
    )]
    UnknownMask {
        /// The bundle asked for.
        isa: Isa,
        /// The mask entry as given.
        mask: String,
    },
    /// The mask removes a feature that this CPU lacks.
    #[error(
        "this machine has no {feature} to leave out\nhint: it has {}",
        Choice::available_text()
    )]
    MissingFeature {
        /// The feature asked for.
        feature: Feature,
    },
}

fn mask_hint(isa: Isa) -> String {
    let names: Vec<_> = isa.features().iter().map(Feature::name).collect();
    if names.is_empty() {
        format!("{isa} has no features to leave out: write {isa} alone")
    } else {
        format!("write {isa},-NAME with NAME one of: {}", names.join(", "))
    }
}

/// An instruction-set bundle with the features to use inside it: what kernels are chosen by.
///
/// A `Choice` exists only for what this CPU runs, so it can be turned into tokens. It is written
/// `avx512`, `avx2`, or with a mask that lowers it: `avx512,-ifma`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    isa: Isa,
    features: Features,
}

impl Choice {
    /// The widest bundle of this CPU with all its features.
    pub fn best() -> Self {
        let isa = *Isa::ALL
            .iter()
            .rev()
            .find(|isa| isa.detected())
            .unwrap_or(&Isa::Portable);
        Self::of(isa).unwrap_or(Self::portable())
    }

    /// Plain Rust, which every CPU runs.
    pub const fn portable() -> Self {
        Self {
            isa: Isa::Portable,
            features: Features::NONE,
        }
    }

    /// The bundle `isa` with all features this CPU has inside it, or `None` if the CPU lacks it.
    pub fn of(isa: Isa) -> Option<Self> {
        isa.detected().then(|| {
            let features = isa
                .features()
                .iter()
                .filter(|f| f.detected())
                .fold(Features::NONE, Features::with);
            Self { isa, features }
        })
    }

    /// Every bundle of this CPU, plainest first, each with all its features.
    pub fn available() -> Vec<Self> {
        Isa::ALL.into_iter().filter_map(Self::of).collect()
    }

    /// The bundle.
    pub const fn isa(self) -> Isa {
        self.isa
    }

    /// The features that kernels may use.
    pub const fn features(self) -> Features {
        self.features
    }

    /// Whether kernels may use `feature`.
    pub const fn has(self, feature: Feature) -> bool {
        self.features.contains(feature)
    }

    /// The same choice without `feature`.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self {
            isa: self.isa,
            features: self.features.without(feature),
        }
    }

    fn available_text() -> String {
        let list: Vec<_> = Self::available()
            .into_iter()
            .map(|choice| {
                let features: Vec<_> = choice.features.iter().map(Feature::name).collect();
                if features.is_empty() {
                    choice.isa.name().to_owned()
                } else {
                    format!("{} ({})", choice.isa, features.join(" "))
                }
            })
            .collect();
        list.join(", ")
    }
}

impl fmt::Display for Choice {
    /// Writes the bundle and the features of this CPU that the choice leaves out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.isa.name())?;
        if let Some(full) = Self::of(self.isa) {
            for feature in full.features.iter().filter(|&x| !self.has(x)) {
                write!(f, ",-{feature}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let mut parts = text.split(',').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let isa = Isa::ALL
            .into_iter()
            .find(|isa| isa.name() == name)
            .ok_or_else(|| ChoiceError::UnknownIsa {
                name: name.to_owned(),
            })?;
        let mut choice = Self::of(isa).ok_or(ChoiceError::MissingIsa { isa })?;
        for mask in parts {
            let feature = mask
                .strip_prefix('-')
                .and_then(|name| isa.features().iter().find(|f| f.name() == name))
                .ok_or_else(|| ChoiceError::UnknownMask {
                    isa,
                    mask: mask.to_owned(),
                })?;
            if !feature.detected() {
                return Err(ChoiceError::MissingFeature { feature });
            }
            choice = choice.without(feature);
        }
        Ok(choice)
    }
}

macro_rules! token {
    ($(#[$doc:meta])* $name:ident: $($need:expr),+) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug)]
        pub struct $name(());

        impl $name {
            /// The token, if `choice` includes these instructions.
            #[inline]
            pub fn new(choice: Choice) -> Option<Self> {
                let needs: &[fn(Choice) -> bool] = &[$($need),+];
                needs.iter().all(|need| need(choice)).then_some(Self(()))
            }
        }
    };
}

token!(
    /// Proof that this CPU runs the AVX2 bundle: `avx2`, `bmi2`.
    Avx2: |c| matches!(c.isa, Isa::Avx2 | Isa::Avx512)
);
token!(
    /// Proof that this CPU runs the AVX-512 bundle: `avx512f`, `avx512bw`, `avx512dq`, `avx512vl`.
    Avx512: |c| c.isa == Isa::Avx512
);
token!(
    /// Proof that this CPU runs the AVX-512 bundle with `avx512ifma`.
    Avx512Ifma: |c| c.isa == Isa::Avx512, |c| c.has(Feature::Ifma)
);
token!(
    /// Proof that this CPU runs the AVX2 bundle with `pclmulqdq`.
    Avx2Pclmul: |c| matches!(c.isa, Isa::Avx2 | Isa::Avx512), |c| c.has(Feature::Pclmulqdq)
);
token!(
    /// Proof that this CPU runs the AVX2 bundle with `vpclmulqdq` (and `pclmulqdq`).
    Avx2Vpclmul: |c| matches!(c.isa, Isa::Avx2 | Isa::Avx512), |c| c.has(Feature::Vpclmulqdq), |c| c.has(Feature::Pclmulqdq)
);
token!(
    /// Proof that this CPU runs the AVX-512 bundle with `vpclmulqdq` (and `pclmulqdq`).
    Avx512Vpclmul: |c| c.isa == Isa::Avx512, |c| c.has(Feature::Vpclmulqdq), |c| c.has(Feature::Pclmulqdq)
);
token!(
    /// Proof that this CPU runs the AVX2 bundle with `gfni`.
    Avx2Gfni: |c| matches!(c.isa, Isa::Avx2 | Isa::Avx512), |c| c.has(Feature::Gfni)
);
token!(
    /// Proof that this CPU runs the AVX-512 bundle with `gfni` and `avx512vbmi`.
    Avx512Gfni: |c| c.isa == Isa::Avx512, |c| c.has(Feature::Gfni), |c| c.has(Feature::Vbmi)
);
token!(
    /// Proof that this CPU runs Advanced SIMD: `neon`.
    Neon: |c| c.isa == Isa::Neon
);

token!(
    /// Proof that this CPU runs Advanced SIMD with carry-less products of 64-bit words.
    NeonPmull: |c| c.isa == Isa::Neon, |c| c.has(Feature::Pmull)
);
token!(
    /// Proof that this CPU runs Advanced SIMD with the SHA-3 instructions.
    NeonSha3: |c| c.isa == Isa::Neon, |c| c.has(Feature::Sha3)
);

/// The token of plain Rust, which every CPU runs.
#[derive(Copy, Clone, Debug, Default)]
pub struct Portable;

impl Avx512Ifma {
    /// The bundle alone.
    #[inline]
    pub const fn avx512(self) -> Avx512 {
        Avx512(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip() {
        for choice in Choice::available() {
            assert_eq!(choice.to_string().parse(), Ok(choice));
            for feature in choice.features().iter() {
                let lowered = choice.without(feature);
                assert_ne!(lowered, choice);
                assert_eq!(lowered.to_string(), format!("{},-{feature}", choice.isa()));
                assert_eq!(lowered.to_string().parse(), Ok(lowered));
            }
        }
    }

    #[test]
    fn what_the_machine_lacks_is_an_error_that_lists_what_it_has() {
        for text in [
            "",
            "sse9",
            "avx512+ifma",
            "portable,-ifma",
            "portable,gfni",
            "PORTABLE",
        ] {
            let error = text.parse::<Choice>().expect_err(text);
            assert!(error.to_string().contains("hint:"), "{error}");
        }
        let error = "portable,-x".parse::<Choice>().expect_err("no such mask");
        assert_eq!(
            error.to_string(),
            "unknown feature mask for portable: \"-x\"\n\
             hint: portable has no features to leave out: write portable alone"
        );
        let error = "\u{1b}[31m".parse::<Choice>().expect_err("no such set");
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
        for isa in Isa::ALL.into_iter().filter(|isa| !isa.detected()) {
            assert_eq!(
                isa.name().parse::<Choice>(),
                Err(ChoiceError::MissingIsa { isa })
            );
        }
    }

    #[test]
    fn tokens_follow_the_choice() {
        let portable = Choice::portable();
        assert!(Avx2::new(portable).is_none() && Avx512::new(portable).is_none());
        assert!(Neon::new(portable).is_none() && Avx512Ifma::new(portable).is_none());
        assert!(NeonSha3::new(portable).is_none());
        if let Some(choice) = Choice::of(Isa::Avx512) {
            assert!(Avx2::new(choice).is_some() && Avx512::new(choice).is_some());
            assert!(Avx512Ifma::new(choice.without(Feature::Ifma)).is_none());
        }
        if let Some(choice) = Choice::of(Isa::Neon) {
            assert_eq!(NeonSha3::new(choice).is_some(), Feature::Sha3.detected());
            assert!(NeonSha3::new(choice.without(Feature::Sha3)).is_none());
        }
    }

    /// What the machine has, in a form to compare with other sources.
    #[cfg(any(target_arch = "x86_64", target_os = "linux"))]
    fn detected() -> Vec<&'static str> {
        let isas = Isa::ALL
            .into_iter()
            .filter(|isa| isa.detected())
            .map(Isa::name);
        let all: Vec<_> = isas
            .chain(
                Feature::ALL
                    .into_iter()
                    .filter(|f| f.detected())
                    .map(Feature::name),
            )
            .collect();
        println!("detected: {}", all.join(" "));
        all
    }

    /// Detection by hand: the feature bits of CPUID leaves 1 and 7, and the register state that the
    /// system saves according to XCR0 (Intel SDM volume 1, sections 14.3 and 15.2 to 15.4).
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn detection_agrees_with_cpuid_and_xcr0() {
        use crate::cpu::x86::{cpuid, last_leaf, xcr0};

        let basic = cpuid(1, 0).ecx;
        let (b, c) = if last_leaf(0) >= 7 {
            let leaf = cpuid(7, 0);
            (leaf.ebx, leaf.ecx)
        } else {
            (0, 0)
        };
        let xcr0 = xcr0().unwrap_or(0);
        let bit = |register: u32, index: u32| register >> index & 1 == 1;
        // SSE and AVX state; opmask and both halves of the 512-bit state as well.
        let ymm = xcr0 & 0b110 == 0b110 && bit(basic, 28);
        let zmm = ymm && xcr0 & 0xe0 == 0xe0;
        let avx2 = ymm && bit(b, 5) && bit(b, 8);
        let avx512 = zmm && avx2 && [16, 17, 30, 31].into_iter().all(|i| bit(b, i));
        let by_hand = [
            ("portable", true),
            ("avx2", avx2),
            ("avx512", avx512),
            ("gfni", bit(c, 8)),
            ("vpclmulqdq", ymm && bit(c, 10)),
            ("ifma", zmm && bit(b, 21)),
            ("vbmi", zmm && bit(c, 1)),
            ("vbmi2", zmm && bit(c, 6)),
            ("pclmulqdq", bit(basic, 1)),
        ];
        let by_hand: Vec<_> = by_hand
            .into_iter()
            .filter_map(|(name, has)| has.then_some(name))
            .collect();
        assert_eq!(
            detected(),
            by_hand,
            "xcr0 {xcr0:x} leaf 1 {basic:x} leaf 7 {b:x} {c:x}"
        );
    }

    /// What Linux lists, which a build without detection code for a feature would miss.
    #[cfg(target_os = "linux")]
    #[test]
    fn detection_agrees_with_the_system() {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let key = if cfg!(target_arch = "x86_64") {
            "flags"
        } else {
            "Features"
        };
        let Some(flags) = cpuinfo.lines().find_map(|line| {
            let (name, flags) = line.split_once(':')?;
            (name.trim() == key).then(|| flags.split_whitespace().collect::<Vec<_>>())
        }) else {
            println!("skipped: /proc/cpuinfo does not list {key}");
            return;
        };
        let detected = detected();
        let names: &[(&str, &[&str])] = if cfg!(target_arch = "x86_64") {
            &[
                ("avx2", &["avx2", "bmi2"]),
                (
                    "avx512",
                    &[
                        "avx2", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl",
                    ],
                ),
                ("gfni", &["gfni"]),
                ("vpclmulqdq", &["vpclmulqdq"]),
                ("ifma", &["avx512ifma"]),
                ("vbmi", &["avx512vbmi"]),
                ("vbmi2", &["avx512_vbmi2"]),
                ("pclmulqdq", &["pclmulqdq"]),
            ]
        } else {
            &[
                ("neon", &["asimd"]),
                ("pmull", &["pmull"]),
                ("sha3", &["sha3"]),
            ]
        };
        for (name, needs) in names {
            let listed = needs.iter().all(|flag| flags.contains(flag));
            assert_eq!(detected.contains(name), listed, "{name}");
        }
    }
}
