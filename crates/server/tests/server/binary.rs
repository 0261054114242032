//! The binary: options, exit codes, output, signals.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::wire::{Client, HASH, NEVER, assert_work, generate, request, wait_for};

pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nano-work-server"));
    command
        .env_remove("NANO_WORK_SERVER_API_KEY")
        .stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    command().args(arguments).output().unwrap()
}

pub(crate) fn failure(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The binary, and the lines it prints.
pub(crate) struct Started {
    child: Child,
    lines: mpsc::Receiver<String>,
    pub(crate) seen: Vec<String>,
    address: String,
}

impl Started {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        Self::of(command().args(arguments))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        let mut started = Self {
            child,
            lines,
            seen: Vec::new(),
            address: String::new(),
        };
        let ready = started.line("Ready to receive requests on ");
        ready
            .rsplit(' ')
            .next()
            .unwrap()
            .clone_into(&mut started.address);
        started
    }

    /// Waits for a line with this in it.
    fn line(&mut self, part: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(20));
            let line = line.unwrap_or_else(|_| panic!("no line with {part:?} in {:?}", self.seen));
            self.seen.push(line.clone());
            if line.contains(part) {
                return line;
            }
        }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::new(TcpStream::connect(&self.address).unwrap())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "it does not stop"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ANY: &[&str] = &["-l", "127.0.0.1:0", "-c", "1"];

#[test]
fn help_and_version() {
    let help = run(&["--help"]);
    assert!(help.status.success());
    let text = String::from_utf8(help.stdout).unwrap();
    for option in [
        "--listen-address",
        "--cpu-threads",
        "--gpu",
        "--gpu-local-work-size",
        "--list-devices",
        "--shuffle",
        "--cpu-kernel",
    ] {
        assert!(text.contains(option), "{option}");
    }
    let version = run(&["-V"]);
    assert!(version.status.success());
    assert_eq!(
        version.stdout,
        format!("nano-work-server {}\n", env!("CARGO_PKG_VERSION")).as_bytes()
    );
}

