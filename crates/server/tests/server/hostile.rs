//! Bytes that nobody sends by accident.

use std::thread;
use std::time::Duration;

use lanework_server::engine::Load;
use lanework_server::queue::Order;
use lanework_server::settings::Settings;
use lanework_server::worker::{Batch, Fault, Worker};

use crate::wire::{HASH, NEVER, Setup, assert_work, cancel, generate, hash, request, start, with};

const STATUS: &str = r#"{"action":"status"}"#;

/// What is no HTTP, or has more than one reading: a bare 400, and the end of the connection.
#[test]
fn malformed_heads() {
    let server = start();
    let long = format!("POST / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(17 << 10));
    for head in [
        "GARBAGE\r\n\r\n",
        "POST / HTTP/1.1\nHost: x\n\n",
        "POST / HTTP/1.1\r\nHost: x\nContent-Length: 19\r\n\r\n{\"action\":\"status\"}",
        "POST / HTTP/1.1\r\nA: b\r\n folded\r\nContent-Length: 2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "POST / HTTP/1.1\r\nContent-Length: 2, 2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nContent-Length: -2\r\n\r\n{}",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
        "POST / HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.2\r\n\r\n",
        "POST / HTTP/9\r\n\r\n",
        "POST  / HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nNo colon\r\n\r\n",
        "POST / HTTP/1.1\r\n: no name\r\n\r\n",
        "POST / HTTP/1.1\r\nA: \0\r\n\r\n",
        "P\0ST / HTTP/1.1\r\n\r\n",
        &long,
    ] {
        let mut client = server.connect();
        client.send(head);
        let answer = client.answer();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (400, ""),
            "{}",
            &head[..head.len().min(99)]
        );
        assert!(client.is_closed(), "{head}");
    }
    let mut client = server.connect();
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert!(
        client
            .try_answer(true)
            .is_ok_and(|answer| answer.status == 400)
            || client.is_closed()
    );
    let many = (0..200).map(|index| format!("H{index}: x\r\n"));
    let many = many.collect::<Vec<_>>().concat();
    let mut client = server.connect();
    client.send(format!("POST / HTTP/1.1\r\n{many}\r\n"));
    assert_eq!(client.answer().status, 431);
    assert!(client.is_closed());
    assert_eq!(server.status(), r#"{"generating":"0","queue_size":"0"}"#);
}

#[test]
fn malformed_chunks() {
    let server = start();
    for chunks in [
        "x\r\n",
        "5\n",
        "-1\r\n",
        "1\r\n{}\r\n",
        "ffffffffffffffffff\r\n",
        "0\r\n folded\r\n\r\n",
        "2\r\n{}\n0\r\n\r\n",
    ] {
        let mut client = server.connect();
        client.send(format!(
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
        ));
        let answer = client.answer();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (400, ""),
            "{chunks:?}"
        );
        assert!(client.is_closed());
    }
}

/// A request hidden in the body of another must stay there.
#[test]
fn smuggled_requests() {
    let server = start();
    let hidden = request("POST / HTTP/1.1\r\nHost: x\r\n", &generate(HASH, NEVER));
    for head in [
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Content-Length: 0\n",
    ] {
        let mut client = server.connect();
        client.send(format!("POST / HTTP/1.1\r\nHost: x\r\n{head}\r\n{hidden}"));
        assert_eq!(client.answer().status, 400, "{head:?}");
        assert!(client.is_closed());
    }
    server.wait_idle();
    assert_eq!(
        server.metric("nano_work_requests_total{action=\"work_generate\",outcome=\"ok\"}"),
        0
    );
}

#[test]
fn bodies_that_are_too_long() {
    let server = start();
    let limit = server.server.settings.body_limit;
    let padded = |len: usize| format!("{STATUS}{}", " ".repeat(len - STATUS.len()));
    assert_eq!(server.post(&padded(limit)).0, 200);
    let mut client = server.connect();
    client.send(request(
        "POST / HTTP/1.1\r\nHost: x\r\n",
        &padded(limit + 1),
    ));
    let answer = client.answer();
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (413, r#"{"error":"Request body too large"}"#)
    );
    assert!(client.is_closed());
    // Refused by its length alone.
    let mut client = server.connect();
    client.send(
        "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n",
    );
    assert_eq!(client.answer().status, 413);
    // As chunks without end.
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(format!("{:x}\r\n{}\r\n", limit + 1, padded(limit + 1)));
    assert_eq!(client.answer().status, 413);
}

