//! Specs as TOML.

use kinfolk_io::is_unprintable;
use serde::Serialize;
use toml::{Table, Value};

/// As the library writes it, unless a name holds characters that are not for people: they are escaped as TOML does, and
/// the library writes some of them as they are. Such a text can be printed, and is read back.
pub(super) fn of(spec: &impl Serialize) -> Result<String, toml::ser::Error> {
    let text = toml::to_string(spec)?;
    match text.chars().any(|c| is_unprintable(c) && c != '\n') {
        true => Ok(escaped(&Table::try_from(spec)?)),
        false => Ok(text),
    }
}

/// A line for each value, and then the tables that are values.
fn escaped(table: &Table) -> String {
    let (tables, values): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| value.is_table());
    let mut text = String::new();
    for (key, value) in values {
        text += &format!("{} = {}\n", name(key), inline(value));
    }
    for (key, value) in tables {
        text += &format!("\n[{}]\n", name(key));
        for (inner, value) in value.as_table().into_iter().flatten() {
            text += &format!("{} = {}\n", name(inner), inline(value));
        }
    }
    text
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Table(table) => {
            let pair = |(key, value): (&String, &Value)| format!("{} = {}", name(key), inline(value));
            format!("{{{}}}", table.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A key: a string where it is no plain word.
fn name(key: &str) -> String {
    let is_plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    if is_plain { key.into() } else { string(key) }
}

fn string(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if is_unprintable(c) => format!("\\U{:08X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use crate::FitSpec;

    #[test]
    fn names_of_any_characters_are_read_back() {
        for name in ["a\u{85}b", "\u{9b}'\"\\", "x\u{2028}\r\n", "\u{202e}", "\u{7f}\u{feff}", "a'\\b"] {
            let mut spec = FitSpec { c: crate::Weight::C(2.0), max_seconds: Some(1.5), ..FitSpec::default() };
            spec.columns.task = Some(name.into());
            spec.columns.target = vec!["y".into(), name.into()];
            spec.columns.units.insert(name.into(), "kg".into());
            let text = spec.to_toml().unwrap();
            assert!(!text.chars().any(|c| c != '\n' && kinfolk_io::is_unprintable(c)), "{text:?}");
            assert_eq!(FitSpec::from_toml(&text).unwrap(), spec, "{text}");
        }
    }
}
