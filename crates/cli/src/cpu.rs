//! `lanework cpu`: what will run on this machine, and why.

use lanework::arch::cpu::Cpu;
use lanework::arch::threads::Threads;
use lanework::arch::{Choice, Feature, Isa};
use lanework::hash::blake::Blake;
use lanework::nano::Kernel;
use serde::Serialize;

use crate::{args, kernels, output};

/// Runs the command.
pub(crate) fn run(arguments: &args::Cpu) -> anyhow::Result<()> {
    let machine = Machine::detect(&arguments.common)?;
    output::print(&if arguments.common.json {
        serde_json::to_string(&machine)? + "\n"
    } else if arguments.common.quiet {
        format!("{}\n", machine.isa)
    } else {
        machine.text()
    })
}

#[derive(Serialize)]
struct Machine {
    cpu: String,
    logical_cpus: usize,
    physical_cores: usize,
    threads: usize,
    caches: CacheSizes,
    isa: String,
    isa_why: &'static str,
    isas: Vec<Bundle>,
    kernels: Vec<Chosen>,
}

#[derive(Serialize)]
struct CacheSizes {
    #[serde(rename = "l1d_bytes")]
    l1d: usize,
    #[serde(rename = "l2_bytes")]
    l2: usize,
    #[serde(rename = "l3_bytes")]
    l3: usize,
}

/// An instruction-set bundle and whether this CPU has it.
#[derive(Serialize)]
struct Bundle {
    name: &'static str,
    available: bool,
    features: Vec<&'static str>,
    /// Those that some kernel uses.
    used_features: Vec<&'static str>,
}

/// What runs for one family of kernels.
#[derive(Serialize)]
struct Chosen {
    family: &'static str,
    kernel: &'static str,
    used_features: Vec<&'static str>,
    why: String,
}

impl Machine {
    fn detect(common: &args::Common) -> anyhow::Result<Self> {
        let choice = common.choice()?;
        let Cpu {
            brand,
            logical_cpus,
            physical_cores,
            caches,
            ..
        } = Cpu::detect();
        let threads = common.threads.unwrap_or_else(|| Threads::current().count());
        let isas: anyhow::Result<_> = Isa::ALL.into_iter().map(Bundle::detect).collect();
        Ok(Self {
            cpu: brand,
            logical_cpus: logical_cpus.get(),
            physical_cores: physical_cores.get(),
            threads: threads.get(),
            caches: CacheSizes {
                l1d: caches.l1d_bytes,
                l2: caches.l2_bytes,
                l3: caches.l3_bytes,
            },
            isa: choice.to_string(),
            isa_why: if choice == Choice::best() {
                "the widest this CPU has"
            } else {
                "lowered by --isa or LANEWORK_ISA"
            },
            isas: isas?,
            kernels: chosen(choice)?,
        })
    }

    fn text(&self) -> String {
        let cache = |bytes: usize| match bytes {
            0 => "none".to_owned(),
            _ => output::bytes(bytes as u64),
        };
        let CacheSizes { l1d, l2, l3 } = self.caches;
        let facts = output::facts(&[
            ("cpu", self.cpu.clone()),
            (
                "threads",
                format!(
                    "{} for {} hardware threads on {} cores",
                    self.threads, self.logical_cpus, self.physical_cores
                ),
            ),
            (
                "caches",
                format!("L1d {}, L2 {}, L3 {}", cache(l1d), cache(l2), cache(l3)),
            ),
            ("isa", format!("{}, {}", self.isa, self.isa_why)),
        ]);
        let isas: Vec<_> = self
            .isas
            .iter()
            .map(|bundle| {
                let available = if bundle.available { "yes" } else { "no" };
                let used = &bundle.used_features;
                let mut unused = bundle.features.clone();
                unused.retain(|feature| !used.contains(feature));
                [
                    bundle.name.to_owned(),
                    available.to_owned(),
                    used.join(" "),
                    unused.join(" "),
                ]
            })
            .collect();
        let kernels: Vec<_> = self
            .kernels
            .iter()
            .map(|kernel| {
                [
                    kernel.family.to_owned(),
                    kernel.kernel.to_owned(),
                    kernel.used_features.join(" "),
                    kernel.why.clone(),
                ]
            })
            .collect();
        format!(
            "{facts}\n{}\n{}",
            output::table(
                ["instruction set", "here", "features used", "not used"],
                4,
                &isas
            ),
            output::table(["kernels", "chosen", "features", "why"], 4, &kernels)
        )
    }
}

