//! What a fit leaves behind: the task matrix, a predictor, the duals and the certificate.

pub mod file;
mod predictor;
mod recheck;

pub use file::FORMAT_VERSION;
pub use predictor::{KernelExpansion, Predictor};

use crate::backend::{self, Expansion};
use crate::certificate::Graded;
use crate::linalg::{self, view};
use crate::solver::Solution;
use crate::{Certificate, Error, Inputs, Kernel, Matrix, Problem, ProblemSpec, Result, TaskNames};

/// A fitted model.
///
/// Predicts `F(x, t)` for any input and any task, knows Theta, and carries what anyone needs to recompute its certificate
/// from the data: the duals, or the duals and a primal point.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) theta: Matrix,
    pub(crate) alpha: Option<Vec<f64>>,
    pub(crate) v: Option<Matrix>,
    /// Weights of the observations, if they are not all one.
    pub(crate) observation_weights: Option<Vec<f64>>,
    pub(crate) predictor: Predictor,
    pub(crate) about: About,
}

/// Everything about a model that is not an array.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct About {
    /// Losses, regulariser, C and lambda.
    pub problem: ProblemSpec,
    /// The kernel with its parameters as numbers.
    pub kernel: Kernel,
    /// The constant feature; its square is added to the kernel.
    pub bias: f64,
    /// Names of the tasks.
    pub tasks: TaskNames,
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
}

impl Model {
    /// The model of a solution, brought to the caller's units.
    pub(crate) fn new(problem: &Problem<'_>, solution: Solution) -> Result<Self> {
        let (data, obs) = (problem.data(), problem.observations());
        let backend = data.backend();
        let Solution { kappa, v, graded: Graded { certificate, theta, state }, .. } = solution;
        let expansion = match &v {
            Some(v) => Expansion::Coordinates(v),
            None => Expansion::Duals(obs, &kappa),
        };
        let coordinates = backend::coordinates(backend, expansion, &state);
        let function =
            data.pool().install(|| linalg::times(view(&coordinates), view(&theta), data.threads()));
        let predictor = Predictor::new(data, function);
        let theta = scaled(theta, problem.theta_unit());
        let alpha = kappa.into_iter().map(|k| k * problem.unit()).collect();
        let v = v.map(|v| scaled(v, problem.unit() * backend.coordinate_unit()));
        let observation_weights = match obs.uniform_weight() {
            Some(1.0) => None,
            _ => Some((0..obs.len()).map(|o| obs.weight(o)).collect()),
        };
        let about = About {
            problem: problem.spec().clone(),
            kernel: data.kernel().clone(),
            bias: data.options().bias,
            tasks: obs.task_names().clone(),
            n_inputs: obs.n_inputs(),
            n_features: data.inputs().n_features(),
            n_observations: obs.len(),
            complete: obs.is_complete(),
            certificate,
        };
        Ok(Model { theta, alpha: Some(alpha), v, observation_weights, predictor, about })
    }

    /// The task matrix (tasks x tasks), positive semidefinite.
    pub fn theta(&self) -> &Matrix {
        &self.theta
    }

    /// Theta as correlations: `Theta_rs / sqrt(Theta_rr Theta_ss)`, zero where a task has none. With the `exp` regulariser, whose
    /// Theta is 1 where nothing is known, unrelated tasks correlate too: compare with each other, not with zero.
    pub fn correlation(&self) -> Matrix {
        let t = self.theta.rows();
        let mut out = Matrix::zeros(t, t);
        for r in 0..t {
            for s in 0..t {
                let size = self.theta[(r, r)].sqrt() * self.theta[(s, s)].sqrt();
                if size > 0.0 {
                    out[(r, s)] = if r == s { 1.0 } else { (self.theta[(r, s)] / size).clamp(-1.0, 1.0) };
                }
            }
        }
        out
    }

    /// The duals, in the paper's scale and observation order, unless they were dropped.
    pub fn alpha(&self) -> Option<&[f64]> {
        self.alpha.as_deref()
    }

    /// Coordinates of the primal point, if it is not the one induced by the duals.
    pub fn v(&self) -> Option<&Matrix> {
        self.v.as_ref()
    }

    /// Weights of the observations, unless they are all one or were dropped with the duals.
    pub fn observation_weights(&self) -> Option<&[f64]> {
        self.observation_weights.as_deref()
    }

    /// Weights for linear kernels (features x tasks, and a last row for the constant feature if there is a bias).
    pub fn weights(&self) -> Option<&Matrix> {
        match &self.predictor {
            Predictor::Weights(weights) => Some(weights),
            Predictor::Kernel(_) => None,
        }
    }

    /// How predictions are made.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// Everything that is not an array.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Names of the tasks.
    pub fn tasks(&self) -> &TaskNames {
        &self.about.tasks
    }

    /// How far from optimal.
    pub fn certificate(&self) -> &Certificate {
        &self.about.certificate
    }

    /// Forgets the duals: a smaller file, which can still predict but no longer be re-certified.
    pub fn drop_duals(&mut self) {
        self.alpha = None;
        self.v = None;
        self.observation_weights = None;
    }

    /// Predictions of all tasks (inputs x tasks). For a precomputed kernel the inputs are [`crate::inputs::Dense`] rows of
    /// kernel values with the training inputs.
    pub fn predict_all(&self, inputs: &Inputs<'_>) -> Result<Matrix> {
        self.predictor.predict(&self.about, inputs, None)
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
        Ok(self.predictor.predict(&self.about, inputs, Some(tasks))?.into_vec())
    }
}

fn scaled(mut m: Matrix, factor: f64) -> Matrix {
    m.as_mut_slice().iter_mut().for_each(|x| *x *= factor);
    m
}
