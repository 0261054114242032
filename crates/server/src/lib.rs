//! A work server: finds and checks Nano proof-of-work for whoever asks over HTTP.
//!
//! The binary `nano-work-server` replaces the server of the same name that Nano nodes and wallets
//! have been pointed at for years. It is a thin shell around this library, whose parts are:
//!
//! | module | what it does |
//! |---|---|
//! | [`request`] | reads a request: bytes to a [`request::Request`] or the body of the refusal |
//! | [`reply`] | what is answered, byte for byte |
//! | [`queue`] | who waits for what, and what is searched next |
//! | [`worker`], [`engine`] | what searches, and the threads it does it on |

#![forbid(unsafe_code)]

pub mod client;
pub mod engine;
pub mod queue;
pub mod reply;
pub mod request;
pub mod worker;
