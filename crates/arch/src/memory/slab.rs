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
