//! A sign of life on standard error, when it is a terminal and the work is long.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Visibility;

/// Bytes of input that are worth a bar: less is read before anyone could see it.
const BAR_BYTES: u64 = 256 << 20;

/// Cells of codewords that are worth a spinner.
const SPINNER_CELLS: u64 = 1 << 26;

/// Shows progress until it is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar over `bytes` of input.
    pub(crate) fn bar(visibility: Visibility, what: &'static str, bytes: u64) -> Self {
        let style =
            ProgressStyle::with_template("{msg} {percent:>3} % {wide_bar} {bytes}/{total_bytes}");
        Self::new(
            visibility,
            bytes >= BAR_BYTES,
            what,
            Some(bytes),
            style.ok(),
        )
    }

    /// A spinner for work on `cells` cells.
    pub(crate) fn spinner(visibility: Visibility, what: &'static str, cells: u64) -> Self {
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        let progress = Self::new(visibility, cells >= SPINNER_CELLS, what, None, style.ok());
        if !progress.0.is_hidden() {
            progress.0.enable_steady_tick(Duration::from_millis(250));
        }
        progress
    }

    fn new(
        visibility: Visibility,
        long: bool,
        what: &'static str,
        len: Option<u64>,
        style: Option<ProgressStyle>,
    ) -> Self {
        // indicatif draws nothing where standard error is no terminal.
        let target = if long && visibility == Visibility::Shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(len, target).with_message(what);
        Self(match style {
            Some(style) => bar.with_style(style),
            None => bar,
        })
    }

    /// Moves the bar.
    pub(crate) fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    /// Takes the display away.
    pub(crate) fn finish(self) {
        drop(self);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
