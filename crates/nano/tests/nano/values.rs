//! The value of one work.

use std::fmt::Write;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};

use lanework_nano::{Network, Precomputed, difficulty, generate_with, is_valid, validate};
use lanework_testkit::cases::Rng;
use lanework_testkit::{isas, vectors};
use serde_json::Value;

use crate::{blake2b, kernels, random_root, root};

#[test]
fn published_and_derived_vectors() {
    let path = vectors::path("nano.json");
    let text = std::fs::read_to_string(path).expect("the vectors are there");
    let vectors: Vec<Value> = serde_json::from_str(&text).expect("an array");
    assert_eq!(vectors.len(), 29);
    for vector in &vectors {
        let text = |key: &str| vector[key].as_str().expect("a string");
        let number = |key| u64::from_str_radix(text(key), 16).expect("hexadecimal digits");
        let (root, work, value) = (root(text("root")), number("work"), number("value"));
        assert_eq!(validate(&root, work), value, "{vector}");
        assert_eq!(difficulty(&root, work), value);
        assert_eq!(blake2b(&root, work), value);
        assert!(is_valid(&root, work, value) && !is_valid(&root, work, value + 1));
        for kernel in kernels() {
            let precomputed = Precomputed::new(&root);
            let mut found = [0];
            kernel.difficulties(&precomputed, work, &mut found);
            assert_eq!(found, [value], "{kernel}: {vector}");
            assert_eq!(
                kernel.search(&precomputed, work, 1, value),
                Some(work),
                "{kernel}"
            );
            assert_eq!(
                kernel.search(&precomputed, work, 1, value + 1),
                None,
                "{kernel}"
            );
        }
    }
}

#[test]
fn random_works_have_the_values_of_the_generic_implementation() {
    let mut rng = Rng::new(2);
    for _ in 0..10_000 {
        let (root, work) = (random_root(&mut rng), rng.next_u64());
        assert_eq!(validate(&root, work), blake2b(&root, work));
    }
}

const PYTHON: &str = "\
import hashlib, sys
for line in sys.stdin:
    root, work = (bytes.fromhex(word) for word in line.split())
    digest = hashlib.blake2b(work[::-1] + root, digest_size=8).digest()
    print(digest[::-1].hex())
";

#[test]
fn python_agrees() {
    let mut rng = Rng::new(3);
    let mut cases: Vec<_> = (0..1000)
        .map(|_| (random_root(&mut rng), rng.next_u64()))
        .collect();
    // Works that each kernel generated.
    let never = false.into();
    for kernel in kernels() {
        for threshold in [
            Network::Dev.receive(),
            Network::Dev.epoch_1(),
            0xfff0_0000_0000_0001,
        ] {
            for _ in 0..29 {
                let root = random_root(&mut rng);
                let work = generate_with(kernel, &root, threshold, NonZeroUsize::MIN, &never);
                let work = work.expect("not cancelled");
                assert!(work.difficulty >= threshold);
                cases.push((root, work.nonce));
            }
        }
    }
    let mut input = String::new();
    for (root, work) in &cases {
        for byte in root {
            write!(input, "{byte:02x}").expect("strings take everything");
        }
        writeln!(input, " {work:016x}").expect("strings take everything");
    }

    let child = Command::new("python3")
        .args(["-c", PYTHON])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return isas::skip("python3", &error.to_string()),
    };
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("python3 ends");
    writer
        .join()
        .expect("no panic")
        .expect("python3 reads everything");
    assert!(output.status.success());
    let theirs: Vec<_> = std::str::from_utf8(&output.stdout)
        .expect("text")
        .lines()
        .collect();
    assert_eq!(theirs.len(), cases.len());
    for (&(root, work), theirs) in cases.iter().zip(theirs) {
        assert_eq!(format!("{:016x}", validate(&root, work)), theirs);
    }
}
