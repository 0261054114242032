//! The arguments of `lanework bench` as they are written.

use std::num::NonZero;

use clap::{Args, Subcommand};

use crate::args::Common;

const EXAMPLES: &str = "\
Without --isa, what stays in the caches is measured for every instruction set of this CPU. Large encodings run with the
widest, and take 1.5 GiB of memory.

Examples:
  lanework bench ntt
  lanework bench ntt --isa avx2 --threads 1
  lanework bench blake --json    an array of objects: name, isa, threads, value, unit

Exit status: 0 done, 2 an error.";

/// Measure the kernels of this machine.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Additive transforms over GF(2^64): butterflies in the caches, encodings in memory
    #[command(after_help = NTT)]
    Ntt(Options),
    /// BLAKE3 and BLAKE2s of leaves of 512 bytes and of nodes
    #[command(after_help = BLAKE)]
    Blake(Options),
}

const NTT: &str = "\
Names:
  butterfly/long/CLASS   a butterfly of a node of 8 slabs, on one thread, in the second-level cache; CLASS is what the
                         twiddles are: zero, or of one, two or four bytes
  butterfly/rows/CLASS   the same, of a node of 8 rows of 56 words
  butterfly/average      the mean over the 20 layers of a transform of 2^20 rows
  sweep/SHAPE            reading and writing every word of a codeword once
  transpose/SHAPE        rows of words of the tower from lanes of polynomial words
  transpose+encode/...   the same, and the codeword of these rows
  encode/...             the codeword of rows; 48 words are 16 elements of GF(2^192)
  .../sweeps             the time as a multiple of that of a sweep over the same codeword

SHAPE is rows x words of a row.";

const BLAKE: &str = "\
Figures are for one core, and data in its second-level cache. --threads T is how many are at work, by default 1.

Names:
  HASH/leaves   messages of 512 bytes
  HASH/nodes    messages of 64 bytes, which are two digests";

/// What all of them take.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Samples of each figure, which is their median [default: 9, or 1 with --quick]
    #[arg(long, value_name = "N", value_parser = samples)]
    pub(crate) samples: Option<NonZero<usize>>,

    /// Tiny sizes, to see that it works; the figures mean nothing
    #[arg(long)]
    pub(crate) quick: bool,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// More would take days.
const SAMPLES_MAX: usize = 1000;

fn samples(text: &str) -> Result<NonZero<usize>, String> {
    text.parse()
        .ok()
        .filter(|samples: &NonZero<usize>| samples.get() <= SAMPLES_MAX)
        .ok_or_else(|| format!("not a number from 1 to {SAMPLES_MAX}"))
}
