//! The readable definitions, which the kernels are tested against.

use lanework_field::KoalaBear;

/// The low `bits` bits of `index` in reverse order.
pub const fn reversed(index: usize, bits: u32) -> usize {
    if bits == 0 {
        0
    } else {
        index.reverse_bits() >> (usize::BITS - bits)
    }
}

/// The values of the polynomial with these coefficients at `shift` times each power of the root of
/// unity of the order of their number, by Horner's rule: the transform by definition, in O(n^2).
///
/// # Panics
/// If the number of coefficients is not a power of two up to 2^24.
pub fn evaluations(coefficients: &[KoalaBear], shift: KoalaBear) -> Vec<KoalaBear> {
    let root = root_for(coefficients.len());
    let horner = |x| {
        coefficients
            .iter()
            .rev()
            .fold(KoalaBear::ZERO, |sum, &c| sum * x + c)
    };
    (0..coefficients.len())
        .map(|i| horner(shift * root.pow(i as u64)))
        .collect()
}

/// The same values in O(n log n), by splitting into even and odd coefficients.
///
/// # Panics
/// If the number of coefficients is not a power of two up to 2^24.
pub fn forward(coefficients: &[KoalaBear], shift: KoalaBear) -> Vec<KoalaBear> {
    split(coefficients.to_vec(), root_for(coefficients.len()), shift)
}

/// The coefficients of the polynomial with these values at the powers of the root of unity.
///
/// # Panics
/// If the number of values is not a power of two up to 2^24.
pub fn inverse(values: &[KoalaBear]) -> Vec<KoalaBear> {
    // The powers of the inverse root are those of the root in reverse.
    let mut coefficients = forward(values, KoalaBear::ONE);
    coefficients[1..].reverse();
    let halving = KoalaBear::new(2).pow(values.len().trailing_zeros() as u64);
    let scale = halving.inverse().unwrap_or(KoalaBear::ZERO);
    coefficients.iter().map(|&c| c * scale).collect()
}

/// The codeword of `message`: position r holds the value, at `shift` times the power rev(r) of the
/// root of unity of order n 2^`log_inv_rate`, of the polynomial whose values at the powers of the
/// root of order n are the message.
///
/// # Panics
/// If n is not a power of two, or the codeword is longer than 2^24.
pub fn encode(message: &[KoalaBear], log_inv_rate: u32, shift: KoalaBear) -> Vec<KoalaBear> {
    let mut coefficients = inverse(message);
    coefficients.resize(message.len() << log_inv_rate, KoalaBear::ZERO);
    let values = forward(&coefficients, shift);
    let bits = values.len().trailing_zeros();
    (0..values.len())
        .map(|r| values[reversed(r, bits)])
        .collect()
}

fn root_for(len: usize) -> KoalaBear {
    assert!(len.is_power_of_two(), "not a power of two: {len}");
    KoalaBear::two_adic_generator(len.trailing_zeros())
}

fn split(coefficients: Vec<KoalaBear>, root: KoalaBear, shift: KoalaBear) -> Vec<KoalaBear> {
    if coefficients.len() == 1 {
        return coefficients;
    }
    // f(x) = even(x^2) + x odd(x^2), and x^2 is the same for x and -x.
    let part = |skip| {
        let half = coefficients.iter().skip(skip).step_by(2).copied().collect();
        split(half, root.square(), shift.square())
    };
    let (even, odd) = (part(0), part(1));
    let half = even.len();
    let x = |i| shift * root.pow(i as u64);
    let upper = (0..half).map(|i| even[i] + x(i) * odd[i]);
    let lower = (0..half).map(|i| even[i] - x(i) * odd[i]);
    upper.chain(lower).collect()
}
