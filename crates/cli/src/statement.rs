//! Statement files: what a proof is about, in JSON, for a caller who trusts it to check and keep.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use lanework::arch::Choice;
use lanework::arch::files::{PositionedFile, printable};
use lanework::field::KoalaBear;
use lanework::fri::{
    Commitment, Extension, Format, Grinding, OpenedBatch, OpenedTable, Params, ProofParams, Shape,
    Shifts, Sponge, Statement,
};
use lanework::hash::{DIGEST_LEN, Digest};
use lanework::transcript::{Function, Transcript};
use serde::{Deserialize, Serialize};

use crate::args;

/// The version of the file that is written and read.
const VERSION: u32 = 1;

/// What the transcript of `prove` and `verify` starts with.
const LABEL: &str = "lanework prove 1";

/// More bytes than a statement or a proof has.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// A statement as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    version: u32,
    scheme: String,
    format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sponge: Option<u32>,
    pub(crate) log_inv_rate: u32,
    cap_height: u32,
    pub(crate) transcript: String,
    pub(crate) degree: usize,
    pub(crate) log_arity: u32,
    log_final_len: u32,
    pub(crate) queries: u32,
    grinding: Bits,
    pub(crate) zeta: Vec<u32>,
    pub(crate) batches: Vec<Batch>,
}

#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bits {
    batch: u32,
    fold: u32,
    query: u32,
}

/// One commitment.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    pub(crate) commitment: Vec<[u32; DIGEST_LEN]>,
    pub(crate) tables: Vec<Table>,
}

/// One table of a commitment.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) log_rows: u32,
    pub(crate) base_columns: usize,
    pub(crate) extension_columns: usize,
    extension_degree: usize,
    pub(crate) openings: Vec<Opening>,
}

/// Neighbouring columns that are opened at the same points.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Opening {
    pub(crate) columns: usize,
    pub(crate) shifts: Vec<usize>,
    /// For each column its values in the order of the shifts, limb by limb.
    claims: Vec<Vec<Vec<u32>>>,
}

/// The name of a transcript's function.
pub(crate) fn function(transcript: args::TranscriptHash, params: &Params) -> Function {
    match transcript {
        args::TranscriptHash::Poseidon2 => {
            Function::Poseidon2(Box::new(params.constants16().clone()))
        }
        args::TranscriptHash::Blake3 => Function::blake3(),
        args::TranscriptHash::Blake2s => Function::blake2s(),
    }
}

/// The transcript that prover and verifier start with.
pub(crate) fn transcript(function: &Function, choice: Choice) -> Transcript {
    Transcript::new(function, LABEL, choice)
}

impl File {
    /// The file for `statement`.
    pub(crate) fn new<E: Extension>(
        params: &Params,
        proof_params: &ProofParams,
        function: &Function,
        statement: &Statement<E>,
    ) -> Self {
        let Grinding { batch, fold, query } = proof_params.grinding();
        let batches = statement.batches.iter().zip(&statement.claims);
        Self {
            version: VERSION,
            scheme: "fri".to_owned(),
            format: params.format().name().to_owned(),
            sponge: match params.format() {
                Format::Plonky3 {
                    sponge: Sponge::Width16,
                } => Some(16),
                Format::Plonky3 { .. } => Some(24),
                _ => None,
            },
            log_inv_rate: params.log_inv_rate(),
            cap_height: params.cap_height(),
            transcript: function.to_string(),
            degree: E::DEGREE,
            log_arity: proof_params.log_arity(),
            log_final_len: proof_params.log_final_len(),
            queries: proof_params.queries(),
            grinding: Bits { batch, fold, query },
            zeta: limbs(&statement.zeta),
            batches: batches
                .map(|(batch, claims)| Batch {
                    commitment: batch
                        .commitment
                        .digests()
                        .iter()
                        .map(|digest| digest.to_canonical())
                        .collect(),
                    tables: batch
                        .tables
                        .iter()
                        .zip(claims)
                        .map(|(table, claims)| Table::new(table, claims))
                        .collect(),
                })
                .collect(),
        }
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or is no statement of this version.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes = read_file(path)?;
        let file: Self = serde_json::from_slice(&bytes).map_err(|error| {
            let hint = if bytes.starts_with(b"LWfp") {
                "this is a proof; the statement goes to --statement"
            } else {
                "`lanework prove` writes one beside its proof"
            };
            anyhow!(
                "{}: not a statement: {error}\nhint: {hint}",
                printable(path)
            )
        })?;
        if file.version != VERSION || file.scheme != "fri" {
            bail!(
                "{}: a statement of version {} about scheme {:?}, this program reads version {VERSION} about \"fri\"",
                printable(path),
                file.version,
                file.scheme
            );
        }
        Ok(file)
    }

