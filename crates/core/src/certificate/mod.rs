//! The duality gap. It is computed only here, from the data, and this code does not know which solver ran.
//!
//! A primal point is a pair (V, Theta) with weights `W = V Theta`. A dual point is a feasible alpha. Below,
//! everything is in the problem's own units (lambda = 1/2; in the code alpha is then called `kappa` and c_i
//! `gamma`). `V_a` is the V that alpha induces, and `G(V) = V'V` is the task Gram matrix:
//!
//! ```text
//! P(V, Theta) = sum_i c_i L(y_i, F_i) + <Theta, G(V)> / 2 + sum phi*(Theta) / 2,    F = X W + offsets + b
//! D(alpha)    = -sum_i [ c_i L*(y_i, -alpha_i / c_i) + alpha_i offset_i ] - sum phi(G(V_a)) / 2
//! P - D       = sum_i [ c_i L(y_i, F_i) + c_i L*(y_i, -alpha_i / c_i) + alpha_i F_i ]   (losses)
//!             + <Theta, G(V - V_a)> / 2                                                 (V differs from V_a)
//!             + sum [ phi(G(V_a)) + phi*(Theta) - Theta G(V_a) ] / 2                    (Theta)
//! ```
//!
//! The terms of losses and of Theta are Fenchel-Young terms. No term is negative, so there is no cancellation
//! and even a very small gap is accurate. In the *one-point* form V = V_a and Theta = phi'(G(V_a)). Then the
//! last two lines are zero and the gap is a sum over observations, hence over tasks. `docs/math.md`,
//! "Certificate", has the proof. Intercepts b are part of the primal point; `intercepts.rs` has their terms.

mod intercepts;
mod losses;
mod on_device;
mod parts;
mod place;
mod regularizer;
mod rounding;

pub(crate) use losses::{LossTerms, answer_terms, predictions, terms_of_answers};
pub(crate) use parts::{PartialCertificate, PassSums, RowsGrade};
pub(crate) use regularizer::RegularizerTerms;
pub(crate) use rounding::{PredictionErrors, RowErrors, row_errors};

use crate::backend::{self, Expansion, Interrupt};
use crate::linalg::inner;
use crate::regularizer::{Regularizer, SpectralRegularizer, SumRegularizer, not_negative};
use crate::{Error, Matrix, Problem, Result};
use losses::loss_terms;
use on_device::OnDevicePlace;
use place::{InMemory, Place};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Which primal point was graded (to grade a point is to compute its certificate).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The one that alpha induces: everything can be recomputed from alpha alone.
    OnePoint,
    /// Another V, stored next to alpha.
    TwoPoint,
    /// Weights, stored next to alpha: for spectral regularisers, whose Theta is a function of the weights and
    /// not of alpha.
    Weights,
}

/// How far a model is from optimal: the optimum lies between `dual` and `primal`.
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
    /// What rounding in double precision may add to the gap: an estimate.
    #[serde(default, with = "crate::serde_f64::number")]
    pub rounding: f64,
    /// Which primal point was graded.
    pub form: Form,
    /// The part of the gap that comes from the observations of each task (one-point form: all of it).
    #[serde(with = "crate::serde_f64::numbers")]
    pub task_gaps: Vec<f64>,
}

/// Objective and bound are sums, whose last digits are never exact.
const LAST_DIGITS: f64 = 1e3 * f64::EPSILON;

