//! The CPU this process runs on: its name, how many cores it may use, and its caches.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

/// What is known about the CPU, read at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cpu {
    /// The name the CPU gives itself; on Arm the numbers of implementer and part.
    pub brand: String,
    /// The hardware threads this process may use, by affinity and by the quota of its container.
    pub logical_cpus: NonZeroUsize,
    /// The cores among them.
    pub physical_cores: NonZeroUsize,
    /// The caches that a core sees.
    pub caches: Caches,
}

impl Cpu {
    /// Asks the machine.
    pub fn detect() -> Self {
        let logical_cpus = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self {
            brand: brand().unwrap_or_else(|| format!("unknown {}", std::env::consts::ARCH)),
            logical_cpus,
            physical_cores: physical_cores()
                .map_or(logical_cpus, |physical| physical.min(logical_cpus)),
            caches: Caches::detect(),
        }
    }
}

/// The sizes of the data caches, which decide how much work one trip to memory should carry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caches {
    /// The first-level data cache of one core.
    pub l1d_bytes: usize,
    /// The second-level cache of one core, or of the few that share it.
    pub l2_bytes: usize,
    /// The last-level cache, usually shared by all cores of a socket; zero if there is none.
    pub l3_bytes: usize,
}

impl Caches {
    /// What nearly every CPU of the last decade has at least; used where the machine does not tell.
    const FALLBACK: Self = Self::new(32 << 10, 256 << 10, 2 << 20);

    /// Caches of the given sizes, to plan for another machine or to reach every pass in a test.
    pub const fn new(l1d_bytes: usize, l2_bytes: usize, l3_bytes: usize) -> Self {
        Self {
            l1d_bytes,
            l2_bytes,
            l3_bytes,
        }
    }

    /// Asks the machine.
    pub fn detect() -> Self {
        let system = if cfg!(any(target_os = "linux", target_os = "android")) {
            from_sysfs(Path::new("/sys/devices/system/cpu/cpu0/cache"))
        } else {
            None
        };
        system.or_else(from_cpuid).unwrap_or(Self::FALLBACK)
    }

    /// The largest data cache of each level, or `None` without a first level.
    fn from_list(list: impl IntoIterator<Item = (u32, usize)>) -> Option<Self> {
        let mut caches = Self::new(0, 0, 0);
        for (level, bytes) in list {
            let slot = match level {
                1 => &mut caches.l1d_bytes,
                2 => &mut caches.l2_bytes,
                3 => &mut caches.l3_bytes,
                _ => continue,
            };
            *slot = bytes.max(*slot);
        }
        if caches.l2_bytes == 0 {
            caches.l2_bytes = caches.l3_bytes.max(caches.l1d_bytes);
        }
        (caches.l1d_bytes > 0).then_some(caches)
    }
}

/// Reads the `index*` folders of Linux's description of a CPU's caches.
fn from_sysfs(folder: &Path) -> Option<Caches> {
    let list = fs::read_dir(folder).ok()?.filter_map(|entry| {
        let folder = entry.ok()?.path();
        let read = |name| fs::read_to_string(folder.join(name)).ok();
        if read("type")?.trim() == "Instruction" {
            return None;
        }
        let level = read("level")?.trim().parse().ok()?;
        Some((level, size(read("size")?.trim())?))
    });
    Caches::from_list(list)
}

/// A size as sysfs writes it: `48K`, `2M`.
fn size(text: &str) -> Option<usize> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

#[cfg(not(target_arch = "x86_64"))]
fn from_cpuid() -> Option<Caches> {
    None
}

/// The "deterministic cache parameters" of Intel (leaf 4) and AMD (leaf 0x8000001d), which have the
/// same layout: Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E.
#[cfg(target_arch = "x86_64")]
fn from_cpuid() -> Option<Caches> {
    const AMD: u32 = 0x8000_001d;
    [4, AMD].into_iter().find_map(|leaf| {
        if leaf > x86::last_leaf(leaf) {
            return None;
        }
        let list = (0..16)
            .map(|index| x86::cpuid(leaf, index))
            .take_while(|r| r.eax & 0x1f != 0);
        Caches::from_list(list.filter_map(|r| {
            let bits = |from: u32, len: u32| (r.ebx >> from & ((1 << len) - 1)) as usize + 1;
            let bytes = bits(22, 10) * bits(12, 10) * bits(0, 12) * (r.ecx as usize + 1);
            (r.eax & 0x1f != 2).then_some((r.eax >> 5 & 7, bytes))
        }))
    })
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use std::arch::x86_64::{__cpuid_count, CpuidResult};

    pub(crate) fn cpuid(leaf: u32, index: u32) -> CpuidResult {
        __cpuid_count(leaf, index)
    }

    /// The highest leaf in the range that `leaf` belongs to.
    pub(crate) fn last_leaf(leaf: u32) -> u32 {
        cpuid(leaf & 0x8000_0000, 0).eax
    }

    /// The register state that the system saves, or `None` without XSAVE.
    #[cfg(test)]
    #[expect(unsafe_code, reason = "reads a control register")]
    pub(crate) fn xcr0() -> Option<u64> {
        const OSXSAVE: u32 = 1 << 27;
        // SAFETY: *feature*: the system has enabled XSAVE, and with it this instruction.
        (cpuid(1, 0).ecx & OSXSAVE != 0).then(|| unsafe { std::arch::x86_64::_xgetbv(0) })
    }
}

