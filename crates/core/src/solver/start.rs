//! Duals to start from. At alpha = 0 the regulariser of the dual is flat in every direction and gives no
//! scale, so solvers start at another point of a ray.

use super::Incumbent;
use crate::backend::{self, Expansion, Interrupt};
use crate::intercept::balance::{balanced, task_sums};
use crate::intercept::best::{TaskPredictions, best_intercept};
use crate::intercept::settle::{SettlePoint, settled};
use crate::linalg::power_of_two;
use crate::regularizer::{Regularizer, SumRegularizer};
use crate::{Error, Matrix, Problem, Result};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Given duals, brought into their domains, and balanced if intercepts are free.
pub(crate) fn warm(problem: &Problem<'_>, mut kappa: Vec<f64>) -> Vec<f64> {
    for (o, k) in kappa.iter_mut().enumerate() {
        let (low, high) = problem.box_of(o);
        *k = if k.is_finite() { k.clamp(low, high) } else { 0.0f64.clamp(low, high) };
    }
    balanced(problem, kappa)
}

/// Duals made small enough for a spectral regulariser, if there is one.
pub(crate) fn allowed(problem: &Problem<'_>, mut kappa: Vec<f64>) -> Result<Vec<f64>> {
    let Regularizer::Spectral(regularizer) = problem.normal_regularizer() else { return Ok(kappa) };
    let (backend, threads) = (problem.data().backend(), problem.data().threads());
    let duals = Expansion::Duals(problem.observations(), &kappa);
    let gram = problem.data().pool().install(|| {
        let state = backend::state_of(backend, duals, threads, &mut Interrupt::never())?;
        backend::task_gram(backend, duals, &state, threads)
    })?;
    let share = regularizer.feasible_share(&regularizer.rotation(&gram)?.squares_of(&gram));
    kappa.iter_mut().for_each(|k| *k *= share);
    Ok(kappa)
}

/// The best point between zero and the duals that fit the best constant prediction b of each task (zero without
/// intercepts): `kappa = -s gamma L'(y, b)`, 0 < s <= 1.
pub(crate) fn cold(problem: &Problem<'_>, interrupt: &mut Interrupt<'_>) -> Result<Vec<f64>> {
    let obs = problem.observations();
    let constant = best_constants(problem);
    let residual = |o: usize| {
        let (low, high) = problem.box_of(o);
        let at = constant.as_ref().map_or(0.0, |constant| constant[obs.task(o)]);
        (-problem.gamma(o) * problem.loss_at(o).mean_slope(at)).clamp(low, high)
    };
    let mut kappa = (0..obs.len()).map(residual).collect();
    if let Some(b) = &constant {
        // Of duals at a kink, which may have any value of an interval, each task has those that add up.
        let (z, stiffness) = (vec![0.0; obs.len()], |_: usize| 0.0);
        kappa = settled(problem, kappa, &SettlePoint { z: &z, b, stiffness: &stiffness });
    }
    along(problem, kappa, interrupt)
}

/// The best intercepts where all weights are zero, if tasks have intercepts.
fn best_constants(problem: &Problem<'_>) -> Option<Vec<f64>> {
    let (obs, rho) = (problem.observations(), problem.intercept_costs()?);
    let empty = |task: usize| TaskPredictions::empty(problem.loss(task));
    let mut tasks: Vec<TaskPredictions<'_>> = (0..obs.n_tasks()).map(empty).collect();
    for o in (0..obs.len()).filter(|&o| problem.gamma(o) > 0.0) {
        tasks[obs.task(o)].push(obs.label(o), obs.offset(o), problem.gamma(o));
    }
    Some(
        problem.data().pool().install(|| {
            tasks.into_par_iter().zip(rho).map(|(task, rho)| best_intercept(task, *rho)).collect()
        }),
    )
}

