//! A client's connection, as the HTTP library gets to see it.
//!
//! [`Guarded`] sits between a socket and the library and does what the library does not:
//!
//! - Requests whose [framing] is doubtful are refused.
//! - Bytes of a further request stay here while one is being answered. So the library has nothing to
//!   read, and the end of the stream is noticed at once: it means that the client no longer waits.
//! - Idle and slow clients lose their connection, but never while a request is being answered.
//! - After the last answer it reads on for a moment, because closing a socket with unread input would
//!   take the answer away from the client.

use std::io;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::client::Client;
use crate::framing::{self, Body, Chunks, Malformed};

/// How long a client may take.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the connection, or the first byte of a further request, to the end of its head.
    pub head: Duration,
    /// From there to the end of the body, and for each part of an answer that it takes.
    pub body: Duration,
    /// Between an answer and the next request.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            idle: Duration::from_secs(75),
        }
    }
}

/// What is known about the other end, shared by the connection and the requests that come over it.
#[derive(Debug, Default)]
pub struct Peer {
    client: Client,
    answered: AtomicU64,
    reader: Mutex<Option<Waker>>,
    is_gone: AtomicBool,
    gone: Notify,
}

impl Peer {
    /// The other end of a new connection.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            ..Self::default()
        }
    }

    /// Who it is.
    pub fn client(&self) -> Client {
        self.client
    }

    /// Waits until the client has closed its side while a request of it is being answered.
    pub async fn gone(&self) {
        while !self.is_gone.load(Ordering::Acquire) {
            self.gone.notified().await;
        }
    }

    /// The answer to a request is ready, so that the next may come.
    pub fn answered(&self) {
        self.answered.fetch_add(1, Ordering::Release);
        let reader = self
            .reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn leave(&self) {
        if !self.is_gone.swap(true, Ordering::AcqRel) {
            self.gone.notify_one();
        }
    }
}

