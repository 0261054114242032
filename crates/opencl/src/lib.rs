//! Nano proof-of-work on GPUs: a search for nonces, by an OpenCL that is loaded at run time.
//!
//! A program that uses this crate starts on machines without OpenCL; there, [`platforms`] and
//! [`Device::find`] say what is missing. Use it beside `lanework-nano`, which checks what a device
//! reports: devices get hot, and drivers have faults.
//!
//! | item | what it is |
//! |---|---|
//! | [`platforms`], [`Device`] | what there is to search with |
//! | [`Search`], [`Settings`] | a device made ready, with two launches under way |
//! | [`Launch`] | what a device reports |
//!
//! `work.cl` is the program, and [its first round](Search::begin) is computed here, once for a root.
//!
//! ```
//! match lanework_opencl::platforms() {
//!     Ok(platforms) => {
//!         for device in platforms.iter().flat_map(|platform| &platform.devices) {
//!             println!("{}:{} {}", device.platform, device.index, device.name);
//!         }
//!     }
//!     Err(error) => println!("{error}"),
//! }
//! ```

mod device;
mod error;
mod first_round;
mod raw;
mod search;

pub use device::{Device, Platform, platforms};
pub use error::Error;
pub use search::{CANDIDATES, Launch, Search, Settings};

/// What work is for, as hashed: the hash of the account's previous block, or the public key of an
/// account that has none.
pub type Root = [u8; 32];
