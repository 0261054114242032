//! Where challenges come from.

use lanework_field::koala::Ext6;
use lanework_hash::Digest;
use lanework_transcript::lineth::FiatShamir;

/// The challenges of an opening, squeezed in the order of the rounds.
///
/// [`FiatShamir`] makes an opening non-interactive; [`Fixed`] has challenges that came from somewhere else.
pub trait Challenges {
    /// The challenge of the next round; `None` if there is none, which refuses proofs.
    fn alpha(&mut self) -> Option<Ext6>;

    /// Takes the root of a running tree.
    fn absorb_root(&mut self, root: &Digest);

    /// Takes the coefficients of the final polynomial.
    fn absorb_final(&mut self, coefficients: &[Ext6]);

    /// The positions to look at: `count` numbers below 2^`log_len`.
    fn positions(&mut self, count: usize, log_len: u32) -> Vec<usize>;
}

impl Challenges for FiatShamir {
    fn alpha(&mut self) -> Option<Ext6> {
        Some(self.squeeze_extension())
    }

    fn absorb_root(&mut self, root: &Digest) {
        self.absorb(&root.0);
    }

    fn absorb_final(&mut self, coefficients: &[Ext6]) {
        self.absorb_extension(coefficients);
    }

    fn positions(&mut self, count: usize, log_len: u32) -> Vec<usize> {
        self.squeeze_indices(count, log_len)
    }
}

/// Challenges that are known beforehand, and so prove nothing to whoever did not choose them: for tests, and
/// where another program has replayed the transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// The challenges of the rounds.
    pub alphas: Vec<Ext6>,
    /// The positions.
    pub positions: Vec<usize>,
    next: usize,
}

impl Fixed {
    /// These challenges, none of them used yet.
    pub fn new(alphas: Vec<Ext6>, positions: Vec<usize>) -> Self {
        Self {
            alphas,
            positions,
            next: 0,
        }
    }
}

impl Challenges for Fixed {
    fn alpha(&mut self) -> Option<Ext6> {
        let alpha = self.alphas.get(self.next).copied();
        self.next += 1;
        alpha
    }

    fn absorb_root(&mut self, _: &Digest) {}

    fn absorb_final(&mut self, _: &[Ext6]) {}

    fn positions(&mut self, _: usize, _: u32) -> Vec<usize> {
        self.positions.clone()
    }
}
