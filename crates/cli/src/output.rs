//! What goes to the terminal, and what happens when it does not get there.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::Context;

/// Prints to standard output. A reader that has closed its end, such as `head`, is no error.
///
/// # Errors
/// If standard output does not take the text, as on a full disk.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Prints lines to standard error, control characters escaped: arguments may be part of them.
pub(crate) fn complain(lines: &str) {
    // Nobody is left to tell if this fails.
    drop(io::stderr().lock().write_all(printable(lines).as_bytes()));
}

fn printable(lines: &str) -> String {
    let mut text = String::new();
    for character in lines.chars() {
        if character.is_control() && character != '\n' {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

/// Lines of a label and a text, aligned.
pub(crate) fn facts(facts: &[(&str, String)]) -> String {
    let width = facts
        .iter()
        .map(|(label, _)| label.len())
        .max()
        .unwrap_or(0);
    let lines = facts
        .iter()
        .map(|(label, text)| format!("{label:width$}  {text}"));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Rows of cells under a line of titles, aligned; columns after the first `left` are numbers and
/// stand on the right.
pub(crate) fn table<const N: usize>(
    titles: [&str; N],
    left: usize,
    rows: &[[String; N]],
) -> String {
    let mut widths = titles.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    let mut text = String::new();
    for row in std::iter::once(&titles.map(str::to_owned)).chain(rows) {
        let cells = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(index, (cell, width))| {
                if index < left {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Milliseconds, to microseconds.
pub(crate) fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// The number to the precision of `f64`, for display.
#[expect(clippy::cast_precision_loss, reason = "more digits are never shown")]
pub(crate) fn approximate(value: u64) -> f64 {
    value as f64
}

/// A number of bytes for people.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let power = (bytes.ilog2() / 10).min(UNITS.len() as u32);
    let value = approximate(bytes) / f64::from(power * 10).exp2();
    let decimals = usize::from(value < 100.0 && value.fract() != 0.0);
    format!("{value:.decimals$} {}", UNITS[power as usize - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_for_people() {
        for (value, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (49_152, "48 KiB"),
            (1_600_000, "1.5 MiB"),
            (157_286_400, "150 MiB"),
            (3 << 30, "3 GiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            printable("error: \u{1b}[31m\r\u{9b}\nhint: é\n"),
            "error: \\u{1b}[31m\\r\\u{9b}\nhint: é\n"
        );
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [["a", "1"], ["long", "100"]].map(|row| row.map(str::to_owned));
        assert_eq!(
            table(["x", "n"], 1, &rows),
            "x       n\na       1\nlong  100\n"
        );
    }
}
