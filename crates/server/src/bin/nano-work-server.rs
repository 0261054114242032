//! `nano-work-server`: the [library](lanework_server) with exit codes.

#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use lanework_server::command;
use lanework_server::options::{Error, Options};

fn main() -> ExitCode {
    let options = match Options::parse_from_arguments(std::env::args_os()) {
        Ok(options) => options,
        Err(Error::Arguments(error)) => {
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::FAILURE
            } else {
                ExitCode::SUCCESS
            };
        }
        Err(error) => return fail(&error.into()),
    };
    match command::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {error:#}");
    ExitCode::FAILURE
}
