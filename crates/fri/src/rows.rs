//! Openings of encoded rows, and the verifier's side: plain code that no input makes panic.
//!
//! The positions of an opening are rows of the tallest table of a batch, in ascending order. A table whose
//! encoded height is 2^k times smaller shows the rows `position >> k`, each once. In the lineth format the
//! digests of smaller tables are those of two rows, so such a table shows both rows of every pair
//! `position >> (k + 1)`.

use lanework_arch::Choice;
use lanework_field::KoalaBear;
use lanework_field::koala::Extension;
use lanework_hash::{
    Compression, Digest, MerkleDamgard, PaddingFreeSponge, Poseidon2, RowHasher,
    TruncatedPermutation,
};
use lanework_merkle::lineth;
use lanework_merkle::opening::{Injected, check_positions, verify};

use crate::{Commitment, Format, Params, RowsError, Shape};

/// Encoded rows of a batch of tables, with what proves them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowOpening {
    /// For each table in the order given, the cells of its opened rows in ascending order, row after row:
    /// base columns, then the limbs of each extension column.
    pub rows: Vec<Vec<KoalaBear>>,
    /// The digests of the tree that cannot be computed from the rows.
    pub siblings: Vec<Digest>,
}

/// Checks that `commitment` is to tables of `shapes` whose encoded rows at `positions` are those of
/// `opening`.
///
/// This prepares constants; to verify more than once, keep a [`RowVerifier`].
///
/// # Errors
/// As [`RowVerifier::verify`].
pub fn verify_rows(
    params: &Params,
    commitment: &Commitment,
    shapes: &[Shape],
    positions: &[usize],
    opening: &RowOpening,
) -> Result<(), RowsError> {
    RowVerifier::new(params).verify(commitment, shapes, positions, opening)
}

/// Verifies openings of rows, with prepared constants. It computes without vector instructions.
pub struct RowVerifier {
    params: Params,
    hashers: Hashers,
}

impl RowVerifier {
    /// Prepares the constants of `params`, of which format, rate and cap height matter.
    pub fn new(params: &Params) -> Self {
        Self {
            hashers: Hashers::new(params, Choice::portable()),
            params: params.clone(),
        }
    }

    pub(crate) fn hashers(&self) -> &Hashers {
        &self.hashers
    }

    /// Checks that `commitment` is to tables of `shapes` whose encoded rows at `positions` are those of
    /// `opening`. Positions are rows of the tallest table, in ascending order without repetition.
    ///
    /// Shapes and positions are the verifier's own: a prover who chose them could open anything.
    ///
    /// # Errors
    /// [`RowsError`]: what is wrong with shapes, positions or sizes, or that a digest of the commitment is
    /// another one.
    pub fn verify(
        &self,
        commitment: &Commitment,
        shapes: &[Shape],
        positions: &[usize],
        opening: &RowOpening,
    ) -> Result<(), RowsError> {
        let Self { params, hashers } = self;
        verify_batch(params, hashers, commitment, shapes, positions, opening)
    }
}

/// [`RowVerifier::verify`] with any kernels.
pub(crate) fn verify_batch(
    params: &Params,
    hashers: &Hashers,
    commitment: &Commitment,
    shapes: &[Shape],
    positions: &[usize],
    opening: &RowOpening,
) -> Result<(), RowsError> {
    params.check(shapes)?;
    let batch = Batch::new(params, shapes);
    check_positions(batch.log_height, positions)?;
    let (expected, got) = (1 << batch.cap_height, commitment.digests().len());
    if got != expected {
        return Err(RowsError::CapLen { expected, got });
    }
    if let Some(table) = batch.above_cap() {
        return Err(RowsError::AboveCap { table });
    }
    let (expected, got) = (shapes.len(), opening.rows.len());
    if got != expected {
        return Err(RowsError::TablesLen { expected, got });
    }
    for (table, (shape, cells)) in shapes.iter().zip(&opening.rows).enumerate() {
        let log_skip = batch.log_message(shape);
        let messages = positions.chunk_by(|a, b| a >> log_skip == b >> log_skip);
        let rows_len = messages.count() * batch.rows_per_message(shape);
        let expected = rows_len.checked_mul(shape.columns_len());
        if expected != Some(cells.len()) {
            return Err(RowsError::RowsLen {
                table,
                rows: rows_len,
                columns: shape.columns_len(),
                got: cells.len(),
            });
        }
    }
    let mut leaves = Vec::new();
    let mut injected = Vec::new();
    for log_skip in 0..=batch.log_height {
        let tables = shapes.iter().zip(&opening.rows);
        let here: Vec<_> = tables
            .filter(|(shape, _)| batch.log_message(shape) == log_skip)
            .collect();
        if here.is_empty() {
            continue;
        }
        let digests = digests(hashers, &batch, &here, positions, log_skip);
        if log_skip == 0 {
            leaves = digests;
        } else {
            injected.push(Injected {
                level: log_skip,
                digests,
            });
        }
    }
    verify(
        &*hashers.compression,
        commitment.digests(),
        batch.log_height,
        positions,
        &leaves,
        &injected,
        &opening.siblings,
    )?;
    Ok(())
}

