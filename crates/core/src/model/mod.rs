//! Fitted models: the task matrix, a predictor, the duals and the certificate.

mod atoms;
mod attachments;
mod borrowed;
mod certify_parts;
mod claim;
mod coefficients;
mod compare;
pub mod file;
mod from_statistics;
mod functions;
mod induced;
mod predictor;
mod recheck;
mod rows_passes;
mod summary;

pub use atoms::AtomPart;
pub use borrowed::BorrowedTask;
pub use certify_parts::CertifyParts;
pub use claim::Claim;
pub use coefficients::LinearCoefficients;
pub use compare::{CERTIFICATE_TOLERANCE, MODEL_TOLERANCE, Mismatch};
pub use file::FORMAT_VERSION;
pub use predictor::{KernelExpansion, Predictor};
pub use recheck::{CertifyOptions, ModelCheck};
pub use summary::CertificateSummary;

use crate::solver::Solution;
use crate::{
    Certificate, Error, Inputs, Kernel, Losses, Matrix, Observations, Problem, ProblemSpec, Result, Scaling,
    ScalingKind, Status, TargetScale, TargetScaling, TaskNames,
};
use atoms::AtomParts;
use attachments::Attachments;
use induced::Induced;
use rayon::prelude::*;

/// A fitted model.
///
/// Predicts `F(x, t)` for any input and any task. Holds Theta, and what is needed to recompute the
/// certificate from the data: the intercepts, and the duals, or the duals and a primal point.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) theta: Matrix,
    pub(crate) alpha: Option<Vec<f64>>,
    pub(crate) v: Option<Matrix>,
    /// Weights of the observations, if they are not all one.
    pub(crate) observation_weights: Option<Vec<f64>>,
    pub(crate) predictor: Predictor,
    /// Of each task, if the problem has intercepts.
    pub(crate) intercept: Option<Vec<f64>>,
    /// One for each atom of the problem.
    pub(crate) atoms: AtomParts,
    /// Of the kind that `about` names.
    pub(crate) scaling: Scaling,
    /// Of the kind that `about` names.
    pub(crate) target_scaling: Option<TargetScaling>,
    pub(crate) attachments: Attachments,
    /// The version of the crate that wrote the file, or this one.
    pub(crate) written_by: String,
    pub(crate) about: About,
}

/// Everything about a model that is not an array.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct About {
    /// Losses, regulariser, C and lambda.
    pub problem: ProblemSpec,
    /// The kernel with its parameters as numbers.
    pub kernel: Kernel,
    /// What is done to inputs before the kernel sees them.
    #[serde(default)]
    pub scaling: ScalingKind,
    /// What was done to labels before the fit, and is undone in predictions.
    #[serde(default, skip_serializing_if = "is_none")]
    pub target_scale: TargetScale,
    /// The constant feature; its square is added to the kernel.
    pub bias: f64,
    /// Names of the tasks.
    pub tasks: TaskNames,
    /// Tasks without observations, or with such of weight zero only: nothing was learned about them. Increasing.
    /// Files of 0.1.0 do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_tasks: Option<Vec<u32>>,
    /// Number of observations of each task. Absent if every input had every task, in models from statistics, and in
    /// files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_labels: Option<Vec<u32>>,
    /// Of two classes, number of observations of the rarer one, for each task; of tasks that learn numbers, of all.
    /// Absent if no task learns classes, in models from statistics, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rarer_labels: Option<Vec<u32>>,
    /// Number of training inputs.
    pub n_inputs: usize,
    /// Number of features, or of training inputs for a precomputed kernel.
    pub n_features: usize,
    /// Number of observations.
    pub n_observations: usize,
    /// Whether every input had every task: duals are then a table (inputs x tasks).
    pub complete: bool,
    /// How far from optimal.
    pub certificate: Certificate,
    /// Why the solver ended. Files of format 1 do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// What the certificate is about. Files of format 1 do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// What the method says about its search. No part of the certificate; nothing checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// Whether it was fitted to [`Statistics`](crate::Statistics) or to rows that are elsewhere: it then has a primal
    /// point `v` and no duals, which a pass over the rows computes from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_statistics: bool,
    /// Duals of such a model answer to losses smoothed by this much, as [`RowsPoint`](crate::rows::RowsPoint) says:
    /// zero for losses that are smooth by themselves.
    #[serde(default, skip_serializing_if = "is_zero", with = "crate::serde_f64::number")]
    pub smoothing: f64,
}

