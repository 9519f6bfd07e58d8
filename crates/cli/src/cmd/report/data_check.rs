//! A data file: scores of the model on it, and whether it confirms the certificate.

use super::ReportFiles;
use crate::args::Global;
use crate::failure::{Failure, Result};
use crate::training::part;
use kinfolk::CertifyOptions;
use kinfolk_report::{DataCheck, Recheck};
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
    let (table, _) = kinfolk_io::read(path, &files.columns.columns(), Some(&trained.schema))?;
    let table = part(table, files.split).map_err(|failure| failure.about(path))?;
    let observations = trained.observations(&table, path, 0)?;
    let mut rows_per_task = vec![0; trained.model.tasks().len()];
    (0..observations.len()).for_each(|o| rows_per_task[observations.task(o)] += 1);
    let metric = metric.unwrap_or_else(|| Metric::default_for(&observations));
    let wrong = |error: kinfolk_train::Error| Failure::from(error).about(path);
    let losses = &trained.model.about().problem.loss;
    metric.check(&observations, losses).map_err(wrong)?;
    let predictions = predict(&trained.model, &table.inputs, &observations).map_err(wrong)?;
    Ok(DataCheck {
        path: path.into(),
        n_rows: table.n_rows(),
        rows_per_task,
        metric,
        score: metric.score(&observations, losses, &predictions).map_err(wrong)?,
        recheck: recheck(trained, path, files, global)?,
    })
}

fn recheck(trained: &Trained, path: &Path, files: &ReportFiles<'_>, global: &Global) -> Result<Recheck> {
    let model = &trained.model;
    if model.alpha().is_none() {
        return Ok(Recheck::NoDuals);
    }
    // If the file lacks the part that was fitted, it holds other data.
    let Ok((table, observations)) = trained.training_data(&[path.to_path_buf()], &files.columns.columns())
    else {
        return Ok(Recheck::OtherData);
    };
    let about = model.about();
    if table.n_rows() != about.n_inputs || observations.len() != about.n_observations {
        return Ok(Recheck::OtherData);
    }
    let options = CertifyOptions { threads: global.threads(), memory: files.memory };
    match model.check(&table.inputs, &observations, &options) {
        Ok(check) if check.mismatches.is_empty() => Ok(Recheck::Agrees(check.certificate)),
        Ok(_) | Err(kinfolk::Error::Infeasible { .. }) => Ok(Recheck::Differs),
        Err(error) => Err(Failure::from(error).about(path)),
    }
}
