//! `lanework work serve` from outside: the work server's own tests cover what it serves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Files, lanework, output, refused, stdout};

fn serve() -> Command {
    let mut command = lanework();
    command
        .args(["work", "serve"])
        .env_remove("NANO_WORK_SERVER_API_KEY");
    command
}

#[test]
fn it_serves_until_a_signal() {
    let files = Files::new();
    let config = files.write(
        "server.toml",
        "listen-address = \"127.0.0.1:0\"\ncpu-kernel = \"scalar\"\ncpu-threads = 2\n",
    );
    let mut child = serve()
        .args(["--config", &config, "-c", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut line = || lines.next().expect("a line").expect("UTF-8");
    assert_eq!(
        line(),
        "CPU work kernel: scalar (1 nonces per instruction stream, 1 threads)"
    );
    line();
    let ready = line();
    let address = ready
        .strip_prefix("Ready to receive requests on ")
        .expect("an address");
    let mut stream = TcpStream::connect(address).expect("a connection");
    let body = r#"{"action":"status"}"#;
    write!(
        stream,
        "POST / HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("a request is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(
        answer.ends_with(r#"{"generating":"0","queue_size":"0"}"#),
        "{answer}"
    );
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process"), Signal::TERM).expect("a signal is sent");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn it_exits_as_other_commands_do() {
    let help = output(serve().arg("--help"));
    assert_eq!(help.status.code(), Some(0));
    for part in ["lanework work serve", "--listen-address", "--cpu-threads"] {
        assert!(stdout(&help).contains(part), "{part}");
    }
    let files = Files::new();
    let config = |text| files.write("server.toml", text);
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    for (arguments, part) in [
        (&[][..], "hint: give --cpu-threads"),
        (&["-c", "many"], "--cpu-threads"),
        (&["-c", "1", "--nonsense"], "--nonsense"),
        (&["-c", "1", "-l", &taken], &taken),
        (&["-c", "1", "--config", "/nowhere.toml"], "/nowhere.toml"),
    ] {
        refused(&[&["work", "serve"], arguments].concat(), &[part]);
    }
    let clash = [
        "work",
        "serve",
        "--max-difficulty=ff",
        "--config",
        &config("max-multiplier = 2"),
    ];
    refused(&clash, &["cannot be used with"]);
}
