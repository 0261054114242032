//! `lanework commit --scheme whir`.

use std::fs;

use lanework::whir::{self, MemoryMode, Params, Stack};
use serde_json::Value;
use tempfile::TempDir;

use super::{choices, commit, lanework, output, refused, stderr, stdout, text};

fn bytes(len: usize) -> Vec<u8> {
    (0..len as u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect()
}

#[test]
fn a_file_has_the_root_of_the_library_whatever_it_runs_on() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("witness");
    // Not a whole number of words.
    let bytes = bytes(200_003);
    fs::write(&path, &bytes).expect("a file");
    let params = Params::builder()
        .log_inv_rate(2)
        .memory(MemoryMode::Message);
    let (commitment, ..) =
        whir::commit(&params.build().unwrap(), Stack::from_bytes(&bytes).unwrap()).unwrap();
    let shape = commitment.shape();
    let common = ["--scheme", "whir", text(&path), "--rate", "4"];
    for isa in choices() {
        for more in [
            &["--memory", "keep"][..],
            &["--memory", "message", "--threads", "3"],
        ] {
            let arguments = [&common[..], &["--isa", &isa], more].concat();
            let json = commit(&arguments);
            assert_eq!(json["root"], commitment.root().to_string(), "{arguments:?}");
            assert_eq!(json["isa"], isa.as_str());
            assert_eq!(json["memory"], more[1]);
        }
    }
    let json = commit(&common);
    assert_eq!(
        (&json["scheme"], &json["hash"]),
        (&"whir".into(), &"blake3".into())
    );
    for (key, value) in [
        ("byte_len", shape.byte_len),
        ("log_words", u64::from(shape.log_words)),
        ("log_rows", u64::from(shape.log_words) - 6),
        ("lanes", shape.lanes as u64),
        ("log_inv_rate", 2),
    ] {
        assert_eq!(json[key], value, "{key}");
    }
    let times = &json["ms"];
    assert_eq!(times["fused"], true);
    assert!(
        ["read", "encode", "hash", "total"]
            .iter()
            .all(|key| times[key].is_f64()),
        "{times}"
    );
    assert!(json["kernels"]["encode"].is_string() && json["kernels"]["hash"].is_string());

    let table = output(lanework().arg("commit").args(common));
    assert!(
        stdout(&table).contains(&commitment.root().to_string()),
        "{}",
        stdout(&table)
    );
    let quiet = output(lanework().arg("commit").args(common).arg("--quiet"));
    assert_eq!(stdout(&quiet), format!("{}\n", commitment.root()));
    assert_eq!(stderr(&quiet), "");
}

#[test]
fn hashes_and_rates_are_other_commitments() {
    let base = [
        "--scheme",
        "whir",
        "--synthetic",
        "random:7",
        "--rows",
        "20000",
        "--columns",
        "1",
    ];
    let root = |more: &[&str]| -> Value { commit(&[&base[..], more].concat())["root"].clone() };
    let roots = [
        root(&[]),
        root(&["--hash", "blake2s"]),
        root(&["--rate", "16"]),
        root(&["--hash", "blake2s", "--rate", "8"]),
    ];
    for (i, root) in roots.iter().enumerate() {
        assert_eq!(root.as_str().map(str::len), Some(64));
        assert!(!roots[..i].contains(root));
    }
    assert_eq!(
        roots[0],
        root(&["--hash", "blake3", "--rate", "2", "--memory", "message"])
    );
}

#[test]
fn what_cannot_be_is_refused_with_a_hint() {
    let folder = TempDir::new().expect("a folder");
    let small = folder.path().join("small");
    fs::write(&small, bytes(131_072)).expect("a file");
    let whir = ["commit", "--scheme", "whir"];
    let refuse = |more: &[&str], parts: &[&str]| refused(&[&whir[..], more].concat(), parts);
    refuse(
        &[text(&small)],
        &["small", "too small", "131072 bytes", "hint:"],
    );
    refuse(&[text(folder.path())], &["not a regular file"]);
    refuse(&["/nowhere/to/be/found"], &["cannot open"]);
    let synthetic = [
        "--synthetic",
        "random:1",
        "--rows",
        "40000",
        "--columns",
        "1",
    ];
    let given = |more: &[&'static str]| [&synthetic[..], more].concat();
    refuse(
        &given(&["--format", "lineth"]),
        &["--format is for --scheme fri", "hint:"],
    );
    refuse(
        &given(&["--memory", "low"]),
        &["--memory low is for --scheme fri", "hint:"],
    );
    refuse(
        &given(&["--memory", "consume"]),
        &["--memory consume is for --scheme fri", "hint:"],
    );
    refuse(
        &[
            "--synthetic",
            "lineth:1",
            "--rows",
            "40000",
            "--columns",
            "1",
        ],
        &["lineth:1 is for --scheme fri", "hint:"],
    );
    refuse(
        &[
            "--synthetic",
            "random:1",
            "--rows",
            "536870912",
            "--columns",
            "2",
        ],
        &["too large", "hint:"],
    );
    refuse(
        &[text(&small), "--pad", "zero"],
        &["--pad is for --scheme fri", "hint:"],
    );
    refused(
        &[
            "commit",
            "--synthetic",
            "random:1",
            "--rows",
            "8",
            "--columns",
            "1",
            "--hash",
            "blake3",
        ],
        &["--hash is for --scheme whir", "hint:"],
    );
    refused(
        &[
            "commit",
            "--synthetic",
            "random:1",
            "--rows",
            "8",
            "--columns",
            "1",
            "--memory",
            "message",
        ],
        &["--memory message is for --scheme whir", "hint:"],
    );
}