#[test]
fn errors_are_said_and_exit_with_1() {
    let nothing = failure(&[]);
    assert!(
        nothing.contains("--gpu") && nothing.contains("--cpu-threads"),
        "{nothing}"
    );
    #[cfg(not(feature = "opencl"))]
    assert!(failure(&["-g", "0:0"]).contains("no support for OpenCL"));
    assert!(failure(&["-c", "1", "--cpu-kernel", "quick"]).contains("quick"));
    let foreign = if cfg!(target_arch = "x86_64") {
        "neon"
    } else {
        "avx2"
    };
    let missing = failure(&["-c", "1", "--cpu-kernel", foreign]);
    assert!(missing.contains("scalar"), "{missing}");
    assert!(failure(&["-c", "1", "-l", "nowhere"]).contains("nowhere"));
    assert!(failure(&["--nonsense"]).contains("--nonsense"));
    assert!(failure(&["-c", "1", "--config", "/nowhere.toml"]).contains("/nowhere.toml"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let message = failure(&["-c", "1", "-l", &address]);
    assert!(message.contains(&address), "{message}");
    let output = command()
        .args(ANY)
        .env("NANO_WORK_SERVER_API_KEY", "")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn lines_that_scripts_look_for() {
    let mut server = Started::new(&["-l", "127.0.0.1:0", "-c", "2", "--cpu-kernel", "scalar"]);
    assert_eq!(
        server.seen[0],
        "CPU work kernel: scalar (1 nonces per instruction stream, 2 threads)"
    );
    assert_eq!(
        server.seen[1],
        "Configured for the live network with threshold fffffff800000000"
    );
    let mut client = server.connect();
    assert_work(&client.post(&generate(&HASH.to_lowercase(), "ff")), HASH, 0);
    let received = server.line("Received work for ");
    assert!(
        received.ends_with(&format!(" Received work for {HASH}")),
        "{received}"
    );
    assert_eq!(
        (&received[2..3], &received[5..6], &received[8..9]),
        (":", ":", " ")
    );
    let generated = server.line("Generated for ");
    assert!(
        generated.contains(HASH) && generated.ends_with("ms for difficulty ff"),
        "{generated}"
    );
    client.post(&crate::wire::cancel(HASH));
    assert_eq!(server.line("Cancel "), format!("Cancel {HASH}"));
    client.post(r#"{"action":"status"}"#);
    assert_eq!(
        server.line("Status "),
        r#"Status {"generating":"0","queue_size":"0"}"#
    );
    client.post(&format!(
        r#"{{"action":"work_validate","hash":"{HASH}","work":"00"}}"#
    ));
    assert_eq!(server.line("Validate "), format!("Validate {HASH}"));
    client.post(r#"{"action":"benchmark","count":"2","multiplier":"1e-9"}"#);
    assert!(
        server
            .line("Benchmarking ")
            .starts_with("Benchmarking 2 samples at difficulty ")
    );
    assert!(server.line("Benchmark finished ").contains("ms , average "));
}

#[test]
fn several_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("work.sock");
    let unix = format!("unix:{}", path.display());
    let config = folder.path().join("server.toml");
    std::fs::write(
        &config,
        format!("cpu-threads = 1\nlisten-address = [\"127.0.0.1:0\", {unix:?}]\n"),
    )
    .unwrap();
    let mut server = Started::new(&["--config", config.to_str().unwrap()]);
    server.line("Ready to receive requests on unix:");
    assert_eq!(server.connect().post("{}").0, 400);
    let mut stream = UnixStream::connect(&path).unwrap();
    let body = generate(HASH, "0");
    std::io::Write::write_all(
        &mut stream,
        request("POST / HTTP/1.0\r\n", &body).as_bytes(),
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.0 200 OK\r\n") && answer.contains("\"work\""),
        "{answer}"
    );
    server.signal(Signal::TERM);
    assert!(server.wait().success());
    assert!(!path.exists());
    // One that was left behind by a crash is no obstacle.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let again = Started::new(&["-l", "127.0.0.1:0", "-l", &unix, "-c", "1"]);
    wait_for("the socket", || UnixStream::connect(&path).is_ok());
    drop(again);
}

#[test]
fn a_signal_lets_what_runs_finish() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Started::new(&[ANY, &["--stop-timeout", "20"]].concat());
        let mut idle = server.connect();
        assert_eq!(idle.post("{}").0, 400);
        let mut client = server.connect();
        // About a second with the slowest kernel.
        client.send_post(&generate(HASH, "ffffff0000000000"));
        server.line("Received work for ");
        // The line comes just before the search.
        std::thread::sleep(std::time::Duration::from_millis(100));
        server.signal(signal);
        server.line("Stopping");
        assert!(idle.is_closed());
        wait_for("the socket to close", || {
            TcpStream::connect(&server.address).is_err()
        });
        let answer = client.answer();
        assert_work(&(answer.status, answer.body), HASH, 0xffffff0000000000);
        assert!(client.is_closed());
        assert!(server.wait().success());
    }
}

#[test]
fn a_signal_leaves_nobody_unanswered() {
    let mut server = Started::new(&[ANY, &["--stop-timeout", "1"]].concat());
    let mut clients: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for (number, client) in (0..).zip(&mut clients) {
        client.send_post(&generate(&crate::wire::hash(number), NEVER));
        server.line("Received work for ");
    }
    server.signal(Signal::TERM);
    for client in &mut clients {
        let answer = client.answer();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"error":"Server is shutting down"}"#)
        );
    }
    assert!(server.wait().success());
    // A second signal does not wait.
    let mut server = Started::new(&[ANY, &["--stop-timeout", "1000"]].concat());
    let mut client = server.connect();
    client.send_post(&generate(HASH, NEVER));
    server.line("Received work for ");
    server.signal(Signal::TERM);
    server.line("Stopping");
    server.signal(Signal::TERM);
    assert_eq!(
        client.answer().body,
        r#"{"error":"Server is shutting down"}"#
    );
    assert!(server.wait().success());
}

#[test]
fn requests_during_the_end_are_refused_politely() {
    let mut server = Started::new(&[ANY, &["--stop-timeout", "2"]].concat());
    let mut client = server.connect();
    // A pipelined request waits behind one that is being answered.
    client.send_post(&generate(HASH, NEVER));
    server.line("Received work for ");
    server.signal(Signal::TERM);
    server.line("Stopping");
    assert_eq!(
        client.answer().body,
        r#"{"error":"Server is shutting down"}"#
    );
    assert!(client.is_closed());
    assert!(server.wait().success());
}

#[test]
fn closed_output_is_no_reason_to_stop() {
    let mut server = Started::new(ANY);
    // Ends the thread that reads, and with it the pipe.
    let address = server.address.clone();
    server.lines = mpsc::channel().1;
    for _ in 0..50 {
        let mut client = Client::new(TcpStream::connect(&address).unwrap());
        assert_work(&client.post(&generate(HASH, "0")), HASH, 0);
    }
    server.signal(Signal::TERM);
    assert!(server.wait().success());
}

#[test]
fn keys_from_the_environment_and_from_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "from-file\n").unwrap();
    let path = file.path().to_str().unwrap();
    let mut command = command();
    command
        .args(ANY)
        .args(["--api-key-file", path])
        .env("NANO_WORK_SERVER_API_KEY", "from-environment");
    let server = Started::of(&mut command);
    for (key, status) in [
        ("from-file", 400),
        ("from-environment", 400),
        ("other", 401),
    ] {
        let mut client = server.connect();
        client.send(request(
            &format!("POST / HTTP/1.1\r\nnano-api-key: {key}\r\n"),
            "{}",
        ));
        assert_eq!(client.answer().status, status, "{key}");
    }
}
