//! `lanework verify` and `lanework inspect`: proofs from files.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use lanework::arch::Choice;
use lanework::arch::files::printable;
use lanework::field::koala::{Ext4, Ext6};
use lanework::fri::{Extension, Header, Proof, Sizes, sample_point, verify};
use lanework::security::fri::Regime;
use serde::Serialize;

use crate::security::RegimeName;
use crate::{output, statement};

const VERIFY_EXAMPLES: &str = "\
The statement says what is proven: commitments, shapes, parameters, points and values. It is trusted: use one that you have \
made or checked yourself. The point must be the one that the transcript gives for these commitments.

Examples:
  lanework verify trace.lwp --statement trace.lwp.statement.json
  lanework verify trace.lwp --statement trusted.json --json

Exit status: 0 valid, 1 invalid, 2 an error.";

/// Verify a proof against a statement, and print what was accepted.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct Verify {
    /// The proof
    proof: PathBuf,

    /// The statement that it is to prove
    #[arg(long, value_name = "FILE")]
    statement: PathBuf,

    /// Refuse parameters that give fewer bits of security
    #[arg(long, value_name = "BITS")]
    min_security: Option<u32>,

    /// What is assumed for --min-security
    #[arg(long, value_enum, default_value_t = RegimeName::Unique)]
    regime: RegimeName,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Print nothing: the exit status tells
    #[arg(long)]
    quiet: bool,
}

/// Show the parameters of a proof and the sizes of its parts, without verifying it.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// The proof
    proof: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What was found of a proof.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Valid,
    Invalid,
}

/// Runs `verify`.
pub(crate) fn run(arguments: &Verify) -> anyhow::Result<Answer> {
    let file = statement::File::read(&arguments.statement)?;
    match file.degree {
        4 => with::<Ext4>(arguments, &file),
        6 => with::<Ext6>(arguments, &file),
        other => bail!(
            "{}: degree {other}, which is neither 4 nor 6",
            printable(&arguments.statement)
        ),
    }
}

fn with<E: Extension>(arguments: &Verify, file: &statement::File) -> anyhow::Result<Answer> {
    let named = || printable(&arguments.statement);
    let params = file.params().with_context(named)?;
    let proof_params = file.proof_params().with_context(named)?;
    let function = file.function(&params).with_context(named)?;
    let stated = file.statement::<E>().with_context(named)?;
    let bytes = statement::read_file(&arguments.proof)?;

    stated.check(&params, &proof_params).with_context(named)?;
    let tables = || stated.batches.iter().flat_map(|batch| &batch.tables);
    let mut security = Security::default();
    for regime in Regime::ALL {
        // Nothing is known in some regimes about some parameters.
        let report = proof_params.security::<E>(regime, &params, tables());
        security.set(regime, report.ok().map(|report| report.security_bits()));
    }

    let start = Instant::now();
    let mut transcript = statement::transcript(&function, Choice::portable());
    let zeta: E = sample_point(&params, &proof_params, &mut transcript, &stated.batches);
    let bits = security.of(arguments.regime.into()).unwrap_or(0);
    let refused = if arguments.min_security.is_some_and(|least| bits < least) {
        Some(format!("the parameters give {bits} bits of security"))
    } else if zeta != stated.zeta {
        Some("the point is not the one that the transcript gives for this statement".to_owned())
    } else {
        match Proof::<E>::from_bytes(&bytes) {
            Ok(proof) => verify(&params, &proof_params, &mut transcript, &stated, &proof)
                .err()
                .map(|error| format!("{error}; is it the proof of this statement?")),
            Err(error) => Some(format!("no proof: {error}")),
        }
    };
    let done = Done {
        file,
        bytes: bytes.len(),
        security,
        refused,
        time: start.elapsed(),
    };
    let text = if arguments.json {
        done.json()?
    } else if arguments.quiet {
        String::new()
    } else {
        done.text()
    };
    output::print(&text)?;
    Ok(match done.refused {
        None => Answer::Valid,
        Some(_) => Answer::Invalid,
    })
}

/// Bits of security in each regime, where something is known.
#[derive(Copy, Clone, Default, Serialize)]
struct Security {
    unique: Option<u32>,
    list: Option<u32>,
    conjectured: Option<u32>,
}

impl Security {
    fn set(&mut self, regime: Regime, bits: Option<u32>) {
        match regime {
            Regime::UniqueDecoding => self.unique = bits,
            Regime::ListDecoding => self.list = bits,
            Regime::Conjectured => self.conjectured = bits,
            _ => {}
        }
    }

    fn of(self, regime: Regime) -> Option<u32> {
        match regime {
            Regime::UniqueDecoding => self.unique,
            Regime::ListDecoding => self.list,
            Regime::Conjectured => self.conjectured,
            _ => None,
        }
    }

    fn text(self) -> String {
        let bits = |bits: Option<u32>| bits.map_or("none".to_owned(), |bits| bits.to_string());
        format!(
            "{} bits (unique decoding), {} (list decoding), {} (conjectured)",
            bits(self.unique),
            bits(self.list),
            bits(self.conjectured)
        )
    }
}

/// A verification that is over.
struct Done<'a> {
    file: &'a statement::File,
    bytes: usize,
    security: Security,
    refused: Option<String>,
    time: Duration,
}

#[derive(Serialize)]
struct Json<'a> {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    scheme: &'static str,
    proof_bytes: usize,
    claims: usize,
    queries: u32,
    degree: usize,
    security_bits: Security,
    ms: f64,
}

