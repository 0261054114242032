//! Who may ask, from where, and how often. All of it is off unless the operator turns it on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::http::{HeaderMap, HeaderValue, header};

use crate::client::Client;
use crate::settings::{Rate, Settings};

/// The header in which a node's RPC expects a key.
pub const API_KEY_HEADER: &str = "nano-api-key";

/// What a request says about where it comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// No browser, or a page that may ask. The value is to be repeated in the answer.
    Allowed(Option<&'a HeaderValue>),
    /// A page that may not.
    Foreign,
}

/// Checks the `Origin` header against the list of those allowed. Without a list, nothing is checked.
pub fn origin<'a>(headers: &'a HeaderMap, settings: &Settings) -> Origin<'a> {
    let Some(origin) = headers
        .get(header::ORIGIN)
        .filter(|_| !settings.cors_origins.is_empty())
    else {
        return Origin::Allowed(None);
    };
    let is_listed = |listed: &String| listed == "*" || listed.as_bytes() == origin.as_bytes();
    if settings.cors_origins.iter().any(is_listed) {
        Origin::Allowed(Some(origin))
    } else {
        Origin::Foreign
    }
}

/// Checks the API key. The client is then known by its key, and `None` is one that may not ask.
pub fn authorize(headers: &HeaderMap, client: Client, settings: &Settings) -> Option<Client> {
    if settings.api_keys.is_empty() {
        return Some(client);
    }
    let bearer = |value: &HeaderValue| {
        let text = value.to_str().ok()?;
        let (scheme, key) = text.split_once(' ').unwrap_or(("", text));
        let is_key = scheme.is_empty() || scheme.eq_ignore_ascii_case("bearer");
        is_key.then(|| key.trim().as_bytes().to_vec())
    };
    let direct = headers
        .get(API_KEY_HEADER)
        .map(|value| value.as_bytes().to_vec());
    let shown = direct.or_else(|| headers.get(header::AUTHORIZATION).and_then(bearer));
    // All keys are compared, so that the time does not tell which one agrees.
    let found = shown.and_then(|shown| {
        let keys = settings.api_keys.iter().enumerate();
        keys.fold(None, |found, (index, key)| {
            if key.is(&shown) {
                Some(Client::Key(index))
            } else {
                found
            }
        })
    });
    found.or_else(|| is_trusted(client, settings).then_some(client))
}

fn is_trusted(client: Client, settings: &Settings) -> bool {
    match client {
        Client::Address(address) => settings
            .trusted
            .iter()
            .any(|range| range.contains(&address)),
        // Whoever reaches a Unix socket was let there by its file mode.
        Client::Unknown => true,
        Client::Key(_) => false,
    }
}

/// Counts what each client asks for.
#[derive(Debug, Default)]
pub struct Limiter {
    clients: Mutex<HashMap<Client, Usage>>,
}

#[derive(Debug)]
struct Usage {
    tokens: f64,
    at: Instant,
    running: usize,
}

/// A request that counts as one of its client's until it is dropped.
#[derive(Debug)]
pub struct Admission {
    limiter: Option<(Arc<Limiter>, Client)>,
}

/// Clients that are remembered before those with nothing to remember are forgotten.
const MANY_CLIENTS: usize = 10_000;

impl Limiter {
    /// Admits a request for work, or refuses it if its client has had its share.
    pub fn admit(
        self: &Arc<Self>,
        client: Client,
        settings: &Settings,
        now: Instant,
    ) -> Option<Admission> {
        if settings.rate.is_none() && settings.client_requests.is_none() {
            return Some(Admission { limiter: None });
        }
        let client = match client {
            Client::Address(address) => Client::Address(subnet(address)),
            other => other,
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= MANY_CLIENTS {
            clients.retain(|_, usage| usage.running > 0 || !usage.is_rested(settings.rate, now));
        }
        let burst = settings.rate.map_or(0.0, |rate| rate.burst);
        let usage = clients.entry(client).or_insert(Usage {
            tokens: burst,
            at: now,
            running: 0,
        });
        if settings
            .client_requests
            .is_some_and(|most| usage.running >= most)
        {
            return None;
        }
        if let Some(rate) = settings.rate {
            usage.tokens = usage.tokens_at(rate, now);
            usage.at = now;
            if usage.tokens < 1.0 {
                return None;
            }
            usage.tokens -= 1.0;
        }
        usage.running += 1;
        Some(Admission {
            limiter: Some((Arc::clone(self), client)),
        })
    }
}

impl Usage {
    fn tokens_at(&self, rate: Rate, now: Instant) -> f64 {
        let elapsed = now.saturating_duration_since(self.at).as_secs_f64();
        (self.tokens + elapsed * rate.per_second).min(rate.burst)
    }