/// The brand string of CPUID leaves 0x80000002 to 0x80000004, 48 bytes padded with zeros.
#[cfg(target_arch = "x86_64")]
fn brand() -> Option<String> {
    const LEAVES: std::ops::RangeInclusive<u32> = 0x8000_0002..=0x8000_0004;
    if *LEAVES.end() > x86::last_leaf(*LEAVES.end()) {
        return None;
    }
    let bytes: Vec<u8> = LEAVES
        .map(|leaf| x86::cpuid(leaf, 0))
        .flat_map(|r| [r.eax, r.ebx, r.ecx, r.edx])
        .flat_map(u32::to_le_bytes)
        .take_while(|&byte| byte != 0)
        .collect();
    let words: Vec<_> = str::from_utf8(&bytes).ok()?.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(not(target_arch = "x86_64"))]
fn brand() -> Option<String> {
    brand_in(&fs::read_to_string("/proc/cpuinfo").ok()?)
}

/// The model of the first CPU in the text of `/proc/cpuinfo`.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn brand_in(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        cpuinfo.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.trim())
        })
    };
    let model = value("model name").map(str::to_owned);
    model.or_else(|| {
        let (implementer, part) = (value("CPU implementer")?, value("CPU part")?);
        Some(format!("Arm implementer {implementer} part {part}"))
    })
}

/// The cores that this process may run on, from Linux's list of hardware threads that share one.
fn physical_cores() -> Option<NonZeroUsize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    cores_among(&cpu_list(allowed)?, Path::new("/sys/devices/system/cpu"))
}

fn cores_among(cpus: &[usize], folder: &Path) -> Option<NonZeroUsize> {
    let siblings = |cpu| {
        fs::read_to_string(folder.join(format!("cpu{cpu}/topology/thread_siblings_list"))).ok()
    };
    let cores: BTreeSet<String> = cpus.iter().filter_map(siblings).collect();
    NonZeroUsize::new(cores.len())
}

/// The numbers in a list as Linux writes it: `0-3,8`.
fn cpu_list(text: &str) -> Option<Vec<usize>> {
    /// More than any machine has; what claims more is not such a list.
    const MAX: usize = 1 << 16;
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last >= MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let cpu = Cpu::detect();
        println!("{cpu:?}");
        assert!(!cpu.brand.is_empty());
        assert!(cpu.physical_cores <= cpu.logical_cpus);
        let Caches {
            l1d_bytes,
            l2_bytes,
            ..
        } = cpu.caches;
        assert!((4 << 10..=1 << 20).contains(&l1d_bytes), "{l1d_bytes}");
        assert!(l2_bytes >= l1d_bytes, "{l2_bytes}");
    }

    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn the_ways_to_ask_agree() {
        let status = fs::read_to_string("/proc/cpuinfo").unwrap();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(brand(), brand_in(&status).map(|name| words(&name)));
        let system = from_sysfs(Path::new("/sys/devices/system/cpu/cpu0/cache"));
        match (system, from_cpuid()) {
            (Some(system), Some(cpuid)) => assert_eq!(system, cpuid),
            other => println!("skipped: only one way to ask for the caches: {other:?}"),
        }
    }

    /// A folder of files for one test.
    struct Tree(std::path::PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("lanework-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn caches_are_read_from_sysfs() {
        let tree = Tree::new(
            "caches",
            &[
                ("index0/level", "1\n"),
                ("index0/type", "Data\n"),
                ("index0/size", "48K\n"),
                ("index1/level", "1\n"),
                ("index1/type", "Instruction\n"),
                ("index1/size", "64K\n"),
                ("index2/level", "2\n"),
                ("index2/type", "Unified\n"),
                ("index2/size", "2M\n"),
                ("index3/level", "3\n"),
                ("index3/type", "Unified\n"),
                ("index3/size", "491520K\n"),
                ("uevent", ""),
            ],
        );
        let caches = Caches::new(48 << 10, 2 << 20, 480 << 20);
        assert_eq!(from_sysfs(&tree.0), Some(caches));
        assert_eq!(from_sysfs(&tree.0.join("nowhere")), None);
        let broken = Tree::new(
            "caches-broken",
            &[("index0/level", "1"), ("index0/size", "big")],
        );
        assert_eq!(from_sysfs(&broken.0), None);
    }

    #[test]
    fn missing_levels_are_filled_in() {
        let list = |list: &[(u32, usize)]| Caches::from_list(list.iter().copied());
        assert_eq!(list(&[(1, 100)]), Some(Caches::new(100, 100, 0)));
        assert_eq!(
            list(&[(1, 100), (3, 900)]),
            Some(Caches::new(100, 900, 900))
        );
        assert_eq!(list(&[(2, 100)]), None);
    }

    #[test]
    fn cores_are_counted_among_the_allowed_threads() {
        let pair = ["0,2", "1,3", "0,2", "1,3"];
        let names: Vec<_> = (0..4)
            .map(|i| format!("cpu{i}/topology/thread_siblings_list"))
            .collect();
        let files: Vec<_> = names.iter().map(String::as_str).zip(pair).collect();
        let tree = Tree::new("topology", &files);
        for (list, cores) in [("0-3", 2), ("0,2", 1), ("1", 1), ("2-3\n", 2)] {
            let cpus = cpu_list(list).unwrap();
            assert_eq!(
                cores_among(&cpus, &tree.0).map(NonZeroUsize::get),
                Some(cores),
                "{list}"
            );
        }
        assert_eq!(cores_among(&[9], &tree.0), None);
    }

    #[test]
    fn broken_texts_are_no_answer() {
        assert_eq!(cpu_list("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        for text in ["", "x", "1-", "0-99999999999", "0-18446744073709551615"] {
            assert_eq!(cpu_list(text), None, "{text}");
        }
        for text in ["", "K", "xK", "99999999999999999G", "-1K"] {
            assert_eq!(size(text), None, "{text}");
        }
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n";
        assert_eq!(
            brand_in(arm).as_deref(),
            Some("Arm implementer 0x41 part 0xd4f")
        );
        assert_eq!(brand_in("processor: 0"), None);
    }
}
