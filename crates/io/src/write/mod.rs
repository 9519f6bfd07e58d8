//! Tables to files, such that reading them back gives the same table.

mod npy;
mod npz;
mod svm;

use crate::{Error, Format, Result, Table, Targets, writer};
use flate2::Compression;
use flate2::write::GzEncoder;
use kinfolk::Inputs;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a table in the format that the name of the file asks for.
///
/// Numbers come back exactly, in single precision too. The file is written beside and renamed: if anything fails, what was
/// there before is still there.
///
/// # Errors
/// If the file cannot be written, or the format cannot hold what is in the table: `.npy` holds inputs alone (it drops the names
/// of the features), and a Gram matrix needs `.npz`. Reading `.csv` and `.parquet` back takes the [`columns_of`](crate::columns_of)
/// the table; features without names are called `x0`, `x1`, ..., and names of tasks and classes without rows are lost.
pub fn write_table(table: &Table, path: &Path) -> Result<()> {
    let format = Format::of(path)?;
    check(table, format).map_err(|error| error.in_file(path))?;
    if matches!(format, Format::Csv | Format::Parquet) {
        return writer::write(table, path);
    }
    let packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let write = |file: &mut File| match format {
        Format::Npz => npz::write(table, file),
        Format::Npy => buffered(file, |to| npy::write(table, to)),
        Format::Svm if packed => buffered(file, |to| {
            let mut to = GzEncoder::new(to, Compression::default());
            svm::write(table, &mut to)?;
            to.finish().map(drop)
        }),
        Format::Svm => buffered(file, |to| svm::write(table, to)),
        Format::Csv | Format::Parquet => {
            Err(io::Error::other("tables with named columns are written elsewhere"))
        }
    };
    kinfolk::write_atomically(path, write).map_err(|error| Error::new(path, error))
}

fn buffered(
    file: &mut File,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut to = BufWriter::with_capacity(1 << 16, file);
    write(&mut to)?;
    to.flush()
}

/// `Err` if something would be lost.
fn check(table: &Table, format: Format) -> Result<()> {
    let lost = |what: &str| Err(Error::of_table(format!("this format cannot hold {what}; write .npz")));
    if matches!(table.inputs, Inputs::Gram(_)) && format != Format::Npz {
        return lost("a Gram matrix");
    }
    if format == Format::Npy {
        match (&table.targets, &table.weight, &table.split) {
            (Targets::None, None, None) => {}
            _ => return lost("labels, weights or parts"),
        }
    }
    let (rows, cols) = (table.inputs.n_inputs() as u128, table.inputs.n_features() as u128);
    if matches!(format, Format::Npy | Format::Npz) && rows * cols > 1 << 34 {
        let why = format!(
            "{rows} rows of {cols} numbers, zeros included, are too many for this format; write .svm"
        );
        return Err(Error::of_table(why));
    }
    Ok(())
}
