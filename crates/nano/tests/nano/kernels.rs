//! Every kernel of the machine: each of its lanes, and the set of nonces it finds.

use lanework_arch::{Choice, Feature, Isa};
use lanework_nano::{BATCH, Error, Kernel, Precomputed, Root, resolve_hit, validate};
use lanework_testkit::cases::Rng;
use proptest::prelude::{any, prop_assert_eq, proptest};

use crate::{blake2b, kernels, random_root, root};

/// The values of a window of nonces, by the definition.
struct Window {
    root: Root,
    start: u64,
    values: Vec<u64>,
}

impl Window {
    fn new(root: Root, start: u64, len: u64) -> Self {
        let values = (0..len)
            .map(|i| validate(&root, start.wrapping_add(i)))
            .collect();
        Self {
            root,
            start,
            values,
        }
    }

    fn nonce(&self, index: usize) -> u64 {
        self.start.wrapping_add(index as u64)
    }

    /// The nonces with values of at least `threshold`, in the order of a search.
    fn hits(&self, threshold: u64) -> Vec<u64> {
        let hits = self
            .values
            .iter()
            .enumerate()
            .filter(|&(_, &value)| value >= threshold);
        hits.map(|(index, _)| self.nonce(index)).collect()
    }

    /// The value that `rank` others exceed, and where it is.
    fn ranked(&self, rank: usize) -> (usize, u64) {
        let mut order: Vec<_> = (0..self.values.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(self.values[index]));
        (order[rank], self.values[order[rank]])
    }
}

/// All hits of `kernel`, found by searching on after each.
fn all_hits(kernel: Kernel, window: &Window, threshold: u64) -> Vec<u64> {
    let precomputed = Precomputed::new(&window.root);
    let (mut start, mut left) = (window.start, window.values.len() as u64);
    let mut hits = Vec::new();
    while let Some(hit) = kernel.search(&precomputed, start, left, threshold) {
        let done = hit.wrapping_sub(start) + 1;
        assert!(done <= left, "{kernel}: a hit outside the window");
        hits.push(hit);
        start = hit.wrapping_add(1);
        left -= done;
    }
    hits
}

#[test]
fn every_lane_has_the_value_of_the_generic_implementation() {
    let mut rng = Rng::new(4);
    for _ in 0..10_000 {
        let (root, mut start) = (random_root(&mut rng), rng.next_u64());
        if rng.below(8) == 0 {
            start = 0u64.wrapping_sub(rng.below(16));
        }
        let precomputed = Precomputed::new(&root);
        assert_eq!(precomputed.root(), &root);
        let expected: Vec<_> = (0..16)
            .map(|i| blake2b(&root, start.wrapping_add(i)))
            .collect();
        for kernel in kernels() {
            let mut values = vec![0; kernel.bundle_len() as usize];
            kernel.difficulties(&precomputed, start, &mut values);
            assert_eq!(
                values,
                expected[..values.len()],
                "{kernel} from {start:016x}"
            );
        }
    }
}

#[test]
fn values_of_any_number_of_nonces() {
    let window = Window::new([3; 32], u64::MAX - 20, 70);
    let precomputed = Precomputed::new(&window.root);
    for kernel in kernels() {
        for len in 0..window.values.len() {
            let mut values = vec![0; len];
            kernel.difficulties(&precomputed, window.start, &mut values);
            assert_eq!(values, window.values[..len], "{kernel}, {len}");
        }
    }
}

#[test]
fn the_hits_are_those_of_a_search_nonce_by_nonce() {
    let mut rng = Rng::new(5);
    let windows = [
        Window::new(random_root(&mut rng), rng.next_u64(), BATCH),
        Window::new(random_root(&mut rng), 0u64.wrapping_sub(BATCH / 3), BATCH),
    ];
    for window in windows {
        let mut thresholds = vec![
            u64::MAX,
            u64::MAX - 1,
            0xffff_ffff_0000_0000,
            0xffff_0000_0000_0000,
        ];
        for rank in [0, 1, 2, 5, 30, 100] {
            let (_, value) = window.ranked(rank);
            // Equal to a value, one more, and with the low half zero.
            thresholds.extend([value, value + 1, value >> 32 << 32]);
        }
        thresholds.sort_unstable();
        thresholds.dedup();
        assert!(thresholds.len() >= 16);
        for threshold in thresholds {
            let hits = window.hits(threshold);
            for kernel in kernels() {
                assert_eq!(
                    all_hits(kernel, &window, threshold),
                    hits,
                    "{kernel}: {threshold:016x}"
                );
            }
        }
    }
}

#[test]
fn low_thresholds_hit_all_the_time() {
    let window = Window::new([9; 32], u64::MAX - 100, 300);
    let all: Vec<_> = (0..window.values.len())
        .map(|index| window.nonce(index))
        .collect();
    for kernel in kernels() {
        assert_eq!(all_hits(kernel, &window, 0), all, "{kernel}");
        assert_eq!(all_hits(kernel, &window, 1), window.hits(1), "{kernel}");
        for threshold in [1 << 32, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, 3 << 62] {
            assert_eq!(
                all_hits(kernel, &window, threshold),
                window.hits(threshold),
                "{kernel}"
            );
        }
    }
}

/// Windows around the best nonce of many, of every length and with it at every place: in each lane of
/// each state, and just outside.
#[test]
fn a_hit_in_every_lane_and_windows_of_every_length() {
    let window = Window::new([1; 32], 0u64.wrapping_sub(2000), 4000);
    let precomputed = Precomputed::new(&window.root);
    let (best, threshold) = window.ranked(0);
    let best = window.nonce(best);
    for kernel in kernels() {
        let bundle_len = kernel.bundle_len();
        for place in 0..2 * bundle_len + 2 {
            let start = best.wrapping_sub(place);
            for count in 0..2 * bundle_len + 3 {
                let expected = (place < count).then_some(best);
                let found = kernel.search(&precomputed, start, count, threshold);
                assert_eq!(found, expected, "{kernel}: place {place} of {count}");
            }
        }
    }
}

