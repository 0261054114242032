//! What the server answers: a status, and a body of compact JSON whose keys are in alphabetical order.
//!
//! Every value is a string, as clients of the first work server expect.

use lanework_nano::{Network, multiplier};
use serde::Serialize;

/// An answer before it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body, one JSON object.
    pub body: String,
}

/// The hint that comes with [`UNKNOWN_COMMAND`].
const COMMANDS: &str =
    "Supported commands: work_generate, work_cancel, work_validate, benchmark, status";

/// A request that cannot be understood, and the only one without a hint.
pub const BAD_JSON: Rejection = Rejection::new(DESERIALIZE, None);
/// A request without an action, whose hint is as misleading as that of the first work server.
pub const NO_ACTION: Rejection = Rejection::new(DESERIALIZE, Some("Work field missing"));
/// An action that there is not.
pub const UNKNOWN_COMMAND: Rejection = Rejection::new("Unknown command", Some(COMMANDS));

pub(crate) const DESERIALIZE: &str = "Failed to deserialize JSON";

/// Why a request was refused as malformed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejection {
    error: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

impl Rejection {
    pub(crate) const fn new(error: &'static str, hint: Option<&'static str>) -> Self {
        Self { error, hint }
    }

    /// What is wrong.
    pub const fn error(&self) -> &'static str {
        self.error
    }

    /// What would have been right.
    pub const fn hint(&self) -> Option<&'static str> {
        self.hint
    }
}

impl From<Rejection> for Reply {
    fn from(rejection: Rejection) -> Self {
        Self::json(400, &rejection)
    }
}

/// The text of a search that was cancelled.
pub const CANCELLED: &str = "Cancelled";
/// The text of a search that no worker could finish.
pub const FAILED: &str = "Work generation failed (see logs for details)";
/// The text of a request that the queue has no place for.
pub const QUEUE_FULL: &str = "Work queue is full";
/// The text of a request that ran out of time.
pub const DEADLINE: &str = "Work generation timed out";
/// The text of a request to a server that is about to stop.
pub const STOPPING: &str = "Server is shutting down";
/// The text of a request outside the thresholds that the server is configured to serve.
pub const DIFFICULTY_LIMIT: &str = "Difficulty above config limit or below publish threshold";
/// The text of a request from a client that asks too often, or too much at once.
pub const RATE_LIMIT: &str = "Too many requests";

impl Reply {
    /// An answer of `status` with `body` as JSON.
    pub fn json(status: u16, body: &impl Serialize) -> Self {
        let body = serde_json::to_string(body).expect("strings in a struct always serialize");
        Self { status, body }
    }

    /// `{"error":…}` with a status.
    pub fn error(status: u16, error: &str) -> Self {
        Self::json(status, &Error { error })
    }

    /// The refusal of a well-formed request. Its status is 200, because a node forgets a request that
    /// is answered with any other.
    pub fn refused(error: &str) -> Self {
        Self::error(200, error)
    }

    /// Work for a root, with the difficulty it reached.
    pub fn generated(nonce: u64, difficulty: u64, network: Network) -> Self {
        #[derive(Serialize)]
        struct Generated {
            difficulty: String,
            multiplier: String,
            work: String,
        }
        let work = hex(nonce);
        let (difficulty, multiplier) = difficulty_and_multiplier(difficulty, network);
        Self::json(
            200,
            &Generated {
                difficulty,
                multiplier,
                work,
            },
        )
    }

    /// What a cancellation is answered with, whether or not there was anything to cancel.
    pub fn cancel() -> Self {
        Self {
            status: 200,
            body: "{}".to_owned(),
        }
    }

    /// The value of a work, and which of the thresholds it reaches.
    pub fn validated(value: u64, threshold: Option<u64>, network: Network) -> Self {
        #[derive(Serialize)]
        struct Validated {
            difficulty: String,
            multiplier: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            valid: Option<&'static str>,
            valid_all: &'static str,
            valid_receive: &'static str,
        }
        let reaches = |threshold: u64| bit(value >= threshold);
        let (difficulty, multiplier) = difficulty_and_multiplier(value, network);
        let validated = Validated {
            difficulty,
            multiplier,
            valid: threshold.map(reaches),
            valid_all: reaches(network.send()),
            valid_receive: reaches(network.receive()),
        };
        Self::json(200, &validated)
    }

