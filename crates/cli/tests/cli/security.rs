//! `lanework security` from outside.

use serde_json::{Value, json};

use crate::{lanework, output, refused, stderr, stdout};

/// What a command that must succeed in silence prints.
fn security(arguments: &[&str]) -> String {
    let table = ["security", "--log-rows", "20", "--columns", "300"];
    let output = output(lanework().args(table).args(arguments));
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    assert_eq!(stderr(&output), "", "{arguments:?}");
    stdout(&output).to_owned()
}

fn object(arguments: &[&str]) -> Value {
    serde_json::from_str(&security(&[arguments, &["--json"]].concat())).expect("one JSON object")
}

#[test]
fn the_readme_shows_what_is_printed() {
    let readme = include_str!("../../../../README.md");
    let printed = security(&["--queries", "229"]);
    assert!(readme.contains(&printed), "{printed}");
}

#[test]
fn json_has_all_fields() {
    let arguments = [
        "--queries",
        "229",
        "--arity",
        "8",
        "--rate",
        "4",
        "--points",
        "1",
    ];
    let printed = object(&arguments);
    let mut expected = json!({
        "scheme": "fri", "log_rows": 20, "columns": 300, "points": 1, "heights": "equal",
        "log_inv_rate": 2, "degree": 6, "log_arity": 3, "target": null,
    });
    expected["regimes"] = printed["regimes"].clone();
    assert_eq!(printed, expected);

    let regimes = printed["regimes"].as_array().expect("an array");
    let names = regimes.iter().map(|regime| regime["regime"].as_str());
    assert!(names.eq(["unique", "list", "conjectured"].map(Some)));
    for regime in regimes {
        let keys = |value: &Value| -> Vec<_> {
            let object = value.as_object().expect("an object");
            object.keys().cloned().collect()
        };
        let mut fields = keys(regime);
        fields.sort();
        assert_eq!(
            fields,
            [
                "bits",
                "grinding",
                "list_size",
                "multiplicity",
                "queries",
                "regime",
                "sum",
                "weakest"
            ]
        );
        assert_eq!(regime["queries"], 229);
        assert_eq!(
            regime["grinding"],
            json!({"batch": 0, "commit": 0, "query": 0})
        );
        let list = regime["regime"] == "list";
        assert_eq!(regime["multiplicity"].is_u64(), list);
        assert_eq!(
            regime["list_size"].as_f64().is_some_and(|size| size > 1.0),
            list
        );
        let bits = &regime["bits"];
        let mut sources = keys(bits);
        sources.sort();
        assert_eq!(
            sources,
            [
                "all_folds",
                "batching",
                "hash",
                "one_fold",
                "out_of_domain",
                "queries"
            ]
        );
        let number = |value: &Value| value.as_f64().expect("a number");
        let weakest = &regime["weakest"];
        let source = weakest["source"].as_str().expect("text");
        assert_eq!(weakest["bits"], bits[source]);
        assert!(number(&regime["sum"]) <= number(&weakest["bits"]));
        for (name, value) in bits.as_object().expect("an object") {
            assert_eq!(value.is_null(), name == "out_of_domain" && !list);
            assert!(
                value.is_null() || name == "all_folds" || number(value) >= number(&weakest["bits"])
            );
        }
    }
}

#[test]
fn a_target_has_the_fewest_queries() {
    let found = security(&["--target", "100", "--quiet"]);
    assert_eq!(found, "241\n201\n102\n");
    for (regime, queries) in ["unique", "list", "conjectured"]
        .into_iter()
        .zip(found.lines())
    {
        let sum = |queries: &str| {
            let printed = security(&["--queries", queries, "--regime", regime, "--quiet"]);
            printed.trim().parse::<f64>().expect("a number")
        };
        let fewer: u32 = queries.parse().expect("a number");
        assert!(sum(queries) >= 100.0);
        assert!(sum(&(fewer - 1).to_string()) < 100.0);
    }

    let grinding = [
        "--grind-query",
        "16",
        "--grind-batch",
        "20",
        "--regime",
        "unique",
    ];
    let printed = object(&[&["--target", "100"], &grinding[..]].concat());
    assert_eq!(printed["target"], 100);
    let regime = &printed["regimes"][0];
    assert_eq!(regime["queries"], 203);
    // Less would do for the queries themselves; the field needs no help.
    assert_eq!(
        regime["grinding"],
        json!({"batch": 0, "commit": 0, "query": 16})
    );
}

#[test]
fn heights_and_degrees_make_a_difference() {
    let folds = |arguments: &[&str]| {
        let common = ["--queries", "100", "--regime", "unique"];
        let printed = object(&[&common, arguments].concat());
        printed["regimes"][0]["bits"]["one_fold"]
            .as_f64()
            .expect("a number")
    };
    assert!((folds(&[]) - folds(&["--heights", "mixed"]) - 1.0).abs() < 0.01);
    assert!((folds(&[]) - folds(&["--degree", "4"]) - 61.977).abs() < 0.01);
    assert!((folds(&["--grind-commit", "9"]) - folds(&[]) - 9.0).abs() < 0.01);
}

#[test]
fn regimes_without_an_answer_are_told_among_others() {
    let arguments = [
        "security",
        "--log-rows",
        "1",
        "--columns",
        "2",
        "--target",
        "90",
    ];
    let run = |more: &[&str]| {
        let output = output(lanework().args(arguments).args(more));
        assert_eq!(stderr(&output), "", "{more:?}");
        assert!(output.status.success(), "{more:?}");
        stdout(&output).to_owned()
    };
    let printed: Value = serde_json::from_str(&run(&["--json"])).expect("one JSON object");
    let errors: Vec<_> = (0..3)
        .map(|index| printed["regimes"][index]["error"].as_str())
        .collect();
    assert!(errors[0].is_some_and(|error| error.contains("90 bits are out of reach")));
    assert!(errors[1].is_some_and(|error| error.contains("2^1 rows are too few")));
    assert_eq!(errors[2], None);
    let quiet = run(&["--quiet"]);
    assert_eq!(quiet.lines().take(2).collect::<Vec<_>>(), ["-", "-"]);
    let text = run(&[]);
    assert!(
        text.contains("\nunique: 90 bits") && text.contains("\nlist: 2^1 rows"),
        "{text}"
    );

    refused(
        &[&arguments[..], &["--regime", "list"]].concat(),
        &["2^1 rows", "hint:"],
    );
}

#[test]
fn slips_are_refused() {
    let refused = |arguments: &[&str], parts: &[&str]| {
        refused(
            &[&["security", "--log-rows", "20"], arguments].concat(),
            parts,
        );
    };
    refused(&["--columns", "3"], &["--queries", "--target"]);
    refused(
        &["--columns", "3", "--queries", "9", "--target", "9"],
        &["--target", "--queries"],
    );
    refused(
        &["--columns", "3", "--queries", "0"],
        &["without queries", "hint:"],
    );
    refused(
        &["--columns", "0", "--queries", "9"],
        &["nothing is opened"],
    );
    refused(
        &["--columns", "3", "--queries", "9", "--rate", "1"],
        &["--rate"],
    );
    refused(
        &["--columns", "3", "--queries", "9", "--arity", "3"],
        &["--arity"],
    );
    refused(
        &["--columns", "3", "--target", "124"],
        &["hash, has 123.9", "hint:"],
    );
    refused(
        &["--columns", "300", "--target", "100", "--degree", "4"],
        &["batching, has 93.7", "hint:", "6 instead of 4"],
    );
}
