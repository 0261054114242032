//! What is computed and how: rate and hash; memory, instruction set, threads.

use std::num::NonZero;

use lanework_arch::Choice;
use lanework_arch::memory::Pages;
use lanework_hash::blake::Function;

use crate::Error;

/// What stays in memory.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryMode {
    /// The words, the code and the tree.
    #[default]
    Keep,
    /// The words and the tree. The code is made in a buffer of as many bytes as the encoded lanes of the
    /// message, one part after the other; rows that are opened are made again.
    Message,
}

impl MemoryMode {
    /// The name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Message => "message",
        }
    }
}

/// The parameters of commitments, consistent with each other.
///
/// ```
/// use lanework_whir::{Function, MemoryMode, Params};
///
/// let params = Params::builder()
///     .log_inv_rate(2)
///     .function(Function::Blake2s)
///     .memory(MemoryMode::Message)
///     .build()?;
/// assert_eq!(params.log_inv_rate(), 2);
/// # Ok::<(), lanework_whir::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Params {
    log_inv_rate: u32,
    function: Function,
    memory: MemoryMode,
    choice: Choice,
    threads: Option<NonZero<usize>>,
    pages: Pages,
}

impl Params {
    /// A builder with the defaults: inverse rate 2, BLAKE3, everything kept, the best instruction set of this
    /// machine, the caller's thread pool, huge pages.
    pub fn builder() -> ParamsBuilder {
        ParamsBuilder(Self {
            log_inv_rate: 1,
            function: Function::Blake3,
            memory: MemoryMode::default(),
            choice: Choice::best(),
            threads: None,
            pages: Pages::Huge,
        })
    }

    /// log2 of codeword length over message length.
    pub fn log_inv_rate(&self) -> u32 {
        self.log_inv_rate
    }

    /// The hash function of leaves and nodes.
    pub fn function(&self) -> Function {
        self.function
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

    /// The pages of code and digests.
    pub fn pages(&self) -> Pages {
        self.pages
    }
}

/// Collects parameters, see [`Params::builder`].
#[derive(Clone, Debug)]
pub struct ParamsBuilder(Params);

impl ParamsBuilder {
    /// Sets log2 of codeword length over message length: 1, 2, 3 or 4.
    #[must_use]
    pub fn log_inv_rate(mut self, log_inv_rate: u32) -> Self {
        self.0.log_inv_rate = log_inv_rate;
        self
    }

    /// Sets the hash function of leaves and nodes.
    #[must_use]
    pub fn function(mut self, function: Function) -> Self {
        self.0.function = function;
        self
    }

    /// Sets what stays in memory.
    #[must_use]
    pub fn memory(mut self, memory: MemoryMode) -> Self {
        self.0.memory = memory;
        self
    }

    /// Sets the instruction set that kernels are chosen by.
    #[must_use]
    pub fn choice(mut self, choice: Choice) -> Self {
        self.0.choice = choice;
        self
    }

    /// Sets the number of threads, in a pool of their own; `None` uses the caller's pool.
    #[must_use]
    pub fn threads(mut self, threads: Option<NonZero<usize>>) -> Self {
        self.0.threads = threads;
        self
    }

    /// Sets the pages of code and digests.
    #[must_use]
    pub fn pages(mut self, pages: Pages) -> Self {
        self.0.pages = pages;
        self
    }

    /// The parameters.
    ///
    /// # Errors
    /// [`Error::LogInvRate`] if the rate is none of the four.
    pub fn build(self) -> Result<Params, Error> {
        if !(1..=4).contains(&self.0.log_inv_rate) {
            return Err(Error::LogInvRate {
                got: self.0.log_inv_rate,
            });
        }
        Ok(self.0)
    }
}
