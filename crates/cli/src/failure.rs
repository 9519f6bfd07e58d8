//! What ends a command early, and with which exit code.

use kinfolk_io::{Hint, Role};
use std::fmt;

/// Exit code: the answer is no.
pub(crate) const NO: u8 = 1;
/// Exit code: the command line makes no sense.
pub(crate) const USAGE: u8 = 2;
/// Exit code: data, model file or parameters cannot be used.
pub(crate) const INPUT: u8 = 3;
/// Exit code: something could not be written, or a bug.
pub(crate) const OUTPUT: u8 = 4;
/// Exit code: ended by Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Most characters of a line of a message.
const MOST_CHARACTERS: usize = 1500;

/// Why a command ends without an answer.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    message: String,
    /// Whether files have to be looked through before they are read.
    pub(crate) is_cured_by_look: bool,
}

/// A result whose error knows its exit code.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    fn new(code: u8, message: impl fmt::Display) -> Self {
        Failure { code, message: one_line(&message.to_string()), is_cured_by_look: false }
    }

    /// Several errors of a file: a line for each.
    fn of_lines(code: u8, message: &str, n_columns: usize) -> Self {
        let lines: Vec<String> = message.lines().map(one_line).collect();
        let message = match lines.as_slice() {
            [one] => one.clone(),
            lines => format!("{n_columns} columns are in the way\n  {}", lines.join("\n  ")),
        };
        Failure { code, message, is_cured_by_look: false }
    }

    /// The command line makes no sense.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(USAGE, message)
    }

    /// Data, model or parameters cannot be used.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self::new(INPUT, message)
    }

    /// Something could not be written, or a bug.
    pub(crate) fn output(message: impl fmt::Display) -> Self {
        Self::new(OUTPUT, message)
    }

    /// Data that do not suit a spec, with the file they are from.
    pub(crate) fn of_data(error: kinfolk_train::Error, path: &std::path::Path) -> Self {
        match error {
            kinfolk_train::Error::Io(error) => Self::from(error).about(path),
            other => other.into(),
        }
    }

    /// The same, with the rows it is about in front: the number of the first and of the last, over all files.
    pub(crate) fn in_rows(mut self, first: usize, last: usize) -> Self {
        self.message = format!("rows {first} to {last}: {}", self.message);
        self
    }

    /// The same, and another one after it.
    pub(crate) fn and(mut self, other: Failure) -> Self {
        self.message = format!("{}; {}", self.message, other.message);
        self
    }

    /// The same, with the file it is about in front.
    pub(crate) fn about(mut self, path: &std::path::Path) -> Self {
        let name =
            if path == std::path::Path::new("-") { "stdin".into() } else { path.display().to_string() };
        self.message = format!("{}: {}", one_line(&name), self.message);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<kinfolk::Error> for Failure {
    fn from(error: kinfolk::Error) -> Self {
        match error {
            kinfolk::Error::NegativeGap { .. } => Self::output(error),
            kinfolk::Error::Memory { what: "the work on the device", .. } => {
                Self::input(format!("{error}; --device-memory gives more, --device cpu does without"))
            }
            kinfolk::Error::Memory { .. } => Self::input(format!("{error}; --memory gives more")),
            _ => Self::input(error),
        }
    }
}

/// A message about a value that is no number, in plainer words than those of the parsers; `None` if it is about
/// something else.
pub(crate) fn about_a_number(message: &str) -> Option<String> {
    const WORDS: [(&str, &str); 5] = [
        (": invalid digit found in string", ": it must be a whole number"),
        (": number too large to fit in target type", ": the number is too large"),
        (": cannot parse integer from empty string", ": it must be a whole number"),
        (": invalid float literal", ": it must be a number"),
        (": cannot parse float from empty string", ": it must be a number"),
    ];
    let (parser, words) = WORDS.iter().find(|(parser, _)| message.contains(parser))?;
    Some(message.replacen(parser, words, 1))
}

impl From<kinfolk_io::Error> for Failure {
    fn from(mut error: kinfolk_io::Error) -> Self {
        let hints = error.hints.len();
        error.hints.retain(|hint| *hint != Hint::LookThrough);
        let is_cured_by_look = error.hints.len() < hints;
        let mut text = error.with_hints(option);
        let columns = std::iter::once(&error).chain(error.others.iter().flat_map(|others| others.iter()));
        let words: Vec<&Vec<String>> = columns
            .flat_map(|error| &error.hints)
            .filter_map(|hint| match hint {
                Hint::MissingWords(words) => Some(words),
                _ => None,
            })
            .collect();
        // One line for all columns, which needs no second try.
        if words.len() > 1 {
            let mut all: Vec<String> = vec![];
            for word in words.into_iter().flatten() {
                if !all.contains(word) {
                    all.push(word.clone());
                }
            }
            text += &format!("\nall of these words as missing values: {}", missing_words(&all));
        }
        let n_columns = 1 + error.others.as_ref().map_or(0, |others| others.len());
        Failure { is_cured_by_look, ..Self::of_lines(INPUT, &text, n_columns) }
    }
}

/// A hint with the option that does it.
fn option(hint: &Hint) -> String {
    match hint {
        Hint::Drop(column) => format!("leave the column out with --drop {}", argument(column)),
        Hint::OneHot(column) => format!("make features of its words with --one-hot {}", argument(column)),
        Hint::SkipLines => {
            "if lines of a title are above the header, leave them out with --skip-lines N".into()
        }
        Hint::Rename(what) => {
            format!(
                "if a {what} is really called so, take no word for a missing value with --missing-words none"
            )
        }
        Hint::FillMissing => "have it filled in with --missing mean, median or zero".into(),
        Hint::MissingWords(words) => {
            let what = if words.len() == 1 { "it for a missing value" } else { "them for missing values" };
            format!("take {what} with {}", missing_words(words))
        }
        Hint::Decimal => {
            "say which with --decimal , (thousands have points) or --decimal . (decimal points)".into()
        }
        Hint::DecimalOf(column) => {
            let [comma, point] = [",", "."].map(|sign| argument(&format!("{column}={sign}")));
            format!(
                "say which with --decimal {comma} (thousands have points) or --decimal {point} (decimal points)"
            )
        }
        Hint::EitherDecimal(column) => {
            let either = argument(&format!("{column}=either"));
            format!(
                "--decimal {either} takes a single comma or point for the decimal sign, whatever follows it"
            )
        }
        Hint::ZeroBased(is) => {
            format!("if they count from {} in this file, say so with --zero-based {is}", u8::from(!is))
        }
        Hint::DateOrder => "say which with --date-order dmy or mdy".into(),
        Hint::Classes => "without such a column, --classes takes them for classes".into(),
        Hint::Dense => "--scale spread divides by the same numbers, --dense keeps all zeros in memory".into(),
        Hint::IgnoreCase => "--ignore-case takes words that differ in letter case only for one".into(),
        Hint::FillColumns => {
            "predict, evaluate and report fill in columns that are not there with --missing-columns fill"
                .into()
        }
        Hint::FillCells => {
            "have it filled in with the mean of the training rows with --missing-cells fill".into()
        }
        Hint::CheckRoles(roles) => {
            format!("see {}", roles.iter().map(|role| role_option(*role)).collect::<Vec<_>>().join(" and "))
        }
        other => other.to_string(),
    }
}

/// Options that take words for missing values.
pub(crate) fn missing_words(words: &[String]) -> String {
    let options: Vec<String> =
        words.iter().map(|word| format!("--missing-word {}", argument(word))).collect();
    options.join(" ")
}

fn role_option(role: Role) -> &'static str {
    match role {
        Role::Task => "--task",
        Role::Target => "--target",
        Role::Features => "--features",
        Role::Drop => "--drop",
        Role::OneHot => "--one-hot",
        Role::Weight => "--weight",
        Role::Offset => "--offset",
        Role::Split => "--split-column",
        Role::Keep => "--keep",
        Role::Folds => "--folds-by",
    }
}

