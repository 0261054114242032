//! The first work server beside ours, over a corpus of requests: only what was changed on purpose may
//! differ. Each difference has the number of its reason.
//!
//! `LANEWORK_UPSTREAM_WORK_SERVER` names the binary; `cargo install nano-work-server` builds it.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lanework_server::request::{Request, Rules, parse};
use lanework_testkit::isas;
use serde_json::{Map, Value};

use crate::wire::{Answer, Client, HASH, request, start};

const BINARY: &str = "LANEWORK_UPSTREAM_WORK_SERVER";

struct Upstream {
    child: Child,
    address: SocketAddr,
}

impl Upstream {
    fn start() -> Option<Self> {
        let Ok(binary) = std::env::var(BINARY) else {
            isas::skip("upstream-work-server", &format!("{BINARY} is not set"));
            return None;
        };
        // Another process may take the port in between, which is unlikely and would show.
        let address = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let mut command = Command::new(&binary);
        command
            .args(["-c", "1", "-l", &address.to_string()])
            .stdout(Stdio::null());
        let child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{binary}: {error}"));
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "{binary} does not listen"
            );
            thread::sleep(Duration::from_millis(10));
        }
        Some(Self { child, address })
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const HASHES: &[&str] = &[
    "",
    "\"\"",
    "\"A\"",
    "\"ABC\"",
    "\"00\"",
    "null",
    "7",
    "[]",
    "\"é\"",
    "\" 0\"",
    "\"0x00\"",
    "\"zz\"",
    "\"718CC2121C3E641059BC1C2CFC45666C99E8AE922F7A807B7D07B62C995D79\"",
    "\"718CC2121C3E641059BC1C2CFC45666C99E8AE922F7A807B7D07B62C995D79E\"",
    "\"718CC2121C3E641059BC1C2CFC45666C99E8AE922F7A807B7D07B62C995D79E2A\"",
    "\"718CC2121C3E641059BC1C2CFC45666C99E8AE922F7A807B7D07B62C995D79E2AB\"",
    "\"718cc2121c3e641059bc1c2cfc45666c99e8ae922f7a807b7d07b62c995d79e2\"",
];
const WORKS: &[&str] = &[
    "",
    "\"\"",
    "\"1\"",
    "\"0f\"",
    "\"2BF29EF00786A6BC\"",
    "\"2bf29ef00786a6b\"",
    "\"02bf29ef00786a6bc\"",
    "\"002bf29ef00786a6bc\"",
    "\"2b3d689bbcb21dca\"",
    "null",
    "5",
    "true",
    "\"xy\"",
    "\"+1\"",
    "\"0x00\"",
    "\"é\"",
];
const DIFFICULTIES: &[&str] = &[
    "",
    "\"\"",
    "\"+\"",
    "\"+ff\"",
    "\"-1\"",
    "\"0x10\"",
    "\"1ffffffffffffffff\"",
    "\"00000000fffffff800000000\"",
    "\"FFFFFFC000000000\"",
    "\"fffffff800000000\"",
    "\"ffffffffffffffff\"",
    "\"0\"",
    "\" 1\"",
    "\"g\"",
    "null",
    "true",
    "1.5",
    "-1",
    "[]",
    "{}",
    "0",
    "255",
    "18446744073709551615",
    "18446744073709551616",
    "\"ffffffd21c3933f4\"",
    "\"ffffffd21c3933f5\"",
];
const MULTIPLIERS: &[&str] = &[
    "",
    "\"inf\"",
    "\"-inf\"",
    "\"infinity\"",
    "\"nan\"",
    "\"1e400\"",
    "\"1e300\"",
    "\"1e-400\"",
    "\"0\"",
    "\"-0\"",
    "\"-1\"",
    "\"+1\"",
    "\"1.\"",
    "\".5\"",
    "\".\"",
    "\"\"",
    "\" 1\"",
    "\"0x10\"",
    "2",
    "2.5",
    "null",
    "true",
    "[]",
    "\"1.0\"",
    "\"0.001\"",
    "\"0.17433086091718653\"",
    "\"34359738368\"",
    "\"34359738369\"",
    "\"1e-30\"",
    "\"3\"",
    "0",
    "-2",
    "1e400",
];
const COUNTS: &[&str] = &[
    "",
    "0",
    "-1",
    "3.0",
    "3",
    "\"3\"",
    "\"+3\"",
    "\"03\"",
    "\"\"",
    "\" 3\"",
    "null",
    "true",
    "[]",
    "\"3.0\"",
    "\"-3\"",
    "18446744073709551616",
    "\"18446744073709551616\"",
    "1001",
];
const ACTIONS: &[&str] = &[
    "\"work_validate\"",
    "\"work_cancel\"",
    "\"work_generate\"",
    "\"benchmark\"",
    "\"status\"",
    "\"invalid\"",
    "\"Status\"",
    "null",
    "5",
    "",
];
const WHOLE: &[&str] = &[
    "",
    "{",
    "}",
    "[]",
    "3",
    "\"x\"",
    "null",
    "true",
    "{}",
    "[{}]",
    " {} ",
    "{}x",
    "{}{}",
    "\u{feff}{}",
    "{\"action\":\"status\"}",
    " \r\n{ \"action\" : \"status\" }\n",
    "{\"action\":\"status\"}\0",
    "{\"action\":\"status\",}",
    "{'action':'status'}",
    "{\"\\u0061ction\":\"status\"}",
    "{\"action\":\"x\",\"action\":\"status\"}",
    "{\"action\":\"status\",\"x\":\"\\ud800\"}",
    "{\"action\":\"status\",\"x\":1e400}",
    "{\"action\":\"status\",\"x\":[[[[[[[[1]]]]]]]]}",
    "{\"action\":\"status\",\"hash\":5}",
    "{\"action\":\"status\",\"x\":123456789012345678901234567890}",
    "nul",
    "1e400",
    "-",
    "\"\\x\"",
];

