//! The text format of libsvm and svmlight: `label [qid:task] index:value ... [# comment]`, one row per line.
//!
//! Indices count from 1 and increase. The task is the `qid`; without one there is a single task, or the label is the class.
//! What the format has no room for (names, missing labels, several labels, weights, parts) is kept by
//! [`write_table`](crate::write_table) in comments, which other programs pass over: the first line is `# kinfolk {...}`, see
//! [`Preamble`].

mod line;
mod preamble;
mod source;
mod targets;

pub(crate) use preamble::{Kind, Preamble};
pub(crate) use source::open;