impl Bundle {
    fn detect(isa: Isa) -> anyhow::Result<Self> {
        let choice = Choice::of(isa);
        let features = choice.map(Choice::features).unwrap_or_default();
        let kernels = choice.map_or_else(|| Ok(Vec::new()), chosen)?;
        let used = |name: &&str| {
            let mut kernels = kernels.iter();
            kernels.any(|kernel| kernel.used_features.contains(name))
        };
        let features: Vec<_> = features.iter().map(Feature::name).collect();
        Ok(Self {
            name: isa.name(),
            available: isa.detected(),
            used_features: features.iter().copied().filter(used).collect(),
            features,
        })
    }
}

/// The kernels that run with `choice`.
fn chosen(choice: Choice) -> anyhow::Result<Vec<Chosen>> {
    let mut all: Vec<_> = kernels::families(choice)?
        .into_iter()
        .map(|(family, kernel)| Chosen {
            family,
            kernel,
            used_features: Vec::new(),
            why: why(family, kernel, choice),
        })
        .collect();
    // A kernel uses the features without which it is another one.
    for feature in choice.features().iter() {
        let without = kernels::families(choice.without(feature))?;
        for (chosen, (_, kernel)) in all.iter_mut().zip(without) {
            if chosen.kernel != kernel {
                chosen.used_features.push(feature.name());
            }
        }
    }
    all.extend(kernels::search(choice).map(|kernel| searcher(kernel, choice)));
    Ok(all)
}

/// The search for Nano work by `kernel`.
fn searcher(kernel: Kernel, choice: Choice) -> Chosen {
    let features = choice.features();
    let uses =
        |feature: &Feature| !Kernel::available_in(choice.without(*feature)).contains(&kernel);
    Chosen {
        family: "nano work",
        kernel: kernel.name(),
        used_features: features.iter().filter(uses).map(Feature::name).collect(),
        why: if choice == Choice::best() {
            let tried: Vec<_> = Kernel::available().into_iter().map(Kernel::name).collect();
            format!("the fastest of {} in a trial", tried.join(", "))
        } else {
            format!("the widest for {choice}")
        },
    }
}

/// Why a kernel of this name is the one of its family for `choice`.
fn why(family: &str, name: &str, choice: Choice) -> String {
    let additive = match name {
        "avx512-gfni" => "AVX-512 with GFNI: 64 products of bytes in an instruction",
        "avx2-gfni" => "AVX2 with GFNI: 32 products of bytes in an instruction",
        "avx512" => "AVX-512 without GFNI: products of 64 bytes by lookups",
        "avx2" => "AVX2 without GFNI: products of 32 bytes by lookups",
        "neon" => "Advanced SIMD: products of 16 bytes by lookups",
        _ => "plain Rust: products of bytes bit by bit",
    };
    if family == kernels::ADDITIVE {
        return additive.to_owned();
    }
    if family == kernels::BLAKE {
        let lanes = Blake::blake3(choice).lanes();
        return format!(
            "{lanes} message{} at a time",
            if lanes == 1 { "" } else { "s" }
        );
    }
    let reason = match name {
        "avx512-ifma" => "AVX-512 with IFMA: 52-bit multiply-add, sums without a reduction",
        "avx512" if !choice.has(Feature::Ifma) => {
            "AVX-512 without IFMA: 16 Montgomery words of 32 bits"
        }
        "avx512" => "AVX-512: 16 Montgomery words of 32 bits",
        "avx2" => "AVX2: 8 Montgomery words of 32 bits",
        "neon" => "Advanced SIMD: 4 Montgomery words of 32 bits",
        "portable" if choice.isa() == Isa::Portable => {
            "plain Rust, vectorised by the compiler where it can"
        }
        "portable" => "plain Rust: there is no kernel for these instructions",
        _ => return format!("the kernel for {choice}"),
    };
    reason.to_owned()
}
