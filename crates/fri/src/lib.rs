//! FRI polynomial commitments over KoalaBear: encode every column, hash every row, one root.
//!
//! Use this crate to commit to the trace of a prover. It takes tables of several power-of-two
//! heights, of base and extension columns, and gives roots that are bit for bit those of lineth's
//! prover-ray or of Plonky3.
//!
//! | module | what it has |
//! |---|---|
//! | the root | [`Params`], [`Table`] and the [`ColumnSource`] trait behind it, [`commit`], [`Committer`] |
//! | the root | [`Committer::open`], [`Statement`], [`Proof`] and [`verify`]: values of columns at a point and its shifts; [`ProofParams`] |
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
//!
//! # The protocol
//!
//! An opening shows the values y of committed columns f at points z = `zeta` w^s, where w is the root of unity
//! of order n for n rows and s a shift. It is batched FRI with quotients, made non-interactive by a
//! [`Transcript`](lanework_transcript::Transcript). Levels are the columns of one height; within a level, columns are counted batch by batch
//! and table by table, base columns before extension columns.
//!
//! 1. Absorb parameters, constants of the permutations, shapes, shifts and commitments; the point; the claims.
//! 2. Work for the batching challenge, if asked for; squeeze alpha. Each level, of C columns, stands for the codeword
//!    Q(x) = sum over its columns c and over the points k of the column, both counted from 0, of
//!    alpha^(c + C k) (f(x) - y)/(x - z). No two claims share a factor: false ones could make up for each other.
//! 3. Start with Q of the tallest level. While the codeword is longer than the final polynomial allows: cut it into
//!    rows of neighbours, as many as the arity, or fewer so that the next smaller level or the end is met; commit
//!    to the rows, absorb, work, squeeze beta; replace each row by the value at beta of the polynomial through it. If
//!    a level is as long as the result, add beta^arity times its Q. The points of folding are those of the
//!    subgroup, whatever coset columns are encoded on.
//! 4. Absorb the coefficients of what is left; work; squeeze positions.
//! 5. Open the rows of all batches at the positions, and the rows of all rounds, each row once, with the
//!    digests that cannot be computed; values that a verifier computes itself are left out.
//!
//! The final polynomial is as long as the parameters say or as the smallest table, whichever is less. The quotient of a
//! table of one row must be zero.
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
