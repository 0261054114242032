//! The threads that search, around a [`Queue`].
//!
//! All workers join the search of one task. Each looks between two batches whether the
//! [version](Queue::version) has changed, which costs a load; without a task they sleep on a condition
//! variable. What they find is checked with the scalar definition before anyone is told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use lanework_nano::{Root, validate};
use tokio::sync::oneshot;
use tracing::{error, warn};

use crate::client::Client;
use crate::queue::{Ask, Job, Order, Outcome, Queue, Settled, Ticket, Urgency};
use crate::worker::{Batch, Fault, Health, Verdict, Worker};

/// The workers and the requests they work on. Dropping it ends them.
#[derive(Debug)]
pub struct Engine {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What one worker has done so far.
#[derive(Debug, Default)]
pub struct Meter {
    /// The name of the worker.
    pub name: String,
    hashes: AtomicU64,
    faults: AtomicU64,
}

impl Meter {
    /// The nonces that it has tried.
    pub fn hashes(&self) -> u64 {
        self.hashes.load(Ordering::Relaxed)
    }

    /// How often it has failed, or found what was none.
    pub fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }
}

/// A moment of the engine.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Whether there is a task to search.
    pub is_searching: bool,
    /// The tasks that wait for their turn.
    pub queued: usize,
    /// The requests that are not answered yet.
    pub waiters: usize,
}

/// Why a request was not taken on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too many wait already.
    QueueFull,
    /// The server stops.
    Stopping,
}

type Reply = oneshot::Sender<Outcome>;

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// The version of the queue, to be looked at without the lock.
    version: AtomicU64,
    meters: Vec<Meter>,
}

#[derive(Debug)]
struct State {
    queue: Queue<Client, Reply>,
    stage: Stage,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    Serving,
    /// No new requests, but those there are go on.
    Refusing,
    /// The threads are to end.
    Ended,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the queue, wakes the workers if their job is another one, and hands over the answers.
    fn change(
        &self,
        change: impl FnOnce(&mut Queue<Client, Reply>, Instant) -> Vec<Settled<Reply>>,
    ) -> usize {
        let mut state = self.lock();
        let settled = change(&mut state.queue, Instant::now());
        self.publish(state);
        let count = settled.len();
        for Settled { reply, outcome } in settled {
            // Whoever has gone in the meantime needs no answer.
            let _ = reply.send(outcome);
        }
        count
    }

    fn publish(&self, state: MutexGuard<'_, State>) {
        let version = state.queue.version();
        let changed = self.version.swap(version, Ordering::Release) != version;
        let needs_workers = state.queue.is_searching();
        drop(state);
        if changed && needs_workers {
            self.wake.notify_all();
        }
    }

    /// Waits until there is something to search; `None` ends the thread.
    fn next_job(&self, worker: usize) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if state.stage == Stage::Ended {
                return None;
            }
            if let Some(job) = state.queue.job(worker) {
                return Some(job);
            }
            state = self
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self, index: usize, worker: &mut dyn Worker) {
        let meter = &self.meters[index];
        let mut health = Health::default();
        let mut task = None;
        while let Some(job) = self.next_job(index) {
            if task.replace(job.task) != Some(job.task) {
                health.new_task();
            }
            while self.version.load(Ordering::Acquire) == job.version {
                if search(&job, worker, meter, &mut health, self) == Verdict::SitOut {
                    warn!(worker = meter.name, "worker sits out a task");
                    self.change(|queue, now| queue.give_up(job.task, index, now));
                    break;
                }
            }
        }
    }
}

/// Searches one batch, and hands over what it finds.
fn search(
    job: &Job,
    worker: &mut dyn Worker,
    meter: &Meter,
    health: &mut Health,
    shared: &Shared,
) -> Verdict {
    let batch = catch_unwind(AssertUnwindSafe(|| worker.search(&job.root, job.threshold)))
        .unwrap_or_else(|_| Err(Fault::Fatal("the worker panicked".to_owned())));
    match batch {
        Ok(Batch { hashes, hit }) => {
            meter.hashes.fetch_add(hashes, Ordering::Relaxed);
            let Some(nonce) = hit else {
                health.nothing_found();
                return Verdict::GoOn;
            };
            let value = validate(&job.root, nonce);
            if value >= job.threshold {
                health.right_result();
                shared.change(|queue, now| queue.found(job.task, nonce, value, now));
                return Verdict::GoOn;
            }
            meter.faults.fetch_add(1, Ordering::Relaxed);
            error!(worker = meter.name, "wrong result: {nonce:016x}");
            health.wrong_result()
        }
        Err(fault) => {
            meter.faults.fetch_add(1, Ordering::Relaxed);
            error!(worker = meter.name, "search failed: {fault:?}");
            health.fault(&fault)
        }
    }
}

