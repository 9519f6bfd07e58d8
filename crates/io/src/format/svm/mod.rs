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
