//! Who waits for which work, and what is searched next. Plain data: no threads, no clock, no I/O.
//!
//! Requests for one root are joined in one [task](Job); each waiter keeps its own threshold. The search
//! aims at the lowest threshold that somebody still waits for: whatever is found answers everyone it
//! is good enough for, and the search goes on for the others. As every hash is as likely to do as any
//! other, nothing is lost by that, nor by laying a search aside for a more urgent one.
//!
//! What a search found counts for its task only. A task has a number that is never used again, so a
//! worker that was late for one request cannot answer another.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Duration, Instant};

use lanework_nano::Root;

/// In which order those who wait get their turn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// By arrival.
    Arrival,
    /// At random, so that several servers with the same requests do not all begin with the same one.
    Random,
}

/// How urgent a request is. The more urgent come first, and push the others aside.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Somebody waits for the work.
    Request,
    /// The work is for nothing but measuring.
    Benchmark,
}

/// A request for work: what it needs, whose it is, and where the answer goes.
#[derive(Debug)]
pub struct Ask<C, R> {
    /// What the work is for.
    pub root: Root,
    /// The least value that will do.
    pub threshold: u64,
    /// How urgent it is.
    pub urgency: Urgency,
    /// Who asks.
    pub client: C,
    /// Takes the answer.
    pub reply: R,
}

/// A request that was taken on, so that its client can leave.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    task: u64,
    waiter: (u64, u64),
}

/// What the workers are to search now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The number of the task.
    pub task: u64,
    /// Changes whenever workers should look for another job; see [`Queue::version`].
    pub version: u64,
    /// What the work is for.
    pub root: Root,
    /// The least value that is of use.
    pub threshold: u64,
}

/// How a request ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Work was found.
    Found {
        /// The work.
        nonce: u64,
        /// Its value, at least the threshold of the request.
        value: u64,
        /// How long the request waited for its turn.
        waited: Duration,
        /// How long the search took after that.
        solved: Duration,
    },
    /// Somebody cancelled the root.
    Cancelled,
    /// No worker could finish the search.
    Failed,
    /// The server stops.
    Stopping,
}

/// An answer that is to be handed over, which is the caller's to do.
#[derive(Debug)]
#[must_use]
pub struct Settled<R> {
    /// Takes the answer.
    pub reply: R,
    /// The answer.
    pub outcome: Outcome,
}

/// The waiting requests, and the task that is searched. See the [module](self).
#[derive(Debug)]
pub struct Queue<C, R> {
    order: Order,
    capacity: usize,
    workers: usize,
    random: fastrand::Rng,
    tasks: HashMap<u64, Task<C, R>>,
    by_root: HashMap<Root, u64>,
    requests: Lane,
    benchmarks: Lane,
    current: Option<u64>,
    version: u64,
    last_number: u64,
    waiters: usize,
}

#[derive(Debug)]
struct Task<C, R> {
    root: Root,
    urgency: Urgency,
    started: Option<Instant>,
    /// By threshold, then by arrival; never empty.
    waiters: BTreeMap<(u64, u64), Waiter<C, R>>,
    /// The workers that have given up on it.
    given_up: Vec<usize>,
}

impl<C, R> Task<C, R> {
    fn threshold(&self) -> u64 {
        let lowest = self.waiters.first_key_value();
        lowest.map_or(u64::MAX, |((threshold, _), _)| *threshold)
    }
}

#[derive(Debug)]
struct Waiter<C, R> {
    client: C,
    since: Instant,
    reply: R,
}

/// Numbers of tasks in their order. A task that is gone leaves its number behind, to be skipped later;
/// that makes every operation one of constant time, if numbers left behind are swept now and then.
#[derive(Debug, Default)]
struct Lane {
    numbers: VecDeque<u64>,
    live: usize,
}

impl Lane {
    const SLACK: usize = 64;

    fn push_back(&mut self, number: u64) {
        self.numbers.push_back(number);
        self.live += 1;
    }

    fn push_front(&mut self, number: u64) {
        self.numbers.push_front(number);
        self.live += 1;
    }

    /// A task in the lane has gone; `is_live` tells of the others.
    fn forget(&mut self, is_live: impl Fn(u64) -> bool) {
        self.live -= 1;
        if self.numbers.len() > 2 * self.live + Self::SLACK {
            self.numbers.retain(|&number| is_live(number));
        }
    }

