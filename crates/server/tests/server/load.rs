//! Many clients at once. Whatever they do, every request is answered rightly or its client has left,
//! and nothing of it stays.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::wire::{NEVER, assert_work, cancel, generate, hash, start};

#[test]
fn two_thousand_requests_at_once() {
    let server = start();
    let count = 2000;
    let mut clients: Vec<_> = (0..count).map(|_| server.connect()).collect();
    let blocker = hash(u64::MAX);
    let mut first = server.connect();
    first.send_post(&generate(&blocker, NEVER));
    server.wait_waiters(1);
    for (number, client) in (0..).zip(&mut clients) {
        client.send_post(&generate(&hash(number), "ff00000000000000"));
    }
    server.wait_waiters(count + 1);
    assert_eq!(
        server.status(),
        format!(r#"{{"generating":"1","queue_size":"{count}"}}"#)
    );
    server.post(&cancel(&blocker));
    for (number, client) in (0..).zip(&mut clients) {
        let answer = client.answer();
        assert_work(
            &(answer.status, answer.body),
            &hash(number),
            0xff00000000000000,
        );
    }
    server.wait_idle();
}

#[test]
fn disconnect_storm() {
    let server = start();
    for _ in 0..3 {
        let clients: Vec<_> = (0..700)
            .map(|number| {
                let mut client = server.connect();
                client.send_post(&generate(&hash(number), NEVER));
                client
            })
            .collect();
        server.wait_waiters(clients.len());
        for (index, client) in clients.into_iter().enumerate() {
            if index % 2 == 0 {
                client.reset();
            }
        }
        server.wait_idle();
    }
    assert_eq!(server.status(), r#"{"generating":"0","queue_size":"0"}"#);
    assert_work(&server.post(&generate(&hash(1), "0")), &hash(1), 0);
}

#[test]
fn duplicate_storm() {
    let server = start();
    let threshold = 0xffff800000000000u64;
    let mut clients: Vec<_> = (0..500).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send_post(&generate(&hash(7), &format!("{threshold:x}")));
    }
    let works = clients.iter_mut().map(|client| {
        let answer = client.answer();
        assert_work(&(answer.status, answer.body), &hash(7), threshold)
    });
    let mut works: Vec<_> = works.collect();
    works.sort_unstable();
    works.dedup();
    // They need not all arrive during one search, but they share it.
    assert!(works.len() < 100, "{} searches for one root", works.len());
    server.wait_idle();
}

#[test]
fn cancel_races() {
    let server = start();
    let found = AtomicUsize::new(0);
    let cancelled = AtomicUsize::new(0);
    thread::scope(|scope| {
        for seed in 0..8u64 {
            let (server, found, cancelled) = (&server, &found, &cancelled);
            scope.spawn(move || {
                let mut client = server.connect();
                let mut canceller = server.connect();
                for round in 0..150 {
                    let hash = hash((seed + round) % 5);
                    client.send_post(&generate(&hash, "ffff000000000000"));
                    if round % 2 == seed % 2 {
                        assert_eq!(canceller.post(&cancel(&hash)), (200, "{}".to_owned()));
                    }
                    let answer = client.answer();
                    if answer.body == r#"{"error":"Cancelled"}"# {
                        cancelled.fetch_add(1, Ordering::Relaxed);
                    } else {
                        assert_work(&(answer.status, answer.body), &hash, 0xffff000000000000);
                        found.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let (found, cancelled) = (found.into_inner(), cancelled.into_inner());
    assert_eq!(found + cancelled, 8 * 150);
    assert!(
        found > 0 && cancelled > 0,
        "{found} found, {cancelled} cancelled"
    );
    server.wait_idle();
}

#[test]
fn cancels_without_end() {
    let server = start();
    let count = 200_000;
    thread::scope(|scope| {
        for _ in 0..4 {
            let server = &server;
            scope.spawn(move || {
                let mut client = server.connect();
                let one = crate::wire::request("POST / HTTP/1.1\r\nHost: x\r\n", &cancel(&hash(1)));
                let mut writer = client.stream.try_clone().unwrap();
                let writing = thread::spawn(move || {
                    for _ in 0..count / 4 / 50 {
                        std::io::Write::write_all(&mut writer, one.repeat(50).as_bytes()).unwrap();
                    }
                });
                for _ in 0..count / 4 {
                    assert_eq!(client.answer().body, "{}");
                }
                writing.join().unwrap();
            });
        }
    });
    let requests = server.metric("nano_work_requests_total{action=\"work_cancel\",outcome=\"ok\"}");
    assert_eq!(requests, count);
}
