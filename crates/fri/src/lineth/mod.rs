//! lineth's multi-degree FRI: openings of columns of several sizes by one proof, and their verifier.
//!
//! Use it to prove what columns that were committed in [`Format::Lineth`](crate::Format::Lineth) are at a point, in proofs
//! that consist of the values that lineth's prover-ray computes, or to check such proofs.
//!
//! # What is proven
//! A batch is the tables of one commitment: columns of n = 2^s values on the subgroup of order n, at most one
//! table for each s. All batches are opened at one point zeta of the extension of degree 6 ([`Ext6`]). Each
//! column f has one or several shifts; shift k claims the value f(zeta w^k), w being the root of unity of order
//! n. The *canonical order* of columns is: the largest size first; in a size, the batches in the order given; in
//! a batch, the base columns and then the extension columns. Claims are in the order of their columns, and
//! those of a column in the order of its shifts.
//!
//! # How
//! If the claims hold, the quotients (f(x) - y) / (x - zeta w^k) are polynomials. The columns of one size, and
//! what was made of the larger ones, are combined with the powers of a challenge; FRI shows that the result has
//! a low degree, by halving it round after round. With 2^D the largest size, 2^b the inverse rate and 2^f the size
//! of the final polynomial there are R = D - f rounds. `running` starts as 2^(D + b) zeros. Round j:
//!
//! 1. The challenge alpha of the round is squeezed.
//! 2. If there are columns of size 2^(D - j), say C of them, running becomes
//!    running alpha^(2 C) + sum over columns c of alpha^(2 c) times the sum of the quotients of column c.
//!    The columns are seen on the domain of 2^(D - j + b) points, which is also that of `running`.
//! 3. Values at x and -x, which are neighbours in bit-reversed order, are folded:
//!    next(x^2) = (lo + hi) / 2 + alpha (lo - hi) / (2 x).
//! 4. The result is committed to by a *running tree*, whose leaves are its values as they are, six limbs and
//!    two zeros, and the root is absorbed. In the last round it is instead interpolated, and the 2^f coefficients
//!    of the final polynomial are absorbed.
//!
//! Then Q positions in the largest domain are squeezed. For each the proof has both rows of the pair around the
//! position in every table, and both values of the pair in every running layer, so that each round can be checked
//! there. Trees are cut at a *cap*, see [`cap_depth`]: its nodes are sent and hashed once, and the paths
//! of the queries end there. Tables whose auxiliary digests lie above the cap are sent as a whole with it.
//!
//! Before all that, the caller absorbs the roots of the batches, squeezes zeta, and absorbs the claims:
//!
//! ```
//! use lanework_arch::{Choice, memory::Pages};
//! use lanework_fri::lineth::{self, Batch, Committed, Opened, Statement};
//! use lanework_fri::{Format, Params, commit, synthetic::Generator};
//! use lanework_hash::RoundConstants;
//! use lanework_transcript::lineth::FiatShamir;
//!
//! let table = Generator::Lineth { seed: 1 }.table(5, 3, Pages::Normal)?;
//! let (commitment, data, _) = commit(&Params::builder(Format::Lineth).build()?, vec![table])?;
//!
//! // Codewords of at most 2^6 for columns of at most 2^5, a constant at the end, 20 queries.
//! let params = lineth::Params::new(6, 5, 0, 20)?;
//! let root = commitment.root().ok_or("one digest in this format")?;
//! // All three columns at zeta and at the next row.
//! let batches = [Batch { root, tables: vec![Opened::at(5, 3, 0, &[0, 1])] }];
//! let start = || {
//!     let mut transcript = FiatShamir::new(&RoundConstants::<16>::gnark(), Choice::best());
//!     transcript.absorb(&root.0);
//!     (transcript.squeeze_extension(), transcript)
//! };
//!
//! let (zeta, mut transcript) = start();
//! let committed = [Committed::new(&data)?];
//! let claims = lineth::claims(&params, Choice::best(), &committed, &batches, zeta)?;
//! transcript.absorb_extension(&claims);
//! let statement = Statement { batches: &batches, zeta, claims: &claims };
//! let proof = lineth::open(&params, Choice::best(), &committed, &statement, &mut transcript)?;
//! let bytes = proof.to_bytes();
//!
//! let (zeta, mut transcript) = start();
//! transcript.absorb_extension(&claims);
//! let statement = Statement { batches: &batches, zeta, claims: &claims };
//! lineth::verify(&params, &statement, &mut transcript, &lineth::Proof::from_bytes(&bytes)?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The boundary level
//! Columns of size 2^f would enter at round R, which does not exist. They are committed and opened, but not
//! folded: their combination, with powers of the last alpha instead of its square and without a running part, must have equal
//! values at x and -x. That is the rule of lineth, and it is weak. Quotients of a claim that holds have a degree
//! below 2^f - 1, so they are zero for f = 0 and a constant for f = 1, but an equal pair shows only that their
//! combination is even. A column (w + c, w - c) of size 1 passes with the claim w + c zeta. Here [`verify`]
//! demands more, which honest proofs always have: both rows of a pair of size-1 columns are equal, and the value
//! is the same in all queries. For f > 1 honest quotients need not be even, so that the rule refuses honest
//! proofs; such statements are refused from the start.
//!
//! Without a round (all columns of size 2^f) the rules of lineth's revisions differ in which challenge combines
//! the columns, and such statements are refused as well.
//!
//! Source: lineth-monorepo `prover-ray/crypto/koalabear/fri` and `verifier-ray/src`, July and August 2026, leaf
//! format with header; the note on the boundary level after `boundary_soundness_test.go` there. Earlier revisions have
//! a separate challenge for the quotients.
//!
//! The claims of one column share a power of the challenge, as these rules have it. For a small table opened at
//! several shifts, false claims can then make up for each other at more positions than the bounds of
//! `lanework-security` count: those bits are of the crate's own openings, not of these.

mod challenges;
mod error;
mod open;
mod params;
mod proof;
mod quotient;
mod verify;

pub use challenges::{Challenges, Fixed};
pub use error::{Error, Part};
pub use open::{Committed, claims, open};
pub use params::{Batch, Opened, Params, Statement, cap_depth};
pub use proof::{InputCap, InputOpening, Proof, Revealed, Row, RunningOpening};
pub use verify::verify;

#[cfg(doc)]
use lanework_field::koala::Ext6;
