//! Listens, serves connections, and stops without leaving anyone unanswered.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::Request as HttpRequest;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower::ServiceExt;
use tracing::{debug, warn};

use crate::app::{Server, app};
use crate::client::Client;
use crate::connection::{Guarded, Peer, Timeouts};
use crate::gate::subnet;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl std::str::FromStr for Address {
    type Err = std::net::AddrParseError;

    /// Reads `127.0.0.1:7076`, `[::1]:7076`, `unix:PATH` or a path that begins with `/`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("unix:") {
            Some(path) => Ok(Self::Unix(path.into())),
            None if text.starts_with('/') => Ok(Self::Unix(text.into())),
            None => text.parse().map(Self::Tcp),
        }
    }
}

/// A socket that takes connections.
#[derive(Debug)]
pub enum Listener {
    /// On an IP address.
    Tcp(TcpListener),
    /// On a path, which is removed with it.
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Listens on an address. Must be called within the runtime that will serve it.
    ///
    /// # Errors
    /// If the address is not there, or in use.
    pub fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => bind_tcp(*address).map(Self::Tcp),
            Address::Unix(path) => {
                bind_unix(path).map(|listener| Self::Unix(listener, path.clone()))
            }
        }
    }

    /// Where it listens, with the port that the system chose if it was asked to.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Address::Tcp),
            Self::Unix(_, path) => Ok(Address::Unix(path.clone())),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    const BACKLOG: i32 = 4096;
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    if address.is_ipv6() {
        // So that an IPv4 address with the same port can be listened on as well.
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(cfg!(unix))?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        // What an earlier process left behind takes no connections. A file that is no socket refuses
        // them as well, and is somebody's.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_socket(path) => {
            match std::os::unix::net::UnixStream::connect(path) {
                Err(gone) if gone.kind() == io::ErrorKind::ConnectionRefused => {
                    std::fs::remove_file(path)?;
                    UnixListener::bind(path)
                }
                _ => Err(error),
            }
        }
        result => result,
    }
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
}

/// How many connections there may be, and how long they may take.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Connections {
    /// The most at a time.
    pub most: usize,
    /// The most from one IPv4 address or /64 of IPv6, except from this machine.
    pub most_per_address: usize,
    /// How long a client may take.
    pub timeouts: Timeouts,
    /// How long searches may go on once the server is to stop.
    pub grace: Duration,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            most: 16_384,
            most_per_address: 4_096,
            timeouts: Timeouts::default(),
            grace: Duration::from_secs(10),
        }
    }
}

/// Serves until `stop` is done, then finishes or answers what runs.
pub async fn serve(
    listeners: Vec<Listener>,
    server: Arc<Server>,
    connections: Connections,
    stop: impl Future<Output = ()>,
) {
    let house = Arc::new(House {
        app: app(Arc::clone(&server)),
        server: Arc::clone(&server),
        connections,
        guests: Mutex::default(),
    });
    let (stopping, stopped) = watch::channel(());
    let mut tasks = JoinSet::new();
    for listener in listeners {
        tasks.spawn(accept(listener, Arc::clone(&house), stopped.clone()));
    }
    let sampler = tokio::spawn(sample(Arc::clone(&server)));
    drop(stopped);
    stop.await;

    server.engine.refuse();
    // Those who accept end with this, and drop their sockets; so does every connection that is idle.
    let _ = stopping.send(());
    while tasks.join_next().await.is_some() {}
    if timeout(connections.grace, stopping.closed()).await.is_err() {
        warn!("stopping with requests unfinished");
        server.engine.stop();
        // Long enough to write the answers and be heard.
        let _ = timeout(Duration::from_secs(3), stopping.closed()).await;
    }
    server.engine.stop();
    sampler.abort();
}

async fn sample(server: Arc<Server>) {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    loop {
        let now = seconds.tick().await;
        server.metrics.sample(&server.engine, now.into_std());
    }
}

struct House {
    app: Router,
    server: Arc<Server>,
    connections: Connections,
    /// The connections by address, and how many in all.
    guests: Mutex<(HashMap<IpAddr, usize>, usize)>,
}

