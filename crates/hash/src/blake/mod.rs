//! BLAKE2s-256 and BLAKE3 of many messages of one length at once.
//!
//! Use it to hash the rows of a table, one after the other in memory, and the levels of a tree over
//! them. Messages have at most 1024 bytes, one chunk of BLAKE3. Each lane of a vector is a message:
//! sixteen with AVX-512, eight with AVX2, four with NEON. All kernels give the digests of the published
//! functions.
//!
//! ```
//! use lanework_arch::Choice;
//! use lanework_hash::ByteDigest;
//! use lanework_hash::blake::Blake;
//!
//! let blake = Blake::blake3(Choice::best());
//! // A hundred rows of 40 bytes, to each of which belong 88 zeros in front.
//! let rows: Vec<u8> = (0..4000_u32).map(|i| i as u8).collect();
//! let mut digests = vec![ByteDigest::ZERO; 100];
//! blake.hash_many(&blake.zero_prefix(88), &rows, 40, 40, &mut digests);
//!
//! let mut message = [0; 128];
//! message[88..].copy_from_slice(&rows[40..80]);
//! assert_eq!(digests[1], blake.hash(&message));
//! ```

#[cfg(target_arch = "aarch64")]
mod aarch64_neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod body;
mod layout;
mod portable;
mod scalar;
mod spec;
mod table;
#[cfg(test)]
mod tests;
mod tree;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;

use std::fmt;
use std::str::FromStr;

use lanework_arch::Choice;

use crate::{ByteDigest, Error};
use layout::Layout;
use spec::{BLOCK_BYTES, IV, KEYED_HASH, MESSAGE_BYTES_MAX, PARAMETERS, PERSONAL_AT};
use table::Kernel;
pub use tree::TreeHash;

/// A hash function of bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Function {
    /// BLAKE3.
    Blake3,
    /// BLAKE2s-256, RFC 7693.
    Blake2s,
}

impl Function {
    /// Every function.
    pub const ALL: [Self; 2] = [Self::Blake3, Self::Blake2s];

    /// The name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blake3 => "blake3",
            Self::Blake2s => "blake2s",
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Function {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|function| function.name() == name)
            .ok_or_else(|| Error::UnknownFunction {
                name: name.to_owned(),
            })
    }
}

/// One function, plain, under a key or personalised, with the kernel of a [`Choice`].
#[derive(Copy, Clone, Debug)]
pub struct Blake {
    function: Function,
    /// The first chaining value.
    initial: [u32; 8],
    /// Flags of all blocks.
    flags: u32,
    kernel: Kernel,
}

/// The zeros that messages begin with, the whole blocks of them hashed; see [`Blake::zero_prefix`].
#[derive(Clone, Debug)]
pub struct ZeroPrefix {
    bytes: usize,
    /// The chaining value after the whole blocks.
    state: [u32; 8],
    /// The first chaining value.
    initial: [u32; 8],
    function: Function,
}

impl ZeroPrefix {
    /// How many zeros.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Blake {
    /// The most bytes in a message, zeros in front included.
    pub const MESSAGE_BYTES_MAX: usize = MESSAGE_BYTES_MAX;

    /// BLAKE3.
    pub fn blake3(choice: Choice) -> Self {
        Self::new(Function::Blake3, IV, 0, choice)
    }

    /// BLAKE3 under a key.
    pub fn blake3_keyed(key: &[u8; 32], choice: Choice) -> Self {
        let (words, _) = key.as_chunks::<4>();
        let words = std::array::from_fn(|i| u32::from_le_bytes(words[i]));
        Self::new(Function::Blake3, words, KEYED_HASH, choice)
    }

    /// BLAKE2s-256.
    pub fn blake2s(choice: Choice) -> Self {
        Self::blake2s_personal(&[0; 8], choice)
    }

    /// BLAKE2s-256 with a personalisation.
    pub fn blake2s_personal(personal: &[u8; 8], choice: Choice) -> Self {
        let mut initial = IV;
        initial[0] ^= PARAMETERS;
        let (words, _) = personal.as_chunks::<4>();
        for (state, word) in initial[PERSONAL_AT..].iter_mut().zip(words) {
            *state ^= u32::from_le_bytes(*word);
        }
        Self::new(Function::Blake2s, initial, 0, choice)
    }

