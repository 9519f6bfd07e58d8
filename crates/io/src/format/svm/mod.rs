//! `.svm`, `.svmlight`, `.libsvm`: the text format of libsvm and svmlight, one row per line:
//! `label [qid:task] index:value ... [# comment]`.
//!
//! Indices count from 1 and increase. The task is the `qid`; without one there is a single task, or the label
//! is the class. What the format has no room for (names, missing labels, several labels, weights, parts) is
//! kept by [`write_table`](crate::write_table) in comments, which other programs skip: the first line is
//! `# kinfolk {...}`, see [`preamble::Preamble`].

mod line;
mod preamble;
mod read;
mod targets;
mod write;

use super::{FileFormat, InputFile, OutputFile, cannot_hold};
use crate::{ColumnRoles, Result, Schema, Source, Table};
use kinfolk::Inputs;

/// Sparse rows as text.
pub(super) struct Svm;

impl FileFormat for Svm {
    fn extensions(&self) -> &'static [&'static str] {
        &["svm", "svmlight", "libsvm"]
    }

    fn may_be_gzipped(&self) -> bool {
        true
    }

    fn open(
        &self,
        input: &InputFile,
        columns: &ColumnRoles,
        schema: Option<&Schema>,
    ) -> Result<Box<dyn Source>> {
        Ok(Box::new(read::SvmSource::open(input, columns, schema)?))
    }

    fn check(&self, table: &Table) -> Result<()> {
        match (&table.inputs, &table.offset) {
            (Inputs::Gram(_), _) => Err(cannot_hold("a Gram matrix")),
            (_, Some(_)) => Err(cannot_hold("offsets")),
            _ => Ok(()),
        }
    }

    fn write_table(&self, table: &Table, mut to: OutputFile) -> Result<OutputFile> {
        write::write(table, &mut to)?;
        Ok(to)
    }
}
