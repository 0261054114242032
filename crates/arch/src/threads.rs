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
