//! Bytes of proofs by lineth's FRI.
#![no_main]

use lanework_fri::lineth::Proof;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(proof) = Proof::from_bytes(bytes) {
        assert_eq!(proof.to_bytes(), bytes);
    }
});
