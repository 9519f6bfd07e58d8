//! A data file: scores of the model on it, and whether it confirms the certificate.

use super::ReportFiles;
use crate::args::{Global, task_column};
use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::limits::Need;
use crate::recheck::recheck;
use crate::scores::{Chunk, of_labelled};
use crate::training::part;
use kinfolk::CertifyOptions;
use kinfolk_report::{DataCheck, Recheck};
use kinfolk_train::{Metric, Trained};
use std::path::Path;

pub(super) fn check(
    trained: &Trained,
    rows: &DataFiles,
    files: &ReportFiles<'_>,
    metric: Option<Metric>,
    global: &Global,
) -> Result<DataCheck> {
    let columns = files.new_rows.roles(files.columns)?;
    let name = rows.in_words();
    let path = Path::new(&name);
    let cure = "leave the file out, or name a part of its rows in a file of its own";
    Need::rows(rows, &trained.spec.columns, cure).check().map_err(|failure| failure.about(path))?;
    let table = trained.read_all(rows.paths(), &columns)?;
    let table = part(table, files.split).map_err(|failure| failure.about(path))?;
    let atoms = files.new_rows.atoms(files.columns, trained)?;
    let (new_tasks, task_column) = (trained.new_tasks(&atoms)?, task_column(files.columns, trained));
    let chunk = Chunk { table: &table, path, first_row: 0, task_column: task_column.as_deref() };
    let mut names: Vec<String> = trained.model.tasks().iter().collect();
    let unknown = files.new_rows.unknown_task;
    let (observations, predictions) = of_labelled(trained, &new_tasks, &chunk, unknown, &mut names)?;
    let new_names = names.split_off(trained.model.tasks().len());
    let options =
        CertifyOptions { threads: global.threads(), memory: files.memory, device: global.device()? };
    let recheck = recheck(trained, rows.paths(), &columns, &options)?;
    let check = DataCheck::of_predictions(
        &trained.model,
        path,
        &observations,
        &predictions,
        new_names,
        metric,
        recheck,
    );
    let check = check.map_err(|error| Failure::from(error).about(path))?;
    Ok(DataCheck { are_other_rows: files.split != trained.spec.split, ..check })
}

/// The tables of the files: one for each argument, or a single one if all of them together are the data of the fit.
pub(super) fn tables(trained: &Trained, files: &ReportFiles<'_>, global: &Global) -> Result<Vec<DataFiles>> {
    let all = DataFiles::find(files.data)?;
    if files.data.len() > 1 {
        let options =
            CertifyOptions { threads: global.threads(), memory: files.memory, device: global.device()? };
        let columns = files.new_rows.roles(files.columns)?;
        if let Recheck::Agrees(_) = recheck(trained, all.paths(), &columns, &options)? {
            return Ok(vec![all]);
        }
    }
    files.data.iter().map(|path| DataFiles::find(std::slice::from_ref(path))).collect()
}
