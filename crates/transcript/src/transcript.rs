//! The typed transcript.

use std::fmt;

use lanework_arch::Choice;
use lanework_field::KoalaBear;
use lanework_hash::{Digest, RoundConstants, blake};

use crate::{Chain, Duplex, Error};

/// The most bits of work that [`Transcript::grind`] finds.
pub const GRINDING_BITS_MAX: u32 = 24;

/// What a transcript is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Function {
    /// Poseidon2 of width 16 with these constants, as a duplex sponge of rate 8: [`Duplex`].
    Poseidon2(Box<RoundConstants<16>>),
    /// BLAKE3 or BLAKE2s, as a chain of digests: [`Chain`].
    Blake(blake::Function),
}

impl Function {
    /// Poseidon2 with Plonky3's default constants.
    pub fn plonky3() -> Self {
        Self::Poseidon2(Box::new(RoundConstants::<16>::plonky3_default()))
    }

    /// Poseidon2 with gnark-crypto's and lineth's constants.
    pub fn gnark() -> Self {
        Self::Poseidon2(Box::new(RoundConstants::<16>::gnark()))
    }

    /// BLAKE3.
    pub const fn blake3() -> Self {
        Self::Blake(blake::Function::Blake3)
    }

    /// BLAKE2s.
    pub const fn blake2s() -> Self {
        Self::Blake(blake::Function::Blake2s)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Poseidon2(_) => "poseidon2",
            Self::Blake(function) => function.name(),
        })
    }
}

/// What an absorbed message consists of.
#[derive(Copy, Clone)]
enum Kind {
    Label = 1,
    Bytes = 2,
    Integers = 3,
    Elements = 4,
    Digests = 5,
}

/// A Fiat-Shamir transcript of typed messages.
///
/// Every message is absorbed with its kind and its length before it, so that two sequences of messages
/// are absorbed alike only if they are equal. The label comes first: transcripts of different protocols
/// have nothing in common.
#[derive(Clone, Debug)]
pub struct Transcript(Core);

#[derive(Clone, Debug)]
enum Core {
    Elements(Duplex),
    Bytes(Chain),
}

impl Transcript {
    /// A transcript that has absorbed `label`, which names the protocol and its version. Every choice
    /// gives the same challenges; it is what many nonces are tried with.
    pub fn new(function: &Function, label: &str, choice: Choice) -> Self {
        let mut transcript = Self(match function {
            Function::Poseidon2(constants) => Core::Elements(Duplex::new(constants, choice)),
            Function::Blake(function) => Core::Bytes(Chain::new(*function, choice)),
        });
        transcript.absorb_as_bytes(Kind::Label, label.as_bytes());
        transcript
    }

    /// Absorbs bytes.
    pub fn absorb_bytes(&mut self, bytes: &[u8]) {
        self.absorb_as_bytes(Kind::Bytes, bytes);
    }

    /// Absorbs integers: parameters, lengths, positions.
    pub fn absorb_integers(&mut self, integers: &[u64]) {
        self.frame(Kind::Integers, integers.len());
        for &integer in integers {
            self.0.integer(integer);
        }
    }

    /// Absorbs field elements; an extension element is its limbs.
    pub fn absorb_elements(&mut self, elements: &[KoalaBear]) {
        self.frame(Kind::Elements, elements.len());
        self.0.elements(elements);
    }

    /// Absorbs digests of field elements: roots and caps.
    pub fn absorb_digests(&mut self, digests: &[Digest]) {
        self.frame(Kind::Digests, digests.len());
        for digest in digests {
            self.0.elements(&digest.0);
        }
    }

    /// Squeezes field elements, uniform over the field.
    pub fn squeeze_elements<const N: usize>(&mut self) -> [KoalaBear; N] {
        let mut elements = [KoalaBear::ZERO; N];
        self.squeeze_into(&mut elements);
        elements
    }

    /// Squeezes as many field elements as `elements` has.
    pub fn squeeze_into(&mut self, elements: &mut [KoalaBear]) {
        for element in elements {
            *element = self.0.element();
        }
    }

    /// Squeezes `count` numbers below 2^`bits`, in the order in which they come, with repetitions.
    ///
    /// # Panics
    /// If `bits` is above 24.
    pub fn squeeze_indices(&mut self, count: usize, bits: u32) -> Vec<usize> {
        assert!(bits <= 24, "positions below 2^{bits}");
        (0..count).map(|_| self.0.index(bits)).collect()
    }

