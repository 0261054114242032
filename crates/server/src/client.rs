//! Who a request comes from.

use std::net::IpAddr;

/// A client as far as it can be told from others: what limits are counted for, and who owns a request.
///
/// Never the port: a node cancels from a new connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Client {
    /// Nothing is known, as of a Unix socket.
    #[default]
    Unknown,
    /// The address it connects from.
    Address(IpAddr),
    /// The number of the API key that it has shown.
    Key(usize),
}
