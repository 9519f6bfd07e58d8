//! The duality gap: the only place where it is computed, from the data, by code that knows no solver.
//!
//! A primal point is a pair (V, Theta) with `W = V Theta`, a dual point a feasible alpha. In the problem's own units
//! (lambda = 1/2), with `V_a` the function of alpha and `G(V) = V'V`,
//!
//! ```text
//! P(V, Theta) = sum_i c_i L(y_i, F_i) + <Theta, G(V)> / 2 + sum phi*(Theta) / 2,      F = X W + offsets
//! D(alpha)    = -sum_i [ c_i L*(y_i, -alpha_i / c_i) + alpha_i offset_i ] - sum phi(G(V_a)) / 2
//! P - D       = sum_i [ c_i L(y_i, F_i) + c_i L*(y_i, -alpha_i / c_i) + alpha_i F_i ]  (losses, Fenchel-Young)
//!             + <Theta, G(V - V_a)> / 2                                                (distance of V from V_a)
//!             + sum [ phi(G(V_a)) + phi*(Theta) - Theta G(V_a) ] / 2                   (Theta, Fenchel-Young)
//! ```
//!
//! Every term is non-negative, so the gap loses no digits to cancellation, however small. In the *one-point* form
//! V = V_a and Theta = phi'(G(V_a)): the last two lines vanish and the gap is a sum over observations, hence over tasks.

use crate::backend::{self, Columns, Expansion, Interrupt, Panel, RowBlock, STREAM_ROWS, row_blocks};
use crate::linalg::band::Band;
use crate::linalg::{self, inner, view};
use crate::loss::TermBlock;
use crate::output::{OutputRegularizer, Penalised};
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
    /// Weights, stored beside alpha: for penalties, whose Theta is a function of the weights and not of alpha.
    Weights,
}

/// How far from optimal: the optimum lies between `dual` and `primal`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Objective value of the model.
    #[serde(with = "crate::serde_f64::number")]
    pub primal: f64,
    /// Lower bound on the objective value of any model.
    #[serde(with = "crate::serde_f64::number")]
    pub dual: f64,
    /// primal - dual, as a sum of non-negative terms: more accurate than the difference.
    #[serde(with = "crate::serde_f64::number")]
    pub gap: f64,
    /// Which primal point this is about.
    pub form: Form,
    /// The part of the gap that comes from the observations of each task (one-point form: all of it).
    #[serde(with = "crate::serde_f64::numbers")]
    pub task_gaps: Vec<f64>,
}

/// gap / max(|primal|, |dual|).
pub(crate) fn relative_gap(primal: f64, dual: f64, gap: f64) -> f64 {
    let size = primal.abs().max(dual.abs());
    match gap {
        _ if !size.is_finite() => f64::INFINITY,
        0.0 => 0.0,
        gap => gap / size,
    }
}

impl Certificate {
    /// gap / max(|primal|, |dual|).
    pub fn rel_gap(&self) -> f64 {
        relative_gap(self.primal, self.dual, self.gap)
    }

    pub(crate) fn in_units(mut self, unit: f64) -> Self {
        self.primal *= unit;
        self.dual *= unit;
        self.gap *= unit;
        self.task_gaps.iter_mut().for_each(|g| *g *= unit);
        self
    }
}

impl std::fmt::Display for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Certificate { primal, dual, .. } = self;
        write!(f, "objective {primal}, no model below {dual}, relative gap {:.1e}", self.rel_gap())
    }
}

/// Grades duals `alpha` (the paper's scale, in observation order) and the primal point they induce, or the one with
/// coordinates `v` (features x tasks for linear kernels, inputs x tasks otherwise). With a penalty the point is weights, and
/// without `v` they are zero.
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
    let never = &mut Interrupt::never();
    problem.data().prepare(never)?;
    let unit = problem.unit();
    let kappa: Vec<f64> = alpha.iter().map(|a| a / unit).collect();
    let v = v.map(|v| scaled(v, 1.0 / problem.coordinate_scale()));
    Ok(certify_normal(problem, &kappa, v.as_ref(), never)?.certificate)
}

fn scaled(m: &Matrix, factor: f64) -> Matrix {
    let mut m = m.clone();
    m.as_mut_slice().iter_mut().for_each(|x| *x *= factor);
    m
}

