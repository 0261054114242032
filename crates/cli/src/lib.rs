//! Reads tables of KoalaBear columns from files that nobody vouches for.
//!
//! This is the part of the `lanework` command line that other programs, and the fuzzer, may want:
//! [`input`] opens `.npy`, `.csv` and `.bin` files, checks every size a file states against the
//! bytes that are there before it allocates anything, and writes the cells column by column into
//! memory of the caller. The rest of the command line is the binary `lanework`.
//!
//! ```
//! use lanework_cli::input::{Input, Shape, Unfit};
//! use lanework::field::koala::KoalaBear;
//!
//! let file: &[u8] = b"a,b\n1,2\n3,4\n";
//! let input = Input::csv(file)?;
//! assert_eq!(input.shape(), Shape { rows: 2, columns: 2 });
//!
//! let mut cells = vec![KoalaBear::ZERO; 4];
//! input.read(Unfit::Reject, &mut cells, 2, &|_| ())?;
//! assert_eq!(cells, [1, 3, 2, 4].map(KoalaBear::new));
//! # Ok::<(), lanework_cli::input::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod input;

/// The programs in the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
