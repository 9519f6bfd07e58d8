//! A data file: scores of the model on it, and whether it confirms the certificate.

use super::ReportFiles;
use crate::args::Global;
use crate::failure::{Failure, Result};
use crate::recheck::recheck;
use crate::training::part;
use kinfolk::CertifyOptions;
use kinfolk_report::DataCheck;
use kinfolk_train::Trained;
use kinfolk_train::{Metric, predict};
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
    let mut rows_per_task = vec![0; trained.model.tasks().len()];
    (0..observations.len()).for_each(|o| rows_per_task[observations.task(o)] += 1);
    let metric = metric.unwrap_or_else(|| Metric::default_for(&observations));
    let wrong = |error: kinfolk_train::Error| Failure::from(error).about(path);
    let losses = &trained.model.about().problem.loss;
    metric.check(&observations, losses).map_err(wrong)?;
    let predictions = predict(&trained.model, &table.inputs, &observations).map_err(wrong)?;
    let options = CertifyOptions { threads: global.threads(), memory: files.memory };
    Ok(DataCheck {
        path: path.into(),
        n_rows: table.n_rows(),
        rows_per_task,
        metric,
        score: metric.score(&observations, losses, &predictions).map_err(wrong)?,
        recheck: recheck(trained, &[path.to_path_buf()], &columns, &options)?,
    })
}
