//! What an operator can turn on.

use lanework_server::cache::Cache;
use lanework_server::settings::{ApiKey, Benchmark, Cancel, Dashboard, Rate, Settings};

use crate::wire::{HASH, NEVER, Setup, assert_work, cancel, generate, hash, request, start, with};

const TOO_MANY: &str = r#"{"error":"Too many requests"}"#;

fn keys(texts: &[&str]) -> Vec<ApiKey> {
    texts
        .iter()
        .map(|text| ApiKey::new(*text).unwrap())
        .collect()
}

#[test]
fn api_keys() {
    let server = with(Settings {
        api_keys: keys(&["secret"]),
        ..Settings::default()
    });
    let body = generate(HASH, "0");
    let mut client = server.connect();
    let mut ask = |headers: &str| {
        client.send(request(
            &format!("POST / HTTP/1.1\r\nHost: x\r\n{headers}"),
            &body,
        ));
        let answer = client.answer();
        (answer.status, answer.body)
    };
    let refused = (401, r#"{"error":"Unauthorized"}"#.to_owned());
    for headers in [
        "",
        "nano-api-key: wrong\r\n",
        "Authorization: Bearer wrong\r\n",
        "Authorization: Basic secret\r\n",
    ] {
        assert_eq!(ask(headers), refused, "{headers}");
    }
    for headers in [
        "Nano-Api-Key: secret\r\n",
        "Authorization: Bearer secret\r\n",
        "Authorization: secret\r\n",
    ] {
        assert_work(&ask(headers), HASH, 0);
    }
    // The connection is good for more, also if the body comes late.
    let mut client = server.connect();
    for _ in 0..3 {
        client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
        std::thread::sleep(std::time::Duration::from_millis(10));
        client.send("{}");
        assert_eq!(client.answer().status, 401);
    }
    // The key comes before anything that the body says, but after the method.
    let mut client = server.connect();
    assert_eq!(client.post("{"), refused);
    client.send("PUT / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.answer().status, 405);
}

#[test]
fn a_node_without_a_key_from_a_trusted_address() {
    let server = with(Settings {
        api_keys: keys(&["secret"]),
        trusted: vec!["127.0.0.0/8".parse().unwrap()],
        ..Settings::default()
    });
    assert_work(&server.post(&generate(HASH, "0")), HASH, 0);
}

#[test]
fn difficulty_limits() {
    let server = with(Settings {
        min_threshold: Some(0xff00000000000000),
        max_threshold: Some(0xfffff00000000000),
        ..Settings::default()
    });
    let refused = r#"{"error":"Difficulty above config limit or below publish threshold"}"#;
    for difficulty in ["0", "feffffffffffffff", "fffff00000000001", NEVER] {
        assert_eq!(
            server.post(&generate(HASH, difficulty)),
            (200, refused.to_owned()),
            "{difficulty}"
        );
    }
    assert_work(
        &server.post(&generate(HASH, "ff00000000000000")),
        HASH,
        0xff00000000000000,
    );
    assert_work(
        &server.post(&generate(HASH, "fffff00000000000")),
        HASH,
        0xfffff00000000000,
    );
    // Mistakes in fields come first, and only searches are limited.
    assert_eq!(server.post(&generate("00", NEVER)).0, 400);
    assert_eq!(
        server
            .post(&format!(
                r#"{{"action":"work_validate","hash":"{HASH}","work":"00","difficulty":"0"}}"#
            ))
            .0,
        200
    );
    let (status, body) = server.post(r#"{"action":"benchmark","count":1,"difficulty":"0"}"#);
    assert_eq!(status, 500);
    assert!(
        body.starts_with(r#"{"error":"Benchmark failed","hint":"Difficulty above"#),
        "{body}"
    );
}

#[test]
fn rates() {
    let rate = Some(Rate {
        per_second: 0.001,
        burst: 3.0,
    });
    for limit_status in [200, 429] {
        let server = with(Settings {
            rate,
            limit_status,
            ..Settings::default()
        });
        for _ in 0..3 {
            assert_work(&server.post(&generate(HASH, "0")), HASH, 0);
        }
        assert_eq!(
            server.post(&generate(HASH, "0")),
            (limit_status, TOO_MANY.to_owned())
        );
        assert_eq!(server.post(&cancel(HASH)).0, 200);
        assert_eq!(server.post(r#"{"action":"status"}"#).0, 200);
    }
}

#[test]
fn requests_at_a_time() {
    let server = with(Settings {
        client_requests: Some(1),
        ..Settings::default()
    });
    let mut first = server.connect();
    first.send_post(&generate(HASH, NEVER));
    server.wait_waiters(1);
    assert_eq!(
        server.post(&generate(&hash(1), "0")),
        (200, TOO_MANY.to_owned())
    );
    drop(first);
    server.wait_idle();
    crate::wire::wait_for("the place of the first", || {
        server.post(&generate(&hash(1), "0")).1 != TOO_MANY
    });
}

#[test]
fn clients_cancel_their_own() {
    let server = with(Settings {
        api_keys: keys(&["one", "two"]),
        cancel: Cancel::Owner,
        ..Settings::default()
    });
    let head = |key: &str| format!("POST / HTTP/1.1\r\nHost: x\r\nnano-api-key: {key}\r\n");
    let mut one = server.connect();
    one.send(request(&head("one"), &generate(HASH, NEVER)));
    server.wait_waiters(1);
    let mut other = server.connect();
    other.send(request(&head("two"), &cancel(HASH)));
    assert_eq!(other.answer().body, "{}");
    assert_eq!(server.server.engine.load().waiters, 1);
    // From another connection, as nodes do.
    other.send(request(&head("one"), &cancel(HASH)));
    assert_eq!(other.answer().body, "{}");
    assert_eq!(one.answer().body, r#"{"error":"Cancelled"}"#);
}

#[test]
fn no_benchmarks_and_no_dashboard() {
    let server = with(Settings {
        benchmark: Benchmark::Disabled,
        dashboard: Dashboard::Hidden,
        ..Settings::default()
    });
    let refused = r#"{"error":"Benchmark failed","hint":"Benchmark is disabled"}"#;
    assert_eq!(
        server.post(r#"{"action":"benchmark","count":1,"difficulty":"0"}"#),
        (500, refused.to_owned())
    );
    let mut client = server.connect();
    client.send("GET /dashboard HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.answer().status, 405);
}

#[test]
fn found_work_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("works.redb");
    let cache = Some(Cache::open(&path, 100).unwrap());
    let server = Setup {
        cache,
        ..Setup::default()
    }
    .start();
    let asked = generate(HASH, "ffff000000000000");
    let first = server.post(&asked);
    let work = assert_work(&first, HASH, 0xffff000000000000);
    crate::wire::wait_for("the cache", || {
        server
            .server
            .cache
            .as_ref()
            .unwrap()
            .get(&root(), 0)
            .is_some()
    });
    assert_eq!(server.post(&asked), first);
    assert_eq!(server.metric("nano_work_cache_hits_total"), 1);
    // More is asked for than what is there.
    let better = generate(HASH, "fffff00000000000");
    let second = server.post(&better);
    assert_work(&second, HASH, 0xfffff00000000000);
    drop(server);

    let cache = Cache::open(&path, 100).unwrap();
    let (nonce, value) = cache.get(&root(), 0).unwrap();
    assert!(value >= 0xffff000000000000);
    assert!(nonce == work || value >= 0xfffff00000000000);
}

fn root() -> [u8; 32] {
    std::array::from_fn(|at| u8::from_str_radix(&HASH[2 * at..2 * at + 2], 16).unwrap())
}

#[test]
fn nothing_of_it_is_on_by_default() {
    let server = start();
    for _ in 0..50 {
        assert_work(&server.post(&generate(HASH, "0")), HASH, 0);
    }
}
