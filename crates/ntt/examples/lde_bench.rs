//! Times the encoding of single columns on one thread, for every back end of this CPU.
//!
//! Usage: `lde_bench [MILLISECONDS] [LOG_ROWS ..]`. For each case the fastest of as many runs as
//! fit into the time is printed, in nanoseconds per element of the message.

use std::time::{Duration, Instant};

use lanework_arch::cpu::Caches;
use lanework_arch::memory::{Pages, Slab};
use lanework_arch::{Choice, Feature};
use lanework_field::KoalaBear;
use lanework_ntt::LdePlan;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|argument| argument.parse::<u32>());
    let time = Duration::from_millis(arguments.next().transpose()?.unwrap_or(300).into());
    let mut sizes = arguments.collect::<Result<Vec<_>, _>>()?;
    if sizes.is_empty() {
        sizes = vec![12, 16, 20];
    }
    let mut choices = Choice::available();
    choices.reverse();
    let best = Choice::best();
    if best.has(Feature::Ifma) {
        choices.insert(1, best.without(Feature::Ifma));
    }
    println!(
        "{:24}{:>10}{:>10}{:>12}{:>12}",
        "", "rows", "rate", "shift 1", "shift 3"
    );
    for &log_rows in &sizes {
        for log_inv_rate in [1, 2] {
            for &choice in &choices {
                let [one, three] = [KoalaBear::ONE, KoalaBear::GENERATOR]
                    .map(|shift| nanoseconds(log_rows, log_inv_rate, shift, choice, time));
                println!(
                    "{:24}{:>10}{:>10}{:>12.3}{:>12.3}",
                    choice.to_string(),
                    format!("2^{log_rows}"),
                    1 << log_inv_rate,
                    one?,
                    three?
                );
            }
        }
    }
    Ok(())
}

fn nanoseconds(
    log_rows: u32,
    log_inv_rate: u32,
    shift: KoalaBear,
    choice: Choice,
    time: Duration,
) -> Result<f64, Box<dyn std::error::Error>> {
    let plan = LdePlan::new(log_rows, log_inv_rate, shift, choice, Caches::detect())?;
    let mut message = Slab::<KoalaBear>::zeroed(plan.message_len(), Pages::Huge)?;
    for (i, cell) in message.iter_mut().enumerate() {
        *cell = KoalaBear::from_u64((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    let mut codeword = Slab::<KoalaBear>::zeroed(plan.codeword_len(), Pages::Huge)?;
    let mut scratch = Slab::<KoalaBear>::zeroed(plan.scratch_len(), Pages::Huge)?;
    let start = Instant::now();
    let mut fastest = Duration::MAX;
    while start.elapsed() < time {
        let run = Instant::now();
        plan.encode(&message, &mut codeword, &mut scratch);
        fastest = fastest.min(run.elapsed());
    }
    Ok(fastest.as_secs_f64() * 1e9
        / f64::from(u32::try_from(plan.message_len()).unwrap_or(u32::MAX)))
}
