//! Work on several threads, their number chosen at run time.
//!
//! [`Threads`] says where parallel work runs: in the pool the caller is in already, or in a pool of its
//! own. Calls nest, and several computations can share a pool or use different ones. With one thread
//! the work runs on the thread that asks for it.
//!
//! Without the feature `threads` everything runs on the calling thread.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroUsize;

#[cfg(feature = "threads")]
use std::sync::{Arc, Mutex};

/// Why a pool could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refuses the threads.
    #[error("cannot start {count} threads: {reason}\nhint: ask for fewer")]
    Start {
        /// How many were asked for.
        count: NonZeroUsize,
        /// What the system said.
        reason: String,
    },
}

/// Where parallel work runs. Cheap to clone.
///
/// ```
/// use lanework_arch::threads::Threads;
///
/// let threads = Threads::new(2.try_into()?)?;
/// let mut squares: Vec<u64> = (0..1000).collect();
/// threads.for_each(squares.chunks_mut(100), |chunk| {
///     for x in chunk {
///         *x *= *x;
///     }
/// });
/// assert_eq!(squares[999], 999 * 999);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Threads(Place);

#[derive(Clone)]
enum Place {
    /// On the calling thread.
    Inline,
    /// In the pool of the calling thread, or the global one.
    #[cfg(feature = "threads")]
    Caller,
    #[cfg(feature = "threads")]
    Own(Arc<rayon::ThreadPool>),
}

thread_local! {
    /// Whether this thread is inside `install` of one thread.
    static INLINE: Cell<bool> = const { Cell::new(false) };
}

impl Threads {
    /// The threads of whoever makes the call that does the work: the pool it is in, or else rayon's
    /// global one, which starts at first use.
    pub fn current() -> Self {
        #[cfg(feature = "threads")]
        if !INLINE.get() {
            return Self(Place::Caller);
        }
        Self(Place::Inline)
    }

    /// A pool of `count` threads, or for one thread, whichever thread makes the call.
    ///
    /// Without the feature `threads` it is one thread, whatever `count` says.
    ///
    /// # Errors
    /// [`Error::Start`] if the system refuses the threads.
    pub fn new(count: NonZeroUsize) -> Result<Self, Error> {
        #[cfg(feature = "threads")]
        if count.get() > 1 {
            return rayon::ThreadPoolBuilder::new()
                .num_threads(count.get())
                .thread_name(|i| format!("lanework-{i}"))
                .build()
                .map(|pool| Self(Place::Own(Arc::new(pool))))
                .map_err(|error| Error::Start {
                    count,
                    reason: error.to_string(),
                });
        }
        let _ = count;
        Ok(Self(Place::Inline))
    }

    /// How many threads there are.
    pub fn count(&self) -> NonZeroUsize {
        let count = match &self.0 {
            Place::Inline => 1,
            #[cfg(feature = "threads")]
            Place::Caller if INLINE.get() => 1,
            #[cfg(feature = "threads")]
            Place::Caller => rayon::current_num_threads(),
            #[cfg(feature = "threads")]
            Place::Own(pool) => pool.current_num_threads(),
        };
        NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN)
    }

    /// Calls `work` so that these threads are [`current`](Self::current) inside it.
    ///
    /// Inside, parallel work goes through this module. Calls to rayon itself use the same pool, except
    /// with one thread, when there is none.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Place::Inline => inline(work),
            #[cfg(feature = "threads")]
            Place::Caller => work(),
            #[cfg(feature = "threads")]
            Place::Own(pool) => {
                // The caller may be a worker of this very pool, inside `install` of one thread; the
                // pool then calls `work` right here.
                pool.install(|| {
                    let _restore = Restore(INLINE.replace(false));
                    work()
                })
            }
        }
    }

    /// Calls `work` once for each item.
    ///
    /// Threads take the next item when they are free, in the order given: put the largest first, so
    /// that none is left to run alone at the end.
    ///
    /// # Panics
    /// If `work` does.
    pub fn for_each<T: Send>(
        &self,
        items: impl IntoIterator<Item = T, IntoIter: Send>,
        work: impl Fn(T) + Sync,
    ) {
        self.for_each_init(items, || (), |(), item| work(item));
    }

    /// Calls `work` once for each item, with a value that its thread reuses from item to item.
    ///
    /// Items are taken as in [`for_each`](Self::for_each). `init` is called by the threads that get an
    /// item, so there are never more values than [`count`](Self::count).
    ///
    /// ```
    /// # use lanework_arch::threads::Threads;
    /// let mut rows = vec![[3, 1, 2]; 50];
    /// Threads::current().for_each_init(&mut rows, Vec::new, |scratch, row| {
    ///     scratch.clear();
    ///     scratch.extend_from_slice(row);
    ///     scratch.sort_unstable();
    ///     row.copy_from_slice(scratch);
    /// });
    /// assert!(rows.iter().all(|row| *row == [1, 2, 3]));
    /// ```
    ///
    /// # Panics
    /// As [`for_each`](Self::for_each).
    pub fn for_each_init<T: Send, S>(
        &self,
        items: impl IntoIterator<Item = T, IntoIter: Send>,
        init: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, T) + Sync,
    ) {
        let mut items = items.into_iter();
        #[cfg(feature = "threads")]
        if self.count().get() > 1 {
            let most = items.size_hint().1.unwrap_or(usize::MAX);
            let queue = Mutex::new(items.fuse());
            // The lock is held for `next` alone: it is poisoned only if the iterator itself panics, and
            // then there is nothing more to take.
            let take = || queue.lock().ok().and_then(|mut items| items.next());
            let drain = || {
                if let Some(first) = take() {
                    let mut scratch = init();
                    work(&mut scratch, first);
                    while let Some(item) = take() {
                        work(&mut scratch, item);
                    }
                }
            };
            return self.install(|| {
                rayon::scope(|scope| {
                    for _ in 1..self.count().get().min(most) {
                        scope.spawn(|_| drain());
                    }
                    drain();
                });
            });
        }
        inline(move || {
            if let Some(first) = items.next() {
                let mut scratch = init();
                work(&mut scratch, first);
                for item in items {
                    work(&mut scratch, item);
                }
            }
        });
    }

    /// Calls both, at the same time if a thread is free, and returns both results.
    pub fn join<A: Send, B: Send>(
        &self,
        left: impl FnOnce() -> A + Send,
        right: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        #[cfg(feature = "threads")]
        if self.count().get() > 1 {
            return self.install(|| rayon::join(left, right));
        }
        inline(|| (left(), right()))
    }
}

