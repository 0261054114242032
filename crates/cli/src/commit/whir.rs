//! `lanework commit --scheme whir`: from a file to its root.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use lanework::arch::files::{PositionedFile, printable};
use lanework::fri::synthetic::Generator;
use lanework::whir::{self, Commitment, Committer, Function, MemoryMode, Params, Report, Stack};
use serde::Serialize;

use super::{Millis, ReportKind};
use crate::table::{Progress, Visibility};
use crate::{args, output};

/// Where the words come from.
enum Source {
    File(PathBuf),
    /// Words from a generator.
    Random {
        seed: u64,
        words: usize,
    },
}

/// Runs the command.
pub(super) fn run(arguments: args::Commit) -> anyhow::Result<()> {
    let (kind, visibility) = (
        ReportKind::of(&arguments.common),
        Visibility::of(&arguments.common),
    );
    let params = params(&arguments)?;
    let source = Source::resolve(arguments)?;
    let start = Instant::now();
    let committer = Committer::new(params)?;
    let reading = Instant::now();
    let stack = committer.threads().install(|| source.read(visibility))?;
    let read = reading.elapsed();

    let words = (stack.words().len() as u64) << committer.params().log_inv_rate();
    let progress = Progress::spinner(visibility, "encoding and hashing", words);
    let (commitment, _data, report) = committer.commit(stack)?;
    progress.finish();

    let done = Done {
        commitment,
        read,
        total: start.elapsed(),
        report,
    };
    output::print(&match kind {
        ReportKind::Table => done.table(),
        ReportKind::Root => format!("{}\n", done.commitment.root()),
        ReportKind::Json => done.json()?,
    })
}

fn params(arguments: &args::Commit) -> anyhow::Result<Params> {
    for (given, name) in [
        (arguments.code.format.is_some(), "--format"),
        (arguments.code.sponge.is_some(), "--sponge"),
        (arguments.input.pad.is_some(), "--pad"),
        (arguments.input.reduce, "--reduce"),
    ] {
        if given {
            bail!(
                "{name} is for --scheme fri\nhint: with --scheme whir the bytes of any file are taken as they are"
            );
        }
    }
    let memory = match arguments.memory {
        args::Memory::Keep => MemoryMode::Keep,
        args::Memory::Message => MemoryMode::Message,
        args::Memory::Consume | args::Memory::Low => {
            bail!(
                "--memory {} is for --scheme fri\nhint: --memory message does not keep the code",
                if arguments.memory == args::Memory::Low {
                    "low"
                } else {
                    "consume"
                }
            )
        }
    };
    let function = match arguments.hash {
        None | Some(args::Hash::Blake3) => Function::Blake3,
        Some(args::Hash::Blake2s) => Function::Blake2s,
    };
    Ok(Params::builder()
        .log_inv_rate(arguments.code.rate.log_inverse())
        .function(function)
        .memory(memory)
        .choice(arguments.common.choice()?)
        .threads(arguments.common.threads)
        .build()?)
}

impl Source {
    fn resolve(arguments: args::Commit) -> anyhow::Result<Self> {
        let args::Input {
            path,
            synthetic,
            rows,
            columns,
            ..
        } = arguments.input;
        match (path, synthetic) {
            (Some(path), None) => {
                if rows.is_some() || columns.is_some() {
                    bail!(
                        "{}: --rows and --columns are for --synthetic; a file tells its size",
                        printable(&path)
                    );
                }
                Ok(Self::File(path))
            }
            (None, Some(Generator::Random { seed })) => {
                let (rows, columns) = rows
                    .zip(columns)
                    .context("--rows and --columns are missing")?;
                let words = rows.checked_mul(columns).with_context(|| {
                    format!("--rows {rows} --columns {columns} are more words than can be counted")
                })?;
                Ok(Self::Random { seed, words })
            }
            (None, Some(generator)) => bail!(
                "--synthetic {generator} is for --scheme fri\nhint: --synthetic random:SEED makes words"
            ),
            _ => bail!("either INPUT or --synthetic is needed"),
        }
    }

