//! Text files made of cells that mean something: numbers of every form, dates, words, signs of money, missing values.

use crate::readers::{read_named, read_twice};
use arbitrary::{Arbitrary, Result, Unstructured};
use std::fmt::Write;

const NAMES: [&str; 9] = ["kind", "y", "z", "u8", "float", "i8", "flag", "day", "x"];
const CELLS: [&str; 40] = [
    "",
    "0",
    "1",
    "-1",
    "1.5",
    "-0",
    "1e308",
    "1e-320",
    "1e400",
    "nan",
    "inf",
    "1,5",
    "1.234",
    "1.234,5",
    "1 234",
    "1'000",
    "+3",
    ".5",
    "5.",
    "0x10",
    "yes",
    "no",
    "true",
    "False",
    "NA",
    "#DIV/0!",
    "-",
    "none",
    "2024-03-14",
    "14.3.2024",
    "3/14/2024",
    "14-Mar-2024",
    "2024-03-14T10:00:00Z",
    "61,48 €",
    "13 %",
    "$ 5",
    "word",
    "a;b",
    "ä",
    "\u{feff}",
];
const MOST_ROWS: usize = 40;

/// A cell: one of the list, a number, or any text.
struct Cell(String);

impl<'a> Arbitrary<'a> for Cell {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Cell(match bytes.int_in_range(0..=9)? {
            0..=6 => (*bytes.choose(&CELLS)?).to_string(),
            7 => f64::arbitrary(bytes)?.to_string(),
            8 => i16::arbitrary(bytes)?.to_string(),
            _ => <&str>::arbitrary(bytes)?.chars().take(20).collect(),
        }))
    }
}

/// Names of columns and rows of cells; most rows have as many cells as there are columns.
fn table(bytes: &mut Unstructured<'_>) -> Result<(Vec<String>, Vec<Vec<String>>)> {
    let width = bytes.int_in_range(1..=6)?;
    let name = |bytes: &mut Unstructured<'_>| match bytes.ratio(9, 10)? {
        true => Ok((*bytes.choose(&NAMES)?).to_string()),
        false => Ok(Cell::arbitrary(bytes)?.0),
    };
    let names = (0..width).map(|_| name(bytes)).collect::<Result<_>>()?;
    let mut rows = vec![];
    while rows.len() < MOST_ROWS && !bytes.is_empty() {
        let cells = if bytes.ratio(1, 50)? { bytes.int_in_range(0..=8)? } else { width };
        rows.push((0..cells).map(|_| Ok(Cell::arbitrary(bytes)?.0)).collect::<Result<_>>()?);
    }
    Ok((names, rows))
}

/// Cells between separators, quoted where they need it and sometimes where not.
pub fn csv(bytes: &[u8]) {
    let mut left = Unstructured::new(bytes);
    let made = |left: &mut Unstructured<'_>| -> Result<String> {
        let separator = *left.choose(&[',', ';', '\t', '|', ' '])?;
        let end = *left.choose(&["\n", "\r\n", "\r"])?;
        let always = left.ratio(1, 4)?;
        let careless = left.ratio(1, 10)?;
        let (names, rows) = table(left)?;
        let mut text = String::new();
        for row in std::iter::once(&names).chain(&rows) {
            for (place, cell) in row.iter().enumerate() {
                if place > 0 {
                    text.push(separator);
                }
                let needs = cell.contains([separator, '"', '\n', '\r']);
                if !careless && (always || needs) {
                    let _ = write!(text, "\"{}\"", cell.replace('"', "\"\""));
                } else {
                    text += cell;
                }
            }
            text += end;
        }
        Ok(text)
    };
    if let Ok(text) = made(&mut left) {
        read_named(text.as_bytes(), "a.csv");
    }
}

/// Objects with these cells as strings, numbers, booleans, null or something nested.
pub fn jsonl(bytes: &[u8]) {
    let mut left = Unstructured::new(bytes);
    let made = |left: &mut Unstructured<'_>| -> Result<String> {
        let (names, rows) = table(left)?;
        let mut text = String::new();
        for row in rows {
            let mut object = serde_json::Map::new();
            for (name, cell) in names.iter().zip(row) {
                let value = match cell.as_str() {
                    "" => serde_json::Value::Null,
                    "true" => true.into(),
                    "a;b" => serde_json::json!([1, {"b": 2}]),
                    other => match other.parse::<f64>() {
                        Ok(number) if number.is_finite() => number.into(),
                        _ => other.into(),
                    },
                };
                object.insert(name.clone(), value);
            }
            let _ = writeln!(text, "{}", serde_json::Value::Object(object));
        }
        Ok(text)
    };
    if let Ok(text) = made(&mut left) {
        read_named(text.as_bytes(), "a.jsonl");
    }
}

/// Lines of label, qid, index:value pairs and comments.
pub fn svm(bytes: &[u8]) {
    let mut left = Unstructured::new(bytes);
    let made = |left: &mut Unstructured<'_>| -> Result<String> {
        let with_task = left.ratio(1, 2)?;
        let mut text = String::new();
        let mut rows = 0;
        while rows < MOST_ROWS && !left.is_empty() {
            let label = match left.int_in_range(0..=5)? {
                0 => Cell::arbitrary(left)?.0,
                1 => format!("{},{}", u8::arbitrary(left)?, u8::arbitrary(left)?),
                2 => f32::arbitrary(left)?.to_string(),
                _ => i8::arbitrary(left)?.to_string(),
            };
            text += &label;
            if with_task && left.ratio(19, 20)? {
                let _ = write!(text, " qid:{}", u8::arbitrary(left)? % 4);
            }
            let mut index = 0u64;
            for _ in 0..left.int_in_range(0..=6)? {
                index = match left.int_in_range(0..=40)? {
                    0 => u64::arbitrary(left)?,
                    _ => index.saturating_add(left.int_in_range(1..=9)?),
                };
                let value = if left.ratio(1, 20)? {
                    Cell::arbitrary(left)?.0
                } else {
                    i8::arbitrary(left)?.to_string()
                };
                let _ = write!(text, " {index}:{value}");
            }
            if left.ratio(1, 20)? {
                let _ = write!(text, " # {}", Cell::arbitrary(left)?.0);
            }
            text.push('\n');
            rows += 1;
        }
        Ok(text)
    };
    if let Ok(text) = made(&mut left) {
        read_twice(text.as_bytes(), "a.svm");
    }
}
