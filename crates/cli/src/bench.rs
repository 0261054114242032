//! `lanework bench`: how fast the kernels of this machine are.

pub(crate) mod args;
mod blake;
mod ntt;

use std::num::NonZero;
use std::time::{Duration, Instant};

use lanework::arch::{Choice, Feature};
use serde::Serialize;

use crate::output;
use args::{Bench, Command, Options};

/// Runs the command.
pub(crate) fn run(arguments: &Bench) -> anyhow::Result<()> {
    let (options, records) = match &arguments.command {
        Command::Ntt(options) => (options, ntt::run(options)?),
        Command::Blake(options) => (options, blake::run(options)?),
    };
    output::print(&if options.common.json {
        serde_json::to_string(&records)? + "\n"
    } else if options.common.quiet {
        records.iter().map(|record| record.value() + "\n").collect()
    } else {
        let samples = Sampler::new(options).samples;
        let plural = if samples == 1 { "" } else { "s" };
        format!("median of {samples} sample{plural}\n\n{}", table(&records))
    })
}

fn table(records: &[Record]) -> String {
    let rows: Vec<_> = records
        .iter()
        .map(|record| {
            [
                record.name.clone(),
                record.isa.clone(),
                record.threads.to_string(),
                record.value(),
                record.unit.to_owned(),
            ]
        })
        .collect();
    output::table(["name", "isa", "threads", "value", "unit"], 2, &rows)
}

/// A figure.
#[derive(Serialize)]
struct Record {
    name: String,
    isa: String,
    threads: usize,
    value: f64,
    unit: &'static str,
}

impl Record {
    /// The value to four digits or to the unit, whichever is more.
    fn value(&self) -> String {
        let decimals = match self.value {
            value if value < 1.0 => 4,
            value if value < 10.0 => 3,
            value if value < 100.0 => 2,
            value if value < 1000.0 => 1,
            _ => 0,
        };
        format!("{:.decimals$}", self.value)
    }
}

/// How times are taken.
#[derive(Copy, Clone)]
struct Sampler {
    samples: usize,
    /// What one sample of something short lasts at least.
    least: Duration,
}

impl Sampler {
    fn new(options: &Options) -> Self {
        let (samples, least) = if options.quick {
            (1, Duration::ZERO)
        } else {
            (9, Duration::from_millis(2))
        };
        Self {
            samples: options.samples.map_or(samples, NonZero::get),
            least,
        }
    }

    /// The seconds that `run` takes, the median of the samples. It has run once before.
    fn seconds<E>(self, mut run: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
        run()?;
        let samples: Result<Vec<_>, E> = (0..self.samples)
            .map(|_| {
                let start = Instant::now();
                run()?;
                Ok(start.elapsed().as_secs_f64())
            })
            .collect();
        samples.map(median)
    }

    /// The same for something short, which runs many times for each sample.
    fn seconds_of_short(self, mut run: impl FnMut()) -> f64 {
        run();
        let start = Instant::now();
        run();
        let once = start.elapsed().max(Duration::from_nanos(1));
        let times = self.least.as_nanos().div_ceil(once.as_nanos()).max(1) as u64;
        let samples = (0..self.samples).map(|_| {
            let start = Instant::now();
            for _ in 0..times {
                run();
            }
            start.elapsed().as_secs_f64() / output::approximate(times)
        });
        median(samples.collect())
    }
}

/// The median of at least one value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}

/// The instruction set that was asked for, or all of this CPU, also without GFNI where that makes a difference.
fn choices(options: &Options, gfni: bool) -> anyhow::Result<Vec<Choice>> {
    if let Some(choice) = options.common.given_choice()? {
        return Ok(vec![choice]);
    }
    let lowered = |choice: Choice| {
        let lowered = gfni && choice.has(Feature::Gfni);
        lowered.then(|| choice.without(Feature::Gfni))
    };
    Ok(Choice::available()
        .into_iter()
        .flat_map(|choice| [lowered(choice), Some(choice)])
        .flatten()
        .collect())
}

/// Words to compute with.
fn fill(words: &mut [u64]) {
    let mut state = 1_u64;
    for word in words {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *word = state ^ state >> 29;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        for (values, expected) in [
            (vec![3.0], 3.0),
            (vec![4.0, 1.0], 2.5),
            (vec![9.0, 1.0, 2.0], 2.0),
            (vec![1.0, 8.0, 2.0, 3.0], 2.5),
        ] {
            assert!((median(values) - expected).abs() < 1e-12);
        }
    }
}
