//! What the binary does with its options, for every binary that does it.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::warn;

use crate::app::Server;
use crate::cache::Cache;
use crate::engine::Engine;
use crate::log;
use crate::options::{self, Options};
use crate::serve::{Address, Listener, serve};
use crate::settings::ApiKey;
use crate::worker::{Cpu, Worker};

/// Takes a key besides those in the file.
const API_KEY: &str = "NANO_WORK_SERVER_API_KEY";
/// Threads for HTTP, which have little to do between two searches.
const HTTP_THREADS: usize = 2;

/// Serves until a signal ends it, and logs to the standard streams of the process.
///
/// # Errors
/// If it cannot start, with what is wrong.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let (workers, kernel) = workers(options)?;
    let settings = options.settings(api_keys(options)?);
    let is_public = settings.api_keys.is_empty();
    let cache = options.cache.as_deref().map(|path| {
        Cache::open(path, options.max_cache.get())
            .with_context(|| format!("cannot open the cache {}", path.display()))
    });
    let cache = cache.transpose()?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(HTTP_THREADS)
        .enable_all()
        .build()?;
    let _context = runtime.enter();
    let bind =
        |address| Listener::bind(address).with_context(|| format!("cannot listen on {address}"));
    let listeners: Vec<_> = options
        .listen_address
        .iter()
        .map(bind)
        .collect::<Result<_, _>>()?;
    let signals = Signals {
        interrupt: signal(SignalKind::interrupt())?,
        terminate: signal(SignalKind::terminate())?,
    };

    let _guards = log::start(options.log_level);
    raise_file_limit();
    let threads = workers.len();
    log::plain(format_args!(
        "CPU work kernel: {} ({} nonces per instruction stream, {threads} threads)",
        kernel.name(),
        kernel.lanes()
    ));
    let engine = Engine::start(workers, options.order(), options.max_queue)
        .context("cannot start the workers")?;
    let mut server = Server::new(settings, engine, kernel.name());
    server.cache = cache;
    let network = options.network;
    log::plain(format_args!(
        "Configured for the {network} network with threshold {:016x}",
        network.send()
    ));
    for listener in &listeners {
        let address = listener.address()?;
        if is_public && matches!(address, Address::Tcp(address) if !is_local(&address)) {
            warn!("{address} may be reached from other machines, and no API key is asked for");
        }
        log::plain(format_args!("Ready to receive requests on {address}"));
    }
    let server = Arc::new(server);
    runtime.block_on(serve(
        listeners,
        Arc::clone(&server),
        options.connections(),
        stop(signals, server),
    ));
    Ok(())
}

/// What searches, and the kernel of the CPU.
fn workers(options: &Options) -> anyhow::Result<(Vec<Box<dyn Worker>>, lanework_nano::Kernel)> {
    if let Some(gpu) = options.gpu.first() {
        bail!(
            "cannot use the GPU {gpu}: this build has no support for OpenCL\nhint: leave out --gpu, and give --cpu-threads"
        );
    }
    let threads = options.cpu_threads.number();
    ensure!(
        threads > 0,
        "nothing to search with\nhint: give --cpu-threads, or --gpu"
    );
    let kernel = options.cpu_kernel.kernel();
    let worker = |index| Box::new(Cpu::new(kernel, index)) as Box<dyn Worker>;
    Ok(((0..threads).map(worker).collect(), kernel))
}

fn api_keys(options: &Options) -> anyhow::Result<Vec<ApiKey>> {
    let mut keys = options
        .api_key_file
        .as_deref()
        .map(options::api_keys)
        .transpose()?
        .unwrap_or_default();
    if let Some(key) = std::env::var_os(API_KEY) {
        let key = key.into_string().ok().and_then(ApiKey::new);
        keys.push(key.with_context(|| {
            format!("the key in {API_KEY} is empty, or has blanks or other characters")
        })?);
    }
    Ok(keys)
}

fn is_local(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// A connection takes a file, and the usual limit is low for the sake of programs of old.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        warn!("cannot raise the limit of open files: {error}");
    }
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Waits for the signal to stop. Another one ends what still runs at once.
async fn stop(mut signals: Signals, server: Arc<Server>) {
    signals.next().await;
    log::plain(format_args!("Stopping"));
    tokio::spawn(async move {
        signals.next().await;
        server.engine.stop();
    });
}
