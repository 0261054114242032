//! Large typed buffers that start as zeros.
#![expect(unsafe_code, reason = "views raw storage as a slice of elements")]

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::slice::ChunksMut;

use super::storage::{ALIGN, Storage};
use super::{Error, Pages};

/// A large buffer of elements that starts as zeros, on pages of its own.
///
/// It is aligned to 64 bytes at least. Memory is taken from the system as it is first written, and
/// can be given back before the slab is dropped: [`release`](Self::release) for a range,
/// [`columns`](Self::columns) for parts that several threads finish at different times. A slab that
/// serves several computations one after the other, [`set_len`](Self::set_len), saves the page faults
/// of all but the first.
///
/// ```
/// use lanework_arch::memory::{Pages, Slab};
///
/// let mut slab = Slab::<u32>::zeroed(1 << 20, Pages::Huge)?;
/// slab[7] = 42;
/// slab.release(0..1 << 19);
/// assert_eq!(slab[7], 0);
/// # Ok::<(), lanework_arch::memory::Error>(())
/// ```
pub struct Slab<T> {
    storage: Storage,
    len: usize,
    pages: Pages,
    element: PhantomData<T>,
}

// SAFETY: a slab owns its elements, like a `Box<[T]>`.
unsafe impl<T: Send> Send for Slab<T> {}
// SAFETY: a shared slab gives shared access to its elements only.
unsafe impl<T: Sync> Sync for Slab<T> {}

impl<T: bytemuck::Zeroable + Copy> Slab<T> {
    /// A slab of `len` zeros.
    ///
    /// # Errors
    /// [`Error`] if the size does not fit the address space or the system refuses the memory.
    pub fn zeroed(len: usize, pages: Pages) -> Result<Self, Error> {
        const { assert!(align_of::<T>() <= ALIGN) };
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::TooLarge {
            len,
            element_bytes: size_of::<T>(),
        })?;
        let storage = Storage::zeroed(bytes, pages)?;
        Ok(Self {
            storage,
            len,
            pages,
            element: PhantomData,
        })
    }

    /// Makes the slab `len` elements long, keeping its memory if that suffices.
    ///
    /// The elements are whatever earlier use left there, zeros where nothing was written: this is for
    /// callers that write every element. A slab that must grow starts as zeros again, and its old
    /// memory is freed first.
    ///
    /// # Errors
    /// As [`zeroed`](Self::zeroed); the slab is then empty.
    pub fn set_len(&mut self, len: usize) -> Result<(), Error> {
        if len > self.capacity() {
            *self = Self::zeroed(0, self.pages)?;
            *self = Self::zeroed(len, self.pages)?;
        }
        self.len = len;
        Ok(())
    }

    /// The length up to which [`set_len`](Self::set_len) keeps the memory.
    pub const fn capacity(&self) -> usize {
        match self.storage.bytes().checked_div(size_of::<T>()) {
            Some(len) => len,
            None => usize::MAX,
        }
    }

    /// Makes the elements of `range` zero and gives their whole pages back to the system.
    ///
    /// # Panics
    /// If the range does not lie within the slab.
    pub fn release(&mut self, range: Range<usize>) {
        Column(&mut self[range]).release();
    }

    /// The slab cut into disjoint parts of `column_len` elements (the last may be shorter), each of
    /// which its holder can give back to the system when it is done.
    ///
    /// # Panics
    /// If `column_len` is zero.
    pub fn columns(&mut self, column_len: usize) -> Columns<'_, T> {
        Columns(self.chunks_mut(column_len))
    }
}

impl<T> Deref for Slab<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: *bounds*: the storage has at least `len * size_of::<T>()` bytes (`zeroed`,
        // `set_len`), aligned for `T` (`zeroed`). They were zero at first, which is a valid `T`, and
        // have since been written as `T` only. The borrow of `self` covers the result.
        unsafe { std::slice::from_raw_parts(self.storage.base().as_ptr().cast(), self.len) }
    }
}

