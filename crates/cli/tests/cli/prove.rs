//! `lanework prove`, `verify` and `inspect`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::{example, lanework, stderr, text};

fn run(arguments: &[&str], folder: &Path) -> Output {
    let mut command = lanework();
    command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The output of a command that must succeed.
fn success(output: Output) -> Output {
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Proves the example with few queries into `folder`.
fn prove(folder: &Path, more: &[&str]) -> Output {
    let table = example();
    let mut arguments = vec![
        "prove",
        text(&table),
        "-o",
        "t.lwp",
        "--queries",
        "7",
        "--json",
    ];
    arguments.extend(more);
    success(run(&arguments, folder))
}

const VERIFY: [&str; 4] = ["verify", "t.lwp", "--statement", "t.lwp.statement.json"];

#[test]
fn what_is_proven_is_verified() {
    for more in [
        &[][..],
        &["--degree", "4", "--arity", "2", "--shifts", "0,1,5"],
        &[
            "--format",
            "plonky3",
            "--rate",
            "4",
            "--transcript",
            "blake3",
            "--log-final",
            "0",
        ],
        &[
            "--format",
            "plonky3",
            "--sponge",
            "16",
            "--memory",
            "low",
            "--transcript",
            "blake2s",
        ],
        &[
            "--memory",
            "consume",
            "--grind-batch",
            "3",
            "--grind-commit",
            "4",
            "--grind-query",
            "5",
        ],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let proven = json(&prove(folder.path(), more));
        let bytes = fs::read(folder.path().join("t.lwp")).unwrap();
        assert_eq!(proven["proof_bytes"], bytes.len());
        assert_eq!(proven["queries"], 7);
        let output = success(run(&VERIFY, folder.path()));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("valid"), "{text}");
        assert!(text.contains("from the transcript"), "{text}");
        let inspected = json(&success(run(
            &["inspect", "t.lwp", "--json"],
            folder.path(),
        )));
        assert_eq!(inspected["bytes"]["total"], bytes.len());
        let parts = inspected["bytes"].as_object().unwrap();
        let sum: u64 = parts
            .iter()
            .filter(|(name, _)| *name != "total")
            .map(|(_, size)| size.as_u64().unwrap())
            .sum();
        assert_eq!(sum, bytes.len() as u64);
    }
}

/// The same proof, byte for byte, whatever it is made with.
#[test]
fn proofs_do_not_depend_on_the_machine() {
    let expected = {
        let folder = tempfile::tempdir().unwrap();
        prove(folder.path(), &["--isa", "portable", "--threads", "1"]);
        ["t.lwp", "t.lwp.statement.json"].map(|name| fs::read(folder.path().join(name)).unwrap())
    };
    for more in [
        &["--threads", "3"][..],
        &["--memory", "low"],
        &["--memory", "consume"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        prove(folder.path(), more);
        let made = ["t.lwp", "t.lwp.statement.json"]
            .map(|name| fs::read(folder.path().join(name)).unwrap());
        assert!(made == expected, "{more:?}");
    }
}

#[test]
fn changed_proofs_are_invalid_and_changed_statements_too() {
    let folder = tempfile::tempdir().unwrap();
    prove(folder.path(), &[]);
    let path = folder.path().join("t.lwp");
    let bytes = fs::read(&path).unwrap();
    for at in [0, 10, 100, bytes.len() / 2, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(&path, changed).unwrap();
        let output = run(&[&VERIFY[..], &["--json"]].concat(), folder.path());
        assert_eq!(
            (status(&output), &json(&output)["valid"]),
            (1, &Value::Bool(false)),
            "{at}"
        );
    }
    for changed in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat(), b""] {
        fs::write(&path, changed).unwrap();
        let output = run(&VERIFY, folder.path());
        assert_eq!(status(&output), 1);
        assert!(output.stdout.starts_with(b"invalid: "), "{output:?}");
    }
    fs::write(&path, &bytes).unwrap();
    success(run(&VERIFY, folder.path()));

    let statement = folder.path().join("t.lwp.statement.json");
    let original: Value = serde_json::from_slice(&fs::read(&statement).unwrap()).unwrap();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut changed = original.clone();
        change(&mut changed);
        fs::write(&statement, changed.to_string()).unwrap();
        status(&run(&VERIFY, folder.path()))
    };
    let claim = |value: &mut Value| {
        let limb = &mut value["batches"][0]["tables"][0]["openings"][0]["claims"][3][0][2];
        *limb = (limb.as_u64().unwrap() ^ 1).into();
    };
    assert_eq!(with(&claim), 1);
    assert_eq!(with(&|value| value["zeta"][0] = 5.into()), 1);
    assert_eq!(with(&|value| value["queries"] = 6.into()), 1);
    assert_eq!(
        with(&|value| value["batches"][0]["commitment"][0][0] = 1.into()),
        1
    );
    assert_eq!(with(&|value| value["transcript"] = "blake3".into()), 1);
    // These are no statements.
    assert_eq!(with(&|value| value["zeta"][0] = 0x7f00_0001.into()), 2);
    assert_eq!(with(&|value| value["queries"] = 0.into()), 2);
    assert_eq!(with(&|value| value["degree"] = 5.into()), 2);
    assert_eq!(with(&|value| value["more"] = 5.into()), 2);
    assert_eq!(with(&|value| value["version"] = 2.into()), 2);
    assert_eq!(with(&|value| value["batches"] = Value::Array(vec![])), 2);
    let shape = |value: &mut Value| value["batches"][0]["tables"][0]["log_rows"] = 60.into();
    assert_eq!(with(&shape), 2);
    fs::write(&statement, "{").unwrap();
    let output = run(&VERIFY, folder.path());
    assert_eq!(status(&output), 2);
    assert!(String::from_utf8(output.stderr).unwrap().contains("hint: "));
}

