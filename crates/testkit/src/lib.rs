//! Known answers, case generators and suites for the tests of the Lanework crates.
//!
//! Made for this workspace's own tests, and not published.
//!
//! | module | holds |
//! |---|---|
//! | [`vectors`] | readers of the committed known answers |
//! | [`cases`] | seeded random numbers, lengths and values that reach the corners |
//! | [`isas`] | the report of what a suite exercised, and skips that are never silent |
//! | [`koala_lanes_suite!`] | the suite every vector type of field elements must pass |
//!
//! ```
//! let case = lanework_testkit::vectors::koalabear().get("field_mul_plonky3");
//! assert_eq!(case.output::<u32>("product"), 1421110145);
//! ```

pub mod cases;
pub mod isas;
mod lanes_suite;
pub mod vectors;