impl<T> DerefMut for Slab<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the borrow of `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.storage.base().as_ptr().cast(), self.len) }
    }
}

impl<T> fmt::Debug for Slab<T> {
    /// Writes the shape, not the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab")
            .field("len", &self.len)
            .field("bytes", &self.storage.bytes())
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}

/// The disjoint parts of a slab, see [`Slab::columns`].
pub struct Columns<'a, T>(ChunksMut<'a, T>);

impl<'a, T> Iterator for Columns<'a, T> {
    type Item = Column<'a, T>;

    fn next(&mut self) -> Option<Column<'a, T>> {
        self.0.next().map(Column)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for Columns<'_, T> {}

impl<T> fmt::Debug for Columns<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Columns")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Exclusive access to one part of a slab, see [`Slab::columns`].
pub struct Column<'a, T>(&'a mut [T]);

impl<T> Column<'_, T> {
    /// Makes the elements zero and gives their whole pages back to the system.
    pub fn release(self) {
        let bytes = size_of_val(self.0);
        // SAFETY: *bounds*: the elements are part of a slab and so of its storage (`Slab::release`,
        // `Slab::columns`), and this value has exclusive access to them. Zero is a valid `T`, as for
        // every slab.
        unsafe { Storage::clear(self.0.as_mut_ptr().cast(), bytes) };
    }
}

impl<T> Deref for Column<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0
    }
}

impl<T> DerefMut for Column<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0
    }
}

impl<T> fmt::Debug for Column<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_os = "linux")]
    use crate::files::PositionedFile;
    use crate::threads::Threads;

    #[test]
    fn a_slab_is_aligned_zeros_that_can_be_written() {
        for len in [
            0,
            1,
            15,
            16,
            17,
            1 << 10,
            (1 << 19) - 1,
            (1 << 19) + 1,
            3 << 18,
        ] {
            for pages in [Pages::Normal, Pages::Huge] {
                let mut slab = Slab::<u32>::zeroed(len, pages).unwrap();
                assert_eq!(slab.len(), len);
                assert_eq!(slab.capacity(), len);
                assert!(slab.as_ptr().addr().is_multiple_of(64));
                if cfg!(target_os = "linux") && pages == Pages::Huge && len >= 1 << 19 {
                    assert!(slab.as_ptr().addr().is_multiple_of(2 << 20));
                }
                assert!(slab.iter().all(|&x| x == 0));
                for (i, x) in slab.iter_mut().enumerate() {
                    *x = i as u32;
                }
                assert!(slab.iter().enumerate().all(|(i, &x)| x == i as u32));
            }
        }
    }

    #[test]
    fn absurd_sizes_are_errors() {
        for pages in [Pages::Normal, Pages::Huge] {
            assert_eq!(
                Slab::<u32>::zeroed(1 << 58, pages).unwrap_err(),
                Error::OutOfMemory { bytes: 1 << 60 }
            );
            let error = Slab::<u64>::zeroed(1 << 61, pages).unwrap_err();
            assert_eq!(
                error,
                Error::TooLarge {
                    len: 1 << 61,
                    element_bytes: 8
                }
            );
        }
        assert_eq!(
            Slab::<()>::zeroed(usize::MAX, Pages::Huge).unwrap().len(),
            usize::MAX
        );
    }

    #[test]
    fn released_ranges_are_zero_and_the_rest_stays() {
        for pages in [Pages::Normal, Pages::Huge] {
            for (start, end) in [
                (0, 1 << 20),
                (5, 5),
                (1, 1 << 20),
                (1000, 1001),
                (4097, 700_001),
            ] {
                let mut slab = Slab::<u32>::zeroed(1 << 20, pages).unwrap();
                slab.fill(9);
                slab.release(start..end);
                for (i, &x) in slab.iter().enumerate() {
                    assert_eq!(x == 0, (start..end).contains(&i), "{i}");
                }
                slab.fill(3);
                assert!(slab.iter().all(|&x| x == 3));
            }
        }
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_range_outside_is_refused() {
        Slab::<u8>::zeroed(10, Pages::Normal)
            .unwrap()
            .release(5..11);
    }

    #[test]
    fn columns_are_released_in_parallel() {
        const COLUMN_LEN: usize = 5000;
        let threads = Threads::new(4.try_into().unwrap()).unwrap();
        let mut slab = Slab::<u64>::zeroed(20 * COLUMN_LEN + 7, Pages::Huge).unwrap();
        let columns = slab.columns(COLUMN_LEN);
        assert_eq!(columns.len(), 21);
        threads.for_each(columns.enumerate(), |(i, mut column)| {
            column.fill(i as u64 + 1);
            assert!(column.iter().all(|&x| x == i as u64 + 1));
            if i % 3 == 0 {
                column.release();
            }
        });
        for (i, &x) in slab.iter().enumerate() {
            let column = i / COLUMN_LEN;
            assert_eq!(
                x,
                if column.is_multiple_of(3) {
                    0
                } else {
                    column as u64 + 1
                },
                "{i}"
            );
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn released_memory_goes_back_to_the_system() {
        const BYTES: usize = 32 << 20;
        const PRESENT: u64 = 1 << 63;
        const SWAPPED: u64 = 1 << 62;
        let Ok(pagemap) = PositionedFile::open("/proc/self/pagemap") else {
            println!("skipped: no /proc/self/pagemap");
            return;
        };
        let page_bytes = rustix::param::page_size();
        let resident = |slab: &[u8]| {
            let first = slab.as_ptr().addr() / page_bytes * size_of::<u64>();
            let mut entries = vec![0_u64; slab.len() / page_bytes];
            pagemap
                .read_at(first as u64, bytemuck::cast_slice_mut(&mut entries))
                .unwrap();
            entries
                .iter()
                .filter(|&&page| page & (PRESENT | SWAPPED) != 0)
                .count()
                * page_bytes
        };
        for pages in [Pages::Normal, Pages::Huge] {
            let mut slab = Slab::<u8>::zeroed(BYTES, pages).unwrap();
            assert_eq!(resident(&slab), 0, "{pages:?}");
            slab.fill(1);
            assert_eq!(resident(&slab), BYTES, "{pages:?}");
            // Not a multiple of any page: the page in the middle stays.
            slab.release(0..BYTES / 2 + 100);
            assert_eq!(resident(&slab), BYTES / 2, "{pages:?}");
            slab.release(0..BYTES);
            assert_eq!(resident(&slab), 0, "{pages:?}");
        }
    }

    #[test]
    fn a_slab_is_reused_up_to_its_capacity() {
        let mut slab = Slab::<u32>::zeroed(1000, Pages::Normal).unwrap();
        slab.fill(5);
        let address = slab.as_ptr();
        slab.set_len(10).unwrap();
        assert_eq!(
            (slab.len(), slab.capacity(), slab.as_ptr()),
            (10, 1000, address)
        );
        slab.set_len(1000).unwrap();
        assert_eq!(slab.as_ptr(), address);
        assert!(slab.iter().all(|&x| x == 5));
        slab.set_len(1001).unwrap();
        assert_eq!(slab.len(), 1001);
        assert!(slab.iter().all(|&x| x == 0));
        assert_eq!(
            slab.set_len(1 << 58),
            Err(Error::OutOfMemory { bytes: 1 << 60 })
        );
        assert!(slab.is_empty());
        slab.set_len(3).unwrap();
        assert_eq!(*slab, [0; 3]);
    }

    #[test]
    fn slabs_move_between_threads() {
        fn shared<T: Send + Sync>(value: T) -> T {
            value
        }
        let mut slab = shared(Slab::<u16>::zeroed(100, Pages::Normal).unwrap());
        let slab = std::thread::spawn(move || {
            slab.fill(8);
            slab
        });
        let slab = slab.join().unwrap();
        assert!(slab.iter().all(|&x| x == 8));
        assert_eq!(
            format!("{slab:?}"),
            "Slab { len: 100, bytes: 200, pages: Normal, .. }"
        );
    }
}
