use thiserror::Error;

use crate::Kernel;

/// Why a text names no kernel or network to use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// No kernel has this name.
    #[error("unknown kernel: {name}\nhint: this machine has {}", Kernel::names())]
    UnknownKernel {
        /// The name as given.
        name: String,
    },
    /// The CPU (or the target of this build) lacks the instructions of the kernel.
    #[error(
        "this machine does not run the kernel {name}\nhint: it has {}",
        Kernel::names()
    )]
    MissingKernel {
        /// The kernel asked for.
        name: &'static str,
    },
    /// No network has this name.
    #[error("unknown network: {name}\nhint: live, beta, dev or banano")]
    UnknownNetwork {
        /// The name as given.
        name: String,
    },
}