#[test]
fn hostile_json() {
    let server = start();
    let mut client = server.connect();
    let failed = r#"{"error":"Failed to deserialize JSON"}"#;
    for body in [
        "[".repeat(30_000),
        "{\"a\":".repeat(5_000),
        "\u{feff}{\"action\":\"status\"}".to_owned(),
        format!("{STATUS}{STATUS}"),
        r#"{"action":"status","x":"\ud800"}"#.to_owned(),
        "{\"action\":\"status\"}\0".to_owned(),
        "1e400".to_owned(),
    ] {
        assert_eq!(client.post(&body), (400, failed.to_owned()), "{body:.40}");
    }
    let body = b"{\"action\":\"status\xff\"}";
    let mut bytes = server.connect();
    bytes.send(
        [
            format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(),
            body,
        ]
        .concat(),
    );
    assert_eq!(bytes.answer().body, failed);
    let body = format!(
        r#"{{"\u0061ction":"work_generate","hash":"00","hash":"{HASH}","difficulty":"x","difficulty":"0"}}"#
    );
    assert_work(&client.post(&body), HASH, 0);
}

/// A high threshold joins a low one of the same root, and the other way round: each gets its own.
#[test]
fn thresholds_that_race() {
    let server = start();
    let (low, high) = (0xf000000000000000u64, 0xffffc00000000000u64);
    thread::scope(|scope| {
        for index in 0..16u64 {
            let server = &server;
            scope.spawn(move || {
                let mut client = server.connect();
                for round in 0..20 {
                    let threshold = if (index + round) % 2 == 0 { low } else { high };
                    let hash = hash(round);
                    assert_work(
                        &client.post(&generate(&hash, &format!("{threshold:x}"))),
                        &hash,
                        threshold,
                    );
                }
            });
        }
    });
    server.wait_idle();
}

