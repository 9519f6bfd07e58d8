//! The curved line search.
//!
//! W is homogeneous of degree `p = 4k - 1` in V, so that a straight step in V overshoots W by `(1 + t)^p`:
//! columns are rescaled until those of W have the length that the linear model wants.

use super::{NewtonStep, Smooth, VPoint};
use crate::Matrix;
use crate::linalg::{dot, gram, times, view};
use crate::regularizer::SumRegularizer;

/// The better of the curved and the straight point at the first t for which psi falls enough. The second one
/// is only tried if the first is not good: first the straight one if W is nearly linear in V (k = 1), else
/// the curved one.
pub(in crate::solver) fn line_search<M: Smooth>(
    model: &M,
    point: &VPoint<M::Side>,
    step: &NewtonStep,
) -> Option<VPoint<M::Side>> {
    let straight_first = model.output().degree().is_none_or(|degree| degree == 2);
    let mut t = 1.0;
    while t > 1e-6 {
        let enough = |share: f64| point.psi + share * t * step.slope + 1e-14 * point.psi.abs();
        let mut straight = point.v.clone();
        straight.add_scaled(t, &step.dv);
        let mut best: Option<VPoint<M::Side>> = None;
        for is_straight in [straight_first, !straight_first] {
            if best.as_ref().is_some_and(|best| best.psi <= enough(0.3)) {
                break;
            }
            let v = if is_straight {
                Some(straight.clone())
            } else {
                curved(model.output(), [&point.w, &step.dw], t, &straight, model.threads())
            };
            let trial = v.map(|v| VPoint::at(model, v));
            best = match (best, trial) {
                (Some(best), Some(trial)) => Some(if trial.psi < best.psi { trial } else { best }),
                (best, trial) => best.or(trial),
            };
        }
        match best {
            Some(best) if best.psi <= enough(1e-4) => return Some(best),
            _ => t *= 0.4,
        }
    }
    None
}

/// `(V + t dV) diag(s)` with `|W_r|` near `|W_r + t dW_r|`, for regularisers that have a degree.
pub(in crate::solver) fn curved(
    output: &SumRegularizer,
    [w, dw]: [&Matrix; 2],
    t: f64,
    straight: &Matrix,
    threads: usize,
) -> Option<Matrix> {
    let degree = output.degree()?;
    let power = f64::from(2 * degree - 1);
    let n = straight.cols();
    let target = column_squares(w, dw, t);
    let gram = gram(straight, threads);
    let mut scale = vec![1.0f64; n];
    for _ in 0..if degree == 2 { 1 } else { 4 } {
        let mut scaled = gram.clone();
        for r in 0..n {
            for s in 0..n {
                scaled[(r, s)] *= scale[r] * scale[s];
            }
        }
        let theta = output.theta(&scaled);
        let both = times(view(&theta), view(&scaled), threads);
        for r in 0..n {
            let now = dot(both.row(r), theta.row(r));
            scale[r] *= (target[r] / now.max(1e-300)).powf(0.5 / power).clamp(0.2, 5.0);
        }
    }
    let mut v = straight.clone();
    for j in 0..v.rows() {
        v.row_mut(j).iter_mut().zip(&scale).for_each(|(x, s)| *x *= s);
    }
    v.as_slice().iter().all(|x| x.is_finite()).then_some(v)
}

/// `|W_r + t dW_r|^2` of every column.
fn column_squares(w: &Matrix, dw: &Matrix, t: f64) -> Vec<f64> {
    let mut squares = vec![0.0; w.cols()];
    for j in 0..w.rows() {
        for (sum, (w, dw)) in squares.iter_mut().zip(w.row(j).iter().zip(dw.row(j))) {
            *sum += (w + t * dw) * (w + t * dw);
        }
    }
    squares.iter().map(|s| s.max(1e-300)).collect()
}
