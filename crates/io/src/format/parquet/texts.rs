//! Some columns of a parquet file as texts.

use super::column::ColumnReader;
use super::read::{BATCH_ROWS, open_file};
use super::schema;
use crate::columns::cells::TableCell;
use crate::format::InputFile;
use crate::{ChooseColumns, Error, Result, TextTable};
use std::borrow::Cow;

/// The columns that a caller chooses.
pub(super) fn read(input: &InputFile, choose: &ChooseColumns<'_>) -> Result<TextTable> {
    let file = open_file(input)?;
    let fields = schema::fields(file.metadata.file_metadata().schema_descr());
    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    let chosen = choose(&names)?;
    let columns = chosen.iter().map(|&column| names[column].clone()).collect();
    let mut table = TextTable { columns, ..TextTable::default() };
    for (group, metadata) in file.metadata.row_groups().iter().enumerate() {
        let first = table.rows.len();
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
        for &column in &chosen {
            let wrong = |why: String| Error::of_table(why).in_column(names[column].clone());
            let (leaf, kind) = fields[column].content.clone().map_err(|why| wrong(why.to_string()))?;
            let mut reader =
                ColumnReader::new(kind, file.column(group, leaf).map_err(|why| wrong(why.to_string()))?);
            for from in (0..rows).step_by(BATCH_ROWS) {
                let batch = reader.read(BATCH_ROWS.min(rows - from)).map_err(wrong)?;
                for (row, cell) in batch.cells().enumerate() {
                    let row = first + from + row;
                    // Rows grow with what is read, not with what the file claims.
                    if row == table.rows.len() {
                        table.rows.push(Vec::with_capacity(chosen.len()));
                    }
                    let text = cell.text().map(Cow::into_owned).map_err(|error| error.at_row(row))?;
                    table.rows[row].push(text);
                }
            }
        }
    }
    Ok(table)
}
