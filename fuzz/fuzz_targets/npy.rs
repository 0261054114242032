//! `.npy` files.
#![no_main]

use lanework_cli::input::Input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| lanework_fuzz::read(Input::npy(bytes), bytes));
