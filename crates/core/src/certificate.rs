//! The duality gap: the only place where it is computed, from the data, by code that knows no solver.
//!
//! A primal point is a pair (V, Theta) with `W = V Theta`, a dual point a feasible alpha. In the problem's own units
//! (lambda = 1/2), with `V_a` the function of alpha and `G(V) = V'V`,
//!
//! ```text
//! P(V, Theta) = sum_i c_i L(y_i, F_i) + <Theta, G(V)> / 2 + sum phi*(Theta) / 2,      F = X W
//! D(alpha)    = -sum_i c_i L*(y_i, -alpha_i / c_i) - sum phi(G(V_a)) / 2
//! P - D       = sum_i [ c_i L(y_i, F_i) + c_i L*(y_i, -alpha_i / c_i) + alpha_i F_i ]         (Fenchel-Young, losses)
//!             + <Theta, G(V - V_a)> / 2                                                       (distance of V from V_a)
//!             + sum [ phi(G(V_a)) + phi*(Theta) - Theta G(V_a) ] / 2                          (Fenchel-Young, Theta)
//! ```
//!
//! Every term is non-negative, so the gap loses no digits to cancellation, however small. In the *one-point* form
//! V = V_a and Theta = phi'(G(V_a)): the last two lines vanish and the gap is a sum over observations, hence over tasks.

use crate::backend::{self, Columns, Expansion, Panel, RowBlock, STREAM_ROWS, row_blocks};
use crate::linalg::{self, inner, view};
use crate::loss::TermBlock;
use crate::output::OutputRegularizer;
use crate::{Error, Matrix, Problem, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Which primal point was graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The one induced by alpha: anyone can recompute everything from alpha alone.
    OnePoint,
    /// Another V, stored beside alpha.
    TwoPoint,
}

/// How far from optimal: the optimum lies between `dual` and `primal`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Objective value of the model.
    #[serde(with = "crate::json::number")]
    pub primal: f64,
    /// Lower bound on the objective value of any model.
    #[serde(with = "crate::json::number")]
    pub dual: f64,
    /// primal - dual, as a sum of non-negative terms: more accurate than the difference.
    #[serde(with = "crate::json::number")]
    pub gap: f64,
    /// Which primal point this is about.
    pub form: Form,
    /// The part of the gap that comes from the observations of each task (one-point form: all of it).
    #[serde(with = "crate::json::numbers")]
    pub task_gaps: Vec<f64>,
}

impl Certificate {
    /// gap / max(|primal|, |dual|).
    pub fn rel_gap(&self) -> f64 {
        if self.gap == 0.0 {
            return 0.0;
        }
        let size = self.primal.abs().max(self.dual.abs());
        if size.is_finite() { self.gap / size } else { f64::INFINITY }
    }

    pub(crate) fn in_units(mut self, unit: f64) -> Self {
        self.primal *= unit;
        self.dual *= unit;
        self.gap *= unit;
        self.task_gaps.iter_mut().for_each(|g| *g *= unit);
        self
    }
}

/// Grades duals `alpha` (the paper's scale, in observation order) and the primal point they induce, or the one with
/// coordinates `v` (features x tasks for linear kernels, inputs x tasks otherwise).
pub fn certify(problem: &Problem<'_>, alpha: &[f64], v: Option<&Matrix>) -> Result<Certificate> {
    let n = problem.observations().len();
    if alpha.len() != n {
        return Err(Error::Length { what: "the list of duals", got: alpha.len(), expected: n });
    }
    if let Some(v) = v {
        let (rows, cols) = (problem.data().backend().dim(), problem.observations().n_tasks());
        if (v.rows(), v.cols()) != (rows, cols) {
            return Err(Error::Incompatible(format!(
                "the coordinates of the primal point are {} x {}, expected {rows} x {cols}",
                v.rows(),
                v.cols()
            )));
        }
    }
    let unit = problem.unit();
    let kappa: Vec<f64> = alpha.iter().map(|a| a / unit).collect();
    let v = v.map(|v| scaled(v, 1.0 / (unit * problem.data().backend().coordinate_unit())));
    certify_normal(problem, &kappa, v.as_ref())
}

fn scaled(m: &Matrix, factor: f64) -> Matrix {
    let mut m = m.clone();
    m.as_mut_slice().iter_mut().for_each(|x| *x *= factor);
    m
}