    /// Takes the next task: the first, or any if there is a `random`.
    fn pop(
        &mut self,
        mut random: Option<&mut fastrand::Rng>,
        is_live: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let numbers = &mut self.numbers;
        let mut pick = || match &mut random {
            None => numbers.pop_front(),
            Some(random) => {
                let last = numbers.len().checked_sub(1)?;
                numbers.swap_remove_back(random.usize(..=last))
            }
        };
        let number = std::iter::from_fn(&mut pick).find(|&number| is_live(number))?;
        self.live -= 1;
        Some(number)
    }
}

impl<C: PartialEq, R> Queue<C, R> {
    /// An empty queue for at most `capacity` waiting tasks, of `workers` that all search one task.
    pub fn new(order: Order, capacity: usize, workers: usize, random: fastrand::Rng) -> Self {
        Self {
            order,
            capacity,
            workers,
            random,
            tasks: HashMap::new(),
            by_root: HashMap::new(),
            requests: Lane::default(),
            benchmarks: Lane::default(),
            current: None,
            version: 0,
            last_number: 0,
            waiters: 0,
        }
    }

    /// Takes on a request.
    ///
    /// # Errors
    /// Gives the request back if it would have to wait and there is no place left.
    pub fn submit(&mut self, ask: Ask<C, R>, now: Instant) -> Result<Ticket, Ask<C, R>> {
        let joined = self.by_root.get(&ask.root).copied();
        if joined.is_none() && self.is_full(ask.urgency) {
            return Err(ask);
        }
        let Ask {
            root,
            threshold,
            urgency,
            client,
            reply,
        } = ask;
        let key = (threshold, self.number());
        let waiter = Waiter {
            client,
            since: now,
            reply,
        };
        let task = joined.unwrap_or_else(|| self.number());
        let entry = self.tasks.entry(task).or_insert_with(|| Task {
            root,
            urgency,
            started: None,
            waiters: BTreeMap::new(),
            given_up: Vec::new(),
        });
        let before = entry.threshold();
        entry.waiters.insert(key, waiter);
        let lowered = threshold < before;
        self.waiters += 1;

        if joined.is_none() {
            self.by_root.insert(root, task);
            self.lane(urgency).push_back(task);
            if urgency == Urgency::Request {
                self.lay_benchmark_aside();
            }
            self.advance(now);
        } else if lowered && self.current == Some(task) {
            self.version += 1;
        }
        Ok(Ticket { task, waiter: key })
    }

    /// What the worker of this index is to search, if anything.
    pub fn job(&self, worker: usize) -> Option<Job> {
        let number = self.current?;
        let task = &self.tasks[&number];
        (!task.given_up.contains(&worker)).then(|| Job {
            task: number,
            version: self.version,
            root: task.root,
            threshold: task.threshold(),
        })
    }

    /// A number that changes whenever [`job`](Self::job) does.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A worker has found work of `value` for a task: answers everyone it is good enough for.
    pub fn found(&mut self, task: u64, nonce: u64, value: u64, now: Instant) -> Vec<Settled<R>> {
        let Some(entry) = self.tasks.get_mut(&task) else {
            return Vec::new();
        };
        let rest = match value.checked_add(1) {
            Some(above) => entry.waiters.split_off(&(above, 0)),
            None => BTreeMap::new(),
        };
        let satisfied = std::mem::replace(&mut entry.waiters, rest);
        let started = entry.started.unwrap_or(now);
        if !satisfied.is_empty() {
            self.waiters -= satisfied.len();
            self.changed(task, now);
        }
        let settle = |waiter: Waiter<C, R>| {
            // One who joined later has not waited at all.
            let begin = started.max(waiter.since);
            let waited = begin.saturating_duration_since(waiter.since);
            let solved = now.saturating_duration_since(begin);
            let outcome = Outcome::Found {
                nonce,
                value,
                waited,
                solved,
            };
            Settled {
                reply: waiter.reply,
                outcome,
            }
        };
        satisfied.into_values().map(settle).collect()
    }

    /// A worker gives up on a task. When all have, the task has failed.
    pub fn give_up(&mut self, task: u64, worker: usize, now: Instant) -> Vec<Settled<R>> {
        let Some(entry) = self
            .tasks
            .get_mut(&task)
            .filter(|_| self.current == Some(task))
        else {
            return Vec::new();
        };
        if !entry.given_up.contains(&worker) {
            entry.given_up.push(worker);
        }
        if entry.given_up.len() < self.workers {
            return Vec::new();
        }
        self.remove(task, Outcome::Failed, |_| true, now)
    }

    /// Somebody cancels a root: everyone who waits for it is told, or only requests of `owner`.
    pub fn cancel(&mut self, root: &Root, owner: Option<&C>, now: Instant) -> Vec<Settled<R>> {
        let Some(&task) = self.by_root.get(root) else {
            return Vec::new();
        };
        let is_theirs = |waiter: &Waiter<C, R>| owner.is_none_or(|owner| waiter.client == *owner);
        self.remove(task, Outcome::Cancelled, is_theirs, now)
    }

