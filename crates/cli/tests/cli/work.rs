//! `lanework work` from outside.

use std::process::Output;

use lanework::nano::{Kernel, validate};
use serde_json::Value;

use crate::{lanework, output, stderr};

/// The roots and works of a receive block and of a send block, from the documentation of
/// nano-work-server and of the node's RPC.
const ROOT: &str = "718CC2121C3E641059BC1C2CFC45666C99E8AE922F7A807B7D07B62C995D79E2";
const RECEIVE: &str = "2bf29ef00786a6bc";
const SEND: &str = "2b3d689bbcb21dca";

fn work(arguments: &[&str]) -> Output {
    output(lanework().arg("work").args(arguments))
}

/// The standard output of a command that must end with `status` and say nothing else.
fn stdout(arguments: &[&str], status: i32) -> String {
    let output = work(arguments);
    assert_eq!(stderr(&output), "", "{arguments:?}");
    assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    crate::stdout(&output).to_owned()
}

fn json(arguments: &[&str], status: i32) -> Value {
    serde_json::from_str(&stdout(arguments, status)).expect("JSON")
}

/// Runs a command that must be refused with a message that has all of `parts`.
fn refused(arguments: &[&str], parts: &[&str]) {
    let output = work(arguments);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(crate::stdout(&output), "", "{arguments:?}");
    for part in parts {
        assert!(
            message.contains(part),
            "{arguments:?}: no {part:?} in: {message}"
        );
    }
}

#[test]
fn works_are_judged() {
    let send = json(&["validate", ROOT, SEND, "--json"], 0);
    assert_eq!(send["difficulty"], "fffffff93c41ec94");
    assert_eq!(send["multiplier"], 1.1826238710976358);
    assert_eq!(send["threshold"], "fffffff800000000");
    assert_eq!(
        (&send["valid"], &send["valid_send"]),
        (&true.into(), &true.into())
    );

    let receive = json(&["validate", ROOT, RECEIVE, "--json"], 1);
    assert_eq!(receive["difficulty"], "ffffffd21c3933f4");
    assert_eq!(receive["valid"], false);
    assert_eq!(receive["valid_send"], false);
    assert_eq!(receive["valid_receive"], true);
    assert_eq!(receive["valid_epoch_1"], true);

    for (more, status) in [
        (&["--block", "receive"][..], 0),
        (&["--block", "epoch-1"], 0),
        (&["--block", "send"], 1),
        (&["--network", "banano"], 0),
        (&["--threshold", "ffffffd21c3933f4"], 0),
        (&["--threshold", "FFFFFFD21C3933F5"], 1),
        (&["--multiplier", "0.17"], 0),
        (&["--multiplier", "0.18"], 1),
    ] {
        let arguments = [&["validate", ROOT, RECEIVE, "--quiet"], more].concat();
        assert_eq!(stdout(&arguments, status), "ffffffd21c3933f4\n");
    }
    // The work of another root, and with its bytes in the other order.
    assert_eq!(
        json(&["validate", ROOT, "205452237a9b01f4", "--json"], 1)["difficulty"],
        "434595d262552e4a"
    );
    assert_eq!(
        json(&["validate", ROOT, "bca68607f09ef22b", "--json"], 1)["valid"],
        false
    );
    assert!(stdout(&["validate", ROOT, SEND], 0).contains("fffffff93c41ec94"));
}