/// A socket under guard. See the [module](self).
#[derive(Debug)]
pub struct Guarded<S> {
    socket: S,
    peer: Arc<Peer>,
    timeouts: Timeouts,
    /// Bytes from the socket that the library has not taken.
    input: BytesMut,
    /// How many of them it may take.
    passed: usize,
    place: Place,
    /// The requests that have been passed on whole.
    requests: u64,
    end: End,
    /// The bytes that came after the last answer, once there has been one.
    lingered: Option<usize>,
    read_by: Deadline,
    write_by: Deadline,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Place {
    Head,
    Length(u64),
    Chunked(Chunks),
    /// A request is being answered.
    Answer,
    /// Nothing that comes is of interest any more.
    Refused,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum End {
    Open,
    Seen,
}

/// The most input that waits for earlier requests to be answered; beyond it the socket is not read.
const MAX_INPUT_BYTES: usize = 32 << 10;
/// The most that is read at a time.
const READ_BYTES: usize = 4 << 10;
/// How long a closing connection reads on, and how much.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 1 << 20;

/// What the library is shown in place of a request that is refused: it answers both with status 400, and
/// closes the connection.
const NO_HEAD: &[u8] = b"\0\r\n\r\n";
const NO_CHUNK: &[u8] = b"\0\r\n";

impl<S> Guarded<S> {
    /// Guards a new connection.
    pub fn new(socket: S, peer: Arc<Peer>, timeouts: Timeouts) -> Self {
        let mut read_by = Deadline::default();
        read_by.set(Some(timeouts.head));
        Self {
            socket,
            peer,
            timeouts,
            input: BytesMut::new(),
            passed: 0,
            place: Place::Head,
            requests: 0,
            end: End::Open,
            lingered: None,
            read_by,
            write_by: Deadline::default(),
        }
    }

    /// Passes on what is certain of the input.
    fn inspect(&mut self) {
        while self.passed == 0 && (!self.input.is_empty() || self.place == Place::Answer) {
            let before = self.place;
            match self.place {
                // Some clients end a body with an empty line that its length does not cover.
                Place::Head if self.input.starts_with(b"\r\n") => self.input.advance(2),
                Place::Head => match self.head() {
                    Ok(Some((len, place))) => (self.passed, self.place) = (len, place),
                    Ok(None) => return,
                    Err(Malformed) => self.refuse(NO_HEAD),
                },
                Place::Length(left) => {
                    self.passed = usize::try_from(left)
                        .unwrap_or(usize::MAX)
                        .min(self.input.len());
                    self.place = Place::Length(left - self.passed as u64);
                }
                Place::Chunked(mut chunks) => match chunks.read(&self.input) {
                    Ok(len) => (self.passed, self.place) = (len, Place::Chunked(chunks)),
                    Err(Malformed) => self.refuse(NO_CHUNK),
                },
                Place::Answer if self.peer.answered.load(Ordering::Acquire) < self.requests => {
                    return;
                }
                Place::Answer => {
                    self.place = Place::Head;
                    let is_idle = is_empty_line(&self.input);
                    let Timeouts { head, idle, .. } = self.timeouts;
                    self.read_by.set(Some(if is_idle { idle } else { head }));
                }
                Place::Refused => self.passed = self.input.len(),
            }
            let is_whole = match self.place {
                Place::Length(left) => left == 0,
                Place::Chunked(chunks) => chunks.is_at_end(),
                Place::Head | Place::Answer | Place::Refused => false,
            };
            if is_whole {
                self.place = Place::Answer;
                self.requests += 1;
                self.read_by.set(None);
            } else if before == Place::Head && self.place != Place::Head {
                self.read_by.set(Some(self.timeouts.body));
            }
        }
    }

    fn head(&mut self) -> Result<Option<(usize, Place)>, Malformed> {
        let Some(len) = framing::head_len(&self.input)? else {
            return Ok(None);
        };
        let place = match framing::body(&self.input[..len])? {
            Body::Length(length) => Place::Length(length),
            Body::Chunked(chunks) => Place::Chunked(chunks),
        };
        Ok(Some((len, place)))
    }

    fn refuse(&mut self, shown: &[u8]) {
        self.input.clear();
        self.input.extend_from_slice(shown);
        self.passed = shown.len();
        self.place = Place::Refused;
    }
}

/// Whether there is nothing, or an empty line, of a further request.
fn is_empty_line(input: &[u8]) -> bool {
    b"\r\n".starts_with(input)
}

impl<S: AsyncRead + Unpin> Guarded<S> {
    /// Reads more input; whether there was any.
    fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if self.end == End::Seen {
            return Poll::Ready(Ok(false));
        }
        if self.input.len() >= MAX_INPUT_BYTES {
            return Poll::Pending;
        }
        let was_empty = self.input.is_empty();
        let mut chunk = [0; READ_BYTES];
        let mut chunk = ReadBuf::new(&mut chunk);
        ready!(Pin::new(&mut self.socket).poll_read(context, &mut chunk))?;
        if chunk.filled().is_empty() {
            self.end = End::Seen;
            return Poll::Ready(Ok(false));
        }
        self.input.extend_from_slice(chunk.filled());
        let begins = was_empty && !is_empty_line(&self.input);
        if begins && self.place == Place::Head && self.requests > 0 {
            self.read_by.set(Some(self.timeouts.head));
        }
        Poll::Ready(Ok(true))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            this.inspect();
            if this.passed > 0 {
                let len = this.passed.min(buffer.remaining());
                buffer.put_slice(&this.input[..len]);
                this.input.advance(len);
                this.passed -= len;
                return Poll::Ready(Ok(()));
            }
            if this.place == Place::Answer {
                *this
                    .peer
                    .reader
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
            }
            match this.poll_input(context) {
                Poll::Ready(Ok(true)) => {}
                Poll::Ready(Ok(false)) if this.place == Place::Answer => {
                    this.peer.leave();
                    return Poll::Pending;
                }
                Poll::Ready(Ok(false)) => return Poll::Ready(Ok(())),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    ready!(this.read_by.poll(context));
                    return match this.place {
                        // Nothing of the request was passed on: as if it had never begun.
                        Place::Head => Poll::Ready(Ok(())),
                        _ => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                    };
                }
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Guarded<S> {
    fn poll_written<T>(
        &mut self,
        result: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.write_by.set(None);
            return result;
        }
        if !self.write_by.is_set() {
            self.write_by.set(Some(self.timeouts.body));
        }
        ready!(self.write_by.poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.socket).poll_write(context, bytes);
        this.poll_written(written, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.socket).poll_write_vectored(context, slices);
        this.poll_written(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.lingered.is_none() {
            ready!(Pin::new(&mut this.socket).poll_shutdown(context))?;
            this.lingered = Some(0);
            this.write_by.set(Some(LINGER));
        }
        loop {
            this.input.clear();
            match this.poll_input(context) {
                Poll::Ready(Ok(true)) => {
                    let lingered = this
                        .lingered
                        .insert(this.lingered.unwrap_or(0) + this.input.len());
                    if *lingered > LINGER_BYTES {
                        return Poll::Ready(Ok(()));
                    }
                }
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => return this.write_by.poll(context).map(Ok),
            }
        }
    }
}

/// A point in time, if any, by which something must have happened.
#[derive(Debug, Default)]
struct Deadline {
    at: Option<Instant>,
    /// Kept from one deadline to the next, and made when first waited for.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    fn set(&mut self, after: Option<Duration>) {
        self.at = after.map(|after| Instant::now() + after);
    }

    fn is_set(&self) -> bool {
        self.at.is_some()
    }

    /// Ready when it is missed.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else {
            return Poll::Pending;
        };
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        sleep.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    fn guarded() -> (DuplexStream, Guarded<DuplexStream>) {
        let (client, server) = duplex(1 << 20);
        (
            client,
            Guarded::new(server, Arc::default(), Timeouts::default()),
        )
    }

    const ONE: &[u8] = b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}";

