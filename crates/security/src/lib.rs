//! Soundness of the proofs of this library: bits of security for each source of error, and the parameters that a
//! target needs.
//!
//! Use this crate to choose the number of queries, or to see what a choice is worth. It computes with floating point, but
//! parameters go in and come out as integers, and are the same on every platform.
//!
//! | module | what it is about |
//! |---|---|
//! | [`fri`] | openings of commitments by FRI |
//!
//! ```
//! use lanework_security::fri::{Grinding, Heights, Parameters, Regime, Shape, Source};
//! use lanework_security::{Field, Hash};
//!
//! // 300 columns of 2^20 rows, each opened at two points.
//! let shape = Shape {
//!     log_rows: 20,
//!     heights: Heights::Equal,
//!     log_inv_rate: 1,
//!     field: Field::KoalaBear { degree: 6 },
//!     hash: Hash::KoalaBear { words: 8 },
//!     columns: 300,
//!     points: 2,
//!     log_arity: 3,
//! };
//! let most = Grinding { queries: 16, ..Grinding::NONE };
//! let parameters = Parameters::for_target(shape, most, 100, Regime::UniqueDecoding)?;
//! assert_eq!((parameters.queries, parameters.grinding.queries), (203, 16));
//!
//! let report = parameters.report(Regime::UniqueDecoding)?;
//! assert_eq!(report.security_bits(), 100);
//! assert_eq!(report.weakest().source, Source::Queries);
//! # Ok::<(), lanework_security::Error>(())
//! ```
#![forbid(unsafe_code)]

mod error;
pub mod fri;
mod primitives;

pub use error::Error;
pub use primitives::{Field, Hash};