#[test]
fn work_is_found() {
    let bytes = std::array::from_fn(|i| {
        u8::from_str_radix(&ROOT[2 * i..2 * i + 2], 16).expect("hexadecimal digits")
    });
    for kernel in Kernel::available() {
        for threads in ["1", "3"] {
            let arguments = [
                "generate",
                ROOT,
                "--threshold",
                "ffff000000000000",
                "--threads",
                threads,
                "--kernel",
                kernel.name(),
                "--json",
            ];
            let found = json(&arguments, 0);
            let word = |key: &str| {
                let text = found[key].as_str().expect("a string");
                assert_eq!(text.len(), 16, "{key}: {text}");
                u64::from_str_radix(text, 16).expect("hexadecimal digits")
            };
            assert_eq!(validate(&bytes, word("work")), word("difficulty"));
            assert!(word("difficulty") >= 0xffff_0000_0000_0000);
            assert_eq!(found["root"], ROOT.to_lowercase());
            assert_eq!(found["kernel"], kernel.name());
            assert_eq!(found["threads"].to_string(), threads);
        }
    }
    let found = stdout(
        &[
            "generate",
            ROOT,
            "--network",
            "dev",
            "--block",
            "receive",
            "--quiet",
        ],
        0,
    );
    let status = [
        "validate",
        ROOT,
        found.trim(),
        "--network",
        "dev",
        "--block",
        "receive",
    ];
    stdout(&status, 0);
    assert!(
        stdout(
            &[
                "generate",
                ROOT,
                "--multiplier",
                "1e-6",
                "--isa",
                "portable"
            ],
            0
        )
        .contains("scalar")
    );
}

#[test]
fn rates() {
    let rate = json(
        &[
            "bench",
            "--kernel",
            "scalar",
            "--threads",
            "1",
            "--seconds",
            "0.05",
            "--json",
        ],
        0,
    );
    assert_eq!(rate["kernel"], "scalar");
    assert_eq!((&rate["lanes"], &rate["threads"]), (&1.into(), &1.into()));
    assert!(
        rate["hashes_per_second"]
            .as_f64()
            .is_some_and(|rate| rate > 1e3)
    );
    assert!(rate["cycles_per_hash"].is_null() || rate["cycles_per_hash"].is_number());

    let all = json(
        &["bench", "--kernel", "all", "--seconds", "0.02", "--json"],
        0,
    );
    let names: Vec<_> = all
        .as_array()
        .expect("an array")
        .iter()
        .map(|rate| &rate["kernel"])
        .collect();
    assert_eq!(
        names,
        Kernel::available()
            .into_iter()
            .map(Kernel::name)
            .collect::<Vec<_>>()
    );
    let table = stdout(&["bench", "--kernel", "all", "--seconds", "0.02"], 0);
    assert_eq!(table.lines().count(), 1 + names.len(), "{table}");
}

#[test]
fn what_cannot_be_is_refused() {
    let foreign = if cfg!(target_arch = "aarch64") {
        "avx2"
    } else {
        "neon"
    };
    refused(
        &["bench", "--kernel", foreign],
        &["does not run", "hint: it has", "scalar"],
    );
    refused(
        &["bench", "--kernel", "fast"],
        &["unknown kernel: fast", "scalar"],
    );
    refused(&["generate", ROOT, "--kernel", foreign], &["does not run"]);
    refused(&["generate", &ROOT[1..]], &["64 hexadecimal digits"]);
    refused(&["generate", &ROOT.replace('7', "g")], &["not hexadecimal"]);
    refused(
        &["generate", "€€€€€€€€€€€€€€€€€€€€€"],
        &["64 hexadecimal digits"],
    );
    refused(
        &["generate", ROOT, "--network", "nyan"],
        &["unknown network: nyan"],
    );
    refused(
        &["generate", ROOT, "--multiplier", "0"],
        &["not a positive number"],
    );
    refused(
        &["generate", ROOT, "--multiplier", "inf"],
        &["not a positive number"],
    );
    refused(&["generate", ROOT, "--threshold", "0xff"], &["hexadecimal"]);
    refused(
        &["generate", ROOT, "--threshold", "ff", "--multiplier", "1"],
        &["cannot be used with"],
    );
    refused(&["validate", ROOT, ""], &["hexadecimal"]);
    refused(&["validate", ROOT, "00000000000000000"], &["hexadecimal"]);
    refused(&["validate", ROOT, "+1"], &["hexadecimal"]);
    refused(&["bench", "--seconds", "0"], &["not a number"]);
    refused(&["bench", "--threads", "0"], &["--threads"]);
}
