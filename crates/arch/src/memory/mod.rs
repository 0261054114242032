//! Large buffers: zeroed mappings with huge pages, disjoint views for parallel writers, streaming
//! stores, and the process's peak memory.

pub mod prefetch;
mod slab;
mod storage;
pub mod stream;
mod tiles;

pub use slab::{Column, Columns, Slab};
pub use storage::prefer_huge_pages;
pub use tiles::{Tile, Tiles, row_blocks, tiles};

/// Which pages a [`Slab`] asks the system for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// The system's ordinary pages.
    #[default]
    Normal,
    /// Huge pages where the system grants them: fewer page faults and address-translation misses in
    /// buffers of many megabytes. It is a request, never an error.
    Huge,
}

/// Why a buffer could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system does not have the memory.
    #[error("cannot allocate memory: {bytes} bytes")]
    OutOfMemory {
        /// What was asked for.
        bytes: usize,
    },
    /// The size does not fit the address space.
    #[error("buffer too large for the address space: {len} elements of {element_bytes} bytes")]
    TooLarge {
        /// The number of elements asked for.
        len: usize,
        /// The size of one of them.
        element_bytes: usize,
    },
}

/// The most physical memory this process has held so far, or `None` where the system does not tell.
///
/// Read from `VmHWM` of `/proc/self/status`, so it counts the whole process, files mapped or not.
pub fn peak_rss_bytes() -> Option<u64> {
    peak_rss_in(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_rss_in(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_is_read_from_the_status_file() {
        let status = "Name:\tx\nVmPeak:\t  99 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 5 kB\n";
        assert_eq!(peak_rss_in(status), Some(1234 * 1024));
        for broken in [
            "",
            "VmHWM:",
            "VmHWM: 12",
            "VmHWM: x kB",
            "VmHWM: 18446744073709551615 kB",
        ] {
            assert_eq!(peak_rss_in(broken), None, "{broken}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn peak_memory_grows_with_what_is_touched() {
        const BYTES: usize = 64 << 20;
        let mut slab = Slab::<u8>::zeroed(BYTES, Pages::Normal).unwrap();
        slab.fill(1);
        let peak = peak_rss_bytes().unwrap();
        assert!(peak >= BYTES as u64, "{peak}");
    }
}
