//! Logs: the lines of the first work server, which scripts may look for, and whatever else happens,
//! with its level.

use std::fmt;
use std::io;
use std::time::SystemTime;

use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::writer::MakeWriterExt;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The target of lines that are printed as they are.
const PLAIN: &str = "plain";
/// The target of lines that are printed with the time in front.
const TIMED: &str = "timed";

/// Logs a line as it is.
pub fn plain(line: fmt::Arguments<'_>) {
    tracing::info!(target: PLAIN, "{line}");
}

/// Logs a line with the time in front.
pub fn timed(line: fmt::Arguments<'_>) {
    tracing::info!(target: TIMED, "{line}");
}

/// Prints logs of at least this level from now on: to the standard output, and warnings and errors to
/// the standard error. Lines that nobody takes in time are lost rather than waited for. What remains
/// is printed when the guards are dropped.
pub fn start(level: LevelFilter) -> [WorkerGuard; 2] {
    let (output, output_guard) = NonBlocking::new(io::stdout());
    let (error, error_guard) = NonBlocking::new(io::stderr());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .event_format(Lines)
        .with_writer(error.with_max_level(Level::WARN).or_else(output))
        .finish();
    // Only a second call in one process could fail, and then the first one's logs do.
    let _ = tracing::subscriber::set_global_default(subscriber);
    [output_guard, error_guard]
}

struct Lines;

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        match metadata.target() {
            PLAIN => {}
            TIMED => write!(writer, "{} ", time(SystemTime::now()))?,
            target => write!(
                writer,
                "{} {} {target}: ",
                time(SystemTime::now()),
                metadata.level()
            )?,
        }
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// The time of the day in UTC, as `HH:MM:SS`.
pub(crate) fn time(now: SystemTime) -> String {
    let seconds = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
        % 86_400;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}
