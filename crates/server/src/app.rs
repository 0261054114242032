//! The HTTP interface: from a request to its answer.
//!
//! Every POST is a request, whatever its path; the order in which it can be refused is the order of
//! the steps in `rpc`. A few paths can be looked at with GET.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::State;
use axum::http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request as HttpRequest, StatusCode, header,
};
use axum::response::Response;
use axum::{Extension, Router};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use lanework_nano::{Root, multiplier, validate};

use crate::cache::Cache;
use crate::client::Client;
use crate::connection::Peer;
use crate::engine::{Engine, Pending, Refusal};
use crate::gate::{self, API_KEY_HEADER, Limiter, Origin};
use crate::metrics::{Finished, Metrics, OPEN_METRICS, PLAIN_TEXT};
use crate::queue::{Outcome, Urgency};
use crate::reply::{self, Reply, root_hex};
use crate::request::{Request, parse};
use crate::settings::{Benchmark, Cancel, Dashboard, Settings};
use crate::{dashboard, log};

/// Everything that requests share.
#[derive(Debug)]
pub struct Server {
    /// What the operator decided.
    pub settings: Settings,
    /// What searches.
    pub engine: Engine,
    /// What is counted.
    pub metrics: Metrics,
    /// Work that was found before.
    pub cache: Option<Cache>,
    /// The kernel that the workers of the CPU run, as shown on the dashboard.
    pub kernel: String,
    limiter: Arc<Limiter>,
    started: Instant,
}

impl Server {
    /// A server that starts now.
    pub fn new(settings: Settings, engine: Engine, kernel: impl Into<String>) -> Self {
        let kernel = kernel.into();
        Self {
            settings,
            engine,
            metrics: Metrics::new(&kernel),
            cache: None,
            kernel,
            limiter: Arc::default(),
            started: Instant::now(),
        }
    }

    /// How long it has been there.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }
}

/// The interface of a server. The connection is expected to add a [`Peer`] to the extensions of each
/// request; without it the client is unknown and never leaves.
pub fn app(server: Arc<Server>) -> Router {
    Router::new().fallback(answer).with_state(server)
}

async fn answer(
    State(server): State<Arc<Server>>,
    peer: Option<Extension<Arc<Peer>>>,
    request: HttpRequest<Body>,
) -> Response {
    let peer = peer.map(|Extension(peer)| peer).unwrap_or_default();
    let (head, body) = request.into_parts();
    let origin = gate::origin(&head.headers, &server.settings);
    let mut response = match head.method {
        Method::POST => rpc(&server, &peer, &head.headers, body, origin).await,
        Method::GET => {
            look(&server, head.uri.path(), &head.headers).unwrap_or_else(|| only_post(&server))
        }
        Method::OPTIONS if matches!(origin, Origin::Allowed(Some(_))) => preflight(),
        _ => only_post(&server),
    };
    if let Origin::Allowed(Some(origin)) = origin {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
    response
}

/// Answers a request. What can refuse it, in this order: its length, where it comes from, its API key,
/// its JSON and fields, the limits.
async fn rpc(
    server: &Server,
    peer: &Peer,
    headers: &HeaderMap,
    body: Body,
    origin: Origin<'_>,
) -> Response {
    let refused = |reply: Reply, why| {
        server.metrics.request("none", why);
        json(reply)
    };
    let too_large = || {
        closing(refused(
            Reply::error(413, "Request body too large"),
            "too_large",
        ))
    };
    let limit = server.settings.body_limit;
    if body.size_hint().lower() > limit as u64 {
        // Before the client is told to go on, and sends it.
        return too_large();
    }
    // To its end in any case, or the connection would not be good for another request.
    let body = match Limited::new(body, limit).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return too_large(),
        Err(_) => {
            server.metrics.request("none", "incomplete");
            return closing(empty(StatusCode::BAD_REQUEST));
        }
    };
    if origin == Origin::Foreign {
        return refused(Reply::error(403, "Origin not allowed"), "origin");
    }
    let Some(client) = gate::authorize(headers, peer.client(), &server.settings) else {
        return refused(Reply::error(401, "Unauthorized"), "unauthorized");
    };
    match parse(&body, &server.settings.rules) {
        Err(rejection) => refused(rejection.into(), "rejected"),
        Ok(request) => json(execute(server, peer, client, request).await),
    }
}

async fn execute(server: &Server, peer: &Peer, client: Client, request: Request) -> Reply {
    let (metrics, network) = (&server.metrics, server.settings.rules.network);
    match request {
        Request::Generate { root, threshold } => {
            generate(server, peer, client, root, threshold).await
        }
        Request::Cancel { root } => {
            log::plain(format_args!("Cancel {}", root_hex(&root)));
            let owner = (server.settings.cancel == Cancel::Owner).then_some(&client);
            metrics
                .cancels
                .inc_by(server.engine.cancel(&root, owner) as u64);
            metrics.request("work_cancel", "ok");
            Reply::cancel()
        }
        Request::Validate {
            root,
            work,
            threshold,
        } => {
            log::plain(format_args!("Validate {}", root_hex(&root)));
            metrics.request("work_validate", "ok");
            Reply::validated(validate(&root, work), threshold, network)
        }
        Request::Benchmark { threshold, count } => {
            benchmark(server, peer, client, threshold, count).await
        }
        Request::Status => {
            let load = server.engine.load();
            let reply = Reply::status(load.is_searching, load.queued);
            log::plain(format_args!("Status {}", reply.body));
            metrics.request("status", "ok");
            reply
        }
    }
}

