//! The binary from outside: roots, shapes of output, errors, exit codes.

mod bench;
mod low;
mod prove;
mod security;
#[cfg(unix)]
mod serve;
mod whir;
mod work;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use lanework::arch::{Choice, Feature};
use lanework_testkit::{isas, vectors};
use serde_json::Value;
use tempfile::TempDir;

/// The roots of `examples/trace.npy`, computed once with an independent scalar implementation.
const EXAMPLE_LINETH: [u32; 8] = [
    2030319661, 1799673682, 388808845, 1213557042, 1177900189, 1597952184, 1860641861, 948938962,
];
const EXAMPLE_PLONKY3_24: [u32; 8] = [
    710996008, 682264681, 17448952, 1976150074, 1521514008, 109189122, 1840469420, 1017871426,
];
const EXAMPLE_PLONKY3_16: [u32; 8] = [
    1095876765, 458510234, 1281457590, 1160035097, 1760922379, 592042668, 883959760, 648137497,
];

const P: u64 = 2130706433;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/trace.npy")
}

fn lanework() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanework"));
    command.env_remove("LANEWORK_ISA").stdin(Stdio::null());
    command
}

fn output(command: &mut Command) -> Output {
    command.output().expect("the binary starts")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8 output")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8 messages")
}

/// The JSON of `lanework commit` with these arguments, which must succeed in silence.
fn commit(arguments: &[&str]) -> Value {
    let output = output(lanework().arg("commit").arg("--json").args(arguments));
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    assert_eq!(stderr(&output), "", "{arguments:?}");
    serde_json::from_str(stdout(&output)).expect("one JSON object")
}

fn root(json: &Value) -> [u32; 8] {
    serde_json::from_value(json["root"].clone()).expect("eight integers")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8 path")
}

/// Runs `lanework` with arguments that must be refused: status 2, nothing on standard output, and a
/// message with all of `parts`.
fn refused(arguments: &[&str], parts: &[&str]) {
    let output = output(lanework().args(arguments));
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(stdout(&output), "", "{arguments:?}");
    assert!(message.starts_with("error: "), "{arguments:?}: {message}");
    for part in parts {
        assert!(
            message.contains(part),
            "{arguments:?}: no {part:?} in: {message}"
        );
    }
}

/// Every instruction set of this machine, and each without one of its features.
fn choices() -> Vec<String> {
    let mut texts = Vec::new();
    for choice in Choice::available() {
        texts.push(choice.to_string());
        if choice.has(Feature::Ifma) {
            texts.push(choice.without(Feature::Ifma).to_string());
        }
    }
    texts
}

// Files of a small table ---------------------------------------------------------------------------

/// Integers of a table, row by row.
#[derive(Clone)]
struct Cells {
    rows: usize,
    columns: usize,
    values: Vec<i128>,
}

impl Cells {
    fn new(rows: usize, columns: usize) -> Self {
        let value = |index: usize| (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % P;
        Self {
            rows,
            columns,
            values: (0..rows * columns)
                .map(|index| value(index).into())
                .collect(),
        }
    }

    fn at(&self, row: usize, column: usize) -> i128 {
        self.values[row * self.columns + column]
    }

    fn set(mut self, row: usize, column: usize, value: i128) -> Self {
        self.values[row * self.columns + column] = value;
        self
    }

    fn columns_first(&self) -> Vec<i128> {
        (0..self.columns)
            .flat_map(|c| (0..self.rows).map(move |r| self.at(r, c)))
            .collect()
    }

    fn csv(&self) -> String {
        let line =
            |cells: &mut dyn Iterator<Item = String>| cells.collect::<Vec<_>>().join(",") + "\n";
        let mut text = line(&mut (0..self.columns).map(|column| format!("c{column}")));
        for row in self.values.chunks(self.columns) {
            text += &line(&mut row.iter().map(i128::to_string));
        }
        text
    }

    fn bin(&self) -> Vec<u8> {
        self.columns_first()
            .iter()
            .flat_map(|&value| u32::try_from(value).expect("a u32").to_le_bytes())
            .collect()
    }

    /// An `.npy` file of type `descr`, in C or Fortran order.
    fn npy(&self, descr: &str, fortran: bool) -> Vec<u8> {
        let order = if fortran { "True" } else { "False" };
        let shape = format!("({}, {})", self.rows, self.columns);
        let values = if fortran {
            self.columns_first()
        } else {
            self.values.clone()
        };
        let width: usize = descr[2..].parse().expect("bytes of a cell");
        let mut bytes = npy_header(descr, order, &shape);
        for value in values {
            let little = value.to_le_bytes();
            if descr.starts_with('<') {
                bytes.extend(&little[..width]);
            } else {
                bytes.extend(little[..width].iter().rev());
            }
        }
        bytes
    }
}

fn npy_header(descr: &str, order: &str, shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes
}

/// A folder of input files, deleted with it.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).expect("a file is written");
        text(&path).to_owned()
    }
}

