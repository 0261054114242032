//! `lanework commit`: from a table to its root.

mod whir;

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use lanework::fri::{self, Committer, Format, Params, Sponge};
use serde::Serialize;

use crate::kernels::Kernels;
use crate::table::{self, Progress, Source, Visibility};
use crate::{args, output};

/// What to do, once the arguments are known to fit together.
struct Request {
    source: Source,
    params: Params,
    report: ReportKind,
    visibility: Visibility,
}

/// What goes to standard output.
#[derive(Copy, Clone, PartialEq, Eq)]
enum ReportKind {
    Table,
    Root,
    Json,
}

impl ReportKind {
    fn of(common: &args::Common) -> Self {
        match (common.json, common.quiet) {
            (true, _) => Self::Json,
            (false, true) => Self::Root,
            (false, false) => Self::Table,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: args::Commit) -> anyhow::Result<()> {
    match arguments.scheme {
        args::Scheme::Fri => run_fri(arguments),
        args::Scheme::Whir => whir::run(arguments),
    }
}

fn run_fri(arguments: args::Commit) -> anyhow::Result<()> {
    let request = Request::resolve(arguments)?;
    let start = Instant::now();
    let committer = Committer::new(request.params)?;
    let log_inv_rate = committer.params().log_inv_rate();
    let reading = Instant::now();
    let (table, rows) = request.source.open(&committer, request.visibility)?;
    let read = reading.elapsed();
    let shape = table.shape();

    let cells = (shape.columns_len() as u64) << (shape.log_rows + log_inv_rate);
    let progress = Progress::spinner(request.visibility, "encoding and hashing", cells);
    let (commitment, _data, report) = committer.commit(vec![table])?;
    progress.finish();

    let root = commitment
        .root()
        .context("the commitment is a cap of several digests")?;
    let done = Done {
        root: root.to_canonical(),
        rows,
        shape,
        format: committer.params().format(),
        log_inv_rate,
        read,
        total: start.elapsed(),
        kernels: Kernels::of(committer.params(), shape.log_rows)?,
        report,
    };
    output::print(&match request.report {
        ReportKind::Table => done.table(),
        ReportKind::Root => format!("{:?}\n", done.root),
        ReportKind::Json => done.json()?,
    })
}

impl Request {
    fn resolve(arguments: args::Commit) -> anyhow::Result<Self> {
        if arguments.hash.is_some() {
            bail!(
                "--hash is for --scheme whir\nhint: --format chooses among the hashes of --scheme fri"
            );
        }
        Ok(Self {
            params: table::params(arguments.code, arguments.memory, &arguments.common)?,
            source: Source::resolve(arguments.input)?,
            report: ReportKind::of(&arguments.common),
            visibility: Visibility::of(&arguments.common),
        })
    }
}

/// A commitment that was made.
struct Done {
    root: [u32; 8],
    /// Rows before padding.
    rows: usize,
    shape: fri::Shape,
    format: Format,
    log_inv_rate: u32,
    read: Duration,
    total: Duration,
    kernels: Kernels,
    report: fri::Report,
}

#[derive(Serialize)]
struct Json {
    scheme: &'static str,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sponge: Option<u32>,
    log_rows: u32,
    columns: usize,
    log_inv_rate: u32,
    root: [u32; 8],
    isa: String,
    kernels: Kernels,
    threads: usize,
    memory: &'static str,
    ms: Millis,
    peak_rss_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Millis {
    read: f64,
    encode: f64,
    hash: f64,
    total: f64,
    fused: bool,
}

impl Done {
    fn sponge(&self) -> Option<u32> {
        match self.format {
            Format::Plonky3 {
                sponge: Sponge::Width16,
            } => Some(16),
            Format::Plonky3 {
                sponge: Sponge::Width24,
            } => Some(24),
            _ => None,
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        let json = Json {
            scheme: "fri",
            format: self.format.name(),
            sponge: self.sponge(),
            log_rows: self.shape.log_rows,
            columns: self.shape.columns_len(),
            log_inv_rate: self.log_inv_rate,
            root: self.root,
            isa: self.report.choice.to_string(),
            kernels: self.kernels,
            threads: self.report.threads.get(),
            memory: self.report.memory.name(),
            ms: Millis {
                read: output::millis(self.read),
                encode: output::millis(self.report.encode),
                hash: output::millis(self.report.hash),
                total: output::millis(self.total),
                fused: self.report.fused,
            },
            peak_rss_bytes: self.report.peak_rss_bytes,
        };
        Ok(serde_json::to_string(&json)? + "\n")
    }

    fn table(&self) -> String {
        let (rows, columns) = (self.shape.rows_len(), self.shape.columns_len());
        let padded = match rows - self.rows {
            0 => String::new(),
            _ => format!(", padded from {}", self.rows),
        };
        let sponge = self
            .sponge()
            .map(|width| format!(", sponge {width}"))
            .unwrap_or_default();
        let report = &self.report;
        let threads = report.threads.get();
        let Kernels { encode, hash } = self.kernels;
        let mut facts = vec![
            ("root", format!("{:?}", self.root)),
            ("table", format!("{rows} rows x {columns} columns{padded}")),
            (
                "code",
                format!(
                    "{}{sponge}, inverse rate {}, {} rows",
                    self.format.name(),
                    1 << self.log_inv_rate,
                    rows << self.log_inv_rate
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
            ("kernels", format!("encode {encode}, hash {hash}")),
        ];
        let peak = report
            .peak_rss_bytes
            .map(|peak| format!(", peak {}", output::bytes(peak)));
        facts.push((
            "memory",
            format!(
                "{}: codewords {}, digests {}{}",
                report.memory.name(),
                output::bytes(report.codeword_bytes),
                output::bytes(report.digest_bytes),
                peak.unwrap_or_default()
            ),
        ));

        let cells = output::approximate(rows as u64 * columns as u64);
        let phase = |name: &str, time: Duration| {
            let throughput = cells / time.as_secs_f64().max(1e-9) / 1e6;
            [
                name.to_owned(),
                format!("{:.3}", output::millis(time)),
                format!("{throughput:.1}"),
            ]
        };
        let mut phases = vec![phase("read", self.read)];
        if report.fused {
            phases.push(phase("encode and hash", report.total));
        } else {
            phases.push(phase("encode", report.encode));
            phases.push(phase("hash", report.hash));
        }
        phases.push(phase("total", self.total));
        let phases = output::table(["phase", "ms", "million cells/s"], 1, &phases);
        format!("{}\n{phases}", output::facts(&facts))
    }
}