#[test]
fn the_first_of_several_hits_in_a_bundle() {
    let mut rng = Rng::new(6);
    for _ in 0..200 {
        let window = Window::new(random_root(&mut rng), rng.next_u64(), 16);
        for rank in 0..16 {
            let (_, threshold) = window.ranked(rank);
            let hits = window.hits(threshold);
            assert_eq!(hits.len(), rank + 1);
            for kernel in kernels() {
                assert_eq!(all_hits(kernel, &window, threshold), hits, "{kernel}");
            }
        }
    }
}

#[test]
fn published_scans() {
    let zero = [0; 32];
    let v5 = root("B9CB6B51B8EB869AF085C4C03E7DC539943D0BDDE13B21436B687C9C7EA56CB0");
    let v6 = root("7F7122E843B27524F4F1D6BD14AEFD1C8F01D36AE8653D37417533C0D4BC2BE6");
    for kernel in kernels() {
        let scan = |root, start, count, threshold| {
            kernel.search(&Precomputed::new(root), start, count, threshold)
        };
        assert_eq!(
            scan(&zero, 0, 1 << 20, 0xff00_0000_0000_0000),
            Some(7),
            "{kernel}"
        );
        assert_eq!(
            scan(&zero, 0, 1 << 20, 0xfff0_0000_0000_0000),
            Some(0x1147),
            "{kernel}"
        );
        assert_eq!(
            scan(&zero, 0, 1 << 20, 0xffff_0000_0000_0000),
            Some(0x5fc6),
            "{kernel}"
        );
        // The nonce 0, after the largest one.
        assert_eq!(
            scan(&zero, u64::MAX, 2, 0xd60f_ba25_f7d1_4965),
            Some(0),
            "{kernel}"
        );
        assert_eq!(
            scan(&zero, u64::MAX, 2, 0xadc4_e279_097a_3ab5),
            Some(u64::MAX),
            "{kernel}"
        );
        assert_eq!(
            scan(&v5, 0, 1 << 20, 0xffff_ffc0_0000_0000),
            Some(0x10600),
            "{kernel}"
        );
        // Ten million nonces take a while one by one, or under emulation.
        if kernel.lanes() >= 4 {
            assert_eq!(
                scan(&v6, 0, 1 << 24, 0xffff_ffc0_0000_0000),
                Some(0x99_5bc3),
                "{kernel}"
            );
        }
    }
}

#[test]
fn reported_bundles_are_looked_at_again() {
    let root = [0; 32];
    let threshold = 0xff00_0000_0000_0000;
    let work = resolve_hit(&root, 0, 16, threshold).expect("nonce 7 is a hit");
    assert_eq!((work.nonce, work.difficulty), (7, 0xffa4_d350_e089_b45e));
    assert_eq!(
        resolve_hit(&root, 0, 7, threshold),
        None,
        "nobody is believed"
    );
    assert_eq!(resolve_hit(&root, 0, 0, 0), None);
    let wrapped = resolve_hit(&root, u64::MAX, 2, 0xd60f_ba25_f7d1_4965);
    assert_eq!(wrapped.map(|work| work.nonce), Some(0));
}

#[test]
fn names() {
    let kernels = kernels();
    for kernel in &kernels {
        assert_eq!(Kernel::from_name(kernel.name()), Ok(*kernel));
        assert_eq!(kernel.name().parse(), Ok(*kernel));
        assert!(kernel.bundle_len() >= kernel.lanes());
    }
    assert!(kernels.contains(&Kernel::best()));
    assert_eq!(
        kernels.last().map(|kernel| (kernel.name(), kernel.lanes())),
        Some(("scalar", 1))
    );
    for choice in Choice::available() {
        let names: Vec<_> = Kernel::available_in(choice)
            .into_iter()
            .map(Kernel::name)
            .collect();
        let expected: &[&str] = match choice.isa() {
            Isa::Avx512 => &["avx512", "avx512vl", "avx2", "scalar"],
            Isa::Avx2 => &["avx2", "scalar"],
            Isa::Neon if choice.has(Feature::Sha3) => &["neon-sha3", "neon", "scalar"],
            Isa::Neon => &["neon", "scalar"],
            _ => &["scalar"],
        };
        assert_eq!(names, expected, "{choice}");
    }
    let foreign = if cfg!(target_arch = "aarch64") {
        "avx2"
    } else {
        "neon"
    };
    for (name, what) in [
        (foreign, "does not run"),
        ("sse9", "unknown kernel"),
        ("", "unknown"),
    ] {
        let error: Error = Kernel::from_name(name).expect_err(name);
        let message = error.to_string();
        assert!(
            message.contains(what) && message.contains("scalar"),
            "{message}"
        );
    }
}

proptest! {
    #[test]
    fn searches_equal_the_definition(
        root in any::<[u8; 32]>(),
        start in any::<u64>(),
        count in 0u64..100,
        bits in 0u32..8,
        low in any::<u64>(),
    ) {
        let window = Window::new(root, start, count);
        let threshold = !(u64::MAX >> bits) | low >> bits;
        let precomputed = Precomputed::new(&root);
        for kernel in kernels() {
            let found = kernel.search(&precomputed, start, count, threshold);
            prop_assert_eq!(found, window.hits(threshold).first().copied());
        }
    }
}
