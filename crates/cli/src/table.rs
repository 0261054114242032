//! Tables as the command line names them: files and generators, and what is done with their columns.

mod progress;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use lanework::arch::files::{PositionedFile, printable};
use lanework::arch::memory::{Pages, Slab};
use lanework::fri::synthetic::{self, Generator};
use lanework::fri::{self, ColumnSource, Committer, Format, MemoryMode, Params, Sponge, Table};
use lanework_cli::input::{self, Input, Pad, Shape, Unfit};

use crate::{args, output};
pub(crate) use progress::Progress;

/// log2 of the longest codeword: the two-adicity of the field.
const LOG_CODEWORD_MAX: u32 = 24;

/// Whether progress goes to standard error.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Visibility {
    Shown,
    Hidden,
}

impl Visibility {
    pub(crate) fn of(common: &args::Common) -> Self {
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

/// The parameters of commitments with --scheme fri.
pub(crate) fn params(
    code: args::Code,
    memory: args::Memory,
    common: &args::Common,
) -> anyhow::Result<Params> {
    let format = code.format.unwrap_or(args::Format::Lineth);
    let sponge = match (format, code.sponge) {
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
    Ok(Params::builder(format)
        .log_inv_rate(code.rate.log_inverse())
        .memory(memory)
        .choice(common.choice()?)
        .threads(common.threads)
        .build()?)
}

/// Where a table comes from.
pub(crate) enum Source {
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

pub(crate) enum FileFormat {
    Npy,
    Csv,
    Bin(Shape),
}

impl Source {
    /// What the arguments mean together.
    pub(crate) fn resolve(arguments: args::Input) -> anyhow::Result<Self> {
        let args::Input {
            path,
            synthetic,
            rows,
            columns,
            pad,
            reduce,
        } = arguments;
        match (path, synthetic) {
            (Some(path), None) => Ok(Self::File {
                format: FileFormat::resolve(&path, rows, columns)?,
                path,
                pad: pad.map(|pad| match pad {
                    args::Pad::Zero => Pad::Zero,
                    args::Pad::Last => Pad::Last,
                }),
                unfit: if reduce { Unfit::Reduce } else { Unfit::Reject },
            }),
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
                Ok(Self::Synthetic {
                    generator,
                    log_rows: rows.ilog2(),
                    columns,
                })
            }
            _ => bail!("either INPUT or --synthetic is needed"),
        }
    }

    /// The table for `committer`, in memory unless its columns are to be read when they are encoded, and its
    /// rows before padding.
    pub(crate) fn open(
        &self,
        committer: &Committer,
        visibility: Visibility,
    ) -> anyhow::Result<Given> {
        let log_inv_rate = committer.params().log_inv_rate();
        let low = committer.params().memory() == MemoryMode::Streaming;
        committer.threads().install(|| match self {
            Self::File {
                path,
                format,
                pad,
                unfit,
            } => {
                let file = TableFile {
                    path,
                    format,
                    pad: *pad,
                    unfit: *unfit,
                    log_inv_rate,
                    visibility,
                };
                if low { file.columns() } else { file.read() }
            }
            &Self::Synthetic {
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
pub(crate) type Given = (Box<dyn ColumnSource>, usize);

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