/// The best point between zero and given duals.
pub(crate) fn along(
    problem: &Problem<'_>,
    mut kappa: Vec<f64>,
    interrupt: &mut Interrupt<'_>,
) -> Result<Vec<f64>> {
    // The duals may be so large that their task Gram matrix overflows: they only give the direction.
    let size = power_of_two(kappa.iter().fold(0.0, |m, k| k.abs().max(m)));
    kappa.iter_mut().for_each(|k| *k /= size);
    let (backend, threads) = (problem.data().backend(), problem.data().threads());
    let duals = Expansion::Duals(problem.observations(), &kappa);
    let gram = problem.data().pool().install(|| {
        let state = backend::state_of(backend, duals, threads, interrupt)?;
        backend::task_gram(backend, duals, &state, threads)
    })?;
    let output = problem.entrywise()?;
    let s = problem.data().pool().install(|| best_on_ray(problem, output, &kappa, &gram, size));
    kappa.iter_mut().for_each(|k| *k *= s);
    Ok(kappa)
}

/// How long a stopped solver may go on to certify a better result.
pub(crate) const STOP_GRACE: Duration = Duration::from_millis(200);

/// Duals of zero, or the nearest to zero that the losses allow.
pub(crate) fn zeros(problem: &Problem<'_>) -> Vec<f64> {
    warm(problem, vec![0.0; problem.observations().len()])
}

/// Fallback for a solver that is stopped before its first certificate: given duals or a cold start if they
/// are certified within [`STOP_GRACE`], and `true`; else zero duals, which need no data access, and `false`.
pub(crate) fn at_once(problem: &Problem<'_>, given: Option<Vec<f64>>) -> Result<(Incumbent, bool)> {
    let begin = Instant::now();
    let mut late = || begin.elapsed() > STOP_GRACE;
    let first = || {
        let interrupt = &mut Interrupt::when(&mut late);
        let kappa = match given {
            Some(kappa) => kappa,
            None => cold(problem, interrupt)?,
        };
        Incumbent::induced(problem, kappa, interrupt)
    };
    if problem.data().backend().is_quick() {
        match first() {
            Err(Error::Interrupted) => {}
            other => return Ok((other?, true)),
        }
    }
    Ok((Incumbent::induced(problem, zeros(problem), &mut Interrupt::never())?, false))
}

/// The s in (0, most] that maximises the dual at `s kappa`.
///
/// The dual is concave along the ray, with slope `sum_i kappa_i L*'(-s kappa_i / gamma_i) - s <phi'(s^2 G),
/// G>`: bisection on the exponent of s, so that a solution thousands of times smaller than the residuals is
/// found as well. If evaluating all losses is expensive, a sample of them first narrows the interval.
fn best_on_ray(
    problem: &Problem<'_>,
    output: &SumRegularizer,
    kappa: &[f64],
    gram: &Matrix,
    most: f64,
) -> f64 {
    let losses = LossSlope::new(problem, kappa);
    let intercepts: f64 = problem.intercept_costs().map_or(0.0, |rho| {
        let sums = task_sums(problem, kappa);
        sums.iter().zip(rho).filter(|(_, rho)| **rho > 0.0).map(|((sum, _), rho)| sum * (sum / rho)).sum()
    });
    let pull = ray_pull(output, gram);
    let slope = |s: f64, stride: usize| losses.at(s, stride) - s * (intercepts + pull(s * s));
    let stride = losses.stride(problem.observations().n_tasks());
    let end = most.ln();
    let (mut low, mut high) = (-700.0f64, end);
    if stride > 1 {
        bisect(|x| slope(x.exp(), stride) > 0.0, &mut low, &mut high, 0.02);
        (low, high) = (low - 0.1, (high + 0.1).min(end));
        if slope(low.exp(), 1) <= 0.0 {
            (low, high) = (-700.0, low);
        } else if high < end && slope(high.exp(), 1) > 0.0 {
            (low, high) = (high, end);
        }
    }
    if high == end && slope(most, 1) > 0.0 {
        return most;
    }
    if stride > 1 && high - low < 1.0 {
        return falling_root(|x| slope(x.exp(), 1), low, high, 1e-5).exp();
    }
    bisect(|x| slope(x.exp(), 1) > 0.0, &mut low, &mut high, 1e-12);
    low.exp()
}

/// `<phi'(factor G), G>` as a function of the factor: a power of it where phi is one.
fn ray_pull<'a>(output: &'a SumRegularizer, gram: &'a Matrix) -> impl Fn(f64) -> f64 + 'a {
    let at_one = output.degree().map(|degree| (degree as i32 - 1, output.pull(gram, 1.0)));
    let at_one = at_one.filter(|(_, pull)| pull.is_normal());
    move |factor| match at_one {
        Some((power, pull)) => pull * factor.powi(power),
        None => output.pull(gram, factor),
    }
}

