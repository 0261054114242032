//! Options of the command line and of the configuration file, which has the same ones.
//!
//! Names, short forms and meanings of the first work server's options are kept. The file is read as
//! if each of its lines were an option, where the command line does not say otherwise.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use ipnet::IpNet;
use lanework_nano::{Kernel, Network, multiplier};
use thiserror::Error;
use toml::{Table, Value};
use tracing::level_filters::LevelFilter;

use crate::connection::Timeouts;
use crate::queue::Order;
use crate::request::Rules;
use crate::serve::{Address, Connections};
use crate::settings::{ApiKey, Benchmark, Cancel, Dashboard, Rate, Settings};

const BOUNDS: &str = "Bounds";
const CLIENTS: &str = "What clients may do";
const CACHE: &str = "Cache";

/// Finds Nano proof-of-work for whoever asks over HTTP.
#[derive(Clone, Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
#[command(name = "nano-work-server", version, args_override_self = true)]
pub struct Options {
    /// Where to listen: an IP address and a port, or unix:PATH; may be given several times
    #[arg(short = 'l', long, value_name = "ADDR", default_value = "[::1]:7076")]
    pub listen_address: Vec<Address>,

    /// Threads of the CPU that search, or auto for one on each core
    #[arg(short = 'c', long, value_name = "THREADS", default_value = "0")]
    pub cpu_threads: CpuThreads,

    /// The kernel of the CPU: auto for the fastest, or avx512, avx512vl, avx2, neon, neon-sha3, scalar
    #[arg(long, value_name = "KERNEL", default_value = "auto")]
    pub cpu_kernel: CpuKernel,

    /// A GPU, by the numbers of its platform and device, and the nonces it tries at a time
    #[arg(short = 'g', long, value_name = "PLATFORM:DEVICE[:THREADS]", num_args = 1..)]
    pub gpu: Vec<Gpu>,

    /// The local work size of all GPUs, which the driver chooses otherwise
    #[arg(long, value_name = "N")]
    pub gpu_local_work_size: Option<NonZeroU32>,

    /// Print the GPUs that there are, with their numbers, and exit
    #[arg(long)]
    pub list_devices: bool,

    /// Pick the next request at random rather than by arrival
    #[arg(long)]
    pub shuffle: bool,

    /// The network, which decides about thresholds: live, beta, dev or banano
    #[arg(long, value_name = "NETWORK", default_value = "live")]
    pub network: Network,

    /// A configuration file in TOML, with the options as keys
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// What is logged: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: LevelFilter,

    /// The most searches that wait for their turn
    #[arg(long, value_name = "N", default_value = "10000", help_heading = BOUNDS)]
    pub max_queue: usize,

    /// The most seconds a request for work may take
    #[arg(long, value_name = "SECONDS", help_heading = CLIENTS)]
    pub deadline: Option<NonZeroU64>,

    /// The most samples of a benchmark
    #[arg(long, value_name = "N", default_value = "1000", help_heading = BOUNDS)]
    pub max_benchmark: NonZeroU64,

    /// Refuse benchmarks
    #[arg(long, help_heading = BOUNDS)]
    pub no_benchmark: bool,

    /// The lowest difficulty that is searched
    #[arg(long, value_name = "HEX", value_parser = hexadecimal, help_heading = CLIENTS)]
    pub min_difficulty: Option<u64>,

    /// The highest difficulty that is searched
    #[arg(long, value_name = "HEX", value_parser = hexadecimal, help_heading = CLIENTS)]
    pub max_difficulty: Option<u64>,

    /// The same as a multiple of the network's threshold
    #[arg(long, value_name = "FACTOR", value_parser = positive, conflicts_with = "max_difficulty", help_heading = CLIENTS)]
    pub max_multiplier: Option<f64>,

    /// A file of API keys, one a line; the variable `NANO_WORK_SERVER_API_KEY` may hold one as well
    #[arg(long, value_name = "FILE", help_heading = CLIENTS)]
    pub api_key_file: Option<PathBuf>,

