//! The vector that is committed to, and where columns lie in it.

use std::sync::{Mutex, PoisonError};

use lanework_arch::memory::{Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_ntt::additive::Representation;

use crate::Error;

/// The top variables of the vector select a lane: there are 2^6 lanes.
pub const LOG_LANES: u32 = 6;

/// log2 of the smallest vector.
pub const LOG_WORDS_MIN: u32 = 15;

/// log2 of the largest vector.
pub const LOG_WORDS_MAX: u32 = 28;

/// The least number of words whose vector is not smaller.
pub(crate) const WORDS_MIN: usize = (1 << (LOG_WORDS_MIN - 1)) + 1;

/// Where columns of words lie in one vector: the largest first, columns of one size in the order given, each at the
/// next free place, which is a multiple of its size.
///
/// So a column is the values of the vector's multilinear polynomial where the top variables are the bits of its
/// place, and both sides find the places from the sizes alone.
///
/// ```
/// use lanework_whir::Layout;
///
/// let layout = Layout::new(&[3, 16, 4]);
/// assert_eq!(layout.offsets(), [65552, 0, 65536]);
/// assert_eq!((layout.words(), layout.log_words(), layout.lanes()), (65560, 17, 33));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    offsets: Vec<usize>,
    words: usize,
}

impl Layout {
    /// The places of columns of 2^k words for each k of `log_sizes`.
    ///
    /// # Panics
    /// If the columns do not fit the address space.
    pub fn new(log_sizes: &[u32]) -> Self {
        let mut order: Vec<usize> = (0..log_sizes.len()).collect();
        order.sort_by_key(|&column| std::cmp::Reverse(log_sizes[column]));
        let mut offsets = vec![0; log_sizes.len()];
        let mut words = 0_usize;
        for column in order {
            offsets[column] = words;
            let size = 1_usize.checked_shl(log_sizes[column]);
            words = size
                .and_then(|size| words.checked_add(size))
                .expect("columns fit the address space");
        }
        Self { offsets, words }
    }

    /// The place of each column, in words.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Words placed.
    pub fn words(&self) -> usize {
        self.words
    }

    /// log2 of the length of the vector: what holds the words placed, and at least [`LOG_WORDS_MIN`].
    pub fn log_words(&self) -> u32 {
        log_words(self.words)
    }

    /// The lanes that hold words placed.
    pub fn lanes(&self) -> usize {
        lanes(self.words, self.log_words())
    }
}

fn log_words(words: usize) -> u32 {
    words.max(1).next_power_of_two().ilog2().max(LOG_WORDS_MIN)
}

fn lanes(words: usize, log_words: u32) -> usize {
    words.div_ceil(1 << (log_words - LOG_LANES))
}

/// A vector of 2^M words, of which the lanes that hold something are in memory.
#[derive(Debug)]
pub struct Stack {
    cells: Slab<u64>,
    byte_len: u64,
    log_words: u32,
    representation: Representation,
}

impl Stack {
    /// A vector for `byte_len` bytes, all zero, to be filled by [`Stack::words_mut`]. The last word is filled up with
    /// zeros.
    ///
    /// # Errors
    /// [`Error::TooSmall`], [`Error::TooLarge`] if the vector has fewer than 2^15 words or more than 2^28;
    /// [`Error::Memory`].
    pub fn zeroed(byte_len: u64) -> Result<Self, Error> {
        let words = usize::try_from(byte_len.div_ceil(8)).unwrap_or(usize::MAX);
        if words < WORDS_MIN {
            return Err(Error::TooSmall { words });
        }
        if words > 1 << LOG_WORDS_MAX {
            return Err(Error::TooLarge { words });
        }
        let log_words = log_words(words);
        let lane_words = 1 << (log_words - LOG_LANES);
        Ok(Self {
            cells: Slab::zeroed(lanes(words, log_words) * lane_words, Pages::Huge)?,
            byte_len,
            log_words,
            representation: Representation::Polynomial,
        })
    }