impl Model {
    /// The model of a solution, brought to the caller's units.
    pub(crate) fn new(problem: &Problem<'_>, solution: Solution) -> Result<Self> {
        let (data, obs) = (problem.data(), problem.observations());
        let Solution { kappa, v, status, graded, .. } = solution;
        let Induced { theta, function, atoms } = Induced::new(problem, &kappa, v.as_ref(), &graded)?;
        let predictor = Predictor::new(data, function);
        let intercept = problem.intercept_costs().map(|_| graded.intercept);
        let mut alpha = kappa;
        data.pool().install(|| alpha.par_iter_mut().for_each(|k| *k *= problem.unit()));
        let v = v.map(|v| scaled(v, problem.coordinate_scale()));
        let observation_weights = match obs.uniform_weight() {
            Some(1.0) => None,
            _ => Some((0..obs.len()).map(|o| obs.weight(o)).collect()),
        };
        let about = About {
            problem: problem.spec().clone(),
            kernel: data.kernel().clone(),
            scaling: ScalingKind::None,
            target_scale: TargetScale::None,
            bias: data.options().bias,
            tasks: obs.task_names().clone(),
            empty_tasks: Some(empty_tasks(obs)),
            task_labels: task_labels(obs),
            rarer_labels: rarer_labels(obs, &problem.spec().loss),
            n_inputs: obs.n_inputs(),
            n_features: data.inputs().n_features(),
            n_observations: obs.len(),
            complete: obs.is_complete(),
            certificate: graded.certificate,
            status: Some(status),
            claim: Some(Claim::Optimal),
            remark: None,
            from_statistics: false,
            smoothing: 0.0,
        };
        let (alpha, scaling, attachments) = (Some(alpha), Scaling::None, Attachments::default());
        let written_by = env!("CARGO_PKG_VERSION").to_string();
        let model = Model {
            theta,
            alpha,
            v,
            observation_weights,
            predictor,
            intercept,
            atoms,
            scaling,
            target_scaling: None,
            attachments,
            written_by,
            about,
        };
        model.check_range()?;
        Ok(model)
    }

    /// `Err` if a number has left the range of double precision: the model could be neither kept nor used.
    fn check_range(&self) -> Result<()> {
        let parts = [
            ("theta", Some(self.theta.as_slice())),
            ("a weight", Some(self.predictor.function().as_slice())),
            ("a dual variable", self.alpha.as_deref()),
            ("a coordinate of the primal point", self.v.as_ref().map(Matrix::as_slice)),
            ("an intercept", self.intercept.as_deref()),
        ];
        let is_out = |values: &[f64]| values.iter().any(|x| !x.is_finite());
        match parts.iter().find(|(_, values)| values.is_some_and(is_out)) {
            None => Ok(()),
            Some((name, _)) => Err(Error::Incompatible(format!(
                "{name} of the model is out of the range of double precision: inputs, labels or C are too large; scale \
                 the inputs or the labels, or choose a smaller C"
            ))),
        }
    }

    /// The task matrix (tasks x tasks), positive semidefinite.
    pub fn theta(&self) -> &Matrix {
        &self.theta
    }

    /// Theta as correlations: `Theta_rs / sqrt(Theta_rr Theta_ss)`, zero where a task has none. With the
    /// `exp` regulariser, whose Theta is 1 where nothing is known, unrelated tasks correlate too: compare
    /// with each other, not with zero. How alike the fitted functions are is another question:
    /// [`function_correlation`](Self::function_correlation).
    pub fn correlation(&self) -> Matrix {
        functions::correlations(&self.theta)
    }

    /// The duals, in the paper's scale and observation order, unless they were dropped.
    pub fn alpha(&self) -> Option<&[f64]> {
        self.alpha.as_deref()
    }

    /// Coordinates of the primal point, if it is not the one induced by the duals: of V, or of the weights
    /// with a spectral regulariser.
    pub fn v(&self) -> Option<&Matrix> {
        self.v.as_ref()
    }

    /// Weights of the observations, unless they are all one or were dropped with the duals.
    pub fn observation_weights(&self) -> Option<&[f64]> {
        self.observation_weights.as_deref()
    }

    /// Weights for linear kernels (features x tasks, and a last row for the constant feature if there is a
    /// bias).
    pub fn weights(&self) -> Option<&Matrix> {
        match &self.predictor {
            Predictor::Weights(weights) => Some(weights),
            Predictor::Kernel(_) => None,
        }
    }

    /// The intercept of each task, if the problem has intercepts.
    pub fn intercept(&self) -> Option<&[f64]> {
        self.intercept.as_deref()
    }

    /// How predictions are made, but for intercepts.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// Everything that is not an array.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The version of kinfolk that wrote the file, or this version if the model was not loaded.
    pub fn written_by(&self) -> &str {
        &self.written_by
    }

    /// Names of the tasks.
    pub fn tasks(&self) -> &TaskNames {
        &self.about.tasks
    }

    /// How far from optimal.
    pub fn certificate(&self) -> &Certificate {
        &self.about.certificate
    }

    /// Why the solver ended; `None` if the file does not say.
    pub fn status(&self) -> Option<Status> {
        self.about.status
    }