    /// Addresses that need no API key, as 10.0.0.0/8; may be given several times
    #[arg(long, value_name = "RANGE", value_parser = range, help_heading = CLIENTS)]
    pub trusted_address: Vec<IpNet>,

    /// A web origin whose pages may ask, or *; may be given several times
    #[arg(long, value_name = "ORIGIN", help_heading = CLIENTS)]
    pub cors_origin: Vec<String>,

    /// Let clients cancel their own requests only
    #[arg(long, help_heading = CLIENTS)]
    pub own_cancel: bool,

    /// Requests for work per second that a client may make
    #[arg(long, value_name = "N", value_parser = positive, help_heading = CLIENTS)]
    pub rate_limit: Option<f64>,

    /// Requests for work that a client may make at once after a pause
    #[arg(long, value_name = "N", value_parser = positive, requires = "rate_limit", help_heading = CLIENTS)]
    pub rate_burst: Option<f64>,

    /// Requests for work of a client that are taken on at a time
    #[arg(long, value_name = "N", help_heading = CLIENTS)]
    pub max_client_requests: Option<NonZeroUsize>,

    /// The status of what these three refuse; a node never asks again after any but 200
    #[arg(long, value_name = "STATUS", default_value = "200", value_parser = limit_status, help_heading = CLIENTS)]
    pub limit_status: u16,

    /// The most connections
    #[arg(long, value_name = "N", default_value = "16384", help_heading = BOUNDS)]
    pub max_connections: NonZeroUsize,

    /// The most connections from one address other than this machine's
    #[arg(long, value_name = "N", default_value = "4096", help_heading = BOUNDS)]
    pub max_address_connections: NonZeroUsize,

    /// The most bytes of a request's body
    #[arg(long, value_name = "BYTES", default_value = "32768", help_heading = BOUNDS)]
    pub max_body: NonZeroUsize,

    /// The seconds a client may take to send the head of a request
    #[arg(long, value_name = "SECONDS", default_value = "10", help_heading = BOUNDS)]
    pub head_timeout: NonZeroU64,

    /// The seconds a client may take to send the rest of a request, or to take an answer
    #[arg(long, value_name = "SECONDS", default_value = "10", help_heading = BOUNDS)]
    pub body_timeout: NonZeroU64,

    /// The seconds a client may be silent between requests
    #[arg(long, value_name = "SECONDS", default_value = "75", help_heading = BOUNDS)]
    pub idle_timeout: NonZeroU64,

    /// The seconds that searches may go on after the signal to stop
    #[arg(long, value_name = "SECONDS", default_value = "10", help_heading = BOUNDS)]
    pub stop_timeout: u64,

    /// Do not serve the dashboard
    #[arg(long)]
    pub no_dashboard: bool,

    /// A file that keeps found work, to answer the same request at once
    #[arg(long, value_name = "FILE", help_heading = CACHE)]
    pub cache: Option<PathBuf>,

    /// The most works that the file keeps
    #[arg(long, value_name = "N", default_value = "100000", requires = "cache", help_heading = CACHE)]
    pub max_cache: NonZeroU64,
}

/// How many threads of the CPU search.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CpuThreads {
    /// One on each core.
    Auto,
    /// So many.
    Number(usize),
}

impl FromStr for CpuThreads {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        /// More than any machine has, and few enough to start.
        const MOST: usize = 1024;
        match text {
            "auto" => Ok(Self::Auto),
            number => match number.parse() {
                Ok(number) if number <= MOST => Ok(Self::Number(number)),
                _ => Err("not auto, or a number from 0 to 1024"),
            },
        }
    }
}

impl CpuThreads {
    /// The number.
    pub fn number(self) -> usize {
        match self {
            Self::Auto => lanework_arch::cpu::Cpu::detect().physical_cores.get(),
            Self::Number(number) => number,
        }
    }
}

/// The kernel that threads of the CPU run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CpuKernel {
    /// The fastest.
    Auto,
    /// This one.
    Named(Kernel),
}

