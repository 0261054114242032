//! `lanework security`: what parameters of an opening are worth, and which of them reach a target.

use anyhow::bail;
use clap::{Args, ValueEnum};
use lanework::security::fri::{self, Parameters, Regime, Report, Shape, Source};
use lanework::security::{Error, Field, Hash};
use serde::Serialize;

use crate::{args, output};

/// Elements of KoalaBear in a digest of either format.
const DIGEST_WORDS: u32 = 8;

const EXAMPLES: &str = "\
Bits are -log2 of the probability that a cheating prover succeeds by this source of error, rounded \
down. `weakest` is the source with the fewest, `sum` what all of them come to together. The opening \
alone is counted, not what the prover's own protocol adds, such as the combination of constraints, the \
identity that is checked at the point, or lookups.

With --target, the grinding that is given is the most that may be used.

Examples:
  lanework security --log-rows 20 --columns 300 --queries 229
  lanework security --log-rows 20 --columns 300 --queries 100 --arity 8 --grind-query 16
  lanework security --log-rows 22 --columns 80 --rate 4 --regime list --target 100 --grind-query 20
  lanework security --log-rows 20 --columns 300 --target 100 --json

Exit status: 0 done, 2 an error.";

/// Count the bits of security of FRI openings, or the queries that a target needs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Security {
    /// log2 of the rows of the largest table
    #[arg(long, value_name = "L")]
    log_rows: u32,

    /// Columns that are opened, of all tables
    #[arg(long, value_name = "C")]
    columns: u32,

    /// Points that each column is opened at
    #[arg(long, value_name = "N", default_value_t = 2)]
    points: u32,

    /// Whether smaller tables are opened with the largest
    #[arg(long, value_enum, default_value_t = Heights::Equal)]
    heights: Heights,

    /// The inverse of the rate, code length ÷ message length
    #[arg(long, value_enum, default_value_t = args::Rate::Two)]
    rate: args::Rate,

    /// The degree of the field of the challenges over KoalaBear
    #[arg(long, value_enum, default_value_t = Degree::Six)]
    degree: Degree,

    /// The most values that a fold makes one of
    #[arg(long, value_enum, default_value_t = Arity::Two)]
    arity: Arity,

    #[command(flatten)]
    goal: Goal,

    /// Bits of proof-of-work before the challenge that combines columns
    #[arg(long, value_name = "BITS", default_value_t = 0)]
    grind_batch: u32,

    /// Bits of proof-of-work before the challenge of each fold
    #[arg(long, value_name = "BITS", default_value_t = 0)]
    grind_commit: u32,

    /// Bits of proof-of-work before the positions are drawn
    #[arg(long, value_name = "BITS", default_value_t = 0)]
    grind_query: u32,

    /// Count in one regime: proven for unique decoding, proven for list decoding, or conjectured for random words [default:
    /// all of them]
    #[arg(long, value_enum)]
    regime: Option<RegimeName>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Print the sums alone, or with --target the queries; a line for each regime
    #[arg(long)]
    quiet: bool,
}

/// One of the two.
#[derive(Copy, Clone, Debug, Args)]
#[group(required = true, multiple = false)]
struct Goal {
    /// Positions that are checked
    #[arg(long, value_name = "Q")]
    queries: Option<u32>,

    /// Find the fewest queries whose sum is this many bits or more
    #[arg(long, value_name = "BITS")]
    target: Option<u32>,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum Heights {
    Equal,
    Mixed,
}

impl Heights {
    fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Mixed => "mixed",
        }
    }
}