/// [`certify`] for duals and coordinates in the problem's own units; the certificate is in the caller's.
pub(crate) fn certify_normal(
    problem: &Problem<'_>,
    kappa: &[f64],
    v: Option<&Matrix>,
) -> Result<Certificate> {
    check_feasible(problem, kappa)?;
    problem.data().pool().install(|| {
        let (backend, threads) = (problem.data().backend(), problem.data().threads());
        let output = problem.normal_output();
        let duals = Expansion::Duals(problem.observations(), kappa);
        let state_a = backend::state_of(backend, duals, threads);
        let gram_a = backend::task_gram(backend, duals, &state_a, threads);
        let (parts, losses) = match v {
            None => {
                let point = Regularisation::at(output, &gram_a);
                let terms = loss_terms(problem, kappa, &state_a, &point.theta, threads)?;
                (point, terms)
            }
            Some(v) => {
                let expansion = Expansion::Coordinates(v);
                let mut state = backend::state_of(backend, expansion, threads);
                let gram = backend::task_gram(backend, expansion, &state, threads);
                let mut point = Regularisation::at(output, &gram);
                let terms = loss_terms(problem, kappa, &state, &point.theta, threads)?;
                let mut offset = backend::coordinates(backend, duals, &state_a);
                linalg::axpy(offset.as_mut_slice(), -1.0, v.as_slice());
                linalg::axpy(state.as_mut_slice(), -1.0, state_a.as_slice());
                state.as_mut_slice().iter_mut().for_each(|x| *x = -*x);
                let distance = backend::task_gram(backend, Expansion::Coordinates(&offset), &state, threads);
                point.move_dual_to(output, &gram_a, &distance);
                (point, terms)
            }
        };
        let form = if v.is_some() { Form::TwoPoint } else { Form::OnePoint };
        Ok(parts.certificate(losses, form).in_units(problem.unit()))
    })
}

/// Everything in P and D that is not a loss.
struct Regularisation {
    theta: Matrix,
    primal: f64,
    dual: f64,
    gap: f64,
}

impl Regularisation {
    /// One point: Theta = phi'(gram).
    fn at(output: &dyn OutputRegularizer, gram: &Matrix) -> Self {
        let theta = output.theta(gram);
        let half_phi = 0.5 * output.phi_sum(gram);
        Regularisation { primal: inner(&theta, gram) - half_phi, dual: -half_phi, gap: 0.0, theta }
    }

    /// Two points: duals with another task Gram matrix, and the Gram matrix of V - V_a.
    fn move_dual_to(&mut self, output: &dyn OutputRegularizer, gram_a: &Matrix, distance: &Matrix) {
        self.dual = -0.5 * output.phi_sum(gram_a);
        let t = gram_a.rows();
        let mut theta_terms = 0.0;
        for r in 0..t {
            for s in 0..t {
                theta_terms += output.fenchel_young((r, s), gram_a[(r, s)], self.theta[(r, s)]).max(0.0);
            }
        }
        self.gap = 0.5 * inner(&self.theta, distance).max(0.0) + 0.5 * theta_terms;
    }

    fn certificate(self, losses: LossTerms, form: Form) -> Certificate {
        let or_infinite = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        Certificate {
            primal: or_infinite(losses.value + self.primal),
            dual: -or_infinite(losses.conj - self.dual),
            gap: or_infinite(losses.gap.iter().sum::<f64>() + self.gap),
            form,
            task_gaps: losses.gap,
        }
    }
}

/// Sums of losses, conjugates and Fenchel-Young terms, the last by task.
struct LossTerms {
    value: f64,
    conj: f64,
    gap: Vec<f64>,
}

/// One pass over the data: predictions F = scores Theta, then the terms of every observation.
fn loss_terms(
    problem: &Problem<'_>,
    kappa: &[f64],
    state: &Matrix,
    theta: &Matrix,
    threads: usize,
) -> Result<LossTerms> {
    let weights = linalg::times(view(state), view(theta), threads);
    let blocks = row_blocks(problem.observations(), STREAM_ROWS);
    let parts: Vec<Result<LossTerms>> = blocks
        .par_iter()
        .map_init(Scratch::default, |scratch, block| block_terms(problem, kappa, &weights, block, scratch))
        .collect();
    let mut total = LossTerms { value: 0.0, conj: 0.0, gap: vec![0.0; problem.observations().n_tasks()] };
    for part in parts {
        let part = part?;
        total.value += part.value;
        total.conj += part.conj;
        linalg::axpy(&mut total.gap, 1.0, &part.gap);
    }
    Ok(total)
}

#[derive(Default)]
struct Scratch {
    panel: Panel,
    scores: Matrix,
    tasks: Vec<TaskTerms>,
}

/// The observations of one task within a block.
#[derive(Default, Clone)]
struct TaskTerms {
    observation: Vec<u32>,
    y: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
    kappa: Vec<f64>,
}

