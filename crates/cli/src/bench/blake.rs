//! `lanework bench blake`.

use std::hint::black_box;
use std::num::NonZero;
use std::thread;

use lanework::arch::Choice;
use lanework::hash::ByteDigest;
use lanework::hash::blake::{Blake, Function};

use super::args::Options;
use super::{Record, Sampler, choices};
use crate::output;

const LEAF_BYTES: usize = 512;
const NODE_BYTES: usize = 64;

/// Messages and digests of one thread.
struct Buffers {
    messages: Vec<u8>,
    children: Vec<ByteDigest>,
    digests: Vec<ByteDigest>,
}

impl Buffers {
    fn new(quick: bool) -> Self {
        let bytes: u32 = if quick { 1 << 14 } else { 1 << 19 };
        let messages: Vec<u8> = (0..bytes).map(|i| (i >> 3) as u8).collect();
        let nodes = messages.len() / 2 / NODE_BYTES;
        let leaves = messages.len() / LEAF_BYTES;
        Self {
            messages,
            children: vec![ByteDigest([7; 32]); 2 * nodes],
            digests: vec![ByteDigest::ZERO; nodes.max(leaves)],
        }
    }
}

pub(super) fn run(options: &Options) -> anyhow::Result<Vec<Record>> {
    let sampler = Sampler::new(options);
    let threads = options.common.threads.map_or(1, NonZero::get);
    let mut records = Vec::new();
    for function in Function::ALL {
        for choice in choices(options, false)? {
            // The threads are all at work at the same time.
            let rates: Vec<[f64; 2]> = thread::scope(|scope| {
                let workers: Vec<_> = (0..threads)
                    .map(|_| scope.spawn(|| rates(function, choice, sampler, options.quick)))
                    .collect();
                let rates = workers.into_iter().map(thread::ScopedJoinHandle::join);
                rates.flatten().collect()
            });
            for (index, name) in ["leaves", "nodes"].into_iter().enumerate() {
                let sum: f64 = rates.iter().map(|rates| rates[index]).sum();
                records.push(Record {
                    name: format!("{function}/{name}"),
                    isa: choice.to_string(),
                    threads,
                    value: sum / output::approximate(rates.len() as u64),
                    unit: "GB/s per core",
                });
            }
        }
    }
    Ok(records)
}

/// Gigabytes per second of leaves and of nodes on this thread.
fn rates(function: Function, choice: Choice, sampler: Sampler, quick: bool) -> [f64; 2] {
    let blake = match function {
        Function::Blake2s => Blake::blake2s(choice),
        _ => Blake::blake3(choice),
    };
    let Buffers {
        messages,
        children,
        mut digests,
    } = Buffers::new(quick);
    let rate = |bytes: usize, seconds: f64| output::approximate(bytes as u64) / seconds / 1e9;

    let (prefix, count) = (blake.zero_prefix(0), messages.len() / LEAF_BYTES);
    let leaves = sampler.seconds_of_short(|| {
        let out = &mut digests[..count];
        blake.hash_many(&prefix, black_box(&messages), LEAF_BYTES, LEAF_BYTES, out);
    });
    let count = children.len() / 2;
    let nodes = sampler.seconds_of_short(|| {
        blake.hash_pairs(black_box(&children), &mut digests[..count]);
    });
    black_box(&digests);
    [
        rate(messages.len(), leaves),
        rate(count * NODE_BYTES, nodes),
    ]
}
