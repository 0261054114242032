//! Transforms of a block of rows where it lies.
#![expect(unsafe_code, reason = "hands checked rows to the kernels")]

use lanework_arch::Choice;

use super::body::Transform as Kernels;
use super::encoder::{Representation, check};
use super::group::Group;
use super::node::Network;
use super::table;
use crate::Error;
use crate::plan::radices;

/// The last layers of the additive transform on one block of interleaved lanes, in place and on one thread.
///
/// A transform of 2^n positions has layers 0 to n - 1; layer l has 2^l blocks of 2^(n - l) rows. A block of layer l
/// and all layers from l on are a transform of their own, which depends on the block's number alone: with block 0
/// it is the whole transform of 2^`log_rows` positions, with block s of a codeword at rate 2^-r, for s < 2^r, it
/// makes the part s of the codeword of the message.
pub struct Transform {
    log_rows: u32,
    lanes: usize,
    radices: Vec<u32>,
    kernels: Box<dyn Kernels>,
    log_blocks: u32,
    representation: Representation,
}

impl Transform {
    /// A transform of 2^`log_rows` rows of `lanes` words of a representation, for blocks below 2^`log_blocks`.
    ///
    /// Either representation gives the same elements. Words of the tower are faster.
    ///
    /// # Errors
    /// [`Error::DomainTooLong`] if `log_rows + log_blocks` is above 32.
    ///
    /// # Panics
    /// If there are no lanes, or so many that the rows of all blocks do not fit the address space.
    pub fn new(
        log_rows: u32,
        lanes: usize,
        log_blocks: u32,
        representation: Representation,
        choice: Choice,
    ) -> Result<Self, Error> {
        let log_len = log_rows.saturating_add(log_blocks);
        check(log_len, lanes)?;
        Ok(Self {
            log_rows,
            lanes,
            radices: radices(log_rows),
            kernels: match representation {
                Representation::Tower => table::tower(choice, log_len),
                Representation::Polynomial => table::polynomial(choice, log_len),
            },
            log_blocks,
            representation,
        })
    }

    /// The kernels in use.
    pub fn kernel_name(&self) -> &'static str {
        self.kernels.name()
    }

    /// From coefficients in the novel basis to values.
    ///
    /// # Panics
    /// If `rows` is not as long as the shape says, or the block is not below the bound.
    pub fn forward(&self, rows: &mut [u64], block: usize) {
        self.run(rows, block, Network::Forward);
    }

    /// From values to coefficients in the novel basis.
    ///
    /// # Panics
    /// As [`Transform::forward`].
    pub fn inverse(&self, rows: &mut [u64], block: usize) {
        self.run(rows, block, Network::Inverse);
    }

    /// The transposed of the forward map: from weights of values to weights of coefficients.
    ///
    /// # Panics
    /// As [`Transform::forward`].
    pub fn transposed(&self, rows: &mut [u64], block: usize) {
        self.run(rows, block, Network::Transposed);
    }

    fn run(&self, rows: &mut [u64], block: usize, network: Network) {
        assert_eq!(rows.len(), self.lanes << self.log_rows, "words of the rows");
        assert!(
            block >> self.log_blocks == 0,
            "the block is below 2^{}",
            self.log_blocks
        );
        if self.radices.is_empty() {
            return;
        }
        let group = Group::in_place(&self.radices, self.lanes, block, rows.as_mut_ptr());
        // SAFETY: the rows are exclusive and as many as the group's.
        unsafe {
            match network {
                Network::Forward => self.kernels.forward(&group),
                _ => self.kernels.backward(&group, network),
            }
        }
    }
}

impl std::fmt::Debug for Transform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transform")
            .field("log_rows", &self.log_rows)
            .field("lanes", &self.lanes)
            .field("representation", &self.representation)
            .field("kernels", &self.kernel_name())
            .finish_non_exhaustive()
    }
}
