//! What opening computes for whole columns, in the lanes of any instruction set.
//!
//! Extension elements are kept limb by limb: a vector of them is as many columns as the extension has limbs.
//! Each kernel treats a block of rows; blocks are given to threads by [`crate::open`].

use lanework_field::KoalaBear;
use lanework_field::koala::lanes::{Computation, Lanes, Prepared};
use lanework_field::koala::{Extension, spec};

/// The widest lanes there are.
const LANES_MAX: usize = 16;

/// The largest arity of a folding round.
const ARITY_MAX: usize = 16;

/// The products of a fixed element, prepared: an element is multiplied limb by limb, with the image of the
/// basis under the product.
#[derive(Clone)]
pub(crate) struct Factor<E: Extension> {
    /// `images[j]` is the factor times basis element j.
    images: E::Limbs<E::Limbs<Prepared>>,
    factor: E,
}

impl<E: Extension> Factor<E> {
    pub(crate) fn new(factor: E) -> Self {
        let zero = E::splat(Prepared::new(KoalaBear::ZERO));
        let mut images = E::splat(zero);
        for (j, image) in images.as_mut().iter_mut().enumerate() {
            let mut basis = E::splat(KoalaBear::ZERO);
            basis.as_mut()[j] = KoalaBear::ONE;
            let product = factor * E::from_limbs(basis.as_ref());
            for (prepared, &limb) in image.as_mut().iter_mut().zip(product.limbs()) {
                *prepared = Prepared::new(limb);
            }
        }
        Self { images, factor }
    }

    /// The factor times `x`, in each lane.
    #[inline(always)]
    fn mul<L: Lanes>(&self, zero: L, x: &E::Limbs<L>) -> E::Limbs<L> {
        let mut product = E::splat(zero);
        for j in 0..E::DEGREE {
            let image = self.images.as_ref()[j].as_ref();
            for l in 0..E::DEGREE {
                product.as_mut()[l] += x.as_ref()[j].mul_prepared(&image[l]);
            }
        }
        product
    }
}

/// 1/(x - zeta) for the points x = `start`, `start` `step`, `start` `step`^2, ….
///
/// With zeta and its conjugates, this is the product of all (x - conjugate) but the first over the product of
/// all, and the latter is in the base field: one inversion there for each point.
pub(crate) struct Inverses<'a, 'b, E: Extension> {
    pub start: KoalaBear,
    pub step: KoalaBear,
    pub minimal: &'a Minimal<E>,
    /// The limbs, all of one length.
    pub out: &'a mut [&'b mut [KoalaBear]],
}

/// The product of all (X - conjugate), and of all but the first: coefficients from the lowest.
pub(crate) struct Minimal<E> {
    norm: Vec<KoalaBear>,
    cofactor: Vec<E>,
}

impl<E: Extension> Minimal<E> {
    pub(crate) fn new(zeta: E) -> Self {
        let mut cofactor = vec![E::ONE];
        let mut conjugate = zeta;
        for _ in 1..E::DEGREE {
            conjugate = conjugate.frobenius();
            cofactor = times_linear(&cofactor, conjugate);
        }
        let norm = times_linear(&cofactor, zeta);
        // Its coefficients are fixed by the Frobenius map, so that all limbs but the first are zero.
        let norm = norm
            .iter()
            .map(|coefficient| coefficient.limbs()[0])
            .collect();
        Self { norm, cofactor }
    }
}

/// The product with X - `root`.
fn times_linear<E: Extension>(polynomial: &[E], root: E) -> Vec<E> {
    let mut product = vec![E::ZERO; polynomial.len() + 1];
    for (i, &coefficient) in polynomial.iter().enumerate() {
        product[i + 1] += coefficient;
        product[i] -= coefficient * root;
    }
    product
}

