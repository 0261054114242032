//! Proofs and their bytes.

use lanework_field::KoalaBear;
use lanework_field::koala::Ext6;
use lanework_hash::{DIGEST_LEN, Digest};
use lanework_transcript::codec::{self, Reader, Writer};

const MAGIC: [u8; 4] = *b"LWln";
const VERSION: u16 = 1;

/// An opening. [`verify`](super::verify()) makes no assumption about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// For each query, the opening of each input tree. The trees are those of the batches, equal roots once, in
    /// canonical order of their largest tables.
    pub input_queries: Vec<Vec<InputOpening>>,
    /// The cap of each input tree.
    pub input_caps: Vec<InputCap>,
    /// The roots of the running trees, from layer 1 on.
    pub round_roots: Vec<Digest>,
    /// The nodes of their caps; none at depth 0.
    pub round_caps: Vec<Vec<Digest>>,
    /// The coefficients of the final polynomial, the constant first.
    pub final_polynomial: Vec<Ext6>,
    /// For each query, the opening of each running tree.
    pub running_queries: Vec<Vec<RunningOpening>>,
}

/// The rows of a batch around one position, and the path of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputOpening {
    /// The siblings of the path from the level below the cap to that above the leaves, whose siblings follow
    /// from the rows.
    pub siblings: Vec<Digest>,
    /// For each level from that of the cap to that two above the leaves, the pair of rows of the table that enters
    /// there.
    pub pairs: Vec<Option<[Row; 2]>>,
    /// The pair of rows of the largest table.
    pub bottom: [Row; 2],
}

/// The cells of an encoded row of one table. In a pair the row at the position comes before its conjugate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The cells of the base columns.
    pub base: Vec<KoalaBear>,
    /// The cells of the extension columns.
    pub extension: Vec<Ext6>,
}

/// What is sent once for an input tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputCap {
    /// The nodes at the level of the cap; none at depth 0, where paths end at the root.
    pub nodes: Vec<Digest>,
    /// The tables whose auxiliary digests lie above that, the smallest first.
    pub tables: Vec<Revealed>,
}

/// A whole table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revealed {
    /// log2 of its rows before it is encoded.
    pub log_rows: u32,
    /// Its encoded rows.
    pub rows: Vec<Row>,
}

/// A value of a running layer and its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningOpening {
    /// The leaf: six limbs and two zeros.
    pub leaf: Digest,
    /// The siblings from the level below the cap to the leaves; the last one is the conjugate value.
    pub siblings: Vec<Digest>,
}

impl Row {
    /// The cells one after the other, as they are hashed.
    pub(super) fn cells(&self) -> impl Iterator<Item = KoalaBear> {
        let limbs = self.extension.iter().flat_map(|cell| cell.0);
        self.base.iter().copied().chain(limbs)
    }
}

impl Proof {
    /// The bytes of the proof.
    ///
    /// After the magic `LWln` and version 1 come the fields in order. A list is its length and its elements, a row
    /// its base and its extension cells, a table log2 of its rows and its rows, and a pair that may be missing a
    /// byte 0, or a byte 1 and the pair.
    ///
    /// # Panics
    /// If a list has 2^32 elements or more.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(MAGIC, VERSION);
        let out = &mut writer;
        out.len(self.input_queries.len());
        for query in &self.input_queries {
            out.len(query.len());
            for opening in query {
                write_digests(out, &opening.siblings);
                out.len(opening.pairs.len());
                for pair in &opening.pairs {
                    out.u8(pair.is_some().into());
                    for row in pair.iter().flatten() {
                        write_row(out, row);
                    }
                }
                for row in &opening.bottom {
                    write_row(out, row);
                }
            }
        }
        out.len(self.input_caps.len());
        for cap in &self.input_caps {
            write_digests(out, &cap.nodes);
            out.len(cap.tables.len());
            for table in &cap.tables {
                out.u32(table.log_rows);
                out.len(table.rows.len());
                for row in &table.rows {
                    write_row(out, row);
                }
            }
        }
        write_digests(out, &self.round_roots);
        out.len(self.round_caps.len());
        for cap in &self.round_caps {
            write_digests(out, cap);
        }
        write_extension(out, &self.final_polynomial);
        out.len(self.running_queries.len());
        for query in &self.running_queries {
            out.len(query.len());
            for opening in query {
                out.digests(&[opening.leaf]);
                write_digests(out, &opening.siblings);
            }
        }
        writer.finish()
    }

    /// The proof with these bytes.
    ///
    /// # Errors
    /// [`codec::Error`] for bytes that no proof has. Whether it proves anything is another question.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, codec::Error> {
        let mut input = Input {
            reader: Reader::new(bytes, MAGIC, VERSION)?,
            bytes_len: bytes.len(),
        };
        let proof = Self {
            input_queries: input
                .list("queries", |input| input.list("input trees", Input::opening))?,
            input_caps: input.list("caps", Input::cap)?,
            round_roots: input.digests()?,
            round_caps: input.list("caps", Input::digests)?,
            final_polynomial: input.extension()?,
            running_queries: input.list("queries", |input| {
                input.list("running layers", |input| {
                    let leaf = input.digest()?;
                    let siblings = input.digests()?;
                    Ok(RunningOpening { leaf, siblings })
                })
            })?,
        };
        input.reader.finish()?;
        Ok(proof)
    }
}