/// Why a well-formed request is not served: what the client is told, and what is counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Refused {
    text: &'static str,
    outcome: &'static str,
}

const QUEUE_FULL: Refused = Refused {
    text: reply::QUEUE_FULL,
    outcome: "queue_full",
};
const STOPPING: Refused = Refused {
    text: reply::STOPPING,
    outcome: "stopping",
};
const DEADLINE: Refused = Refused {
    text: reply::DEADLINE,
    outcome: "deadline",
};
const CANCELLED: Refused = Refused {
    text: reply::CANCELLED,
    outcome: "cancelled",
};
const FAILED: Refused = Refused {
    text: reply::FAILED,
    outcome: "failed",
};
const DIFFICULTY_LIMIT: Refused = Refused {
    text: reply::DIFFICULTY_LIMIT,
    outcome: "difficulty_limit",
};
const RATE_LIMIT: Refused = Refused {
    text: reply::RATE_LIMIT,
    outcome: "rate_limit",
};

/// Whether the limits that an operator may set let a search through; if not, the refusal.
fn limits(server: &Server, client: Client, threshold: u64) -> Result<gate::Admission, Refused> {
    let settings = &server.settings;
    let is_below = settings
        .min_threshold
        .is_some_and(|least| threshold < least);
    let is_above = settings.max_threshold.is_some_and(|most| threshold > most);
    if is_below || is_above {
        return Err(DIFFICULTY_LIMIT);
    }
    let admission = server.limiter.admit(client, settings, Instant::now());
    admission.ok_or(RATE_LIMIT)
}

fn submit(
    server: &Server,
    root: Root,
    threshold: u64,
    urgency: Urgency,
    client: Client,
) -> Result<Pending, Refused> {
    server
        .engine
        .submit(root, threshold, urgency, client)
        .map_err(|refusal| match refusal {
            Refusal::QueueFull => QUEUE_FULL,
            Refusal::Stopping => STOPPING,
        })
}

async fn generate(
    server: &Server,
    peer: &Peer,
    client: Client,
    root: Root,
    threshold: u64,
) -> Reply {
    log::timed(format_args!("Received work for {}", root_hex(&root)));
    let network = server.settings.rules.network;
    let mut record = Record::new(&server.metrics, "work_generate");
    let refused = |record: Record<'_>, why: Refused| {
        record.end(why.outcome);
        let is_limit = why == RATE_LIMIT;
        Reply::error(
            if is_limit {
                server.settings.limit_status
            } else {
                200
            },
            why.text,
        )
    };
    let _admission = match limits(server, client, threshold) {
        Ok(admission) => admission,
        Err(refusal) => return refused(record, refusal),
    };
    if let Some((nonce, value)) = server
        .cache
        .as_ref()
        .and_then(|cache| cache.get(&root, threshold))
    {
        server.metrics.cache_hits.inc();
        record.end("cached");
        return Reply::generated(nonce, value, network);
    }
    let start = Instant::now();
    let pending = match submit(server, root, threshold, Urgency::Request, client) {
        Ok(pending) => pending,
        Err(refusal) => return refused(record, refusal),
    };
    record.search = Some((root, threshold));
    let deadline = async {
        match server.settings.deadline {
            Some(deadline) => tokio::time::sleep(deadline).await,
            None => std::future::pending().await,
        }
    };
    let outcome = tokio::select! {
        outcome = pending => outcome,
        () = deadline => return refused(record, DEADLINE),
        // Nobody reads this, and the guard of the connection counts as one who left.
        () = peer.gone() => return Reply::refused(reply::CANCELLED),
    };
    match outcome {
        Outcome::Found {
            nonce,
            value,
            waited,
            solved,
        } => {
            log::timed(format_args!(
                "Generated for {} in {}ms for difficulty {threshold:x}",
                root_hex(&root),
                start.elapsed().as_millis()
            ));
            server.metrics.found(waited, solved);
            record.value = Some(value);
            record.end("ok");
            if let Some(cache) = &server.cache {
                cache.put(&root, nonce);
            }
            Reply::generated(nonce, value, network)
        }
        Outcome::Cancelled => refused(record, CANCELLED),
        Outcome::Failed => refused(record, FAILED),
        Outcome::Stopping => refused(record, STOPPING),
    }
}

