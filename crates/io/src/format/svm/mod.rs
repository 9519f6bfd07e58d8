//! `.svm`, `.svmlight`, `.libsvm`: the text format of libsvm and svmlight, one row per line:
//! `label [qid:task] index:value ... [# comment]`.
//!
//! Indices count from 1 and increase. The task is the `qid`; without one there is a single task, or the label
//! is the class. A row without a label begins with its task or its first `index:value`. What the format has no room
//! for (names, missing labels of some tasks, weights, parts) is kept by [`write_table`](crate::write_table) in
//! comments, which other programs skip: the first line is `# kinfolk {...}`, see [`preamble::Preamble`].

mod line;
mod preamble;
mod read;
mod targets;
mod write;

use super::{FileFormat, Reader, cannot_hold};

/// Whether a text begins like such a file: a label or none, then `index:value`.
pub(super) fn looks_like(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    if text.starts_with("# kinfolk {") {
        return true;
    }
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let is_entry = |token: &str| {
        token.split_once(':').is_some_and(|(index, value)| {
            (index == "qid" || index.bytes().all(|byte| byte.is_ascii_digit())) && is_number(value)
        })
    };
    let is_row = |line: &str| {
        let (row, _) = line.split_once('#').unwrap_or((line, ""));
        let mut tokens = row.split_ascii_whitespace();
        let first = tokens.next().unwrap_or_default();
        let begins = is_entry(first) || first.split(',').all(is_number);
        begins && (is_entry(first) || row.contains(':')) && tokens.all(is_entry)
    };
    let rows = || text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    rows().next().is_some_and(is_row)
}

/// Sparse rows as text.
pub(super) const FORMAT: FileFormat = FileFormat {
    extensions: &["svm", "svmlight", "libsvm"],
    may_be_compressed: true,
    holds_targets: true,
    has_named_columns: false,
    holds_gram: false,
    reader: Reader::Arrays(read::SvmSource::open),
    check: |table| table.offset.as_ref().map_or(Ok(()), |_| Err(cannot_hold("offsets"))),
    write_table: Some(write::write),
    columns: None,
};
