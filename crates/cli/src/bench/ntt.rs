//! `lanework bench ntt`.

use std::convert::Infallible;

use lanework::arch::Choice;
use lanework::arch::cpu::Caches;
use lanework::arch::memory::{Pages, Slab};
use lanework::arch::threads::Threads;
use lanework::ntt::additive::{Encoder, Representation, Shape, Transform};

use super::args::Options;
use super::{Record, Sampler, choices, fill};
use crate::output;

/// Words of a row.
const LANES: usize = 56;

/// log2 of the rows that stay in the second-level cache.
const LOG_BLOCK: u32 = 9;

/// A bound for the numbers of blocks.
const LOG_BLOCKS: u32 = 20;

/// What encodings are measured.
struct Shapes {
    /// From lanes.
    lanes: Shape,
    /// From rows.
    rows: [Shape; 2],
}

impl Shapes {
    fn new(quick: bool) -> Self {
        let shape = |log_rows: u32, log_inv_rate, lanes| Shape {
            log_rows: if quick { log_rows / 3 + 2 } else { log_rows },
            log_inv_rate,
            lanes,
        };
        Self {
            lanes: shape(20, 1, LANES),
            rows: [shape(16, 4, 48), shape(12, 7, 48)],
        }
    }
}

pub(super) fn run(options: &Options) -> anyhow::Result<Vec<Record>> {
    let sampler = Sampler::new(options);
    let choice = options.common.choice()?;
    let mut records = Vec::new();
    let mut block = Slab::zeroed(LANES << LOG_BLOCK, Pages::Huge)?;
    fill(&mut block);
    for choice in choices(options, true)? {
        butterflies(choice, sampler, &mut block, &mut records)?;
        average(choice, sampler, options.quick, &mut block, &mut records)?;
    }
    let threads = match options.common.threads {
        Some(count) => Threads::new(count)?,
        None => Threads::current(),
    };
    let shapes = Shapes::new(options.quick);
    records.extend(threads.install(|| encodings(&shapes, choice, sampler))?);
    Ok(records)
}

/// Nodes of radix 8 with twiddles of each class.
fn butterflies(
    choice: Choice,
    sampler: Sampler,
    block: &mut [u64],
    records: &mut Vec<Record>,
) -> anyhow::Result<()> {
    const LOG_RADIX: u32 = 3;
    for (runs, lanes) in [("long", LANES << (LOG_BLOCK - LOG_RADIX)), ("rows", LANES)] {
        let transform =
            Transform::new(LOG_RADIX, lanes, LOG_BLOCKS, Representation::Tower, choice)?;
        // All twiddles of such nodes have so many bytes; that of the first layer is zero for block 0.
        for (class, first, count) in [
            ("zero", 0, 1),
            ("one", 8, 8),
            ("two", 1 << 10, 8),
            ("four", 1 << 16, 8),
        ] {
            let seconds = sampler.seconds_of_short(|| {
                for (i, node) in block.chunks_exact_mut(lanes << LOG_RADIX).enumerate() {
                    transform.forward(node, first + i % count);
                }
            });
            records.push(Record {
                name: format!("butterfly/{runs}/{class}"),
                isa: choice.to_string(),
                threads: 1,
                value: nanoseconds(seconds, LOG_RADIX),
                unit: "ns",
            });
        }
    }
    Ok(())
}

/// The mean over the layers of a transform of 2^20 rows, in the passes in which it is made: 9 and 2 layers over rows
/// that lie far apart, then 9 layers over rows that follow each other.
fn average(
    choice: Choice,
    sampler: Sampler,
    quick: bool,
    block: &mut [u64],
    records: &mut Vec<Record>,
) -> anyhow::Result<()> {
    const PASSES: [u32; 3] = [9, 2, 9];
    let (mut layer, mut seconds) = (0, 0.0);
    for layers in PASSES {
        let lanes = LANES << (LOG_BLOCK - layers);
        let transform = Transform::new(layers, lanes, LOG_BLOCKS, Representation::Tower, choice)?;
        // Blocks spread over the layer.
        let blocks = 1_usize << layer;
        let step = blocks.div_ceil(if quick { 2 } else { 128 });
        seconds += sampler.seconds_of_short(|| {
            for number in (0..blocks).step_by(step) {
                transform.forward(block, number);
            }
        }) / output::approximate((blocks / step) as u64);
        layer += layers;
    }
    records.push(Record {
        name: "butterfly/average".to_owned(),
        isa: choice.to_string(),
        threads: 1,
        value: nanoseconds(seconds, layer),
        unit: "ns",
    });
    Ok(())
}