impl Default for Threads {
    /// [`Threads::current`].
    fn default() -> Self {
        Self::current()
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.0 {
            Place::Inline => "inline",
            #[cfg(feature = "threads")]
            Place::Caller => "caller",
            #[cfg(feature = "threads")]
            Place::Own(_) => "own",
        };
        f.debug_struct("Threads")
            .field("place", &place)
            .field("count", &self.count())
            .finish()
    }
}

/// Calls `work` on this thread, as its only one.
fn inline<R>(work: impl FnOnce() -> R) -> R {
    let _restore = Restore(INLINE.replace(true));
    work()
}

/// Puts `INLINE` back, also when unwinding.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        INLINE.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "threads")]
    use std::collections::HashSet;
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier, Mutex};
    use std::thread::ThreadId;

    use super::*;

    fn threads(count: usize) -> Threads {
        Threads::new(count.try_into().unwrap()).unwrap()
    }

    /// The thread counts that are really different in this build.
    fn counts() -> &'static [usize] {
        if cfg!(feature = "threads") {
            &[1, 2, 3, 8]
        } else {
            &[1]
        }
    }

    fn this_thread() -> ThreadId {
        std::thread::current().id()
    }

    #[test]
    fn every_item_is_worked_on_once() {
        for &count in counts() {
            let threads = threads(count);
            assert_eq!(threads.count().get(), count);
            for len in [0, 1, 2, 7, 1000] {
                let mut items = vec![0_usize; len];
                threads.for_each(items.iter_mut().enumerate(), |(i, item)| *item += i + 1);
                assert!(items.iter().enumerate().all(|(i, &item)| item == i + 1));
            }
        }
    }

    #[test]
    fn there_are_at_most_as_many_values_as_threads() {
        for &count in counts() {
            let made = AtomicUsize::new(0);
            let total = AtomicUsize::new(0);
            threads(count).for_each_init(
                0..500_usize,
                || made.fetch_add(1, Ordering::Relaxed),
                |_, item| {
                    total.fetch_add(item, Ordering::Relaxed);
                },
            );
            assert!((1..=count).contains(&made.into_inner()), "{count} threads");
            assert_eq!(total.into_inner(), 499 * 500 / 2);
        }
        threads(2).for_each_init([0; 0], || panic!("no item, no value"), |(), _| ());
    }

    #[test]
    fn one_thread_is_the_calling_thread_in_order() {
        let (one, caller) = (threads(1), this_thread());
        let seen = Mutex::new(Vec::new());
        one.for_each(0..50, |i| {
            assert_eq!(this_thread(), caller);
            seen.lock().unwrap().push(i);
        });
        assert!(seen.into_inner().unwrap().into_iter().eq(0..50));
        // The same for whatever `work` does with its current threads.
        one.install(|| {
            let current = Threads::current();
            assert_eq!(current.count().get(), 1);
            current.for_each(0..50, |_| assert_eq!(this_thread(), caller));
            let both = current.join(this_thread, this_thread);
            assert_eq!(both, (caller, caller));
        });
    }

    #[test]
    fn what_was_current_is_again_afterwards_also_after_a_panic() {
        let before = Threads::current().count();
        let panic = std::panic::catch_unwind(|| threads(1).install(|| panic!("expected")));
        assert!(panic.is_err());
        assert_eq!(Threads::current().count(), before);
    }

    #[test]
    fn join_returns_both() {
        for &count in counts() {
            fn sum(threads: &Threads, from: u64, to: u64) -> u64 {
                if to - from < 10 {
                    return (from..to).sum();
                }
                let middle = from.midpoint(to);
                let (left, right) =
                    threads.join(|| sum(threads, from, middle), || sum(threads, middle, to));
                left + right
            }
            assert_eq!(sum(&threads(count), 0, 5000), 4999 * 5000 / 2);
        }
    }

    #[test]
    fn calls_nest() {
        let (outer, inner) = (threads(3), threads(2));
        let done = AtomicUsize::new(0);
        outer.for_each(0..10, |_| {
            inner.for_each(0..10, |_| {
                Threads::current().for_each(0..5, |_| {
                    threads(1).for_each(0..2, |_| {
                        outer.join(
                            || done.fetch_add(1, Ordering::Relaxed),
                            || done.fetch_add(1, Ordering::Relaxed),
                        );
                    });
                });
            });
        });
        assert_eq!(done.into_inner(), 10 * 10 * 5 * 2 * 2);
    }

    #[test]
    fn two_computations_run_at_once() {
        for pools in [vec![threads(2); 2], vec![threads(2), threads(3)]] {
            let together = Arc::new(Barrier::new(2));
            let runs: Vec<_> = pools
                .into_iter()
                .map(|pool| {
                    let together = Arc::clone(&together);
                    std::thread::spawn(move || {
                        together.wait();
                        let total = AtomicUsize::new(0);
                        pool.install(|| {
                            Threads::current().for_each(1..=1000_usize, |i| {
                                total.fetch_add(i, Ordering::Relaxed);
                            });
                        });
                        total.into_inner()
                    })
                })
                .collect();
            for run in runs {
                assert_eq!(run.join().unwrap(), 1000 * 1001 / 2);
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        for &count in counts() {
            let threads = threads(count);
            let panic = std::panic::catch_unwind(AssertUnwindSafe(|| {
                threads.for_each(0..100, |i| assert!(i != 50, "item {i}"));
            }));
            let message = panic.unwrap_err();
            assert!(
                message
                    .downcast_ref::<String>()
                    .unwrap()
                    .contains("item 50")
            );
            // The pool still works.
            threads.for_each(0..100, |_| ());
        }
    }

    #[cfg(feature = "threads")]
    #[test]
    fn a_pool_has_threads_of_its_own_that_all_work() {
        for count in [2, 3] {
            let pool = threads(count);
            let (workers, together) = (Mutex::new(HashSet::new()), Barrier::new(count));
            // Nobody passes the barrier before every thread of the pool holds an item.
            pool.for_each(0..count, |_| {
                together.wait();
                assert!(
                    std::thread::current()
                        .name()
                        .unwrap()
                        .starts_with("lanework-")
                );
                workers.lock().unwrap().insert(this_thread());
            });
            assert_eq!(workers.into_inner().unwrap().len(), count);
        }
    }

    #[cfg(feature = "threads")]
    #[test]
    fn the_callers_pool_is_used() {
        let callers = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .unwrap();
        let workers: HashSet<ThreadId> = callers.broadcast(|_| this_thread()).into_iter().collect();
        callers.install(|| {
            let current = Threads::current();
            assert_eq!(current.count().get(), 3);
            current.install(|| assert!(workers.contains(&this_thread())));
            current.for_each(0..100, |_| assert!(workers.contains(&this_thread())));
        });
        // A pool of one's own is left and entered again.
        let own = threads(2);
        callers.install(|| {
            own.install(|| {
                assert!(!workers.contains(&this_thread()));
                assert_eq!(Threads::current().count().get(), 2);
            });
            assert_eq!(Threads::current().count().get(), 3);
        });
    }

    #[cfg(feature = "threads")]
    #[test]
    fn a_pool_inside_one_thread_is_that_pool() {
        let own = threads(2);
        threads(1).install(|| {
            own.install(|| {
                assert_eq!(Threads::current().count().get(), 2);
                // From a worker of the pool to one thread, and to the same pool again.
                threads(1).install(|| {
                    own.install(|| assert_eq!(Threads::current().count().get(), 2));
                    assert_eq!(Threads::current().count().get(), 1);
                });
                assert_eq!(Threads::current().count().get(), 2);
            });
            assert_eq!(Threads::current().count().get(), 1);
        });
    }
}
