//! The dashboard as a browser shows it.
//!
//! `LANEWORK_CHROMIUM` names the binary; otherwise it is `chromium` on the path.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lanework_testkit::isas;

use crate::wire::{Client, HASH, NEVER, Running, generate, hash, start, wait_for};

const BINARY: &str = "LANEWORK_CHROMIUM";

/// What the browser has made of a page after five seconds of its own time, which does not pass while it
/// waits for an answer.
fn document(url: &str) -> Option<String> {
    let binary = std::env::var_os(BINARY).unwrap_or_else(|| "chromium".into());
    let profile = tempfile::tempdir().unwrap();
    let mut data = std::ffi::OsString::from("--user-data-dir=");
    data.push(profile.path());
    let output = Command::new("timeout")
        .arg("120")
        .arg(&binary)
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--disable-quic", "--no-first-run"])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg(data)
        .args(["--virtual-time-budget=5000", "--dump-dom", url])
        .stdin(Stdio::null())
        .output();
    let output = match output {
        // What `timeout` says of a program that is not there.
        Ok(output) if output.status.code() == Some(127) => {
            isas::skip("chromium", &format!("there is no {}", binary.display()));
            return None;
        }
        Err(error) => {
            isas::skip("chromium", &format!("cannot run timeout: {error}"));
            return None;
        }
        Ok(output) => output,
    };
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {messages}", output.status);
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Stands between the browser and the server, and calls `before_second` before the page is fetched for
/// the second time: by the script in it.
fn between(server: SocketAddr, before_second: impl Fn() + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let shared = Arc::new((AtomicUsize::new(0), before_second));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let shared = Arc::clone(&shared);
            // The browser may end a connection at any time.
            thread::spawn(move || pass_on(&stream, server, &shared.0, &shared.1));
        }
    });
    address
}

/// Passes one request on.
fn pass_on(
    stream: &TcpStream,
    server: SocketAddr,
    fetched: &AtomicUsize,
    before_second: &impl Fn(),
) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or("/").to_owned();
    while line != "\r\n" {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
    }
    if path == "/dashboard" && fetched.fetch_add(1, Ordering::SeqCst) == 1 {
        before_second();
    }
    let mut upstream = TcpStream::connect(server)?;
    write!(
        upstream,
        "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer)?;
    let mut stream = stream;
    stream.write_all(&answer)?;
    stream.shutdown(Shutdown::Write)
}

/// The number or name that the page shows for this, as its markup has it.
fn shown<'a>(document: &'a str, name: &str) -> &'a str {
    let start = format!("<dt>{name}</dt><dd>");
    let (_, rest) = document
        .split_once(&start)
        .unwrap_or_else(|| panic!("no {name} in\n{document}"));
    rest.split('<').next().unwrap()
}

/// Two requests that wait, the one of them for the other.
fn wait_for_ever(server: &Running) -> [Client; 2] {
    [1, 2].map(|number| {
        let mut client = server.connect();
        client.send_post(&generate(&hash(number), NEVER));
        server.wait_waiters(number as usize);
        client
    })
}

#[test]
fn the_dashboard_refreshes_itself() {
    let server = Arc::new(start());
    server.post(&generate(HASH, "0"));
    let waiting = Arc::new(std::sync::Mutex::new(Vec::new()));
    let address = {
        let (server, waiting) = (Arc::downgrade(&server), Arc::clone(&waiting));
        between(server.upgrade().unwrap().address, move || {
            let server = server.upgrade().unwrap();
            waiting.lock().unwrap().extend(wait_for_ever(&server));
            wait_for("a hash rate", || {
                let history = server.server.metrics.history();
                history.rates.back().is_some_and(|&rate| rate > 1e4)
            });
        })
    };
    let document = document(&format!("http://{address}/dashboard"));
    let searches = waiting.lock().unwrap().len();
    waiting.lock().unwrap().clear();
    server.wait_idle();
    let Some(document) = document else {
        return;
    };
    assert_eq!(searches, 2, "the page does not fetch itself: {document}");
    assert_eq!(shown(&document, "state"), "searching");
    assert_eq!(shown(&document, "searches queued"), "1");
    assert_eq!(shown(&document, "requests waiting"), "2");
    let rate = shown(&document, "hash rate");
    let number = rate.split(' ').next().unwrap().parse::<f64>();
    assert!(number.is_ok_and(|rate| rate > 0.0), "{rate}");
    for part in ["kernel test", "live network", HASH, "<body>"] {
        assert!(document.contains(part), "{part} in\n{document}");
    }
}
