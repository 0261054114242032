//! What is computed and how: format, rate, constants; memory, instruction set, threads.

use std::num::NonZero;

use lanework_arch::Choice;
use lanework_arch::memory::Pages;
use lanework_hash::RoundConstants;
use lanework_merkle::lineth;

use crate::{Error, Shape};

/// The leaf and tree format of a commitment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// lineth's prover-ray: columns are values on a subgroup, encoded on the subgroup of N-th roots;
    /// leaves are Merkle-Damgard hashes with a header; a multi-size tree. Permutation: gnark-crypto's
    /// Poseidon2 of width 16.
    Lineth,
    /// Plonky3's `TwoAdicFriPcs`: columns are encoded on the coset of 3; a binary `MerkleTreeMmcs`
    /// with caps. Permutations: Plonky3's Poseidon2, of width 16 in the truncated permutation
    /// <2, 8, 16>.
    Plonky3 {
        /// The sponge that hashes rows.
        sponge: Sponge,
    },
}

impl Format {
    /// The name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lineth => "lineth",
            Self::Plonky3 { .. } => "plonky3",
        }
    }
}

/// The padding-free sponge that hashes rows in the Plonky3 format.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sponge {
    /// Width 16, rate 8: `PaddingFreeSponge<_, 16, 8, 8>`.
    Width16,
    /// Width 24, rate 16: `PaddingFreeSponge<_, 24, 16, 8>`.
    #[default]
    Width24,
}

/// What stays in memory.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryMode {
    /// The tables, their codewords and the tree.
    #[default]
    Keep,
    /// The codewords and the tree: columns of the tables are given back to the system as soon as
    /// they are encoded.
    Consume,
    /// The tables and the upper part of the tree: columns are encoded in groups, which are hashed and written over.
    /// Opening rows encodes again. Meant for tables that are not in memory themselves, see
    /// [`ColumnSource::fetch`](crate::ColumnSource::fetch).
    Streaming,
}

impl MemoryMode {
    /// The name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Consume => "consume",
            Self::Streaming => "low",
        }
    }
}

/// What is in memory at a time by default: enough that the hash states, which are read and written once for each
/// group of columns, are a small part of what goes through memory.
const GROUP_BYTES: usize = 256 << 20;

/// The parameters of commitments, consistent with each other.
///
/// ```
/// use lanework_fri::{Format, MemoryMode, Params};
///
/// let params = Params::builder(Format::Lineth).log_inv_rate(2).memory(MemoryMode::Consume).build()?;
/// assert_eq!(params.log_inv_rate(), 2);
/// # Ok::<(), lanework_fri::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Params {
    format: Format,
    log_inv_rate: u32,
    cap_height: u32,
    memory: MemoryMode,
    choice: Choice,
    threads: Option<NonZero<usize>>,
    pages: Pages,
    group_bytes: usize,
    constants16: RoundConstants<16>,
    constants24: Option<RoundConstants<24>>,
}

impl Params {
    /// A builder with the defaults of `format`: inverse rate 2, cap height 0, everything kept, the
    /// best instruction set of this machine, the caller's thread pool, huge pages, and the constants
    /// of the project the format comes from.
    pub fn builder(format: Format) -> ParamsBuilder {
        ParamsBuilder {
            format,
            log_inv_rate: 1,
            cap_height: 0,
            memory: MemoryMode::default(),
            choice: Choice::best(),
            threads: None,
            pages: Pages::Huge,
            group_bytes: GROUP_BYTES,
            constants16: None,
            constants24: None,
        }
    }

    /// The leaf and tree format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// log2 of codeword length over message length.
    pub fn log_inv_rate(&self) -> u32 {
        self.log_inv_rate
    }

    /// Layers below the root at which a Plonky3 commitment is cut; 0 in the lineth format.
    pub fn cap_height(&self) -> u32 {
        self.cap_height
    }

    /// What stays in memory.
    pub fn memory(&self) -> MemoryMode {
        self.memory
    }

    /// The instruction set that kernels are chosen by.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// The number of threads to run on, or `None` for the caller's pool.
    pub fn threads(&self) -> Option<NonZero<usize>> {
        self.threads
    }

    /// The pages of codewords and digests.
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Bytes of the codewords that are in memory at a time in memory mode [`Streaming`](MemoryMode::Streaming).
    pub fn group_bytes(&self) -> usize {
        self.group_bytes
    }

    /// The constants of the permutation of width 16.
    pub fn constants16(&self) -> &RoundConstants<16> {
        &self.constants16
    }

    /// The constants of the permutation of width 24, in formats that use one.
    pub fn constants24(&self) -> Option<&RoundConstants<24>> {
        self.constants24.as_ref()
    }