impl FromStr for CpuKernel {
    type Err = lanework_nano::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            name => Kernel::from_name(name).map(Self::Named),
        }
    }
}

impl CpuKernel {
    /// The kernel, which takes a moment to find out if it is to be the fastest.
    pub fn kernel(self) -> Kernel {
        match self {
            Self::Auto => Kernel::best(),
            Self::Named(kernel) => kernel,
        }
    }
}

/// A GPU and how it is to be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// The number of its platform.
    pub platform: usize,
    /// Its number there.
    pub device: usize,
    /// The nonces of one launch.
    pub threads: NonZeroU32,
}

impl Gpu {
    const THREADS: NonZeroU32 = NonZeroU32::new(1_048_576).unwrap();
}

impl FromStr for Gpu {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "expected PLATFORM:DEVICE or PLATFORM:DEVICE:THREADS";
        const NUMBERS: &str = "expected decimal numbers, and THREADS from 1 to 4294967295";
        let parts: Vec<_> = text.split(':').collect();
        let (platform, device, threads) = match *parts {
            [platform, device] => (platform, device, None),
            [platform, device, threads] => (platform, device, Some(threads)),
            _ => return Err(FORM),
        };
        let index = |text: &str| text.parse().map_err(|_| NUMBERS);
        let threads = threads.map_or(Ok(Self::THREADS), |text| text.parse().map_err(|_| NUMBERS));
        Ok(Self {
            platform: index(platform)?,
            device: index(device)?,
            threads: threads?,
        })
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.platform, self.device, self.threads)
    }
}

fn hexadecimal(text: &str) -> Result<u64, std::num::ParseIntError> {
    u64::from_str_radix(text, 16)
}

fn positive(text: &str) -> Result<f64, &'static str> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or("expected a positive number")
}

fn range(text: &str) -> Result<IpNet, ipnet::AddrParseError> {
    text.parse()
        .or_else(|error| text.parse::<IpAddr>().map(IpNet::from).or(Err(error)))
}

fn limit_status(text: &str) -> Result<u16, &'static str> {
    match text {
        "200" => Ok(200),
        "429" => Ok(429),
        _ => Err("expected 200 or 429"),
    }
}

/// Why there are no options.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The arguments are wrong, or ask for help.
    #[error(transparent)]
    Arguments(#[from] clap::Error),
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The configuration file is no TOML.
    #[error("{}: {error}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where, and what.
        error: Box<toml::de::Error>,
    },
    /// The configuration file has a key that is no option.
    #[error("{}: unknown option: {key}", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// The value of a key in the configuration file is not one that the option takes.
    #[error("{}: wrong value of {key}: {reason}", path.display())]
    WrongValue {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no key in the file of keys.
    #[error("no API key in {}\nhint: one key a line, of printable characters without blanks", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
}

impl Options {
    /// The options of these arguments, the first of which is the name of the program, and of the
    /// configuration file that they name.
    ///
    /// # Errors
    /// If they are wrong, or ask for help.
    pub fn parse_from_arguments<I>(arguments: I) -> Result<Self, Error>
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let matches = Self::command().try_get_matches_from(&arguments)?;
        let options = Self::from_arg_matches(&matches)?;
        match &options.config {
            None => Ok(options),
            Some(path) => with_file(arguments, &matches, path),
        }
    }

    /// The settings of the HTTP interface, with the keys that clients must know.
    pub fn settings(&self, api_keys: Vec<ApiKey>) -> Settings {
        let from_multiplier = |factor| multiplier::from_multiplier(factor, self.network.base());
        Settings {
            rules: Rules {
                network: self.network,
                benchmark_limit: self.max_benchmark.get(),
            },
            benchmark: if self.no_benchmark {
                Benchmark::Disabled
            } else {
                Benchmark::Enabled
            },
            body_limit: self.max_body.get(),
            deadline: self.deadline.map(seconds),
            min_threshold: self.min_difficulty,
            max_threshold: self
                .max_difficulty
                .or(self.max_multiplier.map(from_multiplier)),
            api_keys,
            trusted: self.trusted_address.clone(),
            cors_origins: self.cors_origin.clone(),
            cancel: if self.own_cancel {
                Cancel::Owner
            } else {
                Cancel::Anyone
            },
            rate: self.rate_limit.map(|per_second| Rate {
                per_second,
                burst: self.rate_burst.unwrap_or(per_second).max(1.0),
            }),
            client_requests: self.max_client_requests.map(NonZeroUsize::get),
            limit_status: self.limit_status,
            dashboard: if self.no_dashboard {
                Dashboard::Hidden
            } else {
                Dashboard::Shown
            },
        }
    }

    /// The limits of connections.
    pub fn connections(&self) -> Connections {
        Connections {
            most: self.max_connections.get(),
            most_per_address: self.max_address_connections.get(),
            timeouts: Timeouts {
                head: seconds(self.head_timeout),
                body: seconds(self.body_timeout),
                idle: seconds(self.idle_timeout),
            },
            grace: Duration::from_secs(self.stop_timeout),
        }
    }

    /// The order of the queue.
    pub fn order(&self) -> Order {
        if self.shuffle {
            Order::Random
        } else {
            Order::Arrival
        }
    }
}

