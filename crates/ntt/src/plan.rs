//! How a transform is cut into passes, from the sizes of the caches.

use lanework_arch::cpu::Caches;

/// The most layers that one visit keeps in registers: eight vectors leave room for the constants of
/// their layers, sixteen do not.
pub(crate) const LOG_RADIX_MAX: u32 = 3;

/// Where the bits of an index go: `log_lanes` + `log_wide` bits are transformed in the gathered
/// passes, `log_deep` bits in the deep pass between them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "exponents are marked as such")]
pub(crate) struct Passes {
    /// Lanes of a vector.
    pub log_lanes: u32,
    /// Rows of the deep pass. The gathered passes read this many of them at once.
    pub log_wide: u32,
    /// Vectors in a row of the deep pass.
    pub log_deep: u32,
    /// Vectors in a block of a row that fits the first-level cache.
    pub log_block: u32,
}

impl Passes {
    /// The passes for 2^`log_rows` elements in vectors of 2^`log_lanes` lanes, each lane a cell of
    /// `cell_bytes` in working memory; `None` if there are too few elements to fill the vectors.
    pub(crate) fn new(
        log_rows: u32,
        log_lanes: u32,
        cell_bytes: usize,
        caches: Caches,
    ) -> Option<Self> {
        let log_vectors_in = |bytes: usize| (bytes / (cell_bytes << log_lanes)).max(1).ilog2();
        // A group of the gathered passes is two vectors wide, and so many vectors make the shortest
        // row; the wide part holds at least the two vectors of a line.
        let deep_min = log_lanes + 1;
        let rest = log_rows.checked_sub(log_lanes)?;
        let wide_max = rest.checked_sub(deep_min).filter(|&wide| wide > 0)?;
        // A third of the first-level cache is left to constants. In the second-level cache lie two
        // rows, their constants, and what is on its way in and out.
        let block_max = log_vectors_in(caches.l1d_bytes / 3 * 2).max(2);
        let deep_max = log_vectors_in(caches.l2_bytes / 4).max(deep_min);
        let wide_min = rest.saturating_sub(deep_max).clamp(1, wide_max);
        let passes = (wide_min..=wide_max).map(|log_wide| {
            let log_deep = rest - log_wide;
            Self {
                log_lanes,
                log_wide,
                log_deep,
                log_block: block_max.min(log_deep),
            }
        });
        passes.min_by_key(Self::cost)
    }

    /// Visits of all elements, where those that leave the first-level cache count more: visits beyond
    /// a block, and wide groups too large for two visits. Of equal ones, the widest.
    fn cost(&self) -> (usize, std::cmp::Reverse<u32>) {
        let far = visits(self.log_deep - self.log_block, 1).len();
        let wide = self.wide_visits().len();
        let cost = self.deep_visits().len() + 2 * far + wide + if wide > 2 { 3 } else { 0 };
        (cost, std::cmp::Reverse(self.log_wide))
    }

    /// The layers of the deep pass, from the farthest partners to the nearest, as visits of so many
    /// layers each. A number of visits ends where the blocks begin.
    /// There are at least two: the first one reads the two vectors of a line in different turns.
    pub(crate) fn deep_visits(&self) -> Vec<u32> {
        let mut visits = visits(self.log_deep - self.log_block, 1);
        let least = 2 - visits.len().min(1);
        visits.extend(self::visits(self.log_block, least));
        visits
    }

    /// The layers of the wide part, as visits of so many layers each.
    pub(crate) fn wide_visits(&self) -> Vec<u32> {
        visits(self.log_wide, 1)
    }
}

/// The layers of an additive pass as visits of so many layers each.
pub(crate) fn radices(layers: u32) -> Vec<u32> {
    visits(layers, 1)
}

/// `layers` in as few visits as registers allow, but at least `least`, of nearly equal depth.
fn visits(layers: u32, least: usize) -> Vec<u32> {
    let count = layers.div_ceil(LOG_RADIX_MAX).max(least as u32).min(layers);
    (0..count)
        .map(|i| (layers + count - 1 - i) / count)
        .collect()
}

/// How the layers of an additive transform of many interleaved lanes are cut into passes over memory.
///
/// A gathered pass takes groups of rows that lie far apart into working memory; the deep pass works on
/// neighbouring rows where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweeps {
    /// The layers of each gathered pass, first to last.
    pub gathered: Vec<u32>,
    /// The layers of the deep pass.
    pub deep: u32,
    /// A gathered pass takes 2^`log_batch` neighbouring groups at once. At most the number of rows between
    /// those of a group.
    pub log_batch: Vec<u32>,
}