// Roots --------------------------------------------------------------------------------------------

#[test]
fn the_example_has_its_root_on_every_instruction_set_and_thread_count() {
    let example = example();
    let choices = choices();
    for isa in &choices {
        for threads in ["1", "2", "3"] {
            for memory in ["keep", "consume", "low"] {
                for (format, expected) in [
                    (&["--format", "lineth"][..], EXAMPLE_LINETH),
                    (&["--format", "plonky3"], EXAMPLE_PLONKY3_24),
                    (
                        &["--format", "plonky3", "--sponge", "16"],
                        EXAMPLE_PLONKY3_16,
                    ),
                ] {
                    let arguments = [text(&example), "--isa", isa, "--threads", threads];
                    let arguments = [&arguments[..], &["--memory", memory], format].concat();
                    let json = if memory == "low" {
                        low::commit_low(&arguments).0
                    } else {
                        commit(&arguments)
                    };
                    assert_eq!(root(&json), expected, "{isa} {threads} {memory} {format:?}");
                    assert_eq!(json["isa"], isa.as_str());
                    assert_eq!(json["threads"].to_string(), threads);
                    assert_eq!(json["memory"], memory);
                }
            }
        }
    }
    isas::report("cli", &choices);
}

#[test]
fn the_script_makes_the_example() {
    let files = Files::new();
    let made = files.0.path().join("made.npy");
    let script = example().with_file_name("make_trace.py");
    match Command::new("python3").arg(script).arg(&made).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", stderr(&output));
            assert_eq!(fs::read(made).ok(), fs::read(example()).ok());
        }
        Err(error) => isas::skip("python3", &error.to_string()),
    }
}

#[test]
fn generated_tables_have_the_roots_of_lineth() {
    let mut checked = 0;
    for vector in vectors::koalabear().with_prefix("lineth_generated_") {
        let rows = 1usize << vector.input::<u32>("log_rows");
        let rate = 1usize << vector.input::<u32>("log_inverse_rate");
        let (columns, seed): (usize, u64) = (vector.input("columns"), vector.input("seed"));
        let json = commit(&[
            "--synthetic",
            &format!("lineth:{seed}"),
            "--rows",
            &rows.to_string(),
            "--columns",
            &columns.to_string(),
            "--rate",
            &rate.to_string(),
        ]);
        assert_eq!(
            root(&json),
            vector.output::<[u32; 8]>("root_canonical"),
            "{}",
            vector.name
        );
        checked += 1;
    }
    assert!(checked >= 5, "{checked} vectors");
}

#[test]
fn a_large_table_has_the_published_root() {
    let table = vectors::lineth_roots()
        .iter()
        .find(|table| table.name == "2^12x4096");
    let table = table.expect("the wide table");
    let json = commit(&[
        "--synthetic",
        "lineth:1",
        "--rows",
        "4096",
        "--columns",
        "4096",
    ]);
    assert_eq!(root(&json), table.canonical);
}

