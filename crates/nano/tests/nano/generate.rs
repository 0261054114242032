//! Searches on threads, and how fast they are.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lanework_nano::{
    BATCH, Kernel, Network, autotune, generate, generate_counted, generate_with,
    hash_rate_benchmark, is_valid, validate,
};
use lanework_testkit::cases::Rng;

use crate::{kernels, random_root};

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("not 0")
}

#[test]
fn generated_work_is_valid() {
    let mut rng = Rng::new(7);
    let never = AtomicBool::new(false);
    for kernel in kernels() {
        for count in [1, 3] {
            for threshold in [
                0,
                Network::Dev.receive(),
                0xfff0_0000_0000_0000,
                0xffff_0000_0000_0001,
            ] {
                let root = random_root(&mut rng);
                let work = generate_with(kernel, &root, threshold, threads(count), &never)
                    .expect("not cancelled");
                assert!(
                    is_valid(&root, work.nonce, threshold),
                    "{kernel}, {count} threads"
                );
                assert_eq!(work.difficulty, validate(&root, work.nonce));
            }
        }
    }
    let work = generate(&[5; 32], Network::Dev.send(), threads(2));
    assert!(is_valid(&[5; 32], work.nonce, Network::Dev.send()));
}

#[test]
fn starts_are_random() {
    let nonces: Vec<_> = (0..20)
        .map(|_| generate(&[0; 32], 0, threads(1)).nonce)
        .collect();
    for (i, nonce) in nonces.iter().enumerate() {
        let close = |other: &u64| other.wrapping_sub(*nonce) < 1 << 32;
        assert!(!nonces[i + 1..].iter().any(close), "{nonces:x?}");
    }
}

#[test]
fn a_set_flag_ends_the_search() {
    for kernel in kernels() {
        for count in [1, 3] {
            let set = AtomicBool::new(true);
            assert_eq!(
                generate_with(kernel, &[0; 32], u64::MAX, threads(count), &set),
                None
            );

            let (flag, hashes) = (AtomicBool::new(false), AtomicU64::new(0));
            thread::scope(|scope| {
                let search = scope.spawn(|| {
                    generate_counted(kernel, &[0; 32], u64::MAX, threads(count), &flag, &hashes)
                });
                while hashes.load(Ordering::Relaxed) < BATCH {
                    thread::sleep(Duration::from_millis(1));
                }
                flag.store(true, Ordering::Relaxed);
                assert_eq!(search.join().expect("no panic"), None, "{kernel}");
            });
            let counted = hashes.load(Ordering::Relaxed);
            assert!(
                counted.is_multiple_of(BATCH),
                "whole batches were searched: {counted}"
            );
        }
    }
}

#[test]
fn hashes_are_counted() {
    let hashes = AtomicU64::new(0);
    let never = AtomicBool::new(false);
    let work = generate_counted(Kernel::best(), &[0; 32], 0, threads(1), &never, &hashes);
    assert!(work.is_some());
    assert_eq!(hashes.into_inner(), 1, "the first nonce is a hit");
}

#[test]
fn tuning_keeps_to_its_budget() {
    for budget in [Duration::ZERO, Duration::from_millis(50)] {
        let start = Instant::now();
        let kernel = autotune(budget);
        assert!(kernels().contains(&kernel));
        // An interrupted measurement may take longer, but not without end.
        assert!(start.elapsed() < budget + Duration::from_secs(5));
    }
}

#[test]
fn rates_are_measured() {
    for kernel in kernels() {
        let rate = hash_rate_benchmark(kernel, threads(2), Duration::from_millis(20));
        assert_eq!(rate.threads, threads(2));
        assert!(
            rate.hashes > 0 && rate.hashes_per_second > 1e3,
            "{kernel}: {rate:?}"
        );
        assert!(
            rate.cycles_per_hash.is_none_or(|cycles| cycles > 1.0),
            "{kernel}: {rate:?}"
        );
    }
}
