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
