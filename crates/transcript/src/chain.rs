//! A transcript of bytes.

use lanework_arch::Choice;
use lanework_arch::threads::Threads;
use lanework_hash::ByteDigest;
use lanework_hash::blake::{Blake, Function};

use crate::Error;

/// Bytes that are absorbed at once, so that a message and what goes before it fit one BLAKE chunk.
const BLOCK: usize = 512;

/// What a hash is about, the byte after the state.
#[derive(Copy, Clone)]
enum Role {
    /// A whole block, and more may follow.
    Block = 1,
    /// The bytes before a squeeze.
    Last = 2,
    /// Bytes squeezed, with their number.
    Output = 3,
    /// A nonce.
    Nonce = 4,
}

/// A chain of BLAKE digests: the state is a digest of everything absorbed; what is squeezed are digests
/// of the state and a counter.
///
/// With H the hash and s the state, at first 32 zeros: every 512 bytes b absorbed give
/// s = H(s, 1, b); a squeeze first gives s = H(s, 2, b) for the bytes b left, if there are any or if none
/// were squeezed before; block i of 32 bytes squeezed is H(s, 3, i) with i as eight bytes, little endian,
/// counted from the last absorption.
#[derive(Clone, Debug)]
pub struct Chain {
    blake: Blake,
    state: ByteDigest,
    /// Absorbed, but not hashed yet: fewer than `BLOCK`.
    pending: Vec<u8>,
    /// What is squeezed comes from the state and this number; `None` before the first squeeze since the
    /// last absorption.
    next: Option<u64>,
    block: ByteDigest,
    /// Bytes of the block that are squeezed.
    read: usize,
}

impl Chain {
    /// The chain with the zero state.
    pub fn new(function: Function, choice: Choice) -> Self {
        let blake = match function {
            Function::Blake2s => Blake::blake2s(choice),
            _ => Blake::blake3(choice),
        };
        Self {
            blake,
            state: ByteDigest::ZERO,
            pending: Vec::with_capacity(BLOCK),
            next: None,
            block: ByteDigest::ZERO,
            read: 0,
        }
    }

    /// Absorbs bytes.
    pub fn absorb(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            self.next = None;
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.pending.len()));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == BLOCK {
                self.state = self.hash(Role::Block, &self.pending);
                self.pending.clear();
            }
        }
    }

    /// Squeezes bytes.
    pub fn squeeze(&mut self, out: &mut [u8]) {
        for byte in out {
            let next = self.settle();
            if self.read == self.block.0.len() {
                self.block = self.hash(Role::Output, &next.to_le_bytes());
                self.next = Some(next + 1);
                self.read = 0;
            }
            *byte = self.block.0[self.read];
            self.read += 1;
        }
    }

    /// The smallest nonce that [`Chain::check_nonce`] accepts, which it absorbs as well. Works on the
    /// current threads.
    ///
    /// # Errors
    /// [`Error::NoNonce`] if there is none.
    pub fn grind(&mut self, bits: u32) -> Result<u64, Error> {
        /// Nonces per task.
        const TASK: u64 = 1 << 12;
        self.settle();
        let threads = Threads::current();
        let tasks = 4 * threads.count().get() as u64;
        let mut found = vec![None; tasks as usize];
        let mut first = 0_u64;
        while let Some(after) = first.checked_add(tasks * TASK) {
            let jobs = found
                .iter_mut()
                .zip((0..tasks).map(|task| first + task * TASK));
            threads.for_each(jobs, |(found, first)| {
                *found = self.search(bits, first, TASK as usize);
            });
            if let Some(&nonce) = found.iter().flatten().next() {
                self.absorb(&nonce.to_le_bytes());
                return Ok(nonce);
            }
            first = after;
        }
        Err(Error::NoNonce { bits })
    }

    /// Whether the first eight bytes of H(s, 4, `nonce`), as a little-endian number, end in `bits` zeros;
    /// absorbs the nonce.
    pub fn check_nonce(&mut self, bits: u32, nonce: u64) -> bool {
        self.settle();
        let digest = self.hash(Role::Nonce, &nonce.to_le_bytes());
        self.absorb(&nonce.to_le_bytes());
        has_work(&digest, bits)
    }

    fn search(&self, bits: u32, first: u64, count: usize) -> Option<u64> {
        let messages: Vec<u8> = (first..)
            .take(count)
            .flat_map(|nonce| self.message(Role::Nonce, &nonce.to_le_bytes()))
            .collect();
        let len = messages.len() / count;
        let mut digests = vec![ByteDigest::ZERO; count];
        let prefix = self.blake.zero_prefix(0);
        self.blake
            .hash_many(&prefix, &messages, len, len, &mut digests);
        let index = digests.iter().position(|digest| has_work(digest, bits))?;
        Some(first + index as u64)
    }

    /// Hashes what is pending, as before a squeeze; returns the number of the next block squeezed.
    fn settle(&mut self) -> u64 {
        if let Some(next) = self.next {
            return next;
        }
        self.state = self.hash(Role::Last, &self.pending);
        self.pending.clear();
        self.next = Some(0);
        self.read = self.block.0.len();
        0
    }

    fn message(&self, role: Role, bytes: &[u8]) -> Vec<u8> {
        [&self.state.0[..], &[role as u8], bytes].concat()
    }

    fn hash(&self, role: Role, bytes: &[u8]) -> ByteDigest {
        self.blake.hash(&self.message(role, bytes))
    }
}

fn has_work(digest: &ByteDigest, bits: u32) -> bool {
    let (words, _) = digest.0.as_chunks::<8>();
    words
        .first()
        .is_some_and(|word| u64::from_le_bytes(*word).trailing_zeros() >= bits)
}