impl Done<'_> {
    /// Values that are claimed.
    fn claims(&self) -> usize {
        let tables = self.file.batches.iter().flat_map(|batch| &batch.tables);
        let openings = tables.flat_map(|table| &table.openings);
        openings
            .map(|opening| opening.columns * opening.shifts.len())
            .sum()
    }

    fn json(&self) -> anyhow::Result<String> {
        let json = Json {
            valid: self.refused.is_none(),
            reason: self.refused.as_deref(),
            scheme: "fri",
            proof_bytes: self.bytes,
            claims: self.claims(),
            queries: self.file.queries,
            degree: self.file.degree,
            security_bits: self.security,
            ms: output::millis(self.time),
        };
        Ok(serde_json::to_string(&json)? + "\n")
    }

    fn text(&self) -> String {
        if let Some(reason) = &self.refused {
            return format!("invalid: {reason}\n");
        }
        let mut facts = vec![("valid", format!("{} claims", self.claims()))];
        for batch in &self.file.batches {
            for digest in &batch.commitment {
                facts.push(("commitment", format!("{digest:?}")));
            }
            for table in &batch.tables {
                let columns = table.base_columns + table.extension_columns;
                let mut shifts: Vec<usize> = table
                    .openings
                    .iter()
                    .flat_map(|opening| opening.shifts.clone())
                    .collect();
                shifts.sort_unstable();
                shifts.dedup();
                facts.push((
                    "table",
                    format!(
                        "2^{} rows x {columns} columns, shifts {shifts:?}",
                        table.log_rows
                    ),
                ));
            }
        }
        facts.push((
            "point",
            format!("{:?}, from the transcript", self.file.zeta),
        ));
        facts.push((
            "proof",
            format!(
                "{}, {} queries, degree {}, arity {}, inverse rate {}, transcript {}",
                output::bytes(self.bytes as u64),
                self.file.queries,
                self.file.degree,
                1_u64 << self.file.log_arity,
                1_u64 << self.file.log_inv_rate,
                self.file.transcript
            ),
        ));
        facts.push(("security", self.security.text()));
        facts.push(("time", format!("{:.2} ms", output::millis(self.time))));
        output::facts(&facts)
    }
}

/// Runs `inspect`.
pub(crate) fn inspect(arguments: &Inspect) -> anyhow::Result<()> {
    let bytes = statement::read_file(&arguments.proof)?;
    let named = || printable(&arguments.proof);
    let header = Header::from_bytes(&bytes).with_context(named)?;
    let (sizes, rounds) = match header.degree {
        4 => parts::<Ext4>(&bytes).with_context(named)?,
        6 => parts::<Ext6>(&bytes).with_context(named)?,
        other => bail!("{}: degree {other}, which is neither 4 nor 6", named()),
    };
    let rows = [
        ("header", sizes.header),
        ("rows", sizes.rows),
        ("row_siblings", sizes.row_siblings),
        ("layer_commitments", sizes.layer_commitments),
        ("layer_values", sizes.layer_values),
        ("layer_siblings", sizes.layer_siblings),
        ("final_polynomial", sizes.final_polynomial),
        ("total", sizes.total),
    ];
    if arguments.json {
        let bytes: serde_json::Map<_, _> = rows
            .iter()
            .map(|&(name, size)| (name.to_owned(), size.into()))
            .collect();
        let json = serde_json::json!({
            "scheme": "fri",
            "format": format_name(&header),
            "degree": header.degree,
            "log_inv_rate": header.log_inv_rate,
            "cap_height": header.cap_height,
            "log_arity": header.log_arity,
            "log_final_len": header.log_final_len,
            "queries": header.queries,
            "grinding": {
                "batch": header.grinding.batch,
                "fold": header.grinding.fold,
                "query": header.grinding.query,
            },
            "rounds": rounds,
            "bytes": bytes,
        });
        return output::print(&(json.to_string() + "\n"));
    }
    let grinding = header.grinding;
    let facts = output::facts(&[
        ("format", format_name(&header)),
        (
            "parameters",
            format!(
                "degree {}, inverse rate {}, arity {}, {} queries, {rounds} rounds",
                header.degree,
                power(header.log_inv_rate),
                power(header.log_arity),
                header.queries
            ),
        ),
        (
            "grinding",
            format!(
                "batch {}, fold {}, query {} bits",
                grinding.batch, grinding.fold, grinding.query
            ),
        ),
    ]);
    let rows = rows.map(|(name, size)| [name.replace('_', " "), size.to_string()]);
    output::print(&(facts + "\n" + &output::table(["part", "bytes"], 1, &rows)))
}

fn parts<E: Extension>(bytes: &[u8]) -> anyhow::Result<(Sizes, usize)> {
    let proof = Proof::<E>::from_bytes(bytes)?;
    Ok((proof.sizes(), proof.layers.len()))
}

fn format_name(header: &Header) -> String {
    match header.format {
        0 => "lineth".to_owned(),
        1 => "plonky3, sponge 16".to_owned(),
        2 => "plonky3, sponge 24".to_owned(),
        other => format!("unknown ({other})"),
    }
}

/// A power of two that a byte is the logarithm of, in words.
fn power(log: u8) -> String {
    match 1_u64.checked_shl(log.into()) {
        Some(power) => power.to_string(),
        None => format!("2^{log}"),
    }
}
