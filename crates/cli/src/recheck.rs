//! Whether files hold the data of a fit: then its certificate can be computed from them again.

use crate::failure::{Failure, Result};
use kinfolk::CertifyOptions;
use kinfolk_io::ColumnRoles;
use kinfolk_report::Recheck;
use kinfolk_train::Trained;
use std::path::{Path, PathBuf};

/// Computes the certificate of a model from files, if they can be its data.
pub(crate) fn recheck(
    trained: &Trained,
    paths: &[PathBuf],
    columns: &ColumnRoles,
    options: &CertifyOptions,
) -> Result<Recheck> {
    let model = &trained.model;
    if model.alpha().is_none() && !model.about().from_statistics {
        return Ok(Recheck::NoDuals);
    }
    // If the files lack the part that was fitted, they hold other data.
    let Ok((table, observations)) = trained.training_data(paths, columns) else {
        return Ok(Recheck::OtherData);
    };
    Recheck::new(model, &table.inputs, &observations, options)
        .map_err(|error| Failure::from(error).about(paths.first().map_or(Path::new(""), PathBuf::as_path)))
}
