//! Running the command in a folder of its own, and comparing what it says with golden files.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that goes away, in which commands run.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The command with these words, single-threaded so that all machines sum in the same order.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kinfolk"));
        command.args(split(words)).current_dir(self.0.path()).env_remove("RUST_LOG");
        command
    }

    /// Runs it and says how it went.
    pub fn run(&self, words: &str) -> CommandOutput {
        CommandOutput::new(words, self.command(words).output().unwrap())
    }

    /// Runs it, which must go well; what it said on stdout.
    pub fn ok(&self, words: &str) -> String {
        let said = self.run(words);
        assert_eq!(said.code, 0, "kinfolk {words}\n{}{}", said.stdout, said.stderr);
        said.stdout
    }

    /// Runs it with `--json`, which must go well.
    pub fn json(&self, words: &str) -> serde_json::Value {
        let stdout = self.ok(&format!("{words} --json"));
        assert_eq!(stdout.lines().count(), 1, "one object: {stdout}");
        serde_json::from_str(&stdout).unwrap()
    }

    /// Names of all files.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Data for the examples of the help: `school.csv`, `districts.csv`, `mines.npz`, `digits.npz`.
    pub fn with_examples() -> Self {
        let place = Place::new();
        place.write("school.csv", school());
        place.write("districts.csv", "school,district\nnorth,lake\nsouth,hill\neast,lake\nwest,hill\n");
        place.ok("data generate mines.npz --tasks 6 --groups 2 --rows 30 --features 9 --binary --quiet");
        place.ok("data generate digits.npz --kind digits --quiet");
        place
    }
}

/// Pupils of four schools.
pub fn school() -> String {
    let mut text = String::from("school,age,hours,score\n");
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 16) / 65_536.0
    };
    for i in 0..60 {
        let (school, age, hours) =
            (["north", "south", "east", "west"][i % 4], 10.0 + (10.0 * next()).floor(), next());
        let slope = if i % 2 == 0 { 3.0 } else { -1.0 };
        text += &format!("{school},{age},{hours:.3},{:.3}\n", 0.1 * age + slope * hours + 0.1 * next());
    }
    text
}

/// How a command went.
#[derive(Debug)]
pub struct CommandOutput {
    pub words: String,
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl CommandOutput {
    pub fn new(words: &str, output: Output) -> Self {
        CommandOutput {
            words: words.into(),
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// All of it, as golden files have it.
    pub fn transcript(&self) -> String {
        let mut text = format!("$ kinfolk {}\n{}", self.words, self.stdout);
        let stderr: String =
            self.stderr.lines().filter(|line| !is_progress(line)).map(|line| format!("{line}\n")).collect();
        if !stderr.is_empty() {
            text += &format!("--- stderr\n{stderr}");
        }
        if self.code != 0 {
            text += &format!("--- exit code {}\n", self.code);
        }
        text
    }
}

/// Whether a line says after so much time what is being done, as slow machines do.
fn is_progress(line: &str) -> bool {
    line.split_once(" s: ").is_some_and(|(time, _)| time.starts_with(|first: char| first.is_ascii_digit()))
}

/// Compares with a golden file, numbers that vary masked. `KINFOLK_BLESS=1` writes it anew.
pub fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let text = mask(text);
    if std::env::var_os("KINFOLK_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{} differs; if that is right, run with KINFOLK_BLESS=1", path.display());
}

/// What varies from machine to machine becomes `#`: numbers with a point or an exponent, counts of passes, bytes and
/// seconds, and the width of columns. Command lines stay as they are.
pub fn mask(text: &str) -> String {
    let mask = |line: &str| if line.starts_with("$ ") { line.to_string() } else { mask_line(line) };
    text.lines().map(|line| mask(line) + "\n").collect()
}

fn mask_line(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while !rest.is_empty() {
        let number_at = rest.find(|c: char| c.is_ascii_digit() || c == '-' || c == '+').unwrap_or(rest.len());
        out.push_str(&rest[..number_at]);
        rest = &rest[number_at..];
        let inside_word = out.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let length = if inside_word { 0 } else { number_length(rest) };
        let (token, after) = rest.split_at(length);
        // So many minutes and seconds are seconds.
        let of_minute = after.strip_prefix(" min ").and_then(|more| more.get(..2).zip(more.get(2..4)));
        if length > 0 && of_minute.is_some_and(|(n, unit)| n.parse::<u8>().is_ok() && unit == " s") {
            out.push('#');
            rest = &after[" min 00".len()..];
            continue;
        }
        // From ten seconds on, times have no point.
        let is_time = after == " s" || after.starts_with(" s ");
        let counts = after.starts_with(" pass")
            || out.ends_with("\"passes\":")
            || out.ends_with("\"bytes\":")
            || is_time;
        if length > 0 && (token.contains(['.', 'e']) || counts) {
            out.push('#');
            rest = after;
        } else {
            let skip = length.max(rest.chars().next().map_or(0, char::len_utf8));
            out.push_str(&rest[..skip]);
            rest = &rest[skip..];
        }
    }
    let indent = out.len() - out.trim_start().len();
    let words: Vec<&str> = out.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    format!("{}{}", &out[..indent.min(4)], words.join("  "))
}

/// Length of the longest number at the start.
fn number_length(text: &str) -> usize {
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c))).unwrap_or(text.len());
    (1..=end).rev().find(|&n| text[..n].parse::<f64>().is_ok()).unwrap_or(0)
}

/// Words of a command line, with double quotes.
fn split(words: &str) -> Vec<String> {
    let (mut out, mut quoted) = (vec![String::new()], false);
    for c in words.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => out.push(String::new()),
            c => out.last_mut().unwrap().push(c),
        }
    }
    out.retain(|word| !word.is_empty());
    out
}
