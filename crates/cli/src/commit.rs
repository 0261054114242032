//! `lanework commit`: from a table to its root.

mod progress;
mod whir;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use lanework::arch::files::{PositionedFile, printable};
use lanework::arch::memory::{Pages, Slab};
use lanework::fri::synthetic::{self, Generator};
use lanework::fri::{self, ColumnSource, Committer, Format, MemoryMode, Params, Sponge, Table};
use lanework_cli::input::{self, Input, Pad, Shape, Unfit};
use serde::Serialize;

use crate::kernels::Kernels;
use crate::{args, output};
use progress::Progress;

/// log2 of the longest codeword: the two-adicity of the field.
const LOG_CODEWORD_MAX: u32 = 24;

/// What to do, once the arguments are known to fit together.
struct Request {
    source: Source,
    params: Params,
    report: ReportKind,
    visibility: Visibility,
}

enum Source {
    File {
        path: PathBuf,
        format: FileFormat,
        pad: Option<Pad>,
        unfit: Unfit,
    },
    Synthetic {
        generator: Generator,
        log_rows: u32,
        columns: usize,
    },
}

enum FileFormat {
    Npy,
    Csv,
    Bin(Shape),
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

/// Whether progress goes to standard error.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Visibility {
    Shown,
    Hidden,
}

impl Visibility {
    fn of(common: &args::Common) -> Self {
        if common.quiet {
            Self::Hidden
        } else {
            Self::Shown
        }
    }
}