    #[tokio::test(start_paused = true)]
    async fn a_second_request_waits_for_the_first_to_be_answered() {
        let (mut client, mut server) = guarded();
        client.write_all(&[ONE, ONE].concat()).await.unwrap();
        let mut seen = vec![0; ONE.len()];
        server.read_exact(&mut seen).await.unwrap();
        assert_eq!(seen, ONE);
        let hour = Duration::from_hours(1);
        tokio::time::timeout(hour, server.read_u8())
            .await
            .unwrap_err();
        server.peer.answered();
        server.read_exact(&mut seen).await.unwrap();
        assert_eq!(seen, ONE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_closes_is_gone_even_with_requests_to_come() {
        let (mut client, mut server) = guarded();
        client.write_all(&[ONE, ONE].concat()).await.unwrap();
        drop(client);
        server.read_exact(&mut vec![0; ONE.len()]).await.unwrap();
        let peer = Arc::clone(&server.peer);
        tokio::select! {
            () = peer.gone() => {}
            _ = server.read_u8() => panic!("nothing to read"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_heads_and_idle_connections_end_as_if_closed() {
        let (mut client, mut server) = guarded();
        let start = Instant::now();
        client.write_all(b"POST / HT").await.unwrap();
        assert_eq!(server.read(&mut [0; 9]).await.unwrap(), 0);
        assert_eq!(start.elapsed().as_secs(), 10);

        for (rest, seconds) in [("", 75), ("\r\n", 75), ("P", 10), ("\r\nP", 10)] {
            let (mut client, mut server) = guarded();
            client
                .write_all(&[ONE, rest.as_bytes()].concat())
                .await
                .unwrap();
            server.read_exact(&mut vec![0; ONE.len()]).await.unwrap();
            server.peer.answered();
            let start = Instant::now();
            assert_eq!(server.read(&mut [0; 9]).await.unwrap(), 0);
            assert_eq!(start.elapsed().as_secs(), seconds, "{rest:?}");
            drop(client);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_bodies_are_errors() {
        let (mut client, mut server) = guarded();
        client.write_all(&ONE[..ONE.len() - 1]).await.unwrap();
        let mut seen = vec![0; ONE.len() - 1];
        server.read_exact(&mut seen).await.unwrap();
        let start = Instant::now();
        let error = server.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(start.elapsed().as_secs(), 10);
    }

    #[tokio::test]
    async fn doubtful_requests_are_replaced() {
        let (mut client, mut server) = guarded();
        client
            .write_all(b"POST / HTTP/1.1\nContent-Length: 2\r\n\r\n{}")
            .await
            .unwrap();
        let mut seen = vec![0; NO_HEAD.len()];
        server.read_exact(&mut seen).await.unwrap();
        assert_eq!(seen, NO_HEAD);
    }

    #[tokio::test(start_paused = true)]
    async fn closing_waits_for_the_client_but_not_long() {
        let (mut client, mut server) = guarded();
        client.write_all(&vec![0; 100_000]).await.unwrap();
        let start = Instant::now();
        server.shutdown().await.unwrap();
        assert_eq!(start.elapsed(), LINGER);
        let (client, mut server) = guarded();
        drop(client);
        let start = Instant::now();
        server.shutdown().await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}