/// The root of a falling function, to this width, by regula falsi with halved weights (Illinois).
fn falling_root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64, width: f64) -> f64 {
    let (mut at_low, mut at_high) = (f(low), f(high));
    let mut last = 0.0;
    for _ in 0..60 {
        let x = (low * at_high - high * at_low) / (at_high - at_low);
        if !(low..=high).contains(&x) {
            break;
        }
        let y = f(x);
        let near = (x - low).min(high - x) < width;
        if y > 0.0 {
            (low, at_low) = (x, y);
            at_high *= if last > 0.0 { 0.5 } else { 1.0 };
        } else {
            (high, at_high) = (x, y);
            at_low *= if last < 0.0 { 0.5 } else { 1.0 };
        }
        last = y;
        if near || y == 0.0 {
            break;
        }
    }
    low
}

/// Halves an interval at whose lower end something is true, and at whose upper end it is not.
fn bisect(holds: impl Fn(f64) -> bool, low: &mut f64, high: &mut f64, width: f64) {
    while *high - *low > width {
        let middle = 0.5 * (*low + *high);
        if holds(middle) { *low = middle } else { *high = middle }
    }
}

/// `sum_i kappa_i L*'(-s kappa_i / gamma_i)` as a function of s.
enum LossSlope<'a> {
    /// Quadratic conjugates: `constant + linear s`.
    Summed { constant: f64, linear: f64 },
    /// Others, whose slopes are logarithms or worse.
    Each { problem: &'a Problem<'a>, kappa: &'a [f64] },
}

/// Approximate size of a sample of observations.
const SAMPLE_OBSERVATIONS: usize = 8192;

impl<'a> LossSlope<'a> {
    fn new(problem: &'a Problem<'a>, kappa: &'a [f64]) -> Self {
        let (mut constant, mut linear) = (0.0, 0.0);
        for (o, &k) in kappa.iter().enumerate().filter(|(_, k)| **k != 0.0) {
            match problem.loss_at(o).quadratic_conjugate() {
                Some(shape) => {
                    constant += k * shape.y - k.abs() * shape.eps;
                    linear -= shape.quad * k * k / problem.gamma(o);
                }
                None => return LossSlope::Each { problem, kappa },
            }
        }
        LossSlope::Summed { constant, linear }
    }

    /// A sample takes one observation in so many. Not a multiple of the number of tasks, which would leave
    /// tasks out.
    fn stride(&self, n_tasks: usize) -> usize {
        match self {
            LossSlope::Summed { .. } => 1,
            LossSlope::Each { kappa, .. } => {
                let about = kappa.len() / SAMPLE_OBSERVATIONS + 1;
                (about..).find(|stride| *stride == 1 || coprime(*stride, n_tasks)).unwrap_or(1)
            }
        }
    }

    /// At s, from one observation in `stride`.
    fn at(&self, s: f64, stride: usize) -> f64 {
        match self {
            LossSlope::Summed { constant, linear } => constant + linear * s,
            LossSlope::Each { problem, kappa } => {
                let term = |o: usize| {
                    let k = kappa[o];
                    if k == 0.0 {
                        return 0.0;
                    }
                    let u = -s * k / problem.gamma(o);
                    let (left, right) = problem.loss_at(o).conj_slope(u);
                    k * if k > 0.0 { left } else { right }
                };
                // Fixed chunks, added up in order: same bits whatever the number of threads.
                let chunks: Vec<usize> = (0..kappa.len()).step_by(stride * SAMPLE_OBSERVATIONS).collect();
                let sum = |&start: &usize| -> f64 {
                    (start..kappa.len().min(start + stride * SAMPLE_OBSERVATIONS))
                        .step_by(stride)
                        .map(term)
                        .sum()
                };
                let sums: Vec<f64> = chunks.par_iter().map(sum).collect();
                stride as f64 * sums.iter().sum::<f64>()
            }
        }
    }
}

fn coprime(a: usize, b: usize) -> bool {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}
