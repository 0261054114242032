//! `lanework prove`: from a table to a proof of its columns' values at a point.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use lanework::arch::files::printable;
use lanework::field::koala::{Ext4, Ext6};
use lanework::fri::{
    Commitment, Committer, Extension, Grinding, OpenReport, OpenedBatch, OpenedTable, Opening,
    ProofParams, Report, Shape, Shifts, Sizes, sample_point,
};
use serde::Serialize;

use crate::security::{Arity, Degree, RegimeName};
use crate::table::{self, Progress, Source, Visibility};
use crate::{args, output, statement};

const EXAMPLES: &str = "\
The columns are polynomials by their values on the roots of unity. `prove` commits to them, draws a point from the \
transcript, computes their values at the point and at its shifts (shift 1 is the next row), and proves these values. \
The statement that it writes beside the proof is what the proof is about: a verifier needs one it trusts.

Examples:
  lanework prove examples/trace.npy -o trace.lwp
  lanework prove trace.npy -o trace.lwp --shifts 0,1 --security 110 --regime list
  lanework prove trace.npy -o trace.lwp --format plonky3 --degree 4 --queries 100 --json
  lanework prove huge.bin --rows 4194304 --columns 640 --memory low -o huge.lwp

Exit status: 0 done, 2 an error.";

/// Commit to a table, open every column at a point from the transcript, and write proof and statement.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Prove {
    #[command(flatten)]
    input: args::Input,

    /// The file for the proof
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The file for the statement [default: the proof's name with .statement.json after it]
    #[arg(long, value_name = "FILE")]
    statement: Option<PathBuf>,

    #[command(flatten)]
    code: args::Code,

    /// What stays in memory, as for commit
    #[arg(long, value_enum, default_value_t = args::Memory::Keep)]
    memory: args::Memory,

    /// Rows after the point's that every column is opened at, in any order; the row before is the number of rows less one
    #[arg(long, value_name = "S,...", value_delimiter = ',', default_value = "0")]
    shifts: Vec<usize>,

    /// Find the fewest queries for so many bits of security
    #[arg(
        long,
        value_name = "BITS",
        default_value_t = 100,
        conflicts_with = "queries"
    )]
    security: u32,

    /// What is assumed: proven for unique decoding, proven for list decoding, or conjectured for random words
    #[arg(long, value_enum, default_value_t = RegimeName::Unique)]
    regime: RegimeName,

    /// Positions that are checked, instead of a number of bits
    #[arg(long, value_name = "Q")]
    queries: Option<u32>,

    /// Bits of proof-of-work before the challenge that combines columns, at most
    #[arg(long, value_name = "BITS", default_value_t = 0)]
    grind_batch: u32,

    /// Bits of proof-of-work before the challenge of each fold, at most
    #[arg(long, value_name = "BITS", default_value_t = 0)]
    grind_commit: u32,

    /// Bits of proof-of-work before the positions are drawn, at most
    #[arg(long, value_name = "BITS", default_value_t = 16)]
    grind_query: u32,

    /// The degree of the field of points and challenges
    #[arg(long, value_enum, default_value_t = Degree::Six)]
    degree: Degree,

    /// The most values that a fold makes one of
    #[arg(long, value_enum, default_value_t = Arity::Eight)]
    arity: Arity,

    /// log2 of the coefficients of the final polynomial
    #[arg(long, value_name = "L", default_value_t = 6)]
    log_final: u32,

    /// The hash of the transcript
    #[arg(long, value_enum, default_value_t = args::TranscriptHash::Poseidon2)]
    transcript: args::TranscriptHash,

    #[command(flatten)]
    common: args::Common,
}

/// Runs the command.
pub(crate) fn run(arguments: Prove) -> anyhow::Result<()> {
    match arguments.degree {
        Degree::Four => with::<Ext4>(arguments),
        Degree::Six => with::<Ext6>(arguments),
    }
}