/// Nanoseconds of a butterfly, of `layers` layers of a block.
fn nanoseconds(seconds: f64, layers: u32) -> f64 {
    let butterflies = (LANES << LOG_BLOCK) as u64 / 2 * u64::from(layers);
    seconds * 1e9 / output::approximate(butterflies)
}

/// Encodings in memory, on the current threads.
fn encodings(shapes: &Shapes, choice: Choice, sampler: Sampler) -> anyhow::Result<Vec<Record>> {
    let threads = Threads::current().count().get();
    let mut figures = Figures {
        isa: choice.to_string(),
        threads,
        records: Vec::new(),
    };
    let encoder = |shape| Encoder::new(shape, choice, Caches::detect(), threads);
    let all = [shapes.lanes, shapes.rows[0], shapes.rows[1]];
    let len = all.map(Shape::codeword_len).into_iter().max();
    let mut memory = Slab::zeroed(len.unwrap_or(0), Pages::Huge)?;
    fill(&mut memory);

    let shape = shapes.lanes;
    let mut lanes = Slab::zeroed(shape.message_len(), Pages::Huge)?;
    fill(&mut lanes);
    let lanes: Vec<&[u64]> = lanes.chunks_exact(shape.rows()).collect();
    let code = &mut memory[..shape.codeword_len()];
    let sweep = figures.sweep(sampler, shape, code);
    let encoder_of_lanes = encoder(shape)?;
    let transpose = |code: &mut [u64]| {
        let rows = &mut code[..shape.message_len()];
        encoder_of_lanes.rows_of(&lanes, Representation::Polynomial, rows);
    };
    let seconds = sampler.seconds(|| {
        transpose(code);
        Ok::<_, Infallible>(())
    })?;
    figures.add(
        format!("transpose/2^{}x{}", shape.log_rows, shape.lanes),
        seconds,
        sweep,
    );
    let seconds = sampler.seconds(|| {
        transpose(code);
        encoder_of_lanes.encode_in_place(code)
    })?;
    figures.add(format!("transpose+{}", name(shape)), seconds, sweep);

    for shape in shapes.rows {
        let code = &mut memory[..shape.codeword_len()];
        let sweep = figures.sweep(sampler, shape, code);
        let encoder = encoder(shape)?;
        let seconds = sampler.seconds(|| encoder.encode_in_place(code))?;
        figures.add(name(shape), seconds, sweep);
    }
    Ok(figures.records)
}

fn name(shape: Shape) -> String {
    let Shape {
        log_rows,
        log_inv_rate,
        lanes,
    } = shape;
    format!("encode/2^{log_rows}x{lanes}/rate-{}", 1 << log_inv_rate)
}

/// Figures of one instruction set and so many threads.
struct Figures {
    isa: String,
    threads: usize,
    records: Vec<Record>,
}

impl Figures {
    fn push(&mut self, name: String, value: f64, unit: &'static str) {
        self.records.push(Record {
            name,
            isa: self.isa.clone(),
            threads: self.threads,
            value,
            unit,
        });
    }

    /// Adds a time, in milliseconds and in sweeps.
    fn add(&mut self, name: String, seconds: f64, sweep: f64) {
        let in_sweeps = format!("{name}/sweeps");
        self.push(name, seconds * 1e3, "ms");
        self.push(in_sweeps, seconds / sweep, "sweeps");
    }

    /// Adds a sweep over a codeword, and returns its seconds.
    fn sweep(&mut self, sampler: Sampler, shape: Shape, code: &mut [u64]) -> f64 {
        let sweep = || {
            Threads::current().for_each(code.chunks_mut(1 << 16), |part| {
                for word in part {
                    *word ^= 0x55;
                }
            });
            Ok::<_, Infallible>(())
        };
        let Ok(seconds) = sampler.seconds(sweep);
        let log_rows = shape.log_rows + shape.log_inv_rate;
        let name = format!("sweep/2^{log_rows}x{}", shape.lanes);
        self.push(name, seconds * 1e3, "ms");
        seconds
    }
}