    /// Any bytes: eight to a word, the first the lowest.
    ///
    /// # Errors
    /// As [`Stack::zeroed`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut stack = Self::zeroed(bytes.len() as u64)?;
        for (word, bytes) in stack.cells.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        Ok(stack)
    }

    /// Any number of words.
    ///
    /// # Errors
    /// As [`Stack::zeroed`].
    pub fn from_words(words: &[u64]) -> Result<Self, Error> {
        let mut stack = Self::zeroed((words.len() as u64).saturating_mul(8))?;
        stack.words_mut().copy_from_slice(words);
        Ok(stack)
    }

    /// Fills the vector with the bytes that `read` gives: it is called with an offset and the bytes to write from
    /// there on, for parts of the vector and from several threads, those that are current.
    ///
    /// # Errors
    /// The first error of `read` that is noticed.
    pub fn fill<E: Send>(
        &mut self,
        read: impl Fn(u64, &mut [u8]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        const PART_BYTES: usize = 1 << 20;
        let byte_len = self.byte_len as usize;
        let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut self.cells)[..byte_len];
        let failure = Mutex::new(Ok(()));
        let lock = || failure.lock().unwrap_or_else(PoisonError::into_inner);
        Threads::current().for_each(bytes.chunks_mut(PART_BYTES).enumerate(), |(index, part)| {
            if lock().is_err() {
                return;
            }
            if let Err(error) = read((index * PART_BYTES) as u64, part) {
                *lock() = Err(error);
            }
        });
        #[cfg(target_endian = "big")]
        for word in self.cells.iter_mut() {
            *word = word.swap_bytes();
        }
        failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Columns of words, placed as [`Layout`] says.
    ///
    /// # Errors
    /// [`Error::ColumnLen`] if a column is not a power of two of words, else as [`Stack::zeroed`].
    pub fn from_columns(columns: &[&[u64]]) -> Result<Self, Error> {
        let mut log_sizes = Vec::with_capacity(columns.len());
        let mut words = 0_usize;
        for (column, values) in columns.iter().enumerate() {
            let len = values.len();
            if !len.is_power_of_two() {
                return Err(Error::ColumnLen { column, words: len });
            }
            words = words.saturating_add(len);
            log_sizes.push(len.ilog2());
        }
        if words > 1 << LOG_WORDS_MAX {
            return Err(Error::TooLarge { words });
        }
        let layout = Layout::new(&log_sizes);
        let mut stack = Self::zeroed(8 * layout.words() as u64)?;
        for (values, &offset) in columns.iter().zip(layout.offsets()) {
            stack.cells[offset..offset + values.len()].copy_from_slice(values);
        }
        Ok(stack)
    }

    /// Says what the words are made of: those of the polynomial representation of K, as they are at first, or words
    /// of the tower. The latter suits packed bits, which may as well be the coefficients of another basis.
    #[must_use]
    pub fn with_representation(self, representation: Representation) -> Self {
        Self {
            representation,
            ..self
        }
    }

    /// The words of the lanes that hold something, with the zeros that fill up the last of these lanes.
    pub fn words(&self) -> &[u64] {
        &self.cells
    }

    /// The words placed, to be written. Bytes beyond [`Stack::byte_len`] are to stay zero.
    pub fn words_mut(&mut self) -> &mut [u64] {
        let words = self.byte_len.div_ceil(8) as usize;
        &mut self.cells[..words]
    }

    /// Bytes committed to.
    pub fn byte_len(&self) -> u64 {
        self.byte_len
    }

    /// log2 of the length of the vector.
    pub fn log_words(&self) -> u32 {
        self.log_words
    }

    /// The lanes that hold something, first to last.
    pub fn lanes(&self) -> std::slice::ChunksExact<'_, u64> {
        self.cells.chunks_exact(1 << (self.log_words - LOG_LANES))
    }

    /// What the words are made of.
    pub fn representation(&self) -> Representation {
        self.representation
    }
}
