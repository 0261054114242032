//! Messages too short for vectors: the same transforms with a table of roots, one element at a time.

use lanework_field::KoalaBear;

use super::scalar::reversed;
use super::table::{Encode, Shape};

pub(crate) struct Small {
    shape: Shape,
    /// Powers of the root of unity, in bit-reversed order: level l uses the first 2^l.
    roots: Vec<KoalaBear>,
    /// Their inverses.
    inverse_roots: Vec<KoalaBear>,
    /// For every coset of the codeword that is not the message itself: the powers of its shift
    /// over n, by which coefficients are multiplied.
    cosets: Vec<Vec<KoalaBear>>,
}

impl Small {
    pub(crate) fn new(shape: Shape) -> Self {
        let half = 1 << shape.log_rows.saturating_sub(1);
        let table = |root: KoalaBear| -> Vec<_> {
            let bits = shape.log_rows.saturating_sub(1);
            (0..half)
                .map(|k| root.pow(reversed(k, bits) as u64))
                .collect()
        };
        let root = KoalaBear::two_adic_generator(shape.log_rows);
        let order = 1_u64 << shape.log_rows;
        let scale = KoalaBear::from_u64(order)
            .inverse()
            .unwrap_or(KoalaBear::ZERO);
        let powers = |shift: KoalaBear| -> Vec<_> {
            std::iter::successors(Some(scale), |&x| Some(x * shift))
                .take(order as usize)
                .collect()
        };
        Self {
            shape,
            roots: table(root),
            inverse_roots: table(root.pow(order - 1)),
            cosets: shape.cosets().map(powers).collect(),
        }
    }
}

/// Natural to bit-reversed order. The root of a block is the square root of its parent's.
fn transform(values: &mut [KoalaBear], roots: &[KoalaBear]) {
    let mut half = values.len() / 2;
    while half > 0 {
        for (block, &root) in values.chunks_exact_mut(2 * half).zip(roots) {
            let (left, right) = block.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                let product = *b * root;
                (*a, *b) = (*a + product, *a - product);
            }
        }
        half /= 2;
    }
}

impl Encode for Small {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn scratch_len(&self) -> usize {
        1 << self.shape.log_rows
    }

    fn encode(&self, message: &[KoalaBear], codeword: &mut [KoalaBear], scratch: &mut [KoalaBear]) {
        let log_rows = self.shape.log_rows;
        scratch.copy_from_slice(message);
        transform(scratch, &self.inverse_roots);
        for (block, powers) in codeword.chunks_exact_mut(message.len()).zip(&self.cosets) {
            for (j, (cell, power)) in block.iter_mut().zip(powers).enumerate() {
                *cell = scratch[reversed(j, log_rows)] * *power;
            }
            transform(block, &self.roots);
        }
    }
}