#[test]
fn every_file_format_gives_the_same_root() {
    let files = Files::new();
    let cells = Cells::new(16, 5);
    let expected = root(&commit(&[&files.write("t.npy", cells.npy("<u4", false))]));
    for descr in ["<u4", ">u4", "<u8", ">u8", "<i4", ">i4", "<i8", ">i8"] {
        for fortran in [false, true] {
            let path = files.write("t.npy", cells.npy(descr, fortran));
            assert_eq!(root(&commit(&[&path])), expected, "{descr} {fortran}");
        }
    }
    assert_eq!(
        root(&commit(&[&files.write("t.csv", cells.csv())])),
        expected
    );
    let bin = files.write("t.BIN", cells.bin());
    assert_eq!(
        root(&commit(&[&bin, "--rows", "16", "--columns", "5"])),
        expected
    );

    // Types too short for these cells.
    for (most, descrs) in [
        (1, &["|b1", "|u1", "|i1", "<u2"][..]),
        (
            127,
            &["|u1", ">u1", "|i1", "<i1", "<u2", ">u2", "<i2", ">i2"],
        ),
    ] {
        let mut small = cells.clone();
        small.values.iter_mut().for_each(|value| *value &= most);
        let expected = root(&commit(&[&files.write("t.csv", small.csv())]));
        for descr in descrs {
            for fortran in [false, true] {
                let path = files.write("t.npy", small.npy(descr, fortran));
                assert_eq!(root(&commit(&[&path])), expected, "{descr} {fortran}");
            }
        }
    }

    // One dimension is one column.
    let column = Cells::new(8, 1);
    let expected = root(&commit(&[&files.write("c.csv", column.csv())]));
    let mut flat = npy_header("<u4", "False", "(8,)");
    flat.extend(column.bin());
    assert_eq!(root(&commit(&[&files.write("c.npy", flat)])), expected);
}

#[test]
fn rates_and_formats_give_different_roots() {
    let example = example();
    let mut roots = Vec::new();
    for rate in ["2", "4", "8", "16"] {
        for format in ["lineth", "plonky3"] {
            let json = commit(&[text(&example), "--rate", rate, "--format", format]);
            assert_eq!(
                (1u32 << json["log_inv_rate"].as_u64().expect("a number")).to_string(),
                rate
            );
            roots.push(root(&json));
        }
    }
    roots.sort_unstable();
    roots.dedup();
    assert_eq!(roots.len(), 8);
}

#[test]
fn padding_and_reduction_change_the_table_as_they_say() {
    let files = Files::new();
    let short = Cells::new(5, 3);
    let mut zero = Cells {
        rows: 8,
        ..short.clone()
    };
    let mut last = zero.clone();
    zero.values.resize(24, 0);
    for _ in 5..8 {
        last.values.extend_from_slice(&short.values[12..]);
    }
    for (pad, whole) in [("zero", zero), ("last", last)] {
        let expected = root(&commit(&[&files.write("whole.csv", whole.csv())]));
        for (name, bytes) in [
            ("short.csv", short.csv().into_bytes()),
            ("short.npy", short.npy("<u8", false)),
            ("short.npy", short.npy("<u8", true)),
        ] {
            let json = commit(&[&files.write(name, bytes), "--pad", pad]);
            assert_eq!(root(&json), expected, "{pad} {name}");
            assert_eq!(
                (&json["log_rows"], &json["columns"]),
                (&3.into(), &3.into())
            );
        }
    }

    let p = i128::from(P);
    let unfit = Cells::new(4, 2)
        .set(0, 0, p)
        .set(1, 1, -1)
        .set(3, 0, p * 1000 + 7);
    let fit = Cells::new(4, 2).set(0, 0, 0).set(1, 1, p - 1).set(3, 0, 7);
    let expected = root(&commit(&[&files.write("fit.csv", fit.csv())]));
    for (name, bytes) in [
        ("unfit.csv", unfit.csv().into_bytes()),
        ("unfit.npy", unfit.npy(">i8", false)),
    ] {
        assert_eq!(
            root(&commit(&[&files.write(name, bytes), "--reduce"])),
            expected,
            "{name}"
        );
    }
}

// Output -------------------------------------------------------------------------------------------