#[derive(Copy, Clone, Debug, ValueEnum)]
pub(crate) enum Degree {
    #[value(name = "4")]
    Four = 4,
    #[value(name = "6")]
    Six = 6,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
pub(crate) enum Arity {
    #[value(name = "2")]
    Two = 2,
    #[value(name = "4")]
    Four = 4,
    #[value(name = "8")]
    Eight = 8,
    #[value(name = "16")]
    Sixteen = 16,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
pub(crate) enum RegimeName {
    Unique,
    List,
    Conjectured,
}

impl From<RegimeName> for Regime {
    fn from(name: RegimeName) -> Self {
        match name {
            RegimeName::Unique => Self::UniqueDecoding,
            RegimeName::List => Self::ListDecoding,
            RegimeName::Conjectured => Self::Conjectured,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Security) -> anyhow::Result<()> {
    let answers: Vec<_> = match arguments.regime {
        Some(regime) => vec![Answer::new(arguments, regime.into())],
        None => Regime::ALL
            .map(|regime| Answer::new(arguments, regime))
            .into(),
    };
    // A regime that has no answer is told among those that have one.
    if answers.iter().all(|answer| answer.result.is_err())
        && let Some(Err(error)) = answers.first().map(|answer| &answer.result)
    {
        bail!("{error}");
    }
    output::print(&if arguments.json {
        serde_json::to_string(&Json::new(arguments, &answers))? + "\n"
    } else if arguments.quiet {
        answers
            .iter()
            .map(|answer| answer.line(arguments) + "\n")
            .collect()
    } else {
        text(arguments, &answers)
    })
}

/// What one regime says.
struct Answer {
    regime: Regime,
    result: Result<(Parameters, Report), Error>,
}

impl Answer {
    fn new(arguments: &Security, regime: Regime) -> Self {
        let shape = arguments.shape();
        let grinding = fri::Grinding {
            batching: arguments.grind_batch,
            folds: arguments.grind_commit,
            queries: arguments.grind_query,
        };
        let parameters = match arguments.goal {
            Goal {
                target: Some(target),
                ..
            } => Parameters::for_target(shape, grinding, target, regime),
            // Without either there is an error that says so.
            Goal { queries, .. } => Ok(Parameters {
                shape,
                queries: queries.unwrap_or(0),
                grinding,
            }),
        };
        let report = |parameters: Parameters| Ok((parameters, parameters.report(regime)?));
        Self {
            regime,
            result: parameters.and_then(report),
        }
    }

    fn line(&self, arguments: &Security) -> String {
        match &self.result {
            Ok((parameters, _)) if arguments.goal.target.is_some() => {
                parameters.queries.to_string()
            }
            Ok((_, report)) => tenths(report.sum()),
            Err(_) => "-".to_owned(),
        }
    }

    /// Queries, grinding and multiplicity.
    fn parameters(&self) -> [String; 6] {
        let Ok((parameters, report)) = &self.result else {
            return std::array::from_fn(|index| self.nothing(index));
        };
        let grinding = parameters.grinding;
        [
            self.regime.name().to_owned(),
            parameters.queries.to_string(),
            grinding.batching.to_string(),
            grinding.folds.to_string(),
            grinding.queries.to_string(),
            report
                .multiplicity()
                .map_or("-".to_owned(), |m| m.to_string()),
        ]
    }

    fn bits(&self) -> [String; 9] {
        let Ok((_, report)) = &self.result else {
            return std::array::from_fn(|index| self.nothing(index));
        };
        let bits = |bits: Option<f64>| bits.map_or("-".to_owned(), tenths);
        let term = |source| report.term(source);
        let all = |source| bits(term(source).map(|term| term.bits));
        let weakest = report.weakest();
        [
            self.regime.name().to_owned(),
            all(Source::Batching),
            all(Source::OutOfDomain),
            bits(term(Source::Folds).map(|term| term.round_bits)),
            all(Source::Folds),
            all(Source::Queries),
            all(Source::Hash),
            format!(
                "{} {}",
                key(weakest.source).replace('_', " "),
                tenths(weakest.round_bits)
            ),
            tenths(report.sum()),
        ]
    }

    fn nothing(&self, index: usize) -> String {
        if index == 0 { self.regime.name() } else { "-" }.to_owned()
    }
}

impl Security {
    fn shape(&self) -> Shape {
        Shape {
            log_rows: self.log_rows,
            heights: match self.heights {
                Heights::Equal => fri::Heights::Equal,
                Heights::Mixed => fri::Heights::Mixed,
            },
            log_inv_rate: self.rate.log_inverse(),
            field: Field::KoalaBear {
                degree: self.degree as u32,
            },
            hash: Hash::KoalaBear {
                words: DIGEST_WORDS,
            },
            columns: self.columns,
            points: self.points,
            log_arity: (self.arity as u32).ilog2(),
        }
    }
}

fn text(arguments: &Security, answers: &[Answer]) -> String {
    let shape = arguments.shape();
    let plural = |number: u32| if number == 1 { "" } else { "s" };
    let facts = output::facts(&[
        (
            "table",
            format!(
                "2^{} rows x {} column{}, {} heights",
                shape.log_rows,
                shape.columns,
                plural(shape.columns),
                arguments.heights.name()
            ),
        ),
        (
            "opening",
            format!(
                "{} point{} for each column, folds of arity {}",
                shape.points,
                plural(shape.points),
                arguments.arity as u32
            ),
        ),
        (
            "code",
            format!(
                "fri, inverse rate {}, challenges of degree {}: {} bits",
                1_u32 << shape.log_inv_rate,
                arguments.degree as u32,
                tenths(shape.field.bits())
            ),
        ),
    ]);
    let parameters: Vec<_> = answers.iter().map(Answer::parameters).collect();
    let parameters = output::table(
        [
            "parameters",
            "queries",
            "grind batch",
            "grind commit",
            "grind query",
            "m",
        ],
        1,
        &parameters,
    );
    let bits: Vec<_> = answers.iter().map(Answer::bits).collect();
    let bits = output::table(
        [
            "bits",
            "batching",
            "out of domain",
            "one fold",
            "all folds",
            "queries",
            "hash",
            "weakest",
            "sum",
        ],
        1,
        &bits,
    );
    let errors = answers.iter().filter_map(|answer| {
        let error = answer.result.as_ref().err()?;
        Some(format!("\n{}: {error}\n", answer.regime.name()))
    });
    format!(
        "{facts}\n{parameters}\n{bits}{}",
        errors.collect::<String>()
    )
}

/// What the bits of the worst round of a source are called.
fn key(source: Source) -> &'static str {
    match source {
        Source::OutOfDomain => "out_of_domain",
        Source::Folds => "one_fold",
        source => source.name(),
    }
}

/// Rounded down to a tenth.
fn tenths(bits: f64) -> String {
    format!("{:.1}", (bits * 10.0).floor() / 10.0)
}

/// Rounded down to a thousandth.
fn thousandths(bits: f64) -> f64 {
    (bits * 1000.0).floor() / 1000.0
}

#[derive(Serialize)]
struct Json {
    scheme: &'static str,
    log_rows: u32,
    columns: u32,
    points: u32,
    heights: &'static str,
    log_inv_rate: u32,
    degree: u32,
    log_arity: u32,
    target: Option<u32>,
    regimes: Vec<JsonAnswer>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum JsonAnswer {
    Done {
        regime: &'static str,
        queries: u32,
        grinding: JsonGrinding,
        multiplicity: Option<u32>,
        list_size: f64,
        bits: JsonBits,
        weakest: JsonWeakest,
        sum: f64,
    },
    Failed {
        regime: &'static str,
        error: String,
    },
}

#[derive(Serialize)]
struct JsonGrinding {
    batch: u32,
    commit: u32,
    query: u32,
}

#[derive(Serialize)]
struct JsonBits {
    batching: Option<f64>,
    out_of_domain: Option<f64>,
    one_fold: Option<f64>,
    all_folds: Option<f64>,
    queries: Option<f64>,
    hash: Option<f64>,
}

#[derive(Serialize)]
struct JsonWeakest {
    source: &'static str,
    bits: f64,
}

impl Json {
    fn new(arguments: &Security, answers: &[Answer]) -> Self {
        let shape = arguments.shape();
        Self {
            scheme: "fri",
            log_rows: shape.log_rows,
            columns: shape.columns,
            points: shape.points,
            heights: arguments.heights.name(),
            log_inv_rate: shape.log_inv_rate,
            degree: arguments.degree as u32,
            log_arity: shape.log_arity,
            target: arguments.goal.target,
            regimes: answers.iter().map(JsonAnswer::new).collect(),
        }
    }
}

impl JsonAnswer {
    fn new(answer: &Answer) -> Self {
        let regime = answer.regime.name();
        let (parameters, report) = match &answer.result {
            Ok(done) => done,
            Err(error) => {
                let error = error.to_string();
                return Self::Failed { regime, error };
            }
        };
        let all = |source| report.term(source).map(|term| thousandths(term.bits));
        let weakest = report.weakest();
        Self::Done {
            regime,
            queries: parameters.queries,
            grinding: JsonGrinding {
                batch: parameters.grinding.batching,
                commit: parameters.grinding.folds,
                query: parameters.grinding.queries,
            },
            multiplicity: report.multiplicity(),
            list_size: report.list_size(),
            bits: JsonBits {
                batching: all(Source::Batching),
                out_of_domain: all(Source::OutOfDomain),
                one_fold: report
                    .term(Source::Folds)
                    .map(|term| thousandths(term.round_bits)),
                all_folds: all(Source::Folds),
                queries: all(Source::Queries),
                hash: all(Source::Hash),
            },
            weakest: JsonWeakest {
                source: key(weakest.source),
                bits: thousandths(weakest.round_bits),
            },
            sum: thousandths(report.sum()),
        }
    }
}
