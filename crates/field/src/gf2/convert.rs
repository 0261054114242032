//! Between K and the tower, by tables of bytes.

use super::operators::operators_of_characteristic_2;
use super::spec::{POLYNOMIAL_TO_TOWER, TOWER_TO_POLYNOMIAL};
use super::{B64, T64};
use crate::Field;

/// For each byte of a word and each of its values, the image.
struct Map([[u64; 256]; 8]);

impl Map {
    const fn new(columns: &[u64; 64]) -> Self {
        let mut tables = [[0; 256]; 8];
        let mut i = 8;
        while i < 8 * 256 {
            let (byte, value): (usize, usize) = (i % 8, i / 8);
            let lowest = value.trailing_zeros() as usize;
            tables[byte][value] = tables[byte][value & (value - 1)] ^ columns[8 * byte + lowest];
            i += 1;
        }
        Self(tables)
    }

    #[inline]
    fn apply(&self, word: u64) -> u64 {
        let bytes = word.to_le_bytes();
        let images = self.0.iter().zip(bytes);
        images.fold(0, |sum, (table, byte)| sum ^ table[byte as usize])
    }
}

static TO_TOWER: Map = Map::new(&POLYNOMIAL_TO_TOWER);
static FROM_TOWER: Map = Map::new(&TOWER_TO_POLYNOMIAL);

impl From<B64> for T64 {
    #[inline]
    fn from(element: B64) -> Self {
        Self(TO_TOWER.apply(element.0))
    }
}

impl From<T64> for B64 {
    #[inline]
    fn from(element: T64) -> Self {
        Self(FROM_TOWER.apply(element.0))
    }
}

impl Field for T64 {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    fn square(self) -> Self {
        B64::from(self).square().into()
    }

    fn inverse(self) -> Option<Self> {
        B64::from(self).inverse().map(Self::from)
    }
}

operators_of_characteristic_2!(T64);