/// A primal point that was graded, in the problem's own units.
#[derive(Debug, Clone)]
pub(crate) struct Graded {
    /// In the caller's units.
    pub(crate) certificate: Certificate,
    pub(crate) theta: Matrix,
    pub(crate) state: Matrix,
    /// The task Gram matrix.
    pub(crate) gram: Matrix,
}

/// [`certify`] for duals and coordinates in the problem's own units.
pub(crate) fn certify_normal(
    problem: &Problem<'_>,
    kappa: &[f64],
    v: Option<&Matrix>,
    interrupt: &mut Interrupt<'_>,
) -> Result<Graded> {
    problem.data().pool().install(|| {
        let (backend, threads) = (problem.data().backend(), problem.data().threads());
        let output = problem.normal_output();
        let duals = Expansion::Duals(problem.observations(), kappa);
        let state_a = backend::state_of(backend, duals, threads, interrupt)?;
        let gram_a = backend::task_gram(backend, duals, &state_a, threads);
        if let Some(penalised) = output.penalised() {
            return certify_weights(problem, penalised, kappa, (&state_a, &gram_a), v, interrupt);
        }
        let Some(v) = v else {
            let point = Regularisation::at(output, &gram_a);
            let weights = linalg::times(view(&state_a), view(&point.theta), threads);
            let terms = loss_terms(problem, kappa, &weights, threads, interrupt)?;
            return Ok(point.graded(terms, Form::OnePoint, problem.unit(), state_a, gram_a));
        };
        let expansion = Expansion::Coordinates(v);
        let state = backend::state_of(backend, expansion, threads, interrupt)?;
        let gram = backend::task_gram(backend, expansion, &state, threads);
        let mut point = Regularisation::at(output, &gram);
        let weights = linalg::times(view(&state), view(&point.theta), threads);
        let terms = loss_terms(problem, kappa, &weights, threads, interrupt)?;
        let offset = minus(v, &backend::coordinates(backend, duals, &state_a));
        let state_offset = minus(&state, &state_a);
        let distance = backend::task_gram(backend, Expansion::Coordinates(&offset), &state_offset, threads);
        point.move_dual_to(output, &gram_a, inner(&point.theta, &distance));
        Ok(point.graded(terms, Form::TwoPoint, problem.unit(), state, gram))
    })
}

/// Weights W and duals under a penalty: with Omega and H the prices of both, conjugate to each other,
/// ```text
/// P(W)     = sum_i c_i L(y_i, F_i) + Omega(W),                D(alpha) = -sum_i c_i L*(y_i, -alpha_i / c_i) - H(G(V_a))
/// P - D    = the losses' Fenchel-Young terms + [ Omega(W) + H(G(V_a)) - <W, V_a> ].
/// ```
fn certify_weights(
    problem: &Problem<'_>,
    penalised: &Penalised,
    kappa: &[f64],
    (state_a, gram_a): (&Matrix, &Matrix),
    w: Option<&Matrix>,
    interrupt: &mut Interrupt<'_>,
) -> Result<Graded> {
    let (backend, threads) = (problem.data().backend(), problem.data().threads());
    let zero = Matrix::zeros(state_a.rows(), state_a.cols());
    let w = w.unwrap_or(&zero);
    let expansion = Expansion::Coordinates(w);
    let state = backend::state_of(backend, expansion, threads, interrupt)?;
    let gram = backend::task_gram(backend, expansion, &state, threads);
    let terms = loss_terms(problem, kappa, &state, threads, interrupt)?;
    let rotation = penalised.rotation(&gram)?;
    let squares = rotation.squares(w, &state, threads);
    let price = penalised.price(&squares);
    let dual_price = penalised.dual_price(&penalised.rotation(gram_a)?.squares_of(gram_a));
    let theta = penalised.theta_of(&rotation, &squares);
    let gap = not_negative(price + dual_price - inner(w, state_a));
    let point = Regularisation { theta, primal: price, dual: -dual_price, gap };
    Ok(point.graded(terms, Form::Weights, problem.unit(), state, gram))
}

fn minus(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = a.clone();
    linalg::axpy(out.as_mut_slice(), -1.0, b.as_slice());
    out
}

/// Rounding may turn a zero negative; a number that is none (infinity minus infinity) proves nothing.
fn not_negative(term: f64) -> f64 {
    if term.is_nan() { f64::INFINITY } else { term.max(0.0) }
}

