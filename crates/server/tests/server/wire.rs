//! A server on a socket of its own, and clients that send bytes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lanework_nano::Kernel;
use lanework_server::app::Server;
use lanework_server::cache::Cache;
use lanework_server::engine::Engine;
use lanework_server::queue::Order;
use lanework_server::serve::{Address, Connections, Listener, serve};
use lanework_server::settings::Settings;
use lanework_server::worker::{Cpu, Worker};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) const HASH: &str = "718CC2121C3E641059BC1C2CFC45666C99E8AE922F7A807B7D07B62C995D79E2";
/// A difficulty that nobody reaches.
pub(crate) const NEVER: &str = "ffffffffffffffff";

/// A running server. Dropping it stops it, and fails if something is left.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) server: Arc<Server>,
    runtime: Option<Runtime>,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<()>>,
}

pub(crate) struct Setup {
    pub(crate) settings: Settings,
    pub(crate) connections: Connections,
    pub(crate) workers: Vec<Box<dyn Worker>>,
    pub(crate) order: Order,
    pub(crate) max_queue: usize,
    pub(crate) cache: Option<Cache>,
}

impl Default for Setup {
    fn default() -> Self {
        let kernel = Kernel::best();
        let worker = |index| Box::new(Cpu::new(kernel, index)) as Box<dyn Worker>;
        Self {
            settings: Settings::default(),
            connections: Connections {
                grace: Duration::from_millis(100),
                ..Connections::default()
            },
            workers: (0..2).map(worker).collect(),
            order: Order::Arrival,
            max_queue: 10_000,
            cache: None,
        }
    }
}

impl Setup {
    pub(crate) fn start(self) -> Running {
        self.start_on("127.0.0.1:0")
    }

    pub(crate) fn start_on(self, address: &str) -> Running {
        let engine = Engine::start(self.workers, self.order, self.max_queue).unwrap();
        let mut server = Server::new(self.settings, engine, "test");
        server.cache = self.cache;
        let server = Arc::new(server);
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let listener = {
            let _context = runtime.enter();
            Listener::bind(&address.parse().unwrap()).unwrap()
        };
        let Address::Tcp(address) = listener.address().unwrap() else {
            panic!("no port")
        };
        let (stop, stopped) = oneshot::channel();
        let serving = serve(
            vec![listener],
            Arc::clone(&server),
            self.connections,
            async {
                let _ = stopped.await;
            },
        );
        let served = runtime.spawn(serving);
        Running {
            address,
            server,
            runtime: Some(runtime),
            stop: Some(stop),
            served: Some(served),
        }
    }
}

pub(crate) fn start() -> Running {
    Setup::default().start()
}

pub(crate) fn with(settings: Settings) -> Running {
    Setup {
        settings,
        ..Setup::default()
    }
    .start()
}

impl Running {
    pub(crate) fn connect(&self) -> Client {
        Client::new(TcpStream::connect(self.address).unwrap())
    }

    /// One request on a connection of its own.
    pub(crate) fn post(&self, body: &str) -> (u16, String) {
        self.connect().post(body)
    }

    pub(crate) fn status(&self) -> String {
        self.post(r#"{"action":"status"}"#).1
    }

    /// Waits until nothing is searched and nobody waits.
    pub(crate) fn wait_idle(&self) {
        wait_for("the server to be idle", || {
            let load = self.server.engine.load();
            !load.is_searching && load.queued == 0 && load.waiters == 0
        });
    }

    pub(crate) fn wait_waiters(&self, count: usize) {
        wait_for("requests to wait", || {
            self.server.engine.load().waiters == count
        });
    }

    /// The value of a metric.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.server.metrics.text(&self.server.engine);
        let line = text.lines().find(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(' '))
        });
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let (runtime, served) = (self.runtime.take().unwrap(), self.served.take().unwrap());
        let ended =
            runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), served).await });
        if thread::panicking() {
            runtime.shutdown_background();
            return;
        }
        ended.expect("the server stops in time").unwrap();
        assert_eq!(
            self.metric("nano_work_connections"),
            0,
            "connections are left"
        );
        let load = self.server.engine.load();
        assert_eq!(
            (load.is_searching, load.queued, load.waiters),
            (false, 0, 0)
        );
        runtime.shutdown_timeout(Duration::from_secs(1));
        assert_eq!(
            Arc::strong_count(&self.server),
            1,
            "a task holds on to the server"
        );
    }
}

pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "waited too long for {what}"
        );
        thread::sleep(Duration::from_millis(1));
    }
}

/// A connection that sends and shows bytes.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    reader: BufReader<TcpStream>,
}

/// An answer as it came over the wire.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Client {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream.set_nodelay(true).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        Self { stream, reader }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends a request like most clients do.
    pub(crate) fn send_post(&mut self, body: &str) {
        self.send(request("POST / HTTP/1.1\r\nHost: localhost\r\n", body));
    }

    pub(crate) fn post(&mut self, body: &str) -> (u16, String) {
        self.send_post(body);
        let answer = self.answer();
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{answer:?}"
        );
        (answer.status, answer.body)
    }

    pub(crate) fn answer(&mut self) -> Answer {
        self.try_answer(true).expect("an answer")
    }

    /// An answer to HEAD.
    pub(crate) fn answer_without_body(&mut self) -> Answer {
        self.try_answer(false).expect("an answer")
    }

    pub(crate) fn try_answer(&mut self, has_body: bool) -> io::Result<Answer> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let status = line
            .split(' ')
            .nth(1)
            .unwrap_or_else(|| panic!("{line:?}"))
            .parse()
            .unwrap();
        let mut headers = Vec::new();
        loop {
            line.clear();
            self.reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut answer = Answer {
            status,
            headers,
            body: String::new(),
        };
        let length = answer
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; if has_body { length } else { 0 }];
        self.reader.read_exact(&mut body)?;
        answer.body = String::from_utf8(body).unwrap();
        Ok(answer)
    }

    /// Whether the other end has closed, with nothing more to read.
    pub(crate) fn is_closed(&mut self) -> bool {
        match self.reader.fill_buf() {
            Ok(rest) => rest.is_empty(),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => true,
            Err(error) => panic!("neither closed nor anything to read: {error}"),
        }
    }

    /// Closes with a reset instead of an orderly end.
    pub(crate) fn reset(self) {
        let socket = socket2::SockRef::from(&self.stream);
        socket.set_linger(Some(Duration::ZERO)).unwrap();
    }
}

/// A head with the length of the body, and the body.
pub(crate) fn request(head: &str, body: &str) -> String {
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

pub(crate) fn generate(hash: &str, difficulty: &str) -> String {
    format!(r#"{{"action":"work_generate","hash":"{hash}","difficulty":"{difficulty}"}}"#)
}

pub(crate) fn cancel(hash: &str) -> String {
    format!(r#"{{"action":"work_cancel","hash":"{hash}"}}"#)
}

/// A hash for each number.
pub(crate) fn hash(number: u64) -> String {
    format!("{number:064X}")
}

/// Checks that an answer is work for a hash, and returns the work.
pub(crate) fn assert_work((status, body): &(u16, String), hash: &str, threshold: u64) -> u64 {
    assert_eq!(*status, 200, "{body}");
    let value: serde_json::Value = serde_json::from_str(body).unwrap();
    let word = |key: &str| {
        let text = value[key].as_str().unwrap_or_else(|| panic!("{body}"));
        assert_eq!(text.len(), 16, "{body}");
        u64::from_str_radix(text, 16).unwrap()
    };
    let root: Vec<u8> = (0..32)
        .map(|at| u8::from_str_radix(&hash[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let (work, difficulty) = (word("work"), word("difficulty"));
    assert_eq!(
        lanework_nano::validate(&root.try_into().unwrap(), work),
        difficulty
    );
    assert!(difficulty >= threshold, "{body}");
    assert_eq!(value.as_object().unwrap().len(), 3);
    work
}