/// An object of these fields, without those that are empty.
fn object(action: &str, fields: [(&str, &str); 5]) -> String {
    let all = std::iter::once(("action", action)).chain(fields);
    let present = all.filter(|(_, value)| !value.is_empty());
    let texts: Vec<_> = present
        .map(|(key, value)| format!("\"{key}\":{value}"))
        .collect();
    format!("{{{}}}", texts.join(","))
}

fn corpus() -> Vec<String> {
    let good = format!("\"{HASH}\"");
    let hashes: Vec<&str> = HASHES.iter().copied().chain([good.as_str()]).collect();
    let usual = [
        ("hash", good.as_str()),
        ("work", "\"2bf29ef00786a6bc\""),
        ("difficulty", "\"0\""),
        ("multiplier", ""),
        ("count", "2"),
    ];
    let choices = [&hashes[..], WORKS, DIFFICULTIES, MULTIPLIERS, COUNTS];
    let mut corpus: Vec<String> = WHOLE.iter().map(ToString::to_string).collect();
    for action in ACTIONS {
        // One field after the other, and difficulty with multiplier.
        for (field, values) in choices.iter().enumerate() {
            for value in *values {
                let mut fields = usual;
                fields[field].1 = value;
                corpus.push(object(action, fields));
                fields[2].1 = "";
                corpus.push(object(action, fields));
            }
        }
    }
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..3000 {
        let mut fields = usual;
        for (field, values) in choices.iter().enumerate() {
            if random.u8(0..3) == 0 {
                fields[field].1 = values[random.usize(..values.len())];
            }
        }
        corpus.push(object(ACTIONS[random.usize(..ACTIONS.len())], fields));
    }
    corpus
}

/// Whether both servers will answer soon.
fn is_quick(body: &str) -> bool {
    match parse(body.as_bytes(), &Rules::default()) {
        Ok(Request::Generate { threshold, .. } | Request::Benchmark { threshold, .. }) => {
            threshold < 1 << 63
        }
        Ok(_) => true,
        // Ours refuses; the other must not search for long either.
        Err(_) => {
            let is_easy = body.contains("\"difficulty\":\"0\"") && !body.contains("multiplier");
            is_easy || !body.contains("\"count\":1001")
        }
    }
}

fn fields(answer: &Answer) -> Map<String, Value> {
    let object: Value = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"));
    object.as_object().expect("an object").clone()
}

/// The differences between two answers by their number in the list of improvements.
fn differences(body: &str, theirs: &Answer, ours: &Answer) -> Result<Vec<&'static str>, String> {
    let sent: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    let (action, multiplier, difficulty) =
        (&sent["action"], &sent["multiplier"], &sent["difficulty"]);
    let number = multiplier
        .as_str()
        .and_then(|text| text.parse::<f64>().ok());
    let mut found = Vec::new();
    if number.is_some_and(f64::is_infinite) && ours.body.contains("number for multiplier") {
        return Ok(vec!["I-2"]);
    }
    if theirs.status != ours.status {
        return match (theirs.status, ours.status) {
            (200, 400) if sent["count"] == 1001 => Ok(vec!["I-7"]),
            (400, 200) if multiplier.is_number() || difficulty.is_u64() => Ok(vec!["I-12"]),
            _ => Err("status".to_owned()),
        };
    }
    let (mut theirs, mut ours) = (fields(theirs), fields(ours));
    if theirs == ours {
        return Ok(found);
    }
    if multiplier.is_number() || difficulty.is_u64() {
        // Only the first mistake is told, and for us that is another one.
        return Ok(vec!["I-12"]);
    }
    if action == "work_validate"
        && !multiplier.is_null()
        && difficulty.is_null()
        && !theirs.contains_key("valid")
    {
        found.push("I-13");
        ours.remove("valid");
    }
    if number.is_some_and(|factor| !(1e-11..=34359738368.0).contains(&factor)) {
        found.push("I-1");
        for key in ["valid", "difficulty", "multiplier"] {
            if theirs.contains_key(key) && ours.contains_key(key) {
                theirs.remove(key);
                ours.remove(key);
            }
        }
    }
    if theirs.get("multiplier").is_some_and(|text| text == "inf") {
        found.push("I-1");
        theirs.insert("multiplier".to_owned(), ours["multiplier"].clone());
    }
    if let Some(Value::String(text)) = theirs.get_mut("difficulty")
        && text.len() < 16
    {
        found.push("I-13");
        *text = format!("{text:0>16}");
    }
    let measured: &[&str] = match action.as_str() {
        Some("work_generate") => &["difficulty", "multiplier", "work"],
        Some("benchmark") => &["average", "duration"],
        _ => &[],
    };
    for key in measured {
        if theirs.contains_key(*key) && ours.contains_key(*key) {
            theirs.remove(*key);
            ours.remove(*key);
        }
    }
    if theirs == ours {
        Ok(found)
    } else {
        Err(format!("{theirs:?} and {ours:?}"))
    }
}

