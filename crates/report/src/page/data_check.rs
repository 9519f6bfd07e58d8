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
    /// Tasks that the model does not know; they come after its own.
    pub new_tasks: Vec<String>,
    /// Number of labels of each task; of classes, those of its own rows.
    pub rows_per_task: Vec<usize>,
    /// What the predictions are scored by.
    pub metric: Metric,
    /// Score of the predictions.
    pub score: Score,
    /// The certificate, recomputed.
    pub recheck: Recheck,
    /// Whether the rows that were scored are others than those of the fit: another part of the file.
    pub are_other_rows: bool,
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
        let predictions = predict(model, inputs, observations)?;
        Self::of_predictions(model, path, observations, &predictions, vec![], metric, recheck)
    }

    /// The same from predictions, for rows some of which may be of `new_tasks`, which come after those of the model.
    ///
    /// # Errors
    /// If the metric does not suit the model.
    pub fn of_predictions(
        model: &Model,
        path: &Path,
        observations: &Observations,
        predictions: &[f64],
        new_tasks: Vec<String>,
        metric: Option<Metric>,
        recheck: Recheck,
    ) -> kinfolk_train::Result<Self> {
        let mut rows_per_task = vec![0; model.tasks().len() + new_tasks.len()];
        let only_positive = are_classes(observations);
        let counts = |o: &usize| !only_positive || observations.label(*o) > 0.0;
        (0..observations.len()).filter(counts).for_each(|o| rows_per_task[observations.task(o)] += 1);
        let metric = metric.unwrap_or_else(|| Metric::default_for(observations));
        let losses = &model.about().problem.loss;
        metric.check(observations, losses)?;
        let score = metric.score(observations, losses, predictions)?;
        let (path, n_rows) = (path.into(), observations.n_inputs());
        let are_other_rows = false;
        Ok(DataCheck { path, n_rows, new_tasks, rows_per_task, metric, score, recheck, are_other_rows })
    }

    /// Whether the model was fitted to these rows.
    pub(super) fn is_training(&self) -> bool {
        matches!(self.recheck, Recheck::Agrees(_)) && !self.are_other_rows
    }

    /// The name of the file, without its folder.
    pub(super) fn file_name(&self) -> String {
        file_name(&self.path)
    }
}

/// Whether tasks are classes: every row has a label for each task, one of which is positive.
fn are_classes(observations: &Observations) -> bool {
    let n_tasks = observations.n_tasks();
    let one_of_all = |i: usize| {
        let own: Vec<f64> = observations.of_input(i).map(|o| observations.label(o)).collect();
        own.len() == n_tasks
            && own.iter().filter(|y| **y == 1.0).count() == 1
            && own.iter().all(|y| y.abs() == 1.0)
    };
    n_tasks > 2 && observations.n_inputs() > 0 && (0..observations.n_inputs()).all(one_of_all)
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
