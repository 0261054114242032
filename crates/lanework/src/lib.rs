//! Commitments for STARK provers at full speed on every CPU, from one portable build.
//!
//! Lanework Reed-Solomon encodes tables of KoalaBear columns, hashes every row with Poseidon2, and
//! commits to them with one Merkle root, which is bit for bit that of lineth's prover-ray or of
//! Plonky3. The same binary runs the AVX-512, AVX2, NEON or plain kernels, whichever is best on the
//! machine it is started on. Nothing is chosen when it is built.
//!
//! This crate re-exports the parts under one name; depend on it, and reach for the parts alone only
//! where compile time counts.
//!
//! | module | use it to |
//! |---|---|
//! | [`fri`] | commit to tables: parameters in, root and prover data out; open them at points, verify |
//! | [`transcript`] | Fiat-Shamir transcripts over Poseidon2 and BLAKE, grinding, the bytes of proofs |
//! | [`whir`] | commit to stacks of 64-bit words: any file, columns, packed bits |
//! | [`merkle`] | build the trees over columns that are already encoded; `bytes`, over digests of bytes |
//! | [`ntt`] | transform and extend columns; `additive`, lanes of words of GF(2^64) |
//! | [`hash`] | run Poseidon2, one state or many, and the hash modes over it; `blake`, many messages at once |
//! | [`field`] | compute in KoalaBear and its extensions; `gf2`, in GF(2^64) and GF(2^192) |
//! | [`security`] | count the bits of security of parameters, and find the queries that a target needs |
//! | [`nano`] | find and check Nano proof-of-work |
//! | [`arch`] | choose the instruction set and the threads, keep large buffers |
//!
//! # Commit to a trace
//!
//! ```
//! use lanework::field::KoalaBear;
//! use lanework::fri::{self, Format, Params, Sponge, Table};
//!
//! // Two columns of four rows.
//! let a = [1, 3, 5, 7].map(KoalaBear::new);
//! let b = [2, 4, 6, 8].map(KoalaBear::new);
//! let table = Table::borrowed(vec![&a, &b])?;
//!
//! let params = Params::builder(Format::Plonky3 { sponge: Sponge::Width16 }).build()?;
//! let (commitment, data, report) = fri::commit(&params, vec![table])?;
//!
//! let root = commitment.root().ok_or("caps of height 0 have one digest")?;
//! assert_eq!(root.to_canonical()[..2], [1565447659, 1786892898]);
//! // Codewords and their rows are in bit-reversed order; row 0 has the values at 3.
//! assert!(data.codewords()[0].row(0).eq([401080261, 401080262].map(KoalaBear::new)));
//! println!("encoded in {:?}, hashed in {:?}", report.encode, report.hash);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Open it, and verify
//!
//! A column is a polynomial: its cells are the values at the roots of unity. The prover shows what it is at a
//! point that nobody knew before the commitment, and at the points that are one row further.
//!
//! ```
//! use lanework::arch::{Choice, memory::Pages};
//! use lanework::field::koala::Ext6;
//! use lanework::fri::{self, Committer, Format, Grinding, OpenedBatch, OpenedTable, Opening, Params, ProofParams, Shifts};
//! use lanework::security::fri::Regime;
//! use lanework::transcript::{Function, Transcript};
//!
//! // What both agree on: the code, the hash, and how sure they want to be.
//! let params = Params::builder(Format::Lineth).build()?;
//! let table = fri::synthetic::Generator::Random { seed: 1 }.table(10, 20, Pages::Normal)?;
//! let opened = OpenedTable { shape: fri::Shape::base(10, 20), shifts: Shifts::uniform(20, &[0, 1]) };
//! let proof_params = ProofParams::builder()
//!     .grinding(Grinding { query: 10, ..Grinding::default() })
//!     .for_security::<Ext6>(80, Regime::UniqueDecoding, &params, [&opened])?;
//!
//! // The prover.
//! let committer = Committer::new(params.clone())?;
//! let (commitment, data, _) = committer.commit(vec![table])?;
//! let batch = OpenedBatch { commitment: commitment.clone(), tables: vec![opened.clone()] };
//! let mut transcript = Transcript::new(&Function::gnark(), "my protocol 1", Choice::best());
//! let zeta: Ext6 = fri::sample_point(&params, &proof_params, &mut transcript, &[batch]);
//! let shifts = [opened.shifts];
//! let opening = Opening::new(&commitment, &data, &shifts);
//! let (statement, proof, _report) = committer.open(&proof_params, &mut transcript, &[opening], zeta)?;
//! let bytes = proof.to_bytes();
//!
//! // The verifier, who knows the statement by other means, and checks the point too.
//! let proof = fri::Proof::<Ext6>::from_bytes(&bytes)?;
//! let mut transcript = Transcript::new(&Function::gnark(), "my protocol 1", Choice::portable());
//! let point: Ext6 = fri::sample_point(&params, &proof_params, &mut transcript, &statement.batches);
//! assert_eq!(point, statement.zeta);
//! fri::verify(&params, &proof_params, &mut transcript, &statement, &proof)?;
//! let [here, next] = statement.values(0, 0, 19).ok_or("a column")? else { panic!("two points") };
//! println!("column 19 is {here:?} at the point and {next:?} one row further");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/two_batches.rs` opens tables of different heights from two commitments at once.
//!
//! # Commit to a file
//!
//! ```
//! use lanework::whir::{self, Params, Stack};
//!
//! let bytes: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
//! let (commitment, data, _report) = whir::commit(&Params::builder().build()?, Stack::from_bytes(&bytes)?)?;
//!
//! // Some rows of the code, with what proves them against the root.
//! let positions = [17, 900];
//! let rows = commitment.verify(&positions, &data.open(&positions)?)?.len();
//! assert_eq!((commitment.shape().lanes, rows), (49, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Commit again and again
//!
//! A [`fri::Committer`] keeps what commitments have in common: constants and transforms made ready
//! for the kernels, a pool of threads if one is asked for, and the memory of commitments that are
//! given back. It can be shared by threads that commit at the same time.
//!
//! ```
//! use std::num::NonZero;
//!
//! use lanework::arch::memory::Pages;
//! use lanework::fri::{Committer, Format, MemoryMode, Params, synthetic::Generator};
//!
//! let params = Params::builder(Format::Lineth)
//!     .log_inv_rate(2)
//!     .memory(MemoryMode::Consume)
//!     .threads(NonZero::new(2)) // `None` is the caller's pool
//!     .build()?;
//! let committer = Committer::new(params)?;
//! let mut roots = Vec::new();
//! for seed in 1..4 {
//!     let table = Generator::Random { seed }.table(8, 20, Pages::Normal)?;
//!     let (commitment, data, _report) = committer.commit(vec![table])?;
//!     roots.extend(commitment.root());
//!     committer.recycle(data);
//! }
//! assert_eq!(roots.len(), 3);
//! # Ok::<(), lanework::fri::Error>(())
//! ```
//!
//! # Choose the instruction set
//!
//! Every kernel gives the same bytes. [`arch::Choice::best`] is the default; any other choice can
//! only lower it, because a choice exists only for what the machine runs.
//!
//! ```
//! use lanework::arch::Choice;
//! use lanework::fri::{Format, Params};
//!
//! let choice: Choice = "portable".parse()?;
//! let params = Params::builder(Format::Lineth).choice(choice).build()?;
//! assert_eq!(params.choice().to_string(), "portable");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub use lanework_arch as arch;
pub use lanework_field as field;
pub use lanework_fri as fri;
pub use lanework_hash as hash;
pub use lanework_merkle as merkle;
pub use lanework_nano as nano;
pub use lanework_ntt as ntt;
pub use lanework_security as security;
pub use lanework_transcript as transcript;
pub use lanework_whir as whir;
