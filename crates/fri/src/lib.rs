//! FRI polynomial commitments over KoalaBear: encode every column, hash every row, one root.
//!
//! Use this crate to commit to the trace of a prover. It takes tables of several power-of-two
//! heights, of base and extension columns, and gives roots that are bit for bit those of lineth's
//! prover-ray or of Plonky3.
//!
//! | module | what it has |
//! |---|---|
//! | the root | [`Params`], [`Table`] and the [`ColumnSource`] trait behind it, [`commit`], [`Committer`] |
//! | the root | [`ProverData::open`] and [`RowVerifier`]: openings of encoded rows |
//! | [`lineth`] | openings of commitments in the lineth format and their verifier |
//! | [`synthetic`] | generated tables, for tests and measurements |
//!
//! The rows of a [`Table`] are in natural order. Codewords are in bit-reversed order, and so are the
//! leaves of the tree: row i of [`Codeword::row`] and [`Codeword::column`] belongs to the point whose
//! index has the bits of i reversed.
//!
//! ```
//! use lanework_fri::{Format, Params, synthetic::Generator};
//! use lanework_arch::memory::Pages;
//!
//! let params = Params::builder(Format::Lineth).build()?;
//! let table = Generator::Lineth { seed: 1 }.table(4, 16, Pages::Normal)?;
//! let (commitment, data, report) = lanework_fri::commit(&params, vec![table])?;
//! let root = commitment.root().ok_or("one digest in this format")?;
//! assert_eq!(root.to_canonical()[..2], [1995216013, 928508405]);
//! assert_eq!(data.codewords()[0].height(), 32);
//! println!("{} bytes of codewords in {:?}", report.codeword_bytes, report.total);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod commit;
mod error;
mod kernels;
pub mod lineth;
mod open;
mod params;
mod proof;
mod proof_params;
mod rows;
mod rows_error;
mod schedule;
mod source;
mod statement;
mod streaming;
pub mod synthetic;
mod verify;

pub use commit::{Codeword, Commitment, Committer, ProverData, Report, Tree, commit};
pub use error::Error;
pub use lanework_field::koala::Extension;
pub use open::{Committed, OpenReport, Opening, sample_point};
pub use params::{Format, MemoryMode, Params, ParamsBuilder, Sponge};
pub use proof::{Header, Layer, Proof, Sizes};
pub use proof_params::{Grinding, ProofParams, ProofParamsBuilder};
pub use rows::{RowOpening, RowVerifier, verify_rows};
pub use rows_error::RowsError;
pub use schedule::ShapeError;
pub use source::{ColumnSource, Group, Shape, SourceError, Table};
pub use statement::{OpenedBatch, OpenedTable, Run, Shifts, Statement};
pub use verify::{VerifyError, verify};
