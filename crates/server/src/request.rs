//! Reads requests: the bytes of a body to a [`Request`], or to the [`Rejection`] that is its answer.
//!
//! Nothing else looks at what a client sent, and nothing here depends on anything but those bytes and
//! the [`Rules`]. Which of several mistakes is reported follows from the order of the steps: the JSON,
//! the action, then the fields of the action in a fixed order.

use lanework_nano::{Network, Root, multiplier};
use serde_json::{Map, Value};

use crate::reply::{BAD_JSON, DESERIALIZE, NO_ACTION, Rejection, UNKNOWN_COMMAND};

/// What a client asks for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Find work.
    Generate {
        /// What the work is for.
        root: Root,
        /// The least value that will do.
        threshold: u64,
    },
    /// Stop looking for work.
    Cancel {
        /// What the work was for.
        root: Root,
    },
    /// Tell the value of a work.
    Validate {
        /// What the work is for.
        root: Root,
        /// The work.
        work: u64,
        /// A threshold to hold it against, besides those of the network.
        threshold: Option<u64>,
    },
    /// Tell how long it takes to find work.
    Benchmark {
        /// The least value that will do.
        threshold: u64,
        /// How many times, at least once.
        count: u64,
    },
    /// Tell how many requests wait.
    Status,
}

/// What the meaning of a request depends on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The network, for the default threshold and the base of multipliers.
    pub network: Network,
    /// The most samples of one benchmark.
    pub benchmark_limit: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            network: Network::Live,
            benchmark_limit: 1000,
        }
    }
}

/// Arrays and objects may nest this deep.
pub const MAX_DEPTH: usize = 32;

/// Reads a body.
///
/// # Errors
/// What is wrong with it: the first mistake in the order of the steps.
///
/// ```
/// use lanework_server::request::{Request, Rules, parse};
///
/// assert_eq!(parse(br#"{"action":"status"}"#, &Rules::default()), Ok(Request::Status));
/// let rejection = parse(b"{}", &Rules::default()).unwrap_err();
/// assert_eq!(rejection.hint(), Some("Work field missing"));
/// ```
pub fn parse(body: &[u8], rules: &Rules) -> Result<Request, Rejection> {
    if nests_too_deep(body) {
        return Err(BAD_JSON);
    }
    let text = str::from_utf8(body).map_err(|_| BAD_JSON)?;
    let value: Value = serde_json::from_str(text).map_err(|_| BAD_JSON)?;
    let fields = value.as_object().ok_or(NO_ACTION)?;
    let action = fields.get("action").ok_or(NO_ACTION)?;
    let default = rules.network.send();
    match action.as_str() {
        Some("work_generate") => {
            let root = root(fields)?;
            let threshold = threshold(fields, rules.network)?.unwrap_or(default);
            Ok(Request::Generate { root, threshold })
        }
        Some("work_cancel") => Ok(Request::Cancel {
            root: root(fields)?,
        }),
        Some("work_validate") => {
            let root = root(fields)?;
            let work = work(fields)?;
            let threshold = threshold(fields, rules.network)?;
            Ok(Request::Validate {
                root,
                work,
                threshold,
            })
        }
        Some("benchmark") => {
            let threshold = threshold(fields, rules.network)?.unwrap_or(default);
            let count = count(fields, rules.benchmark_limit)?;
            Ok(Request::Benchmark { threshold, count })
        }
        Some("status") => Ok(Request::Status),
        _ => Err(UNKNOWN_COMMAND),
    }
}

/// Whether brackets outside strings nest deeper than [`MAX_DEPTH`]. Text that is not JSON may give
/// either answer; its mistake is found later.
fn nests_too_deep(body: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for &byte in body {
        match (in_string, byte) {
            _ if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b'[' | b'{') => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

const fn bad_hash(hint: &'static str) -> Rejection {
    Rejection::new("Bad block hash", Some(hint))
}

const fn bad_field(hint: &'static str) -> Rejection {
    Rejection::new(DESERIALIZE, Some(hint))
}

fn root(fields: &Map<String, Value>) -> Result<Root, Rejection> {
    let value = fields.get("hash").ok_or(bad_field("Hash field missing"))?;
    let text = value.as_str().ok_or(bad_hash("Expecting a hex string"))?;
    if text.is_empty() {
        return Err(bad_hash("Hash is empty. Expecting a hex string"));
    }
    let bytes = hex_bytes(text).ok_or(bad_hash("Expecting a hex string"))?;
    <Root>::try_from(bytes).map_err(|bytes| {
        if bytes.len() < size_of::<Root>() {
            bad_hash("Hash is too short (should be 32 bytes)")
        } else {
            bad_hash("Hash is too long (should be 32 bytes)")
        }
    })
}

fn work(fields: &Map<String, Value>) -> Result<u64, Rejection> {
    const NOT_HEX: Rejection = bad_field("Expecting a hex string for work");
    let value = fields.get("work").ok_or(bad_field("Work field missing"))?;
    let text = value.as_str().ok_or(NOT_HEX)?;
    if text.is_empty() {
        return Err(bad_field("Work is empty. Expecting a hex string"));
    }
    let bytes = hex_bytes(text).ok_or(NOT_HEX)?;
    if bytes.len() > size_of::<u64>() {
        return Err(bad_field("Work is too long (should be 8 bytes)"));
    }
    Ok(bytes
        .iter()
        .fold(0, |word, &byte| word << 8 | u64::from(byte)))
}

/// The threshold asked for, if any. A multiplier wins over a difficulty, which must still be right.
fn threshold(fields: &Map<String, Value>, network: Network) -> Result<Option<u64>, Rejection> {
    let difficulty = fields.get("difficulty").map(difficulty).transpose()?;
    let multiplier = fields.get("multiplier").map(positive_number).transpose()?;
    let from_multiplier = |value| multiplier::from_multiplier(value, network.base());
    Ok(multiplier.map(from_multiplier).or(difficulty))
}

fn difficulty(value: &Value) -> Result<u64, Rejection> {
    match value {
        Value::String(text) => u64::from_str_radix(text, 16).map_err(|_| {
            bad_field("Threshold not a valid unsigned long (u64). Example: 'ffffffc000000000'")
        }),
        number => number
            .as_u64()
            .ok_or(bad_field("Expecting a hex string for difficulty")),
    }
}

fn positive_number(value: &Value) -> Result<f64, Rejection> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    number
        .filter(|number: &f64| number.is_finite() && *number > 0.0)
        .ok_or(bad_field("Expecting a positive number for multiplier"))
}

fn count(fields: &Map<String, Value>, limit: u64) -> Result<u64, Rejection> {
    let value = fields
        .get("count")
        .ok_or(bad_field("count field missing"))?;
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    number
        .filter(|count| (1..=limit).contains(count))
        .ok_or(bad_field("Expecting a positive number for count"))
}

/// The bytes of an even number of hexadecimal digits.
fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let byte = |[high, low]: &[u8; 2]| Some((digit(high)? << 4 | digit(low)?) as u8);
    pairs.iter().map(byte).collect()
}

#[cfg(test)]
mod tests;
