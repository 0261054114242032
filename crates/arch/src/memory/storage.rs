//! The bytes behind a slab: an anonymous mapping on Linux, the global allocator elsewhere.
#![expect(unsafe_code, reason = "maps, clears and frees raw memory")]

use std::ptr::NonNull;

use super::{Error, Pages};

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) use heap::Storage;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use mapping::Storage;

/// Asks the system to back `memory` by huge pages from now on, as far as it has no pages yet and holds whole huge ones.
///
/// For memory that is not a [`Slab`](super::Slab), such as the spare capacity of a large vector. What it holds stays as it
/// is, and where the system has no such wish there is no effect.
pub fn prefer_huge_pages<T>(memory: &mut [T]) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    mapping::prefer_huge_pages(memory);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = memory;
}

/// What every storage is aligned to at least: a cache line, and the widest vector.
pub(super) const ALIGN: usize = 64;

/// A well-aligned pointer for storages without bytes.
const DANGLING: NonNull<u8> = NonNull::without_provenance(std::num::NonZero::new(ALIGN).unwrap());

#[cfg(any(target_os = "linux", target_os = "android"))]
mod mapping {
    use std::ptr::{NonNull, null_mut};

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    use super::{DANGLING, Error, Pages};

    /// The size and alignment of a huge page where the base page has 4 KiB. With other base pages
    /// the huge page is larger, and the request has no effect unless the mapping happens to fit.
    const HUGE_BYTES: usize = 2 << 20;

    pub(super) fn prefer_huge_pages<T>(memory: &mut [T]) {
        let bytes = size_of_val(memory);
        let start = memory.as_mut_ptr().cast::<u8>();
        let head = start.align_offset(HUGE_BYTES).min(bytes);
        let whole_bytes = (bytes - head) / HUGE_BYTES * HUGE_BYTES;
        if whole_bytes > 0 {
            // SAFETY: *bounds*: `head + whole_bytes <= bytes`, within the slice. The advice changes which
            // pages back the memory, not its content.
            let _ = unsafe { madvise(start.add(head).cast(), whole_bytes, Advice::LinuxHugepage) };
        }
    }

    /// A private anonymous mapping: zero at first, and again wherever pages were given back.
    pub(in super::super) struct Storage {
        base: NonNull<u8>,
        bytes: usize,
        mapping: NonNull<u8>,
        mapping_bytes: usize,
    }

    // SAFETY: the mapping belongs to this value alone, like a `Box<[u8]>`; nothing about it depends
    // on the thread.
    unsafe impl Send for Storage {}
    // SAFETY: as above; a shared `Storage` only hands out the address.
    unsafe impl Sync for Storage {}

    impl Storage {
        pub(in super::super) fn zeroed(bytes: usize, pages: Pages) -> Result<Self, Error> {
            if bytes == 0 {
                return Ok(Self {
                    base: DANGLING,
                    bytes,
                    mapping: DANGLING,
                    mapping_bytes: 0,
                });
            }
            // Pages that straddle an alignment boundary cannot be huge: ask for enough address space
            // to start on one. What lies before and after is never touched and costs no memory.
            let huge = pages == Pages::Huge && bytes >= HUGE_BYTES;
            let slack = if huge { HUGE_BYTES } else { 0 };
            let error = Error::OutOfMemory { bytes };
            let Some(mapping_bytes) = bytes.checked_add(slack) else {
                return Err(error);
            };
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a null address lets the kernel choose unused address space, so no memory of
            // this program changes.
            let mapping =
                unsafe { mmap_anonymous(null_mut(), mapping_bytes, protection, MapFlags::PRIVATE) };
            let Some(mapping) = mapping
                .ok()
                .and_then(|address| NonNull::new(address.cast::<u8>()))
            else {
                return Err(error);
            };
            let offset = if huge {
                mapping.align_offset(HUGE_BYTES)
            } else {
                0
            };
            // SAFETY: *bounds*: `offset < HUGE_BYTES = slack`, so the result lies in the mapping,
            // with `bytes` bytes of it behind.
            let base = unsafe { mapping.add(offset) };
            if huge {
                // The last, partial huge page is left out, so that memory use stays what was asked.
                let whole_bytes = bytes / HUGE_BYTES * HUGE_BYTES;
                // SAFETY: *bounds*: within the mapping, see `base`. The advice changes which pages
                // back it, not its content. It is a wish: kernels without huge pages refuse it.
                let _ =
                    unsafe { madvise(base.as_ptr().cast(), whole_bytes, Advice::LinuxHugepage) };
            }
            Ok(Self {
                base,
                bytes,
                mapping,
                mapping_bytes,
            })
        }

        pub(in super::super) const fn base(&self) -> NonNull<u8> {
            self.base
        }

        pub(in super::super) const fn bytes(&self) -> usize {
            self.bytes
        }

