//! The `lanework` command line.

fn main() {}
