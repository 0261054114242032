//! Times whole commitments of 2^18 x 64 words at inverse rate 2, cold and warm.
//!
//! Arguments: threads, memory mode (keep or message), hash (blake3 or blake2s), samples, pages (huge or normal).

use std::num::NonZero;
use std::time::Instant;

use lanework_arch::memory::Pages;
use lanework_whir::{Committer, Function, MemoryMode, Params, synthetic};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let threads = NonZero::new(next("1").parse()?);
    let memory = match next("keep").as_str() {
        "message" => MemoryMode::Message,
        _ => MemoryMode::Keep,
    };
    let function: Function = next("blake3").parse()?;
    let samples: usize = next("9").parse()?;
    let pages = match next("huge").as_str() {
        "normal" => Pages::Normal,
        _ => Pages::Huge,
    };
    let params = Params::builder()
        .threads(threads)
        .memory(memory)
        .function(function)
        .pages(pages)
        .build()?;
    let committer = Committer::new(params)?;
    let mut stack = synthetic::random(1, 1 << 24)?;
    let mut times = Vec::new();
    for sample in 0..samples {
        let start = Instant::now();
        let (commitment, data, report) = committer.commit(stack)?;
        let time = start.elapsed();
        if sample == 0 {
            let peak = report.peak_rss_bytes.unwrap_or(0) >> 20;
            println!("{} {}", report.encode_kernel, commitment.root());
            println!("cold {time:?}, peak {peak} MiB");
        } else {
            times.push(time);
        }
        if sample + 1 == samples {
            println!(
                "encode and hash {:?}, tree {:?}",
                report.encode, report.hash
            );
            let start = Instant::now();
            let positions: Vec<usize> = (0..236).map(|i| i * 2_221 % (1 << 19)).collect();
            let opening = data.open(&positions)?;
            println!("236 rows opened in {:?}", start.elapsed());
            let mut distinct = positions;
            distinct.sort_unstable();
            commitment.verify(&distinct, &opening)?;
        }
        stack = committer.recycle(data);
    }
    times.sort();
    println!(
        "warm median {:?}, least {:?}",
        times[times.len() / 2],
        times[0]
    );
    Ok(())
}