    /// A client no longer waits. Gives its request back, unless that was answered before.
    pub fn leave(&mut self, ticket: Ticket, now: Instant) -> Option<R> {
        let task = self.tasks.get_mut(&ticket.task)?;
        let waiter = task.waiters.remove(&ticket.waiter)?;
        self.waiters -= 1;
        self.changed(ticket.task, now);
        Some(waiter.reply)
    }

    /// Ends every request.
    pub fn clear(&mut self, outcome: Outcome) -> Vec<Settled<R>> {
        self.version += 1;
        self.current = None;
        self.waiters = 0;
        self.by_root.clear();
        self.requests = Lane::default();
        self.benchmarks = Lane::default();
        let waiters = self
            .tasks
            .drain()
            .flat_map(|(_, task)| task.waiters.into_values());
        waiters
            .map(|waiter| Settled {
                reply: waiter.reply,
                outcome,
            })
            .collect()
    }

    /// The tasks that wait for their turn.
    pub fn queued(&self) -> usize {
        self.requests.live + self.benchmarks.live
    }

    /// Whether there is a task to search.
    pub fn is_searching(&self) -> bool {
        self.current.is_some()
    }

    /// The requests that were taken on and not answered.
    pub fn waiters(&self) -> usize {
        self.waiters
    }

    fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Whether a new task would have to wait where there is no place for it.
    fn is_full(&self, urgency: Urgency) -> bool {
        let Some(current) = self.current else {
            return false;
        };
        match urgency {
            Urgency::Benchmark => self.queued() >= self.capacity,
            Urgency::Request => {
                let waits = self.tasks[&current].urgency == Urgency::Request;
                waits && self.requests.live >= self.capacity
            }
        }
    }

    fn lane(&mut self, urgency: Urgency) -> &mut Lane {
        match urgency {
            Urgency::Request => &mut self.requests,
            Urgency::Benchmark => &mut self.benchmarks,
        }
    }

    /// Takes those waiters of a task that `matches` off it.
    fn remove(
        &mut self,
        task: u64,
        outcome: Outcome,
        matches: impl Fn(&Waiter<C, R>) -> bool,
        now: Instant,
    ) -> Vec<Settled<R>> {
        let Some(entry) = self.tasks.get_mut(&task) else {
            return Vec::new();
        };
        let gone: Vec<_> = entry
            .waiters
            .extract_if(.., |_, waiter| matches(waiter))
            .collect();
        if !gone.is_empty() {
            self.waiters -= gone.len();
            self.changed(task, now);
        }
        let settle = |(_, waiter): (_, Waiter<C, R>)| Settled {
            reply: waiter.reply,
            outcome,
        };
        gone.into_iter().map(settle).collect()
    }

    /// Waiters of a task are gone: with the last, the task goes as well.
    fn changed(&mut self, task: u64, now: Instant) {
        let is_current = self.current == Some(task);
        if is_current {
            self.version += 1;
        }
        let Some(entry) = self
            .tasks
            .get(&task)
            .filter(|entry| entry.waiters.is_empty())
        else {
            return;
        };
        let urgency = entry.urgency;
        self.by_root.remove(&entry.root);
        self.tasks.remove(&task);
        if is_current {
            self.current = None;
            self.advance(now);
        } else {
            let tasks = &self.tasks;
            let lane = match urgency {
                Urgency::Request => &mut self.requests,
                Urgency::Benchmark => &mut self.benchmarks,
            };
            lane.forget(|number| tasks.contains_key(&number));
        }
    }

    fn lay_benchmark_aside(&mut self) {
        let is_benchmark = |task: &u64| self.tasks[task].urgency == Urgency::Benchmark;
        if let Some(task) = self.current.take_if(|task| is_benchmark(task)) {
            self.benchmarks.push_front(task);
        }
    }

    /// Starts the next task if none is being searched.
    fn advance(&mut self, now: Instant) {
        if self.current.is_some() {
            return;
        }
        self.version += 1;
        let Self { tasks, random, .. } = self;
        let mut random = (self.order == Order::Random).then_some(random);
        let is_live = |number| tasks.contains_key(&number);
        self.current = self
            .requests
            .pop(random.as_deref_mut(), is_live)
            .or_else(|| self.benchmarks.pop(random, is_live));
        if let Some(task) = self.current.and_then(|number| self.tasks.get_mut(&number)) {
            task.started.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests;