/// Of the gap.
const NEGLIGIBLE_ROUNDING: f64 = 0.01;

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

    /// To within which part of the objective the model is proved to be optimal: the relative gap with what rounding may
    /// add to it, unless that is less than a hundredth of the gap. An objective of zero has no parts; no model is below
    /// it.
    pub fn rel_error(&self) -> f64 {
        let Certificate { primal, dual, gap, rounding, .. } = *self;
        if primal.abs().max(gap) < f64::MIN_POSITIVE && rounding.is_finite() {
            return 0.0;
        }
        let added = if rounding <= NEGLIGIBLE_ROUNDING * gap { 0.0 } else { rounding };
        relative_gap(primal, dual, gap + added)
    }

    /// Sets it, for this change of the gap.
    fn set_rounding(&mut self, change: f64) {
        // Where large terms of the bound cancel, it has lost digits that the gap still has.
        let Certificate { primal, dual, gap, .. } = *self;
        let (lost, size) = ((primal - dual - gap).abs(), primal.abs().max(dual.abs()));
        let counts = lost.is_finite() && lost > LAST_DIGITS * size;
        self.rounding = if counts { lost.max(change) } else { change };
    }

    pub(crate) fn in_units(mut self, unit: f64) -> Self {
        self.primal *= unit;
        self.dual *= unit;
        self.gap *= unit;
        self.rounding *= unit;
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

/// Grades duals and a primal point.
///
/// The duals `alpha` are in the paper's scale and in the order of the observations. The primal point is the
/// one that they induce, or the one with coordinates `v` (features x tasks for linear kernels, inputs x tasks
/// otherwise). With a spectral regulariser `v` are the coordinates of the weights, and `None` means zero. The
/// intercepts are the best ones for these weights.
///
/// # Errors
/// [`Error::Infeasible`] for a dual outside the domain of its loss, [`Error::DualSum`] if intercepts are free and the
/// duals of a task do not add up to zero.
pub fn certify(problem: &Problem<'_>, alpha: &[f64], v: Option<&Matrix>) -> Result<Certificate> {
    Ok(certify_point(problem, alpha, v, None)?.graded.certificate)
}

/// Duals and a primal point in the problem's own units, with their certificate.
pub(crate) struct CertifiedPoint {
    pub(crate) kappa: Vec<f64>,
    pub(crate) v: Option<Matrix>,
    pub(crate) graded: Graded,
}

/// [`certify`] with these intercepts, or the best ones, and with the points it was computed from.
pub(crate) fn certify_point(
    problem: &Problem<'_>,
    alpha: &[f64],
    v: Option<&Matrix>,
    intercept: Option<&[f64]>,
) -> Result<CertifiedPoint> {
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
    let kappa: Vec<f64> = problem.data().pool().install(|| alpha.par_iter().map(|a| a / unit).collect());
    let v = v.map(|v| scaled(v, 1.0 / problem.coordinate_scale()));
    let mut graded = certify_at(problem, &kappa, v.as_ref(), intercept, never)?;
    graded.add_rounding(problem, &kappa, v.as_ref());
    Ok(CertifiedPoint { kappa, v, graded })
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
    /// Of each task; zeros if there are none.
    pub(crate) intercept: Vec<f64>,
}

impl Graded {
    /// Completes the certificate of this point. Not needed on the way, where only the gap decides.
    pub(crate) fn add_rounding(&mut self, problem: &Problem<'_>, kappa: &[f64], v: Option<&Matrix>) {
        let unit = problem.unit();
        let Certificate { primal, dual, gap, .. } = self.certificate;
        let (gap, size) = (gap / unit, primal.abs().max(dual.abs()) / unit);
        let Graded { theta, state, gram, intercept, .. } = &*self;
        let point = rounding::GradedPoint { kappa, v, theta, state, gram, intercept, gap, size };
        let change = problem.data().pool().install(|| rounding::change(problem, &point));
        self.certificate.set_rounding(unit * change);
    }
}

/// [`certify`] for duals and coordinates in the problem's own units.
pub(crate) fn certify_normal(
    problem: &Problem<'_>,
    kappa: &[f64],
    v: Option<&Matrix>,
    interrupt: &mut Interrupt<'_>,
) -> Result<Graded> {
    certify_at(problem, kappa, v, None, interrupt)
}

fn certify_at(
    problem: &Problem<'_>,
    kappa: &[f64],
    v: Option<&Matrix>,
    intercept: Option<&[f64]>,
    interrupt: &mut Interrupt<'_>,
) -> Result<Graded> {
    problem.data().pool().install(|| {
        let output = match problem.normal_regularizer() {
            Regularizer::Entrywise(output) => output,
            Regularizer::Spectral(output) => {
                return certify_weights(problem, output, (kappa, intercept), v, interrupt);
            }
        };
        let duals = (kappa, intercept);
        if let Some(place) = OnDevicePlace::of(problem, kappa)?
            && let Some(graded) = grade(problem, &place, output, duals, v, interrupt)?
        {
            return Ok(graded);
        }
        let graded = grade(problem, &InMemory(problem), output, duals, v, interrupt)?;
        Ok(graded.expect("every observation is graded in memory"))
    })
}

/// The certificate of duals and a primal point; `None` if the place leaves it to memory.
fn grade<P: Place>(
    problem: &Problem<'_>,
    place: &P,
    output: &SumRegularizer,
    (kappa, intercept): (&[f64], Option<&[f64]>),
    v: Option<&Matrix>,
    interrupt: &mut Interrupt<'_>,
) -> Result<Option<Graded>> {
    let duals = Expansion::Duals(problem.observations(), kappa);
    let state_a = place.state(duals, interrupt)?;
    let gram_a = place.gram(duals, &state_a)?;
    let Some(v) = v else {
        let point = RegularizerTerms::at(output, &gram_a);
        let weights = place.weights(&state_a, &point.theta)?;
        let Some(terms) = place.loss_terms(kappa, &weights, intercept, interrupt)? else { return Ok(None) };
        let state = place.in_memory(state_a)?;
        return Ok(Some(point.graded(terms, Form::OnePoint, problem.unit(), state, gram_a)));
    };
    let expansion = Expansion::Coordinates(v);
    let state = place.state(expansion, interrupt)?;
    let gram = place.gram(expansion, &state)?;
    let mut point = RegularizerTerms::at(output, &gram);
    let weights = place.weights(&state, &point.theta)?;
    let Some(terms) = place.loss_terms(kappa, &weights, intercept, interrupt)? else { return Ok(None) };
    let distance = place.gram_of_difference((v, &state), (duals, &state_a))?;
    point.move_dual_to(output, &gram, &gram_a, inner(&point.theta, &distance));
    let state = place.in_memory(state)?;
    Ok(Some(point.graded(terms, Form::TwoPoint, problem.unit(), state, gram)))
}

/// Grades weights W and duals if the regulariser is spectral. With Omega and H, conjugate to each other,
///
/// ```text
/// P(W)     = sum_i c_i L(y_i, F_i) + Omega(W)
/// D(alpha) = -sum_i [ c_i L*(y_i, -alpha_i / c_i) + alpha_i offset_i ] - H(G(V_a))
/// P - D    = the losses' Fenchel-Young terms + [ Omega(W) + H(G(V_a)) - <W, V_a> ].
/// ```
fn certify_weights(
    problem: &Problem<'_>,
    regularizer: &SpectralRegularizer,
    (kappa, intercept): (&[f64], Option<&[f64]>),
    w: Option<&Matrix>,
    interrupt: &mut Interrupt<'_>,
) -> Result<Graded> {
    let (backend, threads) = (problem.data().backend(), problem.data().threads());
    let duals = Expansion::Duals(problem.observations(), kappa);
    let state_a = backend::state_of(backend, duals, threads, interrupt)?;
    let gram_a = backend::task_gram(backend, duals, &state_a, threads)?;
    let zero = Matrix::zeros(state_a.rows(), state_a.cols());
    let w = w.unwrap_or(&zero);
    let expansion = Expansion::Coordinates(w);
    let state = backend::state_of(backend, expansion, threads, interrupt)?;
    let gram = backend::task_gram(backend, expansion, &state, threads)?;
    let terms = loss_terms(problem, kappa, &state, intercept, interrupt)?;
    let rotation = regularizer.rotation(&gram)?;
    let squares = rotation.squares(w, &state, threads);
    let primal = regularizer.value(&squares);
    let dual = regularizer.dual_value(&regularizer.rotation(&gram_a)?.squares_of(&gram_a));
    let theta = regularizer.theta_of(&rotation, &squares);
    let gap = not_negative(primal + dual - inner(w, &state_a));
    let point = RegularizerTerms { theta, primal, dual: -dual, gap };
    Ok(point.graded(terms, Form::Weights, problem.unit(), state, gram))
}
