//! Plonky3's duplex challenger.

use lanework_arch::Choice;
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear;
use lanework_field::koala::spec::P;
use lanework_hash::{Poseidon2, RoundConstants};

use crate::Error;

const WIDTH: usize = 16;
const RATE: usize = 8;

/// Plonky3's `DuplexChallenger<KoalaBear, _, 16, 8>`, by the rules of 0.6.0 and later: absorbed elements
/// overwrite the rate, the rest of the rate is zero, and their number is added to the first lane of the
/// capacity; elements are squeezed from the last lane of the rate to the first.
///
/// Source: Plonky3 `challenger/src/{duplex_challenger,grinding_challenger}.rs`.
#[derive(Clone, Debug)]
pub struct Duplex {
    permutation: Poseidon2<WIDTH>,
    state: [KoalaBear; WIDTH],
    /// Absorbed, but not permuted yet: fewer than `RATE`.
    pending: Vec<KoalaBear>,
    /// Lanes of the rate that are not squeezed yet.
    unread: usize,
}

impl Duplex {
    /// The challenger with the zero state, over the permutation with `constants`.
    pub fn new(constants: &RoundConstants<WIDTH>, choice: Choice) -> Self {
        Self {
            permutation: Poseidon2::<WIDTH>::new(constants, choice),
            state: [KoalaBear::ZERO; WIDTH],
            pending: Vec::with_capacity(RATE),
            unread: 0,
        }
    }

    /// Absorbs one element.
    pub fn observe(&mut self, element: KoalaBear) {
        self.unread = 0;
        self.pending.push(element);
        if self.pending.len() == RATE {
            self.permute();
        }
    }

    /// Absorbs elements in order.
    pub fn observe_slice(&mut self, elements: &[KoalaBear]) {
        for &element in elements {
            self.observe(element);
        }
    }

    /// Squeezes one element.
    pub fn sample(&mut self) -> KoalaBear {
        if !self.pending.is_empty() || self.unread == 0 {
            self.permute();
        }
        self.unread -= 1;
        self.state[self.unread]
    }

    /// Squeezes the low `bits` bits of the canonical integer of one element: at most 24, which are
    /// uniform up to one part in 2^31.
    ///
    /// # Panics
    /// If `bits` is above 24.
    pub fn sample_bits(&mut self, bits: u32) -> usize {
        assert!(bits <= 24, "{bits} bits of one element");
        self.sample().to_canonical() as usize & ((1 << bits) - 1)
    }

    /// The smallest element that [`Duplex::check_witness`] accepts, which it absorbs as well: zero, and
    /// nothing absorbed, for no bits. Works on the current threads.
    ///
    /// # Errors
    /// [`Error::NoNonce`] if no element has that much work.
    ///
    /// # Panics
    /// If `bits` is above 24.
    pub fn grind(&mut self, bits: u32) -> Result<KoalaBear, Error> {
        /// Elements per task, and per look at whether one was found.
        const TASK: u64 = 1 << 10;
        if bits == 0 {
            return Ok(KoalaBear::ZERO);
        }
        assert!(bits <= 24, "{bits} bits of one element");
        // Whatever is pending, the nonce is followed by one permutation, whose last lane of the rate counts.
        let mut state = self.state;
        let at = self.pending.len();
        state[..at].copy_from_slice(&self.pending);
        state[at..RATE].fill(KoalaBear::ZERO);
        state[RATE] += KoalaBear::from_u64(at as u64 + 1);
        let threads = Threads::current();
        let tasks = 4 * threads.count().get() as u64;
        let mut found = vec![None; tasks as usize];
        let elements = u64::from(P);
        for first in (0..elements).step_by((tasks * TASK) as usize) {
            let jobs = found
                .iter_mut()
                .zip((0..tasks).map(|task| first + task * TASK));
            threads.for_each(jobs, |(found, first)| {
                let last = (first + TASK).min(elements);
                let mut states: Vec<_> = (first..last)
                    .map(|nonce| {
                        let mut state = state;
                        state[at] = KoalaBear::from_u64(nonce);
                        state
                    })
                    .collect();
                self.permutation.permute_many(&mut states);
                *found = states
                    .iter()
                    .position(|state| has_work(state[RATE - 1], bits))
                    .map(|index| KoalaBear::from_u64(first + index as u64));
            });
            if let Some(&nonce) = found.iter().flatten().next() {
                self.observe(nonce);
                self.sample();
                return Ok(nonce);
            }
        }
        Err(Error::NoNonce { bits })
    }

    /// Absorbs `witness` and tells whether the next element squeezed has `bits` zeros as its lowest bits;
    /// true, and nothing absorbed, for no bits.
    ///
    /// # Panics
    /// If `bits` is above 24.
    pub fn check_witness(&mut self, bits: u32, witness: KoalaBear) -> bool {
        if bits == 0 {
            return true;
        }
        self.observe(witness);
        self.sample_bits(bits) == 0
    }

    fn permute(&mut self) {
        let len = self.pending.len();
        if len > 0 {
            self.state[..len].copy_from_slice(&self.pending);
            self.state[len..RATE].fill(KoalaBear::ZERO);
            self.state[RATE] += KoalaBear::from_u64(len as u64);
            self.pending.clear();
        }
        self.permutation.permute(&mut self.state);
        self.unread = RATE;
    }
}

fn has_work(element: KoalaBear, bits: u32) -> bool {
    element.to_canonical() & ((1 << bits) - 1) == 0
}
