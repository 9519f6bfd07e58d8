//! Where results go: one JSON object or text for people on stdout, everything else on stderr.

use crate::failure::{Failure, Result};
use crate::text::lines;
use serde::Serialize;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};

/// How results are told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Report {
    /// What was asked for, always told.
    pub(crate) fn answer(self, object: &impl Serialize, text: impl Display) -> Result<()> {
        if self.json {
            let line = serde_json::to_string(object).map_err(Failure::output)?;
            print(&format!("{line}\n"))
        } else {
            print(&lines(&text.to_string()))
        }
    }

    /// What was done; `--quiet` keeps it from people.
    pub(crate) fn done(self, object: &impl Serialize, text: impl Display) -> Result<()> {
        if self.quiet && !self.json { Ok(()) } else { self.answer(object, text) }
    }

    /// A remark before the report of a command is there.
    pub(crate) fn note_of(global: &crate::args::Global, text: impl Display) {
        Report { json: global.json, quiet: global.quiet }.note(text);
    }

    /// A remark on stderr.
    pub(crate) fn note(self, text: impl Display) {
        if !self.quiet {
            // Nobody is left to hear that stderr is closed.
            let _ = writeln!(std::io::stderr(), "note: {}", lines(&text.to_string()));
        }
    }
}

/// A word on stderr that people should see: in red on a terminal, unless `NO_COLOR` is set (see no-color.org).
pub(crate) fn marked(word: &str) -> String {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    in_red(word, std::io::stderr().is_terminal() && !no_color)
}

fn in_red(word: &str, is: bool) -> String {
    if is { format!("\u{1b}[1;31m{word}\u{1b}[0m") } else { word.to_string() }
}

/// Writes to stdout. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::output(format!("stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// A number in JSON, where infinity and NaN are words, as in model files.
pub(crate) fn json_number(x: f64) -> serde_json::Value {
    as_number(&x, serde_json::value::Serializer).unwrap_or_default()
}

/// The same for `#[serde(serialize_with)]`.
pub(crate) use kinfolk::serde_f64::number::serialize as as_number;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals() {
        assert_eq!(in_red("error:", false), "error:");
        assert_eq!(in_red("error:", true), "\u{1b}[1;31merror:\u{1b}[0m");
    }
}
