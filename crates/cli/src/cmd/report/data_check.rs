//! A data file: scores of the model on it, and whether it confirms the certificate.

use super::ReportFiles;
use crate::args::Global;
use crate::failure::{Failure, Result};
use crate::recheck::recheck;
use crate::training::part;
use kinfolk::CertifyOptions;
use kinfolk_report::DataCheck;
use kinfolk_train::{Metric, Trained};
use std::path::Path;

pub(super) fn check(
    trained: &Trained,
    path: &Path,
    files: &ReportFiles<'_>,
    metric: Option<Metric>,
    global: &Global,
) -> Result<DataCheck> {
    let columns = files.columns.for_model()?;
    let (table, _) = kinfolk_io::read(path, &columns, Some(&trained.schema))?;
    let table = part(table, files.split).map_err(|failure| failure.about(path))?;
    let observations = trained.observations(&table, path, 0)?;
    let options =
        CertifyOptions { threads: global.threads(), memory: files.memory, device: global.device()? };
    let recheck = recheck(trained, &[path.to_path_buf()], &columns, &options)?;
    DataCheck::new(&trained.model, path, &table.inputs, &observations, metric, recheck)
        .map_err(|error| Failure::from(error).about(path))
}
