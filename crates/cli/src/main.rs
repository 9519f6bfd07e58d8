//! The command `kinfolk`: data in, certified model out.

mod args;
mod checkpoint;
mod chunks;
mod cmd;
mod data_files;
mod eta;
mod failure;
mod files;
mod graphml;
mod interrupt;
mod limits;
mod outputs;
mod progress_lines;
mod recheck;
mod report;
mod scores;
mod text;
mod trace;
mod training;
mod watch;

use args::{Cli, Command};
use clap::Parser;
use failure::{Failure, Result};
use report::Report;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return told(&printable(error)),
    };
    start_log(cli.global.verbose, cli.global.quiet);
    interrupt::listen();
    match run(cli) {
        Ok(code) => code,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "{} {failure}", report::marked("error:"));
            ExitCode::from(failure.code)
        }
    }
}

/// The error with the words of the command line as they can be printed.
fn printable(error: clap::Error) -> clap::Error {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let shown: Vec<String> = words.iter().map(|word| text::one_line(word)).collect();
    match Cli::try_parse_from(&shown) {
        Err(same) if shown != words && same.kind() == error.kind() => same,
        _ => error,
    }
}

/// Help and version go to stdout with code 0, errors to stderr with code 2.
fn told(error: &clap::Error) -> ExitCode {
    let mut written = match failure::about_a_number(&error.render().to_string()) {
        Some(text) => std::io::stderr().write_all(text.as_bytes()),
        None => error.print(),
    };
    if !error.use_stderr() {
        written = written.and_then(|()| std::io::stdout().flush());
        let lost = written.err().filter(|why| why.kind() != std::io::ErrorKind::BrokenPipe);
        if let Some(why) = lost {
            let _ = writeln!(std::io::stderr(), "{} stdout: {why}", report::marked("error:"));
            return ExitCode::from(failure::OUTPUT);
        }
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(failure::USAGE))
}

fn run(mut cli: Cli) -> Result<ExitCode> {
    let report = Report { json: cli.global.json, quiet: cli.global.quiet };
    // Every object names its files, and JSON has no way to write such a name: said now, and not after the work.
    if let Some(word) = std::env::args_os().find(|word| report.json && word.to_str().is_none()) {
        let word = word.to_string_lossy().into_owned();
        return Err(Failure::usage(format!(
            "{word}: this name is not UTF-8, so it cannot be in JSON; leave --json out"
        )));
    }
    cli.global.limit_threads(report);
    let global = &cli.global;
    match cli.command {
        Command::Fit(args) => cmd::fit::run(*args, global, report),
        Command::Predict(args) => cmd::predict::run(args, global, report),
        Command::Certify(args) => cmd::certify::run(args, global, report),
        Command::Evaluate(args) => cmd::evaluate::run(args, global, report),
        Command::Select(args) => cmd::select::run(*args, global, report),
        Command::Theta(args) => cmd::theta::run(args, global, report),
        Command::Report(args) => cmd::report::run(args, global, report),
        Command::Demo(args) => cmd::demo::run(args, global, report),
        Command::Methods(args) => cmd::methods::run(args, report),
        Command::Model(args) => cmd::model::run(args, global, report),
        Command::Data(args) => cmd::data::run(args, global, report),
        Command::Explain(args) => cmd::explain::run(args, report),
        Command::Completions(args) => cmd::completions::run(args),
        Command::Man(args) => cmd::man::run(args, global, report),
    }
}

/// Diagnostics go to stderr, without colours: they end up in files as often as on screens.
fn start_log(verbose: u8, quiet: bool) {
    let level = match (quiet, verbose) {
        (true, _) => tracing::Level::ERROR,
        (false, 0) => tracing::Level::WARN,
        (false, 1) => tracing::Level::INFO,
        (false, 2) => tracing::Level::DEBUG,
        (false, _) => tracing::Level::TRACE,
    };
    let subscriber = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    subscriber.without_time().with_ansi(false).with_target(false).init();
}