/// The digests of the messages of tables that stand side by side, whose rows have as many cells as they
/// should.
fn digests(
    hashers: &Hashers,
    batch: &Batch<'_>,
    tables: &[(&Shape, &Vec<KoalaBear>)],
    positions: &[usize],
    log_skip: u32,
) -> Vec<Digest> {
    let mut rest: Vec<_> = tables
        .iter()
        .map(|(shape, cells)| {
            // No more than there are, unless there are none.
            let len = shape
                .columns_len()
                .saturating_mul(batch.rows_per_message(shape));
            cells.chunks_exact(len)
        })
        .collect();
    let mut message = Vec::new();
    let messages = positions.chunk_by(|a, b| a >> log_skip == b >> log_skip);
    messages
        .map(|_| {
            message.clear();
            if let (Format::Lineth, [(shape, _), ..]) = (batch.format, tables) {
                message.extend(lineth::header(shape.base_width, shape.ext_width));
            }
            for cells in &mut rest {
                message.extend_from_slice(cells.next().unwrap_or_default());
            }
            hashers.hasher.hash_slice(&message)
        })
        .collect()
}

impl std::fmt::Debug for RowVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowVerifier")
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

/// Where the rows of checked tables are in the tree over all of them.
pub(crate) struct Batch<'a> {
    format: Format,
    pub(crate) shapes: &'a [Shape],
    log_inv_rate: u32,
    /// log2 of the encoded rows of the tallest table.
    pub(crate) log_height: u32,
    /// log2 of the digests of the commitment.
    pub(crate) cap_height: u32,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(params: &Params, shapes: &'a [Shape]) -> Self {
        let log_rows = shapes.iter().map(|shape| shape.log_rows).max();
        let log_inv_rate = params.log_inv_rate();
        let log_height = log_rows.unwrap_or(0) + log_inv_rate;
        Self {
            format: params.format(),
            shapes,
            log_inv_rate,
            log_height,
            cap_height: params.cap_height().min(log_height),
        }
    }

    /// Halvings from a row of the tallest table to the message of the table of `shape`, and also the level of
    /// the tree that it enters, above the leaves.
    pub(crate) fn log_message(&self, shape: &Shape) -> u32 {
        let log_skip = self.log_height - shape.log_rows - self.log_inv_rate;
        log_skip + self.rows_per_message(shape).ilog2()
    }

    /// Rows of the table of `shape` in each message.
    pub(crate) fn rows_per_message(&self, shape: &Shape) -> usize {
        let tallest = shape.log_rows + self.log_inv_rate == self.log_height;
        if self.format == Format::Lineth && !tallest {
            2
        } else {
            1
        }
    }

    /// A table whose rows enter the tree above the cap, which says nothing of them.
    pub(crate) fn above_cap(&self) -> Option<usize> {
        self.shapes
            .iter()
            .position(|shape| self.log_message(shape) > self.log_height - self.cap_height)
    }

    /// The rows of the table of `shape` that an opening of `positions`, which ascend, shows.
    pub(crate) fn rows(&self, shape: &Shape, positions: &[usize]) -> Vec<usize> {
        let log_skip = self.log_message(shape);
        let per_message = self.rows_per_message(shape);
        positions
            .chunk_by(|a, b| a >> log_skip == b >> log_skip)
            .flat_map(|group| {
                let message = group[0] >> log_skip;
                message * per_message..(message + 1) * per_message
            })
            .collect()
    }
}

/// The hash functions of a format.
pub(crate) struct Hashers {
    pub(crate) hasher: Box<dyn RowHasher>,
    pub(crate) compression: Box<dyn Compression>,
}

impl Hashers {
    /// Prepares the constants of `params` for the kernels of `choice`.
    pub(crate) fn new(params: &Params, choice: Choice) -> Self {
        let narrow = || Poseidon2::<16>::new(params.constants16(), choice);
        match params.format() {
            Format::Lineth => Self {
                hasher: Box::new(MerkleDamgard::new(narrow())),
                compression: Box::new(MerkleDamgard::new(narrow())),
            },
            Format::Plonky3 { .. } => Self {
                hasher: match params.constants24() {
                    Some(wide) => {
                        let wide = Poseidon2::<24>::new(wide, choice);
                        Box::new(PaddingFreeSponge::<24, 16>::new(wide))
                    }
                    None => Box::new(PaddingFreeSponge::<16, 8>::new(narrow())),
                },
                compression: Box::new(TruncatedPermutation::new(narrow())),
            },
        }
    }

    /// The digest of a row of extension elements.
    pub(crate) fn hash_values<E: Extension>(&self, row: &[E]) -> Digest {
        let limbs: Vec<KoalaBear> = row
            .iter()
            .flat_map(lanework_field::koala::Extension::limbs)
            .copied()
            .collect();
        self.hasher.hash_slice(&limbs)
    }
}
