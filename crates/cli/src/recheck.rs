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
    if model.alpha().is_none() {
        return Ok(Recheck::NoDuals);
    }
    // If the files lack the part that was fitted, they hold other data.
    let Ok((table, observations)) = trained.training_data(paths, columns) else {
        return Ok(Recheck::OtherData);
    };
    let about = model.about();
    if table.n_rows() != about.n_inputs || observations.len() != about.n_observations {
        return Ok(Recheck::OtherData);
    }
    match model.check(&table.inputs, &observations, options) {
        Ok(check) if check.mismatches.is_empty() => Ok(Recheck::Agrees(check.certificate)),
        Ok(_) | Err(kinfolk::Error::Infeasible { .. } | kinfolk::Error::DualSum { .. }) => {
            Ok(Recheck::Differs)
        }
        Err(error) => Err(Failure::from(error).about(paths.first().map_or(Path::new(""), PathBuf::as_path))),
    }
}