#[test]
fn json_has_the_documented_fields() {
    let json = commit(&[text(&example())]);
    let keys: Vec<_> = json
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let mut expected = vec![
        "scheme",
        "format",
        "log_rows",
        "columns",
        "log_inv_rate",
        "root",
        "isa",
        "kernels",
        "threads",
        "memory",
        "ms",
        "peak_rss_bytes",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(
        (&json["scheme"], &json["format"]),
        (&"fri".into(), &"lineth".into())
    );
    assert_eq!(
        (&json["log_rows"], &json["columns"]),
        (&12.into(), &20.into())
    );
    assert_eq!(json["log_inv_rate"], 1);
    for phase in ["encode", "hash"] {
        let cpu = output(lanework().args(["cpu", "--json"]));
        let cpu: Value = serde_json::from_str(stdout(&cpu)).expect("one JSON object");
        assert_eq!(
            json["kernels"][phase], cpu["kernels"][0]["kernel"],
            "{phase}"
        );
    }
    let ms = json["ms"].as_object().expect("an object");
    let keys: Vec<_> = ms.keys().map(String::as_str).collect();
    assert_eq!(keys, ["encode", "fused", "hash", "read", "total"]);
    let time = |name: &str| ms[name].as_f64().expect("milliseconds");
    assert!(ms["fused"].is_boolean());
    assert!(time("encode") > 0.0 && time("read") > 0.0);
    assert!(time("total") >= time("read") + time("encode") + time("hash") - 0.01);
    if cfg!(target_os = "linux") {
        let peak = json["peak_rss_bytes"].as_u64().expect("a number");
        assert!(peak > 1 << 20, "{peak}");
    }

    let json = commit(&[text(&example()), "--format", "plonky3", "--sponge", "16"]);
    assert_eq!(
        (&json["format"], &json["sponge"]),
        (&"plonky3".into(), &16.into())
    );
}

#[test]
fn people_get_a_small_table() {
    let files = Files::new();
    let short = files.write("short.csv", Cells::new(5, 3).csv());
    let output = output(lanework().args(["commit", &short, "--pad", "zero", "--threads", "1"]));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let text = stdout(&output);
    for part in [
        "root     [",
        "8 rows x 3 columns, padded from 5",
        "lineth, inverse rate 2, 16 rows",
        ", 1 thread\n",
        "kernels  encode ",
        "keep: codewords 192 B",
        "phase",
        "million cells/s",
        "total",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn quiet_prints_the_root_alone() {
    let files = Files::new();
    let table = files.write("table.csv", Cells::new(4, 2).csv());
    let quiet = output(lanework().args(["commit", &table, "--quiet"]));
    assert!(quiet.status.success());
    assert_eq!(stderr(&quiet), "");
    let printed: [u32; 8] = serde_json::from_str(stdout(&quiet)).expect("the root");
    let json = output(lanework().args(["commit", &table, "--quiet", "--json"]));
    let json: Value = serde_json::from_str(stdout(&json)).expect("one JSON object");
    assert_eq!(printed, root(&json));
}

#[test]
fn the_cpu_command_names_the_kernels() {
    let plain = output(lanework().arg("cpu"));
    assert!(plain.status.success(), "{}", stderr(&plain));
    for part in [
        "cpu",
        "threads",
        "caches",
        "instruction set",
        "portable",
        "poseidon2 width 24",
        "nano work",
    ] {
        assert!(
            stdout(&plain).contains(part),
            "no {part:?} in:\n{}",
            stdout(&plain)
        );
    }
    for isa in choices() {
        let json = output(lanework().args(["cpu", "--json", "--threads", "3", "--isa", &isa]));
        let json: Value = serde_json::from_str(stdout(&json)).expect("one JSON object");
        assert_eq!(json["isa"], isa.as_str());
        assert_eq!(json["threads"], 3);
        let kernels = json["kernels"].as_array().expect("an array");
        assert_eq!(kernels.len(), 6);
        for kernel in kernels {
            // A kernel of a wider instruction set than asked for would fault elsewhere.
            let name = kernel["kernel"].as_str().expect("a name");
            let bundle = isa.split(',').next().expect("a bundle");
            assert!(
                ["portable", "scalar", "neon", "avx2", "avx512"]
                    .iter()
                    .any(|b| name.starts_with(b))
            );
            assert!(
                bundle != "portable" || ["portable", "scalar"].contains(&name),
                "{isa}: {name}"
            );
            assert!(
                !isa.contains("-ifma") || !name.contains("ifma"),
                "{isa}: {name}"
            );
            let used = kernel["used_features"].to_string();
            assert_eq!(
                used.contains("ifma"),
                name.contains("ifma"),
                "{isa}: {used}"
            );
        }
        for bundle in json["isas"].as_array().expect("an array") {
            let list = |key: &str| bundle[key].as_array().expect("an array").clone();
            let features = list("features");
            assert!(
                list("used_features")
                    .iter()
                    .all(|name| features.contains(name))
            );
            assert_eq!(
                list("used_features").contains(&"ifma".into()),
                features.contains(&"ifma".into())
            );
        }
    }
}

#[test]
fn the_environment_names_the_instruction_set() {
    let example = example();
    let run = |isa: &str, more: &[&str]| {
        let mut command = lanework();
        command
            .args(["commit", text(&example), "--json"])
            .args(more)
            .env("LANEWORK_ISA", isa);
        output(&mut command)
    };
    let json: Value = serde_json::from_str(stdout(&run("portable", &[]))).expect("JSON");
    assert_eq!(json["isa"], "portable");
    let best = Choice::best().to_string();
    let json: Value =
        serde_json::from_str(stdout(&run("portable", &["--isa", &best]))).expect("JSON");
    assert_eq!(json["isa"], best.as_str());
    for empty in ["", " "] {
        let json: Value = serde_json::from_str(stdout(&run(empty, &[]))).expect("JSON");
        assert_eq!(json["isa"], best.as_str());
    }
    let unknown = run("sse9", &[]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        stderr(&unknown).contains("LANEWORK_ISA: "),
        "{}",
        stderr(&unknown)
    );
}

#[test]
fn help_and_version_succeed() {
    for arguments in [
        &["--help"][..],
        &["commit", "--help"],
        &["cpu", "--help"],
        &["--version"],
    ] {
        let output = output(lanework().args(arguments));
        assert!(output.status.success(), "{arguments:?}");
        assert!(stdout(&output).contains("lanework"), "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    for arguments in [&["commit", text(&example())][..], &["cpu"], &["--help"]] {
        let full = File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full");
        let output = output(lanework().args(arguments).stdout(full));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains("standard output"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_reader_that_is_gone_is_no_error() {
    let mut command = lanework();
    let command = command
        .args(["commit", text(&example())])
        .stdout(Stdio::piped());
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

// Errors -------------------------------------------------------------------------------------------

#[test]
fn arguments_that_do_not_fit_together() {
    let files = Files::new();
    let table = files.write("t.csv", Cells::new(4, 2).csv());
    let bin = files.write("t.bin", Cells::new(4, 2).bin());
    for (arguments, parts) in [
        (&["commit"][..], &["INPUT"][..]),
        (&["frobnicate"], &["frobnicate"]),
        (
            &["commit", &table, "--rate", "3"],
            &["--rate", "2, 4, 8, 16"],
        ),
        (&["commit", &table, "--scheme", "kzg"], &["--scheme", "fri"]),
        (
            &["commit", &table, "--format", "other"],
            &["lineth, plonky3"],
        ),
        (
            &["commit", &table, "--memory", "none"],
            &["keep, consume, low"],
        ),
        (&["commit", &table, "--pad", "first"], &["zero, last"]),
        (&["commit", &table, "--threads", "0"], &["--threads"]),
        (
            &["commit", &table, "--threads", "1025"],
            &["--threads", "1 to 1024"],
        ),
        (&["cpu", "--threads", "two"], &["--threads", "1 to 1024"]),
        (
            &["commit", &table, "--sponge", "16"],
            &["--sponge", "hint: --format plonky3"],
        ),
        (&["commit", &table, "--rows", "4"], &["--rows", "its own"]),
        (
            &["commit", &table, "--isa", "avx9"],
            &["avx9", "hint: this machine has", "portable"],
        ),
        (
            &["commit", &table, "--isa", "portable,-ifma"],
            &["-ifma", "hint: portable has no features"],
        ),
        (&["cpu", "--isa", "avx9"], &["--isa: ", "avx9"]),
        (
            &["cpu", "--isa", ""],
            &["--isa: ", "hint: this machine has", "portable"],
        ),
        (
            &["commit", &bin],
            &["t.bin: ", "--rows and --columns", "hint: ", "divided by 4"],
        ),
        (
            &["commit", &bin, "--rows", "4"],
            &["--rows and --columns", "hint: "],
        ),
        (
            &["commit", &files.write("t.parquet", "")],
            &["t.parquet", "hint: .npy, .csv and .bin"],
        ),
        (
            &["commit", &files.write("table", "")],
            &["table", "hint: .npy, .csv and .bin"],
        ),
    ] {
        refused(arguments, parts);
    }
}

#[test]
fn generators_and_shapes_that_are_refused() {
    let files = Files::new();
    let table = files.write("t.csv", Cells::new(4, 2).csv());
    let synthetic = ["commit", "--synthetic", "lineth:1"];
    for (arguments, parts) in [
        (
            &[&synthetic[..], &["--rows", "4"]].concat()[..],
            &["--columns"][..],
        ),
        (
            &[&synthetic[..], &["--rows", "12", "--columns", "1"]].concat(),
            &["12", "power of two", "hint: the nearest are 8 and 16"],
        ),
        (
            &[&synthetic[..], &["--rows", "0", "--columns", "1"]].concat(),
            &["0", "power of two", "hint: the least is 1"],
        ),
        (
            &[&synthetic[..], &["--rows", "4", "--columns", "0"]].concat(),
            &["--columns 0"],
        ),
        (
            &[&synthetic[..], &["--rows", "4", "--columns", "1", &table]].concat(),
            &["INPUT"],
        ),
        (
            &[
                "commit",
                "--synthetic",
                "lineth",
                "--rows",
                "4",
                "--columns",
                "1",
            ],
            &["hint: write lineth:SEED or random:SEED"],
        ),
        (
            &[
                "commit",
                "--synthetic",
                "zeros:1",
                "--rows",
                "4",
                "--columns",
                "1",
            ],
            &["zeros:1"],
        ),
    ] {
        refused(arguments, parts);
    }
}

#[test]
fn messages_do_not_steer_the_terminal() {
    let files = Files::new();
    let cells = "a,\u{1b}[31mb\n1,\u{1b}[31m2\n";
    for arguments in [
        &["commit", "no\u{1b}[31m/such.csv"][..],
        &["commit", "no\u{1b}[31m.kind"],
        &["commit", "no\u{1b}[31m.bin"],
        &["commit", &files.write("\u{1b}[31m.npy", "no array")],
        &["commit", &files.write("\u{1b}[31m.csv", cells)],
        &["commit", "--rate", "\u{1b}[31m"],
        &["commit", "--synthetic", "\u{1b}[31m:1"],
        &["cpu", "--isa", "\u{1b}[31m"],
        &["cpu", "--isa", "portable,-\u{1b}[31m"],
        &["\u{1b}[31m\u{7}\r"],
    ] {
        let message = output(lanework().args(arguments)).stderr;
        let message = String::from_utf8(message).expect("UTF-8 messages");
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!message.contains(control), "{arguments:?}: {message:?}");
    }
    // A line break in a name makes no line of its own.
    refused(&["commit", "a\nhint: b.csv"], &["a\\nhint: b.csv"]);
}

#[test]
fn codewords_longer_than_the_field_has_domains_for() {
    let synthetic = |rows: &str, rate: &str, parts: &[&str]| {
        let arguments = ["commit", "--synthetic", "random:1", "--columns", "1"];
        refused(
            &[&arguments[..], &["--rows", rows, "--rate", rate]].concat(),
            parts,
        );
    };
    synthetic("16777216", "2", &["2^24 rows", "2^25 cells", "hint:"]);
    synthetic("2097152", "16", &["2^21 rows", "2^25 cells"]);
    synthetic("9223372036854775808", "2", &["2^63 rows"]);

    // A sparse file: the length is there, the blocks are not.
    let files = Files::new();
    let tall = files.write("tall.bin", "");
    File::options()
        .write(true)
        .open(&tall)
        .and_then(|f| f.set_len(4 * (1 << 23) + 4))
        .expect("a hole");
    let rows = ((1 << 23) + 1).to_string();
    let arguments = [
        "commit",
        &tall,
        "--rows",
        &rows,
        "--columns",
        "1",
        "--pad",
        "last",
    ];
    refused(&arguments, &["tall.bin", "2^24 rows", "hint:"]);
}

#[test]
fn tables_that_no_machine_holds() {
    for (columns, part) in [
        ("18446744073709551615", "too large to address"),
        ("70368744177664", "too large for the address space"),
        ("1073741824", "memory"),
    ] {
        let rows = ["--rows", "65536", "--columns", columns];
        refused(
            &[&["commit", "--synthetic", "random:1"], &rows[..]].concat(),
            &[part],
        );
    }
}

#[test]
fn files_that_are_not_there_or_not_files() {
    let files = Files::new();
    refused(&["commit", "no/such/file.npy"], &["no/such/file.npy"]);
    let folder = files.0.path().join("folder.csv");
    fs::create_dir(&folder).expect("a folder");
    refused(&["commit", text(&folder)], &["folder.csv"]);
    for name in ["empty.npy", "empty.csv"] {
        refused(&["commit", &files.write(name, "")], &[name]);
    }
    let empty = files.write("empty.bin", "");
    refused(
        &["commit", &empty, "--rows", "4", "--columns", "1"],
        &["empty.bin", "16 bytes", "0 bytes"],
    );
    refused(
        &["commit", &empty, "--rows", "0", "--columns", "1"],
        &["empty.bin", "0 rows"],
    );
}

#[test]
fn malformed_npy_files() {
    let files = Files::new();
    let good = Cells::new(4, 2).npy("<u4", false);
    let check = |bytes: &[u8], parts: &[&str]| {
        let path = files.write("bad.npy", bytes);
        refused(&["commit", &path], &[&["bad.npy: "], parts].concat());
    };
    let header = |descr, order, shape| [npy_header(descr, order, shape), vec![0; 32]].concat();

    check(b"not numpy at all", &["not an .npy file"]);
    check(&good[..7], &["ends at byte 7"]);
    check(&good[..40], &["header", "length"]);
    check(&good[..good.len() - 1], &["32 bytes", "31 bytes"]);
    check(&[&good[..], b"x"].concat(), &["32 bytes", "33 bytes"]);
    check(
        &header("<f8", "False", "(4, 1)"),
        &["<f8", "hint: integers of 8 to 64 bits", "astype"],
    );
    check(
        &header("<u4", "False", "(2, 2, 2)"),
        &[
            "3 dimensions",
            "hint: a table is (rows, columns)",
            "reshape",
        ],
    );
    check(&header("<u4", "False", "()"), &["0 dimensions"]);
    check(&header("<u4", "False", "(0, 8)"), &["empty", "0 rows"]);
    check(
        &header("<u4", "False", "(4, -2)"),
        &["expected a decimal integer"],
    );
    check(
        &header("<u4", "Maybe", "(4, 2)"),
        &["expected True or False"],
    );
    check(
        &header("<u4", "False", "(1000000000, 1000000000)"),
        &["4000000000000000000 bytes"],
    );
    check(
        &header("<u4", "False", "(4611686018427387904, 4)"),
        &["too large to address"],
    );
    check(
        &header("<u4", "False", "(99999999999999999999999, 4)"),
        &["addressed"],
    );
    let mut version = good.clone();
    version[6] = 9;
    check(&version, &["9.0"]);
}

#[test]
fn malformed_csv_files() {
    let files = Files::new();
    let check = |text: &str, parts: &[&str]| {
        let path = files.write("bad.csv", text);
        refused(&["commit", &path], &[&["bad.csv: "], parts].concat());
    };
    check("a,b\n", &["empty", "0 rows"]);
    check("1,2\n3,4\n", &["column names", "hint:"]);
    check("a,b\n1,2\n3\n", &["row 1", "1 fields", "expected 2"]);
    check("a,b\n1,2\n3,4,5\n", &["row 1", "3 fields"]);
    check("a\n1\n\n2\n", &["line 3"]);
    check(
        "a,b\n1,2\n3,4.5\n",
        &["row 1, column 1 (b): not an integer: \"4.5\"", "hint: "],
    );
    check(
        &format!("a,b\n1,2\n3,{}\n", "9".repeat(60)),
        &[
            "row 1, column 1 (b): an integer too long",
            "999...",
            "hint: ",
        ],
    );
    check("a,b\n1,2\n,4\n", &["row 1, column 0 (a)", "not an integer"]);
    check(
        "a,b\n1,2\n3,\u{1b}[31m\n",
        &["row 1, column 1 (b)", "\\u{1b}"],
    );
}

#[test]
fn values_that_are_no_field_elements() {
    let files = Files::new();
    let column_first = ["row 6, column 0", "hint:", "--reduce"];
    let row_first = ["row 5, column 2", "hint:", "--reduce"];
    for (value, descr) in [
        (P.into(), "<u4"),
        (u64::MAX.into(), "<u8"),
        (-1, ">i4"),
        (-1 << 40, "<i8"),
    ] {
        let cells = Cells::new(8, 3).set(5, 2, value).set(6, 0, value);
        let message = format!("not a field element: {value}");
        for (name, bytes, parts) in [
            ("c.npy", cells.npy(descr, false), row_first),
            ("f.npy", cells.npy(descr, true), column_first),
            ("c.csv", cells.csv().into_bytes(), row_first),
        ] {
            let path = files.write(name, bytes);
            refused(&["commit", &path], &[&parts[..], &[&message]].concat());
        }
    }
    let cells = Cells::new(8, 3).set(5, 2, P.into()).set(6, 0, P.into());
    let path = files.write("c.bin", cells.bin());
    refused(
        &["commit", &path, "--rows", "8", "--columns", "3"],
        &column_first,
    );
}

#[test]
fn rows_that_are_no_power_of_two() {
    let files = Files::new();
    let cells = Cells::new(5, 2);
    for (name, bytes) in [
        ("five.csv", cells.csv().into_bytes()),
        ("five.npy", cells.npy("<u4", true)),
    ] {
        let path = files.write(name, bytes);
        refused(
            &["commit", &path],
            &[name, "5 rows", "power of two", "hint: --pad zero|last"],
        );
    }
}

/// A header that claims gigabytes is refused by a process that could not have them.
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_allocated_on_trust() {
    let files = Files::new();
    let mut header = Cells::new(4, 2).npy("<u4", false);
    header.splice(6..10, *b"\x02\x00\xff\xff\xff\xff");
    let shape = npy_header("<u4", "False", "(1073741824, 1)");
    for bytes in [header, shape] {
        let path = files.write("absurd.npy", bytes);
        let script = "ulimit -v 1000000; exec \"$0\" commit \"$1\" --threads 1";
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", script, env!("CARGO_BIN_EXE_lanework"), &path]);
        let output = output(shell);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("absurd.npy: "),
            "{}",
            stderr(&output)
        );
    }
}

/// The list of columns that the tree is built over is larger than the table itself if the table has
/// but one row.
#[test]
#[cfg(target_os = "linux")]
fn a_list_of_columns_that_does_not_fit_is_an_error() {
    let script = "ulimit -v 700000; exec \"$0\" commit --synthetic random:1 --rows 1 \
                  --columns 33554432 --threads 1";
    let mut shell = Command::new("sh");
    let output = output(shell.args(["-c", script, env!("CARGO_BIN_EXE_lanework")]));
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("cannot allocate memory"), "{message}");
}