/// A name as one would type it in a shell.
pub(crate) fn argument(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.:/+=@".contains(c);
    if name.len() <= 60 && name.chars().all(plain) { name.to_string() } else { format!("{name:?}") }
}

impl From<kinfolk_train::Error> for Failure {
    fn from(error: kinfolk_train::Error) -> Self {
        match error {
            kinfolk_train::Error::Engine(error) => error.into(),
            kinfolk_train::Error::Io(error) => error.into(),
            kinfolk_train::Error::Stopped(why) => Self::new(INTERRUPTED, why),
            // Fields of a spec are options here.
            other => Self::input(other.to_string().replace("(interval_new_tasks)", "(--interval-new-tasks)")),
        }
    }
}

/// File names and cells may hold anything; a message stays on its line, and is not a long one. What is wrong is said at
/// its start, and where at its end: the middle is left out.
fn one_line(text: &str) -> String {
    let line = crate::text::one_line(text);
    let length = line.chars().count();
    if length <= MOST_CHARACTERS {
        return line;
    }
    let start: String = line.chars().take(MOST_CHARACTERS * 2 / 3).collect();
    let end: String = line.chars().skip(length - MOST_CHARACTERS / 3).collect();
    format!("{start} ... {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_and_not_a_long_one() {
        let message = one_line(&format!("\u{1b}[31m {} line 7", "a".repeat(5000)));
        assert!(message.starts_with("\\u{1b}[31m aaa") && message.ends_with("aaa line 7"), "{message}");
        assert!(message.chars().count() < 2 * MOST_CHARACTERS && message.contains("a ... a"));
    }

    #[test]
    fn hints_name_options() {
        let failure = |hint| Failure::from(kinfolk_io::Error::of_table("wrong").hint(hint)).to_string();
        assert_eq!(
            failure(Hint::OneHot("my city".into())),
            "wrong; make features of its words with --one-hot \"my city\""
        );
        let clash = Hint::CheckRoles(vec![Role::Target, Role::Split]);
        assert_eq!(failure(clash), "wrong; see --target and --split-column");
    }

    #[test]
    fn a_fit_that_was_stopped_without_a_model_ends_as_interrupted() {
        let failure = Failure::from(kinfolk_train::Error::Stopped("stopped"));
        assert_eq!((failure.code, failure.to_string().as_str()), (INTERRUPTED, "stopped"));
    }

    #[test]
    fn a_message_stays_on_its_line() {
        let failure = Failure::input("a\nb.csv: line 3").about(std::path::Path::new("c\td"));
        assert_eq!(failure.to_string(), "c\\td: a\\nb.csv: line 3");
        assert_eq!(failure.code, 3);
    }
}