impl args::Rate {
    pub(crate) fn log_inverse(self) -> u32 {
        match self {
            Self::Two => 1,
            Self::Four => 2,
            Self::Eight => 3,
            Self::Sixteen => 4,
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
    let low = committer.params().memory() == MemoryMode::Streaming;
    let reading = Instant::now();
    let (table, rows) = committer.threads().install(|| match request.source {
        Source::File {
            path,
            format,
            pad,
            unfit,
        } => {
            let file = TableFile {
                path: &path,
                format: &format,
                pad,
                unfit,
                log_inv_rate,
                visibility: request.visibility,
            };
            if low { file.columns() } else { file.read() }
        }
        Source::Synthetic {
            generator,
            log_rows,
            columns,
        } => {
            check_length(1 << log_rows, log_inv_rate)?;
            let table: Box<dyn ColumnSource> = if low {
                Box::new(synthetic::Columns::new(generator, log_rows, columns))
            } else {
                Box::new(generator.table(log_rows, columns, Pages::Huge)?)
            };
            Ok((table, 1 << log_rows))
        }
    })?;
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
        let args::Commit {
            common,
            rate,
            format,
            sponge,
            memory,
            hash,
            ..
        } = arguments;
        if hash.is_some() {
            bail!(
                "--hash is for --scheme whir\nhint: --format chooses among the hashes of --scheme fri"
            );
        }
        let format = format.unwrap_or(args::Format::Lineth);
        let sponge = match (format, sponge) {
            (args::Format::Lineth, Some(_)) => {
                bail!("--sponge has no meaning in the lineth format\nhint: --format plonky3")
            }
            (_, Some(args::Sponge::Width16)) => Sponge::Width16,
            (_, Some(args::Sponge::Width24) | None) => Sponge::Width24,
        };
        let format = match format {
            args::Format::Lineth => Format::Lineth,
            args::Format::Plonky3 => Format::Plonky3 { sponge },
        };
        let log_inv_rate = rate.log_inverse();
        let memory = match memory {
            args::Memory::Keep => MemoryMode::Keep,
            args::Memory::Consume => MemoryMode::Consume,
            args::Memory::Low => MemoryMode::Streaming,
            args::Memory::Message => {
                bail!(
                    "--memory message is for --scheme whir\nhint: --memory consume gives columns back"
                )
            }
        };
        let params = Params::builder(format)
            .log_inv_rate(log_inv_rate)
            .memory(memory)
            .choice(common.choice()?)
            .threads(common.threads)
            .build()?;
        let (report, visibility) = (ReportKind::of(&common), Visibility::of(&common));

        let args::Commit {
            input,
            synthetic,
            rows,
            columns,
            pad,
            reduce,
            ..
        } = arguments;
        let source = match (input, synthetic) {
            (Some(path), None) => Source::File {
                format: FileFormat::resolve(&path, rows, columns)?,
                path,
                pad: pad.map(|pad| match pad {
                    args::Pad::Zero => Pad::Zero,
                    args::Pad::Last => Pad::Last,
                }),
                unfit: if reduce { Unfit::Reduce } else { Unfit::Reject },
            },
            (None, Some(generator)) => {
                let (rows, columns) = rows
                    .zip(columns)
                    .context("--rows and --columns are missing")?;
                if !rows.is_power_of_two() {
                    bail!(
                        "--rows {rows} is not a power of two\nhint: {}",
                        nearest_powers_of_two(rows)
                    );
                }
                if columns == 0 {
                    bail!("--columns 0 leaves nothing to commit to");
                }
                if (Shape { rows, columns }).cells().is_none() {
                    return Err(input::Error::TooLarge { rows, columns }.into());
                }
                Source::Synthetic {
                    generator,
                    log_rows: rows.ilog2(),
                    columns,
                }
            }
            _ => bail!("either INPUT or --synthetic is needed"),
        };
        Ok(Self {
            source,
            params,
            report,
            visibility,
        })
    }
}

impl FileFormat {
    fn resolve(path: &Path, rows: Option<usize>, columns: Option<usize>) -> anyhow::Result<Self> {
        let extension = path
            .extension()
            .map(|x| x.to_string_lossy().to_ascii_lowercase());
        let format = match extension.as_deref() {
            Some("npy") => Self::Npy,
            Some("csv") => Self::Csv,
            Some("bin") => {
                let (rows, columns) = rows.zip(columns).with_context(|| {
                    format!(
                        "{}: a .bin file needs --rows and --columns\nhint: it has no header that would \
                         tell; rows times columns is its size divided by 4",
                        printable(path)
                    )
                })?;
                return Ok(Self::Bin(Shape { rows, columns }));
            }
            _ => bail!(
                "{}: unknown kind of file\nhint: .npy, .csv and .bin are read; --scheme whir takes any file",
                printable(path)
            ),
        };
        if rows.is_some() || columns.is_some() {
            bail!(
                "{}: --rows and --columns are for .bin files and --synthetic; this file tells its own",
                printable(path)
            );
        }
        Ok(format)
    }
}

/// The powers of two around `rows`, in words.
fn nearest_powers_of_two(rows: usize) -> String {
    match (rows.checked_ilog2(), rows.checked_next_power_of_two()) {
        (Some(log), Some(above)) => format!("the nearest are {} and {above}", 1_usize << log),
        (Some(log), None) => format!("the nearest is {}", 1_usize << log),
        (None, _) => "the least is 1".to_owned(),
    }
}

/// Refuses codewords longer than the field has domains for.
fn check_length(rows: usize, log_inv_rate: u32) -> anyhow::Result<()> {
    let log_rows = rows.ilog2();
    if log_rows + log_inv_rate > LOG_CODEWORD_MAX {
        bail!(
            "2^{log_rows} rows at inverse rate {} make codewords of 2^{} cells: the field has domains \
             of at most 2^{LOG_CODEWORD_MAX}\nhint: {}",
            1 << log_inv_rate,
            log_rows + log_inv_rate,
            if log_rows < LOG_CODEWORD_MAX && log_inv_rate > 1 {
                "lower --rate, or split the table"
            } else {
                "split the table"
            }
        );
    }
    Ok(())
}

/// A table, and its rows before padding.
type Given = (Box<dyn ColumnSource>, usize);

/// A table in a file, to be filled up to a power of two of rows.
struct TableFile<'a> {
    path: &'a Path,
    format: &'a FileFormat,
    pad: Option<Pad>,
    unfit: Unfit,
    log_inv_rate: u32,
    visibility: Visibility,
}

