//! Additive transforms over GF(2^64): evaluation on a linear subspace, many interleaved lanes at once.
//!
//! Use it to encode lanes of 64-bit words with a Reed-Solomon code over a domain of characteristic 2 ([`Encoder`]), and
//! for single transforms, inverse and transposed ones ([`Transform`]). [`Definition`] is the readable form of both,
//! over any basis.
//!
//! # The code
//! The domain is spanned by a Cantor basis (Cantor, JCTA 1989; Gao and Mateer, IEEE IT 2010), and a message is the
//! coefficients in the novel basis of Lin, Chung and Han (FOCS 2014). With this basis the twiddle of block b is the
//! same in every layer and for every size: the point of position 2b. So the first eight layers multiply by
//! elements of GF(2^8), the next eight by elements of GF(2^16), and sixteen more by elements of GF(2^32): in a tower of
//! fields over bytes these are one, two and four products of bytes ([`lanework_field::gf2::bytes`]).
//!
//! At rate 2^-r the first r layers copy only: the codeword is 2^r transforms of the message, the parts of the codeword,
//! which differ in their blocks' numbers.
//!
//! An extension field over GF(2^64) needs no transform of its own: an element of GF(2^192) is three words, and a lane of
//! them three lanes.
//!
//! # Passes
//! A lane has one word in each row, and rows that are paired lie far apart in the first layers. A *gathered pass* takes
//! groups of rows at a constant distance into working memory, runs several layers there and writes the rows back; the
//! first one reads the message and makes all parts of the codeword from it. The *deep pass* runs the other layers on
//! blocks of neighbouring rows, each in the second-level cache, and hands finished blocks to the caller, who may hash
//! them there. Within a pass, nodes of up to three layers are visited depth first, so that smaller blocks stay in the
//! first-level cache.
//!
//! ```
//! use lanework_arch::Choice;
//! use lanework_arch::cpu::Caches;
//! use lanework_field::gf2::T64;
//! use lanework_ntt::additive::{Definition, Encoder, Shape};
//!
//! // Two lanes of four words: rows of two words.
//! let shape = Shape { log_rows: 2, log_inv_rate: 1, lanes: 2 };
//! let rows = [1, 5, 2, 6, 3, 7, 4, 8];
//! let encoder = Encoder::new(shape, Choice::best(), Caches::detect(), 1)?;
//! let mut code = vec![0; shape.codeword_len()];
//! encoder.encode(&rows, &mut code)?;
//!
//! let by_definition = Definition::cantor(3).encode(&rows.map(T64), 2);
//! assert!(code.iter().eq(by_definition.iter().map(|x| &x.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod encoder;
mod form;
mod group;
mod node;
mod scalar;
mod table;
#[cfg(test)]
mod tests;
mod transform;

pub use encoder::{Encoder, Representation, Shape};
pub use node::Network;
pub use scalar::Definition;
pub use transform::Transform;