impl<E: Extension> Computation for Inverses<'_, '_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: L::Token) {
        let len = self.out[0].len();
        let whole = len - len % L::LEN;
        let mut lanes = [self.start; LANES_MAX];
        for i in 1..L::LEN {
            lanes[i] = lanes[i - 1] * self.step;
        }
        let mut x = L::from_slice(token, &lanes);
        let step = Prepared::new(self.step.pow(L::LEN as u64));
        let norm = &self.minimal.norm;
        let one = L::splat(token, KoalaBear::ONE);
        // The products of all norms before a vector, lane by lane, are kept where the first limb will be.
        let mut product = one;
        let mut at = 0;
        while at < whole {
            product.to_slice(&mut self.out[0][at..]);
            product *= evaluate(token, norm, x);
            x = x.mul_prepared(&step);
            at += L::LEN;
        }
        let mut inverses = [KoalaBear::ONE; LANES_MAX];
        product.to_slice(&mut inverses);
        for inverse in &mut inverses[..L::LEN] {
            // No norm is zero: that is so for points that are not zeta.
            *inverse = inverse.inverse().unwrap_or_default();
        }
        let mut after = L::from_slice(token, &inverses);
        let back = Prepared::new(self.step.inverse().unwrap_or_default().pow(L::LEN as u64));
        while at > 0 {
            at -= L::LEN;
            x = x.mul_prepared(&back);
            let inverse = after * L::from_slice(token, &self.out[0][at..]);
            after *= evaluate(token, norm, x);
            for l in 0..E::DEGREE {
                let mut sum = L::splat(token, KoalaBear::ZERO);
                let mut j = E::DEGREE;
                while j > 0 {
                    j -= 1;
                    sum = sum * x + L::splat(token, self.minimal.cofactor[j].limbs()[l]);
                }
                (sum * inverse).to_slice(&mut self.out[l][at..]);
            }
        }
        let mut x = self.start * self.step.pow(whole as u64);
        for i in whole..len {
            let norm = norm
                .iter()
                .rev()
                .fold(KoalaBear::ZERO, |sum, &c| sum * x + c);
            let cofactor = self.minimal.cofactor.iter().rev();
            let cofactor = cofactor.fold(E::ZERO, |sum, &c| sum * x + c);
            let quotient = cofactor * norm.inverse().unwrap_or_default();
            for l in 0..E::DEGREE {
                self.out[l][i] = quotient.limbs()[l];
            }
            x *= self.step;
        }
    }
}

#[inline(always)]
fn evaluate<L: Lanes>(token: L::Token, polynomial: &[KoalaBear], x: L) -> L {
    let mut i = polynomial.len() - 1;
    let mut sum = L::splat(token, polynomial[i]);
    while i > 0 {
        i -= 1;
        sum = sum * x + L::splat(token, polynomial[i]);
    }
    sum
}

/// The sum of the products of a column with extension elements.
pub(crate) struct Dot<'a, E: Extension> {
    pub column: &'a [KoalaBear],
    pub weights: E::Limbs<&'a [KoalaBear]>,
}

impl<E: Extension> Computation for Dot<'_, E> {
    type Output = E;

    #[inline(always)]
    fn run<L: Lanes>(self, token: L::Token) -> E {
        let len = self.column.len();
        let whole = len - len % (2 * L::LEN);
        let mut sums = E::splat(L::no_products(token));
        let mut at = 0;
        while at < whole {
            let x = load_two(token, &self.column[at..]);
            for l in 0..E::DEGREE {
                let weights = load_two(token, &self.weights.as_ref()[l][at..]);
                sums.as_mut()[l] = L::add_products(sums.as_ref()[l], x, weights);
            }
            at += 2 * L::LEN;
        }
        let mut result = E::splat(KoalaBear::ZERO);
        for l in 0..E::DEGREE {
            let weights = &self.weights.as_ref()[l][whole..];
            let tail = self.column[whole..].iter().zip(weights);
            let tail: KoalaBear = tail.map(|(&x, &weight)| x * weight).sum();
            result.as_mut()[l] = L::total(sums.as_ref()[l]) + tail;
        }
        E::from_limbs(result.as_ref())
    }
}

/// The first two vectors of `column`.
#[inline(always)]
fn load_two<L: Lanes>(token: L::Token, column: &[KoalaBear]) -> [L; 2] {
    let column = &column[..2 * L::LEN];
    [
        L::from_slice(token, column),
        L::from_slice(token, &column[L::LEN..]),
    ]
}

/// Adds multiples of columns.
pub(crate) struct Combine<'a> {
    pub columns: &'a [&'a [KoalaBear]],
    pub factors: &'a [KoalaBear],
    pub out: &'a mut [KoalaBear],
}

impl Computation for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: L::Token) {
        // Two chains of sums, over as many vectors.
        let len = self.out.len();
        let whole = len - len % (2 * L::LEN);
        let mut at = 0;
        while at < whole {
            let mut first = L::from_slice(token, &self.out[at..]);
            let mut second = L::from_slice(token, &self.out[at + L::LEN..]);
            for i in 0..self.columns.len() {
                let column = &self.columns[i][at..at + 2 * L::LEN];
                let factor = Prepared::new(self.factors[i]);
                first += L::from_slice(token, column).mul_prepared(&factor);
                second += L::from_slice(token, &column[L::LEN..]).mul_prepared(&factor);
            }
            first.to_slice(&mut self.out[at..]);
            second.to_slice(&mut self.out[at + L::LEN..]);
            at += 2 * L::LEN;
        }
        for i in whole..len {
            for (column, &factor) in self.columns.iter().zip(self.factors) {
                self.out[i] += column[i] * factor;
            }
        }
    }
}

