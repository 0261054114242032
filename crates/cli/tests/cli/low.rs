//! `--memory low`: the same roots from files of either order and from generators, and what goes wrong.

use super::*;

/// The JSON of `lanework commit` with these arguments, which have `--memory low`, and what it says beside.
pub(super) fn commit_low(arguments: &[&str]) -> (Value, String) {
    let output = output(lanework().args(["commit", "--json"]).args(arguments));
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    let json: Value = serde_json::from_str(stdout(&output)).expect("one JSON object");
    assert_eq!(json["memory"], "low");
    (json, stderr(&output).to_owned())
}

/// A table as `.bin`, as `.npy` in Fortran order and in C order, and as `.csv`.
fn written(files: &Files, rows: usize, columns: usize) -> [String; 4] {
    let cells = Cells::new(rows, columns);
    [
        files.write("table.bin", cells.bin()),
        files.write("fortran.npy", cells.npy(">i8", true)),
        files.write("c.npy", cells.npy("<u4", false)),
        files.write("table.csv", cells.csv()),
    ]
}

#[test]
fn files_in_both_orders_have_the_roots_of_keep() {
    let files = Files::new();
    for (rows, columns) in [(1, 1), (5, 3), (64, 40), (200, 17)] {
        let (rows_text, columns_text) = (rows.to_string(), columns.to_string());
        let paths = written(&files, rows, columns);
        let shape = ["--rows", &rows_text, "--columns", &columns_text];
        for options in [
            &["--pad", "zero", "--threads", "1"][..],
            &["--pad", "last", "--format", "plonky3", "--rate", "4"],
            &["--pad", "last", "--format", "plonky3", "--sponge", "16"],
        ] {
            let expected = commit(&[&[&paths[0][..]], &shape[..], options].concat());
            for path in &paths {
                let shape = if path.ends_with("table.bin") {
                    &shape[..]
                } else {
                    &[]
                };
                let (json, said) =
                    commit_low(&[&[&path[..], "--memory", "low"], shape, options].concat());
                assert_eq!(root(&json), root(&expected), "{path} {options:?}");
                // A column alone is in both orders.
                let transposed =
                    path.ends_with("table.csv") || (path.ends_with("c.npy") && columns > 1);
                assert_eq!(
                    said.contains("temporary file"),
                    transposed,
                    "{path}: {said}"
                );
            }
        }
    }
}

#[test]
fn generated_columns_have_the_roots_of_keep() {
    for generator in ["lineth:1", "random:1"] {
        let arguments = ["--synthetic", generator, "--rows", "256", "--columns", "33"];
        let (json, said) = commit_low(&[&arguments[..], &["--memory", "low"]].concat());
        assert_eq!(root(&json), root(&commit(&arguments)), "{generator}");
        assert_eq!(said, "");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let files = Files::new();
    let words: Vec<u8> = [1, 2, 3, P as u32]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let bin = files.write("big.bin", &words);
    let low = ["commit", "--memory", "low"];
    let shape = ["--rows", "2", "--columns", "2"];
    refused(
        &[&low[..], &[&bin[..]], &shape].concat(),
        &[
            "big.bin: row 1, column 1: not a field element: 2130706433",
            "hint: ",
        ],
    );
    let csv = files.write("big.csv", "a,b\n1,2\n3,2130706433\n");
    let output = output(lanework().args(low).args(["--quiet", &csv]));
    assert_eq!(output.status.code(), Some(2));
    let expected = "big.csv: row 1, column 1 (b): not a field element: 2130706433";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    assert!(!stderr(&output).contains("temporary file"));
}

#[cfg(unix)]
#[test]
fn a_temporary_file_leaves_nothing_and_may_not_be_there() {
    let files = Files::new();
    let folder = files.0.path().join("temporary");
    fs::create_dir(&folder).expect("a folder");
    let good = files.write("good.csv", "a,b\n1,2\n3,4\n");
    let bad = files.write("bad.csv", "a,b\n1,2\n3,x\n");
    for (path, status) in [(&good, 0), (&bad, 2)] {
        let output = output(
            lanework()
                .args(["commit", "--memory", "low", path])
                .env("TMPDIR", &folder),
        );
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        assert!(
            stderr(&output).contains(text(&folder)),
            "{}",
            stderr(&output)
        );
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
    }
    let output = output(
        lanework()
            .args(["commit", "--memory", "low", &good])
            .env("TMPDIR", folder.join("missing")),
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("hint: TMPDIR names another folder"),
        "{}",
        stderr(&output)
    );
}
