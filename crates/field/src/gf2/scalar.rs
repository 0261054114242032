//! The readable definition of the two fields, bit by bit. Everything else must equal it.

use super::spec::K_MODULUS;

/// The product of two polynomials over GF(2), of degree up to 126.
pub const fn product(a: u64, b: u64) -> u128 {
    let mut sum = 0;
    let mut i = 0;
    while i < 64 {
        if b >> i & 1 == 1 {
            sum ^= (a as u128) << i;
        }
        i += 1;
    }
    sum
}

/// The remainder of a polynomial by the modulus of K.
pub const fn remainder(mut x: u128) -> u64 {
    let modulus = 1 << 64 | K_MODULUS as u128;
    let mut i = 63;
    loop {
        if x >> (64 + i) & 1 == 1 {
            x ^= modulus << i;
        }
        if i == 0 {
            return x as u64;
        }
        i -= 1;
    }
}

/// The product in K.
pub const fn times(a: u64, b: u64) -> u64 {
    remainder(product(a, b))
}

/// The product in E = K\[y\] / (y^3 + y + 1), of coefficients from the lowest.
pub const fn times_extension(a: [u64; 3], b: [u64; 3]) -> [u64; 3] {
    let mut sums = [0; 5];
    let mut i = 0;
    while i < 9 {
        sums[i / 3 + i % 3] ^= times(a[i / 3], b[i % 3]);
        i += 1;
    }
    // y^3 = y + 1 and y^4 = y^2 + y.
    [
        sums[0] ^ sums[3],
        sums[1] ^ sums[3] ^ sums[4],
        sums[2] ^ sums[4],
    ]
}
