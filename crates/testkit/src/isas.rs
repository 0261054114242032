//! The report of what a suite exercised, and skips that are never silent.
//!
//! `LANEWORK_REQUIRE` is a comma-separated list of what must not be missing: instruction-set
//! bundles (`portable`, `neon`, `avx2`, `avx512`) and other facilities by the name their test gives
//! to [`skip`]. What is on the list and was not exercised is a failure.
//!
//! Lines go to the process's standard error, which the test harness does not capture.

use std::io::Write;

/// The bundles by name, as `LANEWORK_REQUIRE` and reports write them.
pub const BUNDLES: [&str; 4] = ["portable", "neon", "avx2", "avx512"];

/// Prints `isas exercised: NAMES [SUITE]`, the names separated by blanks, and checks them against
/// `LANEWORK_REQUIRE`.
///
/// # Panics
/// If nothing was exercised, or a required bundle was not.
pub fn report<S: AsRef<str>>(suite: &str, exercised: &[S]) {
    let names: Vec<&str> = exercised.iter().map(AsRef::as_ref).collect();
    say(&format!("isas exercised: {} [{suite}]", names.join(" ")));
    assert!(!names.is_empty(), "{suite} exercised nothing");
    if let Some(missing) = missing(&required(), &names) {
        panic!("{suite} did not exercise {missing}, which LANEWORK_REQUIRE names");
    }
}

/// Says that a test was skipped because `facility` is missing.
///
/// # Panics
/// If `LANEWORK_REQUIRE` names the facility.
pub fn skip(facility: &str, reason: &str) {
    let must = required().iter().any(|name| name == facility);
    assert!(
        !must,
        "skipped for want of {facility}, which LANEWORK_REQUIRE names: {reason}"
    );
    say(&format!("skipped for want of {facility}: {reason}"));
}

fn required() -> Vec<String> {
    let list = std::env::var("LANEWORK_REQUIRE").unwrap_or_default();
    list.split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn missing<'a>(required: &'a [String], exercised: &[&str]) -> Option<&'a str> {
    let bundles = required
        .iter()
        .map(String::as_str)
        .filter(|name| BUNDLES.contains(name));
    bundles.into_iter().find(|name| !exercised.contains(name))
}

fn say(line: &str) {
    // The report is for people and scripts; a closed standard error is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn only_bundles_are_missed_and_only_when_required() {
        let required = ["qemu".to_owned(), "avx2".to_owned(), "portable".to_owned()];
        assert_eq!(
            missing(&required, &["portable", "avx2", "avx512,-ifma"]),
            None
        );
        assert_eq!(missing(&required, &["portable", "avx512"]), Some("avx2"));
        assert_eq!(missing(&[], &["portable"]), None);
    }
}
