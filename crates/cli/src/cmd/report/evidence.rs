//! What a file of data says about a model.

use super::Sources;
use crate::args::Global;
use crate::failure::{Failure, Result, of_method};
use crate::fitted::Fitted;
use crate::training::part;
use kinfolk::{Certificate, CertifyOptions};
use kinfolk_train::{Metric, Score, predict};
use std::path::{Path, PathBuf};

/// A file, seen by the model.
pub(super) struct Evidence {
    pub(super) path: PathBuf,
    pub(super) n_rows: usize,
    /// Labels of each task.
    pub(super) rows: Vec<usize>,
    pub(super) metric: Metric,
    pub(super) score: Score,
    pub(super) recheck: Recheck,
}

/// The certificate, recomputed from the file and the stored duals.
pub(super) enum Recheck {
    /// The data of the fit: the certificate is what the model says.
    Agrees(Certificate),
    /// As many rows as the fit had, but another certificate.
    Differs,
    /// Other data.
    Other,
    /// The model has no duals to recompute it from.
    NoDuals,
}

impl Evidence {
    pub(super) fn read(
        fitted: &Fitted,
        path: &Path,
        sources: &Sources<'_>,
        metric: Option<Metric>,
        global: &Global,
    ) -> Result<Evidence> {
        let said = sources.columns.columns();
        let (table, _) = kinfolk_io::read(path, &said, Some(&fitted.recipe))?;
        let table = part(table, sources.split).map_err(|failure| failure.about(path))?;
        let observations = fitted.observations(&table, path, 0)?;
        let mut rows = vec![0; fitted.model.tasks().len()];
        (0..observations.len()).for_each(|o| rows[observations.task(o)] += 1);
        let metric = metric.unwrap_or_else(|| Metric::default_for(&observations));
        metric
            .check(&observations, &fitted.model.about().problem.loss)
            .map_err(|error| of_method(error).about(path))?;
        let predictions =
            predict(&fitted.model, &table.inputs, &observations).map_err(|e| of_method(e).about(path))?;
        Ok(Evidence {
            path: path.into(),
            n_rows: table.n_rows(),
            rows,
            metric,
            score: metric.score(&observations, &predictions),
            recheck: recheck(fitted, path, sources, global)?,
        })
    }

    /// Whether these are the rows the model was fitted to.
    pub(super) fn is_training(&self) -> bool {
        matches!(self.recheck, Recheck::Agrees(_))
    }

    /// The name of the file.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }
}

fn recheck(fitted: &Fitted, path: &Path, sources: &Sources<'_>, global: &Global) -> Result<Recheck> {
    if fitted.model.alpha().is_none() {
        return Ok(Recheck::NoDuals);
    }
    // A part that the fit used may be missing here: then these are other data.
    let Ok((table, observations)) = fitted.training_data(path, sources.columns) else {
        return Ok(Recheck::Other);
    };
    let model = &fitted.model;
    let about = model.about();
    let as_many = table.n_rows() == about.n_inputs && observations.len() == about.n_observations;
    if !as_many {
        return Ok(Recheck::Other);
    }
    let options = CertifyOptions { threads: global.threads, memory: sources.memory };
    match model.certify(&table.inputs, &observations, &options) {
        Ok(found) if crate::cmd::certify::agree(model.certificate(), &found) => Ok(Recheck::Agrees(found)),
        Ok(_) | Err(kinfolk::Error::Infeasible { .. }) => Ok(Recheck::Differs),
        Err(error) => Err(Failure::from(error).about(path)),
    }
}