fn with<E: Extension>(arguments: Prove) -> anyhow::Result<()> {
    let start = Instant::now();
    let visibility = Visibility::of(&arguments.common);
    let params = table::params(arguments.code, arguments.memory, &arguments.common)?;
    let committer = Committer::new(params)?;
    let params = committer.params();
    let source = Source::resolve(arguments.input)?;
    let mut list = arguments.shifts.clone();
    list.sort_unstable();
    list.dedup();
    if list.len() != arguments.shifts.len() {
        bail!("--shifts names a row twice");
    }
    let statement_path = arguments.statement.unwrap_or_else(|| {
        let mut name = arguments.output.clone().into_os_string();
        name.push(".statement.json");
        name.into()
    });
    if let Source::File { path, .. } = &source {
        different(path, &arguments.output)?;
        different(path, &statement_path)?;
    }
    different(&arguments.output, &statement_path)?;
    // Before the work, which may take long.
    let files = [&arguments.output, &statement_path].map(|path| Target::new(path));
    let [proof_file, statement_file] = files;
    let (proof_file, statement_file) = (proof_file?, statement_file?);
    let reading = Instant::now();
    let (table, _) = source.open(&committer, visibility)?;
    let read = reading.elapsed();
    let shape = table.shape();
    let opened = OpenedTable {
        shape,
        shifts: Shifts::uniform(shape.base_width + shape.ext_width, &list),
    };
    let builder = ProofParams::builder()
        .log_arity((arguments.arity as u32).ilog2())
        .log_final_len(arguments.log_final)
        .grinding(Grinding {
            batch: arguments.grind_batch,
            fold: arguments.grind_commit,
            query: arguments.grind_query,
        });
    let regime = arguments.regime.into();
    let proof_params = if let Some(queries) = arguments.queries {
        builder.queries(queries).build()?
    } else {
        builder.for_security::<E>(arguments.security, regime, params, [&opened])?
    };
    let security = proof_params.security::<E>(regime, params, [&opened])?;

    let cells = (shape.columns_len() as u64) << (shape.log_rows + params.log_inv_rate());
    let progress = Progress::spinner(visibility, "encoding and hashing", cells);
    let (commitment, data, committed) = committer.commit(vec![table])?;
    progress.finish();
    let function = statement::function(arguments.transcript, params);
    let mut transcript = statement::transcript(&function, params.choice());
    let batch = OpenedBatch {
        commitment: commitment.clone(),
        tables: vec![opened.clone()],
    };
    let zeta: E = sample_point(params, &proof_params, &mut transcript, &[batch]);
    let progress = Progress::spinner(visibility, "opening", cells);
    let shifts = [opened.shifts];
    let openings = [Opening::new(&commitment, &data, &shifts)];
    let (made, proof, report) = committer.open(&proof_params, &mut transcript, &openings, zeta)?;
    progress.finish();

    let file = statement::File::new(params, &proof_params, &function, &made);
    let text = serde_json::to_string(&file)? + "\n";
    let (statement_file, proof_file) = (
        statement_file.write(text.as_bytes())?,
        proof_file.write(&proof.to_bytes())?,
    );
    statement_file.keep()?;
    proof_file.keep()?;

    let done = Done {
        shape,
        proof: printable(&arguments.output),
        statement: printable(&statement_path),
        queries: proof_params.queries(),
        security_bits: security.security_bits(),
        regime: security.regime().name(),
        degree: E::DEGREE,
        read,
        total: start.elapsed(),
        committed,
        report,
        sizes: proof.sizes(),
        root: commitment,
    };
    output::print(&if arguments.common.json {
        done.json()?
    } else if arguments.common.quiet {
        String::new()
    } else {
        done.text()
    })
}

/// Refuses two names of one file.
fn different(one: &Path, other: &Path) -> anyhow::Result<()> {
    let same = match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    };
    if same {
        bail!(
            "{}: one file for two things\nhint: name another",
            printable(one)
        );
    }
    Ok(())
}

/// A file that appears when it is complete, in the place of an earlier one.
struct Target<'a> {
    path: &'a Path,
    file: tempfile::NamedTempFile,
}

