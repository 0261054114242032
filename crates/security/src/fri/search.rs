//! The parameters that a target needs.

use super::{Grinding, Parameters, Regime, Shape};
use crate::Error;

/// The most queries that a search tries.
pub const QUERIES_MAX: u32 = 1 << 16;

pub(super) fn for_target(
    shape: Shape,
    most: Grinding,
    target: u32,
    regime: Regime,
) -> Result<Parameters, Error> {
    let mut found = Parameters {
        shape,
        queries: QUERIES_MAX,
        grinding: most,
    };
    let report = found.report(regime)?;
    if report.sum() < f64::from(target) {
        let weakest = report.weakest();
        return Err(Error::OutOfReach {
            target,
            regime,
            weakest: weakest.source,
            bits: weakest.bits,
        });
    }
    // More queries and more grinding never lower the sum, so that each number can be halved in on. What `report`
    // refuses does not depend on these numbers, and has been refused above.
    let mut lower = |number: fn(&mut Parameters) -> &mut u32, least: u32| {
        let (mut low, mut high) = (least, *number(&mut found));
        while low < high {
            let middle = low + (high - low) / 2;
            *number(&mut found) = middle;
            let report = found.report(regime);
            if report.is_ok_and(|report| report.sum() >= f64::from(target)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        *number(&mut found) = high;
    };
    lower(|parameters| &mut parameters.queries, 1);
    lower(|parameters| &mut parameters.grinding.folds, 0);
    lower(|parameters| &mut parameters.grinding.batching, 0);
    lower(|parameters| &mut parameters.grinding.queries, 0);
    Ok(found)
}
