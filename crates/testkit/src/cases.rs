//! Seeded random numbers, and lengths and values that reach the corners.

/// A stream of pseudo-random numbers (`SplitMix64`), which names its seed when a test fails.
#[derive(Debug)]
pub struct Rng {
    seed: u64,
    state: u64,
}

impl Rng {
    /// The stream of `seed`, or of the number in the environment variable `LANEWORK_SEED`.
    pub fn new(seed: u64) -> Self {
        let seed = match std::env::var("LANEWORK_SEED") {
            Ok(text) => text
                .parse()
                .unwrap_or_else(|_| panic!("LANEWORK_SEED: {text}")),
            Err(_) => seed,
        };
        Self { seed, state: seed }
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// The upper half of the next number.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A number below `bound`.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "nothing is below 0");
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `range`, which is not empty.
    pub fn in_range(&mut self, range: std::ops::Range<usize>) -> usize {
        range.start + self.below((range.end - range.start) as u64) as usize
    }

    /// `len` words below `modulus`: every word of [`edge_words`] first, then random ones among
    /// which an edge word comes about every eighth time.
    pub fn words_below(&mut self, modulus: u32, len: usize) -> Vec<u32> {
        let edges = edge_words(modulus);
        let mut word = |i: usize| match (edges.get(i), self.below(8)) {
            (Some(&edge), _) => edge,
            (None, 0) => edges[self.below(edges.len() as u64) as usize],
            (None, _) => self.below(u64::from(modulus)) as u32,
        };
        (0..len).map(&mut word).collect()
    }
}

impl Drop for Rng {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("random numbers came from LANEWORK_SEED={}", self.seed);
        }
    }
}

/// Words below `modulus` at which corrections, carries and shifts change what they do.
pub fn edge_words(modulus: u32) -> Vec<u32> {
    let half = modulus / 2;
    let mut words = vec![0, 1, 2, modulus - 1, modulus - 2, half, half + 1];
    for k in [8, 16, 23, 24, 30] {
        words.extend([(1 << k) - 1, 1 << k, (1 << k) + 1]);
    }
    words.retain(|&word| word < modulus);
    words
}

/// Words of 32 bits that are not below `modulus`.
pub fn words_not_below(modulus: u32) -> [u32; 5] {
    [modulus, modulus + 1, 1 << 31, u32::MAX - 1, u32::MAX]
}

/// Lengths that reach every path of a kernel working on `lanes` elements at a time: nothing, one,
/// each side of one, two and four groups, and a sum of a few powers of two.
pub fn lengths(lanes: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1, 2, 3, 4 * lanes + 2 * lanes + lanes + lanes / 2 + 1];
    for groups in [1, 2, 4] {
        let len = groups * lanes;
        lengths.extend([len.saturating_sub(1), len, len + 1]);
    }
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_the_published_generator() {
        // The first outputs of SplitMix64 for seed 0, by its authors' C program.
        let mut rng = Rng { seed: 0, state: 0 };
        assert_eq!(rng.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(rng.next_u64(), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(rng.next_u64(), 0x06c4_5d18_8009_454f);
    }

    #[test]
    fn lengths_surround_the_groups() {
        assert_eq!(lengths(4), [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31]);
        assert!(lengths(16).contains(&15) && lengths(16).contains(&33));
    }

    #[test]
    fn words_stay_below_the_modulus_and_reach_its_edges() {
        let words = Rng::new(7).words_below(0x7f00_0001, 1000);
        assert!(words.iter().all(|&word| word < 0x7f00_0001));
        assert!(words.contains(&0) && words.contains(&0x7f00_0000));
    }
}
