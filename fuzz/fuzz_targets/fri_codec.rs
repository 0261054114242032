//! Bytes of FRI proofs over both extensions.
#![no_main]

use lanework_field::koala::{Ext4, Ext6};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    lanework_fuzz::decode::<Ext4>(bytes);
    lanework_fuzz::decode::<Ext6>(bytes);
});