/// Sum of `phi(G) + phi*(Theta) - Theta G` over all pairs.
fn theta_terms(output: &dyn OutputRegularizer, theta: &Matrix, gram_a: &Matrix) -> f64 {
    let t = gram_a.rows();
    let mut sum = 0.0;
    for r in 0..t {
        for s in 0..t {
            sum += not_negative(output.fenchel_young((r, s), gram_a[(r, s)], theta[(r, s)]));
        }
    }
    sum
}

/// The part of the gap that is not in the losses, for a V with this Theta, duals with the task Gram matrix `gram_a`, and
/// `offset = G(V - V_a)`: all of it where the duals answer the losses exactly. Solvers steer by it.
pub(crate) fn mismatch(
    output: &dyn OutputRegularizer,
    theta: &Matrix,
    gram_a: &Matrix,
    offset: &Matrix,
) -> f64 {
    0.5 * not_negative(inner(theta, offset)) + 0.5 * theta_terms(output, theta, gram_a)
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

    /// Two points: duals with another task Gram matrix, and `<Theta, G(V - V_a)>`.
    fn move_dual_to(&mut self, output: &dyn OutputRegularizer, gram_a: &Matrix, distance: f64) {
        self.dual = -0.5 * output.phi_sum(gram_a);
        self.gap = 0.5 * not_negative(distance) + 0.5 * theta_terms(output, &self.theta, gram_a);
    }

    fn graded(self, losses: LossTerms, form: Form, unit: f64, state: Matrix, gram: Matrix) -> Graded {
        let certificate = self.certificate(losses, form).in_units(unit);
        Graded { certificate, theta: self.theta, state, gram }
    }

    fn certificate(&self, losses: LossTerms, form: Form) -> Certificate {
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

/// One pass over the data: predictions F, the scores of the state W, then the terms of every observation.
fn loss_terms(
    problem: &Problem<'_>,
    kappa: &[f64],
    weights: &Matrix,
    threads: usize,
    interrupt: &mut Interrupt<'_>,
) -> Result<LossTerms> {
    let blocks = row_blocks(problem.observations(), STREAM_ROWS);
    let mut parts: Vec<Result<LossTerms>> = Vec::with_capacity(blocks.len());
    interrupt.in_rounds(blocks.len(), 4 * threads, |round| {
        let terms = blocks[round].par_iter().map_init(Scratch::default, |scratch, block| {
            block_terms(problem, kappa, weights, block, scratch)
        });
        parts.par_extend(terms);
    })?;
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
    columns: Vec<Column>,
    weights: Vec<f64>,
    terms: Vec<f64>,
}

/// The observations of one task within a block.
#[derive(Default)]
struct Column {
    observation: Vec<u32>,
    y: Vec<f64>,
    z: Vec<f64>,
    offset: Vec<f64>,
    w: Vec<f64>,
    kappa: Vec<f64>,
}

/// Observations of one loss: labels, scores, offsets (none where all are zero), weights and duals.
struct Entries<'a> {
    y: &'a [f64],
    z: &'a mut [f64],
    offset: &'a [f64],
    w: &'a [f64],
    kappa: &'a [f64],
}

fn block_terms(
    problem: &Problem<'_>,
    kappa: &[f64],
    weights: &Matrix,
    block: &RowBlock,
    scratch: &mut Scratch,
) -> Result<LossTerms> {
    let (backend, obs) = (problem.data().backend(), problem.observations());
    let Scratch { panel, scores, columns, weights: w, terms } = scratch;
    backend.load(&block.rows, panel);
    backend.scores(panel, block.columns, weights, scores, 1);
    let mut out = LossTerms { value: 0.0, conj: 0.0, gap: vec![0.0; obs.n_tasks()] };
    let first = block.rows.first().map_or(0, |&i| i as usize);
    let neighbours = block.rows.iter().enumerate().all(|(j, &i)| i as usize == first + j);
    if let (true, true, Some(_)) = (obs.is_complete(), neighbours, problem.only_loss()) {
        // The arrays lie side by side as they are.
        let t = obs.n_tasks();
        let span = first * t..(first + block.rows.len()) * t;
        w.clear();
        match problem.uniform_gamma() {
            Some(gamma) => w.resize(span.len(), gamma),
            None => w.extend(span.clone().map(|o| problem.gamma(o))),
        }
        let (y, kappa) = (&obs.labels()[span.clone()], &kappa[span.clone()]);
        let offset = obs.offsets().map_or(&[][..], |offset| &offset[span.clone()]);
        let entries = Entries { y, z: scores.as_mut_slice(), offset, w, kappa };
        out.add(problem, 0, entries, terms, |j| span.start + j)?;
        terms.chunks(t).for_each(|row| linalg::axpy(&mut out.gap, 1.0, row));
        return Ok(out);
    }
    columns.resize_with(obs.n_tasks(), Column::default);
    for (row, &i) in block.rows.iter().enumerate() {
        for o in obs.of_input(i as usize) {
            let task = obs.task(o);
            let table_column = if block.columns == Columns::All { task } else { 0 };
            let column = &mut columns[task];
            column.observation.push(o as u32);
            column.y.push(obs.label(o));
            column.z.push(scores[(row, table_column)]);
            column.offset.extend(obs.offsets().map(|offset| offset[o]));
            column.w.push(problem.gamma(o));
            column.kappa.push(kappa[o]);
        }
    }
    for (task, column) in columns.iter_mut().enumerate().filter(|(_, column)| !column.y.is_empty()) {
        let Column { observation, y, z, offset, w, kappa } = column;
        out.add(problem, task, Entries { y, z, offset, w, kappa }, terms, |j| observation[j] as usize)?;
        out.gap[task] += terms.iter().sum::<f64>();
        [y, z, offset, w, kappa].into_iter().for_each(|entries| entries.clear());
        observation.clear();
    }
    Ok(out)
}

impl LossTerms {
    /// Adds observations; leaves their terms in `terms`, and their scores with offsets.
    fn add(
        &mut self,
        problem: &Problem<'_>,
        task: usize,
        Entries { y, z, offset, w, kappa }: Entries<'_>,
        terms: &mut Vec<f64>,
        number: impl Fn(usize) -> usize,
    ) -> Result<()> {
        if !offset.is_empty() {
            // The conjugate of `z -> L(y, z + offset)` is `L*(y, u) - offset u`, at `u = -kappa / w`.
            linalg::axpy(z, 1.0, offset);
            self.conj += linalg::dot(kappa, offset);
        }
        terms.clear();
        terms.resize(y.len(), 0.0);
        let (value, conj, outside, negative) = (0.0, 0.0, None, None);
        let mut block = TermBlock { y, z, w, kappa, terms, value, conj, outside, negative };
        problem.loss(task).block_terms(&mut block);
        if let Some(j) = block.outside {
            return Err(infeasible(problem, number(j), kappa[j]));
        }
        if let Some((j, term)) = block.negative {
            return Err(Error::NegativeGap { observation: number(j), term });
        }
        self.value += block.value;
        self.conj += block.conj;
        Ok(())
    }
}

/// Every dual variable must lie in the domain of its loss: outside, the dual value would be minus infinity.
fn infeasible(problem: &Problem<'_>, observation: usize, kappa: f64) -> Error {
    let ((low, high), unit) = (problem.box_of(observation), problem.unit());
    Error::Infeasible { observation, value: kappa * unit, low: low * unit, high: high * unit }
}

/// The squared loss on shared inputs, reduced to what the data say, `moment = X'Y` in a basis where X'X is simple.
pub(crate) struct SquaredStatistics<'a> {
    pub(crate) square: Square<'a>,
    pub(crate) moment: &'a Matrix,
    /// |Y|^2.
    pub(crate) label_square: f64,
    /// The part of |Y|^2 that no weights can explain, where that is known.
    pub(crate) floor: f64,
    pub(crate) gamma: f64,
}

