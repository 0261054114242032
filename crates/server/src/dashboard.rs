//! A page to look at: it needs nothing but itself, and fetches itself again every second.
//!
//! Without scripts it is reloaded instead. Everything in it is a number or a name of ours, or
//! hexadecimal; nothing that a client wrote is repeated.

use std::fmt::{self, Write};
use std::time::Duration;

use crate::app::Server;
use crate::log::time;
use crate::metrics::{Finished, History};
use crate::reply::{hex, root_hex};

/// What the page may do: show its own styles, run its own script, and fetch itself.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                          base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<noscript><meta http-equiv="refresh" content="2"></noscript>
<title>nano-work-server</title>
<style>
:root { --line: #209ce9; --soft: #8884; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin: 0; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
p { margin: 0; opacity: .75; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 1rem; margin: 1.5rem 0; }
dt { opacity: .75; white-space: nowrap; }
dd { margin: 0; font-size: 1.6rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: 7rem; border-bottom: 1px solid var(--soft); }
polyline { fill: none; stroke: var(--line); stroke-width: 2; vector-effect: non-scaling-stroke; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--soft); white-space: nowrap; }
code { font: .85rem ui-monospace, monospace; }
.root { display: inline-block; max-width: 18rem; overflow: hidden; text-overflow: ellipsis; vertical-align: middle; }
.late main { opacity: .4; }
</style>
</head>
<body>
"#;

const TAIL: &str = r#"<script>
"use strict";
setInterval(async () => {
  if (document.hidden) return;
  try {
    const text = await (await fetch(location.pathname)).text();
    const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("main");
    document.querySelector("main").replaceWith(document.adoptNode(fresh));
    document.body.classList.remove("late");
  } catch {
    document.body.classList.add("late");
  }
}, 1000);
</script>
</body>
</html>
"#;

/// The page as it is now.
pub fn page(server: &Server) -> String {
    let mut page = String::from(HEAD);
    // Writing to a string does not fail.
    let _ = write_main(&mut page, server);
    page.push_str(TAIL);
    page
}

fn write_main(page: &mut String, server: &Server) -> fmt::Result {
    let load = server.engine.load();
    let history = server.metrics.history();
    writeln!(
        page,
        "<main>\n<h1>nano-work-server {}</h1>",
        env!("CARGO_PKG_VERSION")
    )?;
    let (network, kernel) = (server.settings.rules.network, &server.kernel);
    let uptime = whole_seconds(server.uptime().as_secs());
    writeln!(
        page,
        "<p>{network} network, kernel {kernel}, up {uptime}</p>"
    )?;
    writeln!(page, "<dl>")?;
    let rate = rate(history.rates.back().copied().unwrap_or(0.0));
    let state = if load.is_searching {
        "searching"
    } else {
        "idle"
    };
    for (name, value) in [
        ("hash rate", rate),
        ("state", state.to_owned()),
        ("searches queued", load.queued.to_string()),
        ("requests waiting", load.waiters.to_string()),
        ("connections", server.metrics.connections.get().to_string()),
    ] {
        writeln!(page, "<div><dt>{name}</dt><dd>{value}</dd></div>")?;
    }
    writeln!(page, "</dl>")?;
    write_chart(page, &history)?;
    write_workers(page, server, &history)?;
    write_results(page, &history)?;
    writeln!(page, "</main>")
}

/// The hash rates of the last two minutes, each as a share of the highest.
fn write_chart(page: &mut String, history: &History) -> fmt::Result {
    let highest = history.rates.iter().copied().fold(1.0, f64::max);
    write!(
        page,
        "<svg viewBox=\"0 0 119 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"hash rate\"><polyline points=\""
    )?;
    let first = 120 - history.rates.len().min(120);
    for (second, rate) in history.rates.iter().enumerate() {
        write!(
            page,
            "{},{:.1} ",
            first + second,
            98.0 - 96.0 * rate / highest
        )?;
    }
    writeln!(
        page,
        "\"/></svg>\n<p>two minutes, up to {}</p>",
        rate(highest)
    )
}