        /// Makes `bytes` bytes at `start` zero, and gives the whole pages among them back.
        ///
        /// # Safety
        /// The range lies within one storage, and the caller has exclusive access to it, through
        /// `start`.
        pub(in super::super) unsafe fn clear(start: *mut u8, bytes: usize) {
            let page_bytes = rustix::param::page_size();
            let head = start.align_offset(page_bytes).min(bytes);
            let whole = (bytes - head) / page_bytes * page_bytes;
            // SAFETY: *bounds*: `head + whole <= bytes`, and the caller owns the range. The mapping
            // is private and anonymous, so dropped pages read as zero.
            let given_back = whole > 0
                && unsafe { madvise(start.add(head).cast(), whole, Advice::LinuxDontNeed).is_ok() };
            // Locked pages cannot be given back; they are cleared in place like the partial ones.
            let kept = if given_back { whole } else { 0 };
            // SAFETY: *bounds*: both parts lie in the caller's range, as above.
            unsafe {
                start.write_bytes(0, head);
                start.add(head + kept).write_bytes(0, bytes - head - kept);
            }
        }
    }

    impl Drop for Storage {
        fn drop(&mut self) {
            if self.mapping_bytes > 0 {
                // SAFETY: this value made the mapping with this very length and nothing refers to it
                // any more. A failure would leak it, which is safe.
                let _ = unsafe { munmap(self.mapping.as_ptr().cast(), self.mapping_bytes) };
            }
        }
    }
}

#[cfg(any(test, not(any(target_os = "linux", target_os = "android"))))]
mod heap {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    use super::{ALIGN, DANGLING, Error, Pages};

    /// Memory of the global allocator: it decides about pages, and keeps what is released.
    pub(in super::super) struct Storage {
        base: NonNull<u8>,
        layout: Layout,
    }

    // SAFETY: the allocation belongs to this value alone, like a `Box<[u8]>`.
    unsafe impl Send for Storage {}
    // SAFETY: a shared `Storage` only hands out the address.
    unsafe impl Sync for Storage {}

    impl Storage {
        pub(in super::super) fn zeroed(bytes: usize, _pages: Pages) -> Result<Self, Error> {
            let error = Error::OutOfMemory { bytes };
            let Ok(layout) = Layout::from_size_align(bytes, ALIGN) else {
                return Err(error);
            };
            if bytes == 0 {
                return Ok(Self {
                    base: DANGLING,
                    layout,
                });
            }
            // SAFETY: the layout has a size above zero.
            let base = unsafe { alloc_zeroed(layout) };
            NonNull::new(base)
                .map(|base| Self { base, layout })
                .ok_or(error)
        }

        pub(in super::super) const fn base(&self) -> NonNull<u8> {
            self.base
        }

        pub(in super::super) const fn bytes(&self) -> usize {
            self.layout.size()
        }

        /// Makes `bytes` bytes at `start` zero.
        ///
        /// # Safety
        /// The range lies within one storage, and the caller has exclusive access to it, through
        /// `start`.
        pub(in super::super) unsafe fn clear(start: *mut u8, bytes: usize) {
            // SAFETY: *bounds*: the caller's range.
            unsafe { start.write_bytes(0, bytes) };
        }
    }

    impl Drop for Storage {
        fn drop(&mut self) {
            if self.layout.size() > 0 {
                // SAFETY: allocated by `zeroed` with this layout; nothing refers to it any more.
                unsafe { dealloc(self.base.as_ptr(), self.layout) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_for_huge_pages_keeps_what_memory_holds() {
        let mut bytes = vec![7_u8; 5 << 20];
        prefer_huge_pages(&mut bytes[1..]);
        prefer_huge_pages(&mut bytes[..100]);
        prefer_huge_pages::<u8>(&mut []);
        assert!(bytes.iter().all(|&byte| byte == 7));
    }

    macro_rules! suite {
        ($name:ident, $storage:ty, $absurd:expr) => {
            #[test]
            fn $name() {
                type S = $storage;
                for bytes in [
                    0,
                    1,
                    63,
                    4096,
                    4097,
                    (2 << 20) - 1,
                    (2 << 20) + 5,
                    (6 << 20) + 1,
                ] {
                    for pages in [Pages::Normal, Pages::Huge] {
                        let storage = S::zeroed(bytes, pages).unwrap();
                        assert_eq!(storage.bytes(), bytes);
                        let base = storage.base().as_ptr();
                        assert!(base.addr().is_multiple_of(ALIGN));
                        // SAFETY: *bounds*: the storage has `bytes` initialized bytes, and nobody
                        // else uses them.
                        let all = unsafe { std::slice::from_raw_parts_mut(base, bytes) };
                        assert!(all.iter().all(|&byte| byte == 0));
                        all.fill(7);
                        let (start, end) = (bytes / 3, bytes - bytes / 5);
                        // SAFETY: the range lies in the exclusive slice the pointer comes from.
                        unsafe { S::clear(all.as_mut_ptr().add(start), end - start) };
                        for (i, &byte) in all.iter().enumerate() {
                            assert_eq!(byte == 0, (start..end).contains(&i), "{i} of {bytes}");
                        }
                    }
                }
                for bytes in $absurd {
                    for pages in [Pages::Normal, Pages::Huge] {
                        let error = S::zeroed(bytes, pages).err();
                        assert_eq!(error, Some(Error::OutOfMemory { bytes }));
                    }
                }
            }
        };
    }

    suite!(
        this_system,
        Storage,
        [1 << 60, isize::MAX as usize, usize::MAX]
    );
    // Sanitizers end the process when the allocator is asked for sizes that it would refuse.
    suite!(
        global_allocator,
        heap::Storage,
        [isize::MAX as usize, usize::MAX]
    );
}
