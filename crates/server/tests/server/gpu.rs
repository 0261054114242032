//! GPUs: work from nothing else, and what is said without one.

use std::num::NonZeroU32;

use lanework_opencl::{Device, Error, Settings};
use lanework_server::gpu::Gpu;
use lanework_server::worker::Worker;
use lanework_testkit::isas;
use rustix::process::Signal;

use crate::binary::{Started, command, failure, run};
use crate::wire::{HASH, NEVER, Setup, assert_work, generate, wait_for};

/// A difficulty that one nonce in 4096 has.
const SOME: &str = "fff0000000000000";

/// The first GPU, or `None` with a word about the skip.
fn gpu(threads: u32) -> Option<Gpu> {
    let settings = Settings {
        threads: NonZeroU32::new(threads).unwrap(),
        local_work_size: None,
    };
    match Gpu::new(0, 0, 0, settings) {
        Ok(gpu) => Some(gpu),
        Err(error @ (Error::NoLibrary { .. } | Error::NoPlatform | Error::NoDevice { .. })) => {
            isas::skip("opencl", &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_batch_is_a_launch_and_the_next_one_goes_on() {
    let Some(mut gpu) = gpu(5000) else { return };
    assert_eq!(gpu.name(), "gpu-0");
    let threshold = 0xfff0_0000_0000_0001;
    for root in [[1; 32], [2; 32], [1; 32]] {
        let hit = (0..100).find_map(|_| {
            let batch = gpu.search(&root, threshold).unwrap();
            assert_eq!(batch.hashes, 5000);
            batch.hit
        });
        let nonce = hit.expect("one in 4096");
        assert!(lanework_nano::is_valid(&root, nonce, threshold));
    }
    // Another threshold for the same root.
    assert!(gpu.search(&[1; 32], 0).unwrap().hit.is_some());
    assert!(gpu.search(&[1; 32], u64::MAX).unwrap().hit.is_none());
}

#[test]
fn a_server_without_threads_of_the_cpu_finds_work() {
    let Some(gpu) = gpu(1 << 16) else { return };
    let server = Setup {
        workers: vec![Box::new(gpu)],
        ..Setup::default()
    }
    .start();
    for threshold in [0, 0xfff0000000000000, 0xffff800000000001] {
        let difficulty = &format!("{threshold:x}");
        for _ in 0..3 {
            assert_work(&server.post(&generate(HASH, difficulty)), HASH, threshold);
        }
    }
    // A client that leaves takes its search along, and the next one is served.
    let mut leaving = server.connect();
    leaving.send_post(&generate(HASH, NEVER));
    server.wait_waiters(1);
    drop(leaving);
    server.wait_idle();
    assert_work(
        &server.post(&generate(HASH, SOME)),
        HASH,
        0xfff0000000000000,
    );
    assert!(server.metric("nano_work_hashes_total{worker=\"gpu-0\"}") >= 1 << 16);
    assert_eq!(
        server.metric("nano_work_gpu_faults_total{worker=\"gpu-0\"}"),
        0
    );
}

#[test]
fn the_binary_searches_with_a_gpu_alone() {
    let Some(gpu) = gpu(1) else { return };
    let mut server = Started::new(&["-l", "127.0.0.1:0", "-g", "0:0:65536", "--network", "dev"]);
    let Device { vendor, name, .. } = gpu.device();
    assert_eq!(server.seen[0], format!("Initializing GPU: {vendor} {name}"));
    assert!(
        !server
            .seen
            .iter()
            .any(|line| line.contains("CPU work kernel"))
    );
    let answer = server.connect().post(&generate(HASH, SOME));
    assert_work(&answer, HASH, 0xfff0000000000000);
    server.signal(Signal::TERM);
    assert!(server.wait().success());
}

#[test]
fn the_binary_searches_with_a_gpu_and_threads() {
    let Some(_) = gpu(1) else { return };
    let server = Started::new(&[
        "-l",
        "127.0.0.1:0",
        "-c1",
        "-g",
        "0:0:4096",
        "--gpu-local-work-size",
        "64",
    ]);
    assert!(server.seen[1].contains("1 threads"), "{:?}", server.seen);
    let mut client = server.connect();
    client.send_post(&generate(HASH, NEVER));
    wait_for("both to search", || {
        let mut client = server.connect();
        client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let metrics = client.answer().body;
        ["cpu-0", "gpu-0"].iter().all(|worker| {
            let name = format!("nano_work_hashes_total{{worker=\"{worker}\"}} ");
            let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
            line.is_some_and(|count| count != "0")
        })
    });
}

#[test]
fn devices_are_listed() {
    let Some(gpu) = gpu(1) else { return };
    let list = run(&["--list-devices"]);
    assert!(list.status.success());
    let list = String::from_utf8(list.stdout).unwrap();
    let name = &gpu.device().name;
    let line = list.lines().find(|line| line.contains("--gpu 0:0 "));
    assert!(line.is_some_and(|line| line.contains(name)), "{list}");
}

#[test]
fn gpus_that_do_not_exist_and_settings_that_do_not_fit_are_refused() {
    let Some(_) = gpu(1) else { return };
    let message = failure(&["-g", "99:0"]);
    assert!(
        message.contains("no OpenCL platform 99: the highest is "),
        "{message}"
    );
    let message = failure(&["-c1", "-g", "0:99"]);
    assert!(
        message.contains("no device 99 of OpenCL platform 0: the highest is "),
        "{message}"
    );
    let message = failure(&["-g", "0:0:1000", "--gpu-local-work-size", "64"]);
    assert!(
        message
            .contains("the GPU 0:0:1000: 1000 threads are not a multiple of the local work size"),
        "{message}"
    );
}

#[test]
fn without_opencl_only_a_gpu_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    // The loader takes the first file of the name, and this one is no library.
    std::fs::write(folder.path().join("libOpenCL.so.1"), "no library").unwrap();
    let without = || {
        let mut command = command();
        command.env("LD_LIBRARY_PATH", folder.path());
        command
    };
    let server = Started::of(without().args(["-l", "127.0.0.1:0", "-c1"]));
    let answer = server.connect().post(&generate(HASH, SOME));
    assert_work(&answer, HASH, 0xfff0000000000000);
    for arguments in [&["-c1", "-g", "0:0"][..], &["--list-devices"]] {
        let output = without().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("no OpenCL library: "), "{message}");
        assert!(message.contains("\nhint: install"), "{message}");
    }
}
