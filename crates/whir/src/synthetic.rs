//! Generated words, for tests and measurements.

use lanework_arch::threads::Threads;

use crate::{Error, Stack};

/// A vector of `words` words: word i is output i of `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014) from the state
/// `seed`. Made on the current threads.
///
/// # Errors
/// As [`Stack::zeroed`].
pub fn random(seed: u64, words: usize) -> Result<Stack, Error> {
    const PART: usize = 1 << 16;
    let mut stack = Stack::zeroed((words as u64).saturating_mul(8))?;
    let parts = stack.words_mut().chunks_mut(PART).enumerate();
    Threads::current().for_each(parts, |(index, part)| {
        for (word, i) in part.iter_mut().zip((index * PART) as u64..) {
            *word = split_mix(seed, i);
        }
    });
    Ok(stack)
}

fn split_mix(seed: u64, index: u64) -> u64 {
    let state = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let x = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_those_of_the_published_generator() {
        // The first outputs from 0, as in the reference implementation of the generator.
        let words = [0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f];
        let stack = super::random(0, 100_000).unwrap();
        assert_eq!(stack.words()[..3], words);
        assert_eq!(stack.words()[99_999], super::split_mix(0, 99_999));
    }
}
