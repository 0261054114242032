//! What the binary does with its options, for every binary that does it.

#[cfg(feature = "opencl")]
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, ensure};
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

/// Serves until a signal ends it, and logs to the standard streams of the process; or lists GPUs.
///
/// # Errors
/// If it cannot start, with what is wrong.
pub fn run(options: &Options) -> anyhow::Result<()> {
    if options.list_devices {
        return list_devices();
    }
    let cpu_threads = options.cpu_threads.number();
    ensure!(
        cpu_threads > 0 || !options.gpu.is_empty(),
        "nothing to search with\nhint: give --cpu-threads, or --gpu"
    );
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(HTTP_THREADS)
        .enable_all()
        .build()?;
    let _context = runtime.enter();
    // Before the drivers of GPUs are loaded: their compilers change what signals do, and in the end put
    // back what they found.
    let signals = Signals {
        interrupt: signal(SignalKind::interrupt())?,
        terminate: signal(SignalKind::terminate())?,
    };
    let (mut workers, gpus) = gpus(options)?;
    let kernel = (cpu_threads > 0).then(|| options.cpu_kernel.kernel());
    if let Some(kernel) = kernel {
        let worker = |index| Box::new(Cpu::new(kernel, index)) as Box<dyn Worker>;
        workers.extend((0..cpu_threads).map(worker));
    }
    let settings = options.settings(api_keys(options)?);
    let is_public = settings.api_keys.is_empty();
    let cache = options.cache.as_deref().map(|path| {
        Cache::open(path, options.max_cache.get())
            .map_err(|error| {
                let path = path.display();
                anyhow::anyhow!(
                    "cannot open the cache {path}: {error}\nhint: if it is damaged, delete it; works are found again"
                )
            })
    });
    let cache = cache.transpose()?;
    let bind =
        |address| Listener::bind(address).with_context(|| format!("cannot listen on {address}"));
    let listeners: Vec<_> = options
        .listen_address
        .iter()
        .map(bind)
        .collect::<Result<_, _>>()?;

    let _guards = log::start(options.log_level);
    raise_file_limit();
    for gpu in gpus {
        log::plain(format_args!("Initializing GPU: {gpu}"));
    }
    if let Some(kernel) = kernel {
        log::plain(format_args!(
            "CPU work kernel: {} ({} nonces per instruction stream, {cpu_threads} threads)",
            kernel.name(),
            kernel.lanes()
        ));
    }
    let engine = Engine::start(workers, options.order(), options.max_queue)
        .context("cannot start the workers")?;
    let mut server = Server::new(
        settings,
        engine,
        kernel.map_or("opencl", |kernel| kernel.name()),
    );
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

type Workers = Vec<Box<dyn Worker>>;

/// The GPUs, and the names of their makers and their own.
#[cfg(feature = "opencl")]
fn gpus(options: &Options) -> anyhow::Result<(Workers, Vec<String>)> {
    use crate::gpu::Gpu;
    use lanework_opencl::Settings;

    let gpu = |(index, gpu): (usize, &options::Gpu)| {
        let settings = Settings {
            threads: gpu.threads,
            local_work_size: options.gpu_local_work_size,
        };
        let worker = Gpu::new(index, gpu.platform, gpu.device, settings)
            .with_context(|| format!("cannot use the GPU {gpu}"))?;
        let name = format!("{} {}", worker.device().vendor, worker.device().name);
        Ok((Box::new(worker) as Box<dyn Worker>, name))
    };
    options.gpu.iter().enumerate().map(gpu).collect()
}

#[cfg(not(feature = "opencl"))]
fn gpus(options: &Options) -> anyhow::Result<(Workers, Vec<String>)> {
    match options.gpu.first() {
        None => Ok((Vec::new(), Vec::new())),
        Some(gpu) => anyhow::bail!(
            "cannot use the GPU {gpu}: this build has no support for OpenCL\nhint: leave out --gpu, and give --cpu-threads"
        ),
    }
}

#[cfg(feature = "opencl")]
fn list_devices() -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    for platform in lanework_opencl::platforms()? {
        writeln!(output, "{}, {}", platform.name, platform.version)?;
        for device in platform.devices {
            let (place, index, units) = (device.platform, device.index, device.compute_units);
            writeln!(
                output,
                "  --gpu {place}:{index}  {} {}, {units} compute units",
                device.vendor, device.name
            )?;
        }
    }
    Ok(())
}

#[cfg(not(feature = "opencl"))]
fn list_devices() -> anyhow::Result<()> {
    anyhow::bail!("this build has no support for OpenCL")
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
