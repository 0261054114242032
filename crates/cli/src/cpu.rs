//! `lanework cpu`: what will run on this machine, and why.

use lanework::arch::cpu::{Caches, Cpu};
use lanework::arch::threads::Threads;
use lanework::arch::{Choice, Feature, Isa};
use lanework::field::KoalaBear;
use lanework::hash::{Poseidon2, RoundConstants};
use lanework::ntt::LdePlan;
use serde::Serialize;

use crate::{args, output};

/// A shape in the middle of what provers commit to; the kernel does not depend on it once vectors
/// can be filled.
const LOG_ROWS: u32 = 16;

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
}

/// What runs for one family of kernels.
#[derive(Serialize)]
struct Chosen {
    family: &'static str,
    kernel: String,
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
        let isas = Isa::ALL.map(|isa| {
            let features = Choice::of(isa).map(Choice::features).unwrap_or_default();
            Bundle {
                name: isa.name(),
                available: isa.detected(),
                features: features.iter().map(Feature::name).collect(),
            }
        });
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
            isas: isas.into(),
            kernels: kernels(choice, caches)?,
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
                [
                    bundle.name.to_owned(),
                    available.to_owned(),
                    bundle.features.join(" "),
                ]
            })
            .collect();
        let kernels: Vec<_> = self
            .kernels
            .iter()
            .map(|kernel| {
                [
                    kernel.family.to_owned(),
                    kernel.kernel.clone(),
                    kernel.why.clone(),
                ]
            })
            .collect();
        format!(
            "{facts}\n{}\n{}",
            output::table(["instruction set", "here", "features"], 3, &isas),
            output::table(["kernels", "chosen", "why"], 3, &kernels)
        )
    }
}

/// The kernels that a commitment with `choice` runs.
fn kernels(choice: Choice, caches: Caches) -> anyhow::Result<Vec<Chosen>> {
    let narrow = Poseidon2::<16>::new(&RoundConstants::<16>::plonky3_default(), choice);
    let wide = Poseidon2::<24>::new(&RoundConstants::<24>::plonky3_default(), choice);
    let plan = LdePlan::new(LOG_ROWS, 1, KoalaBear::GENERATOR, choice, caches)?;
    let kernel = |family, name: &str| Chosen {
        family,
        kernel: name.to_owned(),
        why: why(name, choice),
    };
    Ok(vec![
        kernel("poseidon2 width 16", narrow.kernel()),
        kernel("poseidon2 width 24", wide.kernel()),
        kernel("reed-solomon encoding", plan.kernel()),
    ])
}

/// Why a kernel of this name is the one for `choice`.
fn why(name: &str, choice: Choice) -> String {
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
