//! `lanework work`: Nano proof-of-work.

pub(crate) mod args;
mod progress;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use lanework::nano::{
    self, HashRate, Kernel, Root, expected_hashes, generate_counted, hash_rate_benchmark,
    multiplier, validate,
};
use serde::Serialize;
use serde_json::json;

use crate::{kernels, output};
use args::{Bench, Command, Generate, Goal, Validate};
use progress::Progress;

/// What the exit status tells.
pub(crate) enum Answer {
    Done,
    Invalid,
}

/// Runs the command.
pub(crate) fn run(arguments: &args::Work) -> anyhow::Result<Answer> {
    match &arguments.command {
        Command::Generate(arguments) => generate(arguments).map(|()| Answer::Done),
        Command::Validate(arguments) => check(arguments),
        Command::Bench(arguments) => bench(arguments).map(|()| Answer::Done),
        #[cfg(unix)]
        Command::Serve(_) => serve().map(|()| Answer::Done),
    }
}

fn generate(arguments: &Generate) -> anyhow::Result<()> {
    let Generate {
        root,
        goal,
        kernel,
        common,
    } = arguments;
    let kernel = kernel_named(kernel.as_deref(), common)?;
    let threads = threads(common);
    let least = goal.threshold();

    let start = Instant::now();
    let hashes = AtomicU64::new(0);
    let work = search(
        kernel,
        root,
        least,
        threads,
        &hashes,
        common.json || common.quiet,
    )
    .context("the search ended without work")?;
    let elapsed = start.elapsed().as_secs_f64();
    let hashes = hashes.into_inner();
    let rate = output::approximate(hashes) / elapsed;
    let multiple = multiplier::to_multiplier(work.difficulty, goal.network.base());

    output::print(&if common.json {
        json!({
            "root": hex(root),
            "work": word(work.nonce),
            "difficulty": word(work.difficulty),
            "multiplier": multiple,
            "threshold": word(least),
            "network": goal.network.name(),
            "kernel": kernel.name(),
            "threads": threads,
            "hashes": hashes,
            "seconds": elapsed,
            "hashes_per_second": rate,
        })
        .to_string()
            + "\n"
    } else if common.quiet {
        word(work.nonce) + "\n"
    } else {
        output::facts(&[
            ("work", word(work.nonce)),
            ("difficulty", word(work.difficulty)),
            ("multiplier", format!("{multiple} of {}", goal.network)),
            ("kernel", format!("{kernel}, {threads} threads")),
            (
                "search",
                format!("{hashes} hashes in {elapsed:.3} s, {}", per_second(rate)),
            ),
        ])
    })
}

/// Searches on `threads` threads while this one shows how it goes.
fn search(
    kernel: Kernel,
    root: &Root,
    threshold: u64,
    threads: NonZero<usize>,
    hashes: &AtomicU64,
    quiet: bool,
) -> Option<nano::Work> {
    const INTERVAL: Duration = Duration::from_millis(250);
    let never = AtomicBool::new(false);
    let progress = Progress::new(quiet, expected_hashes(threshold));
    thread::scope(|scope| {
        let (done, wait) = mpsc::channel();
        scope.spawn(move || {
            let work = generate_counted(kernel, root, threshold, threads, &never, hashes);
            // The receiver waits for this.
            let _ = done.send(work);
        });
        loop {
            match wait.recv_timeout(INTERVAL) {
                Ok(work) => return work,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    progress.show(hashes.load(Ordering::Relaxed));
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            }
        }
    })
}

fn check(arguments: &Validate) -> anyhow::Result<Answer> {
    let Validate {
        root,
        work,
        goal,
        json,
        quiet,
    } = arguments;
    let Goal { network, .. } = *goal;
    let least = goal.threshold();
    let difficulty = validate(root, *work);
    let multiple = multiplier::to_multiplier(difficulty, network.base());
    let valid = difficulty >= least;
    let [send, receive, epoch_1] =
        [network.send(), network.receive(), network.epoch_1()].map(|least| difficulty >= least);

    output::print(&if *json {
        json!({
            "root": hex(root),
            "work": word(*work),
            "difficulty": word(difficulty),
            "multiplier": multiple,
            "threshold": word(least),
            "network": network.name(),
            "valid": valid,
            "valid_send": send,
            "valid_receive": receive,
            "valid_epoch_1": epoch_1,
        })
        .to_string()
            + "\n"
    } else if *quiet {
        word(difficulty) + "\n"
    } else {
        let yes_or_no = |valid| if valid { "yes" } else { "no" }.to_owned();
        output::facts(&[
            ("difficulty", word(difficulty)),
            ("multiplier", format!("{multiple} of {network}")),
            (
                "valid",
                format!("{}, for {}", yes_or_no(valid), word(least)),
            ),
            ("  send", yes_or_no(send)),
            ("  receive", yes_or_no(receive)),
            ("  epoch 1", yes_or_no(epoch_1)),
        ])
    })?;
    Ok(if valid { Answer::Done } else { Answer::Invalid })
}

