//! What every benchmark engine shares: the job line, the input table, the sample line.
//!
//! An engine is a program. It takes one job as `key=value` arguments, prepares the input, prints a `ready` line, and
//! then runs one whole commitment for every line it reads from standard input, printing one `sample` line each. The
//! runner decides when a sample is taken, so that samples of several engines alternate in one run.
//!
//! Every sample carries the root: a sample without the right answer is not a sample.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io::{self, BufRead, Write};
use std::time::Duration;

/// The KoalaBear prime.
pub const MODULUS: u32 = 0x7f00_0001;

/// What to commit to, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Base-2 logarithm of the rows of the table.
    pub log_rows: u32,
    /// Columns of the table.
    pub columns: usize,
    /// Base-2 logarithm of the inverse rate.
    pub log_inv_rate: u32,
    /// Threads that may work at once.
    pub threads: usize,
    /// Seed of the input table.
    pub seed: u64,
    /// Leaf and tree format.
    pub format: Format,
    /// Engine-specific choices, in the order given (`dft=…`, `isa=…`).
    pub options: Vec<(String, String)>,
}

/// Leaf and tree format of a commitment, or an encoding without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The padding-free sponge <16,8,8> at the leaves, <2,8,16> above.
    Plonky3Sponge16,
    /// The padding-free sponge <24,16,8> at the leaves, <2,8,16> above.
    Plonky3Sponge24,
    /// The Merkle–Damgård chain of width 16 with a header per row.
    Lineth,
    /// Words of GF(2^64), encoded by an additive transform and not hashed.
    Binary,
}

/// Why a job line was refused.
#[derive(Debug, PartialEq, Eq)]
pub struct JobError(String);

impl fmt::Display for JobError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Error for JobError {}

impl Job {
    /// Reads a job from `key=value` words.
    ///
    /// # Errors
    ///
    /// A word without `=`, a number that does not parse, a missing shape.
    pub fn parse<I: IntoIterator<Item = String>>(words: I) -> Result<Self, JobError> {
        let mut job = Self {
            log_rows: u32::MAX,
            columns: 0,
            log_inv_rate: 1,
            threads: 1,
            seed: 1,
            format: Format::Plonky3Sponge24,
            options: Vec::new(),
        };
        for word in words {
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| JobError(format!("not key=value: {word}")))?;
            match key {
                "log_rows" => job.log_rows = number(key, value)?,
                "columns" => job.columns = number(key, value)?,
                "log_inv_rate" => job.log_inv_rate = number(key, value)?,
                "threads" => job.threads = number(key, value)?,
                "seed" => job.seed = number(key, value)?,
                "format" => {
                    job.format = match value {
                        "plonky3-16" => Format::Plonky3Sponge16,
                        "plonky3-24" => Format::Plonky3Sponge24,
                        "lineth" => Format::Lineth,
                        "binary" => Format::Binary,
                        _ => return Err(JobError(format!("unknown format: {value}"))),
                    }
                }
                _ => job.options.push((key.to_owned(), value.to_owned())),
            }
        }
        if job.log_rows > 24
            || job.columns == 0
            || job.threads == 0
            || job.log_rows + job.log_inv_rate > 24
        {
            return Err(JobError(
                "a job needs log_rows, columns and threads, with a codeword of at most 2^24 rows"
                    .to_owned(),
            ));
        }
        Ok(job)
    }

    /// The value of an engine-specific option.
    pub fn option(&self, key: &str) -> Option<&str> {
        self.options
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// Rows of the table.
    pub fn rows(&self) -> usize {
        1 << self.log_rows
    }
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, JobError> {
    value
        .parse()
        .map_err(|_| JobError(format!("{key} is no number in range: {value}")))
}

/// One column of the deterministic input table, as canonical integers: a xorshift64* stream per column.
///
/// The generator is that of the published lineth benchmark, so that the roots of its shapes are known.
pub fn column(job: &Job, index: usize) -> impl Iterator<Item = u32> + use<> {
    words(job, index).map(|word| (word % u64::from(MODULUS)) as u32)
}

/// One column of the input of [`Format::Binary`]: the same stream, as elements of GF(2)\[x\] / (x^64 + x^4 + x^3 + x + 1).
pub fn words(job: &Job, index: usize) -> impl Iterator<Item = u64> + use<> {
    let mut state = job.seed
        ^ u64::from(job.log_rows + 1).wrapping_mul(0x9e37_79b1_85eb_ca87)
        ^ (index as u64 + 1).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    (0..job.rows()).map(move |_| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state = state.wrapping_mul(2_685_821_657_736_338_717);
        state
    })
}

/// What stands in the place of the root in [`Format::Binary`]: sums of hashes of rows, so that their order makes no
/// difference.
///
/// Two Cantor bases span the same domain and have the same novel basis, so the codewords over both have the same rows, in
/// different orders.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowDigest([u64; 4]);

