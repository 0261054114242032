//! The arguments of `lanework work` as they are written.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use lanework::nano::{Network, Root};

use crate::args::Common;

const EXAMPLES: &str = "\
Examples:
  lanework work generate 718CC2121C3E641059BC1C2CFC45666C99E8AE922F7A807B7D07B62C995D79E2
  lanework work generate ROOT --block receive --json
  lanework work validate ROOT 2b3d689bbcb21dca
  lanework work bench --kernel all
  lanework work serve --cpu-threads auto --listen-address 127.0.0.1:7076

Exit status: 0 done, 1 the work is not valid, 2 an error.";

/// Find, check and serve Nano proof-of-work, and see how fast this machine is at it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Work {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Generate(Generate),
    Validate(Validate),
    Bench(Bench),
    /// Find work for whoever asks over HTTP, with the options of nano-work-server
    #[cfg(unix)]
    Serve(Box<lanework_server::options::Options>),
}

/// Search for work and print it.
#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The hash of the account's previous block, or the public key of an account without one
    #[arg(value_parser = root)]
    pub(crate) root: Root,

    #[command(flatten)]
    pub(crate) goal: Goal,

    /// The kernel: avx512, avx512vl, avx2, neon-sha3, neon, scalar [default: the fastest here]
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Compute the value of a work and compare it with the thresholds.
///
/// The exit status is 1 if the work is not valid.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The hash of the account's previous block, or the public key of an account without one
    #[arg(value_parser = root)]
    pub(crate) root: Root,

    /// The work, up to 16 hexadecimal digits
    #[arg(value_parser = hexadecimal)]
    pub(crate) work: u64,

    #[command(flatten)]
    pub(crate) goal: Goal,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the value alone
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Measure how fast the search is, in hashes per second and cycles per hash.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// The kernel: avx512, avx512vl, avx2, neon-sha3, neon, scalar, or all that run here
    /// [default: the fastest here]
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,

    /// How long to measure each kernel
    #[arg(long, value_name = "S", default_value = "5", value_parser = seconds)]
    pub(crate) seconds: Duration,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// The value that work must have.
#[derive(Debug, Args)]
pub(crate) struct Goal {
    /// The network, which sets the thresholds of its blocks: live, beta, dev, banano
    #[arg(long, value_name = "NETWORK", default_value_t = Network::Live)]
    pub(crate) network: Network,

    /// What the block does
    #[arg(long, value_enum, default_value_t = Block::Send)]
    pub(crate) block: Block,

    /// The threshold itself, up to 16 hexadecimal digits
    #[arg(
        long,
        value_name = "HEX",
        value_parser = hexadecimal,
        conflicts_with_all = ["block", "multiplier"]
    )]
    pub(crate) threshold: Option<u64>,

    /// The threshold as a multiple of the network's highest
    #[arg(long, value_name = "M", value_parser = multiplier, conflicts_with = "block")]
    pub(crate) multiplier: Option<f64>,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
pub(crate) enum Block {
    /// Sends, or changes the representative
    Send,
    /// Receives, opens an account, or upgrades it
    Receive,
    /// A block of the first epoch
    #[value(name = "epoch-1")]
    Epoch1,
}

fn root(text: &str) -> Result<Root, String> {
    let digits = text.as_bytes();
    let value = |digit: u8| char::from(digit).to_digit(16);
    let mut root = [0; 32];
    if digits.len() != 2 * root.len() {
        return Err(format!(
            "not 64 hexadecimal digits but {} bytes",
            digits.len()
        ));
    }
    for (byte, pair) in root.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = match (value(pair[0]), value(pair[1])) {
            (Some(high), Some(low)) => (high << 4 | low) as u8,
            _ => return Err("not hexadecimal".to_owned()),
        };
    }
    Ok(root)
}

fn hexadecimal(text: &str) -> Result<u64, String> {
    let fits = (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let value = fits.then(|| u64::from_str_radix(text, 16).ok()).flatten();
    value.ok_or_else(|| "not 1 to 16 hexadecimal digits".to_owned())
}

fn multiplier(text: &str) -> Result<f64, String> {
    let value = text
        .parse()
        .ok()
        .filter(|&value: &f64| value > 0.0 && value.is_finite());
    value.ok_or_else(|| "not a positive number".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let value = text
        .parse()
        .ok()
        .filter(|value| (0.001..=3600.0).contains(value));
    value
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "not a number from 0.001 to 3600".to_owned())
}

impl Goal {
    pub(crate) fn threshold(&self) -> u64 {
        let block = match self.block {
            Block::Send => self.network.send(),
            Block::Receive => self.network.receive(),
            Block::Epoch1 => self.network.epoch_1(),
        };
        let multiple = self.multiplier.map(|multiplier| {
            lanework::nano::multiplier::from_multiplier(multiplier, self.network.base())
        });
        self.threshold.or(multiple).unwrap_or(block)
    }
}
