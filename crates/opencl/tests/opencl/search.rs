use std::num::NonZeroU32;
use std::panic::AssertUnwindSafe;

use lanework_opencl::{CANDIDATES, Device, Error, Launch, Root, Search, Settings, platforms};
use lanework_testkit::cases::Rng;
use lanework_testkit::vectors;
use serde_json::Value;

use super::{blake2b, device};

const ZEROS: Root = [0; 32];

fn threads(threads: u32) -> Settings {
    Settings {
        threads: NonZeroU32::new(threads).unwrap(),
        local_work_size: None,
    }
}

/// The launch that starts at `start`, held against the generic implementation nonce by nonce.
fn checked(search: &mut Search, root: &Root, threshold: u64, start: u64) -> Launch {
    let launch = search.next_launch().unwrap();
    assert_eq!(launch.start, start);
    let nonces = (0..launch.nonces).map(|i| start.wrapping_add(i.into()));
    let hits: Vec<u64> = nonces
        .filter(|&nonce| blake2b(root, nonce) >= threshold)
        .collect();
    assert_eq!(launch.hits as usize, hits.len());
    assert_eq!(launch.candidates.len(), hits.len().min(CANDIDATES));
    let mut candidates = launch.candidates.clone();
    candidates.sort_unstable();
    candidates.dedup();
    assert_eq!(candidates.len(), launch.candidates.len(), "each hit once");
    assert!(launch.candidates.iter().all(|nonce| hits.contains(nonce)));
    launch
}

#[test]
fn devices_are_listed_and_found() {
    let Some(device) = device() else { return };
    assert!(!device.name.is_empty() && !device.vendor.is_empty());
    assert!(device.compute_units > 0);
    eprintln!("{} {}", device.vendor, device.name);

    let platforms = platforms().unwrap();
    for (index, platform) in platforms.iter().enumerate() {
        assert_eq!(platform.index, index);
        assert!(!platform.name.is_empty() && platform.version.starts_with("OpenCL "));
        for (place, listed) in platform.devices.iter().enumerate() {
            assert_eq!((listed.platform, listed.index), (index, place));
            let found = Device::find(index, place).unwrap();
            assert_eq!(
                (found.name, found.vendor),
                (listed.name.clone(), listed.vendor.clone())
            );
        }
    }

    let error = Device::find(platforms.len(), 0).unwrap_err();
    let maximum = platforms.len() - 1;
    assert_eq!(
        error.to_string(),
        format!(
            "no OpenCL platform {}: the highest is {maximum}",
            maximum + 1
        )
    );
    let maximum = platforms[0].devices.len() - 1;
    assert_eq!(
        Device::find(0, 99).unwrap_err(),
        Error::DeviceIndex {
            platform: 0,
            index: 99,
            maximum
        }
    );
}

#[test]
fn the_first_hits_from_zero_are_the_known_ones() {
    let Some(device) = device() else { return };
    let mut search = Search::new(&device, threads(1024)).unwrap();
    for (threshold, nonce) in [
        (0xff00000000000000, 0x7),
        (0xfff0000000000000, 0x1147),
        (0xffff000000000000, 0x5fc6),
    ] {
        search.begin(&ZEROS, threshold, 0).unwrap();
        let launch = loop {
            let launch = search.next_launch().unwrap();
            if launch.hits > 0 {
                break launch;
            }
        };
        assert_eq!(launch.start, nonce & !1023);
        assert_eq!(launch.candidates.iter().min(), Some(&nonce));
    }
}

#[test]
fn launches_of_a_million_find_what_is_published() {
    let Some(device) = device() else { return };
    let mut search = Search::new(&device, Settings::default()).unwrap();
    let published: [(&str, u64); 2] = [
        (
            "B9CB6B51B8EB869AF085C4C03E7DC539943D0BDDE13B21436B687C9C7EA56CB0",
            0x10600,
        ),
        (
            "7F7122E843B27524F4F1D6BD14AEFD1C8F01D36AE8653D37417533C0D4BC2BE6",
            0x995bc3,
        ),
    ];
    for (root, nonce) in published {
        search.begin(&root_of(root), 0xffffffc000000000, 0).unwrap();
        let launch = loop {
            let launch = search.next_launch().unwrap();
            assert_eq!(launch.nonces, 1 << 20);
            if launch.hits > 0 {
                break launch;
            }
        };
        assert_eq!(launch.candidates, [nonce]);
        assert_eq!(search.position() - launch.start, 2 << 20);
    }
}

#[test]
fn a_value_equal_to_the_threshold_is_a_hit_and_one_below_is_not() {
    let Some(device) = device() else { return };
    let mut search = Search::new(&device, threads(1)).unwrap();
    let file = std::fs::read(vectors::path("nano.json")).unwrap();
    let vectors: Vec<Value> = serde_json::from_slice(&file).unwrap();
    assert!(vectors.len() >= 20);
    for vector in &vectors {
        let text = |key: &str| vector[key].as_str().unwrap();
        let word = |key: &str| u64::from_str_radix(text(key), 16).unwrap();
        let (root, work, value) = (root_of(text("root")), word("work"), word("value"));
        search.begin(&root, value, work).unwrap();
        let launch = search.next_launch().unwrap();
        assert_eq!(
            (launch.hits, &launch.candidates[..]),
            (1, &[work][..]),
            "{vector}"
        );
        search.begin(&root, value + 1, work).unwrap();
        assert_eq!(search.next_launch().unwrap().hits, 0, "{vector}");
    }
}