async fn benchmark(
    server: &Server,
    peer: &Peer,
    client: Client,
    threshold: u64,
    count: u64,
) -> Reply {
    const NO_WORK: &str = "Work generation failure";
    const DISABLED: Refused = Refused {
        text: "Benchmark is disabled",
        outcome: "disabled",
    };
    let network = server.settings.rules.network;
    let record = Record::new(&server.metrics, "benchmark");
    let failed = |record: Record<'_>, why: Refused| {
        record.end(why.outcome);
        Reply::benchmark_failed(why.text)
    };
    if server.settings.benchmark == Benchmark::Disabled {
        return failed(record, DISABLED);
    }
    let _admission = match limits(server, client, threshold) {
        Ok(admission) => admission,
        Err(refusal) => return failed(record, refusal),
    };
    let factor = multiplier::to_multiplier(threshold, network.base());
    log::plain(format_args!(
        "Benchmarking {count} samples at difficulty {threshold:x} ({factor}x)"
    ));
    let start = Instant::now();
    for _ in 0..count {
        let root = std::array::from_fn(|_| fastrand::u8(..));
        let pending = match submit(server, root, threshold, Urgency::Benchmark, client) {
            Ok(pending) => pending,
            Err(refusal) => return failed(record, refusal),
        };
        let outcome = tokio::select! {
            outcome = pending => outcome,
            () = peer.gone() => return Reply::benchmark_failed(NO_WORK),
        };
        match outcome {
            Outcome::Found { .. } => {}
            Outcome::Cancelled => {
                return failed(
                    record,
                    Refused {
                        text: NO_WORK,
                        ..CANCELLED
                    },
                );
            }
            Outcome::Failed => {
                return failed(
                    record,
                    Refused {
                        text: NO_WORK,
                        ..FAILED
                    },
                );
            }
            Outcome::Stopping => return failed(record, STOPPING),
        }
    }
    let duration = start.elapsed().as_millis();
    let average = duration / u128::from(count);
    log::plain(format_args!(
        "Benchmark finished in {duration}ms , average {average}ms / sample"
    ));
    record.end("ok");
    Reply::benchmarked(threshold, count, duration, network)
}

/// Counts a request when it ends. One that is dropped instead belonged to a client that went away.
struct Record<'a> {
    metrics: &'a Metrics,
    action: &'static str,
    start: Instant,
    search: Option<(Root, u64)>,
    value: Option<u64>,
    outcome: &'static str,
}

impl<'a> Record<'a> {
    fn new(metrics: &'a Metrics, action: &'static str) -> Self {
        Self {
            metrics,
            action,
            start: Instant::now(),
            search: None,
            value: None,
            outcome: "disconnected",
        }
    }

    fn end(mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if self.outcome == "disconnected" {
            self.metrics.disconnects.inc();
        }
        self.metrics.request(self.action, self.outcome);
        if let Some((root, threshold)) = self.search {
            let (value, outcome, took) = (self.value, self.outcome, self.start.elapsed());
            self.metrics.finished(Finished {
                at: SystemTime::now(),
                root,
                threshold,
                value,
                outcome,
                took,
            });
        }
    }
}

/// What can be looked at, if the path is one of those.
fn look(server: &Server, path: &str, headers: &HeaderMap) -> Option<Response> {
    let (content_type, body) = match path {
        "/healthz" => ("text/plain; charset=utf-8", "ok\n".to_owned()),
        "/version" => {
            let version = env!("CARGO_PKG_VERSION");
            let body = serde_json::json!({"kernel": server.kernel, "name": "nano-work-server", "version": version});
            ("application/json", body.to_string())
        }
        "/metrics" => {
            let accept = headers
                .get(header::ACCEPT)
                .and_then(|accept| accept.to_str().ok());
            let knows = accept.is_some_and(|accept| accept.contains("openmetrics"));
            let content_type = if knows { OPEN_METRICS } else { PLAIN_TEXT };
            (content_type, server.metrics.text(&server.engine))
        }
        "/dashboard" if server.settings.dashboard == Dashboard::Shown => {
            ("text/html; charset=utf-8", dashboard::page(server))
        }
        _ => return None,
    };
    let mut response = full(StatusCode::OK, content_type, body.into());
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if path == "/dashboard" {
        let policy = HeaderValue::from_static(dashboard::POLICY);
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Some(response)
}

fn only_post(server: &Server) -> Response {
    server.metrics.request("none", "method");
    json(Reply::only_post())
}

fn preflight() -> Response {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &str| {
        headers.insert(name, HeaderValue::from_str(value).expect("plain text"));
    };
    set(header::ACCESS_CONTROL_ALLOW_METHODS, "POST, OPTIONS");
    let allowed = format!("Content-Type, Authorization, {API_KEY_HEADER}");
    set(header::ACCESS_CONTROL_ALLOW_HEADERS, &allowed);
    set(header::ACCESS_CONTROL_MAX_AGE, "86400");
    response
}

fn json(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    full(status, "application/json", reply.body.into())
}

/// The headers come in the order in which the first work server sends them, the date being last.
fn full(status: StatusCode, content_type: &'static str, body: Bytes) -> Response {
    let length = HeaderValue::from(body.len());
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, length);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// The connection cannot be used any more.
fn closing(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