/// Seven queries and sixteen bits of work are little.
#[test]
fn the_verifier_tells_how_sure_it_is() {
    let folder = tempfile::tempdir().unwrap();
    prove(folder.path(), &[]);
    let verified = json(&success(run(
        &[&VERIFY[..], &["--json"]].concat(),
        folder.path(),
    )));
    assert_eq!(verified["security_bits"]["unique"], 18);
    let enough = run(
        &[&VERIFY[..], &["--min-security", "18"]].concat(),
        folder.path(),
    );
    assert_eq!(status(&enough), 0);
    let more = run(
        &[&VERIFY[..], &["--min-security", "19"]].concat(),
        folder.path(),
    );
    assert_eq!(status(&more), 1);
    let regime = ["--min-security", "19", "--regime", "conjectured"];
    assert_eq!(
        status(&run(&[&VERIFY[..], &regime].concat(), folder.path())),
        0
    );
}

#[test]
fn no_file_is_written_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("in.npy");
    fs::copy(example(), &table).unwrap();
    for outputs in [
        &["-o", "in.npy"][..],
        &["-o", "./in.npy"],
        &["-o", "t.lwp", "--statement", "in.npy"],
        &["-o", "t.lwp", "--statement", "t.lwp"],
        &["-o", "."],
    ] {
        let arguments = [&["prove", "in.npy", "--queries", "3"], outputs].concat();
        assert_eq!(status(&run(&arguments, folder.path())), 2, "{outputs:?}");
    }
    assert_eq!(fs::read(&table).unwrap(), fs::read(example()).unwrap());
    let names = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1, "the input alone");
}

#[test]
fn mistakes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let table = example();
    let table = text(&table);
    for (arguments, part) in [
        (
            &["prove", table, "-o", "t.lwp", "--security", "200"][..],
            "hint: ",
        ),
        (&["prove", table, "-o", "t.lwp", "--shifts", "0,0"], "twice"),
        (
            &["prove", table, "-o", "t.lwp", "--shifts", "4096"],
            "shift 4096",
        ),
        (&["prove", table, "-o", "t.lwp", "--queries", "0"], "hint: "),
        (
            &["prove", table, "-o", "no/such/t.lwp", "--queries", "3"],
            "no/such",
        ),
        (&["prove", table], "--output"),
        (
            &["verify", "none.lwp", "--statement", "none.json"],
            "none.json",
        ),
        (&["inspect", "none.lwp"], "none.lwp"),
        (&["inspect", table], "not a file of this kind"),
    ] {
        let output = run(arguments, folder.path());
        let errors = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(status(&output), 2, "{arguments:?}: {errors}");
        assert!(errors.contains(part), "{arguments:?}: {errors}");
    }
}
