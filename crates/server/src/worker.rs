//! What searches: threads of the CPU, and other devices by the same trait.

use lanework_nano::{BATCH, Kernel, Precomputed, Root};

/// Something that searches nonces in batches, short enough that it can be told to stop in between.
///
/// A worker belongs to one thread of the [`engine`](crate::engine), which checks everything it finds.
pub trait Worker: Send {
    /// A name for metrics and logs, the same for the life of the worker.
    fn name(&self) -> String;

    /// Searches the next batch of nonces, which the worker chooses, for one with a value of at least
    /// `threshold`.
    ///
    /// # Errors
    /// If the device behind it does not work.
    fn search(&mut self, root: &Root, threshold: u64) -> Result<Batch, Fault>;
}

/// What came of a batch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The nonces that were tried.
    pub hashes: u64,
    /// A nonce that should do.
    pub hit: Option<u64>,
}

/// Why a batch came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something went wrong that may go right the next time.
    Transient(String),
    /// There is no point in going on with this task.
    Fatal(String),
}

/// A thread of the CPU with a kernel.
#[derive(Debug)]
pub struct Cpu {
    name: String,
    kernel: Kernel,
    random: fastrand::Rng,
    precomputed: Option<Precomputed>,
    next: u64,
}

impl Cpu {
    /// The thread of this index.
    pub fn new(kernel: Kernel, index: usize) -> Self {
        Self {
            name: format!("cpu-{index}"),
            kernel,
            random: fastrand::Rng::new(),
            precomputed: None,
            next: 0,
        }
    }
}

impl Worker for Cpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn search(&mut self, root: &Root, threshold: u64) -> Result<Batch, Fault> {
        let fresh = |precomputed: &Precomputed| precomputed.root() == root;
        let precomputed = if let Some(precomputed) = self.precomputed.take().filter(fresh) {
            precomputed
        } else {
            self.next = self.random.u64(..);
            Precomputed::new(root)
        };
        let hit = self
            .kernel
            .search(&precomputed, self.next, BATCH, threshold);
        self.precomputed = Some(precomputed);
        let hashes = hit.map_or(BATCH, |nonce| nonce.wrapping_sub(self.next) + 1);
        self.next = self.next.wrapping_add(hashes);
        Ok(Batch { hashes, hit })
    }
}

/// Counts what goes wrong with a worker, and says when it should sit out a task.
///
/// Three failures in a row are too many. Wrong results are remembered across tasks until there is a
/// right one: after three of them, one more is enough.
#[derive(Debug, Default)]
pub(crate) struct Health {
    in_a_row: u32,
    wrong: u32,
}

/// Whether a worker goes on with a task.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    GoOn,
    SitOut,
}

impl Health {
    const TOO_MANY: u32 = 3;

    pub(crate) fn new_task(&mut self) {
        self.in_a_row = 0;
    }

    pub(crate) fn nothing_found(&mut self) {
        self.in_a_row = 0;
    }

    pub(crate) fn right_result(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn fault(&mut self, fault: &Fault) -> Verdict {
        match fault {
            Fault::Transient(_) => self.failed_again(),
            Fault::Fatal(_) => Verdict::SitOut,
        }
    }

    pub(crate) fn wrong_result(&mut self) -> Verdict {
        if self.wrong == Self::TOO_MANY {
            return Verdict::SitOut;
        }
        self.wrong += 1;
        self.failed_again()
    }

    fn failed_again(&mut self) -> Verdict {
        self.in_a_row += 1;
        if self.in_a_row < Self::TOO_MANY {
            Verdict::GoOn
        } else {
            Verdict::SitOut
        }
    }
}

#[cfg(test)]
mod tests {
    use lanework_nano::validate;

    use super::*;

    #[test]
    fn a_thread_finds_work_for_each_root_in_turn() {
        let mut worker = Cpu::new(Kernel::available()[0], 3);
        assert_eq!(worker.name(), "cpu-3");
        let threshold = 0xfff0000000000000;
        for root in [[1; 32], [2; 32], [1; 32]] {
            let hit = (0..100).find_map(|_| {
                let batch = worker.search(&root, threshold).unwrap();
                assert!((1..=BATCH).contains(&batch.hashes));
                batch.hit
            });
            assert!(validate(&root, hit.expect("one in 4096")) >= threshold);
        }
    }

    #[test]
    fn a_search_goes_on_where_it_stopped_and_wraps() {
        let mut worker = Cpu::new(Kernel::from_name("scalar").unwrap(), 0);
        let root = [0; 32];
        let first = worker.search(&root, 0).unwrap();
        assert_eq!(first.hashes, 1);
        worker.next = u64::MAX;
        assert_eq!(worker.search(&root, 0).unwrap().hit, Some(u64::MAX));
        assert_eq!(worker.search(&root, 0).unwrap().hit, Some(0));
        assert_eq!(
            worker.search(&root, u64::MAX).unwrap(),
            Batch {
                hashes: BATCH,
                hit: None
            }
        );
        assert_eq!(worker.next, BATCH + 1);
    }

    #[test]
    fn three_failures_in_a_row_are_too_many() {
        let mut health = Health::default();
        let transient = Fault::Transient(String::new());
        assert_eq!(health.fault(&transient), Verdict::GoOn);
        assert_eq!(health.wrong_result(), Verdict::GoOn);
        health.nothing_found();
        assert_eq!(health.fault(&transient), Verdict::GoOn);
        assert_eq!(health.fault(&transient), Verdict::GoOn);
        assert_eq!(health.fault(&transient), Verdict::SitOut);
        health.new_task();
        assert_eq!(health.fault(&transient), Verdict::GoOn);
        assert_eq!(health.fault(&Fault::Fatal(String::new())), Verdict::SitOut);
    }

    #[test]
    fn wrong_results_are_remembered_until_there_is_a_right_one() {
        let mut health = Health::default();
        for _ in 0..3 {
            assert_eq!(health.wrong_result(), Verdict::GoOn);
            health.nothing_found();
        }
        health.new_task();
        assert_eq!(health.wrong_result(), Verdict::SitOut);
        health.right_result();
        assert_eq!(health.wrong_result(), Verdict::GoOn);
    }
}