impl Sweeps {
    /// The passes for 2^`log_rows` rows of `row_bytes`, made 2^`log_replicas` times, on so many threads.
    pub(crate) fn new(
        log_rows: u32,
        log_replicas: u32,
        row_bytes: usize,
        caches: Caches,
        threads: usize,
    ) -> Self {
        /// What is read at once in a gathered pass is at least so many bytes: less wastes the reads.
        const BATCH_BYTES: usize = 896;
        /// The twiddles of so many layers are bytes: a gathered pass of them has little to compute while it
        /// moves much.
        const GATHERED: u32 = 8;
        let log_fitting = |budget: usize, bytes: usize| (budget / bytes).max(2).ilog2();
        // The block in work and the next one, which is on its way in.
        let deep_max = log_fitting(caches.l2_bytes / 20 * 9, row_bytes);
        // Blocks of the deep pass are shared among threads, a few for each, unless they are small already.
        let log_tasks = if threads > 1 { threads.ilog2() + 2 } else { 0 };
        let shared = (log_rows + log_replicas).saturating_sub(log_tasks);
        let deep_max = deep_max.min(shared.max(deep_max.min(8)));
        let deep = if log_rows <= deep_max {
            log_rows
        } else {
            deep_max.min(log_rows - GATHERED.min(log_rows / 2))
        };
        let batch = (BATCH_BYTES.div_ceil(row_bytes)).next_power_of_two();
        let group_max = log_fitting(caches.l2_bytes / 2, batch * row_bytes);
        let rest = log_rows - deep;
        let gathered = visits_of(rest, group_max);
        let mut left = log_rows;
        let log_batch = gathered
            .iter()
            .map(|&layers| {
                left -= layers;
                batch.ilog2().min(left)
            })
            .collect();
        Self {
            gathered,
            deep,
            log_batch,
        }
    }
}

/// `layers` in as few visits of at most `most` as possible, of nearly equal depth.
fn visits_of(layers: u32, most: u32) -> Vec<u32> {
    let count = layers.div_ceil(most);
    (0..count)
        .map(|i| (layers + count - 1 - i) / count)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_an_index_add_up_and_rows_fit_their_cache() {
        for caches in [
            Caches::new(48 << 10, 2 << 20, 0),
            Caches::new(4 << 10, 16 << 10, 0),
        ] {
            for (log_lanes, cell_bytes) in [(2, 4), (3, 4), (3, 8), (4, 4)] {
                for log_rows in 0..=24 {
                    let Some(passes) = Passes::new(log_rows, log_lanes, cell_bytes, caches) else {
                        assert!(log_rows < 2 * log_lanes + 2);
                        continue;
                    };
                    let Passes {
                        log_wide,
                        log_deep,
                        log_block,
                        ..
                    } = passes;
                    assert_eq!(log_lanes + log_wide + log_deep, log_rows);
                    assert!(log_wide >= 1 && log_deep > log_lanes, "{passes:?}");
                    assert!((1..=log_deep).contains(&log_block), "{passes:?}");
                    let row_bytes = cell_bytes << (log_lanes + log_deep);
                    assert!(row_bytes <= caches.l2_bytes / 4 || log_deep == log_lanes + 1);
                    assert_eq!(passes.deep_visits().iter().sum::<u32>(), log_deep);
                    assert!(passes.deep_visits()[0] < log_deep);
                    assert_eq!(passes.wide_visits().iter().sum::<u32>(), log_wide);
                }
            }
        }
    }

    #[test]
    fn visits_are_balanced() {
        assert!(visits(0, 1).is_empty());
        assert_eq!(visits(3, 1), [3]);
        assert_eq!(visits(3, 2), [2, 1]);
        assert_eq!(visits(5, 1), [3, 2]);
        assert_eq!(visits(7, 1), [3, 2, 2]);
        assert_eq!(visits(9, 2), [3, 3, 3]);
    }

    #[test]
    fn tall_columns_leave_the_first_level_cache_once() {
        let caches = Caches::new(48 << 10, 2 << 20, 0);
        let passes = Passes::new(20, 3, 8, caches).expect("many elements");
        assert_eq!(passes.wide_visits(), [3, 3]);
        assert_eq!(passes.deep_visits(), [2, 3, 3, 3]);
        assert_eq!((passes.log_deep, passes.log_block), (11, 9));
    }
}