fn seconds(number: NonZeroU64) -> Duration {
    Duration::from_secs(number.get())
}

/// The API keys in a file.
///
/// # Errors
/// If it cannot be read or has none, or something that cannot be sent in a header.
pub fn api_keys(path: &Path) -> Result<Vec<ApiKey>, Error> {
    let text = read(path)?;
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let keys = lines.map(ApiKey::new).collect::<Option<Vec<_>>>();
    keys.filter(|keys| !keys.is_empty())
        .ok_or_else(|| Error::NoKey {
            path: path.to_owned(),
        })
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| Error::Unreadable {
        path: path.to_owned(),
        error,
    })
}

/// Adds what the configuration file says where the command line says nothing.
fn with_file(
    mut arguments: Vec<OsString>,
    given: &ArgMatches,
    path: &Path,
) -> Result<Options, Error> {
    let table: Table = read(path)?.parse().map_err(|error| Error::Syntax {
        path: path.to_owned(),
        error: Box::new(error),
    })?;
    let command = Options::command();
    for (key, value) in table {
        let id = key.replace('-', "_");
        let is_option = command
            .get_arguments()
            .any(|argument| argument.get_long() == Some(key.as_str()));
        if !is_option || matches!(key.as_str(), "config" | "help" | "list-devices" | "version") {
            return Err(Error::UnknownKey {
                path: path.to_owned(),
                key,
            });
        }
        let wrong = |reason: String| Error::WrongValue {
            path: path.to_owned(),
            key: key.clone(),
            reason,
        };
        let from_file =
            option(&key, &value).map_err(|kind| wrong(format!("{kind} does not fit")))?;
        // A key by itself, so that the message can name it.
        let alone =
            std::iter::once(OsString::from("nano-work-server")).chain(from_file.iter().cloned());
        match Options::command().try_get_matches_from(alone) {
            Ok(_) => {}
            // Another option may be what it needs.
            Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {}
            Err(error) => return Err(wrong(reason(&error))),
        }
        if given.value_source(&id) != Some(ValueSource::CommandLine) {
            arguments.extend(from_file);
        }
    }
    Ok(Options::from_arg_matches(
        &Options::command().try_get_matches_from(arguments)?,
    )?)
}

/// A key of the file as arguments.
fn option(key: &str, value: &Value) -> Result<Vec<OsString>, &'static str> {
    let one = |text: String| Ok(vec![format!("--{key}={text}").into()]);
    match value {
        Value::String(text) => one(text.clone()),
        Value::Integer(number) => one(number.to_string()),
        Value::Float(number) => one(number.to_string()),
        Value::Boolean(true) => Ok(vec![format!("--{key}").into()]),
        Value::Boolean(false) => {
            let is_flag = Options::command().get_arguments().any(|argument| {
                argument.get_long() == Some(key) && !argument.get_action().takes_values()
            });
            if is_flag {
                Ok(Vec::new())
            } else {
                Err("false")
            }
        }
        Value::Array(values) => {
            let each = values.iter().map(|value| match value {
                Value::Array(_) => Err("an array in an array"),
                value => option(key, value),
            });
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
        Value::Table(_) => Err("a table"),
        Value::Datetime(_) => Err("a date"),
    }
}