    /// The times of a benchmark.
    pub fn benchmarked(threshold: u64, count: u64, milliseconds: u128, network: Network) -> Self {
        #[derive(Serialize)]
        struct Benchmarked {
            average: String,
            count: String,
            difficulty: String,
            duration: String,
            hint: &'static str,
            multiplier: String,
        }
        let (difficulty, multiplier) = difficulty_and_multiplier(threshold, network);
        let benchmarked = Benchmarked {
            average: (milliseconds / u128::from(count.max(1))).to_string(),
            count: count.to_string(),
            difficulty,
            duration: milliseconds.to_string(),
            hint: "Times in milliseconds",
            multiplier,
        };
        Self::json(200, &benchmarked)
    }

    /// A benchmark that came to nothing, and why.
    pub fn benchmark_failed(hint: &'static str) -> Self {
        Self::json(500, &Rejection::new("Benchmark failed", Some(hint)))
    }

    /// Whether a search runs, and how many wait for it to end.
    pub fn status(generating: bool, queued: usize) -> Self {
        #[derive(Serialize)]
        struct Status {
            generating: &'static str,
            queue_size: String,
        }
        let queue_size = queued.to_string();
        Self::json(
            200,
            &Status {
                generating: bit(generating),
                queue_size,
            },
        )
    }

    /// A method that is not served.
    pub fn only_post() -> Self {
        Self::error(405, "Can only POST requests")
    }
}

#[derive(Serialize)]
struct Error<'a> {
    error: &'a str,
}

fn bit(value: bool) -> &'static str {
    if value { "1" } else { "0" }
}

/// The text of work and difficulties: 16 lower-case digits.
pub fn hex(word: u64) -> String {
    format!("{word:016x}")
}

/// The text of a root in logs, as the first work server writes it.
pub fn root_hex(root: &[u8; 32]) -> String {
    use std::fmt::Write;
    root.iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02X}");
            text
        })
}

fn difficulty_and_multiplier(difficulty: u64, network: Network) -> (String, String) {
    let multiplier = multiplier::to_multiplier(difficulty, network.base());
    (hex(difficulty), multiplier.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: Network = Network::Live;

    #[test]
    fn bodies_are_compact_with_sorted_keys() {
        assert_eq!(
            Reply::generated(0x2bf29ef00786a6bc, 0xffffffd21c3933f4, LIVE).body,
            r#"{"difficulty":"ffffffd21c3933f4","multiplier":"0.17433086091718653","work":"2bf29ef00786a6bc"}"#
        );
        assert_eq!(
            Reply::benchmarked(LIVE.send(), 3, 1000, LIVE).body,
            r#"{"average":"333","count":"3","difficulty":"fffffff800000000","duration":"1000","hint":"Times in milliseconds","multiplier":"1"}"#
        );
        assert_eq!(
            Reply::benchmark_failed("Work generation failure").body,
            r#"{"error":"Benchmark failed","hint":"Work generation failure"}"#
        );
    }

    #[test]
    fn a_value_of_zero_has_a_multiplier() {
        assert_eq!(
            Reply::validated(0, None, LIVE).body,
            r#"{"difficulty":"0000000000000000","multiplier":"0.000000001862645149230957","valid_all":"0","valid_receive":"0"}"#
        );
    }

    #[test]
    fn thresholds_follow_the_network() {
        let valid = |network| Reply::validated(0xfffffe0000000000, Some(0), network).body;
        assert!(valid(LIVE).ends_with(r#""valid":"1","valid_all":"0","valid_receive":"1"}"#));
        assert!(
            valid(Network::Banano)
                .ends_with(r#""multiplier":"1","valid":"1","valid_all":"1","valid_receive":"1"}"#)
        );
    }
}