    /// Whether tables of `shapes` can be committed to.
    pub(crate) fn check(&self, shapes: &[Shape]) -> Result<(), Error> {
        /// log2 of the largest order of a root of unity.
        const LOG_LONGEST: u32 = 24;
        if shapes.is_empty() {
            return Err(Error::NoTables);
        }
        let log_inv_rate = self.log_inv_rate();
        for (table, shape) in shapes.iter().enumerate() {
            let &Shape { log_rows, .. } = shape;
            if log_rows.saturating_add(log_inv_rate) > LOG_LONGEST {
                return Err(Error::CodewordTooLong {
                    table,
                    log_rows,
                    log_inv_rate,
                });
            }
            if shape.columns_len() == 0 {
                return Err(Error::NoColumns { table });
            }
            if self.format() == Format::Lineth {
                let (expected, got) = (lineth::EXT_DEGREE, shape.ext_degree);
                if shape.ext_width > 0 && got != expected {
                    return Err(Error::ExtensionDegree {
                        table,
                        expected,
                        got,
                    });
                }
                // Found by the tree too, but only when all columns are encoded.
                let height = shape.rows_len() << log_inv_rate;
                if shapes[..table]
                    .iter()
                    .any(|earlier| earlier.log_rows == log_rows)
                {
                    return Err(lanework_merkle::Error::SameHeight { table, height }.into());
                }
            }
        }
        Ok(())
    }
}

/// Collects parameters, see [`Params::builder`].
#[derive(Clone, Debug)]
pub struct ParamsBuilder {
    format: Format,
    log_inv_rate: u32,
    cap_height: u32,
    memory: MemoryMode,
    choice: Choice,
    threads: Option<NonZero<usize>>,
    pages: Pages,
    group_bytes: usize,
    constants16: Option<RoundConstants<16>>,
    constants24: Option<RoundConstants<24>>,
}

impl ParamsBuilder {
    /// Sets log2 of codeword length over message length: 1, 2, 3 or 4.
    #[must_use]
    pub fn log_inv_rate(self, log_inv_rate: u32) -> Self {
        Self {
            log_inv_rate,
            ..self
        }
    }

    /// Sets how far below the root a Plonky3 commitment is cut: it then has 2^`cap_height` digests,
    /// or as many as there are when the tree is lower than that.
    #[must_use]
    pub fn cap_height(self, cap_height: u32) -> Self {
        Self { cap_height, ..self }
    }

    /// Sets what stays in memory.
    #[must_use]
    pub fn memory(self, memory: MemoryMode) -> Self {
        Self { memory, ..self }
    }

    /// Sets the instruction set that kernels are chosen by.
    #[must_use]
    pub fn choice(self, choice: Choice) -> Self {
        Self { choice, ..self }
    }

    /// Sets the number of threads, in a pool of their own; `None`, and so `NonZero::new(0)`, uses the
    /// caller's pool.
    #[must_use]
    pub fn threads(self, threads: Option<NonZero<usize>>) -> Self {
        Self { threads, ..self }
    }

    /// Sets the pages of codewords and digests.
    #[must_use]
    pub fn pages(self, pages: Pages) -> Self {
        Self { pages, ..self }
    }

    /// Sets the bytes of the codewords that are in memory at a time in memory mode
    /// [`Streaming`](MemoryMode::Streaming). They are more where a block of the hash, or a column for each thread,
    /// takes more.
    #[must_use]
    pub fn group_bytes(self, group_bytes: usize) -> Self {
        Self {
            group_bytes,
            ..self
        }
    }

    /// Sets the constants of the permutation of width 16.
    #[must_use]
    pub fn constants16(self, constants: RoundConstants<16>) -> Self {
        Self {
            constants16: Some(constants),
            ..self
        }
    }

    /// Sets the constants of the permutation of width 24, which only [`Sponge::Width24`] uses.
    #[must_use]
    pub fn constants24(self, constants: RoundConstants<24>) -> Self {
        Self {
            constants24: Some(constants),
            ..self
        }
    }

    /// The parameters.
    ///
    /// # Errors
    /// [`Error::LogInvRate`] if the rate is none of the four; [`Error::CapHeight`] for a cap in the
    /// lineth format; [`Error::UnusedConstants`] for constants that would have no effect.
    pub fn build(self) -> Result<Params, Error> {
        if !(1..=4).contains(&self.log_inv_rate) {
            return Err(Error::LogInvRate {
                got: self.log_inv_rate,
            });
        }
        if self.format == Format::Lineth && self.cap_height != 0 {
            return Err(Error::CapHeight {
                got: self.cap_height,
            });
        }
        let wide = self.format
            == Format::Plonky3 {
                sponge: Sponge::Width24,
            };
        if !wide && self.constants24.is_some() {
            return Err(Error::UnusedConstants { width: 24 });
        }
        let constants16 = self.constants16.unwrap_or_else(|| match self.format {
            Format::Lineth => RoundConstants::<16>::gnark(),
            Format::Plonky3 { .. } => RoundConstants::<16>::plonky3_default(),
        });
        let constants24 = wide.then(|| {
            self.constants24
                .unwrap_or_else(RoundConstants::<24>::plonky3_default)
        });
        Ok(Params {
            format: self.format,
            log_inv_rate: self.log_inv_rate,
            cap_height: self.cap_height,
            memory: self.memory,
            choice: self.choice,
            threads: self.threads,
            pages: self.pages,
            group_bytes: self.group_bytes,
            constants16,
            constants24,
        })
    }
}
