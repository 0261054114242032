//! Times the encoding of a table on one thread, for every back end of this CPU.
//!
//! Usage: `lde_bench [MILLISECONDS] [LOG_CELLS] [LOG_ROWS ..]`. A table has 2^`LOG_CELLS` elements
//! (by default a single column of each size), so that columns come from memory and codewords go
//! there. For each case the fastest of as many runs as fit into the time is printed, in nanoseconds
//! per element of the table.

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
    let log_cells = arguments.next().transpose()?.unwrap_or(0);
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
                let [one, three] = [KoalaBear::ONE, KoalaBear::GENERATOR].map(|shift| {
                    nanoseconds(
                        log_cells.max(log_rows),
                        log_rows,
                        log_inv_rate,
                        shift,
                        choice,
                        time,
                    )
                });
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
    log_cells: u32,
    log_rows: u32,
    log_inv_rate: u32,
    shift: KoalaBear,
    choice: Choice,
    time: Duration,
) -> Result<f64, Box<dyn std::error::Error>> {
    let plan = LdePlan::new(log_rows, log_inv_rate, shift, choice, Caches::detect())?;
    let mut table = Slab::<KoalaBear>::zeroed(1 << log_cells, Pages::Huge)?;
    for (i, cell) in table.iter_mut().enumerate() {
        *cell = KoalaBear::from_u64((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    let mut codewords = Slab::<KoalaBear>::zeroed(table.len() << log_inv_rate, Pages::Huge)?;
    let mut scratch = Slab::<KoalaBear>::zeroed(plan.scratch_len(), Pages::Huge)?;
    let start = Instant::now();
    let mut fastest = Duration::MAX;
    while start.elapsed() < time {
        let run = Instant::now();
        let columns = table.chunks_exact(plan.message_len());
        for (message, codeword) in columns.zip(codewords.chunks_exact_mut(plan.codeword_len())) {
            plan.encode(message, codeword, &mut scratch);
        }
        fastest = fastest.min(run.elapsed());
    }
    Ok(fastest.as_secs_f64() * 1e9 / f64::from(u32::try_from(table.len()).unwrap_or(u32::MAX)))
}
