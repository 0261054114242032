//! Proofs and their bytes.

use lanework_field::KoalaBear;
use lanework_field::koala::Extension;
use lanework_hash::Digest;
use lanework_transcript::codec::{Error, Reader, Writer};

use crate::schedule::format_id;
use crate::{Grinding, Params, ProofParams, RowOpening};

/// That the claims of a [`Statement`](crate::Statement) are true.
///
/// Its parts are public so that they can be looked at and changed in tests; a proof that holds is one that
/// [`verify`](crate::verify) accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof<E> {
    /// What it was made with.
    pub header: Header,
    /// The work before the challenge that batches columns.
    pub batch_nonce: u64,
    /// The folding rounds.
    pub layers: Vec<Layer<E>>,
    /// The coefficients of the polynomial that is left.
    pub final_polynomial: Vec<E>,
    /// The work before the positions.
    pub query_nonce: u64,
    /// The opened rows of every batch.
    pub batches: Vec<RowOpening>,
}

/// The parameters of a proof, as its first bytes tell them. They are compared with those that a verifier
/// expects, never believed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// 0 for the lineth format, 1 and 2 for the Plonky3 format with the sponge of width 16 and 24.
    pub format: u8,
    /// The degree of the extension.
    pub degree: u8,
    /// log2 of the inverse rate.
    pub log_inv_rate: u8,
    /// The cap height of commitments and layers.
    pub cap_height: u32,
    /// log2 of the arity.
    pub log_arity: u8,
    /// log2 of the coefficients of the final polynomial, before small tables limit it.
    pub log_final_len: u8,
    /// Queries.
    pub queries: u32,
    /// Bits of work.
    pub grinding: Grinding,
}

impl Header {
    /// The header of proofs over `E` with these parameters.
    pub fn new<E: Extension>(params: &Params, proof_params: &ProofParams) -> Self {
        Self {
            format: format_id(params.format()),
            degree: E::DEGREE as u8,
            log_inv_rate: params.log_inv_rate() as u8,
            cap_height: params.cap_height(),
            log_arity: proof_params.log_arity() as u8,
            log_final_len: proof_params.log_final_len() as u8,
            queries: proof_params.queries(),
            grinding: proof_params.grinding(),
        }
    }
}

/// One folding round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer<E> {
    /// The root, or the cap, of the tree over the rows of values that are folded into one each.
    pub commitment: Vec<Digest>,
    /// The work before the challenge of the round.
    pub nonce: u64,
    /// The values of the opened rows that a verifier does not compute, row by row in ascending order.
    pub values: Vec<E>,
    /// The digests that lead from the opened rows to the commitment.
    pub siblings: Vec<Digest>,
}

/// Bytes of a proof by part.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sizes {
    /// The header and the nonces.
    pub header: usize,
    /// Opened rows of the tables.
    pub rows: usize,
    /// Digests that lead from them to the commitments.
    pub row_siblings: usize,
    /// Commitments of the folding rounds.
    pub layer_commitments: usize,
    /// Opened values of the folding rounds.
    pub layer_values: usize,
    /// Digests that lead from them to the commitments of the rounds.
    pub layer_siblings: usize,
    /// The final polynomial.
    pub final_polynomial: usize,
    /// All of them.
    pub total: usize,
}

const MAGIC: [u8; 4] = *b"LWfp";
const VERSION: u16 = 1;

/// More of each than any proof has.
const BATCHES_MAX: usize = 1 << 12;
const TABLES_MAX: usize = 1 << 12;
const LAYERS_MAX: usize = 24;

impl Header {
    /// Reads the header alone, which says for which extension the rest is.
    ///
    /// # Errors
    /// If the bytes are no header of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(&mut Reader::new(bytes, MAGIC, VERSION)?)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self {
            format: reader.u8()?,
            degree: reader.u8()?,
            log_inv_rate: reader.u8()?,
            cap_height: reader.u32()?,
            log_arity: reader.u8()?,
            log_final_len: reader.u8()?,
            queries: reader.u32()?,
            grinding: Grinding {
                batch: reader.u32()?,
                fold: reader.u32()?,
                query: reader.u32()?,
            },
        })
    }

    fn write(&self, writer: &mut Writer) {
        writer.u8(self.format);
        writer.u8(self.degree);
        writer.u8(self.log_inv_rate);
        writer.u32(self.cap_height);
        writer.u8(self.log_arity);
        writer.u8(self.log_final_len);
        writer.u32(self.queries);
        for bits in [self.grinding.batch, self.grinding.fold, self.grinding.query] {
            writer.u32(bits);
        }
    }
}