    /// Finds a nonce with `bits` bits of work and absorbs it: zero, and nothing absorbed, for no bits.
    /// It is the smallest one, whatever the threads, which are the current ones.
    ///
    /// # Errors
    /// [`Error::TooMuchGrinding`] above [`GRINDING_BITS_MAX`] bits; [`Error::NoNonce`].
    pub fn grind(&mut self, bits: u32) -> Result<u64, Error> {
        check_bits(bits)?;
        if bits == 0 {
            return Ok(0);
        }
        match &mut self.0 {
            Core::Elements(duplex) => duplex.grind(bits).map(|nonce| nonce.to_canonical().into()),
            Core::Bytes(chain) => chain.grind(bits),
        }
    }

    /// Absorbs `nonce` as [`Transcript::grind`] does.
    ///
    /// # Errors
    /// If the nonce has not `bits` bits of work, or is not the zero that stands for none.
    pub fn check_grinding(&mut self, bits: u32, nonce: u64) -> Result<(), Error> {
        check_bits(bits)?;
        if bits == 0 {
            return match nonce {
                0 => Ok(()),
                _ => Err(Error::UnexpectedNonce { nonce }),
            };
        }
        let accepted = match &mut self.0 {
            Core::Elements(duplex) => {
                let element = u32::try_from(nonce).map(KoalaBear::from_canonical);
                let Ok(Ok(element)) = element else {
                    return Err(Error::NonCanonicalNonce { nonce });
                };
                duplex.check_witness(bits, element)
            }
            Core::Bytes(chain) => chain.check_nonce(bits, nonce),
        };
        if accepted {
            Ok(())
        } else {
            Err(Error::TooLittleWork { bits, nonce })
        }
    }

    fn absorb_as_bytes(&mut self, kind: Kind, bytes: &[u8]) {
        self.frame(kind, bytes.len());
        self.0.bytes(bytes);
    }

    fn frame(&mut self, kind: Kind, len: usize) {
        self.0.integer(kind as u64);
        self.0.integer(len as u64);
    }
}

impl Core {
    fn integer(&mut self, integer: u64) {
        match self {
            // Limbs of 24, 24 and 16 bits, each below p.
            Self::Elements(duplex) => {
                for limb in [
                    integer & 0xff_ffff,
                    integer >> 24 & 0xff_ffff,
                    integer >> 48,
                ] {
                    duplex.observe(KoalaBear::from_u64(limb));
                }
            }
            Self::Bytes(chain) => chain.absorb(&integer.to_le_bytes()),
        }
    }

    fn elements(&mut self, elements: &[KoalaBear]) {
        match self {
            Self::Elements(duplex) => duplex.observe_slice(elements),
            Self::Bytes(chain) => {
                for element in elements {
                    chain.absorb(&element.to_canonical().to_le_bytes());
                }
            }
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        match self {
            // Three bytes are an element; the length has told where they end.
            Self::Elements(duplex) => {
                for group in bytes.chunks(3) {
                    let value = group
                        .iter()
                        .rev()
                        .fold(0, |value, &byte| value << 8 | u64::from(byte));
                    duplex.observe(KoalaBear::from_u64(value));
                }
            }
            Self::Bytes(chain) => chain.absorb(bytes),
        }
    }

    fn element(&mut self) -> KoalaBear {
        match self {
            Self::Elements(duplex) => duplex.sample(),
            Self::Bytes(chain) => loop {
                let mut word = [0; 4];
                chain.squeeze(&mut word);
                // 31 bits, which are an element with probability 127/128.
                if let Ok(element) = KoalaBear::from_canonical(u32::from_le_bytes(word) >> 1) {
                    break element;
                }
            },
        }
    }

    fn index(&mut self, bits: u32) -> usize {
        match self {
            Self::Elements(duplex) => duplex.sample_bits(bits),
            Self::Bytes(chain) => {
                let mut word = [0; 4];
                chain.squeeze(&mut word);
                u32::from_le_bytes(word) as usize & ((1 << bits) - 1)
            }
        }
    }
}

fn check_bits(bits: u32) -> Result<(), Error> {
    if bits > GRINDING_BITS_MAX {
        let max = GRINDING_BITS_MAX;
        return Err(Error::TooMuchGrinding { bits, max });
    }
    Ok(())
}
