//! The time of one cycle of the core that runs this thread.
//!
//! Counters of time stamps run at a rate of their own, and the core's clock moves with its load. A chain
//! of additions, each of which needs the result of the one before, takes one cycle for each.
#![expect(unsafe_code, reason = "inline assembly")]

use std::time::{Duration, Instant};

/// Additions of the chain: long beside a look at the time, short beside an interruption.
const ADDITIONS: u32 = 16_384;

/// How long the chain takes just now, or `None` on a CPU it is not written for.
pub(crate) fn chain() -> Option<Duration> {
    let start = Instant::now();
    run().then(|| start.elapsed())
}

/// Cycles in `duration`, if the chain took `chain`.
pub(crate) fn cycles(duration: Duration, chain: Duration) -> f64 {
    f64::from(ADDITIONS) * duration.as_secs_f64() / chain.as_secs_f64()
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn run() -> bool {
    const UNROLLED: u32 = 16;
    let mut sum = 0u64;
    let addend = std::hint::black_box(1u64);
    for _ in 0..ADDITIONS / UNROLLED {
        // Two registers: some cores do away with additions of a constant before they are executed.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: additions in registers.
        unsafe {
            std::arch::asm!(
                ".rept 16", "add {sum}, {addend}", ".endr",
                sum = inout(reg) sum, addend = in(reg) addend, options(nomem, nostack),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: additions in registers.
        unsafe {
            std::arch::asm!(
                ".rept 16", "add {sum}, {sum}, {addend}", ".endr",
                sum = inout(reg) sum, addend = in(reg) addend, options(nomem, nostack),
            );
        }
    }
    std::hint::black_box(sum);
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn run() -> bool {
    false
}