impl<E: Extension> Proof<E> {
    /// The bytes, in version 1 of the format.
    ///
    /// After the magic `LWfp`, the version and the header come the nonce of the batching challenge; the
    /// number of layers and for each its commitment, nonce, values and siblings; the final polynomial; the
    /// nonce of the queries; the number of batches and for each the number of its tables, the cells of
    /// each, and the siblings. Lists have their length before them.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.write().0
    }

    /// The number of bytes of each part.
    pub fn sizes(&self) -> Sizes {
        self.write().1
    }

    fn write(&self) -> (Vec<u8>, Sizes) {
        let mut sizes = Sizes::default();
        let mut writer = Writer::new(MAGIC, VERSION);
        self.header.write(&mut writer);
        writer.u64(self.batch_nonce);
        writer.len(self.layers.len());
        let mut at = 0;
        let mut since = |writer: &Writer, part: &mut usize| {
            *part += writer.offset() - at;
            at = writer.offset();
        };
        since(&writer, &mut sizes.header);
        for layer in &self.layers {
            digests(&mut writer, &layer.commitment);
            since(&writer, &mut sizes.layer_commitments);
            writer.u64(layer.nonce);
            since(&writer, &mut sizes.header);
            extensions(&mut writer, &layer.values);
            since(&writer, &mut sizes.layer_values);
            digests(&mut writer, &layer.siblings);
            since(&writer, &mut sizes.layer_siblings);
        }
        extensions(&mut writer, &self.final_polynomial);
        since(&writer, &mut sizes.final_polynomial);
        writer.u64(self.query_nonce);
        writer.len(self.batches.len());
        since(&writer, &mut sizes.header);
        for batch in &self.batches {
            writer.len(batch.rows.len());
            for rows in &batch.rows {
                writer.len(rows.len());
                writer.elements(rows);
            }
            since(&writer, &mut sizes.rows);
            digests(&mut writer, &batch.siblings);
            since(&writer, &mut sizes.row_siblings);
        }
        sizes.total = writer.offset();
        (writer.finish(), sizes)
    }

    /// The proof that `bytes` are. It is not verified: what is checked is that they are the one encoding of
    /// some proof.
    ///
    /// # Errors
    /// If they are not.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes, MAGIC, VERSION)?;
        let offset = reader.offset() + 1;
        let header = Header::read(&mut reader)?;
        if usize::from(header.degree) != E::DEGREE {
            return Err(Error::Unknown {
                offset,
                what: "degree of this proof",
                value: header.degree.into(),
            });
        }
        let batch_nonce = reader.u64()?;
        let layers_len = reader.len("folding rounds", LAYERS_MAX)?;
        let mut layers = Vec::new();
        for _ in 0..layers_len {
            layers.push(Layer {
                commitment: read_digests(&mut reader)?,
                nonce: reader.u64()?,
                values: read_extensions(&mut reader)?,
                siblings: read_digests(&mut reader)?,
            });
        }
        let final_polynomial = read_extensions(&mut reader)?;
        let query_nonce = reader.u64()?;
        let batches_len = reader.len("batches", BATCHES_MAX)?;
        let mut batches = Vec::new();
        for _ in 0..batches_len {
            let tables_len = reader.len("tables", TABLES_MAX)?;
            let mut rows = Vec::new();
            for _ in 0..tables_len {
                let cells_len = reader.len("cells", usize::MAX)?;
                rows.push(reader.elements(cells_len)?);
            }
            let siblings = read_digests(&mut reader)?;
            batches.push(RowOpening { rows, siblings });
        }
        reader.finish()?;
        Ok(Self {
            header,
            batch_nonce,
            layers,
            final_polynomial,
            query_nonce,
            batches,
        })
    }
}

fn digests(writer: &mut Writer, digests: &[Digest]) {
    writer.len(digests.len());
    writer.digests(digests);
}

fn extensions<E: Extension>(writer: &mut Writer, values: &[E]) {
    writer.len(values.len());
    for value in values {
        writer.elements(value.limbs());
    }
}

fn read_digests(reader: &mut Reader<'_>) -> Result<Vec<Digest>, Error> {
    let len = reader.len("digests", usize::MAX)?;
    reader.digests(len)
}

fn read_extensions<E: Extension>(reader: &mut Reader<'_>) -> Result<Vec<E>, Error> {
    let len = reader.len("extension elements", usize::MAX)?;
    let limbs: Vec<KoalaBear> = reader.elements(len.saturating_mul(E::DEGREE))?;
    Ok(limbs.chunks_exact(E::DEGREE).map(E::from_limbs).collect())
}