    fn new(function: Function, initial: [u32; 8], flags: u32, choice: Choice) -> Self {
        Self {
            function,
            initial,
            flags,
            kernel: Kernel::new(choice),
        }
    }

    /// One choice for each kernel of this CPU, plainest first.
    pub fn available() -> Vec<Choice> {
        Choice::available()
    }

    /// The function.
    pub fn function(&self) -> Function {
        self.function
    }

    /// The name of the kernel for many messages.
    pub fn kernel_name(&self) -> &'static str {
        self.kernel.name()
    }

    /// The messages that the kernel works on at once. Any number will do, but multiples of this are
    /// fastest.
    pub fn lanes(&self) -> usize {
        self.kernel.lanes()
    }

    /// The digest of one message.
    ///
    /// # Panics
    /// If the message has more than [`MESSAGE_BYTES_MAX`](Self::MESSAGE_BYTES_MAX) bytes.
    pub fn hash(&self, message: &[u8]) -> ByteDigest {
        check_len(0, message.len());
        let layout = self.layout(self.initial, 0, 0, message.len());
        scalar::hash(self.function, &layout, message)
    }

    /// The prefix of messages that begin with `bytes` zeros.
    ///
    /// Whole blocks of zeros have one chaining value for all messages, which is computed here.
    ///
    /// # Panics
    /// If `bytes` is more than [`MESSAGE_BYTES_MAX`](Self::MESSAGE_BYTES_MAX).
    pub fn zero_prefix(&self, bytes: usize) -> ZeroPrefix {
        check_len(bytes, 0);
        let mut state = self.initial;
        for block in 0..bytes / BLOCK_BYTES {
            // A block that some other follows, whatever the length of the message is.
            let (count, total) = (block + 2, (block + 1) * BLOCK_BYTES + 1);
            let tail = layout::tail(self.function, self.flags, block, count, total);
            state = scalar::compress(self.function, &state, &[0; BLOCK_BYTES], tail);
        }
        ZeroPrefix {
            bytes,
            state,
            initial: self.initial,
            function: self.function,
        }
    }

    /// Writes the digests of messages: message i is the zeros of `prefix` and `len` bytes of `messages`
    /// from `i * pitch` on.
    ///
    /// # Panics
    /// If `messages` ends before the last message does, a message has more than
    /// [`MESSAGE_BYTES_MAX`](Self::MESSAGE_BYTES_MAX) bytes, or the prefix is that of another function,
    /// key or personalisation.
    pub fn hash_many(
        &self,
        prefix: &ZeroPrefix,
        messages: &[u8],
        len: usize,
        pitch: usize,
        out: &mut [ByteDigest],
    ) {
        assert!(
            (prefix.function, prefix.initial) == (self.function, self.initial),
            "the prefix is of another function"
        );
        check_len(prefix.bytes, len);
        if len == 0 {
            // The last block may be one of the whole blocks of zeros.
            out.fill(self.hash(&[0; MESSAGE_BYTES_MAX][..prefix.bytes]));
            return;
        }
        let shared = prefix.bytes / BLOCK_BYTES;
        let layout = self.layout(prefix.state, shared, prefix.bytes, len);
        self.kernel
            .hash(self.function, &layout, messages, pitch, out);
    }

    /// Writes the digests of pairs: parent i is the digest of the 64 bytes of children 2i and 2i + 1.
    ///
    /// # Panics
    /// If there are not two children per parent.
    pub fn hash_pairs(&self, children: &[ByteDigest], parents: &mut [ByteDigest]) {
        assert_eq!(children.len(), 2 * parents.len(), "two children per parent");
        let layout = self.layout(self.initial, 0, 0, BLOCK_BYTES);
        let pairs = bytemuck::cast_slice(children);
        self.kernel
            .hash(self.function, &layout, pairs, BLOCK_BYTES, parents);
    }

    fn layout(&self, start: [u32; 8], shared: usize, zeros: usize, len: usize) -> Layout {
        Layout::new(self.function, self.flags, start, shared, zeros, len)
    }
}

fn check_len(zeros: usize, len: usize) {
    assert!(
        zeros <= MESSAGE_BYTES_MAX && len <= MESSAGE_BYTES_MAX - zeros,
        "a message of {zeros} zeros and {len} bytes, of at most {MESSAGE_BYTES_MAX}"
    );
}
