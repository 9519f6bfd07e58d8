//! An npy file: inputs alone.

use super::{ArrayHeader, MatrixReader};
use crate::format::{InputFile, OpenResult};
use crate::{ColumnRoles, Result, Schema, Source, Storage, Table, Targets};

/// The rows of an array: features, or kernel values if the schema says that the model was fitted on such.
pub(super) struct NpySource {
    rows: MatrixReader,
    schema: Schema,
}

impl NpySource {
    pub(super) fn open(input: &InputFile, columns: &ColumnRoles, schema: Option<&Schema>) -> OpenResult {
        columns.refuse_all("npy")?;
        let mut from = input.bytes()?;
        let header = ArrayHeader::read(&mut from)?;
        if let [n] = header.shape[..] {
            return Err(wrong!(
                "it is a list of {n}; inputs have rows and columns, and labels go beside them into one file: \
                 numpy.savez(\"data.npz\", X=X, y=y)"
            ));
        }
        let rows = MatrixReader::new(Box::new(from), header)?;
        let storage = schema.map_or(Storage::Dense, |schema| schema.storage);
        let schema = Schema { storage, ..Schema::new(columns.clone(), None, rows.cols()) };
        Ok(Box::new(NpySource { rows, schema }))
    }
}

impl Source for NpySource {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let Some(inputs) = self.rows.next(max_rows, None)? else {
            return self.rows.finish().map(|()| None);
        };
        Ok(Some(Table::new(inputs, Targets::None)))
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.rows.rows())
    }

    fn schema(&self) -> Schema {
        self.schema.clone()
    }
}
