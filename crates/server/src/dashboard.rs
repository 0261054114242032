//! A page to look at.

use crate::app::Server;

/// What the page may load: nothing but itself.
pub const POLICY: &str = "default-src 'none'";

/// The page as it is now.
pub fn page(_server: &Server) -> String {
    String::new()
}