impl TableFile<'_> {
    fn named(&self, error: input::Error) -> anyhow::Error {
        match error {
            // These name the file themselves.
            input::Error::File(error) => anyhow::Error::new(error),
            input::Error::Memory(error) => anyhow::Error::new(error),
            other => anyhow::Error::new(other).context(printable(self.path)),
        }
    }

    /// The file, its bytes, and the rows of the table in the end.
    fn open(&self) -> anyhow::Result<(Input<PositionedFile>, u64, usize)> {
        let file = PositionedFile::open(self.path)?;
        let bytes = file.len();
        let input = match *self.format {
            FileFormat::Npy => Input::npy(file),
            FileFormat::Csv => Input::csv(file),
            FileFormat::Bin(shape) => Input::bin(file, shape),
        }
        .map_err(|error| self.named(error))?;
        let rows = input.shape().rows;
        let height = input::padded_rows(rows, self.pad).map_err(|error| self.named(error))?;
        check_length(height, self.log_inv_rate).with_context(|| printable(self.path))?;
        Ok((input, bytes, height))
    }

    /// The table in memory.
    fn read(&self) -> anyhow::Result<Given> {
        let (input, bytes, height) = self.open()?;
        let Shape { rows, columns } = input.shape();
        let padded = Shape {
            rows: height,
            columns,
        };
        let cells = padded
            .cells()
            .ok_or_else(|| self.named(input::Error::TooLarge { rows, columns }))?;
        let mut cells = Slab::zeroed(cells, Pages::Huge)?;
        let progress = Progress::bar(self.visibility, "reading", bytes);
        input
            .read(self.unfit, &mut cells, height, &|bytes| {
                progress.advance(bytes);
            })
            .map_err(|error| self.named(error))?;
        progress.finish();
        if let Some(pad) = self.pad {
            input::pad_columns(&mut cells, height, rows, pad);
        }
        let table = Table::slab(cells, fri::Shape::base(height.ilog2(), columns))?;
        Ok((Box::new(table), rows))
    }

    /// The table with its cells left in the file, or in a temporary one that has them column after column.
    fn columns(&self) -> anyhow::Result<Given> {
        let (input, bytes, _) = self.open()?;
        let shape = input.shape();
        let (input, unfit) = if input.is_column_major() {
            (input, self.unfit)
        } else {
            (self.transposed(&input, bytes)?, Unfit::Reject)
        };
        let table = input.into_columns(unfit, self.pad);
        Ok((
            Box::new(table.map_err(|error| self.named(error))?),
            shape.rows,
        ))
    }

    /// The table in a temporary file, which has no name, so that it is gone with the process.
    fn transposed(
        &self,
        input: &Input<PositionedFile>,
        bytes: u64,
    ) -> anyhow::Result<Input<PositionedFile>> {
        let folder = std::env::temp_dir();
        let shape = input.shape();
        let failed = |reason: std::io::Error| {
            let folder = printable(&folder);
            anyhow!(
                "cannot keep the columns in a temporary file in {folder}: {reason}\n\
                 hint: TMPDIR names another folder"
            )
        };
        if self.visibility == Visibility::Shown {
            let mib = shape
                .cells()
                .map_or(u64::MAX, |cells| 4 * cells as u64)
                .div_ceil(1 << 20);
            let (path, folder) = (printable(self.path), printable(&folder));
            output::complain(&format!(
                "{path} has row after row: writing its columns to a temporary file of {mib} MiB in {folder}\n"
            ));
        }
        let mut file = tempfile::tempfile().map_err(failed)?;
        let progress = Progress::bar(self.visibility, "transposing", bytes);
        input
            .transpose(self.unfit, &mut file, &|bytes| progress.advance(bytes))
            .map_err(|error| match error {
                input::Error::Write(reason) => failed(reason),
                other => self.named(other),
            })?;
        progress.finish();
        let file = PositionedFile::of(file, folder.join("(a temporary file)"))?;
        Input::bin(file, shape).map_err(|error| self.named(error))
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