/// What `bench` prints of a kernel.
#[derive(Serialize)]
struct Record {
    kernel: &'static str,
    lanes: u64,
    threads: usize,
    hashes_per_second: f64,
    cycles_per_hash: Option<f64>,
    hashes: u64,
    seconds: f64,
}

fn bench(arguments: &Bench) -> anyhow::Result<()> {
    let Bench {
        kernel,
        seconds,
        common,
    } = arguments;
    let all = kernel.as_deref() == Some("all");
    let kernels = if all {
        Kernel::available_in(common.choice()?)
    } else {
        vec![kernel_named(kernel.as_deref(), common)?]
    };
    let threads = threads(common);
    let records: Vec<_> = kernels
        .into_iter()
        .map(|kernel| {
            let HashRate {
                hashes,
                hashes_per_second,
                cycles_per_hash,
                ..
            } = hash_rate_benchmark(kernel, threads, *seconds);
            Record {
                kernel: kernel.name(),
                lanes: kernel.lanes(),
                threads: threads.get(),
                hashes_per_second,
                cycles_per_hash,
                hashes,
                seconds: seconds.as_secs_f64(),
            }
        })
        .collect();
    output::print(&match records.as_slice() {
        [record] if common.json && !all => serde_json::to_string(record)? + "\n",
        records if common.json => serde_json::to_string(records)? + "\n",
        records if common.quiet => {
            let rates = records
                .iter()
                .map(|record| format!("{:.0}", record.hashes_per_second));
            rates.collect::<Vec<_>>().join("\n") + "\n"
        }
        records => table(records),
    })
}

fn table(records: &[Record]) -> String {
    let rows: Vec<_> = records
        .iter()
        .map(|record| {
            [
                record.kernel.to_owned(),
                record.lanes.to_string(),
                record.threads.to_string(),
                per_second(record.hashes_per_second),
                record
                    .cycles_per_hash
                    .map_or("-".to_owned(), |cycles| format!("{cycles:.1}")),
            ]
        })
        .collect();
    output::table(
        ["kernel", "lanes", "threads", "rate", "cycles/hash"],
        1,
        &rows,
    )
}

#[cfg(unix)]
fn serve() -> anyhow::Result<()> {
    use lanework_server::options::{Error, Options};

    // Once more, and with the configuration file: `lanework` and `work` have no arguments of their own.
    let options = match Options::parse_from_arguments(std::env::args_os().skip(2)) {
        Err(Error::Arguments(error)) => {
            let text = error.render().to_string();
            anyhow::bail!("{}", text.trim_start_matches("error: ").trim_end())
        }
        options => options?,
    };
    lanework_server::command::run(&options)
}

/// The kernel called `name`, or the fastest that the instruction set allows.
fn kernel_named(name: Option<&str>, common: &crate::args::Common) -> anyhow::Result<Kernel> {
    let choice = common.choice()?;
    match name {
        Some(name) => {
            let kernel = Kernel::from_name(name).context("--kernel")?;
            let available = Kernel::available_in(choice);
            ensure!(
                available.contains(&kernel),
                "--kernel: {kernel} does not run with {choice}\nhint: leave out --isa, or use one of {}",
                available
                    .iter()
                    .map(|kernel| kernel.name())
                    .collect::<Vec<_>>()
                    .join(", ")
            );
            Ok(kernel)
        }
        None => kernels::search(choice).with_context(|| format!("no kernel runs with {choice}")),
    }
}

fn threads(common: &crate::args::Common) -> NonZero<usize> {
    let all = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    common.threads.unwrap_or_else(all)
}

/// A word as Nano writes it.
fn word(word: u64) -> String {
    format!("{word:016x}")
}

fn hex(root: &Root) -> String {
    let (words, _) = root.as_chunks::<8>();
    words
        .iter()
        .map(|&bytes| word(u64::from_be_bytes(bytes)))
        .collect()
}

/// A rate for people.
fn per_second(rate: f64) -> String {
    format!("{:.2} MH/s", rate / 1e6)
}
