//! The arguments as they are written. What they mean together is decided by each command.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use lanework::fri::synthetic::Generator;

const EXAMPLES: &str = "\
Examples:
  lanework commit examples/trace.npy
  lanework commit trace.csv --rate 4 --format plonky3 --pad last
  lanework commit trace.bin --rows 65536 --columns 80 --memory consume --json
  lanework commit --synthetic lineth:1 --rows 4096 --columns 4096
  lanework commit --scheme whir any.file
  lanework prove examples/trace.npy -o trace.lwp
  lanework verify trace.lwp --statement trace.lwp.statement.json
  lanework cpu
  lanework cpu --json
  lanework bench ntt
  lanework security --log-rows 20 --columns 300 --queries 229
  lanework work bench
  lanework work serve --cpu-threads auto";

const COMMIT_EXAMPLES: &str = "\
With --scheme whir, INPUT is any file of more than 128 KiB, up to 2 GiB. With --scheme fri it is read by its extension:
  .npy   one or two dimensions of integers of 8 to 64 bits, signed or not, or bool, in either byte
         order, C or Fortran order
  .csv   a line of column names, then a line of integers for each row
  .bin   little-endian u32, column after column, with --rows and --columns

With --memory low, a file that has row after row (.csv, .npy in C order) is first brought into the other order in a
temporary file, 4 bytes for each cell, in the folder that TMPDIR names.

Messages count rows and columns from 0.

Examples:
  lanework commit examples/trace.npy
  lanework commit trace.csv --rate 4 --format plonky3 --pad last
  lanework commit trace.bin --rows 65536 --columns 80 --memory consume --json
  lanework commit --synthetic lineth:1 --rows 4096 --columns 4096
  lanework commit trace.npy --isa avx512,-ifma --threads 1
  lanework commit huge.bin --rows 4194304 --columns 640 --memory low
  lanework commit --scheme whir witness.bin --rate 4 --hash blake2s --memory message

Exit status: 0 done, 2 an error.";

const CPU_EXAMPLES: &str = "\
Features that no kernel uses make no difference; leaving out one that a kernel uses, as in
--isa avx512,-ifma, chooses another kernel with the same results.

Examples:
  lanework cpu
  lanework cpu --json          one object: cpu, threads, caches, isa, isas, kernels
  lanework cpu --isa portable  what would run with a lower choice";

/// Commitments to tables of KoalaBear columns and to files, at full speed on every CPU.
#[derive(Debug, Parser)]
#[command(name = "lanework", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Commit(Commit),
    Cpu(Cpu),
    Prove(crate::prove::Prove),
    Verify(crate::verify::Verify),
    Inspect(crate::verify::Inspect),
    Bench(crate::bench::args::Bench),
    Security(crate::security::Security),
    Work(crate::work::args::Work),
}

/// Reed-Solomon encode a table or a file, hash the rows and print the Merkle root.
#[derive(Debug, Args)]
#[command(after_help = COMMIT_EXAMPLES)]
pub(crate) struct Commit {
    #[command(flatten)]
    pub(crate) input: Input,

    /// The commitment scheme
    #[arg(long, value_enum, default_value_t = Scheme::Fri)]
    pub(crate) scheme: Scheme,

    #[command(flatten)]
    pub(crate) code: Code,

    /// The hash of leaves and nodes (whir) [default: blake3]
    #[arg(long, value_enum)]
    pub(crate) hash: Option<Hash>,

    /// What stays in memory: all; codewords and tree, columns are given back while encoding (fri); little, columns
    /// are read when they are encoded and codewords are not kept (fri); the words and the tree (whir)
    #[arg(long, value_enum, default_value_t = Memory::Keep)]
    pub(crate) memory: Memory,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Where a table comes from.
#[derive(Debug, Args)]
pub(crate) struct Input {
    /// The table, a .npy, .csv or .bin file; with --scheme whir any file
    #[arg(
        id = "input",
        value_name = "INPUT",
        required_unless_present = "synthetic",
        conflicts_with = "synthetic"
    )]
    pub(crate) path: Option<PathBuf>,

    /// A generated table instead, lineth:SEED or random:SEED, with --rows and --columns; with --scheme whir random:SEED,
    /// of 64-bit words
    #[arg(
        long,
        value_name = "KIND:SEED",
        requires = "rows",
        requires = "columns"
    )]
    pub(crate) synthetic: Option<Generator>,

    /// Rows of the table, where the input does not tell
    #[arg(long, value_name = "R")]
    pub(crate) rows: Option<usize>,

    /// Columns of the table, where the input does not tell
    #[arg(long, value_name = "C")]
    pub(crate) columns: Option<usize>,

    /// What fills the table up to a power of two of rows: zeros, or copies of the last row
    #[arg(long, value_enum, conflicts_with = "synthetic")]
    pub(crate) pad: Option<Pad>,

    /// Take values modulo p where they are negative or not below p
    #[arg(long, conflicts_with = "synthetic")]
    pub(crate) reduce: bool,
}

/// The code and its hash.
#[derive(Copy, Clone, Debug, Args)]
pub(crate) struct Code {
    /// The inverse of the rate, code length ÷ message length: how many times as long as a column its
    /// codeword is
    #[arg(long, value_enum, default_value_t = Rate::Two)]
    pub(crate) rate: Rate,

    /// The format of leaves and tree (fri) [default: lineth]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,

    /// The width of the sponge that hashes rows in the plonky3 format [default: 24]
    #[arg(long, value_enum)]
    pub(crate) sponge: Option<Sponge>,
}

/// Show what runs on this machine and why: instruction sets, kernels, caches, threads.
#[derive(Debug, Args)]
#[command(after_help = CPU_EXAMPLES)]
pub(crate) struct Cpu {
    #[command(flatten)]
    pub(crate) common: Common,
}

/// More threads than any machine has are a slip, and would take the machine down.
const THREADS_MAX: usize = 1024;

fn threads(text: &str) -> Result<NonZero<usize>, String> {
    text.parse()
        .ok()
        .filter(|threads: &NonZero<usize>| threads.get() <= THREADS_MAX)
        .ok_or_else(|| format!("not a number from 1 to {THREADS_MAX}"))
}

const ISA: &str = "The instruction set, at most what the CPU has: portable, neon, avx2, avx512, or with \
                   features left out, as in avx512,-ifma [env: LANEWORK_ISA, if not empty] [default: \
                   the widest]";

/// Arguments of every command.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The instruction set as text, if the argument is given.
    #[arg(long, help = ISA)]
    pub(crate) isa: Option<String>,

    /// Threads, at most 1024 [default: all that this process may use]
    #[arg(long, value_name = "T", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the result alone: no timings, no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
pub(crate) enum Scheme {
    /// Tables of KoalaBear columns, hashed with Poseidon2
    Fri,
    /// Any file as 64-bit words over GF(2^64), hashed with BLAKE3 or BLAKE2s
    Whir,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hash {
    Blake3,
    Blake2s,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
pub(crate) enum Rate {
    #[value(name = "2")]
    Two,
    #[value(name = "4")]
    Four,
    #[value(name = "8")]
    Eight,
    #[value(name = "16")]
    Sixteen,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Lineth,
    Plonky3,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
pub(crate) enum Sponge {
    #[value(name = "16")]
    Width16,
    #[value(name = "24")]
    Width24,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Memory {
    Keep,
    Consume,
    Low,
    Message,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
pub(crate) enum Pad {
    Zero,
    Last,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TranscriptHash {
    /// Poseidon2 with the constants of the format
    Poseidon2,
    Blake3,
    Blake2s,
}