fn names(answer: &Answer) -> Vec<&str> {
    answer
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect()
}

#[test]
fn answers_are_the_same() {
    let Some(upstream) = Upstream::start() else {
        return;
    };
    let server = start();
    let mut theirs = Client::new(TcpStream::connect(upstream.address).unwrap());
    let mut ours = server.connect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let corpus: Vec<_> = corpus().into_iter().filter(|body| is_quick(body)).collect();
    for body in &corpus {
        theirs.send_post(body);
        ours.send_post(body);
        let their = theirs
            .try_answer(true)
            .unwrap_or_else(|error| panic!("theirs to {body}: {error}"));
        let our = ours
            .try_answer(true)
            .unwrap_or_else(|error| panic!("ours to {body}: {error}"));
        assert_eq!(names(&their), names(&our), "{body}");
        match differences(body, &their, &our) {
            Ok(found) => found
                .into_iter()
                .for_each(|reason| *counts.entry(reason).or_default() += 1),
            Err(what) => panic!("{what} differ\nrequest {body}\ntheirs {their:?}\nours {our:?}"),
        }
    }
    eprintln!(
        "{} requests answered alike but for {counts:?}",
        corpus.len()
    );
    assert!(
        counts.keys().eq(&["I-1", "I-12", "I-13", "I-2", "I-7"]),
        "{counts:?}"
    );
}

#[test]
fn http_is_the_same() {
    let Some(upstream) = Upstream::start() else {
        return;
    };
    let server = start();
    let status = r#"{"action":"status"}"#;
    for bytes in [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "GARBAGE\r\n\r\n".to_owned(),
        request("POST /any?path=1 HTTP/1.1\r\nHost: ::1\r\n", status),
        request("POST http://x/ HTTP/1.1\r\n", status),
        request("POST / HTTP/1.0\r\n", status),
        request("POST / HTTP/1.0\r\nConnection: keep-alive\r\n", status),
        request("POST / HTTP/1.1\r\nConnection: close\r\n", status),
        request("POST / HTTP/1.1\r\nContent-Type: text/plain\r\n", status),
        format!(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n13;x=y\r\n{status}\r\n0\r\nA: b\r\n\r\n"
        ),
        "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n".to_owned(),
    ] {
        let answer = |stream: std::io::Result<TcpStream>| {
            let mut client = Client::new(stream.unwrap());
            client.send(&bytes);
            client.answer()
        };
        let their = answer(TcpStream::connect(upstream.address));
        let mut our = answer(TcpStream::connect(server.address));
        // Both close the connection where the other says so, but only the newer HTTP library tells.
        our.headers.retain(|(_, value)| value != "close");
        assert_eq!(
            (their.status, &their.body, names(&their)),
            (our.status, &our.body, names(&our)),
            "{bytes:?}"
        );
    }
}

/// Work that one of them finds is good for the other.
#[test]
fn work_is_valid_both_ways() {
    let Some(upstream) = Upstream::start() else {
        return;
    };
    let server = start();
    let mut theirs = Client::new(TcpStream::connect(upstream.address).unwrap());
    let mut ours = server.connect();
    for number in 0..50 {
        let hash = crate::wire::hash(number);
        let asked = crate::wire::generate(&hash, "fff0000000000000");
        for turn in 0..2 {
            let (finder, judge) = if turn == 0 {
                (&mut theirs, &mut ours)
            } else {
                (&mut ours, &mut theirs)
            };
            let (_, found) = finder.post(&asked);
            let found: Value = serde_json::from_str(&found).unwrap();
            let body = serde_json::json!({
                "action": "work_validate", "hash": hash, "work": found["work"], "difficulty": "fff0000000000000"
            });
            let (_, judged) = judge.post(&body.to_string());
            let judged: Value = serde_json::from_str(&judged).unwrap();
            assert_eq!(judged["valid"], "1");
            for key in ["difficulty", "multiplier"] {
                assert_eq!(judged[key], found[key]);
            }
        }
    }
}