#[test]
fn one_of_several_leaves() {
    let server = start();
    let mut first = server.connect();
    let mut second = server.connect();
    first.send_post(&generate(HASH, NEVER));
    server.wait_waiters(1);
    second.send_post(&generate(HASH, NEVER));
    server.wait_waiters(2);
    let searching = |waiters| Load {
        is_searching: true,
        queued: 0,
        waiters,
    };
    assert_eq!(server.server.engine.load(), searching(2));
    drop(first);
    server.wait_waiters(1);
    assert_eq!(server.server.engine.load(), searching(1));
    // A lower one joins, is answered, and the search goes on.
    assert_work(
        &server.post(&generate(HASH, "ff00000000000000")),
        HASH,
        0xff00000000000000,
    );
    assert_eq!(server.server.engine.load(), searching(1));
    server.post(&cancel(HASH));
    assert_eq!(second.answer().body, r#"{"error":"Cancelled"}"#);
}

#[test]
fn cancel_of_a_joined_root_answers_all() {
    let server = start();
    let mut clients: Vec<_> = (0..10).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send_post(&generate(HASH, NEVER));
    }
    server.wait_waiters(10);
    assert_eq!(
        server.post(&cancel(&HASH.to_lowercase())),
        (200, "{}".to_owned())
    );
    for client in &mut clients {
        assert_eq!(client.answer().body, r#"{"error":"Cancelled"}"#);
    }
    assert_eq!(server.metric("nano_work_cancels_total"), 10);
}

#[test]
fn multipliers_beyond_all_measure() {
    let server = start();
    for multiplier in ["\"1e300\"", "\"34359738369\"", "1e300", "\"34359738368\""] {
        let mut client = server.connect();
        client.send_post(&format!(
            r#"{{"action":"work_generate","hash":"{HASH}","multiplier":{multiplier}}}"#
        ));
        server.wait_waiters(1);
        thread::sleep(Duration::from_millis(20));
        assert_eq!(
            server.server.engine.load().waiters,
            1,
            "no worthless work for {multiplier}"
        );
        drop(client);
        server.wait_idle();
    }
}

#[test]
fn a_full_queue_is_not_an_http_error() {
    let server = Setup {
        max_queue: 2,
        ..Setup::default()
    }
    .start();
    let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for (number, client) in (0..).zip(&mut clients) {
        client.send_post(&generate(&hash(number), NEVER));
        server.wait_waiters(number as usize + 1);
    }
    assert_eq!(
        server.post(&generate(&hash(9), "0")),
        (200, r#"{"error":"Work queue is full"}"#.to_owned())
    );
    drop(clients);
    server.wait_idle();
    assert_work(&server.post(&generate(&hash(9), "0")), &hash(9), 0);
}

#[test]
fn deadlines() {
    let server = with(Settings {
        deadline: Some(Duration::from_millis(50)),
        ..Settings::default()
    });
    let expected = (200, r#"{"error":"Work generation timed out"}"#.to_owned());
    assert_eq!(server.post(&generate(HASH, NEVER)), expected);
    server.wait_idle();
}

#[test]
fn benchmarks_end_with_their_client_and_yield_to_requests() {
    let server = start();
    let benchmark = format!(r#"{{"action":"benchmark","count":1000,"difficulty":"{NEVER}"}}"#);
    let mut client = server.connect();
    client.send_post(&benchmark);
    server.wait_waiters(1);
    assert_eq!(server.status(), r#"{"generating":"1","queue_size":"0"}"#);
    assert_work(
        &server.post(&generate(HASH, "ffff000000000000")),
        HASH,
        0xffff000000000000,
    );
    drop(client);
    server.wait_idle();
}

struct Broken;

impl Worker for Broken {
    fn name(&self) -> String {
        "broken".to_owned()
    }

    fn search(&mut self, _: &[u8; 32], _: u64) -> Result<Batch, Fault> {
        Err(Fault::Transient("out of order".to_owned()))
    }
}

struct Liar;

impl Worker for Liar {
    fn name(&self) -> String {
        "liar".to_owned()
    }

    fn search(&mut self, _: &[u8; 32], _: u64) -> Result<Batch, Fault> {
        Ok(Batch {
            hashes: 1,
            hit: Some(0),
        })
    }
}

#[test]
fn workers_that_all_fail() {
    let failed = r#"{"error":"Work generation failed (see logs for details)"}"#.to_owned();
    let setup = Setup {
        workers: vec![Box::new(Broken), Box::new(Liar)],
        order: Order::Random,
        ..Setup::default()
    };
    let server = setup.start();
    for number in 0..5 {
        assert_eq!(
            server.post(&generate(&hash(number), "ffffffc000000000")),
            (200, failed.clone())
        );
    }
    let benchmark = server.post(r#"{"action":"benchmark","count":2}"#);
    let expected = r#"{"error":"Benchmark failed","hint":"Work generation failure"}"#;
    assert_eq!(benchmark, (500, expected.to_owned()));
    assert!(server.metric("nano_work_gpu_faults_total{worker=\"liar\"}") >= 6);
    // Overlapping failures leave nobody waiting.
    thread::scope(|scope| {
        for number in 0..50 {
            let (server, failed) = (&server, &failed);
            scope.spawn(move || {
                assert_eq!(
                    server.post(&generate(&hash(number), "ffffffc000000000")),
                    (200, failed.clone())
                );
            });
        }
    });
}

/// Connections that are opened and never say anything sensible do not stand in anyone's way.
#[test]
fn slow_loris() {
    let mut setup = Setup::default();
    setup.connections.timeouts.head = Duration::from_millis(200);
    setup.connections.timeouts.body = Duration::from_millis(200);
    let server = setup.start();
    let mut slow: Vec<_> = (0..300).map(|_| server.connect()).collect();
    for (index, client) in slow.iter_mut().enumerate() {
        match index % 3 {
            0 => {}
            1 => client.send("POST / HT"),
            _ => client.send("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"),
        }
    }
    assert_eq!(server.post(STATUS).0, 200);
    for client in &mut slow {
        // A timeout in a body may be told, one in a head may not.
        let _ = client.try_answer(true);
        assert!(client.is_closed());
    }
    assert_eq!(server.post(STATUS).0, 200);
}

#[test]
fn too_many_connections() {
    let mut setup = Setup::default();
    setup.connections.most = 3;
    let server = setup.start();
    let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for client in &mut clients {
        assert_eq!(client.post(STATUS).0, 200);
    }
    assert!(server.connect().is_closed());
    clients.pop();
    crate::wire::wait_for("a place", || {
        let mut client = server.connect();
        client.send(request("POST / HTTP/1.1\r\nHost: x\r\n", STATUS));
        client.try_answer(true).is_ok()
    });
}

#[test]
fn gone_in_the_middle() {
    let server = start();
    let whole = request("POST / HTTP/1.1\r\nHost: x\r\n", &generate(HASH, NEVER));
    for cut in 1..whole.len() {
        let mut client = server.connect();
        client.send(&whole[..cut]);
        if cut % 2 == 0 {
            client.reset();
        }
    }
    server.wait_idle();
    // With a second request behind the first, the end is seen all the same.
    let mut client = server.connect();
    client.send(format!("{whole}{whole}"));
    server.wait_waiters(1);
    drop(client);
    server.wait_idle();
}
