//! Data with labels: scores of the model on them, and whether they confirm the certificate.

use super::inputs::file_name;
use kinfolk::{Certificate, CertifyOptions, Inputs, Model, Observations};
use kinfolk_train::{Metric, Score, predict};
use std::path::{Path, PathBuf};

/// A data file, and what the model makes of it.
#[derive(Debug)]
pub struct DataCheck {
    /// The file, or what the page calls data that are in no file.
    pub path: PathBuf,
    /// Number of rows.
    pub n_rows: usize,
    /// Number of labels of each task.
    pub rows_per_task: Vec<usize>,
    /// What the predictions are scored by.
    pub metric: Metric,
    /// Score of the predictions.
    pub score: Score,
    /// The certificate, recomputed.
    pub recheck: Recheck,
}

/// The certificate, recomputed from a data file and the duals in the model.
#[derive(Debug)]
pub enum Recheck {
    /// These are the data of the fit, and the certificate is the one in the model.
    Agrees(Certificate),
    /// As many rows as the fit had, but the certificate is another one.
    Differs,
    /// Other data than those of the fit.
    OtherData,
    /// The model holds no duals.
    NoDuals,
}

impl DataCheck {
    /// Scores of a model on data with labels, by this metric or the one that suits the labels.
    ///
    /// # Errors
    /// If the data or the metric do not suit the model.
    pub fn new(
        model: &Model,
        path: &Path,
        inputs: &Inputs<'_>,
        observations: &Observations,
        metric: Option<Metric>,
        recheck: Recheck,
    ) -> kinfolk_train::Result<Self> {
        let mut rows_per_task = vec![0; model.tasks().len()];
        (0..observations.len()).for_each(|o| rows_per_task[observations.task(o)] += 1);
        let metric = metric.unwrap_or_else(|| Metric::default_for(observations));
        let losses = &model.about().problem.loss;
        metric.check(observations, losses)?;
        let predictions = predict(model, inputs, observations)?;
        let score = metric.score(observations, losses, &predictions)?;
        Ok(DataCheck { path: path.into(), n_rows: inputs.n_inputs(), rows_per_task, metric, score, recheck })
    }

    /// Whether the model was fitted to these rows.
    pub(super) fn is_training(&self) -> bool {
        matches!(self.recheck, Recheck::Agrees(_))
    }

    /// The name of the file, without its folder.
    pub(super) fn file_name(&self) -> String {
        file_name(&self.path)
    }
}

impl Recheck {
    /// Computes the certificate of a model from data, if they can be those of its fit.
    ///
    /// # Errors
    /// If the data do not suit the model.
    pub fn new(
        model: &Model,
        inputs: &Inputs<'_>,
        observations: &Observations,
        options: &CertifyOptions,
    ) -> kinfolk::Result<Self> {
        let about = model.about();
        if model.alpha().is_none() && !about.from_statistics {
            return Ok(Recheck::NoDuals);
        }
        if inputs.n_inputs() != about.n_inputs || observations.len() != about.n_observations {
            return Ok(Recheck::OtherData);
        }
        match model.check(inputs, observations, options) {
            Ok(check) if check.mismatches.is_empty() => Ok(Recheck::Agrees(check.certificate)),
            Ok(_) | Err(kinfolk::Error::Infeasible { .. } | kinfolk::Error::DualSum { .. }) => {
                Ok(Recheck::Differs)
            }
            Err(error) => Err(error),
        }
    }
}
