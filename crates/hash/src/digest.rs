use std::fmt;

use lanework_field::KoalaBear;

/// Words in a digest.
pub const DIGEST_LEN: usize = 8;

/// Eight field elements: the output of every hash here.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Digest(pub [KoalaBear; DIGEST_LEN]);

impl Digest {
    /// The digest of eight zeros.
    pub const ZERO: Self = Self([KoalaBear::ZERO; DIGEST_LEN]);

    /// The canonical integers, in order.
    pub fn to_canonical(self) -> [u32; DIGEST_LEN] {
        self.0.map(KoalaBear::to_canonical)
    }
}

/// Bytes in a [`ByteDigest`].
pub const BYTE_DIGEST_LEN: usize = 32;

/// Thirty-two bytes: the output of a hash of bytes.
#[derive(
    Copy,
    Clone,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    bytemuck::Pod,
    bytemuck::Zeroable,
)]
#[repr(transparent)]
pub struct ByteDigest(pub [u8; BYTE_DIGEST_LEN]);

impl ByteDigest {
    /// Thirty-two zeros.
    pub const ZERO: Self = Self([0; BYTE_DIGEST_LEN]);
}

impl fmt::Display for ByteDigest {
    /// Writes hexadecimal digits, the first byte first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
