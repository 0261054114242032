//! What an operator decides, apart from addresses and workers.

use std::fmt;
use std::time::Duration;

use constant_time_eq::constant_time_eq;
use ipnet::IpNet;

use crate::request::Rules;

/// The settings of the HTTP interface. The defaults change nothing that a client could notice.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The network and the cap of benchmarks.
    pub rules: Rules,
    /// Whether benchmarks run at all.
    pub benchmark: Benchmark,
    /// The most bytes of a body.
    pub body_limit: usize,
    /// How long a request for work may take.
    pub deadline: Option<Duration>,
    /// The lowest threshold that is searched.
    pub min_threshold: Option<u64>,
    /// The highest threshold that is searched.
    pub max_threshold: Option<u64>,
    /// The keys of which a client must show one, if there are any.
    pub api_keys: Vec<ApiKey>,
    /// Where clients need no key.
    pub trusted: Vec<IpNet>,
    /// The web origins that may ask from a browser; `*` for all.
    pub cors_origins: Vec<String>,
    /// Whose requests a client may cancel.
    pub cancel: Cancel,
    /// How often a client may ask for work.
    pub rate: Option<Rate>,
    /// How many requests for work of one client are taken on at a time.
    pub client_requests: Option<usize>,
    /// The status of what `rate` and `client_requests` refuse.
    pub limit_status: u16,
    /// Whether there is a page to look at.
    pub dashboard: Dashboard,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            benchmark: Benchmark::Enabled,
            body_limit: 32 << 10,
            deadline: None,
            min_threshold: None,
            max_threshold: None,
            api_keys: Vec::new(),
            trusted: Vec::new(),
            cors_origins: Vec::new(),
            cancel: Cancel::Anyone,
            rate: None,
            client_requests: None,
            limit_status: 200,
            dashboard: Dashboard::Shown,
        }
    }
}

/// A key that a client must show. It is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key, if the text can be sent in a header: printable characters without blanks.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let is_key = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then_some(Self(text))
    }

    /// Whether it is this one, without telling by the time it takes how far it agrees.
    pub fn is(&self, shown: &[u8]) -> bool {
        constant_time_eq(self.0.as_bytes(), shown)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey")
    }
}

/// Whether benchmarks run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Benchmark {
    /// They do, when nobody waits for work.
    Enabled,
    /// They are refused.
    Disabled,
}

/// Whose requests a cancellation ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// Everyone's.
    Anyone,
    /// Those of the client that cancels.
    Owner,
}

/// Whether the dashboard is served.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Dashboard {
    /// It is.
    Shown,
    /// It is not.
    Hidden,
}

/// A rate with bursts.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Rate {
    /// Requests per second in the long run.
    pub per_second: f64,
    /// Requests at once after a pause.
    pub burst: f64,
}
