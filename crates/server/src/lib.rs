//! A work server: finds and checks Nano proof-of-work for whoever asks over HTTP.
//!
//! The binary `nano-work-server` replaces the server of the same name that Nano nodes and wallets
//! have been pointed at for years. It is a thin shell around this library, and so is
//! `lanework work serve`. The parts are:
//!
//! | module | what it does |
//! |---|---|
//! | [`request`] | reads a request: bytes to a [`request::Request`] or the body of the refusal |
//! | [`reply`] | what is answered, byte for byte |
//! | [`queue`] | who waits for what, and what is searched next |
//! | [`worker`], `gpu`, [`engine`] | what searches, and the threads it does it on |
//! | [`app`] | the HTTP interface; [`settings`], [`gate`] and [`client`] say who may do what |
//! | [`serve`] | sockets, and the end; [`connection`] and [`framing`] keep clients in order |
//! | [`options`] | the command line and the configuration file; [`command`] does what they say |
//! | [`metrics`], [`dashboard`], [`log`] | what can be seen from outside |
//! | [`cache`] | work that was found before |
//!
//! The interface is a service that needs no socket:
//!
//! ```
//! use std::sync::Arc;
//!
//! use axum::body::{Body, to_bytes};
//! use axum::http::Request;
//! use lanework_nano::Kernel;
//! use lanework_server::app::{Server, app};
//! use lanework_server::engine::Engine;
//! use lanework_server::queue::Order;
//! use lanework_server::settings::Settings;
//! use lanework_server::worker::Cpu;
//! use tower::ServiceExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kernel = Kernel::from_name("scalar")?;
//! let engine = Engine::start(vec![Box::new(Cpu::new(kernel, 0))], Order::Arrival, 100)?;
//! let server = Arc::new(Server::new(Settings::default(), engine, kernel.name()));
//!
//! let request = Request::post("/").body(Body::from(r#"{"action":"status"}"#))?;
//! let response = app(server).oneshot(request).await?;
//! let body = to_bytes(response.into_body(), 1000).await?;
//! assert_eq!(&body[..], br#"{"generating":"0","queue_size":"0"}"#);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod app;
pub mod cache;
pub mod client;
pub mod command;
pub mod connection;
pub mod dashboard;
pub mod engine;
pub mod framing;
pub mod gate;
#[cfg(feature = "opencl")]
pub mod gpu;
pub mod log;
pub mod metrics;
pub mod options;
pub mod queue;
pub mod reply;
pub mod request;
pub mod serve;
pub mod settings;
pub mod worker;