/// What is wrong with a value, without what the command line would add.
fn reason(error: &clap::Error) -> String {
    let value = error.get(ContextKind::InvalidValue);
    let source = std::error::Error::source(error).map(ToString::to_string);
    match (value, source) {
        (_, Some(source)) => source,
        (Some(ContextValue::String(value)), None) => format!("{value:?}"),
        _ => error.kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, Error> {
        Options::parse_from_arguments(std::iter::once(&"nano-work-server").chain(arguments))
    }

    fn configured(text: &str, arguments: &[&str]) -> Result<Options, Error> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        parse(&[&["--config", &path], arguments].concat())
    }

    #[test]
    fn the_command_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn defaults_are_those_of_the_first_work_server() {
        let options = parse(&[]).unwrap();
        assert_eq!(options.listen_address, ["[::1]:7076".parse().unwrap()]);
        assert_eq!(options.cpu_threads, CpuThreads::Number(0));
        assert_eq!(options.network, Network::Live);
        assert!(options.gpu.is_empty() && !options.shuffle);
        let settings = options.settings(Vec::new());
        assert_eq!(
            format!("{settings:?}"),
            format!("{:?}", Settings::default())
        );
        assert_eq!(options.connections(), Connections::default());
    }

    #[test]
    fn short_and_long_forms() {
        let options = parse(&[
            "-l",
            "127.0.0.1:1",
            "--listen-address=[::]:2",
            "-l",
            "unix:/x",
            "-c4",
            "--shuffle",
        ])
        .unwrap();
        assert_eq!(options.listen_address.len(), 3);
        assert_eq!(options.listen_address[2], Address::Unix("/x".into()));
        assert_eq!("/x".parse(), Ok(options.listen_address[2].clone()));
        assert_eq!(options.cpu_threads, CpuThreads::Number(4));
        assert_eq!(options.order(), Order::Random);
        let options = parse(&[
            "-g",
            "0:1",
            "2:3:4",
            "--gpu=5:6",
            "-c",
            "auto",
            "--gpu-local-work-size",
            "64",
        ])
        .unwrap();
        let threads = NonZeroU32::new(4).unwrap();
        assert_eq!(
            options.gpu[0],
            Gpu {
                platform: 0,
                device: 1,
                threads: Gpu::THREADS
            }
        );
        assert_eq!(
            options.gpu[1],
            Gpu {
                platform: 2,
                device: 3,
                threads
            }
        );
        assert_eq!(options.gpu.len(), 3);
        assert!(options.cpu_threads.number() > 0);
    }

    #[test]
    fn wrong_values_are_refused() {
        for arguments in [
            &["-l", "localhost:7076"][..],
            &["-l", "7076"],
            &["-c", "-1"],
            &["-c", "many"],
            &["-g", "0"],
            &["-g", "0:1:2:3"],
            &["-g", "a:b"],
            &["-g", "0:0:0"],
            &["-g", "0:0:4294967296"],
            &["-g", "0x0:0"],
            &["-g"],
            &["--gpu-local-work-size", "0"],
            &["--cpu-kernel", "quick"],
            &["--network", "test"],
            &["--max-difficulty", "0x10"],
            &["--max-multiplier", "inf"],
            &["--rate-limit", "0"],
            &["--limit-status", "500"],
            &["--trusted-address", "10.0.0.0/33"],
            &["--nonsense"],
            &["positional"],
        ] {
            assert!(
                matches!(parse(arguments), Err(Error::Arguments(_))),
                "{arguments:?}"
            );
        }
    }

    #[test]
    fn a_file_has_the_same_options_and_the_command_line_wins() {
        let text = r#"
            listen-address = ["127.0.0.1:1", "unix:/x"]
            cpu-threads = 2
            shuffle = true
            no-dashboard = false
            rate-limit = 1.5
            rate-burst = 10
            max-multiplier = 64
            trusted-address = "10.0.0.1"
        "#;
        let options = configured(text, &["-c", "3"]).unwrap();
        assert_eq!(options.cpu_threads, CpuThreads::Number(3));
        assert_eq!(options.listen_address.len(), 2);
        assert!(options.shuffle && !options.no_dashboard);
        let settings = options.settings(Vec::new());
        assert_eq!(
            settings.rate,
            Some(Rate {
                per_second: 1.5,
                burst: 10.0
            })
        );
        assert_eq!(settings.max_threshold, Some(0xffffffffe0000000));
        assert_eq!(settings.trusted, ["10.0.0.1/32".parse().unwrap()]);
        let options = configured(text, &["-l", "[::1]:9"]).unwrap();
        assert_eq!(options.listen_address, ["[::1]:9".parse().unwrap()]);
        assert_eq!(options.cpu_threads, CpuThreads::Number(2));
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named() {
        for (text, part) in [
            ("nonsense = 1", "unknown option: nonsense"),
            ("config = \"x\"", "unknown option: config"),
            ("list-devices = true", "unknown option: list-devices"),
            (
                "cpu-threads = \"many\"",
                "wrong value of cpu-threads: not auto",
            ),
            ("cpu-threads = true", "wrong value of cpu-threads"),
            (
                "cpu-threads = false",
                "wrong value of cpu-threads: false does not fit",
            ),
            (
                "[cpu-threads]\nx = 1",
                "wrong value of cpu-threads: a table does not fit",
            ),
            ("shuffle = 1", "wrong value of shuffle"),
            (
                "network = \"test\"",
                "wrong value of network: unknown network: test",
            ),
            ("cpu-threads", "TOML parse error"),
        ] {
            let message = configured(text, &[]).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
        let missing = parse(&["--config", "/nowhere/x.toml"])
            .unwrap_err()
            .to_string();
        assert!(
            missing.starts_with("cannot read /nowhere/x.toml: "),
            "{missing}"
        );
    }

    #[test]
    fn the_example_has_every_option() {
        let example = include_str!("../deploy/nano-work-server.toml");
        let options = configured(example, &[]).unwrap();
        assert_eq!(options.cpu_threads, CpuThreads::Auto);
        // What is in comments, without the text around it. Of keys that are there twice, the first counts.
        let mut keys = Vec::new();
        for line in example.lines() {
            let line = line.strip_prefix("# ").unwrap_or(line);
            if let Some((key, value)) = line.split_once(" = ")
                && !keys.contains(&key)
            {
                // These exclude each other.
                if key != "max-multiplier" {
                    configured(
                        &format!("{key} = {value}\nrate-limit = 1.0\ncache = \"x\""),
                        &[],
                    )
                    .or_else(|_| configured(&format!("{key} = {value}"), &[]))
                    .unwrap_or_else(|error| panic!("{line}: {error}"));
                }
                keys.push(key);
            }
        }
        let command = Options::command();
        let known = command.get_arguments().filter_map(clap::Arg::get_long);
        let other = ["config", "help", "list-devices", "version"];
        let mut known: Vec<_> = known.filter(|name| !other.contains(name)).collect();
        known.sort_unstable();
        keys.sort_unstable();
        assert_eq!(keys, known);
    }

    #[test]
    fn keys_are_lines() {
        let keys = |text: &str| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            api_keys(file.path())
        };
        let two = ["one", "two"].map(|key| ApiKey::new(key).unwrap());
        assert_eq!(keys("# wallets\n one \n\ntwo\n").unwrap(), two);
        assert!(!format!("{two:?}").contains("one"));
        for text in ["", "\n#x\n", "with blank\n", "é\n"] {
            assert!(keys(text).is_err(), "{text:?}");
        }
    }
}
