//! The switch: which kernels there are, and the safe function over them that checks lengths and does the
//! tails.
#![expect(
    unsafe_code,
    reason = "hands checked slices to the kernels as pointers"
)]

use std::fmt;

use lanework_arch::Choice;
#[cfg(target_arch = "aarch64")]
use lanework_arch::Neon;
#[cfg(target_arch = "x86_64")]
use lanework_arch::{Avx2, Avx512};

use super::Function;
#[cfg(target_arch = "aarch64")]
use super::aarch64_neon::NeonHash;
use super::layout::Layout;
use super::portable::OneByOne;
use super::scalar;
use super::spec::MESSAGE_BYTES_MAX;
#[cfg(target_arch = "x86_64")]
use super::x86_avx2::Avx2Hash;
#[cfg(target_arch = "x86_64")]
use super::x86_avx512::Avx512Hash;
use crate::ByteDigest;

/// The most messages that a kernel works on at once.
pub(super) const LANES_MAX: usize = 16;

/// Rows to hash, and where their digests go.
#[derive(Copy, Clone, Debug)]
pub(super) struct Rows {
    /// The first row.
    pub base: *const u8,
    /// Bytes from a row to the next.
    pub pitch: usize,
    pub count: usize,
    pub out: *mut ByteDigest,
}

impl Rows {
    /// The `count` rows from row `first` on.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "for kernels that hash several batches at once")
    )]
    pub(super) fn part(&self, first: usize, count: usize) -> Self {
        Self {
            base: self.base.wrapping_add(first * self.pitch),
            pitch: self.pitch,
            count,
            out: self.out.wrapping_add(first),
        }
    }
}

/// What an instruction set offers. Implementations hold the token that proves it.
pub(super) trait Backend {
    fn name(&self) -> &'static str;

    /// Messages hashed at once, at most [`LANES_MAX`].
    fn lanes(&self) -> usize;

    /// Writes the digests of rows, a multiple of the lanes.
    ///
    /// # Safety
    /// From every row the length in the layout is readable, and there is room for the digests.
    unsafe fn hash(&self, function: Function, layout: &Layout, rows: &Rows);
}

/// A kernel, which exists only where its instructions do.
#[derive(Copy, Clone)]
pub(super) enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512Hash),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Hash),
    #[cfg(target_arch = "aarch64")]
    Neon(NeonHash),
    Portable(OneByOne),
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Kernel {
    pub(super) fn new(choice: Choice) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(token) = Avx512::new(choice) {
                return Self::Avx512(Avx512Hash::new(token));
            }
            if let Some(token) = Avx2::new(choice) {
                return Self::Avx2(Avx2Hash::new(token));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(token) = Neon::new(choice) {
            return Self::Neon(NeonHash::new(token));
        }
        let _ = choice;
        Self::Portable(OneByOne)
    }

    pub(super) fn name(self) -> &'static str {
        self.backend().name()
    }

    pub(super) fn lanes(self) -> usize {
        self.backend().lanes()
    }

    fn backend(&self) -> &dyn Backend {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(hash) => hash,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(hash) => hash,
            #[cfg(target_arch = "aarch64")]
            Self::Neon(hash) => hash,
            Self::Portable(hash) => hash,
        }
    }

    /// Writes the digest of the row at `i * pitch` to `out[i]`. Rows are not empty.
    pub(super) fn hash(
        self,
        function: Function,
        layout: &Layout,
        messages: &[u8],
        pitch: usize,
        out: &mut [ByteDigest],
    ) {
        let (count, len) = (out.len(), layout.len);
        if count == 0 {
            return;
        }
        let needed = (count - 1)
            .checked_mul(pitch)
            .and_then(|last| last.checked_add(len));
        assert!(
            needed.is_some_and(|needed| needed <= messages.len()),
            "{count} messages of {len} bytes, {pitch} apart, in {}",
            messages.len()
        );
        let lanes = self.lanes();
        if count < lanes {
            self.hash_few(function, layout, messages, pitch, out);
            return;
        }
        let run = |first: usize, out: &mut [ByteDigest]| {
            let rows = Rows {
                base: messages[first * pitch..].as_ptr(),
                pitch,
                count: out.len(),
                out: out.as_mut_ptr(),
            };
            // SAFETY: bounds: the rows were compared with `messages` above, and `rows` are among them.
            unsafe { self.backend().hash(function, layout, &rows) };
        };
        let whole = count - count % lanes;
        run(0, &mut out[..whole]);
        if whole < count {
            // The last rows, some of them for the second time.
            run(count - lanes, &mut out[count - lanes..]);
        }
    }

    /// Fewer messages than lanes.
    fn hash_few(
        self,
        function: Function,
        layout: &Layout,
        messages: &[u8],
        pitch: usize,
        out: &mut [ByteDigest],
    ) {
        let (lanes, len) = (self.lanes(), layout.len);
        let row = |i: usize| &messages[i * pitch..][..len];
        // So few messages are faster one after the other than in a vector with lanes to spare.
        if out.len() <= lanes / 8 {
            for (i, digest) in out.iter_mut().enumerate() {
                *digest = scalar::hash(function, layout, row(i));
            }
            return;
        }
        let mut block = [0; LANES_MAX * MESSAGE_BYTES_MAX];
        let mut digests = [ByteDigest::ZERO; LANES_MAX];
        for (i, bytes) in block.chunks_exact_mut(len).take(out.len()).enumerate() {
            bytes.copy_from_slice(row(i));
        }
        let rows = Rows {
            base: block.as_ptr(),
            pitch: len,
            count: lanes,
            out: digests.as_mut_ptr(),
        };
        // SAFETY: bounds: both arrays are long enough for the longest row and the most lanes.
        unsafe { self.backend().hash(function, layout, &rows) };
        out.copy_from_slice(&digests[..out.len()]);
    }
}
