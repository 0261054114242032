//! Difficulties as multiples of a base: how many times as many hashes a threshold takes.
//!
//! A multiplier is the ratio of the distances to 2^64, as the node computes it.

pub(crate) const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;

/// How many times as hard as `base` it is to reach `difficulty`.
///
/// ```
/// use lanework_nano::{Network, multiplier};
///
/// let send = Network::Live.send();
/// assert_eq!(multiplier::to_multiplier(0xffff_ffff_2877_41bf, send).to_string(), "9.501974378880858");
/// ```
pub fn to_multiplier(difficulty: u64, base: u64) -> f64 {
    distance(base) / distance(difficulty)
}

/// The difficulty that is `multiplier` times as hard to reach as `base`, between 0 and `u64::MAX`.
///
/// What is no positive number gives 0, as the smallest multipliers do.
pub fn from_multiplier(multiplier: f64, base: u64) -> u64 {
    let distance = distance(base) / multiplier;
    if base == 0 || !(0.0..TWO_POW_64).contains(&distance) || multiplier.is_sign_negative() {
        return 0;
    }
    #[expect(clippy::cast_sign_loss, reason = "in range, as checked")]
    let distance = distance as u64;
    0u64.wrapping_sub(distance.max(1))
}

/// The node's measure of a multiplier relative to the lower of two thresholds, of which the higher is
/// `ratio` times as hard: 1 stays 1, and a surplus counts as a share of `ratio`.
pub fn normalized(multiplier: f64, ratio: f64) -> f64 {
    (multiplier + (ratio - 1.0)) / ratio
}

/// 2^64 - `threshold`.
#[expect(clippy::cast_precision_loss, reason = "the node rounds here too")]
pub(crate) fn distance(threshold: u64) -> f64 {
    match threshold {
        0 => TWO_POW_64,
        _ => threshold.wrapping_neg() as f64,
    }
}