fn block_terms(
    problem: &Problem<'_>,
    kappa: &[f64],
    weights: &Matrix,
    block: &RowBlock,
    scratch: &mut Scratch,
) -> Result<LossTerms> {
    let (backend, obs) = (problem.data().backend(), problem.observations());
    let Scratch { panel, scores, tasks } = scratch;
    backend.load(&block.rows, panel);
    backend.scores(panel, block.columns, weights, scores, 1);
    tasks.resize(obs.n_tasks(), TaskTerms::default());
    for (row, &i) in block.rows.iter().enumerate() {
        for o in obs.of_input(i as usize) {
            let task = obs.task(o);
            let column = if block.columns == Columns::All { task } else { 0 };
            let terms = &mut tasks[task];
            terms.observation.push(o as u32);
            terms.y.push(obs.label(o));
            terms.z.push(scores[(row, column)]);
            terms.w.push(problem.gamma(o));
            terms.kappa.push(kappa[o]);
        }
    }
    let mut out = LossTerms { value: 0.0, conj: 0.0, gap: vec![0.0; obs.n_tasks()] };
    for (task, terms) in tasks.iter_mut().enumerate().filter(|(_, terms)| !terms.y.is_empty()) {
        let TaskTerms { y, z, w, kappa, observation } = terms;
        let mut sums = TermBlock { y, z, w, kappa, value: 0.0, conj: 0.0, gap: 0.0, negative: None };
        problem.loss(task).block_terms(&mut sums);
        if let Some((j, term)) = sums.negative {
            return Err(Error::NegativeGap { observation: observation[j] as usize, term });
        }
        out.value += sums.value;
        out.conj += sums.conj;
        out.gap[task] += sums.gap;
        [y, z, w, kappa].into_iter().for_each(|column| column.clear());
        observation.clear();
    }
    Ok(out)
}

/// Every dual variable must lie in the domain of its loss: outside, the dual value would be minus infinity.
fn check_feasible(problem: &Problem<'_>, kappa: &[f64]) -> Result<()> {
    for (observation, &value) in kappa.iter().enumerate() {
        let (low, high) = problem.box_of(observation);
        if !(low <= value && value <= high) {
            let unit = problem.unit();
            return Err(Error::Infeasible {
                observation,
                value: value * unit,
                low: low * unit,
                high: high * unit,
            });
        }
    }
    Ok(())
}

/// The squared loss on shared inputs, reduced to what the data say: in the eigenbasis of X'X = diag(l),
/// `moment = X'Y` and `label_square = |Y|^2`.
pub(crate) struct SquaredStatistics<'a> {
    pub(crate) values: &'a [f64],
    pub(crate) moment: &'a Matrix,
    pub(crate) label_square: f64,
    pub(crate) gamma: f64,
}

impl SquaredStatistics<'_> {
    /// Grades the duals `gamma (Y - X w)` of any weights w and the primal point they induce; the same sums as above, with
    /// the observations' terms added up in closed form: `gamma/2 |X (W - w)|^2`.
    pub(crate) fn certify(&self, output: &dyn OutputRegularizer, w: &Matrix, threads: usize) -> Certificate {
        let t = w.cols();
        let mut v = Matrix::zeros(w.rows(), t);
        for (j, &l) in self.values.iter().enumerate() {
            for s in 0..t {
                v[(j, s)] = self.gamma * (self.moment[(j, s)] - l * w[(j, s)]);
            }
        }
        let mut gram = linalg::times(view(&v).transpose(), view(&v), threads);
        linalg::symmetrise(&mut gram);
        let point = Regularisation::at(output, &gram);
        let weights = linalg::times(view(&v), view(&point.theta), threads);
        let mut offset = weights.clone();
        linalg::axpy(offset.as_mut_slice(), -1.0, w.as_slice());
        let half = 0.5 * self.gamma;
        let conj = self.loss(w) - self.gamma * (self.label_square - inner(self.moment, w));
        let losses =
            LossTerms { value: self.loss(&weights), conj, gap: vec![half * self.weighted_square(&offset)] };
        point.certificate(losses, Form::OnePoint)
    }

    /// `gamma/2 |Y - X w|^2`.
    pub(crate) fn loss(&self, w: &Matrix) -> f64 {
        0.5 * self.gamma * (self.label_square - 2.0 * inner(self.moment, w) + self.weighted_square(w))
    }

    fn weighted_square(&self, w: &Matrix) -> f64 {
        self.values.iter().enumerate().map(|(j, l)| l * linalg::dot(w.row(j), w.row(j))).sum()
    }
}