impl<'a> Target<'a> {
    fn new(path: &'a Path) -> anyhow::Result<Self> {
        let failed = || format!("cannot write {}", printable(path));
        if path.is_dir() {
            bail!("{}, which is a folder", failed());
        }
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        // As files are made without further ado; the mask of the process takes away from it.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder).with_context(failed)?;
        Ok(Self { path, file })
    }

    fn write(mut self, bytes: &[u8]) -> anyhow::Result<Self> {
        let failed = || format!("cannot write {}", printable(self.path));
        self.file.write_all(bytes).with_context(failed)?;
        Ok(self)
    }

    fn keep(self) -> anyhow::Result<()> {
        let failed = || format!("cannot write {}", printable(self.path));
        self.file.persist(self.path).with_context(failed)?;
        Ok(())
    }
}

/// A proof that was made.
struct Done {
    shape: Shape,
    proof: String,
    statement: String,
    queries: u32,
    security_bits: u32,
    regime: &'static str,
    degree: usize,
    read: Duration,
    total: Duration,
    committed: Report,
    report: OpenReport,
    sizes: Sizes,
    root: Commitment,
}

#[derive(Serialize)]
struct Json<'a> {
    scheme: &'static str,
    proof: &'a str,
    statement: &'a str,
    log_rows: u32,
    columns: usize,
    root: Option<[u32; 8]>,
    degree: usize,
    queries: u32,
    regime: &'static str,
    security_bits: u32,
    proof_bytes: usize,
    isa: String,
    threads: usize,
    memory: &'static str,
    ms: Millis,
    peak_rss_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Millis {
    read: f64,
    commit: f64,
    claims: f64,
    quotients: f64,
    folding: f64,
    grinding: f64,
    queries: f64,
    open: f64,
    total: f64,
}

impl Done {
    fn json(&self) -> anyhow::Result<String> {
        let report = &self.report;
        let json = Json {
            scheme: "fri",
            proof: &self.proof,
            statement: &self.statement,
            log_rows: self.shape.log_rows,
            columns: self.shape.columns_len(),
            root: self.root.root().map(lanework::hash::Digest::to_canonical),
            degree: self.degree,
            queries: self.queries,
            regime: self.regime,
            security_bits: self.security_bits,
            proof_bytes: self.sizes.total,
            isa: self.committed.choice.to_string(),
            threads: self.committed.threads.get(),
            memory: self.committed.memory.name(),
            ms: Millis {
                read: output::millis(self.read),
                commit: output::millis(self.committed.total),
                claims: output::millis(report.claims),
                quotients: output::millis(report.quotients),
                folding: output::millis(report.folding),
                grinding: output::millis(report.grinding),
                queries: output::millis(report.queries),
                open: output::millis(report.total),
                total: output::millis(self.total),
            },
            peak_rss_bytes: report.peak_rss_bytes,
        };
        Ok(serde_json::to_string(&json)? + "\n")
    }

    fn text(&self) -> String {
        let mut facts = vec![
            (
                "proof",
                format!("{}, {}", self.proof, output::bytes(self.sizes.total as u64)),
            ),
            ("statement", self.statement.clone()),
            (
                "table",
                format!(
                    "{} rows x {} columns",
                    self.shape.rows_len(),
                    self.shape.columns_len()
                ),
            ),
            (
                "security",
                format!(
                    "{} bits ({}), {} queries, degree {}",
                    self.security_bits, self.regime, self.queries, self.degree
                ),
            ),
            (
                "time",
                format!(
                    "read {:.1} ms, commit {:.1} ms, open {:.1} ms",
                    output::millis(self.read),
                    output::millis(self.committed.total),
                    output::millis(self.report.total)
                ),
            ),
        ];
        if let Some(root) = self.root.root() {
            facts.insert(0, ("root", format!("{:?}", root.to_canonical())));
        }
        if let Some(peak) = self.report.peak_rss_bytes {
            let mode = self.committed.memory.name();
            facts.push(("memory", format!("{mode}, peak {}", output::bytes(peak))));
        }
        output::facts(&facts)
    }
}
