//! Messages too short for vectors: the same transforms with a table of roots, one element at a time.

use lanework_field::KoalaBear;

use super::bit_reverse::bit_reverse;
use super::scalar::reversed;
use super::table::{Encode, Shape, Stores, Sums, Transformation};

/// A transform from natural to bit-reversed order.
pub(crate) struct SmallTransform {
    /// Powers of the root of unity, in bit-reversed order.
    roots: Vec<KoalaBear>,
    /// What the elements are multiplied by first.
    factors: Vec<KoalaBear>,
}

impl SmallTransform {
    pub(crate) fn new(sums: Sums) -> Self {
        let len = 1 << sums.log_len;
        let root = sums.root(sums.log_len);
        let bits = sums.log_len.saturating_sub(1);
        let factors = std::iter::successors(Some(sums.scale), |&x| Some(x * sums.shift));
        Self {
            roots: (0..1 << bits)
                .map(|k| root.pow(reversed(k, bits) as u64))
                .collect(),
            factors: factors.take(len).collect(),
        }
    }
}

impl Transformation for SmallTransform {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn scratch_len(&self) -> usize {
        0
    }

    fn transform(&self, values: &mut [KoalaBear], _: &mut [KoalaBear]) {
        for (value, factor) in values.iter_mut().zip(&self.factors) {
            *value *= *factor;
        }
        let mut half = values.len() / 2;
        while half > 0 {
            // The root of a block is a square root of its parent's.
            for (block, &root) in values.chunks_exact_mut(2 * half).zip(&self.roots) {
                let (left, right) = block.split_at_mut(half);
                for (a, b) in left.iter_mut().zip(right) {
                    let product = *b * root;
                    (*a, *b) = (*a + product, *a - product);
                }
            }
            half /= 2;
        }
    }
}

pub(crate) struct SmallEncoder {
    coefficients: SmallTransform,
    /// For every block of the codeword.
    cosets: Vec<SmallTransform>,
}

impl SmallEncoder {
    pub(crate) fn new(shape: Shape) -> Self {
        let coset = |shift| SmallTransform::new(Sums::values(shape.log_rows, shift));
        Self {
            coefficients: SmallTransform::new(Sums::coefficients(shape.log_rows)),
            cosets: shape.cosets().map(coset).collect(),
        }
    }
}

impl Encode for SmallEncoder {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn scratch_len(&self) -> usize {
        self.coefficients.factors.len()
    }

    fn encode(
        &self,
        message: &[KoalaBear],
        codeword: &mut [KoalaBear],
        scratch: &mut [KoalaBear],
        _: Stores,
    ) {
        scratch.copy_from_slice(message);
        self.coefficients.transform(scratch, &mut []);
        bit_reverse(scratch);
        for (block, coset) in codeword.chunks_exact_mut(message.len()).zip(&self.cosets) {
            block.copy_from_slice(scratch);
            coset.transform(block, &mut []);
        }
    }
}