fn write_workers(page: &mut String, server: &Server, history: &History) -> fmt::Result {
    writeln!(page, "<h2>Workers</h2>\n<div class=\"scroll\"><table>")?;
    writeln!(
        page,
        "<tr><th>worker</th><th>hash rate</th><th>hashes</th><th>faults</th></tr>"
    )?;
    for (index, meter) in server.engine.meters().iter().enumerate() {
        let (name, hashes, faults) = (&meter.name, grouped(meter.hashes()), meter.faults());
        let rate = rate(history.workers.get(index).copied().unwrap_or(0.0));
        writeln!(
            page,
            "<tr><td>{name}</td><td>{rate}</td><td>{hashes}</td><td>{faults}</td></tr>"
        )?;
    }
    writeln!(page, "</table></div>")
}

fn write_results(page: &mut String, history: &History) -> fmt::Result {
    writeln!(
        page,
        "<h2>Last requests for work</h2>\n<div class=\"scroll\"><table>"
    )?;
    let columns = [
        "time (UTC)",
        "root",
        "asked for",
        "reached",
        "took",
        "outcome",
    ];
    writeln!(
        page,
        "<tr>{}</tr>",
        columns.map(|column| format!("<th>{column}</th>")).concat()
    )?;
    for Finished {
        at,
        root,
        threshold,
        value,
        outcome,
        took,
    } in &history.results
    {
        let value = value.map_or_else(String::new, hex);
        let (time, root, threshold, took) =
            (time(*at), root_hex(root), hex(*threshold), duration(*took));
        write!(
            page,
            "<tr><td>{time}</td><td><code class=\"root\" title=\"{root}\">{root}</code></td>"
        )?;
        write!(
            page,
            "<td><code>{threshold}</code></td><td><code>{value}</code></td>"
        )?;
        writeln!(page, "<td>{took}</td><td>{outcome}</td></tr>")?;
    }
    writeln!(page, "</table></div>")
}

fn rate(per_second: f64) -> String {
    if per_second < 1e9 {
        format!("{:.2} MH/s", per_second / 1e6)
    } else {
        format!("{:.2} GH/s", per_second / 1e9)
    }
}

/// The number with its digits in threes, so that they need not be counted.
fn grouped(number: u64) -> String {
    const NARROW_SPACE: char = '\u{202f}';
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(NARROW_SPACE);
        }
        text.push(digit);
    }
    text
}

fn duration(duration: Duration) -> String {
    // Each as long as it rounds to less than the next unit.
    match duration.as_micros() {
        micros @ 0..1000 => format!("{micros} µs"),
        1000..999_950 => format!("{:.1} ms", duration.as_secs_f64() * 1e3),
        999_950..59_950_000 => format!("{:.1} s", duration.as_secs_f64()),
        _ => whole_seconds((duration + Duration::from_millis(500)).as_secs()),
    }
}

fn whole_seconds(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(rate(0.0), "0.00 MH/s");
        assert_eq!(rate(93.5e6), "93.50 MH/s");
        assert_eq!(rate(2.5e9), "2.50 GH/s");
        let times = [
            (0, "0 µs"),
            (999, "999 µs"),
            (1000, "1.0 ms"),
            (999_949, "999.9 ms"),
            (999_950, "1.0 s"),
            (59_949_999, "59.9 s"),
            (59_950_000, "1 min 0 s"),
            (65_000_000, "1 min 5 s"),
        ];
        for (micros, text) in times {
            assert_eq!(duration(Duration::from_micros(micros)), text);
        }
        let seconds = [0, 59, 60, 3700, 90_000].map(whole_seconds);
        assert_eq!(
            seconds,
            ["0 s", "59 s", "1 min 0 s", "1 h 1 min", "1 d 1 h"]
        );
        let numbers = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(
            numbers,
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
    }
}