/// Adds (f - `value`) `weight` / (x - z) for columns f of extension elements and the inverses of x - z.
pub(crate) struct Quotient<'a, 'b, E: Extension> {
    pub values: E::Limbs<&'a [KoalaBear]>,
    pub inverses: E::Limbs<&'a [KoalaBear]>,
    pub value: E,
    pub weight: &'a Factor<E>,
    pub out: &'a mut [&'b mut [KoalaBear]],
}

impl<E: Extension> Computation for Quotient<'_, '_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: L::Token) {
        let len = self.out[0].len();
        let whole = len - len % L::LEN;
        let zero = L::splat(token, KoalaBear::ZERO);
        let mut at = 0;
        while at < whole {
            let mut difference = load::<E, L>(token, &self.values, at);
            for l in 0..E::DEGREE {
                difference.as_mut()[l] -= L::splat(token, self.value.limbs()[l]);
            }
            let inverse = load::<E, L>(token, &self.inverses, at);
            let product = self.weight.mul(zero, &E::mul_lanes(&difference, &inverse));
            add::<E, L>(token, &product, self.out, at);
            at += L::LEN;
        }
        for i in whole..len {
            let difference = element::<E>(self.values.as_ref(), i) - self.value;
            let inverse = element::<E>(self.inverses.as_ref(), i);
            add_element(difference * inverse * self.weight.factor, self.out, i);
        }
    }
}

/// Adds a multiple of extension elements to others.
pub(crate) struct AddMultiple<'a, 'b, E: Extension> {
    pub values: E::Limbs<&'a [KoalaBear]>,
    pub factor: &'a Factor<E>,
    pub out: &'a mut [&'b mut [KoalaBear]],
}

impl<E: Extension> Computation for AddMultiple<'_, '_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: L::Token) {
        let len = self.out[0].len();
        let whole = len - len % L::LEN;
        let zero = L::splat(token, KoalaBear::ZERO);
        let mut at = 0;
        while at < whole {
            let product = self
                .factor
                .mul(zero, &load::<E, L>(token, &self.values, at));
            add::<E, L>(token, &product, self.out, at);
            at += L::LEN;
        }
        for i in whole..len {
            let product = self.factor.factor * element::<E>(self.values.as_ref(), i);
            add_element(product, self.out, i);
        }
    }
}

/// A vector of elements from row `at` on, limb by limb.
#[inline(always)]
fn load<E: Extension, L: Lanes>(
    token: L::Token,
    columns: &E::Limbs<&[KoalaBear]>,
    at: usize,
) -> E::Limbs<L> {
    let mut lanes = E::splat(L::splat(token, KoalaBear::ZERO));
    for l in 0..E::DEGREE {
        lanes.as_mut()[l] = L::from_slice(token, &columns.as_ref()[l][at..]);
    }
    lanes
}

/// Adds a vector of elements to those from row `at` on.
#[inline(always)]
fn add<E: Extension, L: Lanes>(
    token: L::Token,
    lanes: &E::Limbs<L>,
    out: &mut [&mut [KoalaBear]],
    at: usize,
) {
    for l in 0..E::DEGREE {
        let out = &mut out[l][at..];
        (L::from_slice(token, out) + lanes.as_ref()[l]).to_slice(out);
    }
}

/// The element in row `row` of the columns of its limbs.
fn element<E: Extension>(columns: &[&[KoalaBear]], row: usize) -> E {
    let mut limbs = E::splat(KoalaBear::ZERO);
    for (limb, column) in limbs.as_mut().iter_mut().zip(columns) {
        *limb = column[row];
    }
    E::from_limbs(limbs.as_ref())
}

/// Adds an element to that in row `row`.
fn add_element<E: Extension>(value: E, out: &mut [&mut [KoalaBear]], row: usize) {
    for (column, &limb) in out.iter_mut().zip(value.limbs()) {
        column[row] += limb;
    }
}

