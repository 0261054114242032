//! The server from outside: over real sockets, as its clients and its enemies see it.

mod binary;
mod browser;
mod clients;
mod golden;
#[cfg(feature = "opencl")]
mod gpu;
mod hostile;
mod load;
mod observe;
mod optional;
mod upstream;
mod wire;
