//! The `lanework` command line.
#![forbid(unsafe_code)]

mod args;
mod bench;
mod commit;
mod cpu;
mod kernels;
mod output;
mod prove;
mod security;
mod statement;
mod table;
mod verify;
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
        Err(error) => {
            output::complain(&error.render().to_string());
            return ExitCode::from(ERROR);
        }
    };
    finish(match arguments.command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Commit(arguments) => commit::run(arguments),
        Command::Prove(arguments) => prove::run(arguments),
        Command::Verify(arguments) => match verify::run(&arguments) {
            Ok(verify::Answer::Invalid) => return ExitCode::from(NEGATIVE),
            result => result.map(drop),
        },
        Command::Inspect(arguments) => verify::inspect(&arguments),
        Command::Cpu(arguments) => cpu::run(&arguments),
        Command::Security(arguments) => security::run(&arguments),
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
            output::complain(&format!("error: {error:#}\n"));
            ExitCode::from(ERROR)
        }
    }
}

impl args::Common {
    /// The instruction set to use: the one given, else the widest.
    fn choice(&self) -> anyhow::Result<Choice> {
        Ok(self.given_choice()?.unwrap_or_else(Choice::best))
    }

    /// The instruction set of `--isa`, else of `LANEWORK_ISA`, where empty text is as good as none.
    fn given_choice(&self) -> anyhow::Result<Option<Choice>> {
        if let Some(text) = &self.isa {
            return text.parse().map(Some).context("--isa");
        }
        let text = std::env::var_os("LANEWORK_ISA").unwrap_or_default();
        match text.to_string_lossy().trim() {
            "" => Ok(None),
            text => text.parse().map(Some).context("LANEWORK_ISA"),
        }
    }
}
