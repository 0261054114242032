//! The readable definition, over any basis of any field of characteristic 2.
//!
//! Lin, Chung, Han, "Novel polynomial basis and its application to Reed-Solomon erasure codes", FOCS 2014.

use std::ops::Range;

use lanework_field::gf2::{B64, T64};
use lanework_field::{Field, batch_inverse};

use super::Network;

/// The additive transform over the domain that a basis spans.
///
/// Position v is the sum of the basis elements `e_c` over the bits c of v. With `V_0(X)` = X and `V_(i+1)(X)` = `V_i(X)`
/// (`V_i(X)` + `V_i(e_i)`), the polynomial `W_i` = `V_i` / `V_i(e_i)` is 0 at the first 2^i points and 1 at `e_i`. A
/// message g is read in the novel basis: as the polynomial that is the sum over u of g(u) times the product of the
/// `W_i` over the bits i of u. [`Definition::encode`] puts its value at position v in place v.
#[derive(Clone, Debug)]
pub struct Definition<F> {
    /// Row i holds `W_i(e_c)` for c = i, i + 1, ...
    rows: Vec<Vec<F>>,
}

impl Definition<B64> {
    /// Over the monomial basis `e_c = x^c` of K.
    ///
    /// # Panics
    /// If `log_len` is above 63.
    pub fn monomial(log_len: u32) -> Self {
        assert!(log_len < 64, "independent monomials");
        Self::new((0..log_len).map(|c| B64(1 << c)))
    }

    /// Over the image of the Cantor basis in K.
    ///
    /// # Panics
    /// If `log_len` is above 64.
    pub fn cantor_polynomial(log_len: u32) -> Self {
        Self::new((0..log_len as usize).map(|c| T64::cantor(c).into()))
    }
}

impl Definition<T64> {
    /// Over the Cantor basis `e_c = beta_c`, in the tower.
    ///
    /// # Panics
    /// If `log_len` is above 64.
    pub fn cantor(log_len: u32) -> Self {
        Self::new((0..log_len as usize).map(T64::cantor))
    }
}

impl<F: Field> Definition<F> {
    /// Over the basis of these elements.
    ///
    /// # Panics
    /// If they are not independent over GF(2).
    pub fn new(basis: impl IntoIterator<Item = F>) -> Self {
        let mut row: Vec<F> = basis.into_iter().collect();
        let mut rows = Vec::with_capacity(row.len());
        while let Some(&first) = row.first() {
            assert!(first != F::ZERO, "independent elements");
            rows.push(row.clone());
            row = row[1..].iter().map(|&x| x * (x + first)).collect();
        }
        for row in &mut rows {
            let mut scale = [row[0]];
            batch_inverse(&mut scale);
            for value in row {
                *value *= scale[0];
            }
        }
        Self { rows }
    }

    /// log2 of the number of positions.
    pub fn log_len(&self) -> u32 {
        self.rows.len() as u32
    }

    /// `W_i` at the point of `position`.
    ///
    /// # Panics
    /// If there is no such row or position.
    pub fn subspace_value(&self, i: usize, position: u64) -> F {
        assert!(position >> self.log_len() == 0, "a position of the domain");
        let bits = self.rows[i].iter().enumerate();
        bits.filter(|&(j, _)| position >> (i + j) & 1 == 1)
            .map(|(_, &value)| value)
            .sum()
    }

    /// The twiddle of block `block` of layer `layer`: `W_d` at the first point of the block, where the layer pairs
    /// positions 2^d apart.
    ///
    /// # Panics
    /// If there is no such layer or block.
    pub fn twiddle(&self, layer: u32, block: u64) -> F {
        let distance = self.log_len() - 1 - layer;
        self.subspace_value(distance as usize, block << (distance + 1))
    }

    /// Runs the network on the layers `layers`, for values of `lanes` interleaved lanes.
    ///
    /// Layer l pairs positions v and v + 2^d, d = n - 1 - l. The layers run in their order, or in the opposite one if
    /// the network is not the forward one.
    ///
    /// # Panics
    /// If there are not `lanes` values for each position, or no such layers.
    pub fn run(&self, network: Network, layers: Range<u32>, values: &mut [F], lanes: usize) {
        assert_eq!(
            values.len(),
            lanes << self.log_len(),
            "values of all positions"
        );
        assert!(layers.end <= self.log_len(), "layers of the transform");
        let forward = network == Network::Forward;
        for i in layers.clone() {
            let layer = if forward {
                i
            } else {
                layers.start + layers.end - 1 - i
            };
            let half = lanes << (self.log_len() - 1 - layer);
            for (block, values) in values.chunks_exact_mut(2 * half).enumerate() {
                let t = self.twiddle(layer, block as u64);
                let (low, high) = values.split_at_mut(half);
                for (u, v) in low.iter_mut().zip(high) {
                    match network {
                        Network::Forward => {
                            *u += t * *v;
                            *v += *u;
                        }
                        Network::Inverse => {
                            *v += *u;
                            *u += t * *v;
                        }
                        Network::Transposed => {
                            *u += *v;
                            *v += t * *u;
                        }
                    }
                }
            }
        }
    }

    /// The codeword of a message of `lanes` interleaved lanes: the values of all positions.
    ///
    /// The layers before the first that pairs two coefficients of the message only copy it.
    ///
    /// # Panics
    /// If the message does not have a power of two of rows, or too many.
    pub fn encode(&self, message: &[F], lanes: usize) -> Vec<F> {
        let rows = message.len() / lanes;
        assert!(
            rows.is_power_of_two() && rows * lanes == message.len(),
            "rows of the message"
        );
        let log_inv_rate = self
            .log_len()
            .checked_sub(rows.ilog2())
            .expect("a rate of at most 1");
        let mut values = message.repeat(1 << log_inv_rate);
        self.run(
            Network::Forward,
            log_inv_rate..self.log_len(),
            &mut values,
            lanes,
        );
        values
    }
}