    fn read(self, visibility: Visibility) -> anyhow::Result<Stack> {
        match self {
            Self::File(path) => {
                let file = PositionedFile::open(&path)?;
                let bytes = file.len();
                let mut stack = Stack::zeroed(bytes).with_context(|| printable(&path))?;
                let progress = Progress::bar(visibility, "reading", bytes);
                stack.fill(|offset, part| {
                    file.read_at(offset, part)?;
                    progress.advance(part.len() as u64);
                    Ok::<_, lanework::arch::files::Error>(())
                })?;
                progress.finish();
                Ok(stack)
            }
            Self::Random { seed, words } => Ok(whir::synthetic::random(seed, words)?),
        }
    }
}

/// A commitment that was made.
struct Done {
    commitment: Commitment,
    read: Duration,
    total: Duration,
    report: Report,
}

#[derive(Serialize)]
struct Json {
    scheme: &'static str,
    hash: &'static str,
    byte_len: u64,
    log_words: u32,
    log_rows: u32,
    lanes: usize,
    log_inv_rate: u32,
    root: String,
    isa: String,
    kernels: Kernels,
    threads: usize,
    memory: &'static str,
    ms: Millis,
    peak_rss_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Kernels {
    encode: &'static str,
    hash: &'static str,
}

impl Done {
    fn json(&self) -> anyhow::Result<String> {
        let (shape, report) = (self.commitment.shape(), &self.report);
        let json = Json {
            scheme: "whir",
            hash: shape.function.name(),
            byte_len: shape.byte_len,
            log_words: shape.log_words,
            log_rows: shape.log_rows() - shape.log_inv_rate,
            lanes: shape.lanes,
            log_inv_rate: shape.log_inv_rate,
            root: self.commitment.root().to_string(),
            isa: report.choice.to_string(),
            kernels: Kernels {
                encode: report.encode_kernel,
                hash: report.hash_kernel,
            },
            threads: report.threads.get(),
            memory: report.memory.name(),
            ms: Millis {
                read: output::millis(self.read),
                encode: output::millis(report.encode),
                hash: output::millis(report.hash),
                total: output::millis(self.total),
                fused: report.fused,
            },
            peak_rss_bytes: report.peak_rss_bytes,
        };
        Ok(serde_json::to_string(&json)? + "\n")
    }

    fn table(&self) -> String {
        let (shape, report) = (self.commitment.shape(), &self.report);
        let threads = report.threads.get();
        let peak = report
            .peak_rss_bytes
            .map(|peak| format!(", peak {}", output::bytes(peak)));
        let facts = [
            ("root", self.commitment.root().to_string()),
            (
                "input",
                format!(
                    "{} bytes: {} of 64 lanes of 2^{} words",
                    shape.byte_len,
                    shape.lanes,
                    shape.log_rows() - shape.log_inv_rate
                ),
            ),
            (
                "code",
                format!(
                    "{}, inverse rate {}, 2^{} rows",
                    shape.function,
                    1 << shape.log_inv_rate,
                    shape.log_rows()
                ),
            ),
            (
                "machine",
                format!(
                    "{}, {threads} thread{}",
                    report.choice,
                    if threads == 1 { "" } else { "s" }
                ),
            ),
            (
                "kernels",
                format!(
                    "encode {}, hash {}",
                    report.encode_kernel, report.hash_kernel
                ),
            ),
            (
                "memory",
                format!(
                    "{}: words {}, code {}, digests {}{}",
                    report.memory.name(),
                    output::bytes(report.message_bytes),
                    output::bytes(report.code_bytes),
                    output::bytes(report.digest_bytes),
                    peak.unwrap_or_default()
                ),
            ),
        ];
        let bytes = output::approximate(shape.byte_len);
        let phase = |name: &str, time: Duration| {
            [
                name.to_owned(),
                format!("{:.3}", output::millis(time)),
                format!("{:.1}", bytes / time.as_secs_f64().max(1e-9) / 1e6),
            ]
        };
        let phases = [
            phase("read", self.read),
            phase("encode and hash rows", report.encode),
            phase("rest of the tree", report.hash),
            phase("total", self.total),
        ];
        let phases = output::table(["phase", "ms", "million bytes/s"], 1, &phases);
        format!("{}\n{phases}", output::facts(&facts))
    }
}