    /// What the certificate is about; `None` if the file does not say.
    pub fn claim(&self) -> Option<&Claim> {
        self.about.claim.as_ref()
    }

    /// Says what the certificate is about, where the problem of the model is only a part of what a method
    /// solves.
    pub fn set_claim(&mut self, claim: Claim) {
        self.about.claim = Some(claim);
    }

    /// What the method says about its search. No part of the certificate.
    pub fn remark(&self) -> Option<&str> {
        self.about.remark.as_deref()
    }

    /// Keeps a sentence about the search of a method with the model.
    pub fn set_remark(&mut self, remark: impl Into<String>) {
        self.about.remark = Some(remark.into());
    }

    /// Forgets the duals: a smaller file, which can still predict but no longer be re-certified.
    pub fn drop_duals(&mut self) {
        self.about.from_statistics = false;
        self.alpha = None;
        self.v = None;
        self.observation_weights = None;
    }

    /// Tells the model how its training inputs were scaled, so that from now on it takes inputs as they were
    /// before: [`predict`](Self::predict), [`predict_all`](Self::predict_all) and [`certify`](Self::certify)
    /// scale them.
    ///
    /// ```
    /// # use kinfolk::inputs::{Dense, Inputs};
    /// # use kinfolk::{Dataset, Observations, RegularizerKind, Problem, ProblemSpec, Settings, fit};
    /// use kinfolk::{Scaling, ScalingKind};
    /// # let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
    /// # let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 0.2, 1.1, 0.1])?;
    /// # let output = RegularizerKind::Power { k: 1 };
    /// # let spec = ProblemSpec { output, c: 10.0, ..ProblemSpec::default() };
    /// let raw = Inputs::from(Dense::f64(&x, 4, 2)?);
    /// let scaling = Scaling::fit(ScalingKind::Standard, &raw)?;
    /// let inputs = scaling.apply(&raw)?;
    /// let data = Dataset::new(&inputs, &observations, Default::default())?;
    /// let mut model = fit(&Problem::new(&data, spec)?, &Settings::default())?.model;
    /// model.set_scaling(scaling)?;
    /// let predictions = model.predict_all(&raw)?;
    /// # Ok::<(), kinfolk::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the scaling is about another number of features, or the kernel is
    /// precomputed.
    pub fn set_scaling(&mut self, scaling: Scaling) -> Result<()> {
        self.about.check_scaling(&scaling)?;
        self.about.scaling = scaling.kind();
        self.scaling = scaling;
        Ok(())
    }

    /// How inputs are scaled before the kernel sees them.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Tells the model how the labels of its fit were scaled, so that from now on it predicts in the units that
    /// labels had before, and [`certify`](Self::certify) takes labels in these units. Theta, the duals and the
    /// certificate are about the scaled labels.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the scaling is about another number of tasks.
    pub fn set_target_scaling(&mut self, scaling: Option<TargetScaling>) -> Result<()> {
        if let Some(scaling) = &scaling {
            scaling.check_tasks(self.about.tasks.len())?;
            scaling.check_numbers()?;
        }
        self.about.target_scale = scaling.as_ref().map_or(TargetScale::None, TargetScaling::kind);
        self.target_scaling = scaling;
        Ok(())
    }

    /// How labels were scaled before the fit, if they were.
    pub fn target_scaling(&self) -> Option<&TargetScaling> {
        self.target_scaling.as_ref()
    }

    /// Predictions of all tasks (inputs x tasks). For a precomputed kernel the inputs are
    /// [`crate::inputs::Dense`] rows of kernel values with the training inputs.
    pub fn predict_all(&self, inputs: &Inputs<'_>) -> Result<Matrix> {
        self.predict_scaled(inputs, None)
    }

    /// Predictions of pairs: input i for task `tasks[i]`.
    pub fn predict(&self, inputs: &Inputs<'_>, tasks: &[u32]) -> Result<Vec<f64>> {
        if tasks.len() != inputs.n_inputs() {
            let (got, expected) = (tasks.len(), inputs.n_inputs());
            return Err(Error::Length { what: "the list of tasks", got, expected });
        }
        let n_tasks = self.theta.rows();
        if let Some(row) = tasks.iter().position(|&t| t as usize >= n_tasks) {
            return Err(Error::TaskOutOfRange { row, task: tasks[row] as usize, n_tasks });
        }
        Ok(self.predict_scaled(inputs, Some(tasks))?.into_vec())
    }

