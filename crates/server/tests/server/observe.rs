//! What can be looked at.

use crate::wire::{HASH, NEVER, cancel, generate, hash, start};

#[test]
fn health_and_version() {
    let server = start();
    let mut client = server.connect();
    let mut get = |path: &str| {
        client.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        client.answer()
    };
    let health = get("/healthz");
    assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
    let version = get("/version");
    let value: serde_json::Value = serde_json::from_str(&version.body).unwrap();
    assert_eq!(value["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(value["name"], "nano-work-server");
    for path in ["/health", "/metrics/", "/version/x", "/"] {
        assert_eq!(get(path).status, 405, "{path}");
    }
}

#[test]
fn metrics() {
    let server = start();
    let mut client = server.connect();
    client.post(&generate(HASH, "0"));
    client.post(&generate(&hash(1), "0"));
    client.post(&generate("00", "0"));
    client.post(r#"{"action":"status"}"#);
    client.post(&cancel(HASH));
    let mut waiting = server.connect();
    waiting.send_post(&generate(HASH, NEVER));
    server.wait_waiters(1);
    let mut queued = server.connect();
    queued.send_post(&generate(&hash(1), NEVER));
    server.wait_waiters(2);

    client.send("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain\r\n\r\n");
    assert!(
        client
            .answer()
            .header("content-type")
            .unwrap()
            .starts_with("text/plain")
    );
    client.send("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text;version=1.0.0\r\n\r\n");
    let answer = client.answer();
    assert_eq!(answer.status, 200);
    assert!(
        answer
            .header("content-type")
            .unwrap()
            .starts_with("application/openmetrics-text")
    );
    for line in [
        "nano_work_requests_total{action=\"work_generate\",outcome=\"ok\"} 2",
        "nano_work_requests_total{action=\"none\",outcome=\"rejected\"} 1",
        "nano_work_requests_total{action=\"status\",outcome=\"ok\"} 1",
        "nano_work_requests_total{action=\"work_cancel\",outcome=\"ok\"} 1",
        "nano_work_cancels_total 0",
        "nano_work_disconnects_total 0",
        "nano_work_queue_length 1",
        "nano_work_waiters 2",
        "nano_work_searching 1",
        "nano_work_connections 3",
        "nano_work_wait_seconds_count 2",
        "nano_work_solve_seconds_count 2",
        "nano_work_gpu_faults_total{worker=\"cpu-0\"} 0",
        "# EOF",
    ] {
        assert!(
            answer.body.lines().any(|found| found == line),
            "{line} in\n{}",
            answer.body
        );
    }
    for part in [
        "nano_work_hash_rate{worker=\"cpu-1\"} ",
        "nano_work_hashes_total{worker=\"cpu-1\"} ",
        "nano_work_build_info{",
    ] {
        assert!(answer.body.contains(part), "{part} in\n{}", answer.body);
    }
    drop((waiting, queued));
    server.wait_idle();
    crate::wire::wait_for("both to be counted", || {
        server.metric("nano_work_disconnects_total") == 2
    });
    crate::wire::wait_for("their requests to be counted", || {
        server.metric("nano_work_requests_total{action=\"work_generate\",outcome=\"disconnected\"}")
            == 2
    });
}

#[test]
fn dashboard() {
    let server = start();
    let mut client = server.connect();
    client.post(&generate(HASH, "0"));
    let mut waiting = server.connect();
    waiting.send_post(&generate(&hash(1), NEVER));
    crate::wire::wait_for("a hash rate", || {
        !server.server.metrics.history().rates.is_empty()
    });
    client.send("GET /dashboard HTTP/1.1\r\nHost: x\r\n\r\n");
    let answer = client.answer();
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(
        answer
            .header("content-security-policy")
            .unwrap()
            .starts_with("default-src 'none'")
    );
    for part in ["cpu-0", "cpu-1", HASH, "</html>", "MH/s"] {
        assert!(answer.body.contains(part), "{part} in\n{}", answer.body);
    }
    for part in ["http://", "https://", "src=\"", "href=\""] {
        assert!(!answer.body.contains(part), "{part} in\n{}", answer.body);
    }
}
