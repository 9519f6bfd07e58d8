//! Text for people: aligned tables, short numbers.

use kinfolk_io::is_unprintable;
pub(crate) use kinfolk_report::{count, number, plural, score};
use std::fmt::Write;

/// Which way a column leans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lean {
    Left,
    Right,
}

/// Rows of cells, printed with aligned columns, two blanks between them, and none at the end of a line.
#[derive(Debug)]
pub(crate) struct Grid {
    lean: Vec<Lean>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Columns by their heads; those that begin with `>` lean right.
    pub(crate) fn new(heads: &[&str]) -> Self {
        let lean = |head: &&str| if head.starts_with('>') { Lean::Right } else { Lean::Left };
        let names = heads.iter().map(|head| head.trim_start_matches('>').to_string()).collect();
        Grid { lean: heads.iter().map(lean).collect(), rows: vec![names] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }
}

impl std::fmt::Display for Grid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width_of = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.lean.len()).map(width_of).collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, &width), lean) in row.iter().zip(&widths).zip(&self.lean) {
                match lean {
                    Lean::Left => write!(line, "{cell:<width$}  ")?,
                    Lean::Right => write!(line, "{cell:>width$}  ")?,
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The same text with characters written out that are not for people, as in `\u{1b}`: a name in a file cannot end a
/// line, colour a terminal, turn the text after it around or do worse. All that is printed goes through this; files are
/// written as names are.
pub(crate) fn one_line(text: &str) -> String {
    printable(text, |_| false)
}

/// The same for texts of several lines.
pub(crate) fn lines(text: &str) -> String {
    printable(text, |c| c == '\n')
}

fn printable(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut found = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unprintable(c) && !keep(c) { found.extend(c.escape_default()) } else { found.push(c) }
    }
    found
}

/// All digits, so that the same number is read back; with a power of ten where there would be many zeros.
pub(crate) fn exact(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || !x.is_finite() || (1e-7..1e17).contains(&size) {
        x.to_string()
    } else {
        format!("{x:e}")
    }
}

/// `1 pass`, `2 passes`.
pub(crate) fn plural_es(n: usize, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "es" })
}

/// A size as `12 bytes`, `3.4 kB`, `1.2 GB`.
pub(crate) fn bytes(n: u64) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.iter().find(|(size, _)| n >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", n as f64 / *size as f64),
        None => plural(n as usize, "byte"),
    }
}

/// A duration as `0.42 s`, `12 s`, `3 min 05 s`, `2 h 10 min`.
pub(crate) fn seconds(s: f64) -> String {
    let whole = s.round() as u64;
    match s {
        _ if s < 9.95 => format!("{s:.2} s"),
        _ if whole < 60 => format!("{whole} s"),
        _ if whole < 3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_blanks() {
        let mut grid = Grid::new(&["task", ">AUC"]);
        grid.row(["a".into(), "0.5".into()]);
        grid.row(["long name".into(), "".into()]);
        assert_eq!(grid.to_string(), "task       AUC\na          0.5\nlong name\n");
    }

    #[test]
    fn names_cannot_speak_to_the_terminal() {
        let mut grid = Grid::new(&["task"]);
        grid.row(["\u{1b}[31mred\n".into()]);
        assert_eq!(grid.to_string(), "task\n\\u{1b}[31mred\\n\n");
        assert_eq!(lines("a\tb\n\u{7}"), "a\\tb\n\\u{7}");
        assert_eq!(one_line("a\u{202e}b\u{85}\u{2028}"), "a\\u{202e}b\\u{85}\\u{2028}");
    }

    #[test]
    fn numbers_of_any_size_are_short_and_read_back() {
        for x in [0.0, 0.1, -3e-9, 1.5e300, f64::MIN_POSITIVE, f64::INFINITY, 12345.678] {
            assert_eq!(exact(x).parse::<f64>().unwrap(), x);
            assert!(exact(x).len() < 26, "{}", exact(x));
        }
        assert_eq!((exact(0.25), exact(-1e250)), ("0.25".into(), "-1e250".into()));
    }

    #[test]
    fn times_are_short() {
        assert_eq!(
            (seconds(0.123), seconds(75.2), seconds(7_830.0)),
            ("0.12 s".into(), "1 min 15 s".into(), "2 h 10 min".into())
        );
    }
}
