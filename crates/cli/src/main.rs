//! The `lanework` command line.
#![forbid(unsafe_code)]

mod args;
mod commit;
mod cpu;
mod output;
mod work;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use clap::error::ErrorKind;
use lanework::arch::Choice;

use args::{Arguments, Command};

/// Exit status of a negative answer.
const NEGATIVE: u8 = 1;

/// Exit status of every error; clap uses it too.
const ERROR: u8 = 2;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            return finish(output::print(&error.render().to_string()));
        }
        Err(error) => error.exit(),
    };
    finish(match arguments.command {
        Command::Commit(arguments) => commit::run(arguments),
        Command::Cpu(arguments) => cpu::run(&arguments),
        Command::Work(arguments) => match work::run(&arguments) {
            Ok(work::Answer::Invalid) => return ExitCode::from(NEGATIVE),
            result => result.map(drop),
        },
    })
}

fn finish(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(ERROR)
        }
    }
}

impl args::Common {
    /// The instruction set to use. An empty `LANEWORK_ISA` is one that is not set.
    fn choice(&self) -> anyhow::Result<Choice> {
        match self.isa.as_deref().map(str::trim) {
            None | Some("") => Ok(Choice::best()),
            Some(text) => text.parse().context("--isa (or LANEWORK_ISA)"),
        }
    }
}