#[test]
fn nonce_zero_is_found_and_the_search_goes_past_the_last_nonce() {
    let Some(device) = device() else { return };
    let mut search = Search::new(&device, threads(1)).unwrap();
    search.begin(&ZEROS, 0xd60fba25f7d14965, 0).unwrap();
    let launch = checked(&mut search, &ZEROS, 0xd60fba25f7d14965, 0);
    assert_eq!(launch.candidates, [0]);

    let threshold = 0xadc4e279097a3ab5;
    let mut search = Search::new(&device, threads(2)).unwrap();
    search.begin(&ZEROS, threshold, u64::MAX).unwrap();
    let mut launch = checked(&mut search, &ZEROS, threshold, u64::MAX);
    launch.candidates.sort_unstable();
    assert_eq!(launch.candidates, [0, u64::MAX]);
    checked(&mut search, &ZEROS, threshold, 1);
}

#[test]
fn hits_are_counted_beyond_those_that_are_told_apart() {
    let Some(device) = device() else { return };
    let mut search = Search::new(&device, threads(1000)).unwrap();
    // From none to all of the thousand.
    for threshold in [u64::MAX, 0xfffe << 48, 0xff12_3456_789a_bcde, 1 << 63, 1, 0] {
        search.begin(&ZEROS, threshold, 500).unwrap();
        for launch in 0..3 {
            checked(&mut search, &ZEROS, threshold, 500 + 1000 * launch);
        }
    }
}

#[test]
fn random_roots_thresholds_and_starts_agree_with_the_generic_implementation() {
    let Some(device) = device() else { return };
    let mut rng = Rng::new(0);
    let mut search = Search::new(&device, threads(997)).unwrap();
    let mut hits = 0;
    for _ in 0..50 {
        let root: Root = std::array::from_fn(|_| rng.next_u64() as u8);
        let threshold = rng.next_u64() | 0xff << 56;
        let start = rng.next_u64();
        search.begin(&root, threshold, start).unwrap();
        for launch in 0..=rng.next_u64() % 4 {
            let start = start.wrapping_add(997 * launch);
            hits += checked(&mut search, &root, threshold, start).hits;
        }
    }
    assert!(hits > 0);
}

#[test]
fn a_new_task_replaces_what_is_under_way() {
    let Some(device) = device() else { return };
    let mut search = Search::new(&device, threads(4096)).unwrap();
    for round in 0..10 {
        // The launches of this one are never waited for; all their nonces are hits.
        search.begin(&[round; 32], 0, 0).unwrap();
        search.next_launch().unwrap();
        let threshold = 0xfffc << 48;
        search.begin(&ZEROS, threshold, 77).unwrap();
        checked(&mut search, &ZEROS, threshold, 77);
        // Another threshold for the same root.
        let start = search.position();
        search.begin(&ZEROS, 0xff80 << 48, start).unwrap();
        checked(&mut search, &ZEROS, 0xff80 << 48, start);
    }
}

#[test]
fn local_work_sizes_change_nothing_but_must_fit() {
    let Some(device) = device() else { return };
    let with = |threads: u32, local: u32| Settings {
        threads: NonZeroU32::new(threads).unwrap(),
        local_work_size: NonZeroU32::new(local),
    };
    for (all, local) in [(64, 64), (63, 7), (5, 1), (1024, 32), (4096, 256), (3, 3)] {
        let mut search = Search::new(&device, with(all, local)).unwrap();
        search.begin(&ZEROS, 1 << 63, u64::MAX - 10).unwrap();
        checked(&mut search, &ZEROS, 1 << 63, u64::MAX - 10);
    }
    let error = Search::new(&device, with(1000, 64)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "1000 threads are not a multiple of the local work size: 64"
    );
    assert!(matches!(
        Search::new(&device, with(1 << 30, 1 << 30)),
        Err(Error::LocalWorkSizeTooLarge { local, maximum }) if local == 1 << 30 && maximum > 0
    ));
}

#[test]
fn searches_of_one_device_do_not_disturb_each_other() {
    let Some(device) = device() else { return };
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let device = &device;
            scope.spawn(move || {
                let mut search = Search::new(device, threads(2048)).unwrap();
                let root = [thread; 32];
                search.begin(&root, 0xffc0 << 48, 0).unwrap();
                for launch in 0..5 {
                    checked(&mut search, &root, 0xffc0 << 48, 2048 * launch);
                }
            });
        }
    });
}

fn root_of(text: &str) -> Root {
    std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
}

#[test]
fn without_a_task_there_is_nothing_to_wait_for() {
    let Some(device) = device() else { return };
    let mut search = Search::new(&device, threads(1)).unwrap();
    let waited = std::panic::catch_unwind(AssertUnwindSafe(|| search.next_launch()));
    assert!(waited.is_err());
    search.begin(&ZEROS, 0, 0).unwrap();
    checked(&mut search, &ZEROS, 0, 0);
}