    /// The parameters of the commitments.
    pub(crate) fn params(&self) -> anyhow::Result<Params> {
        let format = match (self.format.as_str(), self.sponge) {
            ("lineth", None) => Format::Lineth,
            ("plonky3", Some(16)) => Format::Plonky3 {
                sponge: Sponge::Width16,
            },
            ("plonky3", Some(24)) => Format::Plonky3 {
                sponge: Sponge::Width24,
            },
            (format, sponge) => bail!("no format {format:?} with sponge {sponge:?}"),
        };
        Ok(Params::builder(format)
            .log_inv_rate(self.log_inv_rate)
            .cap_height(self.cap_height)
            .build()?)
    }

    /// The parameters of the proof.
    pub(crate) fn proof_params(&self) -> anyhow::Result<ProofParams> {
        let Bits { batch, fold, query } = self.grinding;
        Ok(ProofParams::builder()
            .log_arity(self.log_arity)
            .log_final_len(self.log_final_len)
            .queries(self.queries)
            .grinding(Grinding { batch, fold, query })
            .build()?)
    }

    /// The function of the transcript.
    pub(crate) fn function(&self, params: &Params) -> anyhow::Result<Function> {
        let name = match self.transcript.as_str() {
            "poseidon2" => args::TranscriptHash::Poseidon2,
            "blake3" => args::TranscriptHash::Blake3,
            "blake2s" => args::TranscriptHash::Blake2s,
            other => bail!("no transcript {other:?}"),
        };
        Ok(function(name, params))
    }

    /// The statement itself.
    pub(crate) fn statement<E: Extension>(&self) -> anyhow::Result<Statement<E>> {
        let mut batches = Vec::new();
        let mut claims = Vec::new();
        for batch in &self.batches {
            let digests = batch.commitment.iter().map(|words| {
                let mut digest = Digest::ZERO;
                for (word, &value) in digest.0.iter_mut().zip(words) {
                    *word = KoalaBear::from_canonical(value)?;
                }
                Ok(digest)
            });
            let digests = digests.collect::<anyhow::Result<Vec<_>>>()?;
            let mut claims_of_batch = Vec::new();
            for table in &batch.tables {
                claims_of_batch.push(table.claims()?);
            }
            claims.push(claims_of_batch);
            batches.push(OpenedBatch {
                commitment: Commitment::new(digests),
                tables: batch.tables.iter().map(Table::opened).collect(),
            });
        }
        Ok(Statement {
            batches,
            zeta: element(&self.zeta).context("zeta")?,
            claims,
        })
    }
}

impl Table {
    fn new<E: Extension>(table: &OpenedTable, claims: &[E]) -> Self {
        let mut claims = claims.iter();
        let openings = table.shifts.runs().iter().map(|run| Opening {
            columns: run.columns,
            shifts: run.shifts.to_vec(),
            claims: (0..run.columns)
                .map(|_| claims.by_ref().take(run.shifts.len()).map(limbs).collect())
                .collect(),
        });
        Self {
            log_rows: table.shape.log_rows,
            base_columns: table.shape.base_width,
            extension_columns: table.shape.ext_width,
            extension_degree: table.shape.ext_degree,
            openings: openings.collect(),
        }
    }

    fn opened(&self) -> OpenedTable {
        let runs = self.openings.iter();
        OpenedTable {
            shape: Shape {
                log_rows: self.log_rows,
                base_width: self.base_columns,
                ext_width: self.extension_columns,
                ext_degree: self.extension_degree,
            },
            shifts: Shifts::from_runs(runs.map(|run| (run.columns, run.shifts.clone()))),
        }
    }

    fn claims<E: Extension>(&self) -> anyhow::Result<Vec<E>> {
        let mut claims = Vec::new();
        for opening in &self.openings {
            if opening.claims.len() != opening.columns {
                bail!(
                    "claims of {} columns where {} are opened",
                    opening.claims.len(),
                    opening.columns
                );
            }
            for values in &opening.claims {
                if values.len() != opening.shifts.len() {
                    bail!(
                        "{} claims for {} shifts",
                        values.len(),
                        opening.shifts.len()
                    );
                }
                for value in values {
                    claims.push(element(value).context("a claim")?);
                }
            }
        }
        Ok(claims)
    }
}

/// The bytes of a file that is not larger than any proof.
pub(crate) fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    let file = PositionedFile::open(path)?;
    if file.len() > FILE_BYTES_MAX {
        bail!(
            "{}: {} bytes are more than any proof or statement has",
            printable(path),
            file.len()
        );
    }
    let mut bytes = vec![0; usize::try_from(file.len())?];
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

fn limbs<E: Extension>(value: &E) -> Vec<u32> {
    value
        .limbs()
        .iter()
        .map(|limb| limb.to_canonical())
        .collect()
}

fn element<E: Extension>(limbs: &[u32]) -> anyhow::Result<E> {
    if limbs.len() != E::DEGREE {
        bail!(
            "{} limbs of an element of degree {}",
            limbs.len(),
            E::DEGREE
        );
    }
    let limbs = limbs.iter().map(|&limb| KoalaBear::from_canonical(limb));
    Ok(E::from_limbs(&limbs.collect::<Result<Vec<_>, _>>()?))
}
