//! `lanework bench` from outside.

use lanework::arch::{Choice, Feature};
use serde_json::Value;

use crate::{lanework, output, refused, stderr, stdout};

/// What a command that must succeed in silence prints.
fn bench(arguments: &[&str]) -> String {
    let output = output(lanework().args(["bench"]).args(arguments));
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    assert_eq!(stderr(&output), "", "{arguments:?}");
    stdout(&output).to_owned()
}

/// The names, instruction sets, threads and units of the records, all of which have a positive value.
fn records(arguments: &[&str]) -> Vec<[String; 4]> {
    let records: Vec<Value> = serde_json::from_str(&bench(arguments)).expect("an array");
    records
        .iter()
        .map(|record| {
            assert!(record["value"].as_f64().is_some_and(|value| value > 0.0));
            let fields = record.as_object().map(serde_json::Map::len);
            assert_eq!(fields, Some(5), "{record}");
            let text = |key: &str| record[key].as_str().expect("text").to_owned();
            let threads = record["threads"].as_u64().expect("a number").to_string();
            [text("name"), text("isa"), threads, text("unit")]
        })
        .collect()
}

/// All instruction sets of this machine, in the order in which they are measured.
fn choices(gfni: bool) -> Vec<String> {
    let mut choices = Vec::new();
    for choice in Choice::available() {
        if gfni && choice.has(Feature::Gfni) {
            choices.push(choice.without(Feature::Gfni).to_string());
        }
        choices.push(choice.to_string());
    }
    choices
}

#[test]
fn transforms_have_all_figures() {
    let mut expected = Vec::new();
    let mut push = |name: &str, isa: &str, threads: &str, unit: &str| {
        expected.push([name, isa, threads, unit].map(str::to_owned));
    };
    for isa in choices(true) {
        for run in ["long", "rows"] {
            for class in ["zero", "one", "two", "four"] {
                push(&format!("butterfly/{run}/{class}"), &isa, "1", "ns");
            }
        }
        push("butterfly/average", &isa, "1", "ns");
    }
    let best = Choice::best().to_string();
    for (name, unit) in [
        ("sweep/2^9x56", "ms"),
        ("transpose/2^8x56", "ms"),
        ("transpose/2^8x56/sweeps", "sweeps"),
        ("transpose+encode/2^8x56/rate-2", "ms"),
        ("transpose+encode/2^8x56/rate-2/sweeps", "sweeps"),
        ("sweep/2^11x48", "ms"),
        ("encode/2^7x48/rate-16", "ms"),
        ("encode/2^7x48/rate-16/sweeps", "sweeps"),
        ("sweep/2^13x48", "ms"),
        ("encode/2^6x48/rate-128", "ms"),
        ("encode/2^6x48/rate-128/sweeps", "sweeps"),
    ] {
        push(name, &best, "2", unit);
    }
    let arguments = ["ntt", "--quick", "--json", "--threads", "2"];
    assert_eq!(records(&arguments), expected);
}

#[test]
fn hashes_have_all_figures() {
    let mut expected = Vec::new();
    for hash in ["blake3", "blake2s"] {
        for isa in choices(false) {
            for what in ["leaves", "nodes"] {
                let name = format!("{hash}/{what}");
                expected.push([&name, isa.as_str(), "1", "GB/s per core"].map(str::to_owned));
            }
        }
    }
    assert_eq!(records(&["blake", "--quick", "--json"]), expected);
}

#[test]
fn one_instruction_set_can_be_asked_for() {
    let arguments = ["--quick", "--json", "--isa", "portable", "--samples", "2"];
    for (what, count) in [("ntt", 20), ("blake", 4)] {
        let records = records(&[&[what], &arguments[..]].concat());
        assert_eq!(records.len(), count);
        assert!(records.iter().all(|[_, isa, ..]| isa == "portable"));
    }
    let quiet = bench(&["blake", "--quick", "--quiet", "--isa", "portable"]);
    assert_eq!(quiet.lines().count(), 4);
    assert!(quiet.lines().all(|line| line.parse::<f64>().is_ok()));
    let table = bench(&["blake", "--quick", "--isa", "portable", "--threads", "2"]);
    assert!(table.starts_with("median of 1 sample\n\nname"), "{table}");
    assert_eq!(table.lines().count(), 3 + 4, "{table}");
}

#[test]
fn slips_are_refused() {
    refused(&["bench", "ntt", "--samples", "0"], &["1 to 1000"]);
    refused(&["bench", "blake", "--isa", "sse9"], &["sse9", "hint:"]);
}