impl RowDigest {
    /// Takes one row in, as elements of GF(2)\[x\] / (x^64 + x^4 + x^3 + x + 1).
    pub fn add(&mut self, row: impl IntoIterator<Item = u64>) {
        let step = |state: u64, word: u64| {
            let state = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            state ^ state >> 32
        };
        let mut state = row.into_iter().fold(1, step);
        for sum in &mut self.0 {
            state = step(state, 1);
            *sum = sum.wrapping_add(state);
        }
    }

    /// The digest of the rows so far.
    pub fn limbs(&self) -> [u32; 8] {
        std::array::from_fn(|limb| (self.0[limb / 2] >> (32 * (limb % 2))) as u32)
    }
}

/// One whole commitment, timed.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Wall time of the commitment.
    pub total: Duration,
    /// Wall time of the low-degree extension, where it is a phase of its own.
    pub encode: Duration,
    /// Wall time of leaves and tree, where they are a phase of their own.
    pub hash: Duration,
    /// The root as canonical integers, or the digest of the rows.
    pub root: [u32; 8],
}

impl Sample {
    /// The line an engine prints for this sample.
    pub fn line(&self) -> String {
        let mut line = format!(
            "sample total_ns={} encode_ns={} hash_ns={} root=",
            self.total.as_nanos(),
            self.encode.as_nanos(),
            self.hash.as_nanos()
        );
        for (position, limb) in self.root.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(line, "{comma}{limb}").expect("writing to a string");
        }
        line
    }
}

/// An opening of a table at a point and at the next row, timed; the proof has been verified.
#[derive(Clone, Copy, Debug)]
pub struct OpenSample {
    /// Wall time of the commitment.
    pub commit: Duration,
    /// Wall time of the opening: claimed values and proof.
    pub open: Duration,
    /// Wall time of the verifier.
    pub verify: Duration,
    /// Bytes of the proof, without the claimed values.
    pub proof_bytes: usize,
}

impl OpenSample {
    /// The line an engine prints for this sample.
    pub fn line(&self) -> String {
        format!(
            "sample commit_ns={} open_ns={} verify_ns={} proof_bytes={}",
            self.commit.as_nanos(),
            self.open.as_nanos(),
            self.verify.as_nanos(),
            self.proof_bytes
        )
    }
}

/// Prints `ready` with the engine's facts, then takes one sample per line of standard input until it ends.
///
/// # Errors
///
/// Standard input or output fails, or a sample does.
pub fn serve(
    facts: &str,
    mut sample: impl FnMut() -> Result<Sample, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    serve_lines(facts, || sample().map(|sample| sample.line()))
}

/// As [`serve`], for openings.
///
/// # Errors
///
/// As there.
pub fn serve_openings(
    facts: &str,
    mut sample: impl FnMut() -> Result<OpenSample, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    serve_lines(facts, || sample().map(|sample| sample.line()))
}

fn serve_lines(
    facts: &str,
    mut sample: impl FnMut() -> Result<String, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "ready {facts}")?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        line?;
        writeln!(out, "{}", sample()?)?;
        out.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: &str) -> impl Iterator<Item = String> {
        line.split_whitespace().map(str::to_owned)
    }

    #[test]
    fn a_job_line_is_read_back() {
        let job = Job::parse(line(
            "log_rows=4 columns=3 log_inv_rate=2 threads=2 format=lineth seed=7 dft=recursive",
        ))
        .unwrap();
        assert_eq!(
            (
                job.log_rows,
                job.columns,
                job.log_inv_rate,
                job.threads,
                job.seed
            ),
            (4, 3, 2, 2, 7)
        );
        assert_eq!(
            (job.format, job.option("dft"), job.option("isa")),
            (Format::Lineth, Some("recursive"), None)
        );
    }

    #[test]
    fn a_job_line_that_cannot_be_run_is_refused() {
        for text in [
            "columns=3",
            "log_rows=4",
            "log_rows=24 columns=1",
            "log_rows=4 columns=1 format=x",
            "log_rows=4 columns",
            "log_rows=-1 columns=1",
        ] {
            assert!(Job::parse(line(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn columns_follow_the_published_recipe() {
        let job = Job::parse(line("log_rows=2 columns=2")).unwrap();
        // The first column of the known answer `lineth_generated_2^2x3_rate2`.
        assert_eq!(column(&job, 0).collect::<Vec<_>>(), EXPECTED_FIRST);
        assert_ne!(column(&job, 1).next(), Some(EXPECTED_FIRST[0]));
    }

    #[test]
    fn digests_do_not_depend_on_the_order_of_rows() {
        let digest = |rows: &[[u64; 2]]| {
            let mut digest = RowDigest::default();
            for &row in rows {
                digest.add(row);
            }
            digest.limbs()
        };
        assert_eq!(digest(&[[1, 2], [3, 4]]), digest(&[[3, 4], [1, 2]]));
        assert_ne!(digest(&[[1, 2], [3, 4]]), digest(&[[1, 4], [3, 2]]));
        assert_ne!(digest(&[[1, 2], [3, 4]]), digest(&[[2, 1], [3, 4]]));
    }

    const EXPECTED_FIRST: [u32; 4] = [145_684_958, 1_785_153_903, 1_361_077_286, 1_282_730_444];
}
