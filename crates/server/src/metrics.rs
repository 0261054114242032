//! What the server counts, for Prometheus and for the dashboard.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use lanework_nano::Root;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::engine::{Engine, Meter};

/// The media type of [`Metrics::text`] for those who know it.
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The media type for everyone else, to whom the text makes sense all the same.
pub const PLAIN_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Counters and their registry.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    /// Requests that a `work_cancel` ended.
    pub cancels: Counter,
    /// Clients that went away before they were answered.
    pub disconnects: Counter,
    /// Answers that came from the cache of found work.
    pub cache_hits: Counter,
    /// Connections that are open.
    pub connections: Gauge,
    waited: Histogram,
    solved: Histogram,
    queued: Gauge,
    waiters: Gauge,
    searching: Gauge,
    hashes: Family<WorkerLabels, Counter>,
    faults: Family<WorkerLabels, Counter>,
    rate: Family<WorkerLabels, Gauge<f64, AtomicU64>>,
    history: Mutex<History>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    action: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BuildLabels {
    version: &'static str,
    kernel: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WorkerLabels {
    worker: String,
}

/// The recent past.
#[derive(Debug, Default)]
pub struct History {
    /// Hashes per second of all workers, a number for each second.
    pub rates: VecDeque<f64>,
    /// Hashes per second of each worker in the last second.
    pub workers: Vec<f64>,
    /// The last requests for work that ended, the latest first.
    pub results: VecDeque<Finished>,
    counted: Option<(Instant, Vec<u64>)>,
}

/// A request for work that ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// When.
    pub at: SystemTime,
    /// What the work was for.
    pub root: Root,
    /// The least value that would do.
    pub threshold: u64,
    /// The value of the work, if there is any.
    pub value: Option<u64>,
    /// How it ended, as in the metrics.
    pub outcome: &'static str,
    /// From the request to its end.
    pub took: Duration,
}

const RATES: usize = 120;
const RESULTS: usize = 20;

impl Metrics {
    /// Counters at zero, with the name of the kernel in use.
    pub fn new(kernel: &str) -> Self {
        let mut registry = Registry::with_prefix("nano_work");
        // From 100 microseconds to half an hour.
        let seconds = || Histogram::new(exponential_buckets(0.0001, 2.0, 24));
        let metrics = Self {
            requests: Family::default(),
            cancels: Counter::default(),
            disconnects: Counter::default(),
            cache_hits: Counter::default(),
            connections: Gauge::default(),
            waited: seconds(),
            solved: seconds(),
            queued: Gauge::default(),
            waiters: Gauge::default(),
            searching: Gauge::default(),
            hashes: Family::default(),
            faults: Family::default(),
            rate: Family::default(),
            history: Mutex::default(),
            registry: Registry::default(),
        };
        let build = Family::<BuildLabels, Gauge>::default();
        let labels = BuildLabels {
            version: env!("CARGO_PKG_VERSION"),
            kernel: kernel.to_owned(),
        };
        build.get_or_create(&labels).set(1);
        registry.register("build_info", "Version and kernel", build);
        registry.register(
            "requests",
            "Requests by action and outcome",
            metrics.requests.clone(),
        );
        registry.register(
            "cancels",
            "Requests ended by work_cancel",
            metrics.cancels.clone(),
        );
        registry.register(
            "disconnects",
            "Clients gone before their answer",
            metrics.disconnects.clone(),
        );
        registry.register(
            "cache_hits",
            "Answers from the cache of found work",
            metrics.cache_hits.clone(),
        );
        registry.register(
            "connections",
            "Open connections",
            metrics.connections.clone(),
        );
        let wait = "Time from a request to its turn";
        registry.register_with_unit("wait", wait, Unit::Seconds, metrics.waited.clone());
        registry.register_with_unit(
            "solve",
            "Time of the search",
            Unit::Seconds,
            metrics.solved.clone(),
        );
        registry.register("queue_length", "Searches that wait", metrics.queued.clone());
        registry.register(
            "waiters",
            "Requests that wait for work",
            metrics.waiters.clone(),
        );
        registry.register(
            "searching",
            "Whether a search runs",
            metrics.searching.clone(),
        );
        registry.register("hashes", "Nonces tried", metrics.hashes.clone());
        registry.register(
            "hash_rate",
            "Nonces tried in the last second",
            metrics.rate.clone(),
        );
        let faults = "Errors and wrong results of a worker, such as a GPU";
        registry.register("gpu_faults", faults, metrics.faults.clone());
        Self {
            registry,
            ..metrics
        }
    }

    /// Counts a request that was answered, or came to another end.
    pub fn request(&self, action: &'static str, outcome: &'static str) {
        self.requests
            .get_or_create(&RequestLabels { action, outcome })
            .inc();
    }

    /// Records the times of a request that got its work.
    pub fn found(&self, waited: Duration, solved: Duration) {
        self.waited.observe(waited.as_secs_f64());
        self.solved.observe(solved.as_secs_f64());
    }

    /// Remembers how a request for work ended.
    pub fn finished(&self, finished: Finished) {
        let mut history = self.history();
        history.results.truncate(RESULTS - 1);
        history.results.push_front(finished);
    }

    /// The recent past, locked for as long as it is looked at.
    pub fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the hash rates since the last call; to be called every second.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a second has far fewer than 2^53 hashes"
    )]
    pub fn sample(&self, engine: &Engine, now: Instant) {
        let hashes: Vec<u64> = engine.meters().iter().map(Meter::hashes).collect();
        let mut history = self.history();
        if let Some((since, before)) = history.counted.take() {
            let seconds = now.saturating_duration_since(since).as_secs_f64().max(1e-3);
            let differences = hashes.iter().zip(&before).map(|(now, before)| now - before);
            history.workers = differences.map(|hashes| hashes as f64 / seconds).collect();
            let total = history.workers.iter().sum();
            if history.rates.len() == RATES {
                history.rates.pop_front();
            }
            history.rates.push_back(total);
        }
        history.counted = Some((now, hashes));
    }

    /// All of it as text for Prometheus.
    pub fn text(&self, engine: &Engine) -> String {
        let load = engine.load();
        let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.queued.set(gauge(load.queued));
        self.waiters.set(gauge(load.waiters));
        self.searching.set(i64::from(load.is_searching));
        let rates = self.history().workers.clone();
        for (index, meter) in engine.meters().iter().enumerate() {
            let labels = WorkerLabels {
                worker: meter.name.clone(),
            };
            raise(&self.hashes.get_or_create(&labels), meter.hashes());
            raise(&self.faults.get_or_create(&labels), meter.faults());
            self.rate
                .get_or_create(&labels)
                .set(rates.get(index).copied().unwrap_or(0.0));
        }
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            let _ = writeln!(text, "# encoding failed");
        }
        text
    }
}

/// Sets a counter that is kept elsewhere.
fn raise(counter: &Counter, value: u64) {
    counter
        .inner()
        .fetch_max(value, std::sync::atomic::Ordering::Relaxed);
}
