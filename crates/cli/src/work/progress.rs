//! How the search goes, on standard error, when it is a terminal.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::per_second;
use crate::output;

/// A line that shows hashes, rate and chance, until it is dropped.
pub(super) struct Progress {
    bar: ProgressBar,
    start: Instant,
    expected: f64,
}

impl Progress {
    pub(super) fn new(quiet: bool, expected: f64) -> Self {
        // indicatif draws nothing where standard error is no terminal.
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let bar = match ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Self {
            bar,
            start: Instant::now(),
            expected,
        }
    }

    /// Shows that `hashes` were made without success.
    pub(super) fn show(&self, hashes: u64) {
        let hashes = output::approximate(hashes);
        let rate = hashes / self.start.elapsed().as_secs_f64();
        self.bar.set_message(format!(
            "{:.0} of {:.0} million hashes expected, {}, {:.0} % chance so far,",
            hashes / 1e6,
            self.expected / 1e6,
            per_second(rate),
            100.0 * chance(hashes, self.expected),
        ));
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// How likely a search is to be over after `hashes` hashes.
fn chance(hashes: f64, expected: f64) -> f64 {
    -(-hashes / expected).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::chance;

    #[test]
    fn chances() {
        let close = |chance: f64, expected: f64| (chance - expected).abs() < 1e-3;
        assert!(close(chance(0.0, 1e9), 0.0));
        assert!(close(chance(0.693e9, 1e9), 0.5));
        assert!(close(chance(4.6e9, 1e9), 0.99));
    }
}
