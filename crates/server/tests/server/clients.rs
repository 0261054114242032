//! Each known client, with what is peculiar to it.

use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use lanework_server::settings::Settings;

use crate::wire::{
    Client, HASH, NEVER, Setup, assert_work, cancel, generate, hash, request, start, wait_for, with,
};

const RECEIVE: &str = "fff0000000000000";

/// A node's request: pretty-printed, all strings, only the headers it sends.
fn node_request(host: &str, action: &str, hash: &str, more: &str) -> String {
    let body = format!("{{\n    \"action\": \"{action}\",\n    \"hash\": \"{hash}\"{more}\n}}\n");
    format!(
        "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn node_generate(host: &str, hash: &str, difficulty: &str) -> String {
    let account = "nano_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3";
    let more = format!(",\n    \"difficulty\": \"{difficulty}\",\n    \"account\": \"{account}\"");
    node_request(host, "work_generate", hash, &more)
}

#[test]
fn nodes_with_any_host() {
    let server = start();
    for host in [
        "127.0.0.1",
        "::1",
        "fe80::1%eth0",
        "2001:db8::7",
        "",
        "[::1]:7076",
        "a b",
    ] {
        let mut client = server.connect();
        client.send(node_generate(host, HASH, RECEIVE));
        let answer = client.answer();
        assert_work(&(answer.status, answer.body), HASH, 0xfff0000000000000);
    }
}

#[test]
fn nodes_over_ipv6() {
    if TcpStream::connect("[::1]:9")
        .is_err_and(|error| error.kind() == std::io::ErrorKind::AddrNotAvailable)
    {
        eprintln!("skipped for want of ipv6: no loopback address");
        return;
    }
    let server = Setup::default().start_on("[::1]:0");
    let mut client = server.connect();
    client.send(node_generate("::1", HASH, "0"));
    assert_work(&(200, client.answer().body), HASH, 0);
}

/// After the first success a node closes the other connections, and cancels on new ones without reading.
#[test]
fn nodes_that_have_their_work() {
    let server = start();
    for round in 0..20 {
        let hash = hash(round);
        let mut client = server.connect();
        client.send(node_generate("::1", &hash, NEVER));
        server.wait_waiters(1);
        if round % 2 == 0 {
            drop(client);
            server.wait_idle();
        } else {
            client.reset();
            server.wait_idle();
        }
        let mut canceller = server.connect();
        canceller.send(node_request("::1", "work_cancel", &hash, ""));
        canceller.reset();
    }
    server.wait_idle();
    wait_for("the last to be counted", || {
        server.metric("nano_work_disconnects_total") == 20
    });
    // The other order: the cancellation comes first, and nobody reads either answer.
    for round in 20..40 {
        let hash = hash(round);
        let mut client = server.connect();
        client.send(node_generate("::1", &hash, NEVER));
        server.wait_waiters(1);
        let mut canceller = server.connect();
        canceller.send(node_request("::1", "work_cancel", &hash, ""));
        server.wait_idle();
        canceller.reset();
        client.reset();
    }
    assert_eq!(server.status(), r#"{"generating":"0","queue_size":"0"}"#);
}

/// The end of the stream on the reading side is as good as a closed connection.
#[test]
fn half_closed_connections() {
    let server = start();
    let mut client = server.connect();
    client.send(node_generate("::1", HASH, NEVER));
    server.wait_waiters(1);
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    server.wait_idle();
    assert_eq!(client.answer().body, r#"{"error":"Cancelled"}"#);
    assert!(client.is_closed());
    // What needs no search is answered even so.
    for _ in 0..100 {
        let mut client = server.connect();
        client.send(request(
            "POST / HTTP/1.1\r\nHost: x\r\n",
            r#"{"action":"status"}"#,
        ));
        client.stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(client.answer().status, 200);
    }
}

/// `DPoW` and the older `BoomPoW`: one session, a probe first, one request at a time.
#[test]
fn aiohttp_sessions() {
    let server = start();
    let mut client = server.connect();
    let head = "POST / HTTP/1.1\r\nHost: 127.0.0.1:7000\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n\
                User-Agent: Python/3.8 aiohttp/3.6.2\r\nContent-Type: application/json\r\n";
    client.send(request(head, r#"{"action": "invalid"}"#));
    let answer = client.answer();
    assert!(answer.body.contains(r#""error""#));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    for number in 0..20 {
        let hash = hash(number);
        let body = format!(
            r#"{{"action": "work_generate", "hash": "{hash}", "difficulty": "{RECEIVE}"}}"#
        );
        client.send(request(head, &body));
        let answer = client.answer();
        assert_work(&(answer.status, answer.body), &hash, 0xfff0000000000000);
        client.send(request(head, &cancel(&hash)));
        assert_eq!(client.answer().body, "{}");
    }
}

/// Pippin: unpadded difficulty, cancels everywhere when it has its work.
#[test]
fn pippin() {
    let server = start();
    let body =
        format!(r#"{{"action":"work_generate","hash":"{HASH}","difficulty":"f00000000000"}}"#);
    assert_work(&server.post(&body), HASH, 0xf00000000000);
    assert_eq!(server.post(&cancel(HASH)), (200, "{}".to_owned()));
}

/// Betsy: a boolean where others have strings.
#[test]
fn betsy() {
    let server = start();
    let body = format!(
        r#"{{"action": "work_generate", "hash": "{HASH}", "reward": true, "difficulty": "{RECEIVE}"}}"#
    );
    let mut client = server.connect();
    client.send(request(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain; charset=utf-8\r\n",
        &body,
    ));
    assert_work(&(200, client.answer().body), HASH, 0xfff0000000000000);
}

/// `NanoRPCProxy` passes on whatever its own client has sent.
#[test]
fn nano_rpc_proxy() {
    let server = start();
    let body = format!(
        r#"{{"action":"work_generate","hash":"{HASH}","user":"u","api_key":"k","timeout":15,"use_peers":"true","account":null,"multiplier":0.0001}}"#
    );
    assert_work(&server.post(&body), HASH, 0);
}

/// Nault, in a browser: nothing without the operator's leave, everything with it.
#[test]
fn nault() {
    let origin = "https://nault.cc";
    let preflight = format!(
        "OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\
         Access-Control-Request-Headers: authorization,content-type\r\n\r\n"
    );
    let head = |origin: &str| {
        format!(
            "POST / HTTP/1.1\r\nHost: x\r\nOrigin: {origin}\r\nContent-Type: application/json\r\n"
        )
    };
    let closed = start();
    let mut client = closed.connect();
    client.send(&preflight);
    let answer = client.answer();
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (405, None)
    );
    client.send(request(&head(origin), &generate(HASH, "0")));
    assert_eq!(client.answer().header("access-control-allow-origin"), None);

    let open = with(Settings {
        cors_origins: vec![origin.to_owned()],
        ..Settings::default()
    });
    let mut client = open.connect();
    client.send(&preflight);
    let answer = client.answer();
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
    assert_eq!(
        answer.header("access-control-allow-methods"),
        Some("POST, OPTIONS")
    );
    assert_eq!(
        answer.header("access-control-allow-headers"),
        Some("Content-Type, Authorization, nano-api-key")
    );
    assert_eq!(answer.header("vary"), Some("origin"));
    client.send(request(&head(origin), &generate(HASH, "0")));
    let answer = client.answer();
    assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
    assert_work(&(answer.status, answer.body), HASH, 0);
    // Errors can be read too.
    client.send(request(&head(origin), "{"));
    let answer = client.answer();
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (400, Some(origin))
    );
    // Another page, and one that needs no preflight.
    client.send(request(&head("https://evil.example"), &generate(HASH, "0")));
    let answer = client.answer();
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (403, r#"{"error":"Origin not allowed"}"#)
    );
    assert_eq!(answer.header("access-control-allow-origin"), None);
    client.send(preflight.replace(origin, "https://evil.example"));
    assert_eq!(client.answer().status, 405);
}

/// curl -d: JSON that claims to be a form.
#[test]
fn curl() {
    let server = start();
    let head = "POST / HTTP/1.1\r\nHost: [::1]:7076\r\nUser-Agent: curl/7.81.0\r\nAccept: */*\r\n\
                Content-Type: application/x-www-form-urlencoded\r\n";
    let body =
        format!(r#"{{ "action": "work_generate", "hash": "{HASH}", "multiplier": "0.00001" }}"#);
    let mut client = server.connect();
    client.send(request(head, &body));
    assert_work(&(200, client.answer().body), HASH, 0);
}

#[test]
fn http_1_0() {
    let server = start();
    let body = r#"{"action":"status"}"#;
    let mut client = server.connect();
    client.send(request("POST / HTTP/1.0\r\n", body));
    assert_eq!(client.answer().status, 200);
    assert!(client.is_closed());
    let mut client = server.connect();
    for _ in 0..3 {
        client.send(request(
            "POST / HTTP/1.0\r\nConnection: keep-alive\r\n",
            body,
        ));
        let answer = client.answer();
        assert_eq!(
            (answer.status, answer.header("connection")),
            (200, Some("keep-alive"))
        );
    }
    let mut client = server.connect();
    client.send(request("POST / HTTP/1.1\r\nConnection: close\r\n", body));
    assert_eq!(client.answer().status, 200);
    assert!(client.is_closed());
}

#[test]
fn expect_100_continue() {
    let server = start();
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 19\r\n\r\n");
    let mut line = [0; 25];
    std::io::Read::read_exact(&mut client.stream, &mut line).unwrap();
    assert_eq!(&line, b"HTTP/1.1 100 Continue\r\n\r\n");
    client.send(r#"{"action":"status"}"#);
    assert_eq!(client.answer().status, 200);
}

#[test]
fn chunks_with_extensions_and_trailers() {
    let server = start();
    let mut client = server.connect();
    for _ in 0..3 {
        client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.send(
            "4;name=\"value\"\r\n{\"ac\r\n00F ; x\r\ntion\":\"status\"}\r\n0\r\nTrailer: x\r\n\r\n",
        );
        let answer = client.answer();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"generating":"0","queue_size":"0"}"#)
        );
    }
}

#[test]
fn requests_byte_by_byte_and_all_at_once() {
    let server = start();
    let one = request("POST / HTTP/1.1\r\nHost: x\r\n", &generate(HASH, "0"));
    let mut client = server.connect();
    for byte in one.as_bytes() {
        client.send([*byte]);
    }
    assert_work(&(200, client.answer().body), HASH, 0);

    let mut client = server.connect();
    let count = 500;
    let mut writer = client.stream.try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            std::io::Write::write_all(&mut writer, one.repeat(count).as_bytes()).unwrap();
        });
        for _ in 0..count {
            assert_work(&(200, client.answer().body), HASH, 0);
        }
    });
    // Some clients end a body with an empty line that its length does not cover.
    let mut client = server.connect();
    for _ in 0..3 {
        client.send(format!(
            "{}\r\n",
            request("POST / HTTP/1.1\r\n", r#"{"action":"status"}"#)
        ));
        assert_eq!(client.answer().status, 200);
    }
}

#[test]
fn a_request_waits_longer_than_the_timeouts() {
    let mut setup = Setup::default();
    let timeouts = &mut setup.connections.timeouts;
    (timeouts.head, timeouts.body, timeouts.idle) = (
        Duration::from_millis(50),
        Duration::from_millis(50),
        Duration::from_millis(50),
    );
    let server = setup.start();
    let mut client = server.connect();
    client.send_post(&generate(HASH, NEVER));
    thread::sleep(Duration::from_millis(300));
    server.wait_waiters(1);
    server.post(&cancel(HASH));
    assert_eq!(client.answer().body, r#"{"error":"Cancelled"}"#);
    assert!(client.is_closed());
    let mut silent = Client::new(TcpStream::connect(server.address).unwrap());
    assert!(silent.is_closed());
}