/// A place for one connection.
struct Seat {
    house: Arc<House>,
    counted: Option<IpAddr>,
    client: Client,
}

impl House {
    fn seat(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Seat> {
        let mut guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        let (by_address, all) = &mut *guests;
        // A proxy on this machine stands for everyone behind it.
        let counted = address.filter(|address| !address.is_loopback()).map(subnet);
        let theirs = counted.map_or(0, |address| by_address.get(&address).copied().unwrap_or(0));
        if *all >= self.connections.most || theirs >= self.connections.most_per_address {
            return None;
        }
        *all += 1;
        if let Some(address) = counted {
            by_address.insert(address, theirs + 1);
        }
        self.server.metrics.connections.inc();
        let client = address.map_or(Client::Unknown, Client::Address);
        Some(Seat {
            house: Arc::clone(self),
            counted,
            client,
        })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut guests = self
            .house
            .guests
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (by_address, all) = &mut *guests;
        *all -= 1;
        if let Some(address) = self.counted
            && let Some(theirs) = by_address.get_mut(&address)
        {
            *theirs -= 1;
            if *theirs == 0 {
                by_address.remove(&address);
            }
        }
        self.house.server.metrics.connections.dec();
    }
}

async fn accept(listener: Listener, house: Arc<House>, stopped: watch::Receiver<()>) {
    let mut stopping = stopped.clone();
    loop {
        let accepted = tokio::select! {
            _ = stopping.changed() => return,
            accepted = accept_one(&listener, &house, &stopped) => accepted,
        };
        match accepted {
            Ok(()) => {}
            // The client has gone before it was greeted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                // Such as no more files: others must close first.
                warn!("cannot accept: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn accept_one(
    listener: &Listener,
    house: &Arc<House>,
    stopped: &watch::Receiver<()>,
) -> io::Result<()> {
    match listener {
        Listener::Tcp(listener) => {
            let (socket, address) = listener.accept().await?;
            // Answers are small, and written whole.
            socket.set_nodelay(true)?;
            // An IPv4 client of an IPv6 socket is the same client.
            let address = address.ip().to_canonical();
            admit(socket, Some(address), house, stopped);
        }
        Listener::Unix(listener, _) => {
            let (socket, _) = listener.accept().await?;
            admit(socket, None, house, stopped);
        }
    }
    Ok(())
}

fn admit<S>(socket: S, address: Option<IpAddr>, house: &Arc<House>, stopped: &watch::Receiver<()>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    if let Some(seat) = house.seat(address) {
        tokio::spawn(connection(socket, seat, stopped.clone()));
    } else {
        debug!("too many connections");
    }
}

async fn connection<S>(socket: S, seat: Seat, mut stopped: watch::Receiver<()>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let house = &seat.house;
    let peer = Arc::new(Peer::new(seat.client));
    let socket = Guarded::new(socket, Arc::clone(&peer), house.connections.timeouts);
    let service = service_fn(|mut request: HttpRequest<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&peer));
        let (app, peer) = (house.app.clone(), Arc::clone(&peer));
        async move {
            let response = app.oneshot(request.map(axum::body::Body::new)).await;
            peer.answered();
            response
        }
    });
    let mut http = http1::Builder::new();
    // The guard has its own timers, which know whether a request is being answered.
    http.header_read_timeout(None).max_buf_size(64 << 10);
    let mut connection = pin!(http.serve_connection(TokioIo::new(socket), service));
    let served = tokio::select! {
        served = connection.as_mut() => served,
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        // Clients come and go as they please.
        debug!("connection: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_in_the_place_of_a_socket_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("notes");
        std::fs::write(&path, "precious").expect("a file");
        let error = Listener::bind(&Address::Unix(path.clone())).expect_err("a file is there");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert_eq!(std::fs::read_to_string(&path).expect("still"), "precious");
    }

    #[tokio::test]
    async fn a_socket_that_was_left_behind_is_taken_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("socket");
        drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
        assert!(path.exists());
        let listener = Listener::bind(&Address::Unix(path.clone())).expect("nobody listens");
        drop(listener);
        assert!(!path.exists());
    }
}
