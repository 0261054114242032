//! Finds work for a root at the threshold of receive blocks, and checks it.
//!
//! ```sh
//! cargo run --release -p lanework-nano --example work -- [ROOT [THRESHOLD [KERNEL]]]
//! ```

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

use lanework_nano::{
    Kernel, Network, Root, expected_hashes, generate_with, is_valid, multiplier, validate,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let root = match arguments.next() {
        Some(text) => parse_root(&text).ok_or("ROOT is 64 hexadecimal digits")?,
        None => [0; 32],
    };
    let threshold = match arguments.next() {
        Some(text) => u64::from_str_radix(&text, 16)?,
        None => Network::Live.receive(),
    };
    let kernel = match arguments.next() {
        Some(name) => Kernel::from_name(&name)?,
        None => Kernel::best(),
    };
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);

    let names: Vec<_> = Kernel::available().into_iter().map(Kernel::name).collect();
    println!("kernels      {}", names.join(", "));
    println!(
        "searching    {kernel}, {threads} threads, {:.0} hashes expected",
        expected_hashes(threshold)
    );
    let start = Instant::now();
    let never = AtomicBool::new(false);
    let work = generate_with(kernel, &root, threshold, threads, &never).ok_or("cancelled")?;
    println!(
        "work         {:016x} after {:.3} s",
        work.nonce,
        start.elapsed().as_secs_f64()
    );
    println!("difficulty   {:016x}", work.difficulty);
    println!(
        "multiplier   {}",
        multiplier::to_multiplier(work.difficulty, threshold)
    );

    assert!(
        is_valid(&root, work.nonce, threshold),
        "every result is valid"
    );
    assert_eq!(validate(&root, work.nonce), work.difficulty);
    Ok(())
}

fn parse_root(text: &str) -> Option<Root> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks_exact(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect();
    if digits.len() == 64 {
        bytes.try_into().ok()
    } else {
        None
    }
}
