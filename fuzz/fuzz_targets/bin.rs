//! `.bin` files, with the shape that the command line would give.
#![no_main]

use lanework_cli::input::{Input, Shape};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (usize, usize, &[u8])| {
    let (rows, columns, bytes) = input;
    lanework_fuzz::read(Input::bin(bytes, Shape { rows, columns }), bytes);
});
