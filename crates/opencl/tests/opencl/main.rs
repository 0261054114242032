//! The search on a real device against known answers and a generic implementation of Blake2b, and what is
//! said where there is none.

mod missing;
mod search;

use lanework_opencl::{Device, Error, Root};
use lanework_testkit::isas;

/// The first device, or `None` with a word about the skip.
fn device() -> Option<Device> {
    match Device::find(0, 0) {
        Ok(device) => Some(device),
        Err(error @ (Error::NoLibrary { .. } | Error::NoPlatform | Error::NoDevice { .. })) => {
            isas::skip("opencl", &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The value by the generic implementation.
fn blake2b(root: &Root, work: u64) -> u64 {
    use blake2::digest::consts::U8;
    use blake2::{Blake2b, Digest};

    let digest = Blake2b::<U8>::new()
        .chain_update(work.to_le_bytes())
        .chain_update(root)
        .finalize();
    u64::from_le_bytes(digest.into())
}