/// X'X.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Square<'a> {
    /// In the eigenbasis: diag(l).
    Diagonal(&'a [f64]),
    Banded(&'a Band),
}

impl Square<'_> {
    /// `X'X w`.
    fn times(&self, w: &Matrix) -> Matrix {
        match self {
            Square::Diagonal(values) => {
                let mut out = w.clone();
                for (j, &l) in values.iter().enumerate() {
                    out.row_mut(j).iter_mut().for_each(|x| *x *= l);
                }
                out
            }
            Square::Banded(band) => band.times(w),
        }
    }
}

impl SquaredStatistics<'_> {
    /// Grades the duals `gamma (Y - X w)` of any weights w with the primal point they induce; the same sums as above, with
    /// the observations' terms added up in closed form: `gamma/2 |X (W - w)|^2`.
    pub(crate) fn certify(&self, output: &dyn OutputRegularizer, w: &Matrix, threads: usize) -> Certificate {
        let v = self.induced(w);
        let point = Regularisation::at(output, &gram(&v, threads));
        let weights = linalg::times(view(&v), view(&point.theta), threads);
        let offset = minus(&weights, w);
        let (mut gap, image) = (vec![0.0; w.cols()], self.square.times(&offset));
        for j in 0..offset.rows() {
            for ((gap, x), lx) in gap.iter_mut().zip(offset.row(j)).zip(image.row(j)) {
                *gap += 0.5 * self.gamma * lx * x;
            }
        }
        let losses = LossTerms { value: self.loss(&weights), conj: self.conj(w), gap };
        point.certificate(losses, Form::OnePoint)
    }

    /// Grades the duals `gamma (Y - X W)` of the weights W of V with V itself: the observations' terms are all zero.
    pub(crate) fn certify_point(
        &self,
        output: &dyn OutputRegularizer,
        v: &Matrix,
        threads: usize,
    ) -> Certificate {
        let mut point = Regularisation::at(output, &gram(v, threads));
        let w = linalg::times(view(v), view(&point.theta), threads);
        let v_a = self.induced(&w);
        let offset = minus(v, &v_a);
        let distance = inner(&offset, &linalg::times(view(&offset), view(&point.theta), threads));
        point.move_dual_to(output, &gram(&v_a, threads), distance);
        let losses = LossTerms { value: self.loss(&w), conj: self.conj(&w), gap: vec![0.0; w.cols()] };
        point.certificate(losses, Form::TwoPoint)
    }

    /// `gamma (X'Y - X'X w)`: the V that the duals `gamma (Y - X w)` induce.
    pub(crate) fn induced(&self, w: &Matrix) -> Matrix {
        let mut out = self.square.times(w);
        for (x, b) in out.as_mut_slice().iter_mut().zip(self.moment.as_slice()) {
            *x = self.gamma * (b - *x);
        }
        out
    }

    /// Sum of `gamma L*(Y, X w - Y)`.
    fn conj(&self, w: &Matrix) -> f64 {
        self.loss(w) - self.gamma * (self.label_square - inner(self.moment, w))
    }

    /// `gamma/2 |Y - X w|^2`.
    pub(crate) fn loss(&self, w: &Matrix) -> f64 {
        0.5 * self.gamma * self.floor + self.excess_loss(w)
    }

    /// `gamma/2 (|Y - X w|^2 - floor)`; in the eigenbasis a sum of squares, of which no digits are lost however close w comes to the best
    /// fit.
    pub(crate) fn excess_loss(&self, w: &Matrix) -> f64 {
        let values = match self.square {
            Square::Diagonal(values) => values,
            Square::Banded(band) => {
                let explained = 2.0 * inner(self.moment, w) - inner(w, &band.times(w));
                return 0.5 * self.gamma * (self.label_square - self.floor - explained);
            }
        };
        let (noise, mut sum) = (noise_level(values), 0.0);
        for (j, &l) in values.iter().enumerate() {
            let pairs = self.moment.row(j).iter().zip(w.row(j));
            sum += if l > noise {
                pairs.map(|(b, w)| (b - l * w) * (b - l * w)).sum::<f64>() / l
            } else {
                pairs.map(|(b, w)| (l * w - 2.0 * b) * w).sum::<f64>()
            };
        }
        0.5 * self.gamma * sum
    }
}

/// Eigenvalues up to here are rounding errors.
fn noise_level(values: &[f64]) -> f64 {
    values.iter().fold(0.0f64, |a, &b| a.max(b)) * values.len() as f64 * f64::EPSILON
}

/// `|Y|^2 - sum b^2 / l`: what no weights can explain.
pub(crate) fn unexplained(values: &[f64], moment: &Matrix, label_square: f64) -> f64 {
    let noise = noise_level(values);
    let kept = values.iter().enumerate().filter(|(_, l)| **l > noise);
    let explained: f64 = kept.map(|(j, l)| linalg::dot(moment.row(j), moment.row(j)) / l).sum();
    (label_square - explained).max(0.0)
}

fn gram(v: &Matrix, threads: usize) -> Matrix {
    let mut gram = linalg::times(view(v).transpose(), view(v), threads);
    linalg::symmetrise(&mut gram);
    gram
}