    /// What is known about a task that the model does not know: what the `common` atom says, if there is one (see
    /// [`common_task`](Self::common_task)), else the mean of the predictions of all tasks, those without training
    /// observations aside.
    pub fn predict_mean(&self, inputs: &Inputs<'_>) -> Result<Vec<f64>> {
        if let Some(task) = self.common_task()? {
            return self.predict_borrowed(inputs, &task);
        }
        let all = self.predict_all(inputs)?;
        let learned: Vec<usize> = (0..all.cols()).filter(|&t| !self.is_empty_task(t)).collect();
        // A class that is alone in its task has an intercept without bound.
        let intercept = self.intercept.as_ref().filter(|_| self.predicts_classes());
        let own = |t: usize| intercept.map_or(0.0, |intercept| intercept[t]);
        let usual = borrowed::median(learned.iter().map(|&t| (own(t), 1.0)).collect());
        let mean = |i: usize| {
            // Divided first: a sum of huge numbers may be out of range.
            let sum: f64 = learned.iter().map(|&t| (all[(i, t)] - own(t)) / learned.len() as f64).sum();
            sum + usual
        };
        Ok((0..all.rows()).map(mean).collect())
    }

    /// Whether a task had no observations in training.
    pub fn is_empty_task(&self, t: usize) -> bool {
        self.about.empty_tasks.as_ref().is_some_and(|empty| empty.binary_search(&(t as u32)).is_ok())
    }

    /// Number of training observations of each task; `None` if it is not known.
    pub fn task_labels(&self) -> Option<Vec<usize>> {
        match &self.about.task_labels {
            Some(labels) => Some(labels.iter().map(|&n| n as usize).collect()),
            None if self.about.complete && !self.about.from_statistics => {
                Some(vec![self.about.n_inputs; self.about.tasks.len()])
            }
            None => None,
        }
    }

    /// The same, but only those of the rarer class of tasks that learn two classes; `None` if it is not known.
    pub fn rarer_labels(&self) -> Option<Vec<usize>> {
        self.about.rarer_labels.as_ref().map(|labels| labels.iter().map(|&n| n as usize).collect())
    }

    fn predict_scaled(&self, inputs: &Inputs<'_>, tasks: Option<&[u32]>) -> Result<Matrix> {
        self.predictor.check_inputs(&self.about, inputs)?;
        let mut out = self.predictor.predict(&self.about, &self.scaling.apply(inputs)?, tasks)?;
        for i in 0..out.rows() {
            for (column, z) in out.row_mut(i).iter_mut().enumerate() {
                let task = tasks.map_or(column, |tasks| tasks[i] as usize);
                *z = self.intercept.as_ref().map_or(*z, |intercept| *z + intercept[task]);
                *z = self.target_scaling.as_ref().map_or(*z, |scaling| scaling.unscale(task, *z));
            }
        }
        Ok(out)
    }
}

impl About {
    /// `Err` unless inputs of this kind can be scaled so.
    pub(crate) fn check_scaling(&self, scaling: &Scaling) -> Result<()> {
        if self.kernel == Kernel::Precomputed && *scaling != Scaling::None {
            let kind = scaling.kind();
            return Err(Error::Incompatible(format!(
                "{kind} scaling is about features, the model was fitted on kernel values"
            )));
        }
        scaling.check_features(self.n_features)?;
        scaling.check_numbers()
    }
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

fn is_none(scale: &TargetScale) -> bool {
    *scale == TargetScale::None
}

/// Number of observations of each task; `None` if every input has every task.
fn task_labels(observations: &Observations) -> Option<Vec<u32>> {
    let counts = || observations.task_counts().into_iter().map(|n| n as u32).collect();
    (!observations.is_complete()).then(counts)
}

/// Number of observations of the rarer class of each task; of tasks that learn numbers, of all. `None` if all do.
fn rarer_labels(observations: &Observations, loss: &Losses) -> Option<Vec<u32>> {
    let n_tasks = observations.n_tasks();
    if !(0..n_tasks).any(|t| loss.is_classification(t)) {
        return None;
    }
    let mut positive = vec![0; n_tasks];
    for o in (0..observations.len()).filter(|&o| observations.label(o) > 0.0) {
        positive[observations.task(o)] += 1;
    }
    let all = observations.task_counts();
    let rarer = |t: usize| match loss.is_classification(t) {
        true => positive[t].min(all[t] - positive[t]) as u32,
        false => all[t] as u32,
    };
    Some((0..n_tasks).map(rarer).collect())
}

/// Tasks without an observation of positive weight.
fn empty_tasks(observations: &Observations) -> Vec<u32> {
    if observations.is_complete() && observations.uniform_weight().is_some_and(|weight| weight > 0.0) {
        return vec![];
    }
    let mut empty = vec![true; observations.n_tasks()];
    for o in (0..observations.len()).filter(|&o| observations.weight(o) > 0.0) {
        empty[observations.task(o)] = false;
    }
    (0..empty.len() as u32).filter(|&t| empty[t as usize]).collect()
}

fn scaled(mut m: Matrix, factor: f64) -> Matrix {
    m.as_mut_slice().iter_mut().for_each(|x| *x *= factor);
    m
}