    fn is_rested(&self, rate: Option<Rate>, now: Instant) -> bool {
        rate.is_none_or(|rate| self.tokens_at(rate, now) >= rate.burst)
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let Some((limiter, client)) = self.limiter.take() else {
            return;
        };
        let mut clients = limiter
            .clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut usage) = clients.entry(client) {
            usage.get_mut().running -= 1;
        }
    }
}

/// One who has a /64 of IPv6 addresses is still one client.
pub(crate) fn subnet(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::ApiKey;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    header::HeaderName::from_static(name),
                    HeaderValue::from_str(value).unwrap(),
                )
            })
            .collect()
    }

    const CLIENT: Client = Client::Address(IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 7)));

    #[test]
    fn keys_are_needed_once_there_are_some() {
        let mut settings = Settings::default();
        let authorize =
            |settings: &Settings, pairs: &[_]| authorize(&headers(pairs), CLIENT, settings);
        assert_eq!(authorize(&settings, &[]), Some(CLIENT));
        settings.api_keys = ["first", "second"]
            .map(|key| ApiKey::new(key).unwrap())
            .to_vec();
        for wrong in ["", "firs", "firstt", "third"] {
            assert_eq!(authorize(&settings, &[("nano-api-key", wrong)]), None);
        }
        assert_eq!(authorize(&settings, &[]), None);
        assert_eq!(
            authorize(&settings, &[("authorization", "Basic first")]),
            None
        );
        assert_eq!(
            authorize(&settings, &[("nano-api-key", "second")]),
            Some(Client::Key(1))
        );
        for right in ["first", "Bearer first", "bearer  first"] {
            assert_eq!(
                authorize(&settings, &[("authorization", right)]),
                Some(Client::Key(0))
            );
        }
        settings.trusted = vec!["10.0.0.0/24".parse().unwrap()];
        assert_eq!(authorize(&settings, &[]), Some(CLIENT));
        settings.trusted = vec!["10.0.1.0/24".parse().unwrap()];
        assert_eq!(authorize(&settings, &[]), None);
    }

    #[test]
    fn origins_are_checked_once_there_are_some() {
        let headers = headers(&[("origin", "https://wallet.example")]);
        let mut settings = Settings::default();
        assert_eq!(origin(&headers, &settings), Origin::Allowed(None));
        settings.cors_origins = vec!["https://other.example".to_owned()];
        assert_eq!(origin(&headers, &settings), Origin::Foreign);
        assert_eq!(origin(&HeaderMap::new(), &settings), Origin::Allowed(None));
        settings
            .cors_origins
            .push("https://wallet.example".to_owned());
        assert_eq!(
            origin(&headers, &settings),
            Origin::Allowed(headers.get("origin"))
        );
    }

    #[test]
    fn rates_allow_bursts_and_recover() {
        let settings = Settings {
            rate: Some(Rate {
                per_second: 2.0,
                burst: 3.0,
            }),
            ..Settings::default()
        };
        let (limiter, start) = (Arc::new(Limiter::default()), Instant::now());
        let admitted = |after: f64| {
            limiter
                .admit(CLIENT, &settings, start + Duration::from_secs_f64(after))
                .is_some()
        };
        assert_eq!(
            [0.0, 0.0, 0.0, 0.0, 0.4].map(admitted),
            [true, true, true, false, false]
        );
        assert_eq!(
            [0.5, 0.6, 1.1, 9.0, 9.0, 9.0, 9.0].map(admitted),
            [true, false, true, true, true, true, false]
        );
        assert!(limiter.admit(Client::Key(0), &settings, start).is_some());
    }

    #[test]
    fn requests_at_a_time_are_counted_by_subnet() {
        let settings = Settings {
            client_requests: Some(2),
            ..Settings::default()
        };
        let (limiter, now) = (Arc::new(Limiter::default()), Instant::now());
        let address = |text: &str| Client::Address(text.parse().unwrap());
        let first = limiter.admit(address("2001:db8::1"), &settings, now);
        let second = limiter.admit(address("2001:db8::2"), &settings, now);
        assert!(first.is_some() && second.is_some());
        assert!(
            limiter
                .admit(address("2001:db8::3"), &settings, now)
                .is_none()
        );
        assert!(
            limiter
                .admit(address("2001:db8:0:1::3"), &settings, now)
                .is_some()
        );
        drop(first);
        assert!(
            limiter
                .admit(address("2001:db8::3"), &settings, now)
                .is_some()
        );
    }

    #[test]
    fn clients_are_not_remembered_for_ever() {
        let settings = Settings {
            client_requests: Some(2),
            ..Settings::default()
        };
        let (limiter, now) = (Arc::new(Limiter::default()), Instant::now());
        for index in 0..3 * MANY_CLIENTS {
            assert!(limiter.admit(Client::Key(index), &settings, now).is_some());
        }
        assert!(limiter.clients.lock().unwrap().len() <= MANY_CLIENTS);
    }
}