impl Engine {
    /// Starts a thread for each worker.
    ///
    /// # Errors
    /// If the system has no more threads.
    ///
    /// # Panics
    /// Without workers.
    pub fn start(
        workers: Vec<Box<dyn Worker>>,
        order: Order,
        capacity: usize,
    ) -> std::io::Result<Self> {
        assert!(!workers.is_empty(), "an engine needs workers");
        let queue = Queue::new(order, capacity, workers.len(), fastrand::Rng::new());
        let meter = |name| Meter {
            name,
            ..Meter::default()
        };
        let names = workers.iter().map(|worker| worker.name());
        let shared = Arc::new(Shared {
            version: AtomicU64::new(queue.version()),
            state: Mutex::new(State {
                queue,
                stage: Stage::Serving,
            }),
            wake: Condvar::new(),
            meters: names.map(meter).collect(),
        });
        let mut engine = Self {
            shared,
            threads: Vec::new(),
        };
        for (index, mut worker) in workers.into_iter().enumerate() {
            let shared = Arc::clone(&engine.shared);
            let thread = thread::Builder::new().name(worker.name());
            engine
                .threads
                .push(thread.spawn(move || shared.work(index, &mut *worker))?);
        }
        Ok(engine)
    }

    /// Takes on a request for work. Dropping what it returns ends the request.
    ///
    /// # Errors
    /// If the queue is full, or the engine stops.
    pub fn submit(
        &self,
        root: Root,
        threshold: u64,
        urgency: Urgency,
        client: Client,
    ) -> Result<Pending, Refusal> {
        let (reply, outcome) = oneshot::channel();
        let ask = Ask {
            root,
            threshold,
            urgency,
            client,
            reply,
        };
        let mut state = self.shared.lock();
        if state.stage != Stage::Serving {
            return Err(Refusal::Stopping);
        }
        let submitted = state.queue.submit(ask, Instant::now());
        self.shared.publish(state);
        let ticket = submitted.map_err(|_| Refusal::QueueFull)?;
        Ok(Pending {
            shared: Arc::clone(&self.shared),
            ticket: Some(ticket),
            outcome,
        })
    }

    /// Ends all requests for `root`, or only those of `owner`, and says how many there were.
    pub fn cancel(&self, root: &Root, owner: Option<&Client>) -> usize {
        self.shared
            .change(|queue, now| queue.cancel(root, owner, now))
    }

    /// Takes on nothing more; what waits goes on.
    pub fn refuse(&self) {
        self.shared.lock().stage = Stage::Refusing;
    }

    /// Takes on nothing more, and answers everything that waits.
    pub fn stop(&self) {
        self.refuse();
        self.shared
            .change(|queue, _| queue.clear(Outcome::Stopping));
    }

    /// How busy the engine is.
    pub fn load(&self) -> Load {
        let state = self.shared.lock();
        Load {
            is_searching: state.queue.is_searching(),
            queued: state.queue.queued(),
            waiters: state.queue.waiters(),
        }
    }

    /// What each worker has done.
    pub fn meters(&self) -> &[Meter] {
        &self.shared.meters
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.lock().stage = Stage::Ended;
        self.shared
            .change(|queue, _| queue.clear(Outcome::Stopping));
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            // A worker's panic was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// A request that waits for its answer. Dropping it takes it off the queue.
#[derive(Debug)]
#[must_use]
pub struct Pending {
    shared: Arc<Shared>,
    ticket: Option<Ticket>,
    outcome: oneshot::Receiver<Outcome>,
}

impl Future for Pending {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let outcome = std::task::ready!(Pin::new(&mut self.outcome).poll(context));
        self.ticket = None;
        Poll::Ready(outcome.unwrap_or(Outcome::Failed))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            let mut left = None;
            self.shared.change(|queue, now| {
                left = queue.leave(ticket, now);
                Vec::new()
            });
        }
    }
}

#[cfg(test)]
mod tests;