/// What a folding round needs to know of its challenge.
pub(crate) struct Challenge<E: Extension> {
    log_arity: u32,
    /// The challenge, its square, …: one for each halving.
    powers: Vec<E>,
    factors: Vec<Factor<E>>,
    /// For each halving and each pair of it, the inverse of the root that its point is multiplied by.
    roots: Vec<Vec<KoalaBear>>,
    /// One over the arity.
    scale: KoalaBear,
}

impl<E: Extension> Challenge<E> {
    pub(crate) fn new(log_arity: u32, challenge: E) -> Self {
        let mut powers = vec![challenge];
        for i in 1..log_arity as usize {
            powers.push(powers[i - 1].square());
        }
        let roots = (0..log_arity).map(|halving| {
            let log_order = log_arity - halving;
            let root = KoalaBear::two_adic_generator(log_order);
            let pairs = 0..1_usize << (log_order - 1);
            let inverse = pairs.map(|pair| {
                let exponent = crate::schedule::reversed(pair, log_order - 1) as u64;
                root.pow((1 << log_order) - exponent)
            });
            inverse.collect()
        });
        let half = KoalaBear::new(spec::P.div_ceil(2));
        Self {
            log_arity,
            factors: powers.iter().map(|&power| Factor::new(power)).collect(),
            roots: roots.collect(),
            scale: half.pow(log_arity.into()),
            powers,
        }
    }
}

/// Folds rows of values: the values at `challenge` of the polynomials through them.
pub(crate) struct Fold<'a, 'b, E: Extension> {
    pub challenge: &'a Challenge<E>,
    /// The limbs of the first values of all rows, then of the second, ….
    pub cells: &'a [&'a [KoalaBear]],
    /// The inverse of the point of the first value of each row.
    pub inverse_points: &'a [KoalaBear],
    pub out: &'a mut [&'b mut [KoalaBear]],
}

impl<E: Extension> Computation for Fold<'_, '_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, token: L::Token) {
        let challenge = self.challenge;
        let arity = 1 << challenge.log_arity;
        let len = self.inverse_points.len();
        let whole = len - len % L::LEN;
        let zero = L::splat(token, KoalaBear::ZERO);
        let scale = Prepared::new(challenge.scale);
        let mut at = 0;
        while at < whole {
            let mut values = [E::splat(zero); ARITY_MAX];
            for slot in 0..arity {
                for l in 0..E::DEGREE {
                    let cells = &self.cells[slot * E::DEGREE + l][at..];
                    values[slot].as_mut()[l] = L::from_slice(token, cells);
                }
            }
            let mut point = L::from_slice(token, &self.inverse_points[at..]);
            let mut count = arity / 2;
            for halving in 0..challenge.factors.len() {
                for pair in 0..count {
                    let inverse = if pair == 0 {
                        point
                    } else {
                        point.mul_prepared(&Prepared::new(challenge.roots[halving][pair]))
                    };
                    let (low, high) = (values[2 * pair], values[2 * pair + 1]);
                    let (mut sum, mut difference) = (E::splat(zero), E::splat(zero));
                    for l in 0..E::DEGREE {
                        let (low, high) = (low.as_ref()[l], high.as_ref()[l]);
                        sum.as_mut()[l] = low + high;
                        difference.as_mut()[l] = (low - high) * inverse;
                    }
                    let product = challenge.factors[halving].mul(zero, &difference);
                    for l in 0..E::DEGREE {
                        values[pair].as_mut()[l] = sum.as_ref()[l] + product.as_ref()[l];
                    }
                }
                point = point.square();
                count /= 2;
            }
            for l in 0..E::DEGREE {
                let folded = values[0].as_ref()[l].mul_prepared(&scale);
                folded.to_slice(&mut self.out[l][at..]);
            }
            at += L::LEN;
        }
        for i in whole..len {
            let folded = self.fold_row(i);
            for l in 0..E::DEGREE {
                self.out[l][i] = folded.limbs()[l];
            }
        }
    }
}

impl<E: Extension> Fold<'_, '_, E> {
    fn fold_row(&self, row: usize) -> E {
        let challenge = self.challenge;
        let mut values: Vec<E> = self
            .cells
            .chunks_exact(E::DEGREE)
            .map(|limbs| element(limbs, row))
            .collect();
        let mut point = self.inverse_points[row];
        for (&power, roots) in challenge.powers.iter().zip(&challenge.roots) {
            let (pairs, _) = values.as_chunks::<2>();
            let pairs = pairs.iter().zip(roots);
            values = pairs
                .map(|(&[low, high], &root)| (low + high) + power * ((low - high) * (point * root)))
                .collect();
            point = point.square();
        }
        values[0] * challenge.scale
    }
}
