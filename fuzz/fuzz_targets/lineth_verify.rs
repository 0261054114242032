//! Proofs of known statements by lineth's FRI, by their numbers: none is accepted but the honest one.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| lanework_fuzz::verify(bytes));