fn write_digests(out: &mut Writer, digests: &[Digest]) {
    out.len(digests.len());
    out.digests(digests);
}

fn write_extension(out: &mut Writer, elements: &[Ext6]) {
    out.len(elements.len());
    for element in elements {
        out.elements(&element.0);
    }
}

fn write_row(out: &mut Writer, row: &Row) {
    out.len(row.base.len());
    out.elements(&row.base);
    write_extension(out, &row.extension);
}

/// A reader that knows how much is left to read.
struct Input<'a> {
    reader: Reader<'a>,
    bytes_len: usize,
}

impl Input<'_> {
    /// The number of `what` of at least `bytes` bytes each, for which there is room in what is left.
    fn len(&mut self, what: &'static str, bytes: usize) -> Result<usize, codec::Error> {
        let left = self.bytes_len - self.reader.offset();
        let max = left.saturating_sub(size_of::<u32>()) / bytes;
        self.reader.len(what, max)
    }

    /// Grows with what is read, so that a large number alone allocates nothing.
    fn list<T>(
        &mut self,
        what: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<T, codec::Error>,
    ) -> Result<Vec<T>, codec::Error> {
        let len = self.len(what, 1)?;
        (0..len).map(|_| item(self)).collect()
    }

    fn digest(&mut self) -> Result<Digest, codec::Error> {
        let mut digest = Digest::ZERO;
        digest.0.copy_from_slice(&self.reader.elements(DIGEST_LEN)?);
        Ok(digest)
    }

    fn digests(&mut self) -> Result<Vec<Digest>, codec::Error> {
        let len = self.len("digests", size_of::<Digest>())?;
        self.reader.digests(len)
    }

    fn extension(&mut self) -> Result<Vec<Ext6>, codec::Error> {
        let len = self.len("elements", size_of::<Ext6>())?;
        let limbs = self.reader.elements(len * Ext6::DEGREE)?;
        let (elements, _) = limbs.as_chunks::<{ Ext6::DEGREE }>();
        Ok(elements.iter().copied().map(Ext6).collect())
    }

    fn row(&mut self) -> Result<Row, codec::Error> {
        let len = self.len("cells", size_of::<KoalaBear>())?;
        Ok(Row {
            base: self.reader.elements(len)?,
            extension: self.extension()?,
        })
    }

    fn pair(&mut self) -> Result<[Row; 2], codec::Error> {
        Ok([self.row()?, self.row()?])
    }

    fn opening(&mut self) -> Result<InputOpening, codec::Error> {
        Ok(InputOpening {
            siblings: self.digests()?,
            pairs: self.list("levels", |input| {
                let offset = input.reader.offset();
                match input.reader.u8()? {
                    0 => Ok(None),
                    1 => input.pair().map(Some),
                    value => Err(codec::Error::Unknown {
                        offset,
                        what: "mark of a pair",
                        value: value.into(),
                    }),
                }
            })?,
            bottom: self.pair()?,
        })
    }

    fn cap(&mut self) -> Result<InputCap, codec::Error> {
        Ok(InputCap {
            nodes: self.digests()?,
            tables: self.list("tables", |input| {
                let log_rows = input.reader.u32()?;
                let rows = input.list("rows", Self::row)?;
                Ok(Revealed { log_rows, rows })
            })?,
        })
    }
}
