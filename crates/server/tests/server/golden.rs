//! The exchanges that existing clients rely on, byte for byte.

use lanework_nano::Network;
use lanework_server::request::Rules;
use lanework_server::settings::Settings;

use crate::wire::{HASH, NEVER, assert_work, cancel, generate, hash, request, start, with};

const WORK: &str = "2bf29ef00786a6bc";

fn validate(more: &str) -> String {
    format!(r#"{{"action":"work_validate","hash":"{HASH}","work":"{WORK}"{more}}}"#)
}

#[test]
fn bodies() {
    let server = start();
    let unknown = r#"{"error":"Unknown command","hint":"Supported commands: work_generate, work_cancel, work_validate, benchmark, status"}"#;
    let no_action = r#"{"error":"Failed to deserialize JSON","hint":"Work field missing"}"#;
    let bad_json = r#"{"error":"Failed to deserialize JSON"}"#;
    let bad_hash = |hint: &str| {
        (
            400,
            format!(r#"{{"error":"Bad block hash","hint":"{hint}"}}"#),
        )
    };
    let valid = |valid: &str| {
        let body = r#"{"difficulty":"ffffffd21c3933f4","multiplier":"0.17433086091718653","#;
        (
            200,
            format!(r#"{body}{valid}"valid_all":"0","valid_receive":"1"}}"#),
        )
    };
    let fixed = |status: u16, body: &str| (status, body.to_owned());
    let cancel_short = |digits: usize| cancel(&"0".repeat(digits));
    let exchanges = [
        (
            r#"{"action":"status"}"#.to_owned(),
            fixed(200, r#"{"generating":"0","queue_size":"0"}"#),
        ),
        (cancel(HASH), fixed(200, "{}")),
        (
            r#"{"action":"work_cancel"}"#.to_owned(),
            fixed(
                400,
                r#"{"error":"Failed to deserialize JSON","hint":"Hash field missing"}"#,
            ),
        ),
        (validate(""), valid("")),
        (
            validate(r#","difficulty":"ffffffc000000000""#),
            valid(r#""valid":"1","#),
        ),
        (
            validate(r#","difficulty":"ffffffc000000000","multiplier":"1.0""#),
            valid(r#""valid":"0","#),
        ),
        (
            validate(r#","multiplier":"0.125""#),
            valid(r#""valid":"1","#),
        ),
        (
            generate(HASH, "0xffffffc000000000"),
            fixed(
                400,
                r#"{"error":"Failed to deserialize JSON","hint":"Threshold not a valid unsigned long (u64). Example: 'ffffffc000000000'"}"#,
            ),
        ),
        (cancel("ABC"), bad_hash("Expecting a hex string")),
        (
            cancel(""),
            bad_hash("Hash is empty. Expecting a hex string"),
        ),
        (
            cancel_short(62),
            bad_hash("Hash is too short (should be 32 bytes)"),
        ),
        (
            cancel_short(66),
            bad_hash("Hash is too long (should be 32 bytes)"),
        ),
        ("[]".to_owned(), fixed(400, no_action)),
        ("3".to_owned(), fixed(400, no_action)),
        ("\"x\"".to_owned(), fixed(400, no_action)),
        ("null".to_owned(), fixed(400, no_action)),
        ("{}".to_owned(), fixed(400, no_action)),
        (String::new(), fixed(400, bad_json)),
        ("{".to_owned(), fixed(400, bad_json)),
        (r#"{"action":5}"#.to_owned(), fixed(400, unknown)),
        (r#"{"action":"invalid"}"#.to_owned(), fixed(400, unknown)),
        (
            r#"{"action":"benchmark","count":1001}"#.to_owned(),
            fixed(
                400,
                r#"{"error":"Failed to deserialize JSON","hint":"Expecting a positive number for count"}"#,
            ),
        ),
    ];
    let mut client = server.connect();
    for (request, answer) in exchanges {
        assert_eq!(client.post(&request), answer, "{request}");
    }
}

#[test]
fn heads() {
    let server = start();
    let mut client = server.connect();
    client.send_post(r#"{"action":"status"}"#);
    let answer = client.answer();
    let names: Vec<_> = answer
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["content-length", "content-type", "date"]);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("content-length"), Some("35"));
    assert!(answer.header("date").unwrap().ends_with(" GMT"));
}

#[test]
fn other_methods() {
    let server = start();
    for method in ["GET", "PUT", "OPTIONS", "DELETE", "PATCH", "TRACE", "POKE"] {
        for path in ["/", "/api", "*"] {
            if path == "*" && method != "OPTIONS" {
                continue;
            }
            let mut client = server.connect();
            client.send(format!("{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
            let answer = client.answer();
            assert_eq!(answer.status, 405, "{method} {path}");
            assert_eq!(answer.body, r#"{"error":"Can only POST requests"}"#);
            assert_eq!(answer.header("content-type"), Some("application/json"));
        }
    }
    for path in ["/", "/metrics"] {
        let mut client = server.connect();
        client.send(format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let answer = client.answer_without_body();
        assert_eq!(
            (answer.status, answer.header("content-length")),
            (405, Some("34"))
        );
        // Nothing of the body was sent: the next answer follows at once.
        assert_eq!(client.post("{").0, 400);
    }
}

#[test]
fn every_path_is_for_requests() {
    let server = start();
    for path in [
        "/",
        "/api/v1/work",
        "/healthz",
        "/metrics",
        "/dashboard",
        "/x?y=z",
        "http://other:80/x",
    ] {
        let mut client = server.connect();
        client.send(request(
            &format!("POST {path} HTTP/1.1\r\nHost: x\r\n"),
            r#"{"action":"status"}"#,
        ));
        let answer = client.answer();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"generating":"0","queue_size":"0"}"#)
        );
    }
}

#[test]
fn work_is_what_was_asked_for() {
    let server = start();
    let mut client = server.connect();
    for (index, threshold) in [0, 1, 0xff00000000000000, 0xfffe000000000000]
        .into_iter()
        .enumerate()
    {
        let hash = hash(index as u64);
        assert_work(
            &client.post(&generate(&hash, &format!("{threshold:x}"))),
            &hash,
            threshold,
        );
    }
    // The multiplier wins: this would be for ever.
    let body = format!(
        r#"{{"action":"work_generate","hash":"{HASH}","difficulty":"{NEVER}","multiplier":1e-9}}"#
    );
    assert_work(&client.post(&body), HASH, 0);
    let body = format!(
        r#"{{"action":"work_generate","hash":"{HASH}","difficulty":18446462598732840960}}"#
    );
    assert_work(&client.post(&body), HASH, 0xffff000000000000);
}

#[test]
fn what_waits_is_shown() {
    let server = start();
    let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for (number, client) in (0..).zip(&mut clients) {
        client.send_post(&generate(&hash(number), NEVER));
        server.wait_waiters(number as usize + 1);
    }
    assert_eq!(server.status(), r#"{"generating":"1","queue_size":"2"}"#);
    for (number, client) in (0..).zip(&mut clients) {
        assert_eq!(server.post(&cancel(&hash(number))), (200, "{}".to_owned()));
        let answer = client.answer();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"error":"Cancelled"}"#)
        );
    }
    assert_eq!(server.status(), r#"{"generating":"0","queue_size":"0"}"#);
}

#[test]
fn benchmarks() {
    let server = start();
    let (status, body) =
        server.post(r#"{"action":"benchmark","count":"3","difficulty":"fffffff0"}"#);
    assert_eq!(status, 200);
    let keys = [
        "average",
        "count",
        "difficulty",
        "duration",
        "hint",
        "multiplier",
    ];
    let value: serde_json::Value = serde_json::from_str(&body).unwrap();
    let text = |key: &str| value[key].as_str().unwrap();
    let rebuilt: Vec<_> = keys
        .iter()
        .map(|key| format!("\"{key}\":\"{}\"", text(key)))
        .collect();
    assert_eq!(body, format!("{{{}}}", rebuilt.join(",")));
    assert_eq!(
        (text("count"), text("difficulty")),
        ("3", "00000000fffffff0")
    );
    assert_eq!(text("hint"), "Times in milliseconds");
    let number = |key: &str| text(key).parse::<u64>().unwrap();
    assert_eq!(number("average"), number("duration") / 3);
}

#[test]
fn other_networks() {
    let rules = Rules {
        network: Network::Banano,
        ..Rules::default()
    };
    let server = with(Settings {
        rules,
        ..Settings::default()
    });
    let (_, body) = server.post(&validate(r#","multiplier":"1""#));
    assert!(
        body.ends_with(r#""valid":"1","valid_all":"1","valid_receive":"1"}"#),
        "{body}"
    );
}
